"""Marks: made, placed in a text that is split otherwise or was changed, and imported."""

from __future__ import annotations

from dataclasses import replace
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.citations.placing import PlainText, Quote
from readagent_core.companion.marks import (
    change_mark,
    import_marks,
    make_mark,
    place_marks,
    placed_marks,
    undo_import,
)
from readagent_core.document import Document, Paragraph, Section
from readagent_core.errors import NotInLibraryError
from readagent_core.library.marks import BOOKMARK, HIGHLIGHT, NOTE, Spot
from tests.incoming.changing import changed, ids, long_book, marks_in, words_between

LONG = "The café was ﬁlled with oﬃcers, and naïve people stayed a long while there."
LAMP = (
    "The keeper climbed the stairs at dusk, as he had done for thirty years, and counted every step.",
    "“Is the lamp lit?” she called from below. He did not answer her, for the oil was low again that night.",
    "In the morning the sea lay flat and grey, and a small boat was drifting towards the rocks.",
)


def document_of(*texts):
    sections = (Section("One", 0), Section("Two", 2))
    return Document("The Lamp", tuple(map(Paragraph, texts)), tuple(s for s in sections if s.start < len(texts)))


def mark_on(document, words, *, kind=HIGHLIGHT, **more):
    """A mark on the first place of ``words``, which are in one paragraph."""
    index = next(i for i, p in enumerate(document.paragraphs) if words in p.text)
    at = document.paragraphs[index].text.index(words)
    return make_mark(document, "b", kind, Spot(index, at), Spot(index, at + len(words)), **more)


@given(
    texts=st.lists(st.text(min_size=1, max_size=90).filter(str.strip), min_size=1, max_size=6),
    ends=st.lists(st.tuples(st.integers(-1, 7), st.integers(-1, 99)), min_size=2, max_size=2),
    limit=st.integers(1, 30),
)
@settings(max_examples=150, derandomize=True)
def test_a_mark_is_placed_on_its_words_whatever_the_page_size(texts, ends, limit):
    whole = document_of(*texts)
    for made_in in (whole, whole.limited(limit)):
        mark = make_mark(made_in, "b", HIGHLIGHT, *(Spot(*end) for end in ends))
        assert mark.exact == mark.exact.strip()
        for shown in (whole, whole.limited(limit), whole.limited(2 * limit)):
            placed = place_marks([mark], shown)
            if mark.exact or mark.prefix or mark.suffix:
                (found,) = placed.placed
                assert words_between(shown, found.start, found.end) == mark.exact
            else:
                assert placed.lost == (mark,)


def test_marks_of_a_long_book_survive_other_pages_and_a_corrected_text():
    book = long_book(1, paragraphs=400)
    marks = marks_in(book, 120, 1)
    for limit in (350, 40):
        shown = book.limited(limit)
        placed = place_marks(marks, shown).placed
        assert [words_between(shown, mark.start, mark.end) for mark in placed] == [mark.exact for mark in marks]
    other, moved = changed(book, 0.05, 1)
    result = place_marks(marks, other)
    assert len(result.placed) >= 0.95 * len(marks)
    assert ids(result.placed) | ids(result.lost) == ids(marks)
    found = {mark.id: mark for mark in result.placed}
    unchanged = [m for m in marks if m.start.paragraph == m.end.paragraph and moved[m.start.paragraph] is not None]
    assert len(unchanged) > 60
    for mark in unchanged:
        place = moved[mark.start.paragraph]
        assert found[mark.id].start == Spot(place, mark.start.offset)
        assert found[mark.id].end == Spot(place, mark.end.offset)


KEPT = "for the oil was low again"


@pytest.mark.parametrize(
    ("words", "before", "after", "there"),
    [
        (KEPT, "low again", "quite low again", "for the oil was quite low again"),
        (KEPT, "for the", "because the", "because the oil was low again"),  # its first word
        (KEPT, "low again", "low indeed", "for the oil was low indeed"),  # its last word
        (KEPT, "answer her,", "reply to her at all, however,", KEPT),
        ("lamp", "“Is the lamp lit?” she", "‘Is the lamp lit?’ she", "lamp"),
        ("“Is the lamp lit?”", "“Is the lamp lit?” she", "‘Is the lamp lit?’ she", "Is the lamp lit"),
        ("Is the lamp lit?", " she called", " she cried", "Is the lamp lit?"),
        ("did not answer her, for", "He did not", "He\ndid\xa0not", "did\xa0not answer her, for"),
    ],
)
def test_words_that_were_changed_a_little_are_found(words, before, after, there):
    old = document_of(*LAMP)
    new = document_of(*["A new first paragraph."] * 30, *(text.replace(before, after) for text in LAMP))
    (placed,) = place_marks([mark_on(old, words)], new).placed
    assert words_between(new, placed.start, placed.end) == there
    assert placed.exact == words


