"""What a person typed or pasted, as a ``Question``: multiple-choice options are told from their letters."""

from __future__ import annotations

import re

from readagent_core.methods.base import LETTERS, Question

_LETTERED = re.compile(r"^\s*(?:[(（\[]\s*([A-Za-zＡ-Ｚ])\s*[)）\]]|([A-Za-zＡ-Ｚ])\s*[.):：、．）])\s*(\S.*)$")
_NUMBERED = re.compile(r"^\s*(?:[(（]\s*(\d{1,2})\s*[)）]|(\d{1,2})\s*[.)、．）])\s*(\S.*)$")
_BULLET = re.compile(r"^\s*[-*•・]\s+(\S.*)$")


def question_from(text: str, options: str = "") -> Question:
    """``text`` as a question; ``options`` one a line, else those that stand in ``text`` as '(A) …' lines."""
    if options.strip():
        return Question(text.strip(), tuple(option_lines(options)))
    lines = text.strip().splitlines()
    for first in range(1, len(lines)):
        found = _in_order(lines[first:])
        if found:
            return Question("\n".join(lines[:first]).strip(), tuple(found))
    return Question(text.strip())


def option_lines(text: str) -> list[str]:
    """Options one a line, without the letters, numbers or bullets they may begin with."""
    lines = [line for line in text.splitlines() if line.strip()]
    for pattern in (_LETTERED, _NUMBERED, _BULLET):
        found = [pattern.match(line) for line in lines]
        if lines and all(found):
            return [match.group(match.re.groups).strip() for match in found if match][: len(LETTERS)]
    return [line.strip() for line in lines][: len(LETTERS)]


def _in_order(lines: list[str]) -> list[str]:
    """The options when every line is one, lettered A, B, C … (or numbered from 1); else none."""
    lines = [line for line in lines if line.strip()]
    for pattern, marks in ((_LETTERED, LETTERS), (_NUMBERED, [str(n) for n in range(1, 27)])):
        found = [pattern.match(line) for line in lines]
        if len(lines) >= 2 and all(found):
            said = [(m.group(1) or m.group(2)).upper().translate(_WIDE) for m in found if m]
            if said == list(marks[: len(said)]):
                return [m.group(3).strip() for m in found if m]
    return []


_WIDE = {0xFF21 + i: ord("A") + i for i in range(26)}
