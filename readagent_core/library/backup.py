"""Backs up a home folder into one ZIP file, also while books are read, and restores it.

The file has the library as it was at one moment (SQLite's online backup), the original files of books and scans,
experiments, what was spent, and the settings without the model's key. Cached replies of models are left out. Its
``manifest.json`` has the size and the SHA-256 of every other member, and a backup that differs from it is refused.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from readagent_core.errors import DiskFullError, LibraryBusyError, LibraryError
from readagent_core.library import Library, home_lock, originals, scans
from readagent_core.library.file_lock import FOLDER as LOCKS
from readagent_core.library.schema import FILE as LIBRARY
from readagent_core.regular_files import check_replaceable, open_regular
from readagent_core.settings import SPENDING_FILE as SPENDING
from readagent_core.settings.saved import FILE as SETTINGS
from readagent_core.settings.saved import SECRETS, read_file

MANIFEST = "manifest.json"
VERSION = 1
UNPACKED, KEPT = "restoring-", "before-"  # how the names begin of a folder unpacked, and of one with what was replaced
_DATABASES = (LIBRARY, SPENDING)
_FOLDERS = (originals.FOLDER, scans.FOLDER, "evaluations")
_PACKED = frozenset({".epub", ".docx", ".pdf", ".png", ".jpg", ".gz", ".zip"})  # compressed already
_BLOCK, _LARGEST_MANIFEST = 1 << 20, 256 << 20  # bytes
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Backup:
    """What a backup has. ``size``: of the ZIP file in bytes. ``made``: seconds since 1970."""

    path: Path
    books: int
    files: int
    size: int
    made: float


def back_up(home: Path, target: Path) -> Backup:
    """Write a backup of ``home`` to ``target``, in place of an earlier file, and return what it has.

    Nothing is at ``target`` until it is complete. Raises LibraryError, also where ``home`` has no library.
    """
    if not (home / LIBRARY).is_file():
        raise LibraryError(f"There is no library in {home}. Set READAGENT_HOME to the folder that has it.")
    try:
        check_replaceable(target)
    except OSError as error:
        raise LibraryError(f"{target} cannot be written ({error.strerror}). Name another file.") from None
    part = target.with_name(f"{target.name}.part")
    made = time.time()
    with explained(target.parent), tempfile.TemporaryDirectory(prefix="readagent-backup-") as folder:
        try:
            with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
                _write_archive(file, home, Path(folder), made)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    return inspect_backup(target)


def inspect_backup(source: Path) -> Backup:
    """Return what the backup in ``source`` has. Raises LibraryError where it is none or was made by a newer version."""
    with _opened(source) as (_, manifest):
        return Backup(source, manifest["books"], len(manifest["files"]), source.stat().st_size, manifest["made"])


def restore(source: Path, home: Path, *, replace: bool = False) -> Path | None:
    """Restore the backup in ``source`` into the folder ``home``. Raises LibraryBusyError where something is using it.

    ``replace``: what is there is moved into a folder inside ``home``, which is returned; without it a home that has a
    library is an error. Every member is compared with the manifest before anything is moved. Raises LibraryError.
    """
    if (home / LIBRARY).exists() and not replace:
        raise LibraryError(
            f"There is a library in {home} already. Set READAGENT_HOME to another folder, or add --replace: the "
            "present one is then moved into a folder there."
        )
    with explained(home), alone(home):
        fresh = unpack(source, home)
        try:
            return put_in_place(fresh, home)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def unpack(source: Path, home: Path) -> Path:
    """Unpack the backup in ``source`` into a new folder in ``home``, which is returned; nothing else is changed.

    Every member is compared with the manifest, and a library of an earlier version is migrated. Raises LibraryError.
    """
    with explained(home), _opened(source) as (archive, manifest):
        fresh = Path(tempfile.mkdtemp(prefix=UNPACKED, dir=home))  # mode 0700
        try:
            for name, expected in manifest["files"].items():
                _extract(archive, name, expected, fresh)
            Library(fresh).close()  # migrates a library of an earlier version, refuses one of a newer
            shutil.rmtree(fresh / LOCKS)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    return fresh


def put_in_place(fresh: Path, home: Path) -> Path | None:
    """Move the library in the folder ``fresh`` to ``home``, which ``alone`` holds.

    Returns the folder inside ``home`` that has what was there; None where nothing was.
    """
    aside = _move_aside(home)
    # the library last: without it a home is empty
    for path in sorted(_present(fresh), key=lambda path: path.name.startswith(LIBRARY)):
        os.replace(path, home / path.name)
    return aside


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Keep everything else from using the library. Raises LibraryBusyError where something uses it."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = home_lock(home)
    if not lock.acquire():
        raise LibraryBusyError(
            f"The library in {home} is in use: by the app, a command or an agent's server. Nothing was changed. "
            "Stop it, then restore."
        )
    try:
        yield
    finally:
        lock.release()


def _write_archive(file: Any, home: Path, folder: Path, made: float) -> None:
    members: dict[str, dict[str, Any]] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in [*_databases(home, folder), *_settings(home, folder), *_files(home)]:
            with suppress(FileNotFoundError):  # deleted meanwhile, as the library's own reader expects
                members[name] = _add(archive, name, path)
        with closing(sqlite3.connect(folder / LIBRARY)) as library:
            books = library.execute("SELECT COUNT(*) FROM book WHERE removed IS NULL").fetchone()[0]
        manifest = {"readagent": VERSION, "made": made, "books": books, "files": members}
        archive.writestr(MANIFEST, json.dumps(manifest, indent=1))


def _databases(home: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the SQLite files as they are at this moment, copied to ``folder``; other processes may write to them."""
    for name in _DATABASES:
        if (home / name).is_file():
            with closing(sqlite3.connect(home / name)) as live, closing(sqlite3.connect(folder / name)) as copy:
                live.backup(copy)
            yield name, folder / name


