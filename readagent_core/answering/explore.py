"""Explore a memory step by step: open parts and pages, find words, and answer as soon as the view holds enough.

Each step is one prompt over one view of the memory; its reply opens something in place, looks for words, or answers.
So a question that the first view settles costs one call. When no request is left the answer is asked for. With the
setting ``opened=after`` each prompt is the one before with what was opened or found after it, so that a server with
prefix caching computes only that; where this grows too long for the window, the view is shown in place again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby

from readagent_core.answering.base import Event, LookedUp, Searched
from readagent_core.answering.explore_replies import ANSWER_MARK, BEGUN, Request, parse_request
from readagent_core.answering.levels import make_levels
from readagent_core.answering.response import (
    ANSWER_WORDS,
    OPENED_AFTER,
    choice_form,
    citing,
    conclude,
    memory_prompt,
    opens_after,
    respond,
    stream_answer,
)
from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import AskedShelf
from readagent_core.answering.shelf_view import ShelfView, first_shelf_view
from readagent_core.answering.view import FoundLine, first_view
from readagent_core.answering.word_budget import ask_within_window, max_context_words
from readagent_core.errors import EmptyReplyError, RefusedError, WindowError
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt, render, render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import count_words

WORDS = 4000  # of gists in a view, where nothing else is said
REQUESTS = 4  # most requests to open or find; each is one more prompt
SHELF_REQUESTS = 6  # of a question about several books
EXPLORE_OPTIONS = {"words": int, "requests": int, "opened": str}
_EARLIER_WORDS = 80  # of a prompt, left for the requests so far


def view_of_book(run: Run, most: int) -> Generator[Event, None, ShelfView]:
    """Return the finest view of the run's memory that has at most ``most`` words; missing gists of parts are made."""
    calls = run.model.usage.calls
    levels = make_levels(run, most)
    if run.model.usage.calls > calls:
        yield run.note(f"Made gists of parts of the book in {run.model.usage.calls - calls} calls.")
    return ShelfView(run, {0: first_view(levels, most, rank_by_bm25(run.question.text, run.memory))})


def explore_within(run: Run, most: int | None, shelf: AskedShelf | None = None) -> Generator[Event, None, None]:
    """Explore in views of at most ``most`` words of gists (None: as many as fit into the window).

    ``shelf``: the books of a question about several, in place of the run's memory.
    """
    sample = shelf.sample if shelf else run.memory.gist_text

    def attempt() -> Generator[Event, None, None]:
        around = _prompt(run, ShelfView(run, {}, shelf), 1, []).words
        around += _EARLIER_WORDS * (SHELF_REQUESTS if opens_after(run) else 1)
        limit = max_context_words(run.settings, run.model, sample=sample, around=around, reply_words=ANSWER_WORDS)
        words = min((n for n in (most, limit) if n is not None), default=run.memory.gist_words)
        view = yield from (first_shelf_view(run, shelf, words) if shelf else view_of_book(run, words))
        yield from explore(run, view, most=words, limit=limit)

    yield from ask_within_window(run, attempt)


def explore(run: Run, view: ShelfView, *, most: int, limit: int | None) -> Generator[Event, None, None]:
    """Open, find and answer. ``most``: words of gists in a view. ``limit``: words of a view (None: no limit)."""
    done = _Done()
    earlier: list[str] = []
    prompt: Prompt | None = None
    yield from view.expanded()
    for left in range(_requests(run, view), 0, -1):
        if prompt and view.repeated is not None:
            prompt = _continued(run, view, prompt, earlier[-1], done, left)
        else:
            view.repeated = 0 if opens_after(run) else None
            prompt = _prompt(run, view, left, earlier, done.folded)
            if done.problems:
                prompt = prompt.with_follow_up("explore.again", problem="; ".join(done.problems))
        try:
            completion = yield from stream_answer(run, prompt, parse_request, BEGUN)
        except (EmptyReplyError, RefusedError):
            yield run.note("A request had no usable reply; the answer was asked for.")
            view.repeated = None
            break
        request = parse_request(completion.text)
        if request is None:
            yield from _conclude(run, view, prompt, completion)
            return
        run.steps += 1
        done = yield from _carry_out(run, view, request, completion.text, most=most, limit=limit)
        earlier.append(request.text + done.found)
        yield from view.expanded()
    if prompt and view.repeated is not None:
        prompt = _continued(run, view, prompt, earlier[-1], done, 0)
        with suppress(EmptyReplyError, RefusedError, WindowError):
            completion = yield from stream_answer(run, prompt, parse_request, BEGUN)
            if parse_request(completion.text) is None:
                yield from _conclude(run, view, prompt, completion)
                return
        view.repeated = None
    while True:
        try:
            yield from respond(run, _answer_prompt(run, view), **view.figures())
            return
        except WindowError:
            if not view.full():
                raise
            largest, page = max(view.full(), key=lambda row: row[0].memory.page(row[1]).words)
            largest.full.discard(page)
            name = f"{largest.prefix}{page}"
            yield run.note(f"Page {name} became a gist again: with it the prompt was too long for the model's window.")
            yield from view.expanded()


