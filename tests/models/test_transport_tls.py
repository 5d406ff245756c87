"""Certificates: one's own is believed, one that nobody vouches for is refused."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import time

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from readagent_core.models import transport
from readagent_core.models.beside import Beside
from readagent_core.models.patience import Limiter
from tests.fakes.http import TIMEOUT, serving
from tests.fakes.http import client as client
from tests.fakes.http import no_proxies as no_proxies
from tests.fakes.http import server as server


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


def test_a_certificate_of_ones_own(tls, monkeypatch):
    context, certificate = tls
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(tls=context) as server, transport.client(TIMEOUT) as client:
        for _ in range(2):
            assert client.post(f"{server.url}/chunks", content="x").text == "onetwo"
        assert len({port for _, port, _, _ in server.seen}) == 1


def test_a_certificate_nobody_vouches_for_is_refused(tls, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with serving(tls=tls[0]) as server, transport.client(TIMEOUT) as client:
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            client.post(f"{server.url}/plain", content="x")
        assert not server.seen


def test_a_second_process_believes_the_same_certificates(tls, monkeypatch):
    context, certificate = tls
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(tls=context) as server, transport.client(TIMEOUT) as client:
        again = transport.Again.of(client.post(f"{server.url}/chunks", content="x"))
        beside = Beside()
        with beside.helped(16, Limiter(16)):
            until = time.monotonic() + 20
            while not beside.ahead and time.monotonic() < until:
                time.sleep(0.01)
            answer = again.send(b"y", beside)
            assert answer.read() == b"onetwo"
            answer.close()
        (_, here, *_), (_, there, *_) = server.seen
        assert here != there, "it came through the first process"
