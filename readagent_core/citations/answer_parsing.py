"""Parse an answer: its body, page marks such as [7], and the quotations under "Evidence:".

English and Japanese forms are read, and the irregular ones of small models. An answer without marks and evidence is
all body. Whether a quotation is correct is not checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from readagent_core.page_lists import LIST, PAGE_WORD, PAGE_WORD_AFTER, RANGE, in_digits

_WORD = (  # before the number in brackets: citation:, P
    r"(?:citation|cite|ref(?:erence)?|source|doc(?:ument)?|quote|chunk|passage|no|nr)s?\s*[:#_.]*"
    rf"|{PAGE_WORD}\s*[:#=_-]?"
)
KIND = rf"(?:(?:[\^#$@]\s*(?:{_WORD})?|{_WORD})\s*)"
DETAIL = (  # after it, where on the page: '†L12', ':0†source', ', paragraph 2', '¶ 3', '^', 'ff.'
    r"(?:\s*(?::\d+)?†[^\]】)]{0,60}|\^|\.|\s*ff?\.?|\s*et\s+seqq?\.?|\s*sqq?\.|\s*[,;:，、–—-]?\s*(?:(?:first|second|third|last|\d+(?:st|nd|rd|th))\s+)?(?:paragraphs?|paras?\.?|par\.?|¶+|§+|lines?|l{1,2}\.|absatz|"
    r"párrafos?|paragraphes?|alinéas?|parágrafos?|абзац\w*|段落?|第?\d+\s*(?:段落?|行)|문단)[^\]】)]{0,60})?"
)
_LIST = rf"{KIND}?{LIST}(?:\s*(?:,|;|、|，|&)\s*{KIND}{RANGE})*+\s*{PAGE_WORD_AFTER}?"
_BARE_LIST = rf"{LIST}"
_LINK = r"(?:\((?:#|https?:|book:|page)[^()\s]{0,200}\))?"  # Markdown: '[7](#page-7)'
_SEE = r"(?:see|(?:as\s+)?on|at|from|cf\.?|siehe|vgl\.?|voir|véase|vedi|ver|см\.|参见|参照)?\s*"
_MARK = re.compile(
    rf"\\?\[{{1,2}}\s*({_LIST}){DETAIL}\s*\\?\]{{1,2}}{_LINK}|【\s*({_LIST}){DETAIL}\s*】|{{{{1,2}}\s*({_LIST})\s*}}{{1,2}}"
    rf"|<\s*{PAGE_WORD}\s*({_BARE_LIST})\s*>|<(?:cite|ref|sup|source)\b[^<>]{{0,60}}>\s*({_LIST})\s*</\w{{1,9}}>"
    rf"|\(\s*{_SEE}{PAGE_WORD}\s*({_BARE_LIST}){DETAIL}\s*\)|\(\s*{_SEE}({_BARE_LIST})\s*{PAGE_WORD_AFTER}{DETAIL}\s*\)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t>#*_【\[]*(?:evidence|quotations?|quotes|supporting quotes|根拠|証拠|引用|出典|证据)(?:\s*\([^)\n]*\))?"
    r"[ \t】\]*_]*(?::[ \t*_]*|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(
    rf"^[ \t>]*(?:[-*•・]+[ \t]+|\d+[.)][ \t]+(?=\S))?[*_]*"
    rf"(?:\[{{1,2}}\s*({_LIST}){DETAIL}\s*\]{{1,2}}{_LINK}|【\s*({_LIST}){DETAIL}\s*】|<\s*{PAGE_WORD}\s*({RANGE})\s*>"
    rf"|\(\s*{PAGE_WORD}?\s*({RANGE})\s*{PAGE_WORD_AFTER}?{DETAIL}\s*\)|{PAGE_WORD}\s*({RANGE}){DETAIL}"
    rf"|(?:第\s*)?({RANGE})\s*{PAGE_WORD_AFTER}{DETAIL})"
    rf"[*_]*(?:\s*\((?:full text|全文)\))?[ \t]*[:.\-–—、]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_FOOTNOTES = re.compile(r"(?:\n[ \t]*\[\^\d{1,5}\][ \t]*:[^\n]+(?:\n(?=\s*\[\^|\s*\Z)\s*?)?)+\s*\Z")  # Markdown
_WHOLE = re.compile("[-–—:*_ ]*[\"“„«「『‘'`](.*)[\"”“»」』’'`]", re.DOTALL)  # a line of evidence in quotation marks
_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』|\"([^\"]+)\"", re.DOTALL)
_WIDE = {0xFF10 + i: ord("0") + i for i in range(10)} | {
    ord(a): ord(b) for a, b in zip("［］（）：＜＞〔〕〖〗", "[]():<>[][]", strict=True)
}
_RANGE = re.compile(RANGE, re.IGNORECASE)
_QUOTE_MARKS = '"“”„«»「」『』‘'
_CHOICE = r"(?:answer|答え|回答)[\s*_]*:[\s*_]*(?:\(?[A-Z]\)?|\(?none\)?|なし)(?!\w)[*_.:)]*"
_OPTION_FIRST = re.compile(rf"[\s*_]*{_CHOICE}\s*", re.IGNORECASE)
_OPTION_LAST = re.compile(rf"\n[ \t*_]*{_CHOICE}\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Quotation:
    """A quotation in an answer. ``pages``: the pages named for it.

    ``extents``: the possible extents of the quotation, likeliest first. Each is one or more stretches of words, all
    of which must be found.
    """

    pages: tuple[int, ...]
    extents: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        return " … ".join(self.extents[0])


@dataclass(frozen=True)
class Mark:
    """A page mark in the answer's body: characters ``start`` to ``end``. ``claim``: the words before it."""

    pages: tuple[int, ...]
    start: int
    end: int
    claim: str


