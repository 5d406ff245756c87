"""Asking: what reaches the model, what is kept, and what is said of it."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from readagent_core.answering.asking import ask, conversation_title, exchange_state
from readagent_core.answering.base import Answered, AskSettings, NoteCode, Question
from readagent_core.answering.costs import usage_of
from readagent_core.answering.event_json import event_from_dict
from readagent_core.answering.replay import answer_text, events_of
from readagent_core.errors import (
    CutOffError,
    EndlessReplyError,
    LimitError,
    NotInLibraryError,
    ReadAgentError,
    SettingsError,
    UnreachableError,
)
from readagent_core.jobs import Jobs
from readagent_core.library.records import ExchangeFacts, ExchangeState
from readagent_core.memory import GistMemory
from readagent_core.models.base import Completion
from readagent_core.models.builtin.reader import NAME, BuiltInReader
from readagent_core.plan import GistingPlan
from readagent_core.settings.saved import ModelOptions
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer
from tests.incoming.blocking import Blocking
from tests.recordings import make_memory, recording

PAGES = 8
METHODS = ("read-agent-p", "read-agent-s", "gist-mem", "full-text", "bm25", "neural")


def a_memory(pages: int = PAGES, *, complete: bool = True, gists: int | None = None) -> GistMemory:
    """Page n holds the words pagewordN and its gist gistwordN."""
    texts = [f"pageword{n} stands here. " + "And more was said of it. " * 20 for n in range(1, pages + 1)]
    made = [f"gistword{n} only." if gists is None or n <= gists else None for n in range(1, pages + 1)]
    return make_memory(texts, made, title="A Book", complete=complete)


def reply(prompt):
    if prompt.task == "look_up":
        return "I want to look up Page [2, 5] to see."
    if prompt.task == "standalone":
        return "Why did Vane row out?"
    return 'So it was [2].\n\nEvidence:\n[2] "pageword2 stands here"'


@pytest.fixture
def workspace(open_workspace):
    return open_workspace(model=FakeModel(reply))


def a_book(workspace, memory):
    book = workspace.library.add(memory.document)
    return book, workspace.library.add_memory(book.id, memory)


def asked(workspace, book, gisting, text="Why?", **how):
    exchange, job = ask(workspace, book.id, how.pop("question", Question(text)), gisting_id=gisting.id, **how)
    job.join(60)  # the machine may be busy
    return workspace.library.exchange(exchange.id), job.snapshot


def test_an_answer_is_kept_with_every_event(workspace, own_home):
    exchange, snapshot = asked(workspace, *a_book(workspace, a_memory()))
    assert (exchange.state, exchange.error, snapshot.state) == ("done", "", "done")
    kinds = [e["kind"] for e in exchange.events]
    assert kinds[:3] == ["Asked", "LookedUp", "Expanded"]
    assert kinds[-1] == "Answered"
    assert "AnswerPart" in kinds
    answer = event_from_dict(exchange.events[-1])
    assert isinstance(answer, Answered)
    assert answer.answer.looked_up == (2, 5)
    assert snapshot.value.text == "".join(e["text"] for e in exchange.events if e["kind"] == "AnswerPart")
    assert workspace.library.conversation(exchange.conversation_id).title == "Why?"
    ten = "one two three four five six seven eight nine ten"
    assert conversation_title(ten) == "one two three four five six seven eight nine …"
    assert exchange.facts.seconds >= 0
    assert usage_of(snapshot.value.events).calls == 2
    assert exchange_state(workspace, replace(exchange, state="running")) == "done"  # loaded before it ended
    assert not list((own_home / "held").glob("exchange-*"))


def test_a_follow_up_is_made_self_contained_and_that_is_a_step(workspace):
    book, gisting = a_book(workspace, a_memory())
    first, _ = asked(workspace, book, gisting, "Who is Vane?")
    second, _ = asked(workspace, book, gisting, "And why did he row?", conversation_id=first.conversation_id)
    assert [e["task"] for e in second.events if e["kind"] == "Asked"] == ["standalone", "look_up", "answer"]
    assert second.facts.standalone == "Why did Vane row out?"
    last = workspace.model.prompts[-1].text
    assert "Why did Vane row out?" in last
    assert "And why did he row?" not in last
    prompt = next(p for p in workspace.model.prompts if p.task == "standalone")
    assert "Question: Who is Vane?" in prompt.text
    assert "pageword2 stands here" not in prompt.text  # the evidence is no part of the talk
    quoting, _ = asked(workspace, book, gisting, "“pageword2 stands”\nAnd why?", conversation_id=first.conversation_id)
    assert quoting.facts.standalone == "“pageword2 stands”\nWhy did Vane row out?"  # what is asked about stays
    # a useless rewrite leaves the question as it is; the built-in reader is not asked for one
    workspace.model._answer = lambda p: "x " * 99 if p.task == "standalone" else reply(p)
    third, _ = asked(workspace, book, gisting, "And he?", conversation_id=first.conversation_id)
    assert third.facts.standalone == ""
    assert any("asked exactly as written" in e.get("text", "") for e in third.events if e["kind"] == "Noted")
    workspace.model.is_language_model = False
    workspace.model.prompts.clear()
    asked(workspace, book, gisting, "And then?", conversation_id=first.conversation_id)
    assert "standalone" not in workspace.model.tasks()


def test_a_question_never_falls_into_the_conversation_of_a_recording(workspace):
    book, gisting = a_book(workspace, a_memory())
    recording = workspace.library.new_conversation(book.id, "Questions of the recording").id
    recorded = workspace.library.start_exchange(
        recording, gisting.id, "Who is Vane?", facts=ExchangeFacts(recorded="2026-11-21")
    )
    workspace.library.finish_exchange(recorded.id, ExchangeState.DONE)
    exchange, _ = asked(workspace, book, gisting, "And he?", conversation_id=recording)
    assert exchange.conversation_id != recording
    assert [e.id for e in workspace.library.exchanges(recording)] == [recorded.id]
    assert workspace.library.conversation(exchange.conversation_id).title == "And he?"
    assert "standalone" not in workspace.model.tasks()  # nothing was asked before it in its conversation


def test_another_model_answers_when_it_is_named(workspace):
    book, gisting = a_book(workspace, a_memory())
    exchange, _ = asked(workspace, book, gisting, model=BuiltInReader())
    assert exchange.facts.model == NAME
    assert workspace.model.prompts == []


def test_while_reading_is_under_way_it_says_so(workspace):
    exchange, _ = asked(workspace, *a_book(workspace, a_memory(complete=False, gists=3)), method="read-agent-p")
    noted = {"kind": "Noted", "text": "Answered from the 3 pages read so far.", "code": NoteCode.READ_SO_FAR}
    assert exchange.events[0] == noted
    assert exchange.facts.pages_read == 3
    assert "gistword4" not in "".join(p.text for p in workspace.model.prompts)


def test_what_cannot_be_asked_is_an_error_that_says_why(workspace):
    book, gisting = a_book(workspace, a_memory(complete=False, gists=0))
    read = a_book(workspace, a_memory(3))[1]
    for text, how, error, says in (
        ("Why?", {"gisting_id": gisting.id, "method": "read-agent-p"}, NotInLibraryError, "no gists yet"),
        ("  ", {"gisting_id": gisting.id}, SettingsError, "Write a question"),
        ("Why?", {"gisting_id": gisting.id, "method": "guess"}, SettingsError, "no method"),
        ("Why?", {"gisting_id": read.id, "up_to": 0}, ReadAgentError, "keeps every page out"),
    ):
        with pytest.raises(error, match=says):
            ask(workspace, book.id, Question(text), **how)
    assert workspace.library.conversations(book.id) == []


def test_no_later_page_reaches_the_server_over_many_positions(open_workspace):
    """40 limits over real HTTP, every kind of method, in four conversations: no word of a later page is sent, nor of
    an answer that saw one.
    """
    chance = random.Random(11)
    up_to = 99

    def obliging(text: str) -> str:
        if "Next question:" in text:
            return f"Tell me of gistword{chance.randrange(1, 21)}, was it so?"
        if "Do not answer it yet" in text:
            return f"I want to look up Page [{chance.randrange(1, 22)}, 20, 19] to see."
        return f"It says answerword{up_to}, I guess [20]."

    with FakeServer(obliging) as server:
        workspace = open_workspace(server.url)
        book, gisting = a_book(workspace, a_memory(20))
        for turn in range(40):
            if turn % 10 == 0:  # a conversation is loaded whole at each turn
                talk, up_to = workspace.library.new_conversation(book.id, "All").id, 99
                asked(workspace, book, gisting, conversation_id=talk)  # an answer without a limit, about page 20
            up_to = chance.randrange(1, 21)
            before = len(server.chats)
            how = {"method": chance.choice(METHODS), "settings": AskSettings(look_ups=chance.randrange(0, 4))}
            how |= {"conversation_id": talk, "up_to": up_to, "use_cache": False}
            exchange, _ = asked(workspace, book, gisting, f"What was said in turn {turn}?", **how)
            assert exchange.state == "done", exchange.error
            sent = "".join(request.text for request in server.chats[before:])
            assert sent
            for later in (*range(up_to + 1, 21), 99):
                assert f"pageword{later} stands" not in sent
                assert f"gistword{later} only" not in sent
                assert f"answerword{later}," not in sent


@pytest.mark.parametrize("method", ["memwalker", "semantic-compression", "recurrence", "neural", "gist-neural"])
def test_what_was_made_of_the_whole_book_is_not_used_under_a_limit(open_workspace, method):
    """First a question about the whole book, which saves trees and summaries; then one about its first 25 pages."""

    def echo(text: str) -> str:
        named = re.findall(r"pageword[0-9]+", text)
        return "Answer: " + " ".join(dict.fromkeys(named))  # a summary names what it was made of

    with FakeServer(echo) as server:
        workspace = open_workspace(server.url)
        book, gisting = a_book(workspace, a_memory(60))
        for up_to in (None, 25):
            before = len(server.chats)
            exchange, _ = asked(workspace, book, gisting, f"What was said, {up_to}?", up_to=up_to, method=method)
            assert exchange.state == "done", exchange.error
        sent = "".join(request.text for request in server.chats[before:])
        words = {int(n) for n in re.findall(r"(?:page|gist)word([0-9]+)", sent)}
        assert words
        assert max(words) <= 25


@pytest.mark.parametrize(
    ("kind", "task", "state"),
    [
        (UnreachableError, "look_up", "failed"),
        (CutOffError, "answer", "cut off"),
        (EndlessReplyError, "answer", "cut off"),
    ],
)
def test_an_error_is_kept_in_the_exchange(workspace, kind, task, state):
    workspace.model._answer = lambda p: kind("What happened. What to do.") if p.task == task else reply(p)
    exchange, snapshot = asked(workspace, *a_book(workspace, a_memory()))
    assert (exchange.state, exchange.error) == (state, "What happened. What to do.")
    assert type(snapshot.failure) is kind


def test_a_question_that_may_not_run_is_stored_as_failed(workspace, own_home):
    workspace.jobs = Jobs(most=0)
    book, gisting = a_book(workspace, a_memory())
    with pytest.raises(LimitError):
        ask(workspace, book.id, Question("Why?"), gisting_id=gisting.id)
    (conversation,) = workspace.library.conversations(book.id)
    (exchange,) = workspace.library.exchanges(conversation.id)
    assert (exchange.state, exchange_state(workspace, exchange)) == ("failed", "failed")
    assert not list((own_home / "held").glob("exchange-*"))


def test_a_question_loads_no_more_of_a_long_conversation_than_of_a_short_one(workspace, monkeypatch):
    book, gisting = a_book(workspace, a_memory(3))
    first, _ = asked(workspace, book, gisting)
    rows, whole = [], workspace.library._db.rows

    def counted(sql, values=()):
        found = whole(sql, values)
        rows.append(len(found) if "FROM event" in sql and "SELECT body" in sql else 0)
        return found

    monkeypatch.setattr(workspace.library._db, "rows", counted)
    loaded = []
    for n in range(14):
        rows.clear()
        asked(workspace, book, gisting, f"Why, for the {n}th time?", conversation_id=first.conversation_id)
        loaded.append(sum(rows))
    workspace.library._events.cache_clear()
    assert max(loaded[8:]) <= max(loaded[:8]) + 2
    assert len(workspace.library.exchanges(first.conversation_id)) == 15
    assert list(workspace.library.pages_opened(gisting.id).values()) == [{2}] * 15
    workspace.library.change_facts(first.id, recorded="2026-11-21")  # as of a sample: nobody here asked it
    assert first.id not in workspace.library.pages_opened(gisting.id)


def test_a_reply_that_broke_off_is_kept_as_cut_off(workspace):
    workspace.model._answer = lambda p: Completion("He fired the", finish="length") if p.task == "answer" else reply(p)
    exchange, _ = asked(workspace, *a_book(workspace, a_memory()))
    assert exchange.state == "cut off"
    assert answer_text(events_of(exchange)) == "He fired the"


def test_a_killed_process_leaves_what_it_had(workspace, own_home):
    """kill -9 while the answer streams: the exchange is there, with its look-up and the words that had come."""
    code = textwrap.dedent("""
        import time
        from readagent_core.answering.base import Question
        from readagent_core.settings import load_settings
        from readagent_core.workspace import Workspace
        from readagent_core.answering.asking import ask
        from tests.fakes.model import FakeModel
        from tests.answering.test_asking import a_book, a_memory, reply

        class Stalls(FakeModel):
            def stream(self, prompt, cancel):
                yield "He fired "
                time.sleep(0.3)
                yield "the gun"
                time.sleep(0.3)
                yield " twice"
                print(exchange.id, flush=True)
                time.sleep(60)

        workspace = Workspace(load_settings(), model=Stalls(reply))
        book, reading = a_book(workspace, a_memory())
        exchange, job = ask(workspace, book.id, Question("Why?"), gisting_id=reading.id)
        job.join()
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        exchange = workspace.library.exchange(other.stdout.readline().strip())
        running = exchange_state(workspace, exchange)
        other.kill()
    assert (exchange.state, running) == ("running", "running")
    assert exchange_state(workspace, exchange) == ExchangeState.INTERRUPTED
    assert [e["kind"] for e in exchange.events][:3] == ["Asked", "LookedUp", "Expanded"]
    assert answer_text(events_of(exchange)).startswith("He fired the gun")


