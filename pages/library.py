"""The library: every book with how far it is read, a place to drop a new one, and the report of an import."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.parts.library import cards
from pages.parts.shared import book as current
from pages.parts.shared import covers, polling, shell
from pages.parts.shared import reading_status as state
from pages.parts.shared.cached import get_workspace
from readagent_core.errors import PasswordError, ReadAgentError
from readagent_core.library.records import Book
from readagent_core.loaders import DEFAULT, FORMATS
from readagent_core.loaders.base import MEGABYTE
from readagent_core.words import count_of
from readagent_core.workspace import Workspace
from readagent_core.workspace.opening import READING_SUFFIX, open_file
from readagent_core.workspace.reading import job_key, start_reading

ART = '<div class="art"><i></i><i></i><i></i><b><i></i><i></i><i></i></b><i></i><i></i></div>'
ICONS = {"read": ":blue[:material/check:]", "paused": ":orange[:material/pause:]", "failed": ":red[:material/error:]"}


def go(book: Book) -> None:
    current.choose(book.id)
    st.switch_page("pages/read.py")


def connect_note(workspace: Workspace) -> None:
    """Say that no language model is connected, until the person hides the note; always if its key cannot be read."""
    chosen = bool(workspace.settings.key_trouble)
    if workspace.model.is_language_model or (not chosen and workspace.library.preference("connect note hidden", False)):
        return
    with st.container(key="note", horizontal=True, vertical_alignment="center"):
        st.markdown(
            "**No language model is connected — the built-in reader is used.** "
            f":gray[{shell.missing_setting() or 'It uses word statistics.'}]"
        )
        if st.button("Connect a model", type="primary", key="connect"):
            st.switch_page("pages/settings.py")
        if not chosen and st.button(
            "", icon=":material/close:", key="hide_note", help="Hide this note", type="tertiary"
        ):
            workspace.library.set_preference("connect note hidden", True)
            st.rerun()


def open_files(workspace: Workspace) -> None:
    """The drop zone. Each file becomes a book; an error is shown below the zone."""
    turn = st.session_state.setdefault("drop_turn", 0)
    most, text, page = (limit // MEGABYTE for limit in (DEFAULT.file, DEFAULT.text, DEFAULT.page))
    with st.container(gap="xsmall"):  # the limits belong to the zone
        uploads = st.file_uploader(
            "Drop a book here",
            label_visibility="collapsed",
            accept_multiple_files=True,
            type=[ending.lstrip(".") for ending in (*FORMATS, READING_SUFFIX)],
            key=f"drop_{turn}",
        )
        st.caption(f"At most {most} MB a file; a text file {text} MB, a web page {page} MB.")
    opened: dict[str, str] = st.session_state.setdefault(f"opened_{turn}", {})  # of this drop: file -> book
    before = len(opened)
    failed = False
    for upload in uploads or []:
        if upload.file_id in opened:
            continue
        book = None
        try:
            book = open_file(workspace, upload.getvalue(), upload.name)
        except PasswordError as error:
            book = ask_password(workspace, upload.name, upload.getvalue(), error)
        except ReadAgentError as error:
            shell.error_box(error, about=upload.name)
        if book is None:
            failed = True
        else:
            opened[upload.file_id] = book.id
    if len(opened) > before:
        if not failed:
            st.session_state["drop_turn"] = turn + 1
            if len(opened) == 1:
                st.session_state["report"] = next(iter(opened.values()))
        st.rerun()  # shows the books that were opened, also beside a file that could not be


def ask_password(workspace: Workspace, name: str, data: bytes, error: PasswordError) -> Book | None:
    with st.container(border=True, key="password"):
        st.markdown(":gray[:material/lock:] &nbsp; **This file needs a password**")
        st.text(f"{name}: {error}")
        with st.form(f"password_{name}", border=False):
            password = st.text_input("Password", type="password", help="It is used once and not stored.")
            if not st.form_submit_button("Open"):
                return None
        try:
            return open_file(workspace, data, name, password=password)
        except ReadAgentError as again:
            shell.error_box(again, about=name)
            return None


def card(workspace: Workspace, book: Book) -> None:
    readings = workspace.library.readings(book.id)
    running = {job.key for job in workspace.jobs.running()}
    reading = state.pick_reading(readings, None, running)
    memory = state.memory_now(workspace, reading, state.snapshot_of(workspace, reading)) if reading else None
    status = cards.card_status(book, reading, memory, running=reading is not None and job_key(reading) in running)
    cover = workspace.library.cover(book.id) if book.has_cover else None
    with st.container(key=f"card_{book.id}", horizontal=True, gap="medium"):
        covers.show(book, memory, cover)
        with st.container(key=f"info_{book.id}", gap=None):
            st.html(f'<h2 class="bt" dir="auto" lang="{escape(book.language)}">{escape(book.title)}</h2>')
            sample = '<span class="stag">Sample</span>' if book.sample else ""
            st.html(
                f'<p class="small dim"><span class="by" dir="auto">{escape(book.author)}</span>{sample}</p>'
                f'<p class="small dim">{escape(current.facts(book))}</p>'
                f'<p class="small dimmer">{cards.when(book.opened)}</p>'
            )
            with st.container(key=f"status_{status.kind}_{book.id}", gap=None):
                recorded = reading if reading is not None and reading.recorded else None
                st.markdown(
                    f"{ICONS.get(status.kind, '')} **{status.line}**{' · a recording' if recorded else ''}".strip(),
                    help=state.recording_line(recorded) if recorded else None,
                )
                if status.percent is not None:
                    st.progress(min(1.0, status.percent / 100))
                if status.more:
                    st.text(status.more, help=status.about or None)
            with st.container(horizontal=True, key=f"acts_{book.id}", gap="small"):
                if st.button(status.button, key=f"open_{book.id}"):
                    if status.kind == "new" and not workspace.model.is_language_model:
                        start_reading(workspace, book.id)  # free, so it needs no second click
                    go(book)
                more(workspace, book)


def more(workspace: Workspace, book: Book) -> None:
    with st.popover("More", key=f"more_{book.id}"):
        if st.button("Title and author", key=f"name_{book.id}", type="tertiary", icon=":material/edit:"):
            name(workspace, book)
        if st.button("Import report", key=f"report_{book.id}", type="tertiary", icon=":material/fact_check:"):
            st.session_state["report"] = book.id
            st.rerun()
        if st.button("Remove", key=f"remove_{book.id}", type="tertiary", icon=":material/delete:"):
            workspace.library.remove(book.id)
            st.session_state["removed"] = book.id
            st.rerun()


@st.dialog("Title and author")
def name(workspace: Workspace, book: Book) -> None:
    """Correct the title and author of a file: many PDFs have the name of the program that wrote them."""
    with st.form("name", border=False):
        title = st.text_input("Title", book.title, max_chars=300)
        author = st.text_input("Author", book.author, max_chars=300)
        if not st.form_submit_button("Save", type="primary"):
            return
    try:
        workspace.library.rename(book.id, title=title, author=author)
    except ReadAgentError as error:
        shell.error_box(error)
        return
    st.rerun()


@st.dialog("Import report")
def report(workspace: Workspace, book: Book) -> None:
    """Show what was found in the file: its sections, its words, and every notice of the import."""
    document = workspace.library.document(book.id)
    st.text(book.title)
    st.caption(f"{book.format.upper()} · {current.facts(book)} · {count_of(len(document.paragraphs), 'paragraph')}")
    if not document.warnings:
        st.markdown(":blue[:material/check:] Everything was imported, without any guess.")
    for notice in document.warnings:
        st.text(f"• {notice.message}")  # the message has its count and unit: words, parts, pages
    if document.sections:
        with st.expander(count_of(len(document.sections), "section")):
            for section in document.sections:
                st.text(f"{'    ' * (section.level - 1)}{section.title}")
    if book.version > 1:
        st.caption(f"Version {book.version} of this file; readings of earlier versions are still there.")
    if st.button("Read it", type="primary", key="report_read"):
        go(book)


def removed_note(workspace: Workspace, book: Book) -> None:
    """The undo button in the place of the card, until another book is removed."""
    with st.container(key="removed", horizontal=True, vertical_alignment="center"):
        st.text(f"Removed {book.title}.")
        if st.button("Undo", key="undo"):
            workspace.library.restore(book.id)
            del st.session_state["removed"]
            st.rerun()


def empty(workspace: Workspace) -> None:
    with st.container(key="empty", horizontal_alignment="center"):
        st.html(f"{ART}<h2>No books yet</h2>")
        st.markdown(
            "Drop a PDF, EPUB, Word document, web page or text file above, and it is read page by page. "
            "Or begin with *The Keeper of Harrow Light*, a short mystery that has been read already."
        )
        if st.button("Open the sample story", key="bring_samples"):
            for book in workspace.library.books(include_removed=True):
                if book.sample:
                    workspace.library.restore(book.id)
            st.rerun()


def grid(workspace: Workspace, books: list[Book]) -> None:
    with st.container(key="grid"):
        for book in books:
            if book.removed:
                removed_note(workspace, book)
            else:
                card(workspace, book)


def show() -> None:
    workspace = get_workspace()
    connect_note(workspace)
    last = st.session_state.get("removed")
    shown = [b for b in workspace.library.books(include_removed=True) if not b.removed or b.id == last]
    every = [b for b in shown if not b.removed]
    with st.container(horizontal=True, key="top", vertical_alignment="center"):
        st.title("Library", anchor=False)
        query, by = "", "opened"
        if every:
            query = st.text_input(
                "Search titles and authors",
                placeholder="Search titles and authors",
                icon=":material/search:",
                label_visibility="collapsed",
                key="q",
            )
            by = st.selectbox(
                "Sort", list(cards.SORTS), format_func=cards.SORTS.__getitem__, label_visibility="collapsed", key="sort"
            )
    with st.container():  # so that a message in it does not change the position of the books in the run
        open_files(workspace)
    if not every:
        if shown:
            grid(workspace, shown)
        empty(workspace)
        return
    books = cards.sorted_books(shown, by=by, query=query)
    if not books:
        st.markdown("**No such book**")
        st.text(f"No title or author has “{query}”.")
    keys = {job_key(r) for b in books for r in workspace.library.readings(b.id)}
    running = any(job.key in keys for job in workspace.jobs.running())

    def refreshing_grid() -> None:
        polling.rerun_after(1.0, key="library")
        grid(workspace, books)
        if not any(job.key in keys for job in workspace.jobs.running()):
            st.rerun()

    if running:
        st.fragment(refreshing_grid)()
    else:
        grid(workspace, books)
    asked = st.session_state.pop("report", None)
    if asked is not None:
        report(workspace, workspace.library.book(asked))
    st.caption(f"{count_of(len(every), 'book')}, {shell.file_size(workspace.library.storage())} on this computer.")


shell.draw(show)
