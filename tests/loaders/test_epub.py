"""EPUB: sections from nav, NCX, anchors and headings; notes, ruby, verse; locks, missing parts."""

from __future__ import annotations

import zipfile
from base64 import b64encode
from io import BytesIO

import pytest

from readagent_core.document import Cover
from readagent_core.errors import DamagedDocumentError, EmptyDocumentError, NoTextError, ProtectedDocumentError
from readagent_core.loaders import load
from tests.loaders.making import as_epub, sample

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="O/b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 60


def package(spine: list[str], *, others: str = "", metadata: str = "", toc: str = "") -> str:
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(spine)
    )
    references = "".join(f'<itemref idref="i{n}"/>' for n in range(len(spine)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="u">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">'
        f"<dc:title>The Book</dc:title><dc:language>en</dc:language>{metadata}</metadata>"
        f"<manifest>{items}{others}</manifest><spine{toc}>{references}</spine></package>"
    )


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body>{body}</body></html>'
    )


def archive(files: dict[str, str | bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in {"META-INF/container.xml": CONTAINER, **files}.items():
            target.writestr(name, content)
    return out.getvalue()


def book(*bodies: str, nav: str = "", **options: str):
    names = [f"c{n}.xhtml" for n in range(len(bodies))]
    files: dict[str, str | bytes] = {f"O/{n}": page(b) for n, b in zip(names, bodies, strict=True)}
    others = options.pop("others", "")
    if nav:
        files["O/nav.xhtml"] = page(f'<nav epub:type="toc">{nav}</nav>')
        others += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    return load(archive({**files, "O/b.opf": package(names, others=others, **options)}), "book.epub")


def outline(document) -> list[tuple[str, int, int]]:
    return [(s.title, s.start, s.level) for s in document.sections]


def texts(document) -> list[str]:
    return [p.text for p in document.paragraphs]


def test_nav_at_any_depth_and_by_anchor():
    document = book(
        '<p id="a">One.</p><p id="b">Two.</p>',
        "<p>Three.</p>",
        nav='<ol><li><a href="c0.xhtml">Part</a><ol><li><a href="c0.xhtml#a">First</a></li>'
        '<li><a href="c0.xhtml#b">Second</a></li></ol></li><li><span>No link</span></li>'
        '<li><a href="c1.xhtml">Third</a></li></ol>',
    )
    assert outline(document) == [("Part", 0, 1), ("First", 0, 2), ("Second", 1, 2), ("Third", 2, 1)]


def test_ncx():
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        '<navPoint id="n1"><navLabel><text>One</text></navLabel>'
        '<content src="c0.xhtml"/><navPoint id="n2"><navLabel><text>Inner</text></navLabel>'
        '<content src="c0.xhtml#x"/></navPoint></navPoint></navMap></ncx>'
    )
    opf = package(
        ["c0.xhtml"], others='<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>', toc=' toc="ncx"'
    )
    data = archive({"O/c0.xhtml": page('<p>A.</p><p id="x">B.</p>'), "O/toc.ncx": ncx, "O/b.opf": opf})
    assert outline(load(data, "x.epub")) == [("One", 0, 1), ("Inner", 1, 2)]


def test_a_heading_and_its_entry_are_one_section():
    document = book(
        "<h1>Chapter 1</h1><h2>The Sea</h2><p>A.</p><h3>A scene</h3><p>B.</p>",
        nav='<ol><li><a href="c0.xhtml">Chapter 1: The Sea</a></li></ol>',
    )
    assert outline(document) == [("Chapter 1: The Sea", 0, 1), ("A scene", 1, 2)]


def test_headings_alone_make_sections():
    assert outline(book("<h1>One</h1><p>A.</p><h2>Sub</h2><p>B.</p>", "<h1>Two</h1><p>C.</p>")) == [
        ("One", 0, 1),
        ("Sub", 1, 2),
        ("Two", 2, 1),
    ]


def test_notes_leave_the_sentence_and_stand_at_the_end():
    document = book(
        '<p>A sentence<a epub:type="noteref" href="#n1"><sup>1</sup></a> goes on.<sup><a href="#n2">2</a></sup></p>'
        '<aside epub:type="footnote" id="n1"><p>The note. <a epub:type="backlink" href="#r">↩</a></p></aside>'
        "<p>Next.</p>"
    )
    assert texts(document) == ["A sentence goes on.", "Next.", "The note."]
    assert outline(document) == [("Notes", 2, 1)]


def test_ruby_is_read_once_and_pictures_leave_their_words():
    document = book(
        '<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>だ。</p><p><img src="x.png" alt="A red boat"/></p>'
    )
    assert texts(document) == ["漢字だ。", "[A red boat]"]


def test_verse_and_lists_keep_their_lines_and_tables_are_read_by_rows():
    document = book(
        "<p>One line<br/>and two</p><div class='linegroup'><div>April is</div><div>the cruellest</div></div>"
        "<ol><li>first</li><li>second<ul><li>inner</li></ul></li></ol>"
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre>x\n  y</pre>"
    )
    assert texts(document) == [
        "One line\nand two",
        "April is\nthe cruellest",
        "1. first\n2. second\n  inner",
        "a\tb",
        "1\t2",
        "x\n  y",
    ]


def test_authors_language_and_cover():
    document = book(
        "<p>Hallo.</p>",
        metadata='<dc:creator opf:role="aut">A. One</dc:creator><dc:creator opf:role="ill">B. Two</dc:creator>'
        '<meta name="cover" content="c"/>',
        others='<item id="c" href="c.png" media-type="image/png"/>',
    )
    assert document.author == "A. One"
    assert document.cover is None  # the picture is named but missing


def test_cover_is_kept():
    opf = package(["c0.xhtml"], others='<item id="c" href="p.png" media-type="image/png" properties="cover-image"/>')
    document = load(archive({"O/c0.xhtml": page("<p>A.</p>"), "O/p.png": PNG, "O/b.opf": opf}), "x.epub")
    assert document.cover is not None
    assert (document.cover.data, document.cover.kind) == (PNG, "image/png")


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("p.png", True),
        (f"data:image/png;base64,{b64encode(PNG).decode()}", True),
        ("", False),
        ("http://x/p.png", False),
    ],
)
def test_of_a_cover_that_is_a_drawing_the_picture_in_it_is_kept_else_it_is_told(address, kept):
    opf = package(
        ["c0.xhtml"], others='<item id="c" href="c.svg" media-type="image/svg+xml" properties="cover-image"/>'
    )
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg"><script>x()</script><image width="9" xlink:href="{address}"/>'
    files = {"O/c0.xhtml": page("<p>A.</p>"), "O/p.png": PNG, "O/c.svg": f"{drawing}</svg>", "O/b.opf": opf}
    document = load(archive(files), "x.epub")
    # nothing is fetched, and no drawing is passed on
    assert document.cover == (Cover(PNG, "image/png") if kept else None)
    assert [notice.code for notice in document.warnings] == ([] if kept else ["cover-drawn"])


