"""What a person's browser, or somebody who pretends to be one, sends to a server for several people."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.cookies import SimpleCookie
from socket import create_connection
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, decode_signed_value
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.team.serving import PEOPLE, SECRET


def as_bytes(data: str | bytes) -> bytes:
    return data if isinstance(data, bytes) else data.encode()


def cookie_of(page: Page, name: str = "_streamlit_user") -> str:
    return next(one["value"] for one in page.context.cookies() if one["name"] == name)


def claims_in(cookie: str) -> dict[str, object]:
    """What a cookie of the sign-in says of its owner."""
    signed = decode_signed_value(SECRET, "_streamlit_user", cookie)
    assert signed is not None
    return json.loads(signed)


def cookies_of(url: str, name: str) -> dict[str, str]:
    """The cookies of a browser in which somebody of ``serving.PEOPLE`` has signed in: without one, and the provider."""
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=20) as answer:
        xsrf = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"].value
    about = {"is_logged_in": True, "origin": url, "iss": "https://id.example", "sub": name, **PEOPLE[name]}
    return {"_streamlit_user": signed(about), "_streamlit_xsrf": xsrf}


def signed(claims: dict[str, object], secret: str = SECRET) -> str:
    return create_signed_value(secret, "_streamlit_user", json.dumps(claims)).decode()


def run_over_socket(page: Page, url: str, query: str, screen: str, *, session: str = "", origin: str = "") -> bytes:
    """What the server sends to a sender with the cookies of ``page``; the rest as ``run_with_cookies`` has it."""
    cookies = {one["name"]: unquote(one["value"]) for one in page.context.cookies(url)}
    return run_with_cookies(cookies, url, query, screen, session=session, origin=origin)


def run_with_cookies(
    cookies: dict[str, str],
    url: str,
    query: str = "",
    screen: str = "",
    *,
    session: str = "",
    origin: str = "",
    host: str = "",
    before: BackMsg | None = None,
) -> bytes:
    """What the server sends until a run of ``screen`` has ended; nothing, if it refuses the connection.

    ``session``: the one that the sender says it had. ``origin``: of another site, from which it is sent. ``host``: the
    name by which it is sent. ``before``: a message that is sent first.
    """
    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.page_name = screen
    to = urlsplit(url).hostname or ""
    protocols = ["streamlit", cookies.get("_streamlit_xsrf", "x"), *([session] if session else [])]
    sent_cookies = "; ".join(f"{name}={value}" for name, value in cookies.items())
    found = b""
    try:
        with connect(
            f"{url.replace('http', 'ws')}/_stcore/stream".replace(url.split("//")[1], host or url.split("//")[1]),
            origin=Origin(origin or url),
            subprotocols=[Subprotocol(one) for one in protocols],
            additional_headers={"Cookie": sent_cookies},
            max_size=None,
            sock=create_connection((to.replace("localhost", "127.0.0.1"), urlsplit(url).port or 80)),
        ) as socket:
            if before:
                socket.send(before.SerializeToString())
            socket.send(message.SerializeToString())
            while True:
                part = as_bytes(socket.recv(timeout=30))
                found += part
                sent = ForwardMsg.FromString(part)
                if sent.WhichOneof("type") == "script_finished" and not sent.script_finished:  # 0: to its end
                    return found
    except (InvalidHandshake, ConnectionClosed):
        return b""


def ask(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """Status and body for a sender without a browser."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
