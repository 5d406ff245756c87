"""``kill -9`` while levels are made: the next run makes only what is missing, and ends with the same gists."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from readagent_core.answering.base import AskSettings, Question
from readagent_core.answering.resources import Resources
from readagent_core.answering.run import Run
from readagent_core.cancel import CancelToken
from readagent_core.errors import UnreachableError
from readagent_core.models.cost.meter import Metered
from tests.answering.make_levels_until_held import CONNECTIONS, levels_in, open_log
from tests.fakes.model import FakeModel
from tests.methods.test_zoom import long_memory

ROOT = Path(__file__).resolve().parents[2]
LINE = 18  # bytes of a call in the log
CALLS = 20  # of 49, that end before the kill


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")
def test_levels_are_resumed_after_a_kill(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "calls.log"
    command = [sys.executable, "-m", "tests.answering.make_levels_until_held", str(home), str(log), str(CALLS)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while (not log.exists() or log.stat().st_size < (CALLS + CONNECTIONS) * LINE) and time.monotonic() < until:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    again = open_log(log)
    resumed = levels_in(home, again)
    calls = log.read_text().split()
    whole = levels_in(tmp_path / "other")
    wanted = sum(len(level) for level in whole.levels[1:])
    assert len(set(calls)) == wanted
    assert len(calls) - wanted == CONNECTIONS  # those that were under way
    assert resumed.gists == whole.gists
    before = log.stat().st_size
    assert levels_in(home, again).gists == whole.gists
    os.close(again)
    assert log.stat().st_size == before  # nothing is made again


def test_calls_under_way_are_finished_where_another_one_fails() -> None:
    model, memory, resources = FakeModel([]), long_memory(2), Resources(connections=2)
    run = Run("zoom", Question("Who?"), memory, Metered(model), AskSettings(), CancelToken(), resources)
    begun, finished = threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        time.sleep(0.05)
        finished.set()

    def fail_beside_it() -> None:
        with run.calls_at_once() as pool:
            pool.submit(call)
            assert begun.wait(10)
            raise UnreachableError("gone")

    with pytest.raises(UnreachableError):
        fail_beside_it()
    assert finished.is_set()
