"""The parts of a long book as a zoomed answer saw them: from its saved events, whatever was made since."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from pages.parts.ask.wording import describe_context, look_ups
from readagent_core.answering import look_up_text, replay
from readagent_core.answering.base import Answer, AskSettings
from readagent_core.answering.parts import part_title, parts_seen
from readagent_core.citations import FROM_MEMORY, NOT_FOUND
from readagent_core.export.conversation import export_conversation
from readagent_core.library.records import Exchange
from readagent_core.memory import Gist
from readagent_core.prompts import Prompt
from readagent_core.workspace import Workspace
from tests.answering.test_asking import a_book, asked
from tests.fakes.model import FakeModel
from tests.methods.test_zoom import long_memory

BOOK = long_memory(120)


def zooming() -> Callable[[Prompt], str]:
    """Open the first closed part, find a word, open its page, then answer with that page and with the last part."""
    requests = ["OPEN [{}] to look nearer", 'FIND "brass key" to know the page', "OPEN [31] to read it"]

    def reply(prompt: Prompt) -> str:
        if prompt.task == "gist":
            return " ".join(["Part", prompt.fields["page"].split()[1], *["told"] * int(prompt.fields["least"])])
        closed = re.findall(r"^<Pages (\d+-\d+)>", prompt.text, re.MULTILINE)
        if requests:
            return requests.pop(0).format(closed[0])
        return f'ANSWER: Behind the clock [31]. It was told [{closed[-1]}].\nEvidence:\n[31] "brass key"'

    return reply


@pytest.fixture
def zoomed(open_workspace) -> tuple[Workspace, Exchange]:
    workspace = open_workspace(model=FakeModel(zooming()))
    how = {"method": "zoom", "settings": AskSettings(extra={"words": 1500})}
    return workspace, asked(workspace, *a_book(workspace, BOOK), "Who sang of subject80?", **how)[0]


def test_the_views_of_an_answer_are_steps_with_parts(zoomed) -> None:
    workspace, exchange = zoomed
    events = replay.events_of(exchange)
    steps = replay.steps(events)
    assert [s.title for s in steps] == [
        "Question", "Gists", "Look-up 1", "Search", "Look-up 2", "Memory as sent", "Answer",
    ]  # fmt: skip
    first = steps[1].closed
    opened = tuple(map(int, steps[2].parts[0].split("-")))
    assert opened == first[0]
    assert steps[2].closed == first  # a step shows what its prompt had
    assert opened not in steps[3].closed
    assert (steps[-1].expanded, steps[-1].words) == ((31,), replay.answer_of(events).memory_words)
    looks = look_ups(exchange, events, BOOK)
    assert [look["title"] for look in looks] == [
        f"Opened pages {opened[0]} to {opened[1]}",
        "Looked for “brass key”: on page 31",
        "Went back to page 31",
    ]
    assert [look["said"] for look in looks] == ["“look nearer”", "“know the page”", "“read it”"]
    written = export_conversation(workspace, exchange.conversation_id, format="md").decode()
    assert f"\nOpened pages {opened[0]} to {opened[1]}: “look nearer”" in written
    parts = {(part.first, part.last): part for part in parts_seen(events, BOOK)}
    assert {n for first, last in parts for n in range(first, last + 1)} == set(range(1, 121))
    assert all(set(step.closed) <= parts.keys() for step in steps)
    assert all(parts[closed].gist.startswith("Part ") for step in steps for closed in step.closed)
    assert not any("(on page" in part.gist for part in parts.values())


def test_a_part_that_is_cut_by_the_limit_ends_there_and_edited_gists_change_nothing(zoomed) -> None:
    workspace, _ = zoomed
    book = workspace.library.books()[0]
    gisting = workspace.library.gistings(book.id)[-1]
    how = {"method": "zoom", "settings": AskSettings(extra={"words": 1500}), "up_to": 33}
    exchange, _ = asked(workspace, book, gisting, "Who sang?", **how)
    events = replay.events_of(exchange)
    assert max(part.last for part in parts_seen(events, BOOK.up_to(33))) == 33
    longer = replace(BOOK, gists=(Gist("Changed. " + "word " * 900), *BOOK.gists[1:]))
    seen = {closed for step in replay.steps(events) for closed in step.closed}
    assert {(part.first, part.last) for part in parts_seen(events, longer.up_to(33))} == seen
    assert parts_seen(events, BOOK.up_to(5)) == []  # of another reading: nothing is made up


def test_a_range_that_was_seen_in_one_gist_is_one_citation() -> None:
    seen = {n: "part" if 8 <= n <= 14 else "gist" for n in range(1, 22)}
    answer = Answer("", "zoom", seen=seen)
    checked = replay.checked_answer("It was told of subject9 and others by them all [8-14]. Then [20].", answer, BOOK)
    assert [(c.page, c.state) for c in checked.citations] == [(8, FROM_MEMORY), (20, FROM_MEMORY)]
    assert "the gist of a part" in checked.citations[0].why
    absent = replay.checked_answer("Elephants marched over mountains in winter [8-14].", answer, BOOK)
    assert [c.state for c in absent.citations] == [NOT_FOUND]
    assert describe_context(answer) == "Looked at: the gists of 14 pages and 7 pages in the gists of longer parts."


def test_a_part_is_named_after_its_chapters() -> None:
    assert part_title(BOOK, 1, 7) == "Chapter 0"
    assert part_title(BOOK, 1, 14) == "Chapter 0 to Chapter 7"
    assert part_title(BOOK, 3, 9) == "Chapter 0, continued to Chapter 7"
    assert part_title(replace(BOOK, document=replace(BOOK.document, sections=())), 1, 7) == ""


def test_pages_are_named_as_ranges() -> None:
    assert look_up_text.ranges_named([(5, 5), (12, 31), (40, 40)]) == "pages 5, 12 to 31 and 40"
    assert (look_up_text.ranges_named([(66, 66)]), look_up_text.pages_named([])) == ("page 66", "no page")
