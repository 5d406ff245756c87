"""Adds up results as they come: one row for each arm, at any time, however many answers are still missing.

Holds a few numbers for each answer, never its text, so that memory stays small. The last result of a key counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from readagent_core.answering.registry import method
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.results import GistingFigures, JsonLines, Key, PaidCost, Result
from readagent_core.evaluation.scores import Mean, Share, average, mean, share
from readagent_core.overlap import ROUGE


class Score(NamedTuple):
    """The figures of one answer. ``strayed``, ``recovered``, ``read_share``: of MemWalker's walk.

    ``cost``: US dollars, cached replies at what they saved; None where no price is known.
    """

    correct: bool | None
    hard: bool | None
    rouge: tuple[float, float, float] | None
    rating: str
    compression_rate: float
    look_ups: int
    answer_words: int
    words: int
    words_new: int | None
    document: str
    plan: str
    document_words: int
    failed: bool
    options: int
    element: bool | None = None  # this and the next three: of a step on a web page, and the task it belongs to
    operation_f1: float | None = None
    step: bool | None = None
    task: str = ""
    strayed: bool | None = None
    recovered: bool | None = None
    read_share: float | None = None
    cost: float | None = None

    def rated(self, *ratings: str) -> bool | None:
        """Return whether its rating is one of these: a failed answer's is not, and an unrated one has no value."""
        return self.rating in ratings if self.rouge is not None and (self.rating or self.failed) else None


@dataclass(frozen=True)
class Row:
    """One arm's figures. Percent where the name ends with ``_rate``; other shares are from 0 to 1.

    ``word_budget``: the most words a question, None without a limit.
    ``failed``: of the ``answers``, those without a reply, which count as wrong.
    ``reading_words``: sent once to read the documents, as far as the method needs it. ``text_words``: the full
    text of every question's document, added up. ``cost_each``: US dollars for a question, cached replies at what they
    saved; None where no price is known.
    """

    arm: str
    title: str
    method: str
    look_up_limit: int
    answers: int
    failed: int
    accuracy: Share | None
    hard: Share | None
    rouge: Mapping[str, Mean]
    rating_1: Share | None
    rating_2: Share | None
    compression_rate: float
    look_ups: float
    answer_words: float
    words_each: float
    words_new_each: float | None
    words: int
    reading_words: int
    text_words: int
    word_budget: int | None = None
    strays: Share | None = None
    recoveries: Share | None = None
    element_accuracy: Share | None = None
    operation_f1: Mean | None = None
    step_success: Share | None = None
    task_success: Share | None = None
    read_share: float | None = None
    cost_each: float | None = None

    @property
    def of_full_text(self) -> float:
        """All words sent, reading included, as a share of sending the full text with every question."""
        return (self.words + self.reading_words) / self.text_words if self.text_words else 0.0


@dataclass
class ScoreTable:
    """The results and readings of an experiment, added in any order; ``row`` gives an arm's figures at any time."""

    scores: dict[str, dict[tuple[int, int, int], Score]] = field(default_factory=dict)
    gistings: dict[tuple[str, str], GistingFigures] = field(default_factory=dict)
    costs: dict[tuple[str, str, str], PaidCost] = field(default_factory=dict)  # by document, and plan or arm
    answers: int = 0
    failed: int = 0

    def add(self, result: Result) -> None:
        found, key = self.scores.setdefault(result.arm, {}), (result.case, result.item, result.run)
        before = found.get(key)
        self.answers += before is None
        self.failed += bool(result.error) - (before is not None and before.failed)
        found[key] = _score(result)

    def add_cost(self, cost: PaidCost) -> bool:
        """Replace the last cost of the same gisting or build, and return whether it has changed."""
        key = (cost.document, cost.plan, cost.arm)
        changed = self.costs.get(key) != cost
        self.costs[key] = cost
        return changed

    def add_gisting(self, gisting: GistingFigures) -> None:
        self.gistings[(gisting.document, gisting.plan)] = gisting

    def has(self, key: Key, *, plan: str) -> bool:
        """Return whether there is an answer. A failed one is none, nor is one from the pages of another ``plan``.

        Pages are cut by rule as long as no method of an experiment uses gists, and differ once one does.
        """
        found = self.scores.get(key.arm, {}).get((key.case, key.item, key.run))
        return found is not None and not found.failed and (found.plan == plan or not found.look_ups)

    def count_questions(self) -> tuple[int, int]:
        """Return (questions, runs) that have an answer of some arm."""
        keys = {key for scores in list(self.scores.values()) for key in list(scores)}
        return len({key[:2] for key in keys}), max((run for _, _, run in keys), default=0)

    def chance(self) -> float | None:
        """Return the percentage right by guessing among the options; None without multiple-choice questions."""
        found = [100 / s.options for scores in self.scores.values() for s in list(scores.values()) if s.options]
        return average(found) if found else None

    def row(self, arm: Arm) -> Row | None:
        """Return the arm's figures so far; None before its first answer."""
        found = dict(self.scores.get(arm.key, {}))  # a copy, because a running experiment adds answers meanwhile
        if not found:
            return None
        scores = list(found.values())
        is_rated = any(s.rating for s in scores)  # then a failed answer counts as a wrong one
        answered = [s for s in scores if not s.failed]
        strays = [s.strayed for s in answered if s.strayed is not None]
        recoveries = [s.recovered for s in answered if s.strayed and s.recovered is not None]
        shares = [s.read_share for s in answered if s.read_share is not None]
        words = sum(s.words for s in scores)
        new = [s.words_new for s in scores if s.words_new is not None]
        costs = [s.cost for s in scores if s.cost is not None]
        return Row(
            arm=arm.key,
            title=arm.title,
            method=arm.method,
            look_up_limit=arm.settings.look_ups,
            answers=len(scores),
            failed=len(scores) - len(answered),
            accuracy=_over_runs(found, lambda s: s.correct),
            hard=_over_runs(found, lambda s: s.correct if s.hard else None),
            element_accuracy=_over_runs(found, lambda s: s.element),
            operation_f1=_mean_of_runs(found, lambda s: s.operation_f1),
            step_success=_over_runs(found, lambda s: s.step),
            task_success=_task_success(found),
            rouge={name: figure for at, name in enumerate(ROUGE) if (figure := _mean_rouge(found, at))},
            rating_1=_over_runs(found, lambda s: s.rated("exact")) if is_rated else None,
            rating_2=_over_runs(found, lambda s: s.rated("exact", "partial")) if is_rated else None,
            compression_rate=average([s.compression_rate for s in answered]),
            look_ups=average([s.look_ups for s in answered]),
            answer_words=average([s.answer_words for s in answered]),
            words_each=words / len(scores),
            words_new_each=average(new) if new else None,
            words=words,
            reading_words=self._reading_words(scores, arm),
            text_words=sum(s.document_words for s in scores),
            word_budget=arm.words,
            strays=share(sum(strays), len(strays)) if strays else None,
            recoveries=share(sum(recoveries), len(recoveries)) if recoveries else None,
            read_share=average(shares) if shares else None,
            cost_each=average(costs) if len(costs) == len(scores) else None,
        )

    def _reading_words(self, scores: Sequence[Score], arm: Arm) -> int:
        """Return the words sent once for the documents: for pages, gists and builds, as far as the method uses them."""
        needs_gists = method(arm.method).needs_gists
        builds = [self.costs.get(key) for key in {(s.document, "", arm.key) for s in scores}]
        built = sum(cost.built for cost in builds if cost)
        needs_pages = needs_gists or (not built and any(s.look_ups for s in scores))
        read = [self.costs.get(key) for key in {(s.document, s.plan, "") for s in scores}]
        return built + sum(needs_pages * cost.pages + needs_gists * cost.gists for cost in read if cost)


