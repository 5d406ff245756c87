"""Full text: the whole text in one prompt; where it does not fit it is cut (ICML paper, §4, baselines).

``AskSettings.keep`` says what stays: 'left' the first words, 'right' the last, 'ends' both. The prompt says what is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core.answering.base import Event
from readagent_core.answering.registry import Family, Method, Reads
from readagent_core.answering.response import ANSWER_WORDS, respond, text_prompt
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import max_context_words
from readagent_core.errors import SettingsError, WindowError
from readagent_core.memory import GistMemory
from readagent_core.prompts import render_fragment
from readagent_core.words import count_words, first_words, last_words

GAP = "\n\n[...]\n\n"
MIN_WORDS = 100  # a text already this short is not cut further


def answer_from_text(run: Run) -> Iterator[Event]:
    """Answer from the whole text, cut to fit where it is too long."""
    memory, settings = run.memory, run.settings
    if settings.keep not in ("left", "right", "ends"):
        raise SettingsError(f"Full text can keep 'left', 'right' or 'ends', not {settings.keep!r}.")
    text, words = memory.whole_text, memory.whole_words
    nothing, cut = cut_text(run, "", words, words)
    around = text_prompt(run, nothing, cut=cut, quote=True).words
    limit = max_context_words(settings, run.model, sample=text, around=around, reply_words=ANSWER_WORDS)
    while True:
        shown_text, cut = (text, "") if limit is None or words <= limit else cut_text(run, text, words, limit)
        if cut:
            part = describe_part(settings.keep, limit or 0, words)
            yield run.note(f"The text was cut to fit: {part} were shown.")
        shown = words if not cut else min(words, limit or 0)
        try:
            yield from respond(
                run,
                text_prompt(run, shown_text, cut=cut, quote=True),
                seen=pages_seen(memory, settings.keep, shown / words if words else 0.0),
                memory_words=memory.document.words if not cut else min(count_words(shown_text), memory.document.words),
            )
        except WindowError:
            if shown <= MIN_WORDS:
                raise
            limit = shown // 2
            yield run.note("The server said that the prompt is too long for the model's window.")
        else:
            return


def cut_text(run: Run, text: str, words: int, limit: int) -> tuple[str, str]:
    """Return ``text`` of ``words`` words cut to ``limit`` words, and what the prompt says about it."""
    values = {"kept": f"{limit:,}", "words": f"{words:,}"}
    if run.settings.keep == "left":
        return first_words(text, limit), render_fragment("cut.left", run.language, **values)
    if run.settings.keep == "right":
        return last_words(text, limit), render_fragment("cut.right", run.language, **values)
    half = limit // 2
    both = first_words(text, half) + GAP + last_words(text, half)
    return both, render_fragment("cut.ends", run.language, half=f"{half:,}", words=f"{words:,}")


def describe_part(keep: str, limit: int, words: int) -> str:
    """Return which part of the text was shown, for a note."""
    if keep == "ends":
        return f"its first and last {limit // 2:,} of {words:,} words"
    return f"its {'first' if keep == 'left' else 'last'} {limit:,} of {words:,} words"


def pages_seen(memory: GistMemory, keep: str, share: float) -> dict[int, str]:
    """Return the pages of which anything was in the prompt, where it held ``share`` (0 to 1) of the text."""
    whole = sum(page.words for page in memory.pages)
    left = whole * (share if keep == "left" else share / 2 if keep == "ends" else 0.0)
    right = whole - whole * (share if keep == "right" else share / 2 if keep == "ends" else 0.0)
    seen: dict[int, str] = {}
    position = 0
    for page in memory.pages:
        if position < left or position + page.words > right or share >= 1:
            seen[page.number] = "full"
        position += page.words
    return seen


METHOD = Method(
    name="full-text",
    title="Full text",
    about="Puts the whole text into one prompt; what does not fit is cut off.",
    family=Family.FULL_TEXT,
    answer=answer_from_text,
    reads=Reads.ALL,
    looks_up=False,
)
