"""``kill -9`` in the middle of a reading: the usage that is saved still counts the calls of every process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from readagent_core.library import Library
from tests.fakes.server import FakeServer
from tests.reading.helpers import random_document

CONNECTIONS = 4
KILL_AT = (30, 80)  # calls made so far
READ = f"""
import sys
from readagent_core.plan import ReadingPlan
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from readagent_core.workspace.reading import start_reading
plan = ReadingPlan(max_words=100, min_words=40)
job = start_reading(Workspace(load_settings()), sys.argv[1], plan, connections={CONNECTIONS})
assert job.join(60).state == "done", job.snapshot.error
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")
def test_usage_counts_the_calls_of_killed_processes(own_home):
    library = Library(own_home)
    book = library.add(random_document(11, paragraphs=150, most=40))
    with FakeServer(latency=0.02) as server:
        env = {**os.environ, "READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"}
        command = [sys.executable, "-c", READ, book.id]
        for calls in KILL_AT:
            process = subprocess.Popen(command, env=env)
            until = time.monotonic() + 60
            while len(server.chats) < calls and process.poll() is None and time.monotonic() < until:
                time.sleep(0.005)
            assert process.poll() is None, "the reading ended before it was killed"
            process.kill()
            process.wait(30)
        subprocess.run(command, env=env, check=True, timeout=120)
        made = len(server.chats)
    (reading,) = library.readings(book.id)
    library.close()
    assert (reading.state, made > KILL_AT[-1] + CONNECTIONS) == ("done", True)
    lost = made - reading.usage.calls
    assert 0 <= lost <= len(KILL_AT) * CONNECTIONS, "only calls that were under way at a kill may be missing"
