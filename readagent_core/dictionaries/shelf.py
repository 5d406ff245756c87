"""The dictionaries of one person: found in folders, indexed in a file of their own, looked up by form and base form."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from readagent_core.cancel import CancelToken
from readagent_core.dictionaries import forms
from readagent_core.dictionaries.files import DictionaryFiles, find_dictionaries
from readagent_core.errors import DamagedDictionaryError

FILE = "dictionaries.db"
FOLDER = "dictionaries"  # in the home folder
MOST_ENTRIES = 6  # shown of one look-up
_WORDS_AT_ONCE = 5_000
# where programs keep dictionaries: the packages of Linux, GoldenDict, StarDict, KOReader
_KNOWN = (
    "/usr/share/dictd", "/usr/share/stardict/dic", "~/.stardict/dic", "~/.local/share/stardict/dic",
    "~/.goldendict/dictionaries", "~/.config/koreader/data/dict", "~/koreader/data/dict",
)  # fmt: skip
_TABLES = """
CREATE TABLE IF NOT EXISTS dictionary (id INTEGER PRIMARY KEY, path TEXT UNIQUE, state TEXT, title TEXT, words INTEGER,
    fault TEXT);
CREATE TABLE IF NOT EXISTS word (key TEXT, dictionary INTEGER, word TEXT, place INTEGER, size INTEGER);
CREATE INDEX IF NOT EXISTS word_key ON word (key);
"""


@dataclass(frozen=True)
class Entry:
    """What a dictionary says of a word. ``word``: as it stands there, which may be the base form."""

    dictionary: str
    word: str
    text: str


@dataclass(frozen=True)
class Dictionary:
    """``fault``: why it cannot be used, and what to do; '' where it can."""

    title: str
    path: Path
    words: int
    fault: str = ""


def known_folders() -> list[Path]:
    """Return the folders of this computer where other programs keep dictionaries."""
    return [path for place in _KNOWN if (path := Path(place).expanduser()).is_dir()]


class Dictionaries:
    """``home``: where the index is. ``folders``: where dictionaries are looked for, those of ``home`` first."""

    def __init__(self, home: Path, folders: Sequence[Path] = ()) -> None:
        self._file = home / FILE
        self.folders = (home / FOLDER, *folders)
        self._lock = threading.Lock()

    def found(self) -> list[DictionaryFiles]:
        """The dictionaries that are there now, each once, in the order of the folders."""
        files = (one for folder in self.folders for one in find_dictionaries(folder))
        return list({one.head.resolve(): one for one in files}.values())

    def all(self) -> list[Dictionary]:
        """Every dictionary that is indexed."""
        with _open(self._file) as db:
            rows = db.execute("SELECT title, path, words, fault FROM dictionary ORDER BY id").fetchall()
        return [Dictionary(title, Path(path), words, fault) for title, path, words, fault in rows]

    def update(self, cancel: CancelToken | None = None) -> list[Dictionary]:
        """Index what is new or was changed, forget what is gone; return all. A broken one is listed with its fault."""
        files = {str(one.head): one for one in self.found()}
        with self._lock, _open(self._file) as db:
            stored = dict(db.execute("SELECT path, state FROM dictionary"))
            for path in stored.keys() - files.keys():
                _forget(db, path)
            for path, one in files.items():
                state = one.state()
                if stored.get(path) != state:
                    _forget(db, path)
                    _add(db, one, state, cancel)
                db.commit()
        return self.all()

    def owns(self, one: Dictionary) -> bool:
        """Whether it is in the home folder, so that it may be removed; the others are other programs'."""
        return one.path.is_relative_to(self.folders[0])

    def remove(self, one: Dictionary) -> None:
        """Delete the files of a dictionary, and its folder where nothing else is in it.

        Raises DamagedDictionaryError where they cannot be deleted.
        """
        folder = one.path.parent
        try:
            for path in DictionaryFiles(one.path).parts():
                path.unlink(missing_ok=True)
            if folder != self.folders[0] and not any(folder.iterdir()):
                folder.rmdir()
        except OSError as error:
            raise DamagedDictionaryError(
                f"{one.title} cannot be deleted ({error.strerror}). Delete it in {folder} yourself."
            ) from None
        with self._lock, _open(self._file) as db:
            _forget(db, str(one.path))

    def look_up(self, word: str, language: str = "en") -> list[Entry]:
        """Return the entries of a word, at most ``MOST_ENTRIES``: of the word itself, else of its base forms."""
        key = forms.key_of(word)
        if not key:
            return []
        with _open(self._file) as db:
            rows = _rows(db, forms.direct_forms(key, language)) or _by_base_form(db, key, language)
            paths = dict(db.execute("SELECT id, path FROM dictionary"))
        exact = " ".join(word.split())
        rows = sorted(rows, key=lambda row: row[1] != exact)  # 'Polish' before 'polish' where it is written so
        entries: dict[Entry, None] = {}
        for dictionary, found, place, size in rows:
            files = DictionaryFiles(Path(paths[dictionary]))
            try:
                text = files.entry(place, size)
            except (DamagedDictionaryError, OSError):
                continue  # the other dictionaries may have it; ``update`` tells of this one
            if text:
                entries[Entry(files.title(), found, text)] = None
            if len(entries) == MOST_ENTRIES:
                break
        return list(entries)


