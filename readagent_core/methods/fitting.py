"""Keeping a gist memory, and the pages looked up in it, within the words one prompt may hold.

A memory that is too long is made to fit as Appendix I says (``reading.fit``): gists are shortened again and, in
very long books, neighbouring pages joined. Joined pages have numbers of their own in prompts; what leaves the run
(events, the answer) has the numbers of the reading's pages again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence

from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import ANSWER_WORDS, memory_prompt
from readagent_core.methods.base import Event
from readagent_core.methods.budget import context_words
from readagent_core.methods.run import Run
from readagent_core.methods.tools import tools_of
from readagent_core.reading import fit
from readagent_core.words import count_words

TRIES = 6  # of windows each smaller than the last


def fitted(run: Run) -> Generator[Event, None, tuple[GistMemory, int | None]]:
    """The run's memory, made to fit one prompt, and the most words its text may then have (None: no limit)."""
    memory, text = run.memory, run.memory.gist_text
    around = memory_prompt(run, "").words
    limit = context_words(run.settings, run.model, sample=text, around=around, reply_words=ANSWER_WORDS)
    words = memory.gist_text_words
    if limit is None or words <= limit:
        return memory, limit
    # room is left for pages to be read again, as far as half of the prompt
    longest = max(page.words for page in memory.pages)
    gists = max(limit // 2, limit - min(run.settings.look_ups, 2) * longest)
    shorter = fit(
        memory,
        run.model,
        gists,
        run.watch,
        page_words=max(limit - gists, longest),
        connections=tools_of(run.settings).connections,
    )
    now = shorter.gist_text_words
    if now > limit:
        raise WindowError(
            f"The gist memory has {words:,} words and only {limit:,} fit into one prompt. "
            "Read the book with longer pages or shorter gists, or connect a model with a larger window.",
            run.model.window,
        )
    joined = ""
    if len(shorter.pages) != len(memory.pages):
        run.joined = {
            page.number: tuple(old.number for old in memory.pages if page.start <= old.start < page.end)
            for page in shorter.pages
        }
        joined = f", and its {len(memory.pages):,} pages were joined to {len(shorter.pages):,}"
    yield run.note(f"The gist memory was too long for one prompt: shortened from {words:,} to {now:,} words{joined}.")
    return shorter, limit


def within_window(
    run: Run, work: Callable[[GistMemory, int | None], Generator[Event, None, None]]
) -> Generator[Event, None, None]:
    """Do ``work`` with the memory made to fit; with less of it each time the server shows a smaller window."""
    for left in range(TRIES, -1, -1):
        window = run.model.window
        try:
            memory, limit = yield from fitted(run)
            yield from work(memory, limit)
        except WindowError:
            now = run.model.window
            if not left or now is None or now == window:
                raise
            yield run.note(f"The prompt was too long for the model's window; asked again within {now:,} tokens.")
        else:
            return


def fitting_pages(
    memory: GistMemory, named: Iterable[int], limit: int | None, *, opened: Sequence[int] = ()
) -> tuple[tuple[int, ...], list[str]]:
    """``named`` pages that fit in full beside ``opened``, each tried in turn; and, for people, those that do not."""
    if limit is None:
        return tuple(named), []
    words = count_words(memory.text(opened)) if opened else memory.gist_text_words
    taken: list[int] = []
    refused: list[str] = []
    for number in named:
        more = count_words(memory.entry(number, full=True)) - count_words(memory.entry(number, full=False))
        if words + more <= limit:
            taken.append(number)
            words += more
        else:
            refused.append(f"page {number}: it does not fit into the prompt any more")
    return tuple(taken), refused
