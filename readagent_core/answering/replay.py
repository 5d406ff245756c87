"""An exchange as steps that can be replayed: question, gists, each look-up, memory as sent, answer.

Made from the saved events alone, so that an old answer replays exactly as it ran.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from readagent_core.answering.base import (
    FIRST_ANSWER,
    Answer,
    Answered,
    AnswerPart,
    BooksShown,
    Event,
    Expanded,
    LookedUp,
    ModelCall,
    NoteCode,
    Noted,
    Searched,
    pages_of,
)
from readagent_core.answering.event_json import event_from_dict
from readagent_core.answering.look_up_replies import IN_FORM
from readagent_core.answering.recall_replies import BEGUN
from readagent_core.answering.registry import Reads, all_methods, sends_gists
from readagent_core.citations import NOT_FOUND, Checked, Citation, check
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory, Passage
from readagent_core.words import count_words

QUESTION, UNDERSTOOD, GISTS, LOOK_UP, MEMORY, ANSWER = "question", "understood", "gists", "look-up", "memory", "answer"
_TITLES = {
    QUESTION: "Question",
    UNDERSTOOD: "Follow-up",
    GISTS: "Gists",
    LOOK_UP: "Look-up",
    MEMORY: "Memory as sent",
    ANSWER: "Answer",
}


@dataclass(frozen=True)
class Step:
    """One step of a replay. ``kind``: one of the constants above.

    ``marked``: pages just asked for. ``expanded``: pages shown in full by then. ``calls``: every prompt of this step
    with its reply, word for word. ``said``: the model's words for the look-up, or its answer from the gists alone;
    ``refused``: what it named that was not opened. ``shown``: what was in the prompt by then, where it had levels
    (``Expanded.shown``), and its ``words``. ``parts``: just opened to the gists below theirs; ``folded``: closed again
    after that; ``searched``: words looked for; ``how``: how pages or passages were chosen where no reply named them.
    ``passages``: pages opened in part by then; ``chosen``: those that were just opened in part.
    ``books``: of a question about several books, what is said here of each, by its number; the pages of the step itself
    are then empty.
    """

    kind: str
    title: str
    marked: tuple[int, ...] = ()
    expanded: tuple[int, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    said: str = ""
    refused: tuple[str, ...] = ()
    shown: tuple[tuple[int, int, str], ...] = ()
    words: int = 0
    parts: tuple[str, ...] = ()
    folded: tuple[tuple[int, int], ...] = ()
    searched: tuple[str, ...] = ()
    books: Mapping[int, Step] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()
    how: str = ""
    chosen: tuple[Passage, ...] = ()

    @property
    def in_part(self) -> list[int]:
        """Those of ``marked`` that were just opened in part."""
        return pages_of(self.chosen)

    @property
    def looks(self) -> bool:
        """Whether it stands above the answer: a look-up, or an answer from the gists alone that came before."""
        return self.kind == LOOK_UP or bool(self.kind == GISTS and self.said)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """``parts`` as (first page, last page); not those of a single page."""
        ends = [(int(first), int(last)) for first, last in (part.split("-") for part in self.parts)]
        return [(first, last) for first, last in ends if first != last]

    @property
    def closed(self) -> tuple[tuple[int, int], ...]:
        """The parts that were shown by one gist each, as (first page, last page)."""
        return tuple((first, last) for first, last, how in self.shown if how == "part" and first != last)


def events_of(exchange: Exchange) -> list[Event]:
    """The saved events as values, the parts of the answer joined into one."""
    events: list[Event] = []
    for event in (event_from_dict(data) for data in exchange.events):
        if isinstance(event, AnswerPart) and events and isinstance(events[-1], AnswerPart):
            events[-1] = AnswerPart(events[-1].text + event.text)
        else:
            events.append(event)
    return events


def answer_of(events: Sequence[Event]) -> Answer | None:
    """The answer; None where it was never finished."""
    return next((event.answer for event in reversed(events) if isinstance(event, Answered)), None)


def answer_text(events: Sequence[Event]) -> str:
    """The answer's text, or as much of it as was received."""
    answer = answer_of(events)
    return answer.text if answer else "".join(event.text for event in events if isinstance(event, AnswerPart))


def checked_answer(text: str, answer: Answer, memory: GistMemory) -> Checked:
    """``text`` of an answer in pieces with its citations, checked against the pages that were in its prompt.

    A range of pages that were in the prompt by one gist only is one citation.
    """
    full = [n for n, how in answer.seen.items() if how == "full"]
    checked = check(text, memory, full=full, shown=answer.seen.keys() or None, passages=answer.passages)
    pieces = [replace(piece, citations=_joined(piece.citations, answer)) for piece in checked.pieces]
    return replace(checked, pieces=tuple(pieces))


