"""What making gists costs: an estimate before, the figures after, and the budget of a book. Money is in dollars.

Estimates are called estimates. Replies from the cache sent nothing; what they saved is reported apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from readagent_core.document import Document
from readagent_core.gisting.call_estimate import GistingEstimate, estimate
from readagent_core.gisting.notes_budget import add_notes, notes_mode
from readagent_core.library.records import Gisting, GistingState, StopReason
from readagent_core.model_names import short_name
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.prices import money, money_after, price_in_words
from readagent_core.models.cost.tokens import tokens_of_words
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

MIN_CALLS = 3  # fewer calls say nothing about a model's speed
SPEEDS = "model speeds"  # the library's preference: model → tokens a second read, written
NOVEL_WORDS = 60_000
SLOW_NOVEL = 180.0  # minutes for the gists of one, from which on a call for each pause is too much
_TOKENS_PER_WORD = 1.35
_COMPUTED = 1.5  # prompt tokens that a model on this computer computes for each token of a book
_WRITTEN = 0.2  # tokens written for each token of a book


# --- before a reading -----------------------------------------------------------------------------------


def estimate_sentence(workspace: Workspace, document: Document, plan: GistingPlan) -> str:
    """'About 25 pages: 50 calls, 30,000 words (45,000 tokens) sent, 5,000 words back; about $0.02; about 3 minutes.'"""
    work, model = _estimate(workspace, document, plan), workspace.model
    pages = count_of(work.pages, "page")
    if not model.is_language_model:
        return f"About {pages}. The built-in reader costs nothing."
    sent = f"{count_of(work.calls, 'call')}, {work.words_in:,} words ({tokens_of_words(work.words_in):,} tokens) sent"
    cost = price_in_words(model.price, work.words_in, work.words_out)
    parts = [f"About {pages}: {sent}, {work.words_out:,} words back", cost]
    minutes = minutes_of(workspace, document.words, plan, calls=work.calls)
    if minutes is not None:
        parts.append("under a minute" if minutes < 1 else f"about {count_of(round(minutes), 'minute')}")
    return f"{'; '.join(parts)}."


def _estimate(workspace: Workspace, document: Document, plan: GistingPlan) -> GistingEstimate:
    return add_notes(estimate(document, plan), document, plan, notes_mode(workspace, workspace.model, document, plan))


def short_estimate(workspace: Workspace, document: Document, plan: GistingPlan) -> str:
    """'About 12 min, 50 calls, $0.20 with gpt-4o', for a language model."""
    work, model = _estimate(workspace, document, plan), workspace.model
    cost = price_in_words(model.price, work.words_in, work.words_out).removeprefix("about ")
    minutes = minutes_of(workspace, document.words, plan, calls=work.calls)
    parts = [] if minutes is None else [f"{max(1, round(minutes)):,} min"]
    parts += [count_of(work.calls, "call"), cost]
    return f"About {', '.join(parts)} with {short_name(model.name)}"


def minutes_at(words: int, read: float, written: float) -> float:
    """Minutes for the gists of a text, one call at a time, at so many tokens a second."""
    tokens = words * _TOKENS_PER_WORD
    return (tokens * _COMPUTED / max(read, 0.01) + tokens * _WRITTEN / max(written, 0.01)) / 60


def minutes_of(workspace: Workspace, words: int, plan: GistingPlan, *, calls: int | None = None) -> float | None:
    """The time that the gists of a text take the chosen model; None where its speed is not known.

    ``calls``: that the text takes; by default about those of its pages. About half of them run side by side: pause
    points are found one after another, gists at the same time.
    """
    seconds = seconds_per_call(workspace)
    if seconds is not None:
        each = 2 if plan.pagination == "pause" else 1
        calls = calls if calls is not None else round(each * words / max(1, (plan.min_words + plan.max_words) / 2))
        at_once = 1 if workspace.model.shares_text else workspace.connections
        return max(calls / min(2, at_once), calls / at_once) * seconds / 60
    speed = workspace.library.preference(SPEEDS, {}).get(workspace.model.name)
    return None if speed is None else minutes_at(words, *speed)


def seconds_per_call(workspace: Workspace) -> float | None:
    """The mean time of the chosen model's calls in earlier gistings; None where there were too few."""
    usages = [gisting.usage for gisting in workspace.library.gistings_by(workspace.model.name)]
    calls, seconds = sum(usage.calls for usage in usages), sum(usage.seconds for usage in usages)
    return seconds / calls if calls >= MIN_CALLS else None


# --- after a reading ------------------------------------------------------------------------------------


def gisting_cost(usage: Usage) -> str:
    """What a gisting has sent so far and what the cache saved, in a line; '' where nothing was sent or saved."""
    sentences: list[str] = []
    if usage.calls:
        calls = count_of(usage.calls, "call")
        sentences.append(f"Making the gists sent {usage.words_in:,} words in {calls}{money_after(usage.cost)}.")
    if usage.saved_words_in:
        saved = f" and {money(usage.saved_cost)}" if usage.saved_cost else ""
        sentences.append(f"The cache saved {usage.saved_words_in:,} words{saved}.")
    return " ".join(sentences)


# --- the budget of a book -------------------------------------------------------------------------------


@dataclass(frozen=True)
class BookBudget:
    """All that a book's readings cost, against the limit of Settings or the one a person raised it to.

    ``limit``: None where none is set. ``step``: the limit of Settings, by which it is raised. ``rest``: what reading
    the rest of the book would cost, estimated from the pages so far; None where that is not known.
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
    def message(self) -> str:
        """Why the gisting stopped, for people."""
        rest = f" The rest would cost about {money(self.rest)}." if self.rest else ""
        used = f"The budget for this book is used: {money(self.spent)} of {money(self.limit)} is spent"
        return f"{used}, with every gist made so far saved.{rest} Raise it to continue."


def book_budget(workspace: Workspace, book_id: str, model: ChatModel, *, gisting: Gisting | None = None) -> BookBudget:
    """The budget of a book for ``model``. ``gisting``: the one whose rest is to be estimated."""
    gistings = [r for r in workspace.library.gistings(book_id) if not r.recorded]
    spent = sum(r.usage.cost or 0.0 for r in gistings)
    step = float(model.budget or 0.0)
    limit = max(step, float(workspace.library.preference(_preference(book_id), 0.0))) if step else None
    return BookBudget(spent, limit, step, _cost_of_rest(workspace, gisting) if gisting else None)


def raise_budget(workspace: Workspace, book_id: str) -> float:
    """Allow one step more for this book; the new limit. Does nothing where Settings set no limit."""
    budget = book_budget(workspace, book_id, workspace.model)
    if budget.limit is None:
        return 0.0
    workspace.library.set_preference(_preference(book_id), budget.raised)
    return budget.raised


def exceeded_budget(workspace: Workspace, gisting: Gisting) -> BookBudget | None:
    """The budget that stopped a gisting; None where another reason did, or no budget is set any more."""
    if gisting.state != GistingState.PAUSED or gisting.reason != StopReason.BUDGET:
        return None
    budget = book_budget(workspace, gisting.book_id, workspace.model, gisting=gisting)
    return budget if budget.limit is not None else None


def _preference(book_id: str) -> str:
    return f"budget {book_id}"


def _cost_of_rest(workspace: Workspace, gisting: Gisting) -> float | None:
    memory = workspace.library.memory(gisting.id)
    read = memory.readable_words
    if not read or not gisting.usage.cost:
        return None
    return gisting.usage.cost * (memory.document.words - read) / read
