"""How servers are reached: proxies, certificates, keys and addresses as environments really have them."""

from __future__ import annotations

import os
import socket
import socketserver
import subprocess
from threading import Thread

import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.loaders.child_process import Child
from readagent_core.models.server import network, probe
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.server import FakeServer
from tests.fakes.silent import ANSWER, BODY

PROMPT = Prompt("gist", "Are you there?")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_settings_of_this_computer(monkeypatch):
    for name in (*PROXIES, *map(str.upper, PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "environment",
    [
        {"HTTP_PROXY": "PROXY"},
        {"http_proxy": "PROXY", "https_proxy": "PROXY", "all_proxy": "PROXY"},
        {"ALL_PROXY": "socks://127.0.0.1:9", "HTTP_PROXY": "PROXY"},
        {"ALL_PROXY": "socks://127.0.0.1:9"},
        {"ALL_PROXY": "socks5://127.0.0.1:9"},
        {"ALL_PROXY": "socks4://127.0.0.1:9"},
        {"HTTP_PROXY": "nonsense://"},
        {"SSL_CERT_FILE": "/no/such/file.pem"},
        {"SSL_CERT_DIR": "/no/such/folder", "HTTPS_PROXY": "PROXY"},
        {"SSLKEYLOGFILE": "/no/such/folder/keys"},
    ],
    ids=lambda e: "+".join(f"{k}={v}" for k, v in e.items()),
)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_on_this_computer_works_and_nothing_of_it_reaches_a_proxy(environment, host, model_at, monkeypatch):
    with FakeServer() as proxy, FakeServer() as server:
        for name, value in environment.items():
            monkeypatch.setenv(name, value.replace("PROXY", proxy.url.removesuffix("/v1")))
        where = server.url.replace("127.0.0.1", host)
        assert model_at(where).complete(PROMPT, CancelToken()).text == "OK."
        assert probe.list_models(where, Secret()).names == ("fake-model",)
        assert not proxy.requests


HERE = ("LOCALHOST:1", "localhost.", "127.8.9.1", "127.1", "2130706433", "[::1]:1", "[::ffff:127.0.0.1]", "0.0.0.0")


@pytest.mark.parametrize("host", [*HERE, "ip6-localhost", socket.gethostname()])
def test_every_name_and_address_of_this_computer(host):
    assert network.is_here(f"http://{host}/v1")


@pytest.mark.parametrize("host", ["localhost.example.org", "127.0.0.1.example.org", "128.0.0.1", "1271", "[fe80::1]"])
def test_names_and_addresses_that_only_look_like_that(host):
    assert not network.is_here(f"http://{host}/v1")


@pytest.mark.parametrize(
    ("listed", "host", "asked"),
    [
        ("models.invalid", "models.invalid", False),
        ("other.invalid", "models.invalid", True),
        ("x, *.invalid", "models.invalid", False),
        ("10.0.0.0/8,192.168.0.0/16", "192.168.4.7", False),
        ("10.0.0.0/8", "11.0.0.1", True),
        ("[::1,/,*", "models.invalid", True),
    ],
)
def test_the_hosts_that_go_without_a_proxy(listed, host, asked, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", ' "http://127.0.0.1:9"')
    monkeypatch.setenv("NO_PROXY", listed)
    assert network.options(f"http://{host}/v1")["proxy"] == ("http://127.0.0.1:9" if asked else None)


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"ALL_PROXY": "socks4://user:MARKER@127.0.0.1:9"}, "ALL_PROXY"),
        ({"HTTPS_PROXY": "ftp://127.0.0.1:9"}, "HTTPS_PROXY"),
        ({"SSL_CERT_FILE": "/no/such/file.pem"}, "SSL_CERT_FILE"),
    ],
)
def test_what_the_environment_names_and_cannot_be_used_is_said(environment, says, model_at, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(errors.BadRequestError, match=says) as caught:
        model_at("https://models.invalid/v1", window=8000).complete(PROMPT, CancelToken())
    assert "Correct or remove that variable" in str(caught.value)
    assert "MARKER" not in str(caught.value)
    with pytest.raises(errors.BadRequestError, match=says):
        probe.list_models("https://models.invalid/v1", Secret())


class Socks(socketserver.BaseRequestHandler):
    """A SOCKS 5 proxy that answers every call itself."""

    def handle(self):
        for answer in (b"\x05\x00", b"\x05\x00\x00\x01" + bytes(6), BODY.replace(b"\r\n\r\n", LAST) + ANSWER):
            self.server.came.append(self.request.recv(65_536))
            self.request.sendall(answer)


LAST = b"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)


def test_a_socks_proxy_is_spoken_to(model_at, monkeypatch):
    """GNOME writes 'socks://'."""
    with socketserver.TCPServer(("127.0.0.1", 0), Socks) as proxy:
        proxy.came = []
        Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("ALL_PROXY", f"socks://127.0.0.1:{proxy.server_address[1]}/")
        assert model_at("http://models.invalid/v1", window=8000).complete(PROMPT, CancelToken()).text == "Yes."
        proxy.shutdown()
    assert b"models.invalid" in proxy.came[1]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("localhost:1234/v1", "does not begin with http://"),
        ('"http://localhost:1234/v1"', "quotation marks"),
        ("'http://localhost:1234/v1'", "quotation marks"),
        ("http://localhost:1234/v1\n", "line end"),
        (" http://localhost:1234/v1", "a space"),
        ("http://local host:1234/v1", "a space"),
        ("http://localhost…/v1", "shortened"),
        ("ftp://localhost/v1", "ftp://"),
        ("http://", "names no server"),
        ("http://:8080/v1", "names no server"),
        ("http://[", "no web address"),
        ("http://bücher..example/v1", "no web address"),
        ("http://localhost:1234\u200b/v1", "an invisible character"),
        ("http://localhost:99999/v1", "a port"),
        ("http://localhost:port/v1", "a port"),
        ("http://localhost,1234/v1", "has , in it"),
        ("http://<host>/v1", "has < in it"),
        ("http://localhost/v1?model=x", "has ? in it"),
        ("http://http://localhost/v1", "twice"),
        ("$OPENAI_BASE_URL", "was not filled in"),
        ("OPENAI_BASE_URL=http://localhost/v1", "has a name in front"),
    ],
)
def test_an_address_that_cannot_be_used_says_why(where, says, model_at):
    for ask in (
        lambda: model_at(where, window=8000).complete(PROMPT, CancelToken()),
        lambda: model_at(where).complete(PROMPT, CancelToken()),
        lambda: probe.list_models(where, Secret()),
    ):
        with pytest.raises(errors.BadRequestError, match="The address") as caught:
            ask()
        assert says in str(caught.value)
        assert "READAGENT_BASE_URL" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("sk-MARKER\n", "line end"),
        ("sk-MARKER ", "a space"),
        ("Bearer sk-MARKER", "a space"),
        ('"sk-MARKER"', "quotation marks"),
        ("sk-MARK…ER", "shortened"),
        ("sk-MARK****ER", "stars"),
        ("sk-MARKÉR", "letters"),
        ("sk-MARKER\ufeff", "an invisible character"),
        ("${MARKER}", "was not filled in"),
        ("%MARKER%", "was not filled in"),
        ("READAGENT_API_KEY=sk-MARKER", "has a name in front"),
        ("x-api-key:sk-MARKER", "has a name in front"),
    ],
)
def test_a_key_that_cannot_be_used_is_not_sent_and_says_why(key, says, model_at):
    with FakeServer() as server, pytest.raises(errors.KeyRefusedError, match="The key") as caught:
        model_at(server, api_key=Secret(key)).complete(PROMPT, CancelToken())
    assert says in str(caught.value)
    assert "MARK" not in str(caught.value)
    assert not server.requests


def test_a_process_that_reads_a_strangers_file_has_no_key(tmp_path, monkeypatch):
    (tmp_path / "shows_environment.py").write_text("import json, os; print(json.dumps(dict(os.environ)))")
    for name in (
        "READAGENT_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_PASSWORD", "GITHUB_PAT", "MYSQL_PWD", "SENTRY_DSN"
    ):  # fmt: skip
        monkeypatch.setenv(name, "sk-MARKER")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:sk-MARKER@proxy.invalid:3128")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", ""))))
    child = Child("shows_environment", subprocess.DEVNULL)
    try:
        shown = child.lines.get(timeout=30)
    finally:
        child.end()
    assert b"PATH" in shown
    assert b"sk-MARKER" not in shown


@pytest.mark.parametrize("listed", ["llama3.2:latest", "Llama3.2", "LLAMA3.2:Latest"])
def test_a_model_is_found_under_the_name_that_its_server_lists(listed, model_at):
    with FakeServer(kind="vllm", window=32_768, models=(listed,)) as server:
        assert model_at(server, "llama3.2").window == 32_768
