"""Calls sent by a second process, so that many at once leave this one's interpreter to the work between them.

An interpreter computes one thing at a time. Where replies come in hundreds a second, a line whose reply has come waits
until this process gets round to sending the next call. The second process has that call by then: it takes ``ahead``
more than there are lines. Only bytes go there and back; retries, cache, money and what a reply means stay here. Where
it cannot be had, or ends, calls are sent from here as ever.

All it sends, the key within, reaches it through sockets that only the two of them hold. When this process ends,
however it ends, those close and the second ends too.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2

from readagent_core.models.arriving import Headers
from readagent_core.models.connections import Limits, Origin
from readagent_core.models.patience import Limiter
from readagent_core.models.sender import BROKEN, Part, Wire

WORTH_IT = 16  # calls at once; with fewer, this process has time enough
_PROGRAM = "readagent_core.models.sender"
_ROOT = Path(__file__).resolve().parent.parent.parent


class Beside:
    """The second process, while one is wanted (``helped``)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: list[int] = []
        self._second: _Second | None = None

    @contextmanager
    def helped(self, connections: int, limiter: Limiter) -> Iterator[None]:
        """Have a second process send the calls meanwhile, up to ``connections`` at once, as soon as it stands.

        ``limiter``: how many calls the server takes; it counts all that are under way, wherever they are sent from.
        """
        with self._lock:
            self._wanted.append(connections)
            if self._second is None and connections >= WORTH_IT:
                self._second = _Second(connections, lambda there: self._most(limiter, there))
        try:
            yield
        finally:
            with self._lock:
                self._wanted.remove(connections)
                ended, self._second = (None, self._second) if self._wanted else (self._second, None)
            if ended is not None:
                ended.end()

    @property
    def ahead(self) -> int:
        """Calls that may wait in the second process for a line; 0 while there is none."""
        second = self._second
        return second.ahead if second is not None else 0

    def send(self, origin: Origin, message: bytes, limits: Limits) -> Relayed | None:
        """As ``KeptConnections.send``; None where this call is to be sent from here."""
        second = self._second
        return second.send(origin, message, limits) if second is not None else None

    def _most(self, limiter: Limiter, there: int) -> int:
        """How many calls the second process may have under way, when ``there`` are in it, waiting or not.

        Never none, or it would wait for a call that may not come: while others are still sent from here, that may be
        one more than the server is to get.
        """
        here = max(0, limiter.under_way - there)
        return max(1, min(sum(self._wanted), int(limiter.allowed)) - here)


class Relayed(httpx2.SyncByteStream):
    """One answer by way of the second process, as ``arriving.Body`` is one. ``keep`` takes back the wire.

    ``waited``: seconds before it was sent.
    """

    def __init__(self, wire: Wire, keep: Callable[[Wire], None]) -> None:
        self.status = 0
        self.headers: Headers = []
        self.waited = 0.0
        self._wire, self._keep = wire, keep
        self._part: Part = (None, b"", None, False)
        self._closed = False

    def begin(self) -> None:
        """Wait for status and headers. Raises httpx2's error for a call that failed, or one of ``BROKEN``."""
        self._part = self._wire.receive()
        head, _, fault, _ = self._part
        if head is not None:
            self.status, self.headers, self.waited = head
        elif fault is not None:
            self.close()
            raise _fault(*fault)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            _, data, fault, last = self._part
            if data:
                yield data
            if fault is not None:
                raise _fault(*fault)
            if last:
                return
            try:
                self._part = self._wire.receive()
            except BROKEN as error:
                raise httpx2.ReadError("the second process ended") from error

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        *_, last = self._part
        if not last:
            self._wire.close()  # the rest is not wanted, and the other end stops listening for it
        self._keep(self._wire)


def _fault(name: str, message: str) -> httpx2.TransportError:
    kind: type[httpx2.TransportError] = getattr(httpx2, name)
    return kind(message)


class _Second:
    """The second process, seen from the first. ``most``: how many of the calls given it may be under way now."""

    def __init__(self, connections: int, most: Callable[[int], int]) -> None:
        self.ahead = 0
        self._most = most
        self._lock = threading.Lock()
        self._free: list[Wire] = []
        self._in_use = 0
        self._ended = False
        self._life: Wire | None = None
        threading.Thread(target=self._run, args=(connections,), name="second process", daemon=True).start()

    def send(self, origin: Origin, message: bytes, limits: Limits) -> Relayed | None:
        with self._lock:
            if not self._free:
                return None
            wire = self._free.pop()
            self._in_use += 1
        relayed = Relayed(wire, self._back)
        try:
            wire.send((self._most(self._in_use), origin, message, limits))
            relayed.begin()
        except BROKEN:
            relayed.close()
            return None
        return relayed

    def end(self) -> None:
        """Let the process go as soon as the calls in it are done; new ones are sent from here."""
        with self._lock:
            self._ended = True
            self.ahead = 0
            self._let_go()

    def _back(self, wire: Wire) -> None:
        with self._lock:
            self._in_use -= 1
            if wire.open:
                self._free.append(wire)
            if self._ended:
                self._let_go()

    def _let_go(self) -> None:
        while self._free:
            self._free.pop().close()
        if not self._in_use and self._life is not None:
            self._life.close()

    def _run(self, connections: int) -> None:
        """Start the process, take up its wires when it stands, and wait for its end."""
        ahead = connections // 3
        started = _start(1 + connections + ahead)
        if started is None:
            return
        process, (life, *wires) = started
        with suppress(*BROKEN):
            life.receive()
            with self._lock:
                self._life, self._free = life, list(wires)
                if self._ended:
                    self._let_go()
                else:
                    self.ahead = ahead
        process.wait()
        with self._lock:
            self.ahead = 0
            self._free.clear()
        for wire in (life, *wires):
            wire.close()


def _start(count: int) -> tuple[subprocess.Popen[bytes], list[Wire]] | None:
    """The process and this end of ``count`` wires to it; None where none can be had."""
    pairs: list[tuple[socket.socket, socket.socket]] = []
    path = os.pathsep.join(p for p in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if p)
    try:
        for _ in range(count):
            pairs.append(socket.socketpair())
        files = [there.fileno() for _, there in pairs]
        process = subprocess.Popen(
            [sys.executable, "-m", _PROGRAM, *map(str, files)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            pass_fds=files,
        )
    except (OSError, ValueError, subprocess.SubprocessError):  # ValueError: this system hands on no sockets
        for here, _ in pairs:
            here.close()
        return None
    finally:
        for _, there in pairs:
            there.close()
    return process, [Wire(here) for here, _ in pairs]
