"""Opens Markdown as the page that markdown-it makes of it; emphasis, code and bullets keep their marks.

The only heading of level 1 is the title. Front matter and a line ``*by …*`` below the title give title, author and
language. Wrapped lines are joined; verse keeps its lines.
"""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from typing import Any, cast

import nh3
from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from readagent_core.document import Document
from readagent_core.loaders.base import SCENE_BREAK, Limits, check_size
from readagent_core.loaders.builder import Builder
from readagent_core.loaders.decode import decode_noting_guess
from readagent_core.loaders.headings import is_heading_line
from readagent_core.loaders.html.loader import add_blocks, read_fragment
from readagent_core.loaders.marks import without_reserved
from readagent_core.loaders.maths import tex_at
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
_TAG = re.compile(r"</?([a-z][a-z0-9]*)\b[^>]*>", re.IGNORECASE)
_TAGS = nh3.ALLOWED_TAGS | {"font", "picture", "source", "section", "button", "svg", "input"}
# a link or note that is defined right above another one
_DEFINED = re.compile(r"^( {0,3}\[[^\]\n]+\]:[^\n]*\n)(?= {0,3}\[[^\]\n]+\]:)", re.MULTILINE)
_NOT_SLUG = re.compile(r"[^\w\- ]+")
_DEEPEST = 10_000  # what nests deeper than Python's stack allows is an error, where the usual limit loses text silently


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the Markdown ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This text")
    builder, page = Builder(), _Page()
    text = re.sub(r"\r*\n|\r", "\n", without_reserved(decode_noting_guess(data, builder)))
    facts, text = _front_matter(text)
    environment: dict[str, Any] = {}
    tokens = _without_underlined_text(page.parser.parse(_DEFINED.sub("\\1\n", text), environment))
    title, author = facts.get("title", ""), facts.get("author", "")
    heads = [at for at, token in enumerate(tokens) if token.type == "heading_open"]
    tops = [at for at in heads if tokens[at].tag == "h1"]
    first = _plain(tokens[tops[0] + 1]) if len(tops) == 1 and heads[0] == tops[0] else ""
    if first and (is_same_title(title, first) or (not title and not is_heading_line(first))):
        title = title or first
        below = tokens[tops[0] + 3 : tops[0] + 6]
        by = _BY.match(below[1].content.strip()) if below and below[0].type == "paragraph_open" else None
        author = author or (by.group(1) or by.group(2) if by else "")
        page.badges += sum(map(_is_badge, tokens[tops[0] + 1].children or ()))
        del tokens[tops[0] : tops[0] + (6 if by else 3)]
    add_blocks(builder, read_fragment(page.render(tokens, environment).encode("utf-8-sig", "replace"), builder))
    if page.badges:
        told = f"{count_of(page.badges, 'badge')} of the project's state left out."
        builder.add_notice("badges", told, page.badges)
    language = facts.get("lang") or facts.get("language", "")
    return builder.build(title=title, name=name, author=author, language=language, format="markdown", limits=limits)


class _Page:
    """Makes a page of a text. ``badges``: how many pictures of a project's state it left out."""

    def __init__(self) -> None:
        self.badges = 0
        # no rule for code without a fence: in books an indent begins a paragraph
        self.parser = MarkdownIt("commonmark").enable("table").disable("code").use(footnote_plugin)
        self.parser.options.maxNesting = _DEEPEST
        self.renderer = cast(Any, self.parser.renderer)  # whose type is a protocol without rules
        self.parser.core.ruler.disable("footnote_tail")  # it drops notes that nothing refers to
        self.parser.inline.ruler.before("escape", "formula", _formula)
        rules: dict[str, Any] = {
            "em_open": lambda token: token.markup,
            "em_close": lambda token: token.markup,
            "strong_open": lambda _: "",
            "strong_close": lambda _: "",
            "hr": lambda _: f"<p>{SCENE_BREAK}</p>",
            "formula": lambda token: etree.tostring(token.meta["tree"], encoding="unicode"),
            "code_inline": lambda token: f"<code>{escape(token.markup + token.content + token.markup)}</code>",
            "fence": _fence,
            "list_item_open": lambda token: "<li>" if token.info else f"<li>{token.markup} ",
            "footnote_ref": _note_reference,
            "footnote_reference_open": lambda token: _note(token.meta["label"]),
            "footnote_reference_close": lambda _: "</aside>",
            "html_block": lambda token: self._html(token.content),
            "html_inline": lambda token: self._html(token.content),
            "image": self._image,
        }
        for kind, rule in rules.items():
            self.renderer.rules[kind] = lambda tokens, at, options, env, rule=rule: rule(tokens[at])

    def render(self, tokens: list[Token], environment: dict[str, Any]) -> str:
        """Returns ``tokens`` as HTML, with the notes that stand within lines at the end."""
        inner = [token for token in tokens if token.type == "inline"]
        layout = Layout.detect([token.content.split("\n") for token in inner])
        notes = 0
        for before, token in pairwise(tokens):
            notes += token.nesting * token.type.startswith("footnote_reference")
            if token.type == "inline" and before.type == "heading_open":
                _anchor(before, token)
            elif token.type == "inline":
                _join(token, layout, wrapped=notes > 0)
        html: str = self.renderer.render(tokens, self.parser.options, environment)
        for key, note in environment.get("footnotes", {}).get("list", {}).items():
            if note.get("tokens"):
                text = self.renderer.renderInline(note["tokens"], self.parser.options, environment)
                html += f"{_note(str(key))}{text}</aside>"
        return html

    def _html(self, html: str) -> str:
        tag = _TAG.fullmatch(html)
        html = _IMAGE.sub(lambda found: "" if self._count(bool(_BADGE.search(found[0]))) else found[0], html)
        return escape(html) if tag and tag[1].lower() not in _TAGS else html  # '<name>' stands for a name

    def _image(self, image: Token) -> str:
        return "" if self._count(_is_badge(image)) else f'<img src="x" alt="{escape(image.content)}">'

    def _count(self, badge: bool) -> bool:
        self.badges += badge
        return badge


