"""Reading an answer as a model wrote it: its body, page marks such as [7], and the quotations under "Evidence:".

English and Japanese forms, and the untidy ones of small models. Knows nothing of pages or whether a quotation
is true. A plain answer is a body without marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PAGES = r"\d{1,5}(?:\s*(?:-|–|—|〜|~|to)\s*\d{1,5})?"
_WORD = r"(?:pages?|pp?\.|ページ|頁)"
_LIST = rf"{_WORD}?\s*{_PAGES}(?:\s*(?:,|;|、|and|と|&)\s*{_WORD}?\s*{_PAGES})*\s*(?:ページ|頁)?"
_BARE_LIST = rf"{_PAGES}(?:\s*(?:,|and|と|、)\s*{_PAGES})*"
_MARK = re.compile(
    rf"\[\s*({_LIST})\s*\]|【\s*({_LIST})\s*】|<\s*{_WORD}\s*({_BARE_LIST})\s*>"
    rf"|\(\s*(?:see\s+|from\s+)?{_WORD}\s*({_BARE_LIST})\s*\)|\(\s*({_BARE_LIST})\s*(?:ページ|頁)\s*\)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t>#*_【\[]*(?:evidence|quotations?|quotes|supporting quotes|根拠|証拠|引用|出典)(?:\s*\([^)\n]*\))?"
    r"[ \t】\]*_]*(?::[ \t*_]*|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(
    rf"^[ \t>]*(?:[-*•・]+[ \t]+|\d+[.)][ \t]+(?=\S))?[*_]*"
    rf"(?:\[\s*({_LIST})\s*\]|【\s*({_LIST})\s*】|<\s*{_WORD}\s*({_PAGES})\s*>"
    rf"|\(\s*{_WORD}?\s*({_PAGES})\s*(?:ページ|頁)?\s*\)|{_WORD}\s*({_PAGES})|({_PAGES})\s*(?:ページ|頁))"
    rf"[*_]*(?:\s*\((?:full text|全文)\))?[ \t]*[:.\-–—、]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_OPEN, _CLOSE = "\"“„«「『‘'`", "\"”“»」』’'`"
_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』|\"([^\"]+)\"", re.DOTALL)
_WIDE = {0xFF10 + i: ord("0") + i for i in range(10)} | {
    ord(a): ord(b) for a, b in zip("［］（）：＜＞〔〕", "[]():<>[]", strict=True)
}
_QUOTE_MARKS = '"“”„«»「」『』‘'
_OPTION = re.compile(r"^[\s*_]*(?:answer|答え|回答)[\s*_]*:[\s*_]*\(?[A-Z]\)?[*_.:)]*\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Quotation:
    """Words an answer says it copied. ``pages``: as named for it.

    ``readings``: what may be meant, likeliest first; each is one or more stretches, all of which must be found.
    """

    pages: tuple[int, ...]
    readings: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        return " … ".join(self.readings[0])


@dataclass(frozen=True)
class Mark:
    """One page mark in the answer's body: characters ``start`` to ``end``. ``claim``: the words it stands behind."""

    pages: tuple[int, ...]
    start: int
    end: int
    claim: str


@dataclass(frozen=True)
class Parsed:
    """``body``: the answer without option letter and evidence; marks point into it."""

    body: str
    marks: tuple[Mark, ...] = ()
    quotations: tuple[Quotation, ...] = ()


def parse(answer: str) -> Parsed:
    """The body of an answer, its page marks and its quotations. Never raises: a plain answer has none of either."""
    text = answer.strip()
    headings = list(_HEADING.finditer(_plain(text)))
    body, evidence = (text[: headings[-1].start()], text[headings[-1].end() :]) if headings else (text, "")
    evidence, rest = _prose_apart(evidence)
    body = f"{body.rstrip()}\n\n{rest}".strip() or text  # only evidence: better shown as it is than nothing
    option = _OPTION.match(_plain(body))
    body = (body[option.end() :] if option else body).rstrip(" \t\n*_#-").lstrip() or body
    return Parsed(body, tuple(_marks(_plain(body))), tuple(_quotations(evidence)))


