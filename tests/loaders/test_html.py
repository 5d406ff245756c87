"""Web pages: the main text without what surrounds it; nothing of the text is lost."""

from __future__ import annotations

import pytest

from readagent_core.errors import EmptyDocumentError
from readagent_core.loaders import load


def opened(body: str, head: str = "<title>The Page</title>"):
    return load(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode(), "page.html")


def texts(document) -> list[str]:
    return [p.text for p in document.paragraphs]


def test_furniture_is_left_out_and_counted():
    document = opened(
        "<header>The Site</header><nav>Home About</nav><div id='cookie-consent'>We use cookies</div>"
        "<article><h1>The Page</h1><p>The text of it, which is long enough to be most of the page.</p></article>"
        "<aside>Read also</aside><footer>Imprint</footer><script>alert(1)</script>"
    )
    assert texts(document) == ["The text of it, which is long enough to be most of the page."]
    notice = next(w for w in document.warnings if w.code == "furniture")
    assert notice.count == 10


def test_text_in_an_element_with_an_unlucky_name_is_kept():
    text = "This is the whole text of the page, in a division that is called a comment. " * 3
    assert texts(opened(f"<div class='comment'><p>{text}</p></div>")) == [text.strip()]


def test_headings_levels_lists_and_quotes():
    document = opened("<h1>A</h1><p>One.</p><h3>B</h3><p>Two.</p><ul><li>x</li><li>y</li></ul><h1>C</h1><p>Z</p>")
    assert [(s.title, s.start, s.level) for s in document.sections] == [("A", 0, 1), ("B", 1, 2), ("C", 3, 1)]
    assert texts(document) == ["One.", "Two.", "x\ny", "Z"]


def test_a_heading_that_is_there_twice_once_with_its_number_is_one_section():
    document = opened("<h1>II. The Lamp</h1><h2>The Lamp</h2><p>It burned.</p><h2>The Bell</h2><p>It rang.</p>")
    assert [s.title for s in document.sections] == ["II. The Lamp", "The Bell"]


def test_each_item_of_a_list_in_a_note_is_walked_as_a_note_is():
    document = opened(
        '<p>A lamp.</p><aside role="doc-footnote" id="n"><ul><li>Of oil.</li><li>Of gas.</li></ul></aside>'
    )
    assert texts(document) == ["A lamp.", "Of oil.", "Of gas."]


def test_two_line_breaks_part_paragraphs():
    assert texts(opened("First<br>line<br><br>Second <b>bold</b> &amp; more")) == ["First\nline", "Second bold & more"]


def test_a_script_in_one_preformatted_piece_has_paragraphs_and_a_listing_has_none():
    scene = "<b>INT. TOWER - NIGHT</b>\n\n          KEEPER\n    The bell, again.\n\n"
    script = opened(f"<pre>\n{scene * 20}</pre>")
    assert texts(script)[:2] == ["INT. TOWER - NIGHT", "KEEPER\nThe bell, again."]
    assert len(texts(script)) == 40
    listing = opened("<pre>a = 1\n\nb = 2</pre>")
    assert texts(listing) == ["a = 1\n\nb = 2"]


def test_title_author_language():
    document = load(
        b'<html lang="fr"><head><title>T</title><meta name="author" content="V. H."></head><body><p>Bonjour</p></body>',
        "x.html",
    )
    assert (document.title, document.author, document.language) == ("T", "V. H.", "fr")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_encodings(encoding):
    meta = "" if encoding == "utf-16" else f'<meta charset="{encoding}">'
    data = f"<!doctype html><html><head>{meta}</head><body><p>Größe – “ja”</p></body></html>".encode(encoding)
    assert texts(load(data, "x.html")) == ["Größe – “ja”"]


def test_deep_nesting_and_half_characters_do_no_harm():
    deep = "<div>" * 5_000 + "Deep text." + "</div>" * 5_000
    assert texts(opened(f"{deep}<p>After &#xD800; it.</p>"))[-1].startswith("After")


def test_empty():
    with pytest.raises(EmptyDocumentError):
        opened("<script>x</script>")


def test_a_title_that_a_page_escapes_twice_is_read():
    body = "<p>The text of it, which is long enough.</p>"
    assert opened(body, "<title>The &amp;amp;#039;Lamp&amp;amp;#039;</title>").title == "The 'Lamp'"
    assert opened(body, '<meta property="og:title" content="AT&amp;amp;T">').title == "AT&T"


def test_a_page_with_a_hundred_thousand_unclosed_parts_for_browsers_without_scripts_is_read_once():
    """Else each is looked for to the end of the page: minutes in place of a second."""
    assert texts(opened(f"<p>The text.</p>{'<noscript>' * 100_000}"))[0] == "The text."
