"""The page that a browser gets before the app runs: Streamlit's own, with our styles, theme and frame in it.

So the first thing that is painted has the app's colours, its name and, on a phone, the bar with the screens. Without
this the style sheets come with the first run of the script, after most of the screen.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib
import pkgutil
import re
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from string import Template

import streamlit as st
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.starlette import App

from pages import parts
from pages.parts.act.drawn_page import drawn_page_routes
from pages.parts.library.catalogue import cover_of
from pages.parts.read.original import original_routes
from pages.parts.read.voices import voice_routes
from pages.parts.shared import covers, shell
from pages.parts.shared.cached import go_on_with_queue, restore_chosen, workspace_of_request
from pages.parts.shared.component import address, read, served
from pages.parts.shared.scripts import bundle
from pages.parts.shared.sharing import begin as begin_sharing
from pages.parts.shared.signed_in import check_configuration
from pages.parts.shared.streamlit_private import chunks, index_page, script, typeface_files
from pages.parts.shared.typefaces import typeface_routes
from readagent_core.answering.registry import all_methods
from readagent_core.errors import ReadAgentError, SignInError
from readagent_core.settings import load_team

SHEETS = (
    "tokens.css",
    "streamlit.css",
    "app.css",
    "frame.css",
    "settings.css",
    "answer_view/ask.css",
    "evaluate/evaluate.css",
    "evaluate/form.css",
)
MEMORY = ("memory_view/main.js", "memory_view/receive_pages.js")
ANSWER = ("answer_view/main.js", "answer_view/receive_state.js")
LIBRARY, POLLING = "library/main.js", "shared/polling.js"
EVERYWHERE = ("Html", "Button", "PageLink", "BidiComponent", POLLING)
SCREENS: dict[str, tuple[str, ...]] = {  # the address: Streamlit's elements and our scripts that it begins with
    "": ("TextInput", "Selectbox", "FileUploader", LIBRARY),
    "read": ("Selectbox", *MEMORY),
    "ask": ("Selectbox", "Checkbox", "ButtonGroup", "ChatInput", *MEMORY, *ANSWER),
    "compare": ("Selectbox", "TextInput", "TextArea", "compare/compare.js"),
    "evaluate": ("Selectbox", "Multiselect", "NumberInput", "Slider", "Checkbox"),
    "act": ("Selectbox", "TextArea", "NumberInput", "web_page/board.js"),
    "gists": ("Selectbox", "Checkbox", "gists/main.js"),
    "catalogue": ("catalogue/catalogue.js",),
    "shared": ("Selectbox",),
    "people": ("Selectbox", "DataFrame"),
    "settings": ("Radio", "Selectbox", "TextInput", "NumberInput", "Slider", "ButtonGroup"),
}
PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "frame-ancestors 'self'; object-src 'none'; base-uri 'self'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
}
STREAMLIT_PATHS = ("_.*", "static", "media", "component", "app", "auth", "oauth2callback", "healthz")
SCRIPT_HEADERS = {
    "Cache-Control": "public, immutable, max-age=31536000",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
PICTURE_KINDS = ("image/jpeg", "image/png")
PICTURE_HEADERS = {
    "Cache-Control": "private, immutable, max-age=31536000",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Cookie",  # another person in the same browser does not get it from its cache
    "X-Content-Type-Options": "nosniff",
}
OPEN_SECONDS = 0.5  # until the server listens
SWITCH_SECONDS = 0.0005  # a run hands over between threads a hundred times: with Python's 0.005 a busy job adds 0.5 s
PREPARE_SECONDS = 2.0  # until the browser has its first screen


def routes() -> list[Route]:
    """The addresses of the screens, under ``server.baseUrlPath``."""
    base = st.get_option("server.baseUrlPath").strip("/")
    prefix = f"/{base}" if base else ""
    screens = [Route(f"{prefix}/{screen}", _answer) for screen in SCREENS]
    return [
        *screens,
        Route(f"{prefix}/bundle/{{checksum}}/{{script:path}}", _bundle),
        Route(f"{prefix}/picture/{{document}}/{{picture}}", _picture),
        Route(f"{prefix}/catalogue-cover/{{token}}", _catalogue_cover),
        *typeface_routes(prefix),
        *original_routes(prefix),
        *voice_routes(prefix),
        *drawn_page_routes(prefix),
        Route(f"{prefix}/{{name:unknown}}", _no_page),
    ]


def _answer(request: Request) -> HTMLResponse:
    screen = request.url.path.rsplit("/", 1)[-1]
    return HTMLResponse(page(screen, shell.theme_of(request)), headers=PAGE_HEADERS)


class _Unknown(StringConvertor):
    """What is no address of ours or of Streamlit, which would answer with the library under a wrong address."""

    regex = rf"(?!({'|'.join(STREAMLIT_PATHS)})(/|$))[^./][^.]*"


register_url_convertor("unknown", _Unknown())


def _no_page(request: Request) -> HTMLResponse:
    base = request.url.path.removesuffix(request.path_params["name"]).rstrip("/")
    typefaces = "".join(
        f'@font-face {{ font-family: "{name}"; font-weight: 200 900; src: url("{base}/{file}"); }}'
        for name, file in typeface_files().items()
    )
    text = Template(read("no_page.html")).substitute(
        base=base, frame=_frame(base), theme=shell.theme_of(request), style=style_sheet(), typefaces=typefaces
    )
    return HTMLResponse(text, status_code=404, headers=PAGE_HEADERS)


async def _bundle(request: Request) -> Response:
    name = request.path_params["script"]
    return _script(request, bundle(name) if name in served else None)


class StreamlitScripts:
    """ASGI middleware that answers for Streamlit's own scripts, of which a screen loads a hundred.

    Streamlit reads each from its file anew, in four turns of a thread.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        folder, _, name = str(scope.get("path", "")).rpartition("/")
        if scope["type"] == "http" and scope["method"] == "GET" and folder.endswith("/static/js") and script(name):
            await _script(Request(scope), script(name))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _script(request: Request, text: str | None) -> Response:
    """A script, which never changes under its address."""
    if text is None:
        return Response("There is no such script.", status_code=404)
    packed = "gzip" in request.headers.get("accept-encoding", "")
    headers = SCRIPT_HEADERS | ({"Content-Encoding": "gzip"} if packed else {})
    return Response(_pack(text) if packed else text, media_type="text/javascript", headers=headers)


