"""The notes of one book as Markdown, by a Jinja2 template, which a person may change.

A template of a person's own runs in Jinja2's sandbox, in a child process with bounds on time and memory. Imports
little, because the child does too.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from readagent_core import templates
from readagent_core.errors import SettingsError
from readagent_core.loaders.base import MEGABYTE, Limits
from readagent_core.loaders.child_process import extend_time, limit_memory, run_child
from readagent_core.text_files import block_quote
from readagent_core.words import quoted

DEFAULT = (Path(templates.__file__).parent / "notes.md").read_text(encoding="utf-8")
LONGEST = 50_000  # characters of a template
# of a person's own template: for one book
_LIMITS = Limits(seconds=2.0, memory=200 * MEGABYTE, pictures=0)
_MOST_TEXT = 2_000_000  # characters
_NAME = "<template>"  # of a template that was not loaded, in a traceback
_REMEDY = "Correct it, or put the usual one back."


def render(template: str, books: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the text of each of ``books``, given as ``export.notes.template_values``.

    Raises SettingsError for a template of a person's own that is wrong, with its line, or that exceeds its limits.
    """
    if template == DEFAULT:
        return list(_rendered(template, books))
    if len(template) > LONGEST:
        raise SettingsError(f"The template has more than {LONGEST:,} characters. {_REMEDY}")
    with tempfile.TemporaryDirectory(prefix="readagent-") as folder:
        request = {"template": template, "books": books, "limits": asdict(_LIMITS)}
        try:
            ended = run_child(__name__, request, Path(folder), _LIMITS)
        except OSError as error:
            raise SettingsError(f"No process could be started for the template ({error.strerror}).") from None
    answer = json.loads(ended.reply) if ended.reply else {}
    if "texts" in answer:
        return list(answer["texts"])
    bounds = f"it needs more than {_LIMITS.seconds:.0f} seconds or {_LIMITS.memory // MEGABYTE} MB for one book"
    raise SettingsError(f"The template cannot be used: {answer.get('error', bounds)}. {_REMEDY}")


def _rendered(template: str, books: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the text of each book. Raises TemplateError, or whatever a faulty template raises."""
    compiled = _compiled(template)
    for book in books:
        pieces, size = [], 0
        for piece in compiled.generate(book):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_TEXT:
                raise TemplateError(f"it writes more than {_MOST_TEXT:,} characters for one book")
        yield re.sub(r"\n{3,}", "\n\n", "".join(pieces).strip()) + "\n"


@lru_cache(maxsize=2)
def _compiled(template: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(lambda name: None),  # there is nothing to include
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quote"] = block_quote
    environment.filters["quoted"] = quoted
    return environment.from_string(template)


def _explained(error: Exception) -> str:
    """Return what is wrong with the template, with the line where that is known."""
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _NAME]
    line = getattr(error, "lineno", None) or (frames[-1] if frames else None)
    what = "it needs too much memory" if isinstance(error, MemoryError) else str(error) or type(error).__name__
    return f"line {line}: {what[:300]}" if line else what[:300]


def main() -> None:
    """Serve one request from standard input: a line for each book that is done, then a line of JSON."""
    request = json.loads(sys.stdin.buffer.readline())
    limits, books, texts = Limits(**request["limits"]), request["books"], []
    try:
        limit_memory(limits)
        extend_time(limits)
        for text in _rendered(request["template"], books):
            texts.append(text)
            extend_time(limits)
            sys.stdout.buffer.write(b"page %d %d\n" % (len(texts), len(books)))
            sys.stdout.buffer.flush()
        answer: dict[str, Any] = {"texts": texts}
    except Exception as error:  # noqa: BLE001  a template may raise anything
        answer = {"error": _explained(error)}
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
