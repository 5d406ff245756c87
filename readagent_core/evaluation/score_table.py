"""Adds up results as they come: one row for each arm, at any time, however many answers are still missing.

Holds a few numbers for each answer, never its text, so that memory stays small. The last result of a key counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.results import Cost, JsonLines, Key, Reading, Result
from readagent_core.evaluation.scores import Mean, Share, llm_ratings, mean, share
from readagent_core.methods import method
from readagent_core.overlap import ROUGE


class Score(NamedTuple):
    """The figures of one answer."""

    correct: bool | None
    hard: bool | None
    rouge: tuple[float, float, float] | None
    rating: str
    compression_rate: float
    look_ups: int
    answer_words: int
    words: int
    words_out: int
    document: str
    plan: str
    document_words: int
    failed: bool
    options: int
    strayed: bool | None = None
    recovered: bool | None = None
    read_share: float | None = None


@dataclass(frozen=True)
class Row:
    """One arm's figures. Percent where the name ends with ``_rate``; other shares are from 0 to 1.

    ``failed``: of the ``answers``, those without a reply, which count as wrong. ``*_sd``: standard deviations over
    runs. ``reading_words``: sent once to read the documents, as far as the method needs it. ``text_words``: the full
    text of every question's document, added up.
    """

    arm: str
    title: str
    method: str
    look_up_limit: int
    answers: int
    failed: int
    accuracy: Share | None
    accuracy_sd: float | None
    hard: Share | None
    hard_sd: float | None
    rouge: Mapping[str, Mean]
    rating_1: Share | None
    rating_2: Share | None
    rating_1_sd: float | None
    rating_2_sd: float | None
    compression_rate: float
    look_ups: float
    answer_words: float
    words_each: float
    words: int
    reading_words: int
    text_words: int
    strays: Share | None = None
    recoveries: Share | None = None
    read_share: float | None = None

    @property
    def of_full_text(self) -> float:
        """All words sent, reading included, as a share of sending the full text with every question."""
        return (self.words + self.reading_words) / self.text_words if self.text_words else 0.0


@dataclass
class ScoreTable:
    """The results and readings of an experiment, added in any order; ``row`` gives an arm's figures at any time."""

    scores: dict[str, dict[tuple[int, int, int], Score]] = field(default_factory=dict)
    readings: dict[tuple[str, str], Reading] = field(default_factory=dict)
    costs: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)  # document, plan → pages, gists
    answers: int = 0
    failed: int = 0
    built: dict[tuple[str, str], int] = field(default_factory=dict)  # document, arm → words

    def add(self, result: Result) -> None:
        found, key = self.scores.setdefault(result.arm, {}), (result.case, result.item, result.run)
        before = found.get(key)
        self.answers += before is None
        self.failed += bool(result.error) - (before is not None and before.failed)
        found[key] = _score(result)

    def add_cost(self, cost: Cost) -> bool:
        """Replace the last cost of the same reading or build, and return whether it has changed."""
        if cost.arm:
            changed = self.built.get((cost.document, cost.arm)) != cost.built
            self.built[cost.document, cost.arm] = cost.built
        else:
            changed = self.costs.get((cost.document, cost.plan)) != (cost.pages, cost.gists)
            self.costs[cost.document, cost.plan] = (cost.pages, cost.gists)
        return changed

    def add_reading(self, reading: Reading) -> None:
        self.readings[(reading.document, reading.plan)] = reading

    def has(self, key: Key) -> bool:
        """Return whether there is an answer; a failed one is none."""
        found = self.scores.get(key.arm, {}).get((key.case, key.item, key.run))
        return found is not None and not found.failed

    def count_questions(self) -> tuple[int, int]:
        """Return (questions, runs) that have an answer of some arm."""
        keys = {key for scores in list(self.scores.values()) for key in list(scores)}
        return len({key[:2] for key in keys}), max((run for _, _, run in keys), default=0)

    def chance(self) -> float | None:
        """Return the percentage right by guessing among the options; None without multiple-choice questions."""
        found = [100 / s.options for scores in self.scores.values() for s in list(scores.values()) if s.options]
        return _average(found) if found else None

    def row(self, arm: Arm) -> Row | None:
        """Return the arm's figures so far; None before its first answer."""
        found = dict(self.scores.get(arm.key, {}))  # a copy, because a running experiment adds answers meanwhile
        if not found:
            return None
        scores = list(found.values())
        runs = sorted({run for _, _, run in found})
        chosen = [s for s in scores if s.correct is not None]
        free = [s for s in scores if s.rouge is not None]
        hard = [s for s in chosen if s.hard]
        is_rated = any(s.rating for s in free)  # then a failed answer counts as a wrong one
        rated = [s.rating or "wrong" for s in free if is_rated and (s.rating or s.failed)]
        ratings = llm_ratings(rated) if rated else (None, None)
        answered = [s for s in scores if not s.failed]
        strays = [s.strayed for s in answered if s.strayed is not None]
        recoveries = [s.recovered for s in answered if s.strayed and s.recovered is not None]
        shares = [s.read_share for s in answered if s.read_share is not None]
        words = sum(s.words for s in scores)
        return Row(
            arm=arm.key,
            title=arm.title,
            method=arm.method,
            look_up_limit=arm.settings.look_ups,
            answers=len(scores),
            failed=len(scores) - len(answered),
            accuracy=_over_runs([bool(s.correct) for s in chosen], len(runs)),
            accuracy_sd=self._sd(found, runs, lambda s: s.correct),
            hard=_over_runs([bool(s.correct) for s in hard], len(runs)),
            hard_sd=self._sd(found, runs, lambda s: s.correct if s.hard else None),
            rouge=_rouge(found, runs),
            rating_1=ratings[0] and _over_runs([r == "exact" for r in rated], len(runs)),
            rating_2=ratings[1] and _over_runs([r != "wrong" for r in rated], len(runs)),
            rating_1_sd=self._sd(found, runs, lambda s: self._rated(s, "exact") if is_rated else None),
            rating_2_sd=self._sd(found, runs, lambda s: self._rated(s, "exact", "partial") if is_rated else None),
            compression_rate=_average([s.compression_rate for s in answered]),
            look_ups=_average([s.look_ups for s in answered]),
            answer_words=_average([s.answer_words for s in answered]),
            words_each=words / len(scores),
            words=words,
            reading_words=self._reading_words(scores, arm),
            text_words=sum(s.document_words for s in scores),
            strays=share(sum(strays), len(strays)) if strays else None,
            recoveries=share(sum(recoveries), len(recoveries)) if recoveries else None,
            read_share=_average(shares) if shares else None,
        )

    @staticmethod
    def _rated(score: Score, *ratings: str) -> bool | None:
        is_judged = score.rouge is not None and (score.rating or score.failed)
        return score.rating in ratings if is_judged else None

    @staticmethod
    def _sd(
        found: Mapping[tuple[int, int, int], Score], runs: Sequence[int], pick: Callable[[Score], bool | None]
    ) -> float | None:
        values = []
        for run in runs:
            picked = [v for (_, _, r), s in found.items() if r == run and (v := pick(s)) is not None]
            if picked:
                values.append(sum(picked) / len(picked))
        got = mean(values)
        return got.sd if got else None

    def _reading_words(self, scores: Sequence[Score], arm: Arm) -> int:
        """Return the words sent once for the documents: for pages, gists and builds, as far as the method uses them."""
        needs_gists = method(arm.method).needs_gists
        documents = {s.document for s in scores}
        built = sum(self.built.get((document, arm.key), 0) for document in documents)
        needs_pages = needs_gists or (not built and any(s.look_ups for s in scores))
        read = [self.costs.get(key, (0, 0)) for key in {(s.document, s.plan) for s in scores}]
        return built + sum(needs_pages * pages + needs_gists * gists for pages, gists in read)


