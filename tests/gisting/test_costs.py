"""What reading and asking cost: nothing is guessed that is not known, and a budget holds until a person raises it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pages.parts.shared import gisting_status
from readagent_core.answering import costs
from readagent_core.answering.asking import ask
from readagent_core.answering.base import Answer, Answered, AskSettings, ModelCall, Question
from readagent_core.answering.event_json import event_from_dict
from readagent_core.answering.registry import all_methods
from readagent_core.answering.resources import Resources
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import BudgetError
from readagent_core.gisting import costs as gisting_costs
from readagent_core.gisting import estimate
from readagent_core.gisting.job import start_gisting
from readagent_core.library import Library
from readagent_core.library.records import GistingState, StopReason
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import Price
from readagent_core.models.cost.spending import SpendingLog
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from tests.connecting.test_fault_table import QUESTION, book
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer
from tests.gisting.helpers import random_document
from tests.methods.test_zoom import long_memory

PLAN = GistingPlan(max_words=160, min_words=60)
PRICE = [1000.0, 1000.0]  # a tenth of a cent a token: a call of ours is some thirty cents


@pytest.fixture
def workspace_at(open_workspace, monkeypatch):
    """A workspace at ``server`` whose model has a price."""
    monkeypatch.setattr("readagent_core.models.cost.prices.is_local", lambda where: False)
    return lambda server, **saved: open_workspace(server.url, prices={"fake-model": PRICE}, **saved)


def test_a_books_budget_holds_over_every_going_on_until_it_is_raised(workspace_at):
    def drawn(workspace):
        budget = gisting_costs.exceeded_budget(workspace, workspace.library.gisting(gisting.id))
        found = workspace.library.gisting(gisting.id), workspace.library.memory(gisting.id)
        return gisting_status.job_line(gisting_status.snapshot_of(workspace, gisting), *found, now=0.0, budget=budget)

    with FakeServer() as server:
        workspace = workspace_at(server, budget_book=1.5, connections=1)
        shelved = workspace.library.add(book(30))
        snapshot = start_gisting(workspace, shelved.id, PLAN).join(120)
        assert (snapshot.state, type(snapshot.failure)) == ("failed", BudgetError)
        sent = len(server.chats)
        (gisting,) = workspace.library.gistings(shelved.id)
        assert (gisting.state, gisting.why) == ("paused", snapshot.error)
        assert (gisting.reason, gisting.limit) == (StopReason.BUDGET, 1.5)
        assert 0 < gisting.usage.cost <= 2.0

        for again in (workspace, workspace_at(server, budget_book=1.5)):  # going on, and a new start of the app
            assert isinstance(start_gisting(again, shelved.id, PLAN).join(120).failure, BudgetError)
            assert (
                start_gisting(again, shelved.id, GistingPlan(max_words=200, min_words=90)).join(120).state == "failed"
            )
        assert len(server.chats) == sent
        line = drawn(workspace)
        assert line["line"] == "Stopped at your limit, $1.50"
        assert "is spent" in line["rest"]
        assert line["actions"] == [["raise", "Raise to $3.00"]]

        assert gisting_costs.raise_budget(workspace, shelved.id) == 3.0
        assert isinstance(start_gisting(workspace, shelved.id, PLAN).join(120).failure, BudgetError)
        went_on = workspace.library.gisting(gisting.id)
        assert went_on.pages >= gisting.pages
        assert 1.5 < went_on.usage.cost <= 3.5
        assert gisting_costs.book_budget(workspace, shelved.id, workspace.model).raised == 4.5

        other = workspace_at(server, budget_book=100.0)  # another limit, set in Settings
        assert drawn(other)["actions"] == [["go", "Resume"]]
        assert start_gisting(other, shelved.id, PLAN).join(120).state == "done"
        assert gisting_costs.exceeded_budget(other, other.library.gisting(gisting.id)) is None
        texts = [chat.text for chat in server.chats]
        assert len(texts) == len(set(texts))  # nothing was paid for twice


def test_every_call_of_a_question_is_on_one_meter(workspace_at):
    """The first question's budget is its own; the second, which follows it, is made self-contained first."""
    with FakeServer() as server:
        workspace = workspace_at(server)
        shelved = workspace.library.add(book())
        start_gisting(workspace, shelved.id, PLAN).join(120)
        exchange, job = ask(workspace, shelved.id, QUESTION)
        assert job.join(120).state == "done"
        events = [event_from_dict(e) for e in workspace.library.exchange(exchange.id).events]
        spent = [event.usage.cost for event in events if isinstance(event, ModelCall)]
        assert len(spent) == 2
        # enough for the step before and the look-up; not for all three calls together
        other = workspace_at(server, budget_book=sum(spent))
        sent = len(server.chats)
        follow_up = Question("And who kneaded the dough there?")
        second, job = ask(other, shelved.id, follow_up, conversation_id=exchange.conversation_id)
        assert isinstance(job.join(120).failure, BudgetError)
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


