"""A folder of books and a Calibre library are imported with a report; a second import finds them there."""

from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

from readagent_core.cli.app import app
from readagent_core.errors import DocumentError
from readagent_core.incoming import folders
from readagent_core.incoming.folders import copied_folder, find_books, import_books, start_import
from readagent_core.jobs import Job
from readagent_core.loaders.child_process import load_in_child_process
from tests.loaders.making import as_epub, as_text, sample
from tests.loaders.test_epub import PNG

OPF = """<?xml version='1.0' encoding='utf-8'?>
<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:opf="http://www.idpf.org/2007/opf"><dc:title>The Keeper</dc:title>
<dc:creator opf:role="aut" opf:file-as="Keeper, Anna">Anna Keeper</dc:creator>
<dc:creator opf:role="trl">T. Reader</dc:creator>
<dc:subject>Lighthouses</dc:subject><dc:subject>Fog</dc:subject>
<meta name="calibre:series" content="The Sound"/><meta name="calibre:series_index" content="2.0"/>
</metadata></package>"""
OPF3 = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Minutes</dc:title>
<dc:subject>***</dc:subject>
<meta property="belongs-to-collection" id="c">The Council</meta><meta refines="#c" property="group-position">1.5</meta>
</metadata></package>"""


@pytest.fixture
def shelf(tmp_path):
    """A Calibre library of two books beside a loose text, a damaged file and a picture."""
    root = tmp_path / "books"
    first, second = root / "Anna Keeper" / "The Keeper (1)", root / "Council" / "Minutes (2)"
    for folder in (first, second, root / ".hidden"):
        folder.mkdir(parents=True)
    story, minutes, station = map(sample, ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki"))
    (first / "keeper.epub").write_bytes(as_epub(story))
    (first / "keeper.txt").write_bytes(as_text(story))
    (first / "metadata.opf").write_text(OPF, encoding="utf-8")
    (first / "cover.jpg").write_bytes(PNG)
    (second / "minutes.txt").write_bytes(as_text(minutes))
    (second / "metadata.opf").write_text(OPF3, encoding="utf-8")
    (root / "station.txt").write_bytes(as_text(station))
    (root / "broken.epub").write_bytes(b"\x01\x02\x03" * 400)
    (root / "cover.png").write_bytes(PNG)
    (root / ".hidden" / "x.txt").write_text("Not seen.", encoding="utf-8")
    return root


def imported(workspace, folder):
    job = start_import(workspace, folder)
    assert job.join(120).state == "done", job.snapshot.error
    return job.snapshot.value


def tags_of(workspace, book):
    return next(card.tags for card in workspace.library.cards() if card.book.id == book.id)


def test_a_library_is_imported_with_what_its_catalogue_says(open_workspace, shelf):
    workspace = open_workspace()
    report = imported(workspace, shelf)
    by_title = {item.book.title: item for item in report.imported}
    keeper, minutes = by_title["The Keeper"], by_title["Minutes"]
    assert keeper.book.author == "Anna Keeper"
    assert (keeper.tags, keeper.series, keeper.position) == (("Lighthouses", "Fog"), "The Sound", "2")
    assert tags_of(workspace, keeper.book) == ("Fog", "Lighthouses", "The Sound")
    assert tags_of(workspace, minutes.book) == ("The Council",)  # without the tag that has no letter
    assert workspace.library.cover(keeper.book.id).data == PNG
    assert minutes.book.author == sample("harrow-council-minutes").author
    assert (minutes.series, minutes.position) == ("The Council", "1.5")
    assert workspace.library.series_of(minutes.book.id) == ("The Council", [minutes.book.id])
    assert len(by_title) == len(workspace.library.books()) == 3
    assert report.others == 1
    assert report.present == ()
    (refused,) = report.refused
    assert refused.name == "broken.epub"
    assert "damaged" in refused.reason


def test_a_second_import_opens_only_what_has_changed_and_keeps_names_and_tags(open_workspace, shelf, monkeypatch):
    workspace = open_workspace()
    keeper = next(item.book for item in imported(workspace, shelf).imported if item.book.title == "The Keeper")
    workspace.library.rename(keeper.id, title="My own title", author="Me")
    workspace.library.set_tags(keeper.id, ["mine"])
    station = shelf / "station.txt"
    station.write_text(station.read_text(encoding="utf-8") + "\n\n終わりの頁。\n", encoding="utf-8")
    opened = []

    def load(data, name, **options):
        opened.append(name)
        return load_in_child_process(data, name, **options)

    monkeypatch.setattr(folders, "load_in_child_process", load)
    again = imported(workspace, shelf)
    assert opened == ["broken.epub", "station.txt"]
    assert [(item.name, item.new) for item in again.imported] == [("station.txt", False)]
    assert (len(again.present), len(again.refused)) == (2, 1)
    assert workspace.library.book(keeper.id).title == "My own title"
    assert tags_of(workspace, keeper) == ("mine",)


def test_an_import_shows_removed_books_again_without_opening_them(open_workspace, shelf, monkeypatch):
    workspace = open_workspace()
    ids = [item.book.id for item in imported(workspace, shelf).imported if item.new]
    workspace.library.remove(*ids)
    (shelf / "broken.epub").unlink()
    monkeypatch.delattr(folders, "load_in_child_process")
    assert [item.book.id for item in imported(workspace, shelf).imported if item.new] == ids
    assert len(workspace.library.books()) == 3


def test_books_of_one_name_in_several_folders_stay_apart(open_workspace, tmp_path):
    for name in ("one", "two"):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "book.txt").write_text(f"The lamp of house {name} burned.", encoding="utf-8")
    report = imported(open_workspace(), tmp_path / "all")
    assert len({item.book.id for item in report.imported}) == 2
    assert [item.name for item in report.imported] == ["one/book.txt", "two/book.txt"]


def test_a_folder_that_a_browser_sent_is_imported_as_if_by_its_path(open_workspace):
    """Its copies are deleted. A browser that sends names alone has no catalogue for one of the books, and keeps all."""
    opf, workspace = OPF.encode(), open_workspace()
    folder, copies = copied_folder([("Shelf/a/keeper.txt", b"Fog."), ("Shelf/a/metadata.opf", opf)])
    job = start_import(workspace, folder, copies)
    assert (job.join(60).value.imported[0].label, job.subject) == (
        "The Keeper, by Anna Keeper (The Sound 2, Lighthouses, Fog)",
        "Shelf",
    )
    assert not folder.exists()
    names = ("same.txt", b"One."), ("metadata.opf", opf), ("same.txt", b"Two."), ("../up.txt", b"Three.")
    folder, copies = copied_folder(names)
    assert sorted(book.name for book in find_books(folder)) == ["2/same.txt", "same.txt", "up.txt"]
    job = start_import(workspace, folder, copies)
    assert (len(job.join(60).value.imported), job.subject) == (3, "Chosen files")
    with pytest.raises(DocumentError, match="cannot be copied"):
        copied_folder([(f"{'n' * 4096}.txt", b"")])


def test_a_cancelled_import_keeps_what_it_has_imported(open_workspace, shelf, monkeypatch):
    workspace = open_workspace()
    opened = []

    def open_then_cancel(data, name, **options):
        opened.append(name)
        job.cancel()
        return sample("yuki-no-eki")

    monkeypatch.setattr(folders, "load_in_child_process", open_then_cancel)
    job = Job("import", lambda job: import_books(workspace, find_books(shelf), job))
    assert job.start().join(120).state == "cancelled"
    assert len(opened) == len(workspace.library.books()) == 1
    assert job.snapshot.total == 4
    assert len(job.snapshot.value.imported) == 1


def test_a_folder_without_books_is_an_error(tmp_path):
    (tmp_path / "x.png").write_bytes(PNG)
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(DocumentError, match=r"No book|not a folder"):
            find_books(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_reported(open_workspace, shelf):
    locked = shelf / "Council"
    locked.chmod(0)
    try:
        report = imported(open_workspace(), shelf)
        with pytest.raises(DocumentError, match="Permission denied"):
            find_books(locked)
    finally:
        locked.chmod(0o700)
    assert len(report.imported) == 2
    assert [refused.name for refused in report.refused] == ["broken.epub", "Council"]


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.stdout


def test_commands_over_a_folder(shelf):
    next(shelf.rglob("keeper.epub")).unlink()  # the same book as a text, which needs no process
    listed = run("inspect", "--all", shelf)
    assert "station.txt" in listed
    assert "Not opened: This file is named like an EPUB but does not begin like one" in listed
    assert "4 files: 3 can be opened, 1 cannot" in listed
    reports = json.loads(run("inspect", "--all", shelf, "--json"))
    assert (reports["opened"], reports["refused"]) == (3, 1)
    assert {report["file"]: report.get("language") for report in reports["files"]}["station.txt"] == "ja"
    said = run("import", shelf)
    assert "Imported: The Keeper, by Anna Keeper (The Sound 2, Lighthouses, Fog)" in said
    assert "3 books imported, 1 file not imported" in said
    assert "No new book, 3 already there, 1 file not imported" in run("import", shelf)
    again = json.loads(run("import", shelf, "--json"))
    assert [len(again[name]) for name in ("imported", "present", "refused")] == [0, 3, 1]
    assert json.loads(run("import", shelf / "none", "--json", code=1))["error"]["kind"] == "DocumentError"