def _joined(citations: Sequence[Citation], answer: Answer) -> tuple[Citation, ...]:
    """Return ``citations`` with those of neighbouring pages of a part as one, of the first page that supports it."""
    found: list[Citation] = []
    before: Citation | None = None
    for citation in citations:
        in_part = answer.seen.get(citation.page) == "part"
        if in_part:
            why = "The model was shown only the gist of a part of the book that has this page."
            citation = citation if citation.state == NOT_FOUND else replace(citation, why=why)
        if in_part and before and citation.page == before.page + 1 and answer.seen.get(before.page) == "part":
            if found[-1].state == NOT_FOUND:
                found[-1] = citation
        else:
            found.append(citation)
        before = citation
    return tuple(found)


def notes(events: Sequence[Event], code: NoteCode | None = None) -> list[str]:
    """Return every note once, in the order they came; with ``code`` only those that have it."""
    noted = (event for event in events if isinstance(event, Noted) and code in (None, event.code))
    return list(dict.fromkeys(event.text for event in noted))


def steps(events: Sequence[Event]) -> list[Step]:
    """The steps of a replay; fewer where the exchange did not reach its end."""
    if any(isinstance(event, BooksShown) for event in events):
        return _steps_of_several(events)
    first = next((event for event in events if isinstance(event, Expanded)), Expanded((), 0))
    start, view = Expanded((), first.memory_words if first.shown else 0, first.shown), Expanded((), 0)
    found = [_seen(Step(QUESTION, _TITLES[QUESTION]), start)]
    gists = Step(GISTS, _TITLES[GISTS])
    calls: list[ModelCall] = []
    for event in events:
        if isinstance(event, ModelCall) and event.task == "standalone":
            found.append(_seen(Step(UNDERSTOOD, _TITLES[UNDERSTOOD], calls=(event,)), start))
        elif isinstance(event, ModelCall) and event.task == FIRST_ANSWER:
            gists = replace(gists, calls=(event,), said=event.reply)
        elif isinstance(event, ModelCall):
            calls.append(event)
        elif isinstance(event, LookedUp | Searched):
            found.append(_seen(_look_up(event, tuple(calls), levels=bool(view.shown)), view))
            calls.clear()
        elif isinstance(event, Expanded):
            if found[-1].kind == LOOK_UP:
                found[-1] = replace(found[-1], folded=_folded(view, event))
            view = event
    answer = answer_of(events)
    if answer is not None:
        full = tuple(sorted(n for n, how in answer.seen.items() if how == "full")) or answer.looked_up
        view = replace(view, pages=full)
    answering = answer is not None or any(isinstance(e, AnswerPart) for e in events)
    searches = answer is not None and answer.method in all_methods() and not all_methods()[answer.method].needs_gists
    if answer is None or (not searches and any(how != "full" for how in answer.seen.values())):
        first_look = next((i for i, step in enumerate(found) if step.kind == LOOK_UP), len(found))
        found.insert(first_look, _seen(gists, start))
    if answering or view.pages or view.shown != start.shown:
        found.append(_seen(Step(MEMORY, _TITLES[MEMORY]), view))
    if answering:
        found.append(_seen(Step(ANSWER, _TITLES[ANSWER], calls=tuple(calls)), view))
    return _number_look_ups(found)


def sends_whole_gists(step: Step, method: str, memory: GistMemory) -> bool:
    """Return whether ``step`` sent the gists themselves; not where it sent none, or only a short view of them.

    ``memory``: as it was asked. Pages in a closed part are told by ``step.closed``.
    """
    known = all_methods().get(method)
    if known is None or not known.needs_gists or known.reads is not Reads.PASSAGES or not step.words:
        return sends_gists(method)
    passages = sum(count_words(memory.document.text(one.start, one.end)) for one in step.passages)
    return step.words - passages >= memory.words_with(step.expanded)


def _number_look_ups(found: list[Step]) -> list[Step]:
    """``found`` with a number for each look-up, and each search, where there are several of its kind."""
    titles = [step.title for step in found]
    return [
        replace(step, title=f"{step.title} {titles[: i + 1].count(step.title)}")
        if step.kind == LOOK_UP and titles.count(step.title) > 1
        else step
        for i, step in enumerate(found)
    ]


