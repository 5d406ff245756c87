"""The library is written by many threads and processes at once, and explains why it cannot be written."""

from __future__ import annotations

import multiprocessing
import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from readagent_core.errors import DiskFullError, LibraryBusyError, LibraryError, NewerLibraryError
from readagent_core.library import Library
from readagent_core.library.migrations import MIGRATIONS
from readagent_core.memory import Gist, Page
from tests.library.test_library import PLAN, make_document


def test_many_threads_write_at_once(library):
    book = library.add(make_document("Long", *(f"Paragraph {i}." for i in range(60))))
    gisting = library.open_gisting(book.id, PLAN, "m")
    store = library.store(gisting.id)
    for i in range(60):
        store.save_page(Page(i + 1, i, i + 1, 2))

    def save(first):
        for number in range(first, 61, 6):
            store.save_gist(number, Gist(f"gist {number}"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(save, range(1, 7)))  # raises what a thread raised
    assert library.memory(gisting.id).complete


def test_threads_wait_for_a_locked_library_at_the_same_time_then_raise_an_error(library):
    impatient = Library(library.home, busy_seconds=0.5)
    holder = sqlite3.connect(library.home / "library.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        tries = [pool.submit(impatient.add, make_document()) for _ in range(8)]
        assert impatient.books() == []  # it can be read meanwhile
        assert {type(work.exception()) for work in tries} == {LibraryBusyError}
    assert time.monotonic() - began < 3  # and not eight times half a second
    assert "locked by another program" in str(tries[0].exception())
    holder.execute("ROLLBACK")
    holder.close()
    assert impatient.add(make_document()).title == "The Lamp"
    impatient.close()


def test_a_full_disk_stops_clearly_and_damages_nothing(library):
    book = library.add(make_document())
    connection = library._db._connection()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    with pytest.raises(DiskFullError, match="Free some space"):
        library.add(make_document("Huge", *(f"{i} words " * 200 for i in range(200))))
    connection.execute("PRAGMA max_page_count = 1000000").fetchall()
    assert library.books() == [book]
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert library.add(make_document("Small", "Room again.")).title == "Small"


def test_other_sqlite_errors_become_a_message_and_a_separate_detail(library):
    book = library.add(make_document())

    def fail():
        with library._db.write() as connection:
            connection.execute("DELETE FROM book")
            connection.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(LibraryError, match=r"unexpected .* What was saved before is unchanged\. Try again;") as raised:
        fail()
    assert not re.search("SQLITE|nowhere", str(raised.value))
    assert raised.value.detail == "SQLITE_ERROR: no such table: nowhere"
    assert library.books() == [book]


def test_what_is_no_library_of_this_version_is_not_changed(library, tmp_path):
    library.close()
    raw = sqlite3.connect(library.home / "library.db")
    raw.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    raw.close()
    with pytest.raises(NewerLibraryError, match="newer ReadAgent"):
        Library(library.home)
    (tmp_path / "library.db").write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(LibraryError, match="damaged"):
        Library(tmp_path)
    with pytest.raises(LibraryError, match="READAGENT_HOME"):
        Library(tmp_path / "library.db" / "home")


def _add_many(home, name, count, begun=None):
    if begun is not None:
        begun.set()
    library = Library(home)
    for number in range(count):
        library.add(make_document(f"{name} {number}", f"Text {name} {number}."))
    library.close()


def test_two_processes_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    other = context.Process(target=_add_many, args=(tmp_path / "home", "a", 15, begun))
    other.start()
    assert begun.wait(60)
    _add_many(tmp_path / "home", "b", 15, begun)
    other.join(60)
    assert other.exitcode == 0
    library = Library(tmp_path / "home")
    assert len(library.books()) == 30
    library.close()


def test_a_library_that_is_open_twice_here_keeps_its_log_when_another_process_closes_it(tmp_path):
    first = Library(tmp_path)
    first.set_preference("one", 1)
    second = Library(tmp_path)
    second.set_preference("two", 2)
    other = multiprocessing.get_context("spawn").Process(target=_add_many, args=(tmp_path, "a", 1))
    other.start()
    other.join(60)
    assert other.exitcode == 0
    assert (tmp_path / "library.db-wal").exists()
    second.set_preference("three", 3)
    raw = sqlite3.connect(f"file:{tmp_path / 'library.db'}?mode=ro", uri=True)  # its own look at what is on the disk
    assert len(raw.execute("SELECT * FROM preference").fetchall()) == 3
    raw.close()
    first.close()
    second.close()
