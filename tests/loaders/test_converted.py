"""Formats that are turned into another first: opened with their text, notes and pictures, or told rightly."""

from __future__ import annotations

import importlib.util
import json
import re
import struct
import sys
import zipfile
from dataclasses import replace
from io import BytesIO
from random import Random

import pytest

from readagent_core.document.paragraph import SpanKind
from readagent_core.errors import (
    DamagedDocumentError,
    DocumentError,
    NoTextError,
    ProtectedDocumentError,
    UnknownFormatError,
    UnsafeDocumentError,
)
from readagent_core.loaders import DEFAULT, FORMATS, load
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.loaders.file_types import promised_format
from readagent_core.loaders.pdf.comic import open_comic
from readagent_core.loaders.recognition.page import RecognisedLine, RecognisedPage
from tests.loaders import converting
from tests.loaders.converting import CHAPTERS, LAMP, MADE, NOTE, TITLE, packed
from tests.loaders.making import as_docx, as_epub, sample
from tests.loaders.mutating import mutated
from tests.loaders.old_words import made_doc
from tests.loaders.picturing import encode, line_art

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def flat(document) -> str:
    return " ".join(paragraph.text.replace("\n", " ") for paragraph in document.paragraphs)


@pytest.mark.parametrize("kind", MADE)
def test_every_text_is_there_in_order_and_nothing_else_of_the_file(kind):
    document = load(MADE[kind](), f"{TITLE}.{kind}")
    text = flat(document)
    places = [text.index(paragraph) for paragraphs in CHAPTERS.values() for paragraph in paragraphs[:1]]
    assert places == sorted(places)
    assert all(
        paragraph in text for paragraphs in CHAPTERS.values() for paragraph in paragraphs if kind not in ("srt", "vtt")
    )
    assert NOTE in text
    assert not re.search(r"[<>{}\\]|bplist|evil|Deleted|Content-|-->|nbformat|HYPERLINK", text)
    assert document.title == TITLE
    assert document.format == promised_format(f"x.{kind}")
    if kind not in ("srt", "vtt"):
        assert [s.title for s in document.sections if s.title != "Notes"] == list(CHAPTERS)
    if kind not in ("doc", "rtf", "srt", "vtt", "ipynb", "mbox"):
        assert len(document.pictures) == 1


@pytest.mark.parametrize("kind", ["mobi", "odt", "doc", "eml"])
def test_the_bounded_process_gives_the_same(kind):
    data = MADE[kind]()
    assert load_in_child_process(data, f"x.{kind}") == load(data, f"x.{kind}")


@pytest.mark.parametrize("kind", MADE)
def test_the_content_decides_and_not_the_name(kind):
    document = load(MADE[kind](), "x.txt")
    assert document.format == promised_format(f"x.{kind}")
    assert document.warnings[0].code == "other-format"


def test_a_comment_or_a_mark_before_an_fb2_does_not_make_it_a_page():
    for head in ("\ufeff<!-- made -->", '\ufeff<?xml version="1.0"?>\n<!-- <html> -->', "<!DOCTYPE FictionBook>"):
        assert load(converting.fb2(head=head), "x").format == "fb2"
    russian = converting.fb2(head='<?xml version="1.0" encoding="windows-1251"?>').decode().encode("cp1251", "ignore")
    assert "Иван" in flat(load(russian, "x.fb2"))


def test_a_file_beside_the_book_may_have_a_name_of_one_letter():
    assert load(converting.packed({"book.fb2": converting.fb2(), "a": "x"}), "x.fb2.zip").format == "fb2"


def test_a_link_of_an_fb2_to_a_chapter_is_no_note():
    linked = converting.fb2().replace(b"<p>So<a", b'<p>See <a l:href="#n1">the end</a>. So<a')
    assert "See the end. So" in flat(load(linked, "x.fb2"))


def test_many_comments_before_a_page_take_no_time():
    assert load(b"<!---->" * 500 + b"A text.", "x.txt").format == "text"


def test_a_transcript_has_its_times_as_places_and_says_who_speaks():
    for kind in ("srt", "vtt"):
        document = load(MADE[kind](), f"x.{kind}")
        assert [p.place for p in document.paragraphs] == ["0:01:05", "0:02:05", "0:03:05", "0:04:05"]
        assert [p.text.partition(":")[0] for p in document.paragraphs][::2] == ["Keeper", "Иван"]
    rolling = "WEBVTT\n\n" + "".join(f"00:0{n}.000 --> 00:0{n + 1}.000\nline {n}\nline {n + 1}\n\n" for n in range(3))
    assert flat(load(rolling.encode(), "x.vtt")) == "line 0 line 1 line 2 line 3"


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "utf-16", "utf-16-be"])
def test_subtitles_in_wide_characters_are_read(encoding):
    mark = "" if encoding in ("utf-32", "utf-16") else "\ufeff"
    data = (mark + converting.srt().decode("utf-8-sig")).encode(encoding)
    assert flat(load(data, "film.srt")) == flat(load(converting.srt(), "film.srt"))


