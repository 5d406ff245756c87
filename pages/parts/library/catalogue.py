"""What the screen of a catalogue shows, and what a person does there. ``CatalogueData`` in assets/protocol.d.ts.

The page that is open is in the session; a book being added is a job of the registry, so that it goes on without the
screen.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.shared import shell
from pages.parts.shared.component import Act
from readagent_core.errors import LoginError, ReadAgentError
from readagent_core.incoming import catalogues as kept
from readagent_core.incoming.catalogues import Catalogue
from readagent_core.incoming.opds import CataloguePage, Entry, Offer
from readagent_core.jobs import Job, JobState
from readagent_core.secret import Secret
from readagent_core.workspace import Workspace

_MOST_COVERS = 2_000
_covers: OrderedDict[str, tuple[Path, Catalogue, str]] = OrderedDict()  # by token: whose, and where it is


Seen = tuple[Catalogue | None, list[tuple[str, CataloguePage]], str, ReadAgentError | None]


@dataclass
class Browsing:
    """Where a session is in the catalogues. ``trail``: the pages on the way to the one that is shown, with titles."""

    chosen: Catalogue | None = None
    trail: list[tuple[str, CataloguePage]] = field(default_factory=list)
    query: str = ""
    error: ReadAgentError | None = None
    acts: int = 0  # so far: the browser waits for what becomes of each, also where that is the same again
    covers: dict[str, str] = field(default_factory=dict)  # the tokens of the page that is shown, by address
    seen: list[Seen] = field(default_factory=list)  # what was shown, for Back and Forward of the browser
    at: int = -1  # which of it is shown

    @property
    def page(self) -> CataloguePage | None:
        return self.trail[-1][1] if self.trail else None


def browsing() -> Browsing:
    """Where this session is."""
    found: Browsing = st.session_state.setdefault("catalogue_browsing", Browsing())
    return found


def act_on(workspace: Workspace, act: Act) -> None:
    """Do what a person asked for, before the run that shows it."""
    now = browsing()
    page, entries = now.page, now.page.entries if now.page else ()
    entry = entries[act.page] if act.page < len(entries) else None
    now.error, now.acts = None, now.acts + 1
    try:
        if act.do == "leave":
            now.chosen, now.trail, now.query = None, [], ""
        elif act.do == "choose" or (act.do == "search" and act.of):
            known = {one.address: one for one in kept.catalogues(workspace)}
            now.chosen, now.trail, now.query, now.covers = known.get(act.of), [], "", {}
            if now.chosen:
                page = kept.open_page(workspace, now.chosen)
                now.trail = [(now.chosen.name, page)]
        if act.do == "address":
            _try_address(workspace, act.text)
        elif act.do == "visit" and act.page < len(now.seen):
            now.at = act.page
            now.chosen, trail, now.query, now.error = now.seen[now.at]
            now.trail = list(trail)
        elif act.do == "back":
            now.trail, now.query = now.trail[: act.page + 1], ""
        elif act.do == "forget" and now.chosen:
            kept.forget_catalogue(workspace, now.chosen)
            now.chosen, now.trail = None, []
        elif now.chosen and page:
            if act.do == "open" and entry:
                now.trail.append((entry.title, kept.open_page(workspace, now.chosen, entry.address)))
            elif act.do == "next" and page.next:
                now.trail[-1] = (now.trail[-1][0], kept.open_page(workspace, now.chosen, page.next))
            elif act.do == "search" and act.text.strip():
                searched = next((one for _, one in reversed(now.trail) if one.search), page)
                found = kept.search(workspace, now.chosen, searched, act.text.strip())
                now.query, now.trail = act.text.strip(), [now.trail[0], (f"“{act.text.strip()}”", found)]
            elif act.do == "add" and entry and entry.offer is not None:
                _start_adding(workspace, now.chosen, entry)
    except ReadAgentError as error:
        now.error = error


def _note_seen(now: Browsing) -> None:
    """Add what is shown to what was seen, after what was shown before it, as a browser does."""
    shown = now.chosen, list(now.trail), now.query, now.error
    if now.at < 0 or now.seen[now.at][:3] != shown[:3]:
        now.seen[now.at + 1 :] = [shown]
        now.at += 1
    now.seen[now.at] = shown


def _try_address(workspace: Workspace, address: str) -> None:
    """Open the catalogue at an address that a person typed, and keep it. Raises LinkError."""
    now = browsing()
    found, page = kept.try_catalogue(workspace, address)
    kept.keep_catalogue(workspace, found)
    now.chosen, now.trail, now.query, now.covers = found, [(found.name, page)], "", {}


def _start_adding(workspace: Workspace, catalogue: Catalogue, entry: Entry) -> None:
    def work(job: Job) -> str:
        return kept.add_from_catalogue(
            workspace, catalogue, entry, job, lambda done, total: job.publish(done=done, total=total)
        ).id

    workspace.jobs.start(_job_key(catalogue, entry), work, subject=entry.title)


def _job_key(catalogue: Catalogue, entry: Entry) -> str:
    return f"from {kept.source_name(catalogue, entry)}"


def adding(workspace: Workspace) -> bool:
    """Whether a book of the page that is shown is on its way."""
    now = browsing()
    jobs = (workspace.jobs.get(_job_key(now.chosen, e)) for e in (now.page.entries if now.page else ()) if now.chosen)
    return any(job is not None and job.running for job in jobs)


def data(workspace: Workspace) -> dict[str, Any]:
    """Return the ``CatalogueData`` of what this session looks at."""
    now, books = browsing(), {book.source_name: book.id for book in workspace.library.books()}
    _note_seen(now)
    page, error = now.page, now.error
    return {
        "kind": "catalogue",
        "catalogues": [
            {
                "name": one.name,
                "about": one.about or one.host,
                "address": one.address,
                "home": one.home,
                "asks": one.open,
                "own": not one.about,
            }
            for one in kept.catalogues(workspace)
        ],
        "chosen": now.chosen.address if now.chosen else "",
        "own": bool(now.chosen and not now.chosen.about),
        "crumbs": [title for title, _ in now.trail],
        "total": page.total if page else None,
        "search": any(one.search for _, one in now.trail),
        "query": now.query,
        "entries": [_record(workspace, now, entry, books) for entry in (page.entries if page else ())],
        "more": bool(page and page.next),
        "error": _told(error) if error else None,
        "off": not workspace.settings.links,
        "acts": now.acts,
        "at": now.at,
    }


def _told(error: ReadAgentError) -> dict[str, Any]:
    return {"title": shell.title_of(error)[0], "text": str(error), "login": isinstance(error, LoginError)}


def _record(workspace: Workspace, now: Browsing, entry: Entry, books: dict[str, str]) -> dict[str, Any]:
    state = Offer.FREE if entry.offer is Offer.ON_ITS_PAGE else entry.offer
    record: dict[str, Any] = {"title": entry.title, "author": entry.author, "state": str(state or "page")}
    if now.chosen is None or entry.offer is None:
        return record
    record["cover"] = _cover_address(workspace, now, entry.cover) if entry.cover.startswith("http") else ""
    job = workspace.jobs.get(_job_key(now.chosen, entry))
    added = job.snapshot.value if job is not None else None  # of a file that was here before it is that book
    if book := books.get(kept.source_name(now.chosen, entry)) or (added if added in books.values() else None):
        return record | {"state": "here", "book": book}
    if job is not None and job.running:
        at = job.snapshot
        return record | {"state": "adding", "share": min(1.0, at.done / at.total) if at.total else None}
    if job is not None and job.snapshot.state == JobState.FAILED:
        return record | {"said": job.snapshot.error}
    return record


def _cover_address(workspace: Workspace, now: Browsing, address: str) -> str:
    if address not in now.covers and now.chosen:
        token = now.covers[address] = secrets.token_urlsafe(12)
        _covers[token] = (workspace.home, now.chosen, address)
        while len(_covers) > _MOST_COVERS:
            _covers.popitem(last=False)
    return f"catalogue-cover/{now.covers.get(address, '')}"


def cover_of(workspace: Workspace, token: str) -> bytes | None:
    """Return the bytes of a cover that a session of this person was shown the address of; None for any other."""
    home, catalogue, address = _covers.get(token, (None, None, ""))
    if home != workspace.home or catalogue is None:
        return None
    return kept.fetch_cover(workspace, catalogue, address)


@st.dialog("Another catalogue")
def name_catalogue(workspace: Workspace, known: Catalogue | None, address: str = "") -> None:
    """Ask for an address, a user and a password, try them, keep what works. ``known``: one that asks for a login."""
    if not known and not address:
        st.caption("Its address is on the catalogue’s own help page; it often ends in /opds.")
    with st.form("catalogue", border=False):
        address = st.text_input("Address", known.address if known else address, disabled=known is not None)
        left, right = st.columns(2)
        user = left.text_input("User", known.user if known else "", help="Leave it empty where none is asked for.")
        password = right.text_input("Password", type="password")
        name = st.text_input("Name", known.name if known else "", placeholder="As the catalogue calls itself")
        where = "this server" if workspace.settings.team else "this computer"
        home = "" if workspace.settings.team else " In your home network only what you name here is asked."
        st.caption(f"The password is kept on {where} like a key, and sent to this address alone.{home}")
        if not st.form_submit_button("Add the catalogue" if known is None else "Sign in", type="primary"):
            return
    try:
        typed = known.address if known else address
        with st.spinner(f"Asking {shell.as_text(typed)}…"):
            found, page = kept.try_catalogue(workspace, typed, user, Secret(password), name)
        kept.keep_catalogue(workspace, found, Secret(password))
    except ReadAgentError as error:
        shell.error_box(error)
        return
    now = browsing()
    now.chosen, now.trail, now.query, now.error = found, [(found.name, page)], "", None
    st.rerun()
