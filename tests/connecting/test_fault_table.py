"""Every fault a server can have × what it is asked for: what the person is told, what is kept, how many calls.

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
from types import SimpleNamespace

import pytest

from readagent_core.answering.asking import ask
from readagent_core.answering.base import Question
from readagent_core.answering.event_json import event_from_dict
from readagent_core.document import Document, Paragraph
from readagent_core.errors import UnusableRepliesError, WindowError
from readagent_core.export.memory import export_memory
from readagent_core.gisting.job import newest_memory, start_gisting
from readagent_core.loaders import load
from readagent_core.models import connection
from readagent_core.plan import GistingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.settings.saved import parse_settings
from readagent_core.workspace import Workspace
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer, Reply, error

KEY = "sk-marker-key-0001"
NOVELLA = Path(__file__).parents[2] / "assets" / "samples" / "the-keeper-of-harrow-light.md"
TASKS = ("paginate", "gist", "look_up", "answer")
OF_READING = ("paginate", "gist")  # the others are met by a question about a book that was read
PLAN = GistingPlan(max_words=160, min_words=60)
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
    "429 for an hour": Fault(Reply(status=429, error=error("x"), headers={"Retry-After": "3600"}), 1, "60 minutes"),
    "500": Fault(Reply(status=500, error=error("x")), 5, "error 500"),
    "timeout": Fault(Reply(delay=1.6), 3, "did not answer in time"),
    "reset": Fault(Reply(drop=True), 4, "connection to"),
    "cut in the middle": Fault(Reply("Well, it", cut=7), 4, "was cut before", NO_WORDS),
    "cut by a reset": Fault(Reply("Well, it", cut=7, how="reset"), 4, "was cut before", NO_WORDS),
    "empty": Fault(Reply(""), 3, "empty reply", NO_WORDS),
    "refusal": Fault(Reply("", refusal="no"), 2, "declined", NO_WORDS),
    "broken JSON": Fault(Reply(body="{'no"), 5, "cannot be read"),
    "without end": Fault(Reply("so ", endless=True), 1, "", frozenset(TASKS)),
    "wrong key": Fault(Reply(status=401, error=error("x")), 1, "did not accept the key"),
    "no such model": Fault(Reply(status=404, error=error("model not found")), 1, "has no model"),
    "no credit": Fault(Reply(status=429, error=error("x", code="insufficient_quota")), 1, "out of credit"),
    "too long": Fault(Reply(status=400, error=error("x", code="context_length_exceeded")), 4, "read at once"),
}
# for what stops the work in the same way two of these say it of every task, the others of one of each kind
TOLD_ALIKE = ("429", "429 for an hour", "reset", "broken JSON", "no such model", "no credit")
TABLE = [(name, task) for name in FAULTS for task in TASKS if task in ("gist", "answer") or name not in TOLD_ALIKE]
# a window once found smaller stays so: its fault leaves a trace, told below
OVERCOME = [name for name, fault in FAULTS.items() if fault.calls > 1 and name != "too long"]


def run_options(task: str, name: str) -> dict[str, object]:
    """The arguments of ``run`` for this fault of this task."""
    options: dict[str, object] = {"timeout": 0.8 if name == "timeout" else 60.0}
    if name == "too long" and task == "paginate":  # the smallest pages must still have two labels to choose from
        short = tuple(Paragraph(f"{SCENES[i // 4 % 4]} It was the {i + 1}th.") for i in range(14))
        options["document"] = Document("A Small Book", short)
    return {**options, "plan": PLAN if task in OF_READING else None}


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


def open_at(home: Path, server: FakeServer, *, time_scale: float = 1.0, **saved: object) -> Workspace:
    saved = {"notes": False, **saved}  # else 'too long' leads to pages so short that each is its own gist
    settings = Settings(home, server.url, Secret(KEY), "fake-model", {}, parse_settings(saved, home))
    return Workspace(settings, model=connection.connect(settings, time_scale=time_scale))


def read_and_ask(workspace: Workspace, document: Document, plan: GistingPlan | None):
    """(reading, memory, the snapshot of the reading's job, exchange). Without ``plan`` it was read before."""
    kept = workspace.library.add(document)
    snapshot = start_gisting(workspace, kept.id, plan).join(120) if plan else None
    while running := workspace.jobs.running():  # in smaller pages, after a window error
        running[0].join(120)
    found = newest_memory(workspace, kept.id)
    if found is None or not found[1].readable:
        return workspace.library.gistings(kept.id)[0], found and found[1], snapshot, None
    exchange, job = ask(workspace, kept.id, QUESTION)
    job.join(120)
    return *found, snapshot, workspace.library.exchange(exchange.id)


@pytest.fixture
def run(own_home, undisturbed):
    """``run(server)`` reads the book and asks, see ``read_and_ask``. ``plan`` None: it was read, as undisturbed."""
    workspaces = []

    def go(server, *, home=own_home, document=None, plan=PLAN, timeout=60.0, connections=1):
        if plan is None:
            shutil.copytree(undisturbed.home, home)
        home.mkdir(exist_ok=True)
        workspaces.append(open_at(home, server, time_scale=0.001, timeout=timeout, connections=connections))
        return read_and_ask(workspaces[-1], document or book(), plan)

    yield go
    for workspace in workspaces:
        workspace.library.close()
    connection.close_all()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The book read and asked about without a fault: its ``memory``, the ``answer``, and the ``home`` between both."""
    home = tmp_path_factory.mktemp("undisturbed")
    with FakeServer() as server:
        workspace = open_at(home, server, connections=1)
        start_gisting(workspace, workspace.library.add(book()).id, PLAN).join(120)
        workspace.library.close()
        as_read = tmp_path_factory.mktemp("read") / "home"
        shutil.copytree(home, as_read, ignore=shutil.ignore_patterns("replies"))
        _, memory, _, exchange = read_and_ask(workspace, book(), None)
        workspace.library.close()
        connection.close_all()
        assert memory.complete
        return SimpleNamespace(memory=memory, answer=answer_of(exchange).text, home=as_read)


# a reply that is awaited whole, and one that is shown as it comes
@pytest.mark.parametrize(
    ("name", "task"), [(n, t) for t in ("gist", "answer") for n in OVERCOME if t == "gist" or n not in TOLD_ALIKE]
)
def test_once(run, undisturbed, name, task):
    """A fault that comes once leaves no trace but one call more."""
    with FakeServer(before=Trouble(task, FAULTS[name].reply, times=1)) as server:
        gisting, found, snapshot, exchange = run(server, **run_options(task, name))
        assert gisting.state == "done"
        assert snapshot is None or snapshot.state == "done"
        assert (found.pages, found.gists) == (undisturbed.memory.pages, undisturbed.memory.gists)
        texts = [chat.text for chat in server.chats]
        broken_on_screen = name.startswith("cut") and task == "answer"  # words were shown: never replaced in silence
        again = len(texts) - len(set(texts))
        assert again == (not broken_on_screen) or (name == "timeout" and again > 1)  # a busy machine is slow by itself
        if broken_on_screen:
            assert answer_of(exchange) is None or answer_of(exchange).cut_off
        else:
            assert answer_of(exchange).text == undisturbed.answer


@pytest.mark.parametrize(("name", "task"), TABLE)
def test_always(run, undisturbed, name, task):
    """A fault that stays is believed, named to the person, and all that was done is kept."""
    fault = FAULTS[name]
    trouble = Trouble(task, fault.reply)
    with FakeServer(before=trouble) as server:
        gisting, found, snapshot, exchange = run(server, **run_options(task, name))
    assert trouble.met
    stands_in = task in fault.stands_in
    for text, met in trouble.met.items():
        most = 1 if name.startswith("cut") and task == "answer" else fault.calls
        # the reader itself asks for a pause point up to three times before it takes the last label
        assert met <= most * (3 if task == "paginate" and stands_in else 1), text[:80]
    if task == "gist" and stands_in:  # no page got a gist of the model's own: nobody is told that it has read the book
        assert (snapshot.state, gisting.state) == ("failed", "paused")
        assert isinstance(snapshot.failure, UnusableRepliesError)
        assert "nothing that can be used" in gisting.why
        assert "saved" in gisting.why
        assert not any(gist and gist.fallback for gist in found.gists)
    elif task in OF_READING and stands_in:
        assert snapshot.state == "done"
        assert any(page.fallback for page in found.pages)
        assert found.complete
    elif task in OF_READING:
        assert (snapshot.state, gisting.state) == ("failed", "paused")
        assert fault.says in gisting.why
        assert "saved" in gisting.why
        if gisting.plan == PLAN:  # else too long: tried in smaller pages too
            assert gisting.why == snapshot.error
            assert found is None or found.pages == undisturbed.memory.pages[: len(found.pages)]
    else:
        assert gisting.state == "done"
        answer = answer_of(exchange)
        if stands_in:
            assert answer is not None
            by_words = any("share most words" in note for note in answer.notes)  # no page was named: found, and said so
            assert task != "look_up" or by_words or name == "without end"
        elif answer is not None:  # cut off: what came is kept and said to be cut
            assert answer.cut_off
        else:
            assert fault.says in exchange.error
            assert "saved" in exchange.error
        assert KEY not in exchange.error


@pytest.mark.parametrize("connections", [1, 8])
def test_a_window_the_server_does_not_name(run, connections):
    """It takes in some 1,200 words and does not say so: the book is read in smaller pages, fewer are looked up."""
    refused: list[str] = []

    def trouble(number, text):
        if len(text.split()) > 1200:
            refused.append(text)
            return FAULTS["too long"].reply
        return None

    with FakeServer(before=trouble) as server:
        plan = GistingPlan(max_words=1800, min_words=600)
        gisting, memory, snapshot, exchange = run(server, document=book(200), plan=plan, connections=connections)
        assert type(snapshot.failure) is WindowError
        assert exchange.error == ""
        assert memory.complete
        assert (gisting.state, gisting.plan.max_words < 1200) == ("done", True)
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
    plan = GistingPlan.from_preset("article")
    with FakeServer() as calm:
        _, expected, _, _ = run(calm, home=tmp_path / "calm", document=document, plan=plan, connections=8)
    with FakeServer(before=trouble) as server:
        _, memory, snapshot, _ = run(server, document=document, plan=plan, connections=8)
        assert snapshot.error == ""
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
    failing = Reply(status=401, error=error(f"Incorrect API key provided: {KEY}"))
    lines: list[bytes] = []

    def replier(text: str) -> str | Reply:
        lines.extend(command_lines())
        return failing if "Oake win" in text else sensible(text)

    with FakeServer(replier) as server:
        gisting, memory, snapshot, exchange = run(server)
        assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
    assert "did not accept the key" in exchange.error
    told = [caplog.text, repr(exchange), repr(gisting), repr(snapshot)]
    exports = [export_memory(memory, kind) for kind in ("md", "html", "json", "epub")]
    with zipfile.ZipFile(io.BytesIO(exports[-1])) as epub:  # its parts are packed
        exports += [epub.read(name) for name in epub.namelist()]
    files = [path.read_bytes() for path in own_home.rglob("*") if path.is_file()]
    assert len(files) > 2
    assert lines or not Path("/proc/self/cmdline").exists()
    for found in [*told, *exports, *files, *lines]:
        assert KEY.encode() not in (found.encode() if isinstance(found, str) else found)
