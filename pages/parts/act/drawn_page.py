"""The addresses of drawn web pages: the document of a sandboxed frame, and the HTML of a snippet as plain text.

The policy of the frame's document allows nothing but its own style, and the frame has no scripts and an origin of its
own (``sandbox`` without any permission). So marks are made on the server; a fragment moves the frame to an element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from pages.parts.read.original import whole_number
from pages.parts.shared.cached import workspace_of_request
from pages.parts.shared.component import read
from readagent_core.errors import NotInLibraryError, ReadAgentError
from readagent_core.workspace import Workspace

if TYPE_CHECKING:
    from readagent_core.web_pages.steps import BookPages, OpenedPage

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Cookie",  # another person in the same browser does not get it from its cache
    "Cache-Control": "private, max-age=600",  # another file has another address
}


def get_pages(workspace: Workspace) -> BookPages:
    """The opened web pages of this workspace."""
    return _pages(str(workspace.home), workspace)


@st.cache_resource(show_spinner=False)
def _pages(home: str, _workspace: Workspace) -> BookPages:
    from readagent_core.web_pages.steps import BookPages  # not when the app starts: it takes half a second

    return BookPages(_workspace)


def drawn_page_routes(prefix: str) -> list[Route]:
    """The addresses of drawn pages, below ``prefix``."""
    start = f"{prefix}/webpage/{{book}}/{{version}}"
    return [Route(start, _frame), Route(f"{start}/{{number}}.txt", _snippet)]


def _opened(request: Request) -> OpenedPage:
    """The page at the address of the request. Raises ReadAgentError, also where another version was asked for."""
    opened = get_pages(workspace_of_request(request)).open(request.path_params["book"])
    if opened.version != request.path_params["version"]:
        raise NotInLibraryError("The file of this page has changed. Load the screen again.")
    return opened


def _frame(request: Request) -> Response:
    """The document of the frame. A thread of the server's pool runs it, like ``_snippet``."""
    from readagent_core.web_pages.frame import frame_html

    query = request.query_params
    try:
        opened = _opened(request)
    except ReadAgentError as error:
        return PlainTextResponse(str(error), 404, HEADERS)
    numbers = [number for text in query.get("opened", "").split(",") if (number := whole_number(text))]
    return HTMLResponse(
        frame_html(
            opened.body,
            read("web_page/frame.css"),
            chosen=query.get("chosen", ""),
            opened=numbers,
            theme=query.get("theme", ""),
        ),
        headers=HEADERS,
    )


def _snippet(request: Request) -> Response:
    try:
        opened = _opened(request)
    except ReadAgentError as error:
        return PlainTextResponse(str(error), 404, HEADERS)
    number = whole_number(request.path_params["number"])
    if not 1 <= number <= len(opened.memory.snippets):
        return PlainTextResponse("There is no such part.", 404, HEADERS)
    return PlainTextResponse(opened.memory.html(number), headers=HEADERS)
