"""What reading and asking cost: nothing is guessed that is not known."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.methods.base import (
    Answer,
    Answered,
    ModelCall,
)
from readagent_core.models import connection
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.usage import Usage
from readagent_core.workspace import Workspace, costs
from tests.fakes.server import FakeServer
from tests.reading.helpers import random_document

PLAN = ReadingPlan(max_words=100, min_words=40)


@pytest.fixture
def make_workspace(own_home):
    own_home.mkdir()
    workspaces = []

    def make(where="", model="", **kept):
        workspaces.append(Workspace(Settings(own_home, where, Secret(), model, {}, kept)))
        return workspaces[-1]

    yield make
    for workspace in workspaces:
        workspace.library.close()
    connection.close_all()


def test_the_built_in_reader_costs_nothing(make_workspace):
    said = costs.estimate_sentence(make_workspace(), random_document(1), PLAN)
    assert said.endswith("The built-in reader costs nothing.")


def test_one_page_is_no_pages(make_workspace):
    short = Document("Note", (Paragraph("The lamp was out. " * 20),))
    assert costs.estimate_sentence(make_workspace(), short, PLAN).startswith("About 1 page. ")
    model = make_workspace("http://localhost:9/v1", "m")
    assert costs.estimate_sentence(model, short, PLAN).startswith("About 1 page: 1 call, ")


def test_a_model_here_is_free_and_its_speed_not_guessed(make_workspace):
    said = costs.estimate_sentence(make_workspace("http://localhost:9/v1", "m"), random_document(1), PLAN)
    assert "tokens) sent" in said
    assert said.endswith("; free.")


def test_a_priced_model(make_workspace):
    workspace = make_workspace("http://localhost:9/v1", "m", prices={"m": [100.0, 100.0]})
    assert "; about $" in costs.estimate_sentence(workspace, random_document(1), PLAN)


def test_an_unknown_price_is_said(make_workspace):
    workspace = make_workspace("https://example.invalid/v1", "m", window=8000)
    assert costs.estimate_sentence(workspace, random_document(1), PLAN).endswith("; its price is not known.")


def test_speed_comes_from_earlier_readings(make_workspace):
    with FakeServer() as server:
        workspace = make_workspace(server.url, "fake-model")
        book = workspace.library.add(random_document(2))
        reading = workspace.library.open_reading(book.id, PLAN, "fake-model", server.url)
        workspace.library.set_state(reading.id, "done")
        workspace.library.store(reading.id).save_usage(Usage(calls=10, seconds=300.0))
        assert costs.seconds_per_call(workspace) == 30.0
        assert "minutes." in costs.estimate_sentence(workspace, random_document(1), PLAN)


def test_the_cost_line_is_the_paper_s_rate():
    answer = Answer(
        "So.", "read-agent-p", looked_up=(15, 21), seen={15: "full", 21: "full", 1: "gist"}, memory_words=1945
    )
    calls = Usage(calls=1, words_in=2000, words_out=50, tokens_in=2600, tokens_out=60, cost=0.002)
    cost = costs.answer_cost([ModelCall("look_up", "", "", calls), Answered(answer)], whole=10352, seconds=3.2)
    assert cost is not None
    assert costs.cost_line(cost) == "Read 1,945 of 10,352 words – 81.2 % fewer; 2 pages looked up; 3.2 s"
    told = costs.cost_details(cost)
    assert told[0].startswith("Sent 2,000 words in 1 call")
    assert "The full text in one prompt: 10,352 words, about 13,458 tokens" in told[-1]
    assert costs.cost_details(cost, is_language_model=False) == []
    assert costs.answer_cost([], whole=1, seconds=0) is None


def test_what_the_cache_saved_is_told_in_words_and_money():
    kept = Usage(cached_calls=2, saved_words_in=900, cost=0.0, saved_cost=0.25)
    cost = costs.answer_cost([ModelCall("look_up", "", "", kept), Answered(Answer("So.", "p"))], whole=100, seconds=1)
    assert "900 words were answered from the cache and not sent again. That saved $0.25." in costs.cost_details(cost)
    assert costs.reading_cost(kept) == "The cache saved 900 words and $0.25."
    unknown = Usage(calls=1, words_in=40, cached_calls=2, saved_words_in=900)
    assert costs.reading_cost(unknown) == "Reading sent 40 words in 1 call. The cache saved 900 words."
    assert costs.reading_cost(Usage()) == ""
