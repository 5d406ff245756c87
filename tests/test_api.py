"""The front door: what a program gets from ``import readagent_core as ra``."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import readagent_core as ra
from readagent_core.answering.base import Answered, AnswerPart, LookedUp
from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, DocumentError, SettingsError, UnknownModelError
from readagent_core.library import Library
from readagent_core.plan import GistingPlan
from readagent_core.settings import load_settings, save_settings
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply
from tests.methods.test_zoom import long_memory

TEXT = "# The Lamp\n\n" + "\n\n".join(
    f"On day {i} the keeper lit the lamp. She wrote the weather in the log, and then she slept." for i in range(150)
)


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "lamp.md"
    path.write_text(TEXT, encoding="utf-8")
    return ra.open_document(path)


def test_a_book_is_read_and_asked_about(book):
    with FakeServer() as server:
        model = ra.get_model("fake-model", base_url=server.url)
        seen = []
        memory = ra.read(book, model, preset="meeting", on_progress=seen.append)
        calls = len(server.chats)
        assert memory.complete
        assert seen[-1].pages == len(memory.pages) > 2
        assert ra.read(book, model, preset="meeting") == memory
        assert ra.read(book, model) == memory  # however it was read before
        assert len(server.chats) == calls, "the finished reading was not found in the library"
        answer = ra.ask(memory, "Who lit the lamp?", model)
        assert answer.looked_up
        assert answer.usage.cost == 0.0  # a server on this computer
        events = list(ra.ask_events(memory, "When did she sleep?", model, up_to=2))
        assert isinstance(events[-1], Answered)
        assert {AnswerPart, LookedUp} <= {type(event) for event in events}
        assert max(events[-1].answer.seen) <= 2


def test_another_folder_is_another_library_and_without_one_nothing_is_saved(book, own_home, tmp_path):
    ra.read(book, ra.get_model(), library=tmp_path / "mine")
    assert (tmp_path / "mine" / "library.db").exists()
    assert ra.read(book, ra.get_model(), library=None).complete
    assert not (own_home / "library.db").exists()


def test_a_cancelled_reading_resumes(book):
    cancel, over = CancelToken(), threading.Event()

    def before(number, text):
        if number > 6 and not over.is_set():
            cancel.cancel()
            over.wait(20)
            return Reply(drop=True)
        return None

    with FakeServer(before=before) as server:
        model = ra.get_model("fake-model", base_url=server.url)
        with pytest.raises(CancelledError):
            ra.read(book, model, preset="article", cancel=cancel, connections=1)  # no other call is on its way
        over.set()
        assert len(server.answered) > 0
        assert ra.read(book, model, preset="article").complete
        assert len(server.answered) == len(set(server.answered)), "a prompt was answered twice"


def test_errors_are_raised_as_they_are(book, tmp_path):
    with pytest.raises(DocumentError, match="cannot be read"):
        ra.open_document(tmp_path / "missing.epub")
    memory = ra.read(book, ra.get_model(), library=None)
    with pytest.raises(SettingsError, match="no method"):
        ra.ask(memory, "Who?", method="guess")
    with FakeServer() as server, pytest.raises(UnknownModelError):
        ra.read(book, ra.get_model("another", base_url=server.url))


def test_a_saved_key_goes_to_no_other_address(book, own_home):
    own_home.mkdir()
    with FakeServer() as home, FakeServer(lambda _: Reply("OK.")) as other:
        save_settings(own_home, {"base_url": home.url, "model": "fake-model", "api_key": "sk-saved"})
        memory = ra.read(book, ra.get_model(), library=None)
        ra.ask(memory, "Who?", ra.get_model(base_url=other.url))
        assert "Bearer sk-saved" in home.chats[0].headers.values()
        assert not any("sk-saved" in value for chat in other.chats for value in chat.headers.values())
        ra.ask(memory, "When?", ra.get_model(base_url=other.url, api_key="sk-given"))
        assert "Bearer sk-given" in other.chats[-1].headers.values()


def test_the_makers_address_may_be_given_in_full(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    assert ra.get_model("gpt-5-mini") is ra.get_model("gpt-5-mini", base_url="https://api.openai.com/v1/")


@pytest.mark.parametrize("what", ["read", "read without a library", "ask memwalker", "ask zoom"])
def test_no_call_goes_on_after_ctrl_c(what, tmp_path):
    """The process lives on, as a notebook does; the server answers slowly, as models do."""
    with FakeServer(lambda text: Reply(sensible(text), delay=0.4)) as server:
        command = [sys.executable, "-m", "tests.stopped_program", server.url, what, str(tmp_path / "ready")]
        process = subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 60
            while len(server.chats) < 5:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            for _ in range(5):  # on a busy machine what was sent before arrives later
                calls = len(server.chats)
                time.sleep(1.5)
                if len(server.chats) == calls:
                    break
            assert len(server.chats) == calls, "calls went on"
        finally:
            process.kill()
            process.communicate(timeout=20)


def test_what_is_made_of_a_stored_book_is_made_once(book):
    """Gists of parts, which a question to a long book needs, are stored with it, also where pages are left out."""
    memory = replace(long_memory(90), plan=GistingPlan.from_preset("book"))
    library = Library(load_settings().home)
    added = library.add(memory.document)
    library.add_memory(added.id, memory)
    stored = library.memory(library.gistings(added.id)[0].id)
    library.close()
    with FakeServer(lambda text: "ANSWER: There [1]." if "three ways" in text else "Told at length. " * 40) as server:
        model = ra.get_model("fake-model", base_url=server.url)
        for up_to in (None, 80):
            ra.ask(stored, "Where hung the key?", model, method="zoom", up_to=up_to)
            first = len(server.chats)
            assert first > 2
            ra.ask(stored, "Who lit the lamp?", model, method="zoom", up_to=up_to)
            assert len(server.chats) == first + 1
        ra.ask([stored, stored.up_to(40)], "Who?", model)
        first = len(server.chats)
        ra.ask([stored, stored.up_to(40)], "When?", model)
        assert len(server.chats) == first + 1


def test_a_listener_that_leaves_ends_the_calls(book):
    with FakeServer(lambda text: Reply("A part of it.", delay=0.3)) as server:
        memory = ra.read(book, ra.get_model(), library=None)
        events = ra.ask_events(memory, "Who?", ra.get_model("fake-model", base_url=server.url), method="memwalker")
        next(events)
        events.close()
        calls = len(server.chats)
        time.sleep(1)
        assert len(server.chats) == calls