@pytest.mark.parametrize(
    ("address", "saved", "said"),
    [
        ("", {}, r"The built-in reader costs nothing\.$"),
        ("http://localhost:9/v1", {}, r"tokens\) sent.*; free\.$"),  # and its speed is not guessed
        ("http://localhost:9/v1", {"prices": {"fake-model": [100.0, 100.0]}}, r"; about \$"),
        ("https://example.invalid/v1", {"window": 8000}, r"; price not known\.$"),
    ],
)
def test_the_estimate_names_a_price_only_where_it_is_known(open_workspace, address, saved, said):
    workspace = open_workspace(address, **saved)
    assert re.search(said, gisting_costs.estimate_sentence(workspace, random_document(1), PLAN))


def test_one_page_is_no_pages(open_workspace):
    short = Document("Note", (Paragraph("The lamp was out. " * 20),))
    assert gisting_costs.estimate_sentence(open_workspace(), short, PLAN).startswith("About 1 page. ")
    model = open_workspace("http://localhost:9/v1")
    assert gisting_costs.estimate_sentence(model, short, PLAN).startswith("About 1 page: 1 call, ")


def test_speed_comes_from_earlier_readings(open_workspace):
    with FakeServer() as server:
        workspace = open_workspace(server.url)
        book = workspace.library.add(random_document(2))
        gisting = workspace.library.open_gisting(book.id, PLAN, "fake-model", server.url)
        workspace.library.set_state(gisting.id, GistingState.DONE)
        workspace.library.store(gisting.id).save_usage(Usage(calls=10, seconds=300.0))
        assert gisting_costs.seconds_per_call(workspace) == 30.0


@pytest.mark.parametrize(
    ("seconds", "connections", "said", "short"),
    [
        (6.0, 1, "about 7 minutes.", "About 7 min, "),  # one after another
        (6.0, 2, "about 4 minutes.", "About 4 min, "),
        (6.0, 8, "about 4 minutes.", "About 4 min, "),  # pause points are found one after another
        (2.5, 8, "about 1 minute.", "About 1 min, "),
        (1.0, 8, "under a minute.", "About 1 min, "),
    ],
)
def test_the_minutes_of_a_reading_are_its_calls_at_the_speed_of_earlier_ones(
    open_workspace, seconds, connections, said, short
):
    with FakeServer() as server:
        workspace = open_workspace(server.url, connections=connections)
        book = workspace.library.add(random_document(2))
        gisting = workspace.library.open_gisting(book.id, PLAN, "fake-model", server.url)
        workspace.library.store(gisting.id).save_usage(Usage(calls=10, seconds=10 * seconds))
        document = random_document(1, paragraphs=90)
        assert estimate(document, PLAN).calls == 67
        assert gisting_costs.estimate_sentence(workspace, document, PLAN).endswith(f"; {said}")
        assert gisting_costs.short_estimate(workspace, document, PLAN).startswith(short)


