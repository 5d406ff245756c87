"""Throughput as a share of the ideal, side by side with a bare ``openai`` client in the same minutes.

Run: ``python -m bench.throughput [--rounds 8] [--runs 3]``. Two loads: 32 calls at once of 1 s each, and 8 at once of
500 ms. The ideal is rounds × seconds a call. The server runs in a process of its own. 'Ours' is the whole stack
(cache, budget, retries, client); 'priced' the same for a model that costs money, with a month's limit. The goals are
90 % of the ideal for each, and priced models within 3 % of free ones, on a machine with nothing else to do.
'CPU' is this process's, in milliseconds a call.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import openai

from bench.server import serving
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret, Settings

LOADS = ((32, 1.0), (8, 0.5))  # calls at once, seconds a call
PRICES = {"free": [0.0, 0.0], "priced": [1.0, 2.0]}  # dollars a million tokens


def reply(text: str) -> str:
    return "OK. " * 100


def timed(call: Callable[[str], object], *, rounds: int, at_once: int) -> tuple[float, float]:
    """Seconds taken, of the clock and of this process's CPU, after one round that makes the connections."""
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda n: call(f"warm {n}"), range(at_once)))
        start, cpu = time.perf_counter(), time.process_time()
        list(pool.map(lambda n: call(f"call {n} " + "word " * 600), range(rounds * at_once)))
        return time.perf_counter() - start, time.process_time() - cpu


def ours(url: str, price: list[float], *, rounds: int, at_once: int) -> tuple[float, float]:
    kept = {"window": 100_000, "prices": {"fake-model": price}, "budget_month": 1_000.0}
    with tempfile.TemporaryDirectory() as home:
        model = Metered(connection.connect(Settings(Path(home), url, Secret(), "fake-model", {}, kept)))
        try:
            return timed(
                lambda text: model.complete(Prompt("gist", text), CancelToken()), rounds=rounds, at_once=at_once
            )
        finally:
            connection.close_all()


def bare(url: str, *, rounds: int, at_once: int) -> tuple[float, float]:
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:

        def call(text: str) -> str:
            messages = [{"role": "user", "content": text}]
            stream = client.chat.completions.create(model="fake-model", messages=messages, stream=True)  # type: ignore[call-overload]
            return "".join(part.choices[0].delta.content or "" for part in stream if part.choices)

        return timed(call, rounds=rounds, at_once=at_once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    for at_once, latency in LOADS:
        ideal = chosen.rounds * latency
        print(f"{at_once} at once, {latency:g} s a call, {chosen.rounds} rounds: ideal {ideal:.1f} s")
        with serving(reply, latency=latency) as url:
            clients = {name: partial(ours, url, price) for name, price in PRICES.items()} | {"bare": partial(bare, url)}
            for run in range(1, chosen.runs + 1):
                for name, measure in clients.items():
                    seconds, cpu = measure(rounds=chosen.rounds, at_once=at_once)
                    each = 1000 * cpu / (chosen.rounds * at_once)
                    print(f"  run {run}, {name:6}: {seconds:.2f} s, {ideal / seconds:.1%} of ideal; CPU {each:.1f} ms")


if __name__ == "__main__":
    main()
