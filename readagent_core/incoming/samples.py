"""The bundled samples, with what a large language model made of them: pages, gists, and answered questions.

A recording is a file next to its text in ``assets/samples`` and is always marked as one. Its pages hold the paragraphs
of the text; a recording that does not fit its text is an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from readagent_core import loaders
from readagent_core.answering.base import Answer, Answered, Event, Expanded, LookedUp
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.look_up_replies import parse_look_up
from readagent_core.answering.response import chosen_option
from readagent_core.document import Document
from readagent_core.errors import LibraryError
from readagent_core.library import Library
from readagent_core.library.records import Book, ExchangeFacts, ExchangeState
from readagent_core.memory import Gist, GistMemory, Page, PageEnd, check_coverage, compression_rate
from readagent_core.plan import GistingPlan
from readagent_core.resources import ASSETS
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import World
from readagent_core.world.identity import Link, LinkBy
from readagent_core.world.notes import NoteReader
from readagent_core.world.storage import save_links, save_notes

FOLDER = ASSETS / "samples"
NAMES = ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki")  # the first is opened first
ADDED = "samples added"  # the preference that says which were added, so that a removed one stays away
TITLES = {"en": "Questions of the recording", "ja": "記録された質問"}
ENDS = {"pause point": PageEnd.PAUSE, "section": PageEnd.SECTION}


def add_samples(workspace: Workspace) -> list[Book]:
    """The books of the samples that this library never had, now added. Raises LibraryError for an unfit recording."""
    had = workspace.library.preference(ADDED, [])
    added: list[Book] = []
    for name in reversed(NAMES):  # the library shows the newest first
        if name in had:
            continue
        recording = read_recording(name)
        document = loaders.load((FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
        book = workspace.library.add(document, source_name=f"{name}.md", sample=True)
        memory = recorded_memory(document, recording)
        gisting = workspace.library.add_memory(book.id, memory)
        _add_world(workspace.library, gisting.id, recording, memory)
        title = TITLES.get(document.language, TITLES["en"])
        conversation = workspace.library.new_conversation(book.id, title)
        for ask in recording["asks"]:
            _add_ask(workspace, conversation.id, gisting.id, ask=ask, memory=memory)
        had = [*had, name]
        workspace.library.set_preference(ADDED, had)
        added.append(book)
    return added


def read_recording(name: str) -> dict[str, Any]:
    """The recording of sample ``name``, as in its file."""
    recording: dict[str, Any] = json.loads((FOLDER / f"{name}.reading.json").read_text(encoding="utf-8"))
    return recording


def recorded_memory(document: Document, recording: Mapping[str, Any]) -> GistMemory:
    """The recorded reading as a memory of ``document``. Raises LibraryError where it does not fit exactly."""
    plan = GistingPlan(
        max_words=recording["settings"]["max_words"],
        min_words=recording["settings"]["min_words"],
        cross_sections=not recording["settings"]["never_cross_a_section"],
    )
    document = document.limited(plan.max_words)
    texts = [page["text"].split("\n\n") for page in recording["pages"]]
    first = len(document.paragraphs) - sum(map(len, texts))  # those before it (who was present) are of the first page
    if first < 0 or [p.text for p in document.paragraphs[first:]] != [text for page in texts for text in page]:
        raise LibraryError(
            f"The recording of {recording['title']} does not fit its text. The sample's files were changed; install "
            "them again."
        )
    _, *ends = accumulate(map(len, texts), initial=first)
    pages = [
        Page(
            number=page["number"],
            start=start,
            end=end,
            words=sum(p.words for p in document.paragraphs[start:end]),
            reason=page["reason"],
            fallback=page["fallback"],
            ends=PageEnd.END if end == len(document.paragraphs) else ENDS[page["ends"]],
        )
        for start, end, page in zip([0, *ends[:-1]], ends, recording["pages"], strict=True)
    ]
    check_coverage(document, pages)
    return GistMemory(
        document=document,
        plan=plan,
        pages=tuple(pages),
        gists=tuple(Gist(page["gist"]) for page in recording["pages"]),
        model=recording["model"],
        complete=True,
        recorded=recording["recorded"],
    )


def recorded_events(ask: Mapping[str, Any], memory: GistMemory) -> list[Event]:
    """The events of a recorded run of ReadAgent-P: the look-up, the expanded memory, the answer."""
    looked_up = tuple(ask["looked_up"])
    reply, options = ask["look_up_reply"], ask.get("options", ())
    answer = Answer(
        text=ask["answer"],
        method="read-agent-p",
        option=chosen_option(ask["answer"], options) if options else None,
        looked_up=looked_up,
        seen={p.number: "full" if p.number in looked_up else "gist" for p in memory.pages},
        memory_words=ask["memory_words"],
        compression_rate=compression_rate(ask["memory_words"], sum(p.words for p in memory.pages)),
        steps=1,
    )
    return [
        LookedUp(looked_up, reply, parse_look_up(reply, memory.readable, limit=len(looked_up)).reason),
        Expanded(tuple(sorted(looked_up)), ask["memory_words"]),
        Answered(answer),
    ]


def recorded_world(recording: Mapping[str, Any], memory: GistMemory) -> World:
    """What the recorded notes of the pages establish, and the names that the model found to be of one."""
    reader = NoteReader(memory.document)
    told = zip(memory.pages, recording["pages"], strict=True)
    notes = {page.number: reader.read(page, "\n".join(said["notes"])) for page, said in told if "notes" in said}
    made = {number: replace(found, model=memory.model).on_page(number) for number, found in notes.items()}
    links = []
    for link in recording.get("names", ()):
        name, other = link["names"]
        links.append(Link(name, other, link["page"], link["paragraph"], by=LinkBy.MODEL))
    return World(memory, made, links=links)


def _add_world(library: Library, gisting_id: int, recording: Mapping[str, Any], memory: GistMemory) -> None:
    world = recorded_world(recording, memory)
    for number, notes in world.notes.items():
        save_notes(library, gisting_id, number, notes)
    if world.notes:
        save_links(library, gisting_id, len(memory.pages), tuple(ln for ln in world.links if ln.by == LinkBy.MODEL))


def _add_ask(
    workspace: Workspace, conversation_id: str, gisting_id: int, *, ask: Mapping[str, Any], memory: GistMemory
) -> None:
    exchange = workspace.library.start_exchange(
        conversation_id,
        gisting_id,
        ask["question"],
        options=ask.get("options", ()),
        settings={"look_ups": 3},
        facts=ExchangeFacts(model=memory.model, recorded=memory.recorded),
    )
    for event in recorded_events(ask, memory):
        workspace.library.append_event(exchange.id, event_to_dict(event))
    workspace.library.finish_exchange(exchange.id, ExchangeState.DONE)
