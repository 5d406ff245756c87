"""The bundled samples, with what a large language model made of them: pages, gists, and answered questions.

A recording is a file next to its text in ``assets/samples`` and is always marked as one. Its pages are matched with the
text's paragraphs letter by letter; a recording that does not fit its text is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from readagent_core import loaders
from readagent_core.document import Document
from readagent_core.errors import LibraryError
from readagent_core.library.records import Book
from readagent_core.memory import Gist, GistMemory, Page, check_coverage, compression_rate
from readagent_core.methods.base import LETTERS, Answer, Answered, Event, Expanded, LookedUp, event_to_dict
from readagent_core.plan import ReadingPlan
from readagent_core.resources import ASSETS
from readagent_core.workspace.base import Workspace

FOLDER = ASSETS / "samples"
NAMES = ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki")  # the first is opened first
ADDED = "samples added"  # the preference that says which were added, so that a removed one stays away
TITLES = {"en": "Questions of the recording", "ja": "記録された質問"}
ENDS = {"pause point": "pause", "section": "section"}
_OPTION = re.compile(r"^\s*Answer:\s*\(([A-Z])\)")
_REASON = re.compile(r"\]\s*(?:to |を読み返したい。理由は、?)(.+)", re.DOTALL)


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
        reading = workspace.library.add_memory(book.id, memory)
        title = TITLES.get(document.language, TITLES["en"])
        conversation = workspace.library.new_conversation(book.id, title)
        for ask in recording["asks"]:
            _add_ask(workspace, conversation.id, reading.id, ask=ask, memory=memory)
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
    plan = ReadingPlan(
        max_words=recording["settings"]["max_words"],
        min_words=recording["settings"]["min_words"],
        cross_sections=not recording["settings"]["never_cross_a_section"],
    )
    document = document.limited(plan.max_words)
    try:
        starts = page_starts([p.text for p in document.paragraphs], [p["text"] for p in recording["pages"]])
    except ValueError as error:
        raise LibraryError(
            f"The recording of {recording['title']} does not fit its text ({error}). "
            "The sample's files were changed; install them again."
        ) from None
    pages = [
        Page(
            number=page["number"],
            start=start,
            end=end,
            words=sum(p.words for p in document.paragraphs[start:end]),
            reason=page["reason"],
            fallback=page["fallback"],
            ends="end" if end == len(document.paragraphs) else ENDS[page["ends"]],
        )
        for start, end, page in zip(starts[:-1], starts[1:], recording["pages"], strict=True)
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


def page_starts(paragraphs: Sequence[str], pages: Sequence[str]) -> list[int]:
    """The paragraph each page starts at, and last the number of paragraphs. Only letters and digits are compared.

    Paragraphs before the first page's text (a list of those present) belong to the first page; paragraphs
    without letters (scene breaks) to the page before. Raises ValueError where a page does not end with a paragraph.
    """
    letters = [_letters(text) for text in paragraphs]
    wanted = [_letters(text) for text in pages]
    whole, recorded = "".join(letters), "".join(wanted)
    if not recorded or not whole.endswith(recorded):
        raise ValueError("its words are not the text's")
    front = len(whole) - len(recorded)
    ends = list(accumulate(len(text) for text in letters))
    if front and front not in ends:
        raise ValueError("it does not begin at a paragraph")
    starts = [0]
    for number, place in enumerate(accumulate([front + len(wanted[0]), *map(len, wanted[1:])]), start=1):
        if place not in ends:
            raise ValueError(f"page {number} does not end with a paragraph")
        starts.append(max(i for i, end in enumerate(ends) if end == place) + 1)
    return starts


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def recorded_events(ask: Mapping[str, Any], memory: GistMemory) -> list[Event]:
    """The events of a recorded run of ReadAgent-P: the look-up, the expanded memory, the answer."""
    looked_up = tuple(ask["looked_up"])
    reason = _REASON.search(ask["look_up_reply"])
    in_order = tuple(sorted(looked_up))
    chosen = _OPTION.match(ask["answer"])
    answer = Answer(
        text=ask["answer"],
        method="read-agent-p",
        option=LETTERS.index(chosen.group(1)) if chosen and ask.get("options") else None,
        looked_up=looked_up,
        seen={p.number: "full" if p.number in looked_up else "gist" for p in memory.pages},
        memory_words=ask["memory_words"],
        compression_rate=compression_rate(ask["memory_words"], sum(p.words for p in memory.pages)),
        steps=1,
    )
    return [
        LookedUp(looked_up, ask["look_up_reply"], reason.group(1).strip() if reason else ""),
        Expanded(in_order, ask["memory_words"]),
        Answered(answer),
    ]


def _add_ask(
    workspace: Workspace, conversation_id: str, reading_id: int, *, ask: Mapping[str, Any], memory: GistMemory
) -> None:
    exchange = workspace.library.start_exchange(
        conversation_id,
        reading_id,
        ask["question"],
        options=ask.get("options", ()),
        settings={"look_ups": 3},
        extra={"recorded": memory.recorded, "model": memory.model},
    )
    for event in recorded_events(ask, memory):
        workspace.library.append_event(exchange.id, event_to_dict(event))
    workspace.library.finish_exchange(exchange.id, "done")
