"""Recall: remember a book by the beginnings of its gists, and go back to passages of it.

The first prompt of every question about a book begins alike: instructions and a short view of the memory, which a
server's prefix cache holds. Then come the passages that share words with the question, and the question. The model
answers, or asks in one reply for as much as it needs: words to find, passages or pages to open, gists of a range. Each
prompt is the whole one before with what was asked for after it. After ``ROUNDS`` replies it answers from what it has.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace

from readagent_core.answering.base import Event, Expanded, LookedUp, Passage, Searched
from readagent_core.answering.explore_replies import ANSWER_MARK
from readagent_core.answering.passages import FEW_HITS, BookPassages, join_passages
from readagent_core.answering.recall_replies import BEGUN, Find, Gists, Open, RecallRequest, parse_recall
from readagent_core.answering.response import ANSWER_WORDS, choice_form, conclude, stream_answer
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import max_context_words
from readagent_core.errors import EmptyReplyError, RefusedError
from readagent_core.memory import GistMemory
from readagent_core.prompts import Prompt, example_numbers, render, render_fragment
from readagent_core.tags import escape_tags, page_tag
from readagent_core.words import collapse_whitespace, count_words, first_words

VIEW_WORDS = 1000  # of beginnings of gists in the first view
PASSAGE_WORDS = 900  # of passages in the first prompt
SEARCH_WORDS = 3000  # of passages where they are all that is shown
ROUND_WORDS = 1500  # of what one reply can ask for
ROUNDS = 3  # most replies with requests
_MOST_OF_PAGE = 3  # passages of one page in the first prompt
_LEAST_OF_GIST = 8  # words


@dataclass
class _Seen:
    """What the prompt shows so far. ``words``: of gists and text in it."""

    passages: list[Passage] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    words: int = 0

    def expanded(self) -> Expanded:
        return Expanded(tuple(sorted(self.pages)), self.words, passages=tuple(join_passages(self.passages)))


def first_view(memory: GistMemory, most: int) -> str:
    """Return how the gist of each readable page begins, each below its page's tag, in about ``most`` words together.

    A book of more pages than fit is shown by every second page, every third and so on. Depends on the memory alone.
    """
    pages = memory.readable
    step = -(-len(pages) * _LEAST_OF_GIST // max(1, most))
    shown = pages[:: max(1, step)]
    each = max(_LEAST_OF_GIST, most // max(1, len(shown)))
    entries = []
    for number in shown:
        gist = memory.gists[number - 1]
        text = collapse_whitespace(gist.text) if gist else ""
        begins = first_words(text, each)
        entries.append(f"{page_tag(number)} {escape_tags(begins)}{' …' if len(begins) < len(text) else ''}")
    return "\n".join(entries)


def recall(run: Run, *, gists: bool = True) -> Generator[Event, None, None]:
    """Answer the run's question. ``gists`` False: without gists, by search alone (the method 'search-agent')."""
    book, gists = BookPassages(run.memory), gists and bool(run.memory.readable)
    options = run.settings.extra
    view = first_view(run.memory, int(options.get("view", VIEW_WORDS))) if gists else ""
    seen = _Seen(words=count_words(view))
    room = int(options.get("passages", PASSAGE_WORDS))
    sample = run.memory.document.text(0, min(20, len(run.memory.document.paragraphs)))
    run.model.learn_window(run.cancel)
    around = _first_prompt(run, view, "", gists=gists, left=1).words
    limit = max_context_words(run.settings, run.model, sample=sample, around=around, reply_words=ANSWER_WORDS)
    if limit is not None:
        room = min(room, max(100, limit))
    seen.passages = _passages_for(run, book, room)
    seen.words += book.words(seen.passages)
    if seen.passages:
        yield LookedUp((), "", "found by search", passages=tuple(join_passages(seen.passages)))
    yield seen.expanded()
    rounds = int(options.get("requests", ROUNDS))
    prompt = _first_prompt(run, view, book.show(seen.passages), gists=gists, left=rounds)
    for left in range(rounds, -1, -1):
        try:
            completion = yield from stream_answer(run, prompt, parse_recall, BEGUN)
        except (EmptyReplyError, RefusedError):
            if not left:
                raise
            yield run.note("A request had no usable reply; the answer was asked for.")
            prompt = _continued(run, prompt, (), "", 0)
            continue
        requests = parse_recall(completion.text) if left else ()
        if not requests:
            said = replace(completion, text=ANSWER_MARK.sub("", completion.text, count=1))
            yield from conclude(run, prompt, said, **_figures(run, seen, gists=gists))
            return
        run.steps += 1
        room = ROUND_WORDS if limit is None else min(ROUND_WORDS, limit - seen.words)
        shown = yield from _carry_out(run, book, requests, completion.text, seen, max(0, room))
        yield seen.expanded()
        prompt = _continued(run, prompt, requests, shown, left - 1)


