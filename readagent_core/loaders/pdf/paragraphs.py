"""Rebuilds the paragraphs of a PDF from indents, gaps and sizes of its lines, and joins words with line-end hyphens.

'con-' + 'text' becomes 'context', 'well-' + 'known' stays 'well-known': the other words of the document decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from readagent_core.loaders.headings import is_named_heading
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.pdf.order import Flow
from readagent_core.loaders.text.lines import join_text

_END = re.compile(r"[.!?…:;。！？」』][\"'”’»)\]]*\s*[\d*†‡]{0,3}$|[—-][\"'”’]$")
_BULLET = re.compile(r"^\s*(?:[•‣▪◦–●○■]|\(?\d{1,2}[.)]|\([a-z]\))\s+\S")
_SOFT = "\u00ad"
_HYPHENS = ("-", "\u2010", _SOFT)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LETTERS = re.compile(r"[^\W\d_]+")
_BROKEN = re.compile(r"([^\W\d_]+)[-\u2010]$")
_COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]+")
# first parts of words that are written without a hyphen
_JOINED = frozenset(
    "over under out up down with some any every fore back in on an be for un re pre dis mis inter never what "  # noqa: SIM905
    "there where who when how to al ever after not can may".split()
)


@dataclass
class Passage:
    """The lines of a paragraph or heading. ``width``, ``left``: of its flow. ``small``: smaller than the body text."""

    lines: list[Line]
    width: float
    left: float
    small: bool = False

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def number(self) -> int:
        return self.lines[0].number


@dataclass(frozen=True)
class BodyStyle:
    """The usual values of a document. ``size``: of body text. ``leading``: from line to line. ``indent``: of the first
    line of a paragraph, 0 without one. ``words``, ``compounds``: its vocabulary, for hyphens at line ends."""

    size: float
    leading: float
    indent: float
    words: Counter[str] = field(default_factory=Counter)
    compounds: frozenset[str] = frozenset()


def measure_body(flows: Sequence[Flow]) -> BodyStyle:
    """Returns the usual size, leading and indent of ``flows``, and their vocabulary."""
    sizes: Counter[float] = Counter()
    for flow in flows:
        for line in flow.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    gaps: Counter[float] = Counter()
    for flow in flows:
        for before, line in pairwise(flow.lines):
            if abs(line.size - size) < 0.6 and abs(before.size - size) < 0.6:
                gaps[round((before.y - line.y) * 2) / 2] += 1
    usual = [gap for gap, n in gaps.most_common(3) if n * 3 >= gaps.most_common(1)[0][1] and gap > 0.5 * size]
    leading = min(usual) if usual else 1.2 * size
    words, compounds = _vocabulary(flows)
    return BodyStyle(size, leading, _indent(flows, size, leading), words, compounds)


def _indent(flows: Sequence[Flow], size: float, leading: float) -> float:
    """Returns the indent of first lines, whose next line is back at the edge; 0.0 where it is not usual."""
    indents: Counter[int] = Counter()
    together = 0
    for flow in flows:
        for before, line in pairwise(flow.lines):
            if abs(line.size - size) > 0.6 or abs(before.size - size) > 0.6 or before.y - line.y > 1.3 * leading:
                continue
            together += 1
            offset = round(before.x - flow.left)
            if 0.5 * size < offset < 5 * size and abs(line.x - flow.left) < 2:
                indents[offset] += 1
    offset, times = indents.most_common(1)[0] if indents else (0, 0)
    return float(offset) if times >= 3 or times * 8 > together else 0.0


def _vocabulary(flows: Sequence[Flow]) -> tuple[Counter[str], frozenset[str]]:
    """Returns the words of the document that are not broken at a line end, and its compounds with a hyphen."""
    words: Counter[str] = Counter()
    compounds: set[str] = set()
    broken = False
    for line in (line for flow in flows for line in flow.lines):
        text = line.text.split(" ", 1)[-1] if broken else line.text  # the rest of a broken word is no word
        broken = text.endswith(_HYPHENS)
        if broken:
            text = text.rsplit(" ", 1)[0] if " " in text else ""
        words.update(w.lower() for w in _WORD.findall(text))
        if "-" in text:
            compounds.update(c.lower() for c in _COMPOUND.findall(text))
    return words, frozenset(compounds)


def split_passages(flow: Flow, usual: BodyStyle) -> list[Passage]:
    """Returns the paragraphs of one flow."""
    found: list[Passage] = []
    for i, line in enumerate(flow.lines):
        before = flow.lines[i - 1] if i else None
        if before is None or _begins(line, before, flow, usual):
            found.append(Passage([line], flow.width, flow.left))
        else:
            found[-1].lines.append(line)
    for passage in found:
        passage.small = passage.size < 0.93 * usual.size
    return found


def _begins(line: Line, before: Line, flow: Flow, usual: BodyStyle) -> bool:
    """Returns whether ``line`` starts a paragraph after ``before``."""
    size = max(line.size, before.size)
    if abs(line.size - before.size) > 0.08 * size:
        return True
    if line.bold != before.bold and (len(before.text) < 80 or len(line.text) < 80) and not _continues(before):
        return True
    gap = before.y - line.y
    if gap > max(1.3 * usual.leading * max(1.0, size / usual.size), usual.leading + 0.25 * size):
        return True
    full = before.end - flow.left > 0.8 * flow.width
    open_ended = full and not _END.search(before.text)
    if _BULLET.match(line.text) and not open_ended:
        return True
    offset, offset_before = line.x - flow.left, before.x - flow.left
    if offset > 0.5 * line.size:
        if offset - offset_before > 0.5 * line.size:
            return not open_ended
        if usual.indent and abs(offset - usual.indent) < 2.5 and abs(offset - offset_before) <= 2.5:
            return not open_ended
        return False
    if usual.indent:
        return False
    short = before.end - flow.left < 0.72 * flow.width
    return short and bool(_END.search(before.text)) and line.text[:1].isupper() and flow.width > 25 * line.size * 0.46


def _continues(line: Line) -> bool:
    return line.text.endswith(_HYPHENS) or line.text[-1:] in ",;"


def _continues_in(last: Passage, following: Passage, usual: BodyStyle) -> bool:
    """Returns whether the last paragraph of a column or page continues in the first one of the next."""
    if abs(last.size - following.size) > 0.08 * last.size or last.bold != following.bold:
        return False
    end, start = last.lines[-1], following.lines[0]
    if (
        _BULLET.match(start.text)
        or is_named_heading(start.text)
        or (len(last.lines) == 1 and is_named_heading(end.text))
    ):
        return False
    if _is_row(end.text) and _is_row(start.text):
        return True
    full = end.end - last.left > 0.8 * last.width
    if end.text.endswith(_HYPHENS):
        return True
    indented = start.x - following.left > 0.5 * start.size
    if not _END.search(end.text):
        return (full or start.text[:1].islower()) and not (indented and start.text[:1].isupper())
    return bool(usual.indent) and full and not indented


def _is_row(text: str) -> bool:
    return "\t" in text or text.count("|") > 1


def passage_text(passage: Passage, usual: BodyStyle, *, keep: bool = True) -> str:
    """Returns the text of a paragraph. If all lines end early, it is verse or a list and keeps its lines."""
    lines, left, width = passage.lines, passage.left, passage.width
    texts = [line.text for line in lines]
    if len(lines) > 1 and keep:
        if sum(map(_is_row, texts)) * 2 > len(texts):
            return "\n".join(texts)
        hyphened = any(t.endswith(_HYPHENS) for t in texts[:-1])
        if not hyphened and all(_next_word_would_fit(a, b, left, width) for a, b in pairwise(lines)):
            return "\n".join(texts)
    text = texts[0]
    for following in texts[1:]:
        text = _join_hyphenated(text, following, usual)
    return text


def _next_word_would_fit(line: Line, following: Line, left: float, width: float) -> bool:
    """Returns whether the first word of the next line would have fitted on ``line``: the break is intended."""
    word = following.text.split(" ", 1)[0]
    letters = len(following.text) or 1
    return line.end - left + following.width * (len(word) + 1) / letters < 0.93 * width


def _join_hyphenated(before: str, after: str, usual: BodyStyle) -> str:
    """Returns two lines joined. The words of the document decide whether a hyphen at the end is part of a word."""
    if before.endswith(_SOFT):
        return before[:-1] + after
    first, second = _BROKEN.search(before), _LETTERS.match(after)
    if not first or not second:
        return join_text(before, after)
    keeps = _keeps_hyphen(first.group(1), second.group(), usual)
    return before + after if keeps else before[:-1] + after


def _keeps_hyphen(first: str, second: str, usual: BodyStyle) -> bool:
    one, two = first.lower(), second.lower()
    whole = usual.words[one + two]
    hyphened = f"{one}-{two}" in usual.compounds
    if hyphened or whole:
        return hyphened and not whole
    if second[:1].isupper() or one in _JOINED:
        return second[:1].isupper()
    return len(one) > 2 and len(two) > 2 and usual.words[one] > 0 and usual.words[two] > 0


def join_passages(passages_in: Iterable[list[Passage]], usual: BodyStyle) -> list[Passage]:
    """Returns all paragraphs of the document, joined across columns and pages. Small text at the foot of a column (a
    note, a copyright line) follows the paragraph that it interrupts."""
    found: list[Passage] = []
    foot: list[Passage] = []
    for flow in passages_in:
        body = list(flow)
        small: list[Passage] = []
        while len(body) > 1 and body[-1].small:
            small.insert(0, body.pop())
        if body and found and _continues_in(found[-1], body[0], usual):
            found[-1].lines += body.pop(0).lines
        found += foot + body
        foot = small
    return found + foot
