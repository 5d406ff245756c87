"""Everything of the Python code of Streamlit, and of the server below it, that is no public interface and may change.

assets/shared/streamlit.js and assets/streamlit.css have the browser's side; tests/app/test_streamlit_private.py fails
when the installed Streamlit no longer has what they name.
"""

import json
import re
import socket
from asyncio import base_events
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.auth_util import get_origin_from_redirect_uri, get_secrets_auth_section, is_authlib_installed
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

STATIC = Path(st.__file__).parent / "static"
_downloads: dict[str, set[str]] = {}  # files made at a click: the sessions they were made for
_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')


def require_navigation() -> None:
    """Make every screen run inside screens.py, also the first one that a new server is asked for.

    Because the folder ``pages`` is beside it, Streamlit runs a page alone until ``st.navigation`` was called once.
    """
    PagesManager.uses_pages_directory = False


def keep_unsent_deltas() -> None:
    """Make a fragment's run leave what earlier runs drew in the queue to the browser.

    Streamlit drops what the fragment itself drew and was not sent yet, and keeps what fragments inside of it and
    elements after it drew, whose places then do not exist: a click before the first run has ended made the page fail
    with 'Bad delta path index'.
    """

    def clear_queue(self: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
        kept = None if fragment_ids_this_run is None else list[str]()  # an empty list: the deltas of no fragment go
        self._browser_queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=kept)

    AppSession._clear_queue = clear_queue  # type: ignore[method-assign]


def send_at_once() -> None:
    """Have each answer of the server sent whole at once (TCP_NODELAY).

    asyncio sees to that for sockets that name their protocol, which those that Streamlit and uvicorn bind do not. The
    body of each answer then waited some 40 ms for the browser to acknowledge its head: 118 files made that .5 s.
    """

    def set_nodelay(connection: socket.socket) -> None:
        if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.type == socket.SOCK_STREAM:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    base_events._set_nodelay = set_nodelay  # type: ignore[attr-defined]


def index_page() -> str:
    """The page in which Streamlit's scripts draw the app."""
    return (STATIC / "index.html").read_text(encoding="utf-8")


@cache
def script(name: str) -> str | None:
    """One of Streamlit's own scripts; None where it has none of this name."""
    folder = STATIC / "static" / "js"
    return (folder / name).read_text(encoding="utf-8") if name in _script_names() else None


@cache
def _script_names() -> frozenset[str]:
    return frozenset(path.name for path in (STATIC / "static" / "js").glob("*.js"))


def typeface_files() -> dict[str, str]:
    """The addresses of the typefaces that Streamlit brings, by the names that tokens.css has for them."""
    found = {"Source Sans": "SourceSansVF-Upright.*.woff2", "Source Serif": "SourceSerifVariable-Roman.*.woff2"}
    return {name: path.relative_to(STATIC).as_posix() for name, file in found.items() for path in STATIC.rglob(file)}


def chunks(*elements: str) -> list[str]:
    """The script files of these elements and what they import, without those that the index page names.

    Streamlit loads them when an element is first drawn, which shows an empty box in its place meanwhile.
    """
    folder, found, first = STATIC / "static" / "js", list[str](), index_page()
    waiting = [path.name for name in elements for path in folder.glob(f"{name}.*.js")]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in first:
            found.append(name)
            waiting.extend(_IMPORT.findall(script(name) or ""))
    return found


def sign_in_settings() -> Mapping[str, Any]:
    """The section ``[auth]`` of secrets.toml; {} where there is none, or Authlib is not installed."""
    return get_secrets_auth_section() if is_authlib_installed() else {}


def claims_in_cookies(cookies: Mapping[str, str]) -> dict[str, Any]:
    """The claims of the account that these cookies of a request sign in.

    {} without a cookie, or with one that is forged, out of date, or of another server.
    """
    signed = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    if not signed:
        return {}
    claims: dict[str, Any] = json.loads(signed)
    return claims if claims.get("is_logged_in") and claims.get("origin") == get_origin_from_redirect_uri() else {}


def claims_of_session(session_id: str) -> Mapping[str, Any]:
    """The claims of the account that is signed in in an open session; {} where there is none."""
    found = Runtime.instance()._session_mgr.get_active_session_info(session_id)
    return found.session._user_info if found else {}


def sessions_with_file(file_id: str) -> list[str]:
    """The sessions that a file under ``/media`` was made for; downloads from ``note_downloads`` on."""
    files = Runtime.instance().media_file_mgr._files_by_session_and_coord
    found = [session for session, by_place in list(files.items()) if file_id in list(by_place.values())]
    return [*found, *_downloads.get(file_id, ())]


def note_downloads() -> None:
    """Record from now on for whose session each file is made that is made at a click; Streamlit does not."""
    manager = Runtime.instance().media_file_mgr
    execute = manager.execute_deferred
    if execute.__name__ == "execute_and_note":
        return

    def execute_and_note(file_id: str) -> str:
        made_for = manager._deferred_callables.get(file_id)
        url = execute(file_id)
        if made_for:
            _downloads.setdefault(Path(url).stem, set()).add(made_for["session_id"])
        return url

    manager.execute_deferred = execute_and_note  # type: ignore[method-assign]
