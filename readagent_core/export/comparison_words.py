"""What an answer saw, needed and did, in words: lines of a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from readagent_core.answering.base import Answer
from readagent_core.citations import parse_unfinished
from readagent_core.citations.answer_parsing import split_evidence
from readagent_core.citations.checking import split_paragraphs
from readagent_core.citations.several import parse_unfinished_several
from readagent_core.comparing.comparison import (
    ComparedAnswer,
    ComparedBook,
    Comparison,
    name_pages,
    page_of_all,
    place_of,
)
from readagent_core.export.citation_labels import short_title
from readagent_core.models.builtin.reader import NAME as BUILT_IN
from readagent_core.models.builtin.replies import OWN_WORDS, is_not_found, not_found_in
from readagent_core.models.cost.prices import money
from readagent_core.words import collapse_whitespace, count_of

_SIGNS = re.compile(r"[\"“”„«»「」『』*_]")
Pieces = Sequence[tuple[str, Sequence[int]]]  # of a text, each with the pages named after it, numbered through
# how a paragraph is drawn: of an answer, of the book, the reader's own words
SAID, COPIED, OWN = "a", "a copied", "dim"


def answer_paragraphs(comparison: Comparison, entry: ComparedAnswer) -> list[tuple[str, Pieces]]:
    """An answer without its evidence. Of a copied one each sentence is a paragraph; any other is one."""
    pieces = [*cited_pages(comparison.books, split_evidence(entry.text)[0])]
    if comparison.model != BUILT_IN:
        return [(SAID, pieces)] if any(words or pages for words, pages in pieces) else []
    answer, found = entry.answer, list[tuple[str, Pieces]]()
    for paragraph in split_paragraphs(pieces, copied=True):
        words = paragraph[0][0]
        if is_not_found(words):
            all_seen = answer is not None and not comparison.limited and answer.saw_all(len(comparison.pages))
            paragraph = [(not_found_in(comparison.language, all_seen=all_seen), ())]
        found.append((OWN if words in OWN_WORDS else COPIED, paragraph))
    return found


def evidence_lines(comparison: Comparison, entry: ComparedAnswer) -> list[Pieces]:
    """The quotations below an answer that it does not say itself, each with its pages."""
    said = _plain("".join(words for _, pieces in answer_paragraphs(comparison, entry) for words, _ in pieces))
    lines = [[*cited_pages(comparison.books, line)] for line in split_evidence(entry.text)[1].splitlines()]
    quoted = [_plain("".join(words for words, _ in pieces)).strip(" -•;:,.") for pieces in lines]
    return [pieces for pieces, words in zip(lines, quoted, strict=True) if words and words not in said]


def _plain(text: str) -> str:
    """``text`` without quotation marks and emphasis."""
    return collapse_whitespace(_SIGNS.sub("", text))


def page_labels(
    books: Sequence[ComparedBook], pages: Sequence[int], answer: Answer | None
) -> list[tuple[int, str, bool]]:
    """The pages named after a piece: of each range the first, the label, and whether it was seen in full."""
    found = []
    for number, last in _ranges(books, pages, answer):
        full = answer is not None and answer.seen.get(number) == "full"
        found.append((number, _chip_label(books, number, last, gist=not full and answer is not None), full))
    return found


def cited_pages(books: Sequence[ComparedBook], text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield ``text`` in pieces, each with the pages named after it, numbered through; 0 for one in no book."""
    if len(books) > 1:
        for words, places in parse_unfinished_several(text):
            yield words, [page_of_all(books, book, page) if book else 0 for book, page in places]
        return
    parsed = parse_unfinished(text)
    at = 0
    for mark in parsed.marks:
        yield parsed.body[at : mark.start], mark.pages
        at = mark.end
    yield parsed.body[at:], ()


def _chip_label(books: Sequence[ComparedBook], number: int, last: int, *, gist: bool) -> str:
    """'page 7', 'gist of page 7', 'gist of pages 7 to 9', and of several books 'Fog, p. 7, gist'."""
    book, page = place_of(books, number)
    to = f" to {page + last - number}" if last > number else ""
    if book:
        return f"{short_title(books[book - 1].title)}, p. {page}{to}{', gist' if gist else ''}"
    if len(books) > 1:
        return "in no book"
    return f"{'gist of ' if gist else ''}page{'s' if to else ''} {page}{to}"


