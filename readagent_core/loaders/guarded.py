"""Opening a file in a process of its own, bounded in memory and time: no file can take the app down.

PDF, EPUB and Word parsers meet hostile input; text and Markdown are read in place. Where no process can be started,
the file is opened in place and a notice says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from base64 import b64decode, b64encode
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from readagent_core import errors
from readagent_core.document import Cover, Document, Notice
from readagent_core.errors import DamagedDocumentError, DocumentError, TooLargeError, UnsafeDocumentError
from readagent_core.loaders import DEFAULT, Limits, load, loader
from readagent_core.loaders.base import check_size
from readagent_core.loaders.sniff import sniff

IN_PLACE = frozenset({"text", "markdown"})
_ROOT = Path(__file__).resolve().parent.parent.parent
# A busy computer may take long over an honest file: where the process's own seconds are bounded, the clock is patient.
_PATIENCE = 1 if sys.platform == "win32" else 4
_HARMFUL = (
    "Nothing was opened and nothing else was harmed. If you trust the file, save it anew with another program and "
    "open that."
)


def load_guarded(data: bytes, name: str, *, password: str = "", limits: Limits = DEFAULT) -> Document:
    """As ``load``, in a bounded process for the formats that need it. Raises DocumentError."""
    check_size(data, limits.file, "This file")
    if sniff(data, name).format in IN_PLACE:
        return load(data, name, password=password, limits=limits)
    with tempfile.TemporaryDirectory(prefix="readagent-") as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        request = {"file": str(file), "name": name, "password": password, "limits": asdict(limits)}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "readagent_core.loaders.guarded"],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": _path(), "PYTHONWARNINGS": "ignore"},
                timeout=limits.seconds * _PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UnsafeDocumentError(_endless(limits)) from None
        except OSError:
            document = load(data, name, password=password, limits=limits)
            return replace(document, warnings=(*document.warnings, _UNGUARDED))
    return _received(done, limits)


def _path() -> str:
    return os.pathsep.join(p for p in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if p)


_UNGUARDED = Notice("unguarded", "The file was opened without bounds on memory, because no process could be started.")


def _endless(limits: Limits) -> str:
    return (
        f"Reading this file took longer than {limits.seconds:g} seconds and was stopped; files built to do harm do "
        f"that, and very large ones. {_HARMFUL}"
    )


def _received(done: subprocess.CompletedProcess[bytes], limits: Limits) -> Document:
    """The document or the error that the process wrote; how it died is an error too."""
    if done.returncode or not done.stdout:
        if done.returncode == -getattr(signal, "SIGXCPU", 0):
            raise UnsafeDocumentError(_endless(limits))
        if done.returncode < 0 or b"MemoryError" in done.stderr:
            raise TooLargeError(
                f"Reading this file needs more than {limits.memory >> 20:,} MB of memory and was stopped. {_HARMFUL}"
            )
        raise DamagedDocumentError("Reading this file broke off: it is damaged. Nothing was opened. Copy it again.")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        kind = getattr(errors, str(answer["error"]), DocumentError)
        raise kind(answer["message"]) if issubclass(kind, DocumentError) else DocumentError(answer["message"])
    document = Document.from_dict(answer["document"])
    if answer["cover"]:
        document = replace(document, cover=Cover(b64decode(answer["cover"][0]), answer["cover"][1]))
    return document


def _bounded(limits: Limits) -> None:
    """Bounds on this process, where the system knows such (not on Windows)."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # what the interpreter and its libraries have mapped by now does not count against the file
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + limits.memory, mapped + limits.memory))
        seconds = int(limits.seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main() -> None:
    """Serve one request from standard input; the reply is one line of JSON."""
    request = json.loads(sys.stdin.buffer.read())
    limits = Limits(**request["limits"])
    try:
        data = Path(request["file"]).read_bytes()
        loader(sniff(data, request["name"]).format)
        _bounded(limits)
        document = load(data, request["name"], password=request["password"], limits=limits)
        cover = document.cover
        answer: dict[str, Any] = {
            "document": document.to_dict(),
            "cover": [b64encode(cover.data).decode(), cover.kind] if cover else None,
        }
        reply = json.dumps(answer).encode()
    except DocumentError as error:
        reply = json.dumps({"error": type(error).__name__, "message": str(error)}).encode()
    sys.stdout.buffer.write(reply)


if __name__ == "__main__":
    main()
