"""Retrieval: which pages are found, in which order they are shown, and what does not fit."""

import logging
from dataclasses import replace

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory, Page
from readagent_core.methods.base import LookedUp
from readagent_core.methods.support.retrieval import rank_by_bm25
from readagent_core.plan import ReadingPlan
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
    return GistMemory(document, ReadingPlan(), pages, (None,) * len(pages))


def test_bm25_puts_the_page_that_shares_most_first() -> None:
    model = FakeModel(["On the table [2]."])
    result = answer(run("bm25", model, question="Where did the brass key lie?", about=memory_of(TEXTS), look_ups=2))
    assert result.looked_up == (2, 4)
    text = model.prompts[0].text
    assert text.index("<Page 2> (full text)\nA brass key") < text.index("<Page 4> (full text)")
    assert "the one that fits best first" in text
    assert "<Page 1>" not in text
    assert result.seen == {2: "full", 4: "full"}
    assert result.memory_words == 15 + 10
    assert model.tasks() == ["answer_pages"]


def test_building_the_index_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    texts = tuple(f"{text} Again." for text in TEXTS)  # an index that is not built yet
    with caplog.at_level(logging.DEBUG):
        rank_by_bm25("brass key", memory_of(texts))
    assert caplog.records == []


def test_dos_shows_the_same_pages_in_book_order() -> None:
    model = FakeModel(["He."])
    result = answer(run("bm25-dos", model, question="Who took a key to the ship?", about=memory_of(TEXTS), look_ups=3))
    assert result.looked_up[0] == 4
    text = model.prompts[0].text
    places = [text.index(f"<Page {n}>") for n in sorted(result.looked_up)]
    assert places == sorted(places)
    assert "in the order of the book" in text


def test_without_shared_words_the_first_pages_are_taken() -> None:
    assert rank_by_bm25("xyzzy?", memory_of(TEXTS)) == [1, 2, 3, 4]
    assert rank_by_bm25("", memory_of(TEXTS)) == [1, 2, 3, 4]


def test_japanese_is_searched_by_its_own_words() -> None:
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
        return WindowError("too long") if prompt.text.count("(full text)") > 1 else "No."

    result = answer(run("bm25", FakeModel(reply), question="word5", about=memory(), look_ups=3))
    assert result.looked_up == (5,)
    assert len(result.notes) == 2


def test_options_are_chosen_from_pages() -> None:
    model = FakeModel(["Answer: (B)"])
    result = answer(run("bm25", model, options=["no", "yes"], about=memory()))
    assert model.tasks() == ["choose_pages"]
    assert result.option == 1


def test_a_looked_up_event_says_which_pages_were_found() -> None:
    events = run("bm25", FakeModel(["No."]), question="word5", about=replace(memory(), gists=(None,) * 6), look_ups=1)
    assert [e.pages for e in events if isinstance(e, LookedUp)] == [(5,)]
