"""The exact place in a book is found again in a text that was changed."""

from __future__ import annotations

import pytest

from readagent_core.companion.place import find_place, save_place
from readagent_core.document import Document, Paragraph
from readagent_core.library import Library
from readagent_core.library.records import Position

TEXTS = [f"Evening {n}. A lamp was lit on quay {n}, and a boat came in with {n} nets." for n in range(40)]


def document(texts: list[str]) -> Document:
    return Document("The Quay", tuple(map(Paragraph, texts)))


@pytest.mark.parametrize("offset", [-1, 0, 24])
def test_the_place_is_found_by_its_words(tmp_path, offset):
    library = Library(tmp_path)
    book = library.add(document(TEXTS))
    save_place(library, document(TEXTS), book.id, 20, offset)
    position = library.position(book.id)
    assert (position.paragraph, position.offset) == (20, offset)
    assert find_place(document(TEXTS), position) == (20, offset)
    more = ["A preface of the second edition.", *TEXTS[:3], *TEXTS[5:]]
    assert find_place(document(more), position) == (19, offset)
    assert find_place(document(["Another book."]), position) == (0, -1)


def test_a_place_of_an_earlier_version_has_no_words():
    assert find_place(document(TEXTS), Position(7)) == (7, -1)
