"""Parse look-up replies: the pages that a model names to read again.

Models do not keep to one form: bracket lists, 'Page 2 and 7', ranges, full-width digits, Markdown, JSON and
other languages are all read. Naming no page is allowed (ICML paper, §3.1 'Interactive look-up'). Nothing here raises.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from readagent_core.answering.base import NotOpened, WhyNotOpened
from readagent_core.models.thinking import remove_markup
from readagent_core.page_lists import AND, DASH, LIST, PAGE_WORD, PAGE_WORD_AFTER, RANGE, TO, in_digits

LONGEST_REPLY = 20_000  # characters; more than that names no pages
LONGEST_RANGE = 50  # pages; for a longer range only its two ends are taken
_DASHES = re.compile(r"[‐‑‒–—―−〜～]")
_JOIN = r"\s*(?:,|;|、|・|&|/|>|and|or|then|plus|und|と|や|和)+\s*(?:and\s+)?"
_BRACKETS = r"\[[^\[\]]*\]"
_NAMED_BRACKETS = re.compile(
    rf"{PAGE_WORD}[\s:#*]*({_BRACKETS}(?:(?:{_JOIN}|\s*)(?:{PAGE_WORD}\s*)?{_BRACKETS})*)", re.IGNORECASE
)
_BARE_BRACKETS = re.compile(rf"({_BRACKETS}(?:(?:{_JOIN}|\s*){_BRACKETS})*)")
_LIST = re.compile(LIST, re.IGNORECASE)
_PAGE_WORD = re.compile(PAGE_WORD, re.IGNORECASE)
_WORD_BEFORE = re.compile(rf"{PAGE_WORD}[\s:(<{{\[_=-]*(?:(?:number|no\.?|番号)\s*)?$", re.IGNORECASE)
_WORD_AFTER = re.compile(rf"\s*{PAGE_WORD_AFTER}", re.IGNORECASE)
_ITEM = re.compile(rf"^[ \t]*(?:[-•]|\d+[.)])?[ \t]*{PAGE_WORD}[ \t:]*({RANGE})\b.*$", re.IGNORECASE | re.MULTILINE)
_ALONE = re.compile(rf"\s*[(\[]?\s*({LIST})\s*[)\]]?\s*\.?\s*", re.IGNORECASE)
_LINES_ALONE = re.compile(rf"(?:[ \t]*[-•]?[ \t]*{RANGE}[ \t]*[,;.]?[ \t]*(?:\n|\Z))+")
_CALL = re.compile(rf"(?:look[_ ]?up|open|read)\w*\s*[:(][\s\[({{]*({LIST})", re.IGNORECASE)
_TOLD = re.compile(
    rf"{PAGE_WORD}[ \t]*({RANGE})[ \t]*[:–—-][ \t]", re.IGNORECASE
)  # 'Page 3: the lamp. Page 5: the oil.'
_REMARK = re.compile(r"[ \t]*\([^()\d]{1,80}\)")
_TAG = re.compile(r"<(/?)pages?\b[^<>]{0,40}>", re.IGNORECASE)
_RANGE = re.compile(rf"(\d+)(?:[^\S\n]*(?:{DASH}|(?:{TO})(?=\W|\d))[^\S\n]*(?:{PAGE_WORD}\s*)?(\d+))?", re.IGNORECASE)
_ROW = re.compile(r"^[ \t]*\|?(.*?[|,\t].*?)\|?[ \t]*$", re.MULTILINE)
_NEGATIVE = re.compile(
    r"((?:(?:^|[\[(,;、])[\s:#]*|(?:\b(?:pages?|pp?|and|or|plus|no|number)\b\.?|ページ|と|や)[\s:#]+))-\d+",
    re.IGNORECASE,
)
_PAGES_ONLY = re.compile(
    rf"(?:\d(?:[a-c](?!\w))?|\s|[,;、・&/~>-]|{PAGE_WORD}|{PAGE_WORD_AFTER}|第|(?<!\w)(?:{AND}|{TO})(?!\w)|{DASH})*",
    re.IGNORECASE,
)
_JSON_KEY = re.compile(r"[\"'](\w+)[\"']\s*:")
_JSON_NUMBERS = re.compile(r"[\"'](\s*(?:page\s*)?\d[\d,\s-]*)[\"']", re.IGNORECASE)
_COPIED = re.compile(r"^.*\b(?:to|because)[ \t]*(?:\.{3}|…)[ \t]*$", re.MULTILINE)  # the form itself, not filled in
_ASKING = re.compile(r"look(?:ing)?\s+up|re-?read|read\s+again|読み返|open\b", re.IGNORECASE)
_CITED = re.compile(r"\w[^\[\n]{0,200}\[\s*\d")
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
# the form that the prompts ask for: what it names is said in other words, and its reason is the model's own
IN_FORM = re.compile(
    rf"[\s>#*_-]*(?:STOP\b|(?:I want to (?:look up|re-?read)\s+)?{PAGE_WORD}[\s:#*]*[\[\d])", re.IGNORECASE
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
    refused: tuple[NotOpened, ...] = ()
    reason: str = ""
    stop: bool = False
    numbers: tuple[int, ...] = ()
    unclear: bool = False
    cited: bool = False


def to_plain_text(reply: str) -> str:
    """Return ``reply`` without thinking, Markdown and JSON marks, and with full-width characters normalised."""
    text = unicodedata.normalize("NFKC", remove_markup(reply))[:LONGEST_REPLY]
    text = _TAG.sub(lambda tag: " " if tag[1] else "Page ", text)
    text = _JSON_NUMBERS.sub(r"\1", _JSON_KEY.sub(r"\1:", text))
    text = re.sub(r"[*`#]|__", "", _DASHES.sub("-", text.replace("【", "[").replace("】", "]")))
    return text.strip()


def parse_look_up(reply: str, readable: Collection[int], *, limit: int, exists: int = 0) -> LookUpReply:
    """Parse a reply: the first ``limit`` pages it names that are in ``readable``, without repeats.

    ``exists``: number of pages the book has. A page up to that number that is not in ``readable`` is refused as
    'not read yet', every other one as 'no such page'.
    """
    text = _NEGATIVE.sub(r"\1", in_digits(to_plain_text(reply)))  # '-1' is no page, nor is it page 1
    text = _COPIED.sub("", text).strip() or text
    numbers, end = _numbers(text)
    stop = _STOP.search(text)
    if stop and (not numbers or stop.start() == 0):
        return LookUpReply(reason=_reason_after(text[stop.end() :]), stop=True)
    pages: list[int] = []
    refused: list[NotOpened] = []
    for number in dict.fromkeys(numbers):
        if number not in readable:
            known = 1 <= number <= exists
            refused.append(NotOpened(number, WhyNotOpened.NOT_READ if known else WhyNotOpened.MISSING))
        elif len(pages) >= limit:
            refused.append(NotOpened(number, WhyNotOpened.TOO_MANY, limit))
        else:
            pages.append(number)
    none = _NONE.search(text)
    if none and not numbers and none.group().startswith("["):  # what follows 'Page []'
        end = none.end()
    unclear = not pages and (bool(numbers) or none is None)
    cited = bool(numbers and _CITED.search(text)) and not (_ASKING.search(text) or _PAGE_WORD.search(text))
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
    if rows := list(_pages_of_table(text)):
        return rows, len(text)
    if _LINES_ALONE.fullmatch(text):
        return list(_expanded(text)), len(text)
    told = list(_TOLD.finditer(text))
    if len(told) > 1:
        return [n for m in told for n in _expanded(m.group(1))], told[-1].end()
    items = list(_ITEM.finditer(text))
    if len(items) > 1:  # one page a line
        return [n for m in items for n in _expanded(m.group(1))], items[-1].end()
    plain = _REMARK.sub(lambda remark: " " * len(remark[0]), text)
    for start in dict.fromkeys([asking.start() if asking else 0, 0]):
        sentence_end = re.compile(r"\n|[.。](?=\s|$)").search(text, start)
        for end in dict.fromkeys([sentence_end.end() if sentence_end else len(text), len(text)]):
            named = list(_named_lists(plain, start, end))
            if named:
                return [n for first, last in named for n in _expanded(text[first:last])], named[-1][1]
    alone = _ALONE.fullmatch(text) or _CALL.search(text)
    return (list(_expanded(alone.group(1))), len(text)) if alone else ([], 0)


def _named_lists(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the lists of numbers are that have a word for 'page' before or after them."""
    while found := _LIST.search(text, start, end):
        before = text[max(start, found.start() - 40) : found.start()]
        inside = _PAGE_WORD.search(text, found.start(), found.end())
        named = _WORD_BEFORE.search(before) or _WORD_AFTER.match(text, found.end(), end)
        if named:
            yield found.span()
        start = inside.start() if inside and not named else found.end()


def _pages_of_table(text: str) -> Iterator[int]:
    """Yield the pages of a table (Markdown, or with tabs or commas): the column whose heading is a word for 'page'."""
    lines = [found.group(1) for found in _ROW.finditer(text)]
    mark = next((mark for mark in "|\t," if lines and mark in lines[0]), ",")
    rows = [[cell.strip() for cell in line.split(mark)] for line in lines]
    if mark != "|" and not any(_PAGE_WORD.fullmatch(cell) for cell in (rows[0] if rows else ())):
        return
    column = next((i for i, cell in enumerate(rows[0]) if _PAGE_WORD.search(cell)), None) if rows else None
    if column is not None:
        for row in rows[1:]:
            if column < len(row) and _PAGES_ONLY.fullmatch(row[column]):
                yield from _expanded(row[column])


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
