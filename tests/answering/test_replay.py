"""Replay: the steps of an exchange, made again from its saved events."""

from __future__ import annotations

import json

from readagent_core.answering import replay
from readagent_core.answering.base import Answer, Answered, AnswerPart, AskSettings, Expanded, LookedUp, ModelCall
from readagent_core.answering.event_json import event_to_dict
from tests.answering.test_asking import a_book, a_memory, asked, reply
from tests.fakes.model import FakeModel

GISTS = {1: "gist", 2: "gist", 3: "gist"}


def look(page: int) -> list:
    return [
        ModelCall("look_up_next", f"p{page}", f"Page {page}"),
        LookedUp((page,), f"Page {page}"),
        Expanded((page,), 50),
    ]


def test_every_look_up_of_s_is_a_step_with_its_own_prompt():
    answer = Answer("So.", "read-agent-s", looked_up=(2, 3), seen={1: "gist", 2: "full", 3: "full"})
    events = [
        ModelCall("standalone", "f", "Why did Vane row?"),
        *look(2),
        *look(3),
        ModelCall("look_up_next", "p", "STOP"),
        LookedUp((), "STOP"),
        AnswerPart("So."),
        ModelCall("answer", "a", "So."),
        Answered(answer),
    ]
    steps = replay.steps(events)
    assert [s.title for s in steps] == [
        "Question", "Follow-up", "Gists", "Look-up 1", "Look-up 2", "Look-up 3", "Memory as sent", "Answer",
    ]  # fmt: skip
    assert [s.expanded for s in steps] == [(), (), (), (), (2,), (3,), (2, 3), (2, 3)]
    assert [[c.prompt for c in s.calls] for s in steps] == [[], ["f"], [], ["p2"], ["p3"], ["p"], [], ["a"]]


def test_an_exchange_without_gists_or_broken_off_has_the_steps_it_came_to():
    answer = Answer("So.", "full-text", seen={1: "full", 2: "full"})
    without = replay.steps([ModelCall("answer_text", "a", "So."), Answered(answer)])
    assert [s.title for s in without] == ["Question", "Memory as sent", "Answer"]
    broken_off = replay.steps([*look(2), AnswerPart("He")])
    assert [s.title for s in broken_off] == ["Question", "Gists", "Look-up", "Memory as sent", "Answer"]
    assert replay.steps([])[-1].title == "Gists"
    assert replay.answer_text([AnswerPart("He "), AnswerPart("rowed")]) == "He rowed"


def test_events_come_back_from_the_library_with_parts_joined(open_workspace):
    workspace = open_workspace(model=FakeModel(reply))
    exchange, _ = asked(workspace, *a_book(workspace, a_memory()), settings=AskSettings(look_ups=5))
    assert exchange.settings["look_ups"] == 5
    events = replay.events_of(exchange)
    assert sum(isinstance(e, AnswerPart) for e in events) == 1
    assert replay.answer_text(events).startswith("So it was [2].")
    assert json.dumps([event_to_dict(e) for e in events])
