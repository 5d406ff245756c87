"""What an answer cost, and what reading the full text would have: words, tokens, money, seconds; in words for people.

Estimates are said to be estimates. Cached replies sent nothing; what they saved is told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.memory import compression_rate
from readagent_core.methods.base import Answer, Event, ModelCall
from readagent_core.models.cost.prices import money
from readagent_core.study.replay import answer_of
from readagent_core.usage import Usage
from readagent_core.words import count_of

TOKENS_A_WORD = 4 / 3  # English, where no server has reported any


@dataclass(frozen=True)
class Cost:
    """``read``: words in the longest in-context text (gists and opened pages). ``whole``: words of the text asked
    about. ``full_*``: what the full text in one prompt would have been, estimated.
    """

    read: int
    whole: int
    looked_up: int
    seconds: float
    usage: Usage
    full_tokens: int
    full_cost: float | None

    @property
    def compression_rate(self) -> float:
        return compression_rate(self.read, self.whole)


def usage_of(events: Sequence[Event]) -> Usage:
    """Everything an exchange sent and received, the step that made the question self-contained included."""
    return sum((event.usage for event in events if isinstance(event, ModelCall)), Usage())


def cost_of(events: Sequence[Event], *, whole: int, seconds: float) -> Cost | None:
    """The cost of a finished answer; None where there is none. ``whole``: words of the text asked about."""
    answer = answer_of(events)
    if answer is None:
        return None
    usage = usage_of(events)
    sent = usage.words_in
    a_word = usage.tokens_in / sent if sent and usage.tokens_in else TOKENS_A_WORD
    in_full = usage.cost * (whole / sent) if usage.cost and sent else None
    return Cost(answer.memory_words, whole, len(answer.looked_up), seconds, usage, round(whole * a_word), in_full)


def line(cost: Cost) -> str:
    """'Read 1,945 of 10,352 words – 81.2 % fewer; 2 pages looked up; 3.2 s'"""
    rate = cost.compression_rate
    fewer = f" – {rate:.1f} % fewer" if rate > 0 else ""
    looked = {0: "no page looked up", 1: "1 page looked up"}.get(cost.looked_up, f"{cost.looked_up} pages looked up")
    took = f"; {cost.seconds:.1f} s" if cost.seconds else ""
    return f"Read {cost.read:,} of {cost.whole:,} words{fewer}; {looked}{took}"


def details(cost: Cost, *, is_language_model: bool = True) -> list[str]:
    """The rest of the figures, one sentence each."""
    usage = cost.usage
    if not (usage.calls or usage.cached_calls) or not is_language_model:
        return []
    said: list[str] = []
    if usage.words_in:
        tokens = f" ({usage.tokens_in:,} tokens in, {usage.tokens_out:,} out)" if usage.tokens_in else ""
        sent = f"{usage.words_in:,} words in {count_of(usage.calls, 'call')}"
        said.append(f"Sent {sent}, instructions included{tokens}{_money(usage.cost)}.")
    if usage.saved_words_in:
        saved = f" That saved {money(usage.saved_cost)}." if usage.saved_cost else ""
        said.append(f"{usage.saved_words_in:,} words were answered from the cache and not sent again.{saved}")
    said.append(
        f"The full text in one prompt: {cost.whole:,} words, about {cost.full_tokens:,} tokens{_money(cost.full_cost)}."
    )
    return said


def of_reading(usage: Usage) -> str:
    """What a reading sent so far and what the cache saved, in a line; '' where nothing was sent or saved."""
    said: list[str] = []
    if usage.calls:
        said.append(f"Reading sent {usage.words_in:,} words in {count_of(usage.calls, 'call')}{_money(usage.cost)}.")
    if usage.saved_words_in:
        saved = f" and {money(usage.saved_cost)}" if usage.saved_cost else ""
        said.append(f"The cache saved {usage.saved_words_in:,} words{saved}.")
    return " ".join(said)


def summary(answer: Answer) -> str:
    """What the answer was made from, where that needs saying."""
    gists = any(how == "gist" for how in answer.seen.values())
    return "Answered from gists; no page was needed." if gists and not answer.looked_up else ""


def _money(amount: float | None) -> str:
    if not amount:  # not known, or a model that costs nothing
        return ""
    return f", ${amount:.2f}" if amount >= 0.1 else f", ${amount:.4f}"
