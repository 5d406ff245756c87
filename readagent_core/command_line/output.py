"""What the commands print: JSON shapes, progress on stderr, errors in words, and the exit codes.

0 done, 1 an error that was explained (a stop by the person too), 2 wrong usage. With ``--json`` exactly one JSON
object goes to stdout, also for an error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from readagent_core.errors import PasswordError, ReadAgentError, SettingsError

if TYPE_CHECKING:
    from readagent_core.document import Document
    from readagent_core.jobs import Job, Snapshot
    from readagent_core.memory import GistMemory
    from readagent_core.methods.base import Answer
    from readagent_core.usage import Usage

_TICK = 0.1  # seconds between looks at a job


class Stopped(ReadAgentError):
    """The person pressed Ctrl-C."""


class WrongUsage(ReadAgentError):
    """An option's value that does not exist or does not go with the others."""


@contextmanager
def usage() -> Iterator[None]:
    """What is read from the options: a setting that cannot be used is wrong usage here."""
    try:
        yield
    except SettingsError as error:
        raise WrongUsage(str(error)) from None


@contextmanager
def told(*, as_json: bool) -> Iterator[None]:
    """Run a command's body: an error is told in words on stderr, with ``--json`` also as the one JSON object.

    Ends with 1, or with 2 where the command was called wrongly.
    """
    import typer

    try:
        yield
    except KeyboardInterrupt:
        _tell(Stopped("Stopped. What was done is kept; the same command goes on from there."), as_json=as_json)
        raise typer.Exit(1) from None
    except PasswordError as error:
        _tell(PasswordError(f"{error} Here: --password PASSWORD."), as_json=as_json)
        raise typer.Exit(1) from None
    except ReadAgentError as error:
        _tell(error, as_json=as_json)
        raise typer.Exit(2 if isinstance(error, WrongUsage) else 1) from None
    except BrokenPipeError:  # whoever read our output has gone: `readagent … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None


def _tell(error: ReadAgentError, *, as_json: bool) -> None:
    if as_json:
        kind = error.kind if isinstance(error, JobError) else type(error).__name__
        print_json({"error": {"kind": kind, "message": str(error)}})
    print(f"Error: {printable(str(error))}", file=sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    """The one JSON object on stdout; everything that a terminal could take for a command is escaped by JSON."""
    print(json.dumps(value, ensure_ascii=not _speaks_utf8(), indent=1).encode("utf-8", "replace").decode("utf-8"))


def _speaks_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def printable(text: str) -> str:
    """``text`` without control characters: a book must not be able to steer the terminal."""
    return "".join(c if c in "\n\t" or (c.isprintable() or c == "\u3000") else "\ufffd" for c in text)


def say(text: str = "") -> None:
    """A line of text for people on stdout."""
    line = printable(text)
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding))


def say_aside(text: str) -> None:
    """A line on stderr: progress and notices, never part of the result."""
    print(printable(text), file=sys.stderr, flush=True)


# --- waiting for a job ------------------------------------------------------------------------------------


def wait_for(job: Job, line: Callable[[Snapshot], str], *, on_tick: Callable[[Snapshot], None] | None = None) -> None:
    """Wait for a job, its state in a line on stderr. Ctrl-C asks it to stop and waits for what it keeps.

    Raises the job's error as it was told, and KeyboardInterrupt when it was stopped.
    """
    shown = _Line()
    try:
        while job.running:
            job.join(_TICK)
            snapshot = job.snapshot
            if on_tick is not None:
                on_tick(snapshot)
            shown.show(line(snapshot) + (f" · {snapshot.waiting}" if snapshot.waiting else ""))
    except KeyboardInterrupt:
        job.cancel()
        shown.show("Stopping; what is done is being kept …")
        job.join(30)
        shown.end()
        raise
    if on_tick is not None:
        on_tick(job.snapshot)
    shown.end(line(job.snapshot))
    if job.snapshot.state == "cancelled":
        raise KeyboardInterrupt
    if job.snapshot.state == "failed":
        raise JobError(job.snapshot.error, job.snapshot.error_kind)


class JobError(ReadAgentError):
    """What a job told when it failed; ``kind`` is the error's own name."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Line:
    """One line on stderr: rewritten in place on a terminal, every ten seconds a new one elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = ""
        self._told = time.monotonic()

    def show(self, text: str) -> None:
        if self._terminal and text != self._last:
            print(f"\r\x1b[K{printable(text)[: _width()]}", end="", file=sys.stderr, flush=True)
            self._last = text
        elif not self._terminal and time.monotonic() - self._told >= 10:
            say_aside(text)
            self._told = time.monotonic()

    def end(self, text: str = "") -> None:
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr)
        if text:
            say_aside(text)


def _width() -> int:
    try:
        return max(20, os.get_terminal_size(sys.stderr.fileno()).columns - 1)
    except OSError:
        return 100


# --- JSON shapes ------------------------------------------------------------------------------------------


def document_json(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "author": document.author,
        "language": document.language,
        "format": document.format,
        "words": document.words,
        "paragraphs": len(document.paragraphs),
        "sections": [{"title": s.title, "start": s.start, "level": s.level} for s in document.sections],
    }


def memory_json(memory: GistMemory, usage: Usage) -> dict[str, Any]:
    pages = []
    for page, gist in zip(memory.pages, memory.gists, strict=True):
        pages.append(
            {
                "number": page.number,
                "start": page.start,
                "end": page.end,
                "words": page.words,
                "reason": page.reason,
                "ends": page.ends,
                "fallback": page.fallback,
                "gist": gist.text if gist is not None else None,
                "gist_words": gist.words if gist is not None else None,
                "gist_fallback": bool(gist and gist.fallback),
            }
        )
    return {
        "document": document_json(memory.document),
        "model": memory.model,
        "plan": memory.plan.to_dict(),
        "pages": pages,
        "words": sum(page.words for page in memory.pages),
        "gist_words": memory.gist_words,
        "compression_rate": round(memory.compression_rate, 3),
        "complete": memory.complete,
        "usage": usage.to_dict(),
    }


def answer_json(question: str, answer: Answer) -> dict[str, Any]:
    return {
        "question": question,
        "answer": answer.text,
        "option": answer.option,
        "looked_up": list(answer.looked_up),
        "steps": answer.steps,
        "memory_words": answer.memory_words,
        "compression_rate": round(answer.compression_rate, 3),
        "method": answer.method,
        "cut_off": answer.cut_off,
        "notes": list(answer.notes),
        "usage": answer.usage.to_dict(),
    }
