"""Recognises pictures of pages in a child process, so that a crash or the memory it takes cannot bring the app down.

Run as a module it is that child: it reads a picture a line from standard input and writes the boxes of text in it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from base64 import b64decode, b64encode
from queue import Empty
from tempfile import TemporaryFile
from time import monotonic
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.errors import DocumentError, SettingsError
from readagent_core.loaders.child_process import Child
from readagent_core.loaders.extras import how_to_install
from readagent_core.loaders.recognition.page import RecognisedPage, arrange

WIDTH = 1240  # pixels of a picture; A4 at 150 dots an inch
_NEEDED = ("rapidocr", "onnxruntime")
_SECONDS = 300.0  # in which a page must be recognised, the start of the child included
_POLL_SECONDS = 0.1  # between checks for cancellation
_LOWER_PRIORITY = 10  # so that the app answers while a page is recognised


def is_installed() -> bool:
    """Returns whether the packages that recognise text are installed."""
    return all(importlib.util.find_spec(name) for name in _NEEDED)


class Recogniser:
    """Recognises one picture at a time. The child starts with the first one and ends with the ``with`` block."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._child: Child | None = None

    def __enter__(self) -> Recogniser:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.end()
            self._errors.close()

    def recognise(self, picture: bytes) -> RecognisedPage:
        """Returns the lines in ``picture``, a JPEG or PNG of about ``WIDTH`` pixels.

        Raises SettingsError where the packages are missing, CancelledError, and DocumentError where the child crashed
        or took too long."""
        if not is_installed():
            raise SettingsError(f"Recognising text needs packages that are not installed: {how_to_install('ocr')}")
        child = self._child or self._start()
        child.write(b64encode(picture))
        end = monotonic() + _SECONDS
        while monotonic() < end:
            self._cancel.check()
            with contextlib.suppress(Empty):
                reply = child.lines.get(timeout=_POLL_SECONDS)
                if not reply:
                    raise DocumentError(
                        "The program that recognises text crashed. What was recognised before is saved. "
                        f"{self._last_error()}".rstrip()
                    )
                found = json.loads(reply)
                return arrange(found["boxes"], found["width"], found["height"])
        raise DocumentError(
            f"Recognising a page took longer than {_SECONDS:.0f} seconds and was stopped. What was "
            "recognised before is saved."
        )

    def _start(self) -> Child:
        self._errors = TemporaryFile()  # noqa: SIM115  closed with the child
        self._child = Child(__name__, self._errors)
        return self._child

    def _last_error(self) -> str:
        """Returns the last line that the child wrote about its error."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""


def main() -> None:
    """Writes a line of JSON with the boxes of every picture that it reads."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the packages print is no reply
    if hasattr(os, "nice"):
        os.nice(_LOWER_PRIORITY)
    import cv2
    import numpy
    from rapidocr import RapidOCR

    # text that is less certain is left out here, where it is counted; pages are not upside down
    engine: Any = RapidOCR(params={"Global.log_level": "error", "Global.text_score": 0.0, "Global.use_cls": False})
    for line in sys.stdin.buffer:
        picture: Any = cv2.imdecode(numpy.frombuffer(b64decode(line), numpy.uint8), cv2.IMREAD_COLOR)
        found = engine(picture)
        boxes: list[Any] = []
        if found.boxes is not None:
            each = zip(found.boxes.tolist(), found.txts, found.scores, strict=True)
            boxes = [[corners, text, float(score)] for corners, text, score in each]
        height, width = picture.shape[:2]
        output.write(json.dumps({"boxes": boxes, "width": width, "height": height}).encode() + b"\n")
        output.flush()


if __name__ == "__main__":
    main()
