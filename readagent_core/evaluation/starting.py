"""Starting an experiment from the app or the command line: its folder, its job, and which ones there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from readagent_core.errors import DatasetError, LibraryBusyError, ReadAgentError, SettingsError
from readagent_core.evaluation import running
from readagent_core.evaluation.experiment import Experiment, count, default_name, folder_for, prepare, read_record
from readagent_core.evaluation.report import Summary, dataset_name, summary
from readagent_core.evaluation.tally import load
from readagent_core.jobs import Job
from readagent_core.library.holding import Hold
from readagent_core.models.base import ChatModel
from readagent_core.words import count_of
from readagent_core.workspace import Workspace


@dataclass(frozen=True)
class Kept:
    """An experiment on disk, running or not."""

    folder: Path
    record: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def title(self) -> str:
        """For people: 'dev.jsonl · gpt-4o · 4 methods · 2026-11-21 10:00'."""
        arms = count_of(len(self.record["experiment"]["arms"]), "method")
        begun = str(self.record["started"])[:16].replace("T", " ")
        return " · ".join([dataset_name(self.record["experiment"]), str(self.record["model"]["name"]), arms, begun])


def start(workspace: Workspace, experiment: Experiment, *, name: str = "") -> tuple[Job, Path]:
    """The experiment's job and folder; the same experiment started again goes on where it stopped."""
    model = workspace.model
    check_price(model, experiment)
    folder = folder_for(workspace.home, name or default_name(experiment, model.name))
    running_job = workspace.jobs.get(job_key(folder))
    taken: Hold | None = None
    if running_job is None or not running_job.running:
        taken = _hold(folder)
        try:
            prepare(experiment, model, folder)  # now, so that whoever looks next finds the experiment
        except BaseException:
            taken.release()
            raise

    def work(job: Job) -> running.Progress | None:
        def told(progress: running.Progress) -> None:
            whole = replace(progress, total=max(progress.total, progress.done))  # it may have been larger before
            job.publish(done=whole.done, total=whole.total, value=whole)

        hold = taken or _hold(folder)
        try:
            running.run(experiment, model, folder=folder, cancel=job, on_change=told)
        finally:
            hold.release()
        return None

    return workspace.jobs.start(job_key(folder), work), folder


def _hold(folder: Path) -> Hold:
    """The right to run it: two at once would ask everything twice. Raises LibraryBusyError where another has it."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(f"The folder {folder.parent} cannot be made ({error.strerror}).") from None
    hold = Hold(folder.parent, folder.name)
    if not hold.take():
        raise LibraryBusyError(
            "This experiment is running already, in another window of the app or on the command line. Wait till it "
            "ends, or stop it there."
        )
    return hold


def check_price(model: ChatModel, experiment: Experiment) -> None:
    """Raise SettingsError for a budget in money that could never be reached, because no price is known."""
    if experiment.most_dollars is None or model.price is not None:
        return
    if not model.is_language_model:
        raise SettingsError("The built-in reader costs nothing. Leave the budget in dollars out, or give it in words.")
    raise SettingsError(
        f"A budget in dollars needs a price, and none is known for {model.name}. Enter its price in Settings, or "
        f"give the budget in words."
    )


def job_key(folder: Path) -> str:
    return f"evaluate {folder.name}"


def kept(home: Path) -> list[Kept]:
    """Every experiment below the home folder, the newest first; damaged ones are left out."""
    found: list[tuple[float, Kept]] = []
    for path in (home / "evaluations").glob("*/record.json"):
        try:
            record = read_record(path.parent)
        except DatasetError:
            continue
        if record is not None:
            found.append((path.stat().st_mtime, Kept(path.parent, record)))
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]


def standing(folder: Path) -> Summary:
    """The report of what a folder holds now. Raises DatasetError where there is nothing."""
    record = read_record(folder)
    if record is None:
        raise DatasetError(f"There is no experiment in {folder}.")
    tally = load(folder)
    try:
        wanted = count(Experiment.from_dict(record["experiment"]))[1]
    except ReadAgentError:
        wanted = 0  # the dataset has gone; what was answered can still be looked at
    return summary(record, tally, wanted=wanted)
