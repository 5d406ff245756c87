"""How two arms differ on the questions both have answered, in every measure there is, with a paired test.

A question's value is its mean over runs. Where every value is right or wrong the test is McNemar's, else the
paired bootstrap; so the difference is always that of the table's own figures, on these questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.scores import Difference, bootstrap, mcnemar
from readagent_core.evaluation.tally import Score, Tally

ACCURACY, LLM_RATING_1, ROUGE_L = "Accuracy", "LLM-Rating-1", "ROUGE-L"


def differences(tally: Tally, first: Arm, second: Arm) -> dict[str, Difference]:
    """Second minus first, by measure; a measure without pairs is left out."""
    arms = [dict(tally.scores.get(arm.key, {})) for arm in (first, second)]
    rated = all(any(score.rating for score in scores.values()) for scores in arms)
    found = {}
    for measure, pick in _MEASURES.items():
        if measure == LLM_RATING_1 and not rated:
            continue
        one, two = (_by_question(scores, pick) for scores in arms)
        both = sorted(one.keys() & two.keys())
        if both:
            found[measure] = _tested([one[q] for q in both], [two[q] for q in both], shares=measure != ROUGE_L)
    return found


def _tested(first: list[float], second: list[float], *, shares: bool) -> Difference:
    if shares and {*first, *second} <= {0.0, 1.0}:
        return mcnemar([value == 1 for value in first], [value == 1 for value in second])
    return bootstrap(first, second)


def _by_question(
    scores: Mapping[tuple[int, int, int], Score], pick: Callable[[Score], float | None]
) -> dict[tuple[int, int], float]:
    """Each question's mean over its runs, where it has a value."""
    values: dict[tuple[int, int], list[float]] = {}
    for (case, item, _), score in scores.items():
        if (value := pick(score)) is not None:
            values.setdefault((case, item), []).append(value)
    return {question: math.fsum(found) / len(found) for question, found in values.items()}


def _exact(score: Score) -> float | None:
    """An answer that could not be had is a wrong one; one that no rater judged has no value."""
    of_it = score.rouge is not None and (score.rating or score.failed)
    return float(score.rating == "exact") if of_it else None


_MEASURES: Mapping[str, Callable[[Score], float | None]] = {
    ACCURACY: lambda score: None if score.correct is None else float(score.correct),
    LLM_RATING_1: _exact,
    ROUGE_L: lambda score: score.rouge[2] if score.rouge else None,
}
