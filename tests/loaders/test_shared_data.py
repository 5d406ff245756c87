"""Every file of the shared test data opens with its own words, or fails with the right error; skipped without it.

The counts of words are compared with what other programs counted (facts.json: PyMuPDF for PDF, all the text of the
XHTML for EPUB). Those count what we leave out on purpose: running headers and page numbers, the halves of words
hyphenated at line ends (two for our one), markers of notes, tables of contents, <title> elements. In these files
that comes to at most 3.5 % (a page of two narrow columns), and to a dozen words in the smallest ones. What we may
have beyond theirs is less: alternative texts of pictures, and outline titles that no page shows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from readagent_core.document import Document
from readagent_core.errors import (
    DamagedDocumentError,
    DocumentError,
    EmptyDocumentError,
    NoTextError,
    PasswordError,
    ProtectedDocumentError,
)
from readagent_core.loaders import FORMATS, load

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "documents"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared test data is not there")

LESS, FEW_LESS = 0.04, 15  # share of the other program's words, and words, that we may lack
MORE, FEW_MORE = 0.02, 15


@dataclass(frozen=True)
class Opens:
    """``says``: in this order in the text, with words near the beginning and the end.
    ``apart``: not in the text. ``spaced``: a language whose words can be counted by its spaces."""

    sections: int
    words: int
    says: tuple[str, ...]
    apart: tuple[str, ...] = ()
    spaced: bool = True


ALICE = ("Alice was beginning to get very tired", "Curiouser and curiouser!", "the happy summer days.")
LICENCE = ("START OF", "Gutenberg-tm electronic works", "Gutenberg™ electronic works")
LOREM = ("the length of words should match the language.",)
EXPECTED: dict[str, Opens | type[DocumentError]] = {
    "epub/broken-zip-truncated.epub": DamagedDocumentError,
    "epub/drm-encrypted-content.epub": ProtectedDocumentError,
    "epub/epub-ebooklib-test01.epub": Opens(2, 22, ("Introduction paragraph", "but this one is mine.")),
    "epub/epub2-alice-ncx-only.epub": Opens(12, 26379, ALICE, LICENCE),
    "epub/epub3-alice-illustrated.epub": Opens(
        10, 9673, ("Alice was beginning",), (*LICENCE, "[Cover", "[title", "[Illo")
    ),
    "epub/epub3-arabic-rtl.epub": Opens(11, 4716, ("(دروب الأمل)",), ("[titlepage]",)),
    "epub/epub3-childrens-literature.epub": Opens(
        28, 54256, ("192 THE REAL PRINCESS", "The Black Brothers."), ("[Cover Image]",)
    ),
    "epub/epub3-haruko-images-only.epub": Opens(4, 606, ("ちょっとした好奇心だった",), spaced=False),
    "epub/epub3-japanese-internallinks.epub": Opens(
        24,
        2178,
        ("MathML表示をサポートしました(Readium 0.19", "カバー画像"),
        ("[1]", "[2]"),
        spaced=False,
    ),
    "epub/epub3-time-machine-standardebooks.epub": Opens(
        14,
        32287,
        ("The Time Traveller", "the museum was built into the side of a hill."),
        ("Standard Ebooks",),
    ),
    "epub/epub3-wasteland-notes.epub": Opens(
        6,
        4558,
        ("Nam Sibyllam", "April is the cruellest month", "Shantih shantih shantih", "the content of this word."),
    ),
    "html/off-course-gutenberg.htm": Opens(0, 2713, ("Shure and begorra", "corrected without note."), LICENCE),
    "html/siddhartha-gutenberg.htm": Opens(
        16,
        39096,
        ("An Indian Tale by Hermann Hesse", "In the shade of the house", "valuable and holy to him in his life."),
        LICENCE,
    ),
    "html/web-page-thumbtack.html": Opens(6, 1103, ("Refer a friend", "Thumbtack Guarantee"), ("function(", "{")),
    "pdf/arabic-rtl.pdf": Opens(0, 3, ("حَبيبي", "habibi حَبيبي")),
    "pdf/book-alice-gutenberg.pdf": Opens(12, 26370, (*ALICE, "THE END"), LICENCE),
    "pdf/corrupt-xref.pdf": Opens(0, 1, ("Potato",)),
    "pdf/encrypted-owner-only-r6.pdf": Opens(0, 5, ("pdf encryption test password",)),
    "pdf/encrypted-user-password.pdf": PasswordError,
    "pdf/form-latex.pdf": Opens(0, 6, ("Name Check [ ] Submit",)),
    "pdf/images-only.pdf": NoTextError,
    "pdf/japanese-vertical.pdf": Opens(0, 3, ("Test Vertical Layout",)),
    "pdf/ligatures-copy-paste.pdf": Opens(0, 1, ("abcdeffffiflffifflſtstghijklmno",)),
    "pdf/outline-latex.pdf": Opens(9, 1364, LOREM),
    "pdf/outline-mistitled.pdf": Opens(20, 1364, LOREM),
    "pdf/rotated-page.pdf": Opens(1, 10, ("test",)),
    "pdf/scan-with-ocr-layer.pdf": Opens(0, 2282, ("did not last long; it became too conspicuous and dangerous",)),
    "pdf/scanned-image-only-4-pages.pdf": NoTextError,
    "pdf/truncated-outline-latex.pdf": DamagedDocumentError,
    "pdf/two-column-latex.pdf": Opens(1, 1032, ("This is a sample document with two columns", "Copenhagen Danish")),
    "pdf/two-column-paper-tracemonkey.pdf": Opens(
        27, 13174, ("Andreas Gal", "Dynamic languages such as JavaScript", "Proceedings of the ACM SIGPLAN")
    ),
    "pdf/zero-pages.pdf": EmptyDocumentError,
    "text/alice-lf-no-bom-utf8.txt": Opens(12, 26371, (*ALICE, "THE END"), LICENCE),
    "text/alice-utf16le-bom.txt": Opens(12, 26371, (*ALICE, "THE END"), LICENCE),
    "text/aozora-annotation-sample-shift-jis.txt": Opens(33, 3748, ("「注記一覧」に記載した記入例",), spaced=False),
    "text/hashire-merosu-shift-jis.txt": Opens(
        0, 4929, ("メロスは激怒した。", "（古伝説と、シルレルの詩から。）"), ("《", "｜", "［＃"), spaced=False
    ),
    "text/moby-dick-utf8.txt": Opens(138, 211448, ("Call me Ishmael.", "only found another orphan."), LICENCE),
    "text/pride-and-prejudice-utf8-bom.txt": Opens(
        61, 121439, ("It is a truth universally acknowledged", "had been the means of uniting them."), LICENCE
    ),
}


@cache
def facts() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads((DATA / "facts.json").read_text(encoding="utf-8"))
    return found


def test_the_table_names_every_file():
    files = {p.relative_to(DATA).as_posix() for p in DATA.rglob("*") if p.suffix.lower() in FORMATS}
    assert files == set(EXPECTED)


def whole(document: Document) -> str:
    titles = [" ".join(s.title for s in document.headings(i)) for i in range(len(document.paragraphs))]
    return " ".join(" ".join(f"{t} {p.text}".split()) for t, p in zip(titles, document.paragraphs, strict=True))


@pytest.mark.parametrize("name", EXPECTED)
def test_opens_with_its_words_or_fails_by_name(name):
    expected = EXPECTED[name]
    data = (DATA / name).read_bytes()
    if not isinstance(expected, Opens):
        with pytest.raises(expected) as caught:
            load(data, name)
        assert type(caught.value) is expected
        return
    document = load(data, name)
    text = whole(document)
    at = 0
    for phrase in expected.says:
        found = text.find(phrase, at)
        assert found >= 0, f"{phrase!r} is not where it should be"
        at = found
    assert not [phrase for phrase in expected.apart if phrase in text]
    assert "\ufffd" not in text
    assert len(document.sections) == expected.sections
    # a tenth of a percent: a rebuild_cross_references paragraph may join a word, a chapter lost is far more
    assert document.words == pytest.approx(expected.words, rel=0.001)
    fact = facts().get(name, {})
    other = fact.get("words", fact.get("xhtml_text_words"))
    if other is not None and expected.spaced:
        # words counted by spaces on both sides; those that a notice counts as left out are in theirs too
        ours = len(text.split()) + sum(w.count for w in document.warnings if w.code in ("gutenberg", "publisher"))
        assert other - LESS * other - FEW_LESS <= ours <= other + MORE * other + FEW_MORE
