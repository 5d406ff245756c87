"""Own questions go out to files and come in again without loss, and a broken file is answered with line and remedy."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.evaluation.question_files import (
    QUESTION_FORMATS,
    TEMPLATE,
    problem_of,
    read_questions,
    write_questions,
)
from readagent_core.library.own_questions import OwnQuestion
from readagent_core.resources import ASSETS

HARD = [
    OwnQuestion("Who, “exactly”?", "a | b \\| c", ("=1+1", "'=x", "''-y"), "12"),
    OwnQuestion('He said "no"; why?\nAnd when?', "one wording\nanother; \twording", (), "xii"),
    OwnQuestion("| --- |", "<br> \\<br>", ("\\", "a,b;c", "---"), ""),
    OwnQuestion("何が鳴りましたか。", "鐘", ("犬", "船"), "3"),
    OwnQuestion("---", "[1]", (), "-"),
]
TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.text("|\\\"',;\t\n=<br>-'[]{} ab", max_size=12)
QUESTIONS = st.lists(
    st.builds(
        OwnQuestion, TEXT.map("q{}".format), TEXT.map("a{}".format), st.lists(TEXT, max_size=4).map(tuple), TEXT
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@pytest.mark.parametrize("format", QUESTION_FORMATS)
def test_a_file_comes_in_as_it_went_out(format):
    for questions in (HARD, list(TEMPLATE)):
        data = write_questions(questions, format).encode()
        assert questions is not HARD or "何が鳴りましたか。".encode() in data  # letters as they are
        taken = read_questions(data, f"mine.{format}")
        assert taken.questions == questions
        assert (taken.lost, read_questions(data).questions) == (0, questions)  # also without a name
    assert taken.problems == []


@pytest.mark.parametrize("format", QUESTION_FORMATS)
@settings(max_examples=60)
@given(QUESTIONS)
def test_any_text_survives(format, questions):
    assert read_questions(write_questions(questions, format).encode(), f"x.{format}").questions == questions


def test_other_layouts_are_understood():
    sample = ASSETS / "samples" / "the-keeper-of-harrow-light.questions.json"
    taken = read_questions(sample.read_bytes(), sample.name)
    assert (len(taken.questions), taken.problems) == (16, [])
    assert taken.questions[1].answer == "A tea cosy"
    assert taken.questions[1].wrong == ("A ham", "A pound in silver", "A place on the committee")
    same = OwnQuestion("Who?", "Vane", ("Oake",), "7")
    for data in (
        "question;answer;wrong 1;page\r\nWho?;Vane;Oake;7\r\n",
        "Page\tQuestion\tRight answer\tWrong answers\n7\tWho?\tVane\tOake\n",
        "question,A,B,answer,page\nWho?,Vane,Oake,A,7\n",
        'question,answer,wrong,page\n"Who?",Vane,Oake,7',
        '{"questions": [{"question": "Who?", "options": ["Oake", "Vane"], "gold_label": 2, "page": 7}]}',
        '{"question": "Who?", "options": ["Oake", "Vane"], "answer": "Vane", "page": "7"}\n',
        "# Mine\n\n| question | answer | wrong 1 | page |\n|:--|---|---|--:|\n| Who? | Vane | Oake | 7 |\n\nThe end.\n",
    ):
        taken = read_questions(data.encode())
        assert (taken.questions, taken.problems) == ([same], []), data
    assert read_questions("question\tanswer\nWho?\tVane".encode("utf-16")).questions == [OwnQuestion("Who?", "Vane")]
    free = read_questions(b'[{"question": "Who?", "references": ["Vane", "Ambrose"]}]').questions
    assert free == [OwnQuestion("Who?", "Vane\nAmbrose")]


GOOD = '{"question": "Who?", "answer": "Vane"}'
BROKEN = [  # name, file, line of the first problem, words of it, questions taken
    ("empty", b"", 1, "empty", 0),
    ("blank.csv", b" \n\n", 1, "empty", 0),
    ("a.xlsx", b"PK\x03\x04rest", 1, "CSV UTF-8", 0),
    ("a.pdf", b"%PDF-1.7 ...", 1, "CSV UTF-8", 0),
    ("a.bin", b"\x00\x01\x02", 1, "CSV UTF-8", 0),
    ("a.csv", b"question,answer\nWho?,Vane\nCaf\xe9?,yes\nWhen?,now\n", 3, "Save the file as CSV UTF-8", 2),
    ("a.csv", b"Who?,Vane\nWhen?,now\n", 1, "Name the columns", 0),
    ("a.csv", b"question,page\nWho?,3\n", 1, "no column 'answer'", 0),
    ("a.csv", b"answer\nVane\n", 1, "no column 'question'", 0),
    ("a.csv", b"question,answer\n", 2, "Write one a line", 0),
    ("a.csv", b"question,answer\nWho?,Vane\n,now\nWhy?,so\n", 3, "the question is missing", 2),
    ("a.csv", b"question,answer\nWho?,Vane\nWhen?,\n", 3, "right answer is missing", 2),
    ("a.csv", b"question,answer\nWho, then?,Vane\nWhy?,so\n", 2, "quotation marks", 1),
    ("a.csv", b'question,answer\n"Who?,Vane\nWhy?,so\n', 2, "quotation mark", 1),
    ("a.csv", b'question,answer\nWhy?,so\n"Who" then?,Vane\nWhen?,now', 3, "Write it twice", 2),
    ("a.csv", b"question,answer,wrong 1\nWho?,Vane,vane\n", 2, "among the wrong", 1),
    ("a.csv", b"question,answer,wrong 1,wrong 2\nWho?,Vane,x,x\n", 2, "twice", 1),
    ("a.csv", b"question,A,B,answer\nWho?,Vane,Oake,C\n", 2, "none of the 2 options", 0),
    ("a.csv", b"\nquestion,answer\n\nWho?,Vane,x,y\n", 4, "names 2 columns", 0),
    ("a.json", b"[]", 1, "no question in the list", 0),
    ("a.json", b"Who? Vane.", 1, "Begin with [ or {", 0),
    ("a.json", f"[{GOOD},\n{GOOD}\n{GOOD}]".encode(), 3, "comma is missing", 3),
    ("a.json", f"[\n{GOOD},\n{{'question': 1}}]".encode(), 3, "not JSON", 1),
    ("a.json", f"[\n{GOOD},\n".encode(), 3, "Add ] at the end", 1),
    ("a.json", f'["Who?",\n{GOOD}]'.encode(), 1, "an object is expected", 1),
    ("a.json", f'[{GOOD},\n{{"question": "Who?", "options": ["a", "b"], "answer": 5}}]'.encode(), 2, "2 options", 1),
    ("a.json", f'[{GOOD},\n\n{{"question": "Who?", "answer": true}}]'.encode(), 3, "a text or a list", 1),
    ("a.json", f'[{GOOD},\n{{"frage": "Wer?"}}]'.encode(), 2, "there are: frage", 1),
    ("a.json", b"[" * 100_000, 1, "Correct it", 0),
    ("a.jsonl", f"{GOOD}\n\n{{broken\n{GOOD}".encode(), 3, "Every line must be one object", 2),
    ("a.jsonl", f"{GOOD}\n7\n".encode(), 2, "an object is expected", 1),
    ("a.jsonl", b'{"question": "Who?", "answer": "x", "wrong": {"a": 1}}', 1, "'wrong' must be", 0),
    ("a.jsonl", b'{"question": "Who?", "answer": "x", "page": [1]}', 1, "'page' must be", 0),
    ("a.md", b"# Questions\n\nWho? Vane.\n", 1, "Begin with a line like", 0),
    ("a.md", b"| frage | answer |\n|---|---|\n| Who? | Vane |\n", 1, "no column 'question'", 0),
    ("a.md", b"| question | answer |\n|---|---|\n| Who? | Vane |\nVane |\n| Why? | so |\n", 4, "Begin it with |", 2),
    ("a.md", b"| question | answer |\n|---|---|\n| Who? | Vane | or not |\n", 3, "names 2 columns", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "line", "words", "count"), BROKEN)
def test_a_broken_file_is_answered_with_its_line_and_what_to_do(name, data, line, words, count):
    taken = read_questions(data, name)
    assert taken.problems[0].startswith(f"Line {line}: ")
    assert words in " ".join(taken.problems)
    assert all(re.search(r"\. [A-Z].*\.$", problem) for problem in taken.problems)  # what is wrong. What to do.
    assert len(taken.questions) == count
    assert f"{count} of {count + taken.lost} question" in taken.sentence()


def test_far_too_much_is_bounded():
    assert "MB" in read_questions(b"x" * 6_000_000).problems[0]
    rows = "question,answer\n" + "Who?,Vane\n" * 2_500
    taken = read_questions(rows.encode())
    assert (len(taken.questions), taken.lost) == (2_000, 500)
    assert "first 2,000" in taken.problems[-1]
    many = read_questions(("question,answer\n" + ",\tx\n" * 90).encode())
    assert many.shown_problems()[-1] == "And 70 more problems."


def test_a_question_says_why_it_cannot_be_asked():
    assert problem_of(OwnQuestion("Who?", "Vane")) is None
    assert problem_of(OwnQuestion(answer="Vane")) == ("question", "The question is missing.")
    assert problem_of(OwnQuestion("Who?", "Vane\nAmbrose", ("Oake",))).field == "answer"
    field, sentence = problem_of(OwnQuestion("Who?", "Vane", tuple(map(str, range(26)))))
    assert (field, "25 wrong" in sentence) == ("wrong", True)


def test_the_template_on_the_screen_is_a_file_that_is_understood():
    assert json.loads(write_questions(TEMPLATE, "json"))[1] == {"question": TEMPLATE[1].question, "answer": "Nine"}
