"""Opens plain text: paragraphs from blank lines, indents or wrapped lines; lines like ``Chapter IV`` are headings.

Project Gutenberg's header and licence and Aozora Bunko's notes are removed, with a notice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from readagent_core.document import Document, SpanKind
from readagent_core.loaders import gutenberg, headings
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.builder import Builder
from readagent_core.loaders.decode import decode_noting_guess
from readagent_core.loaders.marks import without_marks, without_reserved
from readagent_core.loaders.text.lines import Layout, is_table, split_paragraphs

_BREAK = re.compile("\r+\n|\r|\x0b|\x0c|\x85|\u2028|\u2029")
_UNEVEN = 2  # characters by which a rule is shorter or longer than the heading above it
_BY = re.compile(r"^[*_ ]*(?:by|von|par|por|di)\s+(.{2,60}?)[*_ ]*$|^著者?[:：]\s*(.{1,40})$", re.IGNORECASE)
_FACT = re.compile(r"^(title|author):\s*(\S.{0,150})$", re.IGNORECASE)
_TEXT_LINE = 55  # characters; a longer line is no part of a heading
_ENDS = '.!?…。！？"”’»」』*-—=_'
_RULE = re.compile(r"^\s*(?:[*_~=#·•—–-]\s*){3,}$")
_UNDERLINE = re.compile(r"^\s*([=~^*-])\1{3,}$")
_BOX = re.compile(r"^\s*(?:\|([^|]*)\||\+[-=]+\+)$")  # a frame drawn around a text
# Aozora Bunko's plain texts: title and author lines, furigana in 《》, editors' notes in ［＃…］, a colophon
_LINE = re.compile(r"^-{20,}$")
_SIZES = "大中小"  # of headings, from the outermost level
_HEADING_BEFORE = re.compile(rf"［＃「(?P<title>[^［］\n]{{1,200}})」は(?:同行|窓)?(?P<size>[{_SIZES}])見出し］")
_HEADING_AROUND = re.compile(
    rf"［＃(?:ここから|同行|窓)?(?P<size>[{_SIZES}])見出し］(?P<title>(?:(?!見出し).){{1,300}})"
    rf"［＃(?:ここで|同行|窓)?(?P=size)見出し終わり］",
    re.DOTALL,
)
_HEADING_MARK = "\x1d"  # begins a line that is a heading; a digit for its level follows
_ROLE = re.compile(r"(?:訳|編|校訂|校注|注|画|著訳)[）)]?$|^(?:訳者|翻訳|編者|校訂)")
_RUBY = re.compile(r"《[^》\n]{1,60}》")
_RUBY_OF_BASE = re.compile(  # the base is what ｜ begins, else a run of one kind of characters
    r"(?:｜(?P<marked>[^｜《》\n]{1,60})|(?P<run>[々〆〇ヶ仝\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[ァ-ヴー]+|[ぁ-ん]+|"
    r"[A-Za-zＡ-Ｚａ-ｚÀ-ÿ]+))《(?P<reading>[^》\n]{1,60})》"
)
_KANA_OF_BASE = re.compile(r"[｜\u3400-\u9fff][^｜《》\n]{0,60}《[ぁ-んァ-ヴー・]+》")
_NOTE = re.compile(r"［＃[^］\n]{0,200}］")
_UNKNOWN = re.compile(r"※［＃(?:[^］\n]*?U\+([0-9A-Fa-f]{4,5}))?[^］\n]*］")
_COLOPHON = re.compile(r"^底本[：:]")


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the plain text ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This text")
    builder = Builder()
    decoded = without_reserved(decode_noting_guess(data, builder))
    # a form feed separates pages of a printout; treat it as a blank line
    lines = [_BOX.sub(r"\1", line.rstrip()) for line in _BREAK.sub("\n", decoded.replace("\x0c", "\n\n")).split("\n")]
    lines, facts = gutenberg.remove_licence(lines, lines, builder)
    if not facts and _is_aozora(lines):
        facts, lines = _parse_aozora("\n".join(lines), builder)
    elif _KANA_OF_BASE.search(decoded):  # as novels on the web write readings
        lines = [_NOTE.sub("", line) for line in _mark_ruby("\n".join(lines), builder).split("\n")]
    blocks, spaced = _split_blocks(_mark_underlined(lines))
    layout = Layout.detect([b for b in blocks if not is_table(b)])
    found, contents = _find_marked_headings(blocks), set[int]()
    if len(found) < 2:
        named, contents = headings.find_headings(blocks)
        found = named | found
    if all(heading.rank != 2 for heading in found.values()):  # no chapters, or parts only
        others = headings.find_unnumbered_headings(blocks, spaced) or headings.find_capital_headings(blocks)
        level = 1 + any(heading.rank == 1 for heading in found.values())
        found = {i: replace(h, rank=level) for i, h in others.items() if i not in contents} | found
    if 0 not in found and not facts.get("title"):
        facts |= _find_title_and_author(blocks)
    elif 0 in found and [heading.level for heading in found.values()].count(1) == found[0].level == 1:
        facts.setdefault("title", found[0].title)

    def add(block: Sequence[str]) -> None:
        rule = len(block) == 1 and _RULE.match(block[0])
        for text in [" ".join(block[0].split())] if rule else split_paragraphs(block, layout):
            builder.add_paragraph(text, exact=is_table(text.split("\n")))

    headings.add_blocks(builder, blocks, found, contents, add)
    told: dict[str, Any] = {key: facts.get(key, "") for key in ("title", "author", "language")}
    return builder.build(**told, name=name, format="text", limits=limits)


def _split_blocks(lines: list[str]) -> tuple[list[list[str]], set[int]]:
    """Returns the runs of lines between blank lines, and which of them come after more than one blank line."""
    blocks: list[list[str]] = []
    spaced: set[int] = set()
    held: list[str] = []
    blank = 0
    for line in [*lines, ""]:
        if line.strip():
            if not held and blank > 1 and blocks:
                spaced.add(len(blocks))
            held.append(line)
            blank = 0
        else:
            blank += 1
            if held:
                blocks += _split_heading_lines(held)
                held = []
    return blocks, spaced


def _split_heading_lines(block: list[str]) -> list[list[str]]:
    """Splits a block at the headings in it that have no blank line before or after them."""
    if len(block) < 2:
        return [block]
    width = max(map(len, block))
    pieces: list[list[str]] = [[]]
    for at, line in enumerate(block):
        following = block[at + 1] if at + 1 < len(block) else ""
        before = block[at - 1].rstrip() if at else "."
        if _is_heading_line(line, before, following, width, apart=len(block) > 3 or len(following) > _TEXT_LINE):
            pieces += [[line], []]
        else:
            pieces[-1].append(line)
    return [piece for piece in pieces if piece]


def _is_heading_line(line: str, before: str, following: str, width: int, *, apart: bool) -> bool:
    """Returns whether a line within a block is a heading, not one that was wrapped because the next word did not fit.

    ``apart``: it is not one of a few short lines that are a heading together, such as 'ACT I' and 'SCENE II'."""
    if not following.strip() or not apart:
        return False
    if headings.is_cjk_heading(line):
        return True
    if not headings.is_named_heading(line):
        return False
    fits = len(line) + 1 + len(following.split(None, 1)[0]) <= width
    return fits and not following.lstrip()[:1].islower() and (before[-1] in _ENDS or headings.is_named_heading(before))


def _find_title_and_author(blocks: list[list[str]]) -> dict[str, str]:
    """Returns title and author where the file starts with them: a short line, then ``by …``; or ``Title: …`` lines."""
    facts = {m.group(1).lower(): m.group(2).strip() for b in blocks[:3] for line in b if (m := _FACT.match(line))}
    if facts.get("title"):
        return facts
    head = [line.strip() for block in blocks[:3] for line in block][:3]
    if len(blocks) < 2 or not head or len(head[0]) > 100 or headings.is_heading_line(head[0]):
        return {}
    by = _BY.match(head[1]) if len(head) > 1 else None
    if by:
        return {"title": head[0].strip("*_# "), "author": (by.group(1) or by.group(2)).strip()}
    alone = len(blocks[0]) == 1 and len(blocks) > 2 and len(head[0]) <= 80
    ended = head[0][-1] in '.!?,;:…。！？、」"”'
    return {"title": head[0].strip("*_# ")} if alone and not ended and not _RULE.match(head[0]) else {}


def _mark_underlined(lines: Sequence[str]) -> list[str]:
    """Returns the lines with headings marked: lines above a rule of their own length, perhaps below one as well.

    Their levels are in the order in which the signs of the rules come."""
    marked, signs = list(lines), list[str]()
    for at, (line, rule) in enumerate(pairwise(lines)):
        found, before = _UNDERLINE.match(rule), lines[at - 1] if at else ""
        if (
            found
            and abs(len(line.strip()) - len(rule.strip())) <= _UNEVEN
            and before in ("", rule)
            and any(map(str.isalpha, line))
            and not re.search(r"\S(?:\t|  )", line)  # the head of a table
        ):
            signs += [] if found[1] in signs else [found[1]]
            marked[at] = f"{_HEADING_MARK}{signs.index(found[1]) + 1}{line.strip()}"
            marked[at + 1] = marked[at - 1 if at else at + 1] = ""
    return marked


def _is_aozora(lines: Sequence[str]) -> bool:
    """Returns whether the file has Aozora Bunko's notes."""
    head = [line for line in lines[:60] if line.strip()]
    return any("【テキスト中に現れる記号について】" in line for line in head) or (
        any("青空文庫" in line for line in lines[-40:]) and any(_COLOPHON.match(line) for line in lines[-60:])
    )


