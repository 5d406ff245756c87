"""Locks between processes: who looks keeps nobody off, a killed holder frees it, and a restore is alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from readagent_core.errors import LibraryBusyError, LibraryError
from readagent_core.library import Library, home_lock
from readagent_core.library.backup import back_up, restore
from readagent_core.library.file_lock import FileLock
from tests.connecting.test_fault_table import book

WATCH = """
import sys
from pathlib import Path
from readagent_core.library.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]), "x")
print("ready", flush=True)
while not Path(sys.argv[1], "end").exists():
    lock.is_held()
"""
HOLD = """
import sys, time
from pathlib import Path
from readagent_core.library.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]), "x")
print(lock.acquire(), flush=True)
time.sleep(60)
"""


def start(script, home):
    process = subprocess.Popen([sys.executable, "-c", script, str(home)], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def test_a_free_lock_is_never_lost_to_those_who_look(tmp_path):
    assert FileLock(tmp_path, "x").acquire()  # makes the file; this object ends here
    watchers = [start(WATCH, tmp_path)[0] for _ in range(2)]
    lock = FileLock(tmp_path, "x")
    try:
        taken = []
        for _ in range(150):
            taken.append(lock.acquire())
            assert not FileLock(tmp_path, "x").acquire()
            assert FileLock(tmp_path, "x").is_held()
            lock.release()
        assert all(taken), f"{taken.count(False)} of {len(taken)} lost"
    finally:
        (tmp_path / "end").touch()
        for watcher in watchers:
            watcher.communicate(timeout=30)


def test_a_process_that_is_killed_frees_its_lock(tmp_path):
    process, taken = start(HOLD, tmp_path)
    lock = FileLock(tmp_path, "x")
    assert taken == "True"
    assert not lock.acquire()
    process.kill()
    process.communicate(timeout=10)
    assert not lock.is_held()
    assert lock.acquire()
    lock.remove()
    assert not list((tmp_path / "held").iterdir())


def test_a_restore_and_an_open_library_keep_each_other_off(tmp_path):
    home, target = tmp_path / "home", tmp_path / "backup.zip"
    library, other = Library(home), Library(home)
    library.add(book(3))
    back_up(home, target)
    other.close()
    with pytest.raises(LibraryBusyError, match="in use") as raised:
        restore(target, home, replace=True)
    assert "Stop it" in str(raised.value)
    library.add(book(4))
    assert len(library.books()) == 2
    library.close()

    alone = home_lock(home)
    assert alone.acquire()
    with pytest.raises(LibraryBusyError, match="being restored"):
        Library(home)
    alone.release()
    assert restore(target, home, replace=True) is not None
    library = Library(home)
    assert len(library.books()) == 1
    library.close()


@pytest.mark.parametrize("empty", [True, False])
def test_a_library_that_was_lost_is_not_taken_for_a_new_one(empty, tmp_path):
    library = Library(tmp_path)
    library.keep_original(library.add(book(3)).id, "a.txt", b"the file")
    back_up(tmp_path, tmp_path / "backup.zip")
    library.close()
    for name in ("library.db", "library.db-wal", "library.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    if empty:
        (tmp_path / "library.db").touch()
    with pytest.raises(LibraryError, match="readagent restore FILE --replace"):
        Library(tmp_path)
    restore(tmp_path / "backup.zip", tmp_path, replace=True)
    library = Library(tmp_path)
    assert len(library.books()) == 1
    library.close()
