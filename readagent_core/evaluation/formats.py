"""The report as a file: JSON with everything, CSV with a row for each arm or each answer, Markdown, or one HTML page.

Files are written question by question, so that none need be in memory whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readagent_core.answering.base import LETTERS
from readagent_core.errors import SettingsError
from readagent_core.evaluation.curves import curves_to_dict
from readagent_core.evaluation.html import render_html
from readagent_core.evaluation.questions import (
    QuestionEntry,
    Questions,
    chosen_option,
    is_right,
    known_answers,
    lettered_option,
    verdict,
)
from readagent_core.evaluation.report import (
    Summary,
    file_name_of,
    headline,
    reading_facts,
    results_in_words,
    title_of,
)
from readagent_core.evaluation.results import Result
from readagent_core.evaluation.scores import Share
from readagent_core.evaluation.tables import report_tables
from readagent_core.model_names import short_name
from readagent_core.regular_files import check_replaceable
from readagent_core.text_files import csv_line, escape_markdown
from readagent_core.words import collapse_whitespace, count_of

ANSWERS = "answers.csv"
FORMATS = ("md", "html", "json", "csv", ANSWERS)
MOST_LISTED = 200  # questions in Markdown; the other formats hold all
_LONGEST = 160  # characters of a text in a Markdown cell
_ARM_COLUMNS = (
    "arm answers failed accuracy accuracy_low accuracy_high accuracy_sd hard_accuracy hard_low hard_high hard_sd "
    "element_accuracy operation_f1 step_success task_success "
    "llm_rating_1 llm_rating_1_low llm_rating_1_high llm_rating_1_sd llm_rating_2 llm_rating_2_low llm_rating_2_high "
    "llm_rating_2_sd rouge_1 rouge_2 rouge_l rouge_l_sd compression_rate look_ups response_words "
    "words_a_question new_words_a_question word_budget words reading_words of_full_text published_on published_score "
    "published_compression_rate"
)
_ANSWER_COLUMNS = (
    "number id document title question options known_answer hard_subset arm method run verdict right chosen answer "
    "looked_up words_in_context document_words compression_rate words_sent words_new "
    "rouge_1 rouge_2 rouge_l rating notes error"
)

_QUESTION_FIELDS = ("case", "item", "id", "document", "title", "question", "options", "references", "hard")
_ANSWER_FIELDS = (
    "arm", "run", "option", "answer", "looked_up", "memory_words", "document_words", "compression_rate", "words",
    "words_new", "rouge", "rating", "notes", "error", "replay",
)  # fmt: skip


def render_pieces(summary: Summary, format: str, questions: Questions | None = None) -> Iterator[bytes]:
    """Yield the report in one of FORMATS, piece by piece. Raises SettingsError for another format.

    ``questions``: the experiment's, to be included one by one; None leaves them out.
    """
    try:
        writer = _WRITERS[format]
    except KeyError:
        raise SettingsError(f"Unknown report format {format!r}. Choose one of: {', '.join(FORMATS)}.") from None
    return (piece.encode("utf-8", "replace") for piece in writer(summary, questions))


def render_report(summary: Summary, format: str, questions: Questions | None = None) -> bytes:
    """Return the report in one of FORMATS as the bytes of a file. Raises SettingsError for another format."""
    return b"".join(render_pieces(summary, format, questions))


def save_report(summary: Summary, path: Path, format: str, questions: Questions | None = None) -> None:
    """Write the report to ``path``, completely or not at all. Raises SettingsError where that cannot be done."""
    draft = path.with_name(f"{path.name}.new")
    try:
        check_replaceable(path)
        with draft.open("wb") as file:
            file.writelines(render_pieces(summary, format, questions))
        draft.replace(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}). The results are saved.") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def format_of(path: Path) -> str:
    """Return the format that a file's name ends with, '' for none; 'answers.csv' is another format than 'csv'."""
    name = path.name.lower()
    if name.endswith(ANSWERS):
        return ANSWERS
    ending = path.suffix.removeprefix(".").lower()
    return ending if ending in FORMATS else ""


