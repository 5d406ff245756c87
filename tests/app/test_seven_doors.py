"""The same question through every door: what the server reads is the same, letter for letter.

One book, and two where a door takes several; a method that is named and, where a door has one, the usual method. The
server gets the prompts of each door apart. What suits the model was saved by a test of it, so it is in them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import readagent_core as ra
from pages.parts.shared.cached import get_workspace
from readagent_core import loaders
from readagent_core.answering.base import AskSettings, Question
from readagent_core.comparing import comparing
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.gisting import cut_by_rule
from readagent_core.library import Library
from readagent_core.memory import Gist, GistMemory
from readagent_core.models import connection
from readagent_core.plan import GistingPlan
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.cli.running import run_json
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer

QUESTION = 'In "Fog 2": Which bell rang at hour 7?'
OTHER = "Who?"  # of the other book on a shelf of Evaluate
PLAN = {"max_words": 200, "min_words": 100}
BOOKS = ("Fog 1", "Fog 2")
SAVED = {"opened_after": ["fake-model"], "suited": {"fake-model": {"method": "read-agent-s"}}}


def written(title: str) -> str:
    rows = [
        f"At hour {n} bell {n} rang in {title}. " + f"The keeper of {title} wrote it down. " * 20 for n in range(45)
    ]
    return f"# {title}\n\n" + "\n\n".join(rows)


class Doors:
    """A home folder with the two books, read and gisted; each door finds it as it was."""

    def __init__(self, folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.server, self.monkeypatch = folder, server, monkeypatch
        self.files = [folder / f"{title}.md" for title in BOOKS]
        self.memories = [self._read(title, file) for title, file in zip(BOOKS, self.files, strict=True)]
        self.home = folder / "home"
        self._fill(self.home / "evaluations")
        self.ids = self._fill(self.home)
        (self.home / "settings.json").write_text(json.dumps(SAVED), encoding="utf-8")
        shutil.copytree(self.home, folder / "as it was")

    def _read(self, title: str, file: Path) -> GistMemory:
        file.write_text(written(title), encoding="utf-8")
        plan = GistingPlan.from_preset("book", **PLAN)
        memory = cut_by_rule(loaders.load(file.read_bytes(), file.name), plan)
        gists = tuple(Gist(f"Bell {n} of {title}. " + "It was told at length. " * 22) for n in range(len(memory.pages)))
        return replace(memory, gists=gists, model="fake-model", plan=plan)

    def _fill(self, home: Path) -> list[str]:
        library, ids = Library(home), []
        for memory in self.memories:
            book = library.add(memory.document)
            gisting = library.open_gisting(book.id, memory.plan, "fake-model", self.server.url)
            library.put_memory(gisting.id, memory)
            library.set_state(gisting.id, "done")
            ids.append(book.id)
        library.close()
        return ids

    def prompts(self, ask: Callable[[Doors, list[int], str], None], books: list[int], method: str) -> list[str]:
        """Return the prompts that a door sends: about the question, and those that make gists of parts."""
        connection.close_all()
        shutil.rmtree(self.home)
        shutil.copytree(self.folder / "as it was", self.home)
        before = len(self.server.chats)
        ask(self, books, method)
        sent = [chat.text for chat in self.server.chats[before:] if OTHER not in chat.text]
        return [*(text for text in sent if QUESTION in text), *sorted(text for text in sent if QUESTION not in text)]


def differences(sent: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return what a door sent that the first did not, and the other way round, by door."""
    first = next(iter(sent.values()))
    return {
        door: [text for text in (*prompts, *first) if (text in prompts) != (text in first)] or ["another order"]
        for door, prompts in sent.items()
        if prompts != first
    }


# --- the doors ------------------------------------------------------------------------------------


def by_app(doors: Doors, books: list[int], method: str) -> None:
    from tests.app.conftest import ROOT, AppTest, forget

    forget()
    at = AppTest.from_file(str(ROOT / "screens.py"), default_timeout=30)
    at.query_params.update({"books" if len(books) > 1 else "book": ",".join(doors.ids[n] for n in books)})
    at.run().switch_page("pages/ask.py").run()
    if method and len(books) == 1:
        at.sidebar.toggle(key="ask_every_method").set_value(True).run()
        at.sidebar.selectbox(key="ask_method").set_value(method).run()
    at.chat_input(key="ask_input").set_value(QUESTION).run()
    assert not at.exception
    for job in get_workspace().jobs.running():
        job.join(120)


def by_command_line(doors: Doors, books: list[int], method: str) -> None:
    how = ("--method", method) if method else ()
    run_json("ask", *(doors.files[n] for n in books), QUESTION, *how, server=doors.server)


