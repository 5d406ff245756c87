"""Every fault a server can have × every thing it is asked for: what the person is told, what is kept, how many calls.

The whole app but its screens, over real HTTP: workspace, reading, ReadAgent-P, retries, cache. One fault for each way
it behaves; which status or body means which error is tested in tests/models/test_faults.py.
"""

from __future__ import annotations

import io
import logging
import os
import random
import shutil
import threading
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.export.memory import export_memory
from readagent_core.loaders import load
from readagent_core.memory import GistMemory
from readagent_core.methods.base import Question, event_from_dict
from readagent_core.models import connection
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.workspace import Workspace
from readagent_core.workspace.asking import ask
from readagent_core.workspace.reading import newest_memory, start_reading
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer, Reply, error

NOVELLA = Path(__file__).parents[2] / "assets" / "samples" / "the-keeper-of-harrow-light.md"
TASKS = ("paginate", "gist", "look_up", "answer")
OF_READING = ("paginate", "gist")  # the others are met by a question about a book that was read
PLAN = ReadingPlan(max_words=160, min_words=60)
SCENES = (
    "The boat lay in the harbour and the tide lifted it. Oars knocked against the side of the boat all morning long.",
    "In the bakery Mrs. Oake kneaded dough. Flour hung over the counter, and she won a tea cosy with a silver bell.",
    "The clerk counted the ballots twice and frowned. Nobody in the hall would look at anybody else for a while.",
    "Rain fell on the lighthouse. The keeper trimmed the lamp, wrote the hour in his book, and slept in his chair.",
)


def book(paragraphs: int = 14) -> Document:
    texts = [
        f"{SCENES[i // 4 % 4]} It was the {i + 1}th of that month, and the {i * 7 % 31} bus was late."
        for i in range(paragraphs)
    ]
    return Document("A Small Book", tuple(Paragraph(text) for text in texts))


QUESTION = Question("What did Mrs. Oake win with a silver bell?")


@dataclass(frozen=True)
class Fault:
    """``calls``: how many are made of one prompt before it is believed. ``says``: part of what the person reads.

    ``stands_in``: tasks that go on without the reply (a fallback that is shown), in place of stopping.
    """

    reply: Reply
    calls: int
    says: str
    stands_in: frozenset[str] = frozenset()


NO_WORDS = frozenset({"paginate", "gist", "look_up"})
FAULTS = {
    "429": Fault(Reply(status=429, error=error("x")), 8, "asked us to wait"),
    "429 for an hour": Fault(Reply(status=429, error=error("x"), headers={"Retry-After": "3600"}), 1, "3600 s"),
    "500": Fault(Reply(status=500, error=error("x")), 5, "failed (error 500)"),
    "timeout": Fault(Reply(delay=1.6), 3, "gave no sign for too long"),
    "reset": Fault(Reply(drop=True), 4, "connection to"),
    "cut in the middle": Fault(Reply("Well, it", cut=7), 4, "broke off", NO_WORDS),
    "cut by a reset": Fault(Reply("Well, it", cut=7, how="reset"), 4, "broke off", NO_WORDS),
    "empty": Fault(Reply(""), 3, "empty reply", NO_WORDS),
    "refusal": Fault(Reply("", refusal="no"), 2, "declined", NO_WORDS),
    "broken JSON": Fault(Reply(body="{'no"), 5, "cannot be read"),
    "without end": Fault(Reply("so ", endless=True), 1, "", frozenset(TASKS)),
    "wrong key": Fault(Reply(status=401, error=error("x")), 1, "did not accept the key"),
    "no such model": Fault(Reply(status=404, error=error("model not found")), 1, "has no model"),
    "no credit": Fault(Reply(status=429, error=error("x", code="insufficient_quota")), 1, "out of credit"),
    "too long": Fault(Reply(status=400, error=error("x", code="context_length_exceeded")), 4, "window"),
}
# a window once found smaller stays so: its fault leaves a trace, told below
OVERCOME = [name for name, fault in FAULTS.items() if fault.calls > 1 and name != "too long"]


def answer_of(exchange):
    """The exchange's Answer; None where it came to none."""
    found = [event_from_dict(event) for event in exchange.events if event["kind"] == "Answered"]
    return found[-1].answer if found else None


class Trouble:
    """Puts ``fault`` in the way of every prompt of ``task``: the first ``times`` calls of them all."""

    def __init__(self, task: str, fault: Reply, times: int = 10**9) -> None:
        self.task, self.fault, self.times = task, fault, times
        self.met: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, number: int, text: str) -> Reply | None:
        prompt = understood(text)
        if prompt is None or prompt.task != self.task:
            return None
        with self._lock:
            if sum(self.met.values()) >= self.times:
                return None
            self.met[text] = self.met.get(text, 0) + 1
        return self.fault


