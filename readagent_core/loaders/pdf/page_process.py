"""The child process that draws and searches the pages of one PDF, for ``picture.PdfPages``.

It reads one request a line from standard input and answers each with a line, both JSON. It ends at the end of the
input, so it never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from pypdfium2 import PdfDocument, PdfiumError

from readagent_core.errors import DamagedDocumentError, DocumentError, TooLargeError
from readagent_core.loaders.child_process import extend_time, limit_memory
from readagent_core.loaders.pdf.picture import LIMITS

_QUALITY = 85  # of the JPEG
_MOST_PIXELS = 16_000_000


def _open(file: str, password: str) -> PdfDocument:
    """Returns the document at path ``file``, which is read as needed. Raises DocumentError."""
    try:
        return PdfDocument(file, password=password or None)
    except PdfiumError:
        # imported late, because this takes as long as all else: it knows how to repair files, and forms of passwords
        from readagent_core.loaders.pdf.file import open_pdf

        return open_pdf(Path(file).read_bytes(), password, LIMITS)[0]


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


def _serve(document: PdfDocument, request: dict[str, Any]) -> Any:
    """Returns the value that answers a request."""
    if request["do"] == "draw":
        return b64encode(_draw(document, request["number"], request["width"])).decode()
    return _find(document, request)


def _answer(output: IO[bytes], work: Callable[[], Any]) -> bool:
    """Writes what ``work`` returns, or the DocumentError that it raised. Returns whether there was none."""
    try:
        answer = {"value": work()}
    except DocumentError as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    except MemoryError:
        answer = {"error": TooLargeError.__name__, "message": "This page needs more memory than drawing is allowed."}
    except Exception:  # noqa: BLE001  PDFium and Pillow may fail in any way on a broken page
        answer = {"error": DamagedDocumentError.__name__, "message": "This page is damaged and cannot be shown."}
    output.write(json.dumps(answer).encode() + b"\n")
    output.flush()
    return "error" not in answer


def main() -> None:
    """Opens the file that the first line names, then serves the requests that follow."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not be taken for an answer
    source = sys.stdin.buffer
    first = json.loads(source.readline())
    limit_memory(LIMITS)
    extend_time(LIMITS)
    opened: list[PdfDocument] = []

    def begin() -> Any:
        document = _open(first["file"], first["password"])
        document.init_forms()
        opened.append(document)
        return {"pages": len(document), "labels": _labels(document)}

    if _answer(output, begin):
        for line in source:
            extend_time(LIMITS)
            _answer(output, partial(_serve, opened[0], json.loads(line)))


if __name__ == "__main__":
    main()
