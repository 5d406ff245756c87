"""Prompts that were not stored are rebuilt, byte for byte what a run that stored them has sent."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest

from readagent_core.answering.asking import ask
from readagent_core.answering.base import ModelCall, Question
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.rebuilding import has_prompts, rebuild_exchange
from readagent_core.answering.replay import events_of
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.recorded import rebuilt_replay, recorded_experiment
from readagent_core.export.replay import export_replay
from readagent_core.incoming.samples import add_samples
from tests.fakes.model import FakeModel

ANSWER = 'He stuck it to the page [2].\n\nEvidence:\n[2] "He had stuck it to the page with sealing wax."'
NEXT = iter(())


def reply(prompt):
    if prompt.task == "look_up_next":
        return next(NEXT, "STOP")
    return "I want to look up Page [2, 5] to see." if prompt.task.startswith("look_up") else ANSWER


@pytest.fixture
def story(open_workspace):
    workspace = open_workspace(model=FakeModel(reply))
    book = next(b for b in add_samples(workspace) if b.title.startswith("The Keeper"))
    return workspace, book


@pytest.mark.parametrize(
    "method", ["read-agent-p", "read-agent-s", "gist-mem", "bm25", "bm25-dos", "passages-dos", "recall", "full-text"]
)
def test_where_both_exist_they_are_the_same_byte_for_byte(story, method):
    global NEXT
    NEXT = iter(["Page [2]", "Page [5]", "STOP"])
    workspace, book = story
    exchange, job = ask(workspace, book.id, Question("What was done with the farthing?"), method=method, up_to=9)
    job.join(120)
    exchange = workspace.library.exchange(exchange.id)
    stored = [e.prompt for e in events_of(exchange) if isinstance(e, ModelCall)]
    assert stored
    without = replace(exchange, events=tuple(e for e in exchange.events if e["kind"] != "Asked"))
    assert not has_prompts(events_of(without))
    rebuilt = rebuild_exchange(workspace.library, without, workspace.library.memory(exchange.gisting_id))
    assert [e.prompt for e in rebuilt if isinstance(e, ModelCall)] == stored
    assert [event_to_dict(e)["reply"] for e in rebuilt if isinstance(e, ModelCall)][-1] == ANSWER


def test_every_recorded_answer_and_experiment_has_prompts(story):
    workspace, _ = story
    for book in workspace.library.books():
        for conversation in workspace.library.conversations(book.id):
            for exchange in workspace.library.exchanges(conversation.id):
                memory = workspace.library.memory(exchange.gisting_id)
                assert has_prompts(rebuild_exchange(workspace.library, exchange, memory)), exchange.question
    found = recorded_experiment()
    questions = Questions.of(found.folder, found.record)
    missing = {
        result.arm
        for entry in questions.entries
        for result in questions.read_answers(entry)
        if not any(e["kind"] == "Asked" for e in rebuilt_replay(found.folder, found.record, result))
    }
    assert missing == set()
    assert rebuilt_replay(found.folder, {}, questions.read_answers(questions.entries[0])[0]) == []


def test_a_replay_is_one_file_that_runs_no_script_but_its_own(story):
    workspace, book = story
    conversation = workspace.library.conversations(book.id)[0]
    exchange = workspace.library.exchanges(conversation.id)[1]  # about page 5
    plain, full = (export_replay(workspace, exchange.id, prompts=prompts).decode() for prompts in (False, True))
    own = plain.split('<script type="module">')[1].split("</script>")[0]
    assert plain.count("<script") == 1
    assert f"script-src 'sha256-{b64encode(sha256(own.encode()).digest()).decode()}';" in plain
    assert "http" not in plain.replace("http-equiv", "")
    assert f"<title>{exchange.question} – {book.title}</title>" in plain
    assert plain.count("<section") == 5
    assert "Josiah Crale" in plain.split("<section")[1]  # the question stands over the gists
    assert re.search(r'<div class="bar"[^>]* hidden>', plain)  # where no script runs, no button is shown
    answer = plain.rsplit("<section", 1)[1]
    rests, memory = answer.split("<details>")  # first the page that the answer rests on, its quoted words alone
    assert ('<a href="#page-5"' in rests, rests.count('class="row full'), memory.count('class="row')) == (True, 1, 25)
    assert "Mrs. Oake" in rests.split('class="row full')[1]
    assert "On the wall of the taproom hung a printed bill" not in rests
    assert "Mrs. Oake guessed forty pounds and got a tea cosy" in plain
    assert "On the wall of the taproom hung a printed bill" in plain  # page 5, opened
    assert "There was one inn at Harrow" not in plain  # page 4 is there by its gist only
    assert "<em>Second Wife</em>" in plain
    assert "*Second Wife*" not in plain
    assert '<mark class="quoted">' in rests
    assert '<mark class="quoted">' in plain.split("<section")[4]  # the memory, which is scrolled to these words
    assert plain.count('<ul class="options">') == 2  # with the question, and with the answer
    assert plain.count('class="chosen"><span>A</span>') == 1
    limited = export_replay(workspace, exchange.id, up_to=5).decode()
    memory = workspace.library.memory(exchange.gisting_id)
    told = [gist.text.split("*")[0][:40] for gist in memory.gists if gist]
    assert [part in plain for part in told].count(True) > 20
    assert not any(part in limited for part in told[5:])  # what the person has not read
    assert "all that is remembered of the book" in plain
    assert "all that is remembered of the book" not in limited
    assert limited.count("up to page 5") == 2  # with the question, and with the count of the gists
    asked = export_replay(workspace, exchange.id, prompts=True, up_to=5).decode()
    assert not any(part in asked for part in told[5:])
    assert "left out: they hold pages after page 5" in asked
    assert "<pre" not in asked
    chosen = export_replay(workspace, exchange.id, prompts=True, up_to=5, prompts_of_all=True).decode()
    assert "<pre" in chosen
    assert "<pre" in export_replay(workspace, exchange.id, prompts=True, up_to=25).decode()
    assert "rebuilt from template and gists" in full
    assert len(full) > len(plain)
