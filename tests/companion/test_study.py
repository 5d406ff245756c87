"""Questions after a chapter are kept where their page has the answer; cards go out to Anki and CSV, always the same."""

from __future__ import annotations

import sqlite3
import zipfile
from dataclasses import replace

import pytest

from readagent_core.companion.study import StudyQuestion, load_study, parse_study, start_study
from readagent_core.export.study import export_study, study_cards
from readagent_core.library.marks import Mark, Spot
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from readagent_core.world.storage import load_world
from tests.companion.test_series import FIRST, add
from tests.fakes.model import FakeModel

REPLY = """1. Who kept the mill? | Mara Finch | page 1
Who sold the mill? | Joss Pike | page 2
Who burnt the mill? | Mara Finch | page 3
Who sold the coast? | Abel Reed | page 2
Nonsense"""


@pytest.fixture
def workspace(own_home):
    opened = Workspace(load_settings(), model=FakeModel(lambda prompt: REPLY))
    yield opened
    opened.library.close()


def test_questions_are_about_pages_that_were_read_and_have_the_answer(workspace):
    book = add(workspace.library, "The Mill", FIRST)
    (gisting,) = workspace.library.gistings(book)
    made = start_study(workspace, gisting.id, 1, read_to=2).join(20).value
    assert made == (
        StudyQuestion("Who kept the mill?", "Mara Finch", 1),
        StudyQuestion("Who sold the mill?", "Joss Pike", 2),
    )
    (prompt,) = workspace.model.prompts
    assert "burn" not in prompt.text
    assert load_study(workspace.library, gisting.id, (1, 2), "fake-model") == made
    assert load_study(workspace.library, gisting.id, (1, 2, 3), "fake-model") is None
    whole = parse_study(workspace.library.memory(gisting.id), (1, 2, 3), REPLY)
    assert [q.page for q in whole] == [1, 2, 3]


def test_cards_are_the_same_from_one_export_to_the_next(workspace, tmp_path):
    book = add(workspace.library, "The Mill", FIRST)
    (gisting,) = workspace.library.gistings(book)
    world = load_world(workspace.library, gisting.id)
    mark = Mark("m", book, "highlight", "", "sold", "", "", Spot(1, 10), Spot(1, 14))
    sentence = replace(mark, exact=world.memory.document.paragraphs[1].text[:-1])  # a card would repeat itself
    cards = study_cards(
        replace(world.memory.document, paragraphs=world.memory.document.paragraphs[:2]), marks=[sentence]
    )
    assert cards == []
    cards = study_cards(
        world.memory.document,
        questions=[StudyQuestion("Who <kept> it?", "=Mara", 1)],
        marks=[mark],
        known=world.as_of(2),
        memory=world.memory,
    )
    assert cards[1].page == world.memory.page_at(1).number
    assert [card.front for card in cards] == ["Who <kept> it?", "sold", "The Mill: Mara Finch", "The Mill: Joss Pike"]
    assert cards[1].back == "Joss Pike sold the mill."
    assert "burns" not in repr(cards)
    rows = export_study(book, "The Mill", cards, "csv").decode().splitlines()
    assert rows[0] == "front,back,page"
    assert not any(row.split(",")[1].startswith("=") for row in rows)
    pytest.importorskip("genanki")
    guids = []
    for export in (cards, cards[:2]):
        (tmp_path / "deck.apkg").write_bytes(export_study(book, "The Mill", export, "apkg"))
        with zipfile.ZipFile(tmp_path / "deck.apkg") as deck:
            (tmp_path / "notes.db").write_bytes(deck.read("collection.anki2"))
        rows = (
            sqlite3.connect(tmp_path / "notes.db").execute("SELECT guid, flds, tags FROM notes ORDER BY id").fetchall()
        )
        assert "Who &lt;kept&gt; it?" in rows[0][1]
        assert rows[0][2].split() == ["The_Mill", "page_1"]
        guids.append([guid for guid, _, _ in rows])
    assert guids[0][:2] == guids[1]