def load_scores(folder: Path) -> ScoreTable:
    """Return what an experiment's folder holds, added up; also while the experiment runs."""
    table = ScoreTable()
    for line in JsonLines(folder / "results.jsonl", repair=False):
        table.add(Result.from_dict(line))
    for line in JsonLines(folder / "documents.jsonl", repair=False):
        if "page_words" in line:
            table.add_gisting(GistingFigures.from_dict(line))
        else:
            table.add_cost(PaidCost(**line))
    return table


def _score(result: Result) -> Score:
    extra = result.extra
    has_strayed = bool(extra["stray"]) if "stray" in extra else None
    rouge1, rouge2, rouge_l = (result.rouge.get(name, 0.0) for name in ROUGE)
    return Score(
        **{name: getattr(result, name) for name in _SAME},
        correct=bool(result.correct) if result.options else None,
        rouge=(rouge1, rouge2, rouge_l) if result.references and not result.options else None,
        look_ups=len(result.looked_up),
        failed=bool(result.error),
        options=len(result.options),
        strayed=has_strayed,
        recovered=None if has_strayed is None else result.right,
        cost=None if result.usage.cost is None else result.usage.cost + (result.usage.saved_cost or 0.0),
        read_share=float(extra["share_read"]) if isinstance(extra.get("share_read"), int | float) else None,
        element=bool(extra["element"]) if "element" in extra else None,
        operation_f1=float(extra["operation_f1"]) if "operation_f1" in extra else None,
        step=bool(extra["step"]) if "step" in extra else None,
        task=result.id.rpartition(":")[0] if "step" in extra else "",
    )


_SAME = (
    "hard",
    "rating",
    "compression_rate",
    "answer_words",
    "words",
    "words_new",
    "document",
    "plan",
    "document_words",
)


def _over_runs(found: Mapping[tuple[int, int, int], Score], pick: Callable[[Score], bool | None]) -> Share | None:
    """Return the share over all runs with the interval of one run's questions: more runs are not more questions."""
    hits = [hit for score in found.values() if (hit := pick(score)) is not None]
    spread = _mean_of_runs(found, pick)
    if spread is None:
        return None
    each = max(1, round(len(hits) / len({run for _, _, run in found})))
    value = sum(hits) / len(hits)
    interval = share(round(value * each), each)
    return Share(sum(hits), len(hits), min(interval.low, value), max(interval.high, value), spread.sd)


def _task_success(found: Mapping[tuple[int, int, int], Score]) -> Share | None:
    """Return the share of the tasks on websites of which every step that was asked is right, over all runs."""
    steps: dict[tuple[str, int], list[bool]] = {}
    for (_, _, run), score in found.items():
        if score.step is not None:
            steps.setdefault((score.task, run), []).append(score.step)
    return share(sum(map(all, steps.values())), len(steps)) if steps else None


def _mean_of_runs(found: Mapping[tuple[int, int, int], Score], pick: Callable[[Score], float | None]) -> Mean | None:
    """Return the mean over runs of each run's mean, where answers have a value."""
    by_run: dict[int, list[float]] = {}
    for (_, _, run), score in found.items():
        if (value := pick(score)) is not None:
            by_run.setdefault(run, []).append(value)
    return mean([average(values) for values in by_run.values()])


def _mean_rouge(found: Mapping[tuple[int, int, int], Score], at: int) -> Mean | None:
    """Return the mean of one ROUGE, times 100. ``at``: its index in ROUGE."""
    return _mean_of_runs(found, lambda score: 100 * score.rouge[at] if score.rouge else None)
