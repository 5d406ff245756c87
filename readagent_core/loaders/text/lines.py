"""Detects how a text file separates its paragraphs, and joins wrapped lines. Verse, short lists and tables keep lines.

The layout is detected once for the whole file: lines wrapped at some width, one paragraph a line, or paragraphs
separated by blank lines.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from readagent_core.loaders.base import join_items
from readagent_core.loaders.marks import without_marks
from readagent_core.words import is_unspaced

_ITEM = re.compile(r"^\s*(?:[-*+•‣·]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_GAP = re.compile(r"(?<=\S)(?: {3,}|\t+)(?=\S)")
_END = re.compile(r"[.!?…:;。！？][\"'”’»)\]」』）*_]*\s*$|[」』]\s*$")
_CJK = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_SPEAKER = re.compile(r"^\s*((?:[A-ZÀ-Þ][\w.'’&-]*)(?: [\w.'’&()-]+){0,4}):\s+\S|^\s*([A-Z][A-Z .'’-]{1,30})\.\s+\S")
_STAMP = re.compile(  # the time of a message in a chat, or who said it
    r"^\s*[\[(]?(?:\d{1,4}[-./年]\d{1,2}[-./月]\d{1,4}日?,?[T ]?\s*)?(?:[上下]午|오[전후])?\s?\d{1,2}:\d{2}"
    r"(?::\d{2})?(?:\.\d+)?"
    r"(?:\s?[ap]\.?m\.?)?[\])]?\s*(?:[-–—:]\s*)?\S|^\s*<[^<>\s][^<>]{0,30}>\s|"
    r"^\S.{0,40}\s[\[(]?\d{4}[-./]\d{1,2}[-./]\d{1,2},?\s+\d{1,2}:\d{2}(?::\d{2})?[\])]?$",
    re.IGNORECASE,
)
_LONG_BLOCK = 60  # lines; a longer block of lines that are not joined is more than one paragraph
_STANZA = 10  # lines


@dataclass(frozen=True)
class Layout:
    """``width``: characters at which lines are wrapped, 0 when they are not. ``lines``: each line is a paragraph.
    ``indented``: an indent starts a paragraph. ``speakers``: a line ``NAME: …`` starts one. ``deeper``: the indent of
    paragraphs whose other lines are indented less, 0 where there is none; it starts one after the end of a sentence."""

    width: int = 0
    lines: bool = False
    indented: bool = False
    speakers: bool = False
    deeper: int = 0

    @classmethod
    def detect(cls, blocks: Sequence[Sequence[str]]) -> Layout:
        """Returns the layout of a file. ``blocks``: the lines between blank lines."""
        interior = [len(line.strip()) for block in blocks for line in block[:-1]]
        if not interior:
            return cls()
        every = sorted(len(line.strip()) for block in blocks for line in block)
        inner = [line for block in blocks if len(block) > 1 for line in block]
        stamped = sum(bool(_STAMP.match(line)) for line in inner)
        if stamped >= 5 and stamped * 4 > len(inner):
            return cls(speakers=True)
        speakers = _has_speakers(inner)
        width = sorted(interior)[int(len(interior) * 0.95)]
        if _is_wrapped(blocks, every, width, len(interior)):
            return cls(width=width, indented=_is_indented(blocks), speakers=speakers, deeper=_deeper_indent(blocks))
        return cls(lines=_are_paragraphs(blocks, sum(every)), speakers=speakers)


def _is_wrapped(blocks: Sequence[Sequence[str]], every: list[int], width: int, interior: int) -> bool:
    if interior < 3 or width < 18 or width > 200:
        return False
    if sum(n > width * 1.5 for n in every) * 25 > len(every):
        return False
    full = sum(_is_full(line, following, width) for block in blocks for line, following in itertools.pairwise(block))
    ended = sum(bool(_END.search(line)) for block in blocks for line in block[:-1])
    if ended * 10 > interior * 6:
        return False  # each line is a paragraph, or a sentence
    if _begin_with_capitals([line for block in blocks for line in block[1:]]):
        return False  # verse whose lines are of about one length
    return full * 2 > interior and (width >= 36 or is_unspaced("".join(itertools.chain(*blocks))))


def _begin_with_capitals(lines: Sequence[str]) -> bool:
    """Returns whether nearly all lines begin with a capital letter, as those of verse do."""
    first = [line.lstrip(" \t\"'“‘«—-*_")[:1] for line in lines]
    cased = [letter for letter in first if letter.isupper() or letter.islower()]
    capitals = sum(letter.isupper() for letter in cased)
    return len(cased) > 2 and capitals * 10 > len(cased) * 8 and not all(line.isupper() for line in lines)


def _is_full(line: str, following: str, width: int) -> bool:
    """Returns whether the first word of the next line would not have fitted on ``line``."""
    words = following.split(None, 1)
    word = words[0] if words and not _CJK.match(words[0]) else "x"
    return len(line.strip()) + 1 + len(word) > width * 0.82


def _is_indented(blocks: Sequence[Sequence[str]]) -> bool:
    """Returns whether indents inside blocks start paragraphs; verse, which indents every other line, does not count."""
    inner = [line for block in blocks for line in block[1:]]
    pairs = (pair for block in blocks for pair in itertools.pairwise(block))
    indents = [following for line, following in pairs if _indent(following) and not _indent(line)]
    firsts = [block[0] for block in blocks if len(block) > 3]
    led = sum(bool(_indent(line)) for line in firsts)
    return 0 < len(indents) < len(inner) * 0.5 and (led * 2 > len(firsts) or len(firsts) < 4)


def _deeper_indent(blocks: Sequence[Sequence[str]]) -> int:
    """Returns the indent that most paragraphs separated by blank lines begin with, deeper than their other lines."""
    many = [block for block in blocks if len(block) > 2]
    indents = Counter(_indent(block[0]) for block in many if _indent(block[0]) > _indent(block[1]))
    indent, blocks_with_it = max(indents.items(), key=lambda item: item[1], default=(0, 0))
    return indent if blocks_with_it * 2 > len(many) else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t\u3000"))


def _are_paragraphs(blocks: Sequence[Sequence[str]], characters: int) -> bool:
    """Returns whether the lines of an unwrapped file are paragraphs, not lines of verse."""
    many = [line.strip() for block in blocks if len(block) > 1 for line in block]
    size = sum(map(len, many))
    if size * 2 < characters:
        return False  # most paragraphs are separated by blank lines
    long = 40 if is_unspaced("".join(many[:50])) else 80
    ended = sum(bool(_END.search(line)) for line in many)
    return size > long * len(many) or ended > 0.6 * len(many)


def _has_speakers(lines: Iterable[str]) -> bool:
    names = Counter(found.group(1) or found.group(2) for found in map(_SPEAKER.match, lines) if found)
    return sum(names.values()) >= 5 and len(names) * 2 <= sum(names.values())


def split_paragraphs(block: Sequence[str], layout: Layout) -> list[str]:
    """Returns the paragraphs of one block of lines."""
    if layout.lines and not is_table(block) and not _is_list(block):
        return [line.strip() for line in block]
    pieces: list[list[str]] = [[block[0]]]
    for before, line in itertools.pairwise(block):
        begins = (
            (layout.indented and _indent(line) and not _indent(before))
            or (layout.deeper and _indent(before) < _indent(line) == layout.deeper and _END.search(before))
            or (layout.speakers and (_SPEAKER.match(line) or _STAMP.match(line)))
            or (layout.width and len(block) > 40 and len(before.strip()) < layout.width * 0.7 and _END.search(before))
        )
        if begins:
            pieces.append([line])
        else:
            pieces[-1].append(line)
    if layout.indented and len(pieces) > 2 and all(len(piece) <= 2 for piece in pieces):
        pieces = [list(block)]  # an indent at every line or every second one is verse
    pieces = [part for piece in pieces for part in (_stanzas(piece) if not layout.width else [piece])]
    return [text for piece in pieces for text in join_lines(piece, layout)]


def _stanzas(lines: list[str]) -> list[list[str]]:
    """Returns a long block without blank lines in parts: each line, or several where few lines end a sentence."""
    if len(lines) <= _LONG_BLOCK or is_table(lines) or _is_list(lines):
        return [lines]
    ended = [bool(_END.search(line)) for line in lines]
    least = 1 if sum(ended) * 2 > len(lines) else _STANZA
    parts: list[list[str]] = [[]]
    for line, end in zip(lines, ended, strict=True):
        parts[-1].append(line)
        if (end and len(parts[-1]) >= least) or len(parts[-1]) >= 4 * _STANZA:
            parts.append([])
    return [part for part in parts if part]


def _split_table(lines: Sequence[str]) -> list[str]:
    """Returns a table with its lines, or one paragraph a row where it is long."""
    margin = min(_indent(line) for line in lines)
    rows = [line[margin:].rstrip() for line in lines]
    found = join_items(rows)
    return found if len(found) == 1 else [_GAP.sub("\t", row.strip()) for row in rows]


def join_lines(lines: Sequence[str], layout: Layout) -> list[str]:
    """Returns the text of one paragraph. Wrapped lines are joined; verse, lists and tables stay in lines.

    Several texts where a list or table is long.
    """
    if is_table(lines):
        return _split_table(lines)
    if _is_list(lines):
        return join_items(
            [_unwrap(item) if layout.width else "\n".join(map(str.strip, item)) for item in _items(lines)]
        )
    return [_join_prose(lines, layout)]


def _join_prose(lines: Sequence[str], layout: Layout) -> str:
    if len(lines) == 1 or not layout.width or _is_verse(lines, layout.width):
        return "\n".join(line.strip() for line in lines)
    head = lines[0].strip()
    if head.isupper() and len(head) < 40 and not lines[1].strip().isupper():
        return f"{head}\n{_unwrap(lines[1:])}"  # a speaker's name above the speech
    return _unwrap(lines)


def is_table(lines: Sequence[str]) -> bool:
    """Returns whether most of ``lines`` have columns: pipes, tabs, or gaps that end at the same place.

    Not those of a chat, whose messages have tabs after the time and the name."""
    if len(lines) < 2 or sum(bool(_STAMP.match(line)) for line in lines) * 2 > len(lines):
        return False
    separated = sum(line.count("|") > 1 or "\t" in line.strip() for line in lines)
    ends = [gap.end() for line in lines if (gap := _GAP.search(line))]
    same = max(Counter(ends).values(), default=0)
    aligned = len(ends) if same > 1 and same * 3 >= len(ends) else 0  # other gaps are italics or breaks that were lost
    return max(aligned, separated) * 2 > len(lines)


def _is_list(lines: Sequence[str]) -> bool:
    return bool(_ITEM.match(lines[0])) and sum(bool(_ITEM.match(line)) for line in lines) > 1


def _items(lines: Sequence[str]) -> list[list[str]]:
    items: list[list[str]] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append([line])
        else:
            items[-1].append(line)
    return items


def _is_verse(lines: Sequence[str], width: int) -> bool:
    if len(lines) > _STANZA and _begin_with_capitals(lines[1:]):
        return True
    short = sum(not _is_full(line, following, width) for line, following in itertools.pairwise(lines))
    return short >= 0.6 * (len(lines) - 1)


def _unwrap(lines: Sequence[str]) -> str:
    text = lines[0].strip()
    for line in lines[1:]:
        text = join_text(text, line.strip())
    return text


def join_text(before: str, after: str) -> str:
    """Joins two pieces of one paragraph, with a space except in scripts and after dashes that have none."""
    if not before or not after:
        return before or after
    if _CJK.match(without_marks(after)[:1]) and _CJK.match(without_marks(before)[-1:]):
        return before + after
    if before.endswith(("--", "—")) and not before[:-2].endswith(" ") and not before[:-1].endswith(" "):
        return before + after
    if before[-1] == "-" and len(before) > 1 and before[-2].isalnum() and (after[0].islower() or after[0].isdigit()):
        return before + after
    return f"{before} {after}"
