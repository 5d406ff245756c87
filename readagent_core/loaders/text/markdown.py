"""Opens Markdown: headings become sections, a table is one paragraph a row, and paragraphs keep the stars of emphasis.

The only heading of level 1 is the title. Front matter and a line ``*by …*`` below the title give title, author and
language.
"""

from __future__ import annotations

import re
from typing import Any

from readagent_core.document import Document, SpanKind, is_outside_address
from readagent_core.loaders.base import SCENE_BREAK, Builder, Limits, Note, check_size
from readagent_core.loaders.decode import decode_noting_guess
from readagent_core.loaders.descriptions import bracket_description
from readagent_core.loaders.headings import is_heading_line
from readagent_core.loaders.marks import Marks, without_marks, without_reserved
from readagent_core.loaders.maths import formula_line, mark_dollars, safe_mathml
from readagent_core.loaders.text.lines import Layout, is_table, join_lines
from readagent_core.loaders.titles import is_same_title
from readagent_core.words import count_of

_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_FACT = re.compile(
    r"^(title|authors?|lang|language):[ \t]*(\S.*?|(?:\n[ \t]*-[ \t]*\S.*(?:\n[ \t]+[^-\s].*)*)+)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_BY = re.compile(
    r"^[*_]{0,3}(?:by|von|par|por|di)[ \t]+(.{1,80}?)[*_]{0,3}$|^[*_]{0,3}著者?[:：][ \t]*(.{1,40}?)[*_]{0,3}$", re.I
)
_DIVIDER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(r"[ \t]*\{#([^}\s]*)[^}]*\}$")
_COMMENT = re.compile(r"(`+)(?!`)(?:(?!\n\n)[^`])*\1|(?<!\\)<!--.*?-->", re.DOTALL)  # or code, which stays
_FENCED = re.compile(r"(^ {0,3}(?:`{3}|~{3}).*?^ {0,3}(?:`{3}|~{3})[ \t]*$)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+[^`]+`+)")
_NOTE_TEXT = re.compile(r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]*(.*)$")
_REFERENCE = re.compile(r"^ {0,3}\[(?!\^)([^\]]{1,200})\]:[ \t]*<?(\S+?)>?(?:[ \t]+[\"'(].*[\"')])?[ \t]*$")
_TARGET = r"\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+[\"'(][^\"')]*[\"')])?\s*\)"
_LINKED_PICTURE = re.compile(rf"\[!\[([^\[\]]*)\]{_TARGET}\](?:{_TARGET}|\[[^\[\]]*\])")
_PICTURE = re.compile(rf"!\[([^\[\]]*)\](?:{_TARGET}|\[[^\[\]]*\])")
_BADGE = re.compile(r"badge|shields\.io|travis|codecov|coveralls|/workflows/|circleci|appveyor", re.IGNORECASE)
_LINK = re.compile(rf"(?<![\\!])\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])+)\](?:{_TARGET}|\[([^\[\]]*)\])?")
_INLINE_NOTE = re.compile(r"\^\[((?:[^\[\]]|\[[^\[\]]*\])+)\]")
_KEPT_CODE = "\ufdef"  # around the number of a piece of code; no text has this character
_KEPT = re.compile(f"{_KEPT_CODE}(\\d+){_KEPT_CODE}")
_ADDRESS = re.compile(r"<(https?://[^<>\s]+|mailto:[^<>\s]+)>")
_NOT_SLUG = re.compile(r"[^\w\- ]+")

Block = tuple[str, int, list[str]]  # 'heading' (with its level), 'rule', 'code' or 'text'; its lines


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Markdown ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This text")
    builder = Builder()
    text = re.sub(r"\r*\n|\r", "\n", without_reserved(decode_noting_guess(data, builder)))
    facts, text = _front_matter(text)
    parts = _FENCED.split(text)
    text = "".join(part if at % 2 else _COMMENT.sub(_keep_code, part) for at, part in enumerate(parts))
    blocks = list(_split_blocks(text.split("\n")))
    inline = _Inline(builder.marks)
    blocks = inline.take_definitions(blocks)
    layout = Layout.detect([lines for kind, _, lines in blocks if kind == "text"])
    title, author = facts.get("title", ""), facts.get("author", "")
    tops = [i for i, (kind, level, _) in enumerate(blocks) if kind == "heading" and level == 1]
    alone = len(tops) == 1 and all(kind != "heading" for kind, _, _ in blocks[: tops[0]])
    first = without_marks(inline.text(_LABEL.sub("", blocks[tops[0]][2][0]), heading=True)) if alone else ""
    if alone and (is_same_title(title, first) or (not title and not is_heading_line(first))):
        title = title or first
        at = tops[0] + 1
        if at < len(blocks) and blocks[at][0] == "text" and len(blocks[at][2]) == 1:
            by = _BY.match(blocks[at][2][0].strip())
            if by:
                author = author or (by.group(1) or by.group(2))
                del blocks[at]
        del blocks[tops[0]]
    for kind, level, lines in blocks:
        if kind == "heading":
            label = _LABEL.search(lines[0])
            heading = _drop_strong(inline.text(_LABEL.sub("", lines[0]), heading=True))
            plain = without_marks(heading).lower()
            slug = _NOT_SLUG.sub("", plain).strip().replace(" ", "-")
            builder.add_anchors([f"#{slug}", *([f"#{label.group(1)}"] if label else [])])
            builder.add_heading(heading, level)
        elif kind == "rule":
            builder.add_paragraph(SCENE_BREAK)
        elif kind == "code":
            builder.add_paragraph("\n".join(lines), exact=True)
        else:
            for text in _table_rows(lines) or join_lines(lines, layout):
                builder.add_paragraph(_drop_strong(inline.text(text)), exact=is_table(text.split("\n")))
    builder.add_notes(inline.notes())
    if inline.badges:
        builder.add_notice(
            "badges", f"{count_of(inline.badges, 'badge')} of the project's state left out.", inline.badges
        )
    language = facts.get("lang") or facts.get("language", "")
    return builder.build(title=title, name=name, author=author, language=language, format="markdown", limits=limits)


