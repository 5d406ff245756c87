"""Keeping a gist memory, and the pages looked up in it, within the words one prompt may hold."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import ANSWER_WORDS, memory_prompt
from readagent_core.methods.base import Event
from readagent_core.methods.budget import context_words
from readagent_core.methods.run import Run
from readagent_core.words import count_words


def fitted(run: Run) -> Generator[Event, None, tuple[GistMemory, int | None]]:
    """The run's memory, made to fit one prompt, and the most words its text may then have (None: no limit)."""
    yield from ()
    memory, text = run.memory, run.memory.text()
    around = memory_prompt(run, "").words
    limit = context_words(run.settings, run.model, sample=text, around=around, reply_words=ANSWER_WORDS)
    if limit is None or count_words(text) <= limit:
        return memory, limit
    raise WindowError(
        f"The gist memory has {count_words(text):,} words and only {limit:,} fit into one prompt. "
        "Read the book with longer pages or shorter gists, or connect a model with a larger window.",
        run.model.window,
    )


def fitting_pages(
    memory: GistMemory, named: Iterable[int], limit: int | None, *, opened: Sequence[int] = ()
) -> tuple[tuple[int, ...], list[str]]:
    """``named`` pages that fit in full beside ``opened``, each tried in turn; and, for people, those that do not."""
    if limit is None:
        return tuple(named), []
    words = count_words(memory.text(opened))
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
