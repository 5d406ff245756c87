"""Opens Markdown with markdown-it: headings become sections, a table is one paragraph a row, emphasis keeps its stars.

The only heading of level 1 is the title. Front matter and a line ``*by …*`` below the title give title, author and
language. Wrapped lines are joined; verse keeps its lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from readagent_core.document import Document, SpanKind, is_outside_address
from readagent_core.loaders.base import SCENE_BREAK, Builder, Limits, Note, check_size, join_items
from readagent_core.loaders.decode import decode_noting_guess
from readagent_core.loaders.descriptions import bracket_description
from readagent_core.loaders.headings import is_heading_line
from readagent_core.loaders.marks import CLOSE, Marks, without_marks, without_reserved
from readagent_core.loaders.maths import formula_line, raise_text, safe_mathml, tex_at
from readagent_core.loaders.text.lines import Layout, is_table, join_lines, join_text
from readagent_core.loaders.titles import is_same_title
from readagent_core.words import count_of

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_FACT = re.compile(
    r"^(title|authors?|lang|language):[ \t]*(\S.*?|(?:\n[ \t]*-[ \t]*\S.*(?:\n[ \t]+[^-\s].*)*)+)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_BY = re.compile(
    r"^[*_]{0,3}(?:by|von|par|por|di)[ \t]+(.{1,80}?)[*_]{0,3}$|^[*_]{0,3}著者?[:：][ \t]*(.{1,40}?)[*_]{0,3}$", re.I
)
_LABEL = re.compile(r"[ \t]*\{#([^}\s]*)[^}]*\}$")
_BADGE = re.compile(r"badge|shields\.io|travis|codecov|coveralls|/workflows/|circleci|appveyor", re.IGNORECASE)
_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_TAG = re.compile(r"</?([a-z][a-z0-9]*)\b[^>]*>", re.IGNORECASE)
_TAGS = nh3.ALLOWED_TAGS | {"font", "picture", "source", "section", "button", "svg", "input"}
_DEFINED = re.compile(
    r"^( {0,3}\[[^\]\n]+\]:[^\n]*\n)(?= {0,3}\[[^\]\n]+\]:)", re.MULTILINE
)  # a link or note, and another
_NOT_SLUG = re.compile(r"[^\w\- ]+")
_DEEPEST = 10_000  # what nests deeper than Python's stack allows is an error, where the usual limit loses text silently
_LONGEST_UNDERLINED = 120  # characters; what is longer is text above a rule


def _formula_rule(state: StateInline, silent: bool) -> bool:
    found = tex_at(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("formula", "", 0).meta = {"tree": found[0]}
    state.pos = found[1]
    return True


def _parser() -> MarkdownIt:
    # no rule for code without a fence: in books an indent begins a paragraph
    parser = MarkdownIt("commonmark").enable("table").disable("code").use(footnote_plugin)
    parser.options.maxNesting = _DEEPEST
    parser.core.ruler.disable("footnote_tail")  # it drops notes that nothing refers to
    parser.inline.ruler.before("escape", "formula", _formula_rule)
    return parser


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Markdown ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This text")
    builder = Builder()
    text = re.sub(r"\r*\n|\r", "\n", without_reserved(decode_noting_guess(data, builder)))
    facts, text = _front_matter(text)
    environment: dict[str, Any] = {}
    tokens = _parser().parse(_DEFINED.sub("\\1\n", text), environment)
    inline = _Inline(builder.marks)
    title, author = facts.get("title", ""), facts.get("author", "")
    heads = [at for at, token in enumerate(tokens) if token.type == "heading_open"]
    tops = [at for at in heads if tokens[at].tag == "h1"]
    first = inline.heading(tokens[tops[0] + 1])[0] if len(tops) == 1 and heads[0] == tops[0] else ""
    if first and (is_same_title(title, first) or (not title and not is_heading_line(first))):
        title = title or without_marks(first)
        below = tokens[tops[0] + 3 : tops[0] + 6]
        by = _BY.match(below[1].content.strip()) if below and below[0].type == "paragraph_open" else None
        author = author or (by.group(1) or by.group(2) if by else "")
        del tokens[tops[0] : tops[0] + (6 if by else 3)]
    else:
        inline.badges = 0  # the heading is read again
    layout = Layout.detect([token.content.split("\n") for token in tokens if token.type == "inline"])
    reading = _Reading(builder, inline, layout)
    reading.run(tokens)
    listed = environment.get("footnotes", {}).get("list", {})
    own = {key: inline.lines(note["tokens"]) for key, note in listed.items() if note.get("tokens")}
    builder.add_notes(reading.notes + [Note(" ".join(lines), "", [f"note/{key}"]) for key, lines in own.items()])
    if inline.badges:
        told = f"{count_of(inline.badges, 'badge')} of the project's state left out."
        builder.add_notice("badges", told, inline.badges)
    language = facts.get("lang") or facts.get("language", "")
    return builder.build(title=title, name=name, author=author, language=language, format="markdown", limits=limits)


class _Reading:
    """One pass over the blocks: the lines of the list that is read, and the notes so far."""

    def __init__(self, builder: Builder, inline: _Inline, layout: Layout) -> None:
        self.builder, self.inline, self.layout = builder, inline, layout
        self.items: list[str] = []
        self.marks: list[str] = []  # of the items around, each '' after the first line of its item
        self.notes: list[Note] = []
        self.note: str | None = None  # of the note that is read

    def run(self, tokens: Sequence[Token]) -> None:
        row: list[str] = []
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "heading_open" and "\n" not in tokens[at + 1].content[:_LONGEST_UNDERLINED]:
                self._heading(tokens[at + 1], int(token.tag[1]))
            elif kind == "heading_close" and "\n" in tokens[at - 1].content[:_LONGEST_UNDERLINED]:
                self._add(SCENE_BREAK)  # a rule right below a paragraph
            elif kind == "inline" and tokens[at - 1].type in ("td_open", "th_open"):
                row.append(" ".join(self.inline.lines(token.children or [])))
            elif kind == "inline" and not (tokens[at - 1].type == "heading_open" and "\n" not in token.content):
                self._paragraph(token)
            elif kind == "tr_close":
                self._add("\t".join(row).rstrip())
                row.clear()
            elif kind in ("fence", "code_block"):
                self._add(f"{token.markup}{token.info}\n{token.content}{token.markup}", exact=True)
            elif kind == "hr":
                self._add(SCENE_BREAK)
            elif kind == "html_block" and not token.content.lstrip().startswith("<!--"):
                self._page(token.content)
            elif kind == "list_item_open":
                self.marks.append(f"{token.info}{token.markup} ")
            elif kind == "list_item_close":
                self.marks.pop()
            elif kind.endswith("list_close") and not self.marks:
                self._end_list()
            elif kind == "footnote_reference_open":
                self.note = f"note/{token.meta['label']}"
            elif kind == "footnote_reference_close":
                self.note = None

    def _heading(self, token: Token, level: int) -> None:
        self._end_list()
        title, anchors = self.inline.heading(token)
        self.builder.add_anchors(anchors)
        self.builder.add_heading(title, level)

    def _paragraph(self, token: Token) -> None:
        raw, lines = token.content.split("\n"), self.inline.lines(token.children or [])
        if self.note is not None:
            known = any(self.note in note.anchors for note in self.notes)
            self.notes.append(Note(" ".join(lines), "", [] if known else [self.note]))
        elif self.marks:
            self.items.append("  " * (len(self.marks) - 1) + self.marks[-1] + " ".join(lines))
            self.marks[-1] = " " * bool(self.marks[-1])
        elif len(raw) != len(lines) or is_table(raw):
            self._add("\n".join(lines), exact=is_table(raw))
        else:
            kept = join_lines(raw, self.layout)[0].split("\n")
            first = len(kept) == 2 < len(raw)  # a speaker's name above the speech
            joined = "\n".join(lines) if len(kept) > 1 and not first else reduce(join_text, lines[first:])
            self._add(f"{lines[0]}\n{joined}" if first else joined)

    def _page(self, html: str) -> None:
        from readagent_core.loaders.html.loader import read_fragment  # takes a moment, and few texts have HTML in them

        for block in read_fragment(self.inline.without_badges(html).encode(), self.builder.marks):
            if block.kind == "heading":
                self._end_list()
                self.builder.add_heading(block.text, block.level)
            else:
                self._add(block.text, exact=block.exact)

    def _add(self, text: str, *, exact: bool = False) -> None:
        self._end_list()
        if without_marks(text).strip():
            self.builder.add_paragraph(text, exact=exact)

    def _end_list(self) -> None:
        items, self.items = self.items, []
        for text in join_items(items):
            self.builder.add_paragraph(text)


class _Inline:
    """What stands within lines: links, notes, pictures, formulas, and the few tags of HTML that have a meaning here."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.badges = 0

    def heading(self, token: Token) -> tuple[str, list[str]]:
        """Returns the title and the keys by which it is referred to."""
        children = [one for one in token.children or [] if one.type != "image" or _is_badge(one)]
        text = " ".join(self.lines(children))
        label, text = _LABEL.search(text), _LABEL.sub("", text)
        slug = _NOT_SLUG.sub("", without_marks(text).lower()).strip().replace(" ", "-")
        return text, [f"#{slug}", *([f"#{label.group(1)}"] if label else [])]

    def without_badges(self, html: str) -> str:
        return _IMAGE.sub(lambda found: "" if self._count(bool(_BADGE.search(found[0]))) else found[0], html)

    def _count(self, badge: bool) -> bool:
        self.badges += badge
        return badge

    def lines(self, tokens: Sequence[Token]) -> list[str]:
        """Returns the lines of a text with its marks."""
        out: list[str] = []
        links: list[bool] = []
        raised = 0  # where the last superscript or subscript begins
        for token in tokens:
            kind, tag = token.type, _TAG.match(token.content)
            if kind in ("text", "html_inline") and not (kind == "html_inline" and (tag or token.content[:2] == "<!")):
                out.append(token.content)
            elif kind == "code_inline":
                out.append(f"{token.markup}{token.content}{token.markup}")
            elif kind in ("em_open", "em_close"):
                out.append(token.markup)
            elif kind in ("softbreak", "hardbreak") or (tag and tag.group(1).lower() == "br"):
                out.append("\n")
            elif kind == "formula":
                tree = token.meta["tree"]
                line = formula_line(tree)
                out.append(self.marks.mark(SpanKind.FORMULA, line, safe_mathml(tree)) if line else "")
            elif kind == "image":
                out.append("" if self._count(_is_badge(token)) else self._describe(token.content))
            elif kind == "link_open":
                opening = self._link(str(token.attrs["href"]))
                links.append(bool(opening))
                out.append(opening)
            elif kind == "link_close":
                out.append(CLOSE * links.pop())
            elif kind == "footnote_ref":
                label = token.meta.get("label")
                key, sign = (label, label) if label else (token.meta["id"], str(token.meta["id"] + 1))
                out.append(self.marks.mark(SpanKind.NOTE, "", sign, f"note/{key}"))
            elif tag:
                name, closes = tag.group(1).lower(), token.content[1] == "/"
                if name in ("sup", "sub") and closes:
                    text = "".join(out[raised:])
                    out[raised:] = [raise_text(text, up=name == "sup") or text]
                elif name == "img" and self.without_badges(token.content) and (alt := _ALT.search(token.content)):
                    out.append(self._describe(alt.group(1) or alt.group(2) or ""))
                elif name not in _TAGS:
                    out.append(token.content)  # '<name>' stands for a name
                raised = len(out)
        return [line.strip(" ") for line in "".join(out).split("\n")]

    def _describe(self, text: str) -> str:
        return self.marks.describe(bracket_description(text))

    def _link(self, address: str) -> str:
        """Returns the mark that opens a link; '' for one that leads nowhere."""
        inside = address.startswith("#")
        if not inside and not is_outside_address(address):
            return ""
        return self.marks.opening(SpanKind.LINK, "" if inside else address, address if inside else "")


def _is_badge(image: Token) -> bool:
    return bool(_BADGE.search(f"{image.attrs['src']} {image.content}"))


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
