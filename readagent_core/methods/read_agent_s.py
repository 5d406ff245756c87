"""ReadAgent-S: looks up one page at a time, with the pages before it expanded in place (ICML paper, §3.1).

A request for a page that is open already or does not exist is answered with a correction once; the second one counts
as STOP. The look-up also stops when no further page fits into the prompt (Appendix I).
"""

from __future__ import annotations

from collections.abc import Generator

from readagent_core.answering.base import Event, LookedUp, texts_of
from readagent_core.answering.fitting_view import answer_within_window
from readagent_core.answering.look_up_replies import parse_look_up
from readagent_core.answering.questions import QUOTED, pages_quoted
from readagent_core.answering.registry import Family, Method
from readagent_core.answering.response import expanded_event, memory_text, respond_from_memory
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import select_fitting_pages
from readagent_core.errors import EmptyReplyError, RefusedError, WindowError
from readagent_core.memory import GistMemory
from readagent_core.prompts import example_numbers, render, render_fragment


def look_up_and_answer(run: Run, memory: GistMemory, limit: int | None) -> Generator[Event, None, None]:
    """Look up pages, at most ``limit`` words in all with the rest of ``memory``, and answer."""
    quoted = pages_quoted(run.question.text, memory)[: run.settings.look_ups]
    pages, _ = select_fitting_pages(run, memory, quoted, limit, asks=1)
    if pages:
        yield LookedUp(pages, "", QUOTED)
        yield expanded_event(run, memory, pages)
    corrected = False  # one request was corrected: a second one, also after good pages, counts as STOP
    problem: tuple[int, str] | None = None
    while len(pages) < min(run.settings.look_ups, len(memory.readable)):
        if not select_fitting_pages(run, memory, set(memory.readable) - set(pages), limit, opened=pages, asks=1)[0]:
            yield run.note("Stopped looking up: no other page fits into the prompt any more.")
            break
        try:
            reply = yield from ask_next(run, memory, pages, problem)
        except (EmptyReplyError, RefusedError, WindowError) as error:
            what = "is too long for the model's window" if isinstance(error, WindowError) else "had no usable reply"
            yield run.note(f"Stopped looking up: request {run.steps} {what}.")
            break
        named = parse_look_up(reply, memory.readable, limit=1, exists=len(memory.pages))
        wanted = named.numbers[0] if named.numbers else None
        answered = named.cited and set(named.numbers) <= set(pages)  # an answer too early, and all it rests on is open
        if wanted is None or answered:
            if not (named.stop or answered):
                yield run.note("The model named neither a page nor STOP; taken as STOP.")
            yield LookedUp((), reply, named.reason)
            break
        if wanted in pages or wanted not in memory.readable:
            why = f"page {wanted}: it is open already" if wanted in pages else named.refused[0].text()
            yield LookedUp((), reply, named.reason, (why,))
            if corrected:
                yield run.note(f"Asked again for page {wanted}, which cannot be opened; taken as STOP.")
                break
            corrected, problem = True, (wanted, "problem.seen" if wanted in pages else "problem.missing")
            continue
        opened, too_long = select_fitting_pages(run, memory, [wanted], limit, opened=pages)
        yield LookedUp(opened, reply, named.reason, texts_of(too_long))
        if too_long:
            yield run.note("Stopped looking up: " + too_long[0].text() + ".")
            break
        pages, problem = (*pages, wanted), None
        yield expanded_event(run, memory, pages)
    yield from respond_from_memory(run, memory, pages)


def ask_next(
    run: Run, memory: GistMemory, pages: tuple[int, ...], problem: tuple[int, str] | None
) -> Generator[Event, None, str]:
    """Ask for the next page and return the reply. ``problem``: a page not opened, and why (template)."""
    prompt = render(
        "look_up_next",
        run.language,
        title=run.title,
        memory=memory_text(run, memory, pages),
        left=str(min(run.settings.look_ups, len(memory.readable)) - len(pages)),
        example=example_numbers(len(memory.pages)),
        question=run.question_with_options,
        seen=", ".join(map(str, pages)) or render_fragment("seen.none", run.language),
    )
    if problem:
        number, why = problem
        prompt = prompt.with_follow_up(
            "look_up_next.again", page=str(number), problem=render_fragment(why, run.language)
        )
    run.steps += 1
    return (yield from run.ask(prompt)).text


METHOD = Method(
    name="read-agent-s",
    title="ReadAgent, one at a time",
    about="Remembers the gists, reads pages again one by one, seeing each before it names the next, then answers.",
    family=Family.READ_AGENT,
    answer=lambda run: answer_within_window(run, lambda fit, limit: look_up_and_answer(run, fit, limit), asks=1),
    needs_gists=True,
    options={"opened": str},
)