@pytest.mark.parametrize(
    ("method", "task", "honours"),
    [
        ("read-agent-p", "standalone", True),
        ("read-agent-p", "look_up", True),
        ("read-agent-p", "answer", True),
        ("read-agent-p", "answer", False),  # the reply comes after the stop
        ("memwalker", "tree_segment", True),
        ("full-text", "answer_text", True),
    ],
)
def test_stop_ends_it_and_keeps_what_had_come(workspace, method, task, honours):
    memory = recording("the-keeper-of-harrow-light").memory
    book, gisting = a_book(workspace, memory)
    first, _ = asked(workspace, book, gisting)
    workspace._model = model = Blocking(FakeModel(reply), task, honours=honours)
    exchange, job = ask(
        workspace, book.id, Question("And he?"), method=method, conversation_id=first.conversation_id, use_cache=False
    )
    assert model.waiting.wait(20)
    assert exchange_state(workspace, workspace.library.exchange(exchange.id)) == "running"
    job.cancel()
    if not honours:
        model.free.set()
    assert job.join(20).state == "cancelled"
    stopped = workspace.library.exchange(exchange.id)
    assert stopped.state == "cancelled"
    if task == "answer":  # what had come before the stop is kept
        assert [e["kind"] for e in stopped.events if e["kind"] != "AnswerPart"][-2:] == ["LookedUp", "Expanded"]


