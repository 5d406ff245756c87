"""Documents: the same id after splitting, nothing lost in a round trip, titles above their text.

The fast JSON they are written in is the standard library's, for everything that is written or comes in.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.document import Document, Figure, Notice, Paragraph, Section, Span, SpanKind
from readagent_core.export.memory import join_paragraphs
from readagent_core.quick_json import from_json, to_json

PARAGRAPHS = st.lists(st.text(alphabet="ab c.雪駅。\n", min_size=1, max_size=120), min_size=1, max_size=12)


@st.composite
def documents(draw):
    texts = draw(PARAGRAPHS)
    places = st.tuples(st.integers(0, len(texts) - 1), st.booleans(), st.sampled_from(["", "a lamp"]))
    figures = [Figure(at, after, alt, caption=at) for at, after, alt in sorted(draw(st.lists(places, max_size=4)))]
    starts = sorted(draw(st.lists(st.integers(0, len(texts) - 1), max_size=5)))

    def spans(text):
        ends = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
        note = Span(ends[1], ends[1], SpanKind.NOTE, "1", draw(st.integers(0, len(texts) - 1)))
        return draw(st.sampled_from([(), (Span(*ends, SpanKind.LINK, "https://example.org/a"), note)]))

    return Document(
        "T",
        tuple(Paragraph(t, f"p. {i}", note=i % 2 > 0, spans=spans(t)) for i, t in enumerate(texts)),
        tuple(Section(f"S{i}", s, 1 + i % 3) for i, s in enumerate(starts)),
        author="A",
        language="ja",
        warnings=(Notice("x", "y", 3),),
        figures=tuple(figures),
    )


@given(documents())
def test_round_trip_and_the_section_of_a_paragraph_is_the_last_that_has_started(document):
    assert Document.from_dict(json.loads(json.dumps(document.to_dict()))) == document
    for index in range(len(document.paragraphs)):
        started = [s for s in document.sections if s.start <= index]
        assert document.section_of(index) == (started[-1] if started else None)


@given(documents(), st.integers(1, 20))
def test_limiting_splits_but_keeps_the_text_and_the_id(document, limit):
    limited = document.limited(limit)
    assert limited.id == document.id
    assert all(p.words <= limit for p in limited.paragraphs)
    assert limited.text() == document.text()
    assert limited.limited(limit) == limited
    assert [s.title for s in limited.sections] == [s.title for s in document.sections]
    for before, after in zip(document.sections, limited.sections, strict=True):
        assert not limited.paragraphs[after.start].continues
        assert document.paragraphs[before.start].text.startswith(limited.paragraphs[after.start].text)
    for before, after in zip(document.figures, limited.figures, strict=True):
        assert not limited.paragraphs[after.caption].continues
        assert document.paragraphs[before.caption].text.startswith(limited.paragraphs[after.caption].text)
    assert [len(v) for v in limited.references_to.values()] == [len(v) for v in document.references_to.values()]
    for before, after in zip(document.paragraphs, join_paragraphs(limited).paragraphs, strict=True):
        wide = {span for span in before.spans if span.start < span.end or span.kind == SpanKind.NOTE}
        assert (wide, before.text, before.note) == (set(after.spans) & wide, after.text, after.note)


def test_figures_are_with_their_paragraph_and_change_no_id():
    plain = Document("T", (Paragraph("a"), Paragraph("b")), (Section("Part", 1),))
    shown = replace(plain, figures=(Figure(0, after=True), Figure(1, alt="A lamp")))
    assert shown.text() == "a\n\n[figure]\n\n## Part\n\n[figure: A lamp]\n\nb"
    assert shown.shown(1)[shown.text_offset(1) :] == "b"
    assert shown.id == plain.id
    older = {name: value for name, value in plain.to_dict().items() if name != "figures"}
    assert Document.from_dict(older) == plain


def test_titles_are_above_their_paragraph():
    document = Document("T", (Paragraph("a"), Paragraph("b")), (Section("Part", 1, 1), Section("One", 1, 2)))
    assert document.text() == "a\n\n## Part\n\n### One\n\nb"
    with pytest.raises(ValueError, match="version"):
        Document.from_dict({"version": 99})


TEXT = st.text(st.characters(codec=None, categories=None), max_size=20)  # half characters too
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_goes_out_or_the_standard_library_wrote_comes_back(value):
    line = to_json(value)
    assert b"\n" not in line
    assert json.loads(line.decode()) == value == from_json(line) == from_json(line.decode())
    assert from_json(json.dumps(value, indent=1)) == from_json(json.dumps(value).encode()) == value


def test_json_of_large_numbers_other_keys_and_broken_text():
    assert to_json(-(2**63) - 1) == b"-9223372036854775809"
    assert from_json(b"-9223372036854775809") == -(2.0**63)  # read about
    assert to_json({"b": 1, "a": (2, 3)}) == b'{"b":1,"a":[2,3]}'  # keys stay in their order
    assert from_json(to_json({1: "one"})) == {"1": "one"}
    assert from_json(b'{"a": "\xff"}') == {"a": "\ufffd"}
    for broken in (b"", b"{", b'{"a": }', b"\xff", "nothing"):
        with pytest.raises(ValueError, match=r"."):
            from_json(broken)


def test_a_text_stored_by_an_older_version_is_divided_as_before():
    """Saved readings refer to these paragraphs; files imported now come with their long runs divided already."""
    document = Document("B", (Paragraph("a" * 5_000), Paragraph("Short. " * 30)))
    assert document.words > 600
    assert [len(p.text) for p in document.limited(20).paragraphs] == [5_000, 140, 70]


def test_text_for_models_has_no_spans_and_what_could_do_harm_is_refused():
    ruby = Paragraph("漢字を学ぶ。", spans=(Span(0, 2, SpanKind.RUBY, "かんじ"),))
    document = Document("T", (ruby, Paragraph("A note.", note=True)))
    assert "かんじ" not in document.text()
    assert document.words == Document("T", (Paragraph(ruby.text),)).words + 2
    for kind, text, target in [
        ("formula", "<math><mi>x</mi><script>a</script></math>", None),
        ("formula", '<math><mi href="javascript:a">x</mi></math>', None),
        ("link", "javascript:alert(1)", None),
        ("link", "file:///etc/passwd", None),
        ("note", "1", 2),
    ]:
        data = document.to_dict()
        data["paragraphs"][0][-1] = [[0, 2, kind, text, target]]
        with pytest.raises(ValueError, match="does not fit"):
            Document.from_dict(data)
    old = {**document.to_dict(), "paragraphs": [["One.", "p. 1", False], ["Two.", "", True, 0.5]]}
    assert [p.spans for p in Document.from_dict(old).paragraphs] == [(), ()]


def test_every_notice_says_whether_text_is_doubtful_left_out_or_kept():
    kinds = {code: Notice(code, "").kind.value for code in ("undecodable", "hidden", "kept-note", "article")}
    assert kinds == {"undecodable": "doubtful", "hidden": "left-out", "kept-note": "kept", "article": "source"}