def _figures(run: Run, seen: _Seen, *, gists: bool) -> dict[str, object]:
    passages = tuple(p for p in join_passages(seen.passages) if p.page not in seen.pages)
    pages = dict.fromkeys(run.memory.readable if gists else (), "gist") | dict.fromkeys(
        (p.page for p in passages), "passage"
    )
    return {
        "looked_up": tuple(dict.fromkeys(seen.pages)),
        "seen": pages | dict.fromkeys(seen.pages, "full"),
        "passages": passages,
        "memory_words": seen.words,
        "whole_words": run.memory.words,
    }


def _passages_for(run: Run, book: BookPassages, room: int) -> list[Passage]:
    """Return the best passages for the question that fit into ``room`` words, few of each page."""
    chosen: list[Passage] = []
    asked = " ".join([run.question.text, *run.question.options])
    for passage in book.rank(asked):
        words = book.words([passage])
        if words <= room and sum(one.page == passage.page for one in chosen) < _MOST_OF_PAGE:
            chosen.append(passage)
            room -= words
        if room < 40:
            break
    return chosen


def _first_prompt(run: Run, view: str, passages: str, *, gists: bool, left: int) -> Prompt:
    example = example_numbers(len(run.memory.pages))
    free = {name: render_fragment(f"{name}.recall", run.language) for name in ("form", "unsettled")}
    return render(
        "recall" if gists else "search_agent",
        run.language,
        reply_words=ANSWER_WORDS,
        title=run.title,
        **({"memory": view} if gists else {}),
        passages=passages,
        left=str(left),
        example=example,
        evidence=render_fragment("evidence.recall", run.language, example=example),
        question=run.question_with_options,
        **(choice_form(run) if run.question.options else free),
    )


def _continued(run: Run, prompt: Prompt, requests: Iterable[RecallRequest], shown: str, left: int) -> Prompt:
    """Return ``prompt`` followed by what was asked for and what it shows. ``left``: replies with requests left."""
    asked = escape_tags("; ".join(map(str, requests)))
    if asked:
        prompt = prompt.with_follow_up("recall.shown", request=asked, shown=shown)
    return prompt.with_follow_up("recall.left", left=str(left)) if left else prompt.with_follow_up("recall.answer")


