"""Marks in a text that is being read, from which the builder makes the spans of its paragraphs.

A mark is made of characters that no text has (Unicode's noncharacters), so it goes through every rule for white space,
lines and lists together with the words it stands around: one that opens, the number of what it means, the words, and
one that closes.
"""

from __future__ import annotations

import re
from collections import Counter

from readagent_core.document import Span, SpanKind

_OPEN, CLOSE = "\ufdd0", "\ufdd1"
_ZERO = 0xFDD2  # of sixteen digits
_MARK = re.compile("\ufdd0([\ufdd2-\ufde1]+)|\ufdd1")
_RESERVED = re.compile("[\ufdd0-\ufdef]+")
_MARKED = re.compile("\ufdd0[\ufdd2-\ufde1]+[^\ufdd0\ufdd1]*\ufdd1")
_DESCRIPTION = "description"  # of a picture that is not shown
_REPEATS = 3  # a description that occurs so often is that of an ornament


def without_reserved(text: str) -> str:
    """Return the text of a file without the characters of which marks are made."""
    return _RESERVED.sub("", text)


def without_marks(text: str) -> str:
    """Return ``text`` without marks; the words in them stay."""
    return _RESERVED.sub("", text) if _OPEN in text or CLOSE in text else text


def outside_marks(text: str) -> str:
    """Return what of ``text`` is not in a mark."""
    return _RESERVED.sub("", _MARKED.sub("", text))


class Marks:
    """What the marks in the texts of one file mean. ``targets``: the key of each target, by its number."""

    def __init__(self) -> None:
        self._meant: list[tuple[str, str, int | None]] = []  # kind, text, number of the target
        self.targets: list[str] = []
        self._described: Counter[str] = Counter()

    def opening(self, kind: str, text: str = "", target: str = "") -> str:
        """Return the mark that opens a span; ``CLOSE`` ends it. ``target``: key of an anchor in the file."""
        if target:
            self.targets.append(target)
        self._meant.append((kind, without_reserved(text), len(self.targets) - 1 if target else None))
        digits = f"{len(self._meant) - 1:x}"
        return _OPEN + "".join(chr(_ZERO + int(digit, 16)) for digit in digits)

    def mark(self, kind: str, inner: str, text: str = "", target: str = "") -> str:
        """Return ``inner`` as the text of a span."""
        return f"{self.opening(kind, text, target)}{inner}{CLOSE}"

    def describe(self, text: str) -> str:
        """Return the description of a picture that is not shown; it is left out if it turns out to be an ornament's."""
        self._described[text] += bool(text)
        return text and self.mark(_DESCRIPTION, text)

    def notes_in(self, text: str) -> str:
        """Return the marks of the references to notes in ``text``, for the paragraph below a heading."""
        found = [m for m in _MARKED.findall(text) if self._meant[_number(m[1:])][0] == SpanKind.NOTE]
        return "".join(found)

    def resolve(self, text: str) -> tuple[str, tuple[Span, ...]]:
        """Return the plain text and its spans. The ``target`` of a span is a number in ``targets``."""
        if _OPEN not in text and CLOSE not in text:
            return text, ()
        out: list[str] = []
        length, at = 0, 0
        opened: list[tuple[int, int, int]] = []  # number of the mark, and length and pieces of the text before it
        spans: list[Span] = []
        for found in _MARK.finditer(f"{text}{CLOSE * text.count(_OPEN)}"):  # marks may be cut off at the end
            piece = text[at : found.start()]
            if piece[:1] == " " and (not out or out[-1][-1:] in (" ", "\n")):
                piece = piece.lstrip(" ")  # a mark without words stood between two spaces
            out += [piece] * bool(piece)
            length += len(piece)
            at = found.end()
            if found.group(1):
                opened.append((_number(found.group()[1:]), length, len(out)))
            elif opened:
                number, start, pieces = opened.pop()
                kind, meant, target = self._meant[number]
                if kind != _DESCRIPTION:
                    spans.append(Span(start, length, SpanKind(kind), meant, target))
                elif self._described["".join(out[pieces:])] >= _REPEATS:
                    del out[pieces:]
                    length = start
        whole = "".join([*out, text[at:]])
        end = len(whole.rstrip())
        clamped = {Span(min(s.start, end), min(s.end, end), s.kind, s.text, s.target) for s in spans}
        kept = [s for s in clamped if s.start < s.end or s.kind == SpanKind.NOTE]
        return whole[:end], tuple(sorted(kept, key=lambda s: (s.start, s.end, s.kind, s.target or 0)))


def _number(mark: str) -> int:
    digits = re.match("[\ufdd2-\ufde1]+", mark)
    return int("".join(f"{ord(digit) - _ZERO:x}" for digit in digits.group()), 16) if digits else 0