@pytest.fixture
def run(own_home, undisturbed):
    """``run(server)`` reads the book and asks; (reading, memory, reading job, exchange).

    Not ``read``: it was read before, as undisturbed; no reading job.
    """
    workspaces = []

    def go(server, *, document=None, plan=PLAN, timeout=60.0, connections=1, read=True):
        saved = {"timeout": timeout, "connections": connections}
        settings = Settings(own_home, server.url, Secret("sk-marker-key-0001"), "fake-model", {}, saved)
        if not read:
            shutil.copytree(undisturbed.home, own_home)
        workspace = Workspace(settings, model=connection.connect(settings, time_scale=0.001))
        workspaces.append(workspace)
        kept = workspace.library.add(document or book())
        reading_job = start_reading(workspace, kept.id, plan) if read else None
        if reading_job is not None:
            reading_job.join(60)
        while running := workspace.jobs.running():  # in smaller pages, after a window error
            running[0].join(60)
        found = newest_memory(workspace, kept.id)
        if found is None or not found[1].readable:
            return workspace.library.readings(kept.id)[0], found and found[1], reading_job, None
        exchange, job = ask(workspace, kept.id, QUESTION)
        job.join(30)
        return *found, reading_job, workspace.library.exchange(exchange.id)

    yield go
    for workspace in workspaces:
        workspace.library.close()
    connection.close_all()


