"""The report as one HTML page in the app's look: figures, drawings, and every question with its answers and replays.

There is no script: folding is ``details``, the filter is three radio buttons and a style sheet. The page is written
question by question, so that thousands of answers are never in memory together. It holds every reply; prompts, which
contain whole pages, are left out from the question on where the file has MOST_BYTES, and each step says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any

from readagent_core.answering.registry import family_of
from readagent_core.citations.answer_parsing import marked
from readagent_core.evaluation import report
from readagent_core.evaluation.curves import draw_curves
from readagent_core.evaluation.plots import FAMILIES, NARROW, WIDE, Point, histogram, order_points, scatter
from readagent_core.evaluation.questions import (
    Questions,
    chosen_option,
    describe_event,
    describe_figures,
    lettered_option,
    shown_answer,
    verdict,
    verdict_sign,
)
from readagent_core.evaluation.report import Summary
from readagent_core.evaluation.score_table import Row
from readagent_core.evaluation.tables import (
    PUBLISHED_COLUMNS,
    WORD_COLUMNS,
    ReportTable,
    explain_columns,
    report_tables,
)
from readagent_core.resources import ASSETS
from readagent_core.templates import Markup, fill
from readagent_core.text_files import HTML_CLOSING, html_opening
from readagent_core.words import count_of, count_words

_STYLES = ("drawing", "curves", "questions")
MOST_BYTES = 10_000_000
_TEXTS: dict[str, Callable[..., Any]] = {  # what the template of a question calls
    one.__name__: one
    for one in (
        chosen_option, count_of, count_words, describe_event, describe_figures, lettered_option, marked,
        shown_answer, verdict, verdict_sign,
    )
}  # fmt: skip
_SCORES = {  # what the drawing of the scores says of its measure
    report.ACCURACY: "Right answers, % (accuracy)",
    report.STEP: "Right steps, % (step success)",
    report.LLM_RATING_1: "Answers that agree, % (LLM-Rating-1)",
    report.ROUGE_L: "Words in common, % (ROUGE-L)",
}
COMPRESSION, WORDS, COST = "compression", "words", "cost"  # what a drawing of the scores has on its other axis
_AXES: dict[str, tuple[str, Callable[[Row], float | None], tuple[float, float]]] = {
    COMPRESSION: ("Compression rate, % (words left out of the last prompt)", lambda r: r.compression_rate, (-inf, 100)),
    WORDS: ("Words sent for a question", lambda r: r.words_each, (0, inf)),
    COST: ("US dollars for a question", lambda r: r.cost_each, (0, inf)),
}


def plot_views(summary: Summary) -> list[str]:
    """Return what ``score_plot`` can have on its other axis: COST only where every method has a price above 0."""
    return [COMPRESSION, WORDS, *([COST] if summary.rows and all(row.cost_each for row in summary.rows) else [])]


def score_points(summary: Summary, across: str = COMPRESSION) -> list[Point]:
    """Return a point for each arm; and one for each published figure (``hollow``), which have a compression rate only.

    ``across``: a key of ``_AXES``; the other value is the score by ``summary.measure``.
    """
    points: list[Point] = []
    for row in summary.rows:
        x, score = _AXES[across][1](row), report.score_of(row, summary.measure)
        if x is not None and score is not None:
            value, low, high = score
            points.append(Point(x, value, row.title, low, high, family=family_of(row.method)))
    for row in summary.rows if across == COMPRESSION else ():
        theirs = summary.published_figure(row.arm)
        if theirs is None or theirs.row.compression_rate is None:
            continue
        printed = {report.ROUGE_L: theirs.row.rouge[2] if theirs.row.rouge else None, report.STEP: theirs.row.step}
        found = printed.get(summary.measure, theirs.row.score)
        if found is not None:
            label = f"{row.title}, {theirs.table.model}"
            points.append(Point(theirs.row.compression_rate, found, label, hollow=True))
    return order_points(points)


def score_plot(summary: Summary, across: str = COMPRESSION, *, width: int = WIDE) -> str:
    """Return ``score_points`` drawn as SVG."""
    title, _, bounds = _AXES[across]
    return scatter(
        score_points(summary, across),
        x_title=title if width > NARROW else title.split(" (")[0],
        y_title=_SCORES[summary.measure],
        chance=summary.chance,
        x_bounds=bounds,
        width=width,
    )


def plot_key(summary: Summary) -> list[tuple[str, str]]:
    """Return (family, colour) of every family in the drawing, and ('published', '') where there are such figures."""
    points = score_points(summary)
    key = [(name, colour) for name, colour in FAMILIES.items() if any(p.family == name for p in points)]
    return key + ([("published", "")] if any(p.hollow for p in points) else [])


def word_plots(summary: Summary) -> list[tuple[str, str]]:
    """Return (caption, SVG) of histograms: words of documents and their gist memories, words of pages and gists."""
    if not summary.gistings:
        return []
    documents = list({r.document: r.words for r in summary.gistings}.values())
    memories = [sum(r.gist_words) for r in summary.gistings if r.gist_words]
    pages = [n for r in summary.gistings for n in r.page_words]
    gists = [n for r in summary.gistings for n in r.gist_words]
    drawn = [
        (
            "Words of documents and of their gist memories",
            histogram([("documents", documents), ("gist memories", memories)], x_title="Words"),
        ),
        ("Words of pages and of gists", histogram([("pages", pages), ("gists", gists)], x_title="Words")),
    ]
    return drawn if len(documents) > 1 else drawn[1:]  # one document has no distribution


def render_html(summary: Summary, questions: Questions | None = None) -> Iterator[str]:
    """Yield the whole page, piece by piece; ``questions`` come last, because they are long."""
    name = report.title_of(summary)
    tables = [
        (
            title,
            render_table(header, rows),
            note,
            [Markup(draw_curves(summary, narrow=narrow)) for narrow in (False, True)]
            if title is ReportTable.EQUAL_WORDS
            else [],
            [_drawings(summary, across) for across in plot_views(summary)] if title is ReportTable.SCORES else [],
        )
        for title, (header, rows), note in report_tables(summary)
    ]
    body = fill(
        "report",
        style=Markup("".join((ASSETS / "evaluate" / f"{part}.css").read_text(encoding="utf-8") for part in _STYLES)),
        name=name,
        headline=report.headline(summary),
        said=report.results_in_words(summary),
        tables=tables,
        columns=explain_columns(summary),
        key=plot_key(summary),
        facts=report.reading_facts(summary),
        words=[(caption, Markup(drawing)) for caption, drawing in word_plots(summary)],
    )
    head = f"{html_opening(f'Results: {name}')}{body}"  # a sum would escape what is no Markup
    yield head
    if questions is not None:
        yield from render_questions(questions, len(head.encode("utf-8", "replace")))
    yield f"</div>{HTML_CLOSING}"


def _drawings(summary: Summary, across: str) -> list[Markup]:
    """Return the drawing for wide and for narrow pages, one of which the style sheet shows."""
    return [Markup(score_plot(summary, across, width=width)) for width in (WIDE, NARROW)]


def render_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Return a ``table`` of plain cells. Classes: ``words`` are aligned left, ``published`` figures are marked."""
    marks = ["words " * (name in WORD_COLUMNS) + "published" * (name in PUBLISHED_COLUMNS) for name in header]
    return fill("table", columns=[(name, mark.strip()) for name, mark in zip(header, marks, strict=True)], rows=rows)


# --- questions --------------------------------------------------------------------------------------------


def render_questions(questions: Questions, written: int = 0, *, most: int = MOST_BYTES) -> Iterator[str]:
    """Yield the section of questions, piece by piece, with prompts while the file has fewer than ``most`` bytes.

    ``written``: bytes of the file before it.
    """
    if not len(questions):
        return
    wrong, differ = sum(entry.wrong for entry in questions.entries), sum(entry.differ for entry in questions.entries)
    yield fill(
        "questions",
        choices=[
            ("all", f"All: {len(questions.entries):,}"),
            ("wrong", f"Not right: {wrong:,}"),
            ("differ", f"Methods disagree: {differ:,}"),
        ],
    )
    texts = {"answered_by": questions.answered_by, "read_replay": questions.read_replay} | _TEXTS
    for number, (entry, results) in enumerate(questions, start=1):
        prompts = written < most
        text = fill("question", entry=entry, asked=results[0], results=results, number=number, prompts=prompts, **texts)
        written += len(text.encode("utf-8", "replace"))
        yield text
    yield "</section>"
