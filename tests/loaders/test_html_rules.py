"""What browsers and reading systems do with HTML: numbers, quotation marks, tables, names in archives, entities."""

from __future__ import annotations

import unicodedata
import zipfile
from io import BytesIO

import pytest

from readagent_core.loaders import load
from tests.loaders.test_epub import CONTAINER, archive, book, outline, package, page, texts
from tests.loaders.test_markup_faults import notices, titles, web
from tests.loaders.test_text import PROSE


@pytest.mark.parametrize(
    "name", ["related-work", "social-effects", "share-of-votes", "cookies-in-kitchens", "ads-1890"]
)
@pytest.mark.parametrize("tag", ["section", "div"])
def test_a_section_with_an_unlucky_id_is_text(name, tag):
    words = name.replace("-", " ")
    document = web(f"<p>{PROSE * 5}</p><{tag} id='{name}'><h2>{words}</h2><p>Of {words}.</p></{tag}>")
    assert f"Of {words}." in texts(document)


@pytest.mark.parametrize(
    "name", ["related", "social-share", "cookie-banner", "share-buttons", "comments", "sidebar-left"]
)
def test_what_surrounds_the_text_is_still_left_out(name):
    assert texts(web(f"<p>{PROSE * 5}</p><div id='{name}'><p>Not text.</p></div>")) == [(PROSE * 5).strip()]


@pytest.mark.parametrize(
    "inner",
    [
        'Two<span class="mw-editsection">[<a href="/e">edit</a>]</span>',
        '<button aria-expanded="true">Two</button>',
        'Two <a class="headerlink" href="#two">¶</a>',
        "Two <button>Copy link</button>",
        '<a href="#two">Two</a>',
    ],
)
def test_a_heading_keeps_its_words_only(inner):
    assert titles(web(f"<h2>One</h2><p>{PROSE}</p><h2 id='two'>{inner}</h2><p>{PROSE}</p>")) == ["One", "Two"]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("He said <q>yes, <q>never</q></q>.", "He said “yes, ‘never’”."),
        ("It was <del>blue</del> <ins>red</ins>.", "It was red."),
        ('<img alt="T" src="t.png"/>he storm came.', "The storm came."),
        ('<img alt="Illuminated letter A" src="t.png"/> storm came.', "A storm came."),
        ('<span class="dropcap">M</span> organ lit it.', "Morgan lit it."),
        ("<svg><text>M</text></svg>organ lit it.", "Morgan lit it."),
    ],
)
def test_signs_that_a_browser_draws_are_in_the_text(inner, expected):
    assert texts(web(f"<p>{inner}</p>")) == [expected]
    assert texts(book(f"<p>{inner}</p>")) == [expected]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("<div class='cap'>M</div>", "<p>organ lit the lamp.</p>", "Morgan lit the lamp."),
        ("<p>T</p>", "<p>HE storm came.</p>", "THE storm came."),
        ("<p>“I</p>", "<p>t was late.”</p>", "“It was late.”"),
    ],
)
def test_a_letter_in_a_block_of_its_own_begins_the_text_below(first, second, expected):
    document = book(f"<h2>One</h2>{first}{second}<p>It was so, and the storm went on.</p>")
    assert texts(document) == [expected, "It was so, and the storm went on."]
    assert outline(document) == [("One", 0, 1)]


@pytest.mark.parametrize(
    ("attributes", "items", "expected"),
    [
        ('start="4"', ["a", "b"], "4. a\n5. b"),
        ('type="a"', ["x", "y"], "a. x\nb. y"),
        ('type="I" start="3"', ["x", "y"], "III. x\nIV. y"),
        ("reversed", ["x", "y", "z"], "3. x\n2. y\n1. z"),
        ("", ["x", '7"y', "z"], "1. x\n7. y\n8. z"),
    ],
)
def test_lists_count_as_a_browser_counts(attributes, items, expected):
    listed = "".join(f'<li value="{item}</li>' if '"' in item else f"<li>{item}</li>" for item in items)
    listed = listed.replace('value="7"y', 'value="7">y')
    assert texts(web(f"<ol {attributes}>{listed}</ol>")) == [expected]


