"""Estimates what an experiment will cost before it starts: calls and words, from a few of its documents.

Reading is estimated by ``gisting.estimate``, a question by what its method puts into prompts at the paper's
compression rates. Answers and gists that are there already are left out. Asks no model anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass

from readagent_core import gisting
from readagent_core.answering.costs import AROUND, question_work
from readagent_core.answering.registry import Family, Reads, method
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.datasets import ShelfCase
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.score_table import ScoreTable
from readagent_core.library import Library
from readagent_core.library.records import GistingState
from readagent_core.library.schema import FILE
from readagent_core.models.cost.prices import Price, about_money
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_DOCUMENTS = 12  # looked at; the others are taken to be like them
_REPLY = 80
_BUILDS = {
    "memwalker": (650, 1.2),
    "recurrence": (1900, 1.2),
    "semantic-compression": (400, 1.0),
}  # words a call, share sent
_RATER_CALLS = 1.6  # strict always, permissive where strict said no


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a model is asked. ``words``: sent; ``words_back``: received."""

    calls: int = 0
    words: int = 0
    words_back: int = 0

    def dollars(self, price: Price | None) -> float | None:
        """Return the cost in dollars; None where no price is known."""
        return price.cost_of_words(self.words, self.words_back) if price else None

    def describe(self, price: Price | None) -> str:
        """Return 'about 120 calls and 45,000 words sent; about $0.20', figures with two digits."""
        dollars = self.dollars(price)
        cost = "free" if dollars == 0 else about_money(dollars)
        return f"about {_round(self.calls):,} calls and {_round(self.words):,} words sent; {cost}"


@dataclass(frozen=True, kw_only=True)
class ExperimentEstimate(Work):
    """What an experiment still has to do. ``answers``: those missing.

    ``lost``: documents with questions, left out because the text is missing.
    """

    documents: int
    questions: int
    answers: int
    lost: int = 0

    def sentence(self, price: Price | None = None, *, built_in: bool = False) -> str:
        """Return a sentence for people: what would be asked, and what it would cost where that is known.

        ``built_in``: the built-in reader answers, to which nothing is sent.
        """
        asked = f"{count_of(self.questions, 'question')} on {count_of(self.documents, 'document')}"
        asked += f" ({self.lost:,} more left out: their text is missing)" if self.lost else ""
        if not self.answers:
            return f"{asked}: all answers are in."
        work = "the built-in reader makes them, free" if built_in else self.describe(price)
        return f"{asked}, {count_of(self.answers, 'answer')} to come: {work}."


Made = Mapping[tuple[str, str], float]  # by document and plan: how much of it the model has read, 0 to 1


def readings_made(workspace: Workspace) -> Made:
    """Return what the model has read, in the app or for an experiment: its calls are not sent again.

    Gists that were made together with notes are not among them: an experiment asks for the gist alone.
    """
    found: dict[tuple[str, str], float] = {}
    with ExitStack() as stack:
        libraries = [workspace.library]
        if (folder := workspace.home / "evaluations").joinpath(FILE).exists():
            libraries.append(stack.enter_context(closing(Library(folder))))
        for library in libraries:
            for gisting in library.gistings_by(workspace.model.name):
                if library.has_notes(gisting.id):
                    continue
                share = float(gisting.state == GistingState.DONE)
                if not share and gisting.pages:
                    memory = library.memory(gisting.id)
                    share = memory.readable_words / max(1, memory.document.words)
                key = (gisting.document_id, gisting.plan.key)
                found[key] = max(share, found.get(key, 0.0))
    return found


def estimate(experiment: Experiment, *, done: ScoreTable | None = None, made: Made | None = None) -> ExperimentEstimate:
    """Return the calls and words for the missing answers.

    ``done``: the answers so far; a failed one is asked again. ``made``: see ``readings_made``.
    """
    documents = questions = free = sampled_questions = 0
    read_calls = read_words = read_back = 0.0
    left = dict.fromkeys((arm.key for arm in experiment.arms_to_run), 0)
    sent: dict[str, list[tuple[float, float, int, int]]] = {key: [] for key in left}  # of the sampled documents
    seen: set[int] = set()  # QuALITY has every article twice, with other questions; it is read once
    for case in experiment.dataset.cases():
        again = (text := hash(case.source.data)) in seen
        seen.add(text)
        documents += not again
        questions += len(case.items)
        free += sum(not item.question.options for item in case.items)
        for one, _, _ in experiment.missing(case, done or ScoreTable()):
            left[one.arm] += 1
        if again or documents > _DOCUMENTS:
            continue
        plans = {plan.key: plan for plan in (experiment.plan_for(arm, case.preset) for arm in experiment.arms_to_run)}
        for plan in plans.values() if experiment.needs_gisting else ():
            for part in case.books if isinstance(case, ShelfCase) else [case]:
                found = gisting.estimate(part.document, plan)
                left_of_it = 1 - (made or {}).get((part.document.id, plan.key), 0.0)
                read_calls += found.calls * left_of_it
                read_words += found.words_in * left_of_it
                read_back += found.words_out * left_of_it
        sampled_questions += len(case.items)
        for arm in experiment.arms_to_run:
            plan, length = experiment.plan_for(arm, case.preset), case.document.words
            calls, words = question_cost(arm, length, gist_share=plan.gist_share, page=plan.max_words * 0.72)
            sent[arm.key].append((calls * len(case.items), words * len(case.items), *build_cost(arm, length)))
    lost = experiment.dataset.count_missing()
    sampled, to_come = min(documents, _DOCUMENTS), sum(left.values())
    if not sampled or not to_come:
        return ExperimentEstimate(documents=documents, questions=questions, answers=to_come, lost=lost)
    every, scale = questions * experiment.runs, documents / sampled
    unread = to_come / (every * len(experiment.arms_to_run))  # a gisting is charged as far as its answers are missing
    rated = to_come * free / questions * _RATER_CALLS if experiment.rate else 0.0
    calls = back = rated
    words = rated * (AROUND + 2 * _REPLY)
    for key, n in left.items():
        asked, asked_words, built, built_words = (sum(column) for column in zip(*sent[key], strict=True))
        share, build = n / max(1, sampled_questions), scale * n / every
        calls += asked * share + built * build
        words += asked_words * share + built_words * build
        back += asked * share
    return ExperimentEstimate(
        documents=documents,
        questions=questions,
        answers=to_come,
        calls=round(calls + read_calls * scale * unread),
        words=round(words + read_words * scale * unread),
        words_back=round(back * _REPLY + read_back * scale * unread),
        lost=lost,
    )


def build_cost(arm: Arm, words: int) -> tuple[int, int]:
    """Return (calls, words sent) for what a method builds of a document once, for all its questions."""
    if arm.method not in _BUILDS:
        return 0, 0
    call, share = _BUILDS[arm.method]
    calls = max(1, round(words / call))
    return calls, round(words * share) + calls * AROUND


def question_cost(arm: Arm, words: int, *, gist_share: float, page: float) -> tuple[float, float]:
    """Return about how many (calls, words sent) one question about a document of ``words`` words takes."""
    calls, sent = question_work(arm.method, arm.settings, words=words, gists=words * gist_share, page=page)
    if arm.words is None:
        return calls, sent
    known = method(arm.method)
    fills = known.family is Family.SEARCH and known.reads is Reads.PAGES
    return calls, min(arm.words, words + AROUND if fills else sent)


def _round(value: int) -> int:
    """Return ``value`` with two significant digits, because an estimate must not look exact."""
    return round(value, 2 - len(str(value)))
