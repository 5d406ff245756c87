"""What an answer saw, needed and did, in words: lines of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from readagent_core.answering.base import Answer
from readagent_core.comparing.comparison import ComparedBook, name_pages, place_of
from readagent_core.models.cost.prices import money
from readagent_core.words import count_of


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
