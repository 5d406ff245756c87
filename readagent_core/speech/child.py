"""The child process that speaks, and the only module that imports Piper.

Each line of its input is a JSON object with the ``file`` of a voice and a ``text``, and each of its output one with the
``wav`` in base64, or an ``error``. It ends with its input, and when nothing was asked for some minutes.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import wave
from base64 import b64encode
from contextlib import suppress
from typing import Any

IDLE_SECONDS = 600.0


def main() -> None:
    with suppress(AttributeError, OSError):  # Windows
        os.nice(5)  # what a person presses comes first
    voices: dict[str, Any] = {}
    idle = _end_when_idle()
    for line in sys.stdin.buffer:
        idle.cancel()
        try:
            answer = {"wav": _speak(voices, **json.loads(line))}
        except Exception as error:  # noqa: BLE001  whatever it is, the parent process has to say it
            answer = {"error": str(error)[:200] or type(error).__name__}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
        idle = _end_when_idle()


def _speak(voices: dict[str, Any], file: str, text: str) -> str:
    if file not in voices:
        from piper import PiperVoice

        voices.clear()  # one is in memory at a time
        voices[file] = PiperVoice.load(file)
    sound = io.BytesIO()
    with wave.open(sound, "wb") as wav:
        wav.setparams((1, 2, 22_050, 0, "NONE", ""))  # of a text in which the voice finds nothing to say
        voices[file].synthesize_wav(text.replace("[[", "[ ["), wav)  # Piper takes [[...]] for sounds
    return b64encode(sound.getvalue()).decode()


def _end_when_idle() -> threading.Timer:
    timer = threading.Timer(IDLE_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
    return timer


if __name__ == "__main__":
    main()
