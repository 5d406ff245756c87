"""A person's own questions belong to their book, and libraries of earlier versions get a table for them."""

from __future__ import annotations

import sqlite3

import pytest

from readagent_core.errors import NotInLibraryError
from readagent_core.library import Library
from readagent_core.library.migrations import MIGRATIONS
from readagent_core.library.own_questions import OwnQuestion
from tests.library.test_library import make_document

ASKED = (OwnQuestion("Who?", "Vane", ("Oake",), "7"), OwnQuestion("何が？", "鐘\nbell"), OwnQuestion("Not whole yet"))


def test_questions_come_back_as_they_were_written(library):
    book = library.add(make_document("One", "A lamp."), source_name="one.txt")
    assert library.own_questions(book.id) == ()
    library.set_own_questions(book.id, [*ASKED, OwnQuestion()])
    assert Library(library.home).own_questions(book.id) == ASKED
    library.set_own_questions(book.id, ASKED[:1])
    assert library.own_questions(book.id) == ASKED[:1]
    library.add(make_document("One", "A lamp, corrected."), source_name="one.txt")  # a new version of the same book
    library.remove(book.id)
    library.restore(book.id)
    assert library.own_questions(book.id) == ASKED[:1]
    library.remove(book.id)
    library.delete_removed()
    assert library.own_questions(book.id) == ()
    with pytest.raises(NotInLibraryError):
        library.set_own_questions(book.id, ASKED)


def test_what_cannot_be_written_to_a_file_is_removed():
    assert OwnQuestion(" a\x00\r\nb\rc\ud800 ", "x\x0by", (" ", "p\nq"), " 7 ") == OwnQuestion(
        "a\nb\nc", "xy", ("p q",), "7"
    )


def test_a_library_of_the_version_before_opens(tmp_path):
    with sqlite3.connect(tmp_path / "library.db") as old:
        for script in MIGRATIONS[:8]:
            for statement in script.split(";\n"):
                old.execute(statement)
        old.execute("PRAGMA user_version = 8")
    old.close()
    library = Library(tmp_path)
    book = library.add(make_document("One", "A lamp."))
    library.set_own_questions(book.id, ASKED)
    assert library.own_questions(book.id) == ASKED
