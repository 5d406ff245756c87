"""The results of an experiment: the table as in the paper, the plot, words, reading, the record, downloads.

All cells are escaped where they enter the page. The texts are made by ``readagent_core.evaluation.report``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from pages.parts.shared.component import component
from readagent_core.evaluation.formats import ANSWERS, render_report
from readagent_core.evaluation.html import render_table, score_plot, score_points, word_plots
from readagent_core.evaluation.plots import Point
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.report import Summary, headline, reading_facts
from readagent_core.evaluation.tables import report_tables

FILES = {  # format → label, MIME
    "md": ("Markdown", "text/markdown"),
    "html": ("HTML", "text/html"),
    "json": ("JSON", "application/json"),
    "csv": ("CSV of methods", "text/csv"),
    ANSWERS: ("CSV of answers", "text/csv"),
}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of plain cells; published columns are marked by colour as well as by name."""
    st.html(f'<div class="ev-table" tabindex="0" role="region" aria-label="Table">{render_table(header, rows)}</div>')


def draw(svg: str, *, key: str, points: Sequence[Point] = ()) -> None:
    """Draw an SVG in the colours of the theme, with the names of its numbered points; ``st.html`` would drop SVG."""
    named = [{"label": p.label, "theirs": p.hollow} for p in points]
    html = '<div class="root plot"></div>'
    mount = component("evaluate_drawing", "evaluate/drawing.js", style="evaluate/drawing.css", html=html)
    mount(key=key, data={"svg": svg, "points": named})


def scores(summary: Summary) -> None:
    """The main table and the plot."""
    for title, (header, rows), note in report_tables(summary):
        if title == "Scores":
            table(header, rows)
            if note:
                st.caption(note)
    if len(summary.rows) > 1:
        draw(score_plot(summary), key="evaluate_plot", points=score_points(summary))


def more(summary: Summary) -> None:
    """Words sent, differences between methods, walks."""
    for title, (header, rows), note in report_tables(summary):
        if title != "Scores":
            st.subheader(title, anchor=False)
            table(header, rows)
            if note:
                st.caption(note)


def how_it_was_read(summary: Summary) -> None:
    """Words, pages and gists of the documents."""
    for fact in reading_facts(summary):
        st.text(fact)
    for number, (caption, drawing) in enumerate(word_plots(summary)):
        st.caption(caption)
        draw(drawing, key=f"evaluate_words_{number}")


def about(summary: Summary) -> None:
    """What was run, as plain text: it has names of files and models."""
    for sentence in headline(summary):
        st.text(sentence)


def _rendered(summary: Summary, folder: Path, format: str) -> bytes:
    return render_report(summary, format, Questions.of(folder, summary.record))


def downloads(summary: Summary, folder: Path) -> None:
    """The report in every format, side by side; each is made when its button is clicked."""
    with st.container(horizontal=True, key="evaluate_downloads"):
        for format, (label, mime) in FILES.items():
            st.download_button(
                label,
                data=partial(_rendered, summary, folder, format),
                file_name=f"{folder.name}.{format}",
                mime=mime,
                on_click="ignore",  # no rerun: a click on the next format would be lost
                key=f"evaluate_download_{format}".replace(".", "_"),
            )
