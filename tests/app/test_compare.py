"""The Compare screen: its controls, what they start, its rows as the component gets them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import compare_controls as controls
from pages.parts import compare_rows as rows
from pages.parts.cached import get_study
from readagent_core.document import Document, Paragraph
from readagent_core.methods.base import Answer
from readagent_core.study import comparing
from readagent_core.study import comparing_told as words
from readagent_core.study.comparing import Comparison, Entry

App = Callable[..., AppTest]


def test_a_question_goes_to_every_method_ticked(app: App) -> None:
    at = app("pages/compare.py")
    assert not at.exception
    book = get_study().library.books()[0]
    at.checkbox(key="compare_full-text").uncheck().run()
    assert at.button[0].label == "Ask all three"
    at.text_input(key=f"compare_question_{book.id}").set_value("Why did Ambrose Vane put out Harrow Light?")
    at.button[0].click().run()
    job = get_study().jobs.get(comparing.job_key(book.id))
    assert job is not None
    assert job.join(30).state == "done"
    at.run()
    assert not at.exception
    kept = comparing.last(get_study(), book.id)
    assert kept is not None
    assert [e.method for e in kept.entries] == ["read-agent-p", "gist-mem", "bm25"]
    assert len(at.get("download_button")) == 3


def test_an_empty_question_is_told(app: App) -> None:
    at = app("pages/compare.py")
    at.button[0].click().run()
    assert any("Write a question first" in text.value for text in at.text)


def test_a_book_not_read_yet_is_told(app: App) -> None:
    app()
    book = get_study().library.add(Document("Unread", (Paragraph("One. Two."),)))
    at = app("pages/compare.py", book=book.id)
    assert not at.exception
    assert any("has not been read yet" in text.value for text in at.text)


def test_a_known_question_brings_its_options(app: App) -> None:
    at = app("pages/compare.py")
    book = get_study().library.books()[0]
    at.selectbox(key=f"compare_known_{book.id}").select_index(3).run()
    options = at.text_area(key=f"compare_options_{book.id}").value
    asked = controls.asked_from(at.text_input(key=f"compare_question_{book.id}").value, options)
    assert asked.question.text == "Why did Ambrose Vane put out Harrow Light?"
    assert asked.correct == 1
    assert asked.question.options[1] == "To make a ship that was steering on it towards the reef stop"


def test_a_known_question_without_options_brings_its_known_answer(app: App) -> None:
    at = app("pages/compare.py")
    book = get_study().library.books()[0]
    known = controls.known_questions(book)
    free = next(i for i, question in enumerate(known) if not question.get("options"))
    at.selectbox(key=f"compare_known_{book.id}").select_index(free).run()
    assert at.text_area(key=f"compare_options_{book.id}").value == ""
    said = at.text_area(key=f"compare_references_{book.id}").value
    assert said.splitlines() == known[free]["references"]
    asked = controls.asked_from(known[free]["question"], "", said)
    assert asked.references == tuple(known[free]["references"])
    assert controls.asked_from("Who?", "one\n* two", said).references == ()


@pytest.mark.parametrize(
    ("options", "correct", "count"),
    [
        ("", None, 0),
        ("one\n* two\nthree", 1, 3),
        ("(A) one\n* (B) two", 1, 2),
        ("* one\n* two", None, 2),
        ("*", None, 1),
    ],
)
def test_a_star_marks_the_right_option(options: str, correct: int | None, count: int) -> None:
    asked = controls.asked_from("Who?", options)
    assert asked.correct == correct or count == 1
    assert len(asked.question.options) == count or count == 1


def comparison(entry: Entry, *, correct: int | None = 1, options: tuple[str, ...] = ("no", "yes")) -> Comparison:
    return Comparison("T", "en", "Who?", options, correct, 100, (40, 60), "m", 0.0, (entry,))


def test_a_row_under_way_has_no_figures_yet() -> None:
    row = rows.data_of(comparison(Entry("gist-mem", "running", text="An")))["rows"][0]
    assert row["running"] is True
    assert "figures" not in row
    assert row["text"] == "An"


def test_a_row_says_who_was_right_and_parts_the_evidence() -> None:
    text = 'Answer: (B) yes [2].\n\n**Evidence:**\n[2] "the words"'
    answer = Answer(text, "gist-mem", option=1, seen={1: "gist", 2: "full"}, looked_up=(2,), memory_words=50)
    row = rows.data_of(comparison(Entry("gist-mem", "done", text=text, answer=answer)))["rows"][0]
    assert row["cells"] == [1, 2]
    assert row["spoken"] == "Seen in full: page 2"
    assert row["verdict"] == {"kind": "ok", "text": "Right: (B) yes"}
    assert row["text"] == "Answer: (B) yes [2]."
    assert row["evidence"] == '[2] "the words"'
    wrong = words.verdict(
        comparison(Entry("gist-mem", answer=Answer("", "gist-mem", option=0))),
        Entry("x", answer=Answer("", "x", option=0)),
    )
    assert wrong == {"kind": "no", "text": "Wrong: (A) no"}
    none = words.verdict(comparison(Entry("x"), correct=None), Entry("x", answer=Answer("", "x", option=0)))
    assert none == {"kind": "none", "text": "Chose (A) no"}


def test_a_walk_in_words() -> None:
    nodes = [
        {"id": 0, "parent": 2, "children": [], "pages": [1]},
        {"id": 1, "parent": 2, "children": [], "pages": [2, 3]},
        {"id": 2, "parent": None, "children": [0, 1], "pages": [1, 2, 3]},
    ]
    steps = [{"node": 2, "action": 0}, {"node": 0, "action": -1}, {"node": 2, "action": 1}, {"node": 1, "action": -2}]
    assert [words.step_words(nodes, s) for s in steps] == [
        "At the top: into part 1 of 2.",
        "Page 1: not here, back up.",
        "At the top: into part 2 of 2.",
        "Pages 2 to 3: read, and answered.",
    ]
    extra = {"walk": steps, "stray": True, "recovered": True, "share_read": 0.5}
    assert words.walk_words(Answer("", "memwalker", extra=extra)) == (
        "The walk: 4 steps, went astray and came back; 50 % of the text read"
    )
