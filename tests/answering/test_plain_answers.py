"""Models that copy the examples of page marks and quotations are asked for a plain answer, from the same texts."""

from __future__ import annotations

import pytest

from readagent_core.answering import replay
from readagent_core.answering.ask import ask
from readagent_core.answering.base import FIRST_ANSWER, AnswerPart, FirstAnswerPart, LookedUp, Question
from readagent_core.answering.recall import PLAIN_PASSAGES
from readagent_core.answering.response import PLAIN, WEIGHED
from readagent_core.cancel import CancelToken
from readagent_core.errors import EmptyReplyError
from readagent_core.models.base import Completion
from readagent_core.settings.saved import ModelOptions
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run

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


def test_that_an_option_was_weighed_is_said() -> None:
    model = FakeModel(lambda _: Completion("Answer: (B) At sea.", orders=3))
    found = answer(run("full-text", model, question="Where did she sleep?", options=OPTIONS, plain=True))
    assert found.option == 1
    assert WEIGHED.format(3) in found.notes


class KeepsWhatItRead(FakeModel):
    """Like a model of this computer: it has a book's gists in its state, and reads what is new slowly."""

    shares_text = True


def test_what_is_read_already_answers_first_and_the_passages_after_it() -> None:
    model = KeepsWhatItRead(["From memory, the inn.", "She slept in the inn, by the fire."])
    events = run("recall-once", model, question="Where did word3 sleep?", plain=True)
    first, second = model.prompts
    assert model.tasks() == [FIRST_ANSWER, "recall_plain"]
    view = first.text[: first.text.index("\n\nAnswer the question")]
    assert "gist3 of page" in view
    assert "word3 word3" not in view  # no passage: nothing is new but the question
    assert second.text.startswith(view)
    assert "word3 word3" in second.text
    parts = [event for event in events if isinstance(event, FirstAnswerPart | LookedUp | AnswerPart)]
    assert [type(part) for part in parts] == [FirstAnswerPart, LookedUp, AnswerPart]
    assert answer(events).text == "She slept in the inn, by the fire."
    gists, look = [step for step in replay.steps(events) if step.looks]
    assert (gists.kind, gists.said) == (replay.GISTS, "From memory, the inn.")
    assert look.calls == ()


def test_a_first_answer_that_fails_is_left_out_and_options_get_none() -> None:
    model = KeepsWhatItRead([EmptyReplyError("Nothing came."), "In the inn."])
    assert answer(run("recall-once", model, question="And word3?", plain=True)).text == "In the inn."
    model = KeepsWhatItRead([Completion("In the", finish="length"), "In the inn."])
    cut = run("recall-once", model, question="And word3?", plain=True)
    assert answer(cut).notes == (PLAIN,)  # that the first one broke off is not said of the answer
    model = KeepsWhatItRead(["Answer: (A) In the inn."])
    assert answer(run("recall-once", model, question="And word3?", options=OPTIONS, plain=True)).option == 0


@pytest.mark.parametrize("gists", [0, 3])
def test_a_book_whose_gists_are_not_all_made_is_asked_plainly_too(gists: int) -> None:
    model = FakeModel(lambda _: "In the inn.")
    model.options = ModelOptions(plain_answers=True)
    events = list(ask(Question("Where is word5?"), memory(60, 100, gists=gists), model, CancelToken()))
    (prompt,) = model.prompts
    assert "word5 word5" in prompt.text
    assert prompt.text.endswith("Question:\nWhere is word5?")
    assert PLAIN in answer(events).notes
    assert prompt.words < PLAIN_PASSAGES + 200