def _parse_aozora(text: str, builder: Builder) -> tuple[dict[str, str], list[str]]:
    """Returns title, author and language, and the lines of the text without furigana and notes, headings marked."""
    lines = text.split("\n")
    rules = [i for i, line in enumerate(lines[:200]) if _LINE.match(line)]
    head_end = rules[0] if rules else next((i for i, line in enumerate(lines) if not line.strip()), 0)
    start = rules[1] + 1 if len(rules) > 1 else head_end
    end = next((i for i in range(len(lines) - 1, start, -1) if _COLOPHON.match(lines[i])), len(lines))
    apart = sum(len(line) for line in [*lines[head_end:start], *lines[end:]])
    builder.add_notice("aozora", f"Aozora Bunko's notes ({apart:,} characters) were left out.", apart)
    body = _UNKNOWN.sub(_unknown_character, "\n".join(lines[start:end]))
    body = _RUBY.sub("", _mark_ruby(body, builder))
    body = _HEADING_AROUND.sub(lambda found: f"\n\n{_marked(found)}\n\n", body)
    marked = [piece for line in body.split("\n") for piece in _split_headings(line)]
    return _parse_aozora_head(lines[:head_end]), [_strip_editors_notes(line) for line in marked]


def _mark_ruby(text: str, builder: Builder) -> str:
    """Returns ``text`` without the readings in it, which become marks of their bases."""

    def mark(found: re.Match[str]) -> str:
        return builder.marks.mark(SpanKind.RUBY, found["marked"] or found["run"], found["reading"])

    return _RUBY_OF_BASE.sub(mark, text).replace("｜", "")


