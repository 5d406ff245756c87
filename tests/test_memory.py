"""The gist memory: pages expand in place, and later pages can be removed. Plans: presets, a key for each reading."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from readagent_core.document import Document, Paragraph, Section
from readagent_core.errors import SettingsError
from readagent_core.memory import Gist, GistMemory, Page, check_coverage, compression_rate
from readagent_core.plan import GistingPlan
from readagent_core.tags import split_memory


@pytest.fixture
def memory():
    document = Document(
        "T",
        tuple(Paragraph(f"Paragraph {i} of the book, with words.") for i in range(6)),
        (Section("One", 0), Section("Two", 4)),
    )
    pages = tuple(Page(n, 2 * n - 2, 2 * n, 14, reason=f"reason {n}") for n in (1, 2, 3))
    return GistMemory(document, GistingPlan(), pages, (Gist("first"), Gist("second"), Gist("third")), complete=True)


def test_pages_expand_in_place(memory):
    assert memory.text() == "<Page 1>\nfirst\n\n<Page 2>\nsecond\n\n<Page 3>\nthird"
    full = memory.text(expanded={2})
    assert full == f"<Page 1>\nfirst\n\n<Page 2> (full text)\n{memory.page_text(2)}\n\n<Page 3>\nthird"
    part = GistMemory(memory.document, memory.plan, memory.pages, (Gist("first"), None, None))
    assert (part.readable, part.text()) == ((1,), "<Page 1>\nfirst")  # a page without a gist is left out
    assert split_memory(full) == [(1, False, "first"), (2, True, memory.page_text(2)), (3, False, "third")]


def test_up_to_leaves_nothing_of_later_pages(memory):
    part = memory.up_to(2)
    assert part.document.text() == memory.document.text(0, 4)
    assert [s.title for s in part.document.sections] == ["One"]
    assert part.readable == (1, 2)
    assert memory.up_to(0).text() == ""
    assert [memory.page_at(i).number for i in range(6)] == [1, 1, 2, 2, 3, 3]
    assert part.page_at(5) is None
    assert (compression_rate(25, 100), compression_rate(10, 0)) == (75.0, 0.0)


def test_tags_in_the_text_of_a_book_are_escaped():
    document = Document("T", (Paragraph("<Page 9>\nOpen me. <57> <12 | 40> < b > <Page 3> (full text)"),))
    memory = GistMemory(document, GistingPlan(), (Page(1, 0, 1, 8),), (Gist("<page 2> gist"),))
    assert [n for n, _, _ in split_memory(memory.text())] == [1]
    text = memory.text(expanded={1})
    assert [n for n, _, _ in split_memory(text)] == [1]
    assert "‹57›" in text
    assert "< b >" in text


def test_round_trip(memory):
    assert GistMemory.from_dict(json.loads(json.dumps(memory.to_dict())), memory.document) == memory
    with pytest.raises(ValueError, match="another text"):
        GistMemory.from_dict(memory.to_dict(), Document("T", (Paragraph("else"),)))
    check_coverage(memory.document, memory.pages)
    for pages in (memory.pages[:2], memory.pages[1:], (*memory.pages, Page(4, 6, 6, 0))):
        with pytest.raises(ValueError, match="page"):
            check_coverage(memory.document, pages)


@pytest.mark.parametrize(
    ("preset", "max_words", "min_words"),
    [("article", 600, 280), ("meeting", 600, 280), ("book", 3000, 500), ("script", 1000, 600)],
)
def test_presets_are_the_papers(preset, max_words, min_words):
    plan = GistingPlan.from_preset(preset)
    assert (plan.max_words, plan.min_words) == (max_words, min_words)


def test_keys():
    plan = GistingPlan()
    assert plan.key == GistingPlan.from_preset("meeting").key, "the same numbers are the same reading"
    assert plan.key != replace(plan, max_words=700).key
    assert plan.key != replace(plan, instructions="Keep all numbers.").key
    assert plan.key != replace(plan, preset="book").key, "a book also asks for chapter starts"
    assert GistingPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


def test_a_plan_of_an_earlier_version_is_the_same_plan() -> None:
    """Its key names stored gistings. Plans could once limit the words of all gists together."""
    assert GistingPlan.from_preset("book").key == "fbe0901bec8e9fd2"
    stored = {**GistingPlan.from_preset("book").to_dict(), "memory_words": 4_000}
    assert GistingPlan.from_dict(stored) == GistingPlan.from_preset("book")


@pytest.mark.parametrize(
    "wrong", [{"max_words": 10}, {"min_words": 0}, {"gist_share": 1.0}, {"gist_share": 0}, {"pagination": "magic"}]
)
def test_what_cannot_be_read_is_refused(wrong):
    with pytest.raises(SettingsError):
        GistingPlan(**wrong)
    with pytest.raises(SettingsError, match="article, meeting, book, script"):
        GistingPlan.from_preset("poem")
