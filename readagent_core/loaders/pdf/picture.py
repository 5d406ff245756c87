"""Pictures of the pages of a PDF, and where words stand on them, made by PDFium in a child process.

The process is limited in memory and time, so that no file can bring the app down, and PDFium runs in one thread there.
``PdfPages`` uses one process for all pages of a file: a page is then drawn in a tenth of a second. Source pages are
numbered from 1. Raises DocumentError.
"""

from __future__ import annotations

import json
import subprocess
import threading
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.loaders.base import MEGABYTE, Limits
from readagent_core.loaders.child_process import Child, named_error
from readagent_core.loaders.pdf.quotation import PagePlace

LIMITS = Limits(memory=400 * MEGABYTE, seconds=10)
WIDEST = 3_000  # pixels
_CLOCK_FACTOR = 3  # seconds of the clock for a second of the processor
_CRASHED = (
    "This page could not be shown: the program that draws it crashed or took too long. The text of the book is not "
    "affected, and the other pages can be shown."
)


@dataclass(frozen=True)
class PdfFacts:
    """The number of source pages, and their printed numbers; () where those are 1, 2, 3 …"""

    pages: int
    labels: tuple[str, ...] = ()

    def numbers(self, label: str) -> tuple[int, ...]:
        """Returns the source pages with this printed number."""
        if self.labels:
            return tuple(i + 1 for i, printed in enumerate(self.labels) if printed == label)
        return (int(label),) if label.isdecimal() and 1 <= int(label) <= self.pages else ()


class PdfPages:
    """The pages of the PDF at ``path``. Any thread may call; one call runs at a time.

    The child process starts at the first call and, after a page that brought it down, again at the next.
    """

    def __init__(self, path: Path, *, password: str = "") -> None:
        self._path = path
        self._password = password
        self._child: Child | None = None
        self._facts: PdfFacts
        self._lock = threading.Lock()

    def __enter__(self) -> PdfPages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def facts(self) -> PdfFacts:
        with self._lock:
            self._start()
            return self._facts

    def draw(self, number: int, *, width: int) -> bytes:
        """Returns a JPEG of page ``number``, about ``width`` pixels wide."""
        with self._lock:
            self._start()
            self._check(number)
            return b64decode(self._call({"do": "draw", "number": number, "width": max(1, min(width, WIDEST))}))

    def find(self, text: str, start: int, end: int, numbers: Sequence[int]) -> tuple[PagePlace, ...]:
        """Returns where characters ``start`` to ``end`` of the paragraph ``text`` stand; () where that is not known.

        ``numbers``: the pages on one of which the paragraph begins. A quotation over a page break has two places.
        """
        with self._lock:
            self._start()
            request = {"do": "find", "text": text, "start": start, "end": end, "numbers": list(numbers)}
            found = self._call(request)
        return tuple(PagePlace(number, tuple(map(tuple, rectangles))) for number, rectangles in found)

    def close(self) -> None:
        """End the child process. The next call starts another."""
        with self._lock:
            self._end()

    def _check(self, number: int) -> None:
        if not 1 <= number <= self._facts.pages:
            raise DocumentError(f"There is no page {number} in this PDF of {self._facts.pages:,} pages.")

    def _start(self) -> None:
        if self._child is not None:
            return
        try:
            self._child = Child("readagent_core.loaders.pdf.page_process", subprocess.DEVNULL)
        except OSError:
            raise DocumentError(
                "The page could not be shown, because no process could be started. Close other programs, then try "
                "again."
            ) from None
        try:
            value = self._call({"file": str(self._path), "password": self._password})
        except DocumentError:
            self._end()
            raise
        self._facts = PdfFacts(value["pages"], tuple(value["labels"]))

    def _call(self, request: dict[str, Any]) -> Any:
        """Returns the value that the child answers a request with."""
        assert self._child is not None
        self._child.write(json.dumps(request).encode())
        try:
            answer = json.loads(self._child.lines.get(timeout=LIMITS.seconds * _CLOCK_FACTOR))
        except (Empty, ValueError):
            self._end()
            raise DamagedDocumentError(_CRASHED) from None
        if "error" in answer:
            raise named_error(answer)
        return answer["value"]

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()
