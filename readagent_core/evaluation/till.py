"""What a whole experiment has sent and spent, against its one budget: in words, in dollars, or both.

Kept beside the results, so that the budget holds however often the experiment is stopped and gone on with; a kill
loses at most the last second of it. Safe from several threads.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from pathlib import Path

from readagent_core.errors import BudgetError
from readagent_core.models.base import Completion
from readagent_core.models.cost.prices import money

FILE = "spent.json"
_KEEP_SECONDS = 1.0


class Till:
    """``most_words``, ``most_dollars``: None for no limit. ``folder``: where what is spent is kept, None for nowhere.

    ``words_sent``: in this run; ``words``, ``dollars``: of the experiment. Cached replies count nothing.
    """

    def __init__(
        self, most_words: int | None = None, *, most_dollars: float | None = None, folder: Path | None = None
    ) -> None:
        self.most_words, self.most_dollars = most_words, most_dollars
        self.words_sent = 0
        self.reported: set[str] = set()
        self.words, self.dollars = spent(folder) if folder else (0, 0.0)
        self._folder = folder
        self._kept = time.monotonic()
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise BudgetError once the budget is used."""
        if self.most_words is not None and self.words >= self.most_words:
            self._used(f"{self.most_words:,} words", f"{self.words:,} were sent")
        if self.most_dollars is not None and self.dollars >= self.most_dollars:
            self._used(money(self.most_dollars), f"{money(self.dollars)} is spent")

    def _used(self, budget: str, spent: str) -> None:
        raise BudgetError(
            f"The budget of {budget} is used up ({spent}). Every answer so far is kept; raise the budget and start "
            f"again to go on."
        )

    def add(self, words: int, completion: Completion, *, dollars: float = 0.0) -> None:
        """Count one reply; ``words`` and ``dollars`` of what was sent for it."""
        with self._lock:
            if completion.model:
                self.reported.add(completion.model)
            if completion.cached:
                return
            self.words_sent += words
            self.words += words
            self.dollars += dollars
            due = time.monotonic() - self._kept >= _KEEP_SECONDS
        if due:
            self.keep()

    def keep(self) -> None:
        """Write down what is spent. A full disk is told by the results, which matter more."""
        with self._lock:
            self._kept = time.monotonic()
            if self._folder is None:
                return
            draft = self._folder / f"{FILE}.new"
            with suppress(OSError):
                draft.write_text(json.dumps({"words": self.words, "dollars": self.dollars}), encoding="utf-8")
                draft.replace(self._folder / FILE)


def spent(folder: Path) -> tuple[int, float]:
    """(words, dollars) an experiment has sent so far; nothing where nothing is kept."""
    try:
        kept = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return int(kept["words"]), float(kept["dollars"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0.0
