"""How the built-in reader divides a long passage into pages, and tells whether a part starts something new.

One pause point after another, each chosen as for a single one. Knows nothing of models; works from a prompt's fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from readagent_core.models.builtin.shortening import shortened
from readagent_core.models.builtin.statistics import cohesion, content
from readagent_core.prompts import Prompt
from readagent_core.tags import label
from readagent_core.words import count_words

_LABEL = re.compile(r"^<(\d+) \| (\d+)>$", re.MULTILINE)
_CHOSEN = re.compile(r"<(\d+)>\n(.*)", re.DOTALL)
NONE = {"en": "No page can end in this passage.", "ja": "この文章の中で終わるページはありません。"}
_NEW_PART = 0.05  # neighbours that have less in common than that are told apart


def divide(prompt: Prompt, paginate: Callable[[Prompt], str]) -> str:
    """Every pause point of a passage, a line each."""
    return "\n".join(f"<{at}> {reason}" for at, reason, _ in _pages(prompt, paginate)) or NONE[prompt.language]


def divide_and_shorten(prompt: Prompt, paginate: Callable[[Prompt], str]) -> str:
    """Every pause point of a passage, each with the gist of the page it ends."""
    percent = _number(prompt.fields["percent"], 15)
    head = "要点：" if prompt.language == "ja" else "Gist: "
    out: list[str] = []
    for at, reason, text in _pages(prompt, paginate):
        size = len(text) if prompt.language == "ja" else count_words(text)
        out.append(f"<{at}> {reason}\n{head}{shortened(text, max(8, size * percent // 100), prompt.language)}")
    return "\n".join(out) or NONE[prompt.language]


def _number(text: str, otherwise: int) -> int:
    return int(re.sub(r"\D", "", text)[:9] or otherwise)


def _pages(prompt: Prompt, paginate: Callable[[Prompt], str]) -> Iterator[tuple[int, str, str]]:
    """(label, reason, text) of page after page, as far as whole pages go."""
    least, most = _number(prompt.fields["least"], 280), _number(prompt.fields["most"], 600)
    passage = prompt.fields["passage"]
    rows: list[tuple[int, int, str]] = []  # label, words before it, the text that leads up to it
    position = 0
    for found in _LABEL.finditer(passage):
        rows.append((int(found.group(1)), int(found.group(2)), passage[position : found.start()].strip()))
        position = found.end()
    first, words = 0, 0
    while first < len(rows):
        near = [i for i in range(first, len(rows)) if least <= rows[i][1] - words <= most]
        if not near or rows[-1][1] - words <= most:
            return
        pieces, at = [], first
        for i in near:
            pieces += ["\n\n".join(text for _, _, text in rows[at : i + 1]), label(rows[i][0])]
            at = i + 1
        reply = paginate(replace(prompt, task="paginate", fields={"passage": "\n\n".join(pieces)}))
        chosen = _CHOSEN.search(reply)
        last = next((i for i in near if chosen and rows[i][0] == int(chosen.group(1))), near[-1])
        yield rows[last][0], chosen.group(2) if chosen else "", "\n\n".join(t for _, _, t in rows[first : last + 1])
        first, words = last + 1, rows[last][1]


def merge(prompt: Prompt) -> str:
    """Whether the second of two neighbouring parts starts something new."""
    new = cohesion(content(prompt.fields["before"]), content(prompt.fields["after"])) < _NEW_PART
    if prompt.language == "ja":
        return "はい" if new else "いいえ"
    return "Yes" if new else "No"
