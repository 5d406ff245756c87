"""How the built-in reader names pages to look up: BM25 of the question over the memory (paper, section 3.3).

Knows nothing of models; works from a prompt's fields and replies in the form the prompt asked for.
"""

from __future__ import annotations

import re

from readagent_core.models.builtin.statistics import bm25, content, inverse_frequencies, overlap
from readagent_core.prompts import Prompt
from readagent_core.tags import split_memory

# A page joins the first one when it scores at least this share of it.
NEAR = 0.6
ENOUGH = 0.75  # of the question's weight, standing in one page that is in full: nothing more is needed


def _ranked(prompt: Prompt) -> list[tuple[float, int, bool, list[str]]]:
    """(score, page, in full?, its terms) of every page that shares a term with the question, best first."""
    entries = split_memory(prompt.fields["memory"])
    bags = [content(text) for _, _, text in entries]
    scores = bm25(content(prompt.fields["question"]), bags)
    found = [(s, e[0], e[1], b) for s, e, b in zip(scores, entries, bags, strict=True) if s > 0]
    return sorted(found, key=lambda row: (-row[0], row[1]))


def look_up(prompt: Prompt) -> str:
    """'I want to look up Page [2, 7] to …': the pages whose gists share most with the question, or none."""
    k = int(re.sub(r"\D", "", prompt.fields["k"]) or 1)
    ranked = [row for row in _ranked(prompt) if not row[2]]
    pages = [page for score, page, _, _ in ranked if score >= NEAR * ranked[0][0]][:k]
    named = ", ".join(map(str, pages if prompt.task == "look_up_ranked" else sorted(pages)))
    if prompt.language == "ja":
        why = "質問と同じ言葉がいちばん多いからです。" if pages else "質問と同じ言葉がどの要点にもないからです。"
        return f"Page [{named}] を読み返したい。理由は、{why}"
    why = "find the words it shares with the question." if pages else "do nothing: no gist shares its words."
    return f"I want to look up Page [{named}] to {why}"


def look_up_next(prompt: Prompt) -> str:
    """'Page 4' for the best page not yet read, or STOP once a page in full holds most of the question."""
    if "problem" in prompt.fields:  # told that the last page named cannot be opened
        return "STOP"
    ranked = _ranked(prompt)
    question = content(prompt.fields["question"])
    idf = inverse_frequencies([row[3] for row in ranked])
    if any(full and overlap(bag, question, idf) >= ENOUGH for _, _, full, bag in ranked):
        return "STOP"
    seen = {int(n) for n in re.findall(r"\d+", prompt.fields["seen"])}
    left = [row for row in ranked if not row[2] and row[1] not in seen]
    if not left or left[0][0] < 0.5 * ranked[0][0]:
        return "STOP"
    if prompt.language == "ja":
        return f"Page {left[0][1]} を読み返したい。理由は、質問と同じ言葉がいちばん多いからです。"
    return f"I want to look up Page {left[0][1]} to find the words it shares with the question."
