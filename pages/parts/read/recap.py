"""Where was I, and who is who: the dialogs over the reader that tell what was read, and nothing that comes later.

``open_recap`` and ``open_cast`` open one; ``draw`` shows it, called by the screen itself, so that a part of the screen
that runs again does not close it. The look is that of an answer in Ask.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.parts.shared import book as current
from pages.parts.shared import polling
from pages.parts.shared.answer import format_time, pending_pieces, pieces_of, waiting_line
from pages.parts.shared.component import Act, act_of, component, no_callback
from pages.parts.shared.gisting_status import may_hurry
from readagent_core.answering.asking import AskProgress
from readagent_core.answering.signature import BUILT_IN, signature_of
from readagent_core.citations import FROM_MEMORY, NOT_FOUND, Checked, check
from readagent_core.companion.cast import NEEDS_MODEL, PERSON, Person, parse_cast, who_is_who
from readagent_core.companion.place import ReadingPlace, place_of
from readagent_core.companion.recap import (
    NO_GISTS,
    NOTHING_READ,
    RECAP,
    WHO_IS_WHO,
    Made,
    cost_sentence,
    job_key,
    keep_inside,
    load_made,
    parts_of,
    recap,
)
from readagent_core.errors import ReadAgentError
from readagent_core.jobs import Job, JobState, Snapshot
from readagent_core.library.records import Book, Gisting
from readagent_core.models.cost.prices import money
from readagent_core.usage import Usage
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

OPENED = "recap_opened"  # the task and book of the dialog that is open, in the session
QUESTIONS = {RECAP: "Where was I?", WHO_IS_WHO: "Who is who?"}
STARTS: Mapping[str, Callable[..., Job]] = {RECAP: recap, WHO_IS_WHO: who_is_who}
DOING = {RECAP: "Going through the gists", WHO_IS_WHO: "Looking for names in the gists"}
SO_FAR, JUST_BEFORE = "So far", "Just before"
POLL_SECONDS = 0.5


def open_recap(book: Book) -> None:
    """Open the dialog that tells where the person was."""
    _open(RECAP, book)


def open_cast(book: Book) -> None:
    """Open the dialog that lists who is who."""
    _open(WHO_IS_WHO, book)


def _open(task: str, book: Book) -> None:
    st.session_state[OPENED] = (task, book.id)
    st.rerun()


def _close() -> None:
    st.session_state.pop(OPENED, None)


def draw(workspace: Workspace, book: Book, gisting: Gisting | None) -> None:
    """Draw the dialog that is open for this book, if one is. ``gisting``: the one whose gists are shown."""
    task, book_id = st.session_state.get(OPENED, ("", ""))
    if book_id == book.id:
        st.dialog(book.title, width="medium", on_dismiss=_close)(_body)(workspace, book, gisting, task)


def _body(workspace: Workspace, book: Book, gisting: Gisting | None, task: str) -> None:
    place = place_of(workspace, workspace.library.gisting(gisting.id)) if gisting else None
    if place is None or not place.paragraphs or not place.covered:
        nothing = not workspace.library.position(book.id).furthest if place is None else not place.paragraphs
        st.markdown(f"**{QUESTIONS[task]}**")
        st.write(NOTHING_READ if nothing else NO_GISTS)
        return
    job = workspace.jobs.get(job_key(place, task))
    made = load_made(workspace, place, task)
    if task == WHO_IS_WHO and made is None and not workspace.model.is_language_model:
        st.markdown(f"**{QUESTIONS[task]}**")
        st.write(NEEDS_MODEL)
        if st.button("Connect a model", type="primary", key="cast_connect"):
            _close()
            st.switch_page("pages/settings.py")
        return
    if made is None and job is None:
        cost = cost_sentence(workspace.model, place, task)
        if cost:
            _offer(workspace, place, task, cost)
            return
        job = _start(workspace, place, task)
        if not workspace.model.is_language_model:
            job.join(5)  # word statistics take a moment
            made = load_made(workspace, place, task)
    snapshot = job.snapshot if job else None
    running = snapshot is not None and snapshot.state == JobState.RUNNING
    show = component("answer_view", "answer_view/main.js", style="answer_view/answer_view.css")
    record = _record(workspace, place, task, made=None if running else made, snapshot=snapshot)
    done = act_of(show(key=f"{task} {book.id}", data={"kind": "exchange", **record}, on_act_change=no_callback))
    polling.rerun_after(POLL_SECONDS if running else None, key="recap")
    if done is not None:
        _act(workspace, place, task, job, done)


def _offer(workspace: Workspace, place: ReadingPlace, task: str, cost: str) -> None:
    """Say what it would cost, with a button."""
    st.markdown(f"**{QUESTIONS[task]}**")
    st.write(f"{signature_of(workspace.model).line} can tell you. {cost}".replace("$", "\\$"))
    if st.button("Tell me", type="primary", key=f"{task}_go"):
        _start(workspace, place, task)
        st.rerun(scope="fragment")


def _start(workspace: Workspace, place: ReadingPlace, task: str, *, again: bool = False) -> Job:
    gisting = place.gisting
    workspace.jobs.forget(job_key(place, task))
    return STARTS[task](workspace, gisting.book_id, gisting_id=gisting.id, use_cache=not again)


def _act(workspace: Workspace, place: ReadingPlace, task: str, job: Job | None, done: Act) -> None:
    if done.do == "cite":
        _close()
        _open_page(place, done.page)
        st.rerun()
    elif done.do == "stop" and job:
        job.cancel()
        job.join(2)
    elif done.do == "hurry" and job:
        job.hurry()
    elif done.do == "again":
        try:
            _start(workspace, place, task, again=job is None or job.snapshot.state == JobState.DONE)
        except ReadAgentError as error:
            st.toast(str(error), icon=":material/error:", duration="long")
    st.rerun(scope="fragment")


def _open_page(place: ReadingPlace, page: int) -> None:
    """Go to a page in the reader; text before the place that has no page yet opens by its paragraph."""
    if page < place.page or place.paged:
        current.set_address(paragraph=None)
        current.choose(place.gisting.book_id, page=page)
    else:
        current.set_address(page=None, paragraph=max(0, place.paragraphs - 1))


# --- what is drawn --------------------------------------------------------------------------------------


def _record(
    workspace: Workspace, place: ReadingPlace, task: str, *, made: Made | None, snapshot: Snapshot | None
) -> dict[str, Any]:
    """An ``ExchangeRecord`` of ``assets/protocol.d.ts`` for what was made, or for how far the work is."""
    now = time.time()
    state = snapshot.state if snapshot else JobState.DONE
    running, signature = state == JobState.RUNNING, made.signature if made else signature_of(workspace.model)
    progress = snapshot.value if snapshot and isinstance(snapshot.value, AskProgress) else AskProgress()
    found: dict[str, Any] = {
        "question": QUESTIONS[task],
        "signature": {"kind": signature.kind, "line": f"{signature.name} is writing" if running else signature.line},
        "asked": format_time(made.made) if made else "",
        "language": place.language,
        "running": running,
        "status": "",
        "hurry": False,
        "before": "",
        "pieces": [],
        "notes": [],
        "trouble": None,
        "cost": "",
        "legend": "",
        "acts": [],
        "again": "Make it again",
        "plain": made.answer.text if made else "",
    }
    found |= {"understood": "", "hidden": "", "notFound": None}
    found |= {name: [] for name in ("options", "looks", "loose", "details", "methods")}
    if running and snapshot:
        waiting = waiting_line(snapshot, now=now)
        doing = "Writing" if progress.text else DOING[task]
        found["status"] = waiting or f"{doing}, {now - snapshot.started:.1f} s"
        found["hurry"] = may_hurry(snapshot, now=now)
    elif made:
        found |= _finished(workspace, place, made)
    if not made and progress.text:
        found["pieces"] = pending_pieces(progress.text)
    if snapshot and state in ("failed", "cancelled"):
        stopped = state == "cancelled"
        text = "Stopped." if stopped else snapshot.error
        found["trouble"] = {"kind": "" if stopped else "alert", "text": text}
        found |= {"again": "Try again", "acts": []}
    return found


def _finished(workspace: Workspace, place: ReadingPlace, made: Made) -> dict[str, Any]:
    """What is shown of a finished recap or list: its pieces, what was left out of the reply, and what it cost."""
    answer, built_in = made.answer, made.signature.kind == BUILT_IN
    notes = list(answer.notes[1:])
    acts = ["copy"] if built_in else ["again", "copy"]
    if made.task == RECAP:
        pieces, removed = _recap_pieces(place, made)
        empty = "The reply was empty."
    else:
        cast = parse_cast(answer.text, place)
        pieces, removed, empty = _cast_pieces(place, made, cast.people), cast.removed, "The reply names nobody."
        if cast.dropped:
            lost = ", ".join(cast.dropped)
            notes.append(f"Left out, because what you have read does not have the name: {lost}.")
    if removed:
        notes.append(f"Left out: {count_of(removed, 'claim')} that named no page you have read.")
    if not pieces:
        notes.append(empty)
    if answer.cut_off:
        notes.append("The reply broke off.")
    whole = workspace.library.document(place.gisting.book_id, document_id=place.gisting.document_id)
    if pieces and whole.recognised_words:
        notes.append("Text of this book was recognised in pictures of its pages, so quoted words may be wrong.")
    since = sum(p.words for p in whole.paragraphs[made.paragraphs : place.paragraphs])
    if since:
        notes.append(f"You have read {count_of(since, 'word')} since this was made.")
    cost = "" if built_in else _cost(answer.usage)
    return {"pieces": pieces, "before": answer.notes[0], "notes": notes, "cost": cost, "acts": acts}


def _cost(usage: Usage) -> str:
    if not usage.calls:
        return "Nothing was sent: the reply was stored."
    sent = f"Sent {count_of(usage.words_in, 'word')} in {count_of(usage.calls, 'call')}"
    return f"{sent}; {money(usage.cost)}." if usage.cost else f"{sent}."


def _recap_pieces(place: ReadingPlace, made: Made) -> tuple[list[dict[str, Any]], int]:
    pieces: list[dict[str, Any]] = []
    removed = 0
    for head, text in zip((SO_FAR, JUST_BEFORE), parts_of(made.answer.text), strict=True):
        kept, lost = keep_inside(text, range(1, place.page + 1))
        removed += lost
        if kept:
            pieces += _paragraph(place, made, f"**{head}**", kept)
    return pieces, removed


def _cast_pieces(place: ReadingPlace, made: Made, people: Sequence[Person]) -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    for person in sorted(people, key=lambda p: p.kind != PERSON):
        also = f", also {', '.join(person.also)}" if person.also else ""
        pages = f"pages {person.first} to {person.last}" if person.first != person.last else f"page {person.first}"
        where = f" · named on {pages}" if person.first else ""
        pieces += _paragraph(place, made, f"**{person.name}**{also}{where}", person.told)
    return pieces


def _paragraph(place: ReadingPlace, made: Made, head: str, text: str) -> list[dict[str, Any]]:
    """A heading and its text with a chip for each page. What the built-in reader copied is set as quotations."""
    answer = made.answer
    full = [n for n, how in answer.seen.items() if how == "full"]
    checked = check(text, place.memory, full=full, shown=answer.seen)
    if made.signature.kind == BUILT_IN:
        return [{"text": head, "cites": []}, *_quotations(place, checked, book=head != f"**{SO_FAR}**")]
    pieces = pieces_of(checked)
    for piece in pieces:
        piece["cites"] = [_chip(place, cite, piece["cites"]) for cite in piece["cites"]]
    pieces[0]["text"] = f"\n\n{head}\n{pieces[0]['text']}"
    return pieces


def _quotations(place: ReadingPlace, checked: Checked, *, book: bool) -> list[dict[str, Any]]:
    """The sentences that the built-in reader copied, from the ``book`` or else from gists."""
    found: list[dict[str, Any]] = []
    for piece in checked.pieces:
        text = piece.text.strip()
        for citation in piece.citations[:1]:
            of = "page" if book else "gist of page"
            why = "Copied word for word." if book else "The first sentence of this page's gist."
            chip = {"page": citation.page, "state": "copied", "label": f"{of} {citation.page}", "why": why, "at": -1}
            found.append({"text": text, "cites": [_named(place, chip)], "book": book, "shared": []})
    return found


def _chip(place: ReadingPlace, cite: dict[str, Any], claim: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A chip that names its page. A page without words of the claim is no fault where another page cited has some."""
    supported = any(other["state"] != NOT_FOUND for other in claim)
    state = FROM_MEMORY if cite["state"] == NOT_FOUND and supported else cite["state"]
    return _named(place, {**cite, "state": state, "label": f"page {cite['page']}"})


def _named(place: ReadingPlace, chip: dict[str, Any]) -> dict[str, Any]:
    unpaged = chip["page"] == place.page and not place.paged
    return {**chip, "label": "before your place"} if unpaged else chip
