"""The results of an experiment: sentences, the drawing, what was not right, tables, reading, downloads.

All cells are escaped where they enter the page. The texts are made by ``readagent_core.evaluation.report``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st

from pages.parts.evaluate import question_list
from pages.parts.shared.component import component
from pages.parts.shared.shell import as_text
from readagent_core.evaluation import html
from readagent_core.evaluation.formats import ANSWERS, render_report
from readagent_core.evaluation.plots import NARROW
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.report import Summary, headline, reading_facts, results_in_words
from readagent_core.evaluation.tables import explain_columns, report_tables
from readagent_core.words import count_of

FILES = {  # format → label, MIME
    "html": ("One HTML page", "text/html"),
    "md": ("Markdown", "text/markdown"),
    "csv": ("CSV of methods", "text/csv"),
    ANSWERS: ("CSV of answers", "text/csv"),
    "json": ("JSON", "application/json"),
}
VIEWS = {html.COMPRESSION: "Words left out", html.WORDS: "Words sent", html.COST: "Cost"}
MOST_WRONG = 12  # questions listed under the drawing; the tab 'Questions' has all


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of plain cells; published columns are marked by colour as well as by name."""
    drawn = html.render_table(header, rows)
    st.html(f'<div class="ev-table" tabindex="0" role="region" aria-label="Table">{drawn}</div>')


def draw(svg: str, *, key: str, narrow: str = "", families: Sequence[tuple[str, str]] = ()) -> None:
    """Draw an SVG in the colours of the theme, ``narrow`` on a phone; ``st.html`` would drop SVG."""
    frame = '<div class="root plot"></div>'
    mount = component("evaluate_drawing", "evaluate/drawing.js", style="evaluate/drawing.css", html=frame)
    named = [{"name": name, "colour": colour} for name, colour in families]
    mount(key=key, data={"svg": svg, "narrow": narrow, "families": named})


def result(summary: Summary) -> None:
    """The results in sentences, and the drawing of the methods in one of its views."""
    said = "".join(f"<li>{escape(sentence).replace(' %', '&nbsp;%')}</li>" for sentence in results_in_words(summary))
    words, drawing = st.container(key="evaluate_result").columns([2, 3], gap="large")
    words.html(f'<ul class="ev-said">{said}</ul>')
    if len(summary.rows) > 1:
        with drawing:
            _drawing(summary)


def _drawing(summary: Summary) -> None:
    views = html.plot_views(summary)
    across = st.segmented_control(
        "Compare the right answers with",
        views,
        default=views[0],
        format_func=VIEWS.__getitem__,
        key="evaluate_view",
        required=True,
    )
    across = across if across in views else views[0]  # of another experiment
    slim = html.score_plot(summary, across, width=NARROW)
    draw(html.score_plot(summary, across), narrow=slim, key="evaluate_plot", families=html.plot_key(summary))


def not_right(questions: Questions) -> None:
    """The questions with an answer that is not right, each a button that opens its answers and replays."""
    wrong = [entry for entry in questions.entries if entry.wrong]
    if not wrong:
        return
    st.subheader("Not right", anchor=False)
    st.caption(f"{count_of(len(wrong), 'question')}. Open one to see what went wrong, prompt by prompt.")
    with st.container(key="evaluate_wrong", gap=None):
        for entry in wrong[:MOST_WRONG]:
            label = f"{as_text(entry.excerpt)} :gray[{entry.counts}]"
            key = f"evaluate_wrong_{entry.case}_{entry.item}"
            if st.button(label, key=key, type="tertiary", icon=":material/chevron_right:"):
                question_list.show_wrong(questions, entry)
    if len(wrong) > MOST_WRONG:
        st.caption(f"{len(wrong) - MOST_WRONG:,} more are in the tab Questions.")


def tables(summary: Summary) -> None:
    """Every table as the papers have them, and what their columns mean."""
    with st.expander("What the columns mean"):
        for name, words in explain_columns(summary):
            st.markdown(f"**{name}**: {words}")
    for title, (header, rows), note in report_tables(summary):
        st.subheader(title, anchor=False)
        table(header, rows)
        if note:
            st.caption(note)


def how_it_was_read(summary: Summary) -> None:
    """Words, pages and gists of the documents."""
    for fact in reading_facts(summary):
        st.text(fact)
    for number, (caption, drawing) in enumerate(html.word_plots(summary)):
        st.caption(caption)
        draw(drawing, key=f"evaluate_words_{number}")


def about(summary: Summary) -> None:
    """What was run, as plain text: it has names of files and models."""
    sentences = headline(summary)
    if summary.record.get("recorded"):  # the screen says so above
        del sentences[0]
    for sentence in sentences:
        st.text(sentence)


def downloads(summary: Summary, questions: Questions, *, tells: str = "") -> None:
    """The report in every format, side by side; each is made when its button is clicked.

    ``tells``: the book of which its answers tell more than was read.
    """
    more = f": they tell of pages of {as_text(tells)} that you have not read, to the end" if tells else ""
    st.caption(f"Save or share the report, with every figure and answer{more}")
    with st.container(horizontal=True, key="evaluate_downloads"):
        for format, (label, mime) in FILES.items():
            st.download_button(
                label,
                data=partial(render_report, summary, format, questions),
                file_name=f"{questions.folder.name}.{format}",
                mime=mime,
                on_click="ignore",  # no rerun: a click on the next format would be lost
                key=f"evaluate_download_{format}".replace(".", "_"),
            )
