"""Makes the model that the settings name: a stack of wrappers around a server, shared by the whole process.

Cached → Retrying → MonthlyBudget → OpenAIServer: the month's budget counts every try. What the settings page saved for
a model is read here and nowhere else.
"""

from __future__ import annotations

import atexit
import threading
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from readagent_core.errors import (
    KeyRefusedError,
    LocalModelError,
    ModelError,
    ModelTimeoutError,
    NoCreditError,
    ServerFailedError,
    SettingsError,
    UnknownModelError,
    UnreachableError,
)
from readagent_core.models.cache.model import Cached
from readagent_core.models.cache.store import DAYS, MEGABYTES, ReplyCache
from readagent_core.models.cost.meter import MonthlyBudget
from readagent_core.models.cost.prices import Price, price_of
from readagent_core.models.cost.spending import SpendingLog
from readagent_core.models.limiter import MOST_AT_ONCE, Limiter
from readagent_core.models.local.engine import Engine, engine_of, stop_all
from readagent_core.models.local.files import STATES, file_of
from readagent_core.models.local.gguf import read_head
from readagent_core.models.local.server import WHERE, LocalServer
from readagent_core.models.local.states import MEGABYTES as STATE_MEGABYTES
from readagent_core.models.server.network import is_here
from readagent_core.models.server.openai_server import OPENAI, SILENCE_SECONDS, OpenAIServer
from readagent_core.models.server.quirks import ORIGINS, Origin, Quirks, load_quirks, store_window
from readagent_core.models.server.retry import Retrying
from readagent_core.settings import Secret, Settings, TeamSettings
from readagent_core.settings.saved import plain_name

ON_SERVER = "Connect a model of your own in Settings, or ask who runs this server to raise it."  # at its budget's end
EMBEDDED = 2_048  # tokens of a text, at most
NOT_ANSWERING = (  # errors of the connection, whatever was asked
    UnreachableError, KeyRefusedError, UnknownModelError, NoCreditError, ServerFailedError, ModelTimeoutError,
    LocalModelError,
)  # fmt: skip
_LOCK = threading.RLock()
_CACHES: dict[tuple[Path, int, float], ReplyCache] = {}
_SPENDING_LOGS: dict[Path, SpendingLog] = {}
_LIMITERS: dict[tuple[str, str], Limiter] = {}
_QUIRKS: dict[tuple[str, str], Quirks] = {}
_TROUBLES: dict[tuple[str, str, Secret], ModelError] = {}
# A stack lives as long as something uses it, the newest one of each home folder longer; then its connections close.
_STACKS: WeakValueDictionary[tuple[object, ...], ServerModel] = WeakValueDictionary()
_NEWEST: dict[Path, ServerModel] = {}


class ServerModel(Cached):
    """A model on a server with all that belongs to it."""

    budget: float | None = None

    def __init__(
        self, server: OpenAIServer, retrying: Retrying, cache: ReplyCache, *, budget: float | None = None
    ) -> None:
        super().__init__(retrying, cache)
        self.server = server
        self.retrying = retrying
        self.budget = budget

    @property
    def trouble(self) -> ModelError | None:
        return _TROUBLES.get((self.server.where, self.name, self.server.key))

    @property
    def notices(self) -> list[str]:
        """Things refused, windows learnt, fewer calls at once, a damaged cache."""
        slowed = self.retrying.limiter.notice
        return [*self.server.notices, *([f"{slowed}."] if slowed else []), *self.cache.notices]


def connect(settings: Settings, *, time_scale: float = 1.0) -> ServerModel:
    """The model on the server that the settings name (``settings.connected`` must be true).

    Nothing is sent yet, so it never fails for a server that is away. ``time_scale``: see ``Retrying``. Where a person
    uses the connection of a server for several people, that server's limits and prices hold, and both budgets.
    Raises SettingsError where that server has a budget and its model no price.
    """
    saved = settings.server.saved if settings.server else settings.saved
    where = (settings.base_url or OPENAI).rstrip("/")
    window, temperature = saved.window_of(settings.model), saved.temperature
    silence, at_once = saved.timeout or SILENCE_SECONDS, saved.at_once or MOST_AT_ONCE
    budget, month = settings.saved.budget_book or None, settings.saved.budget_month or None
    price = price_of(settings.model, where, saved.prices)
    if settings.server and settings.team:
        price = price_on_server(settings.server, settings.team)
        if settings.team.budget is not None:
            month = min(month or settings.team.budget, settings.team.budget)
    suiting = settings.saved.options_of(settings.model)
    options = (
        window, temperature, silence, at_once, budget, month, price, time_scale, suiting, _cache_options(settings)
    )  # fmt: skip
    key = (settings.home, where, settings.model, settings.api_key, options)
    with _LOCK:
        stack = _STACKS.get(key)
        if stack is None:
            server = make_server(
                settings, settings.model, where=where, window=window, temperature=temperature, silence=silence,
                asks_json=suiting.json_replies, quirks=_quirks(settings, where),
            )  # fmt: skip
            server.options = suiting
            # a person's own key has limits of its own at a server, and slows nobody else
            here = is_here(where)
            limiter = _LIMITERS.setdefault(_whose(settings), Limiter(finds_slots=here))
            if where == WHERE:
                limiter.allow(1)
            elif saved.at_once or not here:
                limiter.allow(at_once)
            else:
                server.sizes.on_slots = limiter.found_slots
            advice = {"advice": ON_SERVER} if settings.server else {}
            paid = MonthlyBudget(server, open_spending_log(settings.spending_folder), price, month, **advice)
            retrying = Retrying(
                paid,
                limiter,
                time_scale=time_scale,
                on_end=lambda error: note_end(where, server.name, server.key, error),
            )
            stack = _STACKS[key] = ServerModel(server, retrying, open_cache(settings), budget=budget)
        _NEWEST[settings.home] = stack
        return stack


