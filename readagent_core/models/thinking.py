"""Takes a model's thinking out of its reply as it streams: ``<think>…</think>`` at the start of the text.

Works on parts cut anywhere, also inside a tag. Knows nothing of servers.
"""

from __future__ import annotations

import re

_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_LONGEST = 14  # characters of the longest tag and a little space before it
_CLOSE = re.compile(r"</(think|thinking|thought|reasoning)>\s*", re.IGNORECASE)


class ThinkFilter:
    """``feed`` gives what of each part belongs to the reply; ``reasoning`` gathers the rest."""

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
                return self._let_go()
        closed = _CLOSE.search(self._held)
        if not closed:
            return ""
        self.reasoning += self._held[: closed.start()].strip()
        self._held = self._held[closed.end() :].lstrip()
        return self._let_go() if self._held else self._reply_comes()

    def end(self) -> str:
        """What was still held back. A block that never closed is all thinking."""
        if self._state == "thinking":
            self.reasoning += self._held.strip()
            self._held = ""
        return self._let_go()

    def _could_open(self) -> bool:
        bare = self._held.lstrip()
        return not bare or (len(bare) < _LONGEST and bare[0] == "<" and ">" not in bare)

    def _let_go(self) -> str:
        self._state, text, self._held = "reply", self._held, ""
        return text

    def _reply_comes(self) -> str:
        self._state = "start" if not self._held else "reply"
        return ""
