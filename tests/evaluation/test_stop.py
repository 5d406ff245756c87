"""A stopped experiment ends within a second, whatever it waits for, and keeps what was answered."""

from __future__ import annotations

import json
import random
import threading
import time

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, KeyRefusedError
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.results import JsonLines
from readagent_core.methods.base import AskSettings
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible

SECONDS = 1.0
ARMS = ("read-agent-p", "memwalker", "recurrence", "full-text")
OPTIONS = ["a lamp", "a bell", "a boat", "a dog"]


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
    rows = []
    for n in (0, 1, 1, 2):
        sentences = [
            f"The keeper of light {n} rang bell {k} in the fog and wrote it down with care." for k in range(60)
        ]
        article = "\n\n".join(" ".join(sentences[k : k + 3]) for k in range(0, 60, 3))
        asked = [{"question": f"What rang {len(rows)} {q}?", "options": OPTIONS, "gold_label": 2} for q in range(2)]
        rows.append(json.dumps({"article_id": n, "title": f"Story {n}", "article": article, "questions": asked}))
    path = tmp_path / "dev.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def start(data, tmp_path, model, cancel):
    """The thread of a run, and a list that will hold what it raised and when it ended."""
    arms = tuple(parse(name, AskSettings()) for name in ARMS)
    experiment = Experiment(open_dataset(data), arms, connections=4)
    ended = []

    def work():
        try:
            running.run(experiment, model, folder=tmp_path / "evaluations" / "one", cancel=cancel)
            ended.append((None, time.monotonic()))
        except BaseException as error:  # noqa: BLE001  looked at by the test
            ended.append((error, time.monotonic()))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, ended


def stop(thread, ended, cancel):
    """Cancel, and return what the run raised and how many seconds it took to end."""
    began = time.monotonic()
    cancel.cancel()
    thread.join(20)
    assert ended
    error, at = ended[0]
    return error, at - began


def answered(tmp_path):
    return {
        (line["question"], line["arm"]): line
        for line in JsonLines(tmp_path / "evaluations" / "one" / "results.jsonl", repair=False)
    }


def test_a_stop_at_any_moment_ends_within_a_second_and_nothing_is_asked_twice(data, tmp_path):
    moments = random.Random(11)
    seen, stops = {}, 0
    for _ in range(60):
        cancel = CancelToken()
        thread, ended = start(data, tmp_path, SlowModel(seconds=0.1), cancel)
        thread.join(moments.uniform(0.0, 0.6))
        error, seconds = stop(thread, ended, cancel)
        if error is None:
            break
        assert isinstance(error, CancelledError)
        assert seconds < SECONDS
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
def test_a_silent_server_does_not_hold_up_a_stop(data, tmp_path, replies):
    """All connections wait for replies, and all other work for them: a reading, a tree that others need, the queue."""
    cancel = CancelToken()
    thread, ended = start(data, tmp_path, SlowModel(seconds=0.0, replies=replies), cancel)
    time.sleep(1.0)
    error, seconds = stop(thread, ended, cancel)
    assert isinstance(error, CancelledError)
    assert seconds < SECONDS


def test_our_own_work_does_not_hold_up_a_stop(data, tmp_path, monkeypatch):
    """A document that takes long to parse cannot be interrupted, so its thread is left behind."""
    parsing, go_on = threading.Event(), threading.Event()

    def parse_slowly(data, name):
        parsing.set()
        go_on.wait(20)
        raise AssertionError("nobody waits for this")

    monkeypatch.setattr("readagent_core.evaluation.datasets.base.load", parse_slowly)
    cancel = CancelToken()
    thread, ended = start(data, tmp_path, SlowModel(), cancel)
    assert parsing.wait(20)
    error, seconds = stop(thread, ended, cancel)
    go_on.set()
    assert isinstance(error, CancelledError)
    assert seconds < SECONDS


def test_after_an_error_no_further_call_is_made(data, tmp_path):
    class Refusing(SlowModel):
        def complete(self, prompt, cancel):
            if prompt.task == "answer_options" or prompt.task == "choose":
                raise KeyRefusedError("The key was not accepted.")
            return super().complete(prompt, cancel)

    model = Refusing(seconds=0.2)
    thread, ended = start(data, tmp_path, model, CancelToken())
    thread.join(20)
    assert isinstance(ended[0][0], KeyRefusedError)
    calls = len(model.prompts)
    time.sleep(0.6)
    assert len(model.prompts) == calls
