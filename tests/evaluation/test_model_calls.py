"""How many calls an experiment has under way at once, and which limits apply to it."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from readagent_core import models
from readagent_core.answering.base import AskSettings
from readagent_core.cancel import CancelToken
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.model_calls import CountingModel, ExperimentBudget, LimitedModel, raise_server_limit
from readagent_core.models.base import Completion
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import Price
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply

KEPT, SLOW = Prompt("answer", "StoredExperiment?"), Prompt("answer", "Slow?")


def test_a_kept_reply_waits_for_no_connection(tmp_path: Path) -> None:
    go_on = threading.Event()

    def reply(asked: object) -> Reply:
        if "Slow?" in str(asked):
            assert go_on.wait(20)
        return Reply("OK.")

    with FakeServer(reply) as server:
        model = models.connect(Settings(tmp_path, base_url=server.url, model="fake-model"))
        model.complete(KEPT, CancelToken())
        one = model.wrap_inner(lambda inner: LimitedModel(inner, 1))
        with ThreadPoolExecutor(2) as pool:
            slow = pool.submit(one.complete, SLOW, CancelToken())
            until = time.monotonic() + 20
            while len(server.chats) < 2 and time.monotonic() < until:
                time.sleep(0.01)
            kept = pool.submit(one.complete, KEPT, CancelToken()).result(20)
            assert kept.cached
            assert not slow.done()
            go_on.set()
            assert not slow.result(20).cached


def test_never_more_calls_at_once_than_allowed(tmp_path: Path) -> None:
    three_there = threading.Barrier(3)

    def reply(_: str) -> str:
        three_there.wait(60)
        return "OK."

    with FakeServer(reply) as server, ThreadPoolExecutor(12) as pool:
        three = LimitedModel(models.connect(Settings(tmp_path, base_url=server.url, model="fake-model")), 3)
        parts = list(pool.map(lambda n: list(three.stream(Prompt("answer", str(n)), CancelToken())), range(36)))
        assert server.most_at_once == 3
    assert all(part[0] == "OK." and isinstance(part[-1], Completion) for part in parts)


@pytest.mark.parametrize("connections", [6, 48])
def test_as_many_calls_are_under_way_as_the_experiment_says(tmp_path: Path, connections: int) -> None:
    """More than the 32 that a server is otherwise sent at once, and never one more than was said."""
    rows = [{"question": f"What rang {n}?", "options": ["a bell", "a dog"], "answer": 0} for n in range(connections)]
    data = tmp_path / "fog.json"
    data.write_text(json.dumps({"title": "Fog", "text": "The bell rang in the fog. " * 20, "questions": rows}))
    all_there = threading.Barrier(connections)

    def reply(text: str) -> Reply:
        if "What rang" in text:
            all_there.wait(60)
        return Reply(sensible(text))

    with FakeServer(reply) as server:
        model = models.connect(Settings(tmp_path / "home", base_url=server.url, model="fake-model"))
        before = model.limiter.most  # type: ignore[attr-defined]
        experiment = Experiment(open_dataset(data), (parse("full-text", AskSettings()),), connections=connections)
        table = running.run(experiment, model, folder=tmp_path / "evaluations" / "one")
        assert (table.answers, table.failed) == (connections, 0)
        assert server.most_at_once == connections
        assert model.limiter.most == before  # type: ignore[attr-defined]


def test_an_experiment_that_ends_does_not_slow_another_one(tmp_path: Path) -> None:
    model = models.connect(Settings(tmp_path, base_url="http://127.0.0.1:9/v1", model="fake-model"))
    limiter = model.limiter
    assert limiter is not None
    before = limiter.most
    first, second = raise_server_limit(model, 64), raise_server_limit(model, 48)
    with second:
        with first:
            assert limiter.most == 64
        assert limiter.most == 48
    first, second = raise_server_limit(model, 64), raise_server_limit(model, 48)
    first.__enter__()
    second.__enter__()
    assert limiter.most == 64
    first.__exit__(None, None, None)
    assert limiter.most == 48
    second.__exit__(None, None, None)
    assert limiter.most == before


def test_the_limit_for_one_book_does_not_stop_an_experiment() -> None:
    class Priced(FakeModel):
        price, budget = Price(1_000.0, 1_000.0), 0.01

    model = CountingModel(LimitedModel(Priced(["OK."] * 3), 2), ExperimentBudget())
    for _ in range(3):
        Metered(model).complete(Prompt("answer", "a long question " * 20), CancelToken())
    assert (model.usage.cost or 0.0) > 0.01
