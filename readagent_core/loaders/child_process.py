"""Opens a file in a child process with limits on memory and time, so that no file can bring the app down.

The child reports every source page that it has read. Where it crashes or makes no progress on a page, another child
reads the file without that page. Text and short Markdown are opened in this process. Where no child process can be
started, the file is opened in this process and a notice says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from readagent_core import errors
from readagent_core.document import Cover, Document, Notice, Picture
from readagent_core.errors import DamagedDocumentError, DocumentError, NoTextError, TooLargeError, UnsafeDocumentError
from readagent_core.loaders import DEFAULT, Limits, PageProgress, import_loader, load
from readagent_core.loaders.base import MEGABYTE, check_size
from readagent_core.loaders.file_types import detect_file_type
from readagent_core.loaders.recognition.page import RecognisedPage

_IN_PLACE = {"text": inf, "markdown": MEGABYTE}  # bytes up to which a file of a format is opened in this process
_ROOT = Path(__file__).resolve().parent.parent.parent
_SECRET = re.compile(  # names of variables; a stranger's file needs none
    "KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|_PAT(?:_|$)|DSN|WEBHOOK|CONNECTION|(?:DATABASE|DB|REDIS|MONGO)\\w*_UR[LI]"
    "|SIGNATURE|_SAS(?:_|$)",
    re.IGNORECASE,
)
_PASSWORD = re.compile("://[^/\\s]*@")  # in an address, as of a proxy
_PAGE = b"page "  # starts a line of the child that reports a source page
_ATTEMPTS = 4  # each leaves out one more page; the last one leaves out all pages from the third on that fails
# The CPU time of the child is limited where the system can do that. The wall-clock limit is then longer, because a busy
# computer may need long for a harmless file.
_CLOCK_FACTOR = 1 if sys.platform == "win32" else 4
_ADVICE = "Nothing else was harmed. If you trust the file, save it again with another program and open that."


def load_in_child_process(
    data: bytes,
    name: str,
    *,
    password: str = "",
    address: str = "",
    limits: Limits = DEFAULT,
    progress: PageProgress | None = None,
    recognised: Mapping[int, RecognisedPage] | None = None,
) -> Document:
    """Does what ``load`` does, in a child process for the formats that need it. Raises DocumentError.

    ``progress`` is called in this thread; what it raises ends the child."""
    check_size(data, limits.file, "This file")
    if len(data) <= _IN_PLACE.get(detect_file_type(data, name).format, 0):
        return load(data, name, password=password, address=address, limits=limits)
    with tempfile.TemporaryDirectory(prefix="readagent-") as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        options: dict[str, Any] = {"password": password, "address": address}
        pages = [[number, page.to_list()] for number, page in (recognised or {}).items()]
        skip: set[int] = set()
        without_pictures = False
        for attempt in range(_ATTEMPTS + 1):
            request: dict[str, Any] = {"file": str(file), "name": name, "options": options, "limits": asdict(limits)}
            request |= {"skip": sorted(skip), "recognised": pages}
            try:
                ended = run_child(__name__, request, Path(folder), limits, progress)
            except OSError:
                document = load(data, name, **options, limits=limits, progress=progress, recognised=recognised)
                return replace(document, warnings=(*document.warnings, _NO_CHILD_PROCESS))
            if ended.reply:
                break
            if limits.pictures:  # a picture may have brought the child down: read the text without them
                limits, without_pictures = replace(limits, pictures=0), True
                continue
            if ended.page is None:
                break
            last = attempt == _ATTEMPTS - 1
            skip |= set(range(ended.page, ended.pages)) if last else {ended.page}
        document = _parse_reply(ended, limits, Path(folder))
    return replace(document, warnings=(*document.warnings, _NO_PICTURES)) if without_pictures else document


@dataclass
class Ended:
    """How a child ended. ``page``: the source page, from 0, that it was reading; None outside of the pages."""

    reply: bytes = b""
    page: int | None = None
    pages: int = 0
    code: int = 0
    stopped: bool = False
    errors: bytes = b""


def run_child(
    module: str, request: dict[str, Any], folder: Path, limits: Limits, progress: PageProgress | None = None
) -> Ended:
    """Returns how a child ended that runs ``module`` and was given ``request``. Raises OSError where none can start.

    ``folder``: where it runs. ``progress`` is called in this thread with the source pages that the child reports."""
    ended = Ended()
    with (folder / "errors").open("w+b") as errors_file:
        child = Child(module, errors_file, folder)
        try:
            child.write(json.dumps(request).encode())
            while line := child.lines.get(timeout=limits.seconds * _CLOCK_FACTOR):
                if line.startswith(_PAGE):
                    done, ended.pages = map(int, line.removeprefix(_PAGE).split())
                    ended.page = done if done < ended.pages else None
                    if progress:
                        progress(done, ended.pages)
                else:
                    ended.reply = line
        except Empty:
            ended.stopped = True
        finally:
            ended.code = child.end()
        errors_file.seek(0)
        ended.errors = errors_file.read()
    ended.stopped = ended.stopped or ended.code == -getattr(signal, "SIGXCPU", 0)
    return ended


class Child:
    """A child process that runs ``module`` in ``folder``. Raises OSError where none can start.

    ``lines`` gets each line of its output, and b'' at the end."""

    def __init__(self, module: str, errors_file: IO[bytes] | int, folder: Path | None = None) -> None:
        path = os.pathsep.join(p for p in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if p)
        harmless = (each for each in os.environ.items() if not (_SECRET.search(each[0]) or _PASSWORD.search(each[1])))
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors_file,
            cwd=folder,
            env={**dict(harmless), "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
        )
        self.lines: Queue[bytes] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def write(self, line: bytes) -> None:
        """Writes a line to its input. Where it has ended nothing is raised: the end of ``lines`` says so."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def end(self) -> int:
        """Kills it if it is running still. Returns its exit code."""
        self.process.kill()
        code = self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what was written to a child that has ended
                pipe.close()
        return code

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(b"")


