"""How much of the ideal throughput is kept: 32 calls at once through the whole stack against a 200 ms server.

Run: ``python bench/throughput.py [--calls 320] [--at-once 32] [--latency 0.2]``. Ideal is calls ÷ at once × latency.
The server runs in a process of its own. 'Bare' is the standard library's client with kept connections, measured at
the same moment: what the machine gives just then. The goal is 95 % of the ideal on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from readagent_core.models import connection  # noqa: E402
from readagent_core.models.base import Watch  # noqa: E402
from readagent_core.models.meter import Metered  # noqa: E402
from readagent_core.prompts import Prompt  # noqa: E402
from readagent_core.settings import Secret, Settings  # noqa: E402


def measure(url: str, *, calls: int, at_once: int, latency: float) -> tuple[float, float]:
    """(seconds taken, share of the ideal)."""
    with tempfile.TemporaryDirectory() as home:
        model = Metered(connection.connect(Settings(Path(home), url, Secret(), "fake-model", {}, {"window": 100_000})))
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(lambda i: model.complete(Prompt("gist", f"warm {i}"), Watch()), range(at_once)))
            start = time.perf_counter()
            list(
                pool.map(lambda i: model.complete(Prompt("gist", f"call {i} " + "word " * 600), Watch()), range(calls))
            )
            seconds = time.perf_counter() - start
        connection.close_all()
    return seconds, calls / at_once * latency / seconds


def bare(url: str, *, calls: int, at_once: int) -> float:
    """Seconds the same calls take with ``http.client`` and nothing of ours."""
    place = urlsplit(url)
    held = threading.local()

    def call(number: int) -> None:
        if not hasattr(held, "connection"):
            held.connection = http.client.HTTPConnection(place.hostname or "", place.port)
        text = f"bare {number} " + "word " * 600
        body = json.dumps({"model": "fake-model", "messages": [{"role": "user", "content": text}]})
        held.connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        json.loads(held.connection.getresponse().read())

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(call, range(at_once)))
        start = time.perf_counter()
        list(pool.map(call, range(calls)))
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=320)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "tests.fakes.server", "--latency", str(chosen.latency)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        ideal = chosen.calls / chosen.at_once * chosen.latency
        print(
            f"{chosen.calls} calls, {chosen.at_once} at once, {chosen.latency * 1000:.0f} ms each: ideal {ideal:.2f} s"
        )
        for run in range(1, chosen.runs + 1):
            plain = bare(url, calls=chosen.calls, at_once=chosen.at_once)
            seconds, share = measure(url, calls=chosen.calls, at_once=chosen.at_once, latency=chosen.latency)
            print(
                f"run {run}: {seconds:.2f} s, {share:.1%} of ideal; bare: {plain:.2f} s, {ideal / plain:.1%} of ideal"
            )
    finally:
        server.terminate()
        server.wait(5)


if __name__ == "__main__":
    main()
