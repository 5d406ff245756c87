"""A stand-in for Piper: a tone whose length and pitch say what was spoken. On the path of an app: a fake voice speaks.

A text with CRASH in it ends the process, as memory that runs out does; one with DAMAGED raises. So does a second voice
in memory.
"""

from __future__ import annotations

import math
import os
import wave
from array import array
from pathlib import Path
from weakref import WeakSet

RATE = 8_000
_loaded: WeakSet[PiperVoice] = WeakSet()


class PiperVoice:
    @staticmethod
    def load(path: str) -> PiperVoice:
        if not Path(path).read_bytes().startswith(b"voice"):
            raise ValueError("no ONNX model")
        if _loaded:
            raise MemoryError("two voices at once")
        voice = PiperVoice()
        _loaded.add(voice)
        return voice

    def synthesize_wav(self, text: str, wav: wave.Wave_write) -> None:
        if "CRASH" in text:
            os._exit(9)
        if "DAMAGED" in text:
            raise RuntimeError("no such sound")
        wav.setparams((1, 2, RATE, 0, "NONE", ""))
        samples = (8_000 * math.sin(i * (0.1 + len(text) % 7 / 50)) for i in range(10 * len(text)))
        wav.writeframes(array("h", map(int, samples)).tobytes())