def to_dict(summary: Summary) -> dict[str, Any]:
    """Return all figures as plain JSON values, the record included, with no folder of this computer."""
    model, experiment = summary.record["model"], summary.record["experiment"]
    model = model | {"name": short_name(model["name"])}
    data = {**experiment["dataset"], "path": file_name_of(experiment)}
    return {
        "record": {**summary.record, "model": model, "experiment": {**experiment, "dataset": data}},
        "answers": summary.answers,
        "wanted": summary.wanted or summary.answers,
        "failed": summary.failed,
        "chance": summary.chance,
        "rows": [{**asdict(row), "of_full_text": row.of_full_text} for row in summary.rows],
        "published": {
            arm: [
                {
                    "source": figure.table.source,
                    "table": figure.table.name,
                    "data": figure.table.about,
                    "model": figure.table.model,
                    "measure": figure.table.measure,
                    **asdict(figure.row),
                }
                for figure in figures
            ]
            for arm, figures in summary.published.items()
        },
        "baseline": summary.baseline,
        "differences": {arm: {m: asdict(d) for m, d in by.items()} for arm, by in summary.differences.items()},
        "documents": [asdict(r) for r in summary.gistings],
        "equal_words": curves_to_dict(summary),
    }


def _json(summary: Summary, questions: Questions | None) -> Iterator[str]:
    text = json.dumps(to_dict(summary), ensure_ascii=False, indent=1)
    if questions is None:
        yield text
        return
    yield text.removesuffix("\n}") + ',\n "questions": ['
    for number, (_, results) in enumerate(questions):
        yield f"{',' if number else ''}\n  {json.dumps(question_to_dict(questions, results), ensure_ascii=False)}"
    yield "\n ]\n}"


def question_to_dict(questions: Questions, results: Sequence[Result]) -> dict[str, Any]:
    """Return one question with its answers, without prompts. ``right``: option index; ``replay``: byte offset."""
    answers = [
        {
            **{name: getattr(result, name) for name in _ANSWER_FIELDS},
            "method": questions.titles.get(result.arm, result.arm),
            "verdict": verdict(result),
            "right": is_right(result),
        }
        for result in results
    ]
    asked = {name: getattr(results[0], name) for name in _QUESTION_FIELDS}
    return {**asked, "right": results[0].gold, "answers": answers}


def _csv(summary: Summary, questions: Questions | None) -> Iterator[str]:
    yield csv_line(_ARM_COLUMNS.split(" "))
    for row in summary.rows:
        theirs, rouge = summary.published_figure(row.arm), row.rouge.get("rougeL")
        values = [
            row.arm, row.answers, row.failed,
            *_share_cells(row.accuracy), *_share_cells(row.hard),
            *[found and found.value
              for found in (row.element_accuracy, row.operation_f1, row.step_success, row.task_success)],
            *_share_cells(row.rating_1), *_share_cells(row.rating_2),
            *[row.rouge[n].value if n in row.rouge else None for n in ("rouge1", "rouge2", "rougeL")],
            rouge and rouge.sd,
            row.compression_rate, row.look_ups, row.answer_words, row.words_each,
            row.words_new_each, row.word_budget, row.words, row.reading_words, row.of_full_text,
            theirs and theirs.table.model, theirs and theirs.row.score,
            theirs and theirs.row.compression_rate,
        ]  # fmt: skip
        yield csv_line(values)


def _share_cells(value: Share | None) -> list[float | None]:
    """Return the share, its interval, and its standard deviation over runs."""
    return [None] * 4 if value is None else [value.value, value.low, value.high, value.sd]


