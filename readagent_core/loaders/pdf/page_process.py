"""The child process that draws and searches the pages of one PDF, for ``picture.PdfPages``.

It reads one request a line from standard input, JSON, and answers each with a line of JSON, which a picture follows
where its size says so. It ends at the end of the input, so it never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import IO, Any

from pypdfium2 import PdfDocument, PdfiumError

from readagent_core.errors import DamagedDocumentError, DocumentError, TooLargeError
from readagent_core.loaders.base import Limits
from readagent_core.loaders.child_process import extend_time, limit_memory

_QUALITY = 85  # of the JPEG
_MOST_PIXELS = 16_000_000


def _open(file: str, data: bytes, password: str, limits: Limits) -> PdfDocument:
    """Returns the document at path ``file``, which is read as needed, or in ``data``. Raises DocumentError."""
    try:
        return PdfDocument(file or data, password=password or None)
    except PdfiumError:
        # imported late, because this takes as long as all else: it knows how to repair files, and forms of passwords
        from readagent_core.loaders.pdf.file import open_pdf

        if file:
            with open(file, "rb") as opened:
                data = opened.read()
        return open_pdf(data, password, limits)[0]


def _labels(document: PdfDocument) -> list[str]:
    """Returns the printed number of each page; [] where they are 1, 2, 3 …"""
    labels = [document.get_page_label(i) or str(i + 1) for i in range(len(document))]
    return labels if labels != [str(i + 1) for i in range(len(document))] else []


def _draw(document: PdfDocument, number: int, width: int) -> bytes:
    """Returns the JPEG of a page at this width in pixels, or narrower where it would have too many pixels."""
    from PIL import Image  # noqa: F401  its import must not fail for want of memory while a page is drawn

    page = document[number - 1]
    try:
        across, up = page.get_size()
        scale = min(width / across, (_MOST_PIXELS / (across * up)) ** 0.5)
        picture = page.render(scale=scale).to_pil().convert("RGB")
    finally:
        page.close()
    written = BytesIO()
    picture.save(written, "JPEG", quality=_QUALITY)
    return written.getvalue()


def _find(document: PdfDocument, request: dict[str, Any]) -> list[Any]:
    from readagent_core.loaders.pdf.quotation import find_quotation

    found = find_quotation(document, request["text"], request["start"], request["end"], request["numbers"])
    return [[place.number, place.rectangles] for place in found]


def _serve(document: PdfDocument, request: dict[str, Any]) -> tuple[Any, bytes]:
    """Returns the value that answers a request, and a picture or b''."""
    if request["do"] == "draw":
        return None, _draw(document, request["number"], request["width"])
    return _find(document, request), b""


def _answer(output: IO[bytes], work: Callable[[], tuple[Any, bytes]]) -> bool:
    """Writes what ``work`` returns, or the DocumentError that it raised. Returns whether there was none."""
    data = b""
    try:
        value, data = work()
        answer = {"value": value, "size": len(data)}
    except DocumentError as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    except MemoryError:
        answer = {"error": TooLargeError.__name__, "message": "This page needs more memory than drawing is allowed."}
    except Exception:  # noqa: BLE001  PDFium and Pillow may fail in any way on a broken page
        answer = {"error": DamagedDocumentError.__name__, "message": "This page is damaged and cannot be shown."}
    output.write(json.dumps(answer).encode() + b"\n" + data)
    output.flush()
    return "error" not in answer


def main() -> None:
    """Opens the file that the first line names, then serves the requests that follow."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not be taken for an answer
    source = sys.stdin.buffer
    first = json.loads(source.readline())
    data = source.read(first["size"])
    limits = Limits(**first["limits"])
    limit_memory(limits)
    extend_time(limits)
    opened: list[PdfDocument] = []

    def begin() -> tuple[Any, bytes]:
        document = _open(first["file"], data, first["password"], limits)
        document.init_forms()
        opened.append(document)
        return {"pages": len(document), "labels": _labels(document)}, b""

    if _answer(output, begin):
        for line in source:
            extend_time(limits)
            _answer(output, partial(_serve, opened[0], json.loads(line)))


if __name__ == "__main__":
    main()
