"""Serves over stdio, and answers the lines that the ``mcp`` package drops because it cannot read them."""

from __future__ import annotations

import json
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_LONGEST_ID = 300  # characters


async def serve_stdio(server: MCPServer) -> None:
    """Serve the client at the other end of stdin and stdout until it closes them."""
    onward, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    protocol = server._lowlevel_server
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:

        async def answer_the_unreadable(onward: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
            async with onward:
                async for item in incoming:
                    if isinstance(item, SessionMessage):
                        await onward.send(item)
                    elif isinstance(item, ValidationError) and (error := error_of(item)) is not None:
                        await outgoing.send(SessionMessage(error))

        group.start_soon(answer_the_unreadable, onward)
        await protocol.run(messages, outgoing, protocol.create_initialization_options())
        group.cancel_scope.cancel()


def error_of(refused: ValidationError) -> JSONRPCError | None:
    """Return the answer to a line that is no message, with the request's id where it can be read; None for no words."""
    first, *others = refused.errors(include_url=False, include_context=False)
    if first["type"] == "json_invalid":
        code, told, whole = PARSE_ERROR, first["msg"], _loaded(first["input"])
        if isinstance(first["input"], str) and not first["input"].strip():
            return None
    else:
        code, told = INVALID_REQUEST, "A line has to be one JSON-RPC 2.0 request, notification or response."
        # a message of one of its shapes is refused whole, or for a field that the whole misses
        whole = next((e["input"] for e in (first, *others) if len(e["loc"]) <= 1 + (e["type"] == "missing")), None)
    if not isinstance(whole, dict) or "result" in whole or "error" in whole:  # an answer's id is one of ours
        whole = {}
    known = whole.get("id")
    if isinstance(known, bool) or not isinstance(known, int | str) or len(str(known)) > _LONGEST_ID:
        known = None
    if isinstance(known, str) and not known.isprintable():  # a lone surrogate cannot be sent
        known = None
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=told))


def _loaded(line: Any) -> Any:
    """Return what Python's own reader makes of a line, long numbers as text; None where it makes nothing of it."""
    try:
        return json.loads(line, parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST_ID else digits)
    except (ValueError, RecursionError):
        return None
