"""An experiment (dataset, arms, runs, reading plan), and the record from which it can be run again.

``record.json`` in the experiment's folder names versions, settings, prompts by hash, the model as the server
reported it, and the date; never a key. Knows nothing of how an experiment is run.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from readagent_core import prompts
from readagent_core.answering.registry import method
from readagent_core.errors import DatasetError, DiskFullError, MissingError, SettingsError
from readagent_core.evaluation.arms import Arm, recorded_arms
from readagent_core.evaluation.datasets import Case, Dataset, Item, open_dataset
from readagent_core.evaluation.results import Key
from readagent_core.evaluation.score_table import ScoreTable
from readagent_core.model_names import short_name
from readagent_core.models.base import ChatModel
from readagent_core.models.embeddings.embed import BuiltInEmbedder
from readagent_core.plan import GistingPlan
from readagent_core.regular_files import write_whole
from readagent_core.text_files import safe_file_name
from readagent_core.web_pages.acting import METHODS

RECORD = "record.json"
_VERSION = 1
_PACKAGES = (
    "openai",
    "rouge-score",
    "bm25s",
    "scikit-learn",
    "pysbd",
    "pypdf",
    "pypdfium2",
    "EbookLib",
    "lxml",
)


@dataclass(frozen=True)
class Experiment:
    """Which methods answer which questions, and how.

    ``preset`` '': the one the papers use for the dataset's kind of text. ``plan``: changes on top of it. ``runs``:
    how often every question is asked, for the standard deviation. ``rate``: ask the LLM raters about free-form
    answers. ``connections``: model calls at once. ``most_words``, ``most_dollars``: the budget; the experiment stops
    when so much was sent or spent, however often it was resumed; None for no limit. ``left_out``: keys of arms begun
    earlier that are not asked any more; their answers remain.
    """

    dataset: Dataset
    arms: tuple[Arm, ...]
    runs: int = 1
    preset: str = ""
    plan: Mapping[str, Any] = field(default_factory=dict)
    rate: bool = True
    connections: int = 8
    most_words: int | None = None
    most_dollars: float | None = None
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.arms:
            raise MissingError("Choose at least one method to evaluate.")
        if len({arm.key for arm in self.arms}) != len(self.arms):
            raise SettingsError("A method with the same settings is named twice. Name each once.")
        for arm in self.arms:
            self.plan_for(arm, "article")
            if self.dataset.kind == "mind2web" and arm.method not in METHODS:
                raise SettingsError(f"{arm.title} cannot act on web pages. Choose from: {', '.join(METHODS)}.")
        if self.runs < 1 or self.connections < 1:
            raise SettingsError("An experiment needs at least one run and one connection.")

    @cached_property
    def arms_to_run(self) -> tuple[Arm, ...]:
        """The arms that are not left out."""
        return tuple(arm for arm in self.arms if arm.key not in self.left_out)

    @cached_property
    def needs_gisting(self) -> bool:
        """Whether the model reads the documents: a method uses gists, or a way to choose the pages was asked for.

        Else pages are cut by rule.
        """
        asked = any("pagination" in plan for plan in (self.plan, *(arm.plan for arm in self.arms)))
        return asked or any(method(arm.method).needs_gists for arm in self.arms)

    def plan_for(self, arm: Arm, preset: str) -> GistingPlan:
        """Return the plan by which a document of this preset is read for this arm. Raises SettingsError."""
        changes = {**self.plan, **arm.plan}
        try:
            plan = GistingPlan.from_preset(self.preset or preset, **changes)
        except TypeError:
            raise SettingsError(f"Unknown setting of pages and gists among {', '.join(changes)}.") from None
        return plan if self.needs_gisting else replace(plan, pagination="uniform")

    def missing(self, case: Case, done: ScoreTable) -> list[tuple[Key, Item, Arm]]:
        """Return the answers about ``case`` that ``done`` lacks: their keys, questions and arms."""
        plans = {arm.key: self.plan_for(arm, case.preset).key for arm in self.arms_to_run}
        every = (
            (Key(case.number, item.number, arm.key, run), item, arm)
            for item in case.items
            for arm in self.arms_to_run
            for run in range(1, self.runs + 1)
        )
        return [(key, item, arm) for key, item, arm in every if not done.has(key, plan=plans[arm.key])]

    def count_answers(self, done: ScoreTable) -> int:
        """Return how many answers there are at the end: those asked for, and of arms left out those in ``done``."""
        questions = sum(len(case.items) for case in self.dataset.cases())
        before = sum(len(done.scores.get(arm, ())) for arm in self.left_out)
        return questions * len(self.arms_to_run) * self.runs + before

    def answers_of(self, done: ScoreTable) -> ScoreTable:
        """Return ``done`` without the answers that this experiment does not ask for."""
        asked = {(case.number, item.number) for case in self.dataset.cases() for item in case.items}
        scores = {
            arm.key: {
                key: score
                for key, score in done.scores.get(arm.key, {}).items()
                if key[:2] in asked and key[2] <= self.runs
            }
            for arm in self.arms
        }
        found = [score for by_key in scores.values() for score in by_key.values()]
        return ScoreTable(scores, done.gistings, done.costs, len(found), sum(score.failed for score in found))

    def to_dict(self) -> dict[str, Any]:
        dataset = {**asdict(self.dataset), "path": str(self.dataset.path.resolve())}
        arms = [arm.to_dict() for arm in self.arms]
        changed = {"dataset": dataset, "arms": arms, "plan": dict(self.plan), "left_out": list(self.left_out)}
        return {field.name: changed.get(field.name, getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, path: Path | None = None) -> Experiment:
        """Return the experiment of a record. ``path``: where its dataset is now; None for the recorded place.

        Raises SettingsError or DatasetError when it can no longer be run.
        """
        try:
            data = dict(values["dataset"])
            recorded = Path(data.pop("path"))
            dataset = open_dataset(path or recorded, **data)
            arms = tuple(Arm.from_dict(a) for a in values["arms"])
            left_out = tuple(values.get("left_out", ()))
            return cls(**{**values, "dataset": dataset, "arms": arms, "left_out": left_out})
        except (KeyError, TypeError):
            raise SettingsError("This record does not describe an experiment. Begin a new one.") from None


def hash_dataset(path: Path) -> str:
    """Return a hash of a dataset's file, or of the names and sizes in its folder, to tell whether it has changed."""
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file())
        names = "".join(f"{file.relative_to(path)} {file.stat().st_size}\n" for file in files)
        return hashlib.sha256(names.encode()).hexdigest()[:32]
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def new_record(experiment: Experiment, model: ChatModel) -> dict[str, Any]:
    """Return everything that is needed to run the experiment again and to trust its figures."""
    first = next(experiment.dataset.cases(), None)
    return {
        "version": _VERSION,
        "started": _now(),
        "finished": None,
        "model": {
            "name": model.name,
            "where": model.where,
            "is_language_model": model.is_language_model,
            "sampling": dict(model.sampling),
            "reported": [],
        },
        "preset": first.preset if first else "",
        "title": first.title if first else "",
        "dataset_hash": hash_dataset(experiment.dataset.path),
        "prompts": _prompt_hashes(),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _prompt_hashes() -> dict[str, str]:
    names = sorted(p.stem for p in (Path(prompts.__file__).parent / "en").glob("*.txt"))
    return {f"{lang}/{name}": prompts.template_hash(name, lang) for lang in prompts.LANGUAGES for name in names}


def _versions() -> dict[str, str]:
    found = {"readagent_core": _hash_source()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _hash_source() -> str:
    """Return a hash of our own source: methods and parsers decide a figure as much as the prompts do."""
    digest = hashlib.sha256()
    root = Path(prompts.__file__).parents[1]
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root).as_posix()}\n".encode() + file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


