"""A backup that is made while a book is read, restored elsewhere; and what is refused."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zipfile

import pytest

from readagent_core.errors import LibraryBusyError, LibraryError, NewerLibraryError
from readagent_core.gisting.job import start_gisting
from readagent_core.library import Library
from readagent_core.library.backup import MANIFEST, back_up, inspect_backup, restore, unpack
from readagent_core.library.restoring import (
    comes_next,
    kept_libraries,
    leave_in_place,
    restore_at_start,
    restore_now,
    stored_in,
)
from readagent_core.plan import GistingPlan
from readagent_core.settings.saved import read_file, save_settings
from tests.cli.running import run_here, run_json
from tests.connecting.test_fault_table import book
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply

PLAN = GistingPlan(max_words=160, min_words=60)


def content(home):
    """Every row of a library but its search index, whose tables SQLite writes in its own way."""
    with sqlite3.connect(f"file:{home / 'library.db'}?mode=ro", uri=True) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'found%'").fetchall()
        return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for (name,) in tables}


def test_a_backup_made_while_a_book_is_read_is_the_library_of_one_moment(open_workspace, tmp_path):
    with FakeServer(lambda text: Reply(sensible(text), delay=0.02)) as server:
        workspace = open_workspace(server.url, connections=2)
        home = workspace.home
        save_settings(home, {"api_key": "sk-not-in-a-backup"})
        shelved = workspace.library.add(book(60), source_name="a.txt")
        workspace.library.keep_original(shelved.id, "a.txt", b"the file")
        job = start_gisting(workspace, shelved.id, PLAN)
        while not workspace.library.gisting(job.subject).pages and job.running:
            job.join(0.02)
        target = tmp_path / "backup.zip"
        made = back_up(home, target)
        job.join(120)
        assert job.snapshot.state == "done", job.snapshot.error
        pages = workspace.library.gisting(job.subject).pages
    assert (made.books, target.stat().st_mode & 0o777) == (1, 0o600)
    assert b"sk-not-in-a-backup" not in b"".join(map(zipfile.ZipFile(target).read, zipfile.ZipFile(target).namelist()))

    other = tmp_path / "other"
    other.mkdir()
    assert restore(target, other) is None
    library = Library(other)
    (gisting,) = library.gistings(shelved.id)
    memory = library.memory(gisting.id)
    assert 0 < len(memory.pages) <= pages
    whole = workspace.library.memory(gisting.id)
    assert memory.pages == whole.pages[: len(memory.pages)]
    assert library.original(shelved.id) == b"the file"
    library.close()
    settings = read_file(home)[0]
    assert settings.pop("api_key") == "sk-not-in-a-backup"
    assert read_file(other)[0] == settings

    # nothing runs now: the copy is identical, and what it replaces is not lost
    before = content(other)
    save_settings(other, {"connections": 7})
    back_up(home, target)
    aside = restore(target, other, replace=True)
    assert content(other) == content(home) != before
    assert content(aside) == before
    assert read_file(aside)[0]["connections"] == 7


def test_a_backup_comes_at_the_next_start_and_what_was_there_can_come_back(tmp_path):
    home, target = tmp_path / "home", tmp_path / "backup.zip"
    library = Library(home)
    library.add(book(3))
    back_up(home, target)
    library.add(book(4))
    before = stored_in(home)
    assert restore_now(home) is None

    restore_at_start(home, unpack(target, home))
    leave_in_place(home)
    assert not list(home.glob("rest*"))

    restore_at_start(home, unpack(target, home))
    with pytest.raises(LibraryBusyError):
        restore_now(home)
    assert comes_next(home)
    assert stored_in(home) == before
    library.close()
    kept = restore_now(home)
    assert comes_next(home) is None
    assert len(stored_in(home).books) == 1
    assert list(kept_libraries(home)) == [kept]
    assert stored_in(kept) == before
    assert not list(home.glob("rest*"))

    restore_at_start(home, kept)
    (home / "restore-at-start.json").write_text('"../elsewhere"')
    assert comes_next(home) is None
    restore_at_start(home, kept)
    leave_in_place(home)
    assert stored_in(kept) == before
    kept = kept.rename(home / "before-2020-01-01-000000")  # the name has the second
    restore_at_start(home, kept)
    other = restore_now(home)
    assert stored_in(home) == before
    assert list(kept_libraries(home)) == [other]


def changed(source, target, change):
    """Write a copy of a backup with the members that ``change`` returns."""
    with zipfile.ZipFile(source) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w") as new:
        for name, data in members.items():
            new.writestr(name, data)
    return target


def with_member(name):
    def change(members):
        manifest = json.loads(members[MANIFEST])
        manifest["files"][name] = {"size": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
        members |= {MANIFEST: json.dumps(manifest).encode(), name: b"x"}

    return change


def another_version(members):
    members[MANIFEST] = json.dumps(json.loads(members[MANIFEST]) | {"readagent": 99}).encode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_member("../evil"), "outside the home folder"),
        (with_member("originals/../../evil"), "outside the home folder"),
        (with_member("/tmp/evil"), "outside the home folder"),
        (with_member("keys.txt"), "outside the home folder"),
        (lambda members: members.update({"library.db": members["library.db"] + b"x"}), "library.db is not what it was"),
        (lambda members: members.pop("library.db"), "no backup"),
        (lambda members: members.pop(MANIFEST), r"a ZIP file, but no backup of ReadAgent\. Nothing was"),
        (another_version, "newer ReadAgent"),
    ],
)
def test_a_backup_that_is_damaged_or_made_up_changes_nothing(change, words, tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    library = Library(home)
    library.add(book(3))
    library.close()
    other.mkdir()
    good = tmp_path / "good.zip"
    back_up(home, good)
    bad = changed(good, tmp_path / "bad.zip", change)
    with pytest.raises(LibraryError, match=words):
        restore(bad, other)
    assert [path.name for path in other.iterdir()] == ["held"]  # the folder of locks
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.zip", "good.zip", "home", "other"]


def test_a_backup_with_damaged_compressed_data_changes_nothing(tmp_path):
    home, other, target = tmp_path / "home", tmp_path / "other", tmp_path / "bad.zip"
    library = Library(home)
    library.add(book(3))
    library.close()
    other.mkdir()
    back_up(home, target)
    with zipfile.ZipFile(target) as archive:
        at = archive.getinfo("library.db").header_offset
    data = bytearray(target.read_bytes())
    at += 30 + int.from_bytes(data[at + 26 : at + 28], "little") + int.from_bytes(data[at + 28 : at + 30], "little")
    data[at] = 0xFF  # no kind of block begins so
    target.write_bytes(data)
    with pytest.raises(LibraryError, match="it is damaged"):
        restore(target, other)
    target.write_bytes(b"PK a sheet")
    with pytest.raises(LibraryError, match=r"no backup of ReadAgent, or only part of one[^()]*$"):
        restore(target, other)
    assert [path.name for path in other.iterdir()] == ["held"]  # the folder of locks


def test_a_library_of_a_newer_version_is_not_restored(tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    Library(home).close()
    with sqlite3.connect(home / "library.db") as db:
        db.execute("PRAGMA user_version = 999")
    other.mkdir()
    back_up(home, tmp_path / "new.zip")
    with pytest.raises(NewerLibraryError):
        restore(tmp_path / "new.zip", other)
    assert [path.name for path in other.iterdir()] == ["held"]  # the folder of locks


def test_the_commands(tmp_path, own_home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no library" in run_here("backup", code=1)[1]
    Library(own_home).close()
    assert "0 books" in run_here("backup", tmp_path / "a.zip")[0]
    assert "--replace" in run_here("restore", tmp_path / "a.zip", code=1)[1]
    found = run_json("restore", tmp_path / "a.zip", "--replace")
    assert found["books"] == inspect_backup(tmp_path / "a.zip").books == 0
    assert "before-" in found["moved_to"]
    (tmp_path / "b.zip").write_bytes(b"nothing")
    assert "no backup" in run_here("restore", tmp_path / "b.zip", code=1)[1]
    assert "No such file" in run_here("restore", tmp_path / "c.zip", code=1)[1]
