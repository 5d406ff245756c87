"""A stopped experiment ends within a second, whatever it waits for, and keeps what was answered."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from readagent_core.answering.base import AskSettings
from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, KeyRefusedError
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.results import JsonLines
from tests.evaluation.made import write_articles
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible

SECONDS = 1.0
ARMS = ("read-agent-p", "memwalker", "recurrence", "full-text")


class SlowModel(FakeModel):
    """Takes ``seconds`` for every reply, and for ever after ``replies`` of them; a cancel ends the wait."""

    def __init__(self, seconds: float = 0.05, *, replies: int = 10_000) -> None:
        super().__init__(lambda prompt: sensible(prompt.text))
        self.seconds, self.replies = seconds, replies

    def complete(self, prompt, cancel):
        began = time.monotonic()
        while len(self.prompts) >= self.replies or time.monotonic() - began < self.seconds:
            cancel.check()
            time.sleep(0.01)
        return super().complete(prompt, cancel)


@pytest.fixture
def data(tmp_path):
    """Four articles, the second one twice, with two questions each."""
    return write_articles(tmp_path / "dev.jsonl", (0, 1, 1, 2))


@pytest.fixture
def start(data, tmp_path):
    """``start(model, cancel)``: the future of a run."""
    arms = tuple(parse(name, AskSettings()) for name in ARMS)
    with ThreadPoolExecutor(1) as pool:
        yield lambda model, cancel: pool.submit(
            running.run,
            Experiment(open_dataset(data), arms, connections=4),
            model,
            folder=tmp_path / "evaluations" / "one",
            cancel=cancel,
        )


def stop(under_way, cancel):
    """Cancel, and return what the run raised; it must end within a second."""
    began = time.monotonic()
    cancel.cancel()
    error = under_way.exception(20)
    assert time.monotonic() - began < SECONDS
    return error


def answered(tmp_path):
    lines = JsonLines(tmp_path / "evaluations" / "one" / "results.jsonl", repair=False)
    return {(line["case"], line["item"], line["arm"]): line for line in lines}


def test_a_stop_at_any_moment_ends_within_a_second_and_nothing_is_asked_twice(start, tmp_path):
    moments = random.Random(11)
    seen, stops = {}, 0
    for _ in range(60):
        cancel = CancelToken()
        under_way = start(SlowModel(seconds=0.1), cancel)
        time.sleep(moments.uniform(0.0, 0.6))
        error = stop(under_way, cancel)
        if error is None:
            break
        assert isinstance(error, CancelledError)
        stops += 1
        now = answered(tmp_path)
        assert {key: now[key] for key in seen} == seen
        seen = now
    else:
        pytest.fail("the experiment was never finished")
    assert stops >= 3
    results = list(JsonLines(tmp_path / "evaluations" / "one" / "results.jsonl", repair=False))
    assert len(results) == len(answered(tmp_path)) == 4 * 2 * len(ARMS)  # every answer was written once


@pytest.mark.parametrize("replies", [0, 10, 40])
def test_a_silent_server_does_not_hold_up_a_stop(start, replies):
    """All connections wait for replies, and all other work for them: a reading, a tree that others need, the queue."""
    cancel = CancelToken()
    under_way = start(SlowModel(seconds=0.0, replies=replies), cancel)
    time.sleep(1.0)
    assert isinstance(stop(under_way, cancel), CancelledError)


def test_our_own_work_does_not_hold_up_a_stop(start, monkeypatch):
    """A document that takes long to parse cannot be interrupted, so its thread is left behind."""
    parsing, go_on = threading.Event(), threading.Event()

    def parse_slowly(data, name):
        parsing.set()
        go_on.wait(20)
        raise AssertionError("nobody waits for this")

    monkeypatch.setattr("readagent_core.evaluation.datasets.base.load", parse_slowly)
    cancel = CancelToken()
    under_way = start(SlowModel(), cancel)
    assert parsing.wait(20)
    error = stop(under_way, cancel)
    go_on.set()
    assert isinstance(error, CancelledError)


def test_after_an_error_no_further_call_is_made(start):
    class Refusing(SlowModel):
        def complete(self, prompt, cancel):
            if prompt.task == "answer_options" or prompt.task == "choose":
                raise KeyRefusedError("The key was not accepted.")
            return super().complete(prompt, cancel)

    model = Refusing(seconds=0.2)
    assert isinstance(start(model, CancelToken()).exception(20), KeyRefusedError)
    calls = len(model.prompts)
    time.sleep(0.6)
    assert len(model.prompts) == calls
