"""MemWalker: a walk from the root of a summary tree down to the segment that holds the answer, and back up where
it does not (Chen et al., 2023, §3 'Navigation').

At a node the model compares its children's summaries and takes one, or goes back up (-1); at a leaf it reads the
segment and answers (-2), or goes back (-1). Summaries of the nodes visited go along as working memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, WindowError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import ANSWER_WORDS, chosen_option
from readagent_core.methods.base import AnswerPart, AskSettings, Event, Expanded, LookedUp, Question
from readagent_core.methods.budget import context_words
from readagent_core.methods.looking import plain
from readagent_core.methods.run import Run
from readagent_core.methods.tree import Node, Tree, build, pages_of
from readagent_core.models.base import ChatModel, Watch
from readagent_core.prompts import Prompt, render, wording
from readagent_core.words import count_words, first_words, last_words, squeeze

T = TypeVar("T")

TRIES = 3  # replies without an action, in a row
MOST_STEPS = 24
MEMORY_WORDS = 1000  # of working memory, where no window is known
BACK, COMMIT = -1, -2
NO_ANSWER = "No answer was found."
_ACTION = re.compile(r"\bAction\s*[:=]?\s*[\[(<]?\s*(?:(?:part|summary|部分)\s*)?(-?\s*\d+)", re.IGNORECASE)
_ANSWER = re.compile(r"\b(?:final\s+)?Answer\s*[:=]\s*(.+)", re.IGNORECASE | re.DOTALL)
_REASON = re.compile(r"\bReasoning\s*[:=]\s*(.+?)(?=\n\s*(?:Action|Answer)\b|\Z)", re.IGNORECASE | re.DOTALL)


@dataclass
class Walk:
    """``steps``: every node stood at and what was done there. ``visited``: nodes entered, in order."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    shown: set[int] = field(default_factory=set)
    words: int = 0
    ended: str = ""
    bad: int = 0

    @property
    def stray(self) -> bool:
        return any(step["action"] == BACK for step in self.steps)


class MemWalker:
    name = "memwalker"
    title = "MemWalker"
    about = "Walks down a tree of summaries to the part that holds the answer, and back up where it does not."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, watch)
        tree = yield from build(run)
        walk = Walk()
        text, option = yield from navigate(run, tree, walk)
        pages = tuple(dict.fromkeys(p for leaf in walk.leaves for p in pages_of(memory, tree, tree.node(leaf))))
        seen = {p: "gist" for number in sorted(walk.shown) for p in pages_of(memory, tree, tree.node(number))}
        seen |= dict.fromkeys(pages, "full")
        run.steps = len(walk.steps)
        yield run.answered(
            text or NO_ANSWER,
            option=option,
            looked_up=pages,
            seen=dict(sorted(seen.items())),
            memory_words=walk.words,
            extra=told(memory, tree, walk),
        )


def navigate(run: Run, tree: Tree, walk: Walk) -> Generator[Event, None, tuple[str, int | None]]:
    """Walk until a leaf answers, no action can be told three times in a row, or the step bound is reached."""
    path = [tree.root]
    most = max(1, int(run.settings.extra.get("max_steps", MOST_STEPS)))
    while len(walk.steps) < most:
        node = path[-1]
        walk.visited.append(node.id)
        if node.children:
            walk.shown.update(node.children)
            action, reason = yield from choose_child(run, tree, node, path, walk)
        else:
            action, reason, text, option = yield from read_leaf(run, tree, node, walk)
        if action is None:
            walk.ended = "unreadable"
            yield run.note(f"The walk ended: {TRIES} replies in a row held no action that could be taken.")
            return "", None
        walk.steps.append({"node": node.id, "action": action, "reason": reason})
        if action == COMMIT:
            walk.ended = "answered"
            yield AnswerPart(text)
            return text, option
        if action == BACK:
            if len(path) == 1:
                walk.ended = "nothing left"
                yield run.note("The walk ended: the text has only one part, and it does not hold the answer.")
                return "", None
            path.pop()
        else:
            path.append(tree.node(action))
    walk.ended = "too long"
    yield run.note(f"The walk was ended after {most} steps without an answer.")
    return "", None


def choose_child(
    run: Run, tree: Tree, node: Node, path: Sequence[Node], walk: Walk
) -> Generator[Event, None, tuple[int | None, str]]:
    """The child to enter (its id) or BACK, with the model's reasoning; None when no reply could be read."""
    numbers = {str(i): child for i, child in enumerate(node.children, start=1)}
    visited = wording("walk.visited", run.language)
    parts = "\n\n".join(
        wording(
            "walk.part",
            run.language,
            number=number,
            visited=visited if child in walk.visited else "",
            text=tree.node(child).summary,
        )
        for number, child in numbers.items()
    )
    actions = [*numbers, *([str(BACK)] if len(path) > 1 else [])]

    def prompt(memory: str) -> Prompt:
        return render(
            "walk",
            run.language,
            title=run.title,
            back=wording("walk.back", run.language) if len(path) > 1 else "",
            memory=memory,
            parts=parts,
            question=run.asked_fully,
        )

    def readable(reply: str) -> int | None:
        action = action_of(reply)
        if action is None or str(action) not in actions:
            return None
        return BACK if action == BACK else numbers[str(action)]

    memory = working_memory(run, tree, walk, prompt("").words, but=node.id)
    chosen, reply = yield from act(run, prompt, memory, actions, readable, walk)
    return chosen, reason_of(reply)


