"""A memory too long for a window is merged and shortened until it fits, whatever the model replies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.errors import RefusedError
from readagent_core.gisting import fit, read
from readagent_core.gisting.memory_budget import parse_verdict, shorten_old_gists
from readagent_core.memory import Gist, check_coverage
from readagent_core.plan import GistingPlan
from readagent_core.words import count_words
from tests.fakes.model import FakeModel
from tests.gisting.helpers import REPLIES, random_document, replier

PLAN = GistingPlan(max_words=100, min_words=40, gist_share=0.3)


def half(prompt):
    words = prompt.fields["page"].split()
    return " ".join(words[: max(1, len(words) // 3)])


@cache
def long_memory(seed=1, paragraphs=150, sections=()):
    return read(random_document(seed, paragraphs=paragraphs, most=40, sections=sections), FakeModel(gisting), PLAN)


def gisting(prompt):
    return half(prompt) if prompt.task == "gist" else replier()(prompt)


@pytest.mark.parametrize(("reply", "verdict"), REPLIES["verdict"])
def test_verdicts(reply, verdict):
    assert parse_verdict(reply) == verdict


def answer_merge(verdict):
    def answer(prompt):
        if prompt.task == "merge":
            if isinstance(verdict, Exception):
                raise verdict
            return verdict
        return half(prompt)

    return answer


@settings(max_examples=24, derandomize=True)
@given(
    verdict=st.sampled_from(["No", "Yes", "Not sure", "??", RefusedError("no")]),
    budget=st.integers(30, 400),
    seed=st.integers(0, 4),
)
def test_it_always_fits(verdict, budget, seed):
    memory = long_memory(seed=seed, paragraphs=50)
    model = FakeModel(answer_merge(verdict))
    model.name = str(verdict)  # what was made by another model is not taken
    fitted = fit(memory, model, budget, CancelToken())
    assert count_words(fitted.text()) <= budget
    check_coverage(fitted.document, fitted.pages)
    assert fitted.complete
    shortened = max(g.level for g in fitted.gists) >= 1
    assert fitted is memory or shortened or len(fitted.pages) < len(memory.pages)  # fewer tags may be enough


def test_pages_that_start_a_chapter_are_not_merged_while_others_can_be():
    memory = long_memory(sections=range(0, 150, 30))
    fitted = fit(memory, FakeModel(answer_merge("No")), 600, CancelToken(), page_words=400)
    starts = {p.start for p in fitted.pages}
    headed = {p.start for p in memory.pages if memory.document.headings(p.start)}
    assert headed <= starts
    assert len(fitted.pages) < len(memory.pages)
    assert max(p.words for p in fitted.pages) <= 400


def test_a_second_question_asks_nothing_more():
    memory = long_memory(seed=5)
    model = FakeModel(answer_merge("No"))
    first = fit(memory, model, 300, CancelToken())
    asked = len(model.prompts)
    assert fit(memory, model, 300, CancelToken()) is first
    assert len(model.prompts) == asked


def test_gists_the_model_does_not_shorten_are_cut_and_marked():
    memory = long_memory(seed=6)

    def stubborn(prompt):
        return "No" if prompt.task == "merge" else prompt.fields["page"]

    fitted = fit(memory, FakeModel(stubborn), 200, CancelToken())
    assert count_words(fitted.text()) <= 200
    assert any(g.fallback for g in fitted.gists)


def test_iterative_gisting_shortens_the_oldest_pages_most():
    memory = long_memory(seed=2)
    budget = count_words(memory.text()) * 3 // 4
    thinned = shorten_old_gists(memory, FakeModel(gisting), budget, CancelToken())
    assert count_words(thinned.text()) <= budget
    assert thinned.pages == memory.pages
    levels = [g.level for g in thinned.gists if g.words > 8 and not g.whole]
    assert levels[0] > levels[-1]


def test_a_gist_written_by_hand_is_not_shortened():
    memory = long_memory(seed=2)
    memory = replace(memory, gists=(Gist("These are my own words. " * 10, edited=True), *memory.gists[1:]))
    thinned = shorten_old_gists(memory, FakeModel(gisting), count_words(memory.text()) * 3 // 4, CancelToken())
    assert thinned.gists[0] == memory.gists[0]


def test_a_plan_with_a_memory_budget_keeps_within_it():
    plan = GistingPlan(max_words=100, min_words=40, gist_share=0.3, memory_words=400)
    document = random_document(3, paragraphs=150, most=40)
    memory = read(document, FakeModel(gisting), plan)
    assert count_words(memory.text()) <= 400
    assert memory.complete


def test_an_unfinished_reading_fits_what_it_has():
    memory = long_memory(seed=7)
    part = memory.up_to(30)
    for whole in (part, memory):
        assert fit(whole, FakeModel([]), 100_000, CancelToken()) is whole
    fitted = fit(part, FakeModel(answer_merge("No")), 100, CancelToken())
    assert count_words(fitted.text()) <= 100