def test_gutenbergs_licence_is_left_out_with_a_notice():
    start, end = (f"<p>*** {word} OF THE PROJECT GUTENBERG EBOOK X ***</p>" for word in ("START", "END"))
    document = book(f"<p>About this book.</p>{start}<p>Here it begins.</p>", f"<p>Here it ends.</p>{end}<p>Licence</p>")
    assert [p.text for p in document.paragraphs] == ["Here it begins.", "Here it ends."]
    assert [notice.code for notice in document.warnings] == ["gutenberg"]


def test_the_metadata_of_epub_3_names_roles_and_an_older_one_the_cover():
    metadata = (
        '<dc:creator id="a">A. One</dc:creator><meta refines="#a" property="role">aut</meta>'
        '<dc:creator id="b">B. Two</dc:creator><meta refines="#b" property="role">trl</meta>'
        '<meta name="cover" content="front"/>'
    )
    cover = '<item id="front" href="p.png" media-type="image/png"/>'
    opf = package(["front.xhtml", "c0.xhtml"], metadata=metadata, others=cover)
    files = {"O/front.xhtml": page('<img src="p.png"/>'), "O/c0.xhtml": page("<p>A.</p>"), "O/p.png": PNG}
    document = load(archive({**files, "O/b.opf": opf}), "x.epub")
    assert document.author == "A. One"
    assert document.cover is not None
    assert not document.warnings  # the page that shows only the cover is not named as one that was left out


def test_chapters_of_any_html_type_and_any_case_are_read():
    opf = (
        package([], others="")
        .replace("<manifest>", '<manifest><item id="a" href="C%201.HTM" media-type="text/html"/>')
        .replace("<spine>", '<spine><itemref idref="a"/>')
    )
    document = load(archive({"O/c 1.htm": "<p>Found.<p>Both.", "O/b.opf": opf}), "x.epub")
    assert texts(document) == ["Found.", "Both."]


def test_missing_and_outside_parts_have_notices():
    others = '<item id="z" href="z.xhtml" media-type="application/xhtml+xml"/>'
    opf = package(["c0.xhtml", "gone.xhtml"], others=others).replace("<itemref", "<!-- a remark --><itemref", 1)
    files = {"O/c0.xhtml": page("<p>Here.</p>"), "O/z.xhtml": page("<p>Outside.</p>"), "O/b.opf": opf}
    notices = {w.code: w for w in load(archive(files), "x.epub").warnings}
    assert notices["parts-missing"].count == 1
    assert "1 part (gone.xhtml)" in notices["parts-missing"].message
    assert "1 part (z.xhtml)" in notices["parts-outside"].message


CHAPTERS = tuple(f"<h2>{name}</h2>" + "<p>He lit the lamp and wrote.</p>" * 40 for name in ("One", "Two"))
IMPRINT = "<p>This ebook is the product of many hours of work by the Press.</p>"


