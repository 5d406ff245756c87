"""``kill -9`` while levels are made: the next run makes only what is missing, and ends with the same gists."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.answering.make_levels_until_held import CONNECTIONS, levels_in, open_log

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
