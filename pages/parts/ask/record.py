"""The record of an exchange that the conversation's component draws: plain values made from saved events.

All text goes to the browser as values that reach the page by ``textContent``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pages.parts.ask.pieces import citations_summary, sentence_pieces
from pages.parts.shared.answer import chip_of, format_time, pending_pieces, pieces_of
from readagent_core.answering import costs, replay
from readagent_core.answering.base import LETTERS, Answer, Event, ModelCall, NoteCode
from readagent_core.answering.questions import parse_standalone
from readagent_core.answering.registry import all_methods
from readagent_core.answering.replay import checked_answer, pages_named, ranges_named
from readagent_core.answering.signature import BUILT_IN, RECORDING, Signature, signature_of
from readagent_core.citations import Checked
from readagent_core.errors import Remedy
from readagent_core.library.records import Exchange, ExchangeState
from readagent_core.memory import GistMemory
from readagent_core.models.builtin import reader as builtin
from readagent_core.models.builtin.answers import is_not_found
from readagent_core.words import count_of

MOST_LOOK_UPS = 6
_PLACE = re.compile(r"^page (\d+)\.(\d+(?:-\d+)?)(?=:)")  # of one book among several, as a model names it
_NOT_SAID = re.compile(
    r"\b(?:text|passage|book|story|it|pages?|gists?|memory)\b[^.]{0,40}\b(?:does not|doesn't|do not|don't|never) "
    r"(?:say|tell|state|mention|give|name|hold|contain)|\bno answer was found"
    r"|\bnot (?:stated|said|mentioned|given|in the text)\b"
    r"|書かれていません|書かれていない|記述(?:は|が)ありません|述べられていません",
    re.IGNORECASE,
)
TROUBLE = {
    ExchangeState.CUT_OFF: ("wait", "The answer broke off here."),
    ExchangeState.CANCELLED: ("", "Stopped. What was written so far is saved."),
    ExchangeState.INTERRUPTED: (
        "wait",
        "ReadAgent was closed while this was being answered. What was written so far is saved.",
    ),
    ExchangeState.FAILED: ("alert", "This question could not be answered."),
}


def method_abouts() -> list[tuple[str, str, str]]:
    """Name, title and a sentence about every method, ReadAgent first."""
    known = all_methods()
    return [(name, title, known[name].about) for name, title in method_titles()]


def method_titles() -> list[tuple[str, str]]:
    """The name and title of every method, ReadAgent first."""
    found = [(m.name, m.title) for m in all_methods().values()]
    return sorted(found, key=lambda pair: (not pair[0].startswith(("read-agent", "zoom")), pair[1]))


def uses_gists(method: str) -> bool:
    """Whether the gists of the memory are in the prompts of a method; also for a method of another version."""
    known = all_methods().get(method)
    return known is None or known.needs_gists


def may_search(method: str) -> bool:
    """Whether a method answers from pages that have no gists; False for a method of another version."""
    known = all_methods().get(method)
    return known is not None and (known.searches or not known.needs_gists)


def signer_line(signature: Signature, events: Sequence[Event], text: str, *, gists: bool = True) -> str:
    """The signature while the answer is being made: 'gpt-5-mini is writing'. ``gists``: the method uses them."""
    if signature.kind == BUILT_IN:
        return signature.line
    looked = [step for step in replay.steps(events) if step.kind == replay.LOOK_UP and step.marked]
    if text:
        doing = "is writing"
    elif looked and not (looked[-1].parts or looked[-1].searched):
        doing = f"is looking up {pages_named(looked[-1].marked)}"
    else:
        doing = "is going through the gists" if gists else "is reading the text"
    return f"{signature.name or 'The model'} {doing}"


def status_line(events: Sequence[Event], text: str, *, seconds: float, waiting: str = "", gists: bool = True) -> str:
    """What is being done now: 'Writing, 2.1 s'. ``waiting``: see ``waiting_line``. ``gists``: the method uses them."""
    if waiting:
        return waiting
    kinds = [step.kind for step in replay.steps(events)]
    if text:
        doing = "Writing"
    elif replay.MEMORY in kinds or replay.LOOK_UP in kinds:
        doing = "Reading the pages again"
    elif not gists:  # some methods read the whole book first
        calls = sum(isinstance(event, ModelCall) for event in events)
        doing = f"Reading the text, {count_of(calls, 'call')} done" if calls else "Reading the text"
    else:
        doing = "Going through the gists"
    return f"{doing}, {seconds:.1f} s"


def look_ups(
    exchange: Exchange,
    events: Sequence[Event],
    memory: GistMemory | None = None,
    titles: Mapping[int, str] | None = None,
) -> list[dict[str, Any]]:
    """Each look-up: what was opened, why, and ``more``: what was named but not opened, and what was closed again.

    ``quoted``: ``said`` is a model's own words. ``memory``: of one book, or the ``titles`` of several by number.
    """
    found: list[dict[str, Any]] = []
    built_in = signature_of(exchange).kind == BUILT_IN
    searched = memory is not None and None in memory.gists  # in pages that a person knows by no number
    for step in replay.steps(events):
        if step.kind != replay.LOOK_UP:
            continue
        if searched and not step.said:
            title = f"Found passages in {count_of(len(step.marked), 'place')}"
        elif titles is not None:
            title = replay.look_up_title_of_several(step, titles, built_in=built_in)
        else:
            title = replay.look_up_title(step, built_in=built_in)
        said = replay.look_up_words(step, exchange, memory) if memory else "" if built_in else step.said.strip()
        more = [f"Did not open {_with_title(why, titles or {})}" for why in step.refused]
        if step.folded:
            more.append(f"Closed again, to make room: {ranges_named(step.folded)}")
        found.append({"title": title, "said": said, "quoted": not built_in, "more": more})
    return found


def _with_title(refused: str, titles: Mapping[int, str]) -> str:
    """'page 2.7: it is …' with the title of book 2: 'page 7 of Fog: it is …'."""

    def named(found: re.Match[str]) -> str:
        return f"page {found[2]} of {titles.get(int(found[1]), f'book {found[1]}')}"

    return _PLACE.sub(named, refused)


@dataclass(frozen=True)
class Sources:
    """What a record says of the text: of one book, or of several. ``pages``: of the book.

    ``titles``: of several books, by number; None for one. ``names``: of its pages without a gist.
    """

    language: str
    checked: Checked | None
    looks: list[dict[str, Any]]
    pages: int = 0
    words: int = 0
    titles: Mapping[int, str] | None = None
    names: Mapping[int, str] = field(default_factory=dict)


def sources_of_book(exchange: Exchange, events: Sequence[Event], text: str, memory: GistMemory) -> Sources:
    answer = replay.answer_of(events)
    checked = checked_answer(text, answer, memory) if answer else None
    document = memory.document
    looks, pages = look_ups(exchange, events, memory), len(memory.pages)
    return Sources(document.language, checked, looks, pages, document.words, names=page_names(memory))


def page_names(memory: GistMemory) -> dict[int, str]:
    """Where each page without a gist is: 'Chapter 2', '34 %'. A person knows such pages by no number."""
    found: dict[int, str] = {}
    for page, gist in zip(memory.pages, memory.gists, strict=True):
        if gist is None:
            section = memory.section_of(page.number)
            percent = round(100 * page.start / len(memory.document.paragraphs))
            found[page.number] = section.title if section else f"{percent} %"
    return found


def describe_context(answer: Answer) -> str:
    """What an answer was made from: 'Looked at: page 3 in full, the gists of 24 pages.'"""
    if answer.books:
        opened = [f"; {b.title}: {pages_named(b.looked_up)} in full" for b in answer.books if b.looked_up]
        return f"Looked at: {count_of(len(answer.books), 'book')}{''.join(opened)}."
    full = sorted(n for n, how in answer.seen.items() if how == "full")
    some = sorted(n for n, how in answer.seen.items() if how == "passage")
    gists = sum(how == "gist" for how in answer.seen.values())
    in_parts = sum(how == "part" for how in answer.seen.values())
    parts = []
    if (gists or in_parts) and not uses_gists(answer.method):
        return f"Looked at: {answer.memory_words:,} words that the method made of the text."
    if full and not gists and len(full) > 12:
        parts.append(f"{len(full)} pages in full")
    elif full:
        parts.append(("page " if len(full) == 1 else "pages ") + ", ".join(map(str, full)) + " in full")
    if some:
        parts.append(f"passages of {pages_named(some) if len(some) <= 12 else count_of(len(some), 'page')}")
    if gists:
        parts.append(f"the gists of {gists} {'page' if gists == 1 else 'pages'}")
    if in_parts:
        parts.append(f"{count_of(in_parts, 'page')} in the gists of longer parts")
    *before, last = parts or [""]
    return f"Looked at: {', '.join(before)}{' and ' if before else ''}{last}." if parts else ""


def not_found(answer: Answer, *, up_to: int | None, pages: int) -> dict[str, str]:
    """What is said of an answer that nothing was found: where, what was looked at, and what the limit kept out."""
    kept_out = ""
    if up_to is not None and up_to < pages:
        rest = later_pages(up_to, pages)
        kept_out = f"{rest[0].upper()}{rest[1:]} {'was' if up_to + 1 == pages else 'were'} kept out by your limit."
    if answer.books:
        return {"title": "Not found in these books.", "looked": describe_context(answer), "kept_out": ""}
    within = "page 1" if up_to == 1 else f"pages 1 to {up_to}" if kept_out else "the book"
    return {"title": f"Not found in {within}.", "looked": describe_context(answer), "kept_out": kept_out}


def later_pages(limit: int, last: int) -> str:
    """'page 25', 'pages 16 to 25': those after the limit."""
    return f"page {last}" if limit + 1 == last else f"pages {limit + 1} to {last}"


def says_not_in_text(answer: Answer) -> bool:
    """Whether the answer is that the text does not say."""
    return is_not_found(answer.text) or (len(answer.text) < 600 and bool(_NOT_SAID.search(answer.text)))


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
    methods: Sequence[tuple[str, str, str]] = (),
    model: str = builtin.NAME,
    suggest_model: bool = False,
    whole_memory: str = "",
    price: str = "",
) -> dict[str, Any]:
    """Everything that the component draws of one exchange. ``text``: the answer so far. ``model``: who would answer
    now. ``suggest_model``: say that a model can be connected. ``whole_memory``: what it costs to ask
    again, where the gists are complete now that were not when it was answered. ``price``: what it costs to ask again.
    """
    checked, titles = sources.checked, sources.titles
    answer = replay.answer_of(events)
    running = state == ExchangeState.RUNNING
    signature, gists = signature_of(exchange), uses_gists(exchange.method)
    built_in = signature.kind == BUILT_IN
    recorded = signature.date
    cost = None
    if answer is not None:
        whole = exchange.facts.words or sources.words
        cost = costs.answer_cost(events, whole=whole, seconds=exchange.facts.seconds)
    before = " ".join([*replay.notes(events, NoteCode.READ_SO_FAR), *replay.notes(events, NoteCode.BY_SEARCH)])
    if exchange.up_to is not None:
        before = " ".join(
            filter(None, [before, f"Page{'s 1 to' if exchange.up_to > 1 else ''} {exchange.up_to} only."])
        )
    missing = answer is not None and not exchange.options and says_not_in_text(answer)
    if answer is not None and not missing:
        before = " ".join(filter(None, [before, costs.gists_only_note(answer)]))
    if checked and answer and built_in:
        pieces = [] if missing else sentence_pieces(checked, answer, exchange.question, titles, sources.names)
    else:
        pieces = pieces_of(checked, titles, sources.names) if checked else pending_pieces(text, titles, sources.names)
    kind, words = TROUBLE.get(state, ("", ""))
    if exchange.error and state in (ExchangeState.FAILED, ExchangeState.CUT_OFF):
        words = exchange.error
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
            "line": signer_line(signature, events, text, gists=gists) if running else signature.line,
        },
        "method": dict(method_titles()).get(exchange.method, exchange.method),
        "language": sources.language,
        "looks": sources.looks,
        "running": running,
        "status": status_line(events, text, seconds=seconds, waiting=waiting, gists=gists) if running else "",
        "hurry": running and hurry,
        "before": before,
        "pieces": pieces,
        "notFound": not_found(answer, up_to=exchange.up_to, pages=sources.pages) if answer and missing else None,
        "loose": [
            chip_of(c, len(checked.citations) - len(checked.loose) + i, titles, sources.names)
            for i, c in enumerate(checked.loose)
        ]
        if checked and not built_in
        else [],
        "notes": replay.notes(events, NoteCode.OTHER),
        "trouble": {"kind": kind, "text": words} if words else None,
        "cost": costs.cost_line(cost, built_in=built_in) if cost else "",
        "details": costs.cost_details(cost, is_language_model=not built_in) if cost else [],
        "legend": citations_summary(checked, answer) if checked and answer and not (built_in or missing) else "",
        "acts": _acts(exchange, state, missing=missing, model=model, suggest_model=suggest_model and built_in),
        "again": _again(signature, model),
        "wholeMemory": whole_memory,
        "price": price,
        "beside": None,
        "methods": [list(known) for known in methods if known[0] != exchange.method],
        "hidden": "",
        "plain": text,
    }


def _acts(exchange: Exchange, state: ExchangeState, *, missing: bool, model: str, suggest_model: bool) -> list[str]:
    found = ["again", "method", "copy", "replay"] if state == ExchangeState.DONE else ["method", "replay"]
    looks_up = exchange.method not in all_methods() or all_methods()[exchange.method].looks_up
    if missing and looks_up and int(exchange.settings.get("look_ups", 0)) < MOST_LOOK_UPS:
        found.append("more")
    if missing and exchange.method != "full-text" and exchange.gisting_id:  # of one book
        found.append("whole")
    if state == ExchangeState.FAILED and model != builtin.NAME:
        found.append("built-in")
    if state == ExchangeState.FAILED and exchange.remedy == Remedy.SETTINGS:
        found.append("settings")
    return [*found, "connect"] if suggest_model else found


def show_beside(
    record: dict[str, Any],
    old: dict[str, Any],
    *,
    events: Sequence[Event],
    old_events: Sequence[Event],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """``record`` with the ``old`` answer to the same question beside it, and a table of what differs."""
    now, before = replay.answer_of(events), replay.answer_of(old_events)
    rows = []
    if now and before:
        rows = [
            ["Opened", pages_named(sorted(before.looked_up)), pages_named(sorted(now.looked_up))],
            ["Words read", f"{before.memory_words:,}", f"{now.memory_words:,}"],
        ]
        rows += [["Found in the book", found_claims(old), found_claims(record)]]
    what_if = now is not None and "pages" in settings.get("extra", {})
    named = (
        {"then": "As it was", "now": "What if"} if what_if else {"then": "By search", "now": "With the whole memory"}
    )
    return {**record, "beside": {**named, "record": old, "rows": rows}}


def found_claims(record: Mapping[str, Any]) -> str:
    """'2 of 3 claims': those of an answer's record whose words are in the book."""
    states = [cite["state"] for piece in record["pieces"] for cite in piece["cites"]]
    return f"{sum(state in ('page', 'copied') for state in states)} of {count_of(len(states), 'claim')}"


def _again(signature: Signature, model: str) -> str:
    """The label of the button that asks again: it names who will answer where that is another than who did."""
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