def unfinished(answer: str) -> Parsed:
    """As ``parse`` for an answer still being written: a mark or heading that is only half there is left out."""
    parsed = parse(answer)
    body = re.sub(
        r"(?:[\[【(<][^\])】>\n]{0,20}|\n\s*[*#_]*(?:e\w{0,7}|根|根拠|証|引)?[*_]*)$", "", parsed.body, flags=re.I
    )
    return Parsed(body.rstrip(), tuple(m for m in parsed.marks if m.end <= len(body)), parsed.quotations)


def _plain(text: str) -> str:
    """``text`` with plain digits, brackets and colons for full-width ones: as long, character for character."""
    return text.translate(_WIDE)


def _prose_apart(evidence: str) -> tuple[str, str]:
    """The blocks that quote, and those that only talk: some models go on after their evidence."""
    blocks = [b for b in re.split(r"\n\s*\n", evidence) if b.strip()]
    talk = [
        b
        for b in blocks[1:]
        if not _ENTRY.match(_plain(b)) and not any(c in b for c in _QUOTE_MARKS) and b.strip()[0] not in "(（"
    ]
    return "\n".join(b for b in blocks if b not in talk), "\n\n".join(talk)


def _numbers(listed: str) -> tuple[int, ...]:
    pages: list[int] = []
    for first, last in re.findall(r"(\d{1,5})(?:\s*(?:-|–|—|〜|~|to)\s*(\d{1,5}))?", listed):
        low, high = int(first), int(last or first)
        pages.extend(range(low, min(high, low + 20) + 1) if high >= low else [low, high])
    return tuple(dict.fromkeys(pages))


def _marks(body: str) -> Iterator[Mark]:
    begin = 0
    waiting: list[tuple[tuple[int, ...], int, int]] = []
    claim = ""
    for found in _MARK.finditer(body):
        listed = next(g for g in found.groups() if g)
        between = body[begin : found.start()]
        if not waiting or re.search(r"\w", between):
            claim = between
        waiting.append((_numbers(listed), found.start(), found.end()))
        yield Mark(*waiting[-1], claim=_last_claim(claim))
        begin = found.end()


def _last_claim(text: str) -> str:
    """The words a mark stands behind: back to the mark before it, or to the start of the paragraph."""
    return text.rsplit("\n\n", 1)[-1].strip(" \t\n.,;:。、")


def _quotations(evidence: str) -> Iterator[Quotation]:
    entries = list(_ENTRY.finditer(_plain(evidence)))
    if not entries:
        for line in evidence.splitlines():
            if quoted_runs(line):
                yield Quotation((), tuple(_readings(line)))
        return
    ends = [e.start() for e in entries[1:]] + [len(evidence)]
    for entry, end in zip(entries, ends, strict=True):
        listed = next(g for g in entry.groups() if g)
        if readings := tuple(_readings(evidence[entry.end() : end])):
            yield Quotation(_numbers(listed), readings)


def quoted_runs(text: str) -> tuple[str, ...]:
    """Every stretch of ``text`` that stands between quotation marks."""
    return tuple(next(g for g in found.groups() if g).strip() for found in _QUOTED.finditer(text))


def _readings(text: str) -> Iterator[tuple[str, ...]]:
    """What a line of evidence may quote: first to last quotation mark; every quoted run; else the line itself."""
    text = text.strip().strip("*_").strip()
    first = next((i for i, c in enumerate(text) if c in _OPEN), -1)
    last = max((i for i, c in enumerate(text) if c in _CLOSE), default=-1)
    whole = 0 <= first < last and not text[:first].strip(" *_-–—:")
    if whole:
        yield (text[first + 1 : last].strip(),)
    if runs := quoted_runs(text):
        yield runs
    elif not whole and text and not re.fullmatch(r"[(（].*[)）]", text, re.DOTALL):
        yield (text.splitlines()[0],)
