"""What a call costs: US dollars a million tokens, as each maker listed them on a day; editable in Settings.

A model on this computer costs nothing; a model that is not listed has no known price, which is said, not guessed.
"""

from __future__ import annotations

import ipaddress
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from readagent_core.models.cost.tokens import tokens_of_words

OPENAI, ANTHROPIC, GOOGLE = "2026-10-27", "2026-10-24", "2026-10-07"  # when each maker's list was read


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
# By the makers' names, for prompts of usual length: some charge more for one above 100,000 or 200,000 tokens.
LISTED: dict[str, Price] = {
    "gpt-6.1-sol": Price(2.00, 10.00, OPENAI),
    "gpt-6.1-terra": Price(1.00, 5.00, OPENAI),
    "gpt-6-astra": Price(10.00, 50.00, OPENAI),
    "gpt-6-sol": Price(2.00, 10.00, OPENAI),
    "gpt-6-luna": Price(0.10, 0.50, OPENAI),
    "gpt-5.6-sol": Price(4.00, 20.00, OPENAI),
    "gpt-5.6-terra": Price(2.00, 12.00, OPENAI),
    "gpt-5.6-luna": Price(0.20, 1.20, OPENAI),
    "gpt-5.5": Price(5.00, 30.00, OPENAI),
    "gpt-5.4": Price(2.50, 15.00, OPENAI),
    "gpt-5.4-mini": Price(0.75, 4.50, OPENAI),
    "gpt-5.4-nano": Price(0.20, 1.25, OPENAI),
    "gpt-5.2": Price(1.75, 14.00, OPENAI),
    "gpt-5.1": Price(1.25, 10.00, OPENAI),
    "gpt-5": Price(1.25, 10.00, OPENAI),
    "gpt-5-mini": Price(0.25, 2.00, OPENAI),
    "gpt-5-nano": Price(0.05, 0.40, OPENAI),
    "gpt-4.1": Price(2.00, 8.00, OPENAI),
    "gpt-4.1-mini": Price(0.40, 1.60, OPENAI),
    "gpt-4.1-nano": Price(0.10, 0.40, OPENAI),
    "gpt-4o": Price(2.50, 10.00, OPENAI),
    "gpt-4o-mini": Price(0.15, 0.60, OPENAI),
    "o3": Price(2.00, 8.00, OPENAI),
    "o3-mini": Price(1.10, 4.40, OPENAI),
    "o4-mini": Price(1.10, 4.40, OPENAI),
    "claude-fable-5-1": Price(10.00, 50.00, ANTHROPIC),
    "claude-opus-5-5": Price(4.00, 20.00, ANTHROPIC),
    "claude-opus-5": Price(5.00, 25.00, ANTHROPIC),
    "claude-opus-4-8": Price(5.00, 25.00, ANTHROPIC),
    "claude-opus-4-7": Price(5.00, 25.00, ANTHROPIC),
    "claude-opus-4-6": Price(5.00, 25.00, ANTHROPIC),
    "claude-opus-4-5": Price(5.00, 25.00, ANTHROPIC),
    "claude-opus-4-1": Price(15.00, 75.00, ANTHROPIC),
    "claude-opus-4": Price(15.00, 75.00, ANTHROPIC),
    "claude-sonnet-5-5": Price(2.00, 10.00, ANTHROPIC),
    "claude-sonnet-5": Price(2.00, 10.00, ANTHROPIC),
    "claude-sonnet-4-6": Price(3.00, 15.00, ANTHROPIC),
    "claude-sonnet-4-5": Price(3.00, 15.00, ANTHROPIC),
    "claude-sonnet-4": Price(3.00, 15.00, ANTHROPIC),
    "claude-haiku-5-5": Price(0.10, 0.50, ANTHROPIC),
    "claude-haiku-4-5": Price(1.00, 5.00, ANTHROPIC),
    "gemini-3.8-flash": Price(0.75, 3.75, GOOGLE),
    "gemini-3.5-flash": Price(1.50, 9.00, GOOGLE),
    "gemini-3.5-flash-lite": Price(0.30, 2.50, GOOGLE),
    "gemini-3.1-pro": Price(2.00, 12.00, GOOGLE),
    "gemini-2.5-pro": Price(1.25, 10.00, GOOGLE),
    "gemini-2.5-flash": Price(0.30, 2.50, GOOGLE),
    "gemini-2.5-flash-lite": Price(0.10, 0.40, GOOGLE),
}
# what a maker adds to a name for one state of the same model: its date, or which one
_STATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest|preview|preview-\d{2}-\d{2,4})\Z")


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
    """The price in force; None where none is known.

    ``own``: model → [read, written], set by hand, or [read, written, date, reused], as its server listed it. Else it
    costs what its maker lists for exactly this name, also where a program on this computer passes the calls on; a newer
    one of the family may cost several times as much, or as little. Any other model here is free.
    """
    row = (own or {}).get(model)
    if isinstance(row, list | tuple) and len(row) in (2, 3, 4):
        reused = float(row[3]) if len(row) == 4 and row[3] is not None else None
        return Price(float(row[0]), float(row[1]), str(row[2]) if len(row) > 2 else "", reused)
    name = _STATE.sub("", model.rsplit("/", 1)[-1].lower())
    listed = LISTED.get(name.replace(".", "-") if name.startswith("claude") else name)
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


def money_after(dollars: float | None) -> str:
    """', $0.42' or ', price not known', to follow figures; '' where nothing is paid."""
    return "" if dollars == 0 else f", {money(dollars)}"
