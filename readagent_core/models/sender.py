"""The second process of ``beside``: it sends what comes over its wires and hands back what arrives.

Run as a program with the numbers of its sockets, the first for its life: when that closes, it ends. It moves bytes
and knows nothing of what is in them.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import httpx2

from readagent_core.models.arriving import Headers
from readagent_core.models.base import Watch
from readagent_core.models.connections import KeptConnections, Limits, Origin
from readagent_core.models.patience import Limiter

PART_SECONDS = 0.05  # what has come of a long answer is handed on so often
BROKEN = (OSError, EOFError, ValueError, pickle.UnpicklingError)  # a wire whose other end has gone
_BLOCK = 65_536

Call = tuple[int, Origin, bytes, Limits]  # how many calls may be under way, and what ``KeptConnections.send`` takes
Head = tuple[int, Headers, float]  # status, headers, and the seconds it waited here for its turn
Part = tuple[Head | None, bytes, tuple[str, str] | None, bool]  # head, data, fault, last


class Wire:
    """One end of a pair of sockets that carries objects. Both ends are this program's own."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._file = end.makefile("rb", buffering=_BLOCK)
        self.open = True

    def send(self, value: object) -> None:
        """Raises OSError when the other end has gone."""
        self._end.sendall(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))

    def receive(self) -> Any:
        """The next object. Raises one of ``BROKEN`` when the other end has gone."""
        return pickle.load(self._file)

    def close(self) -> None:
        self.open = False
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self._file.close()
        self._end.close()


class Sender:
    """As many calls at once as it was last told, on connections that are kept; others wait here for their turn."""

    def __init__(self) -> None:
        self._connections = KeptConnections()
        self._limiter = Limiter()
        self._watch = Watch()  # stops nothing: this process just ends

    def serve(self, wire: Wire) -> None:
        """Call after call from one wire, until it is closed."""
        with suppress(*BROKEN):
            while True:
                call: Call = wire.receive()
                most, origin, message, limits = call
                self._limiter.allow(most)
                came = time.monotonic()
                with self._limiter.line(self._watch):
                    last = self._sent(wire, origin, message, limits, time.monotonic() - came)
                wire.send(last)
        wire.close()

    def _sent(self, wire: Wire, origin: Origin, message: bytes, limits: Limits, waited: float) -> Part:
        """Send a call and hand on what comes in good time; the last part is left to be handed on."""
        try:
            body = self._connections.send(origin, message, limits)
        except httpx2.TransportError as error:
            return None, b"", _told(error), True
        head: Head | None = (body.status, body.headers, waited)
        held, fault, due = b"", None, time.monotonic() + PART_SECONDS
        try:
            for data in body:
                held += data
                if time.monotonic() >= due:
                    wire.send((head, held, None, False))
                    head, held, due = None, b"", time.monotonic() + PART_SECONDS
        except httpx2.TransportError as error:
            fault = _told(error)
        finally:
            body.close()
        return head, held, fault, True


def _told(error: httpx2.TransportError) -> tuple[str, str]:
    return type(error).__name__, str(error)


def main(files: list[int]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the first process's; its end is this one's
    life, *wires = [Wire(socket.socket(fileno=file)) for file in files]
    sender = Sender()
    for wire in wires:
        threading.Thread(target=sender.serve, args=(wire,), daemon=True).start()
    with suppress(*BROKEN):
        life.send("ready")
        life.receive()
    os._exit(0)  # what is still under way is nobody's


if __name__ == "__main__":
    main([int(file) for file in sys.argv[1:]])
