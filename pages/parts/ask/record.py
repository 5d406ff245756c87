"""The record of an exchange that the conversation's component draws: plain values made from saved events.

All text goes to the browser as values that reach the page by ``textContent``.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import Any

from readagent_core.citations import FROM_MEMORY, FROM_PAGE, NOT_FOUND, Checked, Citation, check, parse_unfinished
from readagent_core.export.conversation import citation_label
from readagent_core.jobs import Snapshot
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.methods.base import LETTERS, Answer, Event
from readagent_core.models.builtin import reader as builtin
from readagent_core.workspace import costs, replay
from readagent_core.workspace.asking import INTERRUPTED
from readagent_core.workspace.questions import parse_standalone

_CLOSING = re.compile(r"^[\s]*[.,;:!?。、！？」』”’)\]]+")
_NOT_SAID = re.compile(
    r"\b(?:text|passage|book|story|it|pages?|gists?|memory)\b[^.]{0,40}\b(?:does not|doesn't|do not|don't|never) "
    r"(?:say|tell|state|mention|give|name|hold|contain)|\bnot (?:stated|said|mentioned|given|in the text)\b"
    r"|書かれていません|書かれていない|記述(?:は|が)ありません|述べられていません",
    re.IGNORECASE,
)
TROUBLE = {
    "cut off": ("wait", "The answer broke off here."),
    "cancelled": ("", "Stopped. What was written so far is saved."),
    INTERRUPTED: ("wait", "ReadAgent was closed while this was being answered. What was written so far is saved."),
    "failed": ("alert", "This question could not be answered."),
}


def waiting_line(snapshot: Snapshot, *, now: float) -> str:
    """Why a job waits and in how many seconds it continues; '' while it works."""
    left = snapshot.waiting_until - now
    return (
        f"{snapshot.waiting} · continues in {math.ceil(left)} s" if snapshot.waiting and left > 0 else snapshot.waiting
    )


def status_line(events: Sequence[Event], text: str, *, seconds: float, waiting: str = "") -> str:
    """What is being done now: 'Writing, 2.1 s'. ``waiting``: see ``waiting_line``."""
    if waiting:
        return waiting
    kinds = [step.kind for step in replay.steps(events)]
    if text:
        doing = "Writing"
    elif replay.MEMORY in kinds or replay.LOOK_UP in kinds:
        doing = "Reading the pages again"
    else:
        doing = "Going through the gists"
    return f"{doing}, {seconds:.1f} s"


def look_ups(events: Sequence[Event], *, pages: int) -> list[dict[str, Any]]:
    """Each look-up: what was opened, in the model's own words, and what it named that was not opened."""
    found: list[dict[str, Any]] = []
    for step in replay.steps(events):
        if step.kind != replay.LOOK_UP:
            continue
        if len(step.marked) > 1:
            title = f"Went back to {len(step.marked)} of {pages} pages"
        else:
            title = f"Went back to page {step.marked[0]}" if step.marked else "Went back to no page"
        refused = [f"Not opened: {why}" for why in step.refused]
        found.append({"title": title, "said": step.said.strip(), "refused": refused})
    return found


def checked_answer(text: str, answer: Answer, memory: GistMemory) -> Checked:
    full = [n for n, how in answer.seen.items() if how == "full"]
    return check(text, memory, full=full, shown=answer.seen.keys() or None)


def pieces_of(checked: Checked) -> list[dict[str, Any]]:
    """The answer's text with a chip for every citation; a full stop after a mark goes before the chip."""
    found: list[dict[str, Any]] = []
    number = 0
    for piece in checked.pieces:
        text = piece.text
        if found and found[-1]["cites"] and (closing := _CLOSING.match(text)):
            found[-1]["text"] = found[-1]["text"].rstrip() + closing.group().strip()
            text = text[closing.end() :]
        cites = [_chip(citation, number + i) for i, citation in enumerate(piece.citations)]
        number += len(cites)
        if text.strip() or cites:
            found.append({"text": text if found else text.lstrip(), "cites": cites})
    return found


