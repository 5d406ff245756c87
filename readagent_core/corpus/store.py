"""The output folder of a corpus, at any address that fsspec knows: a local path, ``s3://…``, ``gs://…``.

``books/KEY.json`` is a book that was read, in the format of ``export --format json``; ``failed/KEY.json`` says why one
was not; ``corpus.json`` how the corpus is read; ``spent.json`` what it has used; ``tables/`` holds the Parquet tables.
Every file is written under another name first and then renamed, so none is ever half written.
"""

from __future__ import annotations

import errno
import json
import posixpath
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import tokenize

from readagent_core.document import Document
from readagent_core.errors import DatasetError, DiskFullError, DocumentError, SettingsError
from readagent_core.export.memory import join_paragraphs
from readagent_core.incoming.folders import find_books
from readagent_core.incoming.opening import READING_FORMAT, READING_VERSION, import_gisting
from readagent_core.loaders import DEFAULT, FORMATS
from readagent_core.loaders.file_types import promised_format
from readagent_core.memory import GistMemory
from readagent_core.quick_json import from_json, to_json
from readagent_core.regular_files import check_replaceable, read_regular
from readagent_core.usage import Usage

BOOKS, FAILED, DRAFTS, TABLES = "books", "failed", "drafts", "tables"
SETTINGS, SPENT = "corpus.json", "spent.json"
_AT_ONCE = 64  # files fetched together: an object store answers them side by side


@dataclass(frozen=True)
class SourceFile:
    """A book's file. ``name``: within the corpus; the key is made of it. ``size``: in bytes, 0 where not known.

    ``version``: another one where the file system says that the file may have changed; '' where it is not asked.
    """

    name: str
    address: str
    size: int = 0
    version: str = ""

    @property
    def key(self) -> str:
        """The name of the book's files in the output folder: readable, and different for every name."""
        stem = re.sub(r"\W+", "-", posixpath.splitext(self.name)[0]).strip("-").lower()
        return f"{stem[:40]}-{blake2b(self.name.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"

    def read(self) -> bytes:
        """Return the file's bytes. Raises DocumentError."""
        try:
            fs, path = fsspec.core.url_to_fs(self.address)
            return _read(fs, path)
        except (OSError, ValueError, ImportError) as error:
            raise DocumentError(f"{self.name} cannot be read ({_reason(error)}).") from None


def list_sources(address: str) -> list[SourceFile]:
    """Return the books of a folder, or of a manifest: a file that names one book on each line.

    A name in a manifest is an address, or a path from the manifest's folder; a line may also be a JSON object with
    'file'. Largest books first where sizes are known, so that none is left to the end. Raises DocumentError.
    """
    fs, root = _open(address)
    try:
        if fs.isdir(root) and isinstance(fs, LocalFileSystem):  # where a Calibre library has a book in several formats
            files = [_source(book.name, str(book.path), fs.info(str(book.path))) for book in find_books(Path(root))]
        elif fs.isdir(root):
            files = [
                _source(path[len(root) :].lstrip("/"), fs.unstrip_protocol(path), info)
                for path, info in fs.find(root, detail=True).items()
                if promised_format(path)
            ]
        elif fs.isfile(root):
            files = [_listed(name, fs, root) for name in _names(_read(fs, root), address)]
        else:
            if isinstance(fs, LocalFileSystem):
                check_replaceable(Path(root))  # says what else is there
            raise DocumentError(f"{address}: there is no such folder or file.")
    except OSError as error:
        raise DocumentError(f"{address} cannot be read ({_reason(error)}).") from None
    if not files:
        raise DocumentError(f"No book was found in {address}. ReadAgent opens files that end in {', '.join(FORMATS)}.")
    return sorted({file.name: file for file in files}.values(), key=lambda file: (-file.size, file.name))


def _names(data: bytes, address: str) -> Iterator[str]:
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        name = line.strip()
        if name.startswith("{"):
            try:
                name = str(json.loads(name)["file"])
            except (ValueError, KeyError):
                raise DocumentError(f"{address}, line {number}: an object with 'file' was expected.") from None
        if name and not name.startswith("#"):
            yield name


def _source(name: str, address: str, info: Mapping[str, Any]) -> SourceFile:
    """Return a file of which the file system says ``info``."""
    return SourceFile(name, address, int(info.get("size") or 0), tokenize(info))


def _listed(name: str, fs: Any, manifest: str) -> SourceFile:
    """Return a file of a manifest; other file systems than the local one are not asked about each."""
    if "://" in name:
        return SourceFile(name, name)
    path = posixpath.join(posixpath.dirname(manifest), name)
    if isinstance(fs, LocalFileSystem) and fs.isfile(path):
        return _source(name, path, fs.info(path))
    return SourceFile(name, name if name.startswith("/") else fs.unstrip_protocol(path))


