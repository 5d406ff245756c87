"""``kill -9`` in the middle of a reading: the next run ends with the same memory and repeats few calls."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from readagent_core.library import Library
from readagent_core.reading import read
from tests.reading.read_slowly import document_of, model_of, plan_of

ROOT = Path(__file__).resolve().parents[2]


BYTES_A_CALL = 36  # in the log: two lines


def run_and_kill(home, *, seed, connections, pagination, kills):
    """Kill a reading ``kills`` times, then let it end. Returns its memory, an undisturbed one, calls, repeats."""
    chance = random.Random(seed)
    whole = read(document_of(seed), model := model_of(pagination), plan_of(pagination), connections=connections)
    size = len(model.prompts) * BYTES_A_CALL
    log = home.parent / f"{home.name}.log"
    command = [sys.executable, "-m", "tests.reading.read_slowly"]
    command += [str(home), str(log), str(seed), str(connections), pagination]
    for _ in range(kills):
        before = log.stat().st_size if log.exists() else 0
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = before + chance.randint(1, size // kills)  # a place in the work, whatever the machine's speed
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            if log.exists() and log.stat().st_size >= wanted:
                break
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    lines = log.read_text().split()
    begun = Counter(line[1:] for line in lines if line.startswith("+"))
    library = Library(home)
    (book,) = library.books()
    (reading,) = library.readings(book.id)
    memory = library.memory(reading.id)
    library.close()
    return memory, whole, begun.total(), begun.total() - len(begun)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")
@pytest.mark.parametrize(("pagination", "connections"), [("pause", 6), ("one-pass", 4)])
def test_killed_readings_resume(tmp_path, pagination, connections):
    assert os.name == "posix"
    kills = 3
    memory, whole, calls, repeated = run_and_kill(
        tmp_path / "home", seed=21, connections=connections, pagination=pagination, kills=kills
    )
    assert (memory.pages, memory.gists) == (whole.pages, whole.gists)
    assert memory.complete
    assert repeated <= kills * connections
    assert calls > repeated
