"""Files on their way into the library: one job a file, one file at a time, and what became of each in this session."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.parts.shared.shell import title_of
from readagent_core.cancel import key_lock
from readagent_core.errors import NoTextError, PasswordError
from readagent_core.incoming import recognising
from readagent_core.incoming.opening import open_file
from readagent_core.jobs import Job, JobState
from readagent_core.words import count_of, length_of
from readagent_core.workspace import Workspace

_PARSING = threading.BoundedSemaphore(2)  # each file is parsed in a process of its own, which takes memory

_WORDS_OF_PICTURES = 50  # a part that is a picture; a book with fewer words for each of them is one of pictures


@dataclass
class Import:
    """A file that was dropped. ``data``: its bytes, as long as a password may be needed for it or its pages may be
    recognised. ``password``: the one that opens it. ``known``: the versions of the books that were here before it."""

    name: str
    data: bytes = field(repr=False)
    job: Job
    key: str
    password: str = field(default="", repr=False)
    known: Mapping[str, int] = field(default_factory=dict)

    @property
    def waits_for_password(self) -> bool:
        return isinstance(self.job.snapshot.failure, PasswordError)


def imports_of_session() -> list[Import]:
    """The files dropped in this session whose notes were not hidden."""
    found: list[Import] = st.session_state.setdefault("imports", [])
    return found


def dismiss_import(key: str) -> None:
    """Forget a file, and do not open it if it is not being opened yet."""
    for one in imports_of_session():
        if one.key == key:
            one.job.cancel()
    st.session_state["imports"] = [one for one in imports_of_session() if one.key != key]


def forget_finished() -> None:
    """Forget the files that have become books."""
    st.session_state["imports"] = [one for one in imports_of_session() if one.job.snapshot.state != JobState.DONE]


def start_import(workspace: Workspace, name: str, data: bytes, *, password: str = "") -> Import:
    """Open a file in the background; its job's value is the id of the book."""
    key, known = secrets.token_hex(6), dict[str, int]()

    def work(job: Job) -> str:
        def pages_read(done: int, pages: int) -> None:
            job.check()  # dismissed while it was being opened
            job.publish(done=done, total=pages)

        with key_lock(f"import into {workspace.home}", job), _PARSING:  # nobody's files hold up everybody else's
            job.check()  # it may have been dismissed while it waited
            job.publish(value="opening")
            known.update(versions(workspace))
            return open_file(workspace, data, name, password=password, progress=pages_read).id

    return Import(name, data, workspace.jobs.start(f"import {key}", work), key, password, known)


def versions(workspace: Workspace) -> dict[str, int]:
    """The version of each book of the library, by its id."""
    return {book.id: book.version for book in workspace.library.books()}


def import_record(workspace: Workspace, one: Import) -> dict[str, Any] | None:
    """An ``Import`` of assets/library/adding.js; None for a file being recognised (see parts/library/recognition), and
    for a book that was removed."""
    record = {"key": one.key, "name": one.name}
    snapshot = one.job.snapshot
    if snapshot.state != JobState.DONE and one.job.subject and one.job.key == recognising.job_key(one.job.subject):
        return None
    if snapshot.state == JobState.RUNNING:
        pages = [snapshot.done, snapshot.total] if snapshot.total else None
        return record | {"state": "opening" if snapshot.value else "waiting", "pages": pages}
    if snapshot.state == JobState.DONE:
        one.data, one.password = b"", ""
        book = next((book for book in workspace.library.books() if book.id == snapshot.value), None)
        if book is None:
            return None
        document = workspace.library.document(book.id)
        found = (
            [count_of(len(document.sections), "section")]
            if document.sections
            else [length_of(document.words, document.language)]
        )
        pictures = sum(one.count or 0 for one in document.warnings if one.code == "picture-parts")
        if document.words < _WORDS_OF_PICTURES * pictures:
            found.insert(0, "mostly pictures, with little text to read here")
        if document.warnings:
            found.append(count_of(len(document.warnings), "notice"))
        opened = {"state": "opened", "book": book.id, "title": book.title, "text": f"{', '.join(found)}."}
        return record | opened | {"here": book.id if one.known.get(book.id) == book.version else ""}
    title, _ = title_of(snapshot.failure)
    state = "password" if one.waits_for_password else "failed"
    detail = getattr(one.job.snapshot.failure, "detail", "")
    record |= {"state": state, "title": f"{title}.", "text": snapshot.error, "detail": detail}
    if isinstance(one.job.snapshot.failure, NoTextError) and one.job.snapshot.failure.pages:
        if missing := recognising.missing_packages():
            record["text"] = f"{snapshot.error} {missing}"
        else:
            record["offer"] = recognising.offer(workspace, len(one.job.snapshot.failure.pages))
    return record
