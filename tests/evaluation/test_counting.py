"""How many calls an experiment has under way: all it may, and a kept reply is none of them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from readagent_core import models
from readagent_core.cancel import CancelToken
from readagent_core.evaluation.counting import limited
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply

KEPT, SLOW = Prompt("answer", "Kept?"), Prompt("answer", "Slow?")


def test_a_kept_reply_waits_for_no_connection(tmp_path: Path) -> None:
    go_on = threading.Event()

    def reply(asked: object) -> Reply:
        if "Slow?" in str(asked):
            assert go_on.wait(20)
        return Reply("OK.")

    with FakeServer(reply) as server:
        model = models.connect(Settings(tmp_path, base_url=server.url, model="fake-model"))
        model.complete(KEPT, CancelToken())
        one = limited(model, 1)
        with ThreadPoolExecutor(2) as pool:
            slow = pool.submit(one.complete, SLOW, CancelToken())
            until = time.monotonic() + 20
            while len(server.chats) < 2 and time.monotonic() < until:
                time.sleep(0.01)
            kept = pool.submit(one.complete, KEPT, CancelToken()).result(20)
            assert kept.cached
            assert not slow.done()
            go_on.set()
            assert not slow.result(20).cached


def test_never_more_calls_at_once_than_allowed() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def reply(prompt: Prompt) -> str:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return "OK."

    class Unlocked(FakeModel):
        def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
            return Completion(reply(prompt))

    three = limited(Unlocked([]), 3)
    with ThreadPoolExecutor(12) as pool:
        parts = list(pool.map(lambda n: list(three.stream(Prompt("answer", str(n)), CancelToken())), range(36)))
    assert most == 3
    assert all(part[0] == "OK." and isinstance(part[-1], Completion) for part in parts)
