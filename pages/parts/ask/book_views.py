"""What Ask shows of one book: its memory at every step of the replay, the spoiler limit, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.ask.keeping import stored_answers
from pages.parts.ask.one_state import AskOneBook, page_before_here, pages_read
from pages.parts.ask.record import is_missing
from pages.parts.ask.state import exchange_now
from pages.parts.ask.wording import later_pages, method_titles
from pages.parts.read.original import original_of
from pages.parts.shared.memory_view import book_facts, part_records, passage_records, utf16_offset
from readagent_core.answering import costs, replay
from readagent_core.answering.base import Answer, Event
from readagent_core.answering.limits import LET_IN, why_nothing
from readagent_core.answering.parts import parts_seen
from readagent_core.answering.questions import letters_of
from readagent_core.answering.registry import sends_gists
from readagent_core.citations import Checked
from readagent_core.export.citation_labels import page_passages
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory, Passage
from readagent_core.model_names import short_name
from readagent_core.words import count_of, length_of

OWN = "A conversation of your own: the recording's questions stay as they are."


def scope_of(now: AskOneBook) -> str:
    """The name under which the browser stores the pages that are shown."""
    return f"r{now.shown.id}"


def views(
    now: AskOneBook, events: Sequence[Event], steps: Sequence[replay.Step | None], text: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The book's part of ``AskState`` in ``assets/protocol.d.ts``, and the memory at each step."""
    current = now.current
    views = [{"memory": _view(now, step, events, text)} for step in steps]
    now.from_reader = None  # the page is gone to once
    whole = {
        "kept": list(stored_answers(now.workspace, now.book_ids)),
        "questions": [[e.id, e.question] for e in open_questions(now)],
        "notice": _notice(now),
        "waiting": waiting_question(now),
        "link": f"?book={now.book.id}&exchange={current.id}&step=" if current else "",
        "memory": _memory(now, events),
    }
    return whole, views


def open_questions(now: AskOneBook) -> list[Exchange]:
    """The questions of a recording that tell of no page kept out; none of another conversation."""
    exchanges = now.exchanges if now.recording else []
    return [e for e in exchanges if now.why_hidden(e, exchange_now(now.workspace, e)[1]) is None]


def recorded_id(now: AskOneBook, exchange: Exchange) -> str:
    """The id of a recording's answer to the question of ``exchange``, in letters; '' without one that may be shown."""
    if now.recording or not now.book.sample:
        return ""
    library, asked = now.workspace.library, letters_of(exchange.question)
    known = (e for talk in library.conversations(now.book.id) for e in library.exchanges(talk.id))
    same = (e for e in known if e.facts.recorded and letters_of(e.question) == asked)
    return next((e.id for e in same if now.why_hidden(e, exchange_now(now.workspace, e)[1]) is None), "")


def _notice(now: AskOneBook) -> str:
    if now.conversation_id and now.conversation_id == st.session_state.get("ask_own"):
        return OWN
    more = len(now.exchanges) - len(open_questions(now)) if now.recording else 0
    said = f"{more} more {'question is' if more == 1 else 'questions are'} about pages that you have not read."
    said = said if more else ""
    if now.recording and now.beside_text:  # seen first of all in the panel, without the conversations' names
        return f"A question with its recorded answer; ask your own below. {said}".strip()
    return said


def waiting_question(now: AskOneBook) -> dict[str, Any] | None:
    """The question that waits for what the limit is to let in, as the conversation's end draws it; None without one."""
    kept = st.session_state.get(now.kept_key)
    if kept is None:
        return None
    if now.limit != 0:  # the limit was moved by other means
        return {"question": kept[0], "why": "Not asked yet. Now answers may see pages.", "ways": [["now", "Ask it"]]}
    here = page_before_here(now)
    ways = [["first", "Page 1 only"], ["whole", "The whole book"]]
    if here > 1:
        ways.insert(1, ["here", f"Up to here (page {here})"])
    return {"question": kept[0], "why": f"{why_no_page(now)} {LET_IN}", "ways": ways}