def _parse_aozora_head(lines: Sequence[str]) -> dict[str, str]:
    """Returns title and author: the author follows the title, perhaps after a subtitle, and before the translator."""
    head = [text for line in lines if (text := _strip_editors_notes(line))]
    names = [line for line in head[1:] if not _ROLE.search(line) and not line.isascii()]
    facts = {"language": "ja", "title": head[0]} if head else {"language": "ja"}
    return facts | ({"author": names[-1]} if names else {})


def _split_headings(line: str) -> list[str]:
    """Returns a line with its headings as marked lines of their own, between empty lines."""
    pieces: list[str] = []
    start = 0
    for found in _HEADING_BEFORE.finditer(line):
        text = without_marks(_strip_editors_notes(line[start : found.start()]))
        pieces += [text.removesuffix(_strip_editors_notes(found["title"])), "", _marked(found), ""]
        start = found.end()
    return [*pieces, line[start:]]


def _marked(found: re.Match[str]) -> str:
    title = without_marks(" ".join(_strip_editors_notes(line) for line in found["title"].split("\n")).strip())
    return f"{_HEADING_MARK}{_SIZES.index(found['size']) + 1}{title}"


def _find_marked_headings(blocks: Sequence[Sequence[str]]) -> dict[int, headings.Heading]:
    marked = {i: block[0] for i, block in enumerate(blocks) if block[0].startswith(_HEADING_MARK)}
    return {i: headings.Heading(line[2:], 2, level=int(line[1])) for i, line in marked.items()}


def _strip_editors_notes(line: str) -> str:
    line = _UNKNOWN.sub(_unknown_character, line)
    line = _NOTE.sub("", _RUBY.sub("", line))
    return line.replace("｜", "").strip("　 \t")


def _unknown_character(found: re.Match[str]) -> str:
    return chr(int(found.group(1), 16)) if found.group(1) else "〓"
