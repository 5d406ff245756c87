"""The pictures of texts in the library: stored and removed with the text, added to one of an earlier version."""

from __future__ import annotations

import json
from dataclasses import replace

from readagent_core.document import Document, Figure, Paragraph, Picture

PICTURE = Picture("0" * 32, "image/png", b"\x89PNG of a lamp")
PLAIN = Document("The Lamp", (Paragraph("Ada lit the lamp."), Paragraph("The sea was quiet.")))
FIGURES = (Figure(1, alt="The lamp", picture=PICTURE.id, width=40, height=30),)
ILLUSTRATED = replace(PLAIN, figures=FIGURES, pictures=(PICTURE,))


def test_pictures_come_back_until_their_book_is_deleted(library):
    book = library.add(ILLUSTRATED)
    assert library.document(book.id).figures == FIGURES
    assert library.picture(book.document_id, PICTURE.id) == PICTURE
    assert library.picture(book.document_id, "1" * 32) is None
    assert library.picture("another text", PICTURE.id) is None
    library.remove(book.id)
    assert library.picture(book.document_id, PICTURE.id) == PICTURE  # it can still be restored
    library.delete_removed()
    assert library.picture(book.document_id, PICTURE.id) is None


def test_a_text_stored_without_its_pictures_gets_them_when_its_file_is_opened_again(library):
    book = library.add(PLAIN)
    old = {name: value for name, value in PLAIN.to_dict().items() if name != "figures"}  # as earlier versions wrote it
    library._db.change("UPDATE document SET body = ?", (json.dumps(old),))
    assert library.document(book.id).figures == ()
    assert library.add(ILLUSTRATED).document_id == book.document_id
    assert library.document(book.id).figures == FIGURES
    library.add(PLAIN)
    assert library.document(book.id).figures == FIGURES
    split = (Paragraph("Ada lit the lamp."), Paragraph("The sea "), Paragraph("was quiet.", continues=True))
    other = replace(ILLUSTRATED, paragraphs=split, figures=(replace(FIGURES[0], paragraph=2, alt="Elsewhere"),))
    assert other.id == PLAIN.id
    library.add(other)  # its paragraphs are divided in another way
    assert library.document(book.id).figures == FIGURES
