"""The prompts that ask for the gist of a page, and the lengths that it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt, format_length, length_range, render, render_fragment, template_language
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, is_unspaced, last_words
from readagent_core.world.notes import note_fields, reply_words

_LEAST_TARGET = 8
_SPARED = 0.05  # of the greatest length: a gist so little outside its range is not worth another call


@dataclass(frozen=True)
class Lengths:
    """The range of lengths of a gist, in words."""

    least: int
    most: int

    def distance(self, words: int) -> int:
        """Return by how many words a gist of ``words`` words is outside the range; 0 where that is too little."""
        outside = max(self.least - words, words - self.most)
        return outside if outside > self.most * _SPARED else 0


def target_words(words: int, share: float) -> int:
    """Return the target length, in words, of the gist of a page of ``words`` words."""
    return max(_LEAST_TARGET, round(words * share))


def gist_lengths(words: int, share: float) -> Lengths:
    """Return the lengths that the gist of a page of ``words`` words may have."""
    least, most = length_range(target_words(words, share))
    return Lengths(least, max(least, min(most, words - 1)))


def format_gist_length(words: int, text: str, language: str) -> str:
    """Return a length as prompts state it, but in words where the text has spaces between its words."""
    return format_length(words, language if is_unspaced(text[:2000]) else "en")


def instructions_text(plan: GistingPlan, language: str, *, extra: str = "") -> str:
    """Return the instructions of the plan, and ``extra`` ones, to append to a sentence of the prompt; '' for none."""
    added = [part.strip() for part in (plan.instructions, extra) if part.strip()]
    if plan.purpose.strip():
        added.append(render("gist.purpose", language, purpose=plan.purpose.strip().rstrip(".。")).text)
    between = "" if template_language(language) == "ja" else " "
    return "".join(between + part for part in added)


def gist_prompt(
    text: str,
    plan: GistingPlan,
    *,
    language: str,
    lengths: Lengths,
    instruction: str = "",
    notes: int = 0,
    tell: bool = False,
) -> Prompt:
    """Return the gisting prompt of a page's text. ``instruction``: the reader's own, for this page only.

    ``notes``: ask for so many notes of the page too. ``tell``: for a model that copies what it should shorten, ask to
    tell it.
    """
    notes = 0 if tell else notes
    prompt = render(
        "gist_tell" if tell else "gist_notes" if notes else "gist",
        language,
        reply_words=max(60, lengths.most) + reply_words(notes),  # one twice as long is ended
        **(note_fields(language, notes) if notes else {}),
        rules=render_fragment("gist.rules", language),
        instructions=instructions_text(plan, language, extra=instruction),
        least=format_gist_length(lengths.least, text, language),
        most=format_gist_length(lengths.most, text, language),
        page=escape_tags(text),
    )
    return replace(prompt, task="gist")


def shared_gist_prompt(
    text: str, plan: GistingPlan, *, language: str, lengths: Lengths, shown: Mapping[str, str], tell: bool = False
) -> Prompt:
    """Return the gisting prompt that begins as the page's pagination prompt did: a server with one slot then computes
    the text once. ``shown``: what both begin with (``pause_points.shown_passage``).
    """
    return render(
        "gist_shared_tell" if tell else "gist_shared",
        language,
        reply_words=max(60, lengths.most),
        instructions=instructions_text(plan, language),
        least=format_gist_length(lengths.least, text, language),
        most=format_gist_length(lengths.most, text, language),
        end=last_words(collapse_whitespace(text), 8),
        **shown,
    )
