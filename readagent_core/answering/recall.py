"""Recall: remember a book by the beginnings of its gists, and go back to passages of it.

The first prompt of every question about a book begins alike: instructions and a short view of the memory, which a
server's prefix cache holds. Then come the passages that share words with the question, and the question. The model
answers, or asks in one reply for as much as it needs: words to find, passages or pages to open, gists of a range. Each
prompt is the whole one before with what was asked for after it. After ``ROUNDS`` replies, or where another prompt would
pass ``QUESTION_WORDS``, it answers from what it has. Several books are one text whose pages are named like 2.58.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, replace

from readagent_core.answering.base import (
    FIRST_ANSWER,
    FOUND_BY_SEARCH,
    AnswerPart,
    Event,
    FirstAnswerPart,
    LookedUp,
    Noted,
)
from readagent_core.answering.explore_replies import ANSWER_MARK
from readagent_core.answering.joined_books import JoinedMemory
from readagent_core.answering.passages import BookPassages
from readagent_core.answering.recall_replies import BEGUN, RecallRequest, parse_recall
from readagent_core.answering.recall_requests import Seen, carry_out
from readagent_core.answering.recall_view import first_view, names_of, page_runs
from readagent_core.answering.response import (
    ANSWER_WORDS,
    PLAIN,
    PLAIN_WORDS,
    choice_form,
    conclude,
    letters,
    plain_task,
    stream_answer,
)
from readagent_core.answering.retrieval import nearness
from readagent_core.answering.run import Run
from readagent_core.answering.shown_text import join_passages
from readagent_core.answering.word_budget import ask_within_window, max_context_words
from readagent_core.errors import EmptyReplyError, RefusedError
from readagent_core.models.builtin.parts_asked import Part, part_asked
from readagent_core.prompts import Prompt, example_numbers, render, render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import count_words

VIEW_WORDS = 480  # of gists in the first view
PASSAGE_WORDS = 320  # of passages in the first prompt
ONCE_WORDS = 1500  # the same where nothing can be asked for
SEARCH_WORDS = 3000  # of passages where they are all that is shown
PLAIN_VIEW, PLAIN_PASSAGES = 1_500, 700  # for a small model: gists are read once, passages for each question
ROUND_WORDS = 1200  # of what one reply can ask for
ROUNDS = 2  # most replies with requests
QUESTION_WORDS = 9_000  # of all prompts of a question together
_LEAST_ROUND = 150  # words; with less room the answer is asked for
_FOLLOW_UP = 130  # words round what a reply asked for, tags and names of requests with it


def recall(run: Run, *, gists: bool = True) -> Generator[Event, None, None]:
    """Answer the run's question. ``gists`` False: without gists, by search alone (the method 'search-agent').

    For a plain answer nothing can be asked for, unless the setting ``requests`` says so: small models that copy
    examples do not keep to the form of requests either.
    """
    gists = gists and bool(run.memory.readable)
    if run.settings.plain:
        plain = {"view": PLAIN_VIEW, "passages": PLAIN_PASSAGES, "requests": 0, **run.settings.extra}
        run = replace(run, settings=replace(run.settings, extra=plain))
    view = first_view(run, run.option("view", VIEW_WORDS)) if gists else ""
    yield from ask_within_window(run, lambda: _attempt(run, BookPassages(run.memory), view, gists=gists))


def _attempt(run: Run, book: BookPassages, view: str, *, gists: bool) -> Generator[Event, None, None]:
    seen = Seen(words=count_words(view))
    places = _places(run, book)

    def first_prompt(passages: str | None, left: int) -> Prompt:
        return _first_prompt(run, view, passages, places, gists=gists, left=left)

    around = first_prompt("", 1).words
    limit = max_context_words(run.settings, run.model, sample=run.sample, around=around, reply_words=ANSWER_WORDS)
    budget = _Budget(run, run.settings.question_words or QUESTION_WORDS, limit)
    left = run.option("requests", ROUNDS)
    room = min(run.option("passages", PASSAGE_WORDS), budget.words - around, *([limit] if limit else []))
    asked = " ".join([run.question.text, *run.question.options])
    how = FOUND_BY_SEARCH
    near = nearness(run, [book.text(unit) for unit in book.units]) if gists else ()  # the baselines are BM25 alone
    room = max(_LEAST_ROUND, room)
    part = None if run.question.options or isinstance(run.memory, JoinedMemory) else part_asked(run.question.text)
    if part in (Part.BEGINNING, Part.END):
        seen.passages, how = book.end(room, last=part is Part.END), f"taken from the {part} of what may be seen"
    elif gists or not run.settings.whole:
        seen.passages = book.choose(asked, room, near)
    by_rule = not run.model.is_language_model and part is Part.WHOLE  # it takes its sentences from here and there
    if by_rule or not (gists or seen.passages):  # of all of the text, or no word of the question is in it
        seen.passages, how = book.spread(room), "taken from the beginning to the end"
    seen.whole = list(seen.passages)
    seen.words += book.words(seen.passages)
    plain = run.settings.plain and not left
    if plain and gists and seen.passages and run.model.shares_text and not run.question.options:
        yield from _first_answer(run, first_prompt(None, 0))
    if seen.passages:
        yield LookedUp((), "", how, passages=tuple(join_passages(seen.passages)))
    yield seen.expanded()
    if plain:
        yield run.note(PLAIN)
    prompt = first_prompt(book.show(seen.passages), left)
    if left and budget.room_after(prompt, seen) < _LEAST_ROUND:
        left, prompt = 0, first_prompt(book.show(seen.passages), 0)
    while True:
        room = budget.room_after(prompt, seen)
        try:
            completion = yield from stream_answer(
                run, prompt, lambda reply: _requests(run, reply), BEGUN, may_request=bool(left)
            )
        except (EmptyReplyError, RefusedError):
            if not left:
                raise
            yield run.note("A request had no usable reply; the answer was asked for.")
            left, prompt = 0, _continued(prompt, "", 0)
            continue
        requests = _requests(run, completion.text) if left else ()
        if not requests:
            said = replace(completion, text=ANSWER_MARK.sub("", completion.text, count=1))
            yield from conclude(run, prompt, said, **_figures(run, seen, gists=gists))
            return
        run.steps += 1
        shown = yield from carry_out(run, book, requests, completion.text, seen, room)
        yield seen.expanded()
        left -= 1
        room = budget.room_after(_continued(prompt, shown, left), seen)
        if left and room < _LEAST_ROUND:
            yield run.note(f"Within {budget.words:,} words no more could be shown; answered from what was found.")
            left = 0
        prompt = _continued(prompt, shown, left, room)


def _first_answer(run: Run, prompt: Prompt) -> Generator[Event, None, None]:
    """Answer from the view alone, which such a model has read already: it begins at once, the passages take longer.

    The passages' answer follows, whatever comes of this one: that it broke off is no note about the answer.
    """
    noted = len(run.notes)
    with suppress(EmptyReplyError, RefusedError):
        for event in run.stream(prompt):
            if not isinstance(event, Noted):
                yield FirstAnswerPart(event.text) if isinstance(event, AnswerPart) else event
    del run.notes[noted:]


@dataclass(frozen=True)
class _Budget:
    """The words of a question: ``words`` in all its prompts together, ``limit`` of text in one (None: no limit)."""

    run: Run
    words: int
    limit: int | None

    def room_after(self, prompt: Prompt, seen: Seen) -> int:
        """Return how many words a reply to ``prompt``, which is not sent yet or was just sent, may ask to see.

        The next prompt repeats this one.
        """
        rest = self.words - self.run.words_sent - 2 * prompt.words - _FOLLOW_UP
        return min(ROUND_WORDS, rest, *([] if self.limit is None else [self.limit - seen.words]))


def _requests(run: Run, reply: str) -> tuple[RecallRequest, ...]:
    return parse_recall(reply, several=isinstance(run.memory, JoinedMemory))


def _figures(run: Run, seen: Seen, *, gists: bool) -> dict[str, object]:
    passages = tuple(p for p in join_passages(seen.passages) if p.page not in seen.pages)
    pages = dict.fromkeys(run.memory.readable if gists else (), "gist")
    pages |= dict.fromkeys((p.page for p in passages), "passage")
    return {
        "looked_up": tuple(dict.fromkeys(seen.pages)),
        "seen": pages | dict.fromkeys(seen.pages, "full"),
        "passages": passages,
        "memory_words": seen.words,
        "whole_words": run.memory.words,
    }


def _places(run: Run, book: BookPassages) -> str:
    """Return where the rarer words of the question stand: 'brooch 14, 23, 29; Kimberley nowhere'."""
    nowhere = render_fragment("recall.none", run.language)
    found = book.places(run.question.text).items()
    return "; ".join(f"{word} {page_runs(run.memory, pages) or nowhere}" for word, pages in found)


def _first_prompt(run: Run, view: str, passages: str | None, places: str, *, gists: bool, left: int) -> Prompt:
    """Return the prompt with everything shown before a request. ``passages``: None for an answer from gists alone."""
    memory = run.memory
    example = example_numbers(len(memory.pages))
    silent = "unsettled.recall" if left else "unsettled.shown"  # without requests nothing was looked for
    free = {"form": render_fragment("form.recall", run.language), "unsettled": render_fragment(silent, run.language)}
    what = {}
    if isinstance(memory, JoinedMemory):
        example, what = f"{max(memory.numbers) + 3}.12", {"count": str(len(memory.books))}
    gist = str(max(1, memory.gist_words // max(1, len(memory.readable))))
    more = "\n" + render_fragment("recall.gists", run.language, words=gist) if gists else ""
    asking = (
        render_fragment("recall.requests", run.language, room=str(ROUND_WORDS), gists=more, rounds=str(left)) + "\n\n"
        if left
        else ""
    )
    cast = "" if what else escape_tags(run.resources.cast(memory))
    about = render_fragment(
        "recall.books" if what else "recall.book",
        run.language,
        title=run.title,
        **(what or {"pages": page_runs(memory, range(1, len(memory.pages) + 1))}),
    )
    remembered = {"memory": view, "names": cast or names_of(memory)} if gists else {}
    if run.settings.plain and not left:
        shown = {} if passages is None else {"passages": passages}
        return render(
            ("recall_plain" if shown else FIRST_ANSWER) if gists else "search_plain",
            run.language,
            reply_words=PLAIN_WORDS,
            choices=letters(run),
            about=about,
            **remembered,
            **shown,
            asked=plain_task(run),
        )
    return render(
        "recall" if gists else "search_agent",
        run.language,
        reply_words=ANSWER_WORDS,
        choices=letters(run),
        about=about,
        **remembered,
        passages=passages or "",
        asking=asking,
        words=render_fragment("recall.words", run.language, words=places) + "\n\n" if places else "",
        example=example,
        evidence=render_fragment("evidence.recall", run.language, example=example),
        question=run.question_with_options,
        **(choice_form(run) if run.question.options else free),
    )


def _continued(prompt: Prompt, shown: str, left: int, room: int = 0) -> Prompt:
    """Return ``prompt`` followed by what was asked for, if anything, and what may still be asked for."""
    prompt = prompt.with_follow_up("recall.shown", shown=shown) if shown else prompt
    if not left:
        return prompt.with_follow_up("recall.answer")
    return prompt.with_follow_up("recall.left", left=str(left), room=str(room // 50 * 50))
