"""Files become books: the same text once, a changed file as a new version, a bad file not at all."""

from __future__ import annotations

import pytest

from readagent_core.errors import DocumentError
from readagent_core.memory import Gist
from readagent_core.settings import load_settings
from readagent_core.study import Study
from readagent_core.study.exporting import export
from tests.loaders.making import Press, as_epub, as_text, sample


@pytest.fixture
def study():
    return Study(load_settings())


def test_the_same_file_twice_is_one_book(study):
    data = as_epub(sample("harrow-council-minutes"))
    first = study.open_file(data, "minutes.epub")
    again = study.open_file(data, "copy of minutes.epub")
    assert first.id == again.id
    assert len(study.library.books()) == 1


def test_the_same_text_in_another_format_is_the_same_book(study):
    document = sample("harrow-council-minutes")
    books = {
        study.open_file(make(document), f"minutes.{ending}").id
        for make, ending in ((as_text, "txt"), (as_epub, "epub"), (Press(), "pdf"))
    }
    assert len(books) == 1


def test_a_changed_file_is_a_new_version_that_keeps_its_conversations(study):
    text = as_text(sample("harrow-council-minutes")).decode()
    book = study.open_file(text.encode(), "minutes.txt")
    study.library.new_conversation(book.id, "Who was there?")
    changed = study.open_file(text.replace("miracle", "wonder").encode(), "minutes.txt")
    assert (changed.id, changed.version) == (book.id, 2)
    assert changed.document_id != book.document_id
    assert [c.title for c in study.library.conversations(book.id)] == ["Who was there?"]


def test_a_file_that_cannot_be_opened_leaves_nothing(study):
    with pytest.raises(DocumentError):
        study.open_file(b"%PDF-1.4 broken", "x.pdf")
    assert study.library.books() == []


def test_an_exported_reading_opens_as_its_book_and_replaces_nothing(study, tmp_path):
    sample_book = next(b for b in study.add_samples() if b.title == "The Keeper of Harrow Light")
    _, memory = study.newest_memory(sample_book.id)
    file = export(memory, "json")
    elsewhere = Study(load_settings({"READAGENT_HOME": str(tmp_path / "elsewhere")}))
    book = elsewhere.open_file(file, "keeper-gists.JSON")
    assert elsewhere.newest_memory(book.id)[1] == memory
    assert elsewhere.open_file(file, "again.json").id == book.id
    assert len(elsewhere.library.readings(book.id)) == 1
    mine = elsewhere.library.readings(book.id)[0]
    elsewhere.library.save_gist(mine.id, 3, Gist("My own words.", edited=True))
    with pytest.raises(DocumentError, match="Nothing was replaced"):
        elsewhere.open_file(file, "keeper-gists.json")
    assert elsewhere.library.memory(mine.id).gists[2].text == "My own words."


@pytest.mark.parametrize("data", [b"{}", b"\xff", b'{"format": "readagent gist memory", "version": 1}'])
def test_a_json_that_is_no_reading_keeps_nothing(study, data):
    with pytest.raises(DocumentError):
        study.open_file(data, "settings.json")
    assert study.library.books() == []