def why_no_page(now: AskOneBook) -> str:
    return why_nothing(by_hand=bool(pages_read(now)))


def _memory(now: AskOneBook, events: Sequence[Event]) -> dict[str, Any]:
    """``MemoryData``: what the memory shows at every step."""
    memory = now.shown_memory
    limit = _limit(now)
    asked_of = (now.current.up_to or now.current.facts.pages_read) if now.current else None
    asked_of = min((n for n in (asked_of, limit) if n), default=None)
    return {
        "scope": scope_of(now),
        "original": original_of(now.book),
        "count": len(memory.pages) if limit is None else min(limit, len(memory.pages)),
        "meta": book_facts(memory),
        "parts": part_records(parts_seen(events, memory.up_to(asked_of) if asked_of else memory), memory),
        "limit": _limit_record(now) if now.position.limited else None,
        "whatIf": _what_if(now),
        "curtain": _curtain(now),
    }


def _what_if(now: AskOneBook) -> str | None:
    """Who would answer with other pages open and what that costs; None where no answer is shown, or no gists are."""
    current, memory = now.current, now.shown_memory
    if (
        current is None
        or now.running
        or now.shown.id != now.gisting.id
        or not memory.complete
        or now.why_hidden(current, replay.events_of(current))
    ):
        return None
    model = now.workspace.model
    price = costs.price_of_question(model, memory, "read-agent-p", look_ups=now.look_ups)
    other = "" if current.method == "read-agent-p" else f"by {dict(method_titles())['read-agent-p']}; "
    return f"{other}{short_name(model.name) if model.is_language_model else 'Built-in reader'}, {price}"


def _limit(now: AskOneBook) -> int | None:
    limits = [now.current.up_to if now.current else None, now.last_shown]
    return min((n for n in limits if n is not None), default=None)


def _limit_record(now: AskOneBook) -> dict[str, int]:
    """``LimitData``: the last page let in, the last one shown, the last one that was read, and the last there is."""
    last = len(now.shown_memory.pages)
    page = last if now.shown_limit is None else now.shown_limit
    return {"page": page, "shown": max(page, now.opening_page), "read": pages_read(now), "last": last}


def _curtain(now: AskOneBook) -> dict[str, Any] | None:
    """The note at the end of the memory where later pages are not shown: which pages, why, and what can be done."""
    shown, last = _limit(now), len(now.shown_memory.pages)
    if shown is None or shown >= last:
        return None
    if shown != now.last_shown:
        return {
            "title": f"This answer was made without {later_pages(shown, last)}.",
            "text": f"The limit was at page {shown} when you asked.",
            "ways": [],
        }
    ways = [["unlimit", "Turn the limit off"]]
    kept = later_pages(shown, last)
    title = f"{kept[0].upper()}{kept[1:]} {'is' if shown + 1 == last else 'are'} kept out."
    if not shown:
        title = "Every page is kept out."
    text = "No prompt and no answer sees later pages. "
    text += "They open as you read, or when you move the line." if now.position.limit is None else "You set the line."
    if not now.shown_limit:
        text = "You set the line before page 1."
        if not pages_read(now):
            text = "You have not read a page to its end yet. Pages open as you read, or when you move the line."
            ways = [["open", "Read the first page"], *ways]
    return {"title": title, "text": " ".join(filter(None, [now.opening_said, text])), "ways": ways}