def test_the_publishers_pages_are_set_apart_and_named():
    document = book(
        f'<section epub:type="imprint"><h2>Imprint</h2>{IMPRINT}</section>',
        *CHAPTERS,
        "<p>All rights reserved.</p>",
        nav="<ol><li><a href='c0.xhtml'>Imprint</a></li><li><a href='c3.xhtml'>Copyright</a></li></ol>",
    )
    assert [s.title for s in document.sections] == ["One", "Two"]
    assert set(texts(document)) == {"He lit the lamp and wrote."}
    notice = document.warnings[0]
    assert (notice.code, notice.count) == ("publisher", 17)
    assert "Imprint, Copyright: 17 words" in notice.message


@pytest.mark.parametrize(
    "bodies",
    [
        (f'<section epub:type="imprint">{IMPRINT}</section>',),  # nothing else is there
        (f'<section epub:type="colophon">{IMPRINT * 200}</section>', *CHAPTERS * 40),  # too long for a colophon
        (f'<section epub:type="colophon">{IMPRINT}</section><p>A chapter.</p>', *CHAPTERS),  # beside text
    ],
)
def test_what_may_be_the_book_is_not_set_apart(bodies):
    document = book(*bodies)
    assert any("many hours of work" in text for text in texts(document))
    assert not document.warnings


def test_a_title_page_is_text_and_no_chapter():
    nav = "<ol><li><a href='c0.xhtml'>Titlepage</a></li><li><a href='c1.xhtml'>One</a></li></ol>"
    title = "<section epub:type='titlepage'><h1>The Book</h1><h2>A Tale</h2><p>Translated by A. Keeper.</p></section>"
    document = book(title, *CHAPTERS, nav=nav)
    assert [s.title for s in document.sections] == ["One", "Two"]
    assert texts(document)[:2] == ["A Tale", "Translated by A. Keeper."]


@pytest.mark.parametrize("broken", ["<package", "", "<package xmlns='http://www.idpf.org/2007/opf'/>"])
def test_a_broken_package_opens_in_the_order_of_file_names(broken):
    files = {f"O/c{n}.xhtml": page(f"<p>Part {n}.</p>") for n in (10, 9)}
    document = load(archive({**files, "O/b.opf": broken}), "Some_Book.epub")
    assert texts(document) == ["Part 9.", "Part 10."]
    assert document.title == "Some Book"
    assert "order-guessed" in [w.code for w in document.warnings]


def encrypted(algorithm: str, target: str) -> dict[str, str | bytes]:
    return {
        "O/c0.xhtml": page("<p>Text.</p>"),
        "O/b.opf": package(["c0.xhtml"]),
        "META-INF/encryption.xml": (
            '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData><enc:CipherReference URI="{target}"/>'
            "</enc:CipherData></enc:EncryptedData></encryption>"
        ),
    }


def test_drm_is_told_from_obfuscated_fonts():
    assert texts(load(archive(encrypted("http://www.idpf.org/2008/embedding", "O/f.otf")), "x.epub")) == ["Text."]
    with pytest.raises(ProtectedDocumentError, match="DRM"):
        load(archive(encrypted("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "O/c0.xhtml")), "x.epub")


def test_a_book_of_pictures_is_not_ready():
    with pytest.raises(NoTextError, match="pictures"):
        book('<img src="a.jpg" alt=""/>', '<img src="b.jpg"/>')
    with pytest.raises(EmptyDocumentError):
        book("<p> </p>")


def test_an_archive_without_chapters_is_damaged():
    with pytest.raises(DamagedDocumentError, match="no chapters"):
        load(archive({"O/b.opf": package([])}), "x.epub")


def test_a_cut_off_download_is_damaged():
    data = as_epub(sample("yuki-no-eki"))
    with pytest.raises(DamagedDocumentError, match="again"):
        load(data[: len(data) // 2], "x.epub")


def test_external_entities_are_not_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    entity = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]>'
    files = {
        "O/c0.xhtml": f"{entity}<html><body><p>Here: &x;</p></body></html>",
        "O/b.opf": f"{entity}{package(['c0.xhtml'], metadata='<dc:creator>&x;</dc:creator>')}",
    }
    document = load(archive(files), "x.epub")
    assert "the secret" not in document.text() + document.author


@pytest.mark.parametrize(
    ("css", "direction", "vertical"),
    [
        ("html { -epub-writing-mode: vertical-rl }", "", True),
        ("body.main{margin:0;writing-mode:vertical-rl;}", "", True),
        (".vrtl { writing-mode: vertical-rl } .hltr { writing-mode: horizontal-tb }", "", False),
        (".vrtl { writing-mode: vertical-rl } .hltr { writing-mode: horizontal-tb }", "rtl", True),
        ("body { margin: 0 }", "rtl", False),
    ],
)
def test_a_book_set_from_top_to_bottom_is_known_by_its_style_sheet(css, direction, vertical):
    style = '<item id="css" href="s.css" media-type="text/css"/>'
    spine = f' page-progression-direction="{direction}"' if direction else ""
    files = {"O/c0.xhtml": page("<p>Text.</p>"), "O/s.css": css}
    document = load(archive({**files, "O/b.opf": package(["c0.xhtml"], others=style, toc=spine)}), "book.epub")
    assert document.vertical is vertical
    assert type(document).from_dict(document.to_dict()).vertical is vertical