def _formula(state: StateInline, silent: bool) -> bool:
    found = tex_at(state.src, state.pos)
    if found and not silent:
        state.push("formula", "", 0).meta = {"tree": found[0]}
    state.pos = found[1] if found else state.pos
    return found is not None


def _fence(token: Token) -> str:
    return f"<pre>{escape(token.markup + token.info)}\n{escape(token.content + token.markup)}</pre>"


def _note(key: str) -> str:
    return f'<aside epub:type="footnote" id="note-{escape(key)}">'


def _note_reference(token: Token) -> str:
    label, key = token.meta.get("label"), token.meta["id"]
    return f'<a epub:type="noteref" href="#note-{escape(label or str(key))}">{escape(label or str(key + 1))}</a>'


def _plain(token: Token) -> str:
    """Returns the words of a heading without its label."""
    return _LABEL.sub(
        "", "".join(one.content for one in token.children or () if one.type not in ("image", "html_inline"))
    ).strip()


def _without_underlined_text(tokens: list[Token]) -> list[Token]:
    """Returns ``tokens`` with a paragraph and a rule for each heading of several lines, which is no heading."""
    found: list[Token] = []
    for at, token in enumerate(tokens):
        inner = tokens[at + token.nesting].content if token.type.startswith("heading_") else ""
        if "\n" in inner:
            token.type, token.tag = token.type.replace("heading", "paragraph"), "p"
        found += [token, Token("hr", "hr", 0)] if "\n" in inner and token.nesting < 0 else [token]
    return found


def _anchor(heading: Token, inner: Token) -> None:
    """Gives a heading the ids by which links refer to it; its own label leaves the text."""
    last = (inner.children or [Token("text", "", 0)])[-1]
    label = _LABEL.search(last.content)
    last.content = _LABEL.sub("", last.content)
    slug = _NOT_SLUG.sub("", _plain(inner).lower()).strip().replace(" ", "-")
    heading.attrs = {"id": slug}
    if label and inner.children:
        inner.children.insert(0, Token("html_inline", "", 0, content=f'<a id="{escape(label[1])}"></a>'))


def _join(inner: Token, layout: Layout, *, wrapped: bool) -> None:
    """Makes of each break of a line a space, or a break that is shown where the lines are verse or a table.

    ``wrapped``: they are neither."""
    raw, children = inner.content.split("\n"), inner.children or []
    kept = join_lines(raw, layout)[0].split("\n")
    shown = not wrapped and (len(kept) > 1 or is_table(raw))
    first = len(kept) == 2 < len(raw)  # a speaker's name above the speech
    breaks = [token for token in children if token.type == "softbreak"]
    for token, before, after in zip(breaks, raw, raw[1:], strict=False):
        if shown and not (first and token is not breaks[0]):
            token.type, token.tag = "hardbreak", "br"
        else:
            token.type, token.content = "text", " " * (" " in join_text(before[-1:], after.lstrip()[:1]))


def _is_badge(image: Token) -> bool:
    return image.type == "image" and bool(_BADGE.search(f"{image.attrs['src']} {image.content}"))


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
