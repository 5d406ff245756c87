"""What an experiment will cost, before it starts: calls and words, from a few of its documents.

Reading is estimated by ``reading.estimate``; a question by what its method puts into prompts at the paper's
compression rates. Said as 'about'; answers that are there already are left out. Asks no model anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from readagent_core import reading
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.experiment import Experiment
from readagent_core.methods import method
from readagent_core.models.prices import Price, money, quote
from readagent_core.words import count_of

_DOCUMENTS = 12  # read for the estimate; the others are taken to be like them
_PROMPT = 120  # words of instructions and question around the text
_REPLY = 80
_BUILT = {"memwalker": (650, 1.2), "recurrence": (1900, 1.2), "semantic-compression": (400, 1.0)}  # words a call, share
_RATER_CALLS = 1.6  # strict always, permissive where strict said no


@dataclass(frozen=True)
class Estimate:
    """Of the whole experiment. ``answers`` are still to be had; ``sampled``: documents the estimate rests on.

    ``words``: sent; ``words_back``: received.
    """

    documents: int
    questions: int
    answers: int
    calls: int
    words: int
    words_back: int
    sampled: int

    def dollars(self, price: Price | None) -> float | None:
        """What it would cost; None where no price is known."""
        return quote(self.calls, self.words, self.words_back, price=price).dollars

    def sentence(self, price: Price | None = None) -> str:
        """For people: what would be asked, and what it would cost where that is known."""
        asked = f"{count_of(self.questions, 'question')} on {count_of(self.documents, 'document')}"
        if not self.answers:
            return f"{asked}: every answer is there already."
        dollars = self.dollars(price)
        cost = f"; about {money(dollars)}".replace("about under", "under") if dollars else ""
        return (
            f"{asked}, {count_of(self.answers, 'answer')} to come: "
            f"about {_round(self.calls):,} calls and {_round(self.words):,} words sent{cost}."
        )


def estimate(experiment: Experiment, *, answered: int = 0) -> Estimate:
    """Calls and words for what is missing. ``answered``: answers that are there already."""
    documents = questions = free = 0
    read_calls = read_words = read_back = 0
    asked_calls = asked_words = 0.0
    sampled_questions = 0
    seen: set[int] = set()  # QuALITY has every article twice, with other questions: it is read once
    for case in experiment.dataset.cases():
        again = (text := hash(case.source.data)) in seen
        seen.add(text)
        documents += not again
        questions += len(case.items)
        free += sum(not item.question.options for item in case.items)
        if again or documents > _DOCUMENTS:
            continue
        plans = {plan.key: plan for plan in (experiment.plan_for(arm, case.preset) for arm in experiment.arms)}
        for plan in plans.values():
            found = reading.estimate(case.document, plan)
            read_calls += found.calls
            read_words += found.words_in
            read_back += found.words_out
        sampled_questions += len(case.items)
        for arm in experiment.arms:
            plan = experiment.plan_for(arm, case.preset)
            calls, words = a_question(arm, case.document.words, gist_share=plan.gist_share, page=plan.max_words * 0.72)
            asked_calls += calls * len(case.items)
            asked_words += words * len(case.items)
            built_calls, built_words = built(arm, case.document.words)
            read_calls += built_calls
            read_words += built_words
    sampled = min(documents, _DOCUMENTS)
    answers = questions * len(experiment.arms) * experiment.runs
    left = max(0, answers - answered)
    if not sampled or not left:
        return Estimate(documents, questions, left, 0, 0, 0, sampled)
    each_calls = asked_calls / max(1, sampled_questions) / len(experiment.arms)
    each_words = asked_words / max(1, sampled_questions) / len(experiment.arms)
    if experiment.rate and questions:
        each_calls += _RATER_CALLS * free / questions
        each_words += _RATER_CALLS * free / questions * (_PROMPT + 2 * _REPLY)
    unread = left / answers  # a reading is charged as far as its answers are missing
    scale = documents / sampled * unread
    return Estimate(
        documents=documents,
        questions=questions,
        answers=left,
        calls=round(each_calls * left + read_calls * scale),
        words=round(each_words * left + read_words * scale),
        words_back=round(each_calls * left * _REPLY + read_back * scale),
        sampled=sampled,
    )


def built(arm: Arm, words: int) -> tuple[int, int]:
    """(calls, words sent) for what a method makes of a document once, for all its questions."""
    if arm.method not in _BUILT:
        return 0, 0
    call, share = _BUILT[arm.method]
    calls = max(1, round(words / call))
    return calls, round(words * share) + calls * _PROMPT


def a_question(arm: Arm, words: int, *, gist_share: float, page: float) -> tuple[float, float]:
    """(calls, words sent) for one question about a document of ``words`` words; about right, never exact."""
    gists = words * gist_share
    opened = min(arm.settings.look_ups, 2.5)  # models open fewer than they may (paper: 2.3 of 5)
    limit = arm.settings.context_words or words
    if arm.method == "full-text":
        return 1, min(words, limit) + _PROMPT
    if arm.method == "memwalker":
        return 5, 5 * (_PROMPT + 900)  # node prompts of eight summaries, then a segment
    if arm.method == "read-agent-s":
        return opened + 2, (opened + 2) * (gists + _PROMPT) + page * opened * (opened + 1) / 2
    if arm.method == "gist-neural":
        return 1, gists + min(words, arm.settings.look_ups * page) + _PROMPT
    if method(arm.method).needs_gists:
        looks = arm.settings.look_ups > 0 and arm.method.startswith("read-agent")
        return 1 + looks, (1 + looks) * (gists + _PROMPT) + page * opened * looks
    if arm.method == "recurrence":
        return 1, min(words, 380) + _PROMPT  # a summary of 500 tokens
    if arm.method == "semantic-compression":
        return 1, words / 6 + _PROMPT
    return 1, min(words, arm.settings.look_ups * page) + _PROMPT


def _round(value: int) -> int:
    """Two leading digits: an estimate must not look exact."""
    if value < 100:
        return value
    digits = len(str(value))
    return round(value, 2 - digits)