class CorpusFolder:
    """The output folder at ``address``. Raises SettingsError where fsspec cannot open it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._fs, self._root = _open(address)

    def prepare(self, settings: Mapping[str, Any], *, books: int) -> None:
        """Make the folder for ``books`` books. Raises SettingsError where it was begun with other ``settings``."""
        before = self.load(SETTINGS)
        if before is not None:
            changed = [name for name, value in settings.items() if before.get(name, value) != value]
            if changed:
                raise SettingsError(
                    f"{self.address} holds a corpus that was begun with other settings; changed: {', '.join(changed)}. "
                    "Give this one another folder."
                )
            for path in self._list(DRAFTS):  # of workers that were killed
                self._fs.rm_file(path)
        self.save(SETTINGS, {**settings, "books": books})

    def keys(self, kind: str) -> set[str]:
        """Return the keys of the files in ``books`` or ``failed``."""
        return {posixpath.basename(path).removesuffix(".json") for path in self._list(kind) if path.endswith(".json")}

    def _list(self, kind: str) -> list[str]:
        self._fs.invalidate_cache()
        try:
            return [str(path) for path in self._fs.ls(f"{self._root}/{kind}", detail=False)]
        except FileNotFoundError:
            return []

    def load(self, name: str) -> dict[str, Any] | None:
        """Return the JSON object in a file; None where there is none. Raises DatasetError for a damaged one."""
        try:
            value = from_json(self._content(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise DatasetError(f"{self.address}/{name} is damaged. Remove it, then run this again.")
        return value

    def load_all(self, kind: str) -> Iterator[tuple[str, bytes]]:
        """Yield key and content of every file in ``books`` or ``failed``, in the order of the keys."""
        keys = sorted(self.keys(kind))
        for start in range(0, len(keys), _AT_ONCE):
            paths = {f"{self._root}/{kind}/{key}.json": key for key in keys[start : start + _AT_ONCE]}
            if isinstance(self._fs, LocalFileSystem):
                yield from ((paths[path], self._content(path)) for path in paths)
            else:
                found = self._fs.cat(list(paths))
                yield from ((paths[path], found[path]) for path in paths)

    def _content(self, path: str) -> bytes:
        try:
            return _read(self._fs, path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise DocumentError(f"{path} cannot be read ({_reason(error)}).") from None

    def save(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a JSON object to a file, completely or not at all. Raises DiskFullError."""
        draft, path = f"{self._root}/{DRAFTS}/{uuid.uuid4().hex}", f"{self._root}/{name}"
        try:
            for folder in (draft, path):
                self._fs.makedirs(posixpath.dirname(folder), exist_ok=True)
            self._fs.pipe_file(draft, to_json(value))
            self._fs.mv(draft, path)
        except OSError as error:
            raise DiskFullError(
                f"{self.address}/{name} cannot be written ({_reason(error)}). Every book before is saved; make room, "
                "then run this again."
            ) from None

    def put_book(self, file: SourceFile, memory: GistMemory, content: str) -> None:
        """Store a book that was read. ``content``: the ``content_hash`` of its file."""
        document, gisting = join_paragraphs(memory.document).to_dict(), memory.to_dict()
        head = {"format": READING_FORMAT, "version": READING_VERSION, "file": file.name}
        source = {"file_version": file.version, "content_hash": content}
        self.save(f"{BOOKS}/{file.key}.json", {**head, **source, "document": document, "memory": gisting})

    def load_read(self, file: SourceFile, content: str) -> dict[str, Any] | None:
        """Return the stored book of ``file`` if it was read with this content; None else."""
        book = self.load(f"{BOOKS}/{file.key}.json")
        return book if book is not None and book.get("content_hash", content) == content else None

    def put_failure(self, file: SourceFile, error: Exception) -> None:
        self.save(f"{FAILED}/{file.key}.json", {"file": file.name, "kind": type(error).__name__, "error": str(error)})

    def forget_failures(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._fs.rm_file(f"{self._root}/{FAILED}/{key}.json")

    def book(self, key: str) -> tuple[Document, GistMemory]:
        """Return a book that was read. Raises DocumentError where its file is damaged, DatasetError without one."""
        try:
            return import_gisting(self._content(f"{self._root}/{BOOKS}/{key}.json"))
        except FileNotFoundError:
            raise DatasetError(f"{self.address} has no book {key}.") from None

    @property
    def spent(self) -> Usage:
        """What all runs of this corpus have used."""
        return Usage.from_dict(self.load(SPENT) or {})

    def open_draft(self, name: str) -> tuple[Any, str]:
        """Return a writable file, and the path to give to ``publish`` when it is whole."""
        draft = f"{self._root}/{DRAFTS}/{name.replace('/', '-')}-{uuid.uuid4().hex}"
        self._fs.makedirs(posixpath.dirname(draft), exist_ok=True)
        return self._fs.open(draft, "wb"), draft

    def publish(self, draft: str, name: str) -> None:
        self._fs.makedirs(posixpath.dirname(f"{self._root}/{name}"), exist_ok=True)
        self._fs.mv(draft, f"{self._root}/{name}")

    def open(self, name: str) -> Any:
        """Return a file open for reading. Raises FileNotFoundError."""
        return self._fs.open(f"{self._root}/{name}", "rb")


def content_hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _open(address: str) -> tuple[Any, str]:
    try:
        fs, root = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError, OSError) as error:
        raise SettingsError(f"{address} cannot be opened: {_reason(error)}") from None
    return fs, str(root).rstrip("/")


def _read(fs: Any, path: str) -> bytes:
    """Return the bytes of a file within the limit on sizes. Raises OSError."""
    if isinstance(fs, LocalFileSystem):
        return read_regular(Path(path), most=DEFAULT.file)
    with fs.open(path, "rb") as file:
        data: bytes = file.read(DEFAULT.file + 1)
    if len(data) > DEFAULT.file:
        raise OSError(errno.EFBIG, f"it is larger than {DEFAULT.file >> 20} MB, the limit")
    return data


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
