"""Original files: stored for their owner only, removed with the book, brought back with it, and replaced whole."""

from __future__ import annotations

import os
import stat
import sys

import pytest

from readagent_core.errors import DiskFullError, NotInLibraryError
from tests.library.test_library import make_document


def test_an_original_stays_with_its_book_until_that_is_deleted_for_good(library):
    book, other = (library.add(make_document(title, f"The {title}.")) for title in ("Lamp", "Boat"))
    assert library.original(book.id) is None
    assert library.original_size(book.id) == library.originals_size() == 0
    library.keep_original(book.id, "lamp.pdf", b"the first file")
    library.keep_original(book.id, r"C:\books\lamp.EPUB", b"the second")
    library.keep_original(other.id, "..", b"boat")
    assert library.original(book.id) == b"the second"
    assert library.original_path(book.id).name == f"{book.id}.epub"
    assert (library.original_size(book.id), library.originals_size()) == (10, 14)
    library.remove(book.id)
    library.restore(book.id)
    assert library.original(book.id) == b"the second"
    library.remove(book.id)
    library.delete_removed()
    assert library.original_path(book.id) is None
    assert library.original(other.id) == b"boat"
    assert library.remove_originals() == 1
    assert (library.original(other.id), library.originals_size()) == (None, 0)
    assert library.book(other.id) == other


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_originals_are_readable_by_their_owner_only(library):
    book = library.add(make_document())
    library.keep_original(book.id, "a.txt", b"words")
    path = library.original_path(book.id)
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)


def test_a_file_that_cannot_be_written_whole_leaves_the_earlier_one(library, monkeypatch):
    book = library.add(make_document())
    library.keep_original(book.id, "a.txt", b"words")

    def full(part, path):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DiskFullError, match="disk is full"):
        library.keep_original(book.id, "a.txt", b"other words")
    assert library.original(book.id) == b"words"
    assert [path.name for path in library.originals_folder.iterdir()] == [f"{book.id}.txt"]


def test_only_books_of_the_library_have_originals(library):
    for name in ("", "..", "*", "../library"):
        assert library.original(name) is None
        with pytest.raises(NotInLibraryError):
            library.keep_original(name, "a.txt", b"words")
