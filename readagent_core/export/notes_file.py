"""The file with the notes of one book: ReadAgent writes between two marks, and everything else is the person's."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from readagent_core.errors import ReadAgentError
from readagent_core.export.notes import yaml_text
from readagent_core.library.records import Book
from readagent_core.regular_files import DRAFT, open_regular, read_regular

_TRIES = 3  # of a file that another program changes at the same time
_MOST_BYTES = 10_000_000  # of a file
_HEAD = 8_192  # bytes in which a file says whose it is
MARK = re.compile(r"%%[ \t]*readagent:(begin|end)(?:[ \t]+(\w+))?[ \t]*%%")
_ID = re.compile(r"^readagent:[ \t]*[\"']?([\w-]+)", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|#^\[\]%\x00-\x1f\x7f]+')  # a file system or a link of Obsidian forbids them
_DEVICE = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)$")  # of Windows, where no file has such a name


class LeftAloneError(ReadAgentError):
    """A file that is not written, and why."""


def merged(old: str, section: str) -> str:
    """Return the text of a file with ``section`` between its marks; ``old`` itself where nothing has changed.

    What a person wrote between the marks is kept, below them. Raises ReadAgentError unless there is one mark of each
    kind, in order: then nobody knows what is whose.
    """
    marks = list(MARK.finditer(old))
    if [mark[1] for mark in marks] != ["begin", "end"]:
        raise LeftAloneError(
            "its two marks are not there once each, so it was left alone. Put them back: "
            "%% readagent:begin %% and %% readagent:end %%"
        )
    begin, end = marks
    inside, below = old[begin.end() : end.start()], old[end.end() :]
    untouched = begin[2] == _digest(inside)
    if untouched and begin[2] == _digest(section):
        return old
    line_end = "\r\n" if "\r\n" in old else "\n"
    if not untouched:
        known = {line.strip() for line in _LINE_END.split(section + "\n" + old[: begin.start()] + "\n" + below)}
        lines = [line for line in _LINE_END.split(inside) if not line.strip() or line.strip() not in known]
        own = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
        if own.strip():
            below = f"\n\n{own}\n".replace("\n", line_end) + below
    return old[: begin.start()] + _between_marks(section).replace("\n", line_end) + below


def _between_marks(section: str) -> str:
    return f"%% readagent:begin {_digest(section)} %%\n{section.strip()}\n%% readagent:end %%"


def _digest(text: str) -> str:
    """Return a hash of the words of ``text``: programs that tidy files change their white space."""
    return hashlib.sha256("".join(text.split()).encode("utf-8", "replace")).hexdigest()[:12]


def book_id_of(text: str) -> str:
    """Return the id of the book that the front matter of a file names; '' where there is none."""
    front, fence, _ = text.removeprefix("\ufeff").replace("\r\n", "\n").partition("\n---")
    found = _ID.search(front) if fence and front.startswith("---\n") else None
    return found[1] if found else ""


def _new_text(book: Book, section: str) -> str:
    front = {"readagent": book.id, "title": book.title, "author": book.author}
    lines = [f"{name}: {yaml_text(value)}".replace("%%", "% %") for name, value in front.items() if value]
    return "\n".join(["---", *lines, "---", _between_marks(section), ""])


def update_file(path: Path, section: str) -> None:
    """Write ``section`` into a file. Raises OSError, and LeftAloneError where it must not be written."""
    path = path.resolve()  # of a link, the file that it leads to
    for _ in range(_TRIES):
        data = read_regular(path, most=_MOST_BYTES)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise LeftAloneError("it is not a text in UTF-8, so it was left alone. Save it as UTF-8") from None
        new = merged(text, section).encode("utf-8", "replace")
        if new == data:
            return
        with draft_beside(path, new, mode=stat.S_IMODE(path.stat().st_mode)) as draft:
            if read_regular(path, most=_MOST_BYTES) == data:  # nobody has changed it meanwhile
                os.replace(draft, path)
                return
    raise LeftAloneError("another program is changing it. It is written after the next change")


def create_file(folder: Path, book: Book, section: str) -> Path:
    """Write the file of a book under a name that no file has, and return its path. Raises OSError."""
    words = " ".join(_NOT_IN_NAMES.sub(" ", book.title).split())
    name = words.encode()[:120].decode("utf-8", "ignore").strip(" .")
    name = f"Book {name}".strip() if not name or _DEVICE.match(name) else name
    data = _new_text(book, section).encode("utf-8", "replace")
    for number in range(1, 1000):
        path = folder / (f"{name}.md" if number == 1 else f"{name} {number}.md")
        with draft_beside(path, data, mode=None) as draft, contextlib.suppress(FileExistsError):
            _rename_to_free_name(draft, path)
            return path
    raise LeftAloneError("every name for it is taken in the folder. Move some of those files away")


def _rename_to_free_name(draft: Path, path: Path) -> None:
    """Rename a file, never over another one. Raises FileExistsError, or another OSError."""
    if os.name == "nt":
        os.rename(draft, path)
        return
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a disk without links, such as a USB stick
        with path.open("xb") as file:
            file.write(draft.read_bytes())


@contextlib.contextmanager
def draft_beside(path: Path, data: bytes, *, mode: int | None) -> Iterator[Path]:
    """Yield a file with ``data`` beside ``path``, which is gone afterwards. Raises OSError."""
    draft = path.with_name(f".readagent-{secrets.token_hex(6)}{DRAFT}")  # on the same disk, hidden in Obsidian
    try:
        with draft.open("xb") as file:
            file.write(data)
        if mode is not None:
            draft.chmod(mode)
        yield draft
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def is_file_of(path: Path, book: Book) -> bool:
    """Return whether the file that was written before is there still and the book's, also without its front matter."""
    text = beginning_of(path, _MOST_BYTES)
    return book_id_of(text) == book.id or (not book_id_of(text) and bool(MARK.search(text)))


def beginning_of(path: Path, most: int = _HEAD) -> str:
    """Return the first bytes of a file as text, '' where it cannot be read."""
    try:
        with open_regular(path, most=math.inf) as file:
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""
