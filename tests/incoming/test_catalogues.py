"""Catalogues of books: their published shapes, what is sent to whom, and what is refused. All over HTTP on loopback."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from readagent_core.errors import (
    LinkError,
    LoginError,
    NoCatalogueError,
    NotThereError,
    UnreachableLinkError,
    UnsafeLinkError,
)
from readagent_core.incoming import catalogues as kept
from readagent_core.incoming.opds import Offer, parse_page, search_address
from readagent_core.library.backup import back_up
from readagent_core.secret import Secret
from readagent_core.settings import TeamSettings
from tests.fakes.web import WebServer, redirect, reply

ATOM, JSON = "application/atom+xml;profile=opds-catalog", "application/opds+json"
BOOK = b"The keeper wrote the log. It rained all night, and no ship came past the rocks of Harrow.\n"


def feed(*entries: str, links: str = "", head: str = "", title: str = "A shelf") -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{head}<feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><id>urn:x</id>'
        f"<title>{title}</title>{links}{''.join(entries)}</feed>"
    ).encode()


def entry(title: str, *links: tuple[str, str, str], author: str = "Mina Vale", inside: str = "") -> str:
    written = "".join(f'<link rel="{rel}" type="{kind}" href="{href}"/>' for rel, kind, href in links)
    return f"<entry><title>{title}</title><author><name>{author}</name></author>{inside}{written}</entry>"


OPEN, BORROW = "http://opds-spec.org/acquisition/open-access", "http://opds-spec.org/acquisition/borrow"
PLAIN, THUMB = "http://opds-spec.org/acquisition", "http://opds-spec.org/image/thumbnail"
SHELF = feed(
    entry("By subject", ("subsection", ATOM, "subjects")),
    entry(
        "A lamp", (THUMB, "image/png", "/lamp.png"), (OPEN, "application/pdf", "l.pdf"), (OPEN, "text/plain", "l.txt")
    ),
    entry("Drawn", (PLAIN, "application/pdf", "/d.pdf")),
    entry("Lent", (BORROW, "application/vnd.readium.lcp.license.v1.0+json", "/lend")),
    entry("Sold", ("http://opds-spec.org/acquisition/buy", "text/html", "/shop")),
    entry("Spoken", (PLAIN, "audio/mpeg", "/s.mp3")),
    entry("Nowhere"),
    links='<link rel="next" type="application/atom+xml" href="?page=2"/>'
    "<opensearch:totalResults>214</opensearch:totalResults>"
    '<link rel="search" type="application/opensearchdescription+xml" href="/osd.xml"/>',
)
DESCRIPTION = (
    b'<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><Url type="text/html" template="/"/>'
    b'<Url type="application/atom+xml" template="/find?q={searchTerms}&amp;start={startIndex?}"/>'
    b"</OpenSearchDescription>"
)


def test_a_shelf_of_atom_is_browsed_searched_and_added(workspace):
    pages = {
        "/opds": reply(SHELF, ATOM), "/osd.xml": reply(DESCRIPTION, "application/opensearchdescription+xml"),
        "/find?q=two%20words%26more&start=": reply(feed(title="Found"), ATOM), "/l.txt": reply(BOOK, "text/plain"),
        "/lamp.png": reply(b"a picture", "image/png"),
    }  # fmt: skip
    with WebServer(pages) as server:
        catalogue, page = kept.try_catalogue(workspace, f"127.0.0.1:{server.port}/opds")
        assert (catalogue.name, catalogue.home, catalogue.address) == ("A shelf", True, server.at("/opds"))
        assert (page.total, page.next, page.described) == (214, server.at("/opds?page=2"), True)
        assert [(e.title, e.offer, e.address.removeprefix(server.at(""))) for e in page.entries] == [
            ("By subject", None, "/subjects"), ("A lamp", Offer.FREE, "/l.txt"), ("Drawn", Offer.PDF, "/d.pdf"),
            ("Lent", Offer.BORROW, ""), ("Sold", Offer.BUY, ""), ("Spoken", Offer.NONE, ""),
        ]  # fmt: skip
        assert kept.fetch_cover(workspace, catalogue, page.entries[1].cover) == b"a picture"
        assert kept.search(workspace, catalogue, page, "two words&more").title == "Found"
        arrived: list[tuple[int, int]] = []
        book = kept.add_from_catalogue(workspace, catalogue, page.entries[1], progress=lambda *n: arrived.append(n))
        server.pages["/l.txt"] = reply(b"<html><body><p>Sign in to go on reading.</p></body></html>", "text/html")
        with pytest.raises(LinkError, match="A web page came in place of the book"):
            kept.add_from_catalogue(workspace, catalogue, page.entries[1])
        del server.pages["/l.txt"]
        with pytest.raises(NotThereError, match="A shelf lists this book, but its file is not there"):
            kept.add_from_catalogue(workspace, catalogue, page.entries[1])
        with pytest.raises(LinkError, match="This is not a web address"):
            kept.try_catalogue(workspace, "not an address")
    assert (book.title, book.author, arrived[-1]) == ("A lamp", "Mina Vale", (len(BOOK), len(BOOK)))
    assert book.source_name == kept.source_name(catalogue, page.entries[1])
    assert str(server.port) not in book.source_name  # an address may hold a key


def test_opds_2_has_groups_languages_and_templates():
    lamp = {"metadata": {"title": {"en": "A lamp"}, "author": [{"name": "M. Vale"}, "B. Hale"]},
            "images": [{"href": "/c.jpg"}],
            "links": [{"rel": OPEN, "href": "l.epub", "type": "application/epub+zip"}]}  # fmt: skip
    data = {"metadata": {"title": "Shelf", "numberOfItems": 2}, "publications": [lamp, 5], "links": [
        {"rel": ["search"], "href": "/find{?query,author}", "type": JSON, "templated": True},
        {"rel": "next", "href": "?p=2", "type": JSON}], "navigation": [{"href": "new", "title": "New"}],
        "groups": [{"metadata": {"title": "More"}, "publications": [lamp]}]}  # fmt: skip
    page = parse_page(json.dumps(data).encode(), "https://x.org/opds/")
    assert [(e.title, e.author, e.address, e.offer) for e in page.entries] == [
        ("New", "", "https://x.org/opds/new", None),
        *[("A lamp", "M. Vale, B. Hale", "https://x.org/opds/l.epub", Offer.FREE)] * 2,
    ]  # fmt: skip
    assert page.entries[1].cover == "https://x.org/c.jpg"
    assert (page.total, page.next) == (2, "https://x.org/opds/?p=2")
    assert search_address(page.search, "grün & blau") == "https://x.org/find?query=gr%C3%BCn%20%26%20blau"
    assert search_address("/s/{searchTerms}?n={count?}&lib=a", "x/y") == "/s/x%2Fy?n=&lib=a"


def test_shapes_of_other_servers():
    author = '<content type="text">Jane Austen</content>'
    gutenberg = entry("Emma", ("subsection", ATOM, "/ebooks/158.opds"), author="", inside=author)
    kavita = entry("Comic", (OPEN, "application/octet-stream", "dl/c.cbz"), (OPEN, "application/pdf", "dl/c.pdf"))
    kobo = entry("Kobo", (OPEN, "application/pdf", "k.pdf"), (PLAIN, "application/kepub+zip", "k.kepub"))
    based = feed(gutenberg, kavita, kobo).replace(b"<feed ", b'<feed xml:base="https://y.org/a/" ')
    assert [(e.title, e.author, e.address, e.offer) for e in parse_page(based, "https://x.org/").entries] == [
        ("Emma", "Jane Austen", "https://y.org/ebooks/158.opds", Offer.ON_ITS_PAGE),
        ("Comic", "Mina Vale", "https://y.org/a/dl/c.pdf", Offer.PDF),
        ("Kobo", "Mina Vale", "https://y.org/a/k.kepub", Offer.FREE),
    ]
    assert parse_page(b'\xef\xbb\xbf {"navigation": []}', "https://x.org/").entries == ()


def test_the_shapes_of_the_two_that_are_offered(workspace):
    """As the templates of their servers write them: standardebooks/web and gutenbergtools/autocat3."""
    kind = f"{ATOM};kind=acquisition; charset=utf-8"
    crawl = ("http://opds-spec.org/crawlable", kind, "/feeds/opds/all")
    kinds = ("application/epub+zip", "application/epub+zip", "application/kepub+zip", "application/x-mobipocket-ebook")
    files = [(OPEN, of, f"/e/{n}") for n, of in enumerate(kinds)] + [
        (OPEN, "application/xhtml+xml; charset=utf-8", "/x")
    ]
    emma = entry(
        "Emma", ("alternate", "application/xhtml+xml", "/e"), *files, inside='<content type="html">L&amp;lt;</content>'
    )
    found = '<link href="/osd" rel="search" type="application/opensearchdescription+xml; charset=utf-8"/>'
    root = feed(entry("All", ("subsection", kind, "/feeds/opds/all"), author=""), entry("Crawl", crawl), links=found)
    many = "{searchTerms}&amp;per-page={count}&amp;page={startPage}"
    urls = (("application/opensearchdescription+xml", "/osd"), ("application/xhtml+xml", f"/ebooks?query={many}"),
            ("application/atom+xml", f"/atom?query={many}"),
            (f"{ATOM};kind=acquisition", f"/opds?query={many}"))  # fmt: skip
    described = "".join(f'<Url type="{kind}" template="{template}"/>' for kind, template in urls)
    described = (
        f'<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">{described}</OpenSearchDescription>'
    )
    emma_page = feed(
        entry("Emma", ("acquisition", "text/plain", "/no"), (PLAIN, "application/epub+zip", "/158.epub3.images"),
              ("http://opds-spec.org/image/thumbnail", "image/png", "data:image/png;base64,AA"),
              ("related", ATOM, "/158/also.opds"), inside='<content type="xhtml"><p>Published: 1994</p></content>'),
        entry("By Jane Austen…", ("related", ATOM, "/author/68.opds"), author=""),
        links=f'<link rel="search" type="{ATOM}" href="/search.opds/?query={{searchTerms}}"/>',
    )  # fmt: skip
    pages = {
        "/opds": reply(root, ATOM),
        "/osd": reply(described.encode(), "text/xml; charset=utf-8"),
        "/opds?query=jane%20austen&per-page=50&page=1": reply(feed(emma), kind),
        "/ebooks/158.opds": reply(emma_page, ATOM),
        "/158.epub3.images": reply(BOOK, "text/plain"),
        "/search.opds/?query=emma": reply(feed(entry("Emma", ("subsection", ATOM, "/ebooks/158.opds"))), ATOM),
    }
    with WebServer(pages) as server:
        standard, page = kept.try_catalogue(workspace, server.at("/opds"))
        hit = kept.search(workspace, standard, page, "jane austen").entries[0]
        assert (hit.title, hit.author, hit.address, hit.offer) == ("Emma", "Mina Vale", server.at("/e/0"), Offer.FREE)
        gutenberg, page = kept.try_catalogue(workspace, server.at("/ebooks/158.opds"))
        assert [(one.offer, one.address) for one in page.entries] == [(Offer.FREE, server.at("/158.epub3.images"))]
        hit = kept.search(workspace, gutenberg, page, "emma").entries[0]
        book = kept.add_from_catalogue(workspace, gutenberg, hit)  # its file is on its own page
        assert (hit.offer, book.source_name) == (Offer.ON_ITS_PAGE, kept.source_name(gutenberg, hit))
        assert kept.search(workspace, gutenberg, page, "nowhere").entries == ()  # the server says 404


def test_what_a_feed_leaves_out():
    """Types that are missing, files behind a page of their own, addresses by xml:base, titles in HTML, facets."""
    indirect = '<opds:indirectAcquisition xmlns:opds="http://opds-spec.org/2010/catalog" type="application/epub+zip"/>'
    facet = f'<link rel="http://opds-spec.org/facet" type="{ATOM}" href="?l=de" title="German"/>'
    page = parse_page(
        feed(
            entry("No type", ("subsection", "", "more")),
            entry("New", ("http://opds-spec.org/sort/new", "", "new")),
            entry("Untyped", ("http://opds-spec.org/acquisition", "", "/download/1/epub/")),
            entry("Spoken", ("http://opds-spec.org/acquisition", "", "/s.mp3")),
            entry("Behind", (PLAIN, f"{ATOM};type=entry", "/b"), inside=indirect),
            entry("Picture", ("http://opds-spec.org/image", "", "/p.jpg")),
            '<entry xml:base="https://z.org/a/"><title type="html">Tom &amp;amp; &lt;i&gt;Jerry&lt;/i&gt;</title>'
            f'<link rel="{OPEN}" type="APPLICATION/EPUB+ZIP" href="t.epub"/></entry>',
            links=facet,
        ),
        "https://x.org/opds/",
    )
    assert [(one.title, one.offer, one.address) for one in page.entries] == [
        ("No type", None, "https://x.org/opds/more"),
        ("New", None, "https://x.org/opds/new"),
        ("Untyped", Offer.FREE, "https://x.org/download/1/epub/"),
        ("Spoken", Offer.NONE, ""),
        ("Behind", Offer.ON_ITS_PAGE, "https://x.org/b"),
        ("Tom & Jerry", Offer.FREE, "https://z.org/a/t.epub"),
    ]
    book = {"metadata": {"title": "Alone"}, "links": [{"rel": OPEN, "href": "/a.epub", "type": "application/epub+zip"}]}
    assert parse_page(json.dumps(book).encode(), "https://x.org/").entries[0].address == "https://x.org/a.epub"


@pytest.mark.parametrize(
    "data", [b"<html><body>Hello</body></html>", b"{}", b"", b"\x00", b"[1]", b'{"a":' * 9000, b"<feed/>"]
)
def test_what_is_no_catalogue_is_said(data):
    with pytest.raises(NoCatalogueError, match="Try the address with /opds"):
        parse_page(data, "https://x.org/")


def test_bombs_are_refused_and_files_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("the secret")
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    for inside in (f'<!ENTITY l0 "lol">{levels}', f'<!ENTITY l11 SYSTEM "file://{tmp_path}/secret">'):
        with pytest.raises((UnsafeLinkError, NoCatalogueError)):
            parse_page(feed(title="&l11;", head=f"<!DOCTYPE feed [{inside}]>"), "https://x.org/")
    many = feed(*[entry("One", (OPEN, "text/plain", "/1"))] * 2000)
    assert len(parse_page(many, "https://x.org/").entries) == 500


def locked(server_of, page: bytes, challenge: str = 'Basic realm="x"'):
    """A page for whoever sends a password of mara's."""

    def answer() -> bytes:
        sent = server_of[0].requests[-1]
        if "Digest username=" in sent or base64.b64encode(b"mara:open sesame").decode() in sent:
            return reply(page, ATOM)
        return reply(status="401 Unauthorized", WWW_Authenticate=challenge)

    return answer


