"""llama.cpp's server with one model, in a child process of ours: started when it is needed, ended when it is idle.

It answers on a port of this computer that the system chooses, with a key of its own, like any other server. One model
is loaded at a time.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from queue import Empty
from secrets import token_urlsafe

import psutil

from readagent_core.cancel import CancelToken
from readagent_core.errors import LocalModelError
from readagent_core.loaders.child_process import Child
from readagent_core.models.local.gguf import Head, read_head
from readagent_core.secret import Secret

WINDOW = 8_192  # tokens, of a model that can take more: each of them needs memory
IDLE_SECONDS = 600.0
LOAD_SECONDS = 900.0
DEVICE_SECONDS = 20.0
WORKING_BYTES = 500 << 20  # of the child process besides the model and its state
_MOST_SET_ASIDE = 1 << 30
_CHILD = "readagent_core.models.local.child"


def is_installed() -> bool:
    """Whether there is a wheel of the engine for this computer."""
    return find_spec("xllamacpp") is not None


def cores() -> int:
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


def free_memory() -> int:
    """Bytes that a program may take now without another one being swapped out."""
    return int(psutil.virtual_memory().available)


@cache
def graphics_cards() -> tuple[str, ...]:
    """The graphics cards that the engine reports, asked once; none where it does not answer in time."""
    child = Child(_CHILD, subprocess.DEVNULL)
    try:
        child.write(json.dumps({"devices": True}).encode())
        line = child.lines.get(timeout=DEVICE_SECONDS)
        return tuple(json.loads(line)["devices"])
    except (Empty, ValueError, KeyError):
        return ()
    finally:
        child.end()


def memory_needed(size: int, head: Head, window: int) -> int:
    """Return the bytes that a model of ``size`` bytes takes while it runs: itself, its state, and a second one that is
    set aside while another prompt is worked on.
    """
    state = head.state * window
    return size + state + min(state, _MOST_SET_ASIDE) + WORKING_BYTES


class Engine:
    """One model. ``states``: the folder of its saved states. ``restarts``: how often it died and was started again.
    ``embeds``: it makes vectors of texts, beside the one that answers.

    Any thread may use it.
    """

    def __init__(self, name: str, file: Path, *, states: Path, window: int | None = None, embeds: bool = False) -> None:
        self.name = name
        self.file = file
        self.head = read_head(file)
        self.window = window or min(self.head.window, WINDOW)
        self.key = Secret(token_urlsafe(24))
        self.restarts = 0
        self.embeds = embeds
        self.states = states
        self._child: Child | None = None
        self._address = ""
        self._users = 0
        self._idle: threading.Timer | None = None
        self._lock = threading.RLock()

    @property
    def identity(self) -> str:
        """What changes when a saved state cannot be used any more: the file, the window, the engine's version."""
        found = self.file.stat()
        of = f"{self.file} {found.st_size} {found.st_mtime_ns} {self.window} {version('xllamacpp')}"
        return hashlib.sha256(of.encode()).hexdigest()[:16]

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.process.poll() is None

    @property
    def pid(self) -> int | None:
        return self._child.process.pid if self._child and self.running else None

    def start(self, cancel: CancelToken) -> str:
        """Return its address once the model is loaded. Raises LocalModelError and CancelledError."""
        while not self._lock.acquire(timeout=0.1):  # another call is starting it
            cancel.check()
        try:
            if not self.running:
                self.restarts += self._child is not None
                self.stop()
                self._start(cancel)
            return self._address
        finally:
            self._lock.release()

    def _start(self, cancel: CancelToken) -> None:
        if not is_installed():
            raise LocalModelError(
                "The engine for models on this computer is not installed: pip install xllamacpp. Where it has no "
                "wheel for this computer, install Ollama (ollama.com) and choose it in Settings."
            )
        for other in list(_ENGINES.values()):
            if other is not self and not other._users and other.embeds == self.embeds:
                other.stop()
        self._check_memory()
        self.states.mkdir(parents=True, exist_ok=True, mode=0o700)
        child = self._child = Child(_CHILD, subprocess.DEVNULL)
        reading = cores()
        child.write(
            json.dumps(
                {
                    "name": self.name,
                    "file": str(self.file),
                    "key": self.key.reveal(),
                    "window": self.window,
                    "reading": reading,
                    # writing waits for memory more than for a core, and its threads for the slowest of them
                    "writing": max(1, reading // 2),
                    "states": f"{self.states}{os.sep}",
                    "embeds": self.head.pooling if self.embeds else "",
                    "set_aside": min(self.head.state * self.window, _MOST_SET_ASIDE) >> 20,
                }
            ).encode()
        )
        answer = self._wait_for(child, cancel)
        if "address" not in answer:
            self.stop()
            reason = str(answer.get("error", ""))[:200]
            raise LocalModelError(
                f"{self.name} could not be loaded{f' ({reason})' if reason else ''}: its file is damaged, or of a kind "
                "that this engine does not know. Choose another model in Settings."
            )
        self._address = f"{answer['address']}/v1"

    def _wait_for(self, child: Child, cancel: CancelToken) -> dict[str, str]:
        """The child's first line; {} where it ended without one."""
        try:
            for _ in range(int(LOAD_SECONDS / 0.2)):
                cancel.waiting(0.001, f"Loading {self.name} into memory")
                cancel.check()
                try:
                    line = child.lines.get(timeout=0.2)
                except Empty:
                    continue
                found = json.loads(line) if line.startswith(b"{") else {}
                if found or not line:
                    return dict(found)
        except BaseException:
            self.stop()
            raise
        finally:
            cancel.waiting(0.0, "")
        return {}

    def _check_memory(self) -> None:
        needed, free = memory_needed(self.file.stat().st_size, self.head, self.window), free_memory()
        if needed > free:
            raise LocalModelError(
                f"{self.name} needs {needed / 1e9:.1f} GB of memory; {free / 1e9:.1f} GB is free. Close other "
                "programs, or choose a smaller model in Settings."
            )

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep it running meanwhile; some minutes after the last use it ends and gives its memory back."""
        with self._lock:
            self._users += 1
            if self._idle:
                self._idle.cancel()
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._idle = threading.Timer(IDLE_SECONDS, self._stop_if_idle)
                    self._idle.daemon = True
                    self._idle.start()

    def _stop_if_idle(self) -> None:
        with self._lock:
            if not self._users:
                self.stop()

    def stop(self) -> None:
        """End the child process. The next call starts another one."""
        with self._lock:
            child, self._child = self._child, None
            if self._idle:
                self._idle.cancel()
            if child is not None:
                child.end()


_ENGINES: dict[tuple[Path, int | None, bool], Engine] = {}
_ENGINES_LOCK = threading.Lock()


def engine_of(name: str, file: Path, *, states: Path, window: int | None = None, embeds: bool = False) -> Engine:
    """The one engine in this process for a file. Raises LocalModelError for a file that is no model."""
    with _ENGINES_LOCK:
        key = (file, window, embeds)
        if key not in _ENGINES:
            _ENGINES[key] = Engine(name, file, states=states, window=window, embeds=embeds)
        return _ENGINES[key]


def stop_all() -> None:
    """End every child process (at the end of this one, and between tests)."""
    with _ENGINES_LOCK:
        for engine in _ENGINES.values():
            engine.stop()
        _ENGINES.clear()


atexit.register(stop_all)