def _view(now: AskOneBook, step: replay.Step | None, events: Sequence[Event], text: str) -> dict[str, Any]:
    """``MemoryStep``: the memory at ``step`` of the current exchange; None: as it was before any question."""
    memory, current = now.shown_memory, now.current
    last = step is None or step.kind == replay.ANSWER
    answer = replay.answer_of(events) if step and last and current else None
    checked = now.check(current, text, answer) if current and answer else None
    asked = focus_of(current) if last else {}
    look_up = step if step and step.kind == replay.LOOK_UP else None
    view = memory_step(memory, step, look_up, checked, asked)
    if now.from_reader:
        view |= {"focus": now.from_reader, "wanted": True}
    sent = step.words if step and current and not saw_more(now, current) else 0
    note = (
        _levels_note(step, memory.document.language)
        if step and step.closed
        else _note(memory, view["expanded"], limit=_limit(now), sent=sent)
    )
    if step and current and not step.closed:
        view["unsent"] = not replay.sends_whole_gists(step, current.method, now.memory_of(current))
    short = bool(current and view["unsent"] and sends_gists(current.method))
    if last and step and step.passages and current and answer:
        view["unfound"] = is_missing(current, answer)
    if step and (step.passages or short):
        note = _passages_note(step, _sent_of(memory, current), short=short)
    if step and current and step.kind in (replay.MEMORY, replay.ANSWER) and (made := replay.answer_of(events)):
        note = (
            note_without_gists(made, memory.document.language, gists=bool({*memory.readable} - {*view["expanded"]}))
            or note
        )
    if view["unfound"] and answer:
        note = f"Read {length_of(answer.memory_words, memory.document.language)}, found nothing"
    if step and current and step.words and saw_more(now, current):
        whole, language = current.facts.words or memory.document.words, memory.document.language
        read = length_of(step.words, language).split()[0]
        note += f" shown; the {'recording' if now.recording else 'answer'} read {read} of {length_of(whole, language)}"
    if short:
        note += ". The whole gists, in grey, were not sent"
    return {**view, "note": note}


def saw_more(now: AskOneBook, exchange: Exchange) -> str:
    """That an answer saw pages which the limit of now keeps out, in a sentence; '' where it did not."""
    saw, shown = exchange.up_to or len(now.shown_memory.pages), now.last_shown
    if shown is None or shown >= saw:
        return ""
    return f"The {'recording' if now.recording else 'answer'} had the gists of {saw} pages; your limit shows {shown}."


def note_without_gists(answer: Answer, language: str = "en", *, gists: bool = True) -> str:
    """'Sent: 3 pages in full, 7,170 words. The gists, in grey, were not sent'; '' of a method that sends them.

    ``language``: of the text. ``gists``: there are some, so that they have to be told from what was sent.
    """
    if sends_gists(answer.method):
        return ""
    length = length_of(answer.memory_words, language)
    none = ". The gists, in grey, were not sent" if gists else ""
    if all(how == "full" for how in answer.seen.values()):
        return f"Sent: {count_of(len(answer.seen), 'page')} in full, {length}{none}"
    if not gists:
        return f"Sent: {length} that were found in the text, no gists"
    return f"Sent: {length} that this method made or found itself{none}"


def focus_of(exchange: Exchange | None) -> dict[str, Any]:
    """The book, page and words that a clicked claim of this exchange rests on; {} where none was clicked."""
    asked: dict[str, Any] = st.session_state.get("ask_focus") or {}
    return asked if asked.get("exchange") == (exchange.id if exchange else "") else {}


def memory_step(
    memory: GistMemory,
    step: replay.Step | None,
    look_up: replay.Step | None,
    checked: Checked | None,
    asked: Mapping[str, Any],
) -> dict[str, Any]:
    """``MemoryStep`` of one book without its note. ``look_up``: ``step`` where it is one. ``asked``: see ``focus_of``.

    ``checked``: the answer, whose quotations are marked in the pages in full.
    """
    expanded = step.expanded if step else ()
    opened = look_up.ranges if look_up else []
    marked = [n for n in look_up.marked if not any(a <= n <= b for a, b in opened)] if look_up else []
    in_part = parts_of_pages(step.passages, memory) if step else {}
    passages = {n: spans for n, spans in page_passages(checked, memory).items() if n in expanded or n in in_part}
    page, places = asked.get("page", 0), asked.get("places", ())
    rests = [c.page for c in checked.citations if c.page] if checked and not passages else []  # on gists alone
    if not page and rests and rests[0] <= len(memory.pages):
        page = rests[0]
    wanted = bool(page)
    if checked and passages and not wanted:  # at the first words that the answer quotes
        each = (page_passages(replace(checked, pieces=(), loose=(one,)), memory) for one in checked.citations)
        page, places = next((n, spans) for quoted in each for n, spans in quoted.items() if n in passages)
    return {
        "expanded": list(expanded),
        "inPart": in_part,
        "marked": marked,
        "searched": bool(look_up and look_up.searched),
        "closed": [list(part) for part in step.closed] if step else [],
        "opened": [list(part) for part in opened],
        "passages": passage_records(memory, passages),
        "focus": page or next(iter([*marked, *(first for first, _ in opened), *passages, *expanded]), None),
        "wanted": wanted,
        "unsent": False,
        "unfound": False,
        # of the page's marked passages in order, the one that the clicked claim rests on
        "passage": next((i for i, span in enumerate(sorted(passages.get(page, []))) if span in places), 0),
        "nonce": asked.get("nonce", 0),
    }


