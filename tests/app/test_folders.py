"""A folder of books is imported through the library's dialog; the note about it, its undo and its report."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts.library import acts, folders
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act
from readagent_core.errors import DocumentError
from readagent_core.incoming import folders as engine
from readagent_core.incoming.folders import JOB, start_import
from readagent_core.loaders import load
from readagent_core.settings import TeamSettings


def dialog(name: str) -> AppTest:
    """The dialog of ``folders`` of this name."""

    def screen(name: str) -> None:
        from pages.parts.library import folders
        from pages.parts.shared.cached import get_workspace

        getattr(folders, name)(get_workspace())

    return AppTest.from_function(screen, args=(name,), default_timeout=30).run()


def texts(at: AppTest) -> str:
    assert not at.exception
    return "\n".join(str(element.value) for element in [*at.markdown, *at.text, *at.caption])


@pytest.fixture
def books(tmp_path, monkeypatch):
    """The folder ~/Books with two texts and a file that cannot be opened."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    folder = tmp_path / "Books"
    (folder / "sea").mkdir(parents=True)
    (folder / "lamp.txt").write_text("The lamp burned until the morning.", encoding="utf-8")
    (folder / "sea" / "fog.txt").write_text("There was fog, and no ship was seen.", encoding="utf-8")
    (folder / "broken.epub").write_bytes(b"no archive")
    return folder


def record(workspace):
    (found,) = folders.folder_records(workspace)
    return found


@pytest.mark.usefixtures("books")
def test_a_folder_is_imported_undone_and_restored():
    at = dialog("choose_folder")
    assert "Books, 3 books" in texts(at)  # one of the usual folders
    at.text_input[0].set_value("~/Books ")
    at.button[-1].click().run()
    assert not at.exception
    workspace = get_workspace()
    assert workspace.jobs.get(JOB).join(30).state == "done"
    done = record(workspace)
    assert (done["name"], done["state"]) == ("Books", "imported")
    assert done["text"] == "2 books imported, 1 file not imported."
    acts.change_library(workspace, Act("remove", of=done["here"]))
    undone = record(workspace)
    assert (undone["text"], undone["here"]) == ("2 books removed again.", "")
    acts.change_library(workspace, Act("restore", of=undone["away"]))
    assert record(workspace) == done
    report = texts(dialog("show_folder_report"))
    assert "broken.epub: This file is named like an EPUB" in report
    assert "sea/fog.txt: fog" in report
    acts.change_library(workspace, Act("dismiss", of=done["key"]))
    assert folders.folder_records(workspace) == []
    assert "no report any more" in texts(dialog("show_folder_report"))


def test_undo_removes_only_what_the_import_added(open_workspace, books):
    workspace = open_workspace()
    assert start_import(workspace, books).join(30).state == "done"
    lamp = books / "lamp.txt"
    lamp.write_text(f"{lamp.read_text(encoding='utf-8')}\n\nThen it went out.", encoding="utf-8")
    (books / "new.txt").write_text("A third text.", encoding="utf-8")
    assert start_import(workspace, books).join(30).state == "done"
    done = record(workspace)
    assert done["text"] == "2 books imported, 1 already there, 1 file not imported."
    assert [workspace.library.book(book).source_name for book in done["here"].split(",")] == ["new.txt"]


def test_a_cancelled_import_says_how_far_it_came(open_workspace, books, monkeypatch):
    workspace, started = open_workspace(), threading.Event()

    def load_and_cancel(data, name, **options):
        assert started.wait(20)
        acts.change_library(workspace, Act("cancel_folder"))
        assert record(workspace)["text"] == "cancelling…"
        return load(data, name)

    monkeypatch.setattr(engine, "load_in_child_process", load_and_cancel)
    (books / "broken.epub").unlink()
    job = start_import(workspace, books)
    started.set()
    assert job.join(30).state == "cancelled"
    done = record(workspace)
    assert done["text"] == "cancelled after 1 of 2 files. 1 book imported."
    assert [book.id for book in workspace.library.books()] == [done["here"]]


@pytest.mark.parametrize(
    ("typed", "why"),
    [(" ", "Type or paste"), ("~/Books/x", "is not a folder"), ("~nobody-here", "nobody of that name")],
)
def test_a_folder_that_is_not_there_is_explained(books, typed, why):
    at = dialog("choose_folder")
    at.text_input[0].set_value(typed)
    at.button[-1].click().run()
    assert why in texts(at)
    assert at.text_input[0].value == typed


def test_a_folder_without_books_is_explained(open_workspace, tmp_path):
    (tmp_path / "empty").mkdir()
    workspace = open_workspace()
    start_import(workspace, tmp_path / "empty").join(30)
    found = record(workspace)
    assert (found["state"], found["title"]) == ("failed", "no book was imported.")
    assert "ReadAgent opens files that end in ." in found["text"]


def test_a_path_begins_at_the_home_folder(books):
    for typed in ("~/Books", f'"{books}"', "Books"):
        assert folders.as_folder(typed) == books
    with pytest.raises(DocumentError):
        folders.as_folder('""')


@pytest.mark.parametrize("changed", [{"server.address": "0.0.0.0"}, {"browser.serverAddress": "books.example.org"}])
def test_a_folder_is_offered_only_where_the_app_answers_this_computer_alone(open_workspace, monkeypatch, changed):
    workspace = open_workspace()
    assert folders.is_offered(workspace)
    with monkeypatch.context() as patch:
        patch.setattr(st, "get_option", lambda name: changed.get(name, "localhost"))
        assert not folders.is_offered(workspace)
    workspace.settings = replace(workspace.settings, team=TeamSettings(frozenset({"*"})))
    assert not folders.is_offered(workspace)
