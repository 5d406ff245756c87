"""What was sent to a model and what came back: the meter's figures, added up anywhere.

Cached replies count nothing as consumed; their words are kept apart as saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Usage:
    """``calls``: answered by the model itself; ``cached_calls``: answered from the cache, besides.

    ``words_in``: words sent, instructions included. ``words_out``: words received. ``tokens_*``: as the server
    reported; ``tokens_estimated``: how many of the calls had none reported and were estimated from words.
    ``seconds``: time spent waiting for the model, summed over calls. ``saved_words_in``: words that cached
    replies did not have to send again; ``saved_cost``: what asking for them again would have cost. ``cost``: US
    dollars by the configured prices; None (both): no price is known.
    """

    calls: int = 0
    cached_calls: int = 0
    words_in: int = 0
    words_out: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_estimated: int = 0
    seconds: float = 0.0
    saved_words_in: int = 0
    retries: int = 0
    cost: float | None = None
    saved_cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(_sum, vars(self).values(), vars(other).values()))  # every call of a model adds some

    def __sub__(self, earlier: Usage) -> Usage:
        """What was used since an earlier reading of the same meter."""
        return Usage(*map(_rest, vars(self).values(), vars(earlier).values()))

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))  # plain numbers; asdict would be slow for what every call adds

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Usage:
        return cls(**{name: value for name, value in data.items() if name in _KNOWN})


_KNOWN = frozenset(f.name for f in fields(Usage))


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other


def _rest(later: Any, earlier: Any) -> Any:
    return None if later is None else later - (earlier or 0)
