"""``kill -9`` of workers, of the scheduler, and of the whole run: the next run ends with the same books."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import threading
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


def wait_for_books(process, out, books):
    """Wait until ``process`` has saved so many books."""
    while process.poll() is None and len(list((out / "books").glob("*.json"))) < books:
        time.sleep(0.02)
    assert process.poll() is None


def test_a_worker_and_the_run_are_killed(shelf, tmp_path):
    folder, out = shelf(10), tmp_path / "out"
    with FakeServer(latency=0.1) as server:
        command = ("corpus", "read", folder, "--out", out, "--connections", "6")
        process = start(*command, "--workers", "1", server=server)
        wait_for_books(process, out, 1)
        workers_of(process.pid)[0].kill()
        wait_for_books(process, out, 4)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate(timeout=30)
        psutil.wait_procs(children, timeout=30)  # without their scheduler they end
        whole = {path.name: path.read_bytes() for path in (out / "books").glob("*.json")}
        assert 4 <= len(whole) < 10
        run_here(*command, server=server)
        assert all((out / "books" / name).read_bytes() == data for name, data in whole.items()), "read twice"
        assert list((out / "drafts").iterdir()) == []
        undisturbed = tmp_path / "undisturbed"
        run_json("corpus", "read", folder, "--out", undisturbed, "--connections", "6", server=server)
        assert books_of(out) == books_of(undisturbed)
        assert len(books_of(out)) == 10
        assert 1 < server.most_at_once <= 6


def test_a_scheduler_of_its_own_is_killed(shelf, tmp_path, own_home, monkeypatch):
    folder, out = shelf(8), tmp_path / "out"
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
        here = ("--host", "127.0.0.1", "--no-dashboard")
        scheduler = serve("dask_scheduler", *here, "--port", address.split(":")[1])
        serve("dask_worker", f"tcp://{address}", "--nthreads", "2", "--no-nanny", *here)
        there = ("--scheduler", f"tcp://{address}", "--connections", "2")

        def kill_scheduler():
            wait_for_books(scheduler, out, 2)
            scheduler.kill()

        killer = threading.Thread(target=kill_scheduler)
        killer.start()
        _, told = run_here("corpus", "read", folder, "--out", out, *there, server=server, code=1)
        killer.join()
        assert "The connection to the Dask scheduler is lost. What was read is saved" in told
        assert 2 <= len(books_of(out)) < 8
