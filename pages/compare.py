"""Compare: one question to several methods at once; what each saw of the book or the books, answered, and needed.

The work is a job (``comparing.comparing``); this page starts it, draws its progress, and offers the results as files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Literal

import streamlit as st

from pages.parts.compare import board, controls
from pages.parts.read.start import act_on_line, line_to_make, said_estimate
from pages.parts.shared import book as current
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.chosen_books import choose_books, chosen_books, open_cited, set_address
from pages.parts.shared.component import component
from readagent_core.answering.base import AskSettings, Question
from readagent_core.comparing import comparing
from readagent_core.comparing.compared_books import ComparedText, text_to_compare
from readagent_core.comparing.comparison import Comparison, EntryState, is_past_limit
from readagent_core.errors import NotInLibraryError, ReadAgentError, Remedy
from readagent_core.export.comparison_view import draw_methods
from readagent_core.gisting.job import memory_to_ask
from readagent_core.gisting.queue import load_queue, put_in_queue
from readagent_core.jobs import Job, JobState
from readagent_core.library.records import Book
from readagent_core.words import count_of, pages_up_to
from readagent_core.workspace import Workspace

SAID_LEFT_OUT = 3  # of the books that are left out, those named

_ASKED = "compare_asked_times"


def screen() -> None:
    workspace = get_workspace()
    several = chosen_books(workspace)
    book = None if several else current.current(workspace)
    if several is None and book is None:
        shell.no_book("Compare")
        return
    book_ids = several.book_ids if several else [book.id] if book else []
    if several:  # so that Back leads from a cited page to these books
        set_address(several)
    shell.set_title("Compare", several.name if several else book.title if book else "", book.author if book else "")
    with st.container(horizontal=True, vertical_alignment="center", key="compare_top"):
        st.title("Compare", anchor=False)
        recording = board.find_recording(workspace, book) if book else None
        recorded = recording is not None and board.is_shown(recording)
        if not recorded:  # it has its own book, methods and limits
            if book is not None:
                current.picker(workspace, book, key="compare_book", label_visibility="collapsed", width=320)
            choose_books(workspace, book_ids, label=several.name if several else "Several books", key="compare")
            chosen, settings = controls.pick_methods(workspace), controls.pick_limits(workspace, book)
    st.caption("One question to several methods: what each saw of the text, what it answered, and how much it read.")
    if recording is not None and recorded:
        board.recorded(recording)
        return
    making = book is not None and bool(line_to_make(workspace, book)[1]["running"])
    try:
        text = text_to_compare(workspace, book_ids)
    except ReadAgentError as error:
        text = None
        if book is None or not isinstance(error, NotInLibraryError):  # gists can be made here
            st.text(str(error))
    if book is not None and (text is None or not text.finished):
        st.fragment(_say_gists)(workspace, book, making=making)
    if text is None:
        if recording is not None:
            board.offer(recording)
        return
    job = workspace.jobs.get(comparing.job_key(*book_ids))
    running = job is not None and job.running
    has_model = workspace.model.is_language_model
    known = controls.known_questions(book, text.memory)
    waits = book is not None and not text.memory.pages  # for the choice above the question
    if book is not None and waits:
        controls.choose_limit(workspace, book)
    newest = _newest(workspace, book_ids, job)
    if newest is not None and not is_past_limit(newest, text.limits):
        controls.begin_with(book, newest)
    able = not running and (waits or bool(text.memory.pages))
    asked = controls.ask(known, book, len(chosen), able=able, waits=waits, has_model=has_model)
    if not chosen:
        st.caption("Choose at least one method above first.")
    if chosen and text.memory.pages:
        with st.container(key="compare_price"):
            st.caption(controls.price_line(workspace.model, text.memory, chosen, settings))
    for line in limit_lines(text):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(line, width="content")
            if book is not None and text.books[0].paragraphs is not None:
                let_in = partial(controls.let_in, workspace, book.id, None)
                st.button("Let in the whole book", key="compare_let_in", on_click=let_in)
    _say_left_out(workspace, text)
    if asked is not None:
        controls.set_asked(book)
        try:
            comparing.compare(
                workspace,
                book_ids,
                asked.question,
                chosen,
                settings=settings,
                correct=asked.correct,
                references=asked.references,
                judged=asked.judged,
            )
        except ReadAgentError as error:
            shell.error_box(error)
        else:
            st.session_state[_ASKED] = st.session_state.get(_ASKED, 0) + 1
            st.rerun()
    st.fragment(last)(
        workspace, book_ids, book, text, chosen, settings=settings, recording=recording, waited_for=running
    )


def _say_gists(workspace: Workspace, book: Book, *, making: bool) -> None:
    """Draw what Read says of gists that are not all made, and what can be done; nothing where they are.

    ``making``: they were being made when the screen was drawn, which is drawn again at the end.
    """
    gisting, line = line_to_make(workspace, book)
    running = bool(line["running"])
    polling.rerun_after(1.0 if running else None, key="compare_gists")
    if making and not running:  # the methods have more to see
        st.rerun()
    if line["state"] in ("ready", "recording"):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="compare_make"):
        if line["state"] == "none":
            said = ["This book has no gists yet", line["rest"]]
        else:
            seen = "Methods that use gists see only the pages that have one" if gisting and gisting.gists else ""
            said = [" · ".join(filter(None, [f"Gists: {line['line'].lower()}", line["rest"]])), line["more"], seen]
        st.text(" ".join(f"{part[0].upper()}{part[1:].rstrip('.')}." for part in said if part), width="stretch")
        for do, label in dict(line["actions"]).items():  # two may lead to Settings
            kind: Literal["primary", "secondary"] = "primary" if do in ("make", "go") else "secondary"
            if do != "options" and st.button(label, type=kind, key=f"compare_gists_{do}"):
                shell.guarded(partial(act_on_line, workspace, book, gisting, do))
        st.page_link("pages/read.py", label="To the book", icon=":material/menu_book:")


def limit_lines(text: ComparedText) -> list[str]:
    """What the spoiler limits let the methods see."""
    seen = []
    for book, pages in zip(text.books, text.all_pages, strict=True):
        if book.paragraphs is None or not book.pages:
            continue
        named = pages_up_to(book.pages)
        seen.append(f"{named} of {pages}" if len(text.books) == 1 else f"{named} of {pages} of {book.title}")
    return [f"Spoiler limit: every method sees {', '.join(seen)} only."] if seen else []


def _say_left_out(workspace: Workspace, text: ComparedText) -> None:
    """Which of several books no method sees, why, and the way to let each in."""
    named = dict(islice(text.left_out.items(), SAID_LEFT_OUT))
    making = text.without_gists.intersection(load_queue(workspace).books)
    unread = [book_id for book_id in named if book_id in text.without_gists - making]
    for book_id, title in named.items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"compare_left_out_{book_id}"):
            if book_id in making:
                st.caption(shell.as_text(f"{title} is left out until its gists are made."), width="content")
            elif book_id in text.without_gists:
                takes = said_estimate(workspace, book_id)
                st.caption(shell.as_text(f"{title} is left out: it has no gists yet. {takes}"), width="content")
            else:
                st.caption(
                    shell.as_text(f"{title} is left out: its spoiler limit lets in no page yet."), width="content"
                )
                let_in = partial(controls.let_in, workspace, book_id, None)
                st.button("Let in the whole book", key=f"compare_let_in_{book_id}", on_click=let_in)
    if (more := len(text.left_out) - SAID_LEFT_OUT) > 0:
        st.caption(f"{count_of(more, 'more book')} left out.")
    if unread:
        of = f" of {count_of(len(unread), 'book')}" if len(unread) > 1 else ""
        if st.button(f"Make gists{of}", key="compare_make_left_out"):
            shell.guarded(partial(put_in_queue, workspace, unread))
    if making:
        st.fragment(_wait_for_gists)(workspace, making)


def _wait_for_gists(workspace: Workspace, books: frozenset[str]) -> None:
    """Draw that the gists of these books are being made; the screen is drawn again when those of one are."""
    polling.rerun_after(1.0, key="compare_queue")
    if not books.issubset(load_queue(workspace).books):
        st.rerun()
    st.page_link("pages/gists.py", label=f"Gists of {count_of(len(books), 'book')} are being made: show how far")


def empty(
    workspace: Workspace,
    book: Book | None,
    text: ComparedText,
    chosen: Sequence[str],
    *,
    hidden: bool,
    look_ups: int,
    recording: board.Recording | None,
) -> None:
    """What a comparison will show, and questions to begin with, while there is none. ``hidden``: the last one is."""
    memory = text.memory
    by_model = workspace.model.is_language_model
    questions = controls.questions_to_try(book, memory, by_model=by_model) if memory.readable else []
    if hidden:
        st.text("The last comparison is hidden: its methods saw pages after your spoiler limit.")
    elif memory.pages:
        st.text(f"Nothing compared yet. Ask a question above{', or one of these:' if questions else '.'}")
    with st.container(horizontal=True, gap="small", key="compare_try"):
        for number, question in enumerate(questions):
            key = f"compare_try_{number}"
            if st.button(question, key=key, on_click=controls.take_question, args=(question,)):
                st.rerun()  # the form that asks it is outside of this fragment
    if book is not None and not memory.pages:
        _, memory = memory_to_ask(workspace, book.id, then="compare")  # how long its pages are tells nothing of them
    if recording is not None:
        board.offer(recording)
    st.subheader(f"What each method sees of {'this book' if book else 'these books'}", anchor=False)
    rows = component("compare_rows", "compare/compare.js", style="compare/compare.css")
    pages = [page.words for page in memory.pages]
    gists = {number: gist.words for number, gist in enumerate(memory.gists, start=1) if gist is not None}
    data = {"rows": draw_methods(chosen, pages, gists, look_ups, text.books), "signature": None, "asked": 0}
    rows(key=f"compare_methods_{controls.key_of(book)}", data=data)


def last(
    workspace: Workspace,
    book_ids: Sequence[str],
    book: Book | None,
    text: ComparedText,
    chosen: Sequence[str],
    *,
    settings: AskSettings,
    recording: board.Recording | None,
    waited_for: bool,
) -> None:
    """The question, the button to stop, the rows so far, and how to save them; a fragment that runs again meanwhile.

    A comparison that saw more than the spoiler limits let into ``text`` now is not shown. ``waited_for``: the form was
    drawn while it ran, so the screen is drawn again at its end.
    """
    job = workspace.jobs.get(comparing.job_key(*book_ids))
    running = job is not None and job.running
    polling.rerun_after(1.0 if running else None, key="compare")
    ended = waited_for and not running
    snapshot = job.snapshot if job is not None else None
    comparison = _newest(workspace, book_ids, job)
    if snapshot is not None and snapshot.state == JobState.FAILED:
        shell.error_box(snapshot.failure)
    hidden = comparison is not None and is_past_limit(comparison, text.limits)
    if comparison is None or hidden:
        if ended:
            st.rerun()
        empty(workspace, book, text, chosen, hidden=hidden, look_ups=settings.look_ups, recording=recording)
        return
    board.head(comparison, chosen=len(book_ids))
    if not running:
        _failed(workspace, book_ids, comparison, settings)
    if running and job is not None and snapshot is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="compare_running"):
            done = f"{int(snapshot.done)} of {count_of(len(comparison.entries), 'method')}"
            st.caption(f"{done} {'has' if snapshot.done == 1 else 'have'} answered. {snapshot.waiting}")
            stopping = job.cancelled
            st.button("Stopping" if stopping else "Stop", key="compare_stop", disabled=stopping, on_click=job.cancel)
    asked = st.session_state.get(_ASKED, 0)
    act = board.show(comparison, key=f"compare_rows_{controls.key_of(book)}", asked=asked)
    if act is not None:
        cited = next((one for one in comparison.books if one.id == act.of), comparison.books[0])
        gisting, memory = memory_to_ask(workspace, cited.id, then="compare")
        whole = workspace.library.document(cited.id, document_id=gisting.document_id)
        board.mark_words(cited.id, comparison, act, memory.up_to(cited.pages), whole)
        open_cited(cited.id, act.page, {"from": "compare"})
    if ended:  # the form is enabled again; only now, or a click that came with the last answer would be lost
        st.rerun()
    if not running and any(entry.text for entry in comparison.entries):
        with st.container(horizontal=True, vertical_alignment="center", key="compare_foot"):
            st.caption(board.FOOT)
            board.save_buttons(comparison)
    if recording is not None and not running:
        board.offer(recording, boxed=False)


def _newest(workspace: Workspace, book_ids: Sequence[str], job: Job | None) -> Comparison | None:
    """The comparison of ``job``, else the last one that was saved."""
    comparison: Comparison | None = job.snapshot.value if job is not None else None
    return comparison or comparing.last_comparison(workspace, *book_ids)


def _failed(workspace: Workspace, book_ids: Sequence[str], comparison: Comparison, settings: AskSettings) -> None:
    """How many methods did not finish, above their rows, with what can be done about it; nothing where all did."""
    failed = [entry for entry in comparison.entries if entry.state != EntryState.DONE]
    if not failed:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="error_alert_compare"):
        st.text(f"{len(failed)} of {count_of(len(comparison.entries), 'method')} did not finish.", width="stretch")
        about = "The replies that came are taken from the cache."
        if st.button("Ask again", key="compare_again", help=about):
            shell.guarded(lambda: _ask_again(workspace, book_ids, comparison, settings))
        if any(entry.remedy == Remedy.SETTINGS for entry in failed):
            shell.link_to_settings()


def _ask_again(workspace: Workspace, book_ids: Sequence[str], comparison: Comparison, settings: AskSettings) -> None:
    """Ask the question of ``comparison`` of the same methods."""
    comparing.compare(
        workspace,
        book_ids,
        Question(comparison.question, comparison.options),
        [entry.method for entry in comparison.entries],
        settings=settings,
        correct=comparison.correct,
        references=comparison.references,
        judged=any(entry.verdict for entry in comparison.entries),
    )


shell.draw(screen)