_NO_CHILD_PROCESS = Notice("unguarded", "Opened without bounds on memory, because no process could be started.")
_NO_PICTURES = Notice("no-pictures", "Opened without its pictures, because reading the file with them failed.")


def _parse_reply(ended: Ended, limits: Limits, folder: Path) -> Document:
    """Returns the document that the child wrote. Raises the error that it wrote, or one for how it ended."""
    if not ended.reply:
        raise explain_end(ended, limits)
    answer: dict[str, Any] = json.loads(ended.reply)
    if "error" in answer:
        if answer["error"] == NoTextError.__name__:
            raise NoTextError(answer["message"], tuple(answer["pages"]))
        raise named_error(answer)
    document = Document.from_dict(answer["document"])
    if answer["cover"]:
        document = replace(document, cover=Cover(b64decode(answer["cover"][0]), answer["cover"][1]))
    pictures = tuple(Picture(name, kind, (folder / name).read_bytes()) for name, kind in answer["pictures"])
    return replace(document, pictures=pictures)


def named_error(answer: Mapping[str, Any]) -> DocumentError:
    """Returns the DocumentError that a child named in its answer, with its message."""
    kind = getattr(errors, str(answer["error"]), DocumentError)
    return (kind if issubclass(kind, DocumentError) else DocumentError)(answer["message"])


def explain_end(ended: Ended, limits: Limits) -> DocumentError:
    """Returns the error for a child that wrote no reply."""
    if ended.stopped:
        return UnsafeDocumentError(
            f"Reading this file took longer than {limits.seconds:g} seconds without progress and was stopped; "
            f"files built to do harm do that, and very large ones. {_ADVICE}"
        )
    if b"MemoryError" in ended.errors or ended.code == -getattr(signal, "SIGKILL", 0):
        return TooLargeError(
            f"Reading this file needs more than {limits.memory >> 20:,} MB of memory and was stopped. {_ADVICE}"
        )
    return DamagedDocumentError(
        "The program that reads such files crashed on this one: it is damaged, or needs more than "
        f"{limits.memory >> 20:,} MB of memory. {_ADVICE}"
    )


def limit_memory(limits: Limits) -> None:
    """Limits the memory of this process, where the system can (not on Windows)."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # memory that the interpreter and its libraries use already does not count
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + limits.memory, mapped + limits.memory))


def extend_time(limits: Limits) -> None:
    """Limits the CPU time of this process to ``limits.seconds`` from now, where the system can (not on Windows).

    Its pictures may take as many seconds more.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        seconds = limits.seconds * (2 if limits.pictures else 1)
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]  # reaching it would kill the process without a reason
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, most))


def main() -> None:
    """Serves one request from standard input: writes a line for each source page and a line of JSON."""
    request = json.loads(sys.stdin.buffer.readline())
    limits = Limits(**request["limits"])

    def report(done: int, pages: int) -> None:
        extend_time(limits)
        sys.stdout.buffer.write(_PAGE + b"%d %d\n" % (done, pages))
        sys.stdout.buffer.flush()

    try:
        tempfile.tempdir = str(Path(request["file"]).parent)  # which is deleted also where this process is killed
        data = Path(request["file"]).read_bytes()
        import_loader(detect_file_type(data, request["name"]).format)
        limit_memory(limits)
        extend_time(limits)
        pages = {number: RecognisedPage.from_list(page) for number, page in request["recognised"]}
        more = {**request["options"], "skip": frozenset(request["skip"]), "recognised": pages}
        document = load(data, request["name"], limits=limits, progress=report, **more)
        cover = document.cover
        for picture in document.pictures:  # in files: within the reply they would need several times their memory
            Path(request["file"]).with_name(picture.id).write_bytes(picture.data)
        answer: dict[str, Any] = {
            "document": document.to_dict(),
            "cover": [b64encode(cover.data).decode(), cover.kind] if cover else None,
            "pictures": [[picture.id, picture.kind] for picture in document.pictures],
        }
    except DocumentError as error:
        answer = {"error": type(error).__name__, "message": str(error), "pages": getattr(error, "pages", ())}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
