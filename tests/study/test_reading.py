"""Reading as a job: one a reading, paused and gone on with, and told plainly when it cannot go on."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from readagent_core.errors import BudgetError, DiskFullError, KeyRefusedError
from readagent_core.plan import ReadingPlan
from readagent_core.settings import load_settings
from readagent_core.study import Study
from readagent_core.study import reading as rooms
from tests.fakes.model import FakeModel
from tests.reading.helpers import make_document, random_document, replier

PLAN = ReadingPlan(max_words=100, min_words=40)


@pytest.fixture
def make_study(own_home):
    made = []

    def make(answer):
        study = Study(load_settings(), model=FakeModel(answer))
        made.append(study)
        return study

    yield make
    for study in made:
        for job in study.jobs.running():
            job.cancel()
            job.join(10)
        study.library.close()


def test_a_book_is_read_to_its_end(make_study):
    study = make_study(replier())
    book = study.library.add(random_document(1))
    assert study.newest_memory(book.id) is None
    job = study.start_reading(book.id, PLAN)
    assert job.join(20).state == "done"
    reading, memory = study.newest_memory(book.id)
    assert (reading.state, reading.why) == ("done", "")
    assert memory.complete
    assert job.snapshot.done == job.snapshot.total == book.words
    assert job.snapshot.value.memory.pages == memory.pages


def test_one_job_however_many_ask(make_study):
    gate = threading.Event()
    plain = replier()

    def slow(prompt):
        gate.wait(10)
        return plain(prompt)

    study = make_study(slow)
    book = study.library.add(random_document(2, most=40))
    first = study.start_reading(book.id, PLAN)
    assert study.start_reading(book.id, PLAN) is first
    gate.set()
    assert first.join(20).state == "done"
    assert len(study.library.readings(book.id)) == 1


def test_reading_the_same_book_again_asks_nothing(make_study):
    study = make_study(replier())
    book = study.library.add(random_document(3))
    study.start_reading(book.id, PLAN).join(20)
    asked = len(study.model.prompts)
    assert study.start_reading(book.id).join(20).state == "done"  # by the plan last chosen
    assert len(study.model.prompts) == asked


def test_pause_and_go_on(make_study):
    plain = replier()
    study = make_study(lambda prompt: plain(prompt))
    book = study.library.add(random_document(4, paragraphs=200, most=40))
    gate = threading.Event()

    def until_paused(prompt):
        if len(study.model.prompts) == 20:
            gate.set()
            job_ready.wait(10)
            rooms.pause_reading(study, reading_id[0])
        return plain(prompt)

    study.model._answer = until_paused
    job_ready, reading_id = threading.Event(), [0]
    job = study.start_reading(book.id, PLAN)
    reading_id[0] = study.library.readings(book.id)[0].id
    job_ready.set()
    assert gate.wait(10)
    assert job.join(20).state == "cancelled"
    paused = study.library.reading(reading_id[0])
    assert (paused.state, paused.why) == ("paused", rooms.PAUSED)
    study.model._answer = plain
    assert study.start_reading(book.id, PLAN).join(20).state == "done"
    texts = [p.text for p in study.model.prompts]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("error", [KeyRefusedError("The key was not accepted."), BudgetError("The limit is reached.")])
def test_why_it_stopped_is_kept(make_study, error):
    def fails(prompt):
        raise error

    study = make_study(fails)
    book = study.library.add(random_document(5, most=40))
    snapshot = study.start_reading(book.id, PLAN).join(20)
    assert (snapshot.state, snapshot.error) == ("failed", str(error))
    (reading,) = study.library.readings(book.id)
    assert (reading.state, reading.why) == ("paused", str(error))


def test_read_again_from_a_page(make_study):
    study = make_study(replier())
    book = study.library.add(random_document(6, most=40))
    study.start_reading(book.id, PLAN).join(20)
    reading, before = study.newest_memory(book.id)
    study.model._answer = replier(9)
    assert rooms.read_from(study, reading.id, 3).join(20).state == "done"
    after = study.library.memory(reading.id)
    assert after.pages[:2] == before.pages[:2]
    assert after.pages[2:] != before.pages[2:]
    assert after.complete


def test_a_recording_stays_when_it_is_read_again_from_a_page(make_study):
    study = make_study(replier())
    book = study.library.add(random_document(7, most=40))
    study.start_reading(book.id, PLAN).join(20)
    _, live = study.newest_memory(book.id)
    recording = study.library.add_memory(book.id, replace(live, model="a large model", recorded="2026-11-01"))
    (own,) = [r for r in study.library.readings(book.id) if not r.recorded]
    study.library.cut_from(own.id, 1)
    asked = len(study.model.prompts)
    assert rooms.read_from(study, recording.id, 4).join(20).state == "done"
    assert study.library.memory(recording.id).pages == live.pages
    assert study.library.memory(own.id).pages == live.pages
    assert len(study.model.prompts) - asked < asked


def test_the_cost_of_every_run_is_added_up(make_study):
    study = make_study(replier())
    book = study.library.add(random_document(8, most=40))
    study.start_reading(book.id, PLAN).join(20)
    reading, _ = study.newest_memory(book.id)
    assert reading.usage.calls == len(study.model.prompts)
    rooms.read_from(study, reading.id, 3).join(20)
    assert study.library.reading(reading.id).usage.calls == len(study.model.prompts)


def test_long_texts_are_read_in_longer_pages():
    assert rooms.default_plan(5_000).preset == "article"
    assert rooms.default_plan(90_000).preset == "book"


def test_an_empty_book_says_so(make_study):
    study = make_study(replier())
    book = study.library.add(make_document([]))
    snapshot = study.start_reading(book.id, PLAN).join(20)
    assert "nothing to read" in snapshot.error


def test_pages_are_made_to_fit_the_models_window(make_study):
    study = make_study(replier())
    study.model.window = 1200
    book = study.library.add(random_document(3))
    job = study.start_reading(book.id, ReadingPlan(max_words=1000, min_words=400))
    assert job.join(20).state == "done"
    reading, memory = study.newest_memory(book.id)
    assert 60 <= reading.plan.max_words < 500
    assert reading.plan.min_words < reading.plan.max_words
    assert memory.usage.calls == len(study.model.prompts)


def test_a_plan_that_fits_is_left_alone():
    document = random_document(3)
    assert rooms.fitting_plan(PLAN, 128_000, document) is PLAN
    tiny = rooms.fitting_plan(PLAN, 10, document)
    assert (tiny.max_words, tiny.min_words) == (60, 24)


def test_a_second_process_follows_the_first_and_asks_nothing(make_study):
    gate = threading.Event()
    plain = replier()

    def slow(prompt):
        if len(first.model.prompts) > 10:
            gate.wait(10)
        return plain(prompt)

    first, second = make_study(slow), make_study(plain)  # two libraries on one file, as two processes have
    book = first.library.add(random_document(9, most=40))
    job = first.start_reading(book.id, PLAN)
    while not first.library.readings(book.id)[0].pages:
        threading.Event().wait(0.01)
    follower = second.start_reading(book.id, PLAN)
    seen = follower.snapshot
    while not seen.waiting:
        threading.Event().wait(0.01)
        seen = follower.snapshot
    assert seen.waiting == rooms.ELSEWHERE
    assert seen.value.pages >= 1
    gate.set()
    assert job.join(20).state == "done"
    assert follower.join(20).state == "done"
    assert second.model.prompts == []
    reading, memory = second.newest_memory(book.id)
    assert memory.complete
    assert reading.usage.calls == len(first.model.prompts)


def test_a_full_disk_stops_a_reading_and_damages_nothing(make_study):
    study = make_study(replier())
    book = study.library.add(random_document(10, paragraphs=300, most=40))
    store_of = study.library.store

    class Full:
        def __init__(self, reading_id):
            self.inner = store_of(reading_id)

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def save_gist(self, number, gist):
            if number > 5:
                raise DiskFullError("The disk is full, so this could not be kept. Free some space, then go on.")
            self.inner.save_gist(number, gist)

    study.library.store = Full
    snapshot = rooms.start_reading(study, book.id, PLAN, connections=1).join(20)
    assert "Free some space" in snapshot.error
    reading, memory = study.newest_memory(book.id)
    assert (reading.state, reading.why) == ("paused", snapshot.error)
    assert len(memory.readable) == 5
    assert reading.usage.calls == len(study.model.prompts)
    study.library.store = store_of
    assert study.start_reading(book.id, PLAN).join(20).state == "done"
    assert study.newest_memory(book.id)[1].complete
