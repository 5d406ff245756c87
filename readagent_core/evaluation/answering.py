"""One question put to one arm: the method runs, its answer is scored, and all of it becomes one ``Result``.

Only what no question can overcome is raised (``STOPPERS``); anything else is kept as this question's failure.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import Any

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError, ReplyError
from readagent_core.evaluation import raters
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.counting import Counted
from readagent_core.evaluation.datasets import Case, Item
from readagent_core.evaluation.results import Key, Result
from readagent_core.memory import GistMemory
from readagent_core.methods import method
from readagent_core.methods.base import Answer, Answered, Event
from readagent_core.methods.support.resources import Resources, with_resources
from readagent_core.overlap import rouge, strip_citations
from readagent_core.plan import ReadingPlan
from readagent_core.usage import Usage
from readagent_core.words import count_words

STOPPERS = (  # no other question fares better than this one did
    errors.KeyRefusedError,
    errors.UnknownModelError,
    errors.NoCreditError,
    errors.UnreachableError,
    errors.BudgetError,
    errors.CancelledError,
    errors.LibraryError,
    errors.SettingsError,
    errors.DatasetError,
)

_PASSING = (errors.ServerFailedError, errors.RateLimitError, errors.ModelTimeoutError)  # asked again when gone on with


@dataclass(frozen=True)
class Task:
    """One question to one arm, with the memory it is asked of."""

    key: Key
    case: Case
    item: Item
    arm: Arm
    plan: ReadingPlan
    memory: GistMemory


def answer(
    task: Task, model: Counted, rater: Counted | None, *, tools: Resources, cancel: CancelToken
) -> tuple[Result, list[Event]]:
    """The scored result and every event. ``rater``: asked about free-form answers; None leaves them unrated."""
    events: list[Event] = []
    found: Answer | None = None
    try:
        chosen = method(task.arm.method)
        for event in chosen.run(
            task.item.question, task.memory, model, with_resources(task.arm.settings, tools), cancel
        ):
            events.append(event)
            if isinstance(event, Answered):
                found = event.answer
        if found is None:
            raise ReplyError("The method ended without an answer.")
        return _scored(task, found, model, rater=rater, cancel=cancel), events
    except STOPPERS:
        raise
    except Exception as error:  # noqa: BLE001  a method's bug must not end a night's experiment; it is kept and told
        if not isinstance(error, ReadAgentError):
            traceback.print_exc()
            error = ReplyError(f"Something in the method itself went wrong ({type(error).__name__}).")
        failed = failure(task.key, task.case, task.item, plan=task.plan, error=error)
        return replace(failed, **_sent(model)), events


def failure(key: Key, case: Case, item: Item, *, plan: ReadingPlan, error: ReadAgentError) -> Result:
    """The result of a question that has no answer; ``error`` says why."""
    correct = False if item.question.options else None
    return Result(**_asked(key, case, item, plan=plan), correct=correct, error=f"{type(error).__name__}: {error}")


def _asked(key: Key, case: Case, item: Item, *, plan: ReadingPlan) -> dict[str, Any]:
    """What a result says of its question."""
    return dict(
        **key._asdict(),
        id=item.id,
        document=case.document.id,
        plan=plan.key,
        title=case.document.title,
        question=item.question.text,
        options=item.question.options,
        gold=item.gold,
        references=item.references,
        hard=item.hard,
        document_words=case.document.words,
    )


def _sent(model: Counted) -> dict[str, Any]:
    """What a result says of its calls."""
    return {"usage": model.usage, "words": model.words - model.built, "words_out": model.words_out}


def _scored(task: Task, found: Answer, model: Counted, *, rater: Counted | None, cancel: CancelToken) -> Result:
    item, options = task.item, task.item.question.options
    free = bool(item.references) and not options
    said, rating, notes = strip_citations(found.text), "", list(found.notes)
    if free and rater is not None:
        language = task.memory.document.language
        try:
            rating = raters.rate(item.question.text, said, item.references, rater, language=language, cancel=cancel)
        except (*STOPPERS, *_PASSING):
            raise
        except ReadAgentError as error:
            notes.append(f"Not rated: {error}")
    return Result(
        **_asked(task.key, task.case, item, plan=task.plan),
        **_sent(model),
        answer=found.text,
        option=found.option,
        correct=(found.option == item.gold) if options else None,
        rouge=rouge(said, item.references) if free else {},
        rating=rating,
        looked_up=found.looked_up,
        steps=found.steps,
        memory_words=found.memory_words,
        compression_rate=found.compression_rate,
        answer_words=count_words(said),
        rater_usage=rater.usage if rater is not None else Usage(),
        notes=tuple(notes),
        extra={name: value for name, value in found.extra.items() if isinstance(value, bool | int | float)},
    )
