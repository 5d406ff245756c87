"""What reading and asking cost: nothing is guessed that is not known."""

from __future__ import annotations

import re

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.methods.base import Answer, Answered, ModelCall
from readagent_core.plan import ReadingPlan
from readagent_core.usage import Usage
from readagent_core.workspace import costs
from tests.fakes.server import FakeServer
from tests.reading.helpers import random_document

PLAN = ReadingPlan(max_words=100, min_words=40)


@pytest.mark.parametrize(
    ("address", "saved", "said"),
    [
        ("", {}, r"The built-in reader costs nothing\.$"),
        ("http://localhost:9/v1", {}, r"tokens\) sent.*; free\.$"),  # and its speed is not guessed
        ("http://localhost:9/v1", {"prices": {"fake-model": [100.0, 100.0]}}, r"; about \$"),
        ("https://example.invalid/v1", {"window": 8000}, r"; its price is not known\.$"),
    ],
)
def test_the_estimate_names_a_price_only_where_it_is_known(open_workspace, address, saved, said):
    workspace = open_workspace(address, **saved)
    assert re.search(said, costs.estimate_sentence(workspace, random_document(1), PLAN))


def test_one_page_is_no_pages(open_workspace):
    short = Document("Note", (Paragraph("The lamp was out. " * 20),))
    assert costs.estimate_sentence(open_workspace(), short, PLAN).startswith("About 1 page. ")
    model = open_workspace("http://localhost:9/v1")
    assert costs.estimate_sentence(model, short, PLAN).startswith("About 1 page: 1 call, ")


def test_speed_comes_from_earlier_readings(open_workspace):
    with FakeServer() as server:
        workspace = open_workspace(server.url)
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
