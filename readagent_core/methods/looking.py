"""What a look-up reply names: the pages a model wants to read again, from replies of any form.

Tolerant by need: bracket lists, 'Page 2 and 7', ranges, full-width digits, Markdown, a <think> block before it.
No page at all is a legal reply (ICML paper, §3.1 'Interactive look-up'). Never raises.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from readagent_core.models.server.thinking import remove_thinking

MOST_IN_RANGE = 50  # a range longer than that is no request for pages but a way of speaking
_DASHES = re.compile(r"[‐‑‒–—―−〜～]")
_NUMBERS = r"\d+(?:[^\S\n]*(?:-|~|to|through|から)[^\S\n]*(?:p(?:age|\.)?\s*)?\d+)?"
_JOIN = r"\s*(?:,|;|、|・|&|/|and|or|then|plus|と|や)+\s*(?:and\s+)?"
_LIST = rf"{_NUMBERS}(?:{_JOIN}(?:pages?\s*|pp?\.\s*|ページ\s*)?{_NUMBERS})*"
_BRACKETS = r"\[[^\[\]]*\]"
_WORD = r"(?:\b(?:pages?|pp?)\b\.?|ページ)"
_NAMED_BRACKETS = re.compile(
    rf"{_WORD}[\s:#*]*({_BRACKETS}(?:(?:{_JOIN}|\s*)(?:pages?\s*|ページ\s*)?{_BRACKETS})*)", re.IGNORECASE
)
_BARE_BRACKETS = re.compile(rf"({_BRACKETS}(?:(?:{_JOIN}|\s*){_BRACKETS})*)")
_NAMED = re.compile(
    rf"{_WORD}[\s:#(<]*(?:(?:number|no\.?|番号)\s*)?({_LIST})|(?:第\s*)?({_LIST})\s*ページ(?:目)?", re.IGNORECASE
)
_ITEM = re.compile(rf"^[ \t]*(?:[-•]|\d+[.)])?[ \t]*{_WORD}[ \t]*({_NUMBERS})\b.*$", re.IGNORECASE | re.MULTILINE)
_ALONE = re.compile(rf"\s*[(\[]?\s*({_LIST})\s*[)\]]?\s*\.?\s*", re.IGNORECASE)
_RANGE = re.compile(
    r"(\d+)(?:[^\S\n]*(?:-|~|\bto\b|\bthrough\b|から)[^\S\n]*(?:p(?:age|\.)?\s*)?(\d+))?", re.IGNORECASE
)
_NEGATIVE = re.compile(
    r"((?:^|[\[(,;、]|\b(?:pages?|pp?|and|or|plus|no|number)\b\.?|ページ|と|や)[\s:#]*)-\d+", re.IGNORECASE
)
_PAGES_ONLY = re.compile(r"(?:\d|\s|[,;、・&/~-]|pages?|pp?\.|ページ|and|to|through|から|と)*", re.IGNORECASE)
_ASKING = re.compile(r"look(?:ing)?\s+up|re-?read|read\s+again|読み返|open\b", re.IGNORECASE)
_STOP = re.compile(r"\bSTOP\b|\bstop\.?\s*$|^\s*(?:停止|ストップ|終了)", re.MULTILINE)
_REASON_LEAD = re.compile(
    r"^[\s,.:;、。)\]>]*(?:(?:to|because|since|for)\b|(?:を|も)?読み返[^。]*。)?\s*(?:理由[はも]?[:、]?)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Named:
    """``pages``: those to open, in the order named, at most k. ``refused``: what else was named, with why.

    ``reason``: the model's own words after the list. ``stop``: it said STOP and named no page before that.
    ``numbers``: every number named, as it stands. ``explicit``: it used a form that was asked for, an empty list
    included.
    """

    pages: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    reason: str = ""
    stop: bool = False
    explicit: bool = False
    numbers: tuple[int, ...] = ()


def plain(reply: str) -> str:
    """``reply`` without a <think> block and Markdown marks, its full-width characters as ordinary ones."""
    text = unicodedata.normalize("NFKC", remove_thinking(reply))
    return _DASHES.sub("-", text.replace("【", "[").replace("】", "]")).replace("*", "").replace("`", "").strip()


def named_pages(reply: str, readable: Collection[int], *, limit: int, exists: int = 0) -> Named:
    """The pages ``reply`` names out of ``readable``, without repeats, the first ``limit`` of them.

    ``exists``: pages the book is known to have; one past ``readable`` is 'not read yet', not 'no such page'.
    """
    text = _NEGATIVE.sub(r"\1", plain(reply))  # '-1' is no page, nor is it page 1
    numbers, end, explicit = _numbers(text)
    stop = _STOP.search(text)
    if stop and (not numbers or stop.start() == 0):
        return Named(reason=squeezed(text[stop.end() :]), stop=True, explicit=True)
    pages: list[int] = []
    refused: list[str] = []
    for number in dict.fromkeys(numbers):
        if number not in readable:
            known = 1 <= number <= exists
            refused.append(f"page {number}: " + ("it is not read yet" if known else "there is no such page"))
        elif len(pages) >= limit:
            refused.append(f"page {number}: only {limit} could be opened")
        else:
            pages.append(number)
    return Named(tuple(pages), tuple(refused), squeezed(text[end:]), False, explicit, tuple(numbers))


def squeezed(text: str) -> str:
    """The first paragraph of what follows the list, as one line and without its leading 'to' or 'because'."""
    lines = _REASON_LEAD.sub("", text, count=1).strip().split("\n\n")
    return " ".join(lines[0].split())[:400] if lines else ""


def _numbers(text: str) -> tuple[list[int], int, bool]:
    """Numbers named, where the naming ends, and whether it had the asked form; tried from strict to lenient."""
    asking = _ASKING.search(text)
    for start in dict.fromkeys([asking.start() if asking else 0, 0]):
        found = _NAMED_BRACKETS.search(text, start)
        if found:
            return list(_expanded(found.group(1))), found.end(), True
    for found in _BARE_BRACKETS.finditer(text):
        inner = found.group(1).replace("[", "").replace("]", " ")
        if _PAGES_ONLY.fullmatch(inner):
            return list(_expanded(inner)), found.end(), True
    items = list(_ITEM.finditer(text))
    if len(items) > 1:  # one page a line
        return [n for m in items for n in _expanded(m.group(1))], items[-1].end(), False
    for start in dict.fromkeys([asking.start() if asking else 0, 0]):
        sentence_end = re.compile(r"\n|[.。](?=\s|$)").search(text, start)
        for end in dict.fromkeys([sentence_end.end() if sentence_end else len(text), len(text)]):
            matches = list(_NAMED.finditer(text, start, end))
            if matches:
                numbers = [n for m in matches for n in _expanded(m.group(1) or m.group(2))]
                return numbers, matches[-1].end(), False
    alone = _ALONE.fullmatch(text)
    return (list(_expanded(alone.group(1))), len(text), False) if alone else ([], 0, False)


def _expanded(text: str) -> Iterator[int]:
    """Every number of a list; '3-5' is 3, 4, 5. Numbers of absurd length are passed over."""
    for first, last in _RANGE.findall(text):
        if len(first) > 7 or len(last) > 7:
            continue
        low, high = int(first), int(last or first)
        if low <= high <= low + MOST_IN_RANGE:
            yield from range(low, high + 1)
        else:
            yield low
            yield high
