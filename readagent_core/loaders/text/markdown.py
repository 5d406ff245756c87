"""Opens Markdown: headings become sections, a table is one paragraph a row, and paragraphs keep the stars of emphasis.

The only heading of level 1 is the title. Front matter and a line ``*by …*`` below the title give title, author and
language.
"""

from __future__ import annotations

import re

from readagent_core.document import Document
from readagent_core.loaders.base import SCENE_BREAK, Builder, Limits, check_size
from readagent_core.loaders.decode import decode_noting_guess
from readagent_core.loaders.text.lines import Layout, is_table, join_lines
from readagent_core.loaders.titles import is_same_title

_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_FACT = re.compile(r"^(title|author|lang|language):[ \t]*(.+?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_BY = re.compile(
    r"^[*_]{0,3}(?:by|von|par|por|di)[ \t]+(.{1,80}?)[*_]{0,3}$|^[*_]{0,3}著者?[:：][ \t]*(.{1,40}?)[*_]{0,3}$", re.I
)
_DIVIDER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(r"[ \t]*\{#[^}]*\}$")

Block = tuple[str, int, list[str]]  # 'heading' (with its level), 'rule', 'code' or 'text'; its lines


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Markdown ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This text")
    builder = Builder()
    text = decode_noting_guess(data, builder).replace("\r\n", "\n").replace("\r", "\n")
    facts, text = _front_matter(text)
    blocks = list(_split_blocks(text.split("\n")))
    layout = Layout.detect([lines for kind, _, lines in blocks if kind == "text"])
    title, author = facts.get("title", ""), facts.get("author", "")
    tops = [i for i, (kind, level, _) in enumerate(blocks) if kind == "heading" and level == 1]
    alone = len(tops) == 1 and all(kind != "heading" for kind, _, _ in blocks[: tops[0]])
    if alone and (not title or is_same_title(title, blocks[tops[0]][2][0])):
        title = title or blocks[tops[0]][2][0]
        at = tops[0] + 1
        if at < len(blocks) and blocks[at][0] == "text" and len(blocks[at][2]) == 1:
            by = _BY.match(blocks[at][2][0].strip())
            if by:
                author = author or (by.group(1) or by.group(2))
                del blocks[at]
        del blocks[tops[0]]
    for kind, level, lines in blocks:
        if kind == "heading":
            builder.add_heading(_drop_strong(lines[0]), level)
        elif kind == "rule":
            builder.add_paragraph(SCENE_BREAK)
        elif kind == "code":
            builder.add_paragraph("\n".join(lines), exact=True)
        else:
            for text in _table_rows(lines) or join_lines(lines, layout):
                builder.add_paragraph(_drop_strong(text), exact=is_table(text.split("\n")))
    language = facts.get("lang") or facts.get("language", "")
    return builder.build(title=title or name, author=author, language=language, format="markdown", limits=limits)


def _drop_strong(text: str) -> str:
    """Returns ``text`` without the marks of strong emphasis; screens show those of emphasis only."""
    return _drop_pairs(_drop_pairs(text, "**"), "__")


def _drop_pairs(text: str, mark: str) -> str:
    """Returns ``text`` without pairs of ``mark`` around words. Each mark is looked at once, however many there are."""
    pieces = text.split(mark)
    out = pieces[:1]
    i = 1
    while i < len(pieces):
        pair = i + 1 < len(pieces) and pieces[i] and pieces[i] == pieces[i].strip() and not out[-1].endswith("\\")
        if pair and mark == "__":  # not inside words such as a__b__c
            pair = not (pieces[i - 1][-1:].isalnum() or pieces[i + 1][:1].isalnum())
        out += [pieces[i], pieces[i + 1]] if pair else [mark, pieces[i]]
        i += 2 if pair else 1
    return "".join(out)


def _table_rows(lines: list[str]) -> list[str]:
    """Returns the rows of a Markdown table, cells separated by tabs; [] for another block."""
    if len(lines) < 2 or "|" not in lines[0] or not _DIVIDER.match(lines[1]):
        return []
    rows = [_CELL.split(line.strip().removeprefix("|").removesuffix("|")) for line in [lines[0], *lines[2:]]]
    return ["\t".join(cell.strip().replace("\\|", "|") for cell in row).rstrip() for row in rows]


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    found = _FRONT.match(text)
    if not found or not _FACT.search(found.group(1)):
        return {}, text
    facts = {key.lower(): value.strip("\"' ") for key, value in _FACT.findall(found.group(1))}
    return facts, text[found.end() :]


def _split_blocks(lines: list[str]) -> list[Block]:
    """Returns headings, rules, fenced code and blocks of text, in order."""
    blocks: list[Block] = []
    held: list[str] = []

    def close() -> None:
        if held:
            blocks.append(("text", 0, held.copy()))
            held.clear()

    fence = ""
    for line in lines:
        line = line.rstrip()
        if fence:
            held.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                blocks.append(("code", 0, held.copy()))
                held.clear()
                fence = ""
            continue
        atx, underline, opening = _ATX.match(line), _UNDERLINE.match(line), _FENCE.match(line)
        if not line.strip():
            close()
        elif opening:
            close()
            fence = opening.group(1)
            held.append(line)
        elif atx and (atx.group(2) or "").strip():
            close()
            blocks.append(("heading", len(atx.group(1)), [_LABEL.sub("", atx.group(2).strip())]))
        elif underline and len(held) == 1 and len(held[0]) < 120 and not held[0].startswith(("|", "- ", "* ", ">")):
            title = held.pop()
            blocks.append(("heading", 1 if underline.group(1)[0] == "=" else 2, [title.strip()]))
        elif _RULE.match(line) and not held:
            blocks.append(("rule", 0, [line]))
        else:
            held.append(line)
    close()
    return blocks
