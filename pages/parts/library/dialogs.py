"""The dialogs of the library: names and tags, making gists, the import report, a password, removed books."""

from __future__ import annotations

import secrets
from functools import partial

import streamlit as st

from pages.parts.library import adding, recognition
from pages.parts.library.imports import Import, add_imports, imports_of, start_import
from pages.parts.shared import book as current
from pages.parts.shared import shell
from readagent_core.document import NoticeKind
from readagent_core.errors import ReadAgentError
from readagent_core.gisting import costs as gisting_costs
from readagent_core.gisting.job import start_gisting, usual_plan
from readagent_core.gisting.queue import put_in_queue
from readagent_core.jobs import Job
from readagent_core.library.records import Book
from readagent_core.library.upkeep import DAYS_TO_RESTORE
from readagent_core.model_names import short_name
from readagent_core.words import count_of, length_of
from readagent_core.workspace import Workspace


@st.dialog("Title, author and tags")
def edit_names(workspace: Workspace, book: Book, tags: tuple[str, ...]) -> None:
    """Correct the title and author of a file, because many PDFs have the name of the program that wrote them."""
    with st.form("name", border=False):
        title = st.text_input("Title", book.title, max_chars=300)
        author = st.text_input("Author", book.author, max_chars=300)
        chosen = st.multiselect(
            "Tags", workspace.library.tags(), tags, accept_new_options=True, placeholder="Choose, or type a new one"
        )
        if not st.form_submit_button("Save", type="primary"):
            return
    try:
        workspace.library.rename(book.id, title=title, author=author)
        workspace.library.set_tags(book.id, chosen)
    except ReadAgentError as error:
        shell.error_box(error)
        return
    st.rerun()


@st.dialog("Make gists")
def make_gists(workspace: Workspace, book: Book) -> None:
    """Say what making the gists of a book takes before it starts."""
    model = workspace.model
    last = next((r.plan for r in workspace.library.gistings(book.id) if not r.recorded), None)
    plan = last or usual_plan(workspace, book.words)
    with st.spinner("Estimating…"):
        sentence = gisting_costs.estimate_sentence(workspace, workspace.library.document(book.id), plan)
    st.text(book.title)
    st.text(f"{sentence} You can read the book meanwhile, and pause at any time.")
    st.caption(
        f"By {short_name(model.name)}"
        if model.is_language_model
        else "By the built-in reader: sentences picked by rule."
    )
    with st.container(horizontal=True):
        if st.button("Make gists", type="primary", key="make_gists"):
            start_gisting(workspace, book.id, plan)
            st.rerun()
        if st.button("Later, with others", key="queue_gists", help="One book after another, overnight if you like."):
            put_in_queue(workspace, [book.id])
            st.switch_page("pages/gists.py")


@st.dialog("Export the gists")
def nothing_to_export(book: Book) -> None:
    st.text(
        "This book has no gists yet. Make gists first: then they can be saved as Markdown, HTML, EPUB, JSON or a skill "
        "for agents. Your notes of it are exported under Notes."
    )
    if st.button("Make gists", type="primary", key="make_to_export"):
        st.session_state["making"] = book.id  # its own dialog, in place of this one
        st.rerun()


_PASSWORD_SECONDS = 20.0  # then the list of files says what became of it
_KINDS = {
    NoticeKind.DOUBTFUL: "To check",
    NoticeKind.LEFT_OUT: "Left out",
    NoticeKind.KEPT: "Kept",
    NoticeKind.SOURCE: "How it was read",
}
_PLACE_CHARACTERS = 50  # of the paragraph at a place that can be opened


