"""The report as one HTML page in the app's look, and the drawings that the Evaluate screen shows too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from readagent_core.evaluation.plots import Point, histogram, ordered, scatter
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.report import Summary, dataset_name, headline, reading_facts
from readagent_core.evaluation.report_questions_html import section
from readagent_core.evaluation.report_tables import WORDS, sections
from readagent_core.export.html_page import ASSETS, CLOSING, opening

_STYLES = ("drawing", "questions")


def plotted(found: Summary) -> str:
    """The papers' first measure that there is: 'Accuracy, %', 'LLM-Rating-1, %' or 'ROUGE-L'."""
    if found.choices:
        return "Accuracy, %"
    return "LLM-Rating-1, %" if any(row.rating_1 for row in found.rows) else "ROUGE-L"


def score_points(found: Summary) -> list[Point]:
    """``plotted`` against compression rate, ours with intervals, published hollow; as they are numbered."""
    points: list[Point] = []
    rouge = plotted(found) == "ROUGE-L"
    for row in found.rows:
        rate = row.accuracy if found.choices else row.rating_1
        if not rouge and rate is not None:
            points.append(Point(row.compression_rate, 100 * rate.value, row.title, 100 * rate.low, 100 * rate.high))
        elif rouge and "rougeL" in row.rouge:
            points.append(Point(row.compression_rate, row.rouge["rougeL"].value, row.title))
    for row in found.rows:
        theirs = found.beside(row.arm)
        if theirs is None or theirs.row.compression_rate is None:
            continue
        score = theirs.row.score if not rouge else theirs.row.rouge[2] if theirs.row.rouge else None
        if score is not None:
            label = f"{row.title}, {theirs.table.model}"
            points.append(Point(theirs.row.compression_rate, score, label, hollow=True))
    return ordered(points)


def score_plot(found: Summary) -> str:
    """``score_points`` as SVG."""
    return scatter(score_points(found), x_title="Compression rate, %", y_title=plotted(found), chance=found.chance)


def word_plots(found: Summary) -> list[tuple[str, str]]:
    """(caption, SVG): words of documents beside those of their gists, and words of pages and gists."""
    if not found.readings:
        return []
    documents = list({r.document: r.words for r in found.readings}.values())
    memories = [sum(r.gist_words) for r in found.readings if r.gist_words]
    pages = [n for r in found.readings for n in r.page_words]
    gists = [n for r in found.readings for n in r.gist_words]
    return [
        (
            "Words of documents and of their gist memories",
            histogram([("documents", documents), ("gist memories", memories)], x_title="Words"),
        ),
        ("Words of pages and of gists", histogram([("pages", pages), ("gists", gists)], x_title="Words")),
    ]


def html(found: Summary, questions: Questions | None = None) -> Iterator[str]:
    """The whole page, piece by piece; ``questions`` come last, because they are long."""
    name = dataset_name(found.record["experiment"])
    style = "".join((ASSETS / "evaluate" / f"{part}.css").read_text(encoding="utf-8") for part in _STYLES)
    out = [opening(name), f'<style>{style}</style><div class="report">', f"<header><h1>{escape(name)}</h1></header>"]
    out += [f'<p class="note">{escape(sentence)}</p>' for sentence in headline(found)]
    for title, (header, rows), note in sections(found):
        out.append(f"<h2>{escape(title)}</h2>{_table(header, rows)}")
        if note:
            out.append(f'<p class="facts">{escape(note)}</p>')
        if title == "Scores":
            out.append(f'<figure class="plot">{score_plot(found)}{_named(score_points(found))}</figure>')
    facts = reading_facts(found)
    if facts:
        out.append("<h2>Reading</h2>" + "".join(f"<p>{escape(fact)}</p>" for fact in facts))
    for caption, drawing in word_plots(found):
        out.append(f'<figure>{drawing}<figcaption class="facts">{escape(caption)}</figcaption></figure>')
    head = "".join(out)
    yield head
    if questions is not None:
        yield from section(questions, len(head.encode("utf-8", "replace")))
    yield f"</div>{CLOSING}"


def column_class(name: str) -> str:
    """The class attribute of a column's cells: words go to the left, published figures are marked as such."""
    found = [kind for kind, is_one in (("words", name in WORDS), ("published", name.startswith("Published"))) if is_one]
    return f' class="{" ".join(found)}"' if found else ""


def _named(points: Sequence[Point]) -> str:
    items = "".join(f"<li{' class=theirs' if p.hollow else ''}>{escape(p.label)}</li>" for p in points)
    return f"<ol>{items}</ol>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    mark = [column_class(name) for name in header]
    head = "".join(f'<th scope="col"{m}>{escape(cell)}</th>' for cell, m in zip(header, mark, strict=True))
    cells = ("".join(f"<td{m}>{escape(cell)}</td>" for cell, m in zip(row, mark, strict=True)) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