def read_record(folder: Path) -> dict[str, Any] | None:
    """Return the record in an experiment's folder; None where there is none. Raises DatasetError for a damaged one."""
    path = folder / RECORD if folder.is_dir() else folder
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict) or record.get("version") != _VERSION:
        raise DatasetError(f"{path} is damaged or from another version. Begin a new experiment.")
    return record


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the record, completely or not at all. Raises DiskFullError."""
    try:
        write_whole(folder / RECORD, json.dumps(record, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise DiskFullError(
            f"{folder / RECORD} cannot be written ({error.strerror}). Make room and start again."
        ) from None


def end_record(folder: Path, record: Mapping[str, Any], *, reported: set[str], finished: bool) -> None:
    """Write the record at the end of a run. ``reported``: the model's names in replies. Raises DiskFullError."""
    model = {**record["model"], "reported": sorted({*record["model"]["reported"], *reported})}
    ended = {"finished": _now(), "whole": record["experiment"]} if finished else {}
    write_record(folder, {**record, **ended, "model": model})


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def find_changes(record: Mapping[str, Any], experiment: Experiment, model: ChatModel, *, embedder: str) -> list[str]:
    """Return what differs from the record and would give other figures, in words for a person.

    More arms, more runs and a higher limit are no changes: they add rows and answers. ``embedder``: its name.
    """
    before = record["experiment"]
    now = experiment.to_dict()
    changed = [name for name in ("preset", "plan", "rate") if before[name] != now[name]]
    if before["dataset"]["kind"] != now["dataset"]["kind"] or before["dataset"]["split"] != now["dataset"]["split"]:
        changed.append("dataset")
    if before["dataset"].get("seed") != now["dataset"]["seed"]:
        changed.append("how questions are drawn")
    if record["dataset_hash"] != hash_dataset(experiment.dataset.path):
        changed.append("the dataset's file")
    if record["model"]["name"] != model.name:
        changed.append(f"the model ({short_name(record['model']['name'])} before, {short_name(model.name)} now)")
    sampled = record["model"].get("sampling") or model.sampling  # older records have none
    for name in sorted({*sampled, *model.sampling}):
        before_value, value = sampled.get(name, False), model.sampling.get(name, False)
        if before_value != value:
            changed.append(f"the {name} ({_describe_sampling(before_value)} before, {_describe_sampling(value)} now)")
    first = record.get("embedder", BuiltInEmbedder.name)  # older records do not name it: it was always this one
    if first != embedder and any(method(arm["method"]).compares_embeddings for arm in before["arms"]):
        changed.append(f"the embedding model ({first} before, {embedder} now)")
    hashes = _prompt_hashes()
    if any(hashes.get(name) != known for name, known in record["prompts"].items()):
        changed.append("the prompts")
    return changed


