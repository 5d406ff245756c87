"""What a reading would come to, before it begins: calls, words, tokens, money and minutes, in one sentence.

Speed is taken from earlier readings with the same model; where there is none, no time is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from readagent_core.document import Document
from readagent_core.models.cost.prices import Quote, money, quote
from readagent_core.plan import ReadingPlan
from readagent_core.reading import estimate
from readagent_core.words import count_of

if TYPE_CHECKING:
    from readagent_core.study import Study

LEAST_CALLS = 3  # fewer say nothing about a model's speed


def reading_quote(study: Study, document: Document, plan: ReadingPlan) -> Quote:
    """The estimate for reading ``document`` by ``plan`` with the model in force."""
    cost = estimate(document, plan)
    model = study.model
    return quote(
        cost.calls,
        cost.words_in,
        cost.words_out,
        price=model.price,
        seconds_a_call=seconds_a_call(study) if model.is_language_model else None,
        at_once=int(study.settings.saved.get("connections") or 8),
    )


def seconds_a_call(study: Study) -> float | None:
    """How long the model in force took for a call in earlier readings; None where none is known."""
    calls, seconds = 0, 0.0
    for book in study.library.books():
        for reading in study.library.readings(book.id):
            if reading.model == study.model.name and not reading.recorded:
                calls += reading.usage.calls
                seconds += reading.usage.seconds
    return seconds / calls if calls >= LEAST_CALLS else None


def sentence(study: Study, document: Document, plan: ReadingPlan) -> str:
    """'About 25 pages: 50 calls, 30,000 words (45,000 tokens) sent, 5,000 words back; about $0.02; about 3 minutes.'"""
    pages = count_of(estimate(document, plan).pages, "page")
    found = reading_quote(study, document, plan)
    if not study.model.is_language_model:
        return f"About {pages}. The built-in reader costs nothing."
    told = f"About {pages}: {count_of(found.calls, 'call')}, {found.words_in:,} words ({found.tokens_in:,} tokens) sent"
    told += f", {found.words_out:,} words back"
    cost = {None: "; its price is not known", 0.0: "; free"}.get(found.dollars, f"; about {money(found.dollars)}")
    if found.minutes is not None:
        cost += "; under a minute" if found.minutes < 1 else f"; about {round(found.minutes):,} minutes"
    return f"{told}{cost.replace('about under', 'under')}."
