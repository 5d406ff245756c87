"""Word documents: styles are sections, lists and tables keep their lines, notes come last, nothing occurs twice."""

from __future__ import annotations

import zipfile
from io import BytesIO

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from readagent_core.errors import (
    DamagedDocumentError,
    EmptyDocumentError,
    ProtectedDocumentError,
    UnsafeDocumentError,
    WrongFormatError,
)
from readagent_core.loaders import load
from tests.loaders.making import as_docx, sample

W = nsdecls("w")


def saved(made) -> bytes:
    out = BytesIO()
    made.save(out)
    return out.getvalue()


def opened(made):
    return load(saved(made), "A_Letter.docx")


def texts(document):
    return [p.text for p in document.paragraphs]


def with_xml(*inner: str):
    """A document whose body holds these pieces of XML."""
    made = docx.Document()
    body = made.element.body
    for xml in inner:
        body.insert(len(body) - 1, parse_xml(xml.replace(" W>", f" {W}>", 1)))
    return made


def changed(data: bytes, named: dict[str, bytes | None]) -> bytes:
    """The archive with parts replaced, added, or taken out."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if name not in named:
                target.writestr(name, source.read(name))
        for name, content in named.items():
            if content is not None:
                target.writestr(name, content)
    return out.getvalue()


def test_headings_by_style_and_levels():
    made = docx.Document()
    made.add_heading("Part One", 1)
    made.add_heading("The Arrival", 2)
    made.add_paragraph("She came at noon.")
    made.styles.add_style("Kapitel", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH).base_style = made.styles["Heading 2"]
    made.add_paragraph("The Leaving", style="Kapitel")
    made.add_paragraph("She left at dusk.")
    document = opened(made)
    assert [(s.title, s.start, s.level) for s in document.sections] == [
        ("Part One", 0, 1),
        ("The Arrival", 0, 2),
        ("The Leaving", 1, 2),
    ]
    assert texts(document) == ["She came at noon.", "She left at dusk."]


def test_a_paragraph_without_a_style_has_the_default_one_and_no_other():
    made = docx.Document()
    made.add_paragraph("The Arrival")
    made.add_paragraph("The Leaving", style="List Bullet")
    made.add_paragraph("She came at noon.")
    names = [s.name for s in made.styles if s.type == docx.enum.style.WD_STYLE_TYPE.PARAGRAPH and s.name != "Normal"]
    for name in names:
        outline = docx.oxml.OxmlElement("w:outlineLvl")
        outline.set(docx.oxml.ns.qn("w:val"), "0")
        made.styles[name].element.get_or_add_pPr().append(outline)
    document = opened(made)
    assert ([s.title for s in document.sections], len(document.paragraphs)) == (["The Leaving"], 2)


def test_a_long_text_in_the_style_of_a_heading_is_a_paragraph():
    made, text = docx.Document(), "The keeper lights the lamp at dusk and puts it out at dawn. " * 20
    made.add_heading("One", 1)
    made.add_heading(text, 1)
    document = opened(made)
    assert ([s.title for s in document.sections], texts(document)) == (["One"], [text.strip()])


def test_title_from_its_style_or_the_file_name():
    made = docx.Document()
    made.add_heading("A Walk in the Hills", 0)
    made.add_paragraph("We set out early.")
    document = opened(made)
    assert (document.title, document.author, document.format) == ("A Walk in the Hills", "", "docx")
    assert texts(document) == ["We set out early."]
    plain = docx.Document()
    plain.add_paragraph("We set out early.")
    assert opened(plain).title == "A Letter"


def test_a_title_made_by_a_program_gives_way():
    made = docx.Document()
    made.core_properties.title, made.core_properties.author = "10811.docx", "admin"
    made.add_paragraph("Words.")
    document = opened(made)
    assert (document.title, document.author) == ("A Letter", "")


def test_lists_keep_their_lines_and_tables_are_read_by_rows():
    made = docx.Document()
    made.add_paragraph("Bring:")
    made.add_paragraph("bread", style="List Bullet")
    made.add_paragraph("salt", style="List Bullet")
    made.add_paragraph("Then:")
    made.add_paragraph("walk", style="List Number")
    made.add_paragraph("rest", style="List Number")
    table = made.add_table(2, 2)
    for cell, text in zip([c for row in table.rows for c in row.cells], ["Day", "Miles", "Monday", "12"], strict=True):
        cell.text = text
    made.add_paragraph("Roses are red,\nviolets are blue.")
    assert texts(opened(made)) == [
        "Bring:",
        "bread\nsalt",
        "Then:",
        "1. walk\n2. rest",
        "Day\tMiles",
        "Monday\t12",
        "Roses are red,\nviolets are blue.",
    ]


def test_a_list_at_the_end_is_read_where_no_section_ends_after_it():
    made = docx.Document()
    made.add_paragraph("A.")
    made.add_paragraph("One", style="List Bullet")
    made.element.body.remove(made.element.body.sectPr)
    assert [text.lstrip("• ") for text in texts(opened(made))] == ["A.", "One"]


def test_items_that_are_paragraphs_stay_paragraphs():
    made = docx.Document()
    long = "This item says so much that it is a paragraph of its own. " * 6
    made.add_paragraph(long, style="List Bullet")
    made.add_paragraph("short", style="List Bullet")
    assert texts(opened(made)) == [long.strip(), "short"]


def test_a_table_that_lays_out_a_page_is_read_cell_by_cell():
    made = docx.Document()
    cell = made.add_table(1, 2).rows[0].cells[0]
    for text in ("First.", "Second.", "Third."):
        cell.add_paragraph(text)
    assert texts(opened(made)) == ["First.", "Second.", "Third."]


def test_a_table_within_a_table_leaves_the_other_rows_whole():
    made = docx.Document()
    table = made.add_table(3, 2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell {number}"
    within = table.cell(1, 1).add_table(2, 2)
    for number, cell in enumerate(cell for row in within.rows for cell in row.cells):
        cell.text = f"inner {number}"
    rows = ["cell 0\tcell 1", "cell 2", "cell 3", "inner 0\tinner 1", "inner 2\tinner 3", "cell 4\tcell 5"]
    assert texts(opened(made)) == rows


def test_links_and_insertions_are_read_deletions_and_field_codes_are_not():
    made = with_xml(
        "<w:p W><w:r><w:t>See </w:t></w:r><w:hyperlink><w:r><w:t>the map</w:t></w:r></w:hyperlink>"
        '<w:ins w:id="1"><w:r><w:t> now</w:t></w:r></w:ins><w:del w:id="2"><w:r><w:delText> never</w:delText></w:r>'
        "</w:del><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>.</w:t></w:r></w:p>",
        "<w:sdt W><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        "<w:p W><w:r><w:ruby><w:rt><w:r><w:t>ゆき</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>雪</w:t></w:r></w:rubyBase>"
        "</w:ruby></w:r><w:r><w:t>の駅</w:t></w:r></w:p>",
    )
    assert texts(opened(made)) == ["See the map now.", "In a control.", "雪の駅"]


def test_text_boxes_once_and_pictures_by_their_alternative_text():
    box = "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>"
    made = with_xml(
        '<w:p W xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '.replace(" W ", f" {W} ")
        + 'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="A lighthouse at night"/></wp:inline>'
        f"</w:drawing></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert texts(opened(made)) == ["[A lighthouse at night]", "In the box."]
    spaces = 'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
    drawn = f'<v:shape {spaces}><v:imagedata o:title="A boat at the quay"/></v:shape>'  # as Word 2003 writes them
    made = with_xml(f"<w:p W><w:r><w:pict>{drawn}</w:pict></w:r></w:p>")
    assert texts(opened(made)) == ["[A boat at the quay]"]


def test_footnotes_stand_at_the_end():
    made = with_xml(
        '<w:p W><w:r><w:t>The tower fell</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        "<w:r><w:t> in March.</w:t></w:r></w:p>"
    )
    notes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t> By storm.</w:t></w:r></w:p></w:footnote>'
        "</w:footnotes>"
    )
    data = saved(made)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        relations = archive.read("word/_rels/document.xml.rels").decode()
        kinds = archive.read("[Content_Types].xml").decode()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="rId99" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    content = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    override = f'<Override PartName="/word/footnotes.xml" ContentType="{content}"/></Types>'
    files = {
        "word/footnotes.xml": notes.encode(),
        "word/_rels/document.xml.rels": relations.replace("</Relationships>", relation).encode(),
        "[Content_Types].xml": kinds.replace("</Types>", override).encode(),
    }
    document = load(changed(data, files), "x.docx")
    assert texts(document) == ["The tower fell in March.", "By storm."]
    assert [(s.title, s.start) for s in document.sections] == [("Notes", 1)]


def test_a_table_of_contents_is_left_out_with_a_notice():
    made = docx.Document()
    for level in ("toc 1", "TOC Heading"):
        if level not in [s.name for s in made.styles]:
            made.styles.add_style(level, docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
    made.add_paragraph("Contents", style="TOC Heading")
    made.add_paragraph("The Arrival\t3", style="toc 1")
    made.add_heading("The Arrival", 1)
    made.add_paragraph("She came.")
    document = opened(made)
    assert texts(document) == ["She came."]
    assert [(w.code, w.count) for w in document.warnings] == [("contents", 4)]


def test_chapters_without_heading_styles():
    made = docx.Document()
    for text in ("Chapter I", "It began in rain.", "Chapter II", "It ended in sun."):
        made.add_paragraph(text)
    document = opened(made)
    assert [(s.title, s.start) for s in document.sections] == [("Chapter I", 0), ("Chapter II", 1)]


def test_external_entities_are_not_read():
    bad = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><w:document {W}><w:body><w:p>'
        "<w:r><w:t>Safe &a;text</w:t></w:r></w:p></w:body></w:document>"
    )
    document = load(changed(as_docx(sample("yuki-no-eki")), {"word/document.xml": bad.encode()}), "x.docx")
    assert texts(document) == ["Safe"]


def test_hostile_and_broken_files_fail_by_name():
    whole = as_docx(sample("harrow-council-minutes"))
    with pytest.raises(UnsafeDocumentError, match="zip bomb"):
        load(changed(whole, {"word/media.xml": b"0" * (40 << 20)}), "x.docx")
    with pytest.raises(DamagedDocumentError, match="again"):
        load(whole[: len(whole) // 2], "x.docx")
    with pytest.raises(DamagedDocumentError, match="again"):
        load(changed(whole, {"word/document.xml": b"<w:document"}), "x.docx")
    half = as_docx(sample("harrow-council-minutes"))
    with zipfile.ZipFile(BytesIO(half)) as archive:
        text = archive.read("word/document.xml")
    assert "mended" not in [notice.code for notice in load(half, "x.docx").warnings]
    for named in ({"word/styles.xml": None}, {"word/document.xml": text[: len(text) // 2]}):
        assert "mended" in [notice.code for notice in load(changed(whole, named), "x.docx").warnings]
    with pytest.raises(EmptyDocumentError):
        opened(docx.Document())
    with pytest.raises(WrongFormatError):
        load(b"Just some words.", "x.docx")


def test_a_locked_document_says_how_to_unlock_it():
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\x00" * 99
    with pytest.raises(ProtectedDocumentError, match="password"):
        load(ole, "letter.docx")


def test_a_title_of_wrong_letters_is_none():
    made = docx.Document()
    made.core_properties.title = "Ymj pjjujw fsi ymj qfru"
    made.add_paragraph("It rained, and the lamp was not lit on that evening.")
    assert opened(made).title == "A Letter"


def test_no_facts_are_invented_for_a_file_without_any():
    data = as_docx(sample("harrow-council-minutes"))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        relations = archive.read("_rels/.rels").decode()
    start = relations.index("<Relationship ", relations.index("core-properties") - 120)
    kept = relations[:start] + relations[relations.index("/>", relations.index("core-properties", start)) + 2 :]
    document = load(changed(data, {"_rels/.rels": kept.encode()}), "Some_Minutes.docx")
    assert document.author == ""
    assert document.title == sample("harrow-council-minutes").title
