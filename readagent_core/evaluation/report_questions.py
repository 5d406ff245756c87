"""An experiment's questions outside HTML: plain values, CSV with a row an answer, Markdown's list of the wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from readagent_core.evaluation.questions import Entry, Questions, chosen, judged, known_answers, lettered, verdict
from readagent_core.evaluation.results import Result
from readagent_core.methods.base import LETTERS
from readagent_core.words import collapse_whitespace, count_of

MOST_LISTED = 200  # questions in Markdown; all of them stand in the other formats
_LONGEST = 160  # characters of a text in a Markdown cell
_FORMULA = re.compile(r"^[=+\-@\t\r]")
_COLUMNS = (
    "number id document title question options known_answer hard_subset arm method run verdict right chosen answer "
    "looked_up words_in_context document_words compression_rate words_sent rouge_1 rouge_2 rouge_l rating notes error"
)


def facts(questions: Questions, results: Sequence[Result]) -> dict[str, Any]:
    """One question with all its answers; no prompts. ``right``: option index; ``replay``: offset in replays.jsonl."""
    asked = results[0]
    return {
        "case": asked.case,
        "item": asked.item,
        "id": asked.id,
        "document": asked.document,
        "title": asked.title,
        "question": asked.question,
        "options": asked.options,
        "right": asked.gold,
        "references": asked.references,
        "hard": asked.hard,
        "answers": [_answer(questions, result) for result in results],
    }


def _answer(questions: Questions, result: Result) -> dict[str, Any]:
    return {
        "arm": result.arm,
        "method": questions.titles.get(result.arm, result.arm),
        "run": result.run,
        "verdict": verdict(result),
        "right": judged(result),
        "option": result.option,
        "answer": result.answer,
        "looked_up": result.looked_up,
        "memory_words": result.memory_words,
        "document_words": result.document_words,
        "compression_rate": result.compression_rate,
        "words": result.words,
        "rouge": dict(result.rouge),
        "rating": result.rating,
        "notes": result.notes,
        "error": result.error,
        "replay": result.replay,
    }


# --- CSV ------------------------------------------------------------------------------------------------


def answers_csv(questions: Questions) -> Iterator[str]:
    """A row an answer, question by question; begins with a mark so that spreadsheets take it for UTF-8."""
    yield "\ufeff" + csv_line(_COLUMNS.split(" "))
    for number, (_, results) in enumerate(questions, start=1):
        for r in results:
            options, known = [lettered(r, at) for at in range(len(r.options))], known_answers(r)
            yield csv_line([
                number, r.id, r.document, r.title, r.question, "\n".join(options), "\n".join(known), _yes(r.hard),
                r.arm, questions.titles.get(r.arm, r.arm), r.run, verdict(r), _yes(judged(r)), chosen(r), r.answer,
                " ".join(map(str, r.looked_up)), r.memory_words, r.document_words, r.compression_rate, r.words,
                *[r.rouge.get(name) for name in ("rouge1", "rouge2", "rougeL")], r.rating, "\n".join(r.notes), r.error,
            ])  # fmt: skip


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def csv_line(values: Sequence[Any]) -> str:
    """One row; no text of it is a formula to a spreadsheet."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_cell(value) for value in values])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


# --- Markdown -------------------------------------------------------------------------------------------


def wrong_list(questions: Questions) -> list[str]:
    """Lines of a table of the first MOST_LISTED questions that at least one answer got wrong; none without any."""
    from readagent_core.export.text_files import escape_markdown

    found = [(number, entry) for number, entry in enumerate(questions.entries, start=1) if entry.wrong]
    if not found:
        return []
    said = f"{count_of(len(found), 'question')} of {len(questions):,} had at least one answer that is not right."
    if len(found) > MOST_LISTED:
        said += f" The first {MOST_LISTED:,} are listed; HTML, JSON and the CSV of answers hold all."
    header = ["#", "Question", "Right", *(escape_markdown(questions.titles.get(arm, arm)) for arm in questions.arms)]
    lines = ["## Questions not right", "", said, "", _row(header), "|--:|---|---|" + "---|" * len(questions.arms)]
    for number, entry in found[:MOST_LISTED]:
        results = questions.answers(entry)
        known = " / ".join(known_answers(results[0]))
        cells = [_told(entry, results, arm) for arm in questions.arms]
        lines.append(
            _row([str(number), *(escape_markdown(_short(text)) for text in (results[0].question, known)), *cells])
        )
    return [*lines, ""]


def _told(entry: Entry, results: Sequence[Result], arm: str) -> str:
    """How an arm fared: '✓', '✗ (B)', '✗ no answer', '–' for not judged; over several runs '2 of 3'."""
    own = [(spot, result) for spot, result in zip(entry.spots, results, strict=True) if spot.arm == arm]
    if len(own) > 1:
        return f"{sum(bool(spot.right) for spot, _ in own)} of {len(own)}"
    for spot, result in own:
        if spot.right is None:
            return "–"
        if spot.right:
            return "✓"
        return f"✗ ({LETTERS[result.option]})" if result.option is not None else f"✗ {verdict(result)}"
    return ""


def _short(text: str) -> str:
    text = collapse_whitespace(text[: 4 * _LONGEST])
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
