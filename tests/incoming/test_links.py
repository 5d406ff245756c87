"""A web address or a pasted text becomes a book that says where its text came from; what fails adds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from readagent_core.errors import DocumentError, EmptyDocumentError, LinkError, TooLargeError, UnsafeLinkError
from readagent_core.incoming.links import as_address, can_fetch_again, fetch_again, open_link, open_pasted_text
from readagent_core.loaders import DEFAULT, load
from tests.fakes.web import WebServer, redirect, reply
from tests.loaders.making import Press, as_text, sample

HTML = "text/html; charset=utf-8"
SENTENCES = [f"The lamp of Harrow was lit for the {n}th night, and no ship came past the rocks." for n in range(1, 30)]
ARTICLE = f"""<!doctype html><html lang="en"><head><title>A lamp goes out | The Harrow Post</title>
<meta property="og:type" content="article"><meta property="og:site_name" content="The Harrow Post">
<meta name="author" content="Mina Vale"><meta property="article:published_time" content="2026-03-04T10:00:00Z"></head>
<body><div class="top-of-page"><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></div>
<div class="entry"><h1>A lamp goes out</h1><p>{" ".join(SENTENCES[:4])}</p><p>{" ".join(SENTENCES[4:8])}</p>
<h2>What the keeper saw</h2><p>{" ".join(SENTENCES[8:14])}</p><ul><li>a broken lens</li><li>an open door</li></ul>
<blockquote><p>“I heard nothing,” she said, “and I was awake until the morning.”</p></blockquote>
<h2>What comes next</h2><p>{" ".join(SENTENCES[14:20])}</p></div>
<div class="more-stories"><p><a href="/1">Ten boats you must see</a></p>
<p><a href="/2">The best nets of 2026</a></p></div>
</body></html>""".encode()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" https://example.org/a?b=c \n", "https://example.org/a?b=c"),
        ("HTTP://EXAMPLE.ORG", "HTTP://EXAMPLE.ORG"),
        ("www.example.org/a", "https://www.example.org/a"),
        ("example.org", "https://example.org"),
        ("file:///etc/passwd", "file:///etc/passwd"),  # an address, which is then refused
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("See https://example.org for more.", ""),
        ("https://example.org\nhttps://example.com", ""),
        ("One word.", ""),
        ("吾輩は猫である。名前はまだ無い。", ""),
        ("", ""),
    ],
)
def test_an_address_is_told_from_a_text(text, address):
    assert as_address(text) == address


def test_an_article_is_added_with_its_headings_and_where_it_came_from(workspace):
    with WebServer({"/go": redirect("/post"), "/post": reply(ARTICLE, HTML)}) as server:
        book = open_link(workspace, server.at("/go"), rules=server.rules())
        assert (book.title, book.author, book.language) == ("A lamp goes out", "Mina Vale", "en")
        assert (book.source_name, can_fetch_again(book)) == (server.at("/post"), True)
    document = workspace.library.document(book.id)
    assert [s.title for s in document.sections] == ["What the keeper saw", "What comes next"]
    text = document.text()
    assert [sentence for sentence in SENTENCES[:20] if sentence not in text] == []
    assert "broken lens" in text
    assert "I heard nothing" in text
    assert "Ten boats" not in text
    assert "News" not in text
    notices = {notice.code: notice.message for notice in document.warnings}
    assert server.at("/post") in notices["fetched"]
    assert "20" in notices["fetched"]
    assert "The Harrow Post" in notices["article"]
    assert "2026-03-04" in notices["article"]


def test_a_page_that_is_no_article_keeps_all_its_text(workspace):
    page = ARTICLE.replace(b'content="article"', b'content="website"')
    with WebServer({"/": reply(page, HTML)}) as server:
        book = open_link(workspace, server.at("/"), rules=server.rules())
    document = workspace.library.document(book.id)
    assert [sentence for sentence in SENTENCES[:20] if sentence not in document.text()] == []
    assert "Ten boats" in document.text()
    assert "article" not in [notice.code for notice in document.warnings]


@pytest.mark.parametrize(
    ("make", "kind", "format"),
    [
        (Press(), "application/octet-stream", "pdf"),
        (as_text, "text/plain", "text"),
    ],
)
def test_a_file_at_an_address_is_opened_as_the_file(workspace, make, kind, format):
    data = make(sample("harrow-council-minutes"))
    with WebServer({"/files/minutes": reply(data, kind)}) as server:
        book = open_link(workspace, server.at("/files/minutes"), rules=server.rules())
    assert (book.format, book.source_name) == (format, server.at("/files/minutes"))
    assert book.document_id == load(data, "minutes").id


def test_fetching_again_adds_a_version_only_where_the_text_has_changed(workspace):
    text = b"A lamp goes out.\n\nThe keeper found a broken lens and an open door."
    with WebServer({"/post": reply(text, "text/plain")}) as server:
        book = open_link(workspace, server.at("/post"), rules=server.rules())
        assert fetch_again(workspace, book.id, rules=server.rules()) == book
        server.pages["/post"] = reply(text.replace(b"broken", b"whole"), "text/plain")
        changed = fetch_again(workspace, book.id, rules=server.rules())
        assert (changed.id, changed.version) == (book.id, 2)
        assert "whole lens" in workspace.library.document(book.id).text()


def test_the_encoding_that_the_server_names_is_used(workspace):
    text = "Žluťoučký kůň úpěl ďábelské ódy. " * 40
    with WebServer({"/k": reply(text.encode("iso-8859-2"), "text/plain; charset=ISO-8859-2")}) as server:
        book = open_link(workspace, server.at("/k"), rules=server.rules())
    assert "Žluťoučký kůň" in workspace.library.document(book.id).text()


@pytest.mark.parametrize(
    ("page", "error", "why"),
    [
        (reply(b"<html><body><script>draw()</script></body></html>", HTML), EmptyDocumentError, "runs no scripts"),
        (reply(b"\x89PNG\r\n\x1a\n" + bytes(50), "image/png"), DocumentError, "a picture"),
        (reply(b"%PDF-1.4 broken", "application/pdf"), DocumentError, "damaged"),
        (redirect("http://127.0.0.1:9/"), UnsafeLinkError, "“:9”"),
    ],
)
def test_what_cannot_be_opened_says_why_and_adds_nothing(workspace, page, error, why):
    with WebServer({"/": page}) as server, pytest.raises(error, match=why):
        open_link(workspace, server.at("/"), rules=server.rules())
    assert workspace.library.books() == []


def test_nothing_is_fetched_where_links_are_turned_off(workspace):
    workspace.reconnect(replace(workspace.settings, links=False))
    with WebServer({"/": reply(ARTICLE, HTML)}) as server:
        with pytest.raises(LinkError, match="turned off"):
            open_link(workspace, server.at("/"), rules=server.rules())
        assert server.connections == 0


@pytest.mark.parametrize(
    ("text", "title", "sections"),
    [
        ("A short title\n\nFirst line of the text.\n\nMore of it.", "A short title", 0),
        ("It was late.\nThe keeper slept in the chair beside the lamp.", "It was late. …", 0),
        ("word " * 100, "word word word word word word word word …", 0),
        ("Only this", "Only this", 0),
        ("# Title\n\nText.\n\n## One\n\nText of one.\n\n## Two\n\nText of two.", "Title", 2),
        ("a/b and c\\d.pdf\n\nText of it.\n\nMore.", "a/b and c\\d.pdf", 0),
    ],
)
def test_pasted_text_has_a_title_and_its_headings(workspace, text, title, sections):
    book = open_pasted_text(workspace, f"\n  \n{text}\n")
    assert book.title == title
    document = workspace.library.document(book.id)
    assert len(document.sections) == sections
    assert text.split()[-1] in document.text()
    assert not can_fetch_again(book)


def test_a_pasted_page_of_html_is_read_as_one(workspace):
    book = open_pasted_text(workspace, ARTICLE.decode())
    assert (book.title, book.format) == ("A lamp goes out", "html")


def test_pasting_nothing_or_too_much_adds_nothing(workspace):
    with pytest.raises(EmptyDocumentError, match="no text to add"):
        open_pasted_text(workspace, " \n\t ")
    with pytest.raises(TooLargeError, match="at most 32 MB"):
        open_pasted_text(workspace, "word " * (DEFAULT.text // 5 + 1))
    assert workspace.library.books() == []
