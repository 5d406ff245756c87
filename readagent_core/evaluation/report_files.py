"""The report as a file: JSON with everything, CSV with a row an arm or a row an answer, Markdown, or one HTML page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readagent_core.errors import SettingsError
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.report import Summary, dataset_name, headline, reading_facts
from readagent_core.evaluation.report_questions import answers_csv, csv_line, facts, wrong_list
from readagent_core.evaluation.report_tables import sections
from readagent_core.evaluation.scores import Share
from readagent_core.evaluation.tally import Row

ANSWERS = "answers.csv"
FORMATS = ("md", "html", "json", "csv", ANSWERS)
_COLUMNS = (
    "arm answers failed accuracy accuracy_low accuracy_high accuracy_sd hard_accuracy hard_low hard_high hard_sd "
    "llm_rating_1 llm_rating_1_low llm_rating_1_high llm_rating_1_sd llm_rating_2 llm_rating_2_low llm_rating_2_high "
    "llm_rating_2_sd rouge_1 rouge_2 rouge_l rouge_l_sd compression_rate look_ups response_words "
    "words_a_question words reading_words of_full_text published_on published_score published_compression_rate"
)


def pieces(found: Summary, format: str, questions: Questions | None = None) -> Iterator[bytes]:
    """The report in one of FORMATS, piece by piece, so that no file need be in memory whole; else SettingsError.

    ``questions``: the experiment's, to be told one by one; None leaves them out.
    """
    try:
        writer = _WRITERS[format]
    except KeyError:
        raise SettingsError(f"Unknown report format {format!r}. Choose one of: {', '.join(FORMATS)}.") from None
    return (piece.encode("utf-8", "replace") for piece in writer(found, questions))


def write(found: Summary, format: str, questions: Questions | None = None) -> bytes:
    """All ``pieces`` together."""
    return b"".join(pieces(found, format, questions))


def save(found: Summary, path: Path, format: str, questions: Questions | None = None) -> None:
    """Write the report to ``path``, whole or not at all. Raises SettingsError where that cannot be done."""
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.writelines(pieces(found, format, questions))
        draft.replace(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}). The results are kept.") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def format_of(path: Path) -> str:
    """The format a file's name ends with, '' for none: 'answers.csv' is told from 'csv'."""
    name = path.name.lower()
    if name.endswith(ANSWERS):
        return ANSWERS
    ending = path.suffix.removeprefix(".").lower()
    return ending if ending in FORMATS else ""


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
        "differences": {arm: {m: asdict(d) for m, d in by.items()} for arm, by in found.differences.items()},
        "documents": [asdict(r) for r in found.readings],
    }


def _plain_row(row: Row) -> dict[str, Any]:
    return {**asdict(row), "of_full_text": row.of_full_text}


def _json(found: Summary, questions: Questions | None) -> Iterator[str]:
    whole = json.dumps(to_dict(found), ensure_ascii=False, indent=1)
    if questions is None:
        yield whole
        return
    yield whole.removesuffix("\n}") + ',\n "questions": ['
    for number, (_, results) in enumerate(questions):
        yield f"{',' if number else ''}\n  {json.dumps(facts(questions, results), ensure_ascii=False)}"
    yield "\n ]\n}"


def _csv(found: Summary, questions: Questions | None) -> Iterator[str]:
    yield csv_line(_COLUMNS.split(" "))
    for row in found.rows:
        theirs, rouge = found.beside(row.arm), row.rouge.get("rougeL")
        values = [
            row.arm, row.answers, row.failed, *_shared(row.accuracy, row.accuracy_sd), *_shared(row.hard, row.hard_sd),
            *_shared(row.rating_1, row.rating_1_sd), *_shared(row.rating_2, row.rating_2_sd),
            *[row.rouge[n].value if n in row.rouge else None for n in ("rouge1", "rouge2", "rougeL")],
            rouge and rouge.sd,
            row.compression_rate, row.look_ups, row.answer_words, row.words_each, row.words, row.reading_words,
            row.of_full_text, theirs and theirs.table.model, theirs and theirs.row.score,
            theirs and theirs.row.compression_rate,
        ]  # fmt: skip
        yield csv_line(values)


def _shared(value: Share | None, sd: float | None) -> list[float | None]:
    """The share, its interval, its spread over runs."""
    return [None] * 4 if value is None else [value.value, value.low, value.high, sd]


def _answers_csv(found: Summary, questions: Questions | None) -> Iterator[str]:
    if questions is None:
        raise SettingsError("The CSV of answers needs the experiment's folder.")
    return answers_csv(questions)


def _markdown(found: Summary, questions: Questions | None) -> Iterator[str]:
    from readagent_core.export.text_files import escape_markdown

    lines = [f"# {escape_markdown(dataset_name(found.record['experiment']))}", ""]
    for sentence in headline(found):
        lines += [escape_markdown(sentence), ""]
    for title, (header, rows), note in sections(found):
        lines += [f"## {title}", "", *markdown_table(header, rows), ""]
        if note:
            lines += [escape_markdown(note), ""]
    read = reading_facts(found)
    if read:
        lines += ["## Reading", "", *[f"- {escape_markdown(fact)}" for fact in read], ""]
    if questions is not None:
        lines += wrong_list(questions)
    yield "\n".join(lines)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    return [row(header), "|---|" + "---:|" * (len(header) - 1), *[row(r) for r in rows]]


def _html(found: Summary, questions: Questions | None) -> Iterator[str]:
    from readagent_core.evaluation.report_html import html

    return html(found, questions)


_WRITERS: dict[str, Callable[[Summary, Questions | None], Iterator[str]]] = {
    "md": _markdown,
    "html": _html,
    "json": _json,
    "csv": _csv,
    ANSWERS: _answers_csv,
}
