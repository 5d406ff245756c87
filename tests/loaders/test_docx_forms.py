"""What Word stores in forms of its own: equations, symbols, numbers of headings, fields, links, other documents."""

from __future__ import annotations

import zipfile
from io import BytesIO

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from readagent_core.document import SpanKind
from readagent_core.loaders import load
from tests.loaders.test_beside_text import spans
from tests.loaders.test_docx import changed, opened, saved, texts, with_xml
from tests.loaders.test_markup_faults import notices

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
W = nsdecls("w")
P = f"<w:p {W} {R}>"
RUN, END = "<w:r><w:t xml:space='preserve'>", "</w:t></w:r>"


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("omml", "line"),
    [
        (f"<m:f><m:num>{r('1')}</m:num><m:den>{r('2')}</m:den></m:f>", "½"),
        (f"{r('1')}<m:f><m:num>{r('3')}</m:num><m:den>{r('4')}</m:den></m:f>", "1¾"),
        (f"<m:sSup><m:e>{r('10')}</m:e><m:sup>{r('6')}</m:sup></m:sSup>", "10⁶"),
        (f"<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>{r('16')}</m:e></m:rad>", "√16"),
        (f"<m:sSubSup><m:e>{r('x')}</m:e><m:sub>{r('1')}</m:sub><m:sup>{r('2')}</m:sup></m:sSubSup>", "x₁²"),
        (f"<m:f><m:num>{r('a+b')}</m:num><m:den>{r('c')}</m:den></m:f>", "(a+b)/c"),
        (
            f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{r('i=1')}</m:sub><m:sup>{r('n')}</m:sup>"
            f"<m:e>{r('i')}</m:e></m:nary>",
            "∑ᵢ₌₁ⁿ i",
        ),
        (f"<m:acc><m:accPr><m:chr m:val='\u0302'/></m:accPr><m:e>{r('x')}</m:e></m:acc>", "x\u0302"),
    ],
)
def test_an_equation_is_a_line_that_keeps_its_numbers(omml, line):
    made = with_xml(
        f"<w:p {W} {M}><w:r><w:t xml:space='preserve'>Add </w:t></w:r><m:oMath>{omml}</m:oMath>"
        "<w:r><w:t xml:space='preserve'> cup.</w:t></w:r></w:p>"
    )
    document = opened(made)
    assert texts(document) == [f"Add {line} cup."]
    assert spans(document, SpanKind.FORMULA)[0][1] == line


def test_symbols_page_breaks_and_drop_caps_keep_words_whole():
    made = with_xml(
        f'{P}{RUN}A fever is {END}<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>{RUN} 39 degrees {END}'
        '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:font="Wingdings" w:char="F06F"/></w:r></w:p>',
        f'{P}<w:r><w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>a</w:t></w:r>{RUN} and b{END}</w:p>',
        f'{P}<w:r><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:t>à</w:t></w:r>{RUN} step {END}'
        '<w:r><w:sym w:font="Wingdings" w:char="F081"/><w:sym w:font="Wingdings 2" w:char="F076"/></w:r></w:p>',
        f'{P}<w:r><w:t>The end</w:t><w:br w:type="page"/><w:t>Beginning</w:t></w:r></w:p>',
        f'{P}<w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>M</w:t></w:r></w:p>',
        f"{P}<w:r><w:t>organ lit the lamp.</w:t></w:r></w:p>",
        f'{P}<w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>A</w:t></w:r></w:p>',
        f'{P}<w:r><w:t xml:space="preserve"> storm came.</w:t></w:r></w:p>',
    )
    assert texts(opened(made)) == [
        "A fever is ≥ 39 degrees ✓□",
        "α and b",
        "→ step ①❷",
        "The end",
        "Beginning",
        "Morgan lit the lamp.",
        "A storm came.",
    ]


def test_ruby_keeps_base_and_reading():
    made = with_xml(
        f"{P}<w:r><w:ruby><w:rt>{RUN}ゆき{END}</w:rt><w:rubyBase>{RUN}雪{END}</w:rubyBase></w:ruby></w:r>"
        f"{RUN}の駅{END}</w:p>"
    )
    assert spans(opened(made), SpanKind.RUBY) == [(0, "雪", "ゆき", None)]


