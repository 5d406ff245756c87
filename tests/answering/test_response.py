"""The option that a reply names, in the forms models use."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.answering.base import AnswerPart
from readagent_core.answering.response import chosen_option, declines
from readagent_core.cancel import CancelToken
from readagent_core.citations import parse
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import REPLIES, answer, run

OPTIONS = ("A brass key", "The lamp", "The keeper's log", "Nobody knows")


@pytest.mark.parametrize(("reply", "option"), REPLIES["option"])
def test_the_option_a_reply_names(reply: str, option: int | None) -> None:
    assert chosen_option(reply, OPTIONS) == option


def test_an_option_within_a_longer_one() -> None:
    assert chosen_option("It was a black cat.", ("cat", "black cat", "dog")) == 1


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("Answer: none\nThe text does not say who lit it.", True),
        ("**Answer:** (none). It does not say.", True),
        ("Both fit the text.\nAnswer: none", True),
        ("Answer: なし。書かれていません。", True),
        ("Answer: (A) None of the lamps burned.", False),
        ("Answer: (B)\nThere is none in the tower.", False),
        ("None of them fits.", False),
        ("Answer: nonetheless (A)", False),
    ],
)
def test_a_reply_that_declines_to_choose(reply: str, says: bool) -> None:
    assert declines(reply) == says


def test_the_app_lets_the_model_decline_and_experiments_force_a_choice() -> None:
    options = ["no", "yes"]
    replies = ["Page []", "Answer: none\nThe text does not say."]
    model = FakeModel(replies)
    free = answer(run("read-agent-p", model, options=options, may_decline=True))
    assert free.option is None
    assert "does not settle" in free.notes[0]
    assert '"Answer: none"' in model.prompts[-1].text
    model = FakeModel([*replies, "Answer: (B)"])
    forced = answer(run("read-agent-p", model, options=options))
    assert forced.option == 1
    assert '"Answer: none"' not in model.prompts[1].text
    assert "Choose one even if" in model.prompts[1].text


def test_a_weak_model_reasons_before_it_names_a_letter() -> None:
    reply = "Option A says no, but page 2 says yes [2].\nAnswer: (B)"
    model = FakeModel(["Page []", reply])
    result = answer(run("read-agent-p", model, options=["no", "yes"], reason_first=True))
    assert result.option == 1
    assert "First compare the options" in model.prompts[-1].text
    assert parse(result.text).body == "Option A says no, but page 2 says yes [2]."


def test_quotations_are_asked_for_only_where_a_page_is_in_full() -> None:
    for look_up, asked in (("Page []", False), ("Page [2]", True)):
        model = FakeModel([look_up, "Anna."])
        run("read-agent-p", model)
        assert ("Evidence:" in model.prompts[-1].text) == asked
        run("read-agent-p", model := FakeModel([look_up, "(B)"]), options=["no", "yes"])
        assert ("Evidence:" in model.prompts[-1].text) == asked


@settings(max_examples=150, derandomize=True)
@given(st.text(max_size=80), st.lists(st.text(max_size=12), min_size=1, max_size=5))
def test_never_raises_and_stays_within_the_options(reply: str, options: list[str]) -> None:
    option = chosen_option(reply, options)
    assert option is None or 0 <= option < len(options)


class Streams(FakeModel):
    """A reply that comes in the parts between its bars."""

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        *parts, reply = str(self.complete(prompt, cancel).text).split("|")
        yield from [*parts, reply]
        yield Completion("".join([*parts, reply]))


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("She| slept in| the inn.", ["She", " slept in", " the inn."]),
        ("ANS|WER:| She slept.", ["She slept."]),
        ("**Answer| is: the inn.**", ["**Answer is: the inn.**"]),
        ("<think>|The inn?</think>", ["<think>The inn?</think>"]),
    ],
)
def test_where_nothing_can_be_asked_for_the_first_words_are_shown_as_they_come(reply: str, shown: list[str]) -> None:
    events = run("passages-dos", Streams([reply]), question="Where did word3 sleep?")
    assert [event.text for event in events if isinstance(event, AnswerPart)] == shown
