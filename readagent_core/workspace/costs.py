"""What reading and asking cost: an estimate before, the figures after, and the budget of a book. Money is in dollars.

Estimates are called estimates. Replies from the cache sent nothing; what they saved is reported apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.document import Document
from readagent_core.library.records import Reading
from readagent_core.memory import GistMemory, compression_rate
from readagent_core.methods import all_methods, zoom
from readagent_core.methods.base import Answer, AskSettings, Event, ModelCall
from readagent_core.methods.support.response import ANSWER_WORDS
from readagent_core.methods.support.word_budget import max_context_words
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.prices import money
from readagent_core.models.cost.tokens import tokens_of_words
from readagent_core.plan import ReadingPlan
from readagent_core.reading import estimate
from readagent_core.usage import Usage
from readagent_core.words import count_of
from readagent_core.workspace.base import Workspace
from readagent_core.workspace.replay import answer_of

SEVERAL_TIMES = 2.5  # as many words as by zoom: from here on zoom is offered
_PROMPTS = {"read-agent-p": 2, "read-agent-s": 4.5, "read-agent-search": 3}  # with every gist, for a usual question
_ZOOM_PROMPTS = 3  # for a usual question
_OPENED = 2.5  # pages that models open of those they may
_AROUND = 120  # words of instructions and question
TOKENS_PER_WORD = 4 / 3  # of English text, where no server has reported any
MIN_CALLS = 3  # fewer calls say nothing about a model's speed
BUDGET_USED = "The budget for this book is used"  # the first words of why a reading stopped for it


# --- before a reading -----------------------------------------------------------------------------------


def estimate_sentence(workspace: Workspace, document: Document, plan: ReadingPlan) -> str:
    """'About 25 pages: 50 calls, 30,000 words (45,000 tokens) sent, 5,000 words back; about $0.02; about 3 minutes.'"""
    work, model = estimate(document, plan), workspace.model
    pages = count_of(work.pages, "page")
    if not model.is_language_model:
        return f"About {pages}. The built-in reader costs nothing."
    sent = f"{count_of(work.calls, 'call')}, {work.words_in:,} words ({tokens_of_words(work.words_in):,} tokens) sent"
    dollars = model.price.cost_of_words(work.words_in, work.words_out) if model.price else None
    cost = {None: "its price is not known", 0.0: "free"}.get(dollars, f"about {money(dollars)}")
    parts = [f"About {pages}: {sent}, {work.words_out:,} words back", cost.replace("about under", "under")]
    minutes = _minutes(workspace, work.calls)
    if minutes is not None:
        parts.append("under a minute" if minutes < 1 else f"about {count_of(round(minutes), 'minute')}")
    return f"{'; '.join(parts)}."


def short_estimate(workspace: Workspace, document: Document, plan: ReadingPlan) -> str:
    """'About 12 min, 50 calls, $0.20 with gpt-4o', for a language model."""
    work, model = estimate(document, plan), workspace.model
    dollars = model.price.cost_of_words(work.words_in, work.words_out) if model.price else None
    minutes = _minutes(workspace, work.calls)
    parts = [] if minutes is None else [f"{max(1, round(minutes)):,} min"]
    parts += [count_of(work.calls, "call"), {None: "price not known", 0.0: "free"}.get(dollars, money(dollars))]
    return f"About {', '.join(parts)} with {model.name}"


def _minutes(workspace: Workspace, calls: int) -> float | None:
    """The time that so many calls take; None where the model's speed is not known.

    About half of the calls run side by side: pause points are found one after another, gists at the same time.
    """
    seconds = seconds_per_call(workspace)
    return None if seconds is None else max(calls / 2, calls / workspace.connections) * seconds / 60


def seconds_per_call(workspace: Workspace) -> float | None:
    """The mean time of the chosen model's calls in earlier readings; None where there were too few."""
    usages = [reading.usage for reading in workspace.library.readings_by(workspace.model.name)]
    calls, seconds = sum(usage.calls for usage in usages), sum(usage.seconds for usage in usages)
    return seconds / calls if calls >= MIN_CALLS else None


# --- before a question ----------------------------------------------------------------------------------


