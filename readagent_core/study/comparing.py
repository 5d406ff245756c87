"""One question put to several methods at the same time, as one job; how each of them stands, as values.

A method that fails leaves the others be. The last comparison of a text is kept beside it. Knows nothing of screens.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from readagent_core import methods
from readagent_core.errors import CancelledError, NotInLibraryError, ReadAgentError, SettingsError
from readagent_core.jobs import Job
from readagent_core.memory import GistMemory
from readagent_core.methods.base import (
    Answer,
    Answered,
    AnswerPart,
    AskSettings,
    Event,
    LookedUp,
    ModelCall,
    Question,
    answer_from_dict,
)
from readagent_core.methods.support.resources import with_resources
from readagent_core.overlap import rouge, strip_citations
from readagent_core.study.tools import tools

if TYPE_CHECKING:
    from readagent_core.study import Study

AT_ONCE = 6
PUBLISH_SECONDS = 0.15
KIND = "comparison"
OURS = "Something in ReadAgent itself went wrong. The other methods go on; please ask again."


@dataclass(frozen=True)
class Entry:
    """One method's row. ``state``: 'waiting', 'running', 'done', 'cut off', 'failed' or 'cancelled'.

    ``doing``: what it does now, for people. ``text``: the answer as far as it came. ``seconds``: by the clock.
    ``rouge``: how much the answer shares with the known answers, 0 to 1; empty where none is known.
    """

    method: str
    state: str = "waiting"
    doing: str = ""
    text: str = ""
    calls: int = 0
    seconds: float = 0.0
    answer: Answer | None = None
    error: str = ""
    rouge: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """``correct``: index of the right option, None where it is not known. ``references``: known answers, as people
    wrote them. ``pages``: words of each page, in order.

    ``words``: of the text asked about. ``model``: who answered. ``asked``: ``time.time()`` seconds.
    """

    title: str
    language: str
    question: str
    options: tuple[str, ...]
    correct: int | None
    words: int
    pages: tuple[int, ...]
    model: str
    asked: float
    entries: tuple[Entry, ...]
    references: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        return all(entry.state not in ("waiting", "running") for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        entries = tuple(
            Entry(**{**e, "answer": None if e["answer"] is None else answer_from_dict(e["answer"])})
            for e in data["entries"]
        )
        return cls(
            **{
                **data,
                "options": tuple(data["options"]),
                "pages": tuple(data["pages"]),
                "references": tuple(data.get("references", ())),
                "entries": entries,
            },
        )


def right(comparison: Comparison, entry: Entry) -> bool | None:
    """Whether the method chose the right option; None where that cannot be told."""
    if comparison.correct is None or entry.answer is None or not comparison.options:
        return None
    return entry.answer.option == comparison.correct


def job_key(book_id: str) -> str:
    return f"compare {book_id}"


def compare(
    study: Study,
    book_id: str,
    question: Question,
    names: Sequence[str],
    *,
    settings: AskSettings,
    correct: int | None = None,
    references: Sequence[str] = (),
    reading_id: int | None = None,
) -> Job:
    """The job that asks every method of ``names``; it publishes a Comparison. One a book at a time."""
    if not question.text.strip():
        raise SettingsError("Write a question first.")
    if not names:
        raise SettingsError("Choose at least one method.")
    chosen = {name: methods.method(name) for name in names}
    memory = _memory(study, book_id, reading_id)
    if not memory.readable:
        raise NotInLibraryError("No page of this book has been read yet. Start reading it, then compare.")
    equipped = with_resources(
        replace(settings, by_importance=settings.by_importance or memory.plan.asks_chapters),
        tools(study, memory.document.id),
    )
    model = study.model
    begun = Comparison(
        title=memory.document.title,
        language=memory.document.language,
        question=question.text.strip(),
        options=question.options,
        correct=correct,
        words=memory.readable_words,
        pages=tuple(page.words for page in memory.pages),
        model=model.name,
        asked=time.time(),
        entries=tuple(Entry(name) for name in chosen),
        references=tuple(r.strip() for r in references if r.strip()) if not question.options else (),
    )

    def work(job: Job) -> Comparison:
        board = _Board(job, begun)
        with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            for place, method in enumerate(chosen.values()):
                pool.submit(board.run, place, lambda m=method: m.run(question, memory, model, equipped, job))
        study.library.save_artifact(memory.document.id, KIND, "last", board.comparison.to_dict())
        job.check()
        return board.comparison

    return study.jobs.start(job_key(book_id), work)


def last(study: Study, book_id: str) -> Comparison | None:
    """The last comparison of the book's newest text, or None."""
    kept = study.library.artifact(study.library.book(book_id).document_id, KIND, "last")
    return None if kept is None else Comparison.from_dict(kept)


