"""Artifacts are found again by kind and key."""

from pathlib import Path

from readagent_core.document import Document, Paragraph
from readagent_core.library import Library


def test_an_artifact_is_saved_in_place_of_the_earlier_one(tmp_path: Path) -> None:
    library = Library(tmp_path)
    book = library.add(Document("A", (Paragraph("One. Two."),)))
    artifacts = library.artifacts(book.document_id)
    assert artifacts.load("tree", "m1") is None
    artifacts.save("tree", "m1", {"nodes": ["é", 1]})
    artifacts.save("tree", "m1", {"nodes": ["雪", 2]})
    artifacts.save("tree", "m2", [1])
    assert Library(tmp_path).artifacts(book.document_id).load("tree", "m1") == {"nodes": ["雪", 2]}
    assert artifacts.load("tree", "m2") == [1]
    library.close()