def zoom_sentence(model: ChatModel, memory: GistMemory, method: str, *, look_ups: int) -> str:
    """What a question about a long book sends by ``method`` and by zoom; '' where zoom would save little, or no money.

    ``method``: where it shows every gist, as the three forms of ReadAgent do; or zoom itself.
    """
    gists = memory.gist_text_words
    if not model.is_language_model or not (method == "zoom" or method in _PROMPTS):
        return ""
    shown = "read-agent-p" if method == "zoom" else method
    page = memory.readable_words / max(1, len(memory.readable))
    words = round(_PROMPTS[shown] * gists + min(look_ups, _OPENED) * page)
    zoom_words = round(_ZOOM_PROMPTS * zoom.WORDS + min(look_ups, 1) * page)
    around = _AROUND + ANSWER_WORDS
    limit = max_context_words(AskSettings(), model, sample=memory.gist_text, around=around)
    fits = limit is None or gists <= limit
    if fits and words < SEVERAL_TIMES * zoom_words:
        return ""
    by_zoom = f"about {_words_and_money(model, zoom_words)}"
    every = f"about {_words_and_money(model, words)}" if fits else "more than fits into one prompt of this model"
    if method == "zoom":
        return f"A question sends {by_zoom}. Showing every gist would send {every}."
    once = "; the first time also every gist, once"
    return f"A question sends {every}. Zooming into what it needs sends {by_zoom}{once}."


def _words_and_money(model: ChatModel, words: int) -> str:
    dollars = model.price.cost_of_words(words, ANSWER_WORDS) if model.price else None
    return f"{round(words, -3):,} words" + (f" ({money(dollars)})" if dollars else "")


# --- after a reading ------------------------------------------------------------------------------------


def reading_cost(usage: Usage) -> str:
    """What a reading has sent so far and what the cache saved, in a line; '' where nothing was sent or saved."""
    sentences: list[str] = []
    if usage.calls:
        calls = count_of(usage.calls, "call")
        sentences.append(f"Making the gists sent {usage.words_in:,} words in {calls}{_money(usage.cost)}.")
    if usage.saved_words_in:
        saved = f" and {money(usage.saved_cost)}" if usage.saved_cost else ""
        sentences.append(f"The cache saved {usage.saved_words_in:,} words{saved}.")
    return " ".join(sentences)


