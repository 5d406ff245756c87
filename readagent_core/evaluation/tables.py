"""The tables of a report as plain cells, for the screen and every file (paper, tables 1 to 3).

The papers' own figures are shown beside ours, marked as published and with their model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial

from readagent_core.answering.registry import Family, family_of
from readagent_core.evaluation.curves import equal_words_table
from readagent_core.evaluation.published import Published, PublishedFigure, Table
from readagent_core.evaluation.report import Summary
from readagent_core.evaluation.score_table import Row
from readagent_core.evaluation.scores import Share


class ReportTable(StrEnum):
    """A table of a report, and its title."""

    SCORES = "Scores"
    EQUAL_WORDS = "At equal words"
    WORDS_SENT = "Words sent"
    DIFFERENCES = "Differences"
    WALKS = "Walks"
    PUBLISHED = "Published"


WORD_COLUMNS = ("Method", "Measure", "Model", "Where", "Test", "Published on")  # aligned left; figures right


COLUMNS_IN_WORDS = {  # the head of a column, as it begins, and what it says
    "Compression rate": "The document's words that were not in the last prompt. In brackets: pages looked up.",
    "Accuracy": "Right options. In brackets: the range in which it lies with 95 % certainty, for all such questions.",
    "Hard subset": "The same, of the questions that the dataset calls hard.",
    "Element accuracy": "Steps on a web page that name the right link, button or field.",
    "Operation F1": "How far the operation and its value are the right ones.",
    "Step success": "Steps right in all: the element, the operation and the value.",
    "Task success": "Tasks of which every step is right.",
    "LLM-Rating-1": "Answers that a strict or a permissive rating by the model called the same as the known answer.",
    "LLM-Rating-2": "The same, with those called the same in part.",
    "ROUGE-1": "Words in common with the known answer; ROUGE-2: pairs of words; ROUGE-L: words in the same order.",
    "Answer words": "Words of an answer on average.",
    "Words per question": "Words sent to the model for a question, on average.",
    "New per question": "Words that no prompt before began with: what a server's cache of prompts cannot save.",
    "Words, all questions": "Words sent for all questions together.",
    "Words beforehand, once": "Words sent to make pages, gists or an index, before any question.",
    "Share of full text": "All words sent, as a share of sending the whole text with every question.",
    "Against": "How much more was right than with the method named, in percentage points.",
    "95 %": "The range in which that difference lies with 95 % certainty.",
    "p": "How probable so large a difference would be if the methods did not differ.",
    "Questions": "Questions that both methods answered.",
    "Test": "How p was computed.",
    "Published": "What the papers printed for the method, on other documents and another model.",
    "Stray ratio": "Walks that turned back; the recovery rate: those of them that still answered right.",
    "Text read": "The share of the text that the walks read.",
}


def explain_columns(summary: Summary) -> list[tuple[str, str]]:
    """Return (column, what it says) for the columns of the report's tables that need it."""
    heads = [head for _, (header, _), _ in report_tables(summary) for head in header]
    return [
        (name, words)
        for name, words in COLUMNS_IN_WORDS.items()
        if any(head == name or head.startswith((f"{name} ", f"{name} (")) for head in heads)
    ]