def _conclude(run: Run, view: ShelfView, prompt: Prompt, completion: Completion) -> Generator[Event, None, None]:
    if run.steps and opens_after(run):
        yield run.note(OPENED_AFTER)
    said = replace(completion, text=ANSWER_MARK.sub("", completion.text, count=1))
    yield from conclude(run, prompt, said, **view.figures())


def _continued(run: Run, view: ShelfView, prompt: Prompt, request: str, done: _Done, left: int) -> Prompt:
    """Return ``prompt`` followed by what its reply, ``request``, opened or found. ``left``: requests left."""
    if done.shown:
        prompt = prompt.with_follow_up("explore.shown", request=escape_tags(request), shown=done.shown)
    if done.problems:
        prompt = prompt.with_follow_up("explore.again", problem="; ".join(done.problems))
    pages = str(run.settings.look_ups - len(view.full())) if left else "0"
    if left:
        prompt = prompt.with_follow_up("explore.left", left=str(left), pages=pages)
    else:
        prompt = prompt.with_follow_up("explore.answer")
    return replace(prompt, fields={**prompt.fields, "memory": view.text(), "pages": pages})


def _requests(run: Run, view: ShelfView) -> int:
    return max(0, run.option("requests", SHELF_REQUESTS if view.shelf else REQUESTS))


def _prompt(run: Run, view: ShelfView, left: int, earlier: list[str], folded: tuple[str, ...] = ()) -> Prompt:
    told = []
    if earlier:
        requests = escape_tags("; ".join(earlier))
        told.append(render_fragment("explore.earlier", run.language, requests=requests))
    if folded:
        told.append(render_fragment("explore.folded", run.language, parts=", ".join(folded)))
    about = {"count": str(len(view.shelf.books))} if view.shelf else {"title": run.title}
    return render(
        "explore_shelf" if view.shelf else "explore",
        run.language,
        reply_words=ANSWER_WORDS,
        memory=view.text() if view.views or view.shelf else "",
        left=str(left),
        pages=str(run.settings.look_ups - len(view.full())),
        earlier="".join(told) + "\n" * bool(told),
        question=run.question_with_options,
        **about,
        **_answer_form(run),
        **(cited := _citing(run, view)),
        examples=f"{cited['example']}, {_next(cited['example'])}",
    )


def _answer_prompt(run: Run, view: ShelfView) -> Prompt:
    """Return the prompt that asks for the answer, when no request is left."""
    if not view.shelf:
        return memory_prompt(run, view.text(), full=[page for _, page in view.full()])
    values = {"memory": view.text(), "question": run.question_with_options}
    form = _answer_form(run)
    return render("answer_shelf", run.language, reply_words=ANSWER_WORDS, **values, **form, **_citing(run, view))


def _next(label: str) -> str:
    """Return another example of a page, some pages on."""
    book, dot, page = label.rpartition(".")
    return f"{book}{dot}{int(page) + 5}"


def _answer_form(run: Run) -> dict[str, str]:
    if run.question.options:
        return choice_form(run)
    return {name: render_fragment(f"{name}.free", run.language) for name in ("form", "unsettled")}


def _citing(run: Run, view: ShelfView) -> dict[str, str]:
    """Return the fields of a prompt that ask for page marks; on a shelf with the number of the book."""
    quote = bool(view.full()) or opens_after(run)  # a page may be shown in full after this prompt
    full = [f"{of_book.prefix}{page}" for of_book, page in view.full()]
    example = f"{len(view.shelf.books) + 3}.12" if view.shelf else ""
    return citing(run, quote=quote, full=full, example=example)