def test_a_mark_over_paragraphs_that_were_split_or_joined():
    old = document_of(*LAMP)
    mark = make_mark(old, "b", NOTE, Spot(0, 75), Spot(2, 14), note="here")
    assert mark.exact.splitlines()[1] == LAMP[1]
    at = LAMP[1].index(" He did")
    for new in (document_of(LAMP[0], LAMP[1][:at], LAMP[1][at + 1 :], LAMP[2]), document_of(" ".join(LAMP))):
        (placed,) = place_marks([mark], new).placed
        assert words_between(new, placed.start, placed.end).replace("\n", " ") == mark.exact.replace("\n", " ")


def test_of_the_same_words_twice_those_with_the_same_context_are_taken():
    text = "He lit the lamp and slept. She lit the lamp and wept. They lit the lamp and sang."
    old = document_of(text)
    at = text.index("the lamp and wept")
    mark = make_mark(old, "b", HIGHLIGHT, Spot(0, at), Spot(0, at + 8))
    new = document_of(
        "They lit the lamp and sang. He lit the lamp and slept.", "Then came she. She lit the lamp and wept."
    )
    (placed,) = place_marks([mark], new).placed
    assert placed.start == Spot(1, len("Then came she. She lit "))


def test_of_the_same_words_many_times_the_nearest_are_taken():
    """Where the context is the same too, or is gone."""
    refrain = "The lamp was lit, and the boats came home."
    for other in (False, True):
        old = document_of(*[f"{refrain} Night after night." for _ in range(60)])
        mark = make_mark(old, "b", HIGHLIGHT, Spot(30, 0), Spot(30, len(refrain)))
        new = document_of(
            "A line that was added.",
            *[f"So: {refrain} {n} nights." if other else f"{refrain} Night after night." for n in range(60)],
        )
        (placed,) = place_marks([mark], new).placed
        near = abs(placed.start.paragraph - 30)
        assert words_between(new, placed.start, placed.end) == refrain
        assert near <= 1, placed.start


def test_japanese_words_are_found_after_a_change():
    old = document_of("駅の灯りが雪に消えた。彼女は切符を握りしめ、来ない汽車を待っていた。誰もいなかった。")
    new = document_of(
        "新しい段落。", "駅の灯りが雪に消えた。彼女は古い切符を握りしめ、来ない汽車を待っていた。誰もいなかった。"
    )
    (placed,) = place_marks([mark_on(old, "切符を握りしめ、来ない汽車を待っていた")], new).placed
    assert words_between(new, placed.start, placed.end) == "切符を握りしめ、来ない汽車を待っていた"


def test_a_long_mark_with_changed_words_is_found_by_its_ends():
    book = long_book(3, paragraphs=60)
    mark = make_mark(book, "b", HIGHLIGHT, Spot(5, 0), Spot(20, len(book.paragraphs[20].text)))
    texts = [p.text for p in book.paragraphs]
    texts[12] = texts[12].replace(" ", "  ", 3) + " And one sentence more."
    (placed,) = place_marks([mark], document_of("New.", *texts)).placed
    assert (placed.start, placed.end) == (Spot(6, 0), Spot(21, len(texts[20])))


def test_what_is_not_in_the_text_is_lost_and_comes_back(workspace):
    library = workspace.library
    old, new = document_of(*LAMP), document_of(LAMP[0], LAMP[2], "The end of it, and nothing was said of the oil.")
    book = library.add(old, source_name="lamp.txt")
    library.put_mark(replace(mark_on(old, "He did not answer her"), book_id=book.id))
    kept = replace(mark_on(old, "a small boat was drifting"), book_id=book.id)
    library.put_mark(kept)
    assert library.add(new, source_name="lamp.txt").id == book.id  # a corrected file
    result = placed_marks(library, book.id, library.document(book.id))
    assert [mark.exact for mark in result.lost] == ["He did not answer her"]
    assert [(mark.start.paragraph, mark.section) for mark in result.placed] == [(1, "One")]
    assert placed_marks(library, book.id, old).lost == ()
    assert kept.section == "Two"


