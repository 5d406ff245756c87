"""What is said while a replay plays by itself: a caption for each step, and how long it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from readagent_core.answering import replay
from readagent_core.answering.base import pages_of
from readagent_core.answering.look_up_text import look_up_title, look_up_title_of_several, pages_named
from readagent_core.answering.registry import sends_gists
from readagent_core.answering.replay import Step
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.models.builtin import reader as builtin
from readagent_core.words import count_of, first_words, length_of, quoted

CHARACTERS_A_SECOND, LEAST_SECONDS = 20, 3.0
_SAID_WORDS = 40  # of a model's own words for a look-up


def captions(steps: Sequence[Step], exchange: Exchange, memory: GistMemory | None) -> list[str]:
    """Return the caption of each step. ``memory``: of one book; None where there is none."""
    return [_caption(step, exchange, memory) for step in steps]


def captions_of_several(steps: Sequence[Step], exchange: Exchange, titles: Mapping[int, str]) -> list[str]:
    """Return the caption of each step of a question about several books. ``titles``: of these, by number."""
    return [_of_several(step, exchange, titles) or _caption(step, exchange, None) for step in steps]


def _of_several(step: Step, exchange: Exchange, titles: Mapping[int, str]) -> str:
    """Return what is said of all books at ``step``; '' where it is the same as of one book."""
    words = f", {count_of(step.words, 'word')}" if step.words else ""
    shown = {number: one for number, one in step.books.items() if one.shown}
    gists = count_of(sum(len(one.shown) - len(one.expanded) for one in shown.values()), "gist")
    if step.kind == replay.GISTS:
        return f"What is remembered of {count_of(len(shown), 'book')}: {gists}{words}."
    if step.kind == replay.LOOK_UP:
        return f"{look_up_title_of_several(step, titles, built_in=exchange.facts.model == builtin.NAME)}."
    if step.kind == replay.MEMORY:
        opened = sum(len(one.expanded) for one in step.books.values())
        more = f", with {count_of(opened, 'page')} open in place" if opened else ""
        return f"What the answer is made from: {gists if shown else 'lines found in the texts'}{more}{words} in all."
    return ""


def seconds_of(caption: str) -> float:
    """Return how long a caption stands while a replay plays."""
    return max(LEAST_SECONDS, round(len(caption) / CHARACTERS_A_SECOND, 1))


def _caption(step: Step, exchange: Exchange, memory: GistMemory | None) -> str:
    if step.kind == replay.QUESTION:
        return f"The question: {quoted(exchange.question)}"
    if step.kind == replay.UNDERSTOOD:
        return f"Understood by itself: {quoted(exchange.facts.standalone or exchange.question)}"
    if step.kind == replay.LOOK_UP:
        built_in = exchange.facts.model == builtin.NAME
        title = step.title if memory is None else look_up_title(step, built_in=built_in, up_to=exchange.up_to)
        said = first_words(step.said.strip(), _SAID_WORDS)
        return f"{title}: {quoted(said)}" if said and not built_in else f"{title}."
    seen = memory.up_to(exchange.up_to) if memory and exchange.up_to is not None else memory
    language = seen.document.language if seen else ""
    if step.kind == replay.GISTS and seen is not None:
        if not seen.readable:
            return "Without gists the text itself is searched."
        first = first_words(step.said.strip(), _SAID_WORDS)
        kept, of = (length_of(words, language) for words in (seen.gist_words, seen.readable_words))
        return (
            f"What is remembered of the book: {count_of(len(seen.readable), 'gist')}, {kept} in "
            f"place of {of.split()[0]}." + (f" From these alone: {quoted(first)}" if first else "")
        )
    if step.kind == replay.MEMORY and seen is not None:
        words = f", {length_of(step.words, language)} in all" if step.words else ""
        opened = pages_named(step.expanded)
        if step.passages and not step.expanded:
            opened = f"passages of {pages_named(sorted(pages_of(step.passages)))}"
        if not sends_gists(exchange.method):
            held = opened if step.expanded or step.passages else "the text"
            return f"What the answer is made from: {held}{words}; no gists."
        gists = "the gists" if replay.sends_whole_gists(step, exchange.method, seen) else "a short view of the gists"
        return f"What the answer is made from: {gists}, with {opened} open in place{words}."
    return "The answer, and what each claim rests on." if step.kind == replay.ANSWER else f"{step.title}."
