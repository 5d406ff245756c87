"""A series tells each book as far as it was read, and the same name in two books is one."""

from __future__ import annotations

import zipfile

import pytest

from readagent_core.companion.series import previously_in_series, series_books, series_cast
from readagent_core.document import Document, Paragraph
from readagent_core.errors import LibraryError
from readagent_core.library import Library
from readagent_core.loaders.calibre import parse_metadata
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.world.notes import NoteReader
from readagent_core.world.storage import save_notes

FIRST = ("Mara Finch kept the mill.", "Joss Pike sold the mill.", "Mara Finch burnt it down.")
SECOND = ("Mara Finch came to the coast.", "Abel Reed hired Mara Finch.")
NOTES = {
    FIRST: (
        'person Mara Finch | is | keeper of the mill | "kept the mill"',
        'person Joss Pike | does | sells it | "sold the mill"',
        'person Mara Finch | does | burns it down | "burnt it down"',
    ),
    SECOND: (
        'person Mara Finch | moves | comes to the coast | "came to the coast"',
        'person Abel Reed | does | hires her | "hired Mara Finch"',
    ),
}


def add(library: Library, title: str, texts: tuple[str, ...], number: float | None = None) -> str:
    document = Document(title, tuple(map(Paragraph, texts)), series=("The Mill", number) if number else None)
    pages = tuple(Page(i + 1, i, i + 1, p.words) for i, p in enumerate(document.paragraphs))
    gists = tuple(Gist(f"In short: {text}") for text in texts)
    book = library.add(document)
    gisting = library.add_memory(book.id, GistMemory(document, GistingPlan(), pages, gists, "m", True))
    reader = NoteReader(document)
    for page, line in zip(pages, NOTES[texts], strict=True):
        save_notes(library, gisting.id, page.number, reader.read(page, line).on_page(page.number))
    return book.id


def test_one_cast_over_the_books_each_as_far_as_it_was_read(own_home):
    library = Library(own_home)
    second, first = add(library, "The Coast", SECOND, 2), add(library, "The Mill", FIRST, 1)
    library.set_furthest(first, 2)
    library.set_furthest(second, 1)
    name, books = series_books(library, second)
    assert (name, [b.book.id for b in books], [b.page for b in books]) == ("The Mill", [first, second], [2, 1])
    cast = series_cast(books)
    assert [(e.name, [n for n, _ in e.books]) for e in cast] == [("Mara Finch", [1, 2]), ("Joss Pike", [1])]
    assert "burns it down" not in repr([e.lines for entity in cast for _, e in entity.books])
    ((book, lines),) = previously_in_series(books, second)
    assert (book.number, [(line.page, line.text) for line in lines]) == (
        1,
        [(1, "In short: Mara Finch kept the mill."), (2, "In short: Joss Pike sold the mill.")],
    )
    assert previously_in_series(books, first) == ()


def test_an_order_by_hand_stays_when_a_file_comes_again(own_home):
    library = Library(own_home)
    first, second = add(library, "The Mill", FIRST), add(library, "The Coast", SECOND)
    assert series_books(library, first) == ("", ())
    library.put_in_order("Mills", [second, first])
    add(library, "The Mill", FIRST, 1)
    assert library.series_of(first) == ("Mills", [second, first])
    with pytest.raises(LibraryError):
        library.put_in_order(" ", [first, second], before="Mills")
    assert library.series_of(first) == ("Mills", [second, first])  # nothing is lost
    library.put_in_order("The Mills", [first], before="Mills")
    assert (library.series_of(first), library.series_of(second)) == (("The Mills", [first]), ("", []))
    library.put_in_order("The Mills", [])
    assert library.series_of(first) == ("", [])


def test_a_file_and_a_catalogue_name_the_series(tmp_path):
    opf = '<package><metadata><meta name="calibre:series" content="The Mill"/>{}</metadata></package>'
    number = '<meta name="calibre:series_index" content="{}"/>'
    assert parse_metadata(opf.format(number.format("2.0")).encode()).place_in_series == ("The Mill", 2.0)
    assert parse_metadata(opf.format(number.format("two")).encode()).place_in_series == ("The Mill", 0.0)
    assert parse_metadata(b"<package/>").place_in_series is None
    from ebooklib import epub

    import readagent_core as ra

    book = epub.EpubBook()
    book.set_title("The Coast")
    book.add_metadata(None, "meta", "The Mill", {"property": "belongs-to-collection", "id": "c"})
    book.add_metadata(None, "meta", "2", {"property": "group-position", "refines": "#c"})
    chapter = epub.EpubHtml(title="One", file_name="one.xhtml")
    chapter.content = f"<h1>One</h1><p>{' '.join(SECOND)}</p>"
    book.add_item(chapter)
    book.spine, book.toc = [chapter], [chapter]
    epub.write_epub(tmp_path / "coast.epub", book)
    assert zipfile.is_zipfile(tmp_path / "coast.epub")
    document = ra.open_document(tmp_path / "coast.epub")
    assert document.series == ("The Mill", 2.0)
    assert Document.from_dict(document.to_dict()).series == ("The Mill", 2.0)
