"""What every screen has: the tab's title, the line that names the model, error boxes. first_page.py has the frame."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st
from starlette.requests import HTTPConnection

from pages.parts.shared.cached import get_workspace, workspace_of_request
from pages.parts.shared.gisting_status import look_of
from readagent_core import errors
from readagent_core.answering.signature import short_name
from readagent_core.errors import ReadAgentError, Remedy, WrongAddressError
from readagent_core.models.base import ChatModel
from readagent_core.resources import ASSETS

Number = TypeVar("Number", int, float)
MARK = str(ASSETS / "mark.svg")
FIRST_METHODS = ("read-agent-p", "gist-mem", "bm25", "full-text")  # chosen at the first visit of a form
FORMAT_NAMES = {
    "md": "Markdown",
    "html": "HTML",
    "epub": "EPUB",
    "json": "JSON",
    "csv": "CSV",
    "skill": "Skill",
    "readwise": "Readwise",
}


def set_title(screen: str, book: str = "") -> None:
    """Name the browser's tab after the screen and its book: 'The Keeper of Harrow Light – Read – ReadAgent'."""
    st.set_page_config(page_title=" – ".join(part for part in (book, screen, "ReadAgent") if part))


def theme_of(request: HTTPConnection) -> str:
    """The theme that whoever sent the request chose: 'system', 'light', 'sepia' or 'dark'; 'system' if the library
    cannot be opened, or nobody is signed in."""
    try:
        return str(look_of(workspace_of_request(request).library.preference("look", {}))["theme"])
    except ReadAgentError:
        return "system"


def apply_theme(theme: str) -> None:
    """Show the open page in ``theme``, one of ``LOOKS["theme"]``; a page that is opened later has the stored one."""
    script = f"document.documentElement.dataset.theme = {json.dumps(theme)}"
    st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def header(title: str, *, about: str = "") -> None:
    """Draw a screen's title with a line about it, both our own words."""
    st.title(title, anchor=False)
    if about:
        st.caption(about)


def nothing_here(title: str, text: str) -> None:
    """Draw a screen that has nothing to show, with the way to the library. ``text``: why, in plain text."""
    with st.container(key="nowhere"):
        st.title(title, anchor=False)
        st.text(text)
        st.page_link("pages/library.py", label="Open the library")


def no_book(screen: str) -> None:
    """Draw a screen about a book while the library has none."""
    nothing_here(screen, "No book is open. Choose one in the library, or add one there.")


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
    "RequestTooLargeError": ("The server takes no request this long", "width_full"),
    "CutOffError": ("The reply broke off", "content_cut"),
    "EndlessReplyError": ("The reply did not end", "content_cut"),
    "EmptyReplyError": ("The model said nothing", "chat_bubble_outline"),
    "RefusedError": ("The model declined", "block"),
    "BadRequestError": ("The model could not be asked", "block"),
    "LocalModelError": ("The model on this computer cannot be used", "memory"),
    "UnknownFormatError": ("This kind of file cannot be opened", "draft"),
    "WrongFormatError": ("The file is not what its name says", "draft"),
    "EmptyDocumentError": ("There is nothing to read", "draft"),
    "NoTextError": ("This file holds pictures of pages, not text", "image"),
    "DamagedDocumentError": ("This file is damaged", "broken_image"),
    "PasswordError": ("This file needs a password", "lock"),
    "ProtectedDocumentError": ("This book is locked", "lock"),
    "TooLargeError": ("This file is too large", "draft"),
    "UnsafeDocumentError": ("This file could not be opened safely", "gpp_bad"),
    "LinkError": ("This address could not be opened", "link_off"),
    "UnsafeLinkError": ("This address is not opened", "gpp_bad"),
    "UnreachableLinkError": ("Nothing answers there", "link_off"),
    "NotThereError": ("There is no page at this address", "link_off"),
    "LoginError": ("A user and password are needed", "lock"),
    "NoCatalogueError": ("This is no catalogue", "link_off"),
    "WrongAddressError": ("There is no such book", "search_off"),
    "NotInLibraryError": ("This is not in the library any more", "search_off"),
    "LibraryBusyError": ("The library is busy", "schedule"),
    "DiskFullError": ("The disk is full", "save"),
    "NewerLibraryError": ("This library is from a newer version", "update"),
    "DatasetError": ("These questions cannot be used", "draft"),
    "SettingsError": ("A setting cannot be used", "settings"),
    "NetworkError": ("Your other devices cannot reach this computer", "wifi_off"),
    "SignInError": ("This cannot be opened", "lock"),
    "LimitError": ("This server's limit is reached", "pause"),
    "CancelledError": ("Stopped", "stop_circle"),
}
WAITING = (errors.BudgetError, errors.LimitError, errors.RateLimitError, errors.PasswordError)


