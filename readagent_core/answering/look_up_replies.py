"""Parse look-up replies: the pages that a model names to read again.

Models do not keep to one form: bracket lists, 'Page 2 and 7', ranges, full-width digits, Markdown, JSON and
other languages are all read. Naming no page is allowed (ICML paper, §3.1 'Interactive look-up'). Nothing here raises.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from readagent_core.models.thinking import remove_markup

LONGEST_RANGE = 50  # pages; for a longer range only its two ends are taken
_DASHES = re.compile(r"[‐‑‒–—―−〜～]")
_NUMBERS = r"\d+(?:[^\S\n]*(?:-|~|\.{2,3}|to|through|から)[^\S\n]*(?:p(?:age|\.)?\s*)?\d+)?"
_JOIN = r"\s*(?:,|;|、|・|&|/|>|and|or|then|plus|und|と|や|和)+\s*(?:and\s+)?"
_LIST = rf"{_NUMBERS}(?:{_JOIN}(?:pages?\s*|pp?\.\s*|ページ\s*)?{_NUMBERS})*"
_BRACKETS = r"\[[^\[\]]*\]"
_WORD = r"(?:\b(?:pages?|pp?|seiten?|p[aá]ginas?)\b\.?|ページ|[页頁])"  # small models change the language
_NAMED_BRACKETS = re.compile(
    rf"{_WORD}[\s:#*]*({_BRACKETS}(?:(?:{_JOIN}|\s*)(?:pages?\s*|ページ\s*)?{_BRACKETS})*)", re.IGNORECASE
)
_BARE_BRACKETS = re.compile(rf"({_BRACKETS}(?:(?:{_JOIN}|\s*){_BRACKETS})*)")
_NAMED = re.compile(
    rf"{_WORD}[\s:(<{{\[]*(?:(?:number|no\.?|番号)\s*)?({_LIST})|(?:第\s*)?({_LIST})\s*(?:ページ(?:目)?|[页頁])",
    re.IGNORECASE,
)
_ITEM = re.compile(rf"^[ \t]*(?:[-•]|\d+[.)])?[ \t]*{_WORD}[ \t:]*({_NUMBERS})\b.*$", re.IGNORECASE | re.MULTILINE)
_ALONE = re.compile(rf"\s*[(\[]?\s*({_LIST})\s*[)\]]?\s*\.?\s*", re.IGNORECASE)
_RANGE = re.compile(
    r"(\d+)(?:[^\S\n]*(?:-|~|\.{2,3}|\bto\b|\bthrough\b|から)[^\S\n]*(?:p(?:age|\.)?\s*)?(\d+))?", re.IGNORECASE
)
_NEGATIVE = re.compile(
    r"((?:^|[\[(,;、]|\b(?:pages?|pp?|and|or|plus|no|number)\b\.?|ページ|と|や)[\s:#]*)-\d+", re.IGNORECASE
)
_PAGES_ONLY = re.compile(r"(?:\d|\s|[,;、・&/~>-]|pages?|pp?\.|ページ|and|to|through|から|と)*", re.IGNORECASE)
_JSON_KEY = re.compile(r"[\"'](\w+)[\"']\s*:")
_JSON_NUMBERS = re.compile(r"[\"'](\s*(?:page\s*)?\d[\d,\s-]*)[\"']", re.IGNORECASE)
_COPIED = re.compile(r"^.*\b(?:to|because)[ \t]*(?:\.{3}|…)[ \t]*$", re.MULTILINE)  # the form itself, not filled in
_ASKING = re.compile(r"look(?:ing)?\s+up|re-?read|read\s+again|読み返|open\b", re.IGNORECASE)
_CITED = re.compile(r"\w[^\[\n]*\[\s*\d")
_NONE = re.compile(
    r"\[\s*(?:none|n/a)?\s*\]|\bnone\b|\bno\b[^.\n]{0,40}\bpages?\b|\bnot need|n't need\b|\bSTOP\b|"
    r"ありません|なし|不要|必要(?:は|が)?な|読み返さない|読み返しません",
    re.IGNORECASE,
)
_STOP = re.compile(r"\bSTOP\b|\bstop\.?\s*$|^\s*(?:停止|ストップ|終了)", re.MULTILINE)
_REASON_LEAD = re.compile(
    r"^[\s,.:;、。)\]>]*(?:(?:to|because|since|for)\b|(?:を|も)?読み返[^。]*。)?\s*(?:理由[はも]?[:、]?)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LookUpReply:
    """The pages that a reply names.

    ``pages``: pages to open, in the order named, up to the limit. ``refused``: every other page named, with the reason.
    ``reason``: the model's words after the list. ``stop``: the reply says STOP and names no page before it.
    ``numbers``: every number named. ``unclear``: it names no page of the memory, nor says that none is needed.
    ``cited``: the numbers stand in brackets after words, as in an answer that was not asked for yet.
    """

    pages: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    reason: str = ""
    stop: bool = False
    numbers: tuple[int, ...] = ()
    unclear: bool = False
    cited: bool = False


def to_plain_text(reply: str) -> str:
    """Return ``reply`` without thinking, Markdown and JSON marks, and with full-width characters normalised."""
    text = unicodedata.normalize("NFKC", remove_markup(reply))
    text = _JSON_NUMBERS.sub(r"\1", _JSON_KEY.sub(r"\1:", text))
    text = re.sub(r"[*`#]|__", "", _DASHES.sub("-", text.replace("【", "[").replace("】", "]")))
    return text.strip()


def parse_look_up(reply: str, readable: Collection[int], *, limit: int, exists: int = 0) -> LookUpReply:
    """Parse a reply: the first ``limit`` pages it names that are in ``readable``, without repeats.

    ``exists``: number of pages the book has. A page up to that number that is not in ``readable`` is refused as
    'not read yet', every other one as 'no such page'.
    """
    text = _NEGATIVE.sub(r"\1", to_plain_text(reply))  # '-1' is no page, nor is it page 1
    text = _COPIED.sub("", text).strip() or text
    numbers, end = _numbers(text)
    stop = _STOP.search(text)
    if stop and (not numbers or stop.start() == 0):
        return LookUpReply(reason=_reason_after(text[stop.end() :]), stop=True)
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
    none = _NONE.search(text)
    if none and not numbers and none.group().startswith("["):  # what follows 'Page []'
        end = none.end()
    unclear = not pages and (bool(numbers) or none is None)
    cited = bool(numbers and _CITED.search(text)) and not (
        _ASKING.search(text) or re.search(_WORD, text, re.IGNORECASE)
    )
    return LookUpReply(tuple(pages), tuple(refused), _reason_after(text[end:]), False, tuple(numbers), unclear, cited)


def _reason_after(text: str) -> str:
    """Return the first paragraph after the list, on one line and without a leading 'to' or 'because'."""
    lines = _REASON_LEAD.sub("", text, count=1).strip().split("\n\n")
    return " ".join(lines[0].split())[:400] if lines else ""


def _numbers(text: str) -> tuple[list[int], int]:
    """Return the numbers named, and where the list ends.

    The strict form is tried first, then ever more lenient ones.
    """
    asking = _ASKING.search(text)
    for start in dict.fromkeys([asking.start() if asking else 0, 0]):
        found = _NAMED_BRACKETS.search(text, start)
        if found:
            return list(_expanded(found.group(1))), found.end()
    for found in _BARE_BRACKETS.finditer(text):
        inner = found.group(1).replace("[", "").replace("]", " ")
        if _PAGES_ONLY.fullmatch(inner):
            return list(_expanded(inner)), found.end()
    items = list(_ITEM.finditer(text))
    if len(items) > 1:  # one page a line
        return [n for m in items for n in _expanded(m.group(1))], items[-1].end()
    for start in dict.fromkeys([asking.start() if asking else 0, 0]):
        sentence_end = re.compile(r"\n|[.。](?=\s|$)").search(text, start)
        for end in dict.fromkeys([sentence_end.end() if sentence_end else len(text), len(text)]):
            matches = list(_NAMED.finditer(text, start, end))
            if matches:
                numbers = [n for m in matches for n in _expanded(m.group(1) or m.group(2))]
                return numbers, matches[-1].end()
    alone = _ALONE.fullmatch(text)
    return (list(_expanded(alone.group(1))), len(text)) if alone else ([], 0)


def _expanded(text: str) -> Iterator[int]:
    """Yield every number of a list; '3-5' gives 3, 4, 5. Numbers of more than seven digits are ignored."""
    for first, last in _RANGE.findall(text):
        if len(first) > 7 or len(last) > 7:
            continue
        low, high = int(first), int(last or first)
        if low <= high <= low + LONGEST_RANGE:
            yield from range(low, high + 1)
        else:
            yield low
            yield high
