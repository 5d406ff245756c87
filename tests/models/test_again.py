"""A call that went well is sent again with another body, and goes the long way where it must."""

from __future__ import annotations

import pytest

from readagent_core.models import transport
from readagent_core.models.base import Watch
from readagent_core.models.openai_server import OpenAIServer
from readagent_core.prompts import Prompt
from tests.fakes.http import TIMEOUT
from tests.fakes.http import client as client
from tests.fakes.http import no_proxies as no_proxies
from tests.fakes.http import server as server


def test_again_is_the_same_call_with_another_body(server, client):
    with client.stream("POST", f"{server.url}/chunks", content="one", headers={"Authorization": "Bearer K"}) as reply:
        reply.read()
        again = transport.Again.of(reply)
    for body in (b"second", "第三".encode()):
        answer = again.send(body)
        assert (answer.status_code, answer.read()) == (200, b"onetwo")
        answer.close()
    (_, port, _, first), *others = server.seen
    assert [body for _, _, body, _ in others] == [b"second", "第三".encode()]
    for _, port_now, body, headers in others:
        assert port_now == port
        assert headers == {**first, "Content-Length": str(len(body))}


def test_again_a_packed_answer_is_unpacked_and_a_refusal_is_told(server, client):
    for path, status, text in (("packed", 200, "packed text"), ("busy", 503, "try later")):
        reply = client.post(f"{server.url}/{path}", content="x")
        answer = transport.Again(reply.extensions[transport.CONNECTIONS], reply.request).send(b"y")
        answer.read()
        assert (answer.status_code, answer.text) == (status, text)
        answer.close()
    assert answer.headers["Retry-After"] == "2"


@pytest.mark.parametrize("path", ["moved", "busy"])
def test_what_was_redirected_or_went_wrong_is_not_sent_again_as_it_is(server, client, path):
    assert transport.Again.of(client.post(f"{server.url}/{path}", content="x")) is None


def test_through_a_proxy_every_call_goes_the_long_way(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    with transport.client(TIMEOUT) as client:
        assert transport.Again.of(client.post("http://models.invalid/plain", content="x")) is None


def test_a_server_that_moves_between_two_calls_is_followed(server):
    model = OpenAIServer(f"{server.url}/v1", "m", window=10_000)
    for moved in (False, False, True, True, False):
        server.moved = moved
        assert model.complete(Prompt("gist", "Are you there?"), Watch()).text == "Yes."
    paths = [path.split("/")[1] for path, *_ in server.seen]
    assert paths == ["v1", "v1", "v1", "v1", "v2", "v1", "v2", "v1"]
    model.close()
