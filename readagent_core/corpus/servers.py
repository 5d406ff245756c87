"""Several servers with the same model, called as one: each call goes to the one with the fewest calls under way.

A server that fails is left out for a while, longer each time, and its call goes to another one. Where none can be
reached, calls wait for as long as PATIENCE says after the last reply.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from readagent_core import models
from readagent_core.cancel import CancelToken
from readagent_core.errors import ModelError, RateLimitError, ServerFailedError, UnreachableError
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.models.cache.model import Cached
from readagent_core.models.connection import ServerModel
from readagent_core.models.limiter import Limiter
from readagent_core.models.server.retry import Retrying
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret, Settings

PATIENCE = 600.0  # seconds
LONGEST_OUT = 60.0  # seconds that a server is left out at most, where it does not ask for more
_NO_LIMIT = 10_000  # calls at once at one server, until it says 'too many': the sum is limited before
_FAULTS = (RateLimitError, ServerFailedError, UnreachableError)  # of the server, not of the prompt
Notify = Callable[[str], object]


@dataclass
class _Server:
    """One server. ``until``: it is left out until then (monotonic seconds). ``faults``: in a row."""

    model: ChatModel
    limiter: Limiter = field(default_factory=lambda: Limiter(_NO_LIMIT))
    under_way: int = 0
    calls: int = 0
    until: float = 0.0
    faults: int = 0

    @property
    def host(self) -> str:
        return urlsplit(self.model.where).netloc

    @property
    def load(self) -> float:
        return self.under_way / max(1.0, self.limiter.allowed)


class ServerPool(ModelWrapper):
    """``models``: of the same name, each at its own server; the first one's price is that of all.

    ``notify``: called with what a person should know: a server is left out, or answers again.
    """

    def __init__(self, models: Sequence[ChatModel], notify: Notify, *, patience: float = PATIENCE) -> None:
        super().__init__(models[0])
        self._servers = [_Server(model) for model in models]
        self._notify, self._patience = notify, patience
        self._last_reply: float | None = None
        self._lock = threading.Lock()

    @property
    def where(self) -> str:
        """The addresses: part of the cache's key."""
        return " ".join(sorted(server.model.where for server in self._servers))

    @property
    def window(self) -> int | None:
        """The smallest window of the servers that report one."""
        return min((w for server in self._servers if (w := server.model.window)), default=None)

    @property
    def window_is_firm(self) -> bool:
        return all(server.model.window_is_firm for server in self._servers)

    @property
    def notices(self) -> list[str]:
        return [notice for server in self._servers for notice in server.model.notices]

    def learn_window(self, cancel: CancelToken) -> None:
        for server in self._servers:
            server.model.learn_window(cancel)

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        """Return the reply of a server. Raises the last server's error where each has failed."""
        tried: list[_Server] = []
        while True:
            server = self._take(tried, cancel)
            try:
                with server.limiter.slot(cancel):
                    completion = server.model.complete(prompt, cancel)
            except _FAULTS as error:
                self._leave_out(server, error)
                tried.append(server)
                if isinstance(error, UnreachableError) and self._patient:
                    tried.clear()
                elif len(tried) == len(self._servers):
                    raise
            else:
                self._replied(server)
                return completion
            finally:
                with self._lock:
                    server.under_way -= 1

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        """As ``complete``, in one part: nobody watches it arrive."""
        return ChatModel.stream(self, prompt, cancel)

    @property
    def _patient(self) -> bool:
        return self._last_reply is not None and time.monotonic() - self._last_reply < self._patience

    def _take(self, tried: Sequence[_Server], cancel: CancelToken) -> _Server:
        """Return the server for the next call, which counts as under way there; wait where all are left out."""
        while True:
            with self._lock:
                now = time.monotonic()
                left = [server for server in self._servers if server not in tried]
                there = [server for server in left if server.until <= now]
                if there:
                    server = min(there, key=lambda s: (s.load, s.calls))
                    server.under_way += 1
                    server.calls += 1
                    return server
                seconds = min(server.until for server in left) - now
            cancel.wait(seconds, f"Waiting {max(1, round(seconds))} s for a server")

    def _leave_out(self, server: _Server, error: ModelError) -> None:
        asked = error.retry_after if isinstance(error, RateLimitError | ServerFailedError) else None
        with self._lock:
            now = time.monotonic()
            if server.until > now:  # calls that were under way fail together: one fault
                return
            server.faults += 1
            seconds = asked or min(LONGEST_OUT, 2.0 ** (server.faults - 1))
            server.until = now + seconds
        if isinstance(error, RateLimitError):
            server.limiter.too_many(seconds)
        self._notify(f"{server.host} is left out for {max(1, round(seconds))} s: {type(error).__name__}")

    def _replied(self, server: _Server) -> None:
        server.limiter.went_well()
        with self._lock:
            self._last_reply = time.monotonic()
            again, server.faults = server.faults, 0
        if again:
            self._notify(f"{server.host} answers again")


def connect_pool(
    settings: Settings, servers: Sequence[str], notify: Notify, *, most: int
) -> tuple[ChatModel, Limiter | None]:
    """Return the model of the settings at ``servers`` (none: the settings' own), and the limiter of its calls.

    ``most``: calls at once in this process. The key of the settings is sent to another address than its own only where
    the environment or secrets.toml gave it. Without a model the built-in reader is returned, and no limiter.
    """
    stacks: list[ServerModel] = []
    for address in servers or [settings.base_url]:
        own = not servers or address.rstrip("/") == settings.base_url.rstrip("/")
        given = own or settings.origin.get("api_key") in ("environment", "secrets")
        here = replace(settings, base_url=address, api_key=settings.api_key if given else Secret())
        stack = models.connect(here)
        if not isinstance(stack, ServerModel):
            return stack, None
        stacks.append(stack)
    limiter = Limiter(most)
    pool = ServerPool([stack.retrying.model for stack in stacks], notify)
    return Cached(Retrying(pool, limiter), stacks[0].cache), limiter
