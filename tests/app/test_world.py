"""What the browser gets of a book's world: at every page, nothing that a later page tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pages.parts.read.chapter_questions import study_data
from pages.parts.read.series import series_data
from pages.parts.read.study import cards_of
from pages.parts.read.world import act, world_data
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.app.protocol import faults
from tests.world_story import FIRST_NAMED, SECRETS, add_story, read_to, story


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(load_settings({"READAGENT_HOME": str(tmp_path / "home")}))


def sent(workspace: Workspace, book: str, *, last_in_view: int = 0, away: int = 9) -> tuple[dict[str, Any], list[Any]]:
    library = workspace.library
    record, (gisting,) = library.book(book), library.gistings(book)
    where = {"last_in_view": last_in_view, "running": False, "away": away}
    facts, batches = world_data(workspace, record, gisting, library.document(book), **where)
    return facts, list(batches)


def test_at_every_page_nothing_of_a_later_page_is_sent(workspace: Workspace) -> None:
    book = add_story(workspace.home, read=0)
    for page in range(1, len(SECRETS) + 1):
        read_to(workspace.library, book, page)
        facts, batches = sent(workspace, book, last_in_view=2 * page - 1)
        text = json.dumps([facts, batches]).lower()
        assert SECRETS[page] in text, page  # what was read is there
        leaks = [word for later, word in SECRETS.items() if later > page and word in text]
        leaks += [name for name, first in FIRST_NAMED.items() if first > page and name in text]
        assert not leaks, (page, leaks)
        links = [link for batch in batches for link in batch["links"]]
        assert bool(links) == (page >= 6)  # that two are one
        assert facts["page"] == page
        assert not faults(facts, "WorldData")
        assert not [fault for batch in batches for fault in faults(batch, "WorldBatch")]


def test_the_page_that_is_begun_is_let_in_and_one_that_was_jumped_to_is_not(workspace: Workspace) -> None:
    book = add_story(workspace.home, read=2)
    assert sent(workspace, book, last_in_view=4)[0]["page"] == 3
    assert sent(workspace, book, last_in_view=12)[0]["page"] == 2
    act(workspace, workspace.library.book(book), "world_lift", "on")
    facts, batches = sent(workspace, book)
    assert (facts["page"], facts["lifted"]) == (7, True)
    assert SECRETS[7] in json.dumps(batches)
    library = workspace.library
    assert not library.position(book).limited  # it is the limit of Ask and the gists
    act(workspace, library.book(book), "world_lift", "")
    assert sent(workspace, book, last_in_view=4)[0]["page"] == 3
    library.finish(book)  # nothing is left to spoil
    library.finish(book, stars=4)
    assert sent(workspace, book)[0]["page"] == 7
    library.unfinish(book)
    assert sent(workspace, book, last_in_view=4)[0]["page"] == 3


def test_what_is_told_late_stands_at_its_time_only_when_its_page_is_read(workspace: Workspace) -> None:
    book = add_story(workspace.home, read=3)
    facts, batches = sent(workspace, book, last_in_view=5)
    told = [note for batch in batches for note in batch["notes"]]
    assert [told[n]["page"] for n in facts["order"]] == [3, 1, 1, 2, 3]
    assert told[facts["order"][0]]["time"] == "ten years ago"
    assert [line[1] for line in facts["previously"]] == [1, 2, 3]
    assert not sent(workspace, book, last_in_view=5, away=0)[0]["previously"]
    read_to(workspace.library, book, 2)
    assert not sent(workspace, book, last_in_view=3)[0]["order"]  # it is the order of telling


def test_names_are_joined_split_and_dropped_by_hand_and_that_is_kept(workspace: Workspace) -> None:
    book = add_story(workspace.home, read=3)
    record = workspace.library.book(book)

    def change(**values: Any) -> None:
        act(workspace, record, "name_change", json.dumps(values))

    change(do="join", name="the stranger", other="Old Marn", paragraph=4)
    _, (batch, *_) = sent(workspace, book, last_in_view=5)
    assert [(link["a"], link["b"], link["from"]) for link in batch["links"]] == [("stranger", "old marn", 4)]
    assert "told" not in batch["links"][0]
    change(do="split", name="the stranger", other="Old Marn")
    change(do="not-a-name", name="Hester Quill")
    facts, (batch, *_) = sent(workspace, book, last_in_view=5)
    assert facts["corrections"] == 3
    assert "hester quill" not in {name["of"] for name in batch["names"]}


def test_a_chapter_that_was_read_has_questions_and_an_earlier_book_its_lines(workspace: Workspace) -> None:
    library = workspace.library
    book, other = add_story(workspace.home, read=7), add_story(workspace.home, read=0, with_notes=False)
    (gisting,) = library.gistings(book)
    record, document = library.book(book), library.document(book)
    assert not study_data(workspace, record, gisting, document)["chapters"]  # without a model there are no questions
    made = [{"question": "Who kept the ferry?", "answer": "Hester Quill", "page": 1}]
    library.artifacts(gisting.document_id).save("study", f"{gisting.id} 1-7 {workspace.model.name}", made)
    found = study_data(workspace, record, gisting, document)
    assert not faults(found, "StudyData")
    assert [chapter["questions"][0]["text"] for chapter in found["chapters"]] == ["Who kept the ferry?"]
    act(workspace, record, "study_answer", json.dumps(["Who kept the ferry?", 1]))
    assert study_data(workspace, record, gisting, document)["answered"] == {"Who kept the ferry?": 1}
    assert {kind: len(found) for kind, found in cards_of(workspace, record, gisting).items()} == {
        "Words": 0,
        "Questions": 1,
        "Who is who": 4,
    }
    read_to(library, book, 6)
    assert not study_data(workspace, record, gisting, document)["chapters"]
    assert not cards_of(workspace, record, gisting)["Questions"]
    assert series_data(workspace, library.book(other)) is None
    library.put_in_order("The Ferry", [book, other])
    series = series_data(workspace, library.book(other))
    assert series is not None
    assert not faults(series, "SeriesData")
    assert SECRETS[6] in json.dumps(series)
    assert SECRETS[7] not in json.dumps(series)
    assert series["cast"]["hester quill"]["book"] == 0
    named = {name: pages for name, (pages,) in series["people"]}
    assert 1 <= min(page for page, _ in named["Hester Quill"]) <= max(page for page, _ in named["Hester Quill"]) <= 6
    assert len(series["books"][0]["words"]) > series["books"][0]["page"] == 6
    assert series_data(workspace, record) is None


def test_without_notes_names_are_found_by_rule_and_nothing_is_claimed(workspace: Workspace) -> None:
    book = add_story(workspace.home, read=3, with_notes=False)
    facts, batches = sent(workspace, book, last_in_view=5)
    assert (facts["by"], facts["made"]) == ("rule", 0)
    assert "captain sorley" in {name["of"] for batch in batches for name in batch["names"]}
    assert "constable dray" not in {name["of"] for batch in batches for name in batch["names"]}
    assert not [note for batch in batches for note in batch["notes"]]


def test_a_book_without_gists_has_names_up_to_what_is_read(workspace: Workspace) -> None:
    library = workspace.library
    book = library.add(story("And then. ").document)
    library.set_limit(book.id, on=True)
    where = {"running": False, "away": 9}
    for page in range(1, len(SECRETS) + 1):
        read_to(library, book.id, page)
        facts, batches = world_data(
            workspace, book, None, library.document(book.id), last_in_view=2 * page - 1, **where
        )
        assert not [name for name, first in FIRST_NAMED.items() if first > page and name in json.dumps(batches).lower()]
        assert not faults(facts, "WorldData")
        assert not [fault for batch in batches for fault in faults(batch, "WorldBatch")]
    assert facts["by"] == "rule"
    known = {name["of"] for batch in batches for name in batch["names"]}
    assert {"quill", "captain sorley", "constable dray"} <= known
    library.set_furthest(book.id, 0)  # what is scrolled on to has names before any of it counts as read
    _, batches = world_data(workspace, book, None, library.document(book.id), last_in_view=5, **where)
    assert "quill" in {name["of"] for batch in batches for name in batch["names"]}
    read_to(library, book.id, len(SECRETS))
    act(workspace, book, "name_change", json.dumps({"do": "not-a-name", "name": "Quill"}))
    facts, (batch,) = world_data(workspace, book, None, library.document(book.id), last_in_view=13, **where)
    assert facts["corrections"] == 1
    assert "quill" not in {name["of"] for name in batch["names"]}
