"""Stop ends work within a second, whatever the server does just then, and closes the connection."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from readagent_core import models
from readagent_core.cancel import CancelToken
from readagent_core.connecting.checking.check import check_model
from readagent_core.errors import CancelledError
from readagent_core.models import connection
from readagent_core.models.limiter import Limiter
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.retry import Retrying
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from readagent_core.settings.saved import SavedSettings
from tests.fakes.server import FakeServer, Reply, error
from tests.fakes.silent import EVENT, STREAM, RawServer, endless, silent_after

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)
WHOLE = STREAM + EVENT * 3
SECOND = 1.0


def stopped(work: Callable[[CancelToken], object], ready: Callable[[], object] = lambda: None) -> None:
    """Cancel ``work`` a little after ``ready`` returns; it must end within a second."""
    cancel = CancelToken()
    ended: list[float] = []

    def run() -> None:
        with pytest.raises(CancelledError, match="Stopped"):
            work(cancel)
        ended.append(time.monotonic())

    thread = threading.Thread(target=run)
    thread.start()
    ready()
    time.sleep(random.uniform(0.05, 0.2))
    assert not ended, "it ended by itself"
    cancel.cancel()
    cancelled = time.monotonic()
    thread.join(20)
    assert ended
    assert ended[0] - cancelled < SECOND


def a_model(server, **changes) -> OpenAIServer:
    return OpenAIServer(server.url, "m", **{"window": 10_000, "silence": 60.0, **changes})


MOMENTS = [0, 5, len(STREAM) - 2, len(STREAM), len(STREAM) + 30, len(STREAM + EVENT), len(WHOLE)]


@pytest.mark.parametrize("sent", [*MOMENTS, *random.Random(7).sample(range(len(WHOLE)), 5)])
@pytest.mark.parametrize("how", ["complete", "stream"])
def test_a_silent_server(sent, how):
    with RawServer(silent_after(WHOLE[:sent])) as server, closing(a_model(server)) as model:
        stopped(lambda cancel: list(getattr(model, how)(PROMPT, cancel)), server.came.wait)
        assert server.left.wait(SECOND), "the connection is still open"


@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_before_the_next_try(own_home, status):
    asked = Reply(status=status, error=error("x"), headers={"Retry-After": "60"})
    with FakeServer(lambda _: asked) as server:
        model = connection.connect(Settings(own_home, base_url=server.url, model="fake-model"))
        stopped(lambda cancel: model.complete(PROMPT, cancel))


def test_the_wait_for_a_slot():
    limiter = Limiter(1)
    with RawServer(silent_after(b"")) as server, closing(a_model(server)) as model:
        retrying = Retrying(model, limiter)
        with limiter.slot(CancelToken()):
            stopped(lambda cancel: retrying.complete(PROMPT, cancel))
            assert not server.calls
        stopped(lambda cancel: retrying.complete(PROMPT, cancel), server.came.wait)
        with limiter.slot(CancelToken()):  # the slot is free again
            pass


def test_a_model_that_is_closed_leaves_no_connection_open(monkeypatch):
    """Whatever moment its calls are at. What is left open is a warning when it is collected. A few are allowed of 90:
    anyio forgets a connection that is made in the moment in which its call is cancelled, as on a busy machine.
    """
    left = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: left.append(str(found.exc_value)))
    with FakeServer(lambda _: Reply("Answer: a prize.", delay=0.01)) as server:
        for _ in range(30):
            model = a_model(server)
            with ThreadPoolExecutor(3) as pool:
                calls = [pool.submit(model.complete, PROMPT, CancelToken()) for _ in range(3)]
                time.sleep(random.uniform(0, 0.03))
                model.close()
            assert all(call.done() for call in calls)
            del model, calls
            gc.collect()
    assert sum("unclosed transport" in warning for warning in left) < 10, left


def test_a_cancelled_wait_for_a_slot_hands_it_on():
    limiter, tokens, served = Limiter(1), [CancelToken() for _ in range(8)], []

    def wait(number: int) -> None:
        try:
            with limiter.slot(tokens[number]):
                served.append(number)
        except CancelledError:
            pass

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(8)]
    with limiter.slot(CancelToken()):
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        canceller = threading.Thread(target=lambda: [tokens[number].cancel() for number in range(0, 8, 2)])
        canceller.start()
    for thread in (*threads, canceller):
        thread.join(5)
        assert not thread.is_alive()
    assert {1, 3, 5, 7} <= set(served)


@pytest.mark.parametrize("says", [silent_after(b""), endless(STREAM, b": still here\n\n", gap=0.01)])
@pytest.mark.parametrize(
    ("work", "window"),
    [
        (lambda model, cancel: model.complete(PROMPT, cancel), 10_000),
        (lambda model, cancel: model.complete(PROMPT, cancel), None),  # which is asked for first
        (lambda model, cancel: model.learn_window(cancel), None),
        (lambda model, cancel: list(check_model(model, cancel)), 10_000),
    ],
    ids=["a call", "a first call", "the window", "the test of a model"],
)
def test_a_server_that_says_nothing_of_use(work, window, says):
    with RawServer(says) as server, closing(a_model(server, window=window)) as model:
        stopped(lambda cancel: work(model, cancel), server.came.wait)
        assert server.left.wait(SECOND)


def test_embeddings(own_home):
    with RawServer(silent_after(b"")) as server:
        saved = SavedSettings(embedding_model="e", window=8000)
        settings = Settings(own_home, base_url=server.url, model="m", saved=saved)
        embedder = models.connect_embedder(settings)
        stopped(lambda cancel: embedder.embed(["a text"], cancel), server.came.wait)
        assert server.left.wait(SECOND)


def test_a_stream_that_nobody_reads_to_its_end_is_closed():
    with RawServer(endless(STREAM, EVENT, gap=0.01)) as server, closing(a_model(server)) as model:
        stream = model.stream(PROMPT, CancelToken())
        assert next(stream) == "word "
        stream.close()
        assert server.left.wait(SECOND)


def test_what_is_cancelled_already_is_not_sent():
    cancel = CancelToken()
    cancel.cancel()
    with RawServer(silent_after(b"")) as server, closing(a_model(server)) as model:
        for work in (model.complete, lambda *args: list(model.stream(*args)), Retrying(model).complete):
            with pytest.raises(CancelledError):
                work(PROMPT, cancel)
        assert not server.calls
