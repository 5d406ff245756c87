"""What every prompt about a book begins with: a short view of its memory that no question changes, and its names.

It depends on the memory alone, so a server's prefix cache holds it for all questions about the book.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from readagent_core.answering.joined_books import JoinedMemory
from readagent_core.answering.levels import make_levels
from readagent_core.answering.run import Run
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.statistics import content, full_names, inverse_frequencies
from readagent_core.tags import book_tag, escape_tags
from readagent_core.words import collapse_whitespace, count_words, first_words, is_unspaced, last_words

LEAST_OF_GIST = 7  # words of a gist in the view; where pages get fewer, the gists of parts are shown
BEGINS = 20  # words; where pages get as many, their gists' beginnings are shown, else the most telling words
NAMES = 12  # most names in the list
_RUNS = 5  # most runs of pages listed for a name
_LEAST_OF_BOOK = 60  # words of the view for each of several books
_EVERYWHERE = 0.6  # a name on a greater share of the pages is not listed: where it stands tells nothing
_FEWEST = 4  # occurrences of a name in the list
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SHORTENED = re.compile(r"['’](?!s$)")  # 'hasn\'t' tells nothing
_HEADING = re.compile(r"^(?:#+ .*|[^\w\n]*)\n+", re.MULTILINE)


def plain_gist(text: str) -> str:
    """Return a gist on one line, without headings and ornaments: they say little and take words."""
    return collapse_whitespace(_HEADING.sub("", text + "\n")) or collapse_whitespace(text)


def first_view(run: Run, most: int, prefix: str = "") -> str:
    """Return what the gist of each page tells of, after the page's paragraphs, in about ``most`` words together.

    How the gist begins; where a page gets fewer than ``BEGINS`` words, those of it that tell the page from the others.
    Where it would get fewer than ``LEAST_OF_GIST``, the gists of the finest parts that get as many; missing ones are
    made and stored. Of several books, all of them share the words. ``prefix``: '2.' for book 2. Raises ModelError.
    """
    memory = run.memory
    if isinstance(memory, JoinedMemory):
        shares = [max(_LEAST_OF_BOOK, most * book.gist_words // max(1, memory.gist_words)) for book in memory.books]
        return "\n\n".join(
            f"{book_tag(number)} {escape_tags(book.document.title)}\n{first_view(of_book, share, f'{number}.')}"
            for number, book, share in zip(memory.numbers, memory.books, shares, strict=True)
            for of_book in [replace(run, memory=book)]
        )
    gists = ((number, memory.page(number), memory.gists[number - 1]) for number in memory.readable)
    entries = [(f"{prefix}{n}:1-{page.end - page.start}", plain_gist(gist.text)) for n, page, gist in gists if gist]
    if len(entries) * LEAST_OF_GIST > most:
        levels = make_levels(run, most)
        level = next((level for level in levels.levels if len(level) * LEAST_OF_GIST <= most), levels.levels[-1])
        entries = [(f"{prefix}{part.label}:", plain_gist(levels.gist(part))) for part in level]
    elif len(entries) * BEGINS > most:
        texts = [memory.page_text(number) for number in memory.readable]
        told = telling_words([text for _, text in entries], texts, most // len(entries) - 1)
        entries = [(tag, words) for (tag, _), words in zip(entries, told, strict=True)]
    return "\n".join(shorten_alike(entries, most))


def telling_words(gists: Sequence[str], pages: Sequence[str], most: int) -> list[str]:
    """Return of each gist the ``most`` words, in order, that tell its page from the others; of unspaced ones all."""
    bags = [Counter(content(page)) for page in pages]
    rarity = inverse_frequencies(bags)
    told = []
    for gist, bag in zip(gists, bags, strict=True):
        words: dict[str, str] = {}  # by term, as they first stand in the gist
        for word in (word for word in _WORD.findall(gist) if not _SHORTENED.search(word)):
            for term in content(word)[:1]:
                words.setdefault(term, word)
        best = sorted(words, key=lambda term: (-(bag[term] ** 0.5) * rarity.get(term, 0.0), term))[:most]
        told.append(gist if is_unspaced(gist) else " ".join(word for term, word in words.items() if term in best))
    return told


def equal_share(needs: Sequence[int], most: int) -> int:
    """Return how much each may have at most, so that together they have ``most``: what some leave is the others'."""
    left = most
    for n, need in enumerate(ordered := sorted(needs)):
        share = left // (len(ordered) - n)
        if need > share:
            return share
        left -= need
    return most


def shorten_alike(entries: Sequence[tuple[str, str]], most: int, *, end: bool = False) -> list[str]:
    """Return each tag with its text, cut to an equal share where together they have more than ``most`` words.

    ``end``: a text is cut in its middle, and a third of it is its end.
    """
    each = equal_share([count_words(text) for _, text in entries], most)
    lines = []
    for tag, text in entries:
        cut = count_words(text) > each
        ends = last_words(text, each // 3) if cut and end else ""
        begins = first_words(text, each - count_words(ends))
        lines.append(f"{tag} {escape_tags(begins)}{' …' * cut}{' ' * bool(ends)}{escape_tags(ends)}")
    return lines


def names_of(memory: GistMemory) -> str:
    """Return the names that occur most, each with its pages: 'Ally Hawes 7-9, 22; …'.

    By rule: words with a capital inside a sentence; a first or last name alone is counted for the one full name that
    has it. Empty in scripts without capitals.
    """
    counts: Counter[str] = Counter()
    pages: dict[str, Counter[int]] = defaultdict(Counter)
    for number in memory.readable:
        for name in full_names(memory.page_text(number)):
            counts[name] += 1
            pages[name][number] += 1
    frequent = [name for name, count in counts.items() if count >= _FEWEST]
    for name in sorted(frequent, key=lambda name: len(name.split())):
        longer = [other for other in frequent if set(name.split()) < set(other.split())]
        if len(longer) == 1:
            counts[longer[0]] += counts.pop(name)
            pages[longer[0]] += pages.pop(name)
    everywhere = _EVERYWHERE * len(memory.readable)
    frequent = [name for name, count in counts.most_common() if count >= _FEWEST]
    chosen = [name for name in frequent if len(pages[name]) <= everywhere][:NAMES] or frequent[:NAMES]
    return "; ".join(f"{escape_tags(name)} {_short_list(memory, pages[name])}" for name in chosen)


def _short_list(memory: GistMemory, pages: Mapping[int, int]) -> str:
    """Return pages as ranges; of many, the first, those with most occurrences, and the last."""
    runs = page_runs(memory, sorted(pages))
    if runs.count(",") < _RUNS:
        return runs
    most = sorted(pages, key=lambda n: (-pages[n], n))[: _RUNS - 2]
    return page_runs(memory, sorted({min(pages), *most, max(pages)})) + " …"


def page_runs(memory: GistMemory, pages: Iterable[int]) -> str:
    """Return pages as their labels, neighbours as a range: '3-5, 9'."""
    runs: list[list[int]] = []
    for number in dict.fromkeys(pages):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(memory.label(a) + (f"-{memory.label(b)}" if b > a else "") for a, b in runs)
