"""Calls sent by a second process: the same replies and the same faults, never more at once, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from readagent_core import models
from readagent_core.errors import CancelledError, CutOffError, ModelTimeoutError, RateLimitError, UnreachableError
from readagent_core.evaluation.counting import helped, limited
from readagent_core.models.base import Completion, Watch
from readagent_core.models.beside import Beside
from readagent_core.models.openai_server import OpenAIServer
from readagent_core.models.patience import Limiter
from readagent_core.prompts import Prompt
from readagent_core.secret import Secret
from readagent_core.settings import Settings
from tests.fakes.http import no_proxies as no_proxies
from tests.fakes.server import FakeServer, Reply

KEY = "sk-beside-0123456789"
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")


def wait_for(true: Callable[[], object], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.01)


def seconds_of(pid: int | str = "self") -> list[int]:
    """The second processes of a process."""
    threads = [file.name for file in Path(f"/proc/{pid}/task").iterdir()]
    children = [int(n) for thread in threads for n in told(pid, f"task/{thread}/children").split()]
    return [child for child in children if b"models.sender" in told(child, "cmdline")]


def told(pid: int | str, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


class Helped:
    """A model on ``server`` whose calls are sent by a second process that stands."""

    def __init__(self, server: FakeServer, *, connections: int = 16, silence: float = 20.0) -> None:
        self.model = OpenAIServer(server.url, "fake-model", api_key=Secret(KEY), window=100_000, silence=silence)
        self.limiter = Limiter(connections)
        self._connections = connections

    def __enter__(self) -> Helped:
        self.ask("the first goes the long way")
        self._helped = self.model.beside.helped(self._connections, self.limiter)
        self._helped.__enter__()
        wait_for(lambda: self.model.ahead)
        (self.process,) = seconds_of()
        return self

    def __exit__(self, *_: object) -> None:
        self._helped.__exit__(None, None, None)
        wait_for(lambda: not seconds_of())
        self.model.close()

    def ask(self, text: str, watch: Watch | None = None) -> Completion:
        return self.model.complete(Prompt("answer", text), watch or Watch())

    def sent_there(self) -> int:
        """Open connections of the second process."""
        names = []
        for file in Path(f"/proc/{self.process}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                names.append(os.readlink(file))
        tcp = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}
        return sum(name.removeprefix("socket:[").rstrip("]") in tcp for name in names)


@pytest.fixture(autouse=True)
def none_is_left() -> Iterator[None]:
    yield
    wait_for(lambda: not seconds_of())


def test_replies_are_the_same_and_come_by_the_second_process() -> None:
    texts = [f"{n} – “in full” 第{n}頁 " + "x" * 40_000 for n in range(20)]
    with FakeServer(lambda text: f"You said: {text[:20]}") as server, Helped(server) as helped:
        assert helped.sent_there() == 0
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(helped.ask, texts))
        assert [c.text for c in found] == [f"You said: {text[:20]}".strip() for text in texts]
        assert all(c.tokens_in and c.finish == "stop" and c.first_word for c in found)
        assert helped.sent_there() > 0
        assert {chat.text for chat in server.chats[1:]} == set(texts)
        assert all(chat.headers["authorization"] == f"Bearer {KEY}" for chat in server.chats)


def test_the_key_stands_in_no_process_list() -> None:
    with FakeServer(lambda _: "Yes.") as server, Helped(server) as helped:
        helped.ask("Is it?")
        assert KEY.encode() not in told(helped.process, "cmdline") + told(helped.process, "environ")


def test_faults_have_their_names() -> None:
    special = {
        "busy": Reply(status=429, error={"message": "Slow down."}, headers={"Retry-After": "7"}),
        "cut": Reply("One two three four five six seven.", cut=12, how="reset"),
        "silent": Reply(delay=3.0),
    }
    with FakeServer(lambda text: special.get(text, "Yes.")) as server, Helped(server, silence=0.5) as helped:
        with pytest.raises(RateLimitError) as busy:
            helped.ask("busy")
        assert busy.value.retry_after == 7
        with pytest.raises(CutOffError) as cut:
            helped.ask("cut")
        assert cut.value.text.startswith("One two")
        with pytest.raises(ModelTimeoutError):
            helped.ask("silent")
        assert helped.ask("and now?").text == "Yes."


def test_a_server_that_goes_away_is_told() -> None:
    with FakeServer(lambda _: "Yes.") as server:
        helped = Helped(server)
        helped.__enter__()
    try:
        with pytest.raises(UnreachableError):
            helped.ask("Are you there?")
    finally:
        helped.__exit__()


def long_or_short(text: str) -> Reply:
    """A reply of four seconds to 'long'."""
    return Reply("word " * 400, gap=0.05) if text == "long" else Reply("Yes.")


def test_a_long_reply_comes_part_by_part_and_stops_when_it_is_stopped() -> None:
    with FakeServer(long_or_short) as server, Helped(server) as helped:
        watch, start = Watch(), time.monotonic()
        parts = helped.model.stream(Prompt("answer", "long"), watch)
        assert all(isinstance(part, str) for part in islice(parts, 3))
        watch.cancel()
        with pytest.raises(CancelledError):
            next(parts)
        assert time.monotonic() - start < 3
        wait_for(lambda: helped.sent_there() == 0)  # nobody listens to the rest
        assert helped.ask("and now?").text == "Yes."
        wait_for(lambda: "and now?" in server.answered)
        assert "long" not in server.answered


def test_never_more_at_once_than_allowed_and_the_others_wait_where_a_line_is_free_first() -> None:
    with FakeServer(lambda _: Reply("Yes.", delay=0.1)) as server, Helped(server) as helped:

        def ask(number: int) -> Completion:
            with helped.limiter.line(Watch(), ahead=helped.model.ahead):
                return helped.ask(str(number))

        start = time.monotonic()
        with ThreadPoolExecutor(40) as pool:
            found = list(pool.map(ask, range(80)))
        assert time.monotonic() - start >= 0.5  # five rounds of sixteen
        assert server.most_at_once == 16
        assert all(c.text == "Yes." for c in found)
        helped.limiter.too_many(0.0)  # the server cannot take so many: less from now on, and none ahead
        server.most_at_once = 0
        with ThreadPoolExecutor(40) as pool:
            list(pool.map(ask, range(100, 120)))
        assert server.most_at_once <= 8


def test_the_wait_for_a_line_is_no_part_of_a_replys_time() -> None:
    with FakeServer(lambda _: Reply("Yes.", delay=0.15)) as server, Helped(server) as helped:
        helped.limiter.allow(1)
        start = time.monotonic()
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(helped.ask, "abcdef"))
        assert time.monotonic() - start >= 0.9
        assert all(0.15 <= c.seconds < 0.6 and 0.15 <= (c.first_word or 0) < 0.6 for c in found)


def test_a_process_that_dies_loses_no_call() -> None:
    go_on = threading.Event()

    def reply(text: str) -> Reply:
        if text == "slow" and len(server.chats) < 3:
            go_on.wait(20)
        return Reply("Yes.")

    with FakeServer(reply) as server, Helped(server) as helped, ThreadPoolExecutor(1) as pool:
        slow = pool.submit(helped.ask, "slow")
        wait_for(lambda: len(server.chats) == 2)
        os.kill(helped.process, signal.SIGKILL)
        assert slow.result(20).text == "Yes."  # sent again, from here
        go_on.set()
        wait_for(lambda: not helped.model.ahead)
        assert helped.ask("and now?").text == "Yes."


def test_a_process_that_dies_in_a_reply_is_a_broken_connection() -> None:
    with FakeServer(long_or_short) as server, Helped(server) as helped:
        parts = helped.model.stream(Prompt("answer", "long"), Watch())
        list(islice(parts, 3))
        os.kill(helped.process, signal.SIGKILL)
        with pytest.raises(CutOffError, match="broke off"):
            list(parts)


def test_it_ends_when_nobody_wants_it_but_not_under_a_call() -> None:
    go_on = threading.Event()

    def reply(text: str) -> Reply:
        if text == "slow":
            assert go_on.wait(20)
        return Reply("Yes.")

    with FakeServer(reply) as server, ThreadPoolExecutor(1) as pool:
        helped = Helped(server)
        helped.__enter__()
        with helped.model.beside.helped(16, helped.limiter):
            pass
        assert helped.model.ahead, "the first still wants it"
        slow = pool.submit(helped.ask, "slow")
        wait_for(lambda: len(server.chats) == 2)
        ending = threading.Thread(target=helped.__exit__)
        ending.start()
        wait_for(lambda: not helped.model.ahead)
        assert helped.ask("from here").text == "Yes."
        assert seconds_of() == [helped.process]
        go_on.set()
        assert slow.result(20).text == "Yes."
        ending.join(20)
        assert len(server.chats) == 3
        assert not seconds_of()


def test_one_that_is_not_wanted_any_more_when_it_stands_goes() -> None:
    with FakeServer(lambda _: "Yes.") as server:
        model = OpenAIServer(server.url, "fake-model", window=10_000)
        with model.beside.helped(16, Limiter(16)):
            pass
        wait_for(lambda: not seconds_of())
        assert not model.ahead
        model.close()


def test_few_calls_at_once_need_none() -> None:
    beside = Beside()
    with beside.helped(15, Limiter(32)):
        time.sleep(0.05)
        assert not seconds_of()
        assert beside.send(("http", "127.0.0.1", 1), b"", {}) is None


def test_where_none_can_be_had_calls_are_sent_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with FakeServer(lambda _: "Yes.") as server:
        model = OpenAIServer(server.url, "fake-model", window=10_000)
        with model.beside.helped(32, Limiter(32)):
            assert [model.complete(Prompt("answer", str(n)), Watch()).text for n in range(3)] == ["Yes."] * 3
            assert not model.ahead
        model.close()


def test_it_goes_with_a_process_that_is_killed() -> None:
    program = (
        "import sys, time\n"
        "from readagent_core.models.beside import Beside\n"
        "from readagent_core.models.patience import Limiter\n"
        "beside = Beside()\n"
        "with beside.helped(16, Limiter(16)):\n"
        "    while not beside.ahead: time.sleep(0.01)\n"
        "    print('stands', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"stands\n"
        (second,) = seconds_of(first.pid)
        first.kill()
        first.wait(20)
        wait_for(lambda: b"models.sender" not in told(second, "cmdline"))


def test_an_experiments_model_asks_for_one_and_its_limit_holds(tmp_path: Path) -> None:
    with FakeServer(lambda _: Reply("Yes.", delay=0.05)) as server:
        model = models.connect(Settings(tmp_path, base_url=server.url, model="fake-model"))
        asked = limited(model, 16)
        with helped(model, 16):
            wait_for(lambda: model.server.beside.ahead)  # type: ignore[attr-defined]
            with ThreadPoolExecutor(40) as pool:
                found = list(pool.map(lambda n: asked.complete(Prompt("answer", str(n)), Watch()).text, range(100)))
        assert found == ["Yes."] * 100
        assert server.most_at_once <= 17  # one more at most, while the first calls still come from here