def _ranges(books: Sequence[ComparedBook], pages: Sequence[int], answer: Answer | None) -> list[tuple[int, int]]:
    """``pages`` as (first, last): neighbours in one book that were seen in the gist of a part are one range."""
    found: list[tuple[int, int]] = []
    for n in pages:
        in_part = answer is not None and answer.seen.get(n) == answer.seen.get(n - 1) == "part"
        if in_part and found and found[-1][1] == n - 1 and place_of(books, n)[0] == place_of(books, n - 1)[0]:
            found[-1] = (found[-1][0], n)
        else:
            found.append((n, n))
    return found


def pages_seen(answer: Answer, pages: int, books: Sequence[ComparedBook] = ()) -> str:
    """The map in words, for screen readers."""
    full = sorted(number for number, how in answer.seen.items() if how == "full")
    in_parts = sum(how == "part" for how in answer.seen.values())
    some = sorted(number for number, how in answer.seen.items() if how == "passage")
    opened = f"; in part: {name_pages(books, some[:20])}{' and more' if len(some) > 20 else ''}" if some else ""
    more = f"{opened}; in one gist of several pages: {count_of(in_parts, 'page')}" if in_parts else opened
    if not full:
        return f"Seen in full: no page{more}"
    if len(full) == pages:
        return f"Seen in full: all {pages} pages"
    return f"Seen in full: {name_pages(books, full[:20])}{' and more' if len(full) > 20 else ''}{more}"


def usage_line(answer: Answer) -> str:
    """What the run sent and received: calls, words, tokens, money, and what came from the cache; '' for nothing."""
    usage = answer.usage
    parts = []
    if usage.calls:
        parts = [count_of(usage.calls, "call"), f"{usage.words_in:,} words sent", f"{usage.words_out:,} back"]
        if usage.words_new is not None:
            parts[1] += f", {usage.words_new:,} of them new"
    if usage.tokens_in:
        about = "about " if usage.tokens_estimated else ""
        parts.append(f"{about}{usage.tokens_in + usage.tokens_out:,} tokens")
    if usage.cached_calls:
        parts.append(f"{count_of(usage.cached_calls, 'call')} answered from the cache")
    if usage.tokens_in and usage.cost != 0:  # nothing is said of a model that costs nothing
        parts.append(money(usage.cost))
    return " · ".join(parts)


def describe_step(nodes: list[dict[str, Any]], step: dict[str, Any], books: Sequence[ComparedBook] = ()) -> str:
    """A step of MemWalker's walk: 'At the top: into part 2 of 3.'"""
    node = nodes[step["node"]]
    where = "At the top" if node["parent"] is None and node["children"] else describe_pages(node["pages"], books)
    if step["action"] == -2:
        return f"{where}: read, and answered."
    if step["action"] == -1:
        return f"{where}: not here, back up."
    children = node["children"]
    return f"{where}: into part {children.index(step['action']) + 1} of {len(children)}."


def describe_walk(answer: Answer) -> str:
    """The walk in one line: its steps, whether it left the right path, the share of the text read."""
    share = 100 * float(answer.extra["share_read"])
    stray = "went astray and came back" if answer.extra["recovered"] else "went astray"
    how = stray if answer.extra["stray"] else "straight down"
    return f"The walk: {count_of(len(answer.extra['walk']), 'step')}, {how}; {share:.0f} % of the text read"


def describe_pages(pages: Sequence[int], books: Sequence[ComparedBook] = ()) -> str:
    """'Page 3', 'Pages 3 to 5', and of several books 'Fog, page 3', 'Fog, page 12 to Ice, page 2'."""
    if not pages:
        return "A part"
    (book, first), (last_book, last) = place_of(books, pages[0]), place_of(books, pages[-1])
    if book != last_book:
        return " to ".join(name_pages(books, [page]) for page in (pages[0], pages[-1]))
    named = f"page {first}" if len(pages) == 1 else f"pages {first} to {last}"
    return f"{books[book - 1].title}, {named}" if book else named.capitalize()