@dataclass(frozen=True)
class Parsed:
    """A parsed answer. ``body``: without option letter and evidence; the marks' positions refer to it."""

    body: str
    marks: tuple[Mark, ...] = ()
    quotations: tuple[Quotation, ...] = ()


@lru_cache(maxsize=256)
def parse(answer: str) -> Parsed:
    """Return the body of an answer, its page marks and its quotations. Never raises."""
    text = answer.strip()
    body, evidence = split_evidence(text)
    evidence, rest = _split_prose(evidence)
    body = f"{body.rstrip()}\n\n{rest}".strip() or text  # an answer that is only evidence is shown as it is
    body = without_option(body).rstrip(" \t\n*_#`-").lstrip() or body
    return Parsed(body, tuple(_marks(_plain(body))), tuple(_quotations(evidence)))


def split_evidence(text: str) -> tuple[str, str]:
    """Return the text before the heading of the evidence and the text below it, '' without such a heading."""
    headings = list(_HEADING.finditer(_plain(text)))
    heading = next((h for h in headings if _ENTRY.match(_plain(text[h.end() :].lstrip()))), None)
    heading = heading or (headings[-1] if headings else None)  # some models write their evidence twice
    if heading:
        return text[: heading.start()].strip(), text[heading.end() :].strip()
    notes = _FOOTNOTES.search(text)
    return (text[: notes.start()].strip(), notes.group().strip()) if notes else (text, "")


def without_option(body: str) -> str:
    """Return ``body`` without the option it names in its first words or on its last line."""
    plain = _plain(body)
    first = _OPTION_FIRST.match(plain)
    if first:
        return body[first.end() :]
    last = _OPTION_LAST.search(plain)
    return body[: last.start()] if last else body


def parse_unfinished(answer: str) -> Parsed:
    """Parse an answer that is still arriving: an incomplete mark or heading at its end is left out."""
    parsed = parse(answer)
    body = re.sub(
        r"(?:[\[【(<][^\])】>\n]{0,20}|\n\s*[*#_]*(?:e\w{0,7}|根|根拠|証|引)?[*_]*)$", "", parsed.body, flags=re.I
    )
    return Parsed(body.rstrip(), tuple(m for m in parsed.marks if m.end <= len(body)), parsed.quotations)


