"""The events of an answer are complete and in order, also when another process appends some."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.library import Library
from readagent_core.library.conversations import CACHED_ANSWERS


@pytest.fixture
def library(tmp_path):
    with_one = Library(tmp_path)
    yield with_one
    with_one.close()


@pytest.fixture
def conversation(library):
    return library.new_conversation(library.add(Document("A", (Paragraph("One."),))).id, "Talk").id


def test_events_of_several_exchanges_in_order(library, conversation):
    first, second = (library.start_exchange(conversation, 1, "Why?").id for _ in range(2))
    for n in range(12):
        library.append_event(first if n % 3 else second, {"kind": "Noted", "text": f"第{n}"})
    texts = [[e["text"] for e in exchange.events] for exchange in library.exchanges(conversation)]
    assert texts == [[f"第{n}" for n in range(12) if n % 3], [f"第{n}" for n in range(0, 12, 3)]]


def test_cached_events_are_the_same_values_until_one_is_appended(library, conversation):
    exchange = library.start_exchange(conversation, 1, "Why?").id
    other = Library(library.home)
    library.append_event(exchange, {"n": 1})
    before = library.exchange(exchange).events
    assert library.exchange(exchange).events[0] is before[0]
    other.append_event(exchange, {"n": 2})
    assert library.exchange(exchange).events == ({"n": 1}, {"n": 2})
    assert other.finish_exchange(exchange, "done").events == library.exchange(exchange).events
    other.close()


def test_only_the_events_of_the_last_answers_are_cached(library, conversation):
    ids = [library.start_exchange(conversation, 1, "Why?").id for _ in range(CACHED_ANSWERS + 1)]
    for exchange in ids:
        library.append_event(exchange, {"text": "x"})
    events = [library.exchange(exchange).events for exchange in ids]
    assert library.exchange(ids[-1]).events[0] is events[-1][0]
    assert library.exchange(ids[0]).events == events[0]
    assert library.exchange(ids[0]).events[0] is not events[0][0]


def test_deleting_a_conversation_deletes_its_events(library, conversation):
    exchange = library.start_exchange(conversation, 1, "Why?").id
    library.append_event(exchange, {"n": 1})
    assert library.exchanges(conversation)[0].events
    library.delete_conversation(conversation)
    assert library.exchanges(conversation) == []
    assert library._db.rows("SELECT * FROM event") == []
