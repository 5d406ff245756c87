"""Suggested questions: from names in the gists, from a reply, saved by limit."""

from __future__ import annotations

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.workspace import suggesting
from tests.fakes.model import FakeModel
from tests.recordings import make_memory, recording
from tests.workspace.test_asking import a_book, a_memory


def test_people_are_found_and_places_are_not():
    memory = recording("the-keeper-of-harrow-light").memory
    names = suggesting.people_named(memory)
    assert "Mr. Crale" in names
    assert not {"Harrow", "Gannet", "Monday"} & set(names)


def test_peoples_are_no_person():
    lines = (
        "Weena was afraid of the dark. The Morlocks came. Morlocks had gone by.",
        "Weena said yes. The Chinese said no.",
    )
    gists = [f"{line} Chinese was the lamp; a Morlocks told the Morlocks so." for line in lines]
    assert suggesting.people_named(make_memory(lines, gists)) == ["Weena"]


def test_the_built_in_reader_suggests_without_a_model():
    memory = recording("the-keeper-of-harrow-light").memory
    always = suggesting.standard_questions(memory, finished=True)
    assert [s.whole for s in always] == [True, True, True]
    assert always[0].text == "What is this about?"
    model = FakeModel([])
    model.is_language_model = False
    assert all(q.startswith("Who is") for q in suggesting.suggest(memory, model, CancelToken()))
    assert (
        suggesting.standard_questions(recording("yuki-no-eki").memory, finished=True)[0].text
        == "これは何についての文章ですか。"
    )


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Who took the money?\nWhy?\nWhere was Vane?\nAnd then?", ["Who took the money?", "Why?", "Where was Vane?"]),
        ('1. Who took it?\n2) "Why did he?"\n- Where?', ["Who took it?", "Why did he?", "Where?"]),
        ("Here are three questions:\nWho took it?", ["Who took it?"]),
        ("1．だれですか。\n・なぜですか", ["だれですか。", "なぜですか"]),
        ("Who? " + "word " * 40 + "?", []),
        ("", []),
    ],
)
def test_questions_in_a_reply(said, found):
    assert suggesting.parse_suggestions(said) == found


def test_suggestions_are_saved_for_each_limit(open_workspace):
    workspace = open_workspace(model=FakeModel(lambda p: "Who was it?" if p.task == "suggest" else ""))
    _, reading = a_book(workspace, a_memory())
    memory = workspace.library.memory(reading.id)
    assert suggesting.saved_suggestions(workspace, reading.id, up_to=3) is None
    suggesting.start_suggesting(workspace, reading.id, memory.up_to(3), up_to=3).join(5)
    assert suggesting.saved_suggestions(workspace, reading.id, up_to=3) == ["Who was it?"]
    assert suggesting.saved_suggestions(workspace, reading.id, up_to=None) is None
    assert "gistword4" not in workspace.model.prompts[0].text
