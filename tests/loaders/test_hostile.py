"""Files that are not what they say, too large, locked or built to harm: one error tree, each with what to do next."""

from __future__ import annotations

import sys
import zipfile
from dataclasses import replace
from io import BytesIO
from random import Random

import pytest

from readagent_core.errors import (
    DamagedDocumentError,
    DocumentError,
    EmptyDocumentError,
    TooLargeError,
    UnknownFormatError,
    UnsafeDocumentError,
    WrongFormatError,
)
from readagent_core.loaders import DEFAULT, FORMATS, Limits, load
from readagent_core.loaders.child_process import load_in_child_process
from tests.loaders.making import NAMES, Press, as_docx, as_epub, as_html, as_text, sample
from tests.loaders.mutating import mutated

WORD = b"PK\x03\x04" + b"\x00" * 30 + b"word/document.xml" + b"\x00" * 40


def test_utf_16_is_no_binary_file():
    for coding in ("utf-16", "utf-16-le", "utf-16-be"):
        assert load(("The fog came in. " * 300).encode(coding), "x.txt").words == 1200, coding
    assert load(("汽車は雪の駅を出た。" * 300).encode("utf-16"), "x.txt").language == "ja"


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"", "x.txt", EmptyDocumentError),
        (b" \n\x00 \n", "x.pdf", EmptyDocumentError),
        (b"Just some words.", "x.pdf", WrongFormatError),
        (b"<!doctype html><html><body>Log in first</body></html>", "x.epub", WrongFormatError),
        (b"\x01\x02\x03" * 400, "x.pdf", DamagedDocumentError),
        (b"\x01\x02\x03" * 400, "x", UnknownFormatError),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, "x.txt", UnknownFormatError),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "x.doc", UnknownFormatError),
        (b"{\\rtf1 {\\pict 00}}", "x.rtf", EmptyDocumentError),
        (b"\x00" * 60 + b"BOOKMOBI" + b"\x00" * 9, "x.mobi", DamagedDocumentError),
        (WORD, "x.docx", DamagedDocumentError),
        (b"PK\x03\x04" + b"\x00" * 40, "x.zip", DamagedDocumentError),
        (b"<?xml version='1.0'?><FictionBook>", "x.fb2", DamagedDocumentError),
        (Random(7).randbytes(20_000), "x.txt", UnknownFormatError),
        (b'{"meeting": ["Good morning."]}', "x.json", UnknownFormatError),
        (b"PK\x03\x04mimetypeapplication/epub+zip", "x.epub", DamagedDocumentError),
    ],
)
def test_named_errors_that_say_what_to_do(data, name, kind):
    with pytest.raises(kind) as caught:
        load(data, name)
    assert type(caught.value) is kind
    assert any(
        hint in str(caught.value).lower()
        for hint in ("again", "save", "convert", "open", "rename", "unpack", "recognise", "recognition", "opens")
    )


def test_content_counts_before_the_name():
    document = load(as_epub(sample("yuki-no-eki")), "book.pdf")
    assert document.format == "epub"
    assert document.warnings[0].code == "other-format"
    assert load(Press()(sample("harrow-council-minutes")), "book").format == "pdf"
    assert load(b"# A\n\ntext\n\n# B\n\nmore\n\n# C\n\nmost", "notes.txt").format == "markdown"
    assert {"text", "markdown", "html", "epub", "pdf", "docx"} <= set(FORMATS.values())


