"""What a reading will cost before it is begun: calls and words, from the length of the text and the plan alone."""

from __future__ import annotations

from dataclasses import dataclass

from readagent_core.document import Document
from readagent_core.plan import ReadingPlan
from readagent_core.reading.gisting import WHOLE_WORDS, gist_prompt, target_words
from readagent_core.reading.spans import spans
from readagent_core.reading.uniform import rule_pages
from readagent_core.reading.windows import Windows

REASON_WORDS = 20


@dataclass(frozen=True)
class Estimate:
    """About how many ``calls``, ``words_in`` (instructions included), ``words_out`` and ``pages``."""

    calls: int
    words_in: int
    words_out: int
    pages: int


def estimate(document: Document, plan: ReadingPlan) -> Estimate:
    """The cost of reading ``document``, as if every page ended in the middle of its bounds; no model is asked."""
    windows = Windows(document.limited(plan.max_words), plan)
    pages = rule_pages(windows, 0, windows.total)
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
                for span in spans(windows, start, border, window=None):
                    calls += 1
                    words_in += windows.words(span.start, span.end)
                    if plan.pagination == "one-pass":  # the page at the join with the next span is shortened apart
                        calls += 1
                        words_in += (plan.min_words + plan.max_words) // 2
        words_out += len(pages) * REASON_WORDS
    if plan.pagination == "one-pass":
        words_out += sum(target_words(page.words, plan.gist_share) for page in pages)
    return Estimate(calls, words_in + calls * _instructions(windows, plan), words_out, len(pages))


def _instructions(windows: Windows, plan: ReadingPlan) -> int:
    """Words of a prompt besides the book's."""
    prompt = gist_prompt("", plan, language=windows.document.language, target=99)
    return prompt.words
