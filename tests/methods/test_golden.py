"""Golden runs: every method on a sample with a scripted model, each prompt and reply word for word.

Paragraphs and gists of the sample are written as ¶7 and «gist 3», so that what changed can be read. After a
change that is meant: ``UPDATE_GOLDEN=1 python -m pytest tests/methods/test_golden.py``, then read the difference.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from readagent_core import loaders
from readagent_core.answering.base import Answered, AnswerPart, AskSettings, Event, ModelCall, Question
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.registry import all_methods
from readagent_core.answering.resources import Resources
from readagent_core.cancel import CancelToken
from readagent_core.incoming.samples import FOLDER, read_recording, recorded_memory
from readagent_core.memory import GistMemory
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from tests.fakes.model import FakeModel

GOLDEN = Path(__file__).parent / "golden"
SAMPLE = "harrow-council-minutes"
QUESTION = Question("What did the council decide about the lifeboat?")
PAGES = 5
EXTRA = {"segment_tokens": 700, "siblings": 3, "chunk_words": 500, "summary_tokens": 120}


@cache
def sample() -> GistMemory:
    document = loaders.load((FOLDER / f"{SAMPLE}.md").read_bytes(), f"{SAMPLE}.md")
    return recorded_memory(document, read_recording(SAMPLE)).up_to(PAGES)


def scripted() -> FakeModel:
    """Replies by task: each call gets the next reply of its task, and after the last one the last again."""
    replies: dict[str, list[str]] = {
        "look_up": ["I want to look up Page [4, 2] to see what was resolved."],
        "look_up_next": ["I want to look up Page 2 to see the motion.", "Page 2", "Page 4", "STOP"],
        "explore": [
            'FIND "lifeboat" to see where it is named',
            "OPEN [4, 99] to read the motion",
            "ANSWER: It was bought [4].",
        ],
        "walk": ["Reasoning: the first part opens it.\nAction: 1", "Reasoning: not there.\nAction: -1", "Action: 2"],
        "leaf": ["Reasoning: nothing here.\nAction: -1", "Reasoning: it says so.\nAction: -2\nAnswer: To buy it."],
        "tree_segment": ["A part of the minutes."],
        "tree_parent": ["Several parts of the minutes."],
        "carry": ["The council met.", "The council met and voted."],
        "compress": ["A topic of the minutes, shortened."],
    }
    asked: dict[str, int] = {}

    def reply(prompt: Prompt) -> str:
        known = replies.get(prompt.task, ['It was to be bought [4].\nEvidence:\n[4] "resolved"'])
        turn = asked.get(prompt.task, 0)
        asked[prompt.task] = turn + 1
        return known[min(turn, len(known) - 1)]

    return FakeModel(reply)


class FourTopics:
    """An embedder with four topics, clearly separated, so that rounding cannot change a cluster."""

    name = "four topics"

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> Any:
        rows = np.zeros((len(texts), 4), dtype=np.float32)
        rows[range(len(texts)), [i * 4 // len(texts) for i in range(len(texts))]] = 1.0
        return rows


def result(events: list[Event]) -> str:
    """The run as text: prompts and replies, then the other events, then the answer."""
    memory = sample()
    names = {escape_tags(g.text): f"«gist {n}»" for n, g in enumerate(memory.gists, start=1) if g}
    names |= {escape_tags(p.text): f"¶{i}" for i, p in enumerate(memory.document.paragraphs) if len(p.text) > 40}
    lines: list[str] = []
    for event in events:
        if isinstance(event, ModelCall):
            text = event.prompt
            for long in sorted(names, key=len, reverse=True):
                text = text.replace(long, names[long])
            lines += [f"=== {event.task}", text, "--- reply", event.reply, ""]
        elif isinstance(event, Answered):
            values: dict[str, Any] = event_to_dict(event)["answer"]
            del values["books"]  # there is one book
            values["extra"] = {name: value for name, value in values["extra"].items() if name != "seconds"}
            values["usage"] = {name: values["usage"][name] for name in ("calls", "words_in", "words_out")}
            lines += ["=== Answered", json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True)]
        elif not isinstance(event, AnswerPart):
            values = {name: value for name, value in event_to_dict(event).items() if name not in ("kind", "book")}
            lines += [f"=== {type(event).__name__} {json.dumps(values, ensure_ascii=False)}", ""]
    return re.sub(r"(¶\d+\n*)+", lambda m: " ".join(m.group().split()) + "\n", "\n".join(lines)) + "\n"


@pytest.mark.parametrize("name", sorted(all_methods()))
def test_a_run_has_not_changed(name: str) -> None:
    settings, resources = AskSettings(look_ups=3, extra=EXTRA), Resources(embedder=FourTopics(), connections=1)
    run = result(list(all_methods()[name].run(QUESTION, sample(), scripted(), settings, CancelToken(), resources)))
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(run, encoding="utf-8")
    assert run == path.read_text(encoding="utf-8")


def test_no_golden_run_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(all_methods())
