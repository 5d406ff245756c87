"""What methods do within a number of words a question, and what a question takes of texts of any length."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bench.zoom import Counting, table
from readagent_core.answering.base import AskSettings, LookedUp, Question
from readagent_core.answering.registry import all_methods, method
from readagent_core.cancel import CancelToken
from readagent_core.document import Paragraph
from readagent_core.evaluation.arms import parse, with_words
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run


def test_a_question_takes_few_words_of_a_long_text() -> None:
    (row,) = table([32_000], ["zoom"], questions=2, window=8_000).splitlines()[2:]  # refuses longer prompts
    words, found = (row.split(" | ")[n] for n in (2, 6))
    assert found == "2/2 |"
    assert int(words.replace(",", "")) < 12_000


@pytest.mark.parametrize("language", ["en-US", "fr"])
@pytest.mark.parametrize("name", ["zoom", "memwalker", "recurrence", "semantic-compression"])
def test_methods_that_build_something_take_books_of_every_language(name: str, language: str) -> None:
    about = memory(60, gist="word " * 120)
    about = replace(about, document=replace(about.document, language=language))
    assert answer(run(name, BuiltInReader(), about=about, extra={"words": 1500})).text


def long_book(pages: int = 60, words: int = 150) -> GistMemory:
    """A book of 9,000 words with gists of 3,000, and a key in its middle."""
    about = memory(pages, words, gist="The keeper went on. " * (720 // pages))
    paragraphs = list(about.document.paragraphs)
    paragraphs[pages // 2] = Paragraph("The brass key hung behind the clock. " + paragraphs[pages // 2].text)
    document = replace(about.document, paragraphs=tuple(paragraphs))
    pages_ = tuple(replace(page, words=paragraphs[page.start].words) for page in about.pages)
    return replace(about, document=document, pages=pages_)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, 2_000) for name in (*all_methods(), "full-text:keep=ends", "read-agent-p:0", "read-agent-s:6")),
        *((name, 4_000) for name in ("read-agent-p", "read-agent-s", "gist-mem", "zoom", "bm25", "full-text")),
    ],
)
def test_no_method_sends_more_words_than_its_arm_has(name: str, words: int) -> None:
    (arm,) = with_words([parse(name, AskSettings())], [words])
    model = Counting(1_000_000)
    question = Question("Where hung the brass key?")
    events = list(method(arm.method).run(question, long_book(), model, arm.settings_within_words(), CancelToken()))
    assert answer(events).text
    assert 0 < model.asked <= words


@pytest.mark.parametrize("name", ["bm25", "bm25-dos", "neural"])
def test_retrieval_takes_as_many_pages_as_the_words_hold(name: str) -> None:
    (few,), (many,) = (with_words([parse(name, AskSettings(look_ups=1))], [words]) for words in (1_000, 4_000))
    asked = [run(name, BuiltInReader(), about=long_book(), **vars(arm.settings_within_words())) for arm in (few, many)]
    opened = [len(answer(events).looked_up) for events in asked]
    assert opened[0] in (4, 5)
    assert opened[1] in (24, 25)
    assert not any(isinstance(event, LookedUp) and event.refused for events in asked for event in events)


def looking_up(prompt: Prompt) -> str:
    """Looks up page 11, and shortens gists to the length asked for."""
    if prompt.task == "gist":
        return " ".join(prompt.fields["page"].split()[: int(prompt.fields["most"])])
    return "I want to look up Page [11] to see the key." if prompt.task == "look_up" else "Behind the clock."


def test_gists_leave_room_for_a_page_and_are_all_there_is_without_look_ups() -> None:
    looking = parse("read-agent-p:2:question_words=2000", AskSettings())
    events = run(
        "read-agent-p", FakeModel(looking_up), about=long_book(20, 450), **vars(looking.settings_within_words())
    )
    assert answer(events).looked_up == (11,)
    only = parse("gist-mem:question_words=2000", AskSettings())
    alone = run("gist-mem", Counting(10**6), about=long_book(), **vars(only.settings_within_words()))
    assert 1_400 < answer(alone).memory_words < 2_000


@pytest.mark.parametrize("words", [4_000, 24_000])
@pytest.mark.parametrize("name", ["zoom", "read-agent-search", "read-agent-s"])
def test_a_model_that_opens_all_it_sees_stays_within_the_words(name: str, words: int) -> None:
    asked: list[int] = []

    def reply(prompt: Prompt) -> str:
        asked.append(prompt.words if "question" in prompt.fields else 0)
        if prompt.task != "explore":
            return looking_up(prompt)
        labels = re.findall(r"<Pages (\d+-\d+)>", prompt.text) or re.findall(r"<Page (\d+)>", prompt.text)
        return f'OPEN [{", ".join(labels[:4])}] to see\nFIND "keeper"'

    (arm,) = with_words([parse(name, AskSettings())], [words])
    about = memory(300, 200, gist="The keeper went on. " * 20)
    events = run(name, FakeModel(reply), about=about, **vars(arm.settings_within_words()))
    assert answer(events).text
    assert sum(asked) <= words