def _answers_csv(summary: Summary, questions: Questions | None) -> Iterator[str]:
    if questions is None:
        raise SettingsError("The CSV of answers needs the experiment's folder.")
    yield "\ufeff" + csv_line(_ANSWER_COLUMNS.split(" "))  # the mark tells spreadsheets that it is UTF-8
    for number, (_, results) in enumerate(questions, start=1):
        for r in results:
            options, known = [lettered_option(r, at) for at in range(len(r.options))], known_answers(r)
            yield csv_line([
                number, r.id, r.document, r.title, r.question, "\n".join(options), "\n".join(known), _yes(r.hard),
                r.arm, questions.titles.get(r.arm, r.arm), r.run, verdict(r), _yes(is_right(r)), chosen_option(r),
                r.answer, " ".join(map(str, r.looked_up)), r.memory_words, r.document_words, r.compression_rate,
                r.words, r.words_new, *[r.rouge.get(name) for name in ("rouge1", "rouge2", "rougeL")], r.rating,
                "\n".join(r.notes), r.error,
            ])  # fmt: skip


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _markdown(summary: Summary, questions: Questions | None) -> Iterator[str]:
    lines = [f"# {escape_markdown(title_of(summary))}", ""]
    for sentence in headline(summary):
        lines += [escape_markdown(sentence), ""]
    lines += [*(f"- {escape_markdown(sentence)}" for sentence in results_in_words(summary)), ""]
    for title, (header, rows), note in report_tables(summary):
        lines += [f"## {title}", "", *markdown_table(header, rows), ""]
        if note:
            lines += [escape_markdown(note), ""]
    read = reading_facts(summary)
    if read:
        lines += ["## Gists", "", *[f"- {escape_markdown(fact)}" for fact in read], ""]
    if questions is not None:
        lines += list_wrong(questions)
    yield "\n".join(lines)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table of plain cells; all columns but the first are aligned right."""
    head, *body = ([re.sub(r"([\\|])", r"\\\1", cell).replace("\n", " ") for cell in row] for row in (header, *rows))
    return [_markdown_row(head), "|---|" + "---:|" * (len(head) - 1), *map(_markdown_row, body)]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return escape_markdown(text).replace("|", "\\|")


def list_wrong(questions: Questions) -> list[str]:
    """Return the lines of a Markdown table of the first MOST_LISTED questions with an answer that is not right."""
    found = [(number, entry) for number, entry in enumerate(questions.entries, start=1) if entry.wrong]
    if not found:
        return []
    summary = f"{count_of(len(found), 'question')} of {len(questions):,} had at least one answer that is not right."
    if len(found) > MOST_LISTED:
        summary += f" The first {MOST_LISTED:,} are listed; HTML, JSON and the CSV of answers hold all."
    header = ["#", "Question", "Right", *(_cell(questions.titles.get(arm, arm)) for arm in questions.arms)]
    lines = [
        "## Questions not right",
        "",
        summary,
        "",
        _markdown_row(header),
        "|--:" + "|---" * (len(header) - 1) + "|",
    ]
    for number, entry in found[:MOST_LISTED]:
        results = questions.read_answers(entry)
        texts = (results[0].question, " / ".join(known_answers(results[0])))
        marks = [_mark(entry, results, arm) for arm in questions.arms]
        lines.append(_markdown_row([str(number), *(_cell(_shorten(text)) for text in texts), *marks]))
    return [*lines, ""]


def _mark(entry: QuestionEntry, results: Sequence[Result], arm: str) -> str:
    """Return '✓', '✗ (B)', '✗ no answer', or '–' for an answer that was not judged; over several runs '2 of 3'."""
    own = [(place, result) for place, result in zip(entry.answers, results, strict=True) if place.arm == arm]
    if len(own) > 1:
        return f"{sum(bool(place.right) for place, _ in own)} of {len(own)}"
    for place, result in own:
        if place.right is None:
            return "–"
        if place.right:
            return "✓"
        return f"✗ ({LETTERS[result.option]})" if result.option is not None else f"✗ {verdict(result)}"
    return ""


def _shorten(text: str) -> str:
    text = collapse_whitespace(text[: 4 * _LONGEST])
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_WRITERS: dict[str, Callable[[Summary, Questions | None], Iterator[str]]] = {
    "md": _markdown,
    "html": render_html,
    "json": _json,
    "csv": _csv,
    ANSWERS: _answers_csv,
}
