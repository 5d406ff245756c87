"""Finds headings like ``Chapter IV`` in texts that have no other structure.

Several headings of one rank in a row with no text between them are a table of contents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from readagent_core.loaders.base import Builder
from readagent_core.loaders.contents import title_key

_RANKS = {
    1: "volume|book|part|act|band|buch|teil|tome|livre|partie|libro|parte|boek|deel|epoch",
    2: "chapter|chap|stave|canto|letter|scene|episode|kapitel|chapitre|capítulo|capitolo|hoofdstuk|scène|szene",
}
_NUMBER = (
    r"(?:\d{1,3}|[ivxlcdm]{1,9}|the\s+(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)|"
    r"(?:twenty|thirty|forty|fifty|sixty)?[- ]?(?:one|two|three|four|five|six|seven|eight|nine)|"
    r"ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    r"first|second|third|fourth|fifth|last|erste[rs]?|zweite[rs]?|dritte[rs]?|premi[eè]re?|primero)"
)
_NAMED = {
    rank: re.compile(rf"^(?:the\s+)?(?:{words})\s+{_NUMBER}\b(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
    for rank, words in _RANKS.items()
}
_ALONE = re.compile(
    r"^(?:prologue|epilogue|introduction|preface|foreword|afterword|conclusion|interlude|appendix(?:\s+[a-z\d]+)?|"
    r"postscript|dedication|etymology|vorwort|nachwort|einleitung|prolog|epilog|préface|avant-propos|"
    r"序章|序|終章|あとがき|はじめに|おわりに|プロローグ|エピローグ)[.:]?$",
    re.IGNORECASE,
)
_CJK = re.compile(r"^第[一二三四五六七八九十百〇零\d０-９]+(?P<unit>[部編巻卷篇章回節节話话幕])(?P<rest>[\s　:：].*)?$")
_BARE = re.compile(r"^(?:([IVXLC]{1,7})|(\d{1,3})|([一二三四五六七八九十]{1,4}))[.．、]?$")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_KANJI = {c: n for n, c in enumerate("一二三四五六七八九", start=1)}
_LONGEST = 110
_SENTENCE = ".!?,;…。！？、」』\"”'’:"


@dataclass(frozen=True)
class Heading:
    """``rank``: 1 is the outermost. ``used``: the number of blocks that the heading consists of."""

    title: str
    rank: int
    used: int = 1


def find_headings(blocks: Sequence[Sequence[str]]) -> tuple[dict[int, Heading], set[int]]:
    """Returns the headings by the index of their block, and the blocks that are entries of a table of contents."""
    candidates = {i: h for i, block in enumerate(blocks) if (h := _named(block)) is not None}
    if not any(h.rank < 3 for h in candidates.values()):
        candidates |= _numbered(blocks)
    contents = _contents(blocks, candidates)
    headings = {i: h for i, h in candidates.items() if i not in contents}
    for i, heading in list(headings.items()):
        title = _title_below(blocks, i, heading) if i + 1 not in headings else ""
        if title:
            headings[i] = Heading(f"{heading.title} {title}", heading.rank, 2)
    return headings, contents


def add_blocks(
    builder: Builder,
    blocks: Sequence[Sequence[str]],
    found: Mapping[int, Heading],
    contents: Collection[int],
    add: Callable[[Sequence[str]], None],
) -> None:
    """Adds ``blocks`` to ``builder``: headings, each table of contents as one paragraph, and all others by ``add``."""
    skip = 0
    for i, block in enumerate(blocks):
        if skip:
            skip -= 1
        elif i in found:
            builder.add_heading(found[i].title, found[i].rank if found[i].rank < 3 else 1)
            skip = found[i].used - 1
        elif i in contents:
            entry = " ".join(line.strip() for line in block)
            before = f"{builder.paragraphs.pop().text}\n" if i - 1 in contents and builder.paragraphs else ""
            builder.add_paragraph(before + entry)
        else:
            add(block)


def find_unnumbered_headings(blocks: Sequence[Sequence[str]], spaced: Collection[int]) -> dict[int, Heading]:
    """Returns titles without a number: short single lines after more blank lines than there are before paragraphs."""
    titles = {i for i in spaced if i + 1 < len(blocks) and _is_plain_title(blocks[i])}
    found = {i: Heading(blocks[i][0].strip(), 1) for i in sorted(titles) if i + 1 not in titles}
    others = [i for i in spaced if i not in found and i - 1 not in found]
    return found if len(found) > 1 and len(found) > len(others) else {}


def _is_plain_title(block: Sequence[str]) -> bool:
    line = block[0].strip()
    return len(block) == 1 and len(line) <= 80 and line[-1] not in _SENTENCE and any(c.isalpha() for c in line)


def is_heading_line(line: str) -> bool:
    """Returns whether ``line`` could be a heading: 'Chapter 1', 'IV', 'Prologue'."""
    return _named([line]) is not None or _value(line.strip()) > 0


def is_named_heading(line: str) -> bool:
    """Returns whether ``line`` is a heading with a word like 'Chapter'."""
    heading = _named([line])
    return heading is not None and heading.rank < 3


def _named(block: Sequence[str]) -> Heading | None:
    if len(block) > 3:
        return None
    title = " ".join(line.strip() for line in block).strip("*_ ")
    if not title or len(title) > _LONGEST:
        return None
    if _ALONE.match(title):
        return Heading(title, 3)
    japanese = _CJK.match(title)
    if japanese:
        return Heading(title, 1 if japanese.group("unit") in "部編巻卷篇" else 2)
    for rank, pattern in _NAMED.items():
        found = pattern.match(title)
        if found and _is_title(found.group("rest")) and not any(starts_like_heading(line) for line in block[1:]):
            return Heading(title, rank)
    return None


def starts_like_heading(line: str) -> bool:
    """Returns whether ``line`` starts with a word like 'Chapter' and a number."""
    return any(pattern.match(line.strip()) for pattern in _NAMED.values())


def _is_title(rest: str) -> bool:
    """Returns whether the text after the number can be a title, not the rest of a sentence."""
    if not rest.strip():
        return True
    if rest[0] not in ".:,;-–—)] \t]":
        return False
    words = rest.strip(" .:,;-–—)]\t\"“‘'*_")
    return not words or not words[0].islower()


def _numbered(blocks: Sequence[Sequence[str]]) -> dict[int, Heading]:
    """Returns lines that are only a number, if they count upwards from one."""
    found: dict[int, Heading] = {}
    expected = 1
    for i, block in enumerate(blocks):
        value = _value(block[0].strip()) if len(block) == 1 else 0
        if value and value in (1, expected):
            found[i] = Heading(block[0].strip(), 2)
            expected = value + 1
    return found if expected > 2 and len(found) > 1 else {}


def _value(line: str) -> int:
    match = _BARE.match(line)
    if not match:
        return 0
    if match.group(2):
        return int(match.group(2))
    if match.group(3):
        tens, _, ones = match.group(3).rpartition("十") if "十" in match.group(3) else ("", "", match.group(3))
        ten = (_KANJI.get(tens, 1) if "十" in match.group(3) else 0) * 10
        return ten + _KANJI.get(ones, 0)
    return roman_value(match.group(1))


def roman_value(number: str) -> int:
    """Returns the value of a Roman number in capital or small letters."""
    values = [_ROMAN[c] for c in number.upper()]
    return sum(-v if v < following else v for v, following in zip(values, [*values[1:], 0], strict=True))


def _contents(blocks: Sequence[Sequence[str]], candidates: dict[int, Heading]) -> set[int]:
    """Returns the candidates that belong to a table of contents."""
    later: dict[str, int] = {title_key(h.title): i for i, h in sorted(candidates.items())}
    contents: set[int] = set()
    for run in _runs(sorted(candidates)):
        ranks = [candidates[i].rank for i in run]
        if len(run) < 3 or len(set(ranks)) == len(ranks):
            continue
        real: list[int] = []  # the first headings of the text may follow the table directly
        for i in reversed(run):
            deeper = not real or candidates[i].rank < candidates[real[-1]].rank
            if not deeper or later[title_key(candidates[i].title)] > i or i + 1 >= len(blocks):
                break
            real.append(i)
        contents.update(i for i in run if i not in real)
    return contents


def _runs(indexes: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for i in indexes:
        if runs and i == runs[-1][-1] + 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def _title_below(blocks: Sequence[Sequence[str]], i: int, heading: Heading) -> str:
    """Returns the title in the block below a heading that is only a number; '' where there is none."""
    bare = _BARE.match(heading.title) or any(
        (m := p.match(heading.title)) and not m.group("rest").strip(" .:—-") for p in _NAMED.values()
    )
    if not bare or i + 2 >= len(blocks) or len(blocks[i + 1]) > 2:
        return ""
    title = " ".join(line.strip() for line in blocks[i + 1])
    plain = title.strip("*_ ")
    if (
        not plain
        or len(plain) > 70
        or plain[0] in "\"“‘'「『("
        or (plain[-1] in '.!?,;:"”’。！？」' and not plain.isupper())
    ):
        return ""
    if not plain.isupper() and not plain.istitle() and len(plain.split()) > 8:
        return ""
    return plain if len(" ".join(blocks[i + 2])) > len(title) else ""
