"""Opens LaTeX, Org and other markup: pandoc makes a web page of it, and the loader of web pages reads that.

Pandoc is a separate program, installed with the extra ``formats``. It may read no other file, and the limits of memory
and time of this process hold for it. A format that one of our loaders reads is not given to pandoc: for a novel it
takes five times as long and eight times the memory, and it reads most code pages of RTF wrong.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

from readagent_core.document import Document, Notice
from readagent_core.errors import DamagedDocumentError, TooLargeError, UnknownFormatError
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.decode import decode
from readagent_core.loaders.extras import how_to_install
from readagent_core.loaders.formats import MARKUP, NAMES
from readagent_core.loaders.html import loader as html
from readagent_core.loaders.text import plain
from readagent_core.words import count_of

_HEAP = 0.7  # share of the limit on memory
_INCLUDED = re.compile(r"Could not (?:load include file|fetch resource) (\S+)|include file (\S+) not found", re.I)
_SKIPPED = re.compile(
    r"^\[INFO\] Skipped '(?!\\(?:maketitle|begin|end|label|vspace|hspace|newpage|noindent)\b)", re.MULTILINE
)
_CLOSED = re.compile(r"^(={1,6}) (.*\S) +\1[ \t]*$", re.MULTILINE)  # '== Title ==', whose end pandoc leaves in titles
_NO_MEMORY = 251  # the exit code of a program in Haskell whose heap is full


def load(data: bytes, name: str, *, format: str, limits: Limits) -> Document:
    """Returns the document in ``data``. Raises DocumentError, also where pandoc is not installed."""
    check_size(data, limits.text, "This text")
    try:
        import pypandoc

        pandoc = pypandoc.get_pandoc_path()
    except (ImportError, OSError):
        raise UnknownFormatError(
            f"This is {NAMES[format]}. To open it, install pandoc (40 MB to download): {how_to_install('formats')}. Or "
            "convert it to EPUB, Word or Markdown."
        ) from None
    heap = ["+RTS", f"-M{int(_HEAP * limits.memory)}", "-RTS"]
    command = [pandoc, *heap, "--sandbox", "--verbose", "-f", format, "-t", "html5", "-s", "--mathml", "--wrap=none"]
    text = _CLOSED.sub(r"\1 \2", decode(data)[0]) if format == "asciidoc" else decode(data)[0]
    given = text.encode("utf-8", "replace")
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=limits.seconds)
    except subprocess.TimeoutExpired:
        raise TooLargeError(
            f"{NAMES[format].capitalize()} of this size takes too long. Split it and open the parts."
        ) from None
    told = done.stderr.decode("utf-8", "replace")
    if done.returncode == _NO_MEMORY:
        raise TooLargeError("This file needs more memory than opening is allowed. Split it and open the parts.")
    if done.returncode:
        reason = " ".join(line for line in told.splitlines() if not line.startswith(("[", " ")))[:200]
        told = f"This seems to be {NAMES[format]}, but it cannot be read ({reason})."
        if format not in MARKUP:
            raise DamagedDocumentError(f"{told} Correct it there.")
        document = plain.load(data, name, limits=limits)
        notice = Notice("other-format", f"{told} It was opened as plain text, with its commands.", 1, (0,))
        return replace(document, warnings=(notice, *document.warnings))
    document = html.load(b"\xef\xbb\xbf" + done.stdout, name, limits=limits)
    title = name if document.title == "-" else document.title  # what pandoc calls a page without one
    return replace(document, title=title, warnings=(*document.warnings, *_notices(told)))


def _notices(told: str) -> list[Notice]:
    """Returns what pandoc told of files that it may not read and commands that it does not know."""
    files = ["".join(found) for found in _INCLUDED.findall(told)]
    skipped = len(_SKIPPED.findall(told))
    notices = []
    if files:
        message = (
            f"In other files, so not read: {count_of(len(files), 'part')} ({', '.join(files[:5])}). Put them together."
        )
        notices.append(Notice("parts-missing", message, len(files), (0,)))
    if skipped:
        message = f"{count_of(skipped, 'command')} that are not known here were left out."
        notices.append(Notice("parts-left-out", message, skipped))
    return notices