@st.dialog("Import report")
def show_report(workspace: Workspace, book: Book) -> None:
    """Show what was found in the file: its sections, its length, and every notice of the import."""
    document = workspace.library.document(book.id)
    st.text(book.title)
    language = current.LANGUAGES.get(book.language.split("-")[0].lower(), book.language)
    facts = (
        book.format.upper(),
        language,
        length_of(document.words, document.language),
        count_of(len(document.paragraphs), "paragraph"),
    )
    st.caption(" · ".join(facts))
    if not document.warnings:
        st.markdown(":blue[:material/check:] Everything was imported, without any guess.")
    for kind in NoticeKind:
        notices = [notice for notice in document.warnings if notice.kind == kind]
        if notices:
            st.markdown(f"**{_KINDS[kind]}**")
        for notice in notices:
            st.text(f"• {notice.message}")  # the message has its count and unit: words, parts, pages
            for place in notice.places:
                words = " ".join(document.paragraphs[place].text.split())[:_PLACE_CHARACTERS]
                if st.button(f"Open “{words}…”", key=f"place_{notice.code}_{place}", type="tertiary"):
                    current.read_at(book.id, place)
    recognition.draw_in_report(workspace, book)
    if document.sections:
        with st.expander(count_of(len(document.sections), "section")):
            for section in document.sections:
                st.text(f"{'    ' * (section.level - 1)}{section.title}")
    if book.version > 1:
        st.caption(f"Version {book.version} of this file; gists of earlier versions are still there.")
    adding.draw_fetch_again(workspace, book)
    if st.button("Read it", type="primary", key="report_read"):
        current.read_at(book.id)


@st.dialog("This file needs a password")
def ask_password(workspace: Workspace, imports: list[Import], one: Import) -> None:
    st.text(f"{one.name}: {one.job.snapshot.error}")
    with st.form("password", border=False):
        password = st.text_input("Password", type="password", help="It is used once and not stored.")
        if st.form_submit_button("Open", type="primary"):
            again = start_import(workspace, one.name, one.data, password=password)
            again.job.join(_PASSWORD_SECONDS)
            if again.waits_for_password:
                shell.error_box(again.job.snapshot.failure)
                return
            imports[imports.index(one)] = again
            st.rerun()


def _stop_pasting(workspace: Workspace) -> None:
    """Close the dialog; what is being fetched is then among the files on their way."""
    st.session_state["pasting"] = False
    job: Job | None = st.session_state.pop("adding", None)
    if job is not None and job.running:
        known = st.session_state["adding_known"]
        imports_of(workspace).append(
            Import(job.subject or "the pasted text", b"", job, secrets.token_hex(6), known=known)
        )


def paste(workspace: Workspace) -> None:
    """Add what is pasted; the dialog is drawn in every run until the book is there or the person closes it."""
    st.dialog("Add a link or a text", on_dismiss=partial(_stop_pasting, workspace))(_paste)(workspace)


def _paste(workspace: Workspace) -> None:
    job: Job | None = st.session_state.get("adding")
    book = adding.draw(workspace)
    if book is not None and job is not None:
        st.session_state["pasting"] = False
        known = st.session_state["adding_known"]
        add_imports(workspace, [Import(book.title, b"", job, secrets.token_hex(6), known=known)])
        st.rerun()


@st.dialog("Removed books")
def show_removed(workspace: Workspace) -> None:
    """Restore removed books one by one, or delete all of them for good."""
    removed = workspace.library.removed()
    st.caption(f"A removed book is deleted for good after {DAYS_TO_RESTORE} days. Samples are only hidden.")
    for book in removed:
        with st.container(horizontal=True, vertical_alignment="center", key=f"removed_{book.id}"):
            st.text(book.title, width="stretch")
            if st.button("Restore", key=f"restore_{book.id}"):
                workspace.library.restore(book.id)
                st.rerun()
    count = sum(not book.sample for book in removed)
    if count:
        with st.popover(f"Delete {count_of(count, 'book')} for good"):
            st.caption("Notes and answers about them are deleted too. This cannot be undone.")
            if st.button("Delete", type="primary", key="delete_removed"):
                workspace.library.delete_removed()
                st.rerun()
