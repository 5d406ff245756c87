"""What every screen has: the logo, the style sheet, the line that names the model, error boxes.

The style sheets are the project's own files; no text of a book or a model is rendered as HTML here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import read
from pages.parts.shared.scripts import ASSETS, bundle
from readagent_core.errors import (
    BudgetError,
    KeyRefusedError,
    PasswordError,
    ProtectedDocumentError,
    RateLimitError,
    ReadAgentError,
)
from readagent_core.models.base import ChatModel

MARK = str(ASSETS / "mark.svg")
FIRST_METHODS = ("read-agent-p", "gist-mem", "bm25", "full-text")  # chosen at the first visit of a form
FORMAT_NAMES = {"md": "Markdown", "html": "HTML", "epub": "EPUB", "json": "JSON", "csv": "CSV"}


@cache
def themes() -> dict[str, str]:
    """The colours of each theme in assets/tokens.css, by name."""
    return dict(re.findall(r'\[data-theme="(\w+)"\] \{(.*?)\}', read("tokens.css"), re.DOTALL))


@cache
def style_sheet(active: str | None, *, sepia: bool) -> str:
    """Tokens and the rules that give native widgets the app's look, as one <style> element.

    ``active``: Streamlit's theme, 'light' or 'dark', until assets/shared/theme.js sets it; None: the system's.
    """
    css = "".join(read(name) for name in ("tokens.css", "streamlit.css", "app.css"))
    day, night = themes()["sepia" if sepia else "light"], themes()["dark"]
    css += f'[data-theme="light"] {{ {day} }} :root:not([data-theme]) {{ {night if active == "dark" else day} }}'
    if active is None:
        css += f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {{ {night} }} }}"
    return f"<style>{css}</style>"


@cache
def theme_script() -> str:
    """The script that makes the tokens follow Streamlit's theme, as one <script> element."""
    return f'<script type="module">{bundle("shared/theme.js")}</script>'


def add_styles() -> None:
    """Add the style sheet of the current theme; sepia is the light theme with other colours."""
    st.html(style_sheet(st.context.theme.type, sepia=chosen_theme() == "sepia"))
    st.html(theme_script(), unsafe_allow_javascript=True)


def chosen_theme() -> str:
    """The theme the person chose; '' if the library cannot be opened (its screen says why)."""
    try:
        look = get_workspace().library.preference("look", {})
    except ReadAgentError:
        return ""
    return str(look.get("theme", "")) if isinstance(look, dict) else ""


def header(title: str, *, about: str = "") -> None:
    """Draw a screen's title with a line about it, both our own words."""
    st.title(title, anchor=False)
    if about:
        st.caption(about)


def no_book(title: str) -> None:
    """Draw a screen about a book while the library has none."""
    header(title, about="No book is open yet.")
    st.page_link("pages/library.py", label="Choose a book", icon=":material/arrow_back:")