def test_items_that_are_paragraphs_keep_their_numbers():
    items = "".join(f"<li><p>{PROSE}</p><p>{PROSE}</p></li>" for _ in range(2))
    assert [text[:3] for text in texts(web(f"<ol>{items}</ol>"))][::2] == ["1. ", "2. "]


def test_cells_that_span_rows_and_columns_leave_the_others_in_their_columns():
    table = (
        '<table><tr><th>Boat</th><th>Day</th><th>Oil</th></tr><tr><td rowspan="2">Gull</td><td>Monday</td>'
        '<td>3</td></tr><tr><td>Tuesday</td><td>4</td></tr><tr><td colspan="2">Sum</td><td>7</td></tr></table>'
    )
    assert texts(web(table)) == ["Boat\tDay\tOil", "Gull\tMonday\t3", "\tTuesday\t4", "Sum\t\t7"]


class Unflagged(zipfile.ZipInfo):
    """An entry whose name is in UTF-8 and does not say so."""

    def _encodeFilenameFlags(self):
        return self.filename.encode(), self.flag_bits & ~0x800


@pytest.mark.parametrize(
    ("href", "stored"),
    [
        ("caf%C3%A9.xhtml", "O/" + unicodedata.normalize("NFD", "café.xhtml")),
        (unicodedata.normalize("NFD", "café.xhtml"), "O/café.xhtml"),
        ("a%20b.xhtml", "O/a%20b.xhtml"),
        ("a b.xhtml", "O/a%20b.xhtml"),
        ("text/a.xhtml", "O\\text\\a.xhtml"),
        ("text\\a.xhtml", "O/text/a.xhtml"),
        ("caf%C3%A9.xhtml", "O/café.xhtml"),
    ],
)
def test_a_chapter_is_found_by_any_form_of_its_name(href, stored):
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        target.writestr("META-INF/container.xml", CONTAINER)
        target.writestr("O/b.opf", package(["z.xhtml", href]))
        target.writestr("O/z.xhtml", page("<p>First.</p>"))
        target.writestr(Unflagged(stored), page("<p>Found.</p>"))
    document = load(out.getvalue(), "x.epub")
    assert (texts(document), notices(document)) == (["First.", "Found."], {})


def test_a_table_of_contents_of_another_media_type_is_read():
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint id="n1"><navLabel><text>One</text>'
        '</navLabel><content src="c0.xhtml"/></navPoint></navMap></ncx>'
    )
    opf = package(["c0.xhtml"], others='<item id="ncx" href="toc.ncx" media-type="text/xml"/>', toc=' toc="ncx"')
    data = archive({"O/c0.xhtml": page("<p>A.</p>"), "O/toc.ncx": ncx, "O/b.opf": opf})
    assert outline(load(data, "x.epub")) == [("One", 0, 1)]


def test_a_dtd_of_its_own_gives_its_entities_and_leaves_nothing():
    chapter = (
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://x/y.dtd" ['
        '<!ENTITY hero "Ann Keeper"> <!ENTITY ship "<em>Lark</em>"><!ENTITY bomb "&hero;&hero;"> ]><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head>'
        "<body><p>&hero;&nbsp;came&mdash;at last on the &ship;. &unknown;</p></body></html>"
    )
    document = load(archive({"O/c0.xhtml": chapter, "O/b.opf": package(["c0.xhtml"])}), "x.epub")
    assert texts(document) == ["Ann Keeper came—at last on the Lark. &unknown;"]


def test_a_chapter_in_svg_is_read():
    lines = [
        "The lamp above the northern bay was lit at nine",
        "and burned until the morning of the second day.",
        "Nobody came.",
    ]
    svg = "".join(f'<text x="10" y="{20 * n}"><tspan>{line}</tspan></text>' for n, line in enumerate(lines, start=1))
    drawn = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{svg}</svg>'
    opf = package(["c0.xhtml", "c1.svg"]).replace(
        '"c1.svg" media-type="application/xhtml+xml"', '"c1.svg" media-type="image/svg+xml"'
    )
    document = load(archive({"O/c0.xhtml": page("<p>A.</p>"), "O/c1.svg": drawn, "O/b.opf": opf}), "x.epub")
    assert all(line in document.text() for line in lines)
    assert all(line in book(f"<div>{drawn}</div>").text() for line in lines)
    two = '<text><tspan x="1" y="2">The lamp was</tspan><tspan x="1" y="4">out.</tspan></text>'
    drawn = drawn.replace("</svg>", f"{two}</svg>")
    document = load(archive({"O/c0.xhtml": page("<p>A.</p>"), "O/c1.svg": drawn, "O/b.opf": opf}), "x.epub")
    assert texts(document)[-1] == "The lamp was out."


