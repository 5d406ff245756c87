"""Own questions about a book of the library become a dataset over exactly its text."""

from __future__ import annotations

import pytest

from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.own_dataset import book_text, write_dataset
from readagent_core.gisting.job import memory_of, start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.library.own_questions import OwnQuestion
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from tests.evaluation.made import answering
from tests.fakes.model import FakeModel

FILLER = "The lamp was lit and the oil was counted that night. " * 60
BELL, END = "The *keeper* rang bell nine in the fog.", "Nobody won a tea cosy."
TEXT = f"# Chapter 1\n\n{FILLER}\n\n{BELL}\n\n# Chapter 2\n\n{FILLER}\n\n{END}"
ASKED = [
    OwnQuestion("What rang?", "A bell", ("A lamp", "A dog")),
    OwnQuestion("Which bell?", "Bell nine\nthe ninth"),
    OwnQuestion("Not whole yet"),
]


@pytest.fixture
def workspace(own_home):
    opened = Workspace(Settings(home=own_home), model=FakeModel(answering))
    yield opened
    opened.library.close()


@pytest.fixture
def book(workspace):
    return open_file(workspace, TEXT.encode(), "fog.md")


def test_the_dataset_has_the_text_of_the_library_and_the_questions_that_are_whole(workspace, book):
    path = write_dataset(workspace, book, ASKED)
    (case,) = open_dataset(path).cases()
    stored = workspace.library.document(book.id)
    assert case.document.id == stored.id
    assert case.document.paragraphs == stored.paragraphs
    first, second = case.items
    assert (first.question.options[first.gold], set(first.question.options)) == (
        "A bell",
        {"A bell", "A lamp", "A dog"},
    )
    assert (second.question.options, second.references) == ((), ("Bell nine", "the ninth"))
    assert write_dataset(workspace, book, ASKED) == path
    assert write_dataset(workspace, book, ASKED[:1]) != path
    assert write_dataset(workspace, book, [OwnQuestion("Not whole yet")]) is None
    places = {write_row(workspace, book, f"Question {n}?") for n in range(12)}
    assert places == {0, 1, 2}  # the right option is not always in the same place


def write_row(workspace, book, text):
    path = write_dataset(workspace, book, [OwnQuestion(text, "A bell", ("A lamp", "A dog"))])
    return next(open_dataset(path).cases()).items[0].gold


def test_an_answer_is_found_in_chapters_and_once_there_are_pages_on_pages(workspace, book):
    document = workspace.library.document(book.id)
    text = book_text(document, memory_of(workspace, book))
    assert text.find("the KEEPER rang") == "in “Chapter 1”"
    assert text.find("the oil was counted") == "in “Chapter 1” and 1 more"
    assert text.find("no such words") == text.find("") == ""
    start_gisting(workspace, book.id).join(120)
    memory = memory_of(workspace, book)
    text = book_text(document, memory)
    assert text.find("not there\na tea cosy") == f"page {len(memory.pages)}"
    assert text.find("the oil was counted").startswith("pages 1, 2")