def _carry_out(
    run: Run, book: BookPassages, requests: tuple[RecallRequest, ...], reply: str, seen: _Seen, room: int
) -> Generator[Event, None, str]:
    """Serve all requests of one reply together and return the text that shows it, of at most ``room`` words."""
    texts: list[str] = []
    opened: list[Passage] = []
    pages: list[int] = []
    refused: list[str] = []
    share = room // max(1, len(requests))
    for request in requests:
        now = max(share, room - sum(map(count_words, texts)) - share * (len(requests) - len(texts) - 1))
        if isinstance(request, Find):
            text, found = _find(run, book, request, now, seen)
            opened += found
            hits = book.find(request.words, range(request.first, request.last + 1) if request.first else ())
            on = dict.fromkeys(page.number for i in hits.paragraphs if (page := run.memory.page_at(i)))
            yield Searched((request.words,), tuple(on), reply)
        elif isinstance(request, Open):
            text, passage = _open(run, book, request, now)
            if passage is None:
                refused.append(text)
            elif _is_whole(run.memory, passage):
                pages.append(passage.page)
            else:
                opened.append(passage)
        else:
            text = _gists(run, request, now)
        texts.append(f"{request}\n{text}")
    seen.passages += opened
    seen.pages += pages
    if opened or pages or refused:
        yield LookedUp(tuple(pages), reply, "", tuple(refused), passages=tuple(join_passages(opened)))
    shown = "\n\n".join(texts)
    seen.words += count_words(shown)
    return shown


def _is_whole(memory: GistMemory, passage: Passage) -> bool:
    page = memory.page(passage.page)
    return (passage.start, passage.end) == (page.start, page.end)


def _find(run: Run, book: BookPassages, request: Find, room: int, seen: _Seen) -> tuple[str, list[Passage]]:
    """Return what a search shows, and the passages that it opened: those of few hits are shown whole."""
    inside = range(request.first, request.last + 1) if request.first else ()
    hits = book.find(request.words, inside)
    language = run.language
    if not hits.paragraphs:
        return render_fragment("recall.nowhere", language), []
    places = [(i, page.number) for i in hits.paragraphs if (page := run.memory.page_at(i))]
    named = ", ".join(map(str, dict.fromkeys(number for _, number in places)))
    head = render_fragment(
        "recall.found", language, count=str(len(places)), pages=named, shown=str(len(hits.shown)),
        forms=escape_tags(", ".join(hits.forms[:6])) or "-",
    )  # fmt: skip
    if len(places) <= FEW_HITS:
        units = join_passages(book.around(i) for i in hits.paragraphs)
        if book.words(units) <= room:
            return f"{head}\n{book.show(units)}", units
    lines = [head]
    for index in hits.shown:
        page = run.memory.page_at(index)
        if page is None:
            continue
        sentence = first_words(book.sentence(index, request.words), 45)
        lines.append(f"{page.number}:{index - page.start + 1} {escape_tags(sentence)}")
        if sum(map(count_words, lines)) > room:
            break
    return "\n".join(lines), [Passage(p.number, i, i + 1) for i in hits.shown if (p := run.memory.page_at(i))]


def _open(run: Run, book: BookPassages, request: Open, room: int) -> tuple[str, Passage | None]:
    """Return the text that a request opens, cut at paragraphs where it has more than ``room`` words."""
    passage = book.named(request.page, request.first or 1, request.last or 10**6)
    if passage is None:
        return render_fragment("recall.no_page", run.language, page=str(request.page)), None
    if request.first and passage.end - passage.start == 1:  # one paragraph: with what is round it
        passage = book.around(passage.start)
    end = passage.start + 1
    while end < passage.end and book.words([passage._replace(end=end + 1)]) <= room:
        end += 1
    shown = passage._replace(end=end)
    text = book.show([shown])
    if end < passage.end:
        text += "\n" + render_fragment("recall.cut", run.language)
    return text, shown


def _gists(run: Run, request: Gists, room: int) -> str:
    """Return the gists of a range of pages, each shortened alike where together they have more than ``room`` words."""
    pages = [n for n in run.memory.readable if request.first <= n <= request.last]
    if not pages:
        return render_fragment("recall.no_page", run.language, page=f"{request.first}-{request.last}")
    gists = {n: gist.text for n in pages if (gist := run.memory.gists[n - 1])}
    if sum(map(count_words, gists.values())) > room:
        each = max(_LEAST_OF_GIST, room // len(gists))
        gists = {n: first_words(text, each) + (" …" if count_words(text) > each else "") for n, text in gists.items()}
    return "\n".join(f"{page_tag(n)} {escape_tags(text)}" for n, text in gists.items())