@pytest.mark.parametrize("challenge", ['Basic realm="x"', 'Digest realm="x", nonce="1f", algorithm=MD5, qop="auth"'])
def test_a_password_is_kept_like_a_key_and_goes_to_its_server_alone(workspace, challenge, tmp_path):
    server_of: list[WebServer] = []
    with WebServer({"/c.png": reply(b"c")}) as other, WebServer({}) as server:
        server_of.append(server)
        server.pages["/opds"] = locked(server_of, SHELF, challenge)
        server.pages["/away"] = redirect(other.at("/c.png"))
        with pytest.raises(LoginError, match="asks for a user and password"):
            kept.try_catalogue(workspace, server.at("/opds"))
        if "Basic" in challenge:
            with pytest.raises(LoginError, match="It refused “mara” and this password"):
                kept.try_catalogue(workspace, server.at("/opds"), "mara", Secret("wrong"))
        assert len(kept.catalogues(workspace)) == 2
        found, _ = kept.try_catalogue(workspace, server.at("/opds"), "mara", Secret("open sesame"), "Ours")
        kept.keep_catalogue(workspace, found, Secret("open sesame"))
        again = kept.catalogues(workspace)[-1]
        assert (again, len(kept.open_page(workspace, again).entries)) == (found, 6)
        # another server at home was not named: it is not even asked
        for address in (other.at("/c.png"), server.at("/away")):
            with pytest.raises(UnsafeLinkError):
                kept.fetch_cover(workspace, again, address)
        assert other.requests == []
        saved = back_up(workspace.home, tmp_path / "backup.zip").path.read_bytes()
        assert b"sesame" not in saved
        kept.forget_catalogue(workspace, again)
        assert "sesame" not in (workspace.home / "settings.json").read_text()
        assert len(kept.catalogues(workspace)) == 2