@cache
def _pack(text: str) -> bytes:
    return gzip.compress(text.encode(), compresslevel=6)


def _picture(request: Request) -> Response:
    """A picture of a book, which never changes under its address. A browser takes it for nothing but a picture."""
    try:
        found = workspace_of_request(request).library.picture(
            request.path_params["document"], request.path_params["picture"]
        )
    except SignInError as error:
        return Response(str(error), status_code=401, media_type="text/plain")
    except ReadAgentError as error:
        return Response(str(error), status_code=503, media_type="text/plain")
    if found is None or found.kind not in PICTURE_KINDS:
        return Response("There is no such picture.", status_code=404)
    return Response(found.data, media_type=found.kind, headers=PICTURE_HEADERS)


def _catalogue_cover(request: Request) -> Response:
    """The cover of a book in a catalogue, made small here: the browser asks no server of a stranger."""
    try:
        found = cover_of(workspace_of_request(request), request.path_params["token"])
    except ReadAgentError as error:
        return Response(str(error), status_code=404, media_type="text/plain")
    data = covers.shrink(found) if found else b""
    return Response(data, media_type="image/jpeg", headers=PICTURE_HEADERS) if data else Response(status_code=404)


def themes() -> dict[str, str]:
    """The colours of each theme in assets/tokens.css, by name."""
    return dict(re.findall(r'\[data-theme="(\w+)"\] \{(.*?)\}', read("tokens.css"), re.DOTALL))


def night() -> str:
    """The style by which the theme 'system' has the colours of 'dark' while the system's is dark."""
    return f'@media (prefers-color-scheme: dark) {{ [data-theme="system"] {{ {themes()["dark"]} }} }}'


def style_sheet() -> str:
    """All style sheets as one."""
    return "".join(map(read, SHEETS)) + night()


def _frame(base: str) -> str:
    """What is in every page before Streamlit is. ``base``: before the address of each screen."""
    of_team = ("shared", "people") if load_team() else ()
    team = "".join(f'<a href="{base}/{name}" data-screen="{name}">{name.capitalize()}</a>' for name in of_team)
    return Template(read("first_page.html")).substitute(base=base, mark=read("mark.svg"), team=team)


@cache
def page(screen: str, theme: str) -> str:
    """The first page of ``screen``, a key of ``SCREENS``, in ``theme``: 'system', 'light', 'sepia' or 'dark'."""
    base = st.get_option("server.baseUrlPath").strip("/")
    frame = _frame(f"/{base}" if base else "")
    parts = (*EVERYWHERE, *SCREENS[screen])
    early = [f"static/js/{name}" for name in chunks(*(part for part in parts if not part.endswith(".js")))]
    early += [address(part) for part in parts if part.endswith(".js")]
    head = "".join(f'<link rel="modulepreload" crossorigin href="./{file}">' for file in early)
    style = f"<style>{style_sheet()}</style>"
    early_script = f'<script type="module">{bundle("shared/first_page.js")}</script>'
    text = index_page().replace("<title>Streamlit</title>", "<title>ReadAgent</title>")
    in_read = " data-in-read" if screen == "read" else ""  # frame.css
    text = text.replace('<html lang="en">', f'<html lang="en" data-theme="{theme}"{in_read}>')
    text = text.replace("<head>", f"<head>{early_script}").replace("</head>", f"{head}</head>")
    # Streamlit's own styles come at the end of the head; ours have to come after them
    return text.replace("<body>", f"<body>{style}").replace('<div id="root"></div>', f'<div id="root"></div>{frame}')


def _prepare_screens() -> None:
    """Load what the screens are made of once the first of them is there, so that none is slow when it is come to."""
    time.sleep(PREPARE_SECONDS)
    for module in pkgutil.walk_packages(parts.__path__, f"{parts.__name__}."):
        importlib.import_module(module.name)
    all_methods()
    for screen in SCREENS:
        page(screen, "system")


@asynccontextmanager
async def start(app: App) -> AsyncIterator[None]:
    """Restore the backup that was chosen, go on with the books that wait for their gists, and open the app in the
    browser once the server listens, as ``streamlit run`` does for a script.

    Raises SettingsError, so that nothing is served, where sign-in is wanted and not set up.
    """
    check_configuration()
    restore_chosen()
    sys.setswitchinterval(SWITCH_SECONDS)
    threading.Thread(target=go_on_with_queue, daemon=True).start()
    threading.Thread(target=_prepare_screens, daemon=True).start()
    if not st.get_option("server.headless"):
        address = f"http://{st.get_option('server.address') or 'localhost'}:{st.get_option('server.port')}"
        asyncio.get_running_loop().call_later(OPEN_SECONDS, webbrowser.open, address)
    sharing = begin_sharing(app, read("tokens.css") + night())
    yield
    if sharing:
        sharing.stop()
