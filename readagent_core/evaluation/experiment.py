"""What is run: a dataset, arms, runs and the reading plan; and the record from which it can be run again.

``record.json`` in the experiment's folder names versions, settings, prompts by hash, the model as the server
gave it and the date. Never a key. Knows nothing of how it is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from readagent_core import prompts
from readagent_core.errors import DatasetError, DiskFullError, SettingsError
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.datasets import Dataset, open_dataset
from readagent_core.models.base import ChatModel
from readagent_core.plan import ReadingPlan

RECORD = "record.json"
_VERSION = 1
_PACKAGES = ("openai", "rouge-score", "bm25s", "scikit-learn", "pysbd", "pypdf", "EbookLib", "beautifulsoup4", "lxml")


@dataclass(frozen=True)
class Experiment:
    """``preset`` '': the one the papers use for the dataset's kind of text. ``plan``: changes on top of it.

    ``runs``: how often every question is asked, for the spread. ``rate``: ask the LLM raters about free-form
    answers. ``connections``: model calls at once. ``most_words``, ``most_dollars``: the budget, stop when so
    much was sent or spent, however often the experiment was gone on with; None for no limit.
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

    def __post_init__(self) -> None:
        if not self.arms:
            raise SettingsError("Choose at least one method to evaluate.")
        if len({arm.key for arm in self.arms}) != len(self.arms):
            raise SettingsError("A method with the same settings is named twice. Name each once.")
        for arm in self.arms:
            self.plan_for(arm, "article")
        if self.runs < 1 or self.connections < 1:
            raise SettingsError("An experiment needs at least one run and one connection.")

    def plan_for(self, arm: Arm, preset: str) -> ReadingPlan:
        """How a document of this preset is read for this arm. Raises SettingsError for unknown settings."""
        try:
            return ReadingPlan.from_preset(self.preset or preset, **{**self.plan, **arm.plan})
        except TypeError:
            raise SettingsError(f"Unknown reading setting among {', '.join({**self.plan, **arm.plan})}.") from None

    def to_dict(self) -> dict[str, Any]:
        data = self.dataset
        return {
            "dataset": {
                "path": str(data.path.resolve()),
                "kind": data.kind,
                "split": data.split,
                "limit": data.limit,
                "documents": data.documents,
            },
            "arms": [arm.to_dict() for arm in self.arms],
            "runs": self.runs,
            "preset": self.preset,
            "plan": dict(self.plan),
            "rate": self.rate,
            "connections": self.connections,
            "most_words": self.most_words,
            "most_dollars": self.most_dollars,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, path: Path | None = None) -> Experiment:
        """The experiment of a record. ``path``: where its dataset lies now, None where it lay.

        Raises SettingsError or DatasetError when it can no longer be run.
        """
        try:
            data = values["dataset"]
            dataset = open_dataset(
                path or Path(data["path"]),
                kind=data["kind"],
                split=data["split"],
                limit=data["limit"],
                documents=data["documents"],
            )
            rest = {name: values[name] for name in ("runs", "preset", "plan", "rate", "connections", "most_words")}
            arms = tuple(Arm.from_dict(a) for a in values["arms"])
            return cls(dataset, arms, most_dollars=values.get("most_dollars"), **rest)
        except (KeyError, TypeError):
            raise SettingsError("This record cannot be read as an experiment. Begin a new one.") from None


def count(experiment: Experiment) -> tuple[int, int]:
    """(documents, answers) the whole experiment asks for; parses no text."""
    documents = questions = 0
    for case in experiment.dataset.cases():
        documents += 1
        questions += len(case.items)
    return documents, questions * len(experiment.arms) * experiment.runs


def fingerprint(path: Path) -> str:
    """Hash of a dataset's file, or of the names and sizes in its folder: whether it is still the same."""
    digest = hashlib.sha256()
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(f"{file.relative_to(path)} {file.stat().st_size}\n".encode())
    else:
        with path.open("rb") as file_:
            while block := file_.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:32]


