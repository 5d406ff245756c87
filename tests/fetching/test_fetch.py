"""Nothing but public addresses is connected to, in any notation or by any detour; no server can send without an end."""

from __future__ import annotations

import gzip
import itertools
import threading
import time

import pytest
from cryptography import x509

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, LinkError, TooLargeError, UnsafeLinkError
from readagent_core.fetching.connecting import Rules, is_public
from readagent_core.fetching.fetch import fetch
from tests.fakes.tls import make_certificate
from tests.fakes.web import WebServer, redirect, reply

PRIVATE_HOSTS = [
    "127.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "017700000001",
    "localhost", "localhost.", "LOCALHOST", "127.255.255.254", "0", "0.0.0.0", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]",
    "[fe80::1%25lo]", "[fe80::1%lo]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
]  # fmt: skip
PRIVATE_ADDRESSES = [
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255",
    "0.1.2.3", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16", "::1", "::", "::ffff:8.8.8.8", "::8.8.8.8",
    "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:808:808::1", "3fff::1", "fc00::1",
    "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "2a00:1450::1%eth0", "5f00::1", "printer", "127.1",
]  # fmt: skip


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """The file of one certificate."""
    return make_certificate(tmp_path_factory.mktemp("authority"), x509.DNSName("authority.example"))[1]