_Row = tuple[int, str, int, int]  # dictionary, word, place, size


def _by_base_form(db: sqlite3.Connection, key: str, language: str) -> list[_Row]:
    for beginning in forms.beginnings(key):  # of words without spaces: 'わすれた' is under 'わすれる'
        longer = [one for one in _keys(db, beginning) if len(one) <= len(beginning) + 1]
        if longer and (len(beginning) > 1 or len(key) <= 2):
            return _rows(db, longer)
    if beginning := forms.beginning_of_forms(key):
        same = forms.with_same_stem(key, _keys(db, beginning), language)
        return _rows(db, same[:3])
    return []


def _keys(db: sqlite3.Connection, beginning: str) -> Iterable[str]:
    """The keys that begin so."""
    after = beginning[:-1] + chr(ord(beginning[-1]) + 1)
    sql = "SELECT DISTINCT key FROM word WHERE key >= ? AND key < ?"
    return [key for (key,) in db.execute(sql, (beginning, after))]


def _rows(db: sqlite3.Connection, keys: Sequence[str]) -> list[_Row]:
    """The words of these keys, in the order of the keys and the dictionaries."""
    sql = "SELECT dictionary, word, place, size FROM word WHERE key = ? ORDER BY dictionary LIMIT 20"
    return [row for key in keys for row in db.execute(sql, (key,))]


def _add(db: sqlite3.Connection, files: DictionaryFiles, state: str, cancel: CancelToken | None) -> None:
    path, title, count, fault = str(files.head), files.head.stem, 0, ""
    (number,) = db.execute(
        "INSERT INTO dictionary (path, state, title, words, fault) VALUES (?, ?, ?, 0, '') RETURNING id",
        (path, "", title),
    ).fetchone()
    try:
        title = files.title()
        rows = []
        first: tuple[int, int] | None = None
        last = (0, 0)
        for word, place, size in files.words():
            first, last = first or (place, size), max(last, (place, size))
            rows.append((forms.key_of(word), number, word, place, size))
            if len(rows) == _WORDS_AT_ONCE:
                count += _insert(db, rows)
                if cancel is not None:
                    cancel.check()
        count += _insert(db, rows)
        for entry in (first, last) if first else ():
            files.entry(*entry)  # the text is there, is whole and can be unpacked
    except (DamagedDictionaryError, OSError) as error:
        fault = str(error) if isinstance(error, DamagedDictionaryError) else f"It cannot be read ({error.strerror})."
        db.execute("DELETE FROM word WHERE dictionary = ?", (number,))
        count = 0
    db.execute(
        "UPDATE dictionary SET state = ?, title = ?, words = ?, fault = ? WHERE id = ?",
        (state, title, count, fault, number),
    )


def _insert(db: sqlite3.Connection, rows: list[tuple[str, int, str, int, int]]) -> int:
    kept = [row for row in rows if row[0]]
    db.executemany("INSERT INTO word VALUES (?, ?, ?, ?, ?)", kept)
    rows.clear()
    return len(kept)


def _forget(db: sqlite3.Connection, path: str) -> None:
    db.execute("DELETE FROM word WHERE dictionary IN (SELECT id FROM dictionary WHERE path = ?)", (path,))
    db.execute("DELETE FROM dictionary WHERE path = ?", (path,))


@contextmanager
def _open(file: Path) -> Iterator[sqlite3.Connection]:
    """The index; made anew where its file is damaged, because everything in it can be read again."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(2):
        db = sqlite3.connect(file, timeout=15)
        try:
            db.execute("PRAGMA journal_mode = WAL").fetchall()  # words are looked up while a dictionary is indexed
            db.executescript(_TABLES)
        except sqlite3.DatabaseError:
            db.close()
            if attempt:
                raise
            file.unlink(missing_ok=True)
            continue
        try:
            with db:
                yield db
        finally:
            db.close()
        return
