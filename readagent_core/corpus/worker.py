"""What a Dask worker does: one task reads one book, or answers the questions of one document.

A worker takes its model, its key and its folder for replies (READAGENT_HOME) from its own settings; the task names
servers and model. One process has one model for a run, whose limit is the worker's share of the calls at once.
"""

from __future__ import annotations

import os
import signal
import threading
import traceback
from dataclasses import dataclass, replace
from functools import partial

from readagent_core.cancel import CancelToken
from readagent_core.corpus.servers import connect_pool
from readagent_core.corpus.store import CorpusFolder, SourceFile, content_hash
from readagent_core.document import Document
from readagent_core.errors import ReadAgentError, SettingsError, WindowError
from readagent_core.evaluation.answering import STOPPERS
from readagent_core.gisting import read
from readagent_core.gisting.job import default_plan, fit_plan
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.limiter import Limiter
from readagent_core.plan import GistingPlan
from readagent_core.settings import load_settings
from readagent_core.usage import Usage

CALLS_EACH = 4  # at once for one book
_PARSING = threading.Semaphore(os.cpu_count() or 1)  # files opened at once: each may need a process of its own
_MOST_RUNS = 4  # runs whose model a process holds: the program that began one may have been killed


@dataclass(frozen=True)
class RunSpec:
    """What every task of a run is given. ``servers``: addresses; none for those of the worker's own settings.

    ``share``: calls at once in one worker; the run sets it. ``plan``: of every book; None chooses one by its length,
    as ``read`` does.
    """

    id: str
    out: str
    model: str
    servers: tuple[str, ...]
    plan: GistingPlan | None = None
    share: int = 1

    @property
    def topic(self) -> str:
        """The topic of Dask events under which workers report what a person should know."""
        return f"readagent {self.id}"


@dataclass(frozen=True)
class BookResult:
    """How the task of one book ended. ``error``: why it was not read, '' where it was."""

    file: SourceFile
    usage: Usage
    words: int = 0
    pages: int = 0
    error: str = ""


@dataclass
class _Run:
    """A run in this process."""

    model: ChatModel
    limiter: Limiter | None
    token: CancelToken


_RUNS: dict[str, _Run] = {}
_LOCK = threading.Lock()


def dask_setup(worker: object) -> None:
    """Ignore Ctrl-C in a worker process of a cluster started here: the program that began the run cancels its tasks.

    Dask calls this when it starts a worker with this module as ``preload``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_of(spec: RunSpec) -> _Run:
    """Return the run's state in this process, connected by its first task. Raises SettingsError."""
    from distributed import get_worker

    with _LOCK:
        if spec.id not in _RUNS:
            settings = load_settings()
            if settings.key_trouble:
                raise SettingsError(settings.key_trouble)
            notify = partial(get_worker().log_event, spec.topic)
            model, limiter = connect_pool(
                replace(settings, model=spec.model or settings.model), spec.servers, notify, most=spec.share
            )
            if spec.model and not model.is_language_model:
                raise SettingsError(f"A worker has no server for {spec.model}: name one with --server.")
            for oldest in list(_RUNS)[: max(0, len(_RUNS) + 1 - _MOST_RUNS)]:
                del _RUNS[oldest]
            _RUNS[spec.id] = _Run(model, limiter, CancelToken())
        return _RUNS[spec.id]


def set_share(run_id: str, share: int) -> None:
    """Let a worker make ``share`` calls at once from now on: the number of workers has changed."""
    run = _RUNS.get(run_id)
    if run is not None and run.limiter is not None:
        run.limiter.allow(share)


def cancel_run(run_id: str) -> None:
    """Cancel the tasks of a run in this process."""
    run = _RUNS.get(run_id)
    if run is not None:
        run.token.cancel()


def end_run(run_id: str) -> None:
    """Forget a run's model in this process."""
    with _LOCK:
        _RUNS.pop(run_id, None)


def read_book(spec: RunSpec, file: SourceFile, most_dollars: float | None) -> BookResult:
    """Read one book and write its file, or why it cannot be read. Raises what would stop every other book too.

    ``most_dollars``: what is left of the corpus's budget.
    """
    run = run_of(spec)
    model = Metered(run.model, budget=most_dollars)
    out = CorpusFolder(spec.out)
    try:
        data = file.read()
        content = content_hash(data)
        if book := out.load_read(file, content):  # the worker that read it died before it reported that
            pages = book["memory"]["pages"]
            words = sum(page["words"] for page in pages)
            return BookResult(file, Usage.from_dict(book["memory"]["usage"]), words, len(pages))
        with _PARSING:
            run.token.check()
            document = load_in_child_process(data, file.name.rsplit("/", 1)[-1])
        memory = _read_document(document, model, spec.plan, run.token)
    except STOPPERS:
        raise
    except Exception as found:  # noqa: BLE001  a bug that one book shows must not end a long run; it is recorded
        error = found
        if not isinstance(found, ReadAgentError):
            traceback.print_exc()
            error = ReadAgentError(f"Something in ReadAgent itself went wrong ({type(found).__name__}).")
        out.put_failure(file, error)
        return BookResult(file, model.usage, error=str(error))
    out.put_book(file, memory, content)
    return BookResult(file, model.usage, document.words, len(memory.pages))


def _read_document(document: Document, model: Metered, plan: GistingPlan | None, token: CancelToken) -> GistMemory:
    """Read as ``readagent read`` does, in smaller pages where they do not fit the model's window.

    ``ahead=1``: no speculative calls, because other books use the calls that are free.
    """
    plan = plan or default_plan(document.words)
    if model.window and model.window_is_firm:
        plan = fit_plan(plan, model.window, document)
    try:
        return read(document, model, plan, connections=CALLS_EACH, cancel=token, ahead=1)
    except WindowError:
        smaller = fit_plan(plan, model.window, document) if model.window else plan
        if smaller == plan:
            raise
        return read(document, model, smaller, connections=CALLS_EACH, cancel=token, ahead=1)