def parts_of_pages(passages: Sequence[Passage], memory: GistMemory) -> dict[int, list[list[int]]]:
    """Return the ``PagePart`` values of each page opened in part (assets/protocol.d.ts)."""
    found: dict[int, list[list[int]]] = {}
    for one in passages:
        start, paragraphs = memory.page(one.page).start, memory.document.paragraphs
        first = utf16_offset(paragraphs[one.start].text, one.first)
        stop = utf16_offset(paragraphs[one.end - 1].text, one.stop)
        within = [first, stop] if first or stop else []
        found.setdefault(one.page, []).append([one.start - start, one.end - start, *within])
    return found


def _note(memory: GistMemory, expanded: Sequence[int], *, limit: int | None, sent: int) -> str:
    """'25 gists, 2 opened in place, 1,945 words'. ``sent``: words with the pages' names, as an answer counts them; 0
    where nothing was sent.
    """
    if not memory.readable:
        return "The text is searched, without gists"
    numbers = [n for n in memory.readable if limit is None or n <= limit]
    gists = memory.gist_words if limit is None else sum(g.words for g in memory.gists[:limit] if g)
    words = gists + sum(memory.page(n).words - g.words for n in expanded if n in numbers and (g := memory.gists[n - 1]))
    opened = f", {len(expanded)} opened in place" if expanded else ""
    length = length_of(min(sent, memory.document.words) or words, memory.document.language)
    return f"{len(numbers)} {'gist' if len(numbers) == 1 else 'gists'}{opened}, {length}"


def _sent_of(memory: GistMemory, exchange: Exchange | None) -> GistMemory:
    """What of ``memory`` an answer could see."""
    up_to = exchange.up_to if exchange else None
    return memory if up_to is None else memory.up_to(min(up_to, len(memory.pages)))


def _passages_note(step: replay.Step, memory: GistMemory, *, short: bool) -> str:
    """'25 gists, 3 pages opened in part and 1 page in full, 2,407 words'. ``short``: a view of these was sent."""
    gists = count_of(len(memory.readable), "gist")
    in_part = len({passage.page for passage in step.passages} - set(step.expanded))
    opened = [f"{count_of(in_part, 'page')} opened in part"] if in_part else []
    opened += [f"{count_of(len(step.expanded), 'page')} in full"] if step.expanded else []
    length = length_of(step.words, memory.document.language)
    return ", ".join([f"A short view of {gists}" if short else gists, *filter(None, [" and ".join(opened)]), length])


def _levels_note(step: replay.Step, language: str) -> str:
    """'22 parts, 31 page gists, 1 page in full, 3,977 words'"""
    count = {how: sum(shown == how for _, _, shown in step.shown) for how in ("part", "gist", "full")}
    names = {"part": "closed part", "gist": "page gist"}
    said = [count_of(count[how], name) for how, name in names.items() if count[how]]
    said += [f"{count_of(count['full'], 'page')} in full"] if count["full"] else []
    return f"{', '.join(said)}, {length_of(step.words, language)}"
