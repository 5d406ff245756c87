"""Experiments on a cluster: one task answers all questions about one document, and this process collects the answers.

The folder of the experiment is as ``evaluation.running`` writes it, so reports and tables are the same, and either of
the two can resume what the other began. ``CorpusQuestions`` asks about the books of an output folder, which are not
read again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.corpus.cluster import Done, Run, open_cluster, raise_stop
from readagent_core.corpus.store import CorpusFolder
from readagent_core.corpus.tables import read_table
from readagent_core.corpus.worker import RunSpec, run_of
from readagent_core.document import Document
from readagent_core.errors import DatasetError, ReadAgentError
from readagent_core.evaluation.datasets import Case, Dataset
from readagent_core.evaluation.datasets.base import Source
from readagent_core.evaluation.datasets.plain import read_questions
from readagent_core.evaluation.experiment import Experiment, end_record, prepare_folder
from readagent_core.evaluation.model_calls import ExperimentBudget
from readagent_core.evaluation.results import GistingFigures, JsonLines, Key, PaidCost, Result
from readagent_core.evaluation.running import ExperimentProgress, run_part
from readagent_core.evaluation.score_table import ScoreTable, load_scores
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.models import connect_embedder
from readagent_core.models.base import ChatModel
from readagent_core.models.embeddings.embed import Embedder
from readagent_core.settings import load_settings

_FILES = ("results", "documents", "replays")
_Group = list[Case]


# --- the questions of a corpus ----------------------------------------------------------------------------


@dataclass(frozen=True)
class CorpusCase(Case):
    """A book of an output folder and its questions. The key of the book is its source's data."""

    out: str = ""

    @cached_property
    def memory(self) -> GistMemory:
        return CorpusFolder(self.out).book(self.source.data.decode())[1]

    @cached_property
    def document(self) -> Document:
        return CorpusFolder(self.out).book(self.source.data.decode())[0]


@dataclass(frozen=True)
class CorpusQuestions(Dataset):
    """A file of questions, each naming the ``file`` of a book that ``out`` holds: see ``evaluation.datasets.plain``."""

    out: str = ""

    def _read(self) -> Iterator[Case]:
        columns = ["key", "file", "preset"]
        books = {row["file"]: row for row in read_table(CorpusFolder(self.out), "books", columns)}
        for name, items in read_questions(self.path)[1].items():
            book = books.get(name)
            if book is None:
                raise DatasetError(f"{self.path.name}: {self.out} holds no book read from the file {name!r}.")
            source = Source(str(book["key"]).encode(), name)
            yield CorpusCase("", tuple(items), source, book["preset"], self.path.name, out=self.out)


@dataclass(frozen=True)
class _GivenCases(Dataset):
    """The cases of one task, with the numbers that they and their questions have in the whole dataset."""

    given: tuple[Case, ...] = ()

    def _numbered(self) -> Iterator[Case]:
        return iter(self.given)


# --- in a worker ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartResult:
    """What a task leaves: the lines of the three files of an experiment, its replays with their place, and ``error``,
    which stopped it.
    """

    results: list[dict[str, Any]]
    documents: list[dict[str, Any]]
    replays: dict[int, dict[str, Any]]
    words: int
    dollars: float
    reported: set[str]
    error: ReadAgentError | None = None


def answer_part(
    spec: RunSpec, experiment: Experiment, cases: tuple[Case, ...], before: list[dict[str, Any]]
) -> PartResult:
    """Answer what ``before``, the answers so far, leaves of the questions about one document."""
    run = run_of(spec)
    part = replace(experiment, dataset=_GivenCases(Path(), "given", given=cases), connections=spec.share)
    with TemporaryDirectory(prefix="readagent-") as name:
        folder = Path(name) / "part"
        folder.mkdir()
        files = {name: JsonLines(folder / f"{name}.jsonl") for name in _FILES}
        for line in before:
            files["results"].append(line)
        _add_gistings(Path(name), cases, run.model)
        embedder = connect_embedder(load_settings())
        budget, error = run_part(part, run.model, folder=folder, embedder=embedder, cancel=run.token)
        return PartResult(
            list(files["results"])[len(before) :],
            list(files["documents"]),
            dict(files["replays"].with_offsets()),
            budget.words_sent,
            budget.dollars,
            budget.reported,
            error,
        )


def _add_gistings(home: Path, cases: tuple[Case, ...], model: ChatModel) -> None:
    """Put the gistings of corpus books into the library of the task, so that they are not read again."""
    for case in cases:
        if isinstance(case, CorpusCase):
            library = Library(home)
            book = library.add(case.document)
            gisting = library.open_gisting(book.id, case.memory.plan, model.name, model.where)
            library.put_memory(gisting.id, case.memory)
            library.close()


# --- in this process --------------------------------------------------------------------------------------