def _settings(home: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    saved = {name: value for name, value in read_file(home)[0].items() if name not in SECRETS}
    if saved:
        (folder / SETTINGS).write_text(json.dumps(saved, ensure_ascii=False, indent=1), encoding="utf-8")
        yield SETTINGS, folder / SETTINGS


def _files(home: Path) -> Iterator[tuple[str, Path]]:
    for folder in _FOLDERS:
        for path in sorted((home / folder).rglob("*")):
            if path.is_file() and not path.is_symlink() and path.suffix != ".part":
                yield path.relative_to(home).as_posix(), path


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    """Add a file and return its entry in the manifest."""
    digest, size = hashlib.sha256(), 0
    member = zipfile.ZipInfo(name, time.localtime()[:6])
    member.compress_type = zipfile.ZIP_STORED if path.suffix in _PACKED else zipfile.ZIP_DEFLATED
    with path.open("rb") as source, archive.open(member, "w", force_zip64=True) as target:
        for block in _blocks(source):
            digest.update(block)
            size += len(block)
            target.write(block)
    return {"size": size, "sha256": digest.hexdigest()}


def _blocks(file: Any) -> Iterable[bytes]:
    return iter(lambda: file.read(_BLOCK), b"")


@contextmanager
def _opened(source: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    """The archive and its manifest, whose names are checked."""
    try:
        opened = open_regular(source, most=math.inf)
    except OSError as error:
        raise LibraryError(f"{source} cannot be read ({error.strerror}). Name another file.") from None
    try:
        with opened, zipfile.ZipFile(opened) as archive:
            if MANIFEST not in archive.namelist():
                raise LibraryError(
                    f"{source.name} is a ZIP file, but no backup of ReadAgent. Nothing was changed. Use a file that "
                    "“Download a backup” in Settings made."
                )
            if archive.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
                raise ValueError("its manifest is too large")
            manifest = json.loads(archive.read(MANIFEST))
            if int(manifest["readagent"]) > VERSION:
                raise LibraryError("This backup was made by a newer ReadAgent. Update this program, then restore it.")
            if not all(map(_is_ours, dict(manifest["files"]))):
                raise ValueError("a name outside the home folder")
            yield archive, manifest
    except zipfile.BadZipFile:
        raise LibraryError(
            f"{source.name} is no backup of ReadAgent, or only part of one, as after a download that broke off. "
            "Nothing was changed. Use a file that “Download a backup” in Settings made."
        ) from None
    except (zlib.error, LookupError, ValueError, TypeError, EOFError, RuntimeError) as error:
        raise LibraryError(
            f"{source.name} is no backup of ReadAgent, or it is damaged ({error}). Nothing was changed. Use another."
        ) from None


def _is_ours(name: str) -> bool:
    """Return whether a member belongs to a backup: no other place can be written to."""
    parts = PurePosixPath(name).parts
    plain = not any(part in ("..", ".") or "\\" in part or ":" in part for part in parts) and not name.startswith("/")
    return plain and (name in (*_DATABASES, SETTINGS) or (len(parts) > 1 and parts[0] in _FOLDERS))


def _extract(archive: zipfile.ZipFile, name: str, expected: dict[str, Any], folder: Path) -> None:
    """Write a member into ``folder``. Raises ValueError where it is not what the manifest says."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest, left = hashlib.sha256(), int(expected["size"])
    with archive.open(name) as source, open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for block in _blocks(source):
            left -= len(block)
            if left < 0:
                break
            digest.update(block)
            file.write(block)
    if left or digest.hexdigest() != expected["sha256"]:
        raise ValueError(f"{name} is not what it was")


def _present(folder: Path) -> list[Path]:
    """What is in a folder of all that a backup has."""
    known = (*_DATABASES, SETTINGS, *_FOLDERS)
    return [path for path in folder.iterdir() if path.name.removesuffix("-wal").removesuffix("-shm") in known]


def _move_aside(home: Path) -> Path | None:
    """Move what a restored backup replaces into a folder of its own; return it, None where there was nothing."""
    present = _present(home)
    if not present:
        return None
    aside = home / f"{KEPT}{time.strftime('%Y-%m-%d-%H%M%S')}"
    aside.mkdir(mode=0o700)
    for path in present:
        os.replace(path, aside / path.name)
    return aside


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn errors of the disk and of SQLite into LibraryError, about ``folder``."""
    try:
        yield
    except sqlite3.Error as error:
        raise LibraryError(f"The library cannot be copied ({error}). Nothing was changed. Try again.") from None
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFullError(f"The disk of {folder} is full. Nothing was changed. Free some space.") from None
        raise LibraryError(
            f"The folder {folder} cannot be read or written ({error.strerror}). Nothing was changed. Choose another."
        ) from None
