"""Recurrence: one summary, updated with every part, of limited length, stored."""

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import EmptyReplyError, UnreachableError
from readagent_core.methods import method
from readagent_core.methods.base import AskSettings, Question
from readagent_core.methods.support.resources import Resources, with_resources
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run
from tests.methods.test_memwalker import MemoryStore

SMALL = {"segment_tokens": 110, "summary_tokens": 40}  # 82 words: two pages of the test book; 30 words


def test_each_part_updates_the_summary() -> None:
    model = FakeModel(["First.", "Second.", "Third.", "Anna."])
    result = answer(run("recurrence", model, extra=SMALL))
    assert model.tasks() == ["carry"] * 3 + ["answer_text"]
    assert "Summary so far:\n\n(nothing read yet)" in model.prompts[0].text
    assert "Summary so far:\n\nFirst." in model.prompts[1].text
    assert "word3" in model.prompts[1].text
    assert "Third." in model.prompts[3].text
    assert "carried along while it was read" in model.prompts[3].text
    assert result.memory_words == 1
    assert result.extra["parts"] == 3


def test_a_summary_that_grows_is_cut() -> None:
    model = FakeModel(["long " * 60, "Second.", "Third.", "Anna."])
    result = answer(run("recurrence", model, extra=SMALL))
    assert "cut to 30 words" in result.notes[0]
    assert model.prompts[1].text.count("long ") == 29


def test_a_part_without_a_reply_leaves_the_summary_as_it_was() -> None:
    model = FakeModel(["First.", EmptyReplyError("none"), "Third.", "Anna."])
    result = answer(run("recurrence", model, extra=SMALL))
    assert "Summary so far:\n\nFirst." in model.prompts[2].text
    assert "1 of 3 parts" in result.notes[0]


def test_an_interrupted_summary_resumes() -> None:
    wanted = with_resources(AskSettings(extra=SMALL), Resources(artifacts=MemoryStore()))
    broken = FakeModel(["First.", UnreachableError("gone")])
    with pytest.raises(UnreachableError):
        list(method("recurrence").run(Question("Who?"), memory(), broken, wanted, CancelToken()))
    for replies in (["Second.", "Third.", "Anna."], ["Anna."]):
        model = FakeModel(replies)
        list(method("recurrence").run(Question("Who?"), memory(), model, wanted, CancelToken()))
        assert len(model.prompts) == len(replies)
