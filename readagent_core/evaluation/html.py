"""The report as one HTML page in the app's look: figures, drawings, and every question with its answers and replays.

There is no script: folding is ``details``, the filter is three radio buttons and a style sheet. The page is written
question by question, so that thousands of answers are never in memory together. It holds every reply; prompts, which
contain whole pages, are left out from the question on where the file has MOST_BYTES, and each step says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from math import inf
from typing import Any

from readagent_core.answering.registry import method
from readagent_core.citations.answer_parsing import split_evidence
from readagent_core.evaluation import report
from readagent_core.evaluation.curves import draw_curves
from readagent_core.evaluation.plots import FAMILIES, NARROW, WIDE, Point, histogram, order_points, scatter
from readagent_core.evaluation.questions import (
    Entry,
    Questions,
    chosen_option,
    describe_event,
    describe_figures,
    lettered_option,
    verdict,
    verdict_sign,
)
from readagent_core.evaluation.report import Summary
from readagent_core.evaluation.results import Result
from readagent_core.evaluation.score_table import Row
from readagent_core.evaluation.tables import EQUAL_WORDS, WORD_COLUMNS, report_tables
from readagent_core.resources import ASSETS
from readagent_core.text_files import HTML_CLOSING, html_opening
from readagent_core.words import count_of, count_words

_STYLES = ("drawing", "curves", "questions")
MOST_BYTES = 10_000_000
_LEFT_OUT = (
    "The prompt is left out to keep this file small. It is in replays.jsonl in the experiment's folder, and on the "
    "Evaluate screen."
)


_SCORES = {  # what the drawing of the scores says of its measure
    report.ACCURACY: "Right answers, % (accuracy)",
    report.STEP: "Right steps, % (step success)",
    report.LLM_RATING_1: "Answers that agree, % (LLM-Rating-1)",
    report.ROUGE_L: "Words in common, % (ROUGE-L)",
}
COMPRESSION, WORDS, COST = "compression", "words", "cost"  # what a drawing of the scores has on its other axis
_AXES: dict[str, tuple[str, Callable[[Row], float | None], tuple[float, float]]] = {
    COMPRESSION: (
        "Compression rate, % (words left out of the last prompt)",
        lambda r: r.compression_rate,
        (-inf, 100),
    ),
    WORDS: ("Words sent for a question", lambda r: r.words_each, (0, inf)),
    COST: ("US dollars for a question", lambda r: r.cost_each, (0, inf)),
}


def plot_views(summary: Summary) -> list[str]:
    """Return what ``score_plot`` can have on its other axis: COST only where every method has a price above 0."""
    return [COMPRESSION, WORDS, *([COST] if summary.rows and all(row.cost_each for row in summary.rows) else [])]


def family(name: str) -> str:
    """Return which of FAMILIES a method is of."""
    if name == "full-text":
        return "Full text"
    if name.startswith(("read-agent", "zoom")):
        return "ReadAgent"
    if method(name).needs_gists:
        return "Gists"
    return "Search" if name.startswith(("bm25", "neural")) else "Summaries"


def score_points(summary: Summary, across: str = COMPRESSION) -> list[Point]:
    """Return a point for each arm; and one for each published figure (``hollow``), which have a compression rate only.

    ``across``: a key of ``_AXES``; the other value is the score by ``summary.measure``.
    """
    points: list[Point] = []
    for row in summary.rows:
        x, score = _AXES[across][1](row), report.score_of(row, summary.measure)
        if x is not None and score is not None:
            value, low, high = score
            points.append(Point(x, value, row.title, low, high, family=family(row.method)))
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
    """Return (caption, SVG) of two histograms: words of documents and their gist memories, words of pages and gists."""
    if not summary.readings:
        return []
    documents = list({r.document: r.words for r in summary.readings}.values())
    memories = [sum(r.gist_words) for r in summary.readings if r.gist_words]
    pages = [n for r in summary.readings for n in r.page_words]
    gists = [n for r in summary.readings for n in r.gist_words]
    return [
        (
            "Words of documents and of their gist memories",
            histogram([("documents", documents), ("gist memories", memories)], x_title="Words"),
        ),
        ("Words of pages and of gists", histogram([("pages", pages), ("gists", gists)], x_title="Words")),
    ]


def render_html(summary: Summary, questions: Questions | None = None) -> Iterator[str]:
    """Yield the whole page, piece by piece; ``questions`` come last, because they are long."""
    name = report.dataset_name(summary.record["experiment"])
    style = "".join((ASSETS / "evaluate" / f"{part}.css").read_text(encoding="utf-8") for part in _STYLES)
    out = [f'{html_opening(name)}<style>{style}</style><div class="report"><header><h1>{escape(name)}</h1></header>']
    out += [f'<p class="note">{escape(sentence)}</p>' for sentence in report.headline(summary)]
    if said := report.results_in_words(summary):
        out.append(f'<ul class="said">{"".join(f"<li>{escape(sentence)}</li>" for sentence in said)}</ul>')
    for title, (header, rows), note in report_tables(summary):
        out.append(f'<h2>{escape(title)}</h2><div class="wide">{render_table(header, rows)}</div>')
        if note:
            out.append(f'<p class="facts">{escape(note)}</p>')
        if title == EQUAL_WORDS:
            wide, narrow = draw_curves(summary), draw_curves(summary, narrow=True)
            out.append(
                f'<figure class="curves"><div class="broad">{wide}</div><div class="slim">{narrow}</div></figure>'
            )
        if title == "Scores":
            out += [_figure(summary, across) for across in plot_views(summary)]
    facts = report.reading_facts(summary)
    if facts:
        out.append("<h2>Reading</h2>" + "".join(f"<p>{escape(fact)}</p>" for fact in facts))
    for caption, drawing in word_plots(summary):
        out.append(f'<figure>{drawing}<figcaption class="facts">{escape(caption)}</figcaption></figure>')
    head = "".join(out)
    yield head
    if questions is not None:
        yield from render_questions(questions, len(head.encode("utf-8", "replace")))
    yield f"</div>{HTML_CLOSING}"


def _figure(summary: Summary, across: str) -> str:
    """Return the drawing for wide and for narrow pages, one of which the style sheet shows, and its key."""
    key = "".join(
        f'<li style="--of: {colour}">{escape(name)}</li>' if colour else "<li class=theirs>published</li>"
        for name, colour in plot_key(summary)
    )
    wide, narrow = (score_plot(summary, across, width=width) for width in (WIDE, NARROW))
    return (
        f'<figure class="plot"><div class="broad">{wide}</div><div class="slim">{narrow}</div><ul>{key}</ul></figure>'
    )


def render_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a ``table`` of plain cells. Classes: ``words`` are aligned left, ``published`` figures are marked."""
    classes = ["words " * (name in WORD_COLUMNS) + "published" * name.startswith("Published") for name in header]
    mark = [f' class="{names.strip()}"' if names else "" for names in classes]
    head = "".join(f'<th scope="col"{m}>{escape(cell)}</th>' for cell, m in zip(header, mark, strict=True))
    cells = ("".join(f"<td{m}>{escape(cell)}</td>" for cell, m in zip(row, mark, strict=True)) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


# --- questions --------------------------------------------------------------------------------------------


def render_questions(questions: Questions, written: int = 0, *, most: int = MOST_BYTES) -> Iterator[str]:
    """Yield the section of questions, piece by piece, with prompts while the file has fewer than ``most`` bytes.

    ``written``: bytes of the file before it.
    """
    if not len(questions):
        return
    yield f'<section class="questions"><h2>Questions</h2>{_filter(questions.entries)}'
    for number, (entry, results) in enumerate(questions, start=1):
        text = "".join(_question(questions, entry, results, number, prompts=written < most))
        written += len(text.encode("utf-8", "replace"))
        yield text
    yield "</section>"


def _filter(entries: Sequence[Entry]) -> str:
    """Return radio buttons for all, not right and methods disagree; the style sheet hides the other questions."""
    wrong, differ = sum(entry.wrong for entry in entries), sum(entry.differ for entry in entries)
    choices = (
        ("all", f"All: {len(entries):,}"),
        ("wrong", f"Not right: {wrong:,}"),
        ("differ", f"Methods disagree: {differ:,}"),
    )
    buttons = "".join(
        f'<label><input type="radio" name="show" value="{value}"{" checked" if value == "all" else ""}> {text}</label>'
        for value, text in choices
    )
    return f"<fieldset><legend>Show</legend>{buttons}</fieldset>"


def _question(
    questions: Questions, entry: Entry, results: Sequence[Result], number: int, *, prompts: bool
) -> Iterator[str]:
    asked = results[0]
    kinds = "q" + (" wrong" if entry.wrong else "") + (" differ" if entry.differ else "")
    hard = "; of the hard subset" if asked.hard else ""
    yield (
        f'<details class="{kinds}"><summary><b>{number}</b> <i>{escape(entry.counts)}</i> '
        f'<span dir="auto">{escape(asked.question)}</span></summary>'
        f'<p class="facts" dir="auto">From {escape(asked.title)}{hard}</p>'
    )
    if asked.options:
        options = (
            f'<li dir="auto"{" class=gold" if at == asked.gold else ""}>{escape(lettered_option(asked, at))}'
            f"{' <b>← right</b>' if at == asked.gold else ''}</li>"
            for at in range(len(asked.options))
        )
        yield f"<ul>{''.join(options)}</ul>"
    for reference in asked.references:
        yield f'<p class="text" dir="auto">Known answer: {escape(reference)}</p>'
    for result in results:
        yield from _answer(questions, result, prompts=prompts)
    yield "</details>"


def _answer(questions: Questions, result: Result, *, prompts: bool) -> Iterator[str]:
    mark, kind = verdict_sign(result)
    yield (
        f'<div class="a"><p class="who"><b>{escape(questions.answered_by(result))}</b> '
        f'<span class="{kind}"><span aria-hidden="true">{mark}</span> {verdict(result)}</span></p>'
    )
    if result.option is not None:
        yield f'<p dir="auto">{escape(chosen_option(result))}</p>'
    text, evidence = split_evidence(result.answer)
    yield f'<p class="text" dir="auto">{escape(result.error or text)}</p>'
    if evidence:
        yield f'<p class="facts">Evidence</p><p class="text" dir="auto">{escape(evidence)}</p>'
    yield f'<p class="facts">{describe_figures(result)}</p>'
    for note in result.notes:
        yield f'<p class="facts" dir="auto">Note: {escape(note)}</p>'
    if result.replay is not None:
        yield "<details><summary>Replay</summary>"
        yield from _replay(questions.read_replay(result), prompts=prompts)
        yield "</details>"
    yield "</div>"


def _replay(events: Sequence[dict[str, Any]], *, prompts: bool) -> Iterator[str]:
    """Yield every step in order: task and reply, its prompt folded; pages looked up; notes."""
    if not events:
        yield '<p class="facts">The replay of this answer is missing.</p>'
    step = 0
    for event in events:
        if event["kind"] == "Asked":  # a stored ModelCall
            step += 1
            task = str(event["task"]).replace("_", " ")
            yield f'<p class="step"><b>Step {step}:</b> {escape(task)}</p>'
            yield f'<pre dir="auto">{escape(event["reply"])}</pre>'
            yield _prompt(event["prompt"]) if prompts else f'<p class="facts">{_LEFT_OUT}</p>'
        elif said := describe_event(event):
            yield f'<p class="facts" dir="auto">{escape(said)}</p>'


def _prompt(text: str) -> str:
    words = count_of(count_words(text), "word")
    return f'<details><summary>Prompt, {words}</summary><pre dir="auto">{escape(text)}</pre></details>'
