"""What a comparison says in words and drawings, for the screen and for the files alike: verdicts, walks, figures.

Decides nothing; every value comes from the comparison. Knows nothing of screens.
"""

from __future__ import annotations

import re
from typing import Any

from readagent_core.methods.base import LETTERS, Answer
from readagent_core.study.comparing import Comparison, Entry, right

_EVIDENCE = re.compile(r"\n\s*(?:\*\*)?(?:Evidence|根拠)\s*[:：](?:\*\*)?\s*\n?", re.IGNORECASE)


def parted(text: str) -> tuple[str, str]:
    """An answer and, apart from it, the quotations it gives as evidence."""
    found = _EVIDENCE.search(text)
    return (text[: found.start()].strip(), text[found.end() :].strip()) if found else (text, "")


def verdict(comparison: Comparison, entry: Entry) -> dict[str, str] | None:
    """Which option was chosen and whether it is right, or what a free answer shares with the known one.

    Shared words are no verdict, and are not coloured as one. None where there is nothing to judge by.
    """
    if entry.answer is None:
        return None
    if not comparison.options:
        return {"kind": "none", "text": shared_words(entry)} if entry.rouge else None
    option = entry.answer.option
    if option is None:
        return {"kind": "no" if comparison.correct is not None else "none", "text": "Named no option"}
    named = f"({LETTERS[option]}) {comparison.options[option]}"
    was_right = right(comparison, entry)
    if was_right is None:
        return {"kind": "none", "text": f"Chose {named}"}
    return {"kind": "ok", "text": f"Right: {named}"} if was_right else {"kind": "no", "text": f"Wrong: {named}"}


def shared_words(entry: Entry) -> str:
    """'Words alike with the known answer: 46 % (ROUGE-1); in the same order: 41 % (ROUGE-L)'."""
    words, order = 100 * entry.rouge["rouge1"], 100 * entry.rouge["rougeL"]
    return f"Words alike with the known answer: {words:.0f} % (ROUGE-1); in the same order: {order:.0f} % (ROUGE-L)"


def judged_by(comparison: Comparison) -> str:
    """What the answers can be judged by, for people, where that is not an option known to be right."""
    if comparison.references:
        known = " / ".join(comparison.references)
        return f"Known answer: {known}"
    if comparison.options and comparison.correct is not None:
        return ""
    return "No known answer to judge by. Read what each answer rests on, or give a known answer beside the question."


def spoken(full: list[int], pages: int) -> str:
    """The map in words, for those who do not see it."""
    if not full:
        return "Seen in full: no page"
    if len(full) == pages:
        return f"Seen in full: all {pages} pages"
    named = ", ".join(map(str, full[:20])) + (" and more" if len(full) > 20 else "")
    return f"Seen in full: page {named}" if len(full) == 1 else f"Seen in full: pages {named}"


def sent(answer: Answer) -> str:
    """What the run sent and received: calls, words, tokens, money, and what was kept from before."""
    usage = answer.usage
    parts = [
        "1 call" if usage.calls == 1 else f"{usage.calls:,} calls",
        f"{usage.words_in:,} words sent",
        f"{usage.words_out:,} back",
    ]
    if usage.tokens_in:
        about = "about " if usage.tokens_estimated else ""
        parts.append(f"{about}{usage.tokens_in + usage.tokens_out:,} tokens")
    if usage.cached_calls:
        parts.append(f"{usage.cached_calls:,} from the cache")
    if usage.cost:  # nothing is said of a model that costs nothing
        parts.append(f"${usage.cost:.4f}" if usage.cost < 0.1 else f"${usage.cost:.2f}")
    return " · ".join(parts)


def topics_words(topics: list[dict[str, Any]]) -> str:
    """'26 topics, shortened one by one from 10,324 words to 1,546.'"""
    before, after = sum(t["words"] for t in topics), sum(t["kept"] for t in topics)
    return f"{len(topics)} topics, shortened one by one from {before:,} words to {after:,}."


def tree(answer: Answer) -> dict[str, Any]:
    """MemWalker's tree and the walk through it, each step in words."""
    nodes = answer.extra["tree"]
    steps = answer.extra["walk"]
    return {
        "tree": nodes,
        "walk": steps,
        "steps": [{"did": step_words(nodes, step), "reason": step["reason"]} for step in steps],
        "said": walk_words(answer),
    }


def step_words(nodes: list[dict[str, Any]], step: dict[str, Any]) -> str:
    """'From the top: into part 2 of 3.'"""
    node = nodes[step["node"]]
    pages = node["pages"]
    where = "At the top" if node["parent"] is None and node["children"] else _pages(pages)
    if step["action"] == -2:
        return f"{where}: read, and answered."
    if step["action"] == -1:
        return f"{where}: not here, back up."
    children = node["children"]
    return f"{where}: into part {children.index(step['action']) + 1} of {len(children)}."


def walk_words(answer: Answer) -> str:
    """The walk in one line: steps, stray or straight, share of the text read."""
    share = 100 * float(answer.extra["share_read"])
    stray = "went astray and came back" if answer.extra["recovered"] else "went astray"
    how = stray if answer.extra["stray"] else "straight down"
    steps = len(answer.extra["walk"])
    return f"The walk: {steps} step{'' if steps == 1 else 's'}, {how}; {share:.0f} % of the text read"


def _pages(pages: list[int]) -> str:
    if not pages:
        return "A part"
    return f"Page {pages[0]}" if len(pages) == 1 else f"Pages {pages[0]} to {pages[-1]}"