def numbered(text: str):
    """A document whose heading style has numbers of the form ``text``."""
    made = docx.Document()
    numbering = made.part.numbering_part.element
    numbering.insert(
        0,
        parse_xml(
            f'<w:abstractNum {W} w:abstractNumId="77"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
            '<w:numFmt w:val="decimal"/>'
            f'<w:pStyle w:val="Heading1"/><w:lvlText w:val="{text}"/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/>'
            '<w:numFmt w:val="lowerLetter"/><w:pStyle w:val="Heading2"/><w:lvlText w:val="%1.%2"/></w:lvl>'
            "</w:abstractNum>"
        ),
    )
    numbering.append(parse_xml(f'<w:num {W} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for name in ("Heading 1", "Heading 2"):
        settings = made.styles[name].element.get_or_add_pPr()
        settings.append(parse_xml(f'<w:numPr {W}><w:numId w:val="77"/></w:numPr>'))
    return made


def test_numbers_of_headings_are_part_of_them():
    made = numbered("Article %1.")
    for name, level in (("Scope", 1), ("Terms", 1), ("Lamp", 2), ("Duties", 1)):
        made.add_heading(name, level)
        made.add_paragraph("Text.")
    titles = [section.title for section in opened(made).sections]
    assert titles == ["Article 1. Scope", "Article 2. Terms", "2.a Lamp", "Article 3. Duties"]


def test_fields_of_old_forms_keep_their_state():
    def field(data: str, result: str = "") -> str:
        return (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r><w:r><w:instrText>F'
            f'</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )

    yes = field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')
    no = field('<w:checkBox><w:default w:val="0"/></w:checkBox>')
    choice = field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="Red"/><w:listEntry w:val="Blue"/></w:ddList>')
    typed = field("<w:textInput/>", "<w:r><w:t>Ann</w:t></w:r>")
    made = with_xml(f"{P}{yes}{RUN} Yes {END}{no}{RUN} No, {END}{choice}{RUN}, {END}{typed}</w:p>")
    assert texts(opened(made)) == ["☒ Yes ☐ No, Blue, Ann"]


def test_links_and_notes_lead_to_their_places():
    made = with_xml(
        f'{P}{RUN}See {END}<w:hyperlink w:anchor="lamp">{RUN}the lamp{END}</w:hyperlink>'
        f'<w:r><w:footnoteReference w:id="2"/></w:r>{RUN}, or {END}<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        '<w:r><w:instrText> HYPERLINK "https://example.org/a" </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>the site</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>.</w:t></w:r></w:p>',
        f"{P}<w:r><w:t>Between.</w:t></w:r></w:p>",
        f'{P}<w:bookmarkStart w:id="5" w:name="lamp"/><w:r><w:t>The lamp.</w:t></w:r></w:p>',
    )
    footnotes = (
        f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>By storm.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    data = saved(made)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        relations = archive.read("word/_rels/document.xml.rels").decode()
        kinds = archive.read("[Content_Types].xml").decode()
    relation = f'<Relationship Id="rId99" Type="{RELATIONSHIP_TYPE.FOOTNOTES}" Target="footnotes.xml"/></Relationships>'
    content = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    override = f'<Override PartName="/word/footnotes.xml" ContentType="{content}"/></Types>'
    parts = {
        "word/footnotes.xml": footnotes.encode(),
        "word/_rels/document.xml.rels": relations.replace("</Relationships>", relation).encode(),
        "[Content_Types].xml": kinds.replace("</Types>", override).encode(),
    }
    document = load(changed(data, parts), "x.docx")
    assert texts(document) == ["See the lamp, or the site.", "Between.", "The lamp.", "By storm."]
    assert spans(document, SpanKind.LINK) == [(0, "the lamp", "", 2), (0, "the site", "https://example.org/a", None)]
    assert spans(document, SpanKind.NOTE) == [(0, "", "1", 3)]
    assert document.paragraphs[3].note


def with_chunk(data: bytes, kind: str, name: str) -> bytes:
    made = docx.Document()
    made.add_paragraph("Before.")
    part = Part(PackURI(f"/word/{name}"), kind, data, made.part.package)
    place = made.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk")
    made.element.body.insert(1, parse_xml(f'<w:altChunk {W} {R} r:id="{place}"/>'))
    return saved(made)


def test_a_document_within_a_document_is_read_or_told():
    page = b"<html><body><h2>Inside</h2><p>Of the chunk: 4<sup>2</sup>.</p></body></html>"
    document = load(with_chunk(page, "text/html", "afchunk.html"), "x.docx")
    assert "Of the chunk: 4²." in document.text()
    inner = docx.Document()
    inner.add_paragraph("In the inner file.")
    assert "In the inner file." in load(with_chunk(saved(inner), "application/x", "afchunk.docx"), "x.docx").text()
    lost = load(with_chunk(b"{\\rtf1 Words}", "application/rtf", "afchunk.rtf"), "x.docx")
    assert notices(lost)["parts-left-out"] == 1


def test_first_paragraphs_that_repeat_the_name_of_the_file_stay():
    made = docx.Document()
    for text in ("A Letter", "A Letter", "It rained."):
        made.add_paragraph(text)
    assert texts(opened(made)) == ["A Letter", "A Letter", "It rained."]
