"""Compare: one question to several methods at once; what each saw of the book, answered, and needed.

The work is a job (``workspace.comparing``); this page starts it, draws its progress, and offers the results as files.
"""

from __future__ import annotations

import streamlit as st

from pages.parts.compare import controls
from pages.parts.shared import book as current
from pages.parts.shared import polling, shell
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import component
from pages.parts.shared.shell import FORMAT_NAMES
from readagent_core.errors import ReadAgentError
from readagent_core.export.comparison import COMPARISON_FORMATS, comparison_file_name, export_comparison
from readagent_core.export.comparison_view import draw_comparison, known_answer
from readagent_core.library.records import Book
from readagent_core.workspace import Workspace, comparing
from readagent_core.workspace.reading import newest_memory

FOOT = "One question shows how the methods differ, not which is better. Evaluate asks many and gives the spread."


def screen() -> None:
    workspace = get_workspace()
    book = current.current(workspace)
    if book is None:
        shell.no_book("Compare")
        return
    shell.set_title("Compare", book.title)
    with st.container(horizontal=True, vertical_alignment="center", key="compare_top"):
        st.title("Compare", anchor=False)
        current.picker(workspace, book, key="compare_book", label_visibility="collapsed", width=270)
        chosen = controls.pick_methods(workspace)
        settings = controls.pick_limits()
    if newest_memory(workspace, book.id) is None:
        st.text("This book has not been read yet. The methods compare over its pages, so it must be read first.")
        st.page_link("pages/read.py", label="To the reading", icon=":material/menu_book:")
        return
    job = workspace.jobs.get(comparing.job_key(book.id))
    asked = controls.ask(book, len(chosen), running=job is not None and job.running)
    if asked is not None:
        try:
            comparing.compare(
                workspace,
                book.id,
                asked.question,
                chosen,
                settings=settings,
                correct=asked.correct,
                references=asked.references,
            )
        except ReadAgentError as error:
            shell.error_box(error)
        else:
            st.rerun()
    st.fragment(board)(workspace, book)


def board(workspace: Workspace, book: Book) -> None:
    """The rows so far, and below them the buttons to stop or to save; a fragment that runs again meanwhile."""
    job = workspace.jobs.get(comparing.job_key(book.id))
    running = job is not None and job.running
    polling.rerun_after(1.0 if running else None, key="compare")
    snapshot = job.snapshot if job is not None else None
    comparison = snapshot.value if snapshot is not None else None
    if comparison is None:
        comparison = comparing.last_comparison(workspace, book.id)
    if snapshot is not None and snapshot.state == "failed":
        shell.error_box(snapshot.error, kind=snapshot.error_kind)
    if comparison is None:
        st.text("Nothing compared yet. Ask a question: every method ticked above answers it from the same pages.")
        return
    with st.container(key="compare_asked", gap=None):
        st.text(comparison.question)
        if judged := known_answer(comparison):
            st.text(judged)
        if not running:
            st.caption(f"Answered by {comparison.model}.".replace("$", "\\$"))
    show_rows = component("compare_rows", "compare/compare.js", style="compare/compare.css")
    show_rows(key=f"compare_rows_{book.id}", data={"rows": draw_comparison(comparison)})
    with st.container(horizontal=True, vertical_alignment="center", key="compare_foot"):
        if running and job is not None and snapshot is not None:
            st.caption(f"{int(snapshot.done)} of {len(comparison.entries)} methods have answered. {snapshot.waiting}")
            stopping = job.cancelled
            st.button("Stopping" if stopping else "Stop", key="compare_stop", disabled=stopping, on_click=job.cancel)
        else:
            st.caption(FOOT)
            for kind, mime in COMPARISON_FORMATS.items():
                st.download_button(
                    f"Save as {FORMAT_NAMES[kind]}",
                    data=export_comparison(comparison, kind),
                    file_name=comparison_file_name(comparison, kind),
                    mime=mime,
                    key=f"compare_save_{kind}",
                    on_click="ignore",
                )
    if st.session_state.pop(f"compare_ran_{book.id}", False) and not running:
        st.rerun()  # the last answer came: the form is enabled again
    st.session_state[f"compare_ran_{book.id}"] = running


shell.draw(screen)
