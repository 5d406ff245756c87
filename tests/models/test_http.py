"""What people rely on of HTTP, through the client that calls are sent with: over a real socket."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server import probe
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.http import serving

KEY = "sk-marker-0123456789"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server():
    with serving() as found:
        yield found


@pytest.fixture
def model(model_at):
    return lambda where, key=KEY: model_at(where, api_key=Secret(key), window=10_000, silence=5.0)


def ask(model):
    return model.complete(Prompt("gist", "Are you there?"), CancelToken()).text


@pytest.mark.parametrize("path", ["plain", "packed", "chunks", "old", "continue", "moved"])
def test_replies_come_in_every_kind_of_body(server, model, path):
    asked = model(f"{server.url}/{path}")
    assert [ask(asked), ask(asked)] == ["Yes.", "Yes."]


def test_the_key_follows_a_redirect_to_the_same_server_and_to_no_other(server, model):
    assert ask(model(f"{server.url}/moved/v1")) == "Yes."
    assert [headers.get("authorization") for *_, headers in server.seen] == [f"Bearer {KEY}"] * 2
    with serving() as other:
        server.moved_to = other.url
        ask(model(f"{server.url}/moved/v1"))
        (seen,) = other.seen
    assert KEY not in str(seen)


def test_what_else_is_asked_follows_no_redirect(server):
    with serving() as other:
        server.moved_to = other.url
        with pytest.raises(errors.ModelError):
            probe.list_models(f"{server.url}/moved", Secret(KEY))
        assert server.seen
        assert not other.seen


def test_a_connection_is_used_again(server, model):
    asked = model(f"{server.url}/chunks")
    for _ in range(3):
        ask(asked)
    assert len({port for _, port, _ in server.seen}) == 1


def test_a_connection_that_the_server_closed_is_not_used_again(server, model):
    asked = model(f"{server.url}/then-closed")
    for _ in range(3):
        assert ask(asked) == "Yes."
        time.sleep(0.05)  # the end has come
    assert len({port for _, port, _ in server.seen}) == 3


@pytest.mark.parametrize("path", ["short", "broken-chunks", "nonsense", "endless-headers"])
def test_bad_http_is_a_clear_error(server, model, path):
    with pytest.raises(errors.UnreachableError, match="broke"):
        ask(model(f"{server.url}/{path}"))


def test_a_key_with_a_line_end_is_not_sent(server, model):
    with pytest.raises(errors.ModelError) as caught:
        ask(model(f"{server.url}/plain", key=f"{KEY}\r\nX-Other: b"))
    assert not server.seen
    assert KEY not in str(caught.value)


def test_ipv6(model):
    try:
        with serving(socket.AF_INET6) as server:
            assert ask(model(f"{server.url}/plain")) == "Yes."
    except OSError:
        pytest.skip("this computer has no IPv6")


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_named_by_the_environment_is_used(server, model, monkeypatch, name):
    monkeypatch.setenv(name, server.url)
    assert ask(model("http://models.invalid/v1")) == "Yes."
    assert probe.list_models("http://models.invalid/v1", Secret()).names == ()
    assert [path for path, *_ in server.seen] == [
        "http://models.invalid/v1/chat/completions",
        "http://models.invalid/v1/models",
    ]


@pytest.fixture
def tls(tmp_path):
    """(a server's context, the file of the one certificate it shows)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ReadAgent's tests")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    shown, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    shown.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown, secret)
    return context, shown


def test_a_certificate_of_ones_own_is_trusted(tls, model, monkeypatch):
    context, certificate = tls
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(tls=context) as server:
        assert ask(model(f"{server.url}/chunks")) == "Yes."


def test_an_unknown_certificate_is_refused(tls, model, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with serving(tls=tls[0]) as server:
        with pytest.raises(errors.UnreachableError):
            ask(model(f"{server.url}/plain"))
        assert not server.seen
