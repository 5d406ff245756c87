"""What all loaders use: the limits on a file, and characters and spaces that no text has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from readagent_core.errors import TooLargeError

SCENE_BREAK = "* * *"
MEGABYTE = 1 << 20
# any character of both patterns below: most texts have none
_SPECIAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u2060\ud800-\udfff\ufeff\ufffe\uffff]")
# colours of a terminal, control and format characters, byte order marks and the soft hyphen
_UNPRINTABLE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\xad\ufeff\ufffe\uffff\u2060]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=\S)")
_SPACES_BEFORE_MARK = re.compile(r"(?<=\S)[ \u00a0]{2,}(?=[,;:!?)\]]|\.(?!\.))")  # left by italics that were lost
_LONG_ITEM, _LONG_LIST = 240, 1500  # characters; longer items, and those of a longer list, are paragraphs


@dataclass(frozen=True)
class Limits:
    """Limits on a file. Sizes are in bytes. ``ratio``: the highest compression ratio in an archive.

    The process that opens an untrusted format is limited to ``memory``, and to ``seconds`` without progress. Within
    ``longest`` seconds it stops reading pages, and what was read is opened. Pictures may take as many ``seconds`` more;
    ``pictures`` is how many are shown."""

    file: int = 200 * MEGABYTE
    text: int = 32 * MEGABYTE
    page: int = 12 * MEGABYTE  # one HTML file: its tree takes some fifteen times its size
    unpacked: int = 400 * MEGABYTE
    ratio: int = 200
    entries: int = 10_000
    source_pages: int = 6_000
    words: int = 5_000_000
    seconds: float = 30.0
    longest: float = 600.0
    memory: int = 400 * MEGABYTE
    pictures: int = 2_000
    picture_bytes: int = 24 * MEGABYTE  # of one in the file
    pixels: int = 40_000_000  # of one; decoded they take up to four bytes each
    pictures_bytes: int = 64 * MEGABYTE  # of all, encoded again


DEFAULT = Limits()
PageProgress = Callable[[int, int], None]  # called with the number of source pages that were read, and of all


def strip_unprintable(text: str) -> str:
    """Returns ``text`` without control characters; lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", _UNPRINTABLE.sub("", text)) if _SPECIAL.search(text) else text


def squeeze_spaces(text: str) -> str:
    """Returns ``text`` with single spaces inside its lines, and none before a mark that ends a clause."""
    return _SPACES.sub(" ", _SPACES_BEFORE_MARK.sub("", text)) if "  " in text or "\u00a0" in text else text


def join_items(items: Sequence[str]) -> list[str]:
    """Returns the items of a list as one text, or each as its own where a reader would want to pause between them."""
    apart = sum(map(len, items)) > _LONG_LIST or any(len(item) > _LONG_ITEM for item in items)
    return [item.strip(" ") for item in items] if apart else ["\n".join(items)] * bool(items)


def check_size(data: bytes, limit: int, what: str) -> None:
    """Raises TooLargeError when ``data`` is over ``limit`` bytes. ``what`` names the file in the message."""
    if len(data) > limit:
        raise TooLargeError(
            f"{what} is {len(data) / MEGABYTE:,.0f} MB; at most {limit / MEGABYTE:,.0f} MB can be opened. "
            "Split it into parts, for example one file a volume, and open those."
        )


def used_memory(limits: Limits) -> float:
    """Returns the used share of ``limits.memory``; 0.0 where this process is not limited or that is not known."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return 0.0
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # not Linux
        return 0.0
    return 1 - (limit - used) / limits.memory
