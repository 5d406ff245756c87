"""How many tokens a prompt and its reply may take at one model: its window, the room for a reply, and what was read.

The window is asked of the server, set by a person, or learnt from its errors and figures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from readagent_core.models.cost.tokens import OVERHEAD, estimate_tokens, tokens_of_words
from readagent_core.models.server import faults, windows
from readagent_core.models.server.quirks import LEAST_WINDOW, Quirks
from readagent_core.models.server.replies import Reply
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret

THINKING_TOKENS = 1_024  # room besides the reply; models that were seen thinking get more
MORE_THINKING_TOKENS = 16_384
# Below this share of the tokens sent, by our estimate (careful by about a tenth), a prompt was cut.
CUT_SHARE = 0.55
CUT_LEAST = 400


class Sizes:
    """``window``: as set by a person; else the server is asked when first needed, and once more after the first
    reply where it had not loaded the model yet. ``on_slots``: called with the number of slots that the server has.
    """

    on_slots: Callable[[int], None] | None = None

    def __init__(
        self, where: str, model: str, key: Secret, quirks: Quirks, *, window: int | None, silence: float
    ) -> None:
        self._where, self._model, self._key, self._silence = where, model, key, silence
        self._quirks = quirks
        self.found = windows.Window(window)
        self._is_set = window is not None
        self.to_ask = window is None
        self._asked_again = False
        self._asking = asyncio.Lock()

    @property
    def window(self) -> int | None:
        """The window as far as it is known."""
        return min((w for w in (self.found.tokens, self._quirks.window) if w), default=None)

    @property
    def firm(self) -> bool:
        return self.found.firm

    @property
    def grammar(self) -> bool:
        """Whether the server takes a grammar."""
        return self.found.grammar

    async def learn(self) -> None:
        """Ask the server for the window where that is to be done."""
        async with self._asking:
            if self.to_ask:
                found = await windows.ask(self._where, self._model, self._key)
                self.found = windows.Window(found.tokens, found.firm or self._asked_again, grammar=found.grammar)
                self.to_ask = False
                self._quirks.found_file(found.file)
                if found.slots and self.on_slots:
                    self.on_slots(found.slots)

    def ask_again(self) -> None:
        """Ask for the window once more, now that the model is loaded; the second answer is final."""
        if not self.firm and not self._asked_again:
            self.to_ask = self._asked_again = True

    async def check(self, prompt: Prompt) -> None:
        """Raise WindowError for a prompt that does not fit; a model that is not loaded yet is loaded before."""
        window = self.window
        if window and self._needed(prompt, window) > window and not self.firm:
            await windows.load(self._where, self._model, self._key, seconds=self._silence)
            self.ask_again()
            await self.learn()
            window = self.window or window
        if window and self._needed(prompt, window) > window:
            raise faults.too_long(self._model, window, needed=self._needed(prompt, window))

    def room(self, prompt: Prompt) -> int:
        """Tokens for the reply itself."""
        return tokens_of_words(prompt.reply_words) * 2

    def _needed(self, prompt: Prompt, window: int) -> int:
        """Tokens that prompt and the least of a reply take up."""
        return self.estimate(prompt) + min(self.room(prompt) // 2, window // 4)

    def most(self, prompt: Prompt) -> int:
        """Tokens that reply and thinking may take together, within the window."""
        most = self.room(prompt) + (MORE_THINKING_TOKENS if self._quirks.reasons else THINKING_TOKENS)
        most = min(most, self._quirks.most_tokens or most)
        window = self.window
        return max(16, min(most, window - self.estimate(prompt))) if window else most

    def estimate(self, prompt: Prompt) -> int:
        """Tokens of the prompt, corrected upward by what the server reported of earlier ones."""
        return round(estimate_tokens(prompt.text) * max(1.0, self._quirks.ratio or 1.0)) + OVERHEAD

    def use_smaller(self, reported: int | None, before: int | None, prompt: Prompt, request: dict[str, Any]) -> bool:
        """Use the window that the server ``reported``, else half of what it refused. False where it is not smaller."""
        if not reported:
            sent = self.estimate(prompt) + int(request.get(self._quirks.tokens_field, 0))
            return self._quirks.guess_window(min(sent, before or sent), seen=before)
        now = self.window
        if now is None or reported < now:
            return self._quirks.learn_window(reported)
        sent = self.estimate(prompt) + int(request.get(self._quirks.tokens_field, 0))
        return sent > reported / 2 and self._quirks.learn_denser_text()

    def check_all_was_read(self, prompt: Prompt, reply: Reply) -> None:
        """Raise WindowError where the server reports far fewer prompt tokens than were sent.

        Some servers count only what they did not have in their cache: such a figure is below a prompt that went
        through, or beside the server's own word for a window that holds this one. It is left out.
        """
        if not reply.tokens_in:
            return
        plain = estimate_tokens(prompt.text) + OVERHEAD
        expected = plain * min(1.0, self._quirks.ratio or 1.0)

        def read_less(read: int) -> bool:
            return read < CUT_SHARE * expected and expected - read > CUT_LEAST

        if read_less(reply.tokens_in) and reply.tokens_in < (reply.tokens_reused or 0):
            reply.tokens_in += reply.tokens_reused or 0
        if read_less(reply.tokens_in):
            sent, read = round(expected), reply.tokens_in
            told = 0 if self._is_set or not self.firm else self.found.tokens or 0
            if read < max(LEAST_WINDOW, self._quirks.largest) or told >= plain:
                reply.tokens_in = None
                return
            self._quirks.learn_cutting(sent=sent, read=read)
            raise faults.fault("prompt cut", where=self._where, model=self._model, carried=read, sent=sent, read=read)
        self._quirks.learn_whole(reply.tokens_in, reply.tokens_in / plain)
