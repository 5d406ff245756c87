"""The report as a file: JSON with everything, CSV a row an arm, Markdown, or one HTML page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from readagent_core.errors import SettingsError
from readagent_core.evaluation.report import Summary, dataset_name, headline, reading_facts
from readagent_core.evaluation.report_tables import sections
from readagent_core.evaluation.tally import Row

FORMATS = ("md", "html", "json", "csv")
_COLUMNS = (
    "arm answers failed accuracy accuracy_low accuracy_high accuracy_sd hard_accuracy llm_rating_1 llm_rating_2 "
    "rouge_1 rouge_2 rouge_l compression_rate look_ups response_words words_a_question words reading_words "
    "of_full_text published_on published_score published_compression_rate"
)


def write(found: Summary, format: str) -> bytes:
    """The report in one of FORMATS; else SettingsError."""
    try:
        writer = _WRITERS[format]
    except KeyError:
        raise SettingsError(f"Unknown report format {format!r}. Choose one of: {', '.join(FORMATS)}.") from None
    return writer(found).encode("utf-8", "replace")


def to_dict(found: Summary) -> dict[str, Any]:
    """All figures as plain JSON values, the record included."""
    return {
        "record": dict(found.record),
        "answers": found.answers,
        "wanted": found.wanted or found.answers,
        "failed": found.failed,
        "chance": found.chance,
        "rows": [_plain_row(row) for row in found.rows],
        "published": {
            arm: [
                {
                    "source": b.table.source,
                    "table": b.table.name,
                    "data": b.table.about,
                    "model": b.table.model,
                    "measure": b.table.measure,
                    **asdict(b.row),
                }
                for b in found_rows
            ]
            for arm, found_rows in found.published.items()
        },
        "baseline": found.baseline,
        "differences": {arm: asdict(d) for arm, d in found.differences.items()},
        "documents": [asdict(r) for r in found.readings],
    }


def _plain_row(row: Row) -> dict[str, Any]:
    return {**asdict(row), "of_full_text": row.of_full_text}


def _json(found: Summary) -> str:
    return json.dumps(to_dict(found), ensure_ascii=False, indent=1)


def _csv(found: Summary) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS.split(" "))
    for row in found.rows:
        a, theirs = row.accuracy, found.beside(row.arm)
        values = [
            row.arm, row.answers, row.failed, a and a.value, a and a.low, a and a.high, row.accuracy_sd,
            row.hard and row.hard.value, row.rating_1 and row.rating_1.value, row.rating_2 and row.rating_2.value,
            *[row.rouge[n].value if n in row.rouge else None for n in ("rouge1", "rouge2", "rougeL")],
            row.compression_rate, row.look_ups, row.answer_words, row.words_each, row.words, row.reading_words,
            row.of_full_text, theirs and theirs.table.model, theirs and theirs.row.score,
            theirs and theirs.row.compression_rate,
        ]  # fmt: skip
        writer.writerow(["" if v is None else f"{v:.6g}" if isinstance(v, float) else v for v in values])
    return out.getvalue()


def _markdown(found: Summary) -> str:
    from readagent_core.study.exporting import plain

    lines = [f"# {plain(dataset_name(found.record['experiment']))}", ""]
    for sentence in headline(found):
        lines += [plain(sentence), ""]
    for title, (header, rows), note in sections(found):
        lines += [f"## {title}", "", *markdown_table(header, rows), ""]
        if note:
            lines += [plain(note), ""]
    facts = reading_facts(found)
    if facts:
        lines += ["## Reading", "", *[f"- {plain(fact)}" for fact in facts], ""]
    return "\n".join(lines)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    return [row(header), "|---|" + "---:|" * (len(header) - 1), *[row(r) for r in rows]]


def _html(found: Summary) -> str:
    from readagent_core.evaluation.report_html import html

    return html(found)


_WRITERS: dict[str, Callable[[Summary], str]] = {"md": _markdown, "html": _html, "json": _json, "csv": _csv}
