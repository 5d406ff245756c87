"""The Tasks extension of the protocol (2026-07-28): making gists as a task that is polled and can be cancelled.

A client that declares the extension gets a task at once where another waits for the result. Tasks are of this process;
the gists that were made are in the library, and the next call resumes. Nothing is asked in a task: what it costs is
asked before it is made. Source: https://modelcontextprotocol.github.io/ext-tasks/
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, RequestParams

from readagent_core.jobs import Job, JobState
from readagent_core.mcp_server.tools import Tools, gists_made

EXTENSION = "io.modelcontextprotocol/tasks"
_MODERN = frozenset({"2026-07-28"})
_MOST, _POLL_MS = 100, 1_000
_STATES = {JobState.RUNNING: "working", JobState.CANCELLED: "cancelled"}


@dataclass
class Handed:
    """What a tool hands to its task in place of waiting."""

    job: Job | None = None
    book: str = ""


handed: ContextVar[Handed | None] = ContextVar("handed", default=None)


class _TaskParams(RequestParams):
    task_id: str


@dataclass(frozen=True)
class _Task:
    job: Job
    book: str
    created: str


class Tasks(Extension):
    """Makes a task of `make_gists` for clients that declare the extension."""

    identifier = EXTENSION

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._tasks: OrderedDict[str, _Task] = OrderedDict()

    def methods(self) -> Sequence[MethodBinding]:
        return [
            MethodBinding(f"tasks/{name}", _TaskParams, handler, protocol_versions=_MODERN)
            for name, handler in (("get", self._get), ("cancel", self._cancel), ("update", self._update))
        ]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        capabilities = ctx.session.client_capabilities
        if params.name != "make_gists" or EXTENSION not in ((capabilities and capabilities.extensions) or {}):
            return await call_next(ctx)
        mine = Handed()
        token = handed.set(mine)
        try:
            result = await call_next(ctx)
        finally:
            handed.reset(token)
        if mine.job is None:  # an error, or a question that comes first
            return result
        task_id = secrets.token_urlsafe(16)
        self._tasks[task_id] = _Task(mine.job, mine.book, _now())
        while len(self._tasks) > _MOST:
            self._tasks.popitem(last=False)
        return {"resultType": "task", **self._describe(task_id)}

    async def _get(self, _: ServerRequestContext[Any, Any], params: _TaskParams) -> HandlerResult:
        return self._describe(params.task_id)

    async def _cancel(self, _: ServerRequestContext[Any, Any], params: _TaskParams) -> HandlerResult:
        self._find(params.task_id).job.cancel()
        return {}

    async def _update(self, _: ServerRequestContext[Any, Any], params: _TaskParams) -> HandlerResult:
        self._find(params.task_id)
        return {}

    def _find(self, task_id: str) -> _Task:
        if task_id not in self._tasks:
            raise MCPError(code=INVALID_PARAMS, message="There is no such task in this process. Call the tool again.")
        return self._tasks[task_id]

    def _describe(self, task_id: str) -> dict[str, Any]:
        task = self._find(task_id)
        now = task.job.snapshot
        made = gists_made(now.value)
        found: dict[str, Any] = {
            "taskId": task_id, "status": _STATES.get(now.state, "completed"), "createdAt": task.created,
            "lastUpdatedAt": _now(), "ttlMs": None, "pollIntervalMs": _POLL_MS, "statusMessage": made or str(now.state),
        }  # fmt: skip
        if found["status"] == "completed":
            if now.state == JobState.DONE:
                done = self._tools.done_gists(task.job, task.book).model_dump(mode="json")
                result = CallToolResult(content=[], structured_content=done)
            else:  # an error of the tool, not of the protocol
                said: Any = {"type": "text", "text": now.error}
                result = CallToolResult(content=[said], is_error=True)
            found["result"] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