def new_record(experiment: Experiment, model: ChatModel) -> dict[str, Any]:
    """Everything that has to be known to run it again and to trust its figures."""
    first = next(experiment.dataset.cases(), None)
    return {
        "version": _VERSION,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "finished": None,
        "model": {
            "name": model.name,
            "where": model.where,
            "is_language_model": model.is_language_model,
            "sampling": dict(model.sampling),
            "reported": [],
        },
        "preset": first.preset if first else "",
        "dataset_hash": fingerprint(experiment.dataset.path),
        "experiment": experiment.to_dict(),
        "prompts": _prompt_hashes(),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _prompt_hashes() -> dict[str, str]:
    names = sorted(p.stem for p in (Path(prompts.__file__).parent / "en").glob("*.txt"))
    return {f"{lang}/{name}": prompts.template_hash(name, lang) for lang in prompts.LANGUAGES for name in names}


def _versions() -> dict[str, str]:
    found = {"readagent_core": _source()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _source() -> str:
    """Hash of our own source: the methods and parsers decide a figure as much as the prompts do."""
    digest = hashlib.sha256()
    root = Path(prompts.__file__).parents[1]
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root).as_posix()}\n".encode() + file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


def read_record(folder: Path) -> dict[str, Any] | None:
    """The record in an experiment's folder; None where there is none. Raises DatasetError for a damaged one."""
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
    """Whole or not at all."""
    draft = folder / f"{RECORD}.new"
    try:
        draft.write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")
        os.replace(draft, folder / RECORD)
    except OSError as error:
        raise DiskFullError(f"{folder / RECORD} cannot be written ({error.strerror}). Make room and go on.") from None


def check_same(record: Mapping[str, Any], experiment: Experiment, model: ChatModel) -> None:
    """Raise DatasetError unless going on with ``record`` would give one table: same data, plan, prompts, model.

    More arms, more runs or a higher limit are welcome: they add rows and answers.
    """
    changed = changes(record, experiment, model)
    if changed:
        raise DatasetError(
            f"This experiment was begun otherwise: changed are {', '.join(changed)}. What it has is kept; "
            f"give the new one another name."
        )


def changes(record: Mapping[str, Any], experiment: Experiment, model: ChatModel) -> list[str]:
    """What is no longer as the record has it, and would give other figures; the model comes with both its names."""
    before = record["experiment"]
    now = experiment.to_dict()
    changed = [name for name in ("preset", "plan", "rate") if before[name] != now[name]]
    if before["dataset"]["kind"] != now["dataset"]["kind"] or before["dataset"]["split"] != now["dataset"]["split"]:
        changed.append("dataset")
    if record["dataset_hash"] != fingerprint(experiment.dataset.path):
        changed.append("the dataset's file")
    if record["model"]["name"] != model.name:
        changed.append(f"the model ({record['model']['name']} before, {model.name} now)")
    for name, value in model.sampling.items():
        if (had := record["model"].get("sampling", {}).get(name, value)) != value:
            changed.append(f"the {name} ({_said(had)} before, {_said(value)} now)")
    hashes = _prompt_hashes()
    if any(hashes.get(name) != known for name, known in record["prompts"].items()):
        changed.append("the prompts")
    return changed


def _said(value: object) -> str:
    return "the server's own" if value is None else str(value)


def prepare(experiment: Experiment, model: ChatModel, folder: Path) -> tuple[Experiment, dict[str, Any]]:
    """The experiment with the arms its folder already has, and its record, which is written.

    Raises DatasetError where the folder holds another experiment.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(f"The folder {folder} cannot be made ({error.strerror}).") from None
    record = read_record(folder)
    if record is None:
        record = new_record(experiment, model)
    else:
        check_same(record, experiment, model)
        experiment = joined(record, experiment)
        record = {**record, "experiment": experiment.to_dict()}
    write_record(folder, record)
    return experiment, record


def folder_for(home: Path, name: str) -> Path:
    """The folder of the experiment of this name, below the home folder; it is made when the experiment is begun."""
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")[:80] or "experiment"
    return home / "evaluations" / safe


def default_name(experiment: Experiment, model: str) -> str:
    """A name that is the same for the same experiment, so that starting it again goes on with it."""
    fixed = experiment.to_dict()
    kept = {name: fixed[name] for name in ("preset", "plan", "rate")}
    kept |= {"dataset": fixed["dataset"]["path"], "kind": fixed["dataset"]["kind"], "model": model}
    digest = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:6]
    return f"{experiment.dataset.name}-{model}-{digest}"


def gone_on_with(folder: Path, experiment: Experiment) -> Experiment:
    """What a start in ``folder`` would run: ``experiment``, and the arms it was begun with there."""
    record = read_record(folder)
    return experiment if record is None else joined(record, experiment)


def joined(record: Mapping[str, Any], experiment: Experiment) -> Experiment:
    """``experiment`` with the arms the record already has, so that its table keeps their rows."""
    before = [Arm.from_dict(a) for a in record["experiment"]["arms"]]
    known = {arm.key for arm in experiment.arms}
    return replace(experiment, arms=(*[a for a in before if a.key not in known], *experiment.arms))
