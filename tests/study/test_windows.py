"""A model's window and a reading: what a server does not say is found out, told with the remedy, and learnt anew."""

from __future__ import annotations

from contextlib import suppress

import pytest

from readagent_core import errors
from readagent_core.methods.base import Question
from readagent_core.models import connection
from readagent_core.models.server.quirks import MOST_GUESSES
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.study import Study, connecting
from readagent_core.study.reading import made_smaller
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply, error
from tests.study.test_fault_table import book

LONG = ReadingPlan(max_words=1800, min_words=600)


@pytest.fixture
def study_at(own_home):
    own_home.mkdir(mode=0o700)
    made = []

    def make(server):
        made.append(Study(Settings(own_home, server.url, Secret(), "fake-model", {}, {"connections": 1})))
        return made[-1]

    yield make
    for study in made:
        study.library.close()
    connection.close_all()


def read(study: Study, plan: ReadingPlan):
    kept = study.library.add(book(120))
    study.start_reading(kept.id, plan).join(60)
    while running := study.jobs.running():  # in smaller pages
        running[0].join(60)
    return study.newest_memory(kept.id)


def test_a_server_that_cuts_in_silence_is_told_with_the_remedy_and_learnt_anew(study_at):
    takes_in = 1200

    def cutting(text: str) -> Reply:
        return Reply(sensible(text), tokens_in=min(takes_in, len(text) // 4))

    with FakeServer(cutting) as server:
        study = study_at(server)
        reading, memory = read(study, LONG)
        assert memory.complete
        assert (reading.state, reading.plan.max_words < LONG.max_words) == ("done", True)
        assert not any(p.fallback for p in memory.pages)
        assert "A larger one (Ollama: set OLLAMA_CONTEXT_LENGTH" in made_smaller(study, reading)
        assert "cut a prompt without saying so: it read 1,200 of about" in study.model.cutting
        assert study.model.cutting in study.model.notices
        assert study.model.window == takes_in
        # the person gives the model more, and takes it up again
        takes_in = 100_000
        connecting.use_model(study, address=server.url, model="fake-model", key=Secret())
        assert (study.model.cutting, study.model.window) == ("", None)


def test_pages_are_not_made_smaller_for_a_window_that_is_only_guessed(study_at):
    """Ollama gives a model more than its default when told to; before it is loaded it does not say so."""
    with FakeServer(kind="ollama", loaded=False, loaded_window=32_768) as server:
        study = study_at(server)
        assert study.model.window == 4096
        reading, memory = read(study, ReadingPlan(max_words=3000, min_words=500))
        assert memory.complete
        assert reading.plan.max_words == 3000
        assert study.model.window == 32_768


TOO_LONG = Reply(status=400, error=error("This prompt is too long: too many tokens.", code="context_length_exceeded"))


@pytest.mark.parametrize(("pages", "words"), [((60, 160), 450), ((120, 300), 450), ((280, 600), 600)])
@pytest.mark.parametrize("method", ["read-agent-p", "gist-mem", "full-text"])
def test_an_ask_alone_that_meets_a_window_nobody_names_is_answered_within_it(study_at, method, pages, words):
    """The book was read while the model took in more; now it takes in 450 words and does not say so."""
    most, refused = 100_000, []

    def narrow(text: str) -> str | Reply:
        if len(text.split()) <= most:
            return sensible(text)
        refused.append(text)
        return TOO_LONG

    with FakeServer(narrow) as server:
        study = study_at(server)
        kept = study.library.add(book(300))
        study.start_reading(kept.id, ReadingPlan(min_words=pages[0], max_words=pages[1])).join(60)
        connection.close_all()  # what was learnt of the model is forgotten
        most, study = words, study_at(server)
        before = len(server.answered)
        exchange, job = study.ask(kept.id, Question("What did Mrs. Oake win with a silver bell?"), method=method)
        with suppress(errors.ReadAgentError):
            job.join(60)
        found = study.library.exchange(exchange.id)
        assert (found.state, found.error) == ("done", "")
        assert refused
        assert all(len(text.split()) <= words for text in server.answered[before:])
        assert len(refused) <= MOST_GUESSES