def read_leaf(
    run: Run, tree: Tree, node: Node, walk: Walk
) -> Generator[Event, None, tuple[int | None, str, str, int | None]]:
    """COMMIT with the answer and its option, or BACK, with the model's reasoning; None when no reply could be read."""
    pages = pages_of(run.memory, tree, node)
    if node.id not in walk.leaves:
        walk.leaves.append(node.id)

    def prompt(memory: str) -> Prompt:
        return render(
            "leaf",
            run.language,
            reply_words=ANSWER_WORDS,
            title=run.title,
            memory=memory,
            text=tree.text(node),
            question=run.asked_fully,
        )

    def readable(reply: str) -> tuple[int, str, int | None] | None:
        action = action_of(reply)
        found = _ANSWER.search(plain(reply))
        if action == BACK:
            return BACK, "", None
        if action != COMMIT and (action is not None or not found):
            return None
        text = (found.group(1) if found else _ACTION.sub("", plain(reply))).strip()
        option = chosen_option(f"Answer: {text}", run.question.options) if run.question.options else None
        return None if not text or (run.question.options and option is None) else (COMMIT, text, option)

    memory = working_memory(run, tree, walk, prompt("").words, but=node.id)
    walk.words = tree.words(node) + count_words(memory)
    yield LookedUp(pages, "", "the walk came to this part")
    yield Expanded(tuple(sorted(pages)), walk.words)
    taken, reply = yield from act(run, prompt, memory, [str(COMMIT), str(BACK)], readable, walk)
    action, text, option = taken or (None, "", None)
    return action, reason_of(reply), text, option


def act(
    run: Run,
    prompt: Callable[[str], Prompt],
    memory: str,
    actions: Sequence[str],
    readable: Callable[[str], T | None],
    walk: Walk,
) -> Generator[Event, None, tuple[T | None, str]]:
    """Ask until a reply is ``readable``, three times at most; what was read from it, and the reply."""
    told = wording("walk.memory", run.language, text=memory) + "\n" if memory else ""
    first = asked = prompt(told)
    tries = 0
    while tries < TRIES:
        try:
            reply = (yield from run.ask(asked)).text
        except WindowError:
            if not told:
                raise
            yield run.note("The working memory was left out: with it the prompt was too long for the model's window.")
            told = ""
            first = asked = prompt("")
            continue
        except (EmptyReplyError, RefusedError, CutOffError):
            reply = ""
        taken = readable(reply)
        if taken is not None:
            return taken, reply
        tries += 1
        walk.bad += 1
        asked = first.again("walk.again", actions=", ".join(actions))
    return None, ""


def working_memory(run: Run, tree: Tree, walk: Walk, words_without: int, *, but: int) -> str:
    """Summaries of the nodes visited so far, the latest last, cut from the front to what fits."""
    visited = [number for number in dict.fromkeys(walk.visited) if number != but and tree.node(number).children]
    text = "\n\n".join(tree.node(number).summary for number in visited)
    limit = context_words(run.settings, run.model, sample=text, around=0, reply_words=ANSWER_WORDS)
    room = MEMORY_WORDS if limit is None else min(MEMORY_WORDS, limit - words_without)
    return last_words(text, room)


def action_of(reply: str) -> int | None:
    """The number of the last 'Action: n' in a reply, or a reply that is a number alone."""
    text = plain(reply)
    found = _ACTION.findall(text)
    alone = re.fullmatch(r"[\s\[(]*(-?\s*\d{1,6})[\s\])]*\.?", text)
    number = found[-1] if found else alone.group(1) if alone else None
    return int(number.replace(" ", "")) if number and len(number) < 8 else None


def reason_of(reply: str) -> str:
    """The model's own reasoning, as one line."""
    text = plain(reply)
    found = _REASON.search(text)
    return first_words(squeeze(found.group(1) if found else text), 120)


def told(memory: GistMemory, tree: Tree, walk: Walk) -> dict[str, Any]:
    """The tree and the walk through it, for a drawing, with the paper's figures (Table 4, Figure 4)."""
    nodes = [
        {
            "id": node.id,
            "level": node.level,
            "parent": node.parent,
            "children": list(node.children),
            "pages": list(pages_of(memory, tree, node)),
            "words": tree.words(node),
            "summary": first_words(node.summary, 60),
            "fallback": node.fallback,
        }
        for node in tree.nodes
    ]
    read = sum(tree.words(tree.node(leaf)) for leaf in walk.leaves)
    return {
        "tree": nodes,
        "walk": walk.steps,
        "ended": walk.ended,
        "stray": walk.stray,
        "recovered": walk.stray and walk.ended == "answered",
        "unreadable_replies": walk.bad,
        "share_read": round(read / max(1, tree.words(tree.root)), 4),
    }


METHOD = MemWalker()