def make_server(settings: Settings, model: str, *, where: str, window: int | None, **options: Any) -> OpenAIServer:
    """The model ``model`` at ``where``: at a server, or in the engine of our own."""
    if where != WHERE:
        return OpenAIServer(where, model, api_key=settings.api_key, window=window, **options)
    try:
        file = file_of(settings, model)
        engine = engine_of(model, file, states=settings.home / STATES, window=window)
        return LocalServer(model, engine, megabytes=settings.saved.state_megabytes or STATE_MEGABYTES, **options)
    except LocalModelError as error:  # it was removed: whoever asks it is told
        return LocalServer(model, error, **options)


def note_end(where: str, model: str, key: Secret, error: ModelError | None) -> None:
    """Keep why a call could not be answered, for whoever has this model with this key; None: it was answered."""
    whose = (where.rstrip("/"), model, key)
    if error is None:
        _TROUBLES.pop(whose, None)
    elif isinstance(error, NOT_ANSWERING):
        _TROUBLES[whose] = error


def embedding_engine(settings: Settings, name: str) -> Engine:
    """The engine that makes vectors by a GGUF file. Raises LocalModelError."""
    file = file_of(settings, name)
    window = min(read_head(file).window, EMBEDDED)
    return engine_of(file.stem, file, states=settings.home / STATES, window=window, embeds=True)


def price_on_server(server: Settings, team: TeamSettings) -> Price | None:
    """The price of the model that a server for several people lends. Raises SettingsError: see ``connect``."""
    where = (server.base_url or OPENAI).rstrip("/")
    price = Price(*team.price) if team.price else price_of(server.model, where, server.saved.prices)
    if price is None and team.budget is not None:
        raise SettingsError(
            f"No price is known for {server.model}, so READAGENT_TEAM_BUDGET cannot be held. Set READAGENT_TEAM_PRICE "
            "to its dollars a million tokens, read and written: '2.5 10'."
        )
    return price


def open_spending_log(folder: Path) -> SpendingLog:
    """The one record in this process of what is spent from this folder (``Settings.spending_folder``)."""
    with _LOCK:
        return _SPENDING_LOGS.setdefault(folder, SpendingLog(folder))


def open_cache(settings: Settings) -> ReplyCache:
    """The one cache of this home folder in this process."""
    megabytes, days = _cache_options(settings)
    with _LOCK:
        key = (settings.home, megabytes, days)
        if key not in _CACHES:
            _CACHES[key] = ReplyCache(settings.home, megabytes=megabytes, days=days)
        return _CACHES[key]


def _whose(settings: Settings) -> tuple[str, str]:
    """Return the address of the server in use, and whose key of it is used: '' for everybody's."""
    return (settings.base_url or OPENAI).rstrip("/"), "" if settings.server else settings.person


def learnt_limits(settings: Settings) -> list[tuple[str, str, str]]:
    """The limits that were learnt of the model in use: what is limited, to how much, how it was learnt."""
    with _LOCK:
        limits = [
            (name, f"{tokens:,} tokens", how) for name, tokens, how in _quirks(settings, _whose(settings)[0]).limits
        ]
        limiter = _LIMITERS.get(_whose(settings))
    if limiter and (calls := limiter.lowered):
        limits.append(("Calls at once", f"{calls}, slowly more again", ORIGINS[Origin.SAID]))
    return limits


def _quirks(settings: Settings, where: str) -> Quirks:
    """What is known of the model in use; of a server that is lent, everybody learns together."""
    key = (where, plain_name(settings.model))
    if key not in _QUIRKS:
        _QUIRKS[key] = load_quirks((settings.server or settings).home, where, settings.model)
    return _QUIRKS[key]


def relearn(where: str, model: str, home: Path) -> None:
    """Forget what was learnt of a model at its server: a person may have changed the server meanwhile."""
    where = (where or OPENAI).rstrip("/")
    with _LOCK:
        _QUIRKS.pop((where, plain_name(model)), None)
        store_window(home, where, model, None)
        for limiter in [limiter for (server, _), limiter in _LIMITERS.items() if server == where]:
            limiter.forget()
        for key in [key for key, stack in _STACKS.items() if (stack.where, stack.name) == (where, model)]:
            del _STACKS[key]  # work under way keeps its own


def _cache_options(settings: Settings) -> tuple[int, float]:
    megabytes = settings.saved.cache_megabytes or MEGABYTES
    if settings.team:
        megabytes = min(megabytes, settings.team.megabytes)
    return megabytes, settings.saved.cache_days or DAYS


def close_all() -> None:
    """Close every connection and cache of this process (at its end, and between tests)."""
    with _LOCK:
        for stack in list(_STACKS.values()):
            stack.server.close()
        for cache in _CACHES.values():
            cache.close()
        for log in _SPENDING_LOGS.values():
            log.close()
        stop_all()
        for registry in (_STACKS, _NEWEST, _CACHES, _SPENDING_LOGS, _LIMITERS, _QUIRKS, _TROUBLES):
            registry.clear()


atexit.register(close_all)
