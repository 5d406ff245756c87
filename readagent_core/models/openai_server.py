"""A model on any OpenAI-compatible server, one call at a time, through the ``openai`` package.

Always one user message, never a system role. Parameters a server refuses are left out from then on; thinking is
kept apart from the reply; a reply that broke off or is empty is an error, never a short answer. Retries, cache
and money are none of its business.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, cast

import httpx2
import openai

from readagent_core.errors import CutOffError, ModelError, WindowError
from readagent_core.models import faults, transport, windows
from readagent_core.models.base import Completion, Watch
from readagent_core.models.beside import Beside
from readagent_core.models.quirks import Quirks
from readagent_core.models.replies import Arriving, Reply, events
from readagent_core.models.tokens import OVERHEAD, estimate_tokens, tokens_of_words
from readagent_core.prompts import Prompt
from readagent_core.quick_json import to_json
from readagent_core.settings import Secret

OPENAI = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 180.0  # a local model may take minutes over a long prompt before its first word
THINKING_TOKENS = 1_024  # room beside the reply; models that were seen thinking get more
MORE_THINKING_TOKENS = 16_384
LENGTH = ("length", "max_tokens")  # why a reply ended: no room was left
UNSAID = {  # what the package would tell of this computer with every call
    f"X-Stainless-{name}": openai.Omit()
    for name in (
        "Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async", "Retry-Count", "Read-Timeout"
    )
}  # fmt: skip
# the key alone, not an administrator's from the environment; a key against sending twice is never needed here
_OPTIONS: Any = {"security": {"bearer_auth": True}, "headers": UNSAID, "idempotency_key": "none"}
ENDLESS = 4  # a reply this many times longer than sensible is running on without end
# Below this share of the tokens sent, by our estimate (careful by about a tenth), a prompt was cut.
CUT_SHARE = 0.55
CUT_LEAST = 400


class OpenAIServer:
    """``window``: as set by a person; else the server is asked when first needed, and once more after the first
    reply where it had not loaded the model yet.
    """

    is_language_model = True

    def __init__(
        self,
        where: str,
        model: str,
        *,
        api_key: Secret | None = None,
        window: int | None = None,
        temperature: float | None = 0.0,
        silence: float = SILENCE_SECONDS,
        quirks: Quirks | None = None,
    ) -> None:
        self.where = (where or OPENAI).rstrip("/")
        self.name = model
        self.quirks = quirks or Quirks()
        if self.where == OPENAI:
            self.quirks.tokens_field = "max_completion_tokens"
        self._temperature = temperature
        self._key = api_key or Secret()
        self._silence = silence
        self._window = windows.Window(window)
        self._ask_window = window is None
        self._asked_again = False
        self._lock = threading.Lock()
        self._made: openai.OpenAI | None = None
        self._again: transport.Again | None = None
        self.beside = Beside()

    @property
    def sampling(self) -> dict[str, Any]:
        """What besides the prompt decides a reply: part of the cache's key."""
        return {"temperature": self._temperature}

    @property
    def window(self) -> int | None:
        with self._lock:
            if self._ask_window:
                self._ask_window = False
                told = windows.ask(self.where, self.name, self._key)
                self._window = windows.Window(told.tokens, told.firm or self._asked_again)
        known = [w for w in (self._window.tokens, self.quirks.window) if w]
        return min(known) if known else None

    @property
    def ahead(self) -> int:
        """Calls that may come while every line is taken: they wait where no line waits for them."""
        return self.beside.ahead if self._again else 0

    def _ask_again(self) -> None:
        """The window is to be asked once more, and believed then."""
        with self._lock:
            if not self._asked_again:
                self._ask_window = self._asked_again = True

    @property
    def window_is_firm(self) -> bool:
        """False where the server has not loaded the model yet and may give it another window than it tells now."""
        return self.window is None or self._window.firm

    @property
    def client(self) -> openai.OpenAI:
        with self._lock:
            if self._made is None:
                timeout = httpx2.Timeout(self._silence, connect=min(CONNECT_SECONDS, self._silence), pool=None)
                key = self._key.reveal() or "none"  # local servers want something there
                http = transport.client(timeout)
                self._made = openai.OpenAI(
                    base_url=self.where, api_key=key, max_retries=0, timeout=timeout, http_client=http
                )
            return self._made

    def close(self) -> None:
        if self._made is not None:
            self._made.close()

    def complete(self, prompt: Prompt, watch: Watch) -> Completion:
        """The whole reply. Raises a named ModelError."""
        completion: Completion | None = None
        for part in self.stream(prompt, watch):
            if isinstance(part, Completion):
                completion = part
        assert completion is not None
        return completion

    def stream(self, prompt: Prompt, watch: Watch) -> Iterator[str | Completion]:
        """Parts and the Completion. Every call is streamed where the server can, so that it can be stopped."""
        watch.check()
        start = time.perf_counter()
        while True:
            reply = Reply()
            window = self.window
            request = self._request(prompt)
            try:
                yield from self._parts(request, prompt, reply, watch, start)
                break
            except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, UnicodeError) as error:
                if reply.text:
                    raise self._broke_off(reply) from None
                if self.quirks.refuse(faults.parameter_refused(error), request):
                    continue
                explained = faults.explain(error, where=self.where, model=self.name)
                if isinstance(explained, WindowError) and self._smaller(explained.window, window, prompt, request):
                    continue  # the reply's share was too large, or the prompt is: the check before sending tells
                raise explained from None
            except _MoreThinking:
                continue
        yield self._completion(reply, prompt, time.perf_counter() - start - reply.waited)

    def _smaller(self, told: int | None, before: int | None, prompt: Prompt, request: dict[str, Any]) -> bool:
        """Go by a smaller window: the one ``told``, else half of what was refused. False where it is not smaller."""
        if not told:
            sent = self._estimate(prompt) + int(request.get(self.quirks.tokens_field, 0))
            return self.quirks.guess_window(min(sent, before or sent), seen=before)
        now = self.window
        self.quirks.learn_window(told)
        return now is None or told < now

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """The call's parameters, within the window. Raises WindowError before anything is sent."""
        quirks = self.quirks
        room = tokens_of_words(prompt.reply_words) * 2
        thinking = MORE_THINKING_TOKENS if quirks.reasons else THINKING_TOKENS
        most = room + thinking
        window = self.window
        if window:
            sent = self._estimate(prompt)
            if sent + min(room // 2, window // 4) > window and not self._window.firm:
                windows.load(self.where, self.name, self._key, seconds=self._silence)
                self._ask_again()
                window = self.window or window
            if sent + min(room // 2, window // 4) > window:
                raise faults.too_long(self.name, window, needed=sent + min(room // 2, window // 4))
            most = max(16, min(most, window - sent))
        request: dict[str, Any] = {"model": self.name, "messages": [{"role": "user", "content": prompt.text}]}
        if quirks.temperature and self._temperature is not None:
            request["temperature"] = self._temperature
        if quirks.tokens_field:
            request[quirks.tokens_field] = most
        if quirks.stream:
            request["stream"] = True
            if quirks.stream_options:
                request["stream_options"] = {"include_usage": True}
        return request

    def _estimate(self, prompt: Prompt) -> int:
        """Tokens of the prompt, corrected upward by what the server reported of earlier ones."""
        return round(estimate_tokens(prompt.text) * max(1.0, self.quirks.ratio or 1.0)) + OVERHEAD

    def _parts(
        self, request: dict[str, Any], prompt: Prompt, reply: Reply, watch: Watch, start: float
    ) -> Iterator[str]:
        """Send it, and give the parts of the reply as they come, the rest going into ``reply``."""
        longest = max(2_000, tokens_of_words(prompt.reply_words) * 4 * ENDLESS)  # characters
        with closing(self._sent(request)) as response:
            reply.waited = getattr(response, "waited", 0.0)
            for event in events(response):
                watch.check()
                part = reply.take(event)
                if reply.fault:  # some servers fail inside a stream that began well
                    raise self._failed(reply.fault)
                if part:
                    if reply.first is None and part.strip():
                        reply.first = time.perf_counter() - start - reply.waited
                    reply.text += part
                    yield part
                if len(reply.text) > longest:
                    reply.finish = "length"
                    break
        rest = reply.end()
        if rest:
            reply.text += rest
            yield rest
        no_word = reply.finish in LENGTH and not reply.text.strip()  # all the room went into thinking, shown or not
        self.quirks.reasons = self.quirks.reasons or reply.thought or bool(reply.reasoning) or no_word
        field = self.quirks.tokens_field
        if no_word and field and self._request(prompt).get(field, 0) > request.get(field, 0):
            raise _MoreThinking

    def _sent(self, request: dict[str, Any]) -> Arriving:
        """The server's answer, its body still to come. ``post`` is what the package's own methods end in; they read
        the message into its types first, most of the work of a call. Once one went well the next go the same way.
        """
        body = to_json(request)
        again = self._again
        answer = again.send(body, self.beside) if again else None
        if isinstance(answer, httpx2.Response) and not answer.is_success:
            with closing(answer):
                answer.read()
            if not answer.has_redirect_location:
                raise openai.APIStatusError(str(answer.status_code), response=answer, body=answer.text)
            answer = None
        if answer is None:
            whole = self.client.post(
                f"{self.where}/chat/completions",
                content=body,
                cast_to=httpx2.Response,
                options=_OPTIONS,
                stream=True,
                stream_cls=openai.Stream[Any],
            )
            answer = cast(httpx2.Response, whole)
            self._again = transport.Again.of(answer)
        return answer

    def _failed(self, fault: object) -> ModelError:
        code = fault.get("code") if isinstance(fault, dict) else None
        status = code if isinstance(code, int) and code >= 400 else 500
        return faults.from_status(status, json.dumps(fault), {}, where=self.where, model=self.name)

    def _broke_off(self, reply: Reply) -> CutOffError:
        return CutOffError(f"The reply of {self.name} broke off. {faults.KEPT} Go on to ask again.", reply.text.strip())

    def _completion(self, reply: Reply, prompt: Prompt, seconds: float) -> Completion:
        """The finished reply. Raises CutOffError, RefusedError, EmptyReplyError or WindowError."""
        if reply.refused:
            raise faults.refused(self.name)
        if reply.finish is None:
            if reply.text or reply.reasoning:
                raise self._broke_off(reply)
            raise faults.empty(self.name)
        self._check_all_was_read(prompt, reply)
        if not reply.text.strip():
            raise faults.empty(self.name, thought=reply.finish in LENGTH)
        if not self._window.firm:
            self._ask_again()  # the model is loaded now
        return Completion(
            reply.text.strip(),
            model=self.name,
            finish="length" if reply.finish in LENGTH else "stop",
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            reasoning=reply.reasoning.strip(),
            seconds=seconds,
            first_word=reply.first,
        )

    def _check_all_was_read(self, prompt: Prompt, reply: Reply) -> None:
        """Raise WindowError where the server reports far fewer prompt tokens than were sent."""
        if not reply.tokens_in:
            return
        plain = estimate_tokens(prompt.text) + OVERHEAD
        ratio = self.quirks.ratio or 1.0
        expected = plain * min(1.0, ratio)
        if reply.tokens_in < CUT_SHARE * expected and expected - reply.tokens_in > CUT_LEAST:
            self.quirks.learn_window(reply.tokens_in)
            self.quirks.cutting = faults.cutting(sent=round(expected), read=reply.tokens_in)
            raise faults.cut_silently(self.where, self.name, sent=round(expected), read=reply.tokens_in)
        self.quirks.learn_ratio(reply.tokens_in / plain)


class _MoreThinking(ModelError):
    """All the room went into thinking: ask once more with a larger one. Never leaves this file."""
