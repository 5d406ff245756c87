"""A reply without end is stopped, whatever it consists of: a clear error, in bounded memory."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server import events, probe, replies
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.server import FakeServer, Reply
from tests.fakes.silent import BODY, STREAM, RawServer, endless

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)
MEGABYTES = 12


@pytest.fixture
def model_at(model_at):
    """As in the other tests, with a large window."""
    return lambda server, **changes: model_at(server, **{"window": 100_000, "silence": 60.0, **changes})


def event(**delta: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


WORDS = "and so on and so forth, " * 20
THOUGHTS = event(reasoning_content=WORDS) * 20
TAGGED = event(content="<think>"), event(content=WORDS) * 20
REPLIES = {
    "text": (STREAM, event(content=WORDS) * 20, "repeats itself"),
    "thinking": (STREAM, THOUGHTS, "characters of text and thinking"),
    "thinking in a tag": (STREAM + TAGGED[0], TAGGED[1], "characters of text and thinking"),
    "spaces": (STREAM, event(content=" " * 400) * 20, "characters of text and thinking"),
    "one line": (STREAM + b"data: ", b"x" * 65_536, "one line of it"),
    "one line in small pieces": (STREAM + b'data: {"a": "', b"xyz" * 100, "one line of it"),
    "comments": (STREAM, b": still here\n\n" * 500, "empty parts"),
    "empty events": (STREAM, event(content="") * 100, "empty parts"),
    "empty lines": (STREAM, b"\n" * 65_536, "16 MB"),
    "a body": (BODY, b" " * 65_536, "8 MB"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_without_end_is_stopped_in_bounded_memory(name, model_at, monkeypatch):
    head, part, says = REPLIES[name]
    monkeypatch.setattr(events, "STREAM_BYTES", 16 * 2**20)  # tracing memory is slow
    monkeypatch.setattr(replies, "EMPTY_EVENTS", 10_000)
    with RawServer(endless(head, part)) as server:
        model = model_at(server)
        tracemalloc.start()
        try:
            with pytest.raises(errors.EndlessReplyError, match="did not end") as caught:
                model.complete(PROMPT, CancelToken())
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert server.left.wait(5), "the connection is still open"
    assert says in str(caught.value)
    assert "saved" in str(caught.value)
    assert peak < MEGABYTES * 1e6


def test_what_had_arrived_is_kept_with_the_error(model_at):
    with RawServer(endless(STREAM, event(content=WORDS))) as server:
        stream = model_at(server).stream(PROMPT, CancelToken())
        first = next(stream)
        with pytest.raises(errors.CutOffError) as caught:
            list(stream)
    assert caught.value.text.startswith(first.strip())
    assert "and so on" in caught.value.text


def test_endless_thinking_is_given_more_room_once(model_at):
    with RawServer(endless(STREAM, THOUGHTS)) as server:
        model = model_at(server)
        with pytest.raises(errors.EndlessReplyError):
            model.complete(PROMPT, CancelToken())
        assert model.quirks.reasons
        assert server.calls == 2


def test_an_error_without_end_is_the_error_of_its_status(model_at):
    head = b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\n\r\n"
    with RawServer(endless(head, b"x" * 65_536)) as server:
        model = model_at(server)
        with pytest.raises(errors.KeyRefusedError):
            model.complete(PROMPT, CancelToken())
        assert server.left.wait(5)


def test_a_list_of_models_without_end():
    with RawServer(endless(BODY, b" " * 65_536)) as server:
        with pytest.raises(errors.ModelError):
            probe.list_models(server.url, Secret(), seconds=60.0)
        assert server.left.wait(5)


def test_keep_alive_comments_alone_do_not_go_on_for_ever(model_at):
    with RawServer(endless(STREAM, b": still here\n\n", gap=0.01)) as server:
        model = model_at(server, silence=0.2)
        start = time.monotonic()
        with pytest.raises(errors.ModelTimeoutError):
            model.complete(PROMPT, CancelToken())
    assert 1.9 < time.monotonic() - start < 10


def test_a_long_reply_that_ends_is_no_endless_one(model_at):
    long = " ".join(f"word{n}" for n in range(200))
    with FakeServer([Reply(long, reasoning="so " * 1000)]) as server:
        model = model_at(server)
        prompt = Prompt("answer", "What did Mrs. Oake win?", reply_words=150)  # a quarter fewer than come
        assert model.complete(prompt, CancelToken()).text == long


def test_a_server_that_holds_the_connection_after_its_reply(model_at):
    said = event(content="Yes.") + b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    with RawServer(lambda: [STREAM + said]) as server:
        model = model_at(server)
        start = time.monotonic()
        assert model.complete(PROMPT, CancelToken()).text == "Yes."
        assert time.monotonic() - start < replies.END_SECONDS + 5


@pytest.mark.parametrize(
    "sent", [b"data: 5\n\n", b'data: {"choices": [null, "x", {"delta": "x"}]}\n\n', b"data: " + b"[" * 50_000 + b"\n\n"]
)
def test_events_of_another_shape_are_no_bug(sent, model_at):
    with RawServer(lambda: [STREAM + sent + b"data: [DONE]\n\n"]) as server:
        model = model_at(server)
        with pytest.raises(errors.ModelError):
            model.complete(PROMPT, CancelToken())
