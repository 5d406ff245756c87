"""Replies of a model that recalls: several requests at once (FIND, OPEN, GISTS), or an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from readagent_core.answering.explore_replies import ANSWER_MARK
from readagent_core.answering.look_up_replies import to_plain_text

MOST_FINDS = 8  # searches in one reply
_LINE = re.compile(
    r"^[ \t>#_-]*(?:\(?\d[.)][ \t]*)?(FIND|OPEN|GISTS?)\b[ \t]*:?[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|'([^'\n]{2,})'")
_PLACE = re.compile(r"(?<!\d)(\d{1,6})(?!\d)(?:\s*[:.¶]\s*(\d{1,4})(?:\s*-\s*(\d{1,4}))?|\s*-\s*(\d{1,6}))?")
_INSIDE = re.compile(
    r"\b(?:in|on)\s+pages?\s+(\d{1,6})(?:\s*-\s*(\d{1,6}))?|(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*ページ", re.IGNORECASE
)
_REASON = re.compile(r"\b(?:to|because|since)\b|理由", re.IGNORECASE)
BEGUN = re.compile(r"[\s>#*_-]*(?:\(?\d[.)]\s*)?[*_]*(?:FIND|OPEN|GISTS?|ANSWER)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Find:
    """Words to look for, in pages ``first`` to ``last`` (0: in the whole book)."""

    words: str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        inside = f" in pages {self.first}-{self.last}" if self.first else ""
        return f'FIND "{self.words}"{inside}'


@dataclass(frozen=True)
class Open:
    """Paragraphs ``first`` to ``last`` of a page, counted from 1 on it; 0 for the whole page."""

    page: int
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        return f"OPEN {self.page}" + (f":{self.first}-{self.last}" if self.first else "")


@dataclass(frozen=True)
class Gists:
    """The gists of pages ``first`` to ``last``."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"GISTS {self.first}-{self.last}"


RecallRequest = Find | Open | Gists


def numbers_of(request: RecallRequest) -> tuple[int, ...]:
    """Return the pages that a request names; the first and the last of a range."""
    return (request.page,) if isinstance(request, Open) else (request.first, request.last)


def parse_recall(reply: str) -> tuple[RecallRequest, ...]:
    """Return the requests in a reply, each once, in order; none where it is an answer. Nothing here raises."""
    text = to_plain_text(reply)
    answer = ANSWER_MARK.search(text)
    found: list[RecallRequest] = []
    for line in _LINE.finditer(text, 0, answer.start() if answer else len(text)):
        kind, rest = line.group(1).upper(), line.group(2)
        if kind == "FIND":
            found += _finds(rest)
            continue
        listed = _REASON.split(rest, maxsplit=1)[0]
        for page, first, last, until in _PLACE.findall(listed):
            if kind == "OPEN" and not until:
                found.append(Open(int(page), int(first or 0), int(last or first or 0)))
            elif kind == "OPEN":  # a range of pages: each of them, as far as there is room
                found += [Open(n) for n in range(int(page), min(int(until), int(page) + 9) + 1)]
            else:
                found.append(Gists(int(page), int(until or page)))
    finds = [request for request in found if isinstance(request, Find)][MOST_FINDS:]
    return tuple(dict.fromkeys(request for request in found if request not in finds))


def _finds(rest: str) -> list[RecallRequest]:
    quoted = list(_QUOTED.finditer(rest))
    inside = _INSIDE.search(rest, quoted[-1].end() if quoted else 0)
    numbers = [int(n) for n in inside.groups() if n] if inside else [0]
    words = [next(filter(None, m.groups())).strip() for m in quoted]
    words = words or [(rest[: inside.start()] if inside else _REASON.split(rest, maxsplit=1)[0]).strip(" .,;")]
    return [Find(one, numbers[0], numbers[-1]) for one in words if one]
