"""Files become books: the same text once, a changed file as a new version, a bad file not at all."""

from __future__ import annotations

import pytest

from readagent_core.errors import DocumentError
from readagent_core.export.memory import export_memory
from readagent_core.memory import Gist
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from readagent_core.workspace.opening import open_file
from readagent_core.workspace.reading import newest_memory
from readagent_core.workspace.samples import add_samples
from tests.loaders.making import Press, as_epub, as_text, sample


@pytest.fixture
def workspace(open_workspace):
    return open_workspace()


def test_the_same_text_again_under_another_name_or_in_another_format_is_the_same_book(workspace):
    document = sample("harrow-council-minutes")
    files = ((as_text, "txt"), (as_epub, "epub"), (as_epub, "copy.epub"), (Press(), "pdf"))
    books = {open_file(workspace, make(document), f"minutes.{ending}").id for make, ending in files}
    assert len(books) == len(workspace.library.books()) == 1


def test_a_changed_file_is_a_new_version_that_keeps_its_conversations(workspace):
    text = as_text(sample("harrow-council-minutes")).decode()
    book = open_file(workspace, text.encode(), "minutes.txt")
    workspace.library.new_conversation(book.id, "Who was there?")
    changed = open_file(workspace, text.replace("miracle", "wonder").encode(), "minutes.txt")
    assert (changed.id, changed.version) == (book.id, 2)
    assert changed.document_id != book.document_id
    assert [c.title for c in workspace.library.conversations(book.id)] == ["Who was there?"]


def test_an_exported_reading_opens_as_its_book_and_replaces_nothing(workspace, tmp_path):
    sample_book = next(b for b in add_samples(workspace) if b.title == "The Keeper of Harrow Light")
    _, memory = newest_memory(workspace, sample_book.id)
    file = export_memory(memory, "json")
    elsewhere = Workspace(load_settings({"READAGENT_HOME": str(tmp_path / "elsewhere")}))
    book = open_file(elsewhere, file, "keeper-gists.JSON")
    assert newest_memory(elsewhere, book.id)[1] == memory
    assert open_file(elsewhere, file, "again.json").id == book.id
    assert len(elsewhere.library.readings(book.id)) == 1
    mine = elsewhere.library.readings(book.id)[0]
    elsewhere.library.store(mine.id).save_gist(3, Gist("My own words.", edited=True))
    with pytest.raises(DocumentError, match="Nothing was replaced"):
        open_file(elsewhere, file, "keeper-gists.json")
    assert elsewhere.library.memory(mine.id).gists[2].text == "My own words."


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.pdf", b"%PDF-1.4 broken"),
        ("settings.json", b"{}"),
        ("settings.json", b"\xff"),
        ("settings.json", b'{"format": "readagent gist memory", "version": 1}'),
    ],
)
def test_a_file_that_cannot_be_opened_adds_nothing(workspace, name, data):
    with pytest.raises(DocumentError):
        open_file(workspace, data, name)
    assert workspace.library.books() == []
