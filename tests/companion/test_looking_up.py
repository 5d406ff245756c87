"""Looked-up words are kept with their sentence; reading is counted by day; both go out as CSV."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from readagent_core.companion import looking_up
from readagent_core.companion.looking_up import has_dictionaries, indexing, look_up
from readagent_core.companion.passage import Passage
from readagent_core.companion.statistics import statistics_of
from readagent_core.dictionaries.shelf import FOLDER
from readagent_core.export.reading import reading_csv, words_csv
from readagent_core.export.study import study_cards
from readagent_core.incoming.samples import add_samples
from readagent_core.library.marks import Spot
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from tests.dictionaries.making import make_stardict


@pytest.fixture(autouse=True)
def no_other_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may have dictionaries of its own."""
    monkeypatch.setattr(looking_up, "known_folders", list)


def workspace_of(tmp_path: Path) -> Workspace:
    workspace = Workspace(Settings(home=tmp_path))
    add_samples(workspace)
    return workspace


def test_a_word_is_kept_with_its_sentence(tmp_path: Path) -> None:
    make_stardict(tmp_path / FOLDER, [("lantern", b'a lamp, "carried"')], title="Small")
    workspace = workspace_of(tmp_path)
    has_dictionaries(workspace)
    job = indexing(workspace)
    assert job is not None
    job.join(30)
    assert has_dictionaries(workspace)
    book = next(book for book in workspace.library.books() if book.title.startswith("The Keeper"))
    document = workspace.library.document(book.id)
    paragraph, text = next((n, p.text) for n, p in enumerate(document.paragraphs) if "lantern" in p.text)
    at = text.index("lantern")
    passage = Passage(document, Spot(paragraph, at), Spot(paragraph, at + len("lantern")))
    for _ in range(2):
        assert [entry.text for entry in look_up(workspace, book.id, passage)] == ['a lamp, "carried"']
    (kept,) = workspace.library.words()
    assert (kept.word, kept.times, kept.paragraph, kept.offset) == ("lantern", 2, paragraph, at)
    assert "lantern" in kept.sentence
    assert kept.sentence in text
    (row,) = csv.DictReader(io.StringIO(words_csv(workspace.library).removeprefix("\ufeff")))
    assert (row["word"], row["meaning"], row["book"]) == ("lantern", 'a lamp, "carried"', book.title)
    (card,) = study_cards(document, looked_up=workspace.library.words(book.id))
    assert (card.front, card.back) == ("lantern", f'a lamp, "carried"\n{kept.sentence}')
    workspace.library.remove_word(book.id, "lantern")
    assert workspace.library.words(book.id) == []


def test_reading_by_day(tmp_path: Path) -> None:
    library = workspace_of(tmp_path).library
    book, other = library.books()[:2]
    today = date(2026, 3, 29)  # clocks change on this day in many places: days are the calendar's
    evening = datetime(2026, 3, 28, 21, 0).timestamp()
    for minute in range(11):
        library.log_reading(book.id, 230, now=evening + 60 * minute)
    library.log_reading(book.id, 100, now=evening + 7200)  # after a pause, which does not count
    library.log_reading(book.id, 0, now=evening + 7400)  # nothing was read before this move
    library.log_reading(book.id, 120, now=evening + 7600)  # a slow page
    library.log_reading(book.id, 0, now=datetime(2026, 3, 29, 8, 0).timestamp())
    library.set_furthest(book.id, 20)
    library.finish(other.id, day=today, stars=4, remark="Well kept")
    found = statistics_of(library, today=today)
    yesterday, this_day = found.days[-2:]
    assert (yesterday.words, yesterday.seconds) == (11 * 230 + 220, 720.0)
    assert (this_day.words, this_day.seconds) == (0, 0.0)
    assert found.pace == (11 * 230 + 220) / 12
    assert found.streak == 2
    assert statistics_of(library, today=today + timedelta(2)).streak == 0
    left = {one.id: seconds for one, seconds in found.left}
    assert left[book.id] == 60 * (book.words - library.position(book.id).words_read) / found.pace
    rows = list(csv.DictReader(io.StringIO(reading_csv(library).removeprefix("\ufeff"))))
    assert sorted((row["day"], row["words"], row["stars"]) for row in rows) == [
        ("2026-03-28", "2750", ""), ("2026-03-29", "0", ""), ("2026-03-29", "0", "4"),
    ]  # fmt: skip
    library.unfinish(other.id)
    assert not statistics_of(library, today=today).finished
