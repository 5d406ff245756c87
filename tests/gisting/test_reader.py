"""Reading finds the same pages as the sequential algorithm and resumes after every interruption."""

from __future__ import annotations

import threading
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.parts.shared import gisting_status
from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import (
    BudgetError,
    CancelledError,
    CutOffError,
    EmptyDocumentError,
    EmptyReplyError,
    KeyRefusedError,
    RefusedError,
    UnusableRepliesError,
)
from readagent_core.gisting import read
from readagent_core.library import Library
from readagent_core.memory import Gist, check_coverage
from readagent_core.models.base import Completion
from readagent_core.models.connection import connect
from readagent_core.plan import GistingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.settings.saved import SavedSettings
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply
from tests.gisting.helpers import (
    make_document,
    pick,
    random_document,
    read_with_stops,
    replier,
    sensible_model,
    sequential,
    shown_words,
)

PLAN = GistingPlan(max_words=100, min_words=40)


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path / "library")
    yield library
    library.close()


def rows_of(pages):
    return [(p.number, p.start, p.end, p.words, p.reason, p.fallback, p.ends) for p in pages]


def parts(memory):
    """A memory without its usage, which a second run does not add to."""
    return memory.pages, memory.gists, memory.complete, memory.plan


sizes = st.lists(st.integers(1, 130), min_size=1, max_size=120)


@settings(max_examples=50, derandomize=True)
@given(
    sizes=sizes,
    salt=st.integers(0, 5),
    connections=st.sampled_from([1, 2, 4, 9]),
    preceding=st.booleans(),
    crossing=st.booleans(),
    data=st.data(),
)
def test_same_pages_as_one_after_another(sizes, salt, connections, preceding, crossing, data):
    sections = sorted(set(data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=4))))
    document = make_document(sizes, sections=sections)
    plan = GistingPlan(max_words=100, min_words=40, preceding=preceding, cross_sections=crossing)
    alone = sensible_model(salt, bad=0.1)
    expected = sequential(document, plan, alone)
    model = sensible_model(salt, bad=0.1)
    memory = read(document, model, plan, connections=connections)
    assert rows_of(memory.pages) == rows_of(expected)
    check_coverage(memory.document, memory.pages)
    assert memory.complete
    assert memory.document.text() == document.limited(100).text()
    asked = sum(p.task == "paginate" and "labels" not in p.fields for p in model.prompts)
    once = sum(p.task == "paginate" and "labels" not in p.fields for p in alone.prompts)
    assert asked <= 1.5 * once
    if not crossing:
        starts = {p.start for p in memory.pages}
        assert {s.start for s in memory.document.sections} <= starts


@settings(max_examples=24, derandomize=True)
@given(sizes=sizes, salt=st.integers(0, 9))
def test_words_shown_keep_the_papers_bound(sizes, salt):
    document = make_document(sizes)
    model = sensible_model(salt)
    memory = read(document, model, PLAN, connections=1)
    assert shown_words(model.prompts) <= PLAN.max_words / PLAN.min_words * document.words
    for page in memory.pages:
        assert page.words <= PLAN.max_words
        if page.ends == "pause":
            assert page.words >= PLAN.min_words


@pytest.mark.parametrize("connections", [4, 16])
def test_a_long_book_is_asked_ahead_within_the_bound(connections):
    document = random_document(3, paragraphs=500, most=60, sections=range(0, 500, 90))
    expected = sequential(document, PLAN, alone := sensible_model())
    seen = []
    memory = read(document, model := sensible_model(), PLAN, connections=connections, on_change=seen.append)
    assert rows_of(memory.pages) == rows_of(expected)
    asked = sum(p.task == "paginate" for p in model.prompts)
    assert len(alone.prompts) < asked <= 1.5 * len(alone.prompts)
    assert seen[-1].call_counts.asked == asked
    assert seen[-1].call_counts.ahead == asked - len(alone.prompts)


def test_never_asking_ahead_costs_what_the_paper_costs():
    document = random_document(4, paragraphs=200)
    sequential(document, PLAN, alone := sensible_model())
    read(document, model := sensible_model(), PLAN, connections=16, ahead=1)
    assert sum(p.task == "paginate" for p in model.prompts) == len(alone.prompts)


