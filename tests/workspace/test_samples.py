"""The recordings fit their texts exactly, are marked as recordings, and come once."""

from __future__ import annotations

import pytest

from readagent_core import loaders
from readagent_core.errors import LibraryError
from readagent_core.library import Library
from readagent_core.memory import check_coverage
from readagent_core.methods.base import Answered, event_from_dict
from readagent_core.workspace import samples
from readagent_core.workspace.samples import add_samples


@pytest.mark.parametrize("name", samples.NAMES)
def test_pages_of_a_recording_are_the_texts_own_paragraphs(name):
    document = loaders.load((samples.FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
    recording = samples.read_recording(name)
    memory = samples.recorded_memory(document, recording)
    check_coverage(memory.document, memory.pages)
    assert memory.recorded == "2026-11-21"
    assert memory.complete
    assert len(memory.pages) == len(recording["pages"])
    for page, recorded in zip(memory.pages, recording["pages"], strict=True):
        text = "\n\n".join(p.text for p in memory.document.paragraphs[page.start : page.end])
        assert text.endswith(recorded["text"])


def test_samples_come_once_and_stay_away_when_removed(open_workspace):
    workspace = open_workspace()
    assert len(add_samples(workspace)) == 3
    books = workspace.library.books()
    assert books[0].title == "The Keeper of Harrow Light"
    assert all(b.sample for b in books)
    workspace.library.remove(books[0].id)
    assert add_samples(workspace) == []
    again = Library(workspace.home)
    assert len(again.books()) == 2


def test_recorded_asks_are_conversations_with_all_their_events(open_workspace):
    workspace = open_workspace()
    add_samples(workspace)
    book = workspace.library.books()[0]
    (conversation,) = workspace.library.conversations(book.id)
    exchanges = workspace.library.exchanges(conversation.id)
    recorded = samples.read_recording(samples.NAMES[0])["asks"]
    assert [e.question for e in exchanges] == [ask["question"] for ask in recorded]
    for exchange, ask in zip(exchanges, recorded, strict=True):
        assert exchange.state == "done"
        assert exchange.extra["recorded"] == "2026-11-21"
        look_up, expanded, answered = [event_from_dict(e) for e in exchange.events]
        assert look_up.reply == ask["look_up_reply"]
        assert expanded.pages == tuple(sorted(ask["looked_up"]))
        assert isinstance(answered, Answered)
        assert answered.answer.text == ask["answer"]
        if "gold" in ask and ask.get("options"):
            assert answered.answer.option is not None


def test_a_recording_that_does_not_fit_is_an_error_that_says_so():
    name = samples.NAMES[0]
    document = loaders.load((samples.FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
    recording = samples.read_recording(name)
    recording["pages"][3]["text"] += " And a word more."
    with pytest.raises(LibraryError, match="does not fit its text"):
        samples.recorded_memory(document, recording)
