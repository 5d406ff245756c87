"""Makes the sound of a sentence, in a child process that is kept for the next one and ends when it is idle."""

from __future__ import annotations

import atexit
import json
import subprocess
import threading
from base64 import b64decode
from queue import Empty

from readagent_core.errors import LocalModelError
from readagent_core.loaders.child_process import Child
from readagent_core.speech.voices import Voice

MOST_CHARACTERS = 5_000  # of one call
_SECONDS = 120.0  # for the voice to be loaded and a text of that length to be spoken on a slow computer
_FAILED = "The voice could not speak: its files are damaged, or another program took the memory. Choose another voice."


class Speaker:
    """The child process. Any thread may call; one text is spoken at a time."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._lock = threading.Lock()

    def say(self, voice: Voice, text: str) -> bytes:
        """Return a WAV file. Raises LocalModelError."""
        if len(text) > MOST_CHARACTERS:
            raise LocalModelError(f"At most {MOST_CHARACTERS:,} characters are spoken at once.")
        if not self._lock.acquire(timeout=_SECONDS):
            raise LocalModelError("The voice is busy. Try again.")
        try:
            return self._ask(json.dumps({"file": str(voice.file), "text": text}).encode())
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the child process. The next call starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _ask(self, request: bytes) -> bytes:
        for _ in range(2):  # an idle child may have ended just now
            try:
                self._child = self._child or Child("readagent_core.speech.child", subprocess.DEVNULL)
                self._child.write(request)
                answer = json.loads(self._child.lines.get(timeout=_SECONDS))
                if "error" in answer:
                    raise LocalModelError(f"{_FAILED} ({answer['error']})")
                return b64decode(answer["wav"])
            except (OSError, Empty, ValueError):
                self.close()
        raise LocalModelError(_FAILED)


SPEAKER = Speaker()
atexit.register(SPEAKER.close)