def zipped(files: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in files.items():
            target.writestr(name, content)
    return out.getvalue()


def test_zip_bombs_and_paths_outside_are_unsafe():
    bomb = zipped({"a.xhtml": b"0" * (40 << 20)})
    assert len(bomb) < 1 << 20
    with pytest.raises(UnsafeDocumentError, match="zip bomb"):
        load(bomb, "x.epub")
    for name in ("../../etc/passwd", "/etc/passwd", "C:/x", "a/../../b", "..\\x"):
        with pytest.raises(UnsafeDocumentError, match="outside"):
            load(zipped({name: b"x"}), "x.epub")
    with pytest.raises(UnsafeDocumentError, match="files"):
        load(zipped({f"{n}.txt": b"" for n in range(60)}), "x.epub", limits=Limits(entries=50))


def test_limits_are_checked_before_anything_is_unpacked():
    noise = Random(1).randbytes(300_000)
    with pytest.raises(TooLargeError, match="Unpacked"):
        load(zipped({"a.jpg": noise}), "x.epub", limits=Limits(unpacked=200_000))
    with pytest.raises(TooLargeError, match="MB"):
        load(b"x" * 3_000_000, "x.txt", limits=Limits(text=1 << 20))
    with pytest.raises(TooLargeError, match="MB"):
        load(b"x" * 3_000_000, "x.txt", limits=Limits(file=1 << 20))
    with pytest.raises(TooLargeError, match="words"):
        load(b"word " * 2000, "x.txt", limits=Limits(words=1000))
    with pytest.raises(TooLargeError, match="pages"):
        load(Press()(sample("yuki-no-eki")), "x.pdf", limits=Limits(source_pages=2))


def test_one_line_of_a_hundred_megabytes_is_too_large():
    with pytest.raises(TooLargeError, match="Split"):
        load(b"a" * (100 << 20), "x.txt")


def test_one_line_of_many_words_opens():
    assert load(b"word " * 100_000, "x.txt").words == 100_000


@pytest.mark.parametrize(("kind", "make"), [("pdf", Press()), ("docx", as_docx)])
def test_guarded_opening_gives_the_same_document(kind, make):
    data = make(sample("harrow-council-minutes"))
    assert load_in_child_process(data, f"x.{kind}") == load(data, f"x.{kind}")


def test_guarded_opening_passes_errors_on():
    with pytest.raises(DamagedDocumentError, match="again"):
        load_in_child_process(b"%PDF-1.7 nothing", "x.pdf")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a process to such bounds")
def test_too_much_memory_and_too_much_time_end_the_process_not_the_app():
    data = as_html(sample("the-keeper-of-harrow-light"))
    with pytest.raises(TooLargeError, match="memory"):
        load_in_child_process(data * 200, "x.html", limits=Limits(memory=24 << 20, page=1 << 30))
    with pytest.raises(UnsafeDocumentError, match="longer than"):
        load_in_child_process(data * 40, "x.html", limits=Limits(seconds=0.05, page=1 << 30))


def test_a_byte_that_cannot_be_decoded_is_counted_in_a_notice():
    (notice,) = load("Grüße und viele schöne Wörter. ".encode() * 9 + b"\xff", "x.txt").warnings
    assert (notice.code, notice.count) == ("undecodable", 1)


SEEDS = [
    (f"{name}.{kind}", make)
    for name in NAMES[1:]
    for kind, make in (("txt", as_text), ("html", as_html), ("epub", as_epub), ("pdf", Press()), ("docx", as_docx))
]


@pytest.mark.parametrize(("name", "make"), SEEDS, ids=[name for name, _ in SEEDS])
def test_no_mutated_file_escapes_the_tree(name, make):
    whole = sample(name.rsplit(".", 1)[0])
    original = make(replace(whole, paragraphs=whole.paragraphs[:40], sections=whole.sections[:2]))
    for case in range(20):
        data = mutated(original, Random(f"{name} {case}"))
        try:
            document = load(data, name, limits=DEFAULT)
        except DocumentError:
            continue
        assert document.paragraphs
        assert all(0 <= s.start < len(document.paragraphs) for s in document.sections)


@pytest.mark.parametrize("name", ["x.doc", "x.rtf"])
def test_a_text_with_an_ending_that_any_text_once_had_is_opened_and_told(name):
    document = load(b"The lamps were lit at six.\n\nNobody came.", name)
    assert [p.text for p in document.paragraphs] == ["The lamps were lit at six.", "Nobody came."]
    assert [w.code for w in document.warnings] == ["other-format"]
