"""An OpenAI-compatible server on loopback: real HTTP, replies by function or queue, every request recorded.

It can be slow, rate-limited, cut off mid-stream, wrong, or peculiar in the ways that real servers are.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.kinds import Traits, fill_schema, own_address, row
from tests.fakes.sensible import sensible


@dataclass(frozen=True)
class Reply:
    """What the server does with one call.

    ``status`` other than 200 sends ``error`` (or ``body``) instead. ``finish`` None: the reply ends without a
    finish_reason. ``cut``: after this many characters the stream ends ('clean' by closing, 'reset' by breaking
    the connection: ``how``). ``delay``: before the first byte; ``gap``: between streamed parts. ``tokens_in``:
    what it claims to have read; ``tokens_reused``: to have taken from its cache. ``body``: sent as it stands, JSON or
    not. ``endless``: never stops by itself.
    """

    text: str = "OK."
    status: int = 200
    error: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str | None = "stop"
    reasoning: str = ""
    refusal: str = ""
    cut: int | None = None
    how: str = "clean"
    delay: float = 0.0
    gap: float = 0.0
    tokens_in: int | None = None
    tokens_reused: int | None = None
    body: str | None = None
    endless: bool = False
    drop: bool = False  # the connection is broken before a byte is sent


@dataclass(frozen=True)
class Request:
    path: str
    payload: Mapping[str, Any]
    headers: Mapping[str, str]
    text: str
    port: int  # the client's


def error(message: str, *, code: str | None = None, kind: str = "invalid_request_error", param: str | None = None):
    return {"message": message, "type": kind, "code": code, "param": param}


class FakeServer:
    """``with FakeServer() as server: … server.url``.

    ``replies``: a function of the prompt's text, or a queue of str | Reply. ``before``: asked first with the
    call's number (from 0) and its text; a Reply from it is used instead. ``tls``: speaks HTTPS with it.
    """

    def __init__(
        self,
        replies: Callable[[str], str | Reply] | Iterable[str | Reply] = sensible,
        *,
        before: Callable[[int, str], Reply | None] | None = None,
        tls: ssl.SSLContext | None = None,
        **traits: Any,
    ) -> None:
        self.traits = Traits(**traits)
        self.before = before
        self._answer = replies if callable(replies) else None
        self._queue = [] if callable(replies) else list(replies)
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.chats: list[Request] = []
        self.answered: list[str] = []  # prompts to which a whole, usable reply was sent
        self.at_once = 0
        self.most_at_once = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}{self.traits.base}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            number = len(self.chats)
            self.chats.append(request)
        special = self.before(number, request.text) if self.before else None  # may wait, while others are answered
        with self._lock:
            if special is None and self._answer is None:
                if not self._queue:
                    return Reply(status=500, error=error("the fake server has no reply queued"))
                special = self._queue.pop(0)  # type: ignore[assignment]
        found = special if special is not None else self._answer(request.text)
        return found if isinstance(found, Reply) else Reply(found)

    def entered(self, change: int) -> None:
        with self._lock:
            self.at_once += change
            self.most_at_once = max(self.most_at_once, self.at_once)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    fake: FakeServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 30

    @property
    def fake(self) -> FakeServer:
        return self.server.fake  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self._record({}, "")
        traits = self.fake.traits
        if not self._key_is_right():
            return
        path = self.path.split("?")[0]
        if path == f"{traits.base}/models" and traits.lists_models:
            time.sleep(traits.list_delay)
            self._json(200, {"object": "list", "data": [row(traits, m) for m in traits.models]})
        else:
            own = own_address(traits, path)
            self._json(200 if own is not None else 404, own if own is not None else {"error": error("not found")})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        payload = json.loads(raw or b"{}")
        text = "\n".join(_text_of(m) for m in payload.get("messages", []))
        request = self._record(payload, text)
        if not self._key_is_right():
            return
        if self.path == "/api/show" and self.fake.traits.kind == "ollama":
            self._show()
        elif self.path == "/api/generate" and self.fake.traits.kind == "ollama":
            self.fake.traits.loaded = True
            self._json(200, {"model": payload.get("model"), "done": True, "done_reason": "load"})
        elif self.path.endswith("/embeddings") and self.fake.traits.embeds:
            self._embed(payload)
        elif self.path.endswith("/chat/completions"):
            self.fake.entered(1)
            try:
                self._chat(payload, request)
            finally:
                self.fake.entered(-1)
        else:
            self._json(404, {"error": error("not found")})

    def _record(self, payload: Mapping[str, Any], text: str) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, payload, headers, text, self.client_address[1])
        self.fake.requests.append(request)
        return request

    def _key_is_right(self) -> bool:
        """Whether the key came as this kind of server wants it; else 401 is sent."""
        key, kind = self.fake.traits.key, self.fake.traits.kind
        own = self.path.startswith(self.fake.traits.base.removesuffix("/openai") + "/models")
        sent = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if self.command == "GET" and kind == "anthropic":
            sent = self.headers.get("x-api-key") or "" if self.headers.get("anthropic-version") else ""
        elif self.command == "GET" and kind == "gemini" and own:
            sent = self.headers.get("x-goog-api-key") or ""
        if key and sent != key:
            message = f"Incorrect API key provided: {sent}."  # real servers echo it too
            self._json(401, {"error": error(message, code="invalid_api_key")})
            return False
        return True

    def _show(self) -> None:
        traits = self.fake.traits
        parameters = f"num_ctx                        {traits.num_ctx}\n" if traits.num_ctx else ""
        info = {"general.architecture": "llama", "llama.context_length": traits.window or 131_072}
        self._json(200, {"parameters": parameters, "model_info": info, "modified_at": traits.file})

    def _embed(self, payload: Mapping[str, Any]) -> None:
        texts = payload["input"] if isinstance(payload["input"], list) else [payload["input"]]
        rows = [
            {"object": "embedding", "index": i, "embedding": [float(len(t)), float(t.count("e")), 1.0]}
            for i, t in enumerate(texts)
        ]
        usage = {"prompt_tokens": sum(len(t.split()) for t in texts), "total_tokens": 0}
        self._json(200, {"object": "list", "data": rows, "model": payload["model"], "usage": usage})

    def _chat(self, payload: Mapping[str, Any], request: Request) -> None:
        traits = self.fake.traits
        if payload.get("model") not in traits.models:
            message = f"The model `{payload.get('model')}` does not exist"
            return self._json(404, {"error": error(message, code="model_not_found")})
        for name in traits.refuses:
            is_there = any(m["role"] == "system" for m in payload["messages"]) if name == "system" else name in payload
            if is_there:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                message = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
                return self._json(400, {"error": error(message, code="unsupported_parameter", param=name)})
        reply = self.fake.reply_to(request)
        if traits.enforces and "response_format" in payload:
            schema = payload["response_format"]["json_schema"]["schema"]
            reply = replace(reply, text=fill_schema(schema, sensible(request.text)))
        traits.loaded = True
        time.sleep(traits.latency + reply.delay)
        if reply.drop:
            return self._reset()
        if reply.body is not None:
            return self._raw(reply.status, reply.body, reply.headers)
        if reply.status != 200:
            return self._json(reply.status, {"error": reply.error or error("failed")}, reply.headers)
        if payload.get("stream"):
            self._stream(payload, reply, request)
        else:
            self._whole(payload, reply, request)

    def _whole(self, payload: Mapping[str, Any], reply: Reply, request: Request) -> None:
        if reply.cut is not None:
            return self._reset()
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.refusal:
            message |= {"content": None, "refusal": reply.refusal}
        body: dict[str, Any] = {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 1,
            "model": payload["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
        }
        if self.fake.traits.reports_usage:
            body["usage"] = self._usage(reply, request)
        self._json(200, body)
        self._was_answered(reply, request)

    def _was_answered(self, reply: Reply, request: Request) -> None:
        if reply.text.strip() and reply.finish == "stop" and not reply.refusal:
            self.fake.answered.append(request.text)

    def _usage(self, reply: Reply, request: Request) -> dict[str, Any]:
        tokens_in = len(request.text) // 4 if reply.tokens_in is None else reply.tokens_in
        tokens_out = len(reply.text) // 4
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
        details = {"cached_tokens": reply.tokens_reused}
        return {**usage, "prompt_tokens_details": details} if reply.tokens_reused is not None else usage

    def _stream(self, payload: Mapping[str, Any], reply: Reply, request: Request) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

        def send(delta: Mapping[str, Any], finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self._event({**head, "choices": [choice]})

        head = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": payload["model"]}
        send({"role": "assistant", "content": ""})
        for part in _parts(reply.reasoning):
            send({"reasoning_content": part})
        if reply.refusal:
            send({"refusal": reply.refusal})
        shown = reply.text if reply.cut is None else reply.text[: reply.cut]
        for part in _parts(shown):
            send({"content": part})
            if reply.gap:
                time.sleep(reply.gap)
        while reply.endless:
            send({"content": "and so on " * 20})
            time.sleep(0.001)
        if reply.cut is not None and reply.how == "reset":
            return self._reset()
        if reply.cut is None and reply.finish is not None:
            send({}, reply.finish)
        wants_usage = (payload.get("stream_options") or {}).get("include_usage")
        if self.fake.traits.reports_usage and wants_usage and reply.cut is None:
            self._event({**head, "choices": [], "usage": self._usage(reply, request)})
        if reply.cut is None:
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")
        if reply.cut is None:
            self._was_answered(reply, request)

    def _event(self, data: Mapping[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%X\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, status: int, data: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._raw(status, json.dumps(data), headers)

    def _raw(self, status: int, body: str, headers: Mapping[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def _reset(self) -> None:
        """Break the connection so that the client sees a reset, not an end."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _parts(text: str, size: int = 24) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]
