"""``kill -9`` of workers, of the scheduler, and of the whole run: the next run ends with the same books."""

from __future__ import annotations

import contextlib
import random
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from tests.cli.running import ROOT, run_here, run_json, start
from tests.corpus.test_reading import books_of
from tests.fakes.server import FakeServer

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")


def workers_of(pid):
    """The worker processes of a run that are there now."""
    found = []
    for child in psutil.Process(pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


def kill_workers(process, out, *, books, kills, chance):
    """Kill a random worker of ``process`` at ``kills`` random moments before ``books`` are there; then ``process``.

    Return how many workers were killed.
    """
    killed = 0
    for wanted in sorted(chance.sample(range(1, books - 2), kills)):
        while process.poll() is None and len(list((out / "books").glob("*.json"))) < wanted:
            time.sleep(0.02)
        if process.poll() is not None:
            break
        if workers := workers_of(process.pid):
            chance.choice(workers).kill()
            killed += 1
    children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.kill()
    process.communicate(timeout=30)
    psutil.wait_procs(children, timeout=30)  # without their scheduler they end
    return killed


def test_two_workers_and_the_run_are_killed(shelf, tmp_path):
    folder, out = shelf(16), tmp_path / "out"
    with FakeServer(latency=0.1) as server:
        command = ("corpus", "read", folder, "--out", out, "--connections", "6")
        process = start(*command, "--workers", "2", server=server)
        assert kill_workers(process, out, books=16, kills=2, chance=random.Random(3)) == 2
        whole = {path.name: path.read_bytes() for path in (out / "books").glob("*.json")}
        assert 0 < len(whole) < 16
        run_here(*command, server=server)
        assert all((out / "books" / name).read_bytes() == data for name, data in whole.items()), "read twice"
        assert list((out / "drafts").iterdir()) == []
        undisturbed = tmp_path / "undisturbed"
        run_json("corpus", "read", folder, "--out", undisturbed, "--connections", "6", server=server)
        assert books_of(out) == books_of(undisturbed)
        assert len(books_of(out)) == 16
        assert 4 < server.most_at_once <= 6


def test_a_scheduler_of_its_own_is_killed(shelf, tmp_path, own_home, monkeypatch):
    folder, out = shelf(16), tmp_path / "out"
    with FakeServer(latency=0.1) as server, contextlib.ExitStack() as stack:
        monkeypatch.setenv("READAGENT_BASE_URL", server.url)  # workers have settings of their own
        monkeypatch.setenv("READAGENT_MODEL", "fake-model")

        def serve(*arguments):
            command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait, 30)
            stack.callback(process.kill)
            return process

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        here = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
        scheduler = serve("dask_scheduler", *here, "--port", address.split(":")[1])
        serve("dask_worker", f"tcp://{address}", "--nthreads", "2", "--no-nanny", *here)
        there = ("--scheduler", f"tcp://{address}", "--connections", "2")
        process = start("corpus", "read", folder, "--out", out, *there, server=server)
        while process.poll() is None and len(list((out / "books").glob("*.json"))) < 4:
            time.sleep(0.02)
        scheduler.kill()
        _, told = process.communicate(timeout=90)
        assert process.returncode == 1
        assert "The connection to the Dask scheduler is lost. What was read is saved" in told
        assert 4 <= len(books_of(out)) < 16
        run_here("corpus", "read", folder, "--out", out, server=server)
        assert len(books_of(out)) == 16
