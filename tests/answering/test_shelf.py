"""Several books, one question: what is shown of each, what is opened and found, and whose page a citation names."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import readagent_core as ra
from bench.passkey import Windowed, passkey_document
from readagent_core.answering.base import AskSettings, BooksShown, Event, Expanded, LookedUp, Noted, Question, Searched
from readagent_core.answering.costs import price_of_shelf_question, shelf_gists_sentence
from readagent_core.answering.event_json import event_from_dict, event_to_dict
from readagent_core.answering.levels import PART_WORDS
from readagent_core.answering.registry import method
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.citations import FROM_MEMORY, FROM_PAGE, NOT_FOUND
from readagent_core.citations.several import Source, check_several
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.gisting import read
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.models.cost.prices import Price
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.books import answer
from tests.methods.test_zoom import long_memory, reader
from tests.recordings import make_memory


def tales(count: int, *, pages: int = 5) -> list[GistMemory]:
    """Books of which number n has 'tokenN' and names only itself on every page."""
    return [
        make_memory(
            [f"On page {p} token{n} was seen. " + "More was said of it. " * 8 for p in range(1, pages + 1)],
            [f"Of token{n}, scene {p}. " + "gist " * 40 for p in range(1, pages + 1)],
            title=f"Tale {n}",
        )
        for n in range(1, count + 1)
    ]


def ask(model: FakeModel | BuiltInReader, books: list[GistMemory], question: str = "Who?", **extra: int) -> list[Event]:
    settings = AskSettings(extra=extra)
    return list(method("zoom").run(Question(question), AskedShelf(books), model, settings, CancelToken()))


def test_books_that_fit_are_shown_by_their_pages_and_every_event_names_its_book() -> None:
    model = reader(["OPEN [2.3] to read it", 'FIND "token1"', "ANSWER: It was there [2.3]."])
    events = ask(model, tales(3))
    assert model.tasks() == ["explore_shelf"] * 3
    (books,) = [e for e in events if isinstance(e, BooksShown)]
    assert [(n, title, how) for n, _, title, how in books.books] == [(n, f"Tale {n}", "gists") for n in (1, 2, 3)]
    assert [(e.book, e.pages) for e in events if isinstance(e, LookedUp)] == [(2, (3,))]
    assert {(e.book, e.pages) for e in events if isinstance(e, Searched)} == {(1, (1, 5))}
    assert [e.book for e in events if isinstance(e, Expanded)] == [1, 2, 3, 2, 1]  # and nothing of those unchanged
    text = model.prompts[-1].text
    assert "<Book 2> Tale 2\n\n<Page 2.1>" in text
    assert "<Page 2.3> (full text)\nOn page 3 token2 was seen." in text
    assert '(on page 1.1: "On page 1 token1 was seen.' in text
    assert 'Your requests so far: OPEN [2.3]; FIND "token1" (2 of 5 places).' in text
    result = answer(events)
    assert (result.looked_up, dict(result.seen)) == ((), {})
    assert [(b.number, b.looked_up, len(b.seen)) for b in result.books] == [(1, (), 5), (2, (3,), 5), (3, (), 5)]
    assert [event_from_dict(event_to_dict(event)) for event in events] == events


def test_books_that_do_not_fit_are_chosen_by_words_and_opened_when_named() -> None:
    model = reader(["OPEN [7] to see it", "OPEN [31.2, 99.1]", "ANSWER: There [31.2]."])
    events = ask(model, tales(40), "What of token31?", words=900)
    (books,) = [e for e in events if isinstance(e, BooksShown)]
    assert books.of == 40
    assert 31 in {number for number, *_ in books.books}
    assert len(books.books) < 10
    assert any(isinstance(e, Noted) and e.text.startswith("Of 40 books the") for e in events)
    assert next(e for e in events if isinstance(e, Expanded)).memory_words <= 900
    looked = [(e.book, e.pages, e.parts, e.refused) for e in events if isinstance(e, LookedUp)]
    assert looked[0] == (7, (), ("1-5",), ())
    assert looked[1:] == [(31, (2,), (), ()), (0, (), (), looked[2][3])]
    assert "no such book" in looked[2][3][0]
    assert "<Page 7.1>" not in model.prompts[-3].text
    assert "<Page 7.1>" in model.prompts[-1].text


class Meaning:
    """An embedder that finds book 23 nearest to every question."""

    name = "meaning"

    def embed(self, texts: list[str], cancel: CancelToken) -> np.ndarray:
        return np.array([[1.0, 0.0] if "Tale 23" in t or "Who" in t else [0.0, 1.0] for t in texts], dtype=np.float32)


def test_an_embedding_model_chooses_books_too() -> None:
    model, settings = reader(["ANSWER: It [23]."]), AskSettings(extra={"words": 900})
    resources = Resources(embedder=Meaning())
    events = list(
        method("zoom").run(Question("Who?"), AskedShelf(tales(40)), model, settings, CancelToken(), resources)
    )
    (books,) = [e for e in events if isinstance(e, BooksShown)]
    assert 23 in {number for number, *_ in books.books}
    without = ask(reader(["ANSWER: It [1]."]), tales(40), words=900)
    (books,) = [e for e in without if isinstance(e, BooksShown)]
    assert 23 not in {number for number, *_ in books.books}


def test_gists_of_books_are_made_once_and_in_a_bounded_number_of_calls() -> None:
    shelf, model = AskedShelf([long_memory(60) for _ in range(3)]), reader(["ANSWER: A [1].", "ANSWER: B [1]."])
    settings = AskSettings(extra={"words": 1500})
    list(method("zoom").run(Question("Who?"), shelf, model, settings, CancelToken()))
    made = model.tasks().count("gist")
    assert all(book.gist for book in shelf.books)
    assert 3 < made < 40
    many = AskedShelf([long_memory(200) for _ in range(30)])
    model = FakeModel(lambda p: "told " * int(p.fields["least"]) if p.task == "gist" else "ANSWER: A [1].")
    events = list(method("zoom").run(Question("Who?"), many, model, AskSettings(extra={"words": 6000}), CancelToken()))
    assert model.tasks().count("gist") < 150
    assert any(isinstance(e, Noted) and "by title alone" in e.text for e in events)
    (books,) = [e for e in events if isinstance(e, BooksShown)]
    assert {how for *_, how in books.books} == {"title", "gists"}


def test_what_a_question_makes_first_and_costs_is_told_before_it() -> None:
    """As many calls as it takes at most; nothing once they are made, or for a reader that sends nothing."""
    shelf, model = AskedShelf([long_memory(200) for _ in range(2)]), reader(["ANSWER: A [1]."])
    model.price = Price(10, 30)
    told = re.fullmatch(
        r"First, and once, gists of 2 books and their parts are made: at most (\d+) calls, about \$\d\.\d\d\.",
        shelf_gists_sentence(model, shelf.books),
    )
    assert told
    assert int(told.group(1)) == 2 * (round(2.2 * shelf.books[0].gist_words / PART_WORDS) + 1)
    assert re.fullmatch(r"about \$0\.\d\d", price_of_shelf_question(model, shelf.books, look_ups=3))
    assert shelf_gists_sentence(BuiltInReader(), shelf.books) == ""
    list(method("zoom").run(Question("Who?"), shelf, model, AskSettings(), CancelToken()))
    assert 2 < model.tasks().count("gist") <= int(told.group(1))
    assert shelf_gists_sentence(model, shelf.books) == ""
    assert shelf_gists_sentence(model, AskedShelf(tales(2)).books) == ""  # all of their gists fit


def test_the_view_of_several_books_stays_within_its_words_whatever_is_opened() -> None:
    chance = random.Random(3)

    def reply(prompt: Prompt) -> str:
        if prompt.task == "gist":
            return "told " * int(prompt.fields["least"])
        return (
            f"OPEN [{chance.randint(1, 12)}.{chance.randint(1, 60)}]" if prompt.task == "explore_shelf" else "So [1]."
        )

    books = [long_memory(60) for _ in range(12)]
    model = FakeModel(reply)
    events = ask(model, books, "What of subject25?", words=1500, requests=8)
    folded = [p for p in model.prompts if "folded again into one gist" in p.text]
    assert folded  # and the model is told of it
    for event in (e for e in events if isinstance(e, Expanded)):
        assert event.memory_words <= 1500 + 3 * (60 + 100 * 8) + 1300
    assert model.tasks()[-1] == "answer_shelf"


@pytest.mark.parametrize("label", ["2.3", "Book 2, page 3", "2:3", "book 2 p. 3"])
def test_a_page_of_a_book_is_read_in_the_forms_that_models_write(label: str) -> None:
    events = ask(reader([f"OPEN [{label}] to read", "ANSWER: Yes [2.3]."]), tales(3))
    assert [(e.book, e.pages) for e in events if isinstance(e, LookedUp)] == [(2, (3,))]


def test_a_citation_is_never_taken_for_a_page_of_another_book() -> None:
    books = tales(3)
    sources = {n: Source(book, full=[3], shown=[1, 2, 3, 4, 5], title=f"Tale {n}") for n, book in enumerate(books, 1)}
    said = (
        "Of token1 [1.3]. Of the second (book 2, page 3). As a whole [3]. Both [1.4, 2.5-2.6]. Lost [9.3]. "
        "Bare (p. 3).\n\n"
        'Evidence:\n[1.3] "On page 3 token1 was seen"\n[2.3] "On page 3 token1 was seen"'
    )
    checked = check_several(said, sources)
    found = [(c.book, c.page, c.state) for c in checked.citations]
    assert found[:3] == [(1, 3, FROM_PAGE), (2, 3, NOT_FOUND), (3, 0, FROM_MEMORY)]
    assert [(book, page) for book, page, _ in found[3:6]] == [(1, 4), (2, 5), (2, 6)]
    assert found[5:] == [(2, 6, NOT_FOUND), (9, 3, NOT_FOUND), (0, 0, NOT_FOUND)]
    assert checked.pieces[0].text.startswith("Of token1 ")


def test_two_needles_in_two_books_are_found_by_the_built_in_reader() -> None:
    books = tales(6, pages=30)
    for n, (place, text) in {
        2: (17, "The brass key hung behind the clock."),
        5: (9, "The silver coin lay in the drain."),
    }.items():
        page = books[n - 1].document.paragraphs[place - 1].text + " " + text
        texts = [p.text for p in books[n - 1].document.paragraphs]
        texts[place - 1] = page
        books[n - 1] = make_memory(texts, list(books[n - 1].gists), title=books[n - 1].document.title)
    events = ask(BuiltInReader(), books, "Where hung the brass key, and where lay the silver coin?", words=1500)
    result = answer(events)
    assert "behind the clock. [2.17]" in result.text
    assert "in the drain. [5.9]" in result.text


@pytest.mark.parametrize("words", [2_000, 6_000])
def test_the_passkey_is_found_in_one_book_of_several(words: int) -> None:
    model = Windowed(4096)
    documents = [passkey_document(words, place, key) for place, key in ((0.3, 11_111), (0.6, 71_432))]
    documents[0] = ra.open_document(documents[0].text().replace("pass key", "nothing").encode(), name="other.txt")
    books = [read(document, model, GistingPlan()) for document in documents]
    events = list(
        method("zoom").run(Question("What is the pass key?"), AskedShelf(books), model, AskSettings(), CancelToken())
    )
    assert "71432" in answer(events).text.replace(",", "")
    assert model.longest <= 4096


def test_programs_ask_several_memories() -> None:
    result = ra.ask(tales(2), "Who?", reader(["ANSWER: It [2.1]."]))
    assert [book.title for book in result.books] == ["Tale 1", "Tale 2"]
    for refused in ({"method": "bm25"}, {"up_to": 2}):
        with pytest.raises(SettingsError):
            ra.ask(tales(2), "Who?", reader([]), **refused)
    with pytest.raises(NotInLibraryError):
        ra.ask([], "Who?", reader([]))


def test_the_built_in_reader_answers_from_every_book_that_it_found_the_words_in() -> None:
    far = make_memory(
        ["Mr. Reeve rowed to the island. " + "More was said of it. " * 8], ["A gist. " + "gist " * 40], title="Sea"
    )
    near = make_memory(
        ["Bea Reeve was in the chair that evening. " + "More was said of it. " * 8],
        ["A gist. " + "gist " * 40],
        title="Town",
    )
    events = ask(BuiltInReader(), [far, near], "Where was Reeve?")
    result = answer(events)
    assert [book.looked_up for book in result.books] == [(1,), (1,)]
    assert "rowed to the island. [1.1]" in result.text
    assert "in the chair that evening. [2.1]" in result.text
