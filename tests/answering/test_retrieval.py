"""Retrieval: which pages are found, in which order they are shown, and what does not fit."""

import logging

import pytest

from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.document import Document, Paragraph
from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import answer, memory, run

TEXTS = (
    "The keeper climbed the stairs of the lighthouse.",
    "A brass key lay on the table beside a brass lamp and a brass bell.",
    "The ship came nearer in the night.",
    "He took the key and went down to the ship.",
)


def memory_of(texts: tuple[str, ...], language: str = "en") -> GistMemory:
    document = Document("The Book", tuple(Paragraph(t) for t in texts), language=language)
    pages = tuple(Page(i + 1, i, i + 1, p.words) for i, p in enumerate(document.paragraphs))
    return GistMemory(document, GistingPlan(), pages, (None,) * len(pages))


def test_building_the_index_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    texts = tuple(f"{text} Again." for text in TEXTS)  # an index that is not built yet
    with caplog.at_level(logging.DEBUG):
        rank_by_bm25("brass key", memory_of(texts))
    assert caplog.records == []


def test_pages_come_by_the_words_they_share() -> None:
    assert rank_by_bm25("Where did the brass key lie?", memory_of(TEXTS))[:2] == [2, 4]
    assert rank_by_bm25("xyzzy?", memory_of(TEXTS)) == [1, 2, 3, 4]
    assert rank_by_bm25("", memory_of(TEXTS)) == [1, 2, 3, 4]
    texts = ("雪が降っていた。", "駅長は時計を見た。", "汽車は来なかった。")
    assert rank_by_bm25("駅長は何を見ましたか。", memory_of(texts, "ja"))[0] == 2


def test_pages_that_do_not_fit_are_noted() -> None:
    result = answer(
        run("bm25", FakeModel(["No."]), question="word5 word2", about=memory(), look_ups=3, context_words=90)
    )
    assert len(result.looked_up) == 2
    assert "does not fit" in result.notes[0]


def test_a_budget_below_any_page_is_an_error() -> None:
    with pytest.raises(WindowError, match="shorter pages"):
        run("bm25", FakeModel([]), about=memory(), context_words=10)


def test_a_server_that_finds_it_too_long_gets_fewer_pages() -> None:
    def reply(prompt: Prompt) -> str | Exception:
        return WindowError("too long") if prompt.fields["memory"].count("(full text)") > 1 else "No."

    result = answer(run("bm25", FakeModel(reply), question="word5", about=memory(), look_ups=3))
    assert result.looked_up == (5,)
    assert len(result.notes) == 2
