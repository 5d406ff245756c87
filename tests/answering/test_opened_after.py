"""Zoom and search with ``opened=after``: each prompt is the one before with what was opened or found after it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from readagent_core.answering.base import AskSettings, Event, Expanded, LookedUp, Question
from readagent_core.answering.registry import method
from readagent_core.answering.response import OPENED_AFTER
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.prompts import Prompt
from readagent_core.words import count_words
from tests.answering.test_shelf import tales
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run
from tests.methods.test_zoom import long_memory, reader

REPLIES = ['FIND "brass key"', "OPEN [1-7, 31] to read it", "OPEN [99]", "ANSWER: Behind the clock [31]."]


def explored(replies: list[str], **settings: object) -> tuple[list[Prompt], list[Event]]:
    model = reader(replies)
    extra = {"opened": "after", "words": 1500}
    events = run("zoom", model, about=long_memory(), question="Where hung the key?", extra=extra, **settings)
    return [prompt for prompt in model.prompts if prompt.task != "gist"], events


def test_every_prompt_is_the_one_before_and_what_is_new() -> None:
    prompts, events = explored(REPLIES)
    texts = [prompt.text for prompt in prompts]
    assert all(after.startswith(before) for before, after in pairwise(texts))
    found, opened, refused = (after[len(before) :] for before, after in pairwise(texts))
    assert 'Your request: FIND "brass key".' in found
    assert '<text>\n(on page 31: "' in found
    assert opened.count("The old brass key hung behind the clock.") == 1
    assert "<Page 31> (full text)" in opened
    assert "<Page 7>" in opened
    assert "there is no such page" in refused
    assert "<text>" not in refused  # nothing was opened
    assert "Requests left: 1; pages that may still be opened in full: 2." in refused
    result = answer(events)
    assert (result.text, result.looked_up, result.notes[-1]) == ("Behind the clock [31].", (31,), OPENED_AFTER)
    last = [event for event in events if isinstance(event, Expanded)][-1]
    assert (31, 31, "full") in last.shown
    assert last.memory_words == result.memory_words
    sent = sum(map(count_words, re.findall(r"<text>\n(.*?)\n</text>", texts[-1], re.DOTALL)))
    assert result.memory_words == pytest.approx(sent, rel=0.1)  # with tags


def test_the_screens_are_shown_the_same_as_in_place() -> None:
    _, after = explored(REPLIES)
    in_place = run("zoom", reader(REPLIES), about=long_memory(), question="Where hung the key?", extra={"words": 1500})
    kinds = (Expanded, LookedUp)
    shown = [[e.pages for e in events if isinstance(e, kinds)] for events in (after, in_place)]
    assert shown[0] == shown[1]
    assert answer(after).looked_up == answer(in_place).looked_up


def test_the_answer_follows_when_no_request_is_left() -> None:
    prompts, events = explored(["OPEN [1]", "OPEN [2]", 'FIND "key"', "OPEN [31]", "ANSWER: There [31]."])
    assert prompts[-1].text.startswith(prompts[-2].text)
    assert "No requests are left." in prompts[-1].text
    assert answer(events).text == "There [31]."


def test_a_request_in_place_of_the_answer_is_followed_by_the_prompt_for_the_answer() -> None:
    prompts, events = explored(["OPEN [1]", "OPEN [2]", 'FIND "key"', "OPEN [31]", "OPEN [3]", "There [31]."])
    assert prompts[-1].task == "answer"
    assert "<Page 31> (full text)" in prompts[-1].text
    assert answer(events).text == "There [31]."


def test_what_no_longer_fits_is_shown_in_place_again() -> None:
    prompts, events = explored(["OPEN [1-7]", "OPEN [57-60]", "OPEN [1]", "ANSWER: So [1]."], context_words=2000)
    texts = [prompt.text for prompt in prompts]
    begins = [after.startswith(before) for before, after in pairwise(texts)]
    assert not all(begins)
    assert any(begins)
    assert all(count_words(text) < 2000 + 900 for text in texts)
    assert texts[-1].count("<Page 1> (full text)") == 1
    assert answer(events).looked_up == (1,)


def test_several_books_are_explored_the_same_way() -> None:
    model = reader(["OPEN [2.3] to read it", 'FIND "token1"', "ANSWER: It was there [2.3]."])
    settings = AskSettings(extra={"opened": "after"})
    events = list(method("zoom").run(Question("Who?"), AskedShelf(tales(3)), model, settings, CancelToken()))
    texts = [prompt.text for prompt in model.prompts]
    assert all(after.startswith(before) for before, after in pairwise(texts))
    assert "<Page 2.3> (full text)\nOn page 3 token2 was seen." in texts[1]
    assert '(on page 1.1: "On page 1 token1 was seen.' in texts[2]
    assert [book.looked_up for book in answer(events).books] == [(), (3,), ()]


def test_a_question_that_the_gists_settle_says_nothing_of_it() -> None:
    result = answer(run("zoom", FakeModel(["ANSWER: Anna [2]."]), about=memory(), extra={"opened": "after"}))
    assert result.notes == ()