def pending_pieces(text: str) -> list[dict[str, Any]]:
    """The text of an answer still being written: its marks name pages, and nothing is checked yet."""
    parsed = parse_unfinished(text)
    found: list[dict[str, Any]] = []
    at = 0
    for mark in parsed.marks:
        cites = [{"page": n, "state": "pending", "label": f"page {n}", "why": "", "at": -1} for n in mark.pages]
        found.append({"text": parsed.body[at : mark.start], "cites": cites})
        at = mark.end
    if parsed.body[at:] or not found:
        found.append({"text": parsed.body[at:], "cites": []})
    return [piece for piece in found if piece["text"].strip() or piece["cites"]]


def _chip(citation: Citation, number: int) -> dict[str, Any]:
    return {
        "page": citation.page,
        "state": citation.state,
        "label": citation_label(citation),
        "why": citation.why,
        "at": number,
    }


def citations_summary(checked: Checked, answer: Answer) -> str:
    """'3 claims quoted from the book, 1 from a gist only, 1 found nowhere: do not rely on that one.'"""
    quoted, remembered, lost = (checked.count(state) for state in (FROM_PAGE, FROM_MEMORY, NOT_FOUND))
    if not quoted + remembered + lost:
        return "" if not answer.seen else "The answer names no pages, so nothing in it could be checked."
    parts = []
    if quoted:
        parts.append(f"{quoted} {'claim' if quoted == 1 else 'claims'} quoted from the book")
    if remembered:
        parts.append(f"{remembered} from a gist only" if parts else f"{remembered} from gists only")
    if lost:
        parts.append(f"{lost} found nowhere: do not rely on {'that one' if lost == 1 else 'those'}")
    text = ", ".join(parts)
    return text[0].upper() + text[1:] + "."


def describe_context(answer: Answer) -> str:
    """What an answer was made from: 'Looked at: page 3 in full, the gists of 24 pages.'"""
    full = sorted(n for n, how in answer.seen.items() if how == "full")
    gists = sum(how == "gist" for how in answer.seen.values())
    parts = []
    if full and not gists and len(full) > 12:
        parts.append(f"{len(full)} pages in full")
    elif full:
        parts.append(("page " if len(full) == 1 else "pages ") + ", ".join(map(str, full)) + " in full")
    if gists:
        parts.append(f"the gists of {gists} {'page' if gists == 1 else 'pages'}")
    return f"Looked at: {' and '.join(parts)}." if parts else ""


def says_not_in_text(answer: Answer) -> bool:
    """Whether the answer is that the text does not say."""
    return len(answer.text) < 600 and bool(_NOT_SAID.search(answer.text))


def format_time(moment: float, *, now: float | None = None) -> str:
    """A time for people: '14:05', 'yesterday', '3 November'."""
    now = time.time() if now is None else now
    if not moment:
        return ""
    then, today = time.localtime(moment), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    if time.localtime(now - 86400)[:3] == then[:3]:
        return "yesterday"
    return f"{then.tm_mday} {time.strftime('%B' if then[0] == today[0] else '%B %Y', then)}"