def run_on_cluster(
    experiment: Experiment,
    model: ChatModel,
    *,
    scheduler: str,
    workers: int = 0,
    servers: Sequence[str] = (),
    folder: Path,
    embedder: Embedder,
    cancel: CancelToken,
    on_change: Callable[[ExperimentProgress], None],
) -> ScoreTable:
    """Run what is missing of ``experiment`` in ``folder`` on a cluster, and return the scores of all of it.

    The arguments and errors are those of ``running.run`` and ``CorpusPlan``. A limit on words or dollars is looked at
    before each document, so those under way may exceed it.
    """
    experiment, record = prepare_folder(experiment, model, folder, embedder=embedder.name)
    collector, finished = _Collector(experiment, folder, on_change), False
    try:
        with open_cluster(scheduler, workers=workers, connections=experiment.connections) as client:
            run = Run(client, experiment.connections, cancel, lambda text: None)
            spec = RunSpec(run.id, "", model.name if model.is_language_model else "", tuple(servers))
            with closing(run.run(spec, collector.next, answer_part)) as ends:
                for end in ends:
                    collector.add(end)
            if collector.stopped:
                collector.budget.check()
        finished = True
    finally:
        collector.budget.close()
        end_record(folder, record, reported=collector.budget.reported, finished=finished)
    return collector.table


class _Collector:
    """Hands out the documents that lack answers, and adds what comes back to the experiment's folder."""

    def __init__(self, experiment: Experiment, folder: Path, on_change: Callable[[ExperimentProgress], None]) -> None:
        self.budget = ExperimentBudget(experiment.most_words, most_dollars=experiment.most_dollars, folder=folder)
        self._experiment, self._on_change = experiment, on_change
        self._files = {name: JsonLines(folder / f"{name}.jsonl") for name in _FILES}
        self.table = load_scores(folder)
        self._lines: dict[int, list[int]] = defaultdict(list)  # where the answers so far begin, by case
        for place, line in self._files["results"].with_offsets():
            self._lines[line["case"]].append(place)
        self._total = experiment.count_answers(self.table)
        self.stopped = False  # because the budget is used up
        self._groups = self._missing_groups()
        self._began = time.monotonic()
        self._report()

    def next(self) -> tuple[_Group, tuple[Any, ...]] | None:
        """Return the cases of the next document and the arguments of its task; None after the last."""
        budget, wanted = self.budget, self._experiment
        group = None if self.stopped else next(self._groups, None)
        if group is None:
            return None
        if budget.used_up:
            self.stopped = True
            return None
        before = [
            {**self._files["results"].read_at(place), "replay": None}
            for case in group
            for place in self._lines[case.number]
        ]
        left = replace(
            wanted,
            most_words=wanted.most_words and wanted.most_words - budget.words,
            most_dollars=wanted.most_dollars and wanted.most_dollars - budget.dollars,
        )
        return group, (left, tuple(group), before)

    def _missing_groups(self) -> Iterator[_Group]:
        """Yield the cases of each document that lacks answers; a document may come in several places of a dataset."""
        last = {_digest(case): case.number for case in self._experiment.dataset.cases()}
        groups: dict[bytes, _Group] = {}
        for case in self._experiment.dataset.cases():
            text = _digest(case)
            groups.setdefault(text, []).append(case)
            if last[text] == case.number:
                group = groups.pop(text)
                if any(self._experiment.missing(case, self.table) for case in group):
                    yield group

    def add(self, end: Done[_Group]) -> None:
        """Save what a task brought. Raises the error that stopped it."""
        if end.error is not None:
            raise_stop(end.error)
        part: PartResult = end.value
        for line in part.documents:
            self._add_document(line)
        for line in part.results:
            if line["replay"] is not None:
                line = {**line, "replay": self._files["replays"].append(part.replays[line["replay"]])}
            self._files["results"].append(line)
            self.table.add(Result.from_dict(line))
        self.budget.words_sent += part.words
        self.budget.words += part.words
        self.budget.dollars += part.dollars
        self.budget.reported |= part.reported
        self.budget.save()
        self._report()
        if part.error is not None:
            raise_stop(part.error)

    def _add_document(self, line: Mapping[str, Any]) -> None:
        if "page_words" not in line:
            if self.table.add_cost(PaidCost(**line)):
                self._files["documents"].append(line)
        elif (line["document"], line["plan"]) not in self.table.gistings:
            self._files["documents"].append(line)
            self.table.add_gisting(GistingFigures.from_dict(line))

    def _report(self) -> None:
        self._on_change(ExperimentProgress.of(self.table, self.budget, total=self._total, began=self._began))


def _digest(case: Case) -> bytes:
    return blake2b(case.source.data, digest_size=16).digest()


def question_rows(folder: Path, questions: CorpusQuestions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table of answers, of the newest answer to each question."""
    cases = {case.number: case for case in questions.cases()}
    places: dict[Key, int] = {}
    lines = JsonLines(folder / "results.jsonl", repair=False)
    for place, line in lines.with_offsets():
        places[Result.from_dict(line).key] = place
    for key, place in places.items():
        result, case = Result.from_dict(lines.read_at(place)), cases[key.case]
        same = ("id", "question", "arm", "run", "answer", "option", "gold", "correct", "rating", "memory_words",
                "compression_rate", "words", "error")  # fmt: skip
        yield {
            "key": case.source.data.decode(),
            "file": case.source.name,
            **{name: getattr(result, name) for name in same},
            "method": result.arm.split(":")[0],
            "looked_up": list(result.looked_up),
            "cost": result.usage.cost,
        }
