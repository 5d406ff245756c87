"""Removes a model's thinking from its replies: ``<think>…</think>`` and blocks with similar tags.

``ThinkFilter`` works on a reply while it streams, at its start; ``remove_thinking`` on a whole reply.
"""

from __future__ import annotations

import re

_NAMES = "(?:think|thinking|thought|reasoning)"
_OPEN = re.compile(rf"\s*<{_NAMES}>", re.IGNORECASE)
_LONGEST = 14  # characters of the longest tag and a little space before it
_CLOSE = re.compile(rf"</{_NAMES}>\s*", re.IGNORECASE)
_BLOCK = re.compile(rf"<{_NAMES}>.*?(?:</{_NAMES}>|\Z)", re.DOTALL | re.IGNORECASE)


def remove_thinking(reply: str) -> str:
    """``reply`` without its thinking blocks, wherever they are. A block that is not closed ends with the reply."""
    return _BLOCK.sub("", reply)


class ThinkFilter:
    """``feed`` returns what of each part belongs to the reply; ``reasoning`` collects the rest."""

    def __init__(self) -> None:
        self.reasoning = ""
        self._held = ""
        self._state = "start"

    def feed(self, part: str) -> str:
        if self._state == "reply":
            return part
        self._held += part
        if self._state == "start":
            found = _OPEN.match(self._held)
            if found:
                self._held = self._held[found.end() :]
                self._state = "thinking"
            elif self._could_open():
                return ""
            else:
                return self._release()
        closed = _CLOSE.search(self._held)
        if not closed:  # the end of what is held may be the beginning of the closing tag
            self.reasoning += self._held[:-_LONGEST]
            self._held = self._held[-_LONGEST:]
            return ""
        self.reasoning += self._held[: closed.start()]
        self._held = self._held[closed.end() :].lstrip()
        if self._held:
            return self._release()
        self._state = "start"  # another block may follow
        return ""

    def end(self) -> str:
        """Return what was still held back. A block that was never closed is all thinking."""
        if self._state == "thinking":
            self.reasoning += self._held
            self._held = ""
        return self._release()

    def _could_open(self) -> bool:
        bare = self._held.lstrip()
        return not bare or (len(bare) < _LONGEST and bare[0] == "<" and ">" not in bare)

    def _release(self) -> str:
        self._state, text, self._held = "reply", self._held, ""
        return text
