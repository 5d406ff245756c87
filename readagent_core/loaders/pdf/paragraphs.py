"""Rebuilds the paragraphs and headings of a PDF from indents, gaps, sizes and weight of its lines.

Words with line-end hyphens are joined: 'con-' + 'text' becomes 'context', 'well-' + 'known' stays 'well-known'. The
other words of the document decide. Labels of figures, rows of tables and lines of title pages look like headings; they
become text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby, pairwise, takewhile
from statistics import median

from readagent_core.loaders.headings import is_named_heading
from readagent_core.loaders.pdf.columns import Flow
from readagent_core.loaders.pdf.layout import HYPHENS, LARGE, BodyStyle
from readagent_core.loaders.pdf.lines import BULLETS, Line
from readagent_core.loaders.text.lines import join_text

_END = re.compile(r"[.!?…:;。！？」』][\"'”’»)\]]*\s*[\d*†‡]{0,3}$|[—-][\"'”’]$")
_BULLET = re.compile(rf"^\s*(?:[{BULLETS}–]|\(?\d\d?[.)]|\([a-z]\))\s+\S")
NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[^\W\d_]")
_NOTE = re.compile(r"^(?:[*†‡§¶]+|\[?(\d{1,3})[.)\]]?(?=\s|[^\W\d_]))(?=.*[^\W\d_])")
CAPTION = re.compile(r"^(?:fig(?:ure|\.)|tab(?:le|\.)|abb(?:ildung|\.)|図|表)\s*\d", re.IGNORECASE)
_LEAST_TEXT = 60  # characters; less is no text above notes
_LETTERS = re.compile(r"[^\W\d_]+")
# what a line of a program has: its signs, a call, a block that begins, a remark, or a word that opens a statement
_CODE = re.compile(
    r"[{}=<>_\\$|]|;$|:$|\w[(\[]|^(?:#|//|/\*|\*/|--)|^(?:import|from|return|else|end|pass|break|try|fi|done)\b"
)
_EMPTY_LINE = 1.6  # of the leading of a listing
# first parts of words that are written without a hyphen
_JOINED = {"over", "under", "out", "with", "some", "any", "every", "fore", "for", "never", "pre", "dis", "mis", "inter"}
_FEWEST_NARROW, _SHORTEST = 4, 20  # lines after the first, of prose beside a picture, and their characters on average
_BROKEN = re.compile(r"([^\W\d_]+)[-\u2010]$")
_NUMBERING = re.compile(r"^[\dIVXLC.]+\s")
_SYMBOL = re.compile(r"^\(?[a-z]\d?\)?$")  # '(a)', 'i2'
_RELATION, _NAMED = re.compile("[=<>≤≥]"), re.compile(r"[^\W\d_]{3}")  # in formulas; in other headings
_NEAR = 0.4  # points by which the letters of one kind of heading differ
_DASHES = 0.15  # share of the lines of a flow
_TITLE = 0.9  # of the largest size on a slide
_LONGEST = 250  # characters of a heading
_FIRST_PAGES = 2


@dataclass(slots=True)
class Passage:
    """The lines of a paragraph or heading. ``flow``: where it begins. ``level``: of a heading, 0 for text.

    ``kind``: 'heading', 'label' of a figure or table, 'note', 'code', or '' for text.
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
        return min([line.confidence for line in self.lines if line.confidence is not None], default=None)


def split_passages(flow: Flow, usual: BodyStyle) -> list[Passage]:
    """Returns the paragraphs and the listings of program code in one flow."""
    listed = _find_code(flow.lines, usual)
    found = [Passage([flow.lines[0]], flow, "code" if 0 in listed else "")]
    for at, (before, line) in enumerate(pairwise(flow.lines), start=1):
        code = at in listed
        if code != (at - 1 in listed) or (not code and _begins(line, before, flow, usual)):
            found.append(Passage([line], flow, "code" if code else ""))
        else:
            found[-1].lines.append(line)
    return found


def _find_code(lines: Sequence[Line], usual: BodyStyle) -> set[int]:
    """Returns which lines are program code: several in a typewriter font, most of them with signs of a program.

    A letter or a telegram in such a font is text, as is all of a document that is set in one."""
    found: set[int] = set()
    if usual.mono or not any(line.mono for line in lines):
        return found
    for mono, run in groupby(range(len(lines)), lambda at: lines[at].mono and lines[at].size < LARGE * usual.size):
        here = list(run)
        signs = sum(bool(_CODE.search(lines[at].text)) for at in here) if mono else 0
        if 1 < len(here) <= 2 * signs and not all(lines[at].bold for at in here):
            found.update(here)
    return found