def exchange_record(
    exchange: Exchange,
    events: Sequence[Event],
    *,
    memory: GistMemory,
    state: str,
    text: str,
    seconds: float = 0.0,
    waiting: str = "",
    hurry: bool = False,
    methods: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Everything that the component draws of one exchange. ``text``: the answer so far."""
    answer = replay.answer_of(events)
    running = state == "running"
    built_in = exchange.extra.get("model") == builtin.NAME
    recorded = exchange.extra.get("recorded", "")
    checked = checked_answer(text, answer, memory) if answer else None
    cost = None
    if answer is not None:
        whole = int(exchange.extra.get("words") or memory.document.words)
        cost = costs.answer_cost(events, whole=whole, seconds=float(exchange.extra.get("seconds") or 0))
    notes = replay.notes(events)
    before = next((note for note in notes if note.startswith("Answered from the")), "")
    if exchange.up_to is not None:
        before = " ".join(filter(None, [before, f"Pages 1 to {exchange.up_to} only."]))
    if answer is not None:
        before = " ".join(filter(None, [before, costs.gists_only_note(answer)]))
        if says_not_in_text(answer):
            notes.append(describe_context(answer))
    kind, words = TROUBLE.get(state, ("", ""))
    if exchange.error and state in ("failed", "cut off"):
        words = exchange.error
    return {
        "id": exchange.id,
        "question": exchange.question,
        "understood": exchange.extra.get("standalone", "") or _understood(events, exchange.question),
        "options": [
            {"letter": LETTERS[i], "text": option, "chosen": answer is not None and answer.option == i}
            for i, option in enumerate(exchange.options)
        ],
        "asked": "" if recorded else format_time(exchange.asked),
        "recorded": f"A recording of {recorded}, made with {exchange.extra.get('model', '')}" if recorded else "",
        "language": memory.document.language,
        "looks": look_ups(events, pages=len(memory.readable)),
        "running": running,
        "status": status_line(events, text, seconds=seconds, waiting=waiting) if running else "",
        "hurry": running and hurry,
        "before": before,
        "pieces": pieces_of(checked) if checked else pending_pieces(text),
        "loose": [_chip(c, len(checked.citations) - len(checked.loose) + i) for i, c in enumerate(checked.loose)]
        if checked
        else [],
        "notes": [note for note in notes if note not in before],
        "trouble": {"kind": kind, "text": words} if words else None,
        "cost": costs.cost_line(cost) if cost else "",
        "details": costs.cost_details(cost, is_language_model=not built_in) if cost else [],
        "legend": citations_summary(checked, answer) if checked and answer else "",
        "acts": ["again", "method", "copy", "replay"] if state == "done" else ["method", "replay"],
        "methods": [list(pair) for pair in methods if pair[0] != exchange.method],
        "plain": text,
    }


def record_at_step(record: dict[str, Any], step: replay.Step, looked: int) -> dict[str, Any]:
    """``record`` at a step of the replay, with the first ``looked`` look-ups."""
    if step.kind == replay.ANSWER:
        return record
    nothing = {"trouble": None, "cost": "", "legend": ""}
    nothing |= {name: [] for name in ("pieces", "loose", "notes", "details", "acts")}
    options = [{**option, "chosen": False} for option in record["options"]]
    understood = "" if step.kind == replay.QUESTION else record["understood"]
    return {**record, **nothing, "options": options, "understood": understood, "looks": record["looks"][:looked]}


def hide_answer(record: dict[str, Any]) -> dict[str, Any]:
    """``record`` without anything that an answer from later pages would give away."""
    step = replay.Step(replay.QUESTION, "")
    why = "Hidden while only what you have read is shown: this answer saw later pages."
    return {**record_at_step(record, step, 0), "notes": [why]}


def _understood(events: Sequence[Event], question: str) -> str:
    """The follow-up as rewritten, while the answer is still being made."""
    for step in replay.steps(events):
        if step.kind == replay.UNDERSTOOD:
            text = parse_standalone(step.calls[0].reply, question)
            return text if text != question else ""
    return ""


def page_passages(checked: Checked | None, memory: GistMemory) -> dict[int, list[tuple[int, int]]]:
    """The quoted places by page, as characters of ``memory.page_text``, which the memory view marks."""
    found: dict[int, list[tuple[int, int]]] = {}
    for citation in checked.citations if checked else ():
        for place in citation.places if citation.state == FROM_PAGE else ():
            if place.end > place.start:
                page = memory.page(place.page)
                shown = memory.document.text(page.start, place.paragraph + 1)
                lead = len(shown) - len(memory.document.paragraphs[place.paragraph].text)
                span = (lead + place.start, lead + place.end)
                if span not in found.setdefault(place.page, []):
                    found[place.page].append(span)
    return found
