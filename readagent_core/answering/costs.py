"""What asking costs: an estimate before, the figures after. Money is in dollars.

Estimates are called estimates. Replies from the cache sent nothing; what they saved is reported apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.answering.base import Answer, AskSettings, Event, ModelCall, Searched
from readagent_core.answering.explore import WORDS
from readagent_core.answering.fitting_view import words_of_view
from readagent_core.answering.levels import PART_SHARE, count_missing
from readagent_core.answering.recall import ONCE_WORDS, PASSAGE_WORDS, ROUND_WORDS, SEARCH_WORDS, VIEW_WORDS
from readagent_core.answering.registry import all_methods
from readagent_core.answering.replay import answer_of
from readagent_core.answering.resources import ArtifactStore
from readagent_core.answering.response import ANSWER_WORDS
from readagent_core.answering.shelf import ShelfBook
from readagent_core.answering.shelf_view import gists_to_make
from readagent_core.answering.word_budget import max_context_words
from readagent_core.memory import GistMemory, compression_rate
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.prices import money, money_after, price_in_words
from readagent_core.usage import Usage
from readagent_core.words import count_of, length_of

SEVERAL_TIMES = 2.5  # as many words as by zoom: from here on zoom is offered
EVERY_GIST = ("read-agent-p", "read-agent-s", "read-agent-search")  # methods whose prompts show every gist
OPENED = 2.5  # pages that models open of those they may (paper: 2.3 of 5)
AROUND = 120  # words of instructions and question
TOKENS_PER_WORD = 4 / 3  # of English text, where no server has reported any


# --- before a question ----------------------------------------------------------------------------------


def zoom_sentence(model: ChatModel, memory: GistMemory, method: str, *, look_ups: int) -> str:
    """What a question about a long book sends by ``method`` and by zoom; '' where zoom would save little, or no money.

    ``method``: where it shows every gist, as the three forms of ReadAgent do; or zoom itself.
    """
    gists = memory.gist_text_words
    if not model.is_language_model or method not in ("zoom", *EVERY_GIST):
        return ""
    page = memory.readable_words / max(1, len(memory.readable))
    words, zoom_words = (
        round(question_work(name, AskSettings(look_ups), words=memory.words, gists=gists, page=page)[1])
        for name in ("read-agent-p" if method == "zoom" else method, "zoom")
    )
    around = AROUND + ANSWER_WORDS
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


def price_of_question(model: ChatModel, memory: GistMemory, method: str, *, look_ups: int) -> str:
    """What a usual question costs: 'free', 'about $0.01', 'price not known'. An estimate."""
    return price_of_words(model, words_of_question(memory, method, look_ups=look_ups))


def price_of_shelf_question(model: ChatModel, books: Sequence[ShelfBook], *, look_ups: int) -> str:
    """What a usual question about several books costs, without what is made first; as ``price_of_question`` says it."""
    pages = max(1, sum(book.pages for book in books))
    words, gists = sum(book.words for book in books), sum(book.gist_words for book in books)
    _, sent = question_work("zoom", AskSettings(look_ups), words=words, gists=gists, page=words / pages)
    return price_of_words(model, round(sent + 3 * AROUND))


def parts_sentence(model: ChatModel, memory: GistMemory, method: str, store: ArtifactStore, *, look_ups: int) -> str:
    """What the next question by ``method`` makes of a book before its answer; '' where that is nothing, or no money.

    Gists of ranges of pages, where not every gist fits into a prompt, or into a view of zoom. ``store``: has those that
    were made before.
    """
    if not model.is_language_model or method not in ("zoom", *EVERY_GIST) or not memory.readable:
        return ""
    limit = max_context_words(AskSettings(), model, sample=memory.gist_text, around=AROUND + ANSWER_WORDS)
    fits = memory.gist_text_words if limit is None else limit
    most = min(WORDS, fits) if method == "zoom" else words_of_view(memory, fits, limit, look_ups=look_ups)
    if method != "zoom" and memory.gist_text_words <= fits:
        return ""
    calls = count_missing(model, memory, most, store)
    if not calls:
        return ""
    price = price_of_words(model, *_shortening(memory.gist_words, calls))
    return f"First, and once, gists of parts of this book are made: about {count_of(calls, 'call')}, {price}."


def _shortening(gists: int, calls: int) -> tuple[int, int]:
    """Return about how many words are sent and come back while gists of so many words are shortened once more."""
    sent = gists * (1 + PART_SHARE) + calls * AROUND
    return round(sent), round(sent * PART_SHARE)


def shelf_gists_sentence(model: ChatModel, books: Sequence[ShelfBook]) -> str:
    """What the first question about ``books`` makes before it is answered; '' where that is nothing, or no money."""
    missing = gists_to_make(books)
    if not model.is_language_model or not missing or sum(book.gist_words for book in books) <= WORDS:
        return ""
    calls = sum(missing.values())
    price = price_of_words(model, *_shortening(sum(book.gist_words for book in missing), calls))
    whose = f"gists of {count_of(len(missing), 'book')} and {'its' if len(missing) == 1 else 'their'} parts"
    return f"First, and once, {whose} are made: at most {count_of(calls, 'call')}, {price}."


def price_of_words(model: ChatModel, words: int, answer_words: int = ANSWER_WORDS) -> str:
    """What prompts of ``words`` and an answer cost: 'free', 'about $0.01', 'price not known'."""
    if not model.is_language_model:
        return "free"
    return price_in_words(model.price, words, answer_words)


def words_of_question(memory: GistMemory, method: str, *, look_ups: int) -> int:
    """About how many words all prompts of a question have together."""
    page = memory.words / max(1, len(memory.pages))
    settings = AskSettings(look_ups)
    _, words = question_work(method, settings, words=memory.words, gists=memory.gist_words, page=page)
    return round(min(words, 2 * memory.words + AROUND))


def question_work(
    method: str, settings: AskSettings, *, words: float, gists: float, page: float
) -> tuple[float, float]:
    """Return about how many calls a usual question takes, and the words of all its prompts together.

    ``words``: of the text; ``gists``: of its gist memory; ``page``: of a page. A method of another package is taken for
    one that shows every gist once, or for a search.
    """
    opened = min(settings.look_ups, OPENED)
    asked = 1 if settings.look_ups else 0  # for pages
    found = min(words, max(1, settings.look_ups) * page)
    view = min(gists, int(settings.extra.get("words", WORDS)))
    known = {
        "read-agent-p": (1 + asked, (1 + asked) * gists + opened * page),
        "read-agent-search": (1 + 2 * asked, (1 + 2 * asked) * gists + opened * page),
        "read-agent-s": (2 + opened, (2 + opened) * gists + page * opened * (opened + 1) / 2),
        "gist-neural": (1, gists + found),
        "zoom": (3, 3 * view + asked * page),
        "recall": (2, 2 * (VIEW_WORDS + PASSAGE_WORDS)),
        "recall-once": (1, VIEW_WORDS + ONCE_WORDS),
        "search-agent": (2, 2 * PASSAGE_WORDS + ROUND_WORDS),
        "passages-dos": (1, SEARCH_WORDS),
        "memwalker": (5, 5 * 900),  # prompts of eight summaries, then of a segment
        "recurrence": (1, min(words, 380)),  # a summary of 500 tokens
        "semantic-compression": (1, words / 6),
        "full-text": (1, min(words, settings.context_words or words)),
    }
    needs_gists = method in all_methods() and all_methods()[method].needs_gists
    calls, sent = known.get(method, (1, gists if needs_gists else found))
    return calls, sent + calls * AROUND


# --- after an answer ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnswerCost:
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
    looks_up: bool = True  # the method may look pages up

    @property
    def compression_rate(self) -> float:
        return compression_rate(self.read, self.whole)


def usage_of(events: Sequence[Event]) -> Usage:
    """Everything an exchange sent and received, the step that made the question self-contained included."""
    calls = [event for event in events if isinstance(event, ModelCall)]
    counted = sum((call.usage for call in calls), Usage())
    answer = answer_of(events)
    if answer is None:
        return counted
    # the answer's own figures have the calls that are no events: gists of parts of the book, made for it once
    whole = answer.usage + sum((call.usage for call in calls if call.task == "standalone"), Usage())
    return whole if whole.calls + whole.cached_calls >= counted.calls + counted.cached_calls else counted


def answer_cost(events: Sequence[Event], *, whole: int, seconds: float) -> AnswerCost | None:
    """The cost of a finished answer; None where there is none. ``whole``: words of the text asked about."""
    answer = answer_of(events)
    if answer is None:
        return None
    usage = usage_of(events)
    sent = usage.words_in
    per_word = usage.tokens_in / sent if sent and usage.tokens_in else TOKENS_PER_WORD
    in_full = None if usage.cost is None else usage.cost * (whole / sent) if sent else 0.0
    looked_up = len(answer.looked_up) + sum(len(book.looked_up) for book in answer.books)
    looks_up = answer.method not in all_methods() or all_methods()[answer.method].looks_up
    tokens = round(whole * per_word)
    return AnswerCost(answer.memory_words, whole, looked_up, seconds, usage, tokens, in_full, looks_up)


def cost_line(cost: AnswerCost, language: str = "en", *, built_in: bool = False) -> str:
    """'Read 1,945 of 10,352 words – 81.2 % fewer; 2 pages looked up; 3.2 s'

    Where all prompts together have more words than the text, as of a method that summarises it first, this is said in
    place of the rate. ``language``: of the text. ``built_in``: of the built-in reader, to which nothing is sent.
    """
    rate, sent = cost.compression_rate, cost.usage.words_in + cost.usage.saved_words_in
    fewer = f" – {min(rate, 99.9):.1f} % fewer" if rate > 0 else ""
    if rate > 0 and sent > cost.whole and not built_in:
        fewer = f" for the answer; {length_of(sent, language)} in all prompts"
    pages = ""
    if cost.looks_up or cost.looked_up:
        pages = f"; {count_of(cost.looked_up, 'page') if cost.looked_up else 'no page'} looked up"
    minutes, rest = divmod(round(cost.seconds), 60)
    took = f"; {minutes} min {rest} s" if minutes else f"; {cost.seconds:.1f} s" if cost.seconds >= 0.05 else ""
    read = length_of(min(cost.read, cost.whole), language).split()[0]  # with tags it can be more
    return f"Read {read} of {length_of(cost.whole, language)}{fewer}{pages}{took}"


def cost_details(cost: AnswerCost, *, is_language_model: bool = True) -> list[str]:
    """The rest of the figures, one sentence each."""
    usage = cost.usage
    if not (usage.calls or usage.cached_calls) or not is_language_model:
        return []
    sentences: list[str] = []
    if usage.words_in:
        reused = f", {usage.tokens_reused:,} of them from the server's cache" if usage.tokens_reused else ""
        tokens = f" ({usage.tokens_in:,} tokens in{reused}, {usage.tokens_out:,} out)" if usage.tokens_in else ""
        sentences.append(f"Sent {words_sent(usage)}, instructions included{tokens}{money_after(usage.cost)}.")
    if usage.saved_words_in:
        saved = f" That saved {money(usage.saved_cost)}." if usage.saved_cost else ""
        sentences.append(f"{usage.saved_words_in:,} words were answered from the cache and not sent again.{saved}")
    full = f"{cost.whole:,} words, about {cost.full_tokens:,} tokens{money_after(cost.full_cost)}"
    return [*sentences, f"The full text in one prompt: {full}."]


def words_sent(usage: Usage) -> str:
    """Return the words of the calls and how many of them are new; '' where nothing was sent."""
    new = "" if usage.words_new is None else f", {usage.words_new:,} of them new"
    return f"{usage.words_in:,} words in {count_of(usage.calls, 'call')}{new}" if usage.words_in else ""


def is_from_gists_alone(answer: Answer, events: Sequence[Event]) -> bool:
    """Whether the answer was made from gists alone: it saw text of no page."""
    uses_gists = answer.method in all_methods() and all_methods()[answer.method].needs_gists
    shown = answer.books or (answer,)
    seen = {how for one in shown for how in one.seen.values()}
    opened = any(one.looked_up for one in shown) or shows_found_words(answer, events)
    return uses_gists and bool(seen) and seen <= {"gist", "part"} and not opened


def shows_found_words(answer: Answer, events: Sequence[Event]) -> bool:
    """Whether the answer saw passages that a search for words found, in any book."""
    searched = any(isinstance(event, Searched) and (event.pages or event.book) for event in events)
    return searched or bool(answer.passages) or any(book.how == "words" or book.passages for book in answer.books)
