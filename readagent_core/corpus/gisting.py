"""Reads a corpus: every book that is not read yet is one task; what is read, failed and spent is in the output folder.

A book that fails is recorded with its reason and the others are read. An error that every other book would meet too
stops the run, and the next run resumes there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.corpus.cluster import Done, Run, WorkerDiedError, dashboard, open_cluster, raise_stop
from readagent_core.corpus.store import BOOKS, FAILED, SPENT, CorpusFolder, SourceFile, content_hash
from readagent_core.corpus.tables import read_table
from readagent_core.corpus.worker import BookResult, RunSpec, read_book
from readagent_core.errors import BudgetError, DocumentError
from readagent_core.evaluation.cost_estimate import Work
from readagent_core.gisting import estimate
from readagent_core.gisting.job import default_plan
from readagent_core.loaders.child_process import load_in_child_process
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.prices import Price, money
from readagent_core.plan import GistingPlan
from readagent_core.usage import Usage
from readagent_core.words import count_of

_SAMPLE = 12  # files that are opened for an estimate
_MARGIN = 1.5  # what books under way are expected to use, against what an average one does
_SAVE_SECONDS = 2.0  # between two writes of what was spent: what a kill may lose
_NOTICES = 20  # the newest ones


@dataclass(frozen=True)
class CorpusPlan:
    """What is to be read and how. ``connections``: model calls at once, of all workers together.

    ``scheduler``: the address of a Dask cluster; '' starts one, of ``workers`` processes, or in this process for 0.
    ``most_words``, ``most_dollars``: the budget of the corpus, of all its runs together; None for no limit.
    """

    out: str
    servers: tuple[str, ...] = ()
    plan: GistingPlan | None = None
    connections: int = 32
    scheduler: str = ""
    workers: int = 0
    most_words: int | None = None
    most_dollars: float | None = None


@dataclass(frozen=True, kw_only=True)
class CorpusEstimate(Work):
    """What reading ``books`` needs, from a sample of them. ``unreadable``: files of the sample that do not open."""

    books: int
    unreadable: int = 0

    def sentence(self, price: Price | None) -> str:
        """Return a sentence for people."""
        if not self.books:
            return "Every book is read already, or has failed."
        text = f"{count_of(self.books, 'book')} to read: {self.describe(price)}."
        return text + (f" {self.unreadable} of {_SAMPLE} files looked at cannot be opened." if self.unreadable else "")


@dataclass(frozen=True)
class CorpusProgress:
    """How far a run is. ``done``, ``failed``: books of this run.

    ``words``, ``pages``: of the books of this run. ``bytes_done`` of ``bytes_total``: of their files, 0 where sizes
    are not known. ``used``: by this run; ``spent``: by all runs. ``notices``: what workers reported last.
    """

    total: int
    done: int = 0
    failed: int = 0
    words: int = 0
    pages: int = 0
    bytes_done: int = 0
    bytes_total: int = 0
    used: Usage = field(default_factory=Usage)
    spent: Usage = field(default_factory=Usage)
    workers: int = 0
    seconds: float = 0.0
    dashboard: str = ""
    notices: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The part of this run that is done, from 0 to 1."""
        if self.bytes_total:
            return self.bytes_done / self.bytes_total
        return (self.done + self.failed) / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float | None:
        """About how long it still takes; None before the first book."""
        return self.seconds * (1 - self.share) / self.share if self.share else None


def to_read(folder: CorpusFolder, files: Sequence[SourceFile], *, failed: bool = False) -> list[SourceFile]:
    """Return the files that are not read, or have changed since, and have not failed; with ``failed`` those that have.

    A file is compared by its content where the file system says that it may have changed since the tables were made.
    """
    read, refused = folder.keys(BOOKS), folder.keys(FAILED)
    versions: dict[str, str] = {}
    with suppress(FileNotFoundError):  # no run has made the tables yet
        versions = {
            row["key"]: str(row.get("file_version") or "")
            for row in read_table(folder, "books", ["key", "file_version"])
        }
    return [
        file
        for file in files
        if (file.key in refused) == failed
        and (file.key not in read or _has_changed(folder, file, versions.get(file.key) or ""))
    ]


def _has_changed(folder: CorpusFolder, file: SourceFile, version: str) -> bool:
    if not version or not file.version or file.version == version:
        return False
    try:
        content = content_hash(file.read())
    except DocumentError:
        return True  # the task that reads it records why it cannot be read
    return folder.load_read(file, content) is None


