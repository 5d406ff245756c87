"""MemWalker: the model walks down a tree of summaries to the segment that holds the answer (Chen et al., 2023, §3).

At an inner node the model compares the children's summaries and enters one, or goes back up. At a leaf it reads the
segment and answers, or goes back up. Summaries of the visited nodes are its working memory. The prompts name the
actions in words; the paper's numbers (-1: back, -2: answer) are read too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from readagent_core.answering.base import AnswerPart, Event, Expanded, LookedUp
from readagent_core.answering.look_up_replies import to_plain_text
from readagent_core.answering.registry import Method, Reads
from readagent_core.answering.response import ANSWER_WORDS, chosen_option
from readagent_core.answering.run import Run
from readagent_core.answering.summary_tree import Node, Tree, build_tree, pages_of_node
from readagent_core.answering.word_budget import max_context_words
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, WindowError
from readagent_core.memory import GistMemory
from readagent_core.prompts import Prompt, render, render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, count_words, first_words, last_words

T = TypeVar("T")

TRIES = 3  # replies without a valid action, in a row
MAX_STEPS = 24
MEMORY_WORDS = 1000  # most words of working memory
BACK, COMMIT = -1, -2
NO_ANSWER = "No answer was found."
_ACTION = re.compile(
    r"(?:\bAction|行动)\s*[:=]?\s*[\[(<「\"']?\s*"
    r"(?:(?:enter\s+|go\s+to\s+|进入\s*)?(?:(?:part|summary|部分)\s*[\[(<]?\s*)?(-?\s*\d+)|(?:go\s+)?(back|戻る)|(answer|答える))",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\b(?:final\s+)?Answer\s*[:=]\s*(.+)", re.IGNORECASE | re.DOTALL)
_REASON = re.compile(r"\bReasoning\s*[:=]\s*(.+?)(?=\n\s*(?:Action|Answer)\b|\Z)", re.IGNORECASE | re.DOTALL)


@dataclass
class Walk:
    """The walk so far.

    ``steps``: node, action and reasoning of each step. ``visited``: ids of the nodes entered, in order. ``leaves``:
    leaves read. ``shown``: nodes whose summary was in a prompt. ``words``: words in context at the last leaf.
    ``ended``: why it ended. ``unreadable``: replies without a valid action. ``sent``: words of its prompts.
    """

    steps: list[dict[str, Any]] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    shown: set[int] = field(default_factory=set)
    words: int = 0
    ended: str = ""
    unreadable: int = 0
    sent: int = 0

    @property
    def went_back(self) -> bool:
        return any(step["action"] == BACK for step in self.steps)


def walk_and_answer(run: Run) -> Iterator[Event]:
    """Build the tree, walk down it and answer."""
    tree = yield from build_tree(run)
    walk = Walk()
    text, option = yield from navigate(run, tree, walk)
    pages = tuple(dict.fromkeys(p for leaf in walk.leaves for p in pages_of_node(run.memory, tree, tree.nodes[leaf])))
    seen = {p: "gist" for number in sorted(walk.shown) for p in pages_of_node(run.memory, tree, tree.nodes[number])}
    seen |= dict.fromkeys(pages, "full")
    run.steps = len(walk.steps)
    yield run.finish(
        text or NO_ANSWER,
        option=option,
        looked_up=pages,
        seen=dict(sorted(seen.items())),
        memory_words=walk.words,
        extra=describe_walk(run.memory, tree, walk),
    )


def navigate(run: Run, tree: Tree, walk: Walk) -> Generator[Event, None, tuple[str, int | None]]:
    """Walk until a leaf answers, three replies in a row are unreadable, or the step limit is reached.

    Returns the answer ('' for none) and the chosen option.
    """
    path = [tree.root]
    max_steps = max(1, run.option("max_steps", MAX_STEPS))
    while len(walk.steps) < max_steps:
        node = path[-1]
        walk.visited.append(node.id)
        if node.children:
            walk.shown.update(node.children)
            action, reason = yield from choose_child(run, tree, node, path, walk)
        else:
            action, reason, text, option = yield from read_leaf(run, tree, node, walk)
        if action is None and walk.ended:
            yield run.note(f"The walk was ended after {walk.sent:,} words without an answer.")
            return "", None
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
            path.append(tree.nodes[action])
    walk.ended = "too long"
    yield run.note(f"The walk was ended after {max_steps} steps without an answer.")
    return "", None


def choose_child(
    run: Run, tree: Tree, node: Node, path: Sequence[Node], walk: Walk
) -> Generator[Event, None, tuple[int | None, str]]:
    """Return the id of the child to enter or BACK, and the model's reasoning; None when no reply could be read."""
    numbers = {str(i): child for i, child in enumerate(node.children, start=1)}
    visited = render_fragment("walk.visited", run.language)
    parts = "\n\n".join(
        render_fragment(
            "walk.part",
            run.language,
            number=number,
            visited=visited if child in walk.visited else "",
            text=escape_tags(tree.nodes[child].summary),
        )
        for number, child in numbers.items()
    )
    named = [render_fragment("walk.enter", run.language, number=number) for number in numbers]
    if len(path) > 1:
        named.append(render_fragment("walk.go_back", run.language))

    def parse(reply: str) -> int | None:
        action = parse_action(reply)
        if action == BACK and len(path) > 1:
            return BACK
        return numbers.get(str(action))

    back = render_fragment("walk.back", run.language) if len(path) > 1 else ""
    prompt = _prompt(run, "walk", back=back, parts=parts)
    memory = working_memory(run, tree, walk, prompt("").words, current=node.id)
    chosen, reply = yield from request_action(run, prompt, memory, named, parse, walk)
    return chosen, parse_reasoning(reply)


