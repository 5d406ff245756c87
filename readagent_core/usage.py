"""Usage figures of model calls: words, tokens, seconds and cost.

A reply from the cache does not count as used; its words and cost are counted as saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Usage:
    """The usage of any number of calls.

    ``calls``: answered by the model. ``cached_calls``: answered from the cache, not counted in ``calls``.
    ``words_in``: words sent, instructions included. ``words_new``: those of them after the longest beginning that a
    prompt before had, which no cache of prompts saves; None: not counted. ``words_out``: words received. ``tokens_*``:
    as reported by the server. ``tokens_reused``: of ``tokens_in``, taken by the server from its cache of prompt
    prefixes.
    ``tokens_estimated``: calls whose tokens were not reported but estimated from words. ``seconds``: time spent
    waiting for the model, summed over calls. ``saved_words_in``, ``saved_cost``: words and cost that cached replies
    saved. ``cost``, ``saved_cost``: US dollars; None where no price is known.
    """

    calls: int = 0
    cached_calls: int = 0
    words_in: int = 0
    words_out: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_estimated: int = 0
    tokens_reused: int = 0
    seconds: float = 0.0
    saved_words_in: int = 0
    retries: int = 0
    cost: float | None = None
    saved_cost: float | None = None
    words_new: int | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(_sum, vars(self).values(), vars(other).values()))

    def __sub__(self, earlier: Usage) -> Usage:
        """Return the usage since ``earlier``, an earlier value of the same counter."""
        return Usage(*map(_difference, vars(self).values(), vars(earlier).values()))

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Usage:
        return cls(**{name: value for name, value in data.items() if name in _KNOWN})


_KNOWN = frozenset(f.name for f in fields(Usage))


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other


def _difference(later: Any, earlier: Any) -> Any:
    return None if later is None else later - (earlier or 0)
