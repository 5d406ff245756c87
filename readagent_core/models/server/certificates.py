"""The TLS context with which every connection to a model server checks certificates."""

from __future__ import annotations

import os
import ssl
from functools import cache

import httpx2


def tls_context() -> ssl.SSLContext:
    """Return the context for the trusted certificates that the environment names, else the system's.

    It is shared: loading them takes some 30 ms, during which no other call goes on.
    """
    return _load(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _load(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    return httpx2.create_ssl_context()