@pytest.mark.parametrize("connections", [1, 8])
def test_the_first_gist_follows_the_first_page_and_progress_only_grows(connections):
    seen, calls = [], []
    model = sensible_model()
    document = random_document(5, paragraphs=100, most=40)

    def note(progress):
        seen.append(progress)
        calls.append(len(model.prompts))

    memory = read(document, model, PLAN, connections=connections, on_change=note)
    assert model.tasks()[0] == "paginate"
    assert "gist" in model.tasks()[: connections + 2]
    if connections == 1:
        assert next(n for n, progress in zip(calls, seen, strict=True) if progress.gists) <= 3
    for earlier, later in pairwise(seen):
        assert earlier.pages <= later.pages
        assert earlier.words_read <= later.words_read
    assert seen[-1].words_read == seen[-1].words_total == document.words
    assert seen[-1].memory == memory


def test_uniform_pages_cost_no_pagination():
    plan = GistingPlan(max_words=100, min_words=40, pagination="uniform")
    document = random_document(7, paragraphs=200, most=20)
    memory = read(document, model := sensible_model(), plan)
    check_coverage(memory.document, memory.pages)
    assert "paginate" not in model.tasks()
    assert {p.ends for p in memory.pages} <= {"rule", "end", "only"}
    lengths = [p.words for p in memory.pages[:-1]]
    assert max(lengths) - min(lengths) <= 30