def read_leaf(
    run: Run, tree: Tree, node: Node, walk: Walk
) -> Generator[Event, None, tuple[int | None, str, str, int | None]]:
    """Return COMMIT or BACK, the model's reasoning, the answer and its option; None when no reply could be read."""
    pages = pages_of_node(run.memory, tree, node)
    if node.id not in walk.leaves:
        walk.leaves.append(node.id)

    def parse(reply: str) -> tuple[int, str, int | None] | None:
        action = parse_action(reply)
        found = _ANSWER.search(to_plain_text(reply))
        if action == BACK:
            return BACK, "", None
        if action != COMMIT and (action is not None or not found):
            return None
        text = (found.group(1) if found else _ACTION.sub("", to_plain_text(reply))).strip()
        option = chosen_option(f"Answer: {text}", run.question.options) if run.question.options else None
        return None if not text or (run.question.options and option is None) else (COMMIT, text, option)

    form = render_fragment("leaf.letter" if run.question.options else "leaf.free", run.language)
    prompt = _prompt(run, "leaf", reply_words=ANSWER_WORDS, text=tree.text(node), form=form)
    memory = working_memory(run, tree, walk, prompt("").words, current=node.id)
    walk.words = tree.words(node) + count_words(memory)
    yield LookedUp(pages, "", "the walk came to this part")
    yield Expanded(tuple(sorted(pages)), walk.words)
    named = [render_fragment(name, run.language) for name in ("walk.answer", "walk.go_back")]
    parsed, reply = yield from request_action(run, prompt, memory, named, parse, walk)
    action, text, option = parsed or (None, "", None)
    return action, parse_reasoning(reply), text, option


def _prompt(run: Run, task: str, *, reply_words: int = 300, **fields: str) -> Callable[[str], Prompt]:
    """Return the prompt of a step as a function of its working memory."""
    fields |= {"title": run.title, "question": run.question_with_options}
    return lambda memory: render(task, run.language, reply_words=reply_words, memory=memory, **fields)


