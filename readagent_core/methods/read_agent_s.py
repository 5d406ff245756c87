"""ReadAgent-S: one page is looked up at a time, seeing those already expanded in place (ICML paper, §3.1).

Asking for a page that is open already or does not exist is told once, then counts as STOP; the look-up also stops
early when nothing more fits into the prompt (Appendix I).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from readagent_core.errors import EmptyReplyError, RefusedError, WindowError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import memory_words, respond_from_memory
from readagent_core.methods.base import AskSettings, Event, Expanded, LookedUp, Question
from readagent_core.methods.fitting import fitting_pages, within_window
from readagent_core.methods.looking import named_pages
from readagent_core.methods.run import Run
from readagent_core.models.base import ChatModel, Watch
from readagent_core.prompts import render, wording


class ReadAgentS:
    name = "read-agent-s"
    title = "ReadAgent, one at a time"
    about = "Remembers the gists, reads pages again one by one, seeing each before it names the next, then answers."
    needs_gists = True

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        run = Run(self.name, question, memory, model, settings, watch)
        yield from within_window(run, lambda fit, limit: look_up_and_answer(run, fit, limit))


def look_up_and_answer(run: Run, memory: GistMemory, limit: int | None) -> Generator[Event, None, None]:
    """``memory``: fits one prompt, with pages opened up to ``limit`` words in all."""
    pages: tuple[int, ...] = ()
    told = False  # about a page that cannot be opened; the second time is a STOP
    problem: tuple[int, str] | None = None
    while len(pages) < min(run.settings.look_ups, len(memory.readable)):
        if not fitting_pages(memory, set(memory.readable) - set(pages), limit, opened=pages)[0]:
            yield run.note("Stopped looking up: no other page fits into the prompt any more.")
            break
        try:
            reply = yield from ask_next(run, memory, pages, problem)
        except (EmptyReplyError, RefusedError, WindowError) as error:
            what = "is too long for the model's window" if isinstance(error, WindowError) else "had no usable reply"
            yield run.note(f"Stopped looking up: request {run.steps} {what}.")
            break
        named = named_pages(reply, memory.readable, limit=1, exists=len(memory.pages))
        wanted = named.numbers[0] if named.numbers else None
        if wanted is None:
            if not named.stop:
                yield run.note("The model named neither a page nor STOP; taken as STOP.")
            yield LookedUp((), reply, named.reason)
            break
        if wanted in pages or wanted not in memory.readable:
            why = "it is open already" if wanted in pages else named.refused[0].partition(": ")[2]
            yield LookedUp((), reply, named.reason, (f"page {wanted}: {why}",))
            if told:
                yield run.note(f"Asked again for page {wanted}, which cannot be opened; taken as STOP.")
                break
            told, problem = True, (wanted, "problem.seen" if wanted in pages else "problem.missing")
            continue
        opened, too_long = fitting_pages(memory, [wanted], limit, opened=pages)
        yield LookedUp(run.own_pages(opened), reply, named.reason, tuple(too_long))
        if too_long:
            yield run.note("Stopped looking up: " + too_long[0] + ".")
            break
        pages, problem = (*pages, wanted), None
        yield Expanded(tuple(sorted(run.own_pages(pages))), memory_words(memory, pages))
    yield from respond_from_memory(run, memory, pages)


def ask_next(
    run: Run, memory: GistMemory, pages: tuple[int, ...], problem: tuple[int, str] | None
) -> Generator[Event, None, str]:
    """The reply to 'which page next?'. ``problem``: the page that could not be opened, and why (a template)."""
    prompt = render(
        "look_up_next",
        run.language,
        title=run.title,
        memory=memory.text(pages),
        question=run.asked_fully,
        seen=", ".join(map(str, pages)) or wording("seen.none", run.language),
    )
    if problem:
        number, why = problem
        prompt = prompt.again("look_up_next.again", page=str(number), problem=wording(why, run.language))
    run.steps += 1
    return (yield from run.ask(prompt)).text


METHOD = ReadAgentS()
