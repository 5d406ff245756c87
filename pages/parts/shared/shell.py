"""What every screen has: the tab's title, the line that names the model, error boxes. first_page.py has the frame."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from typing import Any, TypeVar

import streamlit as st
from starlette.requests import HTTPConnection

from pages.parts.shared.cached import get_workspace, workspace_of_request
from pages.parts.shared.gisting_status import look_of
from readagent_core import errors
from readagent_core.errors import OR_TEST, WORK_IS_SAVED, ReadAgentError, Remedy, WrongAddressError
from readagent_core.model_names import short_name
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


def set_title(screen: str, book: str = "", author: str = "") -> None:
    """Name the browser's tab after the screen and its book: 'The Keeper of Harrow Light – Read – ReadAgent'.

    On paper the book and its author stand above the screen.
    """
    st.set_page_config(page_title=" – ".join(part for part in (book, screen, "ReadAgent") if part))
    if book:
        by = f"<br><small>{escape(author)}</small>" if author else ""
        st.html(f'<p class="on-paper">{escape(book)}{by}</p>')


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


TITLES: dict[type[ReadAgentError], tuple[str, str]] = {  # what happened in a few words, icon
    errors.KeyRefusedError: ("The key was not accepted", "key"),
    errors.RateLimitError: ("Paused: the model asked us to wait", "schedule"),
    errors.BudgetError: ("Paused: the budget is used", "pause"),
    errors.NoCreditError: ("The credit or the quota is used up", "credit_card_off"),
    errors.UnreachableError: ("The model cannot be reached", "power_off"),
    errors.UnknownModelError: ("The server does not know this model", "help"),
    errors.ModelTimeoutError: ("The model stopped answering", "power_off"),
    errors.ServerFailedError: ("The server failed", "power_off"),
    errors.WindowError: ("This is longer than the model can take in", "width_full"),
    errors.RequestTooLargeError: ("The server takes no request this long", "width_full"),
    errors.CutOffError: ("The reply broke off", "content_cut"),
    errors.EndlessReplyError: ("The reply did not end", "content_cut"),
    errors.EmptyReplyError: ("The model said nothing", "chat_bubble_outline"),
    errors.RefusedError: ("The model declined", "block"),
    errors.BadRequestError: ("The model could not be asked", "block"),
    errors.LocalModelError: ("The model on this computer cannot be used", "memory"),
    errors.DownloadError: ("The download did not get through", "cloud_off"),
    errors.UnknownFormatError: ("This kind of file cannot be opened", "draft"),
    errors.WrongFormatError: ("The file is not what its name says", "draft"),
    errors.EmptyDocumentError: ("There is nothing to read", "draft"),
    errors.NoTextError: ("This file holds pictures of pages, not text", "image"),
    errors.DamagedDocumentError: ("This file is damaged", "broken_image"),
    errors.PasswordError: ("This file needs a password", "lock"),
    errors.ProtectedDocumentError: ("This book is locked", "lock"),
    errors.TooLargeError: ("This file is too large", "draft"),
    errors.UnsafeDocumentError: ("This file could not be opened safely", "gpp_bad"),
    errors.LinkError: ("This address could not be opened", "link_off"),
    errors.UnsafeLinkError: ("This address is not opened", "gpp_bad"),
    errors.UnreachableLinkError: ("This address cannot be reached", "link_off"),
    errors.OfflineError: ("The internet cannot be reached", "wifi_off"),
    errors.NotThereError: ("There is no page at this address", "link_off"),
    errors.LoginError: ("A user and password are needed", "lock"),
    errors.NoCatalogueError: ("This is no catalogue", "link_off"),
    errors.WrongAddressError: ("There is no such book", "search_off"),
    errors.NotInLibraryError: ("This is not in the library any more", "search_off"),
    errors.LibraryBusyError: ("The library is busy", "schedule"),
    errors.DiskFullError: ("The disk is full", "save"),
    errors.NewerLibraryError: ("This library is from a newer version", "update"),
    errors.DatasetError: ("These questions cannot be used", "draft"),
    errors.SettingsError: ("A setting cannot be used", "settings"),
    errors.MissingError: ("", "edit"),  # its sentence says it
    errors.NetworkError: ("Your other devices cannot reach this computer", "wifi_off"),
    errors.SignInError: ("This cannot be opened", "lock"),
    errors.LimitError: ("This server's limit is reached", "pause"),
    errors.CancelledError: ("Stopped", "stop_circle"),
}
CALM = (
    errors.MissingError,
    errors.BudgetError,
    errors.LimitError,
    errors.RateLimitError,
    errors.PasswordError,
    errors.CancelledError,
)


def title_of(error: ReadAgentError | None) -> tuple[str, str]:
    """What an error says in a few words, and its icon; those of the class above where its class has none."""
    classes = type(error).__mro__
    return next((TITLES[one] for one in classes if one in TITLES), ("This did not work", "error"))


def error_box(error: ReadAgentError | None, *, scope: str = "") -> None:
    """Draw a box that says what happened and what to do next. ``None``: nothing is drawn. ``scope``: ends its key."""
    if error is None:
        return
    title, icon = title_of(error)
    calm = isinstance(error, CALM)
    with st.container(border=True, key=f"error_{'calm' if calm else 'alert'}_{type(error).__name__}{scope}"):
        st.markdown(f":{'orange' if calm else 'red'}[:material/{icon}:] &nbsp; **{title or str(error)}**")
        if title:
            st.text(words_of(error))
        if not _in_settings() and isinstance(error, errors.ModelError) and error.remedy == Remedy.SETTINGS:
            link_to_settings()
        if detail := getattr(error, "detail", ""):
            with st.expander("Details for a report"):
                st.text(detail)


def _in_settings() -> bool:
    return st.session_state.get("screen") == "Settings"


def words_of(error: ReadAgentError, *, tested: bool = False) -> str:
    """The sentence of an error; in Settings without the way there, and without what was done, because nothing was.

    ``tested``: it ended a test, so that a test is no remedy.
    """
    words = str(error).replace(OR_TEST, "") if tested else str(error)
    return words.replace(f"{WORK_IS_SAVED} ", "").replace(" in Settings", "") if _in_settings() else words


def link_back(screen: str = "Library") -> None:
    """Draw the link to the screen that leads to this one, at its head."""
    with st.container(key="back"):
        st.page_link(f"pages/{screen.lower()}.py", label=screen, icon=":material/arrow_back:")


def link_to_settings() -> None:
    st.page_link("pages/settings.py", label="Open Settings", icon=":material/settings:")


def draw(screen: Callable[[], None]) -> None:
    """Call ``screen``, which draws a whole screen; an error is shown below what it has drawn."""
    try:
        screen()
    except WrongAddressError as error:
        nothing_here(title_of(error)[0], str(error))
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


def save_button(label: str, data: Any, file_name: str, *, told: Any = st, **how: Any) -> None:
    """Draw a button that saves a file, and a line once it was saved.

    ``told``: the container of that line; without it the line stands below the button. ``how``: as in
    ``st.download_button``.
    """
    if st.download_button(label, data=data, file_name=file_name, **how):
        told.text(f"Saved in your downloads: {file_name}")


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
    remembered = settings.origin.get("base_url") == "settings"  # for the next time: the built-in reader was chosen
    if not settings.base_url or settings.model or remembered:
        return ""
    return "A server is set in the environment, but no model: set READAGENT_MODEL too, or choose a model in Settings."


def model_line(model: ChatModel, *, warn: bool = True) -> None:
    """Name the model at the right of the header, with a link to Settings.

    ``warn``: of cut prompts and missing settings, in the sidebar; the Settings screen shows them itself.
    """
    trouble, name = model.trouble, short_name(model.name)
    with st.container(key="model_line_trouble" if trouble else "model_line"):
        if get_workspace().settings.server:
            label, about = as_text(name), as_text(f"{name}, which this server provides")
        elif model.is_language_model:
            local = any(here in model.where for here in ("localhost", "127.0.0.1", "[::1]", "0.0.0.0"))
            where = "on this computer" if local else f"at {model.where.split('//')[-1].split('/')[0]}"
            label, about = as_text(name), as_text(f"{name} {where}")
        else:
            label = "Connect a model"
            about = "No language model is connected: the built-in reader is used."
        if trouble:
            label, about = f"Not working: {label}", f"{title_of(trouble)[0]}: {about}"
        icon = ":material/power_off:" if trouble else ":material/power:"
        st.page_link("pages/settings.py", label=label, icon=icon, help=about)
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