def title_of(kind: str) -> tuple[str, str]:
    """What an error of this class says in a few words, and its icon; those of the class above where it has none."""
    classes = getattr(errors, kind, Exception).__mro__
    return next((TITLES[one.__name__] for one in classes if one.__name__ in TITLES), ("This did not work", "error"))


def error_box(error: ReadAgentError | str, *, kind: str = "") -> None:
    """Draw a box that says what happened and what to do next.

    ``kind``: the error's class name if only its message is known (``Snapshot.error_kind``).
    """
    kind = kind or (type(error).__name__ if isinstance(error, ReadAgentError) else "")
    title, icon = title_of(kind)
    calm = isinstance(error, WAITING) or kind in {e.__name__ for e in WAITING} or kind == "CancelledError"
    with st.container(border=True, key=f"error_{'calm' if calm else 'alert'}_{kind or 'other'}"):
        st.markdown(f":{'orange' if calm else 'red'}[:material/{icon}:] &nbsp; **{title}**")
        st.text(str(error))
        of_model = getattr(errors, kind, None) if kind in TITLES else None
        elsewhere = st.session_state.get("screen") != "Settings"
        if elsewhere and of_model and issubclass(of_model, errors.ModelError) and of_model.remedy == Remedy.SETTINGS:
            link_to_settings()
        if detail := getattr(error, "detail", ""):
            with st.expander("Details for a report"):
                st.text(detail)


def link_to_settings() -> None:
    st.page_link("pages/settings.py", label="Open Settings", icon=":material/settings:")


def draw(screen: Callable[[], None]) -> None:
    """Call ``screen``, which draws a whole screen; an error is shown below what it has drawn."""
    try:
        screen()
    except WrongAddressError as error:
        nothing_here(title_of(type(error).__name__)[0], str(error))
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


def clamp(value: Number, least: Number, most: Number) -> Number:
    """Return ``value`` within the bounds of a field, which Streamlit refuses to draw with another."""
    return max(least, min(value, most))


def missing_setting() -> str:
    """What is missing if a model is named but its key cannot be read, or a server but no model of it; else ''."""
    settings = get_workspace().settings
    if settings.key_trouble:
        return settings.key_trouble
    if not settings.base_url or settings.model:
        return ""
    return "A server is set in the environment, but no model: set READAGENT_MODEL too, or choose a model in Settings."


def model_line(model: ChatModel, *, warn: bool = True) -> None:
    """Name the model at the right of the header, with a link to Settings.

    ``warn``: of cut prompts and missing settings, in the sidebar; the Settings screen shows them itself.
    """
    with st.container(key="model_line"):
        if get_workspace().settings.server:
            label, about = as_text(model.name), as_text(f"{model.name}, which this server provides")
        elif model.is_language_model:
            local = any(here in model.where for here in ("localhost", "127.0.0.1", "[::1]", "0.0.0.0"))
            where = "on this computer" if local else f"at {model.where.split('//')[-1].split('/')[0]}"
            label, about = as_text(short_name(model.name)), as_text(f"{model.name} {where}")
        else:
            label = "Connect a model"
            about = "No language model is connected: the built-in reader is used."
        st.page_link("pages/settings.py", label=label, icon=":material/power:", help=about)
    notices = [as_text(fault) for fault in get_workspace().settings.saved.faults]
    if warn and (notice := model.cutting or missing_setting()):
        notices.append(notice)
    if notices:
        with st.sidebar.container(key="notice"):
            for notice in notices:
                st.caption(f":orange[:material/warning:] {as_text(notice)}")


def as_text(text: str) -> str:
    """``text`` for a label, which Streamlit reads as Markdown, so that every character of it shows as it is."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)  # Markdown knows no escaped ’ or 「