def test_one_that_is_offered_keeps_its_user(workspace):
    offered = kept.catalogues(workspace)[0]
    kept.keep_catalogue(workspace, replace(offered, user="me@example.org"))
    assert [one.user for one in kept.catalogues(workspace)] == ["me@example.org", ""]


def test_only_a_person_at_home_reaches_the_home_network(workspace):
    with WebServer({"/opds": reply(SHELF, ATOM)}) as server:
        found, _ = kept.try_catalogue(workspace, server.at("/opds"))
        with pytest.raises(UnsafeLinkError, match="to ordinary"):  # named when it was public, it leads home today
            kept.open_page(workspace, replace(found, home=False), server.at("/opds").replace("127.0.0.1", "localhost"))
        workspace.settings = replace(workspace.settings, team=TeamSettings(frozenset({"*"})))
        for attempt in (
            lambda: kept.open_page(workspace, found),
            lambda: kept.try_catalogue(workspace, server.at("/opds")),
        ):
            with pytest.raises(UnsafeLinkError, match="not a public web address"):
                attempt()
        workspace.settings = replace(workspace.settings, team=None, links=False)
        with pytest.raises(LinkError, match="turned off"):
            kept.open_page(workspace, found)
        assert len(server.requests) == 1
    workspace.settings = replace(workspace.settings, links=True)
    with pytest.raises(
        UnreachableLinkError, match=f"Nothing answers at 127.0.0.1, port {server.port}. Check the address"
    ):
        kept.open_page(workspace, found)
