"""A place moves between this library and KOReader, both ways, and none is lost."""

from __future__ import annotations

import hashlib
import zipfile
from io import BytesIO

import pytest

from readagent_core.companion.place import save_place
from readagent_core.errors import DocumentError
from readagent_core.incoming.opening import open_file
from readagent_core.sharing import progress
from readagent_core.sharing.catalogue import file_of
from readagent_core.sharing.epub_paths import find_path, words_at
from tests.loaders.test_pdf import pdf

NAMES = ("Ada", "Bert", "Cora", "Dan", "Eva", "Fay")


def sentence(part: int, number: int) -> str:
    return f"In part {part} the keeper {NAMES[number]} wrote line {number} of the log, and it rained on Harrow again."


CONTAINER = """<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OPS/p.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The log</dc:title>
<dc:identifier id="i">x</dc:identifier>
<dc:language>en</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"""
PART = """<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>
<h1>Part {part}</h1>
<div>
{lines}
</div></body></html>"""


def epub(parts: int = 4) -> bytes:
    """A book whose paragraphs are ``sentence``, each with a few letters in italics."""
    out, item = BytesIO(), '<item id="c{0}" href="c%20{0}.xhtml" media-type="application/xhtml+xml"/>'
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/epub+zip")
        archive.writestr(zipfile.ZipInfo("META-INF/container.xml"), CONTAINER)
        items = "".join(item.format(n) for n in range(parts))
        spine = "".join(f'<itemref idref="c{n}"/>' for n in range(parts))
        archive.writestr(zipfile.ZipInfo("OPS/p.opf"), PACKAGE.format(items=items, spine=spine))
        for n in range(parts):
            whole = [sentence(n, k) for k in range(6)]
            lines = "\n".join(f"<p>{text[:30]}<i>{text[30:40]}</i>{text[40:]}</p>" for text in whole)
            archive.writestr(zipfile.ZipInfo(f"OPS/c {n}.xhtml"), PART.format(part=n, lines=lines))
    return out.getvalue()


