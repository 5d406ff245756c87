"""Reads damaged bodies of real servers' shapes: none may end in a traceback, hang, or be taken as whole if it is not.

    python -m bench.wire [--cases 2000] [--seed 1]

The shapes are those of tests/models/wire, over the reader of the bodies, in this process.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx2

from readagent_core import errors
from readagent_core.models.server.events import Events
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.replies import Reply
from readagent_core.models.thinking import split_thinking
from readagent_core.prompts import Prompt
from tests.fakes.wire import UNPUBLISHED, Case, load_cases

SECONDS = 1.0
PROMPT = Prompt("answer", "When was the lamp lit?", reply_words=500)


def read(pieces: Sequence[bytes], *, streamed: bool) -> Reply:
    """Return what was read of a body in pieces. Raises httpx2.DecodingError."""
    events, reply = Events(streamed=streamed), Reply()
    for piece in pieces:
        for event in events.feed(piece):
            reply.text += reply.take(event)
        if events.done:
            break
    else:
        for event in events.end():
            reply.text += reply.take(event)
    reply.done = events.done
    reply.text += reply.end()
    return reply


def events_in(pieces: Sequence[bytes], *, streamed: bool) -> list[Any]:
    """Return the events in a body in pieces, then whether the server said that none follows, or its fault."""
    events, found = Events(streamed=streamed), list[Any]()
    try:
        for piece in pieces:
            found += events.feed(piece)
        found += events.end()
    except httpx2.DecodingError as error:
        return [*found, type(error)]
    return [*found, events.done]


def damaged(case: Case, chance: random.Random) -> tuple[list[bytes], bool]:
    """Return the body of a case with some damage, in pieces, and whether its end is missing."""
    body = bytearray(case.body)
    kind = chance.choice(("cut", "flip", "insert", "repeat", "reorder"))
    at = chance.randrange(len(body) + 1)
    if kind == "cut":
        del body[at:]
    elif kind == "flip" and body:
        for _ in range(chance.randint(1, 4)):
            body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
    elif kind == "insert":
        body[at:at] = chance.choice(
            (bytes(chance.randrange(256) for _ in range(9)), b"\n\n", b"data: ", b"\r", b"{" * 99)
        )
    elif kind == "repeat":
        body[at:at] = body[at : at + chance.randrange(200)] * chance.randint(1, 3)
    else:
        lines = bytes(body).split(b"\n\n")
        chance.shuffle(lines)
        body = bytearray(b"\n\n".join(lines))
    size = chance.choice((1, 3, 50, 10_000))
    return [bytes(body[i : i + size]) for i in range(0, len(body), size)], kind == "cut" and at < len(case.body)


def verdict(case: Case, pieces: Sequence[bytes], cut: bool) -> str:
    """Return '' where a damaged body was read as it must be, else what is wrong."""
    start = time.process_time()
    try:
        reply = read(pieces, streamed=case.streamed)
        reply.text = split_thinking(reply.content)[1]
        completion = None if reply.fault else OpenAIServer("http://127.0.0.1:9/v1", "m")._completion(reply, PROMPT, 0.0)
    except (httpx2.DecodingError, errors.ModelError):
        completion = None
    except Exception as error:  # noqa: BLE001  finding these is the purpose of the run
        return f"ESCAPES: {type(error).__name__}: {error}"
    if time.process_time() - start > SECONDS:
        return f"SLOW: more than {SECONDS} s"
    whole = case.expect.get("text")
    if completion and completion.finish == "stop" and cut and whole and completion.text != whole:
        return f"TAKEN AS WHOLE: {completion.text!r}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = load_cases() + load_cases(UNPUBLISHED)
    wrong: Counter[str] = Counter()
    start = time.perf_counter()
    for number in range(options.cases):
        case = cases[number % len(cases)]
        said = verdict(case, *damaged(case, random.Random(options.seed * 1_000_003 + number)))
        if said:
            wrong[said.split(":")[0]] += 1
            print(f"{number} {case.server}: {case.name}: {said}")
    seconds = time.perf_counter() - start
    print(f"{options.cases} damaged bodies of {len(cases)} shapes in {seconds:.1f} s; {sum(wrong.values())} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
