"""Replies of a model that recalls: several requests at once (FIND, OPEN, GISTS), or an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from readagent_core.answering.explore_replies import ANSWER_MARK, QUOTED
from readagent_core.answering.look_up_replies import to_plain_text
from readagent_core.tags import join_labels

MOST_FINDS = 20  # searches in one reply
_LINE = re.compile(
    r"^[ \t>#_-]*(?:\(?\d[.)][ \t]*)?(FIND|OPEN|GISTS?)\b[ \t]*:?[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE
)
_PAGE = r"(\d{1,6}(?:\.\d{1,6})?)"  # '58'; of several books '2.58'
_PLACE = re.compile(rf"(?<![\d.]){_PAGE}(?![\d.])(?:\s*[:¶]\s*(\d{{1,4}})(?:\s*-\s*(\d{{1,4}}))?|\s*-\s*{_PAGE})?")
_INSIDE = re.compile(
    rf"\b(?:in|on)\s+(?:pages?|book)\s+{_PAGE}(?:\s*-\s*{_PAGE})?|{_PAGE}(?:\s*-\s*{_PAGE})?\s*ページ", re.IGNORECASE
)
_REASON = re.compile(r"\b(?:to|because|since)\b|理由", re.IGNORECASE)
BEGUN = re.compile(r"[\s>#*_-]*(?:\(?\d[.)]\s*)?[*_]*(?:FIND|OPEN|GISTS?|ANSWER)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Find:
    """Words to look for, in pages ``first`` to ``last`` ('': in everything). ``every``: each hit is to be listed."""

    words: str
    first: str = ""
    last: str = ""
    every: bool = False

    def __str__(self) -> str:
        inside = f" in pages {self.first}-{self.last}" if self.first else ""
        return f'FIND {"ALL " if self.every else ""}"{self.words}"{inside}'


@dataclass(frozen=True)
class Open:
    """Paragraphs ``first`` to ``last`` of a page, from 1 on it; 0: the whole page. ``until``: the last of several."""

    page: str
    first: int = 0
    last: int = 0
    until: str = ""

    def __str__(self) -> str:
        return f"OPEN {self.page}" + (
            f":{self.first}-{self.last}" if self.first else f"-{self.until}" * bool(self.until)
        )


@dataclass(frozen=True)
class Gists:
    """The gists of pages ``first`` to ``last`` ('': of all); with ``words`` only their sentences that have these."""

    first: str
    last: str
    words: str = ""

    def __str__(self) -> str:
        if not self.words:
            return f"GISTS {self.first}-{self.last}"
        return f'GISTS "{self.words}"' + f" in pages {self.first}-{self.last}" * bool(self.first)


RecallRequest = Find | Open | Gists


def pages_named(request: RecallRequest) -> tuple[str, ...]:
    """Return the pages that a request names; the first and the last of a range."""
    pages = (request.page, request.until) if isinstance(request, Open) else (request.first, request.last)
    return tuple(filter(None, pages))


def parse_recall(reply: str, *, several: bool = False) -> tuple[RecallRequest, ...]:
    """Return the requests in a reply, each once, in order; none where it is an answer. Nothing here raises.

    ``several``: of several books, whose pages are named like 2.58.
    """
    text = to_plain_text(reply)
    text = join_labels(text) if several else re.sub(r"(?<=\d)\.(?=\d)", ":", text)
    answer = ANSWER_MARK.search(text)
    found: list[RecallRequest] = []
    for line in _LINE.finditer(text, 0, answer.start() if answer else len(text)):
        kind, rest = line.group(1).upper(), line.group(2)
        if kind == "FIND":
            found += _finds(rest)
            continue
        if kind.startswith("GIST") and QUOTED.search(rest):
            found += [Gists(one.first, one.last, one.words) for one in _finds(rest)]
            continue
        listed = _REASON.split(rest, maxsplit=1)[0]
        for page, first, last, until in _PLACE.findall(listed):
            until = until and _in_book_of(page, until)
            if kind == "OPEN":
                found.append(Open(page, int(first or 0), int(last or first or 0), until))
            else:
                found.append(Gists(page, until or page))
    finds = [request for request in found if isinstance(request, Find)][MOST_FINDS:]
    return tuple(dict.fromkeys(request for request in found if request not in finds))


def _in_book_of(page: str, until: str) -> str:
    """Return the end of a range that begins with ``page``: '2.7-9' ends with 2.9."""
    return f"{page.partition('.')[0]}.{until}" if "." in page and "." not in until else until


def _finds(rest: str) -> list[Find]:
    every = re.match(r"(?:ALL|すべて)\b[ \t:]*", rest)
    rest = rest[every.end() :] if every else rest
    quoted = list(QUOTED.finditer(rest))
    inside = _INSIDE.search(rest, quoted[-1].end() if quoted else 0)
    pages = [n for n in inside.groups() if n] if inside else [""]
    words = [next(filter(None, m.groups())).strip() for m in quoted]
    words = words or [(rest[: inside.start()] if inside else _REASON.split(rest, maxsplit=1)[0]).strip(" .,;")]
    return [Find(one, pages[0], _in_book_of(pages[0], pages[-1]), bool(every)) for one in words if one]
