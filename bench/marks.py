"""500 marks in a book of 1000 pages: placed after another page size, and after 5 % of the paragraphs were changed.

Prints how many marks are placed, on the right words where their paragraph is as it was, and the time it takes. A mark
whose paragraph was removed cannot be placed.

    python -m bench.marks
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from readagent_core.companion.marks import import_marks, place_marks, placed_marks
from readagent_core.export.notes import export_notes, from_json
from readagent_core.library import Library
from readagent_core.library.marks import Spot
from tests.incoming.changing import changed, long_book, marks_in, words_between

MARKS = 500
PARAGRAPHS = 3400
PAGES = (600, 350, 100, 40)  # most words of a paragraph: what a page size splits
SEEDS = 5


def timed(what: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the milliseconds it took."""
    began = time.perf_counter()
    result = what()
    return result, 1000 * (time.perf_counter() - began)


def main() -> None:
    book = long_book(0, paragraphs=PARAGRAPHS)
    marks = marks_in(book, MARKS, 0)
    print(f"{book.words:,} words, {len(book.paragraphs):,} paragraphs, {len(marks)} marks")
    for most in PAGES:
        shown = book.limited(most)
        result, first = timed(lambda shown=shown: place_marks(marks, shown))
        _, again = timed(lambda shown=shown: place_marks(marks, shown))
        right = sum(words_between(shown, mark.start, mark.end) == mark.exact for mark in result.placed)
        print(
            f"paragraphs of up to {most} words: {right} of {MARKS} on their words, {first:.0f} ms, again {again:.0f} ms"
        )
    for seed in range(SEEDS):
        other, moved = changed(book, 0.05, seed)
        result, first = timed(lambda other=other: place_marks(marks, other))
        found = {mark.id: mark for mark in result.placed}
        sure = [m for m in marks if m.start.paragraph == m.end.paragraph and moved[m.start.paragraph] is not None]
        right = sum(
            m.id in found and found[m.id].start == Spot(moved[m.start.paragraph] or 0, m.start.offset) for m in sure
        )
        print(
            f"5 % of the paragraphs changed: {len(result.placed)} of {MARKS} placed, {len(result.lost)} listed; "
            f"in unchanged paragraphs {right} of {len(sure)} right; {first:.0f} ms"
        )
    foreign, milliseconds = timed(lambda: place_marks(marks, long_book(9, paragraphs=PARAGRAPHS)))
    print(f"in another book: {len(foreign.lost)} of {MARKS} listed, {milliseconds:.0f} ms")
    with TemporaryDirectory() as home:
        library = Library(Path(home))
        added = library.add(book)
        library.put_mark(*(replace(mark, book_id=added.id) for mark in marks))
        _, milliseconds = timed(lambda: placed_marks(library, added.id, book))
        text, exported = timed(lambda: export_notes(library, added.id, "json"))
        other_book = library.add(changed(book, 0.05, 1)[0])
        done, imported = timed(lambda: import_marks(library, other_book.id, from_json(text)))
        print(
            f"from the library: {milliseconds:.0f} ms; as JSON: {exported:.0f} ms; imported for a changed text: "
            f"{len(done.added)} marks, {done.lost} not found, {imported:.0f} ms"
        )
        library.close()


if __name__ == "__main__":
    main()