@dataclass(frozen=True)
class Undisturbed:
    memory: GistMemory
    answer: str
    home: Path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The book read and asked about without a fault; ``home`` is as it was before the question."""
    home = tmp_path_factory.mktemp("undisturbed")
    with FakeServer() as server:
        settings = Settings(home, server.url, Secret(), "fake-model", {}, {"connections": 1})
        workspace = Workspace(settings)
        kept = workspace.library.add(book())
        start_reading(workspace, kept.id, PLAN).join(30)
        memory = newest_memory(workspace, kept.id)[1]
        workspace.library.close()
        as_read = tmp_path_factory.mktemp("read") / "home"
        shutil.copytree(home, as_read, ignore=shutil.ignore_patterns("replies"))
        exchange, job = ask(workspace, kept.id, QUESTION)
        job.join(30)
        answer = answer_of(workspace.library.exchange(exchange.id))
        workspace.library.close()
        connection.close_all()
        assert memory.complete
        return Undisturbed(memory, answer.text, as_read)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", OVERCOME)
def test_once(run, undisturbed, name, task):
    """A fault that comes once leaves no trace but one call more."""
    memory, answer = undisturbed.memory, undisturbed.answer
    trouble = Trouble(task, FAULTS[name].reply, times=1)
    with FakeServer(before=trouble) as server:
        reading, found, reading_job, exchange = run(
            server, timeout=0.8 if name == "timeout" else 60.0, read=task in OF_READING
        )
        assert reading.state == "done"
        assert reading_job is None or reading_job.snapshot.state == "done"
        assert (found.pages, found.gists) == (memory.pages, memory.gists)
        texts = [chat.text for chat in server.chats]
        broken_on_screen = name.startswith("cut") and task == "answer"  # words were shown: never replaced in silence
        again = len(texts) - len(set(texts))
        assert again == (not broken_on_screen) or (name == "timeout" and again > 1)  # a busy machine is slow by itself
        if broken_on_screen:
            assert answer_of(exchange) is None or answer_of(exchange).cut_off
        else:
            assert answer_of(exchange).text == answer


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", FAULTS)
def test_always(run, undisturbed, name, task):
    """A fault that stays is believed, named to the person, and all that was done is kept."""
    memory = undisturbed.memory
    fault = FAULTS[name]
    trouble = Trouble(task, fault.reply)
    with FakeServer(before=trouble) as server:
        reading, found, reading_job, exchange = run(
            server, timeout=0.8 if name == "timeout" else 60.0, read=task in OF_READING
        )
    assert trouble.met
    for text, met in trouble.met.items():
        most = 1 if name.startswith("cut") and task == "answer" else fault.calls
        # the reader itself asks for a pause point up to three times before it takes the last label
        assert met <= most * (3 if task == "paginate" and task in fault.stands_in else 1), text[:80]
    if task in OF_READING:
        if task in fault.stands_in:
            assert reading_job.snapshot.state == "done"
            marked = [p.fallback for p in found.pages] if task == "paginate" else [g.fallback for g in found.gists]
            assert any(marked)
            assert found.complete
        else:
            assert reading_job.snapshot.state == "failed"
            assert reading.state == "paused"
            assert fault.says in reading.why
            assert "kept" in reading.why
            if reading.plan != PLAN:  # too long: tried in smaller pages too
                return
            assert reading.why == reading_job.snapshot.error
            if found is not None:
                assert found.pages == memory.pages[: len(found.pages)]
        return
    assert reading.state == "done"
    if task in fault.stands_in:
        assert answer_of(exchange) is not None
        if task == "look_up":
            assert not answer_of(exchange).looked_up or name == "without end"
    elif answer_of(exchange) is not None:  # cut off: what came is kept and said to be cut
        assert answer_of(exchange).cut_off
    else:
        assert fault.says in exchange.error
        assert "kept" in exchange.error
    assert "sk-marker-key-0001" not in exchange.error


@pytest.mark.parametrize("connections", [1, 8])
def test_a_window_the_server_does_not_name(run, connections):
    """It takes in some 1,200 words and does not say so: the book is read in smaller pages, fewer are looked up."""
    no_figure = FAULTS["too long"].reply
    refused: list[str] = []

    def trouble(number, text):
        if len(text.split()) > 1200:
            refused.append(text)
            return no_figure
        return None

    with FakeServer(before=trouble) as server:
        plan = ReadingPlan(max_words=1800, min_words=600)
        reading, memory, reading_job, exchange = run(server, document=book(200), plan=plan, connections=connections)
        assert reading_job.snapshot.error_kind == "WindowError"
        assert exchange.error == ""
        assert memory.complete
        assert (reading.state, reading.plan.max_words < 1200) == ("done", True)
        assert answer_of(exchange) is not None
        assert answer_of(exchange).text
        assert len(refused) <= 8 + 6
        assert len(refused) < len(server.chats) / 2


def test_a_third_of_all_calls_fails_in_all_these_ways(run, tmp_path):
    """The novella ends complete and identical to the undisturbed reading; no reply that arrived is asked for twice.

    No prompt meets the same fault twice; silence is left to the table, it only costs time.
    """
    ways = {name: FAULTS[name].reply for name in OVERCOME if name != "timeout"}
    rolls = random.Random(4)
    lock = threading.Lock()
    met: set[tuple[str, str]] = set()

    def trouble(number, text):
        with lock:
            way = rolls.choice(list(ways))
            if rolls.random() < 0.3 and (way, text) not in met:
                met.add((way, text))
                return ways[way]
        return None

    document = load(NOVELLA.read_bytes(), NOVELLA.name)
    plan = ReadingPlan.from_preset("article")
    with FakeServer() as calm:
        settings = Settings(tmp_path / "calm", calm.url, Secret(), "fake-model")
        settings.home.mkdir()
        workspace = Workspace(settings)
        kept = workspace.library.add(document)
        start_reading(workspace, kept.id, plan).join(60)
        expected = newest_memory(workspace, kept.id)[1]
        workspace.library.close()
    with FakeServer(before=trouble) as server:
        _, memory, reading_job, _ = run(server, document=document, plan=plan, connections=8)
        assert reading_job.snapshot.error == ""
        assert memory.complete
        assert len(memory.pages) > 20
        assert memory.pages == expected.pages
        assert memory.gists == expected.gists
        assert len(met) > 10
        assert len({way for way, _ in met}) > 6
        asked = [text for text in server.answered if understood(text).task in ("paginate", "gist")]
        assert len(asked) == len(set(asked))


def command_lines() -> list[bytes]:
    """Our own processes as the process list shows them: this one and what it started; none where there is no /proc."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):  # it ended meanwhile
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if os.getpid() in (int(folder.name), parent):
                found.append((folder / "cmdline").read_bytes())
    return found


def test_the_key_is_found_nowhere(run, caplog, own_home):
    """After a reading, an ask that fails and every export: in no file, log, error or export."""
    caplog.set_level(logging.DEBUG)
    failing = Reply(status=401, error=error("Incorrect API key provided: sk-marker-key-0001"))
    lines: list[bytes] = []

    def replier(text: str) -> str | Reply:
        lines.extend(command_lines())
        return failing if "Oake win" in text else sensible(text)

    with FakeServer(replier) as server:
        reading, memory, reading_job, exchange = run(server)
        assert server.chats[0].headers["authorization"] == "Bearer sk-marker-key-0001"
    assert "did not accept the key" in exchange.error
    told = [caplog.text, repr(exchange), repr(reading), repr(reading_job.snapshot)]
    exports = [export_memory(memory, kind) for kind in ("md", "html", "json", "epub")]
    with zipfile.ZipFile(io.BytesIO(exports[-1])) as epub:  # its parts are packed
        exports += [epub.read(name) for name in epub.namelist()]
    files = [path.read_bytes() for path in own_home.rglob("*") if path.is_file()]
    assert len(files) > 2
    assert lines or not Path("/proc/self/cmdline").exists()
    for found in [*told, *exports, *files, *lines]:
        assert b"sk-marker-key-0001" not in (found.encode() if isinstance(found, str) else found)
