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
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from readagent_core.errors import NoTextError, PasswordError, ReadAgentError, SettingsError
from readagent_core.jobs import Job, JobState, Snapshot
from readagent_core.model_names import short_name

if TYPE_CHECKING:
    from readagent_core.answering.base import Answer
    from readagent_core.document import Document
    from readagent_core.memory import GistMemory
    from readagent_core.usage import Usage

_POLL_SECONDS = 0.1
_PRINT_SECONDS = 10.0


class Stopped(ReadAgentError):
    """The person pressed Ctrl-C."""


class WrongUsage(ReadAgentError):
    """An option's value that does not exist or does not go with the others."""


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn a SettingsError into WrongUsage: around what is made of the options."""
    try:
        yield
    except SettingsError as error:
        raise WrongUsage(str(error)) from None


@contextmanager
def needs_packages(extra: str) -> Iterator[None]:
    """Turn a missing package of the optional ``extra`` into an error for people."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"This needs the package {error.name}. Install it with: pip install 'readagent[{extra}]', or "
            f"pip install -r requirements-{extra}.txt."
        ) from None


@contextmanager
def report_errors(*, as_json: bool) -> Iterator[None]:
    """Run a command's body; print an error in words on stderr, with ``--json`` also as the one JSON object.

    Exits with 1, or with 2 where the command was called wrongly.
    """
    import typer

    try:
        yield
    except KeyboardInterrupt:
        _report(Stopped("Stopped. What was done is saved; the same command resumes."), as_json=as_json)
        raise typer.Exit(1) from None
    except PasswordError as error:
        _report(PasswordError(f"{error} Here: --password PASSWORD."), as_json=as_json)
        raise typer.Exit(1) from None
    except NoTextError as error:
        here = " Here: readagent recognise FILE." if error.pages else ""
        _report(NoTextError(f"{error}{here}"), as_json=as_json)
        raise typer.Exit(1) from None
    except ReadAgentError as error:
        _report(error, as_json=as_json)
        raise typer.Exit(2 if isinstance(error, WrongUsage) else 1) from None
    except BrokenPipeError:  # the reader of our output has ended: `readagent … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None


def _report(error: ReadAgentError, *, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
    print(f"Error: {printable(str(error))}", file=sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    """The one JSON object on stdout; everything that a terminal could take for a command is escaped by JSON."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=not utf8, indent=1).encode("utf-8", "replace").decode("utf-8"))


def printable(text: str) -> str:
    """``text`` without control characters: a book must not be able to steer the terminal."""
    return "".join(c if c in "\n\t" or (c.isprintable() or c == "\u3000") else "\ufffd" for c in text)


def say(text: str = "") -> None:
    """A line of text for people on stdout."""
    print(printable(text))


def say_aside(text: str) -> None:
    """A line on stderr: progress and notices, never part of the result."""
    print(printable(text), file=sys.stderr, flush=True)


# --- waiting for a job ------------------------------------------------------------------------------------


def wait_for(job: Job, line: Callable[[Snapshot], str]) -> None:
    """Wait for a job, its state in a line on stderr. Ctrl-C cancels it and waits for what it saves.

    The line is rewritten in place on a terminal, and printed every ten seconds elsewhere. Raises the error of a failed
    job, and KeyboardInterrupt when it was stopped.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    printed = time.monotonic()
    try:
        with console.status("") as status:
            while job.running:
                job.join(_POLL_SECONDS)
                text = line(job.snapshot) + (f" · {job.snapshot.waiting}" if job.snapshot.waiting else "")
                status.update(Text(printable(text)))
                if not console.is_terminal and time.monotonic() - printed >= _PRINT_SECONDS:
                    say_aside(text)
                    printed = time.monotonic()
    except KeyboardInterrupt:
        say_aside("Stopping; what is done is being saved …")
        job.cancel()
        job.join(30)
        raise
    say_aside(line(job.snapshot))
    if job.snapshot.state == JobState.CANCELLED:
        raise KeyboardInterrupt
    if job.snapshot.failure is not None:
        raise job.snapshot.failure


@contextmanager
def show_pages() -> Iterator[Callable[[int, int], None]]:
    """Yields a function that shows on a terminal how many source pages of a file were read."""
    from rich.console import Console

    with Console(stderr=True).status("Opening the file …") as status:
        yield lambda done, pages: status.update(f"Opening the file: page {done:,} of {pages:,}")


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
        "sections": [asdict(section) for section in document.sections],
    }


def memory_json(memory: GistMemory, usage: Usage) -> dict[str, Any]:
    pages = [
        {
            **asdict(page),
            "gist": gist.text if gist is not None else None,
            "gist_words": gist.words if gist is not None else None,
            "gist_fallback": bool(gist and gist.fallback),
            "gist_marks": list(gist.marks) if gist is not None else [],
        }
        for page, gist in zip(memory.pages, memory.gists, strict=True)
    ]
    return {
        "document": document_json(memory.document),
        "model": short_name(memory.model),
        "plan": memory.plan.to_dict(),
        "pages": pages,
        "words": sum(page.words for page in memory.pages),
        "gist_words": memory.gist_words,
        "own_gists": memory.own_gists,
        "fallback_gists": memory.fallback_gists,
        "compression_rate": round(memory.compression_rate, 3),
        "complete": memory.complete,
        "usage": usage.to_dict(),
    }


def answer_json(question: str, answer: Answer, *, answered_by: str) -> dict[str, Any]:
    return {
        "question": question,
        "answered_by": answered_by,
        "answer": answer.text,
        "option": answer.option,
        "looked_up": list(answer.looked_up),
        "in_part": answer.pages_in_part,
        "steps": answer.steps,
        "memory_words": answer.memory_words,
        "compression_rate": round(answer.compression_rate, 3),
        "method": answer.method,
        "cut_off": answer.cut_off,
        "notes": list(answer.notes),
        "usage": answer.usage.to_dict(),
    }
