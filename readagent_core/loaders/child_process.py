"""Opens a file in a child process with limits on memory and time, so that no file can bring the app down.

Text and Markdown are opened in this process. Where no child process can be started, the file is opened in this
process and a notice says so.
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
from readagent_core.loaders import DEFAULT, Limits, import_loader, load
from readagent_core.loaders.base import check_size
from readagent_core.loaders.file_types import detect_file_type

OPENED_IN_PLACE = frozenset({"text", "markdown"})
_ROOT = Path(__file__).resolve().parent.parent.parent
# The CPU time of the child is limited where the system can do that. The wall-clock limit is then longer, because a busy
# computer may need long for a harmless file.
_CLOCK_FACTOR = 1 if sys.platform == "win32" else 4
_ADVICE = (
    "Nothing was opened and nothing else was harmed. If you trust the file, save it again with another program and "
    "open that."
)


def load_in_child_process(data: bytes, name: str, *, password: str = "", limits: Limits = DEFAULT) -> Document:
    """Does what ``load`` does, in a child process for the formats that need it. Raises DocumentError."""
    check_size(data, limits.file, "This file")
    if detect_file_type(data, name).format in OPENED_IN_PLACE:
        return load(data, name, password=password, limits=limits)
    with tempfile.TemporaryDirectory(prefix="readagent-") as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        path = os.pathsep.join(p for p in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if p)
        request = {"file": str(file), "name": name, "password": password, "limits": asdict(limits)}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "readagent_core.loaders.child_process"],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
                timeout=limits.seconds * _CLOCK_FACTOR,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UnsafeDocumentError(_timeout_message(limits)) from None
        except OSError:
            document = load(data, name, password=password, limits=limits)
            return replace(document, warnings=(*document.warnings, _NO_CHILD_PROCESS))
    return _parse_reply(done, limits)


_NO_CHILD_PROCESS = Notice(
    "unguarded", "The file was opened without bounds on memory, because no process could be started."
)


def _timeout_message(limits: Limits) -> str:
    return (
        f"Reading this file took longer than {limits.seconds:g} seconds and was stopped; files built to do harm do "
        f"that, and very large ones. {_ADVICE}"
    )


def _parse_reply(done: subprocess.CompletedProcess[bytes], limits: Limits) -> Document:
    """Returns the document that the child wrote. Raises the error that it wrote, or one for how it ended."""
    if done.returncode or not done.stdout:
        if done.returncode == -getattr(signal, "SIGXCPU", 0):
            raise UnsafeDocumentError(_timeout_message(limits))
        if done.returncode < 0 or b"MemoryError" in done.stderr:
            raise TooLargeError(
                f"Reading this file needs more than {limits.memory >> 20:,} MB of memory and was stopped. {_ADVICE}"
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


def _limit_resources(limits: Limits) -> None:
    """Limits memory and CPU time of this process, where the system can (not on Windows)."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # memory that the interpreter and its libraries use already does not count
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + limits.memory, mapped + limits.memory))
        seconds = int(limits.seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main() -> None:
    """Serves one request from standard input and writes one line of JSON."""
    request = json.loads(sys.stdin.buffer.read())
    limits = Limits(**request["limits"])
    try:
        data = Path(request["file"]).read_bytes()
        import_loader(detect_file_type(data, request["name"]).format)
        _limit_resources(limits)
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
