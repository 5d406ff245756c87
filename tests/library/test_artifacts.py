"""Artifacts are found again by kind and key, and deleted together with their text."""

from pathlib import Path

from readagent_core.document import Document, Paragraph
from readagent_core.library import Library


def test_an_artifact_is_saved_and_deleted_with_its_text(tmp_path: Path) -> None:
    library = Library(tmp_path)
    book = library.add(Document("A", (Paragraph("One. Two."),)))
    shelf = library.shelf(book.document_id)
    assert shelf.load("tree", "m1") is None
    shelf.save("tree", "m1", {"nodes": ["é", 1]})
    shelf.save("tree", "m1", {"nodes": ["雪", 2]})
    library.save_artifact(book.document_id, "tree", "m2", [1])
    assert Library(tmp_path).artifact(book.document_id, "tree", "m1") == {"nodes": ["雪", 2]}
    assert shelf.load("tree", "m2") == [1]
    library.remove(book.id)
    library.purge()
    assert library.artifact(book.document_id, "tree", "m1") is None
    library.close()
