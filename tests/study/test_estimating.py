"""Before a reading: calls, words, tokens, money and minutes, and nothing guessed that is not known."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.models import connection
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.study import Study, estimating
from readagent_core.usage import Usage
from tests.fakes.server import FakeServer
from tests.reading.helpers import random_document

PLAN = ReadingPlan(max_words=100, min_words=40)


@pytest.fixture
def make_study(own_home):
    own_home.mkdir()
    studies = []

    def make(where="", model="", **kept):
        studies.append(Study(Settings(own_home, where, Secret(), model, {}, kept)))
        return studies[-1]

    yield make
    for study in studies:
        study.library.close()
    connection.close_all()


def test_the_built_in_reader_costs_nothing(make_study):
    said = estimating.sentence(make_study(), random_document(1), PLAN)
    assert said.endswith("The built-in reader costs nothing.")


def test_one_page_is_no_pages(make_study):
    short = Document("Note", (Paragraph("The lamp was out. " * 20),))
    assert estimating.sentence(make_study(), short, PLAN).startswith("About 1 page. ")
    model = make_study("http://localhost:9/v1", "m")
    assert estimating.sentence(model, short, PLAN).startswith("About 1 page: 1 call, ")


def test_a_model_here_is_free_and_its_speed_not_guessed(make_study):
    said = estimating.sentence(make_study("http://localhost:9/v1", "m"), random_document(1), PLAN)
    assert "tokens) sent" in said
    assert said.endswith("; free.")


def test_a_priced_model(make_study):
    study = make_study("http://localhost:9/v1", "m", prices={"m": [100.0, 100.0]})
    assert "; about $" in estimating.sentence(study, random_document(1), PLAN)


def test_an_unknown_price_is_said(make_study):
    study = make_study("https://example.invalid/v1", "m", window=8000)
    assert estimating.sentence(study, random_document(1), PLAN).endswith("; its price is not known.")


def test_speed_comes_from_earlier_readings(make_study):
    with FakeServer() as server:
        study = make_study(server.url, "fake-model")
        book = study.library.add(random_document(2))
        reading = study.library.open_reading(book.id, PLAN, "fake-model", server.url)
        study.library.set_state(reading.id, "done")
        study.library.store(reading.id).save_usage(Usage(calls=10, seconds=300.0))
        assert estimating.seconds_a_call(study) == 30.0
        assert "minutes." in estimating.sentence(study, random_document(1), PLAN)
