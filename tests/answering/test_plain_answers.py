"""Models that copy the examples of page marks and quotations are asked for a plain answer, from the same texts."""

from __future__ import annotations

import pytest

from readagent_core.answering.response import PLAIN
from tests.fakes.model import FakeModel
from tests.methods.books import answer, run

OPTIONS = ("In the inn", "At sea", "Nowhere")


@pytest.mark.parametrize("method", ["read-agent-p", "gist-mem", "bm25", "recall-once", "full-text"])
def test_the_texts_are_the_same_and_the_question_is_asked_in_few_words(method: str) -> None:
    prompts = {}
    for plain in (False, True):
        model = FakeModel(lambda _: "She slept in the inn.")
        events = run(method, model, question="Where did she sleep?", plain=plain)
        prompts[plain] = model.prompts[-1]
        assert (PLAIN in answer(events).notes) == plain
        assert answer(events).text == "She slept in the inn."
    usual, few = prompts[False].text, prompts[True].text
    assert "Where did she sleep?" in few
    assert "Evidence" not in few
    assert "ANSWER" not in few
    assert few.endswith("Question:\nWhere did she sleep?")
    assert few.count("<text>") == usual.count("<text>")
    assert few.startswith(usual[: usual.index("</text>")])  # what was read of it is used again


@pytest.mark.parametrize("method", ["read-agent-p", "recall-once"])
def test_an_option_is_still_named_by_its_letter(method: str) -> None:
    model = FakeModel(
        lambda prompt: "I want to look up Page []." if prompt.task == "look_up" else "Answer: (B) At sea."
    )
    events = run(method, model, question="Where did she sleep?", options=OPTIONS, plain=True)
    last = model.prompts[-1]
    assert last.choices == ("A", "B", "C")
    assert all(option in last.text for option in OPTIONS)
    assert "Evidence" not in last.text
    assert answer(events).option == 1
