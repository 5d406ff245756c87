"""A memory is cached until something in it changes, in this process or another; events are only ever appended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.library import Library, schema
from readagent_core.library.conversations import CACHED_ANSWERS
from readagent_core.library.records import ExchangeState
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
    library, _, gisting = two
    assert library.memory(gisting) is library.memory(gisting)
    library.set_preference("theme", "dark")
    library.touch(library.gisting(gisting).book_id)
    assert library.memory(gisting) is library.memory(gisting)


CHANGES = {
    "a gist by hand": lambda library, gisting: library.store(gisting).save_gist(2, Gist("Other.", edited=True)),
    "a gist of the same length": lambda library, gisting: library.store(gisting).save_gist(2, Gist("Gust 2.")),
    "its marks": lambda library, gisting: library.store(gisting).save_gist(1, replace(GISTS[0], marks=("odd",))),
    "pages deleted": lambda library, gisting: library.cut_from(gisting, 3),
    "a page added": lambda library, gisting: (
        library.cut_from(gisting, 3),
        library.store(gisting).save_page(Page(3, 2, 3, 2, reason="another reason")),
    ),
    "its usage": lambda library, gisting: library.store(gisting).save_usage(Usage(calls=7)),
    "another memory": lambda library, gisting: library.put_memory(
        gisting, replace(MEMORY, gists=(GISTS[0], GISTS[1], Gist("Gist 9.")))
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in another program"])
def test_every_change_is_seen(two, change, elsewhere):
    library, other, gisting = two
    before = library.memory(gisting)
    change(other if elsewhere else library, gisting)
    after = library.memory(gisting)
    assert after != before
    fresh = Library(library.home)
    assert after == fresh.memory(gisting)
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
    (gisting,) = library.gistings("b")
    assert (gisting.state, gisting.changed) == ("done", 0)
    library.store(gisting.id).save_page(PAGES[0])
    assert library.gisting(gisting.id).changed == 1
    library.artifacts("d").save("tree", "m", 1)  # artifacts came with version 2
    assert library.artifacts("d").load("tree", "m") == 1
    library.close()


@pytest.fixture
def conversation(library):
    return library.new_conversation(library.add(Document("A", (Paragraph("One."),))).id, "Talk").id


def test_events_of_several_exchanges_in_order_until_their_conversation_is_deleted(library, conversation):
    first, second = (library.start_exchange(conversation, 1, "Why?").id for _ in range(2))
    for n in range(12):
        library.append_event(first if n % 3 else second, {"kind": "Noted", "text": f"第{n}"})
    texts = [[e["text"] for e in exchange.events] for exchange in library.exchanges(conversation)]
    assert texts == [[f"第{n}" for n in range(12) if n % 3], [f"第{n}" for n in range(0, 12, 3)]]
    library.delete_conversation(conversation)
    assert library.exchanges(conversation) == []
    assert library._db.rows("SELECT * FROM event") == []


def test_cached_events_are_the_same_values_until_one_is_appended(library, conversation):
    exchange = library.start_exchange(conversation, 1, "Why?").id
    other = Library(library.home)
    library.append_event(exchange, {"n": 1})
    before = library.exchange(exchange).events
    assert library.exchange(exchange).events[0] is before[0]
    other.append_event(exchange, {"n": 2})
    assert library.exchange(exchange).events == ({"n": 1}, {"n": 2})
    assert other.finish_exchange(exchange, ExchangeState.DONE).events == library.exchange(exchange).events
    other.close()


def test_only_the_events_of_the_last_answers_are_cached(library, conversation):
    ids = [library.start_exchange(conversation, 1, "Why?").id for _ in range(CACHED_ANSWERS + 1)]
    for exchange in ids:
        library.append_event(exchange, {"text": "x"})
    events = [library.exchange(exchange).events[0] for exchange in ids]
    assert library.exchange(ids[-1]).events[0] is events[-1]
    assert library.exchange(ids[0]).events == (events[0],)
    assert library.exchange(ids[0]).events[0] is not events[0]
