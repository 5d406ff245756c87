"""How much of the ideal throughput is kept: 32 calls at once through the whole stack against a 200 ms server.

Run: ``python -m bench.throughput [--calls 1600] [--at-once 32] [--latency 0.2]``. Ideal is calls ÷ at once × latency.
The calls are so many that the start, when all come at once, hardly counts. The server runs in a process of its own.
'Bare' is the standard library's client with kept connections, measured at the same moment: what the machine gives
just then. The goal is 95 % of the ideal on a machine with nothing else to do.
'CPU' is this process's, in milliseconds a call: all of it is spent under one interpreter's lock.
"""

from __future__ import annotations

import argparse
import http.client
import json
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from bench.server import serving
from readagent_core.models import connection
from readagent_core.models.base import Watch
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret, Settings


def reply(text: str) -> str:
    return "OK."


def measure(url: str, *, calls: int, at_once: int) -> tuple[float, float]:
    """Seconds taken, of the clock and of this process's CPU."""
    with tempfile.TemporaryDirectory() as home:
        model = Metered(connection.connect(Settings(Path(home), url, Secret(), "fake-model", {}, {"window": 100_000})))
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(lambda i: model.complete(Prompt("gist", f"warm {i}"), Watch()), range(at_once)))
            start, cpu = time.perf_counter(), time.process_time()
            list(
                pool.map(lambda i: model.complete(Prompt("gist", f"call {i} " + "word " * 600), Watch()), range(calls))
            )
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        connection.close_all()
    return seconds, cpu


def bare(url: str, *, calls: int, at_once: int) -> tuple[float, float]:
    """As ``measure``, with ``http.client`` and nothing of ours."""
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
        start, cpu = time.perf_counter(), time.process_time()
        list(pool.map(call, range(calls)))
        return time.perf_counter() - start, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1600)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    calls, at_once = chosen.calls, chosen.at_once
    ideal = calls / at_once * chosen.latency
    print(f"{calls} calls, {at_once} at once, {chosen.latency * 1000:.0f} ms each: ideal {ideal:.2f} s")
    with serving(reply, latency=chosen.latency) as url:
        for run in range(1, chosen.runs + 1):
            for name, work in (("ours", measure), ("bare", bare)):
                seconds, cpu = work(url, calls=calls, at_once=at_once)
                share, each = ideal / seconds, 1000 * cpu / calls
                print(f"run {run}, {name}: {seconds:.2f} s, {share:.1%} of ideal; CPU {each:.2f} ms a call")


if __name__ == "__main__":
    main()
