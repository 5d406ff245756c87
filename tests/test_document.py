"""Documents: the same id after splitting, nothing lost in a round trip, titles above their text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.document import Document, Notice, Paragraph, Section

PARAGRAPHS = st.lists(st.text(alphabet="ab c.雪駅。\n", min_size=1, max_size=120), min_size=1, max_size=12)


@st.composite
def documents(draw):
    texts = draw(PARAGRAPHS)
    starts = sorted(draw(st.lists(st.integers(0, len(texts) - 1), max_size=5)))
    return Document(
        "T",
        tuple(Paragraph(t, f"p. {i}") for i, t in enumerate(texts)),
        tuple(Section(f"S{i}", s, 1 + i % 3) for i, s in enumerate(starts)),
        author="A",
        language="ja",
        warnings=(Notice("x", "y", 3),),
    )


@given(documents())
def test_round_trip(document):
    assert Document.from_dict(json.loads(json.dumps(document.to_dict()))) == document


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


@given(documents())
def test_section_of_is_the_last_that_has_started(document):
    for index in range(len(document.paragraphs)):
        started = [s for s in document.sections if s.start <= index]
        assert document.section_of(index) == (started[-1] if started else None)


def test_titles_are_above_their_paragraph():
    document = Document("T", (Paragraph("a"), Paragraph("b")), (Section("Part", 1, 1), Section("One", 1, 2)))
    assert document.text() == "a\n\n## Part\n\n### One\n\nb"


def test_another_version_is_refused():
    with pytest.raises(ValueError, match="version"):
        Document.from_dict({"version": 99})