TITLES: dict[str, tuple[str, str]] = {  # error class -> what happened in a few words, icon
    "KeyRefusedError": ("The key was not accepted", "key"),
    "RateLimitError": ("Paused: the model asked us to wait", "schedule"),
    "BudgetError": ("Paused: the budget is used", "pause"),
    "NoCreditError": ("The credit or the quota is used up", "credit_card_off"),
    "UnreachableError": ("The model cannot be reached", "power_off"),
    "UnknownModelError": ("The server does not know this model", "help"),
    "ModelTimeoutError": ("The model stopped answering", "power_off"),
    "ServerFailedError": ("The server failed", "power_off"),
    "WindowError": ("This is longer than the model can take in", "width_full"),
    "CutOffError": ("The reply broke off", "content_cut"),
    "EndlessReplyError": ("The reply did not end", "content_cut"),
    "EmptyReplyError": ("The model said nothing", "chat_bubble_outline"),
    "RefusedError": ("The model declined", "block"),
    "BadRequestError": ("The server did not accept the call", "block"),
    "UnknownFormatError": ("This kind of file cannot be opened", "draft"),
    "WrongFormatError": ("The file is not what its name says", "draft"),
    "EmptyDocumentError": ("There is nothing in this file", "draft"),
    "NoTextError": ("This file holds pictures of pages, not text", "image"),
    "DamagedDocumentError": ("This file is damaged", "broken_image"),
    "PasswordError": ("This file needs a password", "lock"),
    "ProtectedDocumentError": ("This book is locked", "lock"),
    "TooLargeError": ("This file is too large", "draft"),
    "UnsafeDocumentError": ("This file could not be opened safely", "gpp_bad"),
    "NotInLibraryError": ("This is not in the library any more", "search_off"),
    "LibraryBusyError": ("The library is busy", "schedule"),
    "DiskFullError": ("The disk is full", "save"),
    "NewerLibraryError": ("This library is from a newer version", "update"),
    "DatasetError": ("These questions cannot be used", "draft"),
    "SettingsError": ("A setting cannot be used", "settings"),
    "CancelledError": ("Stopped", "stop_circle"),
}
WAITING = (BudgetError, RateLimitError, PasswordError)
LOCKED = (KeyRefusedError, ProtectedDocumentError)


def error_box(error: ReadAgentError | str, *, kind: str = "", about: str = "") -> None:
    """Draw a box that says what happened and what to do next.

    ``kind``: the error's class name if only its message is known (``Snapshot.error_kind``). ``about``: the file that
    the error is about, where there may be several.
    """
    kind = kind or (type(error).__name__ if isinstance(error, ReadAgentError) else "")
    title, icon = TITLES.get(kind, ("This did not work", "error"))
    calm = isinstance(error, WAITING) or kind in {e.__name__ for e in WAITING} or kind == "CancelledError"
    with st.container(border=True, key=f"error_{'calm' if calm else 'alert'}_{kind or 'other'}"):
        st.markdown(f":{'orange' if calm else 'red'}[:material/{icon}:] &nbsp; **{title}**")
        st.text(f"{about}: {error}" if about else str(error))
        if detail := getattr(error, "detail", ""):
            with st.expander("Details for a report"):
                st.text(detail)


def draw(screen: Callable[[], None]) -> None:
    """Call ``screen``, which draws a whole screen; an error is shown below what it has drawn."""
    try:
        screen()
    except ReadAgentError as error:
        error_box(error)


def guarded(act: Callable[[], Any]) -> None:
    """Call ``act`` and run the screen again; an error is shown in its place."""
    try:
        act()
    except ReadAgentError as error:
        error_box(error)
    else:
        st.rerun()


def file_size(count: int) -> str:
    """``count`` bytes for people: '3.4 MB'."""
    return f"{count / 2**20:,.1f} MB" if count >= 1e5 else f"{max(1, round(count / 2**10))} KB"


def missing_setting() -> str:
    """What is missing if a model is named but its key cannot be read, or a server but no model of it; else ''."""
    settings = get_workspace().settings
    if settings.key_trouble:
        return settings.key_trouble
    if not settings.base_url or settings.model:
        return ""
    return "A server is set in the environment, but no model: set READAGENT_MODEL too, or choose a model in Settings."


def model_line(model: ChatModel) -> None:
    """Name the model at the foot of the sidebar, or link to Settings; warn if its server cuts prompts."""
    with st.sidebar.container(key="foot"):
        if not model.is_language_model:
            st.caption(f"No language model is connected — the built-in reader is used. {missing_setting()}".strip())
            st.page_link("pages/settings.py", label="Connect a model", icon=":material/power:")
            return
        local = any(here in model.where for here in ("localhost", "127.0.0.1", "[::1]", "0.0.0.0"))
        st.text(f"{model.name} {'on this computer' if local else 'at ' + model.where.split('//')[-1].split('/')[0]}")
        if cutting := model.cutting:
            st.caption(f":orange[:material/content_cut:] {cutting}")
