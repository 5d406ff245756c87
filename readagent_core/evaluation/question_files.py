"""Own questions as files: CSV, JSON, JSON lines and a Markdown table, written and read without loss.

A file that is not understood is answered with problems, each with its line and what to do; what can be taken is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from readagent_core.answering.base import LETTERS
from readagent_core.errors import DatasetError
from readagent_core.evaluation.datasets.base import field_names, find_option, json_problem
from readagent_core.evaluation.question_tables import Row, csv_rows, markdown_cell, markdown_rows
from readagent_core.library.own_questions import OwnQuestion
from readagent_core.text_files import csv_line, is_guarded
from readagent_core.words import count_of

QUESTION_FORMATS = ("csv", "json", "jsonl", "md")
MOST_QUESTIONS = 2_000
_MOST_BYTES = 5_000_000
_MOST_PROBLEMS = 20
TEMPLATE = (
    OwnQuestion("What did Mrs. Oake win?", "A tea cosy", ("A ham", "A pound in silver"), "5"),
    OwnQuestion("How many pints of oil were burned?", "Nine"),
)
_NAMES = "question, answer, wrong 1, wrong 2, page"
_SYNONYMS = {
    "question": "question", "questions": "question", "質問": "question", "答え": "answer",
    "answer": "answer", "right answer": "answer", "correct answer": "answer", "known answer": "answer",
    "page": "page", "ページ": "page",
}  # fmt: skip
_WRONG = re.compile(r"wrong(?: answers?)?(?: ?\d+)?|誤り ?\d*", re.IGNORECASE)
_OPTION = re.compile(r"(?:option )?([A-Z])|option \d+", re.IGNORECASE)
_TABLE = re.compile(r"^ *\|.*\n *\|[|:\- ]+$", re.MULTILINE)  # the first two lines of one in Markdown


@dataclass
class Taken:
    """What was taken from a file. ``problems``: each begins with its line. ``lost``: rows that were not taken."""

    questions: list[OwnQuestion] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lost: int = 0

    def add_problem(self, line: int, what: str) -> None:
        self.problems.append(f"Line {line}: {what}")

    def refuse(self, line: int, why: str) -> None:
        """Count a row that is not taken, and add why."""
        self.lost += 1
        self.add_problem(line, why)

    def sentence(self) -> str:
        """Return '11 of 12 questions were taken.'"""
        rows = len(self.questions) + self.lost
        return f"{len(self.questions):,} of {count_of(rows, 'question')} {'was' if rows == 1 else 'were'} taken."

    def shown_problems(self) -> list[str]:
        """Return the first problems, and how many more there are."""
        more = len(self.problems) - _MOST_PROBLEMS
        return [*self.problems[:_MOST_PROBLEMS], *([f"And {count_of(more, 'more problem')}."] if more > 0 else [])]


class QuestionProblem(NamedTuple):
    """Why a question cannot be asked in an experiment yet. ``field``: of the OwnQuestion, the one to correct."""

    field: str
    sentence: str


def problem_of(question: OwnQuestion) -> QuestionProblem | None:
    """Return the first problem of a question; None where it can be asked."""
    answer, wrong = question.answer, question.wrong
    problems = (
        (not question.question, "question", "The question is missing."),
        (not answer, "answer", "A right answer is missing."),
        (len(wrong) >= len(LETTERS), "wrong", f"More than {len(LETTERS) - 1} wrong answers."),
        (answer.casefold() in map(str.casefold, wrong), "answer", "The right answer is among the wrong ones."),
        (len(set(wrong)) < len(wrong), "wrong", "A wrong answer is there twice."),
        (bool(wrong) and "\n" in answer, "answer", "The right answer must be on one line."),
    )
    return next((QuestionProblem(field, sentence) for there, field, sentence in problems if there), None)


# --- written --------------------------------------------------------------------------------------------------


def write_questions(questions: Sequence[OwnQuestion], format: str) -> str:
    """Return the questions as the text of a file in one of QUESTION_FORMATS."""
    if format == "json":
        return json.dumps([_to_json(q) for q in questions], ensure_ascii=False, indent=1) + "\n"
    if format == "jsonl":
        return "".join(json.dumps(_to_json(q), ensure_ascii=False) + "\n" for q in questions)
    most = max([2, *(len(q.wrong) for q in questions)])
    header = ["question", "answer", *(f"wrong {n}" for n in range(1, most + 1)), "page"]
    rows = [[q.question, q.answer, *q.wrong, *[""] * (most - len(q.wrong)), q.page] for q in questions]
    if format == "csv":
        guarded = [[f"'{cell}" if is_guarded(cell) else cell for cell in row] for row in rows]
        return "\ufeff" + "".join(map(csv_line, [header, *guarded]))  # the mark tells spreadsheets that it is UTF-8
    lines = [header, ["---"] * len(header), *([markdown_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _to_json(question: OwnQuestion) -> dict[str, Any]:
    return {name: value for name, value in question.to_dict().items() if value or name in ("question", "answer")}


# --- read -----------------------------------------------------------------------------------------------------


def read_questions(data: bytes, name: str = "") -> Taken:
    """Return the questions of a file; its kind is recognised by what is in it, then by its ``name``."""
    taken = Taken()
    text = _decode(data, taken)
    start = text.lstrip()
    if not text:
        return taken
    if not start:
        taken.add_problem(1, "the file is empty. Download the template and fill it in.")
    elif start[0] == "[" and not name.endswith((".csv", ".md")):
        _add_list(text, text.index("[") + 1, taken)
    elif start[0] == "{":
        _add_objects(text, taken)
    elif name.endswith(".md") or (not name.endswith((".csv", ".json", ".jsonl")) and _TABLE.search(text)):
        _add_rows(markdown_rows(text), taken, "Begin with a line like | question | answer |.")
    elif name.endswith((".json", ".jsonl")):
        taken.add_problem(1, "this is not JSON. Begin with [ or {, as the template does.")
    else:
        _add_rows(csv_rows(text), taken, f"Name the columns in the first line: {_NAMES}.")
    if len(taken.questions) > MOST_QUESTIONS:
        taken.lost += len(taken.questions) - MOST_QUESTIONS
        del taken.questions[MOST_QUESTIONS:]
        taken.problems.append(f"Only the first {MOST_QUESTIONS:,} questions were taken. Use fewer in one file.")
    return taken


def _decode(data: bytes, taken: Taken) -> str:
    """Return the text, without lines that are not UTF-8; '' with a problem for what is no text."""
    if len(data) > _MOST_BYTES:
        taken.add_problem(1, f"the file has more than {_MOST_BYTES // 10**6} MB. Use a file of questions only.")
        return ""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if data.startswith((b"PK", b"%PDF")) or b"\0" in data[:1000]:
        taken.add_problem(1, "this is a workbook or a document, not text. Save it as CSV UTF-8 and choose that file.")
        return ""
    lines = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            lines.append("")
            taken.refuse(number, "not UTF-8 text. Save the file as CSV UTF-8, then choose it again.")
    return "\n".join(lines) or " "


def _add(values: Mapping[str, Any], line: int, taken: Taken) -> None:
    """Add the question of a row or an object, or the problem that it has."""
    try:
        question = _question(values)
    except DatasetError as error:
        taken.refuse(line, str(error))
        return
    taken.questions.append(question)
    if problem := problem_of(question):
        what = problem.sentence[0].lower() + problem.sentence[1:]
        taken.add_problem(line, f"{what} The question was taken; correct it in the table, it is left out until then.")


def _question(values: Mapping[str, Any]) -> OwnQuestion:
    """Return the question; raises DatasetError, with what is wrong and what to do."""
    text = values.get("question")
    if not isinstance(text, str) or not text.strip():
        there = f" (there are: {field_names(values)})" if "question" not in values else ""
        raise DatasetError(f"the question is missing{there}. Write it as 'question', or remove this one.")
    given = next((values[name] for name in ("answer", "references", "reference") if values.get(name) is not None), "")
    options, wrong = _texts(values.get("options"), "options"), _texts(values.get("wrong"), "wrong")
    page = values.get("page", "")
    if not isinstance(page, str | int):
        raise DatasetError("'page' must be a number or a text. Correct it, or leave it out.")
    if options:
        one_based = "gold_label" in values
        try:
            right = find_option(
                values["gold_label"] if one_based else values.get("answer"), options, "", first=int(one_based)
            )
        except DatasetError:
            raise DatasetError(
                f"the right answer is none of the {len(options)} options. Give its letter or its words as 'answer'."
            ) from None
        return OwnQuestion(text, options[right], (*options[:right], *options[right + 1 :], *wrong), str(page))
    if isinstance(given, int | float) and not isinstance(given, bool):
        given = str(given)
    answer = "\n".join(_texts(given, "answer"))
    return OwnQuestion(text, answer, tuple(wrong), str(page))


def _texts(value: Any, name: str) -> list[str]:
    value = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise DatasetError(f"'{name}' must be a text or a list of texts. Put it in quotation marks.")
    return [text for text in value if text.strip()]


# --- JSON -----------------------------------------------------------------------------------------------------


def _add_objects(text: str, taken: Taken) -> None:
    """Add the questions of JSON lines, or of one object with the list 'questions'."""
    inside = re.search(r'"questions"\s*:\s*\[', text)
    first = text.lstrip().split("\n", 1)[0]
    if inside and not _is_question(first):
        _add_list(text, inside.end(), taken)
        return
    whole = _load(text)
    if isinstance(whole, dict):
        _add_object(whole, 1, taken)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                _add_object(json.loads(line), number, taken)
            except (ValueError, RecursionError) as error:
                taken.refuse(number, f"not JSON ({json_problem(error)}). Every line must be one object {{…}}.")


def _is_question(line: str) -> bool:
    found = _load(line)
    return isinstance(found, dict) and "question" in found


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _add_object(value: Any, line: int, taken: Taken) -> None:
    if isinstance(value, dict):
        _add(value, line, taken)
    else:
        taken.refuse(line, 'an object is expected, like {"question": "…", "answer": "…"}. Write it so.')


def _add_list(text: str, at: int, taken: Taken) -> None:
    """Add the objects of a JSON list whose first one begins after ``at``."""
    decoder, blank = json.JSONDecoder(), re.compile(r"\s*")
    while True:
        at = blank.match(text, at).end()  # type: ignore[union-attr]  # it matches everywhere
        line = text.count("\n", 0, at) + 1
        if text[at : at + 1] == "]":
            break
        if at >= len(text):
            taken.add_problem(line, "the list does not end. Add ] at the end of the file.")
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else line
            taken.refuse(line, f"not JSON ({json_problem(error)}). Correct it; nothing after it was taken.")
            return
        _add_object(value, line, taken)
        at = blank.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] not in ("]", ""):
            taken.add_problem(text.count("\n", 0, at) + 1, "a comma is missing before this. Add it after the }.")
    if not taken.questions and not taken.problems:
        taken.add_problem(1, "there is no question in the list. Fill in the template.")


# --- tables ---------------------------------------------------------------------------------------------------


def _add_rows(rows: Iterator[Row], taken: Taken, remedy: str) -> None:
    """Add the questions in the rows of a table, of which the first one names the columns."""
    line, header = next(((line, row) for line, row in rows if isinstance(row, list)), (1, []))
    names = [_column(cell) for cell in header]
    if missing := [f"'{wanted}'" for wanted in ("question", "answer") if wanted not in names]:
        there = ", ".join(cell for cell in header if cell.strip())[:80] or "none"
        taken.add_problem(line, f"there is no column {' or '.join(missing)} (there are: {there}). {remedy}")
        return
    count = 0
    for number, cells in rows:
        if isinstance(cells, str):
            taken.refuse(number, cells)
            continue
        if not any(cell.strip() for cell in cells):
            continue
        count += 1
        if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
            what = f"{len(cells)} cells, but the first line names {len(names)} columns."
            taken.refuse(number, f"{what} Put a cell that has the separator in it in quotation marks.")
            continue
        pairs = list(zip(names, cells, strict=False))
        values: dict[str, Any] = {
            name: cell for name, cell in reversed(pairs) if name in ("question", "answer", "page")
        }
        for many in ("wrong", "options"):
            values[many] = [text for name, cell in pairs if name == many for text in cell.split("\n")]
        _add(values, number, taken)
    if not count and not taken.problems:
        taken.add_problem(line + 1, "there is no question below the names of the columns. Write one a line.")


def _column(cell: str) -> str:
    name = " ".join(cell.split()).casefold()
    if _WRONG.fullmatch(name):
        return "wrong"
    return _SYNONYMS.get(name, "options" if _OPTION.fullmatch(name) else "")
