"""The measures, as plain functions of numbers: shares, means, paired tests.

See docs/methods.md, 'Measures'. Every figure comes with its uncertainty: Wilson intervals for shares,
standard deviations over runs, exact McNemar and paired randomization for differences. Knows nothing of models.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution
SAMPLES = 10_000
FEWEST_PAIRS = 6  # of fewer, no randomization has a p below 0.05, and the interval would be far too narrow


@dataclass(frozen=True)
class Share:
    """``hits`` of ``total``, with the 95 % Wilson interval ``low``–``high``; all shares from 0 to 1.

    ``sd``: standard deviation over runs, None for a single run.
    """

    hits: int
    total: int
    low: float
    high: float
    sd: float | None = None

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else 0.0


def share(hits: int, total: int) -> Share:
    """Return a share with its Wilson score interval (Wilson 1927), valid near 0 and 1 and for few questions."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total}")
    if total == 0:
        return Share(0, 0, 0.0, 1.0)
    p = hits / total
    z = Z95
    scale = 1 + z * z / total
    middle = (p + z * z / (2 * total)) / scale
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / scale
    # at the ends the interval touches 0 or 1 exactly; rounding must not push it past
    return Share(hits, total, 0.0 if hits == 0 else max(0.0, middle - half),
                 1.0 if hits == total else min(1.0, middle + half))  # fmt: skip


@dataclass(frozen=True)
class Mean:
    """A mean of ``n`` values. ``sd``: sample standard deviation (n − 1), None for a single value."""

    value: float
    sd: float | None
    n: int


def average(values: Sequence[float]) -> float:
    """Return the mean, which does not depend on their order; 0 for no values."""
    return statistics.fmean(values) if values else 0.0


def mean(values: Sequence[float]) -> Mean | None:
    """Return the mean and the standard deviation; None for no values."""
    if not values:
        return None
    return Mean(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None, len(values))


# --- differences between two methods on the same questions ----------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A paired test over ``n`` questions. ``value``: second minus first, with 95 % interval ``low``–``high``.

    ``p``: two-sided. ``test``: 'McNemar, exact' or 'paired randomization'. ``only_first``, ``only_second``: questions
    right in one only.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    test: str
    only_first: int = 0
    only_second: int = 0


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> Difference:
    """Return the exact McNemar test of paired right/wrong answers, with Newcombe's paired Wilson interval (method 10).

    p = P(at least as uneven a split of the discordant pairs under a fair coin), two-sided.
    """
    n = _paired(first, second)
    b = sum(x and not y for x, y in zip(first, second, strict=True))
    c = sum(y and not x for x, y in zip(first, second, strict=True))
    p = min(1.0, 2 * sum(math.comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)) if b + c else 1.0
    low, high = _newcombe(first, second, b, c)
    return Difference((c - b) / n, low, high, p, n, "McNemar, exact", b, c)


def _newcombe(first: Sequence[bool], second: Sequence[bool], b: int, c: int) -> tuple[float, float]:
    n = len(first)
    one, two = share(sum(second), n), share(sum(first), n)
    a = sum(x and y for x, y in zip(first, second, strict=True))
    d = n - a - b - c
    spread = (a + b) * (c + d) * (a + c) * (b + d)
    phi = 0.0
    if spread:
        cross = a * d - b * c
        phi = (max(cross - n / 2, 0.0) if cross > 0 else float(cross)) / math.sqrt(spread)
    delta = one.value - two.value
    up_one, down_one = one.high - one.value, one.value - one.low
    up_two, down_two = two.high - two.value, two.value - two.low
    low = delta - math.sqrt(max(0.0, down_one**2 - 2 * phi * down_one * up_two + up_two**2))
    high = delta + math.sqrt(max(0.0, up_one**2 - 2 * phi * up_one * down_two + down_two**2))
    return max(-1.0, low), min(1.0, high)


def randomization(first: Sequence[float], second: Sequence[float]) -> Difference | None:
    """Return the paired randomization test of the mean difference, with its bootstrap percentile interval.

    p is the share of random signs of the questions' differences that give a mean at least as far from 0. None for
    fewer than ``FEWEST_PAIRS`` questions.
    """
    import numpy as np

    n = _paired(first, second)
    if n < FEWEST_PAIRS:
        return None
    differences = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    value = float(differences.mean())
    random = np.random.default_rng(0)  # the same figures each time
    rows = max(1, min(SAMPLES, 4_000_000 // n))  # in blocks, so that memory stays flat for large n
    means: list[Any] = []
    extreme = 0
    for start in range(0, SAMPLES, rows):
        block = min(rows, SAMPLES - start)
        means.append(differences[random.integers(0, n, (block, n))].mean(axis=1))
        flipped = (random.choice((-1.0, 1.0), (block, n)) * differences).mean(axis=1)
        extreme += int(np.count_nonzero(np.abs(flipped) >= abs(value) - 1e-12))
    low, high = (float(x) for x in np.quantile(np.concatenate(means), (0.025, 0.975)))
    return Difference(value, low, high, (extreme + 1) / (SAMPLES + 1), n, "paired randomization")


def _paired(first: Sequence[Any], second: Sequence[Any]) -> int:
    if len(first) != len(second) or not first:
        raise ValueError(f"paired answers are needed, not {len(first)} and {len(second)}")
    return len(first)
