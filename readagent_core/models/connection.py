"""From settings to a model: one stack a process and server, so that its lines, lessons and cache are shared.

Cached → Purse → Patient → OpenAIServer. What the settings page keeps for a model is read here and nowhere else.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from readagent_core.models.base import ChatModel
from readagent_core.models.builtin import BuiltInReader
from readagent_core.models.cache import Cached
from readagent_core.models.meter import Purse
from readagent_core.models.openai_server import OPENAI, SILENCE_SECONDS, OpenAIServer
from readagent_core.models.patience import MOST_AT_ONCE, Limiter, Patient
from readagent_core.models.prices import Price, price_of
from readagent_core.models.quirks import Quirks
from readagent_core.models.reply_cache import DAYS, MEGABYTES, ReplyCache
from readagent_core.models.spending import Ledger
from readagent_core.settings import Settings

_LOCK = threading.RLock()
_CACHES: dict[tuple[Path, int, float], ReplyCache] = {}
_LIMITERS: dict[str, Limiter] = {}
_QUIRKS: dict[tuple[str, str], Quirks] = {}
_STACKS: dict[tuple[object, ...], ServerModel] = {}
_RETIRED: list[ServerModel] = []


class ServerModel(Cached):
    """A model on a server with all that belongs to it. ``price`` and ``budget``: what a ``Metered`` takes up."""

    def __init__(
        self,
        server: OpenAIServer,
        *,
        cache: ReplyCache,
        limiter: Limiter,
        ledger: Ledger,
        price: Price | None,
        budget: float | None,
        month: float | None,
        pace: float = 1.0,
    ) -> None:
        self.server = server
        self.limiter = limiter
        self.price = price
        self.budget = budget
        self.pace = pace
        model: ChatModel = Purse(Patient(server, limiter, pace=pace), ledger, price, month)
        super().__init__(model, cache, server.sampling)

    def helped(self, connections: int) -> AbstractContextManager[None]:
        """While it lasts, a second process sends the calls: for many at once. See ``beside``."""
        return self.server.beside.helped(connections, self.limiter)

    @property
    def ahead(self) -> int:
        return self.server.ahead

    @property
    def window_is_firm(self) -> bool:
        return self.server.window_is_firm

    @property
    def cutting(self) -> str:
        """That the server was caught cutting prompts, and the remedy; '' where it was not."""
        return self.server.quirks.cutting

    @property
    def notices(self) -> list[str]:
        """What a person should know of this connection: things refused, windows learnt, fewer calls at once, a
        damaged cache.
        """
        slowed = [f"{self.limiter.told}."] if self.limiter.told else []
        cutting = [self.cutting] if self.cutting else []
        return [*cutting, *self.server.quirks.notices, *slowed, *self.cache.notices]


def connect(settings: Settings, *, pace: float = 1.0) -> ChatModel:
    """The model in force: the settings' server, or the built-in reader where none is connected.

    Nothing is sent yet, so it never fails for a server that is away. ``pace``: see ``Patient``.
    """
    if not settings.connected:
        return BuiltInReader()
    kept = settings.kept
    where = (settings.base_url or OPENAI).rstrip("/")
    options = (
        window_set(kept, settings.model),
        kept.get("temperature", 0.0),
        _number(kept, "timeout") or SILENCE_SECONDS,
        int(_number(kept, "at_once") or MOST_AT_ONCE),
        _number(kept, "budget_book"),
        _number(kept, "budget_month"),
        pace,
    )
    price = price_of(settings.model, where, kept.get("prices"))
    key = (settings.home, where, settings.model, settings.api_key, options, price, _cache_options(settings))
    with _LOCK:
        if key not in _STACKS:
            window, temperature, silence, at_once, book, month, _ = options
            server = OpenAIServer(
                where,
                settings.model,
                api_key=settings.api_key,
                window=int(window) if window else None,
                temperature=None if temperature is None else float(temperature),
                silence=silence,
                quirks=_QUIRKS.setdefault((where, settings.model), Quirks()),
            )
            limiter = _LIMITERS.setdefault(where, Limiter(at_once))
            limiter.most = at_once
            limiter.allowed = min(limiter.allowed, at_once)
            _STACKS[key] = ServerModel(
                server,
                cache=open_cache(settings),
                limiter=limiter,
                ledger=Ledger(settings.home),
                price=price,
                budget=book,
                month=month,
                pace=pace,
            )
        return _STACKS[key]


def open_cache(settings: Settings) -> ReplyCache:
    """The one cache of this home folder in this process."""
    megabytes, days = _cache_options(settings)
    with _LOCK:
        key = (settings.home, megabytes, days)
        if key not in _CACHES:
            _CACHES[key] = ReplyCache(settings.home, megabytes=megabytes, days=days)
        return _CACHES[key]


def relearn(where: str, model: str) -> None:
    """Forget what was learnt of a model at its server: a person may have changed the server meanwhile."""
    where = (where or OPENAI).rstrip("/")
    with _LOCK:
        _QUIRKS.pop((where, model), None)
        for key in [key for key, stack in _STACKS.items() if (stack.where, stack.name) == (where, model)]:
            _RETIRED.append(_STACKS.pop(key))  # work under way keeps its own


def window_set(kept: Mapping[str, Any], model: str) -> float | None:
    """The window a person set for ``model``, else the one set for every model; None asks the server."""
    windows = kept.get("windows")
    of_model = _number(windows, model) if isinstance(windows, dict) else None
    return of_model or _number(kept, "window")


def _cache_options(settings: Settings) -> tuple[int, float]:
    return int(_number(settings.kept, "cache_megabytes") or MEGABYTES), _number(settings.kept, "cache_days") or DAYS


def _number(kept: Mapping[str, Any], name: str) -> float | None:
    """A number a person set; None where it is missing, zero or no number."""
    value = kept.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def close_all() -> None:
    """Close every connection and cache of this process (at its end, and between tests)."""
    with _LOCK:
        for stack in [*_STACKS.values(), *_RETIRED]:
            stack.server.close()
        for cache in _CACHES.values():
            cache.close()
        for registry in (_STACKS, _RETIRED, _CACHES, _LIMITERS, _QUIRKS):
            registry.clear()


atexit.register(close_all)
