"""What the reader sends of marks becomes marks of the library, and back; places count as browsers count."""

from __future__ import annotations

import pytest

from pages.parts.read.marks import make_change, mark_record
from readagent_core.companion.marks import placed_marks
from readagent_core.document import Document, Paragraph
from readagent_core.errors import NotInLibraryError
from readagent_core.library.marks import Mark, Spot

DOCUMENT = Document("Lamps", (Paragraph("🏮 The lamp 🏮 was lit."), Paragraph("It burned.")))
RECORD = {
    "id": "m1",
    "kind": "highlight",
    "colour": "rose",
    "start": [0, 7],
    "end": [0, 14],
    "note": "",
}  # UTF-16 code units


@pytest.fixture
def change(open_workspace):
    """``change(do, …)`` makes a change and returns the marks of the book."""
    workspace, removed = open_workspace(), dict[str, Mark]()
    book = workspace.library.add(DOCUMENT)

    def make(do: str, **values):
        make_change(workspace, book, DOCUMENT, {"do": do, "at": 1, **values}, removed=removed)
        return placed_marks(workspace.library, book.id, DOCUMENT).placed

    return make


def test_places_count_utf16_on_the_way_in_and_out(change):
    (mark,) = change("make", mark=RECORD)
    assert (mark.id, mark.exact, mark.start, mark.end) == ("m1", "lamp 🏮", Spot(0, 6), Spot(0, 12))
    record = mark_record(mark, DOCUMENT)
    assert {name: record[name] for name in RECORD} == RECORD


def test_a_mark_with_a_note_is_a_note_and_what_was_removed_is_restored(change):
    change("make", mark=RECORD)
    (mark,) = change("change", mark={"id": "m1", "note": "Who lit it?"})
    assert (mark.kind, mark.note, mark.colour) == ("note", "Who lit it?", "rose")
    (mark,) = change("change", mark={"id": "m1", "note": "", "colour": "sky"})
    assert (mark.kind, mark.note, mark.colour) == ("highlight", "", "sky")
    assert change("remove", id="m1") == ()
    assert change("remove", id="m1") == ()  # in another tab too
    assert change("restore", id="m1") == (mark,)
    change("make", mark={**RECORD, "id": "m2", "kind": "bookmark", "colour": "", "start": [1, 0], "end": [1, 5]})
    assert [m.kind for m in change("change", mark={"id": "m2", "note": "Here"})] == ["highlight", "bookmark"]


def test_a_place_that_the_text_has_not_is_refused(change):
    with pytest.raises(NotInLibraryError, match="not in the text"):
        change("make", mark={**RECORD, "start": [7, 0]})