def test_an_empty_document_is_an_error_and_a_short_one_is_one_page_without_asking():
    with pytest.raises(EmptyDocumentError):
        read(Document("Nothing", ()), sensible_model(), PLAN)
    memory = read(make_document([30]), FakeModel([]), PLAN)
    assert [(p.start, p.end, p.ends) for p in memory.pages] == [(0, 1, "end")]
    assert memory.gists[0].whole


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [EmptyReplyError("empty"), RefusedError("no"), CutOffError("cut", "half a"), "Sorry, I can't help."]
)
def test_one_bad_page_does_not_stop_the_others(fault):
    document = random_document(8, paragraphs=50)
    plain = replier()
    whole = read(document, FakeModel(plain), PLAN)
    unlucky = whole.pages[len(whole.pages) // 2]
    mark = whole.document.paragraphs[unlucky.start].text.split()[0]

    def answer(prompt):
        if prompt.task == "gist" and prompt.fields["page"].startswith(mark):
            return fault
        return plain(prompt)

    memory = read(document, FakeModel(answer), PLAN)
    assert memory.complete
    fallen = [p.number for p, g in zip(memory.pages, memory.gists, strict=True) if g.fallback]
    assert fallen == [unlucky.number]


def test_pages_fall_back_when_no_label_is_named():
    model = FakeModel(lambda p: "It has no pauses." if p.task == "paginate" else replier()(p))
    memory = read(random_document(9), model, PLAN, connections=1)
    asked = [p for p in memory.pages if p.ends == "pause"]
    assert asked
    assert all(p.fallback for p in asked)
    assert sum(p.task == "paginate" for p in model.prompts) == 3 * len(asked)


@pytest.mark.parametrize(
    ("error", "connections"),
    [(KeyRefusedError("The key was not accepted."), 1), (BudgetError("The limit is reached."), 8)],
)
def test_a_lost_connection_loses_no_result(library, error, connections):
    document = random_document(10, paragraphs=120)
    book = library.add(document)
    gisting = library.open_gisting(book.id, PLAN, "fake-model")
    lock, calls, plain = threading.Lock(), [0], replier()

    def answer(prompt):
        with lock:
            calls[0] += 1
            if calls[0] > 30:
                raise error
        return plain(prompt)

    with pytest.raises(type(error)):
        read(document, FakeModel(answer), PLAN, store=library.store(gisting.id), connections=connections)
    first = library.memory(gisting.id)
    assert first.pages
    assert not first.complete
    memory = read(document, again := sensible_model(), PLAN, store=library.store(gisting.id), connections=connections)
    assert parts(memory) == parts(read(document, whole := sensible_model(), PLAN, connections=connections))
    if connections == 1:
        assert len(again.prompts) + 30 == len(whole.prompts)
    assert library.store(gisting.id).load_notes() == {}


@pytest.mark.parametrize(("connections", "crossing"), [(1, True), (16, False)])
def test_a_resumed_reading_asks_nothing_twice(library, connections, crossing):
    document = random_document(11, paragraphs=160, sections=range(0, 160, 25))
    plan = GistingPlan(max_words=100, min_words=40, cross_sections=crossing)
    whole = read(document, sensible_model(), plan, connections=connections)
    stops = (1, 7, 40, 41, 90)
    memory, prompts = read_with_stops(document, plan, library, replier(), stops=stops, connections=connections)
    assert parts(memory) == parts(whole)
    assert len(prompts) == len(set(prompts))


def test_another_process_saves_its_pages_first(library):
    """The pages of the other process are used, and both end with the same memory."""
    document = random_document(12, paragraphs=80)
    gisting = library.open_gisting(library.add(document).id, PLAN, "fake-model")
    other = {"done": False}
    plain = replier(1)

    def answer(prompt):
        if not other["done"]:
            other["done"] = True
            read(document, sensible_model(2), PLAN, store=library.store(gisting.id), connections=1)
        return plain(prompt)

    memory = read(document, FakeModel(answer), PLAN, store=library.store(gisting.id), connections=1)
    assert parts(memory) == parts(read(document, sensible_model(2), PLAN))


def test_a_finished_reading_asks_nothing_and_edited_gists_stay_when_it_resumes(library):
    document = random_document(14)
    gisting = library.open_gisting(library.add(document).id, PLAN, "fake-model")
    first = read(document, sensible_model(), PLAN, store=library.store(gisting.id))
    again = read(document, FakeModel([]), PLAN, store=library.store(gisting.id))
    assert parts(again) == parts(first)
    assert again.usage.calls == 0
    assert library.memory(gisting.id).pages == first.pages
    library.store(gisting.id).save_gist(1, Gist("By hand.", edited=True))
    library.cut_from(gisting.id, 3)
    seen = []
    memory = read(document, sensible_model(3), PLAN, store=library.store(gisting.id), on_change=seen.append)
    assert memory.complete
    assert memory.gists[0].text == "By hand."
    assert {progress.gists_loaded for progress in seen} == {2}


def test_cancelling_is_prompt_even_while_a_call_hangs():
    cancel, gate = CancelToken(), threading.Event()

    class Hanging(FakeModel):
        def complete(self, prompt, cancel) -> Completion:
            gate.wait(20)
            return super().complete(prompt, cancel)

    timer = threading.Timer(0.2, cancel.cancel)
    timer.start()
    try:
        with pytest.raises(CancelledError):
            read(random_document(15), Hanging(replier()), PLAN, cancel=cancel)
    finally:
        gate.set()
        timer.join()


NO_REPLY = EmptyReplyError("empty")


def new_store(library, document):
    return library.store(library.open_gisting(library.add(document).id, PLAN, "fake").id)


def test_a_model_that_never_says_a_word_has_read_nothing(library):
    plain = replier()
    store = new_store(library, random_document(8, paragraphs=50))
    silent = FakeModel(lambda prompt: NO_REPLY if prompt.task == "gist" else plain(prompt))
    with pytest.raises(UnusableRepliesError, match="Test the model"):
        read(random_document(8, paragraphs=50), silent, PLAN, store=store, connections=1)
    assert sum(prompt.task == "gist" for prompt in silent.prompts) <= 2 * 4
    assert not store.load()[1]
    few = FakeModel(lambda prompt: NO_REPLY)
    with pytest.raises(UnusableRepliesError, match="1 page in a row"):
        read(make_document([60]), few, PLAN)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(""),
        Reply(" \n"),
        Reply("", reasoning="I think."),
        Reply("", finish="content_filter"),
    ],
)
def test_a_server_that_never_sends_a_word_is_given_up_soon(reply, own_home):
    with FakeServer(before=lambda request, times: reply) as server:
        settings = Settings(own_home, server.url, Secret(), "fake-model", {}, SavedSettings())
        with pytest.raises(UnusableRepliesError, match="replies in a row had no words"):
            read(random_document(8, paragraphs=50), connect(settings, time_scale=0.01), PLAN)
        assert len(server.chats) < 16 + 8  # those that were on their way


