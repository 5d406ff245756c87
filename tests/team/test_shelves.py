"""A published shelf is a copy: whoever takes a book has it, and neither side can change the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.errors import LibraryError, LimitError, NotInLibraryError
from readagent_core.gisting.job import newest_memory, start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.library import Library
from readagent_core.settings import Settings, TeamSettings
from readagent_core.team.people import Person
from readagent_core.team.shelves import copy_book, publish, shared_shelves, withdraw
from readagent_core.workspace import Workspace
from tests.loaders.picturing import illustrated

ANNA, BEN = Person("a" * 24, "a@x.org", "Anna"), Person("b" * 24, "b@x.org", "Ben")


@pytest.fixture
def homes(own_home: Path):
    own_home.mkdir()
    team = TeamSettings(frozenset({"x.org"}), megabytes=5)
    opened = [Workspace(Settings(own_home / "people" / one.id, person=one.id, team=team)) for one in (ANNA, BEN)]
    yield own_home, *opened
    for workspace in opened:
        workspace.library.close()


def test_a_book_is_copied_with_its_pictures_gists_and_file_and_nothing_else(homes) -> None:
    home, anna, ben = homes
    book = open_file(anna, illustrated(), "sound.epub")
    start_gisting(anna, book.id).join(120)
    conversation = anna.library.new_conversation(book.id, "What I asked")
    anna.library.add_shelf("Sea", [book.id])
    shelf = publish(anna.library, "Sea", ANNA, home)
    assert shared_shelves(home) == [shelf]
    copy = copy_book(shelf.id, shelf.books[0].id, ben, home)
    mine, theirs = newest_memory(anna, book.id)[1], newest_memory(ben, copy.id)[1]
    assert (theirs.pages, theirs.gists) == (mine.pages, mine.gists)
    assert ben.library.original(copy.id) == anna.library.original(book.id)
    document = ben.library.document(copy.id)
    pictures = [figure.picture for figure in document.figures if figure.picture]
    assert pictures
    assert all(ben.library.picture(document.id, picture) for picture in pictures)
    assert (ben.library.conversations(copy.id), ben.library.shelves(), copy.source_name) == ([], [], "")
    again = copy_book(shelf.id, shelf.books[0].id, ben, home)
    assert (again.id, len(ben.library.gistings(again.id))) == (copy.id, 1)
    ben.library.rename(copy.id, title="Mine", author="")
    published = Library(home / "shared" / shelf.id)
    assert published.books()[0].title == anna.library.book(book.id).title == shelf.books[0].title
    assert published.conversations(shelf.books[0].id) == []
    published.close()
    assert anna.library.conversations(book.id)[0].id == conversation.id


def test_a_copy_never_becomes_a_version_of_another_book(homes) -> None:
    home, anna, ben = homes
    own = open_file(ben, b"Ben's own words.", "notes.txt")
    anna.library.add_shelf("Notes", [open_file(anna, b"Anna's other words.", "notes.txt").id])
    shelf = publish(anna.library, "Notes", ANNA, home)
    assert copy_book(shelf.id, shelf.books[0].id, ben, home).id != own.id
    assert ben.library.book(own.id).version == 1


def test_publishing_again_replaces_and_only_the_owner_withdraws(homes) -> None:
    home, anna, ben = homes
    anna.library.add_shelf("One", [anna.library.add(Document("First", (Paragraph("Words."),))).id])
    first = publish(anna.library, "One", ANNA, home)
    anna.library.put_on_shelf([anna.library.add(Document("Second", (Paragraph("More."),))).id], "One")
    second = publish(anna.library, "One", ANNA, home)
    assert [(shelf.id, len(shelf.books)) for shelf in shared_shelves(home)] == [(second.id, 2)]
    for gone in (first.id, "../people", ""):
        with pytest.raises(NotInLibraryError):
            copy_book(gone, second.books[0].id, ben, home)
    with pytest.raises(NotInLibraryError):
        copy_book(second.id, anna.library.books()[0].id, ben, home)
    with pytest.raises(LibraryError, match="Only whoever"):
        withdraw(second.id, BEN, home)
    anna.library.add_shelf("Empty")
    with pytest.raises(LibraryError, match="no books"):
        publish(anna.library, "Empty", ANNA, home)
    withdraw(second.id, ANNA, home)
    assert list((home / "shared").iterdir()) == []


def test_a_copy_counts_as_what_its_taker_stores(homes) -> None:
    home, anna, ben = homes
    anna.library.add_shelf("Long", [anna.library.add(Document("Long", (Paragraph("word " * 400_000),))).id])
    shelf = publish(anna.library, "Long", ANNA, home)
    with pytest.raises(LimitError):
        copy_book(shelf.id, shelf.books[0].id, ben, home)
