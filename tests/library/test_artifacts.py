"""Artifacts are found again by kind and key."""

from pathlib import Path

from readagent_core.document import Document, Paragraph
from readagent_core.library import Library


def test_an_artifact_is_saved_in_place_of_the_earlier_one(tmp_path: Path) -> None:
    library = Library(tmp_path)
    book = library.add(Document("A", (Paragraph("One. Two."),)))
    shelf = library.shelf(book.document_id)
    assert shelf.load("tree", "m1") is None
    shelf.save("tree", "m1", {"nodes": ["é", 1]})
    shelf.save("tree", "m1", {"nodes": ["雪", 2]})
    shelf.save("tree", "m2", [1])
    assert Library(tmp_path).shelf(book.document_id).load("tree", "m1") == {"nodes": ["雪", 2]}
    assert shelf.load("tree", "m2") == [1]
    library.close()