def by_program(doors: Doors, books: list[int], method: str) -> None:
    model = ra.get_model()
    memories = [ra.read(ra.open_document(doors.files[n]), model, plan=doors.memories[n].plan) for n in books]
    ra.ask(memories if len(books) > 1 else memories[0], QUESTION, model, method=method)


def in_workspace(ask: Callable[[Workspace, list[str]], object], doors: Doors, books: list[int]) -> None:
    workspace = Workspace(load_settings())
    ask(workspace, [doors.ids[n] for n in books])
    workspace.library.close()


def by_mcp(doors: Doors, books: list[int], method: str) -> None:
    from readagent_core.mcp_server.tools import Tools

    in_workspace(lambda workspace, ids: Tools(workspace).ask(ids, QUESTION, method=method), doors, books)


def by_compare(doors: Doors, books: list[int], method: str) -> None:
    def compare(workspace: Workspace, ids: list[str]) -> None:
        job = comparing.compare(workspace, ids, Question(QUESTION), [method], settings=AskSettings())
        assert job.join(120).value.entries[0].state == "done"

    in_workspace(compare, doors, books)


def rows(doors: Doors, books: list[int]) -> Path:
    """A file of questions: the one that is asked, and one about the other book, for a shelf has questions of each."""
    path = doors.folder / "questions.jsonl"
    asked = {0: OTHER, 1: QUESTION}
    found = [{"file": doors.files[n].name, "question": asked[n], "references": ["Bell 7."]} for n in books]
    path.write_text("\n".join(map(json.dumps, found)), encoding="utf-8")
    return path


def by_evaluate(doors: Doors, books: list[int], method: str) -> None:
    dataset = open_dataset(rows(doors, books), books=len(books))
    arm = parse(method, AskSettings())
    experiment = Experiment(dataset, (arm,), preset="book", plan=PLAN, rate=False, connections=2)
    table = running.run(experiment, ra.get_model(), folder=doors.home / "evaluations" / "one")
    assert (table.answers, table.failed) == (len(books), 0)


def by_corpus(doors: Doors, books: list[int], method: str) -> None:
    from readagent_core.corpus.store import SETTINGS, CorpusFolder, SourceFile

    out, (n,) = CorpusFolder(doors.home / "out"), books
    file = SourceFile(doors.files[n].name, str(doors.files[n]))
    out.put_book(file, doors.memories[n], "hash")
    out.save(SETTINGS, {"plan": doors.memories[n].plan.to_dict(), "books": 1, "model": "fake-model"})
    arguments = (
        "corpus",
        "ask",
        out.address,
        rows(doors, books),
        "--method",
        method,
        "--connections",
        "2",
        "--no-rate",
    )
    found = run_json(*arguments, server=doors.server)
    assert (found["answers"], found["failed"]) == (1, 0)


DOORS = (by_app, by_command_line, by_program, by_mcp, by_compare, by_evaluate, by_corpus)
USUAL = DOORS[:4]  # those that need no method


@pytest.fixture
def doors(tmp_path, monkeypatch):
    def reply(text):
        if "Reply in one of these three ways" not in text:
            return sensible(text)
        return "ANSWER: Bell 7 [8]." if '"bell 7 rang"' in text else 'FIND "bell 7 rang"'

    with FakeServer(reply) as server:
        monkeypatch.setenv("READAGENT_BASE_URL", server.url)
        monkeypatch.setenv("READAGENT_MODEL", "fake-model")
        yield Doors(tmp_path, server, monkeypatch)
        connection.close_all()


@pytest.mark.parametrize("method", ["read-agent-p", "zoom"])
def test_one_book(doors, method):
    sent = {door.__name__: doors.prompts(door, [1], method) for door in DOORS}
    assert len(sent["by_app"]) >= 2
    assert differences(sent) == {}


def test_several_books(doors):
    sent = {door.__name__: doors.prompts(door, [0, 1], "zoom") for door in DOORS[:-1]}
    assert len(sent["by_app"]) >= 2
    assert differences(sent) == {}


def test_several_books_as_one_text(doors):
    sent = {door.__name__: doors.prompts(door, [0, 1], "bm25") for door in (by_compare, by_evaluate)}
    assert len(sent["by_compare"]) == 1
    assert differences(sent) == {}


@pytest.mark.parametrize("books", [[1], [0, 1]])
def test_the_usual_method(doors, books):
    sent = {door.__name__: doors.prompts(door, books, "") for door in USUAL}
    assert len(sent["by_app"]) >= 2
    assert differences(sent) == {}
