"""The budget of a book and of a question, at a server: held over every pause, and only raised by a person."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pages.parts.shared import reading_status
from readagent_core.cancel import CancelToken
from readagent_core.errors import BudgetError
from readagent_core.methods.base import Question, event_from_dict
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import Price
from readagent_core.models.cost.spending import SpendingLog
from readagent_core.plan import ReadingPlan
from readagent_core.prompts import Prompt
from readagent_core.workspace import costs
from readagent_core.workspace.asking import ask
from readagent_core.workspace.reading import start_reading
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer
from tests.workspace.test_fault_table import QUESTION, book

PLAN = ReadingPlan(max_words=160, min_words=60)
PRICE = [1000.0, 1000.0]  # a tenth of a cent a token: a call of ours is some thirty cents


@pytest.fixture
def workspace_at(open_workspace, monkeypatch):
    """A workspace at ``server`` whose model has a price."""
    monkeypatch.setattr("readagent_core.models.cost.prices.is_local", lambda where: False)
    return lambda server, **saved: open_workspace(server.url, prices={"fake-model": PRICE}, **saved)


def test_a_books_budget_holds_over_every_going_on_until_it_is_raised(workspace_at):
    with FakeServer() as server:
        workspace = workspace_at(server, budget_book=1.5, connections=1)
        shelved = workspace.library.add(book(30))
        snapshot = start_reading(workspace, shelved.id, PLAN).join(30)
        assert (snapshot.state, snapshot.error_kind) == ("failed", "BudgetError")
        sent = len(server.chats)
        (reading,) = workspace.library.readings(shelved.id)
        assert (reading.state, reading.why) == ("paused", snapshot.error)
        assert reading.why.startswith(f"{costs.BUDGET_USED}: $")
        assert 0 < reading.usage.cost <= 2.0
        pages = reading.pages

        for again in (workspace, workspace_at(server, budget_book=1.5)):  # going on, and a new start of the app
            assert start_reading(again, shelved.id, PLAN).join(30).error_kind == "BudgetError"
            assert start_reading(again, shelved.id, ReadingPlan(max_words=90, min_words=30)).join(30).state == "failed"
        assert len(server.chats) == sent

        line = reading_status.job_line(
            reading_status.snapshot_of(workspace, reading),
            workspace.library.reading(reading.id),
            workspace.library.memory(reading.id),
            now=0.0,
            budget=costs.exceeded_budget(workspace, workspace.library.reading(reading.id)),
        )
        assert line["line"] == "Paused: the budget for this book is used"
        assert "of $1.50 is spent;" in line["rest"]
        assert line["actions"] == [["raise", "Raise to $3.00"]]

        assert costs.raise_budget(workspace, shelved.id) == 3.0
        assert start_reading(workspace, shelved.id, PLAN).join(30).error_kind == "BudgetError"
        went_on = workspace.library.reading(reading.id)
        assert went_on.pages >= pages
        assert 1.5 < went_on.usage.cost <= 3.5
        assert costs.book_budget(workspace, shelved.id, workspace.model).raised == 4.5
        while workspace.library.reading(reading.id).state != "done":
            costs.raise_budget(workspace, shelved.id)
            start_reading(workspace, shelved.id, PLAN).join(30)
        texts = [chat.text for chat in server.chats]
        assert len(texts) == len(set(texts))  # nothing was paid for twice


def test_a_limit_raised_in_settings_is_gone_on_with(workspace_at):
    with FakeServer() as server:
        workspace = workspace_at(server, budget_book=1.0, connections=1)
        shelved = workspace.library.add(book(30))
        start_reading(workspace, shelved.id, PLAN).join(30)
        (reading,) = workspace.library.readings(shelved.id)
        other = workspace_at(server, budget_book=100.0)
        line = reading_status.job_line(
            None, reading, other.library.memory(reading.id), now=0.0, budget=costs.exceeded_budget(other, reading)
        )
        assert line["actions"] == [["go", "Go on"]]
        assert start_reading(other, shelved.id, PLAN).join(30).state == "done"
        assert costs.exceeded_budget(other, other.library.reading(reading.id)) is None


def test_every_call_of_a_question_is_on_one_meter(workspace_at):
    """The first question's budget is its own; the second, which follows it, is made self-contained first."""
    with FakeServer() as server:
        workspace = workspace_at(server)
        shelved = workspace.library.add(book())
        start_reading(workspace, shelved.id, PLAN).join(30)
        exchange, job = ask(workspace, shelved.id, QUESTION)
        assert job.join(30).state == "done"
        spent = [
            event_from_dict(e).usage.cost
            for e in workspace.library.exchange(exchange.id).events
            if e["kind"] == "Asked"
        ]
        assert len(spent) == 2
        # enough for the step before and the look-up, each by itself; not for all three calls together
        other = workspace_at(server, budget_book=max(spent) * 1.9)
        sent = len(server.chats)
        second, job = ask(
            other, shelved.id, Question("And who kneaded the dough there?"), conversation_id=exchange.conversation_id
        )
        assert job.join(30).error_kind == "BudgetError"
        kept = other.library.exchange(second.id)
        assert kept.state == "failed"
        assert "budget" in kept.error
        assert next(e["task"] for e in kept.events if e["kind"] == "Asked") == "standalone"
        assert len(server.chats) - sent == 2


def test_asking_anew_is_metered_too(workspace_at):
    with FakeServer() as server:
        model = workspace_at(server, budget_book=0.5).model
        again = model.without_cache()
        assert (again.price, again.budget) == (model.price, model.budget)
        assert again.model is model.model


def test_calls_side_by_side_do_not_pass_the_months_limit_together(workspace_at, own_home):
    with FakeServer(sensible, latency=0.3) as server:
        model = workspace_at(server, budget_month=0.02).model
        prompts = [Prompt("answer", f"Question {i} of a few words?") for i in range(8)]

        def ask(prompt):
            try:
                return model.complete(prompt, CancelToken()).text
            except BudgetError as error:
                return "" if error.monthly else "another limit"

        with ThreadPoolExecutor(8) as pool:
            came = [text for text in pool.map(ask, prompts) if text]
        assert 1 <= len(came) == len(server.chats) < 8
        assert SpendingLog(own_home).month() > 0


def test_a_meter_over_a_meter_counts_money_and_leaves_the_budget_below():
    fake = FakeModel(lambda prompt: "word")
    fake.price = Price(1.0, 2.0)
    below = Metered(fake, budget=5.0, spent=4.0)
    above = Metered(below)
    above.complete(Prompt("answer", "Four words in all"), CancelToken())
    assert above.price == Price(1.0, 2.0)
    assert above.usage.cost == below.usage.cost > 0
