"""Runs an experiment: documents are read ahead, questions answered in parallel, every answer kept at once.

Readers take cases from the dataset one by one, read each document once a plan, and lay its questions into a
short queue; answerers take them from there. So all connections are busy and only a few documents are in memory.
A failed question is kept as failed and the run goes on; what no question can overcome (a refused key, the
budget, a full disk) stops the run, and what is done is kept.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, ReadAgentError
from readagent_core.evaluation import collecting
from readagent_core.evaluation.answering import Task, answer, failure
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.counting import Counted, limited, repeated
from readagent_core.evaluation.datasets import Case, Item
from readagent_core.evaluation.experiment import Experiment, count, prepare, write_record
from readagent_core.evaluation.readings import Readings, figures
from readagent_core.evaluation.results import Cost, Key, Lines, Result, read_results
from readagent_core.evaluation.sharing import CostedShelf, Shelves
from readagent_core.evaluation.tally import Tally, load
from readagent_core.evaluation.till import Till
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.methods import method
from readagent_core.methods.base import Event, event_to_dict
from readagent_core.methods.support.resources import Resources
from readagent_core.models.base import ChatModel
from readagent_core.plan import ReadingPlan

_READING_CALLS = 4  # at once for one document; documents are read side by side
_PAUSE = 0.2  # seconds between looks at whether a run has ended


@dataclass(frozen=True)
class Progress:
    """How a run stands. ``done`` of ``total`` answers, ``documents`` read; ``tally`` is live: read it, never change it.

    ``failed``: answers that could not be had. ``words``: sent in this run so far, cached replies not counted;
    ``dollars``: spent on the whole experiment.
    """

    done: int
    total: int
    documents: int
    failed: int
    words: int
    seconds: float
    tally: Tally
    folder: Path
    dollars: float = 0.0


def run(
    experiment: Experiment,
    model: ChatModel,
    *,
    folder: Path,
    cancel: CancelToken | None = None,
    on_change: Callable[[Progress], None] | None = None,
) -> Tally:
    """Run what is missing of ``experiment`` in ``folder``; the tally of all of it.

    Raises CancelledError, a ModelError that stops everything, DatasetError (naming file and line) or
    LibraryError; whatever was answered before is kept and is not asked again.
    """
    experiment, record = prepare(experiment, model, folder)
    runner = _Runner(experiment, model, folder, cancel=cancel or CancelToken(), on_change=on_change)
    try:
        with collecting.seldom():
            tally = runner.run()
        record = {**record, "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    finally:
        runner.close()
        reported = sorted({*record["model"]["reported"], *runner.till.reported})
        write_record(folder, {**record, "model": {**record["model"], "reported": reported}})
    return tally


class _Runner:
    """The state of one run: files, threads, and what went wrong first."""

    def __init__(
        self,
        experiment: Experiment,
        model: ChatModel,
        folder: Path,
        *,
        cancel: CancelToken,
        on_change: Callable[[Progress], None] | None,
    ) -> None:
        self.experiment, self.folder, self.cancel, self.on_change = experiment, folder, cancel, on_change
        self.model = limited(model, experiment.connections)
        self.till = Till(experiment.most_words, most_dollars=experiment.most_dollars, folder=folder)
        self.library = Library(folder.parent)  # readings are shared by all experiments beside this one
        self.results = Lines(folder / "results.jsonl")
        self.documents = Lines(folder / "documents.jsonl")
        self.replays = Lines(folder / "replays.jsonl")
        self.tally = load(folder)
        self.done = {result.key for result in read_results(self.results) if not result.error}
        self.tasks: queue.Queue[Task | None] = queue.Queue(2 * experiment.connections)  # None: no more follow
        self.answerers: list[threading.Thread] = []
        self.shelves = Shelves()
        self.lock = threading.Lock()
        self.at_once = min(experiment.connections, _READING_CALLS)
        self.readings = Readings(self.library, self.model, self.till, connections=self.at_once, pay=self._pay)
        self.error: BaseException | None = None
        self.total = 0
        self.started = time.monotonic()

    def run(self) -> Tally:
        self.total = count(self.experiment)[1]
        self._tell()
        connections = self.experiment.connections
        cases = _Shared(enumerate(self.experiment.dataset.cases()))
        readers = [self._thread("reader", self._read, cases) for _ in range(connections)]
        self._thread("imports", self._get_ready)
        for thread in readers:
            thread.join()
        for _ in self.answerers:
            self._put(None)
        for thread in self.answerers:
            thread.join()
        self._tell()
        if self.error is not None:
            raise self.error
        self.cancel.check()
        return self.tally

    def close(self) -> None:
        """Write what waits. Raises DiskFullError."""
        self.till.keep()
        self.library.close()
        for lines in (self.replays, self.results, self.documents):
            lines.close()

    def _get_ready(self) -> None:
        """Import what methods import late: behind the first documents, not in front of the questions."""
        for name in {arm.method for arm in self.experiment.arms}:
            ready = getattr(method(name), "ready", None)
            if ready is not None:
                with self.readings.opening, suppress(ImportError):  # its questions fail and say so; the others go on
                    ready()

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, cases: _Shared) -> None:
        while not self._stopped() and (found := cases.next()) is not None:
            number, case = found
            memories: dict[str, GistMemory | ReadAgentError] = {}
            plans = {arm.key: self.experiment.plan_for(arm, case.preset) for arm in self.experiment.arms}
            for key, item, arm in self._missing(number, case):
                plan = plans[arm.key]
                if plan.key not in memories:
                    memories[plan.key] = self._memory(case, plan)
                memory = memories[plan.key]
                if isinstance(memory, ReadAgentError):
                    self._keep(failure(key, case, item, plan=plan, error=memory))
                elif not self._put(Task(key, case, item, arm, plan, memory)):
                    return

    def _missing(self, number: int, case: Case) -> list[tuple[Key, Item, Arm]]:
        wanted = [
            (Key(number, at, arm.key, run_), item, arm)
            for at, item in enumerate(case.items)
            for arm in self.experiment.arms
            for run_ in range(1, self.experiment.runs + 1)
        ]
        return [entry for entry in wanted if entry[0] not in self.done]

    def _pay(self, cost: Cost) -> None:
        self.documents.append(cost._asdict())
        with self.lock:
            self.tally.add_cost(cost)

    def _memory(self, case: Case, plan: ReadingPlan) -> GistMemory | ReadAgentError:
        """The document as read by ``plan``; its figures are kept the first time."""
        memory = self.readings.memory(case, plan, self.cancel)
        if isinstance(memory, GistMemory) and (memory.document.id, plan.key) not in self.tally.readings:
            kept = figures(memory, plan)
            self.documents.append(asdict(kept))
            with self.lock:
                self.tally.add_reading(kept)
            self._tell()
        return memory

    # --- answering --------------------------------------------------------------------------------

    def _answer(self) -> None:
        while not self._stopped():
            try:
                task = self.tasks.get(timeout=_PAUSE)
            except queue.Empty:
                continue
            if task is None:
                return
            result, events = self._asked(task)
            if not result.right:
                place = self.replays.append(
                    {"key": list(task.key), "events": [event_to_dict(event) for event in events]}
                )
                result = replace(result, replay=place)
            self._keep(result)

    def _asked(self, task: Task) -> tuple[Result, list[Event]]:
        model = repeated(self.model, task.key.run)
        counted = Counted(model, self.till)
        rater = Counted(model, self.till) if self.experiment.rate and model.is_language_model else None
        document, arm = task.memory.document.id, task.arm.key
        shelf = CostedShelf(
            self.library.shelf(document),
            self.shelves,
            counted,
            lambda words: self._pay(Cost(document, arm=arm, built=words)),
            document=document,
            arm=arm,
        )
        tools = Resources(artifacts=shelf, connections=self.at_once)
        whole = False
        try:
            result, events = answer(task, counted, rater, tools=tools, cancel=self.cancel)
            whole = not result.error
            return result, events
        finally:
            shelf.close(built=whole)

    def _keep(self, result: Result) -> None:
        self.results.append(result.to_dict())
        with self.lock:
            self.tally.add(result)
        self._tell()

    # --- threads ----------------------------------------------------------------------------------

    def _thread(self, name: str, work: Callable[..., None], *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=self._guard, args=(work, *arguments), name=name, daemon=True)
        thread.start()
        return thread

    def _guard(self, work: Callable[..., None], *arguments: Any) -> None:
        """Run ``work``; the first error stops every thread and is raised from ``run``."""
        try:
            work(*arguments)
        except BaseException as error:  # noqa: BLE001  carried to the caller's thread, whatever it is
            with self.lock:
                if self.error is None or isinstance(self.error, CancelledError):
                    self.error = error

    def _stopped(self) -> bool:
        return self.error is not None or self.cancel.cancelled

    def _begin_answering(self) -> None:
        with self.lock:
            if not self.answerers:  # a few more than can call at once: the others call while these score and write
                most = self.experiment.connections + self.experiment.connections * 2 // 3
                self.answerers = [self._thread("answerer", self._answer) for _ in range(most)]

    def _put(self, task: Task | None) -> bool:
        """Lay a task into the queue; False when the run was stopped meanwhile."""
        if not self.answerers:
            self._begin_answering()
        while not self._stopped():
            try:
                self.tasks.put(task, timeout=_PAUSE)
                return True
            except queue.Full:
                continue
        return False

    def _tell(self) -> None:
        if self.on_change is None:
            return
        with self.lock:
            progress = Progress(
                done=self.tally.answers - self.tally.failed,
                total=self.total,
                documents=len(self.tally.readings),
                failed=self.tally.failed,
                words=self.till.words_sent,
                seconds=time.monotonic() - self.started,
                tally=self.tally,
                folder=self.folder,
                dollars=self.till.dollars,
            )
        self.on_change(progress)


class _Shared:
    """An iterator that several threads take from. An error ends it for all and is raised in one."""

    def __init__(self, values: Iterator[tuple[int, Case]]) -> None:
        self._values, self._lock = values, threading.Lock()

    def next(self) -> tuple[int, Case] | None:
        with self._lock:
            return next(self._values, None)
