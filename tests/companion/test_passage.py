"""Explain, define and translate: what is sent, what never is, and where words occur without a model."""

from __future__ import annotations

import threading

import pytest

from readagent_core.companion.passage import (
    DEFINE,
    EXPLAIN,
    MOST_CHARACTERS,
    TASKS,
    TRANSLATE,
    Passage,
    ask_about,
    make_prompt,
    other_places,
)
from readagent_core.document import Document, Paragraph
from readagent_core.errors import SettingsError
from readagent_core.library.marks import Spot
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply

TEXTS = [f"Part {n}. The lamp word{n} was lit. {'It burned. ' * 20}" for n in range(12)]
BOOK = Document("Lamps", tuple(map(Paragraph, TEXTS)))


def a_passage(paragraph: int = 5, allowed: int | None = None) -> Passage:
    return Passage(BOOK, Spot(paragraph, 8), Spot(paragraph, 16), allowed)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("limit", [None, 0, 3, 5, 6, 7])
def test_nothing_past_the_limit_reaches_the_server(open_workspace, task, limit):
    with FakeServer(lambda text: "A lamp.") as server:
        workspace = open_workspace(server.url)
        job = ask_about(workspace, "key", task, a_passage(allowed=limit), into="German")
        assert job.join(60).value.text == "A lamp."
        (sent,) = [request.text for request in server.chats]
    assert "The lamp" in sent
    shown = {n for n in range(12) if f"word{n} " in sent}
    assert shown <= set(range(12 if limit is None else limit))
    if limit is None:
        assert {4, 5, 6} <= shown  # the passage has its surroundings
    assert ("German" in sent) == (task == TRANSLATE)


def test_the_surroundings_are_bounded():
    prompt = make_prompt(EXPLAIN, Passage(BOOK, Spot(11, 0), Spot(11, 4)))
    assert len(prompt.text) < 4_000
    assert "word0 " not in prompt.text


def test_a_reply_says_what_it_cost_and_one_asked_again_is_sent_again(open_workspace):
    with FakeServer(lambda text: "<think>hm</think>A lamp.") as server:
        workspace = open_workspace(server.url)
        reply = ask_about(workspace, "one", DEFINE, a_passage(), into="").join(60).value
        assert (reply.text, reply.usage.calls, reply.model) == ("A lamp.", 1, "fake-model")
        stored = ask_about(workspace, "two", DEFINE, a_passage(), into="").join(60).value
        assert (stored.text, stored.usage.calls) == ("A lamp.", 0)
        ask_about(workspace, "three", DEFINE, a_passage(), into="", again=True).join(60)
        assert len(server.chats) == 2


def test_it_is_cancelled_while_the_server_waits(open_workspace):
    free = threading.Event()

    def before(number: int, text: str) -> Reply | None:
        free.wait(60)
        return None

    with FakeServer(lambda text: "late", before=before) as server:
        job = ask_about(open_workspace(server.url), "key", EXPLAIN, a_passage(), into="")
        job.cancel()
        assert job.join(30).state == "cancelled"
        free.set()


def test_what_cannot_be_asked_says_so(open_workspace):
    workspace = open_workspace()
    with pytest.raises(SettingsError, match="needs a language model"):
        ask_about(workspace, "key", EXPLAIN, a_passage(), into="")
    workspace = open_workspace(model=FakeModel(lambda prompt: "x"))
    with pytest.raises(SettingsError, match="Select some words"):
        ask_about(workspace, "key", EXPLAIN, Passage(BOOK, Spot(1, 3), Spot(1, 3)), into="")
    long = Document("Long", (Paragraph("word " * MOST_CHARACTERS),))
    with pytest.raises(SettingsError, match="too long"):
        ask_about(workspace, "key", EXPLAIN, Passage(long, Spot(0, 0), Spot(0, 5 * MOST_CHARACTERS)), into="")


def test_the_places_of_words_end_at_the_limit_and_leave_the_passage_out():
    text = ("The lamp. Lamplight.", "A LAMP, the\nlamp.", "No light.", "The lamp again.")
    book = Document("Lamps", tuple(map(Paragraph, text)))
    passage = Passage(book, Spot(0, 0), Spot(0, 8))
    places, more = other_places(passage, most=5)
    assert [text[p.paragraph][p.start : p.end] for p in places] == ["the\nlamp", "The lamp"]
    assert more == 0
    assert len(other_places(Passage(book, Spot(0, 0), Spot(0, 8), allowed=3), most=5)[0]) == 1
    lamp = Passage(book, Spot(0, 4), Spot(0, 8))
    assert other_places(lamp, most=1) == ([other_places(lamp, most=1)[0][0]], 2)  # not in 'Lamplight'


def test_words_of_a_script_without_spaces_are_found_inside_others():
    book = Document("雪", (Paragraph("雪の駅。"), Paragraph("大雪が降った。")), language="ja")
    places, _ = other_places(Passage(book, Spot(0, 0), Spot(0, 1)), most=5)
    assert [(p.paragraph, p.start) for p in places] == [(1, 1)]
    assert "次の言語" in make_prompt(TRANSLATE, Passage(book, Spot(0, 0), Spot(0, 1)), into="English").text
