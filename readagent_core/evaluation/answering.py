"""Answers one question by one arm: runs the method, scores and rates its answer, and returns one ``Result``.

Only errors that every other question would meet too are raised (``STOPPERS``); any other is this question's failure.
Free-form answers are rated by a strict and a permissive LLM rater, each asked about every reference (paper,
section 4.1). The built-in reader rates nothing, because a rating by word statistics would mean nothing. Of a step on a
web page the measures are Mind2Web's.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from readagent_core import errors, prompts
from readagent_core.answering.ask import ask
from readagent_core.answering.base import Answer, Answered, Event
from readagent_core.answering.joined_books import JoinedMemory
from readagent_core.answering.look_up_replies import to_plain_text
from readagent_core.answering.registry import method
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError, ReplyError
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.datasets import Case, Item
from readagent_core.evaluation.datasets.base import WebStep
from readagent_core.evaluation.datasets.mind2web import PageCase
from readagent_core.evaluation.model_calls import CountingModel
from readagent_core.evaluation.results import Key, Result
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.overlap import rouge, strip_citations
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from readagent_core.web_pages.acting import WebTask, act, action_of
from readagent_core.web_pages.actions import Action
from readagent_core.words import count_words

STOPPERS = (
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
_TEMPORARY = (errors.ServerFailedError, errors.RateLimitError, errors.ModelTimeoutError)
RATER_TRIES = 2
EXACT, PARTIAL, WRONG = "exact", "partial", "wrong"
_VERDICT = re.compile(r"\b(yes|partially|partly|no)\b|はい|いいえ|部分", re.IGNORECASE)


@dataclass(frozen=True)
class AnswerTask:
    """One question for one arm, with the memory it is asked of."""

    key: Key
    case: Case
    item: Item
    arm: Arm
    plan: GistingPlan
    memory: GistMemory


def answer(
    task: AnswerTask, model: CountingModel, rater: CountingModel | None, *, resources: Resources, cancel: CancelToken
) -> tuple[Result, list[Event]]:
    """Return the scored result and every event. ``rater``: rates free-form answers; None leaves them unrated."""
    events: list[Event] = []
    try:
        for event in _run(task, model, resources, cancel):
            events.append(event)  # one by one, so that those before an error are there
        found = [event.answer for event in events if isinstance(event, Answered)]
        if not found:
            raise ReplyError("The method ended without an answer.")
        return _score(task, found[-1], model, rater=rater, cancel=cancel), events
    except STOPPERS:
        raise
    except Exception as error:  # noqa: BLE001  a bug in a method must not end a long experiment; it is recorded
        if not isinstance(error, ReadAgentError):
            traceback.print_exc()
            error = ReplyError(f"Something in the method itself went wrong ({type(error).__name__}).")
        failed = failed_result(task.key, task.case, task.item, plan=task.plan, error=error)
        return replace(failed, **_call_figures(model)), events


def _run(task: AnswerTask, model: CountingModel, resources: Resources, cancel: CancelToken) -> Iterator[Event]:
    """Yield the events of the run. A method that knows several books is asked about a shelf, others about one text."""
    settings, step = task.arm.settings_within_words(), task.item.web_step
    if isinstance(task.case, PageCase) and step is not None:
        page = replace(task.case.page, memory=task.memory)
        return act(
            WebTask(step.task, step.previous),
            page,
            model,
            settings,
            cancel,
            resources=resources,
            method=task.arm.method,
        )
    books: GistMemory | AskedShelf = task.memory
    if isinstance(books, JoinedMemory) and method(task.arm.method).answer_shelf:
        books = AskedShelf(books.books)
    asked = task.item.question
    return ask(asked, books, model, cancel, method=task.arm.method, settings=settings, resources=resources)


def _looked_up(task: AnswerTask, found: Answer) -> tuple[int, ...]:
    """Return the pages looked up, those of the books of a shelf by their numbers in the joined memory."""
    if not isinstance(task.memory, JoinedMemory):
        return found.looked_up
    pages = (task.memory.joined_page(book.number, page) for book in found.books for page in book.looked_up)
    return (*found.looked_up, *pages)


def failed_result(key: Key, case: Case, item: Item, *, plan: GistingPlan, error: ReadAgentError) -> Result:
    """Return the result of a question that has no answer; ``error`` says why."""
    correct = False if item.question.options else None
    return Result(
        **_question_fields(key, case, item, plan=plan),
        correct=correct,
        extra=judge(item, None),
        error=f"{type(error).__name__}: {error}",
    )


def _question_fields(key: Key, case: Case, item: Item, *, plan: GistingPlan) -> dict[str, Any]:
    """Return the fields of a result that describe its question."""
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


def _call_figures(model: CountingModel) -> dict[str, Any]:
    """Return the fields of a result that describe its model calls."""
    return {"usage": model.usage, "words": model.words - model.built, "words_out": model.words_out}


def _score(
    task: AnswerTask, found: Answer, model: CountingModel, *, rater: CountingModel | None, cancel: CancelToken
) -> Result:
    item, options = task.item, task.item.question.options
    free = bool(item.references) and not options
    text, verdict, notes = strip_citations(found.text), "", list(found.notes)
    judged = judge(item, found)
    if judged:
        notes.append(right_action(item))
    if free and rater is not None:
        language = task.memory.document.language
        try:
            verdict = rate(item.question.text, text, item.references, rater, language=language, cancel=cancel)
        except (*STOPPERS, *_TEMPORARY):  # a temporary failure is the question's: it is asked again on resume
            raise
        except ReadAgentError as error:
            notes.append(f"Not rated: {error}")
    return Result(
        **_question_fields(task.key, task.case, item, plan=task.plan),
        **_call_figures(model),
        words_new=model.new,
        answer=found.text,
        option=found.option,
        correct=(found.option == item.gold) if options else bool(judged["step"]) if judged else None,
        rouge=rouge(text, item.references) if free else {},
        rating=verdict,
        looked_up=_looked_up(task, found),
        steps=found.steps,
        memory_words=found.memory_words,
        compression_rate=found.compression_rate,
        answer_words=count_words(text),
        rater_usage=rater.usage if rater is not None else Usage(),
        notes=tuple(notes),
        extra={
            **{name: value for name, value in found.extra.items() if isinstance(value, bool | int | float)},
            **judged,
        },
    )


# --- the LLM raters ---------------------------------------------------------------------------------------


def rate(
    question: str,
    answer: str,
    references: Sequence[str],
    model: ChatModel,
    *,
    language: str = "en",
    cancel: CancelToken,
) -> str:
    """Return 'exact', 'partial' or 'wrong': the best rating over the references, by both raters.

    Exact when either rater says exact, partial when only the permissive one says partial (paper, section 4.1). Stops
    asking once a rating is exact. Raises ModelError, or ReplyError where a rater gives no verdict.
    """
    best = WRONG
    for reference in references if answer.strip() else ():
        fields = {"question": question, "answer": answer, "reference": reference}
        if _ask_rater("rate_strict", fields, model, language, cancel) == EXACT:
            return EXACT
        permissive = _ask_rater("rate_permissive", fields, model, language, cancel)
        if permissive == EXACT:
            return EXACT
        if permissive == PARTIAL:
            best = PARTIAL
    return best


def _ask_rater(task: str, fields: dict[str, str], model: ChatModel, language: str, cancel: CancelToken) -> str:
    prompt = prompts.render(task, language, reply_words=50, **fields)
    again = prompt.with_follow_up("rate.again")
    for attempt in range(RATER_TRIES):
        try:
            return parse_verdict(model.complete(prompt if attempt == 0 else again, cancel).text)
        except ReplyError:
            continue
    raise ReplyError("The rater said neither yes nor no, twice.")


def parse_verdict(reply: str) -> str:
    """Return 'exact', 'partial' or 'wrong' from 'Yes', 'Yes, partially' or 'No'. Raises ReplyError for neither.

    The first verdict word counts; 'partially' counts within the same line, after yes or alone.
    """
    text = to_plain_text(reply)
    found = _VERDICT.search(text)
    if found is None:
        raise ReplyError("The rater's reply is neither yes nor no.")
    word = found.group().lower()
    if word in ("no", "いいえ"):
        return WRONG
    if word in ("yes", "はい"):
        after = text[found.end() :].splitlines()[0] if text[found.end() :] else ""
        return PARTIAL if re.match(r"\W*(partially|partly|部分)", after, re.IGNORECASE) else EXACT
    return PARTIAL


# --- steps on web pages -----------------------------------------------------------------------------------


def judge(item: Item, answer: Answer | None) -> dict[str, bool | float]:
    """Return the measures of a step as figures of a result; ``answer`` None: it failed. {} for other questions.

    Element accuracy: the chosen element is one of the targets. Step success: that, and the operation F1 is 1. A step
    whose target is not in the page counts as wrong in all three.
    """
    if item.web_step is None:
        return {}
    action = action_of(answer.extra) if answer is not None else None
    element = action is not None and action.element in item.web_step.targets
    f1 = operation_f1(action, item.web_step)
    return {"element": element, "operation_f1": f1, "step": element and f1 == 1}


def operation_f1(action: Action | None, gold: WebStep) -> float:
    """Return the F1 of the words of operation and value, each word once, as Mind2Web computes it."""
    if action is None or not gold.targets:
        return 0.0
    ours, theirs = ({*f"{one.operation} {one.value}".split()} for one in (action, gold))
    shared = len(ours & theirs)
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def right_action(item: Item) -> str:
    """Return the right action in words for the report."""
    step = item.web_step
    assert step is not None
    if not step.targets:
        return "The right element is not in the data, so the step counts as wrong."
    value = f' "{step.value}"' if step.value else ""
    return f"Right: {step.operation}{value} on the element {' or '.join(step.targets)}."
