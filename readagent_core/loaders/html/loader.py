"""Opens a web page: its main text, without navigation, scripts and cookie bars. Headings become sections.

Of a page that was fetched and is an article, trafilatura finds the main text, author, site and date. Notices say how
many words were left out. Project Gutenberg's header and licence are removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag

from readagent_core.document import Document
from readagent_core.errors import NoTextError
from readagent_core.loaders import gutenberg
from readagent_core.loaders.base import Builder, Limits, check_size
from readagent_core.loaders.decode import decode_noting_guess
from readagent_core.loaders.figures import Pictures
from readagent_core.loaders.html.blocks import Block, extract_blocks
from readagent_core.loaders.html.hidden import remove_hidden
from readagent_core.loaders.html.markup import class_names, parse_html
from readagent_core.loaders.titles import is_same_title
from readagent_core.words import count_of, count_words

_BOILERPLATE = re.compile(
    r"(?:^|[-_ ])(?:nav(?:bar|igation)?|menu|side-?bar|footer|masthead|cookies?|consent|gdpr|banner|share|sharing|"
    r"social|comments?|disqus|breadcrumbs?|related|recommend\w*|promo|adverts?|advertisement|ads?|newsletter|subscribe|"
    r"sign-?up|popup|modal|overlay|skip-?links?|toolbar|pagination|paywall)(?:$|[-_ ])",
    re.IGNORECASE,
)
_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar"}
_MOST_BOILERPLATE = 0.3  # of the page's text; a larger element stays, whatever its name
_TITLE_BY = re.compile(
    r"^(?:The )?Project Gutenberg(?:'s|’s)?(?: e-?(?:text|book))?(?: of)?,? (?P<title>.+?),? by (?P<author>.+?)\.?$",
    re.I,
)
_LEAST_ARTICLE = 0.3  # of the words of the page without its navigation; with less, text was lost
_LONGEST_FACT = 300  # characters of a title or name
_SITE = re.compile(r"\s+[|–—·-]\s+[^|–—·-]{2,40}$")


def load(data: bytes, name: str, *, address: str = "", limits: Limits) -> Document:
    """Returns the document in the web page ``data``. Raises DocumentError.

    ``address``: where it was fetched; then an article in it is searched for.
    """
    check_size(data, limits.page, "This web page")
    builder = Builder()
    tree = parse_html(decode_noting_guess(data, builder))
    body = tree.body or tree
    pictures = len(body.find_all("img"))
    sheets = [style.get_text() for style in tree.find_all("style")]
    builder.note_hidden(remove_hidden(body, sheets, complete=tree.find("link", rel="stylesheet") is None))
    _remove_boilerplate(body, builder)
    article = _find_article(tree, address) if address else None
    root = article.body if article else _find_main(body)
    outside = count_words(body.get_text(" ")) - count_words(root.get_text(" ")) if root is not body else 0
    if outside > 0:
        builder.add_notice(
            "outside-main", f"{outside:,} words are outside the page's main text and were left out.", outside
        )
    shown = Pictures(limits)
    found = extract_blocks(root, shown.find)
    found, facts = gutenberg.remove_licence(found, [b.text for b in found], builder)
    title, author = _find_title_and_author(tree, found, facts)
    if article:
        title, author = article.title or title, article.author or author
        known = [article.site and f"of {article.site}", article.date and f"dated {article.date}"]
        builder.add_notice("article", f"{' '.join(['An article', *filter(None, known)])}.")
    _add_blocks(builder, found)
    if not builder.paragraphs and pictures:
        raise NoTextError(
            f"This web page shows {count_of(pictures, 'picture')} and holds no text to read. Nothing was opened. Run "
            "text recognition (OCR) on it, or open the page that has the text."
        )
    language = facts.get("language") or _language(tree)
    document = builder.build(title=title or name, author=author, language=language, format="html", limits=limits)
    return shown.add_to(document)


@dataclass(frozen=True)
class _Article:
    """``body``: the main text. ``date``: year, month and day. What the page does not say is ''."""

    body: Tag
    title: str
    author: str
    site: str
    date: str


def _find_article(tree: BeautifulSoup, address: str) -> _Article | None:
    """Returns the article of the page at ``address``; None where the page does not call itself one."""
    kind = tree.find("meta", attrs={"property": "og:type"})
    named = isinstance(kind, Tag) and str(kind.get("content")).strip().lower() == "article"
    if not named and len(tree.find_all("article")) != 1:
        return None
    import trafilatura  # slow to import, and needed for articles only

    page = str(tree)
    text = trafilatura.extract(
        page, url=address, output_format="html", include_comments=False, include_formatting=True, favor_recall=True
    )
    body = parse_html(text).body if text else None
    whole = count_words((tree.body or tree).get_text(" "))
    if body is None or count_words(body.get_text(" ")) < _LEAST_ARTICLE * whole:
        return None
    found = trafilatura.extract_metadata(page, default_url=address, extensive=False)
    facts = (found.title, found.author, found.sitename, found.date)
    return _Article(body, *(" ".join(str(fact or "").split())[:_LONGEST_FACT] for fact in facts))


def _add_blocks(builder: Builder, found: list[Block]) -> None:
    notes = [b for b in found if b.note]
    for block in found:
        if block.note and not block.figure:
            continue
        if block.kind == "heading":
            builder.add_heading(block.text, block.level)
        elif block.kind == "break":
            builder.add_scene_break()
        elif block.figure:
            builder.add_figure(block.figure)
        else:
            place = f"p. {block.page}" if block.page else ""
            builder.add_paragraph(block.text, place, exact=block.exact, caption=block.caption)
    title = next((b.text for b in notes if b.kind == "heading"), "")
    builder.add_notes([(b.text, "") for b in notes if b.kind == "text"], title)


def _remove_boilerplate(body: Tag, builder: Builder) -> None:
    """Removes navigation, forms and notices around the text, unless they are much of the page; adds a notice."""
    total = max(1, len(body.get_text()))
    dropped = 0
    for tag in body.find_all(True):
        if vars(tag).get("parent") is None or not _is_boilerplate(tag):  # removed with its parent
            continue
        text = tag.get_text(" ")
        if tag.name not in ("nav", "dialog") and len(text) > _MOST_BOILERPLATE * total:
            continue
        dropped += count_words(text)
        tag.decompose()
    if dropped:
        builder.add_notice(
            "furniture", f"{dropped:,} words of navigation, forms and notices around the text were left out.", dropped
        )


def _is_boilerplate(tag: Tag) -> bool:
    if tag.name in ("nav", "dialog", "footer", "form", "button", "select"):
        return tag.name != "footer" or tag.find_parent(["article", "blockquote", "section"]) is None
    if tag.name == "header":
        return tag.find_parent(["article", "main", "section"]) is None and tag.find("h1") is None
    if tag.name == "aside":
        return not any("note" in c for c in class_names(tag)) and "note" not in str(
            tag.get("role") or tag.get("epub:type")
        )
    if tag.get("aria-hidden") == "true" or str(tag.get("role") or "") in _ROLES:
        return True
    if tag.name not in ("div", "section", "ul", "ol", "p", "span", "table"):
        return False
    return bool(_BOILERPLATE.search(" ".join([*class_names(tag), str(tag.get("id") or "")])))


def _find_main(body: Tag) -> Tag:
    """Returns the element with the main text: ``main`` or the largest ``article``, else the body."""
    total = max(1, len(body.get_text()))
    for found in (body.find_all("main"), body.select('[role="main"]'), body.find_all("article")):
        best = max((t for t in found if isinstance(t, Tag)), key=lambda t: len(t.get_text()), default=None)
        if best is not None and len(best.get_text()) > 0.5 * total:
            return best
    return body


def _find_title_and_author(tree: BeautifulSoup, found: list[Block], facts: dict[str, str]) -> tuple[str, str]:
    def meta(*names: str) -> str:
        for name in names:
            tag = tree.find("meta", attrs={"name": name}) or tree.find("meta", attrs={"property": name})
            if isinstance(tag, Tag) and str(tag.get("content") or "").strip():
                return " ".join(str(tag.get("content")).split())
        return ""

    page_title = " ".join(tree.title.get_text().split()) if tree.title is not None else ""
    by = _TITLE_BY.match(page_title)
    author = facts.get("author") or meta("author", "dc.creator", "DC.creator", "citation_author")
    if by and not facts.get("title"):
        return by.group("title"), author or by.group("author")
    tops = [b.text for b in found if b.kind == "heading" and b.level == 1]
    title = facts.get("title") or meta("dc.title", "DC.title", "citation_title") or meta("og:title")
    if not title and page_title:
        # a page often adds the name of its site; then the heading is the title
        longer = len(tops) == 1 and page_title.startswith(tops[0]) and not is_same_title(page_title, tops[0])
        title = tops[0] if longer else page_title
        title = title if tops else _SITE.sub("", title)
    return title or (tops[0] if tops else ""), author


def _language(tree: BeautifulSoup) -> str:
    root = tree.find("html")
    return str(root.get("lang") or root.get("xml:lang") or "") if isinstance(root, Tag) else ""