class _Inline:
    """What stands within lines: links, notes, pictures, formulas. Takes the definitions of links and notes first."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.links: dict[str, str] = {}
        self.noted: dict[str, list[str]] = {}  # the paragraphs of each note
        self.badges = 0

    def take_definitions(self, blocks: list[Block]) -> list[Block]:
        """Returns the blocks without the lines that say where links lead and what notes say."""
        kept: list[Block] = []
        note: list[str] | None = None
        for kind, level, lines in blocks:
            if kind != "text":
                kept.append((kind, level, lines))
                note = None
                continue
            rest: list[str] = []
            if note and lines[0].startswith(("  ", "\t")):
                note.append("")  # its next paragraph
            else:
                note = None
            for line in lines:
                defined, linked = _NOTE_TEXT.match(line), _REFERENCE.match(line)
                if defined:
                    note = self.noted.setdefault(defined.group(1), [])
                    note.append(defined.group(2))
                elif linked:
                    self.links[linked.group(1).casefold()] = linked.group(2)
                elif note:
                    note[-1] = f"{note[-1]} {line.strip()}".strip()
                else:
                    rest.append(line)
            if rest:
                kept.append((kind, level, rest))
        return kept

    def notes(self) -> list[Note]:
        return [
            Note(self.text(text), "", [f"note/{name}"] if at == 0 else [])
            for name, texts in list(self.noted.items())
            for at, text in enumerate(texts)
        ]

    def text(self, text: str, *, heading: bool = False) -> str:
        """Returns a text with marks of its links, notes and formulas. Code stays as it is."""
        if not any(sign in text for sign in "[$<"):
            return text
        codes: list[str] = []

        def keep(found: re.Match[str]) -> str:
            codes.append(found.group())
            return f"{_KEPT_CODE}{len(codes) - 1}{_KEPT_CODE}"

        def code(found: re.Match[str]) -> str:
            return codes[int(found.group(1))]

        def formula(tree: Any) -> str:
            line = formula_line(tree)
            return self.marks.mark(SpanKind.FORMULA, line, safe_mathml(tree)) if line else ""

        def picture(found: re.Match[str]) -> str:
            badge = bool(_BADGE.search(found.group()))
            self.badges += badge
            return "" if badge or heading else self.marks.describe(bracket_description(found.group(1)))

        def note(found: re.Match[str]) -> str:
            name = str(len(self.noted) + 1)
            self.noted[f"^{name}"] = [_KEPT.sub(code, found.group(1))]
            return self.marks.mark(SpanKind.NOTE, "", name, f"note/^{name}")

        text = mark_dollars(_CODE.sub(keep, text), formula)
        text = _INLINE_NOTE.sub(note, _PICTURE.sub(picture, _LINKED_PICTURE.sub(picture, text)))
        text = _ADDRESS.sub(
            lambda m: self.marks.mark(SpanKind.LINK, m.group(1), m.group(1)), _LINK.sub(self._link, text)
        )
        return _KEPT.sub(code, text).strip(" ")

    def _link(self, found: re.Match[str]) -> str:
        words, address, name = found.group(1), found.group(2), found.group(3)
        if words[0] == "^" and words[1:] in self.noted and address is None:
            return self.marks.mark(SpanKind.NOTE, "", words[1:], f"note/{words[1:]}")
        if address is None:
            address = self.links.get((name or words).casefold())
        if address is None:
            return found.group()
        inside = address.startswith("#")
        if inside or is_outside_address(address):
            return self.marks.mark(SpanKind.LINK, words, "" if inside else address, address if inside else "")
        return words


def _keep_code(found: re.Match[str]) -> str:
    return found.group() if found.group(1) else ""


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
    facts = {key.lower().rstrip("s"): _names(value) for key, value in _FACT.findall(found.group(1))}
    return facts, text[found.end() :]


def _names(value: str) -> str:
    """Returns a fact of the front matter; the items of a list with commas between them."""
    items = re.findall(r"^[ \t]*-[ \t]*(?:name:[ \t]*)?(\S.*)$", value, re.MULTILINE) or [value]
    if len(items) == 1 and items[0].strip().startswith("["):
        items = items[0].strip(" []").split(",")
    return ", ".join(name for item in items if (name := item.strip(" \"'[]")))


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
            blocks.append(("heading", len(atx.group(1)), [atx.group(2).strip()]))
        elif underline and len(held) == 1 and len(held[0]) < 120 and not held[0].startswith(("|", "- ", "* ", ">")):
            title = held.pop()
            blocks.append(("heading", 1 if underline.group(1)[0] == "=" else 2, [title.strip()]))
        elif _RULE.match(line) and not held:
            blocks.append(("rule", 0, [line]))
        else:
            held.append(line)
    close()
    return blocks
