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
    folder, out = shelf(12), tmp_path / "out"
    with FakeServer(latency=0.1) as server:
        command = ("corpus", "read", folder, "--out", out, "--connections", "6")
        process = start(*command, "--workers", "1", server=server)
        wait_for_books(process, out, 1)
        workers_of(process.pid)[0].kill()
        wait_for_books(process, out, 4)
        children = psutil.Process(process.pid).children(recursive=True)
        for one in (process, *children):
            one.kill()
        process.communicate(timeout=30)
        psutil.wait_procs(children, timeout=30)
        whole = {path.name: path.read_bytes() for path in (out / "books").glob("*.json")}
        assert 4 <= len(whole) < 12
        run_here(*command, server=server)
        assert all((out / "books" / name).read_bytes() == data for name, data in whole.items()), "read twice"
        assert list((out / "drafts").iterdir()) == []
        undisturbed = tmp_path / "undisturbed"
        run_json("corpus", "read", folder, "--out", undisturbed, "--connections", "6", server=server)
        assert books_of(out) == books_of(undisturbed)
        assert len(books_of(out)) == 12
        assert 1 < server.most_at_once <= 6


def test_a_scheduler_of_its_own_is_killed(shelf, tmp_path, own_home, monkeypatch):
    folder, out = shelf(8), tmp_path / "out"
    with FakeServer(latency=0.1) as server, contextlib.ExitStack() as stack:
        monkeypatch.setenv("READAGENT_BASE_URL", server.url)  # workers have settings of their own
        monkeypatch.setenv("READAGENT_MODEL", "fake-model")
        monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")  # see docs/corpus.md

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        code = f"""
import time
from distributed import LocalCluster
cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, host="127.0.0.1", scheduler_port={port},
                       dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0")
print("ready", flush=True)
time.sleep(600)
"""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        scheduler = stack.enter_context(subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, **streams))
        stack.callback(scheduler.kill)
        assert scheduler.stdout.readline() == b"ready\n"
        there = ("--scheduler", f"tcp://127.0.0.1:{port}", "--connections", "2")

        def kill_scheduler():
            wait_for_books(scheduler, out, 2)
            scheduler.kill()

        killer = threading.Thread(target=kill_scheduler)
        killer.start()
        _, told = run_here("corpus", "read", folder, "--out", out, *there, server=server, code=1)
        killer.join()
        assert "The connection to the Dask scheduler is lost. What was read is saved" in told
        assert 2 <= len(books_of(out)) < 8
