"""Plain text, as people and Project Gutenberg keep it: paragraphs from blank lines, indents or wrapped lines.

Chapter-like lines become sections. Gutenberg's header and licence, and Aozora Bunko's notes, are set apart and
told in a notice.
"""

from __future__ import annotations

import re

from readagent_core.document import Document
from readagent_core.loaders import aozora, gutenberg, headings
from readagent_core.loaders.base import Builder, Limits, check_size
from readagent_core.loaders.decode import decode
from readagent_core.loaders.lines import Layout, is_table, note_encoding, paragraphs
from readagent_core.words import count_words

_BREAK = re.compile("\r\n|\r|\x0b|\x0c|\x85|\u2028|\u2029")
_BY = re.compile(r"^[*_ ]*(?:by|von|par|por|di)\s+(.{2,60}?)[*_ ]*$|^著者?[:：]\s*(.{1,40})$", re.IGNORECASE)
_FACT = re.compile(r"^(title|author):\s*(\S.{0,150})$", re.IGNORECASE)
_RULE = re.compile(r"^\s*(?:[*_~=#·•—–-]\s*){3,}$")


def load(data: bytes, name: str, *, password: str = "", limits: Limits) -> Document:
    """The document in plain text ``data``."""
    check_size(data, limits.text, "This text")
    decoded = decode(data)
    builder = Builder()
    note_encoding(builder, decoded)
    # a form feed parts pages of a printout: a blank line says the same
    lines = [line.rstrip() for line in _BREAK.sub("\n", decoded.text.replace("\x0c", "\n\n")).split("\n")]
    facts: dict[str, str] = {}
    wrapped = gutenberg.find(lines)
    if wrapped is not None:
        set_apart(builder, count_words("\n".join(lines[: wrapped.start] + lines[wrapped.end :])))
        facts, lines = wrapped.facts, lines[wrapped.start : wrapped.end]
    elif aozora.is_aozora(lines):
        facts, lines = aozora.read(lines, builder)
    blocks, spaced = _blocks(lines)
    layout = Layout.of([b for b in blocks if not is_table(b)])
    if not facts.get("title"):
        facts |= _title_and_author(blocks)
    found, contents = headings.find(blocks)
    if not found:
        found = headings.find_spaced(blocks, spaced)
    skip = 0
    for i, block in enumerate(blocks):
        if skip:
            skip -= 1
        elif i in found:
            builder.heading(found[i].title, found[i].rank if found[i].rank < 3 else 1)
            skip = found[i].used - 1
        elif i in contents:
            _contents_line(builder, block, first=i - 1 not in contents)
        elif len(block) == 1 and _RULE.match(block[0]):
            builder.paragraph(" ".join(block[0].split()))
        else:
            for text in paragraphs(block, layout):
                builder.paragraph(text)
    return builder.document(
        title=facts.get("title") or name,
        author=facts.get("author", ""),
        language=facts.get("language", ""),
        format="text",
        limits=limits,
    )


def set_apart(builder: Builder, words: int) -> None:
    """The notice for a Project Gutenberg header and licence."""
    builder.notice(
        "gutenberg",
        f"Project Gutenberg's header and licence ({words:,} words) were set apart; they are not part of the book.",
        words,
    )


def _blocks(lines: list[str]) -> tuple[list[list[str]], set[int]]:
    """The runs of lines between blank lines, and which of them stand after more than one blank line."""
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
                blocks += _parted(held)
                held = []
    return blocks, spaced


def _parted(block: list[str]) -> list[list[str]]:
    """A block with a heading as its first line, parted from the text that follows it without a blank line."""
    if len(block) > 1 and headings.begins(block[0]) and not headings.begins_again(block[1]) and len(block[1]) > 55:
        return [block] if _runs_on(block) else [block[:1], block[1:]]
    return [block]


def _runs_on(block: list[str]) -> bool:
    """Whether the first line was wrapped because the next word did not fit: then it is no line by itself."""
    width = max(len(line) for line in block)
    return len(block[0]) + 1 + len(block[1].split(None, 1)[0]) > width or block[1].lstrip()[:1].islower()


def _contents_line(builder: Builder, block: list[str], *, first: bool) -> None:
    """Entries of a table of contents stand together in one paragraph, a line each."""
    text = " ".join(line.strip() for line in block)
    if not first and builder.paragraphs:
        text = f"{builder.paragraphs.pop().text}\n{text}"
    builder.paragraph(text)


def _title_and_author(blocks: list[list[str]]) -> dict[str, str]:
    """Title and author where the file begins with them: a short line, then ``by …``; or ``Title: …`` lines."""
    facts = {m.group(1).lower(): m.group(2).strip() for b in blocks[:3] for line in b if (m := _FACT.match(line))}
    if facts.get("title"):
        return facts
    head = [line.strip() for block in blocks[:3] for line in block][:3]
    if len(blocks) < 2 or not head or len(head[0]) > 100 or headings.is_heading(head[0]):
        return {}
    by = _BY.match(head[1]) if len(head) > 1 else None
    if by:
        return {"title": head[0].strip("*_# "), "author": (by.group(1) or by.group(2)).strip()}
    alone = len(blocks[0]) == 1 and len(blocks) > 2 and len(head[0]) <= 80
    ended = head[0][-1] in '.!?,;:…。！？、」"”'
    return {"title": head[0].strip("*_# ")} if alone and not ended and not _RULE.match(head[0]) else {}
