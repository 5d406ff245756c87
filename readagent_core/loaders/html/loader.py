"""Opens a web page: its main text, without navigation, scripts and cookie bars. Headings become sections.

Of a page that was fetched and is an article, trafilatura finds the main text, author, site and date. Notices say how
many words were left out. Project Gutenberg's header and licence are removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote, urljoin

from bs4 import BeautifulSoup
from lxml import etree

from readagent_core.document import Document
from readagent_core.errors import NoTextError
from readagent_core.loaders import gutenberg
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.builder import Builder, Note
from readagent_core.loaders.decode import decode, decode_noting_guess
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.blocks import Block, extract_blocks
from readagent_core.loaders.html.hidden import remove_hidden
from readagent_core.loaders.html.marking import Resolve, mark_formulas, mark_links, mark_ruby, mark_structure
from readagent_core.loaders.html.markup import elements
from readagent_core.loaders.html.tree import (
    BLOCK_TAGS,
    HEADINGS,
    Element,
    ancestor,
    body_of,
    class_names,
    parse_html,
    remove,
    text_of,
    topmost,
)
from readagent_core.loaders.marks import without_marks
from readagent_core.loaders.titles import is_same_title
from readagent_core.words import count_of, count_words

_AROUND = (  # names of what stands around a text
    r"nav(?:bar|igation)?|menu|side-?bar|footer|masthead|cookies?|consent|gdpr|banner|share|sharing|social|comments?|"
    r"disqus|breadcrumbs?|related|recommend\w*|promo|adverts?|advertisement|ads?|newsletter|subscribe|sign-?up|popup|"
    r"modal|overlay|skip-?links?|toolbar|pagination|paywall"
)
_BOILERPLATE = re.compile(rf"(?:^|[-_ ])(?:{_AROUND})(?:$|[-_ ])", re.IGNORECASE)
_OWN_WORDS = re.compile(  # an id of other words as well is the name of a section, such as 'related-work'
    rf"(?:(?:{_AROUND}|sign|up|notice|links?|bar|box|wrap(?:per)?|container|area|buttons?|widgets?|list|block|main|top|"
    r"bottom|left|right|header|site|page|global|primary|secondary|posts?|articles?|stories|form|icons?|panel|\d{1,2})"
    r"(?:$|[-_ ]+))+",
    re.IGNORECASE,
)
_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar"}
_ALWAYS = ("nav", "dialog", "footer", "form", "button", "select", "header", "aside")  # around the text, as they say
_MOST_BOILERPLATE = 0.3  # of the page's text
_LEAST_PROSE = 1500  # characters outside of links that a page has without what is around its text
_CHROME = re.compile(  # a line of links that belong to the site
    r"(?:[\s|·•/»«›‹→←↑▲▶◀,\[\]()-]*(?:(?:prev(?:ious)?|next)(?:\s+(?:chapter|page|part|section|article|post|story))?|"
    r"back(?:\s+to\s+(?:the\s+)?(?:top|contents|index|home))?|home(?:\s*page)?|up|top|(?:table\s+of\s+)?contents|index|"
    r"donate(?:\s+now)?|share(?:\s+this)?|tweet|e-?mail|print|subscribe|sign\s+(?:in|up)|log\s*in|register|menu|search|"
    r"skip\s+to\s+(?:main\s+)?content|about(?:\s+us)?|contact(?:\s+us)?|privacy(?:\s+policy)?|terms(?:\s+of\s+\w+)?|"
    r"follow\s+us|facebook|twitter|instagram|youtube|rss|permalink|read\s+more|edit(?:\s+this\s+page)?|"
    r"weiter|zurück|suivant|précédent|siguiente|anterior|上一[章页]|下一[章页]|目录|前へ|次へ)"
    r"(?=$|[\s|·•/»«›‹→←↑▲▶◀,\[\]()-]))+[\s|·•/»«›‹→←↑▲▶◀,\[\]()-]*",
    re.IGNORECASE,
)
_LONGEST_CHROME = 200  # characters
_BODY = re.compile(r"<body\b", re.IGNORECASE)
_HEAD = 100_000  # characters in which the head of a page ends
_TITLE_BY = re.compile(
    r"^(?:The )?Project Gutenberg(?:'s|’s)?(?: e-?(?:text|book))?(?: of)?,? (?P<title>.+?),? by (?P<author>.+?)\.?$",
    re.I,
)
_PRINTED = {0xFDD0 + n: 0x13400 + n for n in range(32)}  # Egyptian hieroglyphs, which no article has
_UNPRINTED = {shown: mark for mark, shown in _PRINTED.items()}
_LEAST_ARTICLE = 0.3  # of the words of the page without its navigation; with less, text was lost
_UNTITLED = re.compile(r"^untitled(?: (?:document|page|web ?page))?[ \d]*$", re.IGNORECASE)  # by editors of pages
_LONGEST_FACT = 300  # characters of a title or name
_SITE = re.compile(r"\s+[|–—·-]\s+[^|–—·-]{2,40}$")


def load(data: bytes, name: str, *, address: str = "", limits: Limits) -> Document:
    """Returns the document in the web page ``data``. Raises DocumentError.

    ``address``: where it was fetched; then an article in it is searched for.
    """
    check_size(data, limits.page, "This web page")
    builder = Builder()
    text = decode_noting_guess(data, builder)
    tree, head = parse_html(text), _Head(text)
    body = body_of(tree)
    pictures = sum(1 for _ in body.iter("img"))
    sheets = [text_of(style) for style in tree.iter("style")]
    linked = any("stylesheet" in (link.get("rel") or "") for link in tree.iter("link"))
    mark_formulas(body, builder.marks)
    for script in list(body.iter("script", "style", "noscript")):
        remove(script)  # they may be longer than the text, of which shares are measured
    builder.note_hidden(remove_hidden(body, sheets, complete=not linked))
    _remove_boilerplate(body, builder)
    language = tree.get("lang") or tree.get("xml-lang") or ""
    mark_ruby(body, builder.marks)
    mark_structure(body, language)
    mark_links(body, builder.marks, _resolver(address))
    article = _find_article(tree, address, head) if address else None
    root = article.body if article else _find_main(body)
    outside = _words(body) - _words(root) if root is not body else 0
    if outside > 0:
        builder.add_notice(
            "outside-main", f"{outside:,} words are outside the page's main text and were left out.", outside
        )
    shown = Pictures(limits)
    found = extract_blocks(root, shown.find, builder.marks)
    found, facts = gutenberg.remove_licence(found, [without_marks(b.text) for b in found], builder)
    title, author = _find_title_and_author(head, tree, found, facts)
    if article:
        title, author = article.title or title, author or article.author
        known = [article.site and f"of {article.site}", article.date and f"dated {article.date}"]
        builder.add_notice("article", f"{' '.join(['An article', *filter(None, known)])}.")
    add_blocks(builder, found)
    if not builder.paragraphs and pictures:
        raise NoTextError(
            f"This web page shows {count_of(pictures, 'picture')} and holds no text to read. Run "
            "text recognition (OCR) on it, or open the page that has the text."
        )
    language = facts.get("language") or language
    document = builder.build(title=title, name=name, author=author, language=language, format="html", limits=limits)
    return shown.add_to(document)


def read_fragment(data: bytes, builder: Builder) -> list[Block]:
    """Returns the blocks of a page, or a piece of one, that is part of a file of another kind."""
    body, marks = body_of(parse_html(decode(data)[0])), builder.marks
    mark_formulas(body, marks)
    builder.note_hidden(remove_hidden(body, (), complete=True))
    mark_ruby(body, marks)
    mark_structure(body, "")
    mark_links(body, marks, _resolver(""))
    return [block for block in extract_blocks(body, marks=marks) if block.text]


def _words(element: Element) -> int:
    return count_words(without_marks(text_of(element, " ")))


def _resolver(address: str) -> Resolve:
    """Returns the function that finds where a link of the page at ``address`` leads."""
    page = address.partition("#")[0]

    def resolve(link: str) -> tuple[str, str]:
        try:
            whole = urljoin(page, link) if page else link
        except ValueError:
            return "", ""
        place, _, anchor = whole.partition("#")
        inside = place == page and anchor not in ("", "top")
        return (f"#{unquote(anchor)}", "") if inside else ("", "" if place == page else whole)

    return resolve


def _tidy(text: str) -> str:
    """Returns a fact on one line; some pages escape its characters twice, or three times."""
    return " ".join(unescape(unescape(text)).split())


class _Head:
    """What the head of a page says of it: tag soup, which Beautiful Soup reads."""

    def __init__(self, text: str) -> None:
        ends = _BODY.search(text[:_HEAD])
        self.soup = BeautifulSoup(f"<!doctype html>{text[: ends.start() if ends else _HEAD]}", "lxml")

    @property
    def title(self) -> str:
        return "" if self.soup.title is None else _tidy(self.soup.title.get_text())

    def meta(self, *names: str) -> str:
        """Returns the first of these facts that is given."""
        for name in names:
            for tag in self.soup.select(f'meta[name="{name}" i], meta[property="{name}" i]'):
                if text := _tidy(str(tag.get("content") or "")):
                    return text
        return ""


@dataclass(frozen=True)
class _Article:
    """``body``: the main text. ``date``: year, month and day. What the page does not say is ''."""

    body: Element
    title: str
    author: str
    site: str
    date: str


def _find_article(tree: Element, address: str, head: _Head) -> _Article | None:
    """Returns the article of the page at ``address``; None where the page does not call itself one."""
    named = head.meta("og:type").lower() == "article"
    if not named and sum(1 for _ in tree.iter("article")) != 1:
        return None
    import trafilatura  # slow to import, and needed for articles only

    # trafilatura drops characters that cannot be printed, of which marks are made: letters stand for them meanwhile
    page = etree.tostring(tree, encoding="unicode", method="html").translate(_PRINTED)
    text = trafilatura.extract(
        page, url=address, output_format="html", include_comments=False, include_formatting=True, favor_recall=True
    )
    body = body_of(parse_html(text)) if text else None
    for one in () if body is None else body.iter():
        one.text, one.tail = ((part or "").translate(_UNPRINTED) for part in (one.text, one.tail))
    if body is None or _words(body) < _LEAST_ARTICLE * _words(body_of(tree)):
        return None
    found = trafilatura.extract_metadata(page, default_url=address, extensive=False)
    facts = (found.title, found.author, found.sitename, found.date)
    return _Article(body, *(" ".join(without_marks(str(fact or "")).split())[:_LONGEST_FACT] for fact in facts))


def add_blocks(builder: Builder, found: list[Block]) -> None:
    """Adds the blocks of a page, its notes at the end."""
    notes = [b for b in found if b.note]
    for block in found:
        if block.note and not block.figure:
            continue
        if block.kind == "heading":
            builder.add_anchors(f"#{anchor}" for anchor in block.anchors)
            builder.add_heading(block.text, block.level)
        elif block.kind == "break":
            builder.add_scene_break()
        elif block.figure:
            builder.add_figure(block.figure)
        else:
            place = f"p. {block.page}" if block.page else ""
            keys = [f"#{anchor}" for anchor in block.anchors]
            builder.add_paragraph(block.text, place, exact=block.exact, caption=block.caption, anchors=keys)
    title = next((b.text for b in notes if b.kind == "heading"), "")
    texts = [Note(b.text, "", [f"#{anchor}" for anchor in b.anchors]) for b in notes if b.kind == "text"]
    builder.add_notes(texts, title)


def _remove_boilerplate(body: Element, builder: Builder) -> None:
    """Removes navigation, forms and notices around the text; adds a notice. Of a page that would then hold no more
    than a few sentences, what is much of it stays, whatever its name: a thread of comments is the text."""
    total = max(1, len(text_of(body)))
    dropped = 0
    found = topmost(body, lambda tag: _is_boilerplate(tag) and not (_is_much(tag, total) and _wraps_text(tag)))
    if _prose(body) - sum(map(_prose, found)) < _LEAST_PROSE:
        found = topmost(
            body, lambda tag: _is_boilerplate(tag) and (tag.tag in ("nav", "dialog") or not _is_much(tag, total))
        )
        named = [tag for tag in found if tag.tag not in _ALWAYS]
        if sum(len(text_of(tag)) for tag in named) > _MOST_BOILERPLATE * total:
            found = [tag for tag in found if tag.tag in _ALWAYS]
    for tag in found + _chrome_lines(body):
        dropped += _words(tag)
        remove(tag)
    if dropped:
        builder.add_notice(
            "furniture", f"{dropped:,} words of navigation, forms and notices around the text were left out.", dropped
        )


def _prose(element: Element) -> int:
    """Returns how many characters of the text of an element are not of links."""
    return len(text_of(element)) - sum(len(text_of(link)) for link in element.iter("a"))


def _wraps_text(tag: Element) -> bool:
    """Returns whether the title of the page, or its main text, is in an element."""
    return next(tag.iter("h1", "main"), None) is not None


def _is_much(tag: Element, total: int) -> bool:
    return len(text_of(tag)) > _MOST_BOILERPLATE * total


def _chrome_lines(body: Element) -> list[Element]:
    """Returns the blocks that hold only links such as 'Previous', 'Next' and 'Donate'."""
    found: dict[Element, None] = {}
    for link in body.iter("a"):
        block = ancestor(link, *BLOCK_TAGS - {"body"})
        if block is None or block in found or block.tag in HEADINGS or not _CHROME.fullmatch(text_of(link)):
            continue
        words = text_of(block)
        if len(words) <= _LONGEST_CHROME and _CHROME.fullmatch(words):
            found[block] = None
    return [block for block in found if not any(around in found for around in block.iterancestors())]


def _is_boilerplate(tag: Element) -> bool:
    name = tag.tag
    if name in _ALWAYS[:6]:
        if name == "button" and ancestor(tag, *HEADINGS) is not None:
            return False
        return name != "footer" or ancestor(tag, "article", "blockquote", "section") is None
    if name == "header":
        return ancestor(tag, "article", "main", "section") is None and next(tag.iter("h1"), None) is None
    if name == "aside":
        return not any("note" in c for c in class_names(tag)) and "note" not in (
            tag.get("role") or tag.get("epub-type") or ""
        )
    if not tag.attrib:
        return False
    if tag.get("aria-hidden") == "true" or (tag.get("role") or "") in _ROLES:
        return True
    if name not in ("div", "section", "ul", "ol", "p", "span", "table"):
        return False
    named, classes = tag.get("id") or "", " ".join(class_names(tag))
    if _BOILERPLATE.search(named) and _OWN_WORDS.fullmatch(named):
        return True
    return bool(_BOILERPLATE.search(classes)) and not _is_named_section(tag, classes)


def _is_named_section(tag: Element, classes: str) -> bool:
    """Returns whether the classes of an element only repeat the words of its heading."""
    heading = next(tag.iter(*HEADINGS), None)
    words = set() if heading is None else set(re.findall(r"\w+", text_of(heading).lower()))
    return len(words) > 1 and words <= set(re.findall(r"[^\W_]+", classes.lower()))


def _find_main(body: Element) -> Element:
    """Returns the element with the main text: ``main`` or the largest ``article``, else the body."""
    total = max(1, len(text_of(body)))
    in_role = [tag for tag in elements(body) if tag.get("role") == "main"]
    for found in (elements(body, "main"), in_role, elements(body, "article")):
        best = max(found, key=lambda tag: len(text_of(tag)), default=None)
        if best is not None and len(text_of(best)) > 0.5 * total:
            return best
    return body


def _find_title_and_author(head: _Head, tree: Element, found: list[Block], facts: dict[str, str]) -> tuple[str, str]:
    page_title = _UNTITLED.sub("", head.title)
    by = _TITLE_BY.match(page_title)
    author = facts.get("author") or head.meta("author", "dc.creator", "citation_author")
    if not author or author == head.meta("og:site_name"):
        author = _named_author(tree) or author
    if by and not facts.get("title"):
        return by.group("title"), author or by.group("author")
    tops = [b.text for b in found if b.kind == "heading" and b.level == 1]
    title = facts.get("title") or head.meta("dc.title", "citation_title") or head.meta("og:title")
    if not title and page_title:
        # a page often adds the name of its site; then the heading is the title
        longer = len(tops) == 1 and page_title.startswith(tops[0]) and not is_same_title(page_title, tops[0])
        title = tops[0] if longer else page_title
        title = title if tops else _SITE.sub("", title)
    return title or (tops[0] if tops else ""), author


def _named_author(tree: Element) -> str:
    """Returns who an element of the page names as its author."""
    for one in tree.iter(etree.Element):
        if one.attrib and ("author" in (one.get("rel") or "").split() or one.get("itemprop") == "author"):
            name = " ".join(without_marks(text_of(one, " ")).split())
            if 1 < len(name) <= _LONGEST_FACT // 3:
                return name
    return ""