@dataclass(frozen=True)
class _Done:
    """What a request led to: what could not be done, what was folded to make room, and the text that is now shown.

    ``found``: that only some of the places of words are shown.
    """

    problems: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    shown: str = ""
    found: str = ""


def _carry_out(
    run: Run, view: ShelfView, request: Request, reply: str, *, most: int, limit: int | None
) -> Generator[Event, None, _Done]:
    """Open and find what a request names."""
    problems: list[str] = []
    some = ""
    before, words_before = view.pieces(), view.words()
    if request.words:
        found = {words: view.find(words) for words in request.words}
        some += "".join(_shown_of(run, places) for places in found.values())
        yield from _searched(request, [place for places in found.values() for place in places], reply)
        problems += [f'"{words}" stands nowhere in the text' for words, places in found.items() if not places]
    opened: dict[int, _Opened] = {}
    calls = run.model.usage.calls
    for label in request.labels:
        number = view.book_number(label)
        here = opened.setdefault(number, _Opened())
        if why := _open(run, view, label, here, most=most, limit=limit):
            here.missing.append(f"{'book' if view.shelf and '.' not in label else 'page'} {label}: {why}")
    if run.model.usage.calls > calls:  # the gists of a book that is opened for the first time
        yield run.note(f"Made gists of parts of books in {run.model.usage.calls - calls} calls.")
    for number, here in opened.items():
        yield LookedUp(tuple(here.pages), reply, request.reason, tuple(here.missing), tuple(here.parts), number)
        problems += here.missing
    shown = "\n\n".join(text for name, text in view.pieces().items() if name not in before)
    if view.repeated is not None:
        view.repeated += max(0, count_words(shown) - (view.words() - words_before))
        if limit is not None and view.words() > limit:
            view.repeated = None
    folded = [name for here in opened.values() for name in here.folded]
    if view.repeated is None:
        folded += view.fold(most + view.full_words())
    return _Done(tuple(problems), tuple(folded), shown, some)


def _shown_of(run: Run, places: list[FoundLine]) -> str:
    """Return that only some of the places of one search are shown, ' (8 of 23 places)'; '' where all are."""
    count = sum({place.book: place.count for place in places}.values())
    if count <= len(places):
        return ""
    return render_fragment("explore.shown_of", run.language, shown=str(len(places)), count=str(count))


@dataclass
class _Opened:
    """What a request opened of one book, what of it could not be opened, and what was folded for it."""

    pages: list[int] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    folded: list[str] = field(default_factory=list)


def _searched(request: Request, places: list[FoundLine], reply: str) -> Iterator[Searched]:
    """Yield an event for each book that has the words; one without pages where none has."""
    if not places:
        yield Searched(request.words, (), reply, request.reason)
    by_book = sorted(places, key=lambda place: place.book)
    for book, group in groupby(by_book, key=lambda place: place.book):
        pages = dict.fromkeys(place.page for place in group if place.page)
        yield Searched(request.words, tuple(pages), reply, request.reason, book)


def _open(run: Run, shown: ShelfView, label: str, opened: _Opened, *, most: int, limit: int | None) -> str:
    """Open what ``label`` names and record it in ``opened``; return why it cannot be opened, or ''."""
    found = shown.seek(label, max(most // 2, most - shown.words()))
    if isinstance(found, str):
        return found
    view, part = found
    if part.level == len(view.levels.levels):  # a book that was closed
        opened.parts.append(part.label)
        return ""
    if view.is_open(part):
        return "it is open already; name single pages" if part.level else "it is in full already"
    if not part.level and len(shown.full()) >= run.settings.look_ups:
        return "no more pages can be opened in full"
    more = view.words_of_opening(part)
    if limit is not None and shown.words() + more > limit:
        view.asked.update(range(part.first, part.last + 1))
        shown.repeated = None
        opened.folded += shown.fold(limit - more)
        if shown.words() + more > limit:
            return "it does not fit into the prompt any more"
    view.open(part)
    if part.level:
        opened.parts.append(part.label)
    else:
        opened.pages.append(part.first)
    return ""
