"""The samples, made into every format, give back the same paragraphs and sections; no word lost, none added."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import pytest

from readagent_core.document import Document
from readagent_core.loaders import load
from tests.loaders.making import NAMES, Press, as_docx, as_epub, as_html, as_text, plain, sample

PRESSES = {
    "two columns": Press(columns=2, size=9, indent=9),
    "gaps": Press(indent=0, hyphens=False),
    "no header": Press(header=False),
}


def texts(document: Document) -> list[str]:
    return [plain(p.text) for p in document.paragraphs]


def sections(document: Document) -> list[tuple[str, int]]:
    return [(s.title, s.start) for s in document.sections]


def units(document: Document) -> list[str]:
    """Words; characters where words are not spaced."""
    text = " ".join(texts(document) + [s.title for s in document.sections])
    return list(re.sub(r"\s", "", text)) if document.language == "ja" else text.split()


def kept_and_foreign(original: Document, made: Document) -> tuple[float, float]:
    """Percent of the original's words that are there in order, and of words that are not the book's."""
    before, after = units(original), units(made)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return 100 * same / len(before), 100 * (len(after) - same) / len(after)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("make", "file_name"),
    [(as_text, "book.txt"), (as_html, "book.html"), (as_epub, "book.epub"), (as_docx, "book.docx")],
    ids=["text", "html", "epub", "docx"],
)
def test_same_paragraphs_and_sections(name, make, file_name):
    original = sample(name)
    made = load(make(original), file_name)
    assert texts(made) == texts(original)
    assert sections(made) == sections(original)
    assert (made.title, made.author, made.language) == (original.title, original.author, original.language)


def test_wrapped_text_is_unwrapped():
    original = sample("the-keeper-of-harrow-light")
    made = load(as_text(original, wrap=68), "book.txt")
    assert [" ".join(t.split()) for t in texts(made)] == [" ".join(t.split()) for t in texts(original)]
    assert sections(made) == sections(original)


@pytest.mark.parametrize(("name", "press"), zip((NAMES[0], *NAMES[:2]), PRESSES.values(), strict=True), ids=PRESSES)
def test_pdf_keeps_every_word(name, press):
    original = sample(name)
    made = load(press(original), "book.pdf")
    kept, foreign = kept_and_foreign(original, made)
    assert kept >= 99.5
    assert foreign <= 0.5
    assert [s.title for s in made.sections] == [s.title for s in original.sections]


@pytest.mark.parametrize("name", NAMES)
def test_pdf_gives_the_same_paragraphs_and_sections(name):
    original = sample(name)
    made = load(Press()(original), "book.pdf")
    assert texts(made) == texts(original)
    assert sections(made) == sections(original)
    assert all(p.place.startswith("p. ") for p in made.paragraphs)
    assert (made.title, made.author) == (original.title, original.author)
