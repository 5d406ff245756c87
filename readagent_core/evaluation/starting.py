"""Starts experiments for the app and the command line; finds, deletes and restores those in the home folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from readagent_core import models
from readagent_core.errors import DatasetError, LibraryBusyError, ReadAgentError, SettingsError
from readagent_core.evaluation import running
from readagent_core.evaluation.experiment import (
    Experiment,
    default_name,
    folder_for,
    prepare_folder,
    read_record,
    resumed_experiment,
)
from readagent_core.evaluation.report import Summary, dataset_title, summarise
from readagent_core.evaluation.results import JsonLines
from readagent_core.evaluation.score_table import load_scores
from readagent_core.jobs import Job
from readagent_core.library.file_lock import FileLock
from readagent_core.model_names import short_name
from readagent_core.models.base import ChatModel
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_DELETED = ".deleted"  # the folder beside the experiments that has the one deleted last


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment on disk, running or not."""

    folder: Path
    record: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def title(self) -> str:
        """The experiment's title for people: 'Emma · gpt-4o · 4 methods · 2026-11-21 10:00'."""
        lines = JsonLines(self.folder / "documents.jsonl", repair=False)
        about = dataset_title(self.record, (line["title"] for line in lines if "title" in line))
        arms = count_of(len(self.record["experiment"]["arms"]), "method")
        begun = str(self.record["started"])[:16].replace("T", " ")
        return " · ".join([about, short_name(str(self.record["model"]["name"])), arms, begun])


def start(
    workspace: Workspace,
    experiment: Experiment,
    *,
    name: str = "",
    leave_out: bool = False,
    run: Callable[..., object] = running.run,
) -> tuple[Job, Path]:
    """Start the experiment, or resume it where it stopped, and return its job and its folder.

    ``leave_out``: ask nothing more of methods begun earlier that ``experiment`` does not name. ``run``: runs it; called
    as ``running.run`` is.
    """
    model, embedder = workspace.model, models.connect_embedder(workspace.settings)
    check_price(model, experiment.most_dollars)
    folder = folder_for(workspace.home, name or default_name(experiment, model.name))
    under_way = workspace.jobs.get(job_key(folder))
    if under_way is not None and under_way.running:
        return under_way, folder
    lock = _lock(folder)

    def work(job: Job) -> None:
        def publish(progress: running.ExperimentProgress) -> None:
            total = max(progress.total, progress.done)  # earlier runs may have asked for more
            job.publish(done=progress.done, total=total, value=replace(progress, total=total))

        try:
            run(experiment, model, folder=folder, embedder=embedder, cancel=job, on_change=publish)
        finally:
            lock.release()

    try:
        experiment = resumed_experiment(folder, experiment, leave_out=leave_out)
        prepare_folder(experiment, model, folder, embedder=embedder.name)  # now, so that the screen lists it
        return workspace.jobs.start(job_key(folder), work), folder
    except BaseException:
        lock.release()
        raise


def _lock(folder: Path) -> FileLock:
    """Lock the experiment, because two runs at once would ask everything twice. Raises LibraryBusyError."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(f"The folder {folder.parent} cannot be made ({error.strerror}).") from None
    lock = FileLock(folder.parent, folder.name)
    if not lock.acquire():
        raise LibraryBusyError(
            "This experiment is running already, in another window of the app or on the command line. Wait until it "
            "ends, or stop it there."
        )
    return lock


def check_price(model: ChatModel, most_dollars: float | None) -> None:
    """Raise SettingsError for a budget in money that could never be reached, because no price is known."""
    if most_dollars is None or model.price is not None:
        return
    if not model.is_language_model:
        raise SettingsError("The built-in reader costs nothing. Leave the budget in dollars out, or give it in words.")
    raise SettingsError(
        f"A budget in dollars needs a price, and none is known for {short_name(model.name)}. Enter its price in "
        "Settings, or give the budget in words."
    )


def job_key(folder: Path) -> str:
    return f"evaluate {folder.name}"


def list_experiments(home: Path) -> list[StoredExperiment]:
    """Return every experiment in the home folder, the newest first; damaged ones are left out."""
    return _experiments(home / "evaluations")


def _experiments(folder: Path) -> list[StoredExperiment]:
    found: list[tuple[float, StoredExperiment]] = []
    for path in folder.glob("*/record.json"):
        try:
            record = read_record(path.parent)
        except DatasetError:
            continue
        if record is not None:
            found.append((path.stat().st_mtime, StoredExperiment(path.parent, record)))
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]


def delete_experiment(folder: Path) -> None:
    """Put an experiment aside, until another is deleted. Raises LibraryBusyError while it runs, else DatasetError."""
    lock = _lock(folder)
    try:
        shutil.rmtree(folder.parent / _DELETED, ignore_errors=True)
        (folder.parent / _DELETED).mkdir(mode=0o700, exist_ok=True)
        folder.rename(folder.parent / _DELETED / folder.name)
    except OSError as error:
        raise DatasetError(f"The folder {folder} cannot be deleted ({error.strerror}).") from None
    finally:
        lock.release()


def deleted_experiment(home: Path) -> StoredExperiment | None:
    """Return the experiment that was deleted last; None where the same was begun again, which has its place."""
    found = _experiments(home / "evaluations" / _DELETED)
    return next((one for one in found if not (home / "evaluations" / one.name).exists()), None)


def restore_experiment(deleted: StoredExperiment) -> None:
    """Undo ``delete_experiment``. Raises DatasetError where the same experiment was begun again."""
    try:
        deleted.folder.rename(deleted.folder.parents[1] / deleted.folder.name)
    except OSError as error:
        raise DatasetError(f"The experiment cannot be restored ({error.strerror}).") from None


def load_summary(folder: Path) -> Summary:
    """Return the figures of what a folder holds now. Raises DatasetError where there is no experiment.

    Those of an experiment that was finished stay until all that was asked for since is there too.
    """
    record = read_record(folder)
    if record is None:
        raise DatasetError(f"There is no experiment in {folder}.")
    table = load_scores(folder)
    try:
        wanted = Experiment.from_dict(record["experiment"]).count_answers(table)
        more, whole = wanted - table.answers + table.failed, record.get("whole", record["experiment"])
        if more > 0 and whole != record["experiment"]:
            finished = Experiment.from_dict(whole)
            table = finished.answers_of(table)
            found = summarise({**record, "experiment": whole}, table, wanted=finished.count_answers(table))
            return replace(found, more=more)
    except ReadAgentError:
        wanted = 0  # the dataset is gone; the answers so far can still be shown
    return summarise(record, table, wanted=wanted)
