"""The budget of one book: what all its readings cost so far, against the limit set in Settings or raised for it.

The limit holds however often a reading is paused and gone on with, or begun again by another plan or model; only a
person raises it. Knows nothing of screens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from readagent_core.library.records import Reading
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.prices import money

if TYPE_CHECKING:
    from readagent_core.study import Study

USED = "The budget for this book is used"  # every reading that stopped for it says so first


@dataclass(frozen=True)
class BookBudget:
    """In dollars. ``limit``: None where none is set. ``step``: the limit of Settings, by which it is raised.

    ``rest``: what reading the rest would cost by what the pages so far did; None where that is not known.
    """

    spent: float
    limit: float | None
    step: float
    rest: float | None = None

    @property
    def raised(self) -> float:
        """The next limit: whole steps, above what is spent."""
        return self.step * (math.floor(max(self.limit or 0.0, self.spent) / self.step + 1e-9) + 1)

    @property
    def told(self) -> str:
        """Why a reading stands still, for people."""
        rest = f" The rest would cost about {money(self.rest)}." if self.rest else ""
        return f"{self.amounts}, with every page read so far kept.{rest} Raise it to go on."

    @property
    def amounts(self) -> str:
        return f"{USED}: {money(self.spent)} of {money(self.limit)} is spent"


def of_book(study: Study, book_id: str, model: ChatModel, *, reading: Reading | None = None) -> BookBudget:
    """How the budget of a book stands for ``model``. ``reading``: the one whose rest is to be estimated."""
    readings = [r for r in study.library.readings(book_id) if not r.recorded]
    spent = sum(r.usage.cost or 0.0 for r in readings)
    step = float(model.budget or 0.0)
    limit = max(step, float(study.library.preference(_name(book_id), 0.0))) if step else None
    return BookBudget(spent, limit, step, _rest(study, reading) if reading else None)


def raise_budget(study: Study, book_id: str) -> float:
    """Allow one step more for this book; the new limit. Without a limit in Settings nothing is kept."""
    budget = of_book(study, book_id, study.model)
    if budget.limit is None:
        return 0.0
    study.library.set_preference(_name(book_id), budget.raised)
    return budget.raised


def stopped(study: Study, reading: Reading) -> BookBudget | None:
    """The budget a reading stands still for; None where it stands for another reason, or the budget allows more."""
    if reading.state != "paused" or not reading.why.startswith(USED):
        return None
    budget = of_book(study, reading.book_id, study.model, reading=reading)
    return budget if budget.limit is not None else None


def _name(book_id: str) -> str:
    return f"budget {book_id}"


def _rest(study: Study, reading: Reading) -> float | None:
    memory = study.library.memory(reading.id)
    read = sum(memory.page(n).words for n in memory.readable)
    if not read or not reading.usage.cost:
        return None
    return reading.usage.cost * (memory.document.words - read) / read