def _memory(study: Study, book_id: str, reading_id: int | None) -> GistMemory:
    if reading_id is not None:
        return study.library.memory(reading_id)
    found = study.newest_memory(book_id)
    if found is None:
        raise NotInLibraryError("This book has not been read yet. Start reading it, then compare.")
    return found[1]


class _Board:
    """The comparison as it grows; each method writes its own row."""

    def __init__(self, job: Job, comparison: Comparison) -> None:
        self.comparison = comparison
        self._job = job
        self._lock = threading.Lock()
        self._published = 0.0
        job.publish(value=comparison, total=len(comparison.entries))

    def run(self, place: int, events: Any) -> None:
        """Run one method to its end, whatever that is."""
        began = time.monotonic()
        end: dict[str, Any] = {}
        try:
            self._job.check()
            self._change(place, state="running")
            for event in events():
                self._event(place, event, seconds=round(time.monotonic() - began, 2))
                self._job.check()
        except CancelledError as error:
            end = {"state": "cancelled", "error": str(error)}
        except ReadAgentError as error:
            end = {"state": "failed", "error": str(error)}
        except Exception:  # noqa: BLE001  a bug of ours in one method must not take the others with it
            traceback.print_exc()
            end = {"state": "failed", "error": OURS}
        else:
            answer = self.comparison.entries[place].answer
            end = {"state": "cut off" if answer is not None and answer.cut_off else "done"}
        self._change(place, **end, doing="", seconds=round(time.monotonic() - began, 2), now=True)

    def _event(self, place: int, event: Event, *, seconds: float) -> None:
        entry = self.comparison.entries[place]
        if isinstance(event, AnswerPart):
            self._change(place, text=entry.text + event.text, doing="", seconds=seconds, now=False)
        elif isinstance(event, Answered):
            known = self.comparison.references
            shared = rouge(strip_citations(event.answer.text), known) if known else {}
            self._change(place, answer=event.answer, text=event.answer.text, rouge=shared, seconds=seconds)
        elif isinstance(event, ModelCall):
            calls = entry.calls + 1
            self._change(place, calls=calls, doing=_doing(event, calls), seconds=seconds, now=False)
        elif isinstance(event, LookedUp) and event.pages:
            self._change(place, doing=f"Read again: {_numbers(event.pages)}", seconds=seconds)

    def _change(self, place: int, *, now: bool = True, **changes: Any) -> None:
        with self._lock:
            entries = list(self.comparison.entries)
            entries[place] = replace(entries[place], **changes)
            self.comparison = replace(self.comparison, entries=tuple(entries))
            if now or time.monotonic() - self._published >= PUBLISH_SECONDS:
                self._published = time.monotonic()
                done = sum(e.state not in ("waiting", "running") for e in entries)
                self._job.publish(value=self.comparison, done=done)


_TASKS = {
    "look_up": "Looked over the gists",
    "look_up_ranked": "Looked over the gists",
    "look_up_next": "Looked over the gists",
    "tree_segment": "Building the tree",
    "tree_parent": "Building the tree",
    "walk": "Walking the tree",
    "leaf": "Reading a part",
    "carry": "Carrying the summary",
    "compress": "Shortening topics",
}


def _doing(event: ModelCall, calls: int) -> str:
    return f"{_TASKS[event.task]}: {calls} calls so far" if event.task in _TASKS else ""


def _numbers(pages: Sequence[int]) -> str:
    return ("page " if len(pages) == 1 else "pages ") + ", ".join(map(str, sorted(pages)[:8]))
