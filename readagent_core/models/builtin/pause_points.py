"""How the built-in reader divides a text into pages: where the words change most, at headings and at scene breaks.

Knows nothing of models; works from a prompt's fields and replies in the form that the prompt asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from readagent_core.errors import RefusedError
from readagent_core.models.builtin.shortening import number_in, shortened
from readagent_core.models.builtin.statistics import cohesion, content
from readagent_core.prompts import Prompt
from readagent_core.tags import label, split_passage
from readagent_core.words import count_words

BLOCK = 60  # content terms compared on each side of a gap
NONE = {"en": "No page can end in this passage.", "ja": "この文章の中で終わるページはありません。"}
_HEADING = re.compile(r"#{1,6} (.+)")
_SCENE = re.compile(r"(?:[*＊·•\-—_~#]\s*){1,7}\Z")
_LABEL = re.compile(r"^<(\d+) \| (\d+)>$", re.MULTILINE)
_CHOSEN = re.compile(r"<(\d+)>\n(.*)", re.DOTALL)


def paginate(prompt: Prompt) -> str:
    """The offered label where the words change most; a heading or a scene break right after one comes first."""
    pieces = split_passage(prompt.fields["passage"])
    if not pieces:
        raise RefusedError("The built-in reader found no label to choose from in this passage.")
    bags = [content(text) for text, _ in pieces]
    japanese = prompt.language == "ja"
    best, best_score, reason = pieces[-1][1], 0.1, ""
    for gap in range(len(pieces) - 1):
        before = [term for bag in bags[: gap + 1] for term in bag][-BLOCK:]
        after: list[str] = []
        for bag in bags[gap + 1 :]:
            after += bag
            if len(after) >= BLOCK:
                break
        following = pieces[gap + 1][0]
        heading = _HEADING.match(following)
        last_line = pieces[gap][0].rsplit("\n", 1)[-1].strip()
        score = 1 - cohesion(before, after[:BLOCK]) + 0.02 * gap / len(pieces)
        if heading:
            score += 1.0
        elif _SCENE.match(following.split("\n", 1)[0].strip()) or (last_line and _SCENE.match(last_line)):
            score += 0.5
        if score > best_score:
            best, best_score = pieces[gap][1], score
            reason = _reason(before, after, heading.group(1) if heading else "", japanese=japanese)
    if not reason:
        reason = "ここがこの部分の終わりだからです。" if japanese else "the passage runs on as one up to here."
    return f"Break point: <{best}>\n{'理由：' if japanese else 'Because '}{reason}"


def _reason(before: list[str], after: list[str], heading: str, *, japanese: bool) -> str:
    if heading:
        return f"ここから「{heading}」が始まります。" if japanese else f'a new section starts here: "{heading}".'
    if japanese:
        return "前と後ろで使われる言葉がいちばん大きく変わるところです。"
    known = set(before)
    new = [t for t in dict.fromkeys(after[:BLOCK]) if t not in known and len(t) > 3][:3]
    more = f", and new ones come in: {', '.join(new)}" if new else ""
    return f"the words before and after it have least in common{more}."


def divide(prompt: Prompt) -> str:
    """Every pause point of a passage, a line each."""
    return "\n".join(f"<{at}> {reason}" for at, reason, _ in _pages(prompt)) or NONE[prompt.language]


def divide_and_shorten(prompt: Prompt) -> str:
    """Every pause point of a passage, each with the gist of the page it ends."""
    percent = (number_in(prompt.fields["shortest"], 12) + number_in(prompt.fields["longest"], 18)) // 2
    head = "要点：" if prompt.language == "ja" else "Gist: "
    out: list[str] = []
    for at, reason, text in _pages(prompt):
        size = len(text) if prompt.language == "ja" else count_words(text)
        out.append(f"<{at}> {reason}\n{head}{shortened(text, max(8, size * percent // 100), prompt.language)}")
    return "\n".join(out) or NONE[prompt.language]


def _pages(prompt: Prompt) -> Iterator[tuple[int, str, str]]:
    """(label, reason, text) of page after page, as far as whole pages go."""
    least, most = number_in(prompt.fields["least"], 280), number_in(prompt.fields["most"], 600)
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
