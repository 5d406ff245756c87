"""Files on their way into the library: one job a file, one file at a time, and what became of each.

They are the workspace's, not the session's, so that a tab that was reloaded tells of them too.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pages.parts.shared.shell import title_of
from readagent_core.cancel import key_lock
from readagent_core.document import NoticeKind
from readagent_core.errors import NoTextError, PasswordError
from readagent_core.incoming import recognising
from readagent_core.incoming.opening import open_file
from readagent_core.jobs import Job, JobState
from readagent_core.words import count_of, length_of
from readagent_core.workspace import Workspace

_PARSING = threading.BoundedSemaphore(2)  # each file is parsed in a process of its own, which takes memory

_KEPT_BYTES = 2**28  # of files that were not opened, for another try
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


def imports_of(workspace: Workspace) -> list[Import]:
    """The files dropped since the app started whose notes were not hidden."""
    return workspace.arrivals


def add_imports(workspace: Workspace, imports: list[Import]) -> None:
    """Tell of these files too, in place of those that have become books.

    Of older files that wait for a password or to be recognised, the bytes are dropped where they take too much memory.
    """
    forget_finished(workspace)
    left = _KEPT_BYTES
    for one in reversed(imports_of(workspace)):
        left -= len(one.data)
        if left < 0 and not one.job.running:
            one.data = b""
    imports_of(workspace).extend(imports)


def dismiss_import(workspace: Workspace, key: str) -> None:
    """Forget a file, and do not open it if it is not being opened yet."""
    for one in imports_of(workspace):
        if one.key == key:
            one.job.cancel()
    workspace.arrivals = [one for one in imports_of(workspace) if one.key != key]


def forget_finished(workspace: Workspace) -> None:
    """Forget the files that have become books."""
    workspace.arrivals = [one for one in imports_of(workspace) if one.job.snapshot.state != JobState.DONE]


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
    record: dict[str, Any] = {"key": one.key, "name": one.name}
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
        begun, ended = snapshot.started, snapshot.ended or 0
        came = [r.gists for r in workspace.library.gistings(book.id) if begun <= (r.ended or 0) <= ended]
        if came:  # an exported reading
            record["gists"] = came[0]
            found.insert(1, count_of(came[0], "gist"))
        doubts = [notice.message for notice in document.warnings if notice.kind == NoticeKind.DOUBTFUL]
        text = doubts[0] if doubts else f"{', '.join(found)}."
        opened = {"state": "opened", "book": book.id, "title": book.title, "text": text, "check": bool(doubts)}
        return record | opened | {"here": book.id if one.known.get(book.id) == book.version else ""}
    title, _ = title_of(snapshot.failure)
    error = snapshot.failure
    scanned = error.pages if isinstance(error, NoTextError) else ()
    record |= {"state": "failed", "title": f"{title}.", "text": snapshot.error, "detail": getattr(error, "detail", "")}
    if not scanned and not one.waits_for_password:
        one.data = b""  # no other try is made with it
    elif not one.data:
        record["text"] = f"{snapshot.error} Add the file again for that."
    elif one.waits_for_password:
        record["state"] = "password"
    elif missing := recognising.missing_packages():
        record["text"] = f"{snapshot.error} {missing}"
    else:
        record["offer"] = recognising.offer(workspace, len(scanned))
    return record
