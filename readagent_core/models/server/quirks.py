"""What was learnt of one model on one server while talking to it: which parameters it takes, its window.

Shared by every thread that asks the model. A window is kept in a file for the next start, until the model's file
changes or a person resets it; all else is forgotten when the process ends. ``notices`` are for people.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from readagent_core.regular_files import write_whole
from readagent_core.settings.saved import plain_name

MOST_GUESSES = 6
HOW_LARGER = "(Ollama: set OLLAMA_CONTEXT_LENGTH or num_ctx; LM Studio: context length)"
LEAST_WINDOW = 512  # tokens; below this nothing can be read
FILE = "learnt_windows.json"  # in the home folder
_FILE_LOCK = threading.Lock()


class Origin(Enum):
    """How a window was learnt."""

    SAID = "said"
    TRIED = "tried"
    CUT = "cut"


ORIGINS = {
    Origin.SAID: "the server said so",
    Origin.TRIED: "found by trying",
    Origin.CUT: "found when the server cut a prompt",
}


@dataclass
class Quirks:
    """``tokens_field``: 'max_tokens', 'max_completion_tokens' or '' (neither is taken). ``replied_in_json``: a
    reply had the JSON form that was asked for. ``reasons``: it was seen thinking before it answers.
    ``copies``: it was seen copying a page in place of its gist. ``window``:
    learnt from its errors. ``ratio``: reported over estimated prompt tokens, the highest seen. ``guesses``: smaller
    windows tried, as the server names none. ``largest``: tokens of the largest prompt that went through.
    ``most_tokens``: what the server allows for a reply. ``cutting``: that the server was caught cutting a prompt
    without saying so, and the remedy, for people. ``origin``: of ``window``. ``file``: of the model, as its server
    names it. ``keep``: stores a window that was learnt.
    """

    tokens_field: str = "max_tokens"
    temperature: bool = True
    stream: bool = True
    stream_options: bool = True
    response_format: bool = True
    grammar: bool = True
    replied_in_json: bool = False
    reasons: bool = False
    copies: bool = False
    window: int | None = None
    ratio: float | None = None
    guesses: int = 0
    largest: int = 0
    most_tokens: int | None = None
    cutting: str = ""
    origin: Origin | None = None
    file: str = ""
    keep: Callable[[Quirks], None] | None = field(default=None, repr=False)
    notices: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def refuse(self, parameter: str, sent: dict[str, object], *, most: int | None = None) -> bool:
        """Stop sending ``parameter`` from now on, or more than ``most`` where the server named that. False where it was
        not ``sent``: nothing can be done.
        """
        if parameter == "response_format" and "grammar" in sent:
            self.grammar = False
            return True
        if parameter not in sent:
            return False
        with self._lock:
            if most and most < int(str(sent[parameter])):
                self.most_tokens = most
                self._note(f"The server said that it writes {most:,} tokens (parts of words) at most in one reply.")
                return True
            if parameter == "temperature":
                self.temperature = False
                self._note(
                    "This model sets its own temperature (how freely it picks words); replies may differ between runs."
                )
            elif parameter == "stream":
                self.stream = False
                self._note("This server does not stream; answers come all at once.")
            elif parameter == "stream_options":
                self.stream_options = False
            elif parameter == "response_format":
                self.response_format = False
                self._note("This server cannot send replies in a fixed form (JSON); they are asked for as plain text.")
            elif parameter == "max_tokens" and self.tokens_field in ("max_tokens", "max_completion_tokens"):
                self.tokens_field = "max_completion_tokens"
            else:
                self.tokens_field = ""
        return True

    def note_copy(self) -> None:
        """It copied a page that it should shorten."""
        with self._lock:
            if not self.copies:
                self.copies = True
                self._note("This model copies pages that it should shorten. It is asked to tell them in its own words.")

    def found_file(self, file: str) -> None:
        """The server says which file the model has; another one than before makes what was learnt worthless."""
        with self._lock:
            if file and self.file and file != self.file:
                new = Quirks(file=file, keep=self.keep, _lock=self._lock)
                self.__dict__.update(new.__dict__)
            self.file = file or self.file
            self._keep()

    @property
    def limits(self) -> list[tuple[str, int, str]]:
        """The limits that were learnt, for people: what is limited, tokens, how it was learnt."""
        limits = [("Context window", self.window, self.origin), ("Longest reply", self.most_tokens, Origin.SAID)]
        return [(name, tokens, ORIGINS[origin]) for name, tokens, origin in limits if tokens and origin]

    def learn_window(self, window: int, origin: Origin = Origin.SAID) -> bool:
        """Believe that the server takes in ``window`` tokens. False where a larger prompt went through."""
        with self._lock:
            if window < max(self.largest, LEAST_WINDOW // 2):
                return False
            if self.window is None or window < self.window:
                self.window, self.origin = window, origin
                self._keep()
                self._note(f"The server reads {window:,} tokens (parts of words) at once at most; no more is sent.")
        return True

    def learn_denser_text(self) -> bool:
        """A prompt that should fit did not: this text has more tokens than was estimated. False: enough was tried."""
        with self._lock:
            self.ratio = max(1.0, self.ratio or 1.0) * 1.15
            return self.ratio < 3

    def guess_window(self, refused: int, *, seen: int | None) -> bool:
        """Half of the tokens ``refused`` as too many, by a server that names no limit. False: enough was tried.

        ``seen``: the window known when they were sent; where another thread has lowered it since, that one is tried.
        """
        with self._lock:
            if self.window is not None and (seen is None or self.window < seen):
                return True
            if self.guesses >= MOST_GUESSES or refused // 2 < LEAST_WINDOW:
                return False
            self.guesses += 1
            self.window, self.origin = refused // 2, Origin.TRIED
            self._keep()
            self._note(
                "The server found a text too long and did not say how much it takes in; at most "
                f"{self.window:,} tokens (parts of words) are sent now. If you know its window, set it in Settings."
            )
        return True

    def learn_cutting(self, *, sent: int, read: int) -> None:
        """The server read fewer tokens than were sent: send shorter prompts, and say so."""
        self.learn_window(read, Origin.CUT)
        self.cutting = (
            f"The server cut a prompt without saying so: it read {read:,} of about {sent:,} tokens (parts of words). "
            f"Shorter ones are sent now. To send whole pages, give the model a larger context {HOW_LARGER}, then press "
            "“Use this model” in Settings again."
        )

    def learn_whole(self, tokens: int, ratio: float) -> None:
        """A whole prompt of ``tokens`` was read, ``ratio`` times as many as were estimated."""
        with self._lock:
            self.ratio = max(ratio, self.ratio or 0.0)
            self.largest = max(tokens, self.largest)

    def note_ending(self, reason: str) -> None:
        with self._lock:
            self._note(
                f"The server ended a reply for a reason that is not known here ({reason}). Such a reply is used where "
                "it ends with a whole sentence."
            )

    def _note(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def _keep(self) -> None:
        if self.keep:
            self.keep(self)


def load_quirks(home: Path, where: str, model: str) -> Quirks:
    """Return what is known of a model from earlier; a window that is learnt from now on is stored in ``home``."""
    rows = _read(home)
    row: Any = rows.get(_name(where, model), rows.get(f"{model} at {where}"))  # as it was named once
    quirks = Quirks(keep=lambda quirks: store_window(home, where, model, quirks))
    with suppress(KeyError, TypeError, ValueError):  # nothing, or another form
        quirks.window, quirks.origin, quirks.file = int(row["window"]), Origin(row["origin"]), str(row["file"])
    return quirks


def store_window(home: Path, where: str, model: str, quirks: Quirks | None) -> None:
    """Store the window that was learnt of a model; None forgets it. A folder that cannot be written is no error."""
    with _FILE_LOCK, suppress(OSError):
        rows, name = _read(home), _name(where, model)
        before = rows.pop(name, None) or rows.pop(f"{model} at {where}", None)
        if quirks and quirks.window and quirks.origin:
            rows[name] = {"window": quirks.window, "origin": quirks.origin.value, "file": quirks.file}
        if rows.get(name) != before:
            write_whole(home / FILE, json.dumps(rows, ensure_ascii=False, indent=1).encode())


def _name(where: str, model: str) -> str:
    return f"{plain_name(model)} at {where}"


def _read(home: Path) -> dict[str, Any]:
    try:
        found = json.loads((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
