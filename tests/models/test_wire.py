"""What real servers send, as it was published: each case over a socket, cut anywhere, and damaged.

tests/models/wire has a file a server. A case: what it sends (``events`` or ``body``, ``status``, ``headers``), the
``source`` and what must come of it. ``prompt`` 'long' is one of 4,000 words. The bytes are our own, in the shape that
the source shows. docs/servers.md has the table.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import httpx2
import pytest

from bench.wire import damaged, events_in, verdict
from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server.events import Events
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.replies import Reply
from readagent_core.prompts import Prompt
from tests.fakes.wire import UNPUBLISHED, Case, WireServer, load_cases

CASES = load_cases()
ALL = CASES + load_cases(UNPUBLISHED)
SHORT = Prompt("answer", "When was the lamp lit?", reply_words=500)
LONG = Prompt("answer", "word and word, " * 2000, reply_words=50)


@pytest.fixture(scope="module")
def server():
    with WireServer() as server:
        yield server


def ask(server: WireServer, case: Case, size: int | None = None):
    """What comes of a case: a Completion, or the error that was raised."""
    server.says = list(case.response(case.pieces(size)))
    model = OpenAIServer(server.url, "some-model", window=None if case.prompt == "long" else 2000)
    try:
        return model.complete(LONG if case.prompt == "long" else SHORT, CancelToken())
    except errors.ModelError as error:
        return error
    finally:
        model.close()


def test_the_collection_is_large_and_says_where_each_shape_was_published():
    assert len(CASES) >= 150
    assert len({case.server for case in CASES}) >= 20
    assert len({(case.server, case.name) for case in CASES}) == len(CASES)
    threads = re.compile(r"https://(?!github\.com/[^/]+/[^/]+/?\Z)[^/]+/.")  # a project alone shows nothing
    assert [case for case in CASES if not case.note and not threads.match(case.source)] == []
    table = (Path(__file__).parents[2] / "docs" / "servers.md").read_text(encoding="utf-8")
    assert all(f"\n| {case.server} |" in table for case in CASES)
    assert f"{len(CASES)} shapes" in table


@pytest.mark.parametrize("case", ALL, ids=[f"{case.server}: {case.name}" for case in ALL])
def test_a_shape(case, server):
    found, expect = ask(server, case), dict(case.expect)
    kind = expect.pop("error", None)
    if kind:
        assert type(found).__name__ == kind, f"{found!r}"
        assert expect.pop("says", "") in str(found)
        if "window" in expect:
            assert found.window == expect["window"]
        if "wait" in expect:
            assert found.retry_after == (pytest.approx(expect["wait"]) if expect["wait"] is not None else None)
        return
    assert not isinstance(found, Exception), f"{found!r}"
    names = {"text": "text", "thinking": "reasoning", "finish": "finish", "tokens_in": "tokens_in"}
    names |= {"tokens_out": "tokens_out", "reused": "tokens_reused"}
    assert {name: getattr(found, names[name]) for name in expect} == expect


@pytest.mark.parametrize("case", ALL[::12], ids=[f"{case.server}: {case.name}" for case in ALL[::12]])
def test_how_the_bytes_arrive_makes_no_difference(case, server):
    one = ask(server, case)
    for size in (1, 7):
        other = ask(server, case, size)
        assert type(other) is type(one)
        assert str(other) == str(one) or other.text == one.text


def test_a_body_is_read_alike_wherever_it_is_cut():
    """Each at every byte of its first 200, in this process."""
    for case in ALL:
        body = case.body if len(case.body) < 500 else case.body[:500]  # parsing it all 200 times takes long
        whole = events_in([body], streamed=case.streamed)
        for place in range(1, min(200, len(body))):
            pieces = [body[:place], body[place:]]
            assert events_in(pieces, streamed=case.streamed) == whole, f"{case.server}: {case.name} at {place}"


def test_damaged_bodies_end_in_an_error_or_in_what_was_said():
    """A sample; ``python -m bench.wire`` tries thousands."""
    for number in range(300):
        case = ALL[number % len(ALL)]
        assert verdict(case, *damaged(case, random.Random(number))) == "", f"{case.server}: {case.name}, {number}"


def test_a_line_in_many_pieces_takes_linear_time():
    events = Events(streamed=True)
    for _ in range(100_000):
        assert not list(events.feed(b" "))
    for _ in range(3_000):
        assert not list(events.feed(b'data: {"a":\n' if _ % 2 else b"data: }\n"))
    with pytest.raises(httpx2.DecodingError):
        list(events.feed(b"\n"))
    assert Reply().end() == ""