def _steps_of_several(events: Sequence[Event]) -> list[Step]:
    """The steps of a question about several books: one look-up for all books that a request names.

    Pages are given for each book (``Step.books``). Where no book has gists there is no step of them.
    """
    view: dict[int, Expanded] = {}
    start: dict[int, Expanded] | None = None  # the first view
    found: list[Step] = [Step(QUESTION, _TITLES[QUESTION])]
    gists = Step(GISTS, _TITLES[GISTS])
    calls: list[ModelCall] = []
    for event in events:
        if isinstance(event, Expanded):
            last = found[-1]
            if last.kind == LOOK_UP and (here := last.books.get(event.book)):
                folded = _folded(view.get(event.book, Expanded((), 0)), event)
                found[-1] = replace(last, books={**last.books, event.book: replace(here, folded=folded)})
            view.pop(event.book, None)  # the last one has the words of now
            view[event.book] = event
        elif isinstance(event, ModelCall):
            if event.task == "standalone":
                found.append(Step(UNDERSTOOD, _TITLES[UNDERSTOOD], calls=(event,)))
                continue
            start = dict(view) if start is None else start
            if event.task == FIRST_ANSWER:
                gists = replace(gists, calls=(event,), said=event.reply)
            else:
                calls.append(event)
        elif isinstance(event, LookedUp | Searched):
            one = _look_up(event, (), levels=True)
            if not calls and found[-1].kind == LOOK_UP and found[-1].searched == one.searched:
                step = found[-1]
            else:  # a request may search and open: the second of both has no call of its own
                step = replace(one, marked=(), parts=(), calls=tuple(calls), books=_books(view, LOOK_UP))
                step = replace(step, words=_words(view))
                found.append(step)
            calls.clear()
            seen = step.books.get(event.book, Step(LOOK_UP, one.title))
            here = replace(one, expanded=seen.expanded, shown=seen.shown)
            refused = tuple(dict.fromkeys((*step.refused, *one.refused)))
            books = {**step.books, event.book: here} if event.book else step.books
            found[-1] = replace(step, refused=refused, books=books)
    first = view if start is None else start
    early = {QUESTION, UNDERSTOOD}
    found = [replace(s, books=_books(first, s.kind), words=_words(first)) if s.kind in early else s for s in found]
    at = next((i for i, step in enumerate(found) if step.kind == LOOK_UP), len(found))
    if any(book[3] != "words" for event in events if isinstance(event, BooksShown) for book in event.books):
        found.insert(at, replace(gists, words=_words(first), books=_books(first, GISTS)))
    answering = any(isinstance(event, AnswerPart | Answered) for event in events)
    answer = answer_of(events)
    words = answer.memory_words if answer else _words(view)  # with the lines that were found in closed books
    if answering or view != first:
        found.append(Step(MEMORY, _TITLES[MEMORY], words=words, books=_books(view, MEMORY)))
    if answering:
        found.append(Step(ANSWER, _TITLES[ANSWER], calls=tuple(calls), words=words, books=_books(view, ANSWER)))
    return _number_look_ups(found)


def _books(view: Mapping[int, Expanded], kind: str) -> dict[int, Step]:
    return {number: _seen(Step(kind, _TITLES[kind]), event) for number, event in sorted(view.items())}


def _words(view: Mapping[int, Expanded]) -> int:
    """The words of all books, as the last of these events has them; 0 without one."""
    return list(view.values())[-1].memory_words if view else 0


def _seen(step: Step, view: Expanded) -> Step:
    return replace(step, expanded=view.pages, shown=view.shown, words=view.memory_words, passages=view.passages)


def _look_up(event: LookedUp | Searched, calls: tuple[ModelCall, ...], *, levels: bool) -> Step:
    """Return the step of a look-up. Of a reply in a form, a command with ``levels``, the reason is shown."""
    in_form = levels or BEGUN.match(event.reply) or IN_FORM.match(event.reply)
    said = event.reason if in_form else event.reply
    if isinstance(event, Searched):
        return Step(LOOK_UP, "Search", event.pages, calls=calls, said=said, searched=event.words)
    how = "" if event.reply else event.reason
    return Step(
        LOOK_UP, _TITLES[LOOK_UP], event.named_pages, calls=calls, said="" if how else said, refused=event.refused,
        parts=event.parts, how=how, chosen=event.passages,
    )  # fmt: skip


def _folded(before: Expanded, after: Expanded) -> tuple[tuple[int, int], ...]:
    """Return the parts that are closed in the view ``after`` and were open in the one before."""
    closed = [(first, last) for first, last, how in before.shown if how == "part"]
    return tuple(
        (first, last)
        for first, last, how in after.shown
        if how == "part" and not any(a <= first and last <= b for a, b in closed)
    )
