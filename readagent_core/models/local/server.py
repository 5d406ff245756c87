"""The engine of our own as a server like any other: it is started before a call, and again where it died."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import LocalModelError
from readagent_core.models.base import Completion
from readagent_core.models.local.engine import WINDOW, Engine
from readagent_core.models.server.client import Client
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.models.server.windows import Window
from readagent_core.prompts import Prompt

WHERE = "http://readagent.localhost/v1"  # in place of its address: the port is another one at each start


class LocalServer(OpenAIServer):
    """``engine``: what answers, or why nothing does; all else as in ``OpenAIServer``."""

    def __init__(self, model: str, engine: Engine | LocalModelError, **options: Any) -> None:
        super().__init__(WHERE, model, window=engine.window if isinstance(engine, Engine) else WINDOW, **options)
        self.engine = engine
        self._window = Window(self._window.tokens, slots=1, grammar=True)
        self.address = ""

    @property
    def notices(self) -> list[str]:
        if not isinstance(self.engine, Engine):
            return [str(self.engine)]
        again = ["The model stopped and was started again. Nothing was lost."] if self.engine.restarts else []
        return [*again, *super().notices]

    async def _reply(self, prompt: Prompt, cancel: CancelToken) -> AsyncIterator[str | Completion]:
        engine = self.engine
        if not isinstance(engine, Engine):
            raise engine
        with engine.in_use():
            address = await asyncio.to_thread(engine.start, cancel)
            if address != self.address:
                self.address, self.client = address, Client(address, engine.key, silence=self._silence)
            async for part in super()._reply(prompt, cancel):
                yield part
