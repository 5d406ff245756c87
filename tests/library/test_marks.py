"""Marks in the library: they belong to their book, whatever happens to its text."""

from __future__ import annotations

import pytest

from readagent_core.errors import NotInLibraryError
from readagent_core.library import Library
from readagent_core.library.marks import ANSWER, Mark, Spot
from tests.library.test_library import make_document


def mark_of(book, name, at, **more):
    values = {"kind": "note", "colour": "leaf", "exact": "the \ud800 lamp", "prefix": "a ", "suffix": " b", **more}
    return Mark(name, book.id, start=Spot(*at), end=Spot(at[0], at[1] + 8), **values)


def test_marks_come_back_as_they_were_in_the_order_of_the_text(library):
    book = library.add(make_document("One", "A lamp.", "Another."))
    answer = {"question": "Who?", "citations": [{"page": 2, "paragraph": None}]}
    marks = [mark_of(book, "c", (1, 0)), mark_of(book, "a", (10, 0), note="x\n\ny"), mark_of(book, "b", (1, 2))]
    marks.append(mark_of(book, "d", (0, 0), kind=ANSWER, answer=answer, colour=""))
    library.put_mark(*marks)
    again = Library(library.home)
    assert again.marks(book.id) == (marks[3], marks[0], marks[2], marks[1])
    again.close()
    changed = mark_of(book, "c", (0, 1), note="changed")
    library.put_mark(changed)
    assert library.marks(book.id)[1] == changed
    assert library.remove_mark("c") == changed
    assert library.remove_mark("c") is None
    assert [mark.id for mark in library.marks(book.id)] == ["d", "b", "a"]
    library.put_mark(changed)
    assert library.mark("c") == changed
    with pytest.raises(NotInLibraryError):
        library.put_mark(mark_of(book, "e", (0, 0)), Mark("f", "gone", "note", "", "", "", "", Spot(0, 0), Spot(0, 0)))
    assert library.mark("e") is None  # all of them or none
    with pytest.raises(ValueError, match="no mark"):
        mark_of(book, "g", (0, 0), colour="amber")


def test_marks_follow_their_book(library):
    one = library.add(make_document("One", "A lamp."), source_name="one.txt")
    two = library.add(make_document("Two", "A bell."))
    library.put_mark(mark_of(one, "1", (0, 0)), mark_of(two, "2", (0, 0)))
    library.touch(one.id)
    assert [mark.id for mark in library.all_marks()] == ["1", "2"]
    library.remove(one.id)
    assert [mark.id for mark in library.all_marks()] == ["2"]
    library.restore(one.id)
    assert [mark.id for mark in library.marks(one.id)] == ["1"]
    assert library.add(make_document("One", "A lamp, corrected."), source_name="one.txt").id == one.id
    assert [mark.id for mark in library.marks(one.id)] == ["1"]
    library.remove(one.id)
    library.delete_removed()
    assert library.mark("1") is None
