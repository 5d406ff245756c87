"""Citations as people see them: their labels, the words they quote, and the places that are marked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from readagent_core.citations import FROM_MEMORY, FROM_PAGE, NOT_FOUND, Checked, Citation
from readagent_core.document import Document
from readagent_core.memory import GistMemory
from readagent_core.words import quoted

LABELS = {FROM_PAGE: "from page {page}", FROM_MEMORY: "from memory", NOT_FOUND: "not found"}
_LONG_TITLE, _LONG_PLACE = 40, 28  # characters
_NUMBERED = re.compile(r"((?i:chapter|part|book|letter|act)) (\d+|[IVXLC]+)(?![\w'’])")
PART = ", part"  # of a page opened in part
RECOGNISED = ", recognised text"  # by OCR: some of the quoted words may be wrong

# what comes before a quotation that begins a sentence, and after one that ends it: it then needs no ellipsis
_BEGINS = re.compile(r"(?:^|[.!?…:。！？—][\"”’»」』)\]*_]*|[\"“‘«「『(\[])[\s*_]*$")
_ENDS = re.compile(r"[\s*_]*(?:$|[.!?…。！？—\"”»」』)\]]|[’'](?!\w))")


def citation_label(citation: Citation, titles: Mapping[int, str] | None = None, *, name: str = "") -> str:
    """A citation in the words people see: 'from page 7', 'from page 7, part', 'from memory', 'not found'.

    ``titles``: of several books by number; then 'Fog, p. 7', 'Fog, p. 7, gist', and 'Fog' for a book as a whole.
    ``name``: of a page that a person knows by no number.
    """
    if titles is not None:
        if citation.state == NOT_FOUND or citation.book not in titles:
            return LABELS[NOT_FOUND]
        title, page = short_title(titles[citation.book]), f", p. {citation.page}" if citation.page else ""
        seen = (
            ", gist"
            if citation.state == FROM_MEMORY and citation.page and not citation.bare
            else PART * citation.in_part
        )
        return f"{title}{page}{seen}" + (RECOGNISED if citation.recognised else "")
    if name and citation.state == FROM_PAGE:
        return f"from {name}" + (RECOGNISED if citation.recognised else "")
    if citation.bare:
        return f"page {citation.page}, not quoted"
    part = PART if citation.in_part and citation.state == FROM_PAGE else ""
    return LABELS[citation.state].format(page=citation.page) + part + (RECOGNISED if citation.recognised else "")


def copied_label(citation: Citation, how: str, *, name: str = "") -> str:
    """Where a copied sentence is from: 'page 7', 'gist of page 7', 'gist of a part, from page 7'.

    ``how``: the page was in the prompt, as ``Answer.seen`` has it. ``name``: as ``citation_label`` takes it.
    """
    if is_of_page(citation, how):
        return name or f"page {citation.page}"
    return ("gist of a part, from " if how == "part" else "gist of ") + f"page {citation.page}"


def is_of_page(citation: Citation, how: str) -> bool:
    """Whether a copied sentence is of a page's text, not of its gist. ``how``: as ``copied_label`` takes it."""
    return how == "full" or (how == "passage" and (citation.bare or citation.state == FROM_PAGE))


def short_title(title: str, most: int = _LONG_TITLE) -> str:
    """A title short enough for a citation: without what follows its first colon, at most about 40 characters."""
    short = title if len(title) <= most else title.split(": ")[0]
    return short if len(short) <= most else f"{short[:most].rsplit(' ', 1)[0]} …"


def short_place(name: str) -> str:
    """The name of a place short enough for a citation: 'chapter XLI' of 'CHAPTER XLI. THE CLOUDS', or cut at a word."""
    numbered = _NUMBERED.match(name)
    return f"{numbered[1].lower()} {numbered[2]}" if numbered else short_title(name, _LONG_PLACE)


def quote_citation(citation: Citation, document: Document | None) -> str:
    """The words a citation quotes, in quotation marks; an ellipsis outside them where their sentence continues, as far
    as ``document`` is at hand.
    """
    before = after = ""
    words = citation.quotation.strip()
    if citation.places and document is not None:
        first, last = citation.places[0], citation.places[-1]
        lead = document.paragraphs[first.paragraph].text[: first.start]
        in_heading = last.end == last.start
        rest = "" if in_heading else document.paragraphs[last.paragraph].text[last.end :]
        before = "" if words.startswith(("…", "...")) or _BEGINS.search(lead) else "… "
        after = "" if words.endswith(tuple(".!?…。！？")) or _ENDS.match(rest) else " …"
    return f"{before}{quoted(citation.quotation)}{after}"


def page_passages(checked: Checked | None, memory: GistMemory) -> dict[int, list[tuple[int, int]]]:
    """The quoted places by page, as characters of ``memory.page_text``, which the memory view marks."""
    found: dict[int, list[tuple[int, int]]] = {}
    for citation in checked.citations if checked else ():
        for place in citation.places if citation.state == FROM_PAGE else ():
            if place.end > place.start:
                page = memory.page(place.page)
                document, at = memory.document, place.paragraph
                lead = len(document.text(page.start, at + 1)) - len(document.shown(at)) + document.text_offset(at)
                span = (lead + place.start, lead + place.end)
                if span not in found.setdefault(place.page, []):
                    found[place.page].append(span)
    return found
