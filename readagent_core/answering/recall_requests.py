"""What the requests of one reply of recall show: words that were looked for, passages, pages and gists."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from readagent_core.answering.base import Event, Expanded, LookedUp, Searched
from readagent_core.answering.passages import (
    FEW_HITS,
    MOST_AROUND,
    BookPassages,
    Hits,
    clip_to,
    sentences_with,
)
from readagent_core.answering.recall_replies import Find, Gists, Open, RecallRequest
from readagent_core.answering.recall_view import page_runs, plain_gist, shorten_alike
from readagent_core.answering.run import Run
from readagent_core.answering.shown_text import join_passages, passages_of
from readagent_core.memory import GistMemory, Passage
from readagent_core.prompts import render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, count_words, first_words, spread

HITS = 8  # most sentences shown for words that were looked for
EVERY_HIT = 30  # the same where each is to be listed
_SENTENCE = 30  # words of a sentence with words that were looked for
_SHORT = 20  # the same where each is to be listed
_ROUND = 90  # words round a place in a paragraph that is too long to be shown whole
_RESERVED, _KEPT = 50, 150  # words kept for each later search of a reply, and for each that shows text or gists
_COMPOUNDS = 4  # most longer words listed that have a word inside
_LEAST = 25  # words; with less room nothing is shown
_APART = 2  # sentences shown where the words stand only apart
_PLACES = 6  # most places named that stand above


@dataclass
class Seen:
    """What the prompt shows so far.

    ``whole``: passages shown word for word. ``words``: of all in it.
    """

    passages: list[Passage] = field(default_factory=list)
    whole: list[Passage] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    words: int = 0

    def expanded(self) -> Expanded:
        return Expanded(tuple(sorted(self.pages)), self.words, passages=tuple(join_passages(self.passages)))


def carry_out(
    run: Run, book: BookPassages, requests: tuple[RecallRequest, ...], reply: str, seen: Seen, room: int
) -> Generator[Event, None, str]:
    """Serve all requests of one reply in order and return the text that shows it, of about ``room`` words.

    Each has what the ones before it left, but for some words kept for each later one: at most half of what is left.
    """
    texts: list[str] = []
    opened: list[Passage] = []
    lines: list[Passage] = []
    refused: list[str] = []
    kept = [_RESERVED if isinstance(request, Find) else _KEPT for request in requests]
    for number, request in enumerate(requests, start=1):
        above = [*seen.whole, *opened]
        own = max(room // 2, room - sum(kept[number:])) - count_words(str(request))
        served = _serve(run, book, request, own, above)
        opened += served.passages
        lines += served.lines
        refused += [served.text] if served.missing else []
        if isinstance(request, Find):
            yield Searched((request.words,), tuple(dict.fromkeys(_pages_of(run.memory, served.hits))), reply)
        texts.append(f"{request}\n{served.text}")
        room -= count_words(texts[-1])
    pages = [passage.page for passage in join_passages(opened) if _is_whole(run.memory, passage)]
    seen.whole += opened
    opened = [passage for passage in [*opened, *lines] if passage.page not in pages]
    seen.passages += opened
    seen.pages += pages
    if opened or pages or refused:
        yield LookedUp(tuple(pages), reply, "", tuple(refused), passages=tuple(join_passages(opened)))
    shown = "\n\n".join(texts)
    seen.words += count_words(shown)
    return shown


@dataclass(frozen=True)
class _Served:
    """What a request shows: its ``text``, the ``passages`` shown whole in it, and those of which it has ``lines``.

    ``hits``: all paragraphs with the words that were looked for. ``missing``: there is no such page.
    """

    text: str
    passages: tuple[Passage, ...] = ()
    lines: tuple[Passage, ...] = ()
    hits: tuple[int, ...] = ()
    missing: bool = False


def _serve(run: Run, book: BookPassages, request: RecallRequest, room: int, shown: Sequence[Passage]) -> _Served:
    """Return what a request shows in about ``room`` words. ``shown``: text above."""
    if room < _LEAST:
        return _Served(render_fragment("recall.cut", run.language))
    if isinstance(request, Find):
        return _found(run, book, request, room, shown)
    return _open(run, book, request, room, shown) if isinstance(request, Open) else _gists(run, request, room)


def _is_whole(memory: GistMemory, passage: Passage) -> bool:
    page = memory.page(passage.page)
    return (passage.start, passage.end) == (page.start, page.end)


def _pages_of(memory: GistMemory, paragraphs: Iterable[int]) -> Iterator[int]:
    """Yield the page of each paragraph."""
    return (page.number for index in paragraphs if (page := memory.page_at(index)))


def _pages_between(memory: GistMemory, first: str, last: str) -> tuple[int, ...]:
    """Return the readable pages of a range as requests name it ('2' is all of book 2); () for everything."""
    if not first:
        return ()
    numbers = range(1, len(memory.pages) + 1)
    ends = [memory.number_of(label) for label in (first, last or first)]
    if None not in ends:
        return tuple(n for n in numbers if int(ends[0] or 0) <= n <= int(ends[1] or 0)) or (0,)
    starts = (f"{first}.", f"{last}.")
    inside = [n for n in numbers if memory.label(n).startswith(starts)]
    if not inside and ends[0]:  # the range ends after the last page
        inside = list(numbers[ends[0] - 1 :])
    return tuple(inside) or (0,)


def _found(run: Run, book: BookPassages, request: Find, room: int, before: Sequence[Passage]) -> _Served:
    """Return what a search shows: few hits with what is round them; of many, sentences spread over all."""
    memory = run.memory
    hits = book.find(request.words, _pages_between(memory, request.first, request.last))
    if not hits.paragraphs:
        inside = f"{request.first}-{request.last}" if request.first else ""
        where = "recall.nowhere_in" if inside else "recall.nowhere"
        return _Served(render_fragment(where, run.language, **({"pages": inside} if inside else {})))
    count = len(hits.paragraphs)
    said = {"count": str(count), "pages": page_runs(memory, _pages_of(memory, hits.paragraphs))}
    forms = escape_tags(", ".join(hits.forms[:6]))
    said["forms"] = forms if hits.exact else f" ({forms})" * bool(forms)
    head = "recall.found" if hits.exact else "recall.apart"
    compounds = _compounds(run, hits)
    if count <= FEW_HITS and hits.exact and not request.every:
        units = {i: book.around(i) for i in hits.paragraphs}
        long = [i for i, unit in units.items() if book.words([unit]) > MOST_AROUND]
        excerpts = {i: book.excerpt(i, request.words, _ROUND) for i in long}
        told = [f"{_place(memory, i)} {escape_tags(line)}" for i, line in excerpts.items()]
        text, new = _new_text(run, book, [units[i] for i in hits.paragraphs if i not in long], before)
        shown_text = "\n".join([*told, *([text] if text else [])])
        if count_words(shown_text) <= room:
            head = "\n".join(
                [render_fragment(head, run.language, **said, shown=str(count)), *filter(None, [compounds])]
            )
            lines_of = tuple(passage for i, line in excerpts.items() for passage in _in_line(memory, i, line))
            return _Served(f"{head}\n{shown_text}", tuple(new), lines_of, hits=hits.paragraphs)
    every = request.every and hits.exact
    above = [i for i in hits.paragraphs if _is_shown(Passage(_page_of(memory, i), i, i + 1), before)]
    most = min(EVERY_HIT, room // 10) if every else min(HITS if hits.exact else _APART, room // 20)
    shown = spread([i for i in hits.paragraphs if i not in above], max(1, most))
    lines = [render_fragment(head, run.language, **said, shown=str(len(shown)))]
    if above:
        places = ", ".join(_place(memory, i) for i in above[:_PLACES]) + " …" * (len(above) > _PLACES)
        lines.append(render_fragment("recall.above", run.language, places=places))
    if compounds:
        lines.append(compounds)
    longest = _SHORT if every and len(shown) > HITS else _SENTENCE if len(shown) > FEW_HITS else 2 * _SENTENCE
    each = min(longest, max(8, (room - count_words(" ".join(lines))) // max(1, len(shown)) - 1))
    whole: list[Passage] = []
    part: list[Passage] = []
    for index in shown:
        line = book.sentence(index, request.words, each)
        lines.append(f"{_place(memory, index)} {escape_tags(line)}")
        passage = Passage(_page_of(memory, index), index, index + 1)
        if line == collapse_whitespace(book.text(passage)):
            whole.append(passage)
        else:
            part += _in_line(memory, index, line)
    return _Served("\n".join(lines), tuple(whole), tuple(part), hits=hits.paragraphs)


def _compounds(run: Run, hits: Hits) -> str:
    """Return which longer words have the word that was found inside: 'greyhound 2:10'; '' where none has."""
    if not hits.exact or not hits.inside:
        return ""
    places = [f"{escape_tags(word)} {_place(run.memory, i)}" for word, i in [*hits.inside.items()][:_COMPOUNDS]]
    return render_fragment("recall.inside", run.language, words=", ".join(places))


def _page_of(memory: GistMemory, paragraph: int) -> int:
    page = memory.page_at(paragraph)
    assert page is not None
    return page.number


def _in_line(memory: GistMemory, paragraph: int, line: str) -> tuple[Passage, ...]:
    """Return what a line has of a paragraph; all of it where the line is not found there as it is."""
    page = _page_of(memory, paragraph)
    found = passages_of(memory, {page: [line]})
    return found if [one.start for one in found] == [paragraph] else (Passage(page, paragraph, paragraph + 1),)


def _place(memory: GistMemory, paragraph: int) -> str:
    """Return a paragraph as requests and hits name it: '29:13'."""
    number = _page_of(memory, paragraph)
    return f"{memory.label(number)}:{paragraph - memory.page(number).start + 1}"


def _new_text(
    run: Run, book: BookPassages, wanted: Iterable[Passage], shown: Sequence[Passage]
) -> tuple[str, list[Passage]]:
    """Return the text of the paragraphs of the passages that are not ``shown`` yet, and these; the others are named."""
    single = [Passage(p.page, i, i + 1) for p in wanted for i in range(p.start, p.end)]
    new = join_passages(part for part in single if not _is_shown(part, shown))
    above = join_passages(part for part in single if _is_shown(part, shown))
    places = ", ".join(f"{run.memory.label(p.page)}:{book.paragraphs(p)}" for p in above)
    named = [render_fragment("recall.above", run.language, places=places)] if above else []
    return "\n".join([*named, *([book.show(new)] if new else [])]), new


def _is_shown(passage: Passage, shown: Iterable[Passage]) -> bool:
    return any(
        p.page == passage.page and p.start <= passage.start and passage.end <= p.end for p in join_passages(shown)
    )


def _open(run: Run, book: BookPassages, request: Open, room: int, shown: Sequence[Passage]) -> _Served:
    """Return the text that a request opens, cut where it has more than ``room`` words."""
    memory = run.memory
    page = memory.number_of(request.page)
    last = memory.number_of(request.until) if request.until else page
    pages = range(page, min(last or page, len(memory.pages)) + 1) if page else ()
    wanted = [p for n in pages if (p := book.named(n, request.first or 1, request.last or 10**6))]
    if not wanted:
        text = render_fragment("recall.no_page", run.language, page=str(request).removeprefix("OPEN "))
        return _Served(text, missing=True)
    if request.first and wanted[0].end - wanted[0].start == 1:  # one paragraph: with what is round it
        wanted = [book.around(wanted[0].start)]
    opened: list[Passage] = []
    cut = False
    for passage in wanted:
        end = passage.start
        while end < passage.end:
            part = Passage(passage.page, end, end + 1)
            cost = 0 if _is_shown(part, shown) else book.words([part])
            if cost > room:
                break
            end, room = end + 1, room - cost
        opened += [passage._replace(end=end)] if end > passage.start else []
        if cut := end < passage.end:
            break
    ended = "\n" + render_fragment("recall.cut", run.language) if cut else ""
    if not opened:  # a paragraph longer than the room: its beginning alone
        part = wanted[0]._replace(end=wanted[0].start + 1)
        text = first_words(book.text(part), max(room, 40))
        return _Served(f"{book.tag(part)}\n{escape_tags(text)}{ended}", lines=_in_line(memory, part.start, text))
    text, new = _new_text(run, book, opened, shown)
    return _Served(text + ended, tuple(new))


def _told(run: Run, words: str, pages: Sequence[int], room: int) -> str:
    """Return the sentences of the gists of ``pages`` that have the words, spread over all where there is no room."""
    memory = run.memory
    told = [(n, s) for n in pages if (gist := memory.gists[n - 1])
            for s in sentences_with(plain_gist(gist.text), words, memory.document.language)]  # fmt: skip
    if not told:
        return render_fragment("recall.nowhere_told", run.language)
    chosen = spread(range(len(told)), max(1, min(len(told), room // (_SENTENCE - 8))))
    runs = page_runs(memory, (n for n, _ in told))
    head = render_fragment("recall.told", run.language, count=str(len(told)), pages=runs, shown=str(len(chosen)))
    each = max(12, (room - count_words(head)) // len(chosen) - 1)
    return "\n".join(
        [head, *(f"{memory.label(n)}: {escape_tags(clip_to(s, words, each))}" for n, s in (told[i] for i in chosen))]
    )


def _gists(run: Run, request: Gists, room: int) -> _Served:
    """Return the gists of a range of pages, each cut in its middle where they have more than ``room`` words."""
    memory = run.memory
    between = _pages_between(memory, request.first, request.last) if request.first else memory.readable
    pages = [n for n in between if n in memory.readable]
    if pages and request.words:
        return _Served(_told(run, request.words, pages, room))
    if not pages:
        named = f"{request.first}-{request.last}"
        return _Served(render_fragment("recall.no_page", run.language, page=named), missing=True)
    gists = {memory.label(n): plain_gist(gist.text) for n in pages if (gist := memory.gists[n - 1])}
    tags = {label: render_fragment("recall.gist", run.language, page=label) for label in gists}
    left = room - sum(map(count_words, tags.values()))
    return _Served("\n".join(shorten_alike([(tags[label], text) for label, text in gists.items()], left, end=True)))
