"""Finds headings like ``Chapter IV`` in texts that have no other structure.

A table of contents names headings that look like any other line. Several headings of one rank in a row with no text
between them are such a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from readagent_core.loaders.builder import Builder
from readagent_core.loaders.contents import ROMAN, find_entries, is_contents_title, title_key

_RANKS = {
    1: "volume|book|part|act|band|buch|teil|akt|aufzug|tome|livre|partie|acte|libro|parte|atto|boek|deel|epoch|"
    "часть|книга|том|частина|część|księga|část|phần|quyển|μέρος|βιβλίο|kısım|partea",
    2: "chapter|chap|stave|canto|letter|scene|episode|adventure|kapitel|auftritt|chapitre|capítulo|capitolo|"
    "hoofdstuk|scène|szene|глава|сцена|розділ|rozdział|kapitola|chương|κεφάλαιο|bölüm|capitolul|luku|bab",
}
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|erste[rs]?|zweite[rs]?|dritte[rs]?|"
    r"vierte[rs]?|fünfte[rs]?|premi[eè]re?|deuxi[eè]me|troisi[eè]me|primero|"
    r"(?:(?:двадцать|тридцать|сорок|пятьдесят)\s+)?(?:перв|втор|трет|четв[её]рт|пят|шест|седьм|восьм|девят|десят|"
    r"[а-я]+надцат|двадцат|тридцат|сороков|последн)(?:[аы]я|[ыио]й|[оь]е|ья))"
)
_NUMBER = (
    rf"(?:\d{{1,3}}|{ROMAN}|(?:the\s+)?{_ORDINAL}|"
    r"(?:twenty|thirty|forty|fifty|sixty)?[- ]?(?:one|two|three|four|five|six|seven|eight|nine)|"
    r"ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty)"
)
_NAMED = {
    rank: re.compile(
        rf"^(?:the\s+)?(?:(?:{words})\.?\s+{_NUMBER}|{_ORDINAL}\s+(?:{words}))\b(?P<rest>.*)$",
        re.IGNORECASE | re.DOTALL,
    )
    for rank, words in _RANKS.items()
}
_ALONE = re.compile(
    r"^(?:prologue|epilogue|introduction|preface|foreword|afterword|conclusion|interlude|appendix(?:\s+[a-z\d]+)?|"
    r"postscript|dedication|etymology|vorwort|nachwort|einleitung|prolog|epilog|préface|avant-propos|"
    r"пролог|эпилог|предисловие|послесловие|введение|заключение|передмова|prólogo|epílogo|prefacio|wstęp|"
    r"序章|序|終章|あとがき|はじめに|おわりに|プロローグ|エピローグ|"
    r"序[言幕]|自序|前言|引[子言]|楔子|[后後][记記]|尾[声聲]|[终終]章|附[录錄]|完本感言|作者的话|"
    r"(?:番外|外[传傳])(?:篇|[\s\d一二三四五六七八九十]+)?(?:[\s　:：].{1,40})?|"
    r"프롤로그|에필로그|서문|머리말|서장|종장|후기|외전(?:\s*\d+)?)[.:]?$",
    re.IGNORECASE,
)
_CJK_NUMBER = "[一二三四五六七八九十百千两兩〇零\\d０-９]+"
_CJK = re.compile(
    rf"^(?:正文\s*)?[【\[（(《〈「『]?\s*(?:"
    rf"第\s*{_CJK_NUMBER}\s*(?P<unit>[部編编巻卷篇章回節节話话幕集折册冊])|(?P<volume>[卷巻])之?{_CJK_NUMBER}|[上中下]卷|"
    rf"제\s*\d+\s*(?P<korean>[장부편권화막절])|\d+\s*화)\s*[】\]）)》〉」』]?"
    rf"(?P<rest>(?:(?<=[】\]）)》〉」』])|[\s　:：、·—－-]).*)?$"
)
_CJK_CHAPTER = re.compile(rf"第\s*{_CJK_NUMBER}\s*[章回節节話话]")
_LONGEST_CJK = 45  # characters of a heading in Chinese, Japanese or Korean
_BARE = re.compile(rf"^(?:({ROMAN.upper()})|(\d{{1,3}})|([一二三四五六七八九十]{{1,4}}))[.．、]?$")
_NUMBERED_TITLE = re.compile(rf"^({ROMAN.upper()}|\d{{1,3}})[.:)]?\s+(?P<title>\S.{{0,78}})$", re.DOTALL)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_KANJI = {c: n for n, c in enumerate("一二三四五六七八九", start=1)}
_LONGEST = 110  # characters of a heading
_HEAD = 2000  # blocks at the start of a text in which a table of contents may be
_TEXT = 80  # characters; a block of text below a heading is longer
_SENTENCE = ".!?,;…。！？、」』\"”'’:"


@dataclass(frozen=True)
class Heading:
    """``rank``: 1 for parts, 2 for chapters, 3 for a heading without a number. ``used``: the number of blocks that the
    heading consists of. ``level``: of its section, where it does not follow from the rank."""

    title: str
    rank: int
    used: int = 1
    level: int = 0


def find_headings(blocks: Sequence[Sequence[str]]) -> tuple[dict[int, Heading], set[int]]:
    """Returns the headings by the index of their block, and the blocks that are entries of a table of contents."""
    candidates = {i: h for i, block in enumerate(blocks) if (h := _named(block)) is not None}
    if all(h.rank != 2 for h in candidates.values()):  # no chapters, or parts only
        candidates = _numbered(blocks) | candidates
    listed = _listed(blocks)
    candidates = listed | candidates
    contents = _contents(blocks, candidates)
    headings = {i: h for i, h in candidates.items() if i not in contents}
    for i, heading in sorted(headings.items()):
        if i + 1 in headings and i + 1 in listed and _is_bare(heading):
            headings[i] = Heading(f"{heading.title} {headings.pop(i + 1).title}", heading.rank, 2)
        elif i in headings and i + 1 not in headings and (title := _title_below(blocks, i, heading)):
            headings[i] = Heading(f"{heading.title} {title}", heading.rank, 2)
    return headings, contents


def _listed(blocks: Sequence[Sequence[str]]) -> dict[int, Heading]:
    """Returns the blocks that a table of contents names, when it names most of its lines in the order of the book."""
    start = next((i for i, block in enumerate(blocks[:_HEAD]) if is_contents_title(block[0])), None)
    if start is None:
        return {}
    keys = {i: title_key(" ".join(block)) for i, block in enumerate(blocks) if i > start and _is_short(block)}
    times = Counter(keys.values())
    titles = {key: i for i, key in keys.items() if key and times[key] <= 2}  # once in the table and once above its text
    targets: list[int] = []
    lines = 0
    for i in range(start, min(start + _HEAD, len(blocks))):
        if targets and i >= min(targets):
            break
        entries, found, left = find_entries(blocks[i], i, titles, {})
        lines += entries + len(left)
        targets += found
    forward = sum(a <= b for a, b in pairwise(targets))
    if len(set(targets)) < 2 or len(targets) * 2 < lines or forward * 5 < (len(targets) - 1) * 4:
        return {}
    return {i: Heading(" ".join(line.strip() for line in blocks[i]), 2) for i in targets}


def _is_short(block: Sequence[str]) -> bool:
    """Returns whether a block is as short as a heading, and no speech."""
    return len(block) <= 3 and sum(map(len, block)) <= _LONGEST and block[0].strip()[:1] not in tuple("\"“‘'«„「『")


def add_blocks(
    builder: Builder,
    blocks: Sequence[Sequence[str]],
    found: Mapping[int, Heading],
    contents: Collection[int],
    add: Callable[[Sequence[str]], None],
) -> None:
    """Adds ``blocks`` to ``builder``: headings, each table of contents as one paragraph, and all others by ``add``."""
    unnumbered = 1 if any(heading.rank == 1 for heading in found.values()) else 2  # beside parts, else beside chapters
    skip = 0
    for i, block in enumerate(blocks):
        if skip:
            skip -= 1
        elif i in found:
            builder.add_heading(found[i].title, found[i].level or (found[i].rank if found[i].rank < 3 else unnumbered))
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
    if found and len(blocks) > 1 and 1 not in titles and _is_plain_title(blocks[0]):
        apart = sum(i + 1 in spaced for i in found)
        if (1 in spaced) == (apart * 2 > len(found)):  # the first line is set as the other titles are
            found[0] = Heading(blocks[0][0].strip(), 1)
    others = [i for i in spaced if i not in found and i - 1 not in found]
    return found if len(found) > 1 and len(found) > len(others) else {}


def find_capital_headings(blocks: Sequence[Sequence[str]]) -> dict[int, Heading]:
    """Returns titles in capitals above text. Titles that occur again are the speakers of a play."""
    capitals = {i: title_key(" ".join(block)) for i, block in enumerate(blocks) if _is_in_capitals(block)}
    times = Counter(capitals.values())
    found = {
        i: Heading(" ".join(line.strip() for line in blocks[i]), 1)
        for i, key in capitals.items()
        if times[key] == 1 and i + 1 < len(blocks) and sum(map(len, blocks[i + 1])) > _TEXT
    }
    return found if len(found) > 1 and len(found) * 2 > len(capitals) else {}


def _is_in_capitals(block: Sequence[str]) -> bool:
    text = " ".join(block).strip()
    letters = sum(c.isalpha() for c in text)
    return len(block) <= 2 and len(text) <= 80 and letters > 2 and letters * 2 > len(text) and text.isupper()


def _is_plain_title(block: Sequence[str]) -> bool:
    line = block[0].strip()
    return len(block) == 1 and 0 < len(line) <= 80 and line[-1] not in _SENTENCE and any(c.isalpha() for c in line)


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
    numbered = _CJK.match(title)
    if numbered and len(title) <= _LONGEST_CJK and title[-1] not in "。，；、":
        unit = numbered.group("unit") or numbered.group("korean") or "卷"
        is_part = unit in "部編编巻卷篇集册冊부편권" and not _CJK_CHAPTER.search(numbered.group("rest") or "")
        title = title[1:-1] if title[0] + title[-1] in ("【】", "[]", "《》", "〈〉", "「」", "『』", "（）") else title
        return Heading(title, 1 if is_part and not title[0].isdigit() else 2)
    for rank, pattern in _NAMED.items():
        found = pattern.match(title)
        if found and _is_title(found.group("rest")) and not any(starts_like_heading(line) for line in block[1:]):
            return Heading(title, rank)
    return None


def is_cjk_heading(line: str) -> bool:
    """Returns whether ``line`` is a heading in the form of Chinese, Japanese or Korean books: '第三章 …', '제1장'."""
    line = line.strip()
    return not line.isascii() and len(line) <= _LONGEST_CJK and _named([line]) is not None


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
    """Returns lines that are only a number, or a number and a title, if they count upwards from one."""
    found: dict[int, Heading] = {}
    expected = 1
    for i, block in enumerate(blocks):
        text = " ".join(line.strip() for line in block) if _is_short(block) else ""
        titled = _NUMBERED_TITLE.match(text)
        title = titled.group("title").rstrip(".") if titled else ""
        is_titled = titled is not None and title[:1].isupper() and _is_plain_title([title])
        value = _value(titled.group(1) if titled and is_titled else text)
        if value and value in (1, expected):
            found[i] = Heading(text, 2)
            expected = value + 1
    # the steps of a recipe have no text between them; entries of a table of contents have it at their second place
    above_text = sum(i + 1 not in found and i + 1 < len(blocks) for i in found)
    return found if expected > 2 and above_text > 1 and above_text * 2 >= len(found) else {}


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


def _is_bare(heading: Heading) -> bool:
    """Returns whether a heading is only a number: 'IV', 'Chapter 4.'"""
    found = [pattern.match(heading.title) for pattern in _NAMED.values()]
    return bool(_BARE.match(heading.title)) or any(m and not m.group("rest").strip(" .:—-") for m in found)


def _title_below(blocks: Sequence[Sequence[str]], i: int, heading: Heading) -> str:
    """Returns the title in the block below a heading that is only a number; '' where there is none."""
    if not _is_bare(heading) or i + 2 >= len(blocks) or len(blocks[i + 1]) > 2:
        return ""
    title = " ".join(line.strip() for line in blocks[i + 1])
    plain = title.strip("*_ ")
    ended = plain[-1:] in tuple('.!?,;:"”’。！？」') and not plain.isupper()
    if not plain or len(plain) > 70 or plain[0] in "\"“‘'「『(" or ended:
        return ""
    if not plain.isupper() and not plain.istitle() and len(plain.split()) > 8:
        return ""
    return plain if len(" ".join(blocks[i + 2])) > len(title) else ""