@pytest.fixture(autouse=True)
def one_authority(authority, monkeypatch):
    """Each fetch reads all certificates that are trusted: 150 of them take longer than a test."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))


def resolving(*answers):
    """A resolver that gives these lists of addresses, one a call; the last one again and again."""
    calls = itertools.chain(answers, itertools.repeat(answers[-1]))

    async def resolve(host, port):
        return list(next(calls))

    return resolve


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "172.32.0.1", "2a00:1450:4001::1", "2606:4700::1111"])
def test_public_addresses(address):
    assert is_public(address)


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
def test_private_hosts_in_every_notation_are_not_connected_to(host):
    with WebServer({"/": reply(b"secret")}) as server:
        with pytest.raises(LinkError, match=r"not a public web address|No server called|not a web address"):
            fetch(server.at("/", host), rules=Rules(ports={server.port}))
        assert server.connections == 0


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["127.0.0.1"], []])
def test_a_name_with_any_address_that_is_not_public_is_not_connected_to(addresses):
    with WebServer({"/": reply(b"secret")}) as server:
        rules = Rules(ports={server.port}, resolve=resolving(addresses))
        with pytest.raises(UnsafeLinkError, match="not a public web address"):
            fetch(server.at("/", "reader.example"), rules=rules)
        assert server.connections == 0


def test_the_connection_goes_to_the_address_that_was_checked_and_names_the_host():
    with WebServer({"/a": reply(b"text")}) as server:
        rules = server.rules(resolve=resolving(["127.0.0.1"], ["127.0.0.2"]))
        found = fetch(server.at("/a#part", "reader.example"), rules=rules)
        assert (found.data, found.kind, found.charset) == (b"text", "text/plain", "utf-8")
        assert found.address == server.at("/a", "reader.example")
        assert f"Host: reader.example:{server.port}" in server.requests[0]


def test_a_name_that_changes_its_address_is_checked_again_at_the_next_connection():
    with WebServer({"/a": redirect("/b"), "/b": reply(b"secret")}) as server:
        rules = server.rules(resolve=resolving(["127.0.0.1"], ["127.0.0.2"]))
        with pytest.raises(UnsafeLinkError, match="not a public web address"):
            fetch(server.at("/a", "reader.example"), rules=rules)
        assert server.connections == 1


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("http://127.0.0.2:{port}/", "not a public web address"),
        ("http://[::1]:{port}/", "not a public web address"),
        ("//169.254.169.254:{port}/latest/meta-data", "not a public web address"),
        ("http://127.0.0.1:22/", ":22"),
        ("http://name:word@127.0.0.1:{port}/", "user name or password"),
        ("file:///etc/passwd", "http:// or https://"),
        ("ftp://127.0.0.1:{port}/", "http:// or https://"),
        ("data:text/html,hello", "http:// or https://"),
        ("http://。/", "not a web address"),
        ("/again", "more than 5 times"),
    ],
)
def test_each_redirect_is_checked(target, why):
    with WebServer({}) as server:
        server.pages = {"/": redirect(target.format(port=server.port)), "/again": redirect("/again")}
        with pytest.raises(LinkError, match=why):
            fetch(server.at("/"), rules=server.rules())
        assert server.connections <= 6


def test_redirects_are_followed_to_the_last_address():
    with WebServer({"/a": redirect("b?c=d"), "/b?c=d": redirect("/e"), "/e": reply(b"text")}) as server:
        assert fetch(server.at("/a"), rules=server.rules()).address == server.at("/e")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("file:///etc/passwd", "http:// or https://"),
        ("ftp://example.org/book.txt", "http:// or https://"),
        ("data:text/html,hello", "http:// or https://"),
        ("javascript:alert(1)", "http:// or https://"),
        ("example.org", "http:// or https://"),
        ("http:///book", "not complete"),
        ("http://name:word@example.org/", "user name or password"),
        ("http://example.org:22/", ":22"),
        ("http://example.org:8501/", ":8501"),
        ("http://example.org:0/", ":0"),
        ("http://example.org/\x01", "not a web address"),
        ("http://[::1", "not a web address"),
        ("http://example.org/" + "a" * 5000, "too long"),
        ("", "http:// or https://"),
    ],
)
def test_addresses_that_are_refused_before_anything_is_sent(address, why):
    async def fail(host, port):
        raise AssertionError("a name was resolved")

    with pytest.raises(LinkError, match=why):
        fetch(address, rules=Rules(resolve=fail))


def endless(head, part, pause=0.0):
    """A reply that does not end by itself."""

    def parts():
        yield head
        for _ in range(100_000):
            yield part
            time.sleep(pause)

    return parts


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BOMB = gzip.compress(bytes(8_000_000))


@pytest.mark.parametrize(
    ("page", "seconds", "error", "why"),
    [
        (endless(HEAD + b"\r\n", b"x" * 65_536), 20, TooLargeError, "more than 1 MB"),
        (reply(BOMB, Content_Encoding="gzip"), 20, TooLargeError, "more than 1 MB"),
        (endless(HEAD, b"X-More: more\r\n" * 500), 20, LinkError, "as web servers do"),
        (endless(HEAD, b"X: y\r\n", 0.05), 1, LinkError, "within 1 seconds"),
        (endless(HEAD + b"\r\n", b"x", 0.05), 1, LinkError, "within 1 seconds"),
        (
            endless(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", 0.001),
            1,
            LinkError,
            "within 1 s",
        ),
        (endless(b"", b"", 0.05), 1, LinkError, "within 1 seconds"),
        (reply(b"not packed", Content_Encoding="gzip"), 20, LinkError, "damaged"),
        (reply(BOMB[:400], Content_Encoding="gzip"), 20, LinkError, "broke off"),
        (reply(b"x", Content_Encoding="br"), 20, LinkError, "packs its pages"),
        (HEAD + b"Content-Length: 100\r\n\r\nhalf", 20, LinkError, "as web servers do"),
        (b"SSH-2.0-server\r\n", 20, LinkError, "as web servers do"),
        (b"", 20, LinkError, "cannot be reached|as web servers do"),
        (reply(status="403 Forbidden"), 20, LinkError, "Save the page with your browser"),
        (reply(status="500 Broken"), 20, LinkError, "answered with an error"),
    ],
)
def test_servers_that_send_too_much_too_slowly_or_something_else(page, seconds, error, why):
    with WebServer({"/": page}) as server, pytest.raises(error, match=why):
        fetch(server.at("/"), rules=server.rules(seconds=seconds, most=1 << 20))


def test_a_packed_page_is_unpacked():
    with WebServer({"/": reply(gzip.compress(b"text " * 100), Content_Encoding="gzip")}) as server:
        assert fetch(server.at("/"), rules=server.rules()).data == b"text " * 100


def test_a_proxy_of_the_environment_and_cookies_are_not_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    pages = {"/": reply(status="302 Found", Location="/b", Set_Cookie="a=b"), "/b": reply(b"text")}
    with WebServer(pages) as server:
        assert fetch(server.at("/"), rules=server.rules()).data == b"text"
        assert not any("cookie" in request.lower() for request in server.requests)


def test_a_fetch_is_cancelled_while_the_server_is_silent():
    cancel = CancelToken()
    with WebServer({"/": endless(HEAD, b"", 0.05)}) as server:
        threading.Timer(0.3, cancel.cancel).start()
        with pytest.raises(CancelledError):
            fetch(server.at("/"), cancel, rules=server.rules())


@pytest.fixture
def tls(tmp_path):
    """(the context of a server called reader.example, the file of its certificate)."""
    return make_certificate(tmp_path, x509.DNSName("reader.example"))


def test_tls_asks_for_the_name_in_the_link_and_verifies_it(tls, monkeypatch):
    context, certificate = tls
    monkeypatch.delenv("SSL_CERT_FILE")
    asked = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    with WebServer({"/": reply(b"text")}, tls=context) as server:
        rules = server.rules(resolve=resolving(["127.0.0.1"]))
        with pytest.raises(UnsafeLinkError, match=r"certificate of reader\.example cannot be verified"):
            fetch(server.at("/", "reader.example", "https"), rules=rules)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert fetch(server.at("/", "reader.example", "https"), rules=rules).data == b"text"
        with pytest.raises(UnsafeLinkError, match=r"certificate of other\.example cannot be verified"):
            fetch(server.at("/", "other.example", "https"), rules=rules)
        assert asked == ["reader.example", "reader.example", "other.example"]
        assert len(server.requests) == 1
