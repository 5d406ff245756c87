"""Several servers called as one: a server that is away is left out and told; a key goes to its own server only."""

from __future__ import annotations

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.corpus.servers import ServerPool, connect_pool
from readagent_core.errors import UnreachableError
from readagent_core.models import connect, connection
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret, Settings
from readagent_core.settings.saved import SavedSettings
from tests.fakes.server import FakeServer, Reply, error


@pytest.fixture(autouse=True)
def closed():
    yield
    connection.close_all()


def settings(home, url, key="", origin=""):
    home.mkdir(exist_ok=True)
    return Settings(home, url, Secret(key), "fake-model", {"api_key": origin}, SavedSettings(window=9000))


def ask(model, *texts):
    return [model.complete(Prompt("gist", text), CancelToken()).text for text in texts]


def test_a_server_that_is_away_is_left_out_and_another_answers(own_home):
    told = []
    with FakeServer() as gone:
        host = gone.url.split("/")[2]
    with FakeServer(lambda text: "OK.") as good:
        model, _ = connect_pool(settings(own_home, good.url), [gone.url, good.url], told.append, most=2)
        assert ask(model, *(f"call {n}" for n in range(6))) == ["OK."] * 6
        assert len(good.chats) == 6
    assert told[0] == f"{host} is left out for 1 s: UnreachableError"


def test_calls_wait_for_a_server_that_was_there_before_but_not_for_ever(own_home):
    told = []
    with FakeServer(lambda text: "OK.") as server:
        one = connect(settings(own_home, server.url))
        pool = ServerPool([one.retrying.model], told.append, patience=2.0)
        ask(pool, "first")
        server.before = lambda number, text: Reply(drop=True) if number < 3 else None
        assert ask(pool, "second") == ["OK."]
        assert told[-1].endswith("answers again")
        server.before = lambda number, text: Reply(drop=True)
        with pytest.raises(UnreachableError):
            ask(pool, "third")
    assert len(told) > 3


def test_a_server_that_asks_for_fewer_calls_gets_them_and_none_is_lost(own_home):
    busy = Reply(status=429, error=error("slow down", kind="rate_limit"), headers={"Retry-After": "0.1"})
    told = []
    with FakeServer(lambda text: "OK.", before=lambda number, text: busy if number % 3 == 0 else None) as server:
        model, limiter = connect_pool(settings(own_home, server.url), [], told.append, most=4)
        assert ask(model, *(f"call {n}" for n in range(4))) == ["OK."] * 4
    assert limiter.allowed < 4
    assert "RateLimitError" in told[0]


@pytest.mark.parametrize(("origin", "expected"), [("settings", "Bearer none"), ("environment", "Bearer key-1")])
def test_a_saved_key_goes_to_the_server_it_was_saved_for(own_home, origin, expected):
    with FakeServer(lambda text: "OK.") as own, FakeServer(lambda text: "OK.") as other:
        given = settings(own_home, own.url, "key-1", origin)
        model, _ = connect_pool(given, [own.url, other.url], print, most=2)
        ask(model, *(f"call {n}" for n in range(6)))
        assert own.chats[0].headers["authorization"] == "Bearer key-1"
        assert other.chats[0].headers["authorization"] == expected
