"""The engine of our own as a server like any other: it is started before a call, and again where it died."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import LocalModelError
from readagent_core.models.base import Completion
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.models.local.engine import WINDOW, Engine, is_installed
from readagent_core.models.local.states import MEGABYTES, States, blocks
from readagent_core.models.server.client import Client
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.windows import NO_ANSWER, Window, client_of, fetch, root
from readagent_core.prompts import Prompt

_STATE_SECONDS = 60.0
_SILENCE_SECONDS = 3_600.0  # a slow computer may read a long prompt so long; whether the process lives is known
_BELIEVED = 0.5  # a state of which the server reused less than this share was not used
WHERE = "http://readagent.localhost/v1"  # in place of its address: the port is another one at each start


class LocalServer(OpenAIServer):
    """``engine``: what answers, or why nothing does; all else as in ``OpenAIServer``."""

    asks_again = False

    def __init__(
        self, model: str, engine: Engine | LocalModelError, *, megabytes: int = MEGABYTES, **options: Any
    ) -> None:
        options["silence"] = max(options.get("silence", 0.0), _SILENCE_SECONDS)
        super().__init__(WHERE, model, window=engine.window if isinstance(engine, Engine) else WINDOW, **options)
        self.engine = engine
        self.sizes.found = Window(self.sizes.window, slots=1, grammar=True)
        self.address = ""
        self.states: States | None = None
        self.forgets = ""  # why nothing of what it has read is kept, for people
        if isinstance(engine, Engine) and is_installed():
            self.states = States(engine.states, engine.identity, megabytes=megabytes)
            if not engine.head.dense:
                self._forget()

    @property
    def notices(self) -> list[str]:
        if not isinstance(self.engine, Engine):
            return [str(self.engine)]
        again = ["The model stopped and was started again. Nothing was lost."] if self.engine.restarts else []
        return [*again, *([self.forgets] if self.forgets else []), *super().notices]

    async def _reply(self, prompt: Prompt, cancel: CancelToken) -> AsyncIterator[str | Completion]:
        engine = self.engine
        if not isinstance(engine, Engine):
            raise engine
        with engine.in_use():
            address = await asyncio.to_thread(engine.start, cancel)
            if address != self.address:
                self.address, self.client = address, Client(address, engine.key, silence=self._silence)
                if self.states:
                    self.states.loaded = []
            state, expected = await self._load_state(prompt, cancel)
            async for part in super()._reply(prompt, cancel):
                if isinstance(part, Completion):
                    await self._keep_state(prompt, part, cancel, state, expected)
                yield part

    async def _load_state(self, prompt: Prompt, cancel: CancelToken) -> tuple[str, int]:
        """Load the state with the longest beginning of ``prompt``; return its name and its tokens, about."""
        if self.states is None or cancel.background:
            return "", 0
        name, characters = self.states.best(prompt.text)
        if not name or not self.states.is_worth_loading(prompt.text, characters):
            return "", 0
        if not await self._ask_for("restore", name):
            self.states.remove(name)
            return "", 0
        self.states.used(name)
        return name, estimate_tokens(prompt.text[:characters])

    async def _keep_state(
        self, prompt: Prompt, reply: Completion, cancel: CancelToken, state: str, expected: int
    ) -> None:
        """Check that ``state`` was used, and save this prompt's where no state has it."""
        if self.states is None:
            return
        self.states.loaded = blocks(prompt.text)
        if state and reply.tokens_in and reply.tokens_reused < expected * _BELIEVED:
            self.states.remove(state)
            self._forget()
            return
        if not cancel.background and self.states.is_worth_saving(prompt.text):
            name = self.states.new_name(prompt.text)
            if await self._ask_for("save", name):
                self.states.saved(name, prompt.text)

    async def _ask_for(self, action: str, name: str) -> bool:
        """Have the engine save or restore its state; False where it cannot."""
        try:
            assert isinstance(self.engine, Engine)
            async with client_of(self.address, self.engine.key, seconds=_STATE_SECONDS) as client:
                address = f"{root(self.address)}/slots/0?action={action}"
                response, _ = await fetch(client, "POST", address, json={"filename": f"{name}.bin"})
                return response.status_code == 200
        except NO_ANSWER:
            return False

    def _forget(self) -> None:
        """Keep no states any more: this kind of model cannot use one again."""
        self.states = None
        self.forgets = (
            "What this kind of model has read cannot be kept on the disk: it reads a book's gists anew when you open "
            "it in Ask."
        )
