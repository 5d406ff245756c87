"""Which senders are answered: pages of this app by its own names, and, for several people, those who are signed in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.conftest import running_app
from tests.team.sending import ask, cookies_of, run_with_cookies
from tests.team.serving import team_server

# the app with a screen that names the workspace of its session
SCREEN = """
import streamlit as st
from pages.parts.shared.cached import get_workspace
st.text(f"workspace {id(get_workspace())} {get_workspace().home.name}")
"""
APP = """
from starlette.middleware import Middleware
from streamlit.starlette import App
from pages.parts.shared.first_page import routes, start
from pages.parts.shared.gate import Gate
app = App("screen.py", routes=routes(), lifespan=start, middleware=[Middleware(Gate)])
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of one person that is reached through a proxy too, which sends the name that people type."""
    folder = tmp_path_factory.mktemp("one")
    named = {"STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": "https://books.example.org"}
    with running_app(folder / "home", **named) as address:
        yield address


@pytest.fixture(scope="module")
def team_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("several")
    (folder / "screen.py").write_text(SCREEN, encoding="utf-8")
    (folder / "app.py").write_text(APP, encoding="utf-8")
    with team_server(folder, script=folder / "app.py") as address:
        yield address


def test_a_page_on_another_port_of_this_computer_or_of_another_site_is_refused(url: str) -> None:
    port = urlsplit(url).port
    own = run_with_cookies({}, url)
    assert b"Harrow" in own
    others = ("http://localhost:3000", "http://127.0.0.1:9999", f"http://localhost:{port}", "http://localhost", "null")
    for origin in (*others, "https://evil.example", f"http://evil.example:{port}", "http://books.example.org:9999"):
        assert run_with_cookies({}, url, origin=origin) == b"", origin
        for path in ("/original/0/facts", "/_stcore/health", "/read", "/static/index.html"):
            assert ask(f"{url}{path}", {"Origin": origin})[0] == 403, (origin, path)
    assert ask(f"{url}/_stcore/health", {"Origin": url})[0] == 200


def test_a_name_that_only_leads_here_is_refused(url: str) -> None:
    port = urlsplit(url).port
    for host in (f"evil.example:{port}", "rebound.evil.example", "192.0.2.7:8501", "localhost.evil.example"):
        assert run_with_cookies({}, url, origin=f"http://{host}", host=host) == b"", host
        for path in ("/original/0/facts", "/picture/0/0", "/webpage/0/0", "/_stcore/health", "/read", "/media/0.txt"):
            assert ask(f"{url}{path}", {"Host": host})[0] == 421, (host, path)
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost:9000"):  # also through a tunnel
        assert ask(f"{url}/_stcore/health", {"Host": host, "Origin": f"http://{host}"})[0] == 200, host


def test_a_proxy_may_send_either_name(url: str) -> None:
    public = "https://books.example.org"
    assert b"Harrow" in run_with_cookies({}, url, origin=public, host="books.example.org")
    assert b"Harrow" in run_with_cookies({}, url, origin=public)  # it sends the name of the container as Host
    assert ask(f"{url}/_stcore/health", {"Host": "books.example.org"})[0] == 200


def test_nobody_empties_what_is_everybodys(team_url: str) -> None:
    """One message of Streamlit's empties its caches for all sessions; jobs are found through the workspace alone."""

    def seen_by(name: str, before: BackMsg | None = None) -> str:
        found = re.search(
            rb"workspace (\d+ \w+)", run_with_cookies(cookies_of(team_url, name), team_url, before=before)
        )
        assert found
        return found[1].decode()

    annas, bens = seen_by("anna"), seen_by("ben")
    assert annas != bens
    assert seen_by("ben", before=BackMsg(clear_cache=True)) == bens
    assert seen_by("anna") == annas


def test_streamlits_own_addresses_want_the_sign_in(team_url: str) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in cookies_of(team_url, "anna").items())
    for path in ("metrics", "metrics?families=session_events_total", "script-health-check", "agent/openapi.json"):
        assert ask(f"{team_url}/_stcore/{path}", {})[0] == 401, path
    assert ask(f"{team_url}/_stcore/metrics", {"Cookie": cookies})[0] == 200
    for path in ("/_stcore/health", "/_stcore/host-config", "/", "/read"):
        assert ask(f"{team_url}{path}", {})[0] == 200, path
