"""What a call costs: US dollars a million tokens, as each maker listed them on a day; editable in Settings.

A model on this computer costs nothing; a model that is not listed has no known price, which is said, not guessed.
"""

from __future__ import annotations

import ipaddress
import math
import re
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from readagent_core.models.cost.tokens import tokens_of_words
from readagent_core.settings.saved import of_model


@dataclass(frozen=True)
class Price:
    """Dollars a million tokens, read and written.

    ``as_of``: the day it was listed; '' for one set by hand. ``reused``: for tokens that the server takes from its
    cache of prompt prefixes; None where that is not known, and they are counted at the full price.
    """

    read: float
    written: float
    as_of: str = ""
    reused: float | None = None

    def cost(self, tokens_in: int, tokens_out: int, tokens_reused: int = 0) -> float:
        saved = tokens_reused * (self.read - self.reused) if self.reused is not None else 0.0
        return (tokens_in * self.read + tokens_out * self.written - saved) / 1e6

    def cost_of_words(self, words_in: int, words_out: int) -> float:
        """Return about what so many words sent and received cost."""
        return self.cost(tokens_of_words(words_in), tokens_of_words(words_out))


FREE = Price(0.0, 0.0)
# what a maker adds to a name for one state of the same model: its date, or which one
_STATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest|preview|preview-\d{2}-\d{2,4})\Z")


@cache
def listed_prices() -> dict[str, Price]:
    """Return the makers' prices by the names of their models."""
    makers = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Price(row[0], row[1], rows["as_of"])
        for rows in makers.values()
        for name, row in rows.items()
        if name != "as_of"
    }


_NEAR = (".local", ".localhost", ".lan", ".internal", ".home.arpa")


def is_local(where: str) -> bool:
    """Whether the address is on this computer or in the home network."""
    name = urlsplit(where).hostname or ""
    try:
        return ipaddress.ip_address(name).is_private
    except ValueError:  # a name; one without a dot is a neighbour's: 'localhost', 'nas'
        return bool(name) and ("." not in name or name.endswith(_NEAR))


def price_of(model: str, where: str, own: Mapping[str, Any] | None = None) -> Price | None:
    """The price in force; None where none is known.

    ``own``: model → [read, written], set by hand, or [read, written, date, reused], as its server listed it. Else it
    costs what its maker lists for exactly this name, also where a program on this computer passes the calls on; a newer
    one of the family may cost several times as much, or as little. Any other model here is free.
    """
    row = of_model(own or {}, model)
    if isinstance(row, list | tuple) and len(row) in (2, 3, 4):
        reused = float(row[3]) if len(row) == 4 and row[3] is not None else None
        return Price(float(row[0]), float(row[1]), str(row[2]) if len(row) > 2 else "", reused)
    name = _STATE.sub("", model.rsplit("/", 1)[-1].lower())
    listed = listed_prices().get(name.replace(".", "-") if name.startswith("claude") else name)
    return listed or (FREE if not where or is_local(where) else None)


def listed_price(row: Any) -> Price | None:
    """A price as OpenRouter lists it (dollars a token, as text: {'prompt': '0.000002', …}), dated today; None where
    it is none, or differs from call to call ('-1').
    """

    def dollars(name: str) -> float | None:
        try:
            price = 1e6 * float(row[name])
        except (KeyError, TypeError, ValueError):
            return None
        return round(price, 6) if 0 <= price < math.inf else None

    read, written, reused = map(dollars, ("prompt", "completion", "input_cache_read"))
    if read is None or written is None:
        return None
    return Price(read, written, time.strftime("%Y-%m-%d"), reused if reused is not None and reused <= read else None)


def money(dollars: float | None) -> str:
    """'$0.42', 'under $0.01', 'nothing', or 'price not known'."""
    if dollars is None:
        return "price not known"
    if dollars == 0:
        return "nothing"
    return "under $0.01" if dollars < 0.01 else f"${dollars:,.2f}"


def about_money(dollars: float | None) -> str:
    """'about $0.42', and else as ``money`` has it: 'under $0.01', …"""
    return f"about {money(dollars)}" if dollars and dollars >= 0.01 else money(dollars)


def price_in_words(price: Price | None, words_in: int, words_out: int) -> str:
    """Return what so many words sent and received cost: 'free', 'about $0.01', 'price not known'."""
    dollars = price.cost_of_words(words_in, words_out) if price else None
    return "free" if dollars == 0 else about_money(dollars)


def money_after(dollars: float | None) -> str:
    """', $0.42' or ', price not known', to follow figures; '' where nothing is paid."""
    return "" if dollars == 0 else f", {money(dollars)}"