def score_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the main table (paper, tables 1–3): our figures and any published ones."""
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("Method", _label),
        ("Compression rate (look-ups)", lambda r: f"{r.compression_rate:.2f} % ({r.look_ups:.1f})"),
    ]
    if summary.choices:
        columns.append(("Accuracy (95 %)", lambda r: format_share(r.accuracy)))
        if any(row.hard for row in summary.rows):
            columns.append(("Hard subset", lambda r: format_share(r.hard)))
    if summary.web:
        columns += [
            ("Element accuracy (95 %)", lambda r: format_share(r.element_accuracy)),
            ("Operation F1", lambda r: f"{100 * r.operation_f1.value:.2f}" if r.operation_f1 else ""),
            ("Step success (95 %)", lambda r: format_share(r.step_success)),
            ("Task success", lambda r: f"{100 * r.task_success.value:.2f} %" if r.task_success else ""),
        ]
    if summary.free:
        if any(row.rating_1 for row in summary.rows):
            columns.append(("LLM-Rating-1", lambda r: format_share(r.rating_1)))
            columns.append(("LLM-Rating-2", lambda r: format_share(r.rating_2)))
        columns += [(title, partial(_rouge, name)) for title, name in _ROUGE]
        columns.append(("Answer words", lambda r: f"{r.answer_words:.1f}" if r.rouge else ""))
    theirs = {row.arm: figure for row in summary.rows if (figure := summary.published_figure(row.arm))}
    if theirs:
        columns += [(title, partial(_published_cell, theirs, text)) for title, text in PUBLISHED_COLUMNS.items()]
    rows = [[text(row) for _, text in columns] for row in summary.rows]
    if summary.chance is not None:
        rows.append(["Chance", "", f"{summary.chance:.2f} %", *[""] * (len(columns) - 3)])
    return [title for title, _ in columns], rows


def _rouge(name: str, row: Row) -> str:
    value = row.rouge.get(name)
    return f"{value.value:.2f}{_plus_minus(value.sd)}" if value else ""


def _published_cell(theirs: Mapping[str, PublishedFigure], text: Callable[[PublishedFigure], str], row: Row) -> str:
    return text(theirs[row.arm]) if row.arm in theirs else ""


def _published_rate(theirs: Published) -> str:
    if theirs.compression_rate is None:
        return ""
    return f"{theirs.compression_rate:.2f} %" + (f" ({theirs.pages:g})" if theirs.pages is not None else "")


def _published_score(theirs: PublishedFigure) -> str:
    row = theirs.row
    text = "" if row.score is None else f"{row.score:.2f} %{_plus_minus(row.sd)}"
    if theirs.table.measure == "web":
        return f"element {text}, F1 {row.operation_f1}, step {row.step} %, task {row.task} %"
    if theirs.table.measure != "ratings":
        return text if theirs.table.measure == "accuracy" else text.removesuffix(" %")
    parts = [f"LR-1 {text}"]
    if row.rating_2 is not None:
        parts.append(f"LR-2 {row.rating_2:.2f} %")
    if row.rouge is not None:
        parts.append(f"R-L {row.rouge[2]:.2f}")
    return ", ".join(parts)


_ROUGE = (("ROUGE-1", "rouge1"), ("ROUGE-2", "rouge2"), ("ROUGE-L", "rougeL"))
PUBLISHED_COLUMNS: dict[str, Callable[[PublishedFigure], str]] = {
    "Published compression rate (look-ups)": lambda figure: _published_rate(figure.row),
    "Published score": _published_score,
    "Published on": lambda figure: figure.table.model,
}


def _label(row: Row) -> str:
    failed = f", {row.failed} failed" if row.failed else ""
    limit = ""
    if row.look_ups and row.strays is None:  # a MemWalker walk has no such limit
        if family_of(row.method) is Family.READ_AGENT:
            limit = f", up to {row.look_up_limit}"
        elif row.word_budget is None:  # else as many as fit
            limit = f", {row.look_up_limit} pages"
    return f"{row.title}{limit}{failed}"


def format_share(value: Share | None) -> str:
    """Return '84.13 % ± 0.10 (82.5–85.6)'; '' for None."""
    if value is None:
        return ""
    spread = _plus_minus(None if value.sd is None else 100 * value.sd)
    return f"{100 * value.value:.2f} %{spread} ({100 * value.low:.1f}–{100 * value.high:.1f})"


def _plus_minus(sd: float | None) -> str:
    return f" ± {sd:.2f}" if sd is not None else ""


def words_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return the words sent: per question, those that are new, for all questions, for reading, and as a share.

    New are those that no prompt before began with; the share is of sending the full text with every question.
    """
    new = any(r.words_new_each is not None for r in summary.rows)
    header = [
        "Method",
        "Words per question",
        *(["New per question"] if new else []),
        "Words, all questions",
        "Words beforehand, once",
        "Share of full text",
    ]
    rows = [
        [
            _label(r),
            f"{r.words_each:,.0f}",
            *(["" if r.words_new_each is None else f"{r.words_new_each:,.0f}"] if new else []),
            f"{r.words:,}",
            f"{r.reading_words:,}",
            f"{100 * r.of_full_text:.1f} %",
        ]
        for r in summary.rows
    ]
    return header, rows


