"""A model on any OpenAI-compatible server, one call at a time, through the ``openai`` package.

Always one user message, never a system role. Parameters a server refuses are left out from then on; thinking is
separated from the reply; a reply that broke off or is empty is an error, never a short answer. Knows nothing of
retries, cache and money.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2

from readagent_core import event_loop
from readagent_core.cancel import CancelToken
from readagent_core.errors import ModelError, WindowError
from readagent_core.models.base import ChatModel, Completion
from readagent_core.models.server import faults, json_replies, orders
from readagent_core.models.server.client import FAULTS, Client, error_in
from readagent_core.models.server.events import Endless
from readagent_core.models.server.grammars import grammar_of
from readagent_core.models.server.guard import Guard
from readagent_core.models.server.quirks import Quirks
from readagent_core.models.server.replies import Ending, Reply, parts
from readagent_core.models.server.shared_beginnings import SharedBeginnings, keeps_marked
from readagent_core.models.server.sizes import Sizes
from readagent_core.models.thinking import split_thinking
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from readagent_core.settings.saved import ModelOptions

OPENAI = "https://api.openai.com/v1"
SILENCE_SECONDS = 180.0  # a local model may take minutes over a long prompt before its first word
ENDLESS = 4  # a reply this many times longer than was allowed is running on without end
CHARACTERS_PER_TOKEN = 4
# A call may last so many times the silence that is allowed while nothing but keep-alive comments comes.
KEEP_ALIVE = 10
# what llama.cpp's own server tells while it works, also of a reply that is ended early; it reuses beginnings of prompts
LLAMA_CPP = {"cache_prompt": True, "return_progress": True, "timings_per_token": True}
# its sampler against repetition, over the prompt as well: a gist may take over some words in a row, not whole sentences
AGAINST_COPIES = {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 6, "dry_penalty_last_n": 32_768}
PREPARE = "prepare"  # the task of a prompt that is only to be read
LEAST_MEASURED = 64  # tokens read anew, from which on the time to the first word is a measure
TOLD_AFTER = 10  # seconds without a word, after which a person is told


class OpenAIServer(ChatModel):
    """``window``: as set by a person; else the server is asked when first needed, and once more after the first
    reply where it had not loaded the model yet. ``asks_json``: a JSON schema is sent where a reply has a form.
    """

    name: str = ""
    where: str = ""
    options = ModelOptions()

    def __init__(
        self,
        where: str,
        model: str,
        *,
        api_key: Secret | None = None,
        window: int | None = None,
        temperature: float | None = 0.0,
        silence: float = SILENCE_SECONDS,
        asks_json: bool = False,
        quirks: Quirks | None = None,
    ) -> None:
        self.where = (where or OPENAI).rstrip("/")
        self.name = model
        self.quirks = quirks or Quirks()
        if self.where == OPENAI:
            self.quirks.tokens_field = "max_completion_tokens"
        self._temperature = temperature
        self.asks_json = asks_json
        self.key = api_key or Secret()
        self._silence = silence
        self.client = Client(self.where, self.key, silence=silence)
        self.sizes = Sizes(self.where, model, self.key, self.quirks, window=window, silence=silence)
        self._beginnings = SharedBeginnings() if keeps_marked(self.where, model) else None
        self._read_speed = 0.0  # tokens of a prompt a second, as the last reply had it

    @property
    def sampling(self) -> dict[str, Any]:
        return {"temperature": self._temperature, **({"json_replies": True} if self.asks_json else {})}

    @property
    def cutting(self) -> str:
        return self.quirks.cutting

    @property
    def copies_pages(self) -> bool:
        return self.quirks.copies

    @property
    def shares_text(self) -> bool:
        return self.sizes.grammar  # llama.cpp, which reuses beginnings

    @property
    def notices(self) -> list[str]:
        return [*([self.cutting] if self.cutting else []), *self.quirks.notices]

    @property
    def window(self) -> int | None:
        self.learn_window(CancelToken())
        return self.sizes.window

    @property
    def window_is_firm(self) -> bool:
        return self.window is None or self.sizes.firm

    def learn_window(self, cancel: CancelToken) -> None:
        if self.sizes.to_ask:
            event_loop.run(self.sizes.learn(), cancel)

    def close(self) -> None:
        """Close the connections. Calls that are under way are cancelled."""
        self.client.close()

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        """Return the whole reply. Raises a named ModelError."""

        async def last() -> str | Completion:
            return [part async for part in self._reply(prompt, cancel)][-1]

        cancel.check()
        completion = event_loop.run(last(), cancel)
        assert isinstance(completion, Completion)
        return completion

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        cancel.check()
        return event_loop.iterate(self._reply(prompt, cancel), cancel)

    async def _reply(self, prompt: Prompt, cancel: CancelToken) -> AsyncIterator[str | Completion]:
        """Give parts and the Completion. Every call is streamed where the server can, so that it can be stopped."""
        start = time.perf_counter()
        await self.sizes.learn()
        prompt, weighed = await self._weighed(prompt, start, cancel)
        while True:
            reply = Reply()
            await self.sizes.learn()
            window = self.sizes.window
            request = await self._request(prompt)
            try:
                async for part in self._parts(request, prompt, reply, start, cancel):
                    if "response_format" not in request:
                        yield part
                break
            except Endless as error:
                raise self._fault("endless", carried=reply.text.strip(), how=str(error)) from None
            except FAULTS as error:
                if reply.text and not reply.fault:
                    raise self._fault("connection cut", carried=reply.text.strip()) from None
                name, most = faults.parameter_refused(error)
                if self.quirks.refuse(name, request, most=most):
                    continue
                explained = faults.explain(error, where=self.where, model=self.name)
                if type(explained) is WindowError and self.sizes.use_smaller(explained.window, window, prompt, request):
                    continue  # the reply's share was too large, or the prompt is: the check before sending decides
                raise explained from None
            except _MoreThinking:
                continue
        completion = self._completion(reply, prompt, time.perf_counter() - start)
        self.sizes.ask_again()
        yield orders.with_tokens(completion, weighed)

    async def _weighed(self, prompt: Prompt, start: float, cancel: CancelToken) -> tuple[Prompt, list[Reply]]:
        """Return ``prompt`` bound to the letter that is likeliest over all orders of its options, and their replies.

        []: unchanged, as it has none or the server tells no probabilities. Any other fault the call itself meets again.
        """
        replies: list[Reply] = []
        try:
            for order in orders.in_each_order(prompt):
                request = await self._request(order)
                if "grammar" not in request or self.quirks.reasons:
                    break
                request |= orders.ASKED
                if self.quirks.tokens_field:
                    request[self.quirks.tokens_field] = orders.TOKENS
                reply = Reply()
                async for _ in self._parts(request, order, reply, start, cancel):
                    pass
                replies.append(reply)
        except (*FAULTS, Endless, ModelError):
            return prompt, []
        letter = orders.likeliest([reply.likely for reply in replies], prompt.choices) if replies else ""
        return (replace(prompt, choices=(letter,)), replies) if letter else (prompt, [])

    async def _request(self, prompt: Prompt) -> dict[str, Any]:
        """The call's parameters, within the window. Raises WindowError before anything is sent."""
        quirks = self.quirks
        await self.sizes.check(prompt)
        content = self._beginnings.content(prompt.text) if self._beginnings else prompt.text
        request: dict[str, Any] = {"model": self.name, "messages": [{"role": "user", "content": content}]}
        if quirks.temperature and self._temperature is not None:
            request["temperature"] = self._temperature
        if quirks.tokens_field:
            request[quirks.tokens_field] = 1 if prompt.task == PREPARE else self.sizes.most(prompt)
        if quirks.stream:
            request["stream"] = True
            if quirks.stream_options:
                request["stream_options"] = {"include_usage": True}
        form = json_replies.form_of(prompt) if self.asks_json and quirks.response_format else None
        if form:
            request["response_format"] = form.response_format
        elif self.sizes.grammar and quirks.grammar and (grammar := grammar_of(prompt)):
            request["grammar"] = grammar
        if self.sizes.grammar:
            request |= LLAMA_CPP | (AGAINST_COPIES if prompt.task.startswith("gist") else {})
        return request

    async def _parts(
        self, request: dict[str, Any], prompt: Prompt, reply: Reply, start: float, cancel: CancelToken
    ) -> AsyncIterator[str]:
        """Send the request, and give the parts of the text as they arrive, the rest going into ``reply``."""
        allowed, guard = self.sizes.most(prompt), Guard(prompt, self.sizes.room(prompt))
        limit = ENDLESS * CHARACTERS_PER_TOKEN * allowed
        seconds = KEEP_ALIVE * self._silence
        now = asyncio.get_running_loop().time
        try:
            async with (
                _silence_told(reply, cancel, self._seconds_to_read(prompt)),
                asyncio.timeout(seconds) as deadline,
                self.client.open("chat/completions", request) as response,
            ):
                size = 0
                async for part in parts(response, reply):
                    if reply.fault:  # some servers fail inside a reply that began well
                        raise error_in(response, reply.fault)
                    if part:
                        if reply.first is None and part.strip():
                            reply.first = time.perf_counter() - start
                        reply.text += part
                        yield part
                        if (kept := guard.kept(reply.text)) is not None:
                            reply.stop(kept)
                            if guard.copied:
                                self.quirks.note_copy()
                            break
                    if reply.size > size:
                        size = reply.size
                        deadline.reschedule(now() + seconds)
                    if size > limit:
                        reply.finish = "length"
                        break
        except TimeoutError:
            raise httpx2.ReadTimeout("nothing but keep-alive comments came") from None
        rest = reply.end()
        if rest:
            reply.text += rest
            yield rest
        hidden, reply.text = split_thinking(reply.content)
        reply.reasoning = f"{reply.reasoning}\n{hidden}".strip()
        no_word = reply.ending(allowed) is Ending.LENGTH and not reply.text.strip()  # all the room went into thinking
        self.quirks.reasons = self.quirks.reasons or reply.thought or bool(reply.reasoning) or no_word
        if no_word and (self.quirks.tokens_field or size > limit) and self.sizes.most(prompt) > allowed:
            raise _MoreThinking
        if size > limit:
            raise Endless(f"more than {limit:,} characters of text and thinking came")

    def _seconds_to_read(self, prompt: Prompt) -> float:
        return self.sizes.estimate(prompt) / self._read_speed if self._read_speed else 0.0

    def _fault(self, name: str, **values: Any) -> ModelError:
        return faults.fault(name, where=self.where, model=self.name, **values)

    def _completion(self, reply: Reply, prompt: Prompt, seconds: float) -> Completion:
        """The finished reply. Raises CutOffError, RefusedError, EmptyReplyError or WindowError."""
        text = reply.text.strip()
        ending = reply.ending(self.sizes.most(prompt) if self.quirks.tokens_field else None)
        if ending is Ending.REFUSED:
            raise self._fault("refused")
        if reply.foreign and not text:
            raise self._fault("unreadable")
        if ending is Ending.UNKNOWN:
            self.quirks.note_ending(faults.plain(reply.finish))
            if not reply.ends_a_sentence:
                raise self._fault("unknown end", carried=text, reason=faults.plain(reply.finish))
        if ending is Ending.BROKEN:
            if reply.finish:
                raise self._fault("reply broke off", carried=text, reason=faults.plain(reply.finish))
            raise self._fault("connection cut" if text or reply.reasoning else "empty", carried=text)
        self.sizes.check_all_was_read(prompt, reply)
        new = (reply.tokens_in or 0) - (reply.tokens_reused or 0)
        if reply.first and new >= LEAST_MEASURED:
            self._read_speed = new / reply.first
        if not text and reply.used_tool:
            raise self._fault("only a tool")
        if not text and reply.reasoning:
            raise self._fault("no room" if ending is Ending.LENGTH else "only thinking")
        if not text:
            raise self._fault("no room" if ending is Ending.LENGTH else "empty")
        said = json_replies.to_text(prompt, text) if self.asks_json else text
        self.quirks.replied_in_json |= said != text
        return Completion(
            said,
            model=self.name,
            finish="repeats" if reply.repeats else "length" if ending is Ending.LENGTH else "stop",
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            tokens_reused=min(reply.tokens_reused or 0, reply.tokens_in or 0),
            reasoning=reply.reasoning.strip(),
            seconds=seconds,
            first_word=reply.first,
        )


@asynccontextmanager
async def _silence_told(reply: Reply, cancel: CancelToken, expected: float) -> AsyncIterator[None]:
    """Report through ``cancel`` that no word comes, every second, once it has taken a while. ``expected``: seconds that
    the prompt takes at the speed of earlier ones; 0 where that is not known.
    """

    async def tell() -> None:
        quiet, size = 0, 0
        while True:
            await asyncio.sleep(1)
            quiet, before, size = (0 if reply.size > size else quiet + 1), quiet, reply.size
            done, total = reply.read
            of_all = f" of about {expected:,.0f} s" if expected > max(TOLD_AFTER, quiet) else ""
            if quiet >= TOLD_AFTER and done < total:
                told = f"Reading what it was sent for {quiet} s{of_all}, {100 * done / total:.0f} % so far"
                cancel.waiting(0.001, told)
            elif quiet >= TOLD_AFTER:
                told = f"No word from the server for {quiet} s{of_all}: it may be reading what it was sent"
                cancel.waiting(0.001, told)
            elif before >= TOLD_AFTER:
                cancel.waiting(0.0, "")

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()
        cancel.waiting(0.0, "")


class _MoreThinking(ModelError):
    """All the room went into thinking: ask once more with a larger one. Never leaves this file."""
