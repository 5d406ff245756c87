"""Rebuilds the paragraphs of a PDF from indents, gaps and sizes of its lines, and joins words with line-end hyphens.

'con-' + 'text' becomes 'context', 'well-' + 'known' stays 'well-known': the other words of the document decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise, takewhile
from operator import itemgetter

from readagent_core.loaders.headings import is_named_heading
from readagent_core.loaders.pdf.layout import LARGE, Flow, usual_size
from readagent_core.loaders.pdf.lines import Line
from readagent_core.loaders.text.lines import join_text

_END = re.compile(r"[.!?…:;。！？」』][\"'”’»)\]]*\s*[\d*†‡]{0,3}$|[—-][\"'”’]$")
_BULLET = re.compile(r"^\s*(?:[•‣▪◦–●○■]|\(?\d{1,2}[.)]|\([a-z]\))\s+\S")
NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[^\W\d_]")
_NOTE = re.compile(r"^(?:[*†‡§¶]+|\[?(\d{1,3})[.)\]]?(?=\s|[^\W\d_]))(?=.*[^\W\d_])")
_SOFT = "\u00ad"
CAPTION = re.compile(r"^(?:fig(?:ure|\.)|tab(?:le|\.)|abb(?:ildung|\.)|図|表)\s*\d", re.IGNORECASE)
_MEASURED = 200  # columns of a long document that show its usual size, leading and indent
_LEAST_TEXT = 60  # characters; less is no text above notes
_HYPHENS = ("-", "\u2010", _SOFT)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
# first parts of words that are written without a hyphen
_JOINED = {"over", "under", "out", "with", "some", "any", "every", "fore", "for", "never", "pre", "dis", "mis", "inter"}
_BROKEN = re.compile(r"([^\W\d_]+)[-\u2010]$")


@dataclass(slots=True)
class Passage:
    """The lines of a paragraph or heading. ``flow``: where it begins. ``level``: of a heading, 0 for text.

    ``kind``: 'heading', 'label' of a figure or table, 'note', or '' for text.
    ``joined``: its text with whole words instead of those that are broken at line ends; '' before it is known."""

    lines: list[Line]
    flow: Flow
    kind: str = ""
    level: int = 0
    joined: str = ""

    @property
    def text(self) -> str:
        return self.joined or " ".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        return self.lines[len(self.lines) // 2].size  # the lines of a passage differ little in size

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def number(self) -> int:
        return self.lines[0].number

    @property
    def is_full(self) -> bool:
        """Whether the last line fills the column."""
        return self.lines[-1].end - self.flow.left > 0.8 * self.flow.width

    @property
    def confidence(self) -> float | None:
        """The lowest confidence of its recognised lines."""
        return min((line.confidence for line in self.lines if line.confidence is not None), default=None)


@dataclass(frozen=True)
class BodyStyle:
    """The usual values of a document. ``size``: of body text. ``leading``: from line to line. ``indent``: of the first
    line of a paragraph, 0 without one. ``words``: its vocabulary in small letters, for hyphens at line ends."""

    size: float
    leading: float
    indent: float
    words: Set[str] = frozenset()


def measure_body(flows: Sequence[Flow]) -> BodyStyle:
    """Returns the usual size, leading and indent of ``flows``, and the words that are not broken at a line end."""
    some = flows[:: len(flows) // _MEASURED + 1]
    size = usual_size([flow.lines for flow in some])
    pairs = [
        (flow.left, before, line)
        for flow in some
        for before, line in pairwise(flow.lines)
        if max(abs(line.size - size), abs(before.size - size)) < 0.6
    ]
    gaps = Counter(round((before.y - line.y) * 2) / 2 for _, before, line in pairs).most_common(3)
    leading = min((gap for gap, n in gaps if n * 3 >= gaps[0][1] and gap > 0.5 * size), default=1.2 * size)
    close = [pair for pair in pairs if pair[1].y - pair[2].y <= 1.3 * leading]
    indents = Counter(
        round(before.x - left)
        for left, before, line in close
        if 0.5 * size < before.x - left < 5 * size and abs(line.x - left) < 2  # the next line is back at the edge
    )
    indent, times = max(indents.items(), key=itemgetter(1), default=(0, 0))
    text = "\n".join(line.text for flow in flows for line in flow.lines).lower()
    for hyphen in _HYPHENS:
        text = text.replace(f"{hyphen}\n", "\0")  # the halves of a broken word are no words
    words = set(_WORD.findall(" ".join(word for word in set(text.split()) if "\0" not in word)))
    words.update(*(word.split("-") for word in words if "-" in word))  # the parts of a compound are words too
    return BodyStyle(size, leading, float(indent) if times >= 3 else 0.0, words)


def split_passages(flow: Flow, usual: BodyStyle) -> list[Passage]:
    """Returns the paragraphs of one flow."""
    found = [Passage([flow.lines[0]], flow)]
    for before, line in pairwise(flow.lines):
        if _begins(line, before, flow, usual):
            found.append(Passage([line], flow))
        else:
            found[-1].lines.append(line)
    return found


def _begins(line: Line, before: Line, flow: Flow, usual: BodyStyle) -> bool:
    """Returns whether ``line`` starts a paragraph after ``before``."""
    size = max(line.size, before.size)
    widest = max(1.3 * usual.leading * max(1.0, size / usual.size), usual.leading + 0.25 * size)
    if abs(line.size - before.size) > 0.08 * size or before.y - line.y > widest:
        return True
    continues = before.text.endswith((*_HYPHENS, ",", ";"))
    if line.bold != before.bold and min(len(before.text), len(line.text)) < 80 and not continues:
        return True
    if line.size >= LARGE * usual.size and line.bold == before.bold:  # the lines of a heading may be centred
        return is_named_heading(line.text) or bool(NUMBERED.match(line.text))
    length, offset, offset_before = before.end - flow.left, line.x - flow.left, before.x - flow.left
    if _BULLET.match(line.text) or offset > 0.5 * line.size:
        deeper = offset - offset_before > 0.5 * line.size
        as_usual = usual.indent and max(abs(offset - usual.indent), abs(offset - offset_before)) < 2.5
        begins = bool(_BULLET.match(line.text) or deeper or as_usual)
        return begins and (length <= 0.8 * flow.width or bool(_END.search(before.text)))
    if usual.indent or length >= 0.72 * flow.width or not line.text[:1].isupper():
        return False
    return bool(_END.search(before.text))


def _continues_in(last: Passage, following: Passage, usual: BodyStyle) -> bool:
    """Returns whether the last paragraph of a column or page continues in the first one of the next."""
    end, start = last.lines[-1], following.lines[0]
    if abs(last.size - following.size) > 0.08 * last.size or last.bold != following.bold:
        return False
    if _BULLET.match(start.text) or is_named_heading(start.text) or is_named_heading(last.text):
        return False
    if end.text.endswith(_HYPHENS) or (_is_row(end.text) and _is_row(start.text)):
        return True
    indented = start.x - following.flow.left > 0.5 * start.size
    if not _END.search(end.text):
        return (last.is_full or start.text[:1].islower()) and not (indented and start.text[:1].isupper())
    return bool(usual.indent) and last.is_full and not indented


def _is_row(text: str) -> bool:
    return "\t" in text or text.count("|") > 1


def passage_text(passage: Passage, usual: BodyStyle, *, keep: bool = True) -> str:
    """Returns the text of a paragraph. If all lines end early, it is verse or a list and keeps its lines."""
    texts = [line.text for line in passage.lines]
    if len(texts) > 1 and keep:
        rows = sum(map(_is_row, texts)) * 2 > len(texts)
        hyphened = any(text.endswith(_HYPHENS) for text in texts[:-1])
        if rows or (not hyphened and all(_next_word_would_fit(passage, *pair) for pair in pairwise(passage.lines))):
            return "\n".join(texts)
    return reduce(partial(_join_hyphenated, words=usual.words), texts)


def _next_word_would_fit(passage: Passage, line: Line, following: Line) -> bool:
    """Returns whether the first word of the next line would have fitted on ``line``: the break is intended."""
    share = (len(following.text.split(" ", 1)[0]) + 1) / max(1, len(following.text))
    return line.end - passage.flow.left + (following.end - following.x) * share < 0.93 * passage.flow.width


def _join_hyphenated(before: str, after: str, words: Set[str]) -> str:
    """Returns two lines joined. The words of the document decide whether a hyphen at the end is part of a word."""
    if before.endswith(_SOFT):
        return before[:-1] + after
    first, second = before.endswith(_HYPHENS) and _BROKEN.search(before), _LETTERS.match(after)
    if not first or not second:
        return join_text(before, after)
    one, two = first.group(1).lower(), second.group().lower()
    both_words = one not in _JOINED and min(len(one), len(two)) > 2 and {one, two} <= words
    keeps = f"{one}-{two}" in words or after[0].isupper() or both_words
    return before + after if keeps and one + two not in words else before[:-1] + after


def join_passages(flows: Iterable[list[Passage]], usual: BodyStyle) -> list[Passage]:
    """Returns all paragraphs of the document, joined across columns and pages. What interrupts a paragraph there (a
    figure with its caption, a note, a copyright line) follows it."""
    found: list[Passage] = []
    foot: list[Passage] = []
    notes: list[Passage] = []
    cut: Passage | None = None  # the paragraph that a column or page ended in
    for flow in flows:
        body, small = _cut_foot(flow, usual)
        if cut and body and body[0].number > cut.lines[-1].number + 1:
            cut = None
        for i, passage in enumerate(body):
            choices = [found[-1]] if found and i == 0 else []
            choices += [cut] if cut and passage.text[:1].islower() else []
            before = next((each for each in choices if _continues_in(each, passage, usual)), None)
            if before:
                before.lines += body.pop(i).lines
                break
            if passage.bold or passage.size > 1.1 * usual.size or is_named_heading(passage.lines[0].text):
                break  # a paragraph does not continue below a heading
        found += foot + body
        foot = _split_notes(small, notes[-1:])
        notes += [each for each in foot if each.kind == "note"]
        if body and (cut is None or _is_prose(body[-1], usual)):
            cut = body[-1]
    return found + foot


def _is_small(passage: Passage, usual: BodyStyle) -> bool:
    return passage.size < 0.93 * usual.size


def _is_prose(passage: Passage, usual: BodyStyle) -> bool:
    """Returns whether a passage is text that fills its lines: no caption, label or copyright line."""
    long = len(passage.text) > _LEAST_TEXT and not _is_small(passage, usual)
    return long and passage.is_full and not CAPTION.match(passage.text)


def _cut_foot(flow: list[Passage], usual: BodyStyle) -> tuple[list[Passage], list[Passage]]:
    """Returns a flow without the small text at its foot, and that text. Below a heading it is no foot."""
    small = list(takewhile(lambda each: _is_small(each, usual), reversed(flow)))[::-1]
    body = flow[: len(flow) - len(small)]
    text = any(len(each.text) > _LEAST_TEXT and each.size < 1.1 * usual.size for each in body)
    heading = body and len(body[-1].lines) == 1 and (body[-1].bold or body[-1].size > 1.1 * usual.size)
    return (body, small) if text and not heading else (flow, [])


def _split_notes(small: list[Passage], before: Sequence[Passage]) -> list[Passage]:
    """Returns the text at the foot of a column as notes, if it starts with a mark; else as it is.

    What is above the first mark continues the last note, ``before``, where that is open."""
    notes: list[Passage] = []
    last = 0
    for passage, line in [(each, line) for each in small for line in each.lines]:
        mark = _NOTE.match(line.text)
        number = int(mark.group(1) or 0) if mark else 0
        if mark and (not notes or not number or number == last + 1):
            notes.append(Passage([line], passage.flow, "note"))
            last = number
        elif notes:
            notes[-1].lines.append(line)
        elif not before or (_END.search(before[0].lines[-1].text) and not line.text[:1].islower()):
            return small
        else:
            before[0].lines.append(line)
    return notes
