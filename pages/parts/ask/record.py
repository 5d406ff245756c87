"""The record of an exchange that the conversation's component draws: plain values made from saved events.

All text goes to the browser as values that reach the page by ``textContent``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pages.parts.ask.in_text import InText, search_text
from pages.parts.ask.pieces import citations_summary, sentence_pieces
from pages.parts.ask.wording import (
    from_in_words,
    look_ups,
    method_in_words,
    method_titles,
    not_found,
    says_not_in_text,
    signer_line,
    status_line,
)
from pages.parts.shared.answer import chip_of, format_time, pending_pieces, pieces_of
from pages.parts.shared.memory_view import page_name
from readagent_core.answering import costs, replay
from readagent_core.answering.base import LETTERS, Answer, Event, NoteCode
from readagent_core.answering.questions import parse_standalone
from readagent_core.answering.registry import all_methods, sends_gists
from readagent_core.answering.signature import BUILT_IN, RECORDING, Signature, signature_of
from readagent_core.citations import Checked
from readagent_core.document import Document
from readagent_core.errors import Remedy
from readagent_core.export.conversation import answer_as_text
from readagent_core.library.records import Exchange, ExchangeState
from readagent_core.memory import GistMemory
from readagent_core.model_names import short_name
from readagent_core.models.builtin import reader as builtin
from readagent_core.models.builtin.parts_asked import Part, part_asked

MOST_LOOK_UPS = 6
_BY = {BUILT_IN: "built-in reader", RECORDING: "large language model"}
TROUBLE = {
    ExchangeState.CUT_OFF: ("wait", "The answer broke off here."),
    ExchangeState.CANCELLED: ("", "Stopped. What was written so far is saved."),
    ExchangeState.INTERRUPTED: (
        "wait",
        "ReadAgent was closed while this was being answered. What was written so far is saved.",
    ),
    ExchangeState.FAILED: ("alert", "This question could not be answered."),
}
NO_CAUSE = "No cause was kept with it."  # of answers from before causes were noted


@dataclass(frozen=True)
class Sources:
    """What a record says of the text: of one book, or of several. ``pages``: of the book.

    ``titles``: of several books, by number; None for one, whose text is ``document``. ``kept_out``, ``limited``: the
    titles of those of which the spoiler limits let in nothing, or a part, when they were asked. ``can_let_in``: whether
    the limits keep out anything now. ``names``: of its pages without a gist.
    ``in_text``: where the words of the question are, of an answer that was not found.
    """

    language: str
    checked: Checked | None
    looks: list[dict[str, Any]]
    pages: int = 0
    words: int = 0
    titles: Mapping[int, str] | None = None
    kept_out: Sequence[str] = ()
    limited: Sequence[str] = ()
    can_let_in: bool = False
    document: Document | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    in_text: InText = field(default_factory=InText)

    @property
    def about(self) -> str:
        """The book and its author, or the books."""
        if self.document is None:
            return "; ".join((self.titles or {}).values())
        return ", ".join(filter(None, [self.document.title, self.document.author]))


def sources_of_book(
    exchange: Exchange, events: Sequence[Event], checked: Checked | None, memory: GistMemory
) -> Sources:
    document = memory.document
    looks, pages, names = look_ups(exchange, events, memory), len(memory.pages), page_names(memory)
    answer, in_text = replay.answer_of(events), InText()
    if answer is not None and is_missing(exchange, answer):
        seen = memory if exchange.up_to is None else memory.up_to(exchange.up_to)
        in_text = search_text(exchange.facts.standalone or exchange.question, seen, names)
    return Sources(
        document.language, checked, looks, pages, document.words, document=document, names=names, in_text=in_text
    )


def is_missing(exchange: Exchange, answer: Answer) -> bool:
    """Whether the answer is that there is none in the text."""
    return not exchange.options and says_not_in_text(answer)


def page_names(memory: GistMemory) -> dict[int, str]:
    """Where each page without a gist is: 'Chapter 2', 'chapter II' of a heading that is a number alone, '34 %'.

    A person knows such pages by no number.
    """
    return {page.number: name for page in memory.pages if (name := page_name(memory, page))}


def exchange_record(
    exchange: Exchange,
    events: Sequence[Event],
    *,
    sources: Sources,
    state: ExchangeState,
    text: str,
    seconds: float = 0.0,
    waiting: str = "",
    hurry: bool = False,
    methods: Sequence[tuple[str, str, str, str]] = (),
    model: str = builtin.NAME,
    suggest_model: bool = False,
    price: str = "",
) -> dict[str, Any]:
    """Everything that the component draws of one exchange. ``text``: the answer so far. ``model``: who would answer
    now. ``suggest_model``: say that a model can be connected. ``price``: what it costs to ask again.
    """
    checked, titles = sources.checked, sources.titles
    answer = replay.answer_of(events)
    running = state == ExchangeState.RUNNING
    has_gists = not sources.pages or len(sources.names) < sources.pages
    signature, gists = signature_of(exchange), sends_gists(exchange.method) and has_gists
    built_in = signature.kind == BUILT_IN
    recorded = signature.date
    method = dict(method_titles()).get(exchange.method, exchange.method)
    cost = None
    if answer is not None:
        whole = exchange.facts.words or sources.words
        cost = costs.answer_cost(events, whole=whole, seconds=exchange.facts.seconds)
    before = " ".join([*replay.notes(events, NoteCode.READ_SO_FAR), *replay.notes(events, NoteCode.BY_SEARCH)])
    if exchange.up_to is not None:
        before = " ".join(
            filter(None, [before, f"Page{'s 1 to' if exchange.up_to > 1 else ''} {exchange.up_to} only."])
        )
        if part_asked(exchange.question) is Part.END and exchange.up_to < sources.pages:
            before += " The end of the book is kept back."
    missing = answer is not None and is_missing(exchange, answer)
    alone, looks = answer is not None and costs.is_from_gists_alone(answer, events), sources.looks
    if alone and titles is None and not any(look["said"] or look["more"] for look in looks):  # the signature says it
        looks = []
    if checked and answer and built_in:
        pieces = [] if missing else sentence_pieces(checked, answer, exchange.question, titles, sources.names)
    else:
        pieces = pieces_of(checked, titles, sources.names) if checked else pending_pieces(text, titles, sources.names)
    kind, words = TROUBLE.get(state, ("", ""))
    if exchange.error and state in (ExchangeState.FAILED, ExchangeState.CUT_OFF):
        words = exchange.error
    elif state == ExchangeState.CUT_OFF:
        words = " ".join([words, *(replay.notes(events, NoteCode.BROKE_OFF) or [NO_CAUSE])])
    elif state == ExchangeState.CANCELLED and not text:
        words = "Stopped before anything was written."
    return {
        "id": exchange.id,
        "question": exchange.question,
        "understood": exchange.facts.standalone or _understood(events, exchange.question),
        "options": [
            {"letter": LETTERS[i], "text": option, "chosen": answer is not None and answer.option == i}
            for i, option in enumerate(exchange.options)
        ],
        "asked": "" if recorded else format_time(exchange.asked),
        "signature": {
            "kind": signature.kind,
            "by": _BY.get(signature.kind) or signature.name,
            "line": signer_line(signature, events, text, gists=gists) if running else signature.line,
        },
        "method": method,
        "from": from_in_words(answer, events, gists=has_gists)
        if answer
        else method_in_words(exchange.method, gists=has_gists)
        if titles is None
        else "",  # of several books it is not known yet
        "language": sources.language,
        "looks": looks,
        "running": running,
        "status": status_line(events, text, seconds=seconds, waiting=waiting, gists=gists) if running else "",
        "hurry": running and hurry,
        "before": before,
        "pieces": pieces,
        "notFound": not_found(
            answer,
            sources.in_text,
            up_to=exchange.up_to,
            pages=sources.pages,
            kept_out=sources.kept_out,
            limited=sources.limited,
        )
        if answer and missing
        else None,
        "loose": [
            chip_of(c, len(checked.citations) - len(checked.loose) + i, titles, sources.names)
            for i, c in enumerate(checked.loose)
        ]
        if checked and not built_in
        else [],
        "notes": replay.notes(events, NoteCode.OTHER),
        "trouble": {"kind": kind, "text": words} if words else None,
        "cost": costs.cost_line(cost, sources.language, built_in=built_in) if cost else "",
        "details": [f"Method: {method}.", *costs.cost_details(cost, is_language_model=not built_in)] if cost else [],
        "legend": citations_summary(checked, answer) if checked and answer and not (built_in or missing) else "",
        "acts": _acts(
            exchange,
            state,
            model=model,
            suggest_model=suggest_model and built_in,
            further=_further(exchange, answer, sources, model) if answer and missing else [],
        ),
        "again": _again(signature, model),
        "recorded": "",
        "price": price,
        "beside": None,
        "methods": [list(known) for known in methods if known[0] != exchange.method],
        "hidden": "",
        "plain": answer_as_text(
            exchange, events, checked, about=sources.about, document=sources.document, titles=titles
        )
        if checked
        else text,
    }


def _further(exchange: Exchange, answer: Answer, sources: Sources, model: str) -> list[str]:
    """What can find more than ``answer``, which found nothing: more look-ups, and the text itself.

    The built-in reader goes by words: where a search of the text found none, neither can. What a limit kept out can be
    let in. Of several books more can be looked up only where all that was allowed was.
    """
    if answer.books:
        used, allowed = sum(len(book.looked_up) for book in answer.books), int(exchange.settings.get("look_ups", 0))
        more = ["more"] if allowed < MOST_LOOK_UPS and used >= allowed else []
        return [*more, *(["let-in"] if sources.can_let_in else [])]
    let_in = ["let-in"] if exchange.up_to is not None and exchange.up_to < sources.pages else []
    if exchange.gisting_id and model == builtin.NAME and not sources.in_text.pieces:
        return let_in
    pages = exchange.up_to or sources.pages or MOST_LOOK_UPS
    looks_up = exchange.method not in all_methods() or all_methods()[exchange.method].looks_up
    allowed = int(exchange.settings.get("look_ups", 0))
    stopped = len(answer.looked_up) < allowed and model == builtin.NAME  # by rule: it would stop there again
    found = ["more"] if looks_up and not stopped and allowed < min(MOST_LOOK_UPS, pages) else []
    if exchange.method != "full-text" and exchange.gisting_id:  # of one book
        found.append("whole")
    return [*let_in, *found]


def _acts(
    exchange: Exchange, state: ExchangeState, *, further: Sequence[str], model: str, suggest_model: bool
) -> list[str]:
    found = ["again", "method", "copy", "replay"] if state == ExchangeState.DONE else ["method", "replay"]
    found += further
    if state == ExchangeState.FAILED and model != builtin.NAME:
        found.append("built-in")
    if state == ExchangeState.FAILED and exchange.remedy == Remedy.SETTINGS:
        found.append("settings")
    return [*found, "connect"] if suggest_model else found


def _again(signature: Signature, model: str) -> str:
    """The label of the button that asks again: it names who will answer where that is another than who did."""
    model = short_name(model)
    if model == signature.name and signature.kind != RECORDING:
        return "Ask again"
    return "Ask the built-in reader" if model == builtin.NAME else f"Ask {model}"


def record_at_step(record: dict[str, Any], step: replay.Step, looked: int) -> dict[str, Any]:
    """``record`` at a step of the replay, with the first ``looked`` look-ups."""
    if step.kind == replay.ANSWER:
        return record
    nothing: dict[str, Any] = {"trouble": None, "notFound": None, "cost": "", "legend": "", "beside": None}
    nothing |= {name: [] for name in ("pieces", "loose", "notes", "details", "acts")}
    options = [{**option, "chosen": False} for option in record["options"]]
    understood = "" if step.kind == replay.QUESTION else record["understood"]
    return {**record, **nothing, "options": options, "understood": understood, "looks": record["looks"][:looked]}


def hide(record: dict[str, Any], why: str, *, may_ask: bool) -> dict[str, Any]:
    """``record`` with the question alone and why the answer is hidden. ``may_ask``: offer to ask within the limit."""
    step = replay.Step(replay.QUESTION, "")
    return {**record_at_step(record, step, 0), "hidden": why, "acts": ["within"] if may_ask else []}


def _understood(events: Sequence[Event], question: str) -> str:
    """The follow-up as rewritten, while the answer is still being made."""
    for step in replay.steps(events):
        if step.kind == replay.UNDERSTOOD:
            text = parse_standalone(step.calls[0].reply, question)
            return text if text != question else ""
    return ""
