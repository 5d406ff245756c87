"""What the component of the screen Act shows: ``Board`` in assets/web_page/board.js. No widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from readagent_core.answering import replay
from readagent_core.answering.base import Event
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin import reader as builtin
from readagent_core.models.cost.prices import about_money
from readagent_core.web_pages.acting import action_of
from readagent_core.web_pages.frame import anchor_of
from readagent_core.web_pages.memory import PageMemory
from readagent_core.web_pages.steps import OpenedPage
from readagent_core.words import count_of

TITLES = {replay.QUESTION: "Task", replay.GISTS: "Gists", replay.MEMORY: "Page as sent", replay.ANSWER: "Action"}
BUILT_IN = "Built-in reader: the one that shares most words with the task; nothing was understood"
_LEFT_OUT = {
    "scripts": "script",
    "styles": "style sheet",
    "hidden": "hidden part",
}  # of the others nobody sees anything


@dataclass(frozen=True)
class Shown:
    """What is shown of one decision. ``gists``: of every snippet, '' for one that is not made. ``model``: its name.

    ``made``: as in StoredStep; 0 before.
    """

    task: str = ""
    gists: Sequence[str] = ()
    events: tuple[Event, ...] = ()
    model: str = ""
    made: float = 0
    running: bool = False


def board(book: str, opened: OpenedPage, shown: Shown) -> dict[str, Any]:
    """Return the ``Board`` of a book's page."""
    memory = opened.memory
    return {
        "book": book,
        "version": opened.version,
        "title": memory.memory.document.title,
        "lang": memory.memory.document.language,
        "about": about_page(memory),
        "snippets": [
            {
                "number": snippet.number,
                "words": page.words,
                "gist": _without_ids(gist, memory),
                "anchor": anchor_of(memory, snippet.number),
            }
            for snippet, page, gist in zip(memory.snippets, memory.memory.pages, shown.gists, strict=True)
        ],
        "steps": _steps(shown.events),
        "action": _action(memory, shown),
        "signature": signature(shown.model) if shown.events else None,
        "task": shown.task,
        "made": shown.made,
        "running": shown.running,
    }


def _without_ids(gist: str, memory: PageMemory) -> str:
    """Return a gist without the ids by which it names elements to the model: 'Search [8635]' as 'Search'."""
    return re.sub(r" ?\[([\w-]+)\]", lambda found: "" if found[1] in memory.page.places else found[0], gist)


def about_page(memory: PageMemory) -> str:
    """Return what is shown of the page: its text, how many elements and parts, and what was left out."""
    page = memory.page
    elements, parts = count_of(len(page.places), "element"), count_of(len(memory.snippets), "part")
    parts = f"Only its text, links and fields are shown: {elements} in {parts}"
    left = [count_of(page.left_out[kind], name) for kind, name in _LEFT_OUT.items() if page.left_out.get(kind)]
    line = f"{parts}. Left out: {', '.join(left)}." if left else f"{parts}."
    return line + (" The page nests too deep: its end is missing." if page.cut else "")


def signature(model: str) -> Mapping[str, str]:
    """Return who decided: its kind, name and the rest of the line."""
    if model == builtin.NAME:
        name, _, rest = BUILT_IN.partition(":")
        return {"kind": "builtin", "name": name, "rest": f":{rest}"}
    return {"kind": "model", "name": model, "rest": ""}


def _steps(events: Sequence[Event]) -> list[dict[str, Any]]:
    return [
        {
            "title": TITLES.get(step.kind, step.title),
            "opened": list(step.marked or step.expanded),
            "ends": step.kind == replay.ANSWER,
        }
        for step in (replay.steps(events) if events else ())
    ]


def _action(memory: PageMemory, shown: Shown) -> dict[str, Any] | None:
    answer = replay.answer_of(shown.events)
    if answer is None:
        return None
    action = action_of(answer.extra)
    text = answer.text
    if action and shown.model == builtin.NAME:  # it does not know what comes next
        text = f"Most alike in words: {text[0].lower()}{text[1:]}"
    figures = [f"{answer.memory_words:,} of {memory.memory.document.words:,} words of HTML in the last prompt"]
    if answer.usage.words_in and shown.model != builtin.NAME:  # to which nothing is sent
        figures.append(f"{answer.usage.words_in:,} words sent in all")
    return {
        "text": text,
        "element": action.element if action else "",
        "operation": action.operation if action else "",
        "reason": action.reason if action else "",
        "snippet": memory.snippet_of(action.element) if action else 0,
        "notes": list(answer.notes),
        "figures": "; ".join(figures),
    }


def cost_line(memory: PageMemory, model: ChatModel) -> str:
    """Return what reading the page will cost before the first action; '' where all gists are made."""
    missing = [page for page, gist in zip(memory.memory.pages, memory.memory.gists, strict=True) if gist is None]
    if not missing or not model.is_language_model:
        return ""
    words, back = sum(page.words + 110 for page in missing), 50 * len(missing)
    dollars = model.price.cost_of_words(words, back) if model.price else None
    cost = f", {about_money(dollars)}" if dollars else ""
    return (
        f"The gists of {count_of(len(missing), 'part')} are made first: {count_of(len(missing), 'call')} and about "
        f"{words:,} words{cost}. They are stored."
    )