def test_xhtml_with_a_prefix_is_read_as_any_other():
    chapter = (
        '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title/></h:head><h:body><h:h2>One</h:h2><h:p>A.</h:p>'
        "<h:p>B.</h:p></h:body></h:html>"
    )
    document = load(archive({"O/c0.xhtml": chapter, "O/b.opf": package(["c0.xhtml"])}), "x.epub")
    assert (texts(document), titles(document)) == (["A.", "B."], ["One"])


def test_an_ornament_with_a_description_is_no_text_and_a_picture_of_its_own_is():
    body = "".join(f'<p>Sentence {n} <img src="o.png" alt="picto"/> goes on.</p>' for n in range(6))
    document = book(f'{body}<p>See <img src="m.png" alt="A map of the sound"/> there.</p>')
    assert texts(document)[0] == "Sentence 0 goes on."
    assert texts(document)[-1] == "See [A map of the sound] there."


def test_links_of_the_site_are_no_text_and_the_author_is_who_the_page_names():
    chrome = '<p><a href="p">« Previous</a> | <a href="n">Next »</a></p><div><a href="d">Donate</a></div>'
    byline = '<p>By <a rel="author" href="/ann">Ann Keeper</a></p>'
    document = web(
        f"{chrome}{byline}<p>{PROSE}</p><p><a href='x'>Next</a> he lit the lamp.</p>{chrome}", "<title>T</title>"
    )
    assert texts(document)[-2:] == [PROSE.strip(), "Next he lit the lamp."]
    assert document.author == "Ann Keeper"
    assert notices(document)["furniture"] == 12
    site = '<meta name="author" content="The Bay"><meta property="og:site_name" content="The Bay">'
    assert web(f"{byline}<p>{PROSE}</p>", f"<title>T</title>{site}").author == "Ann Keeper"


def test_single_letters_of_a_table_or_a_list_stay_apart():
    cells = "".join(f"<p>{cell}</p>" for cell in ("A", "b", "c", "I", "II", "B", "is for the boat."))
    assert texts(book(f"<p>One.</p>{cells}"))[:6] == ["One.", "A", "b", "c", "I", "II"]


SCRIPT = f"<script>{'call(); ' * 2000}</script>"
COMMENTS = f"<div class='comments'>{'<p>I saw that lamp too, and said so.</p>' * 200}</div>"


@pytest.mark.parametrize(
    "around",
    [
        "<div class='modal-overlay'>{}</div>" + SCRIPT,
        "<div class='nav drawer'><h1>The Lamps</h1>"
        + "{0}" * 20
        + "</div>"
        + "<p>Other lamps, and what is said of them.</p>" * 60,
        "<noscript><div></noscript><div>{}</div>",
    ],
)
def test_text_is_not_lost_with_what_is_around_it(around):
    assert PROSE.strip() in texts(web(around.format(f"<p>{PROSE}</p>")))


@pytest.mark.parametrize("around", [COMMENTS, COMMENTS.replace("div class='comments'", "aside")])
def test_an_article_stays_and_the_longer_thread_below_it_is_told(around):
    document = web(f"<h1>The Lamps</h1>{f'<p>{PROSE * 5}</p>' * 3}{around}")
    assert texts(document) == [(PROSE * 5).strip()] * 3
    assert [w.count for w in document.warnings if w.code == "furniture"] == [1600]


def test_names_of_two_authors_stay_apart():
    assert web(f"<p rel='author'><a>Anna Holm</a><a>Piet Sand</a></p><p>{PROSE}</p>").author == "Anna Holm Piet Sand"
