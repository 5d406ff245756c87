"""Notes as files: nothing in them becomes mark-up or a formula, and the JSON comes back as it went."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from readagent_core.companion.marks import PlacedMarks, import_marks, make_mark, place_marks
from readagent_core.document import Document, Paragraph, Section
from readagent_core.errors import DocumentError, SettingsError
from readagent_core.export.marked import notes_list
from readagent_core.export.memory import export_memory
from readagent_core.export.notes import (
    export_all_notes,
    export_notes,
    from_json,
    notes_file_name,
    to_csv,
    to_json,
    to_markdown,
    to_readwise,
)
from readagent_core.library.marks import ANSWER, BOOKMARK, COLOURS, HIGHLIGHT, NOTE, Mark, Spot
from readagent_core.library.records import Book
from tests.export.test_memory import unpacked
from tests.recordings import make_memory

HOSTILE = (
    "---\n# Not a heading\n<script>alert(1)</script> ![p](http://x/p.png) [[link]] %%hidden%% =1+1\r> q\n    code\n1. x"
)
BOOK = Book("b", "d", "The Lamp", "A. Writer", "en", "pdf", 9, source_name="lamp.pdf")
DOCUMENT = Document(
    "The Lamp",
    (
        Paragraph("He lit the lamp.", "p. 3"),
        Paragraph("She did not see it, or so she said.", "p. 4"),
        Paragraph("Then it rained."),
    ),
    (Section("One", 0), Section("Two", 2)),
)
ANSWERED = {
    "exchange_id": "e",
    "question": "Who lit it?",
    "signature": "a model",
    "signed_by": "model",
    "text": "He did [1].",
    "pieces": [{"text": "He did", "citations": [0]}, {"text": ".", "citations": []}],
    "citations": [
        {"page": 1, "state": "page", "claim": "He did", "quotation": "He lit the lamp", "exact": "He lit the lamp"}
        | {"prefix": "", "suffix": ".", "paragraph": 0, "offset": 0}
    ],
}


def marks_made():
    return (
        make_mark(DOCUMENT, "b", ANSWER, Spot(0, 0), Spot(0, 15), answer=ANSWERED),
        make_mark(DOCUMENT, "b", NOTE, Spot(0, 7), Spot(1, 18), colour="leaf", note="Why?\n\nAsk again."),
        make_mark(DOCUMENT, "b", BOOKMARK, Spot(1, 0), Spot(1, 0)),
        make_mark(DOCUMENT, "b", HIGHLIGHT, Spot(2, 0), Spot(2, 7), colour="rose"),
    )


def hostile_marks():
    answer = {**ANSWERED, "text": HOSTILE, "question": HOSTILE, "signature": HOSTILE}
    answer["citations"] = [{**ANSWERED["citations"][0], "quotation": HOSTILE}]
    answer["pieces"] = [{"text": HOSTILE[1:], "citations": [0]}]
    texts = {"exact": HOSTILE, "note": HOSTILE, "section": HOSTILE, "suffix": HOSTILE}
    return tuple(replace(mark, **texts, answer=mark.answer and answer) for mark in marks_made())


def page_of(paragraph):
    return (15, None, 16)[paragraph]


def test_markdown_has_a_heading_a_chapter_and_the_note_under_its_words():
    lost = (replace(marks_made()[3], exact="gone words"),)
    text = to_markdown(BOOK, DOCUMENT, PlacedMarks(marks_made(), lost), page_of=page_of)
    front, body = text.removeprefix("---\n").split("\n---\n")
    values = dict(line.split(": ", 1) for line in front.splitlines())
    assert (json.loads(values["title"]), json.loads(values["author"])) == ("The Lamp", "A. Writer")
    assert json.loads(values["source"]) == BOOK.source_name
    assert body.startswith(
        "\n# The Lamp\n\nA. Writer\n\n## One\n\n> He lit the lamp …\n\n*Page 15 (p. 3 of the source)*"
        "\n\n**Who lit it?**\n\nHe did [page 1].\n\n*a model*\n"
    )
    assert "\n> She did not see it …\n\n*Page 15 (p. 3 of the source) · Leaf*\n\nWhy?\n\nAsk again.\n" in body
    assert "*Bookmark · p. 4*" in body
    assert body.endswith(
        "> Then it …\n\n*Page 16 · Rose*\n\n## Not found in this text\n\n> … gone words …\n\n*Two · Rose*\n"
    )
    cited = [{**ANSWERED["citations"][0], "quotation": "or so she said"}]
    quoting = replace(marks_made()[0], answer={**ANSWERED, "citations": cited})
    text = to_markdown(BOOK, DOCUMENT, PlacedMarks((quoting,)), page_of=page_of)
    assert "He did [page 1].\n\n> Page 1: “or so she said”\n\n*a model*\n" in text
    assert "Nothing is marked" in to_markdown(BOOK, DOCUMENT, PlacedMarks(), page_of=page_of)


def test_a_kept_answer_that_is_copied_says_its_sentence_once():
    """As the built-in reader answers: its claim is the quoted sentence, too short to search; evidence ends its text."""
    sentence = "He lit the lamp."
    copied = {
        **ANSWERED,
        "text": f'{sentence} [1]\n\nEvidence:\n[1] "{sentence}"',
        "pieces": [{"text": sentence, "citations": [0]}, {"text": " It was late.", "citations": []}],
        "citations": [{**ANSWERED["citations"][0], "state": "not found"}],
        "signed_by": "builtin",
    }
    marks = PlacedMarks((make_mark(DOCUMENT, "b", ANSWER, Spot(0, 0), Spot(0, 15), answer=copied),))
    markdown, table = (write(BOOK, DOCUMENT, marks, page_of=page_of) for write in (to_markdown, to_csv))
    assert (markdown.count("lit the lamp"), table.count("lit the lamp")) == (1, 1)
    assert "Evidence" not in markdown + table
    assert "\n> He lit the lamp. [page 1]\n\nIt was late.\n" in markdown
    assert "He lit the lamp. [page 1]" in table
    assert "Evidence" not in notes_list(marks.placed)


def test_a_hostile_book_or_note_is_only_letters_in_markdown():
    book = replace(BOOK, title=HOSTILE, author=f'"\n---\n{HOSTILE}')
    text = to_markdown(book, DOCUMENT, PlacedMarks(hostile_marks(), hostile_marks()), page_of=page_of)
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    assert [line.split(":")[0] for line in front.splitlines()] == ["title", "author", "source", "exported"]
    assert len(json.loads(front.splitlines()[1].removeprefix("author: "))) > 100
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(body)
    kinds = [token.type for token in tokens] + [child.type for token in tokens for child in token.children or ()]
    assert not {"html_block", "html_inline", "code_block", "fence", "image", "link_open", "hr"} & set(kinds)
    assert not {"ordered_list_open", "table_open", "softbreak", "s_open"} & set(kinds)
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert len(headings) == 1 + 1 + 1  # title, one chapter, the lost ones
    assert kinds.count("blockquote_open") == 8
    assert "%%" not in body
    assert "alert(1)" in body


def test_csv_has_a_row_a_mark_and_no_formula():
    bad = tuple(replace(mark, exact="=1+1", note="@SUM(A1)", section="-2", answer=None) for mark in marks_made())
    rows = list(csv.DictReader(io.StringIO(to_csv(BOOK, DOCUMENT, PlacedMarks(marks_made(), bad), page_of=page_of))))
    assert len(rows) == 8
    assert (rows[1]["page"], rows[1]["place in the source"], rows[1]["colour"]) == ("15", "p. 3", "leaf")
    assert (rows[1]["words"], rows[1]["note"]) == ("the lamp.\nShe did not see it", "Why?\n\nAsk again.")
    cut = make_mark(DOCUMENT, "b", BOOKMARK, Spot(1, 0), Spot(1, 18))
    (row,) = csv.DictReader(io.StringIO(to_csv(BOOK, DOCUMENT, PlacedMarks((cut,), ()), page_of=page_of)))
    assert row["words"] == "She did not see it …"
    assert (rows[0]["question"], rows[0]["answer"], rows[0]["answered by"]) == (
        "Who lit it?",
        "He did [page 1].",
        "a model",
    )
    assert [row["found"] for row in rows] == ["yes"] * 4 + ["no"] * 4
    assert {row["words"][0] + row["note"][0] + row["chapter"][0] for row in rows[4:]} == {"'''"}


def test_readwise_has_its_columns_and_no_bookmark(workspace):
    text = to_readwise(
        BOOK, DOCUMENT, PlacedMarks(marks_made(), (replace(marks_made()[3], exact="=1+1"),)), page_of=page_of
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["Highlight", "Title", "Author", "URL", "Note", "Location", "Date"]
    assert [row["Highlight"] for row in rows] == [
        "He lit the lamp",
        "the lamp.\nShe did not see it",
        "Then it",
        "'=1+1",
    ]
    assert rows[0]["Note"] == "Who lit it?\nHe did [page 1].\n(a model)"
    assert (rows[1]["Note"], rows[1]["Location"]) == ("Why?\n\nAsk again.", "15")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", rows[1]["Date"])
    assert export_all_notes(workspace, "readwise").decode() == text.splitlines()[0] + "\n"
    for title in ("One", "Two"):
        book = workspace.library.add(
            replace(DOCUMENT, title=title, paragraphs=(*DOCUMENT.paragraphs, Paragraph(title)))
        )
        workspace.library.put_mark(make_mark(DOCUMENT, book.id, HIGHLIGHT, Spot(2, 0), Spot(2, 7)))
    rows = list(csv.DictReader(io.StringIO(export_all_notes(workspace, "readwise").decode())))
    assert sorted(row["Title"] for row in rows) == ["One", "Two"]
    notes = export_all_notes(workspace, "md").decode()
    assert notes.count("> Then it …\n") == 2
    assert notes.count("---\n") == 2  # another front matter would be a heading
    assert len(export_all_notes(workspace, "csv").splitlines()) == 3


def test_the_json_is_a_web_annotation_collection_and_is_placed_in_another_library(workspace):
    library = workspace.library
    text = to_json(BOOK, DOCUMENT, marks_made())
    data = json.loads(text)
    assert (data["@context"], data["type"], data["total"]) == (
        "http://www.w3.org/ns/anno.jsonld",
        "AnnotationCollection",
        4,
    )
    item = data["first"]["items"][1]
    assert (item["type"], item["motivation"], item["target"]["styleClass"]) == ("Annotation", "commenting", "leaf")
    assert item["target"]["selector"]["type"] == "TextQuoteSelector"
    assert item["body"][0]["value"] == "Why?\n\nAsk again."
    book = library.add(replace(DOCUMENT, paragraphs=(Paragraph("A preface."), *DOCUMENT.paragraphs)))
    for source in (text, text.encode(), b"\xef\xbb\xbf" + text.encode()):
        import_marks(library, book.id, from_json(source).marks)
    stored = library.marks(book.id)
    assert [(m.kind, m.start.paragraph, m.exact, m.note, m.colour, m.answer) for m in stored] == [
        (m.kind, m.start.paragraph + 1, m.exact, m.note, m.colour, m.answer) for m in marks_made()
    ]
    assert list(from_json(export_notes(library, book.id, "json")).marks) == [
        replace(mark, book_id="") for mark in stored
    ]


spots = st.builds(Spot, st.integers(0, 99), st.integers(0, 99))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(
    st.builds(
        Mark, id=st.uuids().map(str), book_id=st.just(""), kind=st.sampled_from([HIGHLIGHT, NOTE, BOOKMARK]),
        colour=st.sampled_from(COLOURS), exact=words, prefix=words, suffix=words, start=spots, end=spots, note=words,
        section=words, created=st.just("2026-01-01T00:00:00+00:00"), changed=st.just("2026-01-02T00:00:00+00:00"),
        answer=st.none(),
    )
)  # fmt: skip
@settings(max_examples=60, derandomize=True)
def test_every_mark_comes_back_from_json_and_breaks_no_format(mark):
    assert from_json(to_json(BOOK, DOCUMENT, [mark])).marks == (mark,)
    lines = to_csv(BOOK, DOCUMENT, PlacedMarks((), (mark,)), page_of=page_of)
    assert len(list(csv.reader(io.StringIO(lines, newline="")))) == 2
    text = to_markdown(BOOK, DOCUMENT, PlacedMarks((), (mark,)), page_of=page_of)
    assert [line for line in text.splitlines() if line.startswith("#")] == ["# The Lamp", "## Not found in this text"]


def test_annotations_of_other_programs_are_read():
    quote = {
        "type": "TextQuoteSelector",
        "exact": "She did not see it",
        "suffix": ", or so she said.\nThen it rained, and then " + "x" * 99,
    }
    position = {"type": "TextPositionSelector", "start": 1, "end": 2}
    items = [
        {
            "type": "Annotation",
            "id": "https://example.org/1",
            "target": [{"source": "s", "selector": [position, quote]}],
        },
        {
            "type": "Annotation",
            "bodyValue": "To check",
            "target": {"source": "s", "selector": quote},
            "created": "2024-05-01T10:00:00Z",
        },
        {
            "type": "Annotation",
            "body": [{"type": "TextualBody", "value": "On all of it"}],
            "target": "https://example.org/",
        },
    ]
    marks = from_json(json.dumps({"type": "AnnotationPage", "items": items})).marks
    assert [(mark.kind, mark.note) for mark in marks] == [(HIGHLIGHT, ""), (NOTE, "To check"), (NOTE, "On all of it")]
    assert marks[1].changed == "2024-05-01T10:00:00+00:00"
    assert [mark.id for mark in from_json(json.dumps(items)).marks] == [
        mark.id for mark in marks
    ]  # the same at every import
    placed = place_marks(marks, DOCUMENT)
    assert [mark.start for mark in placed.placed] == [Spot(1, 0)] * 2
    assert [mark.note for mark in placed.lost] == ["On all of it"]


def damaged(**changes):
    data = json.loads(to_json(BOOK, DOCUMENT, marks_made()[:1]))
    data["first"]["items"][0] |= changes
    return json.dumps(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[" * 100_000,
        b"\xff\xfe\x00",
        '{"format": "readagent gist memory"}',
        "[5]",
        json.dumps([{"type": "Annotation", "target": {"selector": {"type": "TextQuoteSelector", "exact": 5}}}]),
        json.dumps([{"type": "Annotation"}] * 10_001),
        damaged(target={"selector": {"type": "TextQuoteSelector", "exact": "x" * 100_001}}),
        damaged(readagent={"start": [-1, 0]}),
        damaged(readagent={"start": [0, 1e300]}),
        damaged(readagent={"answer": {"text": "no more"}}),
        damaged(readagent={"answer": {**ANSWERED, "pieces": [{"text": "a", "citations": [7]}]}}),
        damaged(readagent={"answer": {**ANSWERED, "citations": [{"page": "1"}]}}),
    ],
)
def test_what_has_no_notes_is_refused_in_words(text):
    with pytest.raises(DocumentError) as told:
        from_json(text)
    assert len(str(told.value)) > 30


def test_one_damaged_note_costs_no_other_and_a_date_costs_none():
    data = json.loads(to_json(BOOK, DOCUMENT, marks_made()[:2]))
    items = data["first"]["items"]
    items[0]["created"], items[1]["created"] = "yesterday", "0001-01-01T00:00:00+14:00"
    odd = {
        "id": 7,
        "type": "Annotation",
        "motivation": {"id": "highlighting"},
        "body": {"type": "TextualBody", "value": None},
        "target": {
            "styleClass": {"name": "yellow"},
            "selector": {"type": ["TextQuoteSelector"], "exact": "the lamp", "prefix": None},
        },
    }
    read = from_json(json.dumps([*items, {"type": "Annotation", "body": [{"value": 5}]}, odd]))
    assert [mark.created for mark in read.marks] == ["", "", ""]
    assert read.marks[-1].exact == "the lamp"
    assert read.damaged == (3,)


def test_a_quotation_that_refines_another_selector_is_found():
    quote = {"type": "TextQuoteSelector", "exact": "the lamp"}
    selector = {"type": "FragmentSelector", "value": "epubcfi(/6/4)", "refinedBy": {"type": "X", "refinedBy": quote}}
    (mark,) = from_json(json.dumps([{"type": "Annotation", "target": {"source": "s", "selector": selector}}])).marks
    assert mark.exact == "the lamp"


def test_the_page_numbers_are_those_of_the_reading(workspace):
    memory = make_memory([p.text for p in DOCUMENT.paragraphs], title="The Lamp")
    book = workspace.library.add(memory.document)
    workspace.library.put_mark(make_mark(memory.document, book.id, HIGHLIGHT, Spot(2, 0), Spot(2, 7)))
    assert b"*Page 3*" in export_notes(workspace.library, book.id, "md", memory=memory)
    assert b"Page" not in export_notes(workspace.library, book.id, "md")
    assert notes_file_name(book, "md") == "the-lamp-notes.md"
    with pytest.raises(SettingsError, match="md, json, csv"):
        export_notes(workspace.library, book.id, "docx")


def test_the_html_and_epub_exports_show_marks():
    texts = [p.text for p in DOCUMENT.paragraphs]
    memory = make_memory(texts, title="The Lamp", per_page=2)
    lost = (replace(marks_made()[3], exact="gone words"),)
    placed = place_marks(marks_made(), memory.document)
    page = export_memory(memory, "html", marks=PlacedMarks(placed.placed, lost)).decode()
    assert (
        '<p>He lit <mark class="leaf">the lamp.</mark></p><p><mark class="leaf">She did not see it</mark>, or' in page
    )
    assert '<p><mark class="rose">Then it</mark> rained.</p>' in page
    assert page.count("<p>Why?</p><p>Ask again.</p>") == 1
    assert "<b>Who lit it?</b>" in page
    assert "gone words" in page
    parts = "".join(unpacked(export_memory(memory, "epub", marks=PlacedMarks(placed.placed, lost))).values())
    for words in ("<p>Ask again.</p>", "Who lit it?", "Bookmark", "gone words", "Then it"):
        assert words in parts
    hostile = PlacedMarks(hostile_marks(), hostile_marks())
    assert "<script" not in export_memory(memory, "html", marks=hostile).decode()
    assert "<script" not in "".join(unpacked(export_memory(memory, "epub", marks=hostile)).values())
    assert "<mark" not in export_memory(memory, "html").decode()


def test_marks_that_overlap_or_reach_over_a_page_are_highlighted_in_each():
    memory = make_memory(["One two three four.", "Five six."])
    marks = [
        make_mark(memory.document, "b", HIGHLIGHT, Spot(0, 4), Spot(0, 13), colour="sky"),
        make_mark(memory.document, "b", HIGHLIGHT, Spot(0, 8), Spot(1, 4), colour="rose"),
    ]
    page = export_memory(memory, "html", marks=place_marks(marks, memory.document)).decode()
    assert (
        '<p>One <mark class="sky">two </mark><mark class="rose">three</mark><mark class="rose"> four.</mark></p>'
        in page
    )
    assert '<p><mark class="rose">Five</mark> six.</p>' in page


def test_a_bookmark_is_no_highlight_and_a_book_s_italics_stay_italics():
    quoted = make_mark(DOCUMENT, "b", HIGHLIGHT, Spot(2, 0), Spot(2, 7))
    marks = (replace(marks_made()[2], exact="She did", suffix=""), replace(quoted, exact="the *Second Wife*, 2*3"))
    told = to_readwise(BOOK, DOCUMENT, PlacedMarks(marks), page_of=page_of)
    assert [row["Highlight"] for row in csv.DictReader(io.StringIO(told))] == ["the *Second Wife*, 2*3"]
    story = replace(DOCUMENT, format="markdown")
    for write, column in ((to_readwise, "Highlight"), (to_csv, "words")):
        rows = csv.DictReader(io.StringIO(write(BOOK, story, PlacedMarks(marks), page_of=page_of)))
        assert [row[column] for row in rows][-1] == "the Second Wife, 2*3"
    assert to_csv(BOOK, story, PlacedMarks(), page_of=page_of).startswith(
        "\ufeffbook"
    )  # else Excel garbles its letters
    text = to_markdown(BOOK, replace(DOCUMENT, format="markdown"), PlacedMarks(marks), page_of=page_of)
    assert "\n> She did …\n" in text
    assert "\n> … the *Second Wife*, 2\\*3 …\n" in text
