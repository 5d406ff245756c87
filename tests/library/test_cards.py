"""Positions, cards, shelves and tags, and books deleted for good."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from readagent_core.document import Section
from readagent_core.errors import LibraryError
from readagent_core.library import Library
from readagent_core.library.records import GistingState, StopReason
from readagent_core.memory import Gist, Page
from tests.library.test_library import PLAN, make_document, read_whole


def test_where_the_person_is_and_what_was_read_are_two_facts(library):
    sections = (Section("One", 0), Section("Two", 2))
    book = library.add(make_document(sections=sections))
    words = [p.words for p in library.document(book.id).paragraphs]
    assert library.position(book.id).furthest == 0
    library.set_position(book.id, 2)
    position = library.position(book.id)
    assert (position.paragraph, position.section, position.furthest, position.words_read) == (2, "Two", 0, 0)
    assert 0 < position.share < 1
    assert position.offset == -1
    for furthest, read in ((1, 1), (3, 3), (2, 2), (99, 3), (0, 0)):
        library.set_furthest(book.id, furthest)
        position = library.position(book.id)
        assert (position.paragraph, position.furthest, position.words_read) == (2, read, sum(words[:read]))


def test_the_spoiler_limit_follows_what_was_read_until_it_is_set_by_hand(library):
    book = library.add(make_document())
    library.set_furthest(book.id, 1)
    assert library.position(book.id).allowed is None
    library.set_limit(book.id, on=True)
    assert library.position(book.id).allowed == 1
    library.set_furthest(book.id, 2)
    assert library.position(book.id).allowed == 2
    library.set_limit(book.id, on=True, paragraph=3)
    library.set_furthest(book.id, 1)
    assert library.position(book.id).allowed == 3
    library.set_limit(book.id, on=False)
    assert library.position(book.id).allowed is None


def test_a_card_has_everything_the_screen_shows(library):
    document = make_document("The Lamp", author="A. Writer")
    book = library.add(document, source_name="lamp.txt")
    other = library.add(make_document("Another", "Nothing was read here."))
    library.set_position(book.id, 1)
    library.set_furthest(book.id, 1)
    library.touch(book.id)
    library.add_shelf("The sea", [book.id])
    library.set_tags(book.id, ["long", "a sea"])
    gisting = library.open_gisting(book.id, PLAN, "m")
    whole = library.memory(gisting.id).document
    store = library.store(gisting.id)
    for number in (1, 2):
        store.save_page(Page(number, number - 1, number, whole.paragraphs[number - 1].words))
    store.save_gist(2, Gist("the second"))
    library.set_state(gisting.id, GistingState.FAILED, StopReason.ERROR, why="The server failed.")
    library.open_gisting(book.id, replace(PLAN, min_words=6), "m")  # newer, without a page
    card, empty = library.cards()
    assert (card.book, card.position) == (library.book(book.id), library.position(book.id))
    assert (card.gisting_id, card.state, card.why, card.model) == (gisting.id, "failed", "The server failed.", "m")
    assert (card.pages, card.gists, card.words_covered) == (2, 1, whole.paragraphs[1].words)
    assert (card.tags, card.shelves) == (("a sea", "long"), ("The sea",))
    assert (empty.book.id, empty.gisting_id, empty.pages, empty.tags, empty.shelves) == (other.id, None, 0, (), ())
    library.remove(other.id)
    assert len(library.cards()) == 1


def test_shelves_and_tags_are_undone_by_their_inverses(library):
    one, two, three = (library.add(make_document(name, f"{name} text")).id for name in ("One", "Two", "Three"))
    assert library.add_shelf("  The   sea ", [one]) == "The sea"
    for name in ("The sea", " . "):
        with pytest.raises(LibraryError):
            library.add_shelf(name)
    before = library.cards()
    added = library.put_on_shelf([one, two, "gone"], "The sea")
    assert added == [two]
    library.take_off_shelf(added, "The sea")
    assert library.cards() == before
    library.rename_shelf("The sea", "Sea")
    library.add_shelf("Course")
    with pytest.raises(LibraryError, match="already"):
        library.rename_shelf("Course", "Sea")
    library.remove(one)
    assert [(shelf.name, shelf.books) for shelf in library.shelves()] == [("Sea", 0), ("Course", 0)]
    assert library.remove_shelf("Sea") == [one]
    library.add_shelf("Sea", [one])
    library.restore(one)
    assert {card.book.id: card.shelves for card in library.cards()} == {one: ("Sea",), two: (), three: ()}
    assert library.set_tags(three, ["b", "a", "b"]) == ()
    assert library.set_tags(three, ["c"]) == ("a", "b")
    assert library.add_tag([two, three], "c") == [two]
    assert library.remove_tag([one, two], "c") == [two]
    assert library.tags() == ["c"]


def test_a_removed_book_is_deleted_for_good_with_all_that_was_made_of_it(library):
    kept = library.add(make_document("Kept", "The lantern was kept."))
    gone = library.add(make_document("Gone", "The lantern went out."))
    sample = library.add(make_document("Sample", "A lantern for show."), sample=True)
    read_whole(library, gone)
    library.new_conversation(gone.id, "About it")
    assert len(list(library.index_texts())) == 3
    library.search(library.gistings(gone.id)[0].id, "lantern")
    library.remove(gone.id, sample.id)
    assert library.delete_removed(before=time.time() - 60) == 0
    assert library.delete_removed() == 1
    left = library._db.rows
    for table in ("document", "version", "reading", "page", "gist", "conversation", "found"):
        rows = left(f"SELECT count(*) FROM {table}")[0][0]
        assert rows == {"document": 2, "version": 2, "found": 2}.get(table, 0), table
    assert {book.id for book in library.books(include_removed=True)} == {sample.id, kept.id}
    again = Library(library.home)
    assert [hit.book_id for hit in again.search_all("lantern", limit=9)] == [kept.id]
    again.close()


def test_all_texts_are_searched_whether_read_or_not(library):
    long = "word " * 40 + "then Ada lit the LAMP at last and slept. " + "word " * 80
    one = library.add(make_document("One", "No light.", *[f"Day {n}, a lamp." for n in range(5)]))
    two = library.add(make_document("Two", long, "雪の駅で、彼女は待っていた。"))
    assert library.search_all("lamp", limit=9) == []  # not indexed yet
    assert not any(card.searchable for card in library.cards())
    assert len(list(library.index_texts())) == 2
    assert all(card.searchable for card in library.cards())
    library.touch(two.id)  # opened last, but the word occurs more often in the other
    hits = library.search_all("lamp", limit=9)
    assert [(hit.book_id, hit.paragraph, hit.count) for hit in hits] == [
        *((one.id, n, 5) for n in (1, 2, 3)),
        (two.id, 0, 1),
    ]
    assert [text for text, found in hits[-1].parts if found] == ["LAMP"]
    shown = "".join(text for text, _ in hits[-1].parts)
    assert (shown[0], shown[-1]) == ("…", "…")
    assert len(shown) < 220
    assert shown.strip("…") in long
    assert [hit.book_id for hit in library.search_all("lamp", limit=1)] == [one.id] * 3
    (snow,) = library.search_all("雪の駅", limit=9)
    assert snow.parts == (("雪の駅", True), ("で、彼女は待っていた。", False))
    library.remove(two.id)
    library.add(make_document("One", "Another text of this file.", *["No light."]), source_name="")
    assert {hit.book_id for hit in library.search_all("lamp", limit=9)} == {one.id}
    assert library.search_all(" ?! ", limit=9) == []