def load_scores(folder: Path) -> ScoreTable:
    """Return what an experiment's folder holds, added up; also while the experiment runs."""
    table = ScoreTable()
    for line in JsonLines(folder / "results.jsonl", repair=False):
        table.add(Result.from_dict(line))
    for line in JsonLines(folder / "documents.jsonl", repair=False):
        if "page_words" in line:
            table.add_reading(Reading.from_dict(line))
        else:
            table.add_cost(Cost(**line))
    return table


def _score(result: Result) -> Score:
    free = bool(result.references) and not result.options
    rouge = tuple(result.rouge.get(name, 0.0) for name in ROUGE) if free else None
    failed = bool(result.error)
    extra = result.extra
    strayed = bool(extra["stray"]) if "stray" in extra else None
    return Score(
        bool(result.correct) if result.options else None,
        result.hard,
        (rouge[0], rouge[1], rouge[2]) if rouge is not None else None,
        result.rating,
        result.compression_rate,
        len(result.looked_up),
        result.answer_words,
        result.words,
        result.words_out,
        result.document,
        result.plan,
        result.document_words,
        failed,
        len(result.options),
        strayed,
        result.right if strayed is not None else None,
        float(extra["share_read"]) if isinstance(extra.get("share_read"), int | float) else None,
    )


def _over_runs(hits: Sequence[bool], runs: int) -> Share | None:
    """Return the share over all runs with the interval of one run's questions: more runs are not more questions."""
    if not hits:
        return None
    each = max(1, round(len(hits) / max(1, runs)))
    value = sum(hits) / len(hits)
    interval = share(round(value * each), each)
    return Share(sum(hits), len(hits), min(interval.low, value), max(interval.high, value))


def _rouge(found: Mapping[tuple[int, int, int], Score], runs: Sequence[int]) -> dict[str, Mean]:
    """Return the mean of each ROUGE ×100, with the standard deviation over runs where there are several."""
    result: dict[str, Mean] = {}
    for index, name in enumerate(ROUGE):
        by_run = []
        for run in runs:
            values = [100 * s.rouge[index] for (_, _, r), s in found.items() if r == run and s.rouge is not None]
            if values:
                by_run.append(_average(values))
        got = mean(by_run)
        if got:
            result[name] = got
    return result


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0  # fsum, so that the order does not matter
