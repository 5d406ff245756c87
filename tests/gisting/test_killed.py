"""``kill -9`` in the middle of a reading: the next run ends with the same memory and repeats few calls."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from readagent_core.gisting import read
from readagent_core.library import Library
from tests.gisting.read_until_held import main, make_book, model_of, plan_of

ROOT = Path(__file__).resolve().parents[2]


def calls_in(log: Path, sign: str) -> list[str]:
    lines = log.read_text().splitlines() if log.exists() else []
    return [line[1:] for line in lines if line.startswith(sign)]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")
@pytest.mark.parametrize(("pagination", "connections"), [("pause", 6), ("one-pass", 4)])
def test_killed_readings_resume(tmp_path, pagination, connections):
    whole = read(make_book(), model := model_of(pagination), plan_of(pagination), connections=connections)
    half = len(model.prompts) // 2
    home, log = tmp_path / "home", tmp_path / "calls.log"
    command = [sys.executable, "-m", "tests.gisting.read_until_held", home, log, str(connections), pagination]
    with subprocess.Popen([*command, str(half)], cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while len(calls_in(log, "-")) < half and time.monotonic() < until:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    memory = main(home, log, connections, pagination)
    begun = Counter(calls_in(log, "+"))
    assert begun.total() > half
    assert begun.total() - len(begun) <= connections  # those that were under way are made again
    assert memory.complete
    assert (memory.pages, memory.gists) == (whole.pages, whole.gists)
    library = Library(home)
    (book,) = library.books()
    (gisting,) = library.gistings(book.id)
    stored = library.memory(gisting.id)
    assert stored.gists == whole.gists
    assert 0 <= begun.total() - stored.usage.calls <= connections  # what the killed process had paid for is counted
    library.close()