# --- after an answer ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """``read``: words in the longest in-context text (gists and opened pages). ``whole``: words of the text asked
    about. ``full_*``: what the full text in one prompt would have been, estimated.
    """

    read: int
    whole: int
    looked_up: int
    seconds: float
    usage: Usage
    full_tokens: int
    full_cost: float | None

    @property
    def compression_rate(self) -> float:
        return compression_rate(self.read, self.whole)


def usage_of(events: Sequence[Event]) -> Usage:
    """Everything an exchange sent and received, the step that made the question self-contained included."""
    return sum((event.usage for event in events if isinstance(event, ModelCall)), Usage())


def answer_cost(events: Sequence[Event], *, whole: int, seconds: float) -> Cost | None:
    """The cost of a finished answer; None where there is none. ``whole``: words of the text asked about."""
    answer = answer_of(events)
    if answer is None:
        return None
    usage = usage_of(events)
    sent = usage.words_in
    per_word = usage.tokens_in / sent if sent and usage.tokens_in else TOKENS_PER_WORD
    in_full = usage.cost * (whole / sent) if usage.cost and sent else None
    looked_up = len(answer.looked_up) + sum(len(book.looked_up) for book in answer.books)
    return Cost(answer.memory_words, whole, looked_up, seconds, usage, round(whole * per_word), in_full)


def cost_line(cost: Cost, *, built_in: bool = False) -> str:
    """'Read 1,945 of 10,352 words – 81.2 % fewer; 2 pages looked up; 3.2 s'

    Where all prompts together have more words than the text, as of a method that summarises it first, this is said in
    place of the rate. ``built_in``: of the built-in reader, to which nothing is sent.
    """
    rate, sent = cost.compression_rate, cost.usage.words_in + cost.usage.saved_words_in
    fewer = f" – {rate:.1f} % fewer" if rate > 0 else ""
    if rate > 0 and sent > cost.whole and not built_in:
        fewer = f" for the answer; {sent:,} words in all prompts"
    pages = count_of(cost.looked_up, "page") if cost.looked_up else "no page"
    took = f"; {cost.seconds:.1f} s" if cost.seconds else ""
    return f"Read {cost.read:,} of {cost.whole:,} words{fewer}; {pages} looked up{took}"


def cost_details(cost: Cost, *, is_language_model: bool = True) -> list[str]:
    """The rest of the figures, one sentence each."""
    usage = cost.usage
    if not (usage.calls or usage.cached_calls) or not is_language_model:
        return []
    sentences: list[str] = []
    if usage.words_in:
        reused = f", {usage.tokens_reused:,} of them from the server's cache" if usage.tokens_reused else ""
        tokens = f" ({usage.tokens_in:,} tokens in{reused}, {usage.tokens_out:,} out)" if usage.tokens_in else ""
        sent = f"{usage.words_in:,} words in {count_of(usage.calls, 'call')}"
        sentences.append(f"Sent {sent}, instructions included{tokens}{_money(usage.cost)}.")
    if usage.saved_words_in:
        saved = f" That saved {money(usage.saved_cost)}." if usage.saved_cost else ""
        sentences.append(f"{usage.saved_words_in:,} words were answered from the cache and not sent again.{saved}")
    full = f"{cost.whole:,} words, about {cost.full_tokens:,} tokens{_money(cost.full_cost)}"
    return [*sentences, f"The full text in one prompt: {full}."]


def gists_only_note(answer: Answer) -> str:
    """That the answer was made from gists alone; '' where a page was opened or the method uses no gists."""
    uses_gists = answer.method in all_methods() and all_methods()[answer.method].needs_gists
    gists = uses_gists and any(how == "gist" for how in answer.seen.values())
    return "Answered from gists; no page was needed." if gists and not answer.looked_up else ""


def _money(amount: float | None) -> str:
    if not amount:  # not known, or a model that costs nothing
        return ""
    return f", ${amount:.2f}" if amount >= 0.1 else f", ${amount:.4f}"


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
        """Why the reading stopped, for people."""
        rest = f" The rest would cost about {money(self.rest)}." if self.rest else ""
        return f"{self.amounts}, with every page read so far saved.{rest} Raise it to continue."

    @property
    def amounts(self) -> str:
        return f"{BUDGET_USED}: {money(self.spent)} of {money(self.limit)} is spent"


def book_budget(workspace: Workspace, book_id: str, model: ChatModel, *, reading: Reading | None = None) -> BookBudget:
    """The budget of a book for ``model``. ``reading``: the one whose rest is to be estimated."""
    readings = [r for r in workspace.library.readings(book_id) if not r.recorded]
    spent = sum(r.usage.cost or 0.0 for r in readings)
    step = float(model.budget or 0.0)
    limit = max(step, float(workspace.library.preference(_preference(book_id), 0.0))) if step else None
    return BookBudget(spent, limit, step, _cost_of_rest(workspace, reading) if reading else None)


def raise_budget(workspace: Workspace, book_id: str) -> float:
    """Allow one step more for this book; the new limit. Does nothing where Settings set no limit."""
    budget = book_budget(workspace, book_id, workspace.model)
    if budget.limit is None:
        return 0.0
    workspace.library.set_preference(_preference(book_id), budget.raised)
    return budget.raised


def exceeded_budget(workspace: Workspace, reading: Reading) -> BookBudget | None:
    """The budget that stopped a reading; None where another reason did, or no budget is set any more."""
    if reading.state != "paused" or not reading.why.startswith(BUDGET_USED):
        return None
    budget = book_budget(workspace, reading.book_id, workspace.model, reading=reading)
    return budget if budget.limit is not None else None


def _preference(book_id: str) -> str:
    return f"budget {book_id}"


def _cost_of_rest(workspace: Workspace, reading: Reading) -> float | None:
    memory = workspace.library.memory(reading.id)
    read = memory.readable_words
    if not read or not reading.usage.cost:
        return None
    return reading.usage.cost * (memory.document.words - read) / read
