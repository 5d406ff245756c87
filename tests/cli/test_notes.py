"""The command ``notes``: marks out to a file and in from one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from readagent_core.cli.shared import open_workspace
from readagent_core.companion.marks import make_mark
from readagent_core.library.marks import HIGHLIGHT, Spot
from tests.cli.running import run_here, run_json


@pytest.fixture
def marked(book):
    """``book`` in the library with a mark in its second chapter."""
    run_here("read", book)
    workspace = open_workspace()
    (added,) = workspace.library.books()
    document = workspace.library.document(added.id)
    mark = make_mark(document, added.id, HIGHLIGHT, Spot(14, 4), Spot(14, 10), colour="sky", note="Who is he?")
    workspace.library.put_mark(mark)
    workspace.library.close()
    return book, mark


def test_the_notes_of_a_file_in_each_format(marked, tmp_path):
    book, mark = marked
    text, _ = run_here("notes", book)
    assert "## Chapter 2\n\n> … keeper …\n\n*Page " in text
    assert text.endswith("Who is he?\n")
    rows = run_here("notes", book, "--format", "csv")[0].splitlines()
    assert len(rows) == 2
    assert "keeper,Who is he?" in rows[1]
    assert json.loads(run_here("notes", book, "--format", "json")[0])["total"] == 1
    out, aside = run_here("notes", book, "-o", tmp_path / "notes.md")
    assert (out, (tmp_path / "notes.md").read_text("utf-8")) == ("", text)
    assert "Written" in aside
    found = run_json("notes", book)
    assert (found["book"]["title"], found["lost"]) == ("Fog", [])
    assert (found["marks"][0]["exact"], found["marks"][0]["page"] > 1, found["marks"][0]["id"]) == (
        "keeper",
        True,
        mark.id,
    )


def test_notes_are_imported_once_and_what_is_not_found_is_said(marked, tmp_path, monkeypatch):
    book, mark = marked
    file = tmp_path / "notes.json"
    run_here("notes", book, "--format", "json", "-o", file)
    data = json.loads(file.read_text("utf-8"))
    item = data["first"]["items"][0]
    gone = {**item, "id": "urn:x:1", "target": {"selector": {"type": "TextQuoteSelector", "exact": "no such words"}}}
    data["first"]["items"].append(gone)
    file.write_text(json.dumps(data), "utf-8")
    monkeypatch.setenv("READAGENT_HOME", str(tmp_path / "another"))
    found = run_json("notes", book, "--import", file)
    assert found["imported"] == {"added": 2, "replaced": 0, "lost": 1, "damaged": 0}
    assert [replace(mark, book_id=found["book"]["id"]).to_dict() | {"page": None}] == found["marks"]
    assert [lost["exact"] for lost in found["lost"]] == ["no such words"]
    _, aside = run_here("notes", book, "--import", file, "-o", tmp_path / "x.md")
    assert "0 notes added, 0 replaced" in aside


def test_wrong_usage_and_files_that_are_no_notes(book, tmp_path):
    assert "md, json, csv" in run_here("notes", book, "--format", "pdf", code=2)[1]
    assert run_json("notes", book, "--import", book, code=1)["error"]["kind"] == "WrongFormatError"
    assert "cannot be read" in run_here("notes", book, "--import", tmp_path / "gone.json", code=1)[1]
    assert "cannot be written" in run_here("notes", book, "-o", tmp_path / "no" / "folder.md", code=1)[1]


def test_the_notes_of_all_books_are_written_into_a_folder(marked, tmp_path):
    (tmp_path / "notes").mkdir()
    found = run_json("notes", "--folder", tmp_path / "notes")
    (path,) = map(Path, found["files"].values())
    path.write_text(path.read_text("utf-8").replace("%% readagent:end %%", ""), "utf-8")
    assert "Put them back" in run_here("notes", "--folder", tmp_path / "notes", code=1)[1]
    assert "is not there" in run_here("notes", "--folder", tmp_path / "no", code=1)[1]
    assert "name a book" in run_here("notes", code=2)[1]