def estimate_corpus(files: Sequence[SourceFile], plan: GistingPlan | None) -> CorpusEstimate:
    """Estimate the gisting of ``files`` from a few of them, taken evenly over their sizes. Asks no model anything."""
    picked = [files[at * len(files) // min(len(files), _SAMPLE)] for at in range(min(len(files), _SAMPLE))]
    calls = words = back = looked = size = unreadable = 0
    for file in picked:
        try:
            document = load_in_child_process(file.read(), file.name.rsplit("/", 1)[-1])
        except DocumentError:
            unreadable += 1
            continue
        found = estimate(document, plan or default_plan(document.words))
        looked, size = looked + 1, size + file.size
        calls, words, back = calls + found.calls, words + found.words_in, back + found.words_out
    readable = len(files) * looked / max(1, len(picked))
    scale = sum(file.size for file in files) * (looked / len(picked)) / size if size else readable / max(1, looked)
    return CorpusEstimate(
        books=len(files),
        calls=round(calls * scale),
        words=round(words * scale),
        words_back=round(back * scale),
        unreadable=unreadable,
    )


def read_corpus(
    wanted: CorpusPlan,
    files: Sequence[SourceFile],
    model: ChatModel,
    *,
    cancel: CancelToken,
    on_change: Callable[[CorpusProgress], None],
    expected: CorpusEstimate | None = None,
) -> CorpusProgress:
    """Read ``files`` and return how far it came. ``model``: names model and price; workers connect their own.

    ``expected``: of these files; keeps a budget from being exceeded by the books under way. Raises BudgetError,
    CancelledError, UnreachableError or what else would stop every book; what was read is in the folder.
    """
    run = _CorpusRun(wanted, files, model, on_change, expected)
    with open_cluster(wanted.scheduler, workers=wanted.workers, connections=wanted.connections) as client:
        return run.read(client, cancel)


class _CorpusRun:
    """The state of one run; one thread has it all."""

    def __init__(
        self,
        wanted: CorpusPlan,
        files: Sequence[SourceFile],
        model: ChatModel,
        on_change: Callable[[CorpusProgress], None],
        expected: CorpusEstimate | None,
    ) -> None:
        self._wanted, self._left, self._on_change = wanted, list(files)[::-1], on_change
        self._folder = CorpusFolder(wanted.out)
        self._began, self._saved = time.monotonic(), 0.0
        self._under_way = 0
        self._tried_again: set[str] = set()  # keys of books whose worker died
        self._lock = threading.Lock()
        self._over: BudgetError | None = None
        each = expected if expected and expected.books else CorpusEstimate(books=1)
        self._words_each = (each.words + each.words_back) / each.books
        self._dollars_each = (each.dollars(model.price) or 0.0) / each.books
        self.progress = CorpusProgress(
            total=len(files),
            bytes_total=sum(file.size for file in files) if all(file.size for file in files) else 0,
            spent=self._folder.spent,
        )
        self._model = model

    def read(self, client: Any, cancel: CancelToken) -> CorpusProgress:
        wanted, name = self._wanted, self._model.name if self._model.is_language_model else ""
        run = Run(client, wanted.connections, cancel, self._add_notice)
        spec = RunSpec(run.id, wanted.out, name, wanted.servers, plan=wanted.plan)
        self._began = time.monotonic()
        self._report(dashboard=dashboard(client, wanted.scheduler))
        try:
            with closing(run.run(spec, self._next, read_book)) as ends:
                for end in ends:
                    self._under_way -= 1
                    if isinstance(end.error, WorkerDiedError) and end.item.key not in self._tried_again:
                        self._tried_again.add(end.item.key)  # another book may have brought the worker down
                        self._left.insert(0, end.item)
                        continue
                    self._add(self._result(end))
                    self._report(workers=run.workers)
            if self._over is not None:
                raise self._over
        finally:
            self._folder.save(SPENT, self.progress.spent.to_dict())
        return self.progress

    def _next(self) -> tuple[SourceFile, tuple[Any, ...]] | None:
        """Return the next book and what is left of the budget; None at the end, and where the budget has no room."""
        if not self._left:
            return None
        spent, wanted = self.progress.spent, self._wanted
        words, dollars = spent.words_in + spent.words_out, spent.cost or 0.0
        used, books = self.progress.used, max(1, self.progress.done)
        coming = _MARGIN * (self._under_way + 1)  # average books
        words_each = max(self._words_each, (used.words_in + used.words_out) / books)
        dollars_each = max(self._dollars_each, (used.cost or 0.0) / books)
        over = ""
        if wanted.most_words is not None and words + coming * words_each > wanted.most_words:
            over = f"{wanted.most_words:,} words leaves no room for another book ({words:,} were sent and received)"
        if wanted.most_dollars is not None and dollars + coming * dollars_each > wanted.most_dollars:
            over = f"{money(wanted.most_dollars)} leaves no room for another book ({money(dollars)} is spent)"
        if over:
            if not self._under_way:  # else what the books under way really use decides
                self._over = _over_budget(over)
            return None
        self._under_way += 1
        file = self._left.pop()
        return file, (file, None if wanted.most_dollars is None else wanted.most_dollars - dollars)

    def _result(self, end: Done[SourceFile]) -> BookResult:
        """Return how a task ended. Raises the error that stops the run."""
        if isinstance(end.error, WorkerDiedError):
            self._folder.put_failure(end.item, end.error)
            return BookResult(end.item, Usage(), error=str(end.error))
        if isinstance(end.error, BudgetError) and not end.error.monthly and self._wanted.most_dollars is not None:
            raise _over_budget(f"{money(self._wanted.most_dollars)} is used, with {end.item.name} half read")
        if end.error is not None:
            raise_stop(end.error)
        result: BookResult = end.value
        return result

    def _add(self, result: BookResult) -> None:
        now, failed = self.progress, bool(result.error)
        if failed:
            self._add_notice(f"{result.file.name}: {result.error}")
        self._report(
            done=now.done + (not failed),
            failed=now.failed + failed,
            words=now.words + result.words,
            pages=now.pages + result.pages,
            bytes_done=now.bytes_done + result.file.size,
            used=now.used + result.usage,
            spent=now.spent + result.usage,
        )
        if time.monotonic() - self._saved >= _SAVE_SECONDS:
            self._saved = time.monotonic()
            self._folder.save(SPENT, self.progress.spent.to_dict())

    def _add_notice(self, text: str) -> None:
        """Called by Dask's thread too."""
        self._report(notices=(*self.progress.notices, text)[-_NOTICES:])

    def _report(self, **changes: Any) -> None:
        with self._lock:
            self.progress = replace(self.progress, seconds=time.monotonic() - self._began, **changes)
            self._on_change(self.progress)


def _over_budget(what: str) -> BudgetError:
    return BudgetError(
        f"The budget of {what}. Every book so far is saved; raise the budget and start again to continue."
    )
