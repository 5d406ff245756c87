"""What the requests of one reply of recall show: words that were looked for, passages, pages and gists."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from readagent_core.answering.base import Event, Expanded, LookedUp, Passage, Searched
from readagent_core.answering.passages import FEW_HITS, BookPassages, join_passages, spread
from readagent_core.answering.recall_replies import Find, Gists, Open, RecallRequest
from readagent_core.answering.recall_view import equal_share, page_runs, plain_gist, shorten_alike
from readagent_core.answering.run import Run
from readagent_core.memory import GistMemory
from readagent_core.prompts import render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words

HITS = 10  # most sentences shown for words that were looked for
_SENTENCE = 45  # words of a sentence with words that were looked for


@dataclass
class Seen:
    """What the prompt shows so far.

    ``whole``: passages shown word for word. ``begun``: words of each gist in the first view. ``words``: of all in it.
    """

    passages: list[Passage] = field(default_factory=list)
    whole: list[Passage] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    begun: int = 0
    words: int = 0

    def expanded(self) -> Expanded:
        return Expanded(tuple(sorted(self.pages)), self.words, passages=tuple(join_passages(self.passages)))


def carry_out(
    run: Run, book: BookPassages, requests: tuple[RecallRequest, ...], reply: str, seen: Seen, room: int
) -> Generator[Event, None, str]:
    """Serve all requests of one reply together and return the text that shows it, of at most ``room`` words.

    Each has an equal share; what short ones leave is the others'.
    """
    needs = [count_words(_serve(run, book, request, room, seen.whole, seen.begun).text) for request in requests]
    each = equal_share(needs, room)
    texts: list[str] = []
    opened: list[Passage] = []
    lines: list[Passage] = []
    refused: list[str] = []
    for request, need in zip(requests, needs, strict=True):
        served = _serve(run, book, request, room if need <= each else each, [*seen.whole, *opened], seen.begun)
        opened += served.passages
        lines += served.lines
        refused += [served.text] if served.missing else []
        if isinstance(request, Find):
            yield Searched((request.words,), tuple(dict.fromkeys(_pages_of(run.memory, served.hits))), reply)
        texts.append(f"{request}\n{served.text}")
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


def _serve(
    run: Run, book: BookPassages, request: RecallRequest, room: int, shown: Sequence[Passage], begun: int
) -> _Served:
    """Return what a request shows in about ``room`` words. ``shown``, ``begun``: text and gists above."""
    if isinstance(request, Find):
        return _found(run, book, request, room, shown)
    return _open(run, book, request, room, shown) if isinstance(request, Open) else _gists(run, request, room, begun)


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
    said["forms"] = escape_tags(", ".join(hits.forms[:6])) or render_fragment("recall.apart", run.language)
    if count <= FEW_HITS and hits.forms and not request.every:
        units = join_passages(book.around(i) for i in hits.paragraphs)
        if book.words(units) <= room:
            text, new = _new_text(run, book, units, before)
            head = render_fragment("recall.found", run.language, **said, shown=str(count))
            return _Served(f"{head}\n{text}", tuple(new), hits=hits.paragraphs)
    new_hits = [i for i in hits.paragraphs if not _is_shown(Passage(_page_of(memory, i), i, i + 1), before)]
    most = max(1, room // 12) if request.every else min(HITS if hits.forms else FEW_HITS, max(1, room // 20))
    shown = spread(new_hits, most)
    lines = [render_fragment("recall.found", run.language, **said, shown=str(len(shown)))]
    if len(new_hits) < count:
        lines.append(render_fragment("recall.also_above", run.language, count=str(count - len(new_hits))))
    each = min(_SENTENCE, max(8, (room - count_words(" ".join(lines))) // max(1, len(shown)) - 1))
    passages = []
    for index in shown:
        number = _page_of(memory, index)
        sentence = escape_tags(book.sentence(index, request.words, each))
        lines.append(f"{memory.label(number)}:{index - memory.page(number).start + 1} {sentence}")
        passages.append(Passage(number, index, index + 1))
    return _Served("\n".join(lines), lines=tuple(passages), hits=hits.paragraphs)


def _page_of(memory: GistMemory, paragraph: int) -> int:
    page = memory.page_at(paragraph)
    assert page is not None
    return page.number


def _new_text(
    run: Run, book: BookPassages, wanted: Iterable[Passage], shown: Sequence[Passage]
) -> tuple[str, list[Passage]]:
    """Return the text of the paragraphs of the passages that are not ``shown`` yet, and these; the others are named."""
    single = [Passage(p.page, i, i + 1) for p in wanted for i in range(p.start, p.end)]
    new = join_passages(part for part in single if not _is_shown(part, shown))
    above = join_passages(part for part in single if _is_shown(part, shown))
    named = (
        render_fragment("recall.above", run.language, page=run.memory.label(p.page), paragraphs=book.paragraphs(p))
        for p in above
    )
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
        text = escape_tags(first_words(book.text(part), max(room, 40)))
        return _Served(f"{book.tag(part)}\n{text}{ended}", lines=(part,))
    text, new = _new_text(run, book, opened, shown)
    return _Served(text + ended, tuple(new))


def _gists(run: Run, request: Gists, room: int, begun: int) -> _Served:
    """Return the gists of a range of pages, shortened alike where together they have more than ``room`` words.

    Then they begin after the ``begun`` words of each that stand above.
    """
    memory = run.memory
    pages = [n for n in _pages_between(memory, request.first, request.last) if n in memory.readable]
    if not pages:
        named = f"{request.first}-{request.last}"
        return _Served(render_fragment("recall.no_page", run.language, page=named), missing=True)
    gists = {memory.label(n): plain_gist(gist.text) for n in pages if (gist := memory.gists[n - 1])}
    tags = {label: render_fragment("recall.gist", run.language, page=label) for label in gists}
    left = room - sum(map(count_words, tags.values()))
    if begun and sum(map(count_words, gists.values())) > left:
        rest = {label: text[len(first_words(text, begun)) :].strip() for label, text in gists.items()}
        gists = {label: f"… {text}" if text else gists[label] for label, text in rest.items()}
    return _Served("\n".join(shorten_alike([(tags[label], text) for label, text in gists.items()], left)))