def _code_text(passage: Passage) -> str:
    """Returns the lines of program code with their indents and the empty lines between them."""
    lines = passage.lines
    width = median((line.end - line.x) / len(line.text) for line in lines)
    left = {number: min(line.x for line in run) for number, run in groupby(lines, lambda line: line.number)}
    gaps = [before.y - line.y if line.number == before.number else 0 for before, line in pairwise(lines)]
    apart = _EMPTY_LINE * min((gap for gap in gaps if gap > 0), default=0)
    rows = []
    for gap, line in zip([0, *gaps], lines, strict=True):
        rows += [""] * (gap > apart)
        rows.append(" " * round((line.x - left[line.number]) / width) + line.text.replace("\t", "    "))
    return "\n".join(rows)


def _begins(line: Line, before: Line, flow: Flow, usual: BodyStyle) -> bool:
    """Returns whether ``line`` starts a paragraph after ``before``."""
    size = max(line.size, before.size)
    widest = max(1.3 * usual.leading * max(1.0, size / usual.size), usual.leading + 0.25 * size)
    if abs(line.size - before.size) > 0.08 * size or before.y - line.y > widest:
        return True
    large = line.size >= LARGE * usual.size or (line.bold and before.bold and not usual.bold)
    length, offset, offset_before = before.end - flow.left, line.x - flow.left, before.x - flow.left
    full = length >= 0.72 * flow.width
    if line.bold != before.bold and min(len(before.text), len(line.text)) < 80:
        goes_on = full and (large or line.text[:1].islower())
        return not (goes_on or before.text.endswith((*HYPHENS, ",", ";")))
    if line.lead and line.text[0].isalpha() and not before.lead and _END.search(before.text):
        return True
    if line.y > before.y + size or line.text[0] in BULLETS or (line.text[0] == "–" and _has_dashes(flow)):
        return True
    if large:  # the lines of a heading may be centred
        number = NUMBERED.match(line.text)
        return is_named_heading(line.text) or bool(number and not number.group()[-1].islower())
    bullet = not line.text[0].isalpha() and bool(_BULLET.match(line.text))
    if bullet or offset > 0.5 * line.size:
        deeper = offset - offset_before > 0.5 * line.size and before.text[0] not in BULLETS
        as_usual = usual.indent and max(abs(offset - usual.indent), abs(offset - offset_before)) < 2.5
        begins = bool(bullet or deeper or as_usual)
        return begins and (length <= 0.8 * flow.width or bool(_END.search(before.text)))
    if usual.indent or full or not line.text[:1].isupper():
        return False
    return bool(_END.search(before.text))


def _has_dashes(flow: Flow) -> bool:
    """Returns whether so many lines begin with a dash that they are items of a list or speech."""
    return sum(line.text.startswith("– ") for line in flow.lines) > _DASHES * len(flow.lines)


def _continues_in(last: Passage, following: Passage, usual: BodyStyle) -> bool:
    """Returns whether the last paragraph of a column or page continues in the first one of the next."""
    end, start = last.lines[-1], following.lines[0]
    if "code" in (last.kind, following.kind):
        return last.kind == following.kind
    if abs(last.size - following.size) > 0.08 * last.size or last.bold != following.bold:
        return False
    if _BULLET.match(start.text) or is_named_heading(start.text) or is_named_heading(last.text):
        return False
    if end.text.endswith(HYPHENS) or (_is_row(end.text) and _is_row(start.text)):
        return True
    indented = start.x - following.flow.left > 0.5 * start.size
    if not _END.search(end.text):
        return (last.is_full or start.text[:1].islower()) and not (indented and start.text[:1].isupper())
    return bool(usual.indent) and last.is_full and not indented


def _is_row(text: str) -> bool:
    return "\t" in text or text.count("|") > 1


def passage_text(passage: Passage, usual: BodyStyle, *, keep: bool = True) -> str:
    """Returns the text of a paragraph. If all lines end early, it is verse or a list and keeps its lines."""
    if passage.kind == "code":
        return _code_text(passage)
    texts = [line.text for line in passage.lines]
    if len(texts) > 1 and keep:
        rows = sum(map(_is_row, texts)) * 2 > len(texts)
        hyphened = any(text.endswith(HYPHENS) for text in texts[:-1])
        if rows or (not hyphened and _ends_early(passage, passage.flow.width) and not _is_narrow_prose(passage)):
            return "\n".join(texts)
        texts = [text.replace("\t", " ") for text in texts]  # the gaps of a justified line
    return reduce(partial(_join_hyphenated, words=usual.words), texts)


def _ends_early(passage: Passage, width: float, most: float = 1.0) -> bool:
    """Returns whether the next line's first word would have fitted on ``most`` lines: their breaks are intended."""
    others = (1 - most) * (len(passage.lines) - 1)
    for line, following in pairwise(passage.lines):
        share = (len(following.text.split(" ", 1)[0]) + 1) / max(1, len(following.text))
        others -= line.end - passage.flow.left + (following.end - following.x) * share >= 0.93 * width
        if others < 0:
            return False
    return True