def test_the_cost_line_is_the_paper_s_rate_and_what_the_cache_saved_is_told():
    answer = Answer(
        "So.", "read-agent-p", looked_up=(15, 21), seen={15: "full", 21: "full", 1: "gist"}, memory_words=1945
    )
    calls = Usage(calls=1, words_in=2000, words_out=50, tokens_in=2600, tokens_out=60, cost=0.002)
    cost = costs.answer_cost([ModelCall("look_up", "", "", calls), Answered(answer)], whole=10352, seconds=3.2)
    assert cost is not None
    assert costs.cost_line(cost) == "Read 1,945 of 10,352 words – 81.2 % fewer; 2 pages looked up; 3.2 s"
    japanese = "Read 3,890 of 20,704 characters – 81.2 % fewer; 2 pages looked up; 3.2 s"  # as Read counts them
    assert costs.cost_line(cost, "ja") == japanese
    assert costs.cost_line(replace(cost, seconds=183.4)).endswith("; 3 min 3 s")
    full = replace(answer, method="full-text", looked_up=(), seen={1: "full"}, memory_words=481)
    read = costs.answer_cost([Answered(full)], whole=481, seconds=0.1)
    assert read is not None
    assert costs.cost_line(read) == "Read 481 of 481 words; 0.1 s"  # of a method that looks nothing up
    with_tags = replace(read, read=483)
    assert costs.cost_line(with_tags) == "Read 481 of 481 words; 0.1 s"  # never more than there are
    summarised = replace(cost, usage=Usage(calls=17, words_in=12_000), looked_up=0)
    said = "Read 1,945 of 10,352 words for the answer; 12,000 words in all prompts; no page looked up; 3.2 s"
    assert costs.cost_line(summarised) == said
    told = costs.cost_details(cost)
    assert told[0].startswith("Sent 2,000 words in 1 call")
    assert "The full text in one prompt: 10,352 words, about 13,458 tokens" in told[-1]
    assert costs.cost_details(cost, is_language_model=False) == []
    assert costs.answer_cost([], whole=1, seconds=0) is None
    kept = Usage(cached_calls=2, saved_words_in=900, cost=0.0, saved_cost=0.25)
    cost = costs.answer_cost([ModelCall("look_up", "", "", kept), Answered(Answer("So.", "p"))], whole=100, seconds=1)
    assert "900 words were answered from the cache and not sent again. That saved $0.25." in costs.cost_details(cost)
    assert gisting_costs.gisting_cost(kept) == "The cache saved 900 words and $0.25."
    unknown = Usage(calls=1, words_in=40, cached_calls=2, saved_words_in=900)
    assert gisting_costs.gisting_cost(unknown) == (
        "Making the gists sent 40 words in 1 call, price not known. The cache saved 900 words."
    )
    assert gisting_costs.gisting_cost(Usage()) == ""


class Priced(FakeModel):
    price = Price(1.0, 10.0)


@pytest.mark.parametrize("name", ["read-agent-p", "zoom"])
def test_what_a_question_makes_of_parts_first_is_told_before_it_and_made_once(name, tmp_path):
    model = Priced(lambda p: "told " * int(p.fields["least"]) if p.task == "gist" else "ANSWER: A [1].")
    memory, library = long_memory(300), Library(tmp_path)
    model.window = 8_000
    store = library.artifacts(library.add(memory.document).document_id)
    told = re.fullmatch(
        r"First, and once, gists of parts of this book are made: about (\d+) calls, about \$\d\.\d\d\.",
        costs.parts_sentence(model, memory, name, store, look_ups=3),
    )
    assert told
    resources = Resources(artifacts=store)
    list(all_methods()[name].run(Question("Who?"), memory, model, AskSettings(3), CancelToken(), resources))
    assert model.tasks().count("gist") == pytest.approx(int(told.group(1)), rel=0.1)
    assert costs.parts_sentence(model, memory, name, store, look_ups=3) == ""
    assert costs.parts_sentence(BuiltInReader(), memory, name, store, look_ups=3) == ""
    library.close()


@pytest.mark.parametrize(
    ("method", "pages", "said"),
    [
        ("read-agent-p", 300, "sends about 62,000 words ($0.10). Zooming into what it needs sends about 12,000 words"),
        ("read-agent-s", 300, "sends about 138,000 words ($0.21). Zooming into what it needs sends about 12,000 "),
        ("zoom", 300, "sends about 12,000 words ($0.02). Showing every gist would send about 62,000 words ($0.10)."),
        ("read-agent-p", 60, ""),
        ("bm25", 300, ""),
    ],
)
def test_zoom_is_offered_where_every_gist_is_several_times_as_many_words(method, pages, said):
    model, memory = Priced("OK."), long_memory(pages)
    sentence = costs.zoom_sentence(model, memory, method, look_ups=3)
    assert said in sentence
    assert bool(said) == bool(sentence)
    model.window = 8_000
    small = costs.zoom_sentence(model, memory, "read-agent-p", look_ups=3)
    assert "more than fits into one prompt" in small
    assert costs.zoom_sentence(BuiltInReader(), memory, method, look_ups=3) == ""
