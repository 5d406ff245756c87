"""A memory is cached until something in it changes, in this process or another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.library import Library, schema
from readagent_core.library.schema import Database
from readagent_core.memory import Gist, Page
from readagent_core.usage import Usage
from tests.recordings import make_memory

MEMORY = make_memory([f"Paragraph {n}." for n in range(3)])
DOCUMENT, PAGES, GISTS = MEMORY.document, MEMORY.pages, MEMORY.gists


@pytest.fixture
def two(tmp_path):
    """The same library twice, as two programs have it open; and a reading in it."""
    libraries = Library(tmp_path), Library(tmp_path)
    book = libraries[0].add(DOCUMENT)
    yield (*libraries, libraries[0].add_memory(book.id, MEMORY).id)
    for library in libraries:
        library.close()


def test_it_is_the_same_object_while_nothing_changes(two):
    library, _, reading = two
    assert library.memory(reading) is library.memory(reading)
    library.set_preference("theme", "dark")
    library.touch(library.reading(reading).book_id)
    assert library.memory(reading) is library.memory(reading)


CHANGES = {
    "a gist by hand": lambda library, reading: library.store(reading).save_gist(2, Gist("Other.", edited=True)),
    "a gist of the same length": lambda library, reading: library.store(reading).save_gist(2, Gist("Gust 2.")),
    "its marks": lambda library, reading: library.store(reading).save_gist(1, replace(GISTS[0], marks=("odd",))),
    "pages deleted": lambda library, reading: library.cut_from(reading, 3),
    "a page added": lambda library, reading: (
        library.cut_from(reading, 3),
        library.store(reading).save_page(Page(3, 2, 3, 2, reason="another reason")),
    ),
    "its usage": lambda library, reading: library.store(reading).save_usage(Usage(calls=7)),
    "another memory": lambda library, reading: library.put_memory(
        reading, replace(MEMORY, gists=(GISTS[0], GISTS[1], Gist("Gist 9.")))
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in another program"])
def test_every_change_is_seen(two, change, elsewhere):
    library, other, reading = two
    before = library.memory(reading)
    change(other if elsewhere else library, reading)
    after = library.memory(reading)
    assert after != before
    fresh = Library(library.home)
    assert after == fresh.memory(reading)
    fresh.close()


def test_only_the_last_few_are_cached(two):
    library, _, first = two
    kept = library.memory(first)
    for n in range(6):
        document = Document(f"B{n}", (*DOCUMENT.paragraphs[:2], Paragraph(f"Number {n}.")))
        book = library.add(document)
        library.memory(library.add_memory(book.id, replace(MEMORY, document=document)).id)
    again = library.memory(first)
    assert again == kept
    assert again is not kept


@pytest.mark.parametrize("version", [1, 3])
def test_a_library_of_an_earlier_version_is_migrated_with_its_readings(tmp_path, monkeypatch, version):
    with monkeypatch.context() as then:
        then.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        old = Database(tmp_path / schema.FILE)
        with old.write() as connection:
            connection.execute("INSERT INTO document VALUES ('d', 2, '{}')")
            connection.execute("INSERT INTO book VALUES ('b', 'A', '', 'en', 'text', '', 0, 0, NULL, NULL)")
            connection.execute(
                "INSERT INTO reading (book_id, document_id, plan_key, plan, model, place, state, started) "
                "VALUES ('b', 'd', 'k', '{}', 'm', '', 'done', 0)"
            )
        old.close()
    library = Library(tmp_path)
    (reading,) = library.readings("b")
    assert (reading.state, reading.changed) == ("done", 0)
    library.store(reading.id).save_page(PAGES[0])
    assert library.reading(reading.id).changed == 1
    library.artifacts("d").save("tree", "m", 1)  # artifacts came with version 2
    assert library.artifacts("d").load("tree", "m") == 1
    library.close()