def test_options_go_to_the_model_and_a_books_reading_asks_by_importance(workspace):
    said = {"choose": "Answer: (B) so [2].", "look_up_ranked": "Page [3]"}
    workspace.model._answer = lambda p: said.get(p.task) or reply(p)
    memory = replace(a_memory(), plan=GistingPlan(preset="book"))
    exchange, _ = asked(workspace, *a_book(workspace, memory), question=Question("Which?", ("a cat", "a dog")))
    assert exchange.options == ("a cat", "a dog")
    assert exchange.events[-1]["answer"]["option"] == 1
    assert exchange.settings["by_importance"] is True
    assert workspace.model.tasks() == ["look_up_ranked", "choose"]


def test_a_model_named_in_the_settings_reasons_before_it_chooses(workspace):
    workspace.model._answer = lambda p: "It was so [2].\nAnswer: (B)" if p.task == "choose" else reply(p)
    workspace.model.options = ModelOptions(reason_first=True)
    exchange, _ = asked(workspace, *a_book(workspace, a_memory()), question=Question("Which?", ("a cat", "a dog")))
    assert exchange.settings["reason_first"] is True
    assert "First compare the options" in workspace.model.prompts[-1].text
    assert exchange.events[-1]["answer"]["option"] == 1


def test_consecutive_questions_share_the_memory_as_their_prefix(workspace):
    """What a server with prefix caching reuses: everything up to the question (bench/prefix.py has the figures)."""
    book, gisting = a_book(workspace, a_memory())
    for text in ("Who is Vane?", "What happened to the light in the night?"):
        asked(workspace, book, gisting, text, settings=AskSettings(look_ups=2))
    first, second = (p.text for p in workspace.model.prompts if p.task == "look_up")
    memory = workspace.library.memory(gisting.id).text()
    assert first.partition(memory)[0] == second.partition(memory)[0]
    assert first.index("Who is Vane?") > first.index(memory) + len(memory)


def test_a_method_that_suited_the_model_and_is_gone_is_passed_over(workspace):
    workspace.model.options = ModelOptions(method="of-a-package-that-was-removed")
    workspace.model._answer = reply
    exchange, _ = asked(workspace, *a_book(workspace, a_memory()))
    assert (exchange.method, exchange.state) == ("read-agent-p", "done")