def test_a_formula_of_an_open_document_is_read_and_drawn():
    half = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
    formula = f'<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics>{half}</semantics></math>'
    frame = "<draw:object xlink:href='./Object 1'/><draw:image xlink:href='./ObjectReplacements/Object 1'/>"
    with zipfile.ZipFile(BytesIO(converting.odt())) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    files["content.xml"] = files["content.xml"].replace(
        b"So<", f"Take <draw:frame>{frame}</draw:frame> of it. So<".encode()
    )
    ending = files["content.xml"].replace(b"./Object 1", b"Object 1/")
    for content in (files["content.xml"], ending):
        files |= {"content.xml": content, "Object 1/content.xml": formula}
        document = load(packed(files, "application/vnd.oasis.opendocument.text"), "x.odt")
    assert "Take ½ of it. So" in flat(document)
    assert any(span.kind is SpanKind.FORMULA for p in document.paragraphs for span in p.spans)


def test_a_slide_is_a_section_in_the_order_of_the_show_with_its_notes():
    document = load(MADE["pptx"](), "x.pptx")
    assert [s.title for s in document.sections] == list(CHAPTERS)
    assert f"Notes: {NOTE}" in [p.text for p in document.paragraphs]


def test_an_equation_on_a_slide_keeps_its_numbers():
    space = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    half = (
        f'<m:oMath xmlns:m="{space}"><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den>'
    )
    with zipfile.ZipFile(BytesIO(MADE["pptx"]())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    slide = "ppt/slides/slide1.xml"
    files[slide] = files[slide].replace(b"</a:p>", f"{half}</m:f></m:oMath></a:p>".encode())
    document = load(packed(files), "x.pptx")
    assert "½" in document.text()
    assert any(span.kind is SpanKind.FORMULA for p in document.paragraphs for span in p.spans)


def test_powers_and_indices_keep_their_height():
    rtf = rb"{\rtf1 About 10{\super \u8722 -6} m of H{\sub 2}O, 5\super 2\nosupersub  of it.\par}"
    assert load(rtf, "x.rtf").text() == "About 10⁻⁶ m of H₂O, 5² of it."
    with zipfile.ZipFile(BytesIO(MADE["pptx"]())) as archive:
        slides = {name: archive.read(name) for name in archive.namelist()}
    power = b'10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r></a:p>'
    slides["ppt/slides/slide1.xml"] = slides["ppt/slides/slide1.xml"].replace(b"</a:t></a:r></a:p>", power)
    assert "10⁶" in load(packed(slides), "x.pptx").text()
    with zipfile.ZipFile(BytesIO(converting.odt())) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    style = '<style xmlns="urn:x" name="{}"><text-properties text-position="{}"/></style>'
    styles = style.format("A", "super 58%") + style.format("B", "-33% 58%")
    raised = b'10<text:span text:style-name="A">6</text:span> of H<text:span text:style-name="B">2</text:span>O. So<'
    content = files["content.xml"].replace(b"<office:body>", f"{styles}<office:body>".encode()).replace(b"So<", raised)
    document = load(packed(files | {"content.xml": content}, "application/vnd.oasis.opendocument.text"), "x.odt")
    assert "10⁶ of H₂O. So" in flat(document)


CHART = (
    '<c:chartSpace xmlns:c="http://c" xmlns:a="http://a"><c:chart><c:title><a:t>Oil a day</a:t></c:title><c:plotArea>'
    "<c:ser><c:tx><c:v>Pints</c:v></c:tx><c:cat><c:pt><c:v>Monday</c:v></c:pt><c:pt><c:v>Friday</c:v></c:pt></c:cat>"
    "<c:val><c:pt><c:v>4.2999999999999998</c:v></c:pt><c:pt><c:v>7</c:v></c:pt></c:val></c:ser></c:plotArea></c:chart>"
    "</c:chartSpace>"
)


def test_a_chart_is_the_table_that_it_draws():
    rows = ["Oil a day", "Pints", "Monday\t4.3", "Friday\t7"]
    space = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    ends = {"pptx": ("ppt/slides/slide1.xml", "</p:spTree>"), "docx": ("word/document.xml", "<w:sectPr")}
    for kind, (part, end) in ends.items():
        original = MADE["pptx"]() if kind == "pptx" else as_docx(sample("yuki-no-eki"))
        with zipfile.ZipFile(BytesIO(original)) as archive:
            files = {name: archive.read(name).decode("latin-1") for name in archive.namelist()}
        chart = f'<c:chart xmlns:c="{space}" xmlns:rr="http://r" rr:id="rIdC"/>'
        shown = f"<g>{chart}</g>" if kind == "pptx" else f"<w:p><w:r><w:drawing>{chart}</w:drawing></w:r></w:p>"
        before, after = files[part].split(end, 1)
        files[part] = before + shown + end + after
        folder, _, name = part.rpartition("/")
        relation = '<Relationship Id="rIdC" Type="http://t/chart" Target="chart.xml"/></Relationships>'
        relations = files.get(f"{folder}/_rels/{name}.rels", "<Relationships></Relationships>")
        files[f"{folder}/_rels/{name}.rels"] = relations.replace("</Relationships>", relation)
        files[f"{folder}/chart.xml"] = CHART
        document = load(packed({name: text.encode("latin-1") for name, text in files.items()}), f"x.{kind}")
        lines = [line.strip() for paragraph in document.paragraphs for line in paragraph.text.split("\n")]
        assert [line for line in lines if line in rows] == rows


def test_the_title_that_a_program_writes_into_a_file_is_none():
    for title in ("Presentación de PowerPoint", "PowerPoint-Präsentation", "\uf020"):
        assert load(converting.pptx(replace(LAMP, title=title)), "The Lamp.pptx").title == "The Lamp"


def test_what_is_left_out_is_told():
    notices = {
        kind: {w.code: w.count for w in load(MADE[kind](), "x").warnings} for kind in ("doc", "rtf", "ipynb", "eml")
    }
    assert notices["doc"] == {"pictures-left-out": 1, "parts-left-out": 1, "kept-note": 1}
    assert notices["rtf"]["pictures-left-out"] == notices["ipynb"]["pictures-left-out"] == 1
    assert notices["eml"] == {"pictures": 1, "pictures-left-out": 1, "attachments": 1}


def test_locked_files_are_told():
    with pytest.raises(ProtectedDocumentError, match="DRM"):
        load(converting.mobi(locked=True), "x.azw3")
    locked = packed(
        {"content.xml": b"\x01", "META-INF/manifest.xml": "<m><encryption-data/></m>"},
        "application/vnd.oasis.opendocument.text",
    )
    with pytest.raises(ProtectedDocumentError, match="password"):
        load(locked, "x.odt")
    with pytest.raises(ProtectedDocumentError, match="password"):
        load(made_doc(LAMP, locked=True), "x.doc")


def test_a_kindle_book_that_says_endless_facts_of_itself_is_damaged():
    data = converting.mobi()
    at = data.index(b"EXTH") + 8
    with pytest.raises(DamagedDocumentError, match="Kindle"):
        load(data[:at] + b"\x7f" + data[at + 1 :], "x.mobi")


TOLD = {
    "Excel": packed({"xl/workbook.xml": ""}),
    "Pages": packed({"Index/Document.iwa": "", "preview.jpg": ""}),
    "hwpx": packed({"Contents/section0.xml": ""}),
    "presentation": packed({"content.xml": "<d xmlns='o'><body><presentation/></body></d>"}),
    r"book\.epub": packed({"a/book.epub": b"x"}),
    r"\.hwp\)": OLE + "HwpSummaryInformation".encode("utf-16-le"),
    "Word 6": made_doc(LAMP, kind=0xA5DC),
    r"\.ppt\)": OLE + "PowerPoint Document".encode("utf-16-le"),
    r"\.xls\)": OLE + "Workbook".encode("utf-16-le"),
    r"\.msg\)": OLE + "__substg1.0_".encode("utf-16-le"),
    "KFX": b"\xeaDRMION\xee" + bytes(99),
    r"\.lit\)": b"ITOLITLS" + bytes(99),
    r"\.chm\)": b"ITSF" + bytes(99),
    r"\.ppt": OLE + "PowerPoint Document WordDocument".encode("utf-16-le"),
    "WordPerfect": b"\xffWPC" + bytes(99),
    "eReader": bytes(60) + b"PNRdPPrs" + bytes(99),
    "DjVu": b"AT&TFORM" + bytes(99),
    "property list": b"bplist00" + bytes(99),
    "subtitles": b"\x00\x00\x00\x20ftypisom" + bytes(99),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_is_not_read_is_named(what):
    with pytest.raises(UnknownFormatError, match=what):
        load(TOLD[what], "x.bin")


@pytest.mark.parametrize("packed", [1, 2])
def test_a_palm_book_is_read(packed):
    text = "The mill stood at the weir.\n\nNobody asked the café why, nobody asked.\n"
    coded = text.encode("cp1252")
    if packed == 2:  # a space and a letter are one byte, bytes above 127 are announced
        coded = coded.replace(b"\xe9", b"\x01\xe9").replace(b" s", bytes([ord("s") ^ 0x80]))
    first = struct.pack(">HHIHHI", packed, 0, len(text), 2, 4096, 1 << 17)
    records = [first, coded[:30], coded[30:]]
    starts = [78 + 8 * 3 + 2 + sum(map(len, records[:n])) for n in range(3)]
    head = b"Weir".ljust(60, b"\0") + b"TEXtREAd" + bytes(8) + struct.pack(">H", 3)
    data = head + b"".join(struct.pack(">II", at, 0) for at in starts) + bytes(2) + b"".join(records)
    document = load(data, "weir.pdb")
    assert [p.text for p in document.paragraphs] == text.strip().split("\n\n")
    assert document.format == "mobi"
    with pytest.raises(DamagedDocumentError):
        load(data.replace(first, b"\x44\x80" + first[2:]), "weir.pdb")


def test_facts_that_a_rich_text_gives_twice_are_taken_once():
    twice = (
        rb"{\rtf1{\info{\title The Weir}{\author Ann}}{\info{\title The Weir}{\author Ann}}\pard The mill stood.\par}"
    )
    document = load(twice, "x.rtf")
    assert (document.title, document.author) == ("The Weir", "Ann")


def test_a_note_that_other_programs_may_skip_is_read():
    document = load(rb"{\rtf1 So{\super 1}{\*\footnote\pard {\pard The wick is from the mainland.\par}}\par}", "x.rtf")
    assert [p.text for p in document.paragraphs if p.note] == ["The wick is from the mainland."]


def test_an_error_among_the_results_of_a_notebook_is_read():
    lines = ["\x1b[31mlit(0)", "ValueError: no oil"]
    wrong = {"output_type": "error", "ename": "ValueError", "evalue": "no oil", "traceback": lines}
    data = MADE["ipynb"]().replace(b'"outputs": [', b'"outputs": [' + json.dumps(wrong).encode() + b", ")
    assert "\nlit(0)\nValueError: no oil\n" in load(data, "x.ipynb").text()


def test_a_comic_has_a_page_for_each_picture_in_order_and_can_be_recognised():
    pictures = {f"p{n}.png": encode(line_art(300 + n, 400), "PNG") for n in (10, 2, 1)} | {"p3.jpg": b"\xff\xd8broken"}
    beside = {"__MACOSX/p1.png": b"x", "ComicInfo.xml": "<ComicInfo/>", "Thumbs.db": b"x", ".hidden": b"x"}
    data = packed({**pictures, **beside})
    with pytest.raises(NoTextError, match="can be recognised") as caught:
        load(data, "x.cbz")
    assert caught.value.pages == (1, 2, 3, 4)
    assert [document.get_size()[0] for document in open_comic(data, DEFAULT)] == [301, 302, 600, 310]
    page = RecognisedPage((RecognisedLine("Bang, said the lamp.", 0.1, 0.6, 0.9, 0.02, 0.99),), 0.99)
    document = load(data, "x.cbz", recognised={2: page})
    assert (document.format, flat(document)) == ("cbz", "Bang, said the lamp.")
    assert document.doubtful_pages == (1, 3, 4)


def test_a_page_that_word_saved_is_no_mail_without_a_subject():
    body = "<html><head><title>Untitled Document</title></head><body><h1>The Lamp</h1><p>It is lit.</p></body></html>"
    head = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Location: file:///C:/a.htm\n"
    document = load(f"{head}Content-Type: text/html; charset=utf-8\n\n{body}\n--b--\n".encode(), "x.mht")
    assert (document.title, flat(document)) == ("The Lamp", "It is lit.")


def test_an_epub_of_pictures_can_be_recognised_as_a_comic_can():
    shown = {f"p{n}.png": encode(line_art(300, 400), "PNG") for n in (1, 2)}
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    page = "<html><body>" + "".join(f'<p><img src="{name}"/></p>' for name in shown) + "</body></html>"
    data = packed({"b.opf": opf, "a.xhtml": page, **shown}, "application/epub+zip")
    with pytest.raises(NoTextError, match="pictures only") as caught:
        load(data, "x.epub")
    assert caught.value.pages == (1, 2)
    page = RecognisedPage((RecognisedLine("Bang, said the lamp.", 0.1, 0.6, 0.9, 0.02, 0.99),), 0.99)
    document = load_in_child_process(data, "x.epub", recognised={2: page})
    assert (document.format, flat(document)) == ("cbz", "Bang, said the lamp.")


TEX = rb"""\documentclass{book}\title{The Weir}\author{M. Osgood}\begin{document}\maketitle\chapter{Ice}
\input{chapter1}It held\footnote{Twice.} at $\frac{1}{2}$ m.\unheardof{x}\end{document}"""


@pytest.mark.skipif(importlib.util.find_spec("pypandoc") is None, reason="requirements-formats.txt is not installed")
def test_latex_and_org_are_read_by_pandoc_and_what_is_lost_is_told():
    document = load_in_child_process(TEX, "x.tex")
    assert (document.title, document.author, document.format) == ("The Weir", "M. Osgood", "latex")
    assert [p.text for p in document.paragraphs] == ["It held at ½ m.", "Twice."]
    assert {"parts-missing", "parts-left-out", "kept-note"} <= {notice.code for notice in document.warnings}
    org = load(b"* One\nText in /Org/.\n", "x.org")
    assert ([s.title for s in org.sections], flat(org), org.title) == (["One"], "Text in Org.", "x")
    closed = load(b"= The Weir =\n\n== The Ice ==\n\nIt held.\n", "x.adoc")
    assert (closed.title, [s.title for s in closed.sections], flat(closed)) == ("The Weir", ["The Ice"], "It held.")
    broken = load(b"\\begin{document}\\begin{tabular}{{{It held.", "x.tex")
    assert "It held." in flat(broken)
    assert [notice.code for notice in broken.warnings] == ["other-format"]
    with pytest.raises(DamagedDocumentError, match="cannot be read"):
        load(b"<!DOCTYPE book PUBLIC '-//OASIS//DTD DocBook XML'><book><para>It held.", "x.dbk")


def test_without_pandoc_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypandoc", None)
    for name in ("x.tex", "x.org", "x.rst"):
        with pytest.raises(UnknownFormatError, match=r"-m pip install -r .*requirements-formats\.txt"):
            load(TEX, name)


@pytest.mark.parametrize("make", [as_docx, as_epub, lambda _: MADE["odt"](), lambda _: MADE["pptx"]()])
def test_an_archive_that_broke_off_is_damaged(make):
    data = make(sample("yuki-no-eki"))
    with pytest.raises(DamagedDocumentError, match="again"):
        load(data[: len(data) * 2 // 3], "x")


def test_archives_and_xml_do_no_harm():
    bomb = packed({"content.xml": b"0" * (40 << 20)}, "application/vnd.oasis.opendocument.text")
    with pytest.raises(UnsafeDocumentError, match="zip bomb"):
        load(bomb, "x.odt")
    entity = '<?xml version="1.0"?><!DOCTYPE FictionBook [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    read = load(converting.fb2(head=entity).replace(b"The end.", b"The &x;end."), "x.fb2")
    assert "root:" not in flat(read)
    deep = b"{\\rtf1 " + b"{" * 100_000 + b"text" + b"}" * 100_000 + b"}"
    assert flat(load(deep, "x.rtf")) == "text"


def test_memory_is_not_asked_for_by_a_number_in_the_file():
    with zipfile.ZipFile(BytesIO(MADE["odt"]())) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    files["content.xml"] = files["content.xml"].replace(b"text:c='2'", b"text:c='99999999999'")
    files["content.xml"] = files["content.xml"].replace(
        b"<table:table-cell>", b'<table:table-cell table:number-columns-repeated="999999999">'
    )
    assert len(flat(load(packed(files, "application/vnd.oasis.opendocument.text"), "x.odt"))) < 3000


@pytest.mark.parametrize("kind", MADE)
def test_no_mutated_file_escapes_the_tree(kind):
    original = MADE[kind]()
    for case in range(12):
        try:
            load(mutated(original, Random(f"{kind} {case}")), f"x.{kind}", limits=replace(DEFAULT, pictures=0))
        except DocumentError:
            continue


def test_every_kind_has_an_ending_that_uploads_take():
    assert {promised_format(f"x.{kind}") for kind in MADE} <= set(FORMATS.values())
    assert promised_format("x.zip") == ""
