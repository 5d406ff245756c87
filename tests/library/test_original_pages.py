"""The pages of a book's PDF: drawn from its stored file, locked ones with a password, by few processes that end."""

from __future__ import annotations

import pytest

from readagent_core.errors import DocumentError, NotInLibraryError, PasswordError
from readagent_core.incoming.opening import add_book, open_file
from readagent_core.library import original_pages as originals
from readagent_core.loaders import load
from readagent_core.loaders.pdf.picture import PdfFacts
from tests.loaders.test_pdf import locked
from tests.loaders.test_pdf_picture import pages_of

TEXT = "The keeper lit the lamp before it was dark."


@pytest.fixture
def workspace(workspace):
    yield workspace
    workspace.originals.close()


def opened(workspace, data, name, **options):
    """The book of a file that was opened in this process, which costs less than another one."""
    return add_book(workspace, load(data, name, **options), data, name, source_name=name)


def test_the_pages_of_a_book_until_its_original_is_removed(workspace):
    book = opened(workspace, pages_of([TEXT], ["A second page of words."]), "lamp.pdf")
    facts, version = workspace.originals.facts(book.id)
    assert facts == PdfFacts(2)
    assert workspace.originals.draw(book.id, 2, width=300).startswith(b"\xff\xd8")
    (place,) = workspace.originals.find(book.id, TEXT, 4, 10, "p. 1")
    assert place.number == 1
    assert workspace.originals.find(book.id, "Other words than those.", 0, 23, "p. 1") == ()
    workspace.library.keep_original(book.id, "lamp.pdf", pages_of([TEXT]))
    assert workspace.originals.facts(book.id)[0] == PdfFacts(1)
    assert workspace.originals.facts(book.id)[1] != version
    workspace.library.remove(book.id)
    for act in (workspace.library.remove, workspace.library.remove_original):
        act(book.id)
        with pytest.raises(NotInLibraryError, match="Open the file again"):
            workspace.originals.draw(book.id, 1, width=300)
        workspace.library.restore(book.id)


def test_a_locked_pdf_needs_its_password_once_and_it_is_written_nowhere(workspace):
    data = locked("secret word", "owner")
    book = open_file(workspace, data, "locked.pdf", password="secret word")
    assert workspace.originals.facts(book.id)[0].pages == 1  # it was given when the file was opened
    again = originals.OriginalPages(workspace.library)  # the app was restarted
    with pytest.raises(PasswordError, match="Type its password"):
        again.facts(book.id)
    again.unlock(book.id, "secret word")
    assert again.draw(book.id, 1, width=300)
    again.close()
    for path in workspace.home.rglob("*"):
        assert not path.is_file() or b"secret word" not in path.read_bytes(), path


def test_few_processes_and_none_that_is_not_used(workspace, monkeypatch):
    books = [opened(workspace, pages_of([f"{TEXT} Number {n}."]), f"{n}.pdf") for n in range(4)]
    for book in books:
        workspace.originals.facts(book.id)
    running = workspace.originals._open
    assert list(running) == [book.id for book in books[-3:]]
    processes = [one.pages._child.process for one in running.values()]
    monkeypatch.setattr(originals, "_IDLE_SECONDS", 0)
    workspace.originals._close_idle()
    assert not running
    assert all(process.poll() is not None for process in processes)
    assert workspace.originals.draw(books[0].id, 1, width=300)


def test_a_process_that_was_killed_is_started_again(workspace):
    book = opened(workspace, pages_of([TEXT]), "lamp.pdf")
    workspace.originals.facts(book.id)
    workspace.originals._open[book.id].pages._child.process.kill()
    with pytest.raises(DocumentError, match="crashed"):
        workspace.originals.draw(book.id, 1, width=300)
    assert workspace.originals.draw(book.id, 1, width=300)