def difference_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return each arm's difference from the baseline on the same questions."""
    header = ["Method", "Measure", f"Against {summary.baseline}", "95 %", "p", "Questions", "Test"]
    titles = {row.arm: _label(row) for row in summary.rows}
    rows = [
        [
            titles[arm],
            measure,
            f"{100 * d.value:+.2f}",
            f"{100 * d.low:+.1f} to {100 * d.high:+.1f}",
            "< 0.001" if d.p < 0.001 else f"{d.p:.3f}",
            f"{d.n:,}",
            d.test,
        ]
        for arm, by in summary.differences.items()
        for measure, d in by.items()
    ]
    return header, rows


def walk_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return MemWalker's walks that turned back, those that still answered right, and the share of the text read."""
    header = ["Method", "Stray ratio", "Recovery rate", "Text read"]
    rows = [
        [
            _label(r),
            format_share(r.strays),
            format_share(r.recoveries),
            f"{100 * r.read_share:.1f} %" if r.read_share else "",
        ]
        for r in summary.rows
        if r.strays is not None
    ]
    theirs = {
        (f"Published on {figure.table.model}", f"{figure.row.stray:.1f} %", f"{figure.row.recovery:.1f} %", "")
        for r in summary.rows
        for figure in summary.published.get(r.arm, ())
        if r.strays is not None and figure.row.stray is not None
    }
    return header, rows + [list(cells) for cells in sorted(theirs)]


def published_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return every figure the papers printed for our methods on this kind of data, with its source."""
    header = ["Method", "Model", "Compression rate (look-ups)", "Score", "Where"]
    rows = [
        [
            _label(row),
            figure.table.model,
            _published_rate(figure.row),
            _published_score(figure),
            f"{cite_table(figure.table)}: {figure.table.about}",
        ]
        for row in summary.rows
        for figure in summary.published.get(row.arm, ())
    ]
    return header, rows


def cite_table(table: Table) -> str:
    """Return 'Lee et al., ICML 2024, Table 1'."""
    return f"{table.source}, {table.name}"


def report_tables(summary: Summary) -> list[tuple[ReportTable, tuple[list[str], list[list[str]]], str]]:
    """Return (title, table, note) of every table that has rows."""
    tables = dict.fromkeys(
        figure.table for row in summary.rows if (figure := summary.published_figure(row.arm)) is not None
    )
    sources = [f"{cite_table(t)}, {t.about}, on {t.model}" for t in tables]
    other = "They were measured on other documents and another model: compare the pattern, not the figures."
    note = f"Published: {'; '.join(sources)}. {other}" if sources else ""
    rate = "Compression rate: words not in context at the final answer, in percent of the document's words."
    walk = "Stray: the walk turned back at least once. Recovery: it turned back and still answered right."
    pairs = "In percentage points, on the questions both answered; over several runs a question counts with its mean."
    found_tables = [
        (ReportTable.SCORES, score_table(summary), f"{rate} {note}".strip()),
        (ReportTable.EQUAL_WORDS, equal_words_table(summary), f"{summary.measure}, and the words sent a question."),
        (ReportTable.WORDS_SENT, words_table(summary), "Cached replies are counted as if they had been sent."),
        (ReportTable.DIFFERENCES, difference_table(summary), pairs),
        (ReportTable.WALKS, walk_table(summary), walk),
        (ReportTable.PUBLISHED, published_table(summary), f"As the papers printed them. {other}"),
    ]
    return [entry for entry in found_tables if entry[1][1]]
