"""A model's window and a reading: what a server does not say is found out, told with the remedy, and learnt anew."""

from __future__ import annotations

import pytest

from readagent_core.models import connection
from readagent_core.plan import ReadingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.study import Study, connecting
from readagent_core.study.reading import made_smaller
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply
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
        connecting.use_model(study, address=server.url, model="fake-model", key=Secret(), keep_key=False)
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
