"""Replies whose form the server enforces, and the way back to plain text."""

from __future__ import annotations

import pytest

from readagent_core import models
from readagent_core.answering.look_up_replies import parse_look_up
from readagent_core.answering.response import chosen_option
from readagent_core.cancel import CancelToken
from readagent_core.connecting.checking.tasks import gisting_prompts, question_prompts
from readagent_core.connecting.checking.text import QUESTIONS
from readagent_core.gisting.pause_points import parse_pause_point
from readagent_core.models.server.json_replies import to_text
from readagent_core.prompts import Prompt
from tests.fakes.server import FakeServer, Reply, error

# of one method alone: all of them would load scikit-learn while tests are collected
PROMPTS = (*gisting_prompts(), *question_prompts(QUESTIONS[0], every_method=False))
PAUSE, LOOK_UP, CHOOSE = (next(p for p in PROMPTS if p.task == task) for task in ("paginate", "look_up", "choose"))
NEXT = Prompt("look_up_next", "…")
CHOOSE_AGAIN = CHOOSE.with_follow_up("choose.again", letters="A, B, C, D")


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("prompt", [PAUSE, LOOK_UP, CHOOSE_AGAIN], ids=lambda prompt: prompt.task)
def test_an_enforced_reply_reads_like_the_form_asked_for(model_at, prompt, streams):
    with FakeServer(enforces=True, refuses=frozenset() if streams else frozenset({"stream"})) as server:
        *parts, completion = model_at(server, window=8000, asks_json=True).stream(prompt, CancelToken())
        plain = model_at(server, window=8000).complete(prompt, CancelToken())
    assert parts == []  # nobody sees half a JSON object
    assert server.chats[0].payload["response_format"]["type"] == "json_schema"
    assert "response_format" not in server.chats[-1].payload
    assert "{" not in completion.text
    if prompt is PAUSE:
        assert parse_pause_point(completion.text, range(99)).at == parse_pause_point(plain.text, range(99)).at
    elif prompt is LOOK_UP:
        readable = range(1, 6)
        assert (
            parse_look_up(completion.text, readable, limit=5).pages
            == parse_look_up(plain.text, readable, limit=5).pages
        )
    else:
        assert chosen_option(completion.text, "wxyz") == chosen_option(plain.text, "wxyz")


def test_an_answer_is_free_text(model_at):
    with FakeServer(enforces=True) as server:
        *parts, _ = model_at(server, window=8000, asks_json=True).stream(CHOOSE, CancelToken())
    assert parts
    assert "response_format" not in server.chats[0].payload


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_server_that_refuses_a_schema_is_asked_for_plain_text(model_at, status):
    refusal = Reply(status=status, error=error("'response_format.type' must be 'text'"))
    with FakeServer(before=lambda n, text: refusal if n == 0 else None) as server:
        model = model_at(server, window=8000, asks_json=True)
        assert parse_pause_point(model.complete(PAUSE, CancelToken()).text, range(99))
        model.complete(LOOK_UP, CancelToken())
    assert ["response_format" in chat.payload for chat in server.chats] == [True, False, False]
    assert any("plain text" in notice for notice in model.notices)


def test_a_server_that_ignores_a_schema_is_read_as_before(model_at):
    with FakeServer() as server:
        assert parse_pause_point(model_at(server, asks_json=True).complete(PAUSE, CancelToken()).text, range(99)).at


@pytest.mark.parametrize(
    ("prompt", "reply", "text"),
    [
        (PAUSE, '```json\n{"reason": "dusk", "break_point": 4}\n```', "Break point: <4>\nBecause dusk"),
        (PAUSE, '<think>4?</think>{"break_point": 4, "reason": "dusk"}', "Break point: <4>\nBecause dusk"),
        (PAUSE, '{"break_point": "4", "reason": "dusk"}', "Break point: <4>\nBecause dusk"),
        (LOOK_UP, '{"reason": "the rope", "pages": []}', "I want to look up Page [] because the rope"),
        (LOOK_UP, '{"reason": "the rope", "pages": [4, 5]}', "I want to look up Page [4, 5] because the rope"),
        (NEXT, '{"reason": "it is told", "stop": true, "page": 4}', "STOP it is told"),
        (NEXT, '{"reason": "the rope", "stop": false, "page": 4}', "I want to look up Page 4 because the rope"),
        (CHOOSE_AGAIN, '{"answer": "C"}', "Answer: (C)"),
        *[
            (p, r, r)
            for p in (PAUSE, LOOK_UP, NEXT)
            for r in ('{"pages": "x"}', "[4]", '{"break_point": null}', "{", "")
        ],
    ],
)
def test_only_an_object_of_the_form_is_written_again(prompt, reply, text):
    assert to_text(prompt, reply) == text


def test_a_schema_is_sent_only_for_models_it_is_saved_for(settings_for):
    with FakeServer() as server:
        plain = models.connect(settings_for(server, json_replies=["another"]))
        asks = models.connect(settings_for(server, json_replies=["fake-model"]))
        assert (plain.sampling, asks.sampling) == ({"temperature": 0.0}, {"temperature": 0.0, "json_replies": True})
        for model in (plain, asks):
            model.complete(PAUSE, CancelToken())
    assert ["response_format" in chat.payload for chat in server.chats] == [
        False,
        True,
    ]  # no reply of the other's cache
