"""The built-in reader on the samples: it finds what is there as often as it can, and says so where nothing is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pages.parts.ask.record import exchange_record
from readagent_core.cancel import CancelToken
from readagent_core.library.records import Exchange
from readagent_core.methods import method
from readagent_core.methods.base import Answer, Answered, AskSettings, Event, Question, event_to_dict
from readagent_core.models.builtin.answers import is_not_found
from readagent_core.models.builtin.reader import NAME, BuiltInReader
from readagent_core.workspace.samples import FOLDER
from tests.recordings import recording

UNANSWERABLE = json.loads((Path(__file__).parents[1] / "data" / "unanswerable.json").read_text(encoding="utf-8"))
ENGLISH, JAPANESE = ("the-keeper-of-harrow-light", "harrow-council-minutes"), ("yuki-no-eki",)
CITED = {ENGLISH: 12, JAPANESE: 3}  # questions whose page was cited by the version that answered every question


def asked(name: str, question: str) -> tuple[Answer, list[Event]]:
    model, settings = BuiltInReader(), AskSettings(look_ups=3)
    events = list(
        method("read-agent-p").run(Question(question), recording(name).memory, model, settings, CancelToken())
    )
    return next(event.answer for event in events if isinstance(event, Answered)), events


@pytest.mark.parametrize("names", [ENGLISH, JAPANESE], ids=["English", "Japanese"])
def test_of_twenty_unanswerable_questions_eighteen_are_not_found(names: tuple[str, ...]) -> None:
    found = []
    questions = [(name, question) for name in names for question in UNANSWERABLE[name]]
    for name, question in questions:
        answer, events = asked(name, question)
        kept = tuple(event_to_dict(event) for event in events)
        exchange = Exchange("x", "c", 1, question, events=kept, extra={"model": NAME})
        drawn = exchange_record(exchange, events, memory=recording(name).memory, state="done", text=answer.text)
        assert "claim" not in drawn["legend"]
        assert {cite["state"] for piece in drawn["pieces"] for cite in piece["cites"]} <= {"copied"}
        assert "I want" not in json.dumps(drawn)
        if drawn["notFound"] is None:
            found.append(question)
        else:
            assert not drawn["pieces"]
    assert len(questions) == 20
    assert len(found) <= 2, found


@pytest.mark.parametrize("names", [ENGLISH, JAPANESE], ids=["English", "Japanese"])
def test_the_samples_questions_find_their_page_as_often_as_before(names: tuple[str, ...]) -> None:
    cited = missed = 0
    for name in names:
        memory = recording(name).memory
        for question in json.loads((FOLDER / f"{name}.questions.json").read_text(encoding="utf-8")):
            answer, _ = asked(name, question["question"])
            evidence = [letters(text) for text in question["evidence"]]
            right = {p.number for p in memory.pages if any(e in letters(memory.page_text(p.number)) for e in evidence)}
            cited += not right.isdisjoint(int(n) for n in re.findall(r"\[(\d+)\]", answer.text))
            missed += bool(right) and is_not_found(answer.text)
    assert cited >= CITED[names]
    assert missed <= 2


def letters(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())