def data_with(old: bytes, new: bytes, *, part: int) -> bytes:
    """``epub`` with other bytes in one of its parts."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(epub())) as before, zipfile.ZipFile(out, "w") as after:
        for one in before.infolist():
            data = before.read(one)
            after.writestr(one, data.replace(old, new) if one.filename == f"OPS/c {part}.xhtml" else data)
    return out.getvalue()


def koreader(data: bytes, path: str, percentage: float, device: str = "Kobo") -> dict[str, object]:
    """What KOReader puts: as frontend/apps/reader and kosync.koplugin send it."""
    pieces = b"".join(data[at : at + 1024] for at in (0, *(1024 * 4**n for n in range(11))))
    name = hashlib.md5(pieces).hexdigest()
    return {"document": name, "progress": path, "percentage": percentage, "device": device, "device_id": "K1"}


@pytest.fixture
def book(workspace):
    return open_file(workspace, epub(), "log.epub")


def text_at(workspace, book) -> str:
    position = workspace.library.position(book.id)
    return workspace.library.document(book.id).paragraphs[position.paragraph].text[max(0, position.offset) :]


def test_a_path_leads_to_its_words_and_back():
    data = epub()
    fragment = "/body/DocFragment[3]/body"
    assert words_at(data, f"{fragment}/div/p[5]/text().8")[:2] == [sentence(2, 4)[8:72], sentence(2, 5)[:64]]
    assert words_at(data, f"{fragment}/div/p[5]/i/text().2")[0] == sentence(2, 4)[32:96]
    assert words_at(data, f"{fragment}/div/p[5]/text()[2].1")[0] == sentence(2, 4)[41:105]
    for path in (
        "/body/DocFragment[2]",
        "/body/DocFragment[2].0",
        "/body/DocFragment[2]/body/h1",
        "/body/DocFragment[2]/body/h1/text().2",
    ):
        assert words_at(data, path)[0] == sentence(1, 0)[:64]  # two words of a heading may be anywhere
    drawn = data_with(b"<p>", b"<p><img src='x.png'/></p><p>", part=1)
    assert words_at(drawn, "/body/DocFragment[2]/body/div/p[3]/img.0")[0] == sentence(1, 1)[:64]
    for path in (
        "/body/DocFragment[9]/body/p/text().0",
        "12",
        "",
        "/body/DocFragment[1]/body/div/p[50]/text().0",
        "x" * 900,
    ):
        assert words_at(data, path) == []
    assert words_at(b"no zip", "/body/DocFragment[1]/body/p") == []
    assert find_path(data, sentence(2, 4)[8:], 0.6) == "/body/DocFragment[3]/body/div/p[5]/text().8"
    assert find_path(data, sentence(1, 0)[36:], 0.3) == "/body/DocFragment[2]/body/div/p[1]/i/text().6"
    # near the end of a paragraph: by the one after it
    assert find_path(data, f"again.\n{sentence(2, 4)[:57]}", 0.6) == f"{fragment}/div/p[5]/text().0"
    assert find_path(data, "words that are nowhere in it", 0.3).startswith("/body/DocFragment[2]/body/div/p[")
    assert find_path(data, "", 1.0).startswith("/body/DocFragment[4]/body/div/p[6]")
    assert find_path(b"no zip", "words that are nowhere in it", 0.3) == ""


def test_a_place_moves_both_ways_to_the_character(workspace, book):
    library, data = workspace.library, epub()
    sent = koreader(data, "/body/DocFragment[3]/body/div/p[5]/text().8", 0.61)
    assert file_of(library, book)[0] == data
    assert progress.get(library, str(sent["document"])) == {}
    progress.put(library, sent)
    assert text_at(workspace, book) == sentence(2, 4)[8:]
    assert progress.get(library, str(sent["document"]))["progress"] == sent["progress"]
    # read on here
    document = library.document(book.id)
    there = next(n for n, p in enumerate(document.paragraphs) if p.text == sentence(3, 2))
    save_place(library, document, book.id, there, 10)
    given = progress.get(library, str(sent["document"]))
    assert (given["progress"], given["device"]) == ("/body/DocFragment[4]/body/div/p[3]/text().10", "ReadAgent")
    assert 0.8 < given["percentage"] < 1
    # KOReader goes on from what it was given: nobody has to choose
    progress.put(library, koreader(data, "/body/DocFragment[4]/body/div/p[4]/text().0", 0.95))
    assert (text_at(workspace, book), progress.other(library, book.id)) == (sentence(3, 3), None)


@pytest.mark.parametrize(("path", "part", "number"), [
    ("/body/DocFragment[3].0", 2, 0), ("/body/DocFragment[2]/body/h1/text().3", 1, 0),
    ("/body/DocFragment[2]/body/div/p[2]/text()[2].38", 1, 2), ("/body/DocFragment[4]/body/div/p[6]", 3, 5),
])  # fmt: skip
def test_the_beginning_of_a_chapter_and_the_end_of_a_paragraph(workspace, book, path, part, number):
    progress.put(workspace.library, koreader(epub(), path, 0.01))
    assert text_at(workspace, book) == sentence(part, number)


def test_a_place_at_the_end_of_a_paragraph_is_given_as_a_path(workspace, book):
    library, document = workspace.library, workspace.library.document(book.id)
    at = next(n for n, p in enumerate(document.paragraphs) if p.text == sentence(1, 1))
    save_place(library, document, book.id, at, len(sentence(1, 1)) - 5)
    given = progress.get(library, str(koreader(epub(), "", 0)["document"]))["progress"]
    assert given == "/body/DocFragment[2]/body/div/p[3]/text().0"


@pytest.mark.parametrize("go", [True, False])
def test_two_places_are_asked_and_neither_is_lost(workspace, book, go):
    library, data = workspace.library, epub()
    document = library.document(book.id)
    here = next(n for n, p in enumerate(document.paragraphs) if p.text == sentence(1, 1))
    save_place(library, document, book.id, here, 0)
    sent = koreader(data, "/body/DocFragment[3]/body/div/p[2]/text().0", 0.55, "Kobo Clara")
    progress.put(library, sent)
    assert text_at(workspace, book) == sentence(1, 1)
    asked = progress.other(library, book.id)
    assert asked is not None
    assert asked.device == "Kobo Clara"
    assert document.paragraphs[asked.place[0]].text == sentence(2, 1)
    progress.choose(library, asked, go=go)
    assert text_at(workspace, book) == sentence(2, 1) if go else sentence(1, 1)
    assert progress.other(library, book.id) is None
    left = progress.get(library, str(sent["document"]))
    assert left["progress"] == sent["progress"] if go else left
    kept = library.preference(f"sync {sent['document']}", {})["earlier"]
    assert [document.paragraphs[n].text for n, _ in kept][-1] == (sentence(1, 1) if go else sentence(2, 1))


def test_a_page_of_a_pdf_moves_both_ways(workspace):
    library = workspace.library
    data = pdf([[f"Page {n}, where the keeper wrote the log.", "It rained on Harrow."] for n in range(1, 7)])
    book = open_file(workspace, data, "log.pdf")
    sent = koreader(data, "4", 0.6)
    progress.put(library, sent)
    assert text_at(workspace, book).startswith("Page 4")
    document = library.document(book.id)
    save_place(library, document, book.id, next(n for n, p in enumerate(document.paragraphs) if "Page 6" in p.text), 0)
    assert progress.get(library, str(sent["document"]))["progress"] == "6"
    progress.put(library, koreader(data, "900", 1.0))  # no page of it: by the share
    assert text_at(workspace, book)


def test_a_text_and_what_is_no_book_here(workspace):
    library = workspace.library
    book = open_file(workspace, "\n\n".join(sentence(n, n) for n in range(6)).encode(), "log.txt")
    data, kind, _ = file_of(library, book)
    assert kind == "text/plain"
    progress.put(library, koreader(data, "/FictionBook/body/section/p[3].0", 0.5))
    assert library.position(book.id).share == pytest.approx(0.5, abs=0.01)
    unknown = koreader(b"another book", "17", 0.25)
    progress.put(library, unknown)
    assert {name: progress.get(library, str(unknown["document"]))[name] for name in unknown} == unknown
    for change in (
        {"percentage": 2},
        {"percentage": "x"},
        {"progress": "x" * 2000},
        {"document": ""},
        {"document": ["a"]},
    ):
        with pytest.raises(DocumentError):
            progress.put(library, unknown | change)
    with pytest.raises(DocumentError):
        progress.put(library, {})
