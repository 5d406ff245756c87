"""Act: a saved web page beside its parts and their gists; for a task the next action is named and shown on the page.

Nothing is done on the website. The page is drawn without scripts in a frame of its own (pages/parts/act/drawn_page.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.parts.act.board import Shown, board, cost_line
from pages.parts.act.drawn_page import get_pages
from pages.parts.shared import book as current
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act, act_of, call_with_act, component
from readagent_core.answering import replay
from readagent_core.answering.base import ModelCall
from readagent_core.document import Document
from readagent_core.errors import MissingError, NotInLibraryError, ReadAgentError, WrongAddressError
from readagent_core.incoming.links import as_address, fetch_document, file_name
from readagent_core.incoming.opening import add_book
from readagent_core.jobs import JobState, Snapshot
from readagent_core.library.records import Book
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.web_pages.acting import LOOK_UPS, WebTask, action_of
from readagent_core.web_pages.actions import describe_action
from readagent_core.web_pages.memory import load_gists
from readagent_core.web_pages.steps import (
    ActProgress,
    OpenedPage,
    StoredStep,
    can_act,
    job_key,
    start_step,
    stored_steps,
)
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

ABOUT = (
    "Say what you want to do on the website. ReadAgent names the next click, text or choice; it does nothing itself."
)
BY_WORDS = (
    "No language model is connected. The built-in reader does not understand a task: it points to the link, button or "
    "field that has most words in common with it."
)
OTHER_FILE = "This is no web page, so nothing was added. To read it, add it in the library."
LOOKS = "The page is cut into parts. The model reads a gist of each, and in full those that seem to fit the task."
PAGE = "act_book"  # in the session: the web page that is shown, beside the book of the other screens
MOST_TRIED = 200
MOST_PAGES = 6  # of those in the library, offered to begin with


def screen() -> None:
    workspace = get_workspace()
    chosen = _chosen(workspace)
    shell.link_back("Ask")
    row = st.container(horizontal=True, vertical_alignment="center", key="act_top")
    row.title("Act on a page", anchor=False)
    stored = workspace.library.books_with_original()
    pages = [one for one in workspace.library.books() if can_act(one) and one.id in stored]
    opened: OpenedPage | None = None
    if chosen is not None and can_act(chosen):
        shell.set_title("Act", chosen.title, chosen.author)
        try:
            opened = get_pages(workspace).open(chosen.id)
        except NotInLibraryError as error:
            st.text(str(error))
    if opened or len(pages) > MOST_PAGES:
        with row:
            _pick_page(workspace, chosen, pages)
    if opened is None or chosen is None:
        _begin(workspace, pages)
        return
    current.set_address(book=chosen.id)
    st.fragment(_stage)(workspace, chosen, opened)


def _chosen(workspace: Workspace) -> Book | None:
    """The page in the address, else the one shown last, else the current book. Raises WrongAddressError."""
    in_address = st.query_params.get("book")
    book = current.find(workspace, in_address or st.session_state.setdefault(PAGE, current.chosen_id()))
    if book is None and in_address:
        raise WrongAddressError(current.NO_BOOK)
    return book


def _begin(workspace: Workspace, pages: list[Book]) -> None:
    """Draw what there is to begin with: an address, a file, and the web pages that are in the library."""
    _say_what_it_does(workspace)
    web, file = st.columns(2, gap="medium")
    with web.container(border=True, height="stretch"), st.form("act_address", border=False):
        st.markdown("**A page on the web**")
        on = workspace.settings.links
        told = "It is fetched once, without your cookies." if on else "Links are turned off in Settings."
        address = st.text_input("Web address", placeholder="https://…", help=told, disabled=not on)
        if st.form_submit_button("Open it", type="primary", key="act_open", disabled=not on):
            _open(workspace, lambda: _fetched(workspace, address.strip()))
    with file.container(border=True, height="stretch"):
        st.markdown("**A page that you saved**")
        turn = st.session_state.setdefault("act_turn", 0)
        upload = st.file_uploader("Saved with your browser, also behind a sign-in", key=f"act_file_{turn}")
        if upload is not None:
            st.session_state["act_turn"] = turn + 1  # it is opened once
            _open(workspace, lambda: _loaded(upload.name, upload.getvalue()))
    if pages:
        st.subheader("Opened before", anchor=False)
        with st.container(horizontal=True, key="act_pages"):
            for page in pages[:MOST_PAGES]:
                if st.button(shell.as_text(page.title), key=f"act_page_{page.id}", icon=":material/web:"):
                    _show(page.id)
                    st.rerun()


def _say_what_it_does(workspace: Workspace, *, opened: bool = False) -> None:
    """Say what Act does, and without a language model what it cannot; of a page that is ``opened`` the second alone."""
    if workspace.model.is_language_model or not opened:
        st.caption(ABOUT)
    if not workspace.model.is_language_model:
        with st.container(horizontal=True, vertical_alignment="center", key="act_by_words"):
            st.caption(f":orange[:material/info:] {BY_WORDS}")
            st.page_link("pages/settings.py", label="Connect a model", icon=":material/power:")


def _fetched(workspace: Workspace, address: str) -> tuple[Document, bytes, str, str]:
    """The page at an address: its text, its bytes, a name of a file and where it is. Raises ReadAgentError."""
    if not address:
        raise MissingError("Write or paste the address of the page first.")
    document, found = fetch_document(workspace.settings, as_address(address) or address)
    return document, found.data, file_name(found), found.address


def _loaded(name: str, data: bytes) -> tuple[Document, bytes, str, str]:
    """The page in a file, as ``_fetched``. Raises DocumentError."""
    return load_in_child_process(data, name), data, name, name


def _open(workspace: Workspace, opening: Callable[[], tuple[Document, bytes, str, str]]) -> None:
    """Open a page and show it; say what is wrong where it cannot be opened, and add nothing that is no web page."""
    try:
        with st.spinner("Opening the page…"):
            document, data, name, source = opening()
            if document.format != "html":
                st.text(OTHER_FILE)
                st.page_link("pages/library.py", label="Open the library", icon=":material/menu_book:")
                return
            known = {one.id for one in workspace.library.books()} - current.only_tried(workspace)
            book = add_book(workspace, document, data, name, source_name=source)
    except ReadAgentError as error:
        shell.error_box(error)
        return
    if book.id not in known:  # else it is a book of the library, and stays one
        tried = [book.id, *workspace.library.preference(current.TRIED, [])]
        workspace.library.set_preference(current.TRIED, list(dict.fromkeys(tried))[:MOST_TRIED])
    _show(book.id)
    st.rerun()


def _show(page_id: str) -> None:
    """Show another page, or with '' what there is to begin with; Ask and Compare keep their book."""
    current.set_address(book=page_id or None)
    st.session_state[PAGE] = page_id


def _pick_page(workspace: Workspace, chosen: Book | None, pages: list[Book]) -> None:
    """Draw a select box with the saved web pages, which can be emptied for another page, and what else one can do."""
    titles = {page.id: page.title for page in pages}
    shown = chosen.id if chosen is not None and chosen.id in titles else None
    key = f"act_page_{shown}"
    st.selectbox("Web page", list(titles), list(titles).index(shown) if shown else None, key=key, width=320,
                 format_func=titles.__getitem__, label_visibility="collapsed", placeholder="Choose a web page",
                 on_change=lambda: _show(st.session_state[key] or ""))  # fmt: skip
    if not shown:
        return
    st.button("Another page", key="act_other", on_click=_show, args=("",))
    with st.popover("", icon=":material/more_horiz:", help="More about this page", key=f"act_more_{shown}"):
        if st.button("Read it as a book", key="act_read", icon=":material/menu_book:", type="tertiary"):
            current.read_at(shown)
        if st.button("Remove it", key="act_remove", icon=":material/delete:", type="tertiary"):
            workspace.library.remove(shown)
            _show("")
            st.rerun()


def _stage(workspace: Workspace, book: Book, opened: OpenedPage) -> None:
    """The form, the state of the work, and the board; runs again by itself while the work is under way."""
    job = workspace.jobs.get(job_key(book.id))
    running = job is not None and job.running
    polling.rerun_after(0.5 if running else None, key="act")
    store = workspace.library.artifacts(book.document_id)
    page = load_gists(opened.memory, workspace.model, store)
    steps = stored_steps(store, opened.version)
    asked: WebTask | None = job.subject if job is not None else steps[-1].task if steps else None
    _form(workspace, book, asked, cost_line(page, workspace.model), running=running)
    if job is not None and running:
        with st.container(horizontal=True, vertical_alignment="center", key="act_state"):
            st.caption(_progress(job.snapshot))
            label = "Stopping" if job.cancelled else "Stop"
            st.button(label, disabled=job.cancelled, on_click=job.cancel, key="act_stop")
    elif job is not None and job.snapshot.state in (JobState.FAILED, JobState.CANCELLED):
        shell.error_box(job.snapshot.failure)
    if job is not None and running and isinstance(job.snapshot.value, ActProgress):
        progress = job.snapshot.value
        shown = Shown(job.subject.task, progress.page.gists, progress.events, workspace.model.name, running=True)
        step = None
    else:
        step = _chosen_step(book, steps)
        shown = Shown(gists=page.gists, running=running)
        if step is not None:
            shown = Shown(step.task.task, step.gists, step.events, step.model, step.made)
    mount = component("web_page", "web_page/board.js", style="web_page/board.css")
    key = f"act_board_{book.id}"
    on_act = call_with_act(partial(_add_to_done, book, opened, step), key)
    act = act_of(mount(key=key, data=board(book.id, opened, shown), on_act_change=on_act))
    if act is not None and act.do == "prompt" and step is not None:
        _show_prompts(step, act.page)


def _add_to_done(book: Book, opened: OpenedPage, step: StoredStep | None, act: Act) -> None:
    """Add the action that is shown to those done so far, before the run that draws them; one of another task takes its
    task up again, with what was done for it."""
    answer = replay.answer_of(step.events) if step else None
    action = action_of(answer.extra) if answer else None
    if act.do == "done" and action is not None:
        task_key, done_key = f"act_task_{book.id}", f"act_done_{book.id}"
        lines = str(st.session_state.get(done_key) or "").splitlines()
        if step is not None and step.task.task != str(st.session_state.get(task_key) or "").strip():
            st.session_state[task_key], lines = step.task.task, list(step.task.previous)
            _forget_left(book)
        st.session_state[done_key] = "\n".join([*filter(str.strip, lines), describe_action(action, opened.memory.page)])


def _begin_task(book: Book) -> None:
    """What was done for another task does not stand under the new one; it can be put back."""
    task_key, done_key, of_key = (f"act_{name}_{book.id}" for name in ("task", "done", "of"))
    before, task = st.session_state.get(of_key, ""), str(st.session_state[task_key]).strip()
    done = str(st.session_state.get(done_key) or "").strip()
    if before and done and task != before:
        st.session_state[f"act_left_{book.id}"], st.session_state[done_key] = done, ""


def _put_back(book: Book) -> None:
    left, done_key = st.session_state[f"act_left_{book.id}"], f"act_done_{book.id}"
    st.session_state[done_key] = f"{left}\n{st.session_state.get(done_key) or ''}".strip()
    _forget_left(book)


def _forget_left(book: Book) -> None:
    st.session_state.pop(f"act_left_{book.id}", None)


def _form(workspace: Workspace, book: Book, asked: WebTask | None, cost: str, *, running: bool) -> None:
    """Draw the task, what was done so far, and the button. ``asked``: what is in the form when the page is opened."""
    task_key, done_key = f"act_task_{book.id}", f"act_done_{book.id}"
    if asked is not None and task_key not in st.session_state:
        st.session_state[task_key], st.session_state[done_key] = asked.task, "\n".join(asked.previous)
    with st.container(key="act_form"):
        _say_what_it_does(workspace, opened=True)
        task_column, done_column = st.columns([3, 2])
        with task_column:
            task = st.text_area("Task", key=task_key, height=92, placeholder="Find a wedding photographer near 10203",
                                on_change=_begin_task, args=(book,))  # fmt: skip
            st.session_state[f"act_of_{book.id}"] = task.strip()
        with done_column:
            done = st.text_area("Done so far, one action per line", key=done_key, height=92, placeholder="Nothing yet",
                                on_change="ignore")  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="bottom", key="act_go_line"):
            pressed = st.button("Find the next action", type="primary", key="act_go", disabled=running)
            looks = st.number_input("Parts to read in full, at most", 0, 20, LOOK_UPS, key=f"act_looks_{book.id}",
                                    width=200, on_change="ignore", help=LOOKS)  # fmt: skip
            if cost:
                st.caption(cost)
            if f"act_left_{book.id}" in st.session_state:
                st.button("Put back what was done", type="tertiary", icon=":material/undo:", key="act_put_back",
                          on_click=_put_back, args=(book,), help="The actions done for the task before")  # fmt: skip
        if pressed and not task.strip():
            st.caption(":orange[:material/warning:] Say first what you want to do.")
        elif pressed:
            previous = tuple(line.strip() for line in done.splitlines() if line.strip())
            st.session_state.pop(f"act_step_{book.id}", None)
            _forget_left(book)
            start_step(workspace, get_pages(workspace), book.id, WebTask(task.strip(), previous), look_ups=int(looks))
            st.rerun(scope="fragment")


def _progress(snapshot: Snapshot) -> str:
    progress = snapshot.value
    if snapshot.waiting:
        return snapshot.waiting
    if not isinstance(progress, ActProgress):
        return "Opening the page"
    made, parts = len(progress.page.memory.readable), len(progress.page.snippets)
    if made < parts:
        return f"Making gists: {made:,} of {count_of(parts, 'part')}"
    return "Choosing the action" if progress.events else "Choosing the parts to look at"


def _chosen_step(book: Book, steps: list[StoredStep]) -> StoredStep | None:
    """Draw a select box with the stored decisions, where there are several, and return the one to be shown."""
    if len(steps) < 2:
        return steps[-1] if steps else None

    def label(at: int) -> str:
        answer = replay.answer_text(steps[at].events)
        return f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(steps[at].made))} · {answer} ({steps[at].task.task})"

    order = list(reversed(range(len(steps))))
    at = st.selectbox("Actions found so far, the latest first", order, format_func=label, key=f"act_step_{book.id}")
    return steps[at]


@st.dialog("Prompt and reply", width="large")
def _show_prompts(step: StoredStep, at: int) -> None:
    found = replay.steps(step.events)
    shown = found[min(at, len(found) - 1)]
    calls: tuple[ModelCall, ...] = shown.calls
    if not calls:
        gists = "Each part had a prompt of its own, before the first decision on this page; these are not stored."
        st.text(gists if shown.kind == replay.GISTS else "Nothing was sent in this step.")
    for call in calls:
        st.caption("Sent")
        st.code(call.prompt, language=None, wrap_lines=True, height=360)
        st.caption("Received")
        st.code(call.reply, language=None, wrap_lines=True)


shell.draw(screen)