def test_one_page_without_a_reply_ends_no_gisting(own_home):
    """A page of its own model calls: three prompts for its end and two for its gist, each sent three times."""
    silent = iter(range(15))
    with FakeServer(before=lambda request, times: Reply("") if next(silent, None) is not None else None) as server:
        settings = Settings(own_home, server.url, Secret(), "fake-model", {}, SavedSettings())
        memory = read(random_document(8, paragraphs=50), connect(settings, time_scale=0.01), PLAN, connections=1)
    assert memory.complete


def test_a_model_that_falls_silent_stops_and_goes_on_where_it_was(library):
    document, plain, said = random_document(8, paragraphs=120, most=60), replier(), []
    store = new_store(library, document)

    def answer(prompt):
        if prompt.task == "gist":
            said.append(prompt)
            if len(said) > 3:
                return NO_REPLY
        return plain(prompt)

    with pytest.raises(UnusableRepliesError, match="12 pages in a row"):
        read(document, FakeModel(answer), PLAN, store=store, connections=1)
    assert sum(not gist.whole for gist in store.load()[1].values()) == 3
    memory = read(document, FakeModel(plain), PLAN, store=store)
    assert (memory.complete, memory.fallback_gists) == (True, 0)


def test_a_memory_says_how_many_gists_are_the_model_s_own():
    plain, document = replier(), random_document(8, paragraphs=50)
    asked = []

    def answer(prompt):
        if prompt.task == "gist":
            asked.append(prompt.text.split("\n")[-1])
            if len(asked) in (3, 4):  # one page, asked twice
                return NO_REPLY
        return plain(prompt)

    memory = read(document, FakeModel(answer), PLAN, connections=1)
    whole = sum(gist.whole for gist in memory.gists)
    assert memory.fallback_gists == 1
    assert memory.own_gists == len(memory.pages) - 1 - whole
    assert memory.made_by.startswith(f"{memory.own_gists} gists by ")
    assert "1 is the first sentences of its page" in memory.made_by
    line = gisting_status.ready_line(SimpleNamespace(model="fake-model", recorded=""), memory)
    assert "1 gist made of first sentences, no usable reply came" in line["rest"]


def computed(prompts) -> int:
    """Words that a server with one slot computes: of each prompt what the one before it did not begin with."""
    before, total = [], 0
    for prompt in prompts:
        words = prompt.text.split()
        shared = next((n for n, pair in enumerate(zip(before, words, strict=False)) if pair[0] != pair[1]), len(before))
        total, before = total + len(words) - shared, words
    return total


class SharesText(FakeModel):
    shares_text, asks_again = True, False


def test_a_server_with_one_slot_computes_the_text_about_once():
    document = make_document([38] * 160)
    plan = GistingPlan(max_words=600, min_words=450)

    def answer(prompt):
        if prompt.task.startswith("gist"):
            return " ".join(f"Lamp{n}" for n in range(70))
        return f"Break point: <{pick(prompt)}>"

    usual, once = sensible_model(), SharesText(answer)
    pages = read(document, usual, plan, connections=1).pages
    assert len(pages) > 10
    assert [page.end for page in read(document, once, plan, connections=1).pages] == [page.end for page in pages]
    assert computed(once.prompts) < 1.5 * document.words
    assert computed(usual.prompts) > 2.2 * document.words
    pause, gist = once.prompts[:2]
    assert (pause.task, gist.task) == ("paginate_shared", "gist_shared")
    assert gist.text.startswith(pause.text.split("\n</text>")[0])
    assert f'{document.paragraphs[pages[0].end - 1].text.split()[-1]}"' in gist.text  # where the page ends is said
