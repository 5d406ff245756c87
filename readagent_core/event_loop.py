"""Runs every call to a server on one event loop in a background thread, so that a cancel ends it at once.

The rest of the program is synchronous: ``run`` and ``iterate`` wait in the caller's thread for what a coroutine or an
asynchronous generator gives. A cancelled call's task is cancelled, which closes its connection; a server that watches
its connections stops generating then.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError

T = TypeVar("T")

_LOCK = threading.Lock()
_running: tuple[threading.Thread, asyncio.AbstractEventLoop, asyncio.Event] | None = None


def submit(work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
    """Start ``work`` on the event loop without waiting for it."""
    global _running
    with _LOCK:
        if _running is None:
            started: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = SimpleQueue()
            thread = threading.Thread(target=_serve, args=(started,), name="calls to servers", daemon=True)
            thread.start()
            _running = (thread, *started.get())
        return asyncio.run_coroutine_threadsafe(work, _running[1])


def close() -> None:
    """Cancel what is under way and close the event loop (at the end of the process, and of the tests)."""
    global _running
    with _LOCK:
        running, _running = _running, None
    if running is not None:
        thread, loop, ended = running
        loop.call_soon_threadsafe(ended.set)
        thread.join()


atexit.register(close)


def run(work: Coroutine[Any, Any, T], cancel: CancelToken | None = None) -> T:
    """Wait for the result of ``work``. Raises what it raises, and CancelledError as soon as ``cancel`` is cancelled."""
    return _result(submit(work), cancel or CancelToken())


def iterate(parts: AsyncIterator[T], cancel: CancelToken) -> Iterator[T]:
    """Give the items of an asynchronous generator as they arrive. Raises as ``run`` does.

    A generator that is closed before its end cancels the work too.
    """
    arrived: SimpleQueue[T | None] = SimpleQueue()  # None: no item follows

    async def read() -> None:
        async for part in parts:
            arrived.put(part)

    future = submit(read())
    future.add_done_callback(lambda _: arrived.put(None))
    try:
        with cancel.on_cancel(future.cancel):
            while (part := arrived.get()) is not None:
                cancel.check()
                yield part
        _result(future, cancel)
    finally:
        future.cancel()


def _result(future: concurrent.futures.Future[T], cancel: CancelToken) -> T:
    try:
        with cancel.on_cancel(future.cancel):
            return future.result()
    except concurrent.futures.CancelledError:
        cancel.check()
        raise CancelledError("The program is ending.") from None
    finally:
        future.cancel()  # KeyboardInterrupt ends the wait alone


def _serve(started: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    async def until_closed() -> None:
        ended = asyncio.Event()
        started.put((asyncio.get_running_loop(), ended))
        await ended.wait()

    asyncio.run(until_closed())  # cancels the tasks that are left
