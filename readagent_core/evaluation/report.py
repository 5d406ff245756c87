"""An experiment's figures put together once, for every format and for the screen, and what is said of them.

Its tables are made by ``report_tables``; ``report_files`` and ``report_html`` only write them down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.pairs import differences
from readagent_core.evaluation.published import Beside, Setting, published
from readagent_core.evaluation.results import Reading
from readagent_core.evaluation.scores import Difference
from readagent_core.evaluation.tally import Row, Tally
from readagent_core.words import count_of

NO_MODEL = (
    "No language model was connected: the built-in reader answered by word statistics. "
    "These figures say how it does, and nothing of what the methods do with a language model."
)


@dataclass(frozen=True)
class Summary:
    """Everything a report says. ``chance``: percent right by guessing, None for free-form questions.

    ``published``: what the papers printed for the same arm, the one to stand first beside ours first.
    ``baseline``: title of the arm the ``differences`` are taken against (arm key → measure → difference).
    ``questions``: that have an answer.
    """

    record: Mapping[str, Any]
    rows: tuple[Row, ...]
    published: Mapping[str, tuple[Beside, ...]]
    baseline: str
    differences: Mapping[str, Mapping[str, Difference]]
    chance: float | None
    readings: tuple[Reading, ...]
    wanted: int
    questions: int
    runs: int

    @property
    def choices(self) -> bool:
        return any(row.accuracy is not None for row in self.rows)

    @property
    def free(self) -> bool:
        return any(row.rouge for row in self.rows)

    @property
    def answers(self) -> int:
        return sum(row.answers for row in self.rows)

    def beside(self, arm: str) -> Beside | None:
        """The published figure for the arm in the measure of our own table."""
        wanted = "accuracy" if self.choices else "ratings"
        return next((found for found in self.published.get(arm, ()) if found.table.measure == wanted), None)

    @property
    def failed(self) -> int:
        return sum(row.failed for row in self.rows)


def summary(record: Mapping[str, Any], tally: Tally, *, wanted: int = 0) -> Summary:
    """The figures so far. ``wanted``: answers the whole experiment asks for, 0 where it is not known."""
    experiment = record["experiment"]
    arms = [Arm.from_dict(a) for a in experiment["arms"]]
    rows = [row for arm in arms if (row := tally.row(arm)) is not None]
    setting = _setting(record, experiment)
    shown = [arm for arm in arms if any(row.arm == arm.key for row in rows)]
    base = next((arm for arm in shown if arm.method == "full-text"), shown[0] if shown else None)
    gaps = {
        arm.key: gap for arm in shown if base is not None and arm != base and (gap := differences(tally, base, arm))
    }
    questions, runs = tally.asked()
    return Summary(
        record=record,
        rows=tuple(rows),
        published={arm.key: found for arm in shown if (found := published(arm, setting))},
        baseline=base.title if base else "",
        differences=gaps,
        chance=tally.chance(),
        readings=tuple(tally.readings.values()),
        wanted=wanted,
        questions=questions,
        runs=max(runs, experiment["runs"]),
    )


def _setting(record: Mapping[str, Any], experiment: Mapping[str, Any]) -> Setting:
    data = experiment["dataset"]
    preset = str(experiment["preset"] or record.get("preset") or "article")
    name = Path(dataset_name(experiment)).stem
    return Setting(data["kind"], preset, data.get("split", ""), name, experiment.get("plan", {}))


# --- what is said, in words and cells -------------------------------------------------------------------


def headline(found: Summary) -> list[str]:
    """What was run, in a few plain sentences."""
    record, experiment = found.record, found.record["experiment"]
    model = record["model"]
    where = f" at {model['where']}" if model["where"] else ""
    named = [name for name in model["reported"] if name != model["name"]]
    reported = f" (the server called it {', '.join(named)})" if named else ""
    documents = len({reading.document for reading in found.readings})
    lines = [
        f"{count_of(documents, 'document')} and {count_of(found.questions, 'question')} of "
        f"{dataset_name(experiment)}, "
        f"read and answered by {model['name']}{where}{reported}; {count_of(found.runs, 'run')}, "
        f"begun {record['started'][:16].replace('T', ' ')}."
    ]
    if not model["is_language_model"]:
        lines.append(NO_MODEL)
    if found.wanted and found.answers < found.wanted:
        lines.append(f"Not finished: {found.answers:,} of {found.wanted:,} answers are in.")
    if found.failed:
        lines.append(f"{count_of(found.failed, 'answer')} could not be had: counted as wrong.")
    unrated = sum(row.answers - row.rating_1.total for row in found.rows if row.rating_1 is not None)
    if unrated:
        lines.append(f"{count_of(unrated, 'answer')} without a rating, left out of both LLM-Ratings.")
    return lines


def dataset_name(experiment: Mapping[str, Any]) -> str:
    data = experiment["dataset"]
    path = str(data["path"]).replace("\\", "/").rstrip("/")
    return path.rsplit("/", 1)[-1]


def reading_facts(found: Summary) -> list[str]:
    """How the documents were read: words, pages, gists."""
    if not found.readings:
        return []
    words = list({r.document: r.words for r in found.readings}.values())  # one may be read by several plans
    gists = [sum(r.gist_words) for r in found.readings]
    pages = [n for r in found.readings for n in r.page_words]
    kept = sum(gists) / sum(pages) if pages else 0
    fallbacks = sum(r.fallbacks for r in found.readings)
    return [
        f"Documents: {len(words):,}, {_mean(words):,.0f} words on average, at most {max(words):,}.",
        f"Gist memories: {_mean(gists):,.0f} words on average, at most {max(gists):,}; compression rate "
        f"{100 * (1 - kept):.2f} %.",
        f"Pages: {len(pages):,}, {_mean(pages):,.0f} words on average ({min(pages, default=0):,} to "
        f"{max(pages, default=0):,}); {fallbacks:,} pauses or gists taken by rule.",
    ]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