def test_a_bookmark_is_between_two_characters():
    old = document_of(*LAMP)
    new = document_of(
        "A preface.", *LAMP[:2], "In the evening the sea lay flat and grey, and a small boat was drifting."
    )
    for place, now in (((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 0), (3, 0)), ((1, 42), (2, 42))):
        mark = make_mark(old, "b", BOOKMARK, Spot(*place), Spot(*place))
        assert mark.exact == ""
        (placed,) = place_marks([mark], new).placed
        assert (placed.start.paragraph, placed.start.offset) == now
        assert placed.end == placed.start


def test_a_change_of_colour_or_note_is_undone_by_the_mark_as_it_was(workspace):
    library = workspace.library
    book = library.add(document_of(*LAMP))
    mark = replace(mark_on(document_of(*LAMP), "the oil"), book_id=book.id)
    library.put_mark(mark)
    assert change_mark(library, mark.id, note="Low?") == mark
    assert (library.mark(mark.id).kind, library.mark(mark.id).note) == (NOTE, "Low?")
    change_mark(library, mark.id, note="", colour="sky")
    assert (library.mark(mark.id).kind, library.mark(mark.id).colour) == (HIGHLIGHT, "sky")
    library.put_mark(mark)
    assert library.marks(book.id) == (mark,)
    with pytest.raises(NotInLibraryError):
        change_mark(library, "gone", colour="sky")


def test_an_import_adds_replaces_and_is_undone(workspace):
    library = workspace.library
    text = document_of(*LAMP)
    book = library.add(document_of("A preface to it.", *LAMP))
    known = replace(mark_on(text, "the oil", note="mine"), book_id=book.id, changed="2026-01-01T00:00:00+00:00")
    library.put_mark(known)
    later = replace(known, note="theirs", changed="2026-02-01T00:00:00+00:00")
    coming = [
        later,
        mark_on(text, "a small boat"),
        replace(mark_on(text, "thirty years"), exact="forty days", prefix="x", suffix=""),
    ]
    done = import_marks(library, book.id, coming)
    assert (len(done.added), done.replaced, done.lost) == (2, (known,), 1)
    assert [mark.note for mark in library.marks(book.id) if mark.id == known.id] == ["theirs"]
    boat = library.mark(coming[1].id)
    assert (boat.book_id, boat.start.paragraph, boat.section) == (book.id, 3, "Two")
    assert [mark.exact for mark in placed_marks(library, book.id, library.document(book.id)).lost] == ["forty days"]
    assert import_marks(library, book.id, coming).added == ()  # the same file again
    other = library.add(document_of("Another copy of it.", *LAMP))
    for _ in range(2):
        import_marks(library, other.id, coming)
        assert len(library.marks(other.id)) == len(library.marks(book.id)) == 3
    undo_import(library, done)
    assert library.marks(book.id) == (known,)


def test_a_bookmark_stays_before_the_word_after_it_where_those_before_it_changed():
    text = "The keeper of the light climbed the winding stair at dusk and lit the great lamp of the harbour again."
    plain = PlainText(Document("T", (Paragraph(text),)))
    before, after = text.replace("winding stair", "twisted steps").replace("great", "old").split("at dusk")
    assert plain.find(Quote("", before, f"at dusk{after}"), 3) == (text.index("at dusk"),) * 2


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        (normalize("NFD", LONG), LONG[4:40], normalize("NFD", LONG[4:40])),
        (normalize("NFKC", LONG), LONG[4:40], normalize("NFKC", LONG[4:40])),
        (LONG, normalize("NFKC", LONG[4:40]), LONG[4:40]),
        (
            "The hy\u00adphen\u00adated words of this line.",
            "hyphenated words of this",
            "hy\u00adphen\u00adated words of this",
        ),
        ("The a|b (c) [d] * of the end | x", "b (c) [d] * of the end | x", "b (c) [d] * of the end | x"),
    ],
)
def test_words_in_another_spelling_of_their_characters_are_found(text, words, found):
    plain = PlainText(Document("T", (Paragraph("Before."), Paragraph(text))))
    span = plain.find(Quote(words, "", ""), 3)
    assert span is not None
    assert plain.text[slice(*span)] == found