def _is_narrow_prose(passage: Passage) -> bool:
    """Returns whether lines go on in small letters to an edge of their own, as beside a picture."""
    later = passage.lines[1:]
    small = sum(line.text[:1].islower() for line in later)
    width = max(line.end for line in passage.lines) - passage.flow.left
    if len(later) < _FEWEST_NARROW or sum(len(line.text) for line in later) < _SHORTEST * len(later):
        return False
    return small > len(later) / 2 and not _ends_early(passage, width, 1 / 3)


def _join_hyphenated(before: str, after: str, words: Set[str]) -> str:
    """Returns two lines joined. The words of the document decide whether a hyphen at the end is part of a word."""
    first = before.endswith(HYPHENS) and _BROKEN.search(before[before.rfind(" ") + 1 :])
    second = first and _LETTERS.match(after)
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
            choices += [cut] if cut and passage.lines[0].text[:1].islower() else []
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
    return passage.size < 0.93 * usual.size and passage.kind != "code"


def _is_prose(passage: Passage, usual: BodyStyle) -> bool:
    """Returns whether a passage is text that fills its lines: no caption, label or copyright line."""
    long = len(passage.text) > _LEAST_TEXT and not passage.kind and not _is_small(passage, usual)
    return long and passage.is_full and not CAPTION.match(passage.text)


def _cut_foot(flow: list[Passage], usual: BodyStyle) -> tuple[list[Passage], list[Passage]]:
    """Returns a flow without the small text at its foot, and that text. Below a heading it is no foot."""
    small = list(takewhile(lambda each: _is_small(each, usual), reversed(flow)))[::-1]
    if not small:
        return flow, []
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


def mark_headings(passages: Sequence[Passage], usual: BodyStyle) -> list[Passage]:
    """Returns the passages with their text, and with their level by size where they are headings.

    Labels in a row become one paragraph with a line each."""
    for each in passages:
        if each.kind != "code" and _is_heading(each, usual):
            each.kind = "label" if _is_label(each, usual) else "heading"
    _find_other_labels(passages)
    sizes = sorted({round(each.size) for each in passages if each.kind == "heading"}, reverse=True)
    marked: list[Passage] = []
    for each in passages:
        text = passage_text(each, usual, keep=not each.kind)
        if marked and marked[-1].kind == each.kind == "label":
            marked[-1].joined += f"\n{text}"
        else:
            each.joined, each.level = text, sizes.index(round(each.size)) + 1 if each.kind == "heading" else 0
            marked.append(each)
    return marked


def mark_slides(passages: Sequence[Passage]) -> None:
    """Makes the title of each slide the only heading on it: the highest of its largest letters."""
    for _, group in groupby(passages, key=lambda each: each.number):
        slide = [each for each in group if not each.lines[0].turned]
        for each in slide:
            each.kind, each.level = each.kind.replace("heading", ""), 0
        worded = [each for each in slide if _LETTERS.search(each.text) and each.text[0] not in BULLETS]
        largest = max((each.size for each in worded), default=0.0)
        titles = [each for each in worded if each.size > _TITLE * largest and len(each.text) < _LONGEST]
        if titles and len(slide) > 1:
            title = max(titles, key=lambda each: each.lines[0].y)
            title.kind, title.level = "heading", 1


def _is_heading(passage: Passage, usual: BodyStyle) -> bool:
    large = passage.size >= LARGE * usual.size
    if not (large or passage.bold) or passage.lines[0].turned:
        return False
    text = passage.text
    if (
        text[0] in BULLETS
        or len(text) > _LONGEST
        or not any(c.isalpha() for c in text)
        or (_RELATION.search(text) and not _NAMED.search(text))
    ):
        return False
    ends = text[-1] in ".,;:" and not text[0].isdigit()
    return len(text) > 1 if large else len(text) > 2 and passage.size >= 0.97 * usual.size and not ends


def _is_label(passage: Passage, usual: BodyStyle) -> bool:
    """Returns whether a passage is the label of a node in a figure, or the bold head of a table."""
    table = "\t" in _NUMBERING.sub("", passage.text) and passage.size < LARGE * usual.size
    return table or all(_SYMBOL.match(word) for word in passage.text.split())


def _find_other_labels(passages: Sequence[Passage]) -> None:
    """Marks the headings that are directly above a caption as labels of its figure, and those of the first pages that
    are above a larger heading, such as authors and date of a paper, as text."""
    below: Passage | None = None  # the first passage below that is no such heading
    for here in reversed(passages):
        if below and here.kind == "heading" and not is_named_heading(here.lines[0].text):
            if CAPTION.match(below.text) and not NUMBERED.match(here.text):
                here.kind = "label"
                continue
            larger = below.kind == "heading" and below.size > here.size + _NEAR
            if larger and here.number == below.number < _FIRST_PAGES:
                here.kind = ""
                continue
        below = here