def request_action(
    run: Run,
    prompt: Callable[[str], Prompt],
    memory: str,
    actions: Sequence[str],
    parse: Callable[[str], T | None],
    walk: Walk,
) -> Generator[Event, None, tuple[T | None, str]]:
    """Ask until ``parse`` accepts a reply, at most three times; return what it parsed (or None) and the reply.

    Returns (None, '') and sets ``walk.ended`` where the prompts would have more words than ``most_words`` allows.
    """
    shown_memory = render_fragment("walk.memory", run.language, text=memory) + "\n" if memory else ""
    first = current = prompt(shown_memory)
    most: int | None = run.option("most_words", None)
    tries = 0
    while tries < TRIES:
        if most is not None and walk.sent + current.words > most:
            walk.ended = "too long"
            return None, ""
        walk.sent += current.words
        try:
            reply = (yield from run.ask(current)).text
        except WindowError:
            if not shown_memory:
                raise
            yield run.note("The working memory was left out: with it the prompt was too long for the model's window.")
            shown_memory = ""
            first = current = prompt("")
            continue
        except (EmptyReplyError, RefusedError, CutOffError):
            reply = ""
        parsed = parse(reply)
        if parsed is not None:
            return parsed, reply
        tries += 1
        walk.unreadable += 1
        current = first.with_follow_up("walk.again", actions=", ".join(actions), reply=reply)
    return None, ""


def working_memory(run: Run, tree: Tree, walk: Walk, words_without: int, *, current: int) -> str:
    """Return the summaries of the nodes visited before, the latest last; cut at the front to what fits.

    ``words_without``: words of the prompt without it. ``current``: id of the node the prompt is about.
    """
    visited = [number for number in dict.fromkeys(walk.visited) if number != current and tree.nodes[number].children]
    text = "\n\n".join(tree.nodes[number].summary for number in visited)
    limit = max_context_words(run.settings, run.model, sample=text, around=0, reply_words=ANSWER_WORDS)
    room = MEMORY_WORDS if limit is None else min(MEMORY_WORDS, limit - words_without)
    return last_words(text, room)


def parse_action(reply: str) -> int | None:
    """Return the last action of a reply: the number of a part, BACK or COMMIT; None for none."""
    text = to_plain_text(reply)
    found = list(_ACTION.finditer(text))
    if found and not found[-1].group(1):
        return BACK if found[-1].group(2) else COMMIT
    alone = re.fullmatch(r"[\s\[(]*(-?\s*\d{1,6})[\s\])]*\.?", text)
    number = found[-1].group(1) if found else alone.group(1) if alone else None
    return int(number.replace(" ", "")) if number and len(number) < 8 else None


def parse_reasoning(reply: str) -> str:
    """Return the model's reasoning on one line, at most 120 words."""
    text = to_plain_text(reply)
    found = _REASON.search(text)
    return first_words(collapse_whitespace(found.group(1) if found else text), 120)


def describe_walk(memory: GistMemory, tree: Tree, walk: Walk) -> dict[str, Any]:
    """Return the tree and the walk for a drawing, with the figures of the paper's Table 4 and Figure 4.

    'stray': whether the walk went back up anywhere. 'share_read': words of the leaves read ÷ words of the text.
    """
    nodes = [
        {
            "id": node.id,
            "level": node.level,
            "parent": node.parent,
            "children": list(node.children),
            "pages": list(pages_of_node(memory, tree, node)),
            "words": tree.words(node),
            "summary": first_words(node.summary, 60),
            "fallback": node.fallback,
        }
        for node in tree.nodes
    ]
    read = sum(tree.words(tree.nodes[leaf]) for leaf in walk.leaves)
    return {
        "tree": nodes,
        "walk": walk.steps,
        "ended": walk.ended,
        "stray": walk.went_back,
        "recovered": walk.went_back and walk.ended == "answered",
        "unreadable_replies": walk.unreadable,
        "share_read": round(read / max(1, tree.words(tree.root)), 4),
    }


METHOD = Method(
    name="memwalker",
    title="MemWalker",
    about="Walks down a tree of summaries to the part that holds the answer, and back up where it does not.",
    answer=walk_and_answer,
    reads=Reads.NOTHING,
    looks_up=False,
    options={"max_steps": int, "most_words": int, "segment_tokens": int, "siblings": int},
)
