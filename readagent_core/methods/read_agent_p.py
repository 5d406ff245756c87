"""ReadAgent-P: looks up all pages at once and expands them in place (ICML paper, §3.1 'Interactive look-up').

For books the model names the pages in order of importance, and they are added while they fit (Appendix I).
"""

from __future__ import annotations

from collections.abc import Generator

from readagent_core.answering.base import Event, LookedUp, texts_of
from readagent_core.answering.fitting_view import answer_within_window
from readagent_core.answering.look_up_replies import parse_look_up
from readagent_core.answering.questions import QUOTED, pages_quoted
from readagent_core.answering.registry import Family, Method
from readagent_core.answering.response import expanded_event, respond_from_memory
from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import select_fitting_pages
from readagent_core.errors import EmptyReplyError, RefusedError
from readagent_core.memory import GistMemory
from readagent_core.prompts import example_numbers, render

FOUND = "found by words, as the model named no page"


def look_up_and_answer(run: Run, memory: GistMemory, limit: int | None) -> Generator[Event, None, None]:
    """Look up pages, at most ``limit`` words in all with the rest of ``memory``, and answer."""
    pages: tuple[int, ...] = ()
    by_hand = run.settings.extra.get("pages")
    if by_hand is not None:
        pages = yield from open_by_hand(run, memory, str(by_hand), limit)
    elif run.settings.look_ups > 0 and memory.readable:
        pages = yield from look_up(run, memory, limit)
    yield from respond_from_memory(run, memory, pages)


def open_by_hand(
    run: Run, memory: GistMemory, named: str, limit: int | None
) -> Generator[Event, None, tuple[int, ...]]:
    """Open the pages that a person chose ('2,5'), in place of those that the model would name; '' for none."""
    wanted = [n for n in map(int, filter(str.isdecimal, named.split(","))) if n in memory.readable]
    pages, too_long = select_fitting_pages(run, memory, wanted, limit)
    yield LookedUp(pages, "", "opened by hand", texts_of(too_long))
    if pages:
        yield expanded_event(run, memory, pages)
    return pages


def look_up(run: Run, memory: GistMemory, limit: int | None) -> Generator[Event, None, tuple[int, ...]]:
    """Ask which pages to read again, once more if the reply names none. Returns the pages to expand, in order.

    The pages on which the words stand that the question quotes come first.
    """
    k = run.settings.look_ups
    quoted = pages_quoted(run.question.text, memory)[:k]
    if quoted:
        yield LookedUp(quoted, "", QUOTED)
    task = "look_up_ranked" if run.settings.by_importance else "look_up"
    prompt = render(
        task,
        run.language,
        choices=sorted(memory.readable),
        title=run.title,
        memory=memory.text(),
        k=str(k),
        example=example_numbers(len(memory.pages), min(k, 2)),
        question=run.question_with_options,
    )
    run.steps = 1
    try:
        completion = yield from run.ask(prompt)
        if parse_look_up(completion.text, memory.readable, limit=k).unclear:
            yield run.note("The first reply named no page of the text; asked again.")
            example = example_numbers(len(memory.pages))
            again = prompt.with_follow_up("look_up.again", k=str(k), example=example, reply=completion.text)
            completion = yield from run.ask(again)
        reply = completion.text
    except (EmptyReplyError, RefusedError):
        reply = ""
    named = parse_look_up(reply, memory.readable, limit=k, exists=len(memory.pages))
    wanted, reason = named.pages, named.reason
    if named.unclear:
        wanted = tuple(n for n in rank_by_bm25(run.question.text, memory) if n in memory.readable)[:k]
        reason = FOUND
        yield run.note("The model named no page of the text: those that share most words with the question were read.")
    pages, too_long = select_fitting_pages(run, memory, [*dict.fromkeys((*quoted, *wanted))][:k], limit)
    yield LookedUp(pages, reply, reason, texts_of((*named.refused, *too_long)))
    if too_long:
        yield run.note("Not every page named fits into the prompt: " + "; ".join(texts_of(too_long)) + ".")
    if pages:
        yield expanded_event(run, memory, pages)
    return pages


METHOD = Method(
    name="read-agent-p",
    title="ReadAgent, all at once",
    about="Remembers the gists, names the pages it needs in one go, reads them again in place, then answers.",
    family=Family.READ_AGENT,
    answer=lambda run: answer_within_window(run, lambda fit, limit: look_up_and_answer(run, fit, limit), asks=1),
    needs_gists=True,
    options={"opened": str, "pages": str},
)
