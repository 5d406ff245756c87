"""Opens subtitles (.srt, .vtt) as a transcript: one paragraph for what a speaker says, with the time as its place."""

from __future__ import annotations

import re
from html import unescape

from readagent_core.document import Document
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.builder import Builder
from readagent_core.loaders.decode import decode_noting_guess

_TIME = re.compile(
    r"^[ \t]*(?:(\d+):)?(\d\d):(\d\d)[.,]\d+[ \t]+-->[ \t]+(?:(\d+):)?(\d\d):(\d\d)[.,]\d+.*$", re.MULTILINE
)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[^>]{0,80}>|\{\\[^}]{0,80}\}")
_SPEAKER = re.compile(r"(?:-\s*|>>\s*)?([A-Z][\w.'’ -]{0,30}):\s+(?=\S)|(?:-|>>)\s*(?=\S)")
_LONG = 80  # words, after which the next sentence begins a paragraph
_PAUSE = 5  # seconds without words that end a paragraph
_ENDS = (".", "!", "?", "…", '"', "”", "。", "！", "？")


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the subtitles ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This file")
    builder = Builder()
    text = decode_noting_guess(data, builder).replace("\r\n", "\n").replace("\r", "\n")
    cues = list(_TIME.finditer(text))
    held: list[str] = []
    last, place, ended = "", "", 0

    def flush() -> None:
        if held:
            builder.add_paragraph(" ".join(held), place)
        held.clear()

    for at, cue in enumerate(cues):
        body = text[cue.end() : cues[at + 1].start() if at + 1 < len(cues) else len(text)]
        body = re.split(r"\n[ \t]*\n", body.strip("\n") if body.strip() else "", maxsplit=1)[0]
        start = _seconds(cue, 1)
        for line in filter(None, map(str.strip, body.split("\n"))):
            voice, said = _VOICE.search(line), unescape(_TAG.sub("", line)).strip()
            spoken = _SPEAKER.match(said)
            who = voice.group(1).strip() if voice else (spoken.group(1) or "") if spoken else ""
            if said == last or not said:  # captions that roll up repeat the line before
                continue
            full = sum(len(piece.split()) for piece in held) > _LONG and held[-1].endswith(_ENDS)
            if voice or spoken or full or (start - ended > _PAUSE and held):
                same = voice and held and held[0].startswith(f"{who}: ") and not full
                if not same:
                    flush()
            if not held:
                place = f"{start // 3600}:{start // 60 % 60:02}:{start % 60:02}"
                said = f"{who}: {said[spoken.end() :] if spoken and not voice else said}" if who else said
            held.append(said)
            last, ended = said, _seconds(cue, 4)
    flush()
    return builder.build(title=name, format="srt", limits=limits)


def _seconds(cue: re.Match[str], group: int) -> int:
    hours, minutes, seconds = (int(cue.group(group + at) or 0) for at in range(3))
    return hours * 3600 + minutes * 60 + seconds
