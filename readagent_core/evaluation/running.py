"""Runs an experiment: documents are read and questions answered side by side, and every answer is saved at once.

One loop has all the state: it hands work to a pool of threads, and takes, saves and counts what comes back. At most
as many documents are in memory as calls may be made at once. A failed question is saved as failed and the run
continues; an error that every other question would meet too stops the run, and what was answered is saved.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from readagent_core.answering.base import Event
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.resources import Resources
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError
from readagent_core.evaluation.answering import AnswerTask, answer, failed_result
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.datasets import Case, Item
from readagent_core.evaluation.documents import SharedBuilds, describe_gisting, read_case
from readagent_core.evaluation.experiment import Experiment, end_record, prepare_folder
from readagent_core.evaluation.model_calls import CountingModel, ExperimentBudget, LimitedModel, raise_server_limit
from readagent_core.evaluation.results import JsonLines, Key, PaidCost, Result
from readagent_core.evaluation.score_table import ScoreTable, load_scores
from readagent_core.gisting.pool import Outcome, Pool
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.embeddings.embed import BuiltInEmbedder, Embedder
from readagent_core.plan import GistingPlan

_CALLS_EACH = 4  # at once for one document or one question
_POLL_SECONDS = 0.1  # how long the loop waits before it looks whether it was cancelled
_AFTER_STOP_SECONDS = 0.5  # how long calls under way may still bring their replies, which are paid for
_AFTER_ERROR_SECONDS = 20.0

_Missing = list[tuple[Key, Item, Arm]]


@dataclass(frozen=True)
class ExperimentProgress:
    """How far a run is: ``done`` of ``total`` answers, ``documents`` read, ``failed`` answers without a reply.

    ``words``: sent in this run so far, cached replies not counted; ``seconds``: since it began; ``dollars``: spent on
    the whole experiment. ``table``: the scores so far, which keep changing; readers must not change them.
    ``words_read``: of the ``words_to_read`` of the documents begun so far, those on pages with a gist.
    """

    done: int
    total: int
    documents: int
    failed: int
    words: int
    seconds: float
    dollars: float
    table: ScoreTable
    words_read: int = 0
    words_to_read: int = 0

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        budget: ExperimentBudget,
        *,
        total: int,
        began: float,
        read: Sequence[tuple[int, int]] = (),
    ) -> ExperimentProgress:
        """Return how far a run is. ``began``: its start, in seconds of ``time.monotonic``. ``read``: of each gisting,
        the words read and all its words.
        """
        return cls(
            done=table.answers - table.failed,
            total=total,
            documents=len(table.gistings),
            failed=table.failed,
            words=budget.words_sent,
            seconds=time.monotonic() - began,
            dollars=budget.dollars,
            table=table,
            words_read=sum(words for words, _ in read),
            words_to_read=sum(words for _, words in read),
        )


def run(
    experiment: Experiment,
    model: ChatModel,
    *,
    folder: Path,
    embedder: Embedder | None = None,
    cancel: CancelToken | None = None,
    on_change: Callable[[ExperimentProgress], None] | None = None,
) -> ScoreTable:
    """Run what is missing of ``experiment`` in ``folder`` and return the scores of all of it.

    ``embedder``: for the methods that compare embeddings; None for the built-in one.
    Raises CancelledError within a second of a cancel, a ModelError that stops everything, DatasetError (naming file
    and line) or LibraryError. Whatever was answered before is saved and is not asked again.
    """
    embedder = embedder or BuiltInEmbedder()
    experiment, record = prepare_folder(experiment, model, folder, embedder=embedder.name)
    runner = _Runner(experiment, model, embedder, folder, cancel or CancelToken(), on_change)
    finished = False
    try:
        with raise_server_limit(model, experiment.connections):
            table = runner.run()
        finished = True
    finally:
        runner.close()
        end_record(folder, record, reported=runner.budget.reported, finished=finished)
    return table


def run_part(
    experiment: Experiment, model: ChatModel, *, folder: Path, embedder: Embedder, cancel: CancelToken
) -> tuple[ExperimentBudget, ReadAgentError | None]:
    """Run what is missing of ``experiment`` in ``folder``, which needs no record: another process collects the answers.

    Return what was sent and spent, and the error that stopped it; what was answered before is in the folder.
    """
    runner = _Runner(experiment, model, embedder, folder, cancel, None)
    try:
        runner.run()
    except ReadAgentError as error:
        return runner.budget, error
    finally:
        runner.close()
    return runner.budget, None


class _Runner:
    """The state of one run. Methods that begin with ``_add`` take an outcome in the loop; the loop alone calls them."""

    def __init__(
        self,
        experiment: Experiment,
        model: ChatModel,
        embedder: Embedder,
        folder: Path,
        cancel: CancelToken,
        on_change: Callable[[ExperimentProgress], None] | None,
    ) -> None:
        self._experiment, self._folder, self._cancel, self._on_change = experiment, folder, cancel, on_change
        self._embedder = embedder
        # a reply found in the cache is no call and never waits
        self._model = model.wrap_inner(partial(LimitedModel, connections=experiment.connections))
        self.budget = ExperimentBudget(experiment.most_words, most_dollars=experiment.most_dollars, folder=folder)
        self._library = Library(folder.parent)  # all experiments of this folder share their readings
        self._results = JsonLines(folder / "results.jsonl")
        self._documents = JsonLines(folder / "documents.jsonl")
        self._replays = JsonLines(folder / "replays.jsonl")
        self._calls_at_once = min(experiment.connections, _CALLS_EACH)
        self._pool = Pool(experiment.connections)
        self._table = ScoreTable()
        self._total = 0
        self._cases = experiment.dataset.cases()
        self._may_fetch = False  # another case: not before the experiment is counted, nor while one is being fetched
        self._open: dict[int, int] = {}  # answers still to come, by the number of the case
        self._tasks: deque[AnswerTask] = deque()
        self._answering = 0
        self._read: dict[int, tuple[int, int]] = {}  # of each gisting; set by the threads that read
        self._told: list[tuple[int, int]] = []
        self._began = time.monotonic()

    def run(self) -> ScoreTable:
        try:
            self._pool.submit(self._add_state, self._load)
            while self._pool.running or self._tasks:
                self._cancel.check()
                while self._tasks and self._answering < self._experiment.connections:
                    self._answering += 1
                    self._pool.submit(self._add_answer, partial(self._answer, self._tasks.popleft()))
                self._take(self._pool.next(_POLL_SECONDS))
                if self._told != list(self._read.values()):
                    self._report()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self._cancel.cancel()
            self.budget.close()  # work under way ends at its next call
            self._take_last()
            raise
        finally:
            self._pool.close()
        return self._table

    def close(self) -> None:
        self.budget.close()
        self._library.close()

    def _take(self, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        if outcome.error is not None:
            raise outcome.error
        outcome.tag(outcome.value)

    def _take_last(self) -> None:
        """Save what the work under way still brings."""
        until = time.monotonic() + _AFTER_ERROR_SECONDS
        while self._pool.running and time.monotonic() < until:
            if self._cancel.cancelled:
                until = min(until, time.monotonic() + _AFTER_STOP_SECONDS)
            outcome = self._pool.next(_POLL_SECONDS)
            if outcome is not None and outcome.error is None:
                with suppress(ReadAgentError):  # why the run ends is known already
                    outcome.tag(outcome.value)

    def _load(self) -> tuple[ScoreTable, int]:
        table = load_scores(self._folder)
        return table, self._experiment.count_answers(table)

    def _add_state(self, found: tuple[ScoreTable, int]) -> None:
        self._table, self._total = found
        self._may_fetch = True
        self._report()
        self._fetch_case()

    # --- documents ------------------------------------------------------------------------------------------

    def _fetch_case(self) -> None:
        """Submit the next case, unless enough are open. One document is parsed at a time."""
        if self._may_fetch and not self.budget.closed and len(self._open) < self._experiment.connections:
            self._may_fetch = False
            self._pool.submit(self._add_case, self._next_case)

    def _next_case(self) -> tuple[Case, _Missing] | None:
        """Return the next case that lacks answers, its document parsed; None after the last."""
        for case in self._cases:
            self._cancel.check()
            if missing := self._experiment.missing(case, self._table):
                _ = case.document
                return case, missing
        return None

    def _add_case(self, found: tuple[Case, _Missing] | None) -> None:
        if found is None or self.budget.closed:
            return
        case, missing = found
        self._open[case.number] = len(missing)
        self._may_fetch = True
        self._fetch_case()
        read = partial(
            read_case,
            library=self._library,
            model=self._model,
            budget=self.budget,
            connections=self._calls_at_once,
            cancel=self._cancel,
            gists=self._experiment.needs_gisting,
            on_read=self._note_reading,
        )
        plans = [self._experiment.plan_for(arm, case.preset) for _, _, arm in missing]
        for plan in {plan.key: plan for plan in plans}.values():
            wanted = [entry for entry, own in zip(missing, plans, strict=True) if own.key == plan.key]
            self._pool.submit(partial(self._add_memory, case, plan, wanted), partial(read, case, plan))

    def _add_memory(
        self, case: Case, plan: GistingPlan, wanted: _Missing, found: tuple[GistMemory | ReadAgentError, PaidCost]
    ) -> None:
        memory, cost = found
        self._add_cost(cost)
        if isinstance(memory, ReadAgentError):
            for key, item, _ in wanted:
                self._add_result(failed_result(key, case, item, plan=plan, error=memory))
            return
        if (memory.document.id, plan.key) not in self._table.gistings:
            gisting = describe_gisting(memory, plan, gists=self._experiment.needs_gisting)
            self._documents.append(asdict(gisting))
            self._table.add_gisting(gisting)
            self._report()
        self._tasks += [AnswerTask(key, case, item, arm, plan, memory) for key, item, arm in wanted]

    def _add_cost(self, cost: PaidCost) -> None:
        if self._table.add_cost(cost):
            self._documents.append(cost._asdict())

    # --- answers --------------------------------------------------------------------------------------------

    def _answer(self, task: AnswerTask) -> tuple[Result, list[Event], int]:
        """Return the result, its events, and the words sent for the builds that it used."""
        experiment, number = self._experiment, task.key.run
        model = CountingModel(self._model, self.budget, run=number)
        rated = experiment.rate and model.is_language_model
        rater = CountingModel(self._model, self.budget, run=number) if rated else None
        builds = SharedBuilds(self._library.artifacts(task.memory.document.id), model)
        resources = Resources(self._embedder, artifacts=builds, connections=self._calls_at_once)
        result, events = answer(task, model, rater, resources=resources, cancel=self._cancel)
        return result, events, builds.words

    def _add_answer(self, found: tuple[Result, list[Event], int]) -> None:
        self._answering -= 1
        result, events, built = found
        if built:
            self._add_cost(PaidCost(result.document, arm=result.arm, built=built))
        if not result.right:
            replay = {"key": list(result.key), "events": [event_to_dict(event) for event in events]}
            result = replace(result, replay=self._replays.append(replay))
        self._add_result(result)

    def _add_result(self, result: Result) -> None:
        self._results.append(result.to_dict())
        self._table.add(result)
        self._open[result.case] -= 1
        if not self._open[result.case]:
            del self._open[result.case]
            self._fetch_case()
        self._report()

    def _note_reading(self, gisting: int, done: int, words: int) -> None:
        self._read[gisting] = done, words

    def _report(self) -> None:
        self._told = list(self._read.values())
        if self._on_change is not None:
            self._on_change(
                ExperimentProgress.of(self._table, self.budget, total=self._total, began=self._began, read=self._told)
            )
