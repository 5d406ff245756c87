"""Estimate the calls and words of a gisting from the length of the text and the plan, without a model."""

from __future__ import annotations

from dataclasses import dataclass

from readagent_core.document import Document
from readagent_core.gisting.gist_prompts import gist_lengths, gist_prompt, target_words
from readagent_core.gisting.gisting import WHOLE_WORDS
from readagent_core.gisting.paginator import cut_pages_by_rule
from readagent_core.gisting.pause_windows import Windows
from readagent_core.gisting.span_pagination import split_into_spans
from readagent_core.plan import GistingPlan

REASON_WORDS = 20


@dataclass(frozen=True)
class GistingEstimate:
    """Approximate numbers of model calls, words sent (instructions included), words received, and pages."""

    calls: int
    words_in: int
    words_out: int
    pages: int


def estimate(document: Document, plan: GistingPlan) -> GistingEstimate:
    """Estimate the gisting of ``document``, as if every page ended in the middle of its bounds."""
    windows = Windows(document.limited(plan.max_words), plan)
    pages = cut_pages_by_rule(windows, 0)
    calls = words_in = words_out = 0
    for page in pages:
        window = windows.window(page.start)
        if plan.pagination == "pause" and window.labels:
            calls += 1
            words_in += windows.words(window.start, window.end) + (page.words if plan.preceding else 0)
            words_out += REASON_WORDS
        if page.words > WHOLE_WORDS and plan.pagination != "one-pass":
            calls += 1
            words_in += page.words
            words_out += target_words(page.words, plan.gist_share)
    if plan.pagination in ("many", "one-pass"):
        for start in windows.borders[:-1]:
            border = windows.border_after(start)
            if windows.words(start, border) > plan.max_words:
                for span in split_into_spans(windows, start, border, window=None):
                    calls += 1
                    words_in += windows.words(span.start, span.end)
                    if plan.pagination == "one-pass" and span.end < border:  # the page across two needs its own call
                        calls += 1
                        words_in += (plan.min_words + plan.max_words) // 2
        words_out += len(pages) * REASON_WORDS
    if plan.pagination == "one-pass":
        words_out += sum(target_words(page.words, plan.gist_share) for page in pages)
    instructions = gist_prompt(
        "", plan, language=document.language, lengths=gist_lengths(600, 0.15)
    ).words  # about those of every prompt
    return GistingEstimate(calls, words_in + calls * instructions, words_out, len(pages))