def _describe_sampling(value: object) -> str:
    return "the server's own" if value is None else str(value)


def prepare_folder(
    experiment: Experiment, model: ChatModel, folder: Path, *, embedder: str
) -> tuple[Experiment, dict[str, Any]]:
    """Make the folder, write the record, and return both the record and the experiment with the arms begun there.

    Raises DatasetError where resuming what the folder holds would not give one table, SettingsError where the folder
    cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(f"The folder {folder} cannot be made ({error.strerror}).") from None
    record = read_record(folder)
    if record is None:
        record = new_record(experiment, model)
    elif changed := find_changes(record, experiment, model, embedder=embedder):
        raise DatasetError(
            f"This experiment was begun with other settings; changed: {', '.join(changed)}. Its answers are saved. "
            f"Give the new experiment another name."
        )
    experiment = resumed_experiment(folder, experiment)
    record = {**record, "experiment": experiment.to_dict(), "embedder": embedder}
    write_record(folder, record)
    return experiment, record


def folder_for(home: Path, name: str) -> Path:
    """Return the folder of the experiment of this name; it is made when the experiment is begun."""
    return home / "evaluations" / (safe_file_name(name)[:80] or "experiment")


def default_name(experiment: Experiment, model: str) -> str:
    """Return a name that is the same for the same experiment, so that starting it again resumes it."""
    fixed = experiment.to_dict()
    identity = {name: fixed[name] for name in ("preset", "plan", "rate")}
    identity |= {"dataset": fixed["dataset"]["path"], "kind": fixed["dataset"]["kind"], "model": model}
    if experiment.dataset.seed is not None:
        identity |= {name: fixed["dataset"][name] for name in ("split", "seed")}
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:6]
    return f"{experiment.dataset.name}-{short_name(model)}-{digest}"


def resumed_experiment(folder: Path, experiment: Experiment, *, leave_out: bool = False) -> Experiment:
    """Return what a start in ``folder`` would run: ``experiment`` and the arms begun there, so that rows remain.

    ``leave_out``: ask nothing more of the arms begun there that ``experiment`` does not name.
    """
    record = read_record(folder)
    before = recorded_arms(record) if record else []
    named = {arm.key for arm in experiment.arms}
    others = [arm for arm in before if arm.key not in named]
    left_out = experiment.left_out if not leave_out else tuple(arm.key for arm in others)
    return replace(experiment, arms=(*others, *experiment.arms), left_out=left_out)
