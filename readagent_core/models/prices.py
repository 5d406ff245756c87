"""What a call costs: US dollars a million tokens, as the makers listed them on ``AS_OF``; editable in Settings.

A model on this computer costs nothing; a model that is not listed has no known price, which is said, not guessed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from readagent_core.models.tokens import tokens_of_words

AS_OF = "2025-10-01"


@dataclass(frozen=True)
class Price:
    """Dollars a million tokens, read and written. ``as_of``: the date it was true; '' for one set by hand."""

    read: float
    written: float
    as_of: str = AS_OF

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.read + tokens_out * self.written) / 1e6


FREE = Price(0.0, 0.0, "")
LISTED: tuple[tuple[str, Price], ...] = (  # the longer names first
    ("gpt-5-nano", Price(0.05, 0.40)),
    ("gpt-5-mini", Price(0.25, 2.00)),
    ("gpt-5", Price(1.25, 10.00)),
    ("gpt-4.1-nano", Price(0.10, 0.40)),
    ("gpt-4.1-mini", Price(0.40, 1.60)),
    ("gpt-4.1", Price(2.00, 8.00)),
    ("gpt-4o-mini", Price(0.15, 0.60)),
    ("gpt-4o", Price(2.50, 10.00)),
    ("o4-mini", Price(1.10, 4.40)),
    ("o3-mini", Price(1.10, 4.40)),
    ("o3", Price(2.00, 8.00)),
    ("claude-opus-4", Price(15.00, 75.00)),
    ("claude-sonnet-4", Price(3.00, 15.00)),
    ("claude-haiku-4", Price(1.00, 5.00)),
    ("claude-3-5-haiku", Price(0.80, 4.00)),
    ("gemini-2.5-flash-lite", Price(0.10, 0.40)),
    ("gemini-2.5-flash", Price(0.30, 2.50)),
    ("gemini-2.5-pro", Price(1.25, 10.00)),
    ("gemini-2.0-flash", Price(0.10, 0.40)),
)


def is_local(where: str) -> bool:
    """Whether the address is on this computer or in the home network."""
    name = urlsplit(where).hostname or ""
    if name in ("localhost", "host.docker.internal") or name.endswith((".local", ".localhost")):
        return True
    try:
        return ipaddress.ip_address(name).is_private
    except ValueError:
        return False


def price_of(model: str, where: str, own: Mapping[str, Any] | None = None) -> Price | None:
    """The price in force: one set by hand (``own``: model → [read, written]), free here, else as listed."""
    set_by_hand = (own or {}).get(model)
    if isinstance(set_by_hand, list | tuple) and len(set_by_hand) == 2:
        return Price(float(set_by_hand[0]), float(set_by_hand[1]), "")
    if not where or is_local(where):
        return FREE
    name = model.rsplit("/", 1)[-1].lower()
    return next((price for start, price in LISTED if name.startswith(start)), None)


@dataclass(frozen=True)
class Quote:
    """What work would come to. ``dollars`` and ``minutes``: None where price or speed is not known."""

    calls: int
    words_in: int
    words_out: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    minutes: float | None


def quote(
    calls: int,
    words_in: int,
    words_out: int,
    *,
    price: Price | None,
    seconds_a_call: float | None = None,
    at_once: int = 8,
) -> Quote:
    """An estimate before the work: tokens at 1.5 a word, minutes with about half of the calls side by side.

    Pause points are asked for one after another; gists run beside them.
    """
    tokens_in, tokens_out = tokens_of_words(words_in), tokens_of_words(words_out)
    dollars = price.cost(tokens_in, tokens_out) if price else None
    minutes = None
    if seconds_a_call is not None:
        minutes = max(calls / 2, calls / max(1, at_once)) * seconds_a_call / 60
    return Quote(calls, words_in, words_out, tokens_in, tokens_out, dollars, minutes)


def money(dollars: float | None) -> str:
    """'$0.42', 'under $0.01', 'nothing', or 'price not known'."""
    if dollars is None:
        return "price not known"
    if dollars == 0:
        return "nothing"
    return "under $0.01" if dollars < 0.01 else f"${dollars:,.2f}"
