"""Pictures of the pages of a PDF, and where words stand on them, made by PDFium in a child process.

The process is limited in memory and time, so that no file can bring the app down, and PDFium runs in one thread there.
``PdfPages`` uses one process for all pages of a file: a page is then drawn in a tenth of a second. Source pages are
numbered from 1. Raises DocumentError.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from readagent_core import errors
from readagent_core.errors import DamagedDocumentError, DocumentError
from readagent_core.loaders.base import MEGABYTE, Limits
from readagent_core.loaders.pdf.quotation import PagePlace

LIMITS = Limits(memory=400 * MEGABYTE, seconds=10)
WIDEST = 3_000  # pixels
_CLOCK_FACTOR = 3  # seconds of the clock for a second of the processor
_ROOT = Path(__file__).resolve().parents[3]
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
    """The pages of one PDF, a path or its bytes. Any thread may call; one call runs at a time.

    The child process starts at the first call and, after a page that brought it down, again at the next.
    """

    def __init__(self, source: Path | bytes, *, password: str = "", limits: Limits = LIMITS) -> None:
        self._source = source
        self._password = password
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._facts = PdfFacts(0)
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
            return self._call({"do": "draw", "number": number, "width": max(1, min(width, WIDEST))})[1]

    def find(self, text: str, start: int, end: int, numbers: Sequence[int]) -> tuple[PagePlace, ...]:
        """Returns where characters ``start`` to ``end`` of the paragraph ``text`` stand; () where that is not known.

        ``numbers``: the pages on one of which the paragraph begins. A quotation over a page break has two places.
        """
        with self._lock:
            self._start()
            request = {"do": "find", "text": text, "start": start, "end": end, "numbers": list(numbers)}
            found = self._call(request)[0]
        return tuple(PagePlace(number, tuple(map(tuple, rectangles))) for number, rectangles in found)

    def close(self) -> None:
        """End the child process. The next call starts another."""
        with self._lock:
            self._end()

    def _check(self, number: int) -> None:
        if not 1 <= number <= self._facts.pages:
            raise DocumentError(f"There is no page {number} in this PDF of {self._facts.pages:,} pages.")

    def _start(self) -> None:
        if self._process is not None:
            return
        path = os.pathsep.join(p for p in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if p)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "readagent_core.loaders.pdf.page_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
            )
        except OSError:
            raise DocumentError(
                "The page could not be shown, because no process could be started. Close other programs, then try "
                "again."
            ) from None
        file, data = (str(self._source), b"") if isinstance(self._source, Path) else ("", self._source)
        request = {"file": file, "size": len(data), "password": self._password, "limits": asdict(self._limits)}
        value, _ = self._call(request, data)
        self._facts = PdfFacts(value["pages"], tuple(value["labels"]))

    def _call(self, request: dict[str, Any], data: bytes = b"") -> tuple[Any, bytes]:
        """Returns the child's answer to a request: a value and a picture."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(self._limits.seconds * _CLOCK_FACTOR, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n" + data)
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            picture = process.stdout.read(answer.get("size", 0))
        except (OSError, ValueError):
            self._end()
            raise DamagedDocumentError(_CRASHED) from None
        finally:
            timer.cancel()
        if "error" in answer:
            if "file" in request:
                self._end()
            kind = getattr(errors, str(answer["error"]), DocumentError)
            raise (kind if issubclass(kind, DocumentError) else DocumentError)(answer["message"])
        return answer["value"], picture

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def draw_page(data: bytes, number: int, *, width: int, password: str | None = None) -> bytes:
    """Returns a JPEG of page ``number``, from 1, of the PDF ``data``, about ``width`` pixels wide."""
    with PdfPages(data, password=password or "") as pages:
        return pages.draw(number, width=width)


def page_rectangles(
    data: bytes, text: str, start: int, end: int, *, label: str, password: str | None = None
) -> tuple[PagePlace, ...]:
    """Returns where a part of a paragraph that begins on the page printed as ``label`` stands, as ``PdfPages.find``."""
    with PdfPages(data, password=password or "") as pages:
        return pages.find(text, start, end, pages.facts().numbers(label))
