"""Finds the article in a web page that was fetched, with trafilatura: its main text, author, site and date.

A page that does not call itself an article is left to the loader's own search for the main text, and so is one of which
trafilatura takes little: text that is lost is worse than a line too many.
"""

from __future__ import annotations

from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag

from readagent_core.loaders.html.markup import parse_html
from readagent_core.words import count_words

_LEAST = 0.3  # of the words of the page, without its navigation

_LONGEST = 300  # characters of a title or name


@dataclass(frozen=True)
class Article:
    """``body``: the main text. ``date``: year, month and day. What the page does not say is ''."""

    body: Tag
    title: str = ""
    author: str = ""
    site: str = ""
    date: str = ""


def find_article(tree: BeautifulSoup, address: str) -> Article | None:
    """Returns the article of the page at ``address``; None where it is none."""
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
    if body is None or count_words(body.get_text(" ")) < _LEAST * whole:
        return None
    found = trafilatura.extract_metadata(page, default_url=address, extensive=False)
    facts = (found.title, found.author, found.sitename, found.date)
    return Article(body, *(" ".join(str(fact or "").split())[:_LONGEST] for fact in facts))
