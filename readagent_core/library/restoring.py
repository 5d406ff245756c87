"""A library that takes the place of the present one at the next start: a backup, or one that was replaced.

While the app runs its library cannot be changed for another: jobs, screens and agents hold parts of it. So a backup is
unpacked and checked at once, and only moved into its place before anything opens the library.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from readagent_core.library.backup import KEPT, UNPACKED, alone, explained, put_in_place
from readagent_core.library.schema import FILE

NEXT = "restore-at-start.json"  # names the folder whose library comes next


@dataclass(frozen=True)
class Stored:
    """What the library in a folder has. ``books``: their titles by id, by title."""

    books: dict[str, str]
    notes: int


def stored_in(folder: Path) -> Stored:
    """Return what the library in ``folder`` has. Raises LibraryError."""
    with explained(folder), closing(sqlite3.connect(folder / FILE)) as library:
        books = dict(library.execute("SELECT id, title FROM book WHERE removed IS NULL ORDER BY title"))
        notes = library.execute(
            "SELECT COUNT(*) FROM mark WHERE book_id IN (SELECT id FROM book WHERE removed IS NULL)"
        ).fetchone()[0]
    return Stored(books, notes)


def kept_libraries(home: Path) -> dict[Path, datetime]:
    """The folders in ``home`` with a library that another replaced, and when that was, the latest first."""
    found = {}
    for folder in sorted(home.glob(f"{KEPT}*"), reverse=True):
        with suppress(ValueError):
            when = datetime.strptime(folder.name, f"{KEPT}%Y-%m-%d-%H%M%S")
            if (folder / FILE).is_file():
                found[folder] = when
    return found


def restore_at_start(home: Path, folder: Path) -> None:
    """Note that the library in ``folder``, a folder in ``home``, replaces the present one at the next start.

    Raises LibraryError.
    """
    with explained(home):
        (home / NEXT).write_text(json.dumps(folder.name), encoding="utf-8")


def comes_next(home: Path) -> Path | None:
    """The folder whose library takes the place of the present one at the next start."""
    try:
        name = str(json.loads((home / NEXT).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    ours = name.startswith((UNPACKED, KEPT)) and Path(name).name == name and (home / name / FILE).is_file()
    return home / name if ours else None


def leave_in_place(home: Path) -> None:
    """Have the present library stay at the next start, and delete what was unpacked. Raises LibraryError."""
    with explained(home):
        (home / NEXT).unlink(missing_ok=True)
        for folder in home.glob(f"{UNPACKED}*"):
            shutil.rmtree(folder, ignore_errors=True)


def restore_now(home: Path) -> Path | None:
    """Put the library that comes next into its place; nothing may have opened the present one.

    Returns the folder that has what was replaced, None where nothing was to be restored. Raises LibraryError.
    """
    folder = comes_next(home)
    if folder is None:
        return None
    with explained(home), alone(home):
        aside = put_in_place(folder, home)
    shutil.rmtree(folder, ignore_errors=True)
    leave_in_place(home)
    return aside
