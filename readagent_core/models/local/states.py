"""What a model has read, kept on disk as its own state: the beginning that the questions about a book share.

A prompt that begins as an earlier one did needs only its new part computed. The state of the longest shared beginning
is loaded into the engine before such a prompt is sent; whether it was used is known from the tokens that the server
says it took from its cache, and a state that was not used is removed. A state belongs to one model file and window, and
its prompt holds all else that decides it. The oldest ones go first.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

BLOCK = 400  # characters; shared beginnings are compared in such steps
LEAST = 2_000  # characters: computing fewer again takes no longer than the loading
MEGABYTES = 4_096
_NEW = 0.15  # a prompt that shares less than all but this share with every state gets one of its own


class States:
    """The states of one model. ``name``: its file and window, as a hash."""

    def __init__(self, folder: Path, name: str, *, megabytes: int = MEGABYTES) -> None:
        self.folder = folder
        self._name = name
        self._megabytes = megabytes
        self.loaded: list[str] = []  # the hashes of the blocks of what the engine has now

    def best(self, prompt: str) -> tuple[str, int]:
        """Return the state that shares the longest beginning with ``prompt``, and its characters; ('', 0) for none."""
        wanted = blocks(prompt)
        found, most = "", 0
        for file in self.folder.glob(f"{self._name}-*.json"):
            with suppress(OSError, ValueError):
                count = shared(wanted, json.loads(file.read_text(encoding="utf-8")))
                if count > most and file.with_suffix(".bin").is_file():
                    found, most = file.stem, count
        return (found, most * BLOCK) if most * BLOCK >= LEAST else ("", 0)

    def is_worth_loading(self, prompt: str, characters: int) -> bool:
        """Return whether a state that shares so many characters has more of ``prompt`` than the engine has now."""
        return characters > shared(blocks(prompt), self.loaded) * BLOCK + LEAST // 2

    def is_worth_saving(self, prompt: str) -> bool:
        """Return whether no state has nearly all of ``prompt``."""
        return len(prompt) >= LEAST and self.best(prompt)[1] < len(prompt) * (1 - _NEW) - BLOCK

    def new_name(self, prompt: str) -> str:
        return f"{self._name}-{hashlib.sha256(prompt.encode()).hexdigest()[:16]}"

    def saved(self, name: str, prompt: str) -> None:
        """Note that the engine has written a state; remove the oldest ones over the budget."""
        (self.folder / f"{name}.json").write_text(json.dumps(blocks(prompt)), encoding="utf-8")
        files = sorted(self.folder.glob("*.bin"), key=lambda file: file.stat().st_mtime, reverse=True)
        left = self._megabytes << 20
        for file in files:
            left -= file.stat().st_size
            if left < 0 and file.stem != name:
                self.remove(file.stem)

    def used(self, name: str) -> None:
        with suppress(OSError):
            now = time.time()
            os.utime(self.folder / f"{name}.bin", (now, now))

    def remove(self, name: str) -> None:
        for ending in (".bin", ".json"):
            (self.folder / f"{name}{ending}").unlink(missing_ok=True)


def blocks(prompt: str) -> list[str]:
    """The hashes of the beginnings of ``prompt``, one a block."""
    found = hashlib.sha256()
    hashes = []
    for at in range(0, len(prompt) - BLOCK + 1, BLOCK):
        found.update(prompt[at : at + BLOCK].encode("utf-8", "surrogatepass"))
        hashes.append(found.hexdigest()[:16])
    return hashes


def shared(one: list[str], other: list[str]) -> int:
    """How many blocks both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def size_of(folder: Path) -> int:
    """Bytes of all states."""
    return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())
