"""Recurrence: one summary carried through the text, part by part, and the answer from it alone.

The baseline of the MemWalker paper (Chen et al., 2023, §4.3, after Xu et al., 2022): parts of 2,500 tokens, a
summary of 500. It does not know the question, so it is made once and kept.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import nullcontext
from typing import Any

from readagent_core.document import Document
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import respond, text_prompt
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.budget import words_of_tokens
from readagent_core.methods.run import Run
from readagent_core.methods.tools import Shelf, building, key_of, tools_of
from readagent_core.models.base import ChatModel, Watch
from readagent_core.prompts import render, version, wording
from readagent_core.tags import disarm
from readagent_core.words import count_words, first_words

SEGMENT_TOKENS = 2500
SUMMARY_TOKENS = 500
KIND = "running summary"


class Recurrence:
    name = "recurrence"
    title = "Running summary"
    about = "Reads straight through with one short summary carried along, and answers from that alone."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, watch)
        summary, parts = yield from carried(run)
        yield from respond(
            run,
            text_prompt(run, summary, cut=wording("carry.what", run.language)),
            seen=dict.fromkeys((page.number for page in memory.pages), "gist"),
            memory_words=count_words(summary),
            extra={"parts": parts},
        )


def carried(run: Run) -> Generator[Event, None, tuple[str, int]]:
    """The summary after the last part, and how many parts there are; goes on where the shelf's ends."""
    extra = run.settings.extra
    segment_tokens = max(100, int(extra.get("segment_tokens", SEGMENT_TOKENS)))
    summary_tokens = max(20, int(extra.get("summary_tokens", SUMMARY_TOKENS)))
    sample = run.memory.document.text(0, min(20, len(run.memory.document.paragraphs)))
    words = words_of_tokens(summary_tokens, sample)
    parts = segments(run.memory.document, words_of_tokens(segment_tokens, sample))
    shelf = tools_of(run.settings).shelf
    key = key_of(run.model.name, run.memory.document.id, segment_tokens, summary_tokens, version("carry", run.language))
    with building(key, run.watch) if shelf else nullcontext():
        return (yield from _carry(run, parts, words, shelf=shelf, key=key)), len(parts)


def _carry(run: Run, parts: list[str], words: int, *, shelf: Shelf | None, key: str) -> Generator[Event, None, str]:
    """The summary after the last part, at most about ``words`` long; kept after every part."""
    kept: dict[str, Any] = (shelf.load(KIND, key) if shelf else None) or {"parts": 0, "summary": "", "cut": 0}
    summary, lost, cut = str(kept["summary"]), 0, int(kept["cut"])
    for number in range(int(kept["parts"]), len(parts)):
        prompt = render(
            "carry",
            run.language,
            reply_words=2 * words + 50,
            title=run.title,
            target=run.length(words),
            memory=summary or wording("carry.none", run.language),
            text=parts[number],
        )
        try:
            written = (yield from run.ask(prompt)).text.strip()
        except (EmptyReplyError, RefusedError, CutOffError):
            written = ""
        if not written:
            lost += 1
        elif count_words(written) > words * 1.2:  # told the length, but a summary that grows is no fixed memory
            cut += 1
            summary = first_words(written, words)
        else:
            summary = written
        if shelf:
            shelf.save(KIND, key, {"parts": number + 1, "summary": summary, "cut": cut})
    if lost:
        yield run.note(f"{lost} of {len(parts)} parts are not in the summary: no usable reply came.")
    if cut:
        yield run.note(f"The summary was cut to {words} words {cut} of {len(parts)} times.")
    return summary


def segments(document: Document, words: int) -> list[str]:
    """The text in parts of whole paragraphs, at most ``words`` long."""
    document = document.limited(words)
    parts: list[str] = []
    start = held = 0
    for index, paragraph in enumerate(document.paragraphs):
        if held and held + paragraph.words > words:
            parts.append(disarm(document.text(start, index)))
            start, held = index, 0
        held += paragraph.words
    return [*parts, disarm(document.text(start))]


METHOD = Recurrence()