def rename_pages(answer: str, name: Callable[[int], str]) -> str:
    """Return ``answer`` with the names of the pages in every page mark: '[31, 32]' as '[2.7, 2.8]'."""
    return "".join(words + (f"[{', '.join(map(name, pages))}]" if pages else "") for words, pages in marked(answer))


def marked(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield ``text`` in pieces, each with the pages of the mark after it; the last piece has none."""
    at = 0
    for found in _MARK.finditer(_plain(text)):
        yield text[at : found.start()], _numbers(next(g for g in found.groups() if g))
        at = found.end()
    yield text[at:], ()


def _plain(text: str) -> str:
    """Return ``text`` with full-width digits, brackets and colons replaced, character for character."""
    return in_digits(text.translate(_WIDE))


def _split_prose(evidence: str) -> tuple[str, str]:
    """Return the blocks with quotations and those without: some models write more text after their evidence."""
    blocks = [b for b in re.split(r"\n\s*\n", evidence) if b.strip()]
    prose = [
        b
        for b in blocks[1:]
        if not _ENTRY.match(_plain(b)) and not any(c in b for c in _QUOTE_MARKS) and b.strip()[0] not in "(（"
    ]
    return "\n".join(b for b in blocks if b not in prose), "\n\n".join(prose)


def _numbers(listed: str) -> tuple[int, ...]:
    pages: list[int] = []
    for found in _RANGE.finditer(listed):
        low, *rest = (int(number) for number in re.findall(r"\d{1,5}", found.group()))
        high = rest[0] if rest else low
        pages.extend(range(low, min(high, low + 20) + 1) if high >= low else [low, high])
    return tuple(dict.fromkeys(pages))


def _marks(body: str) -> Iterator[Mark]:
    """Yield the page marks of the body. Marks without words between them have the same claim."""
    position = 0
    claim = ""
    for found in _MARK.finditer(body):
        listed = next(g for g in found.groups() if g)
        between = body[position : found.start()]
        if not position or re.search(r"\w", between):
            claim = between
        words = claim.rsplit("\n\n", 1)[-1].strip(" \t\n.,;:。、")  # of this paragraph alone
        yield Mark(_numbers(listed), found.start(), found.end(), words)
        position = found.end()


def _quotations(evidence: str) -> Iterator[Quotation]:
    entries = list(_ENTRY.finditer(_plain(evidence)))
    if not entries:
        for line in evidence.splitlines():
            if quoted_runs(line):
                yield Quotation((), tuple(_extents(line)))
        return
    ends = [e.start() for e in entries[1:]] + [len(evidence)]
    for entry, end in zip(entries, ends, strict=True):
        listed = next(g for g in entry.groups() if g)
        if extents := tuple(_extents(evidence[entry.end() : end])):
            yield Quotation(_numbers(listed), extents)


def unquote(text: str, keep: Callable[[str], bool]) -> str:
    """Return ``text`` without the quotation marks round every stretch for which ``keep`` is false."""
    return _QUOTED.sub(lambda m: m.group() if keep(inner := next(g for g in m.groups() if g)) else inner, text)


def quoted_runs(text: str) -> tuple[str, ...]:
    """Return every stretch of ``text`` between quotation marks."""
    return tuple(next(g for g in found.groups() if g).strip() for found in _QUOTED.finditer(text))


def _extents(text: str) -> Iterator[tuple[str, ...]]:
    """Yield what a line of evidence may quote: first to last quotation mark; every quoted run; else the whole line."""
    text = text.strip().strip("*_").strip()
    whole = _WHOLE.match(text)
    if whole:
        yield (whole[1].strip(),)
    if runs := quoted_runs(text):
        yield runs
    elif not whole and text and not re.fullmatch(r"[(（].*[)）]", text, re.DOTALL):
        yield (text.splitlines()[0],)
