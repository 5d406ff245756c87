"""Where a prompt's shared beginning ends, for servers that keep what is marked (``cache_control``).

Anthropic's models keep a marked beginning for five minutes; writing it costs a quarter more, reading it a tenth. So a
beginning is marked once a second prompt has it, and always at the same character: only the same parts are found again.
https://openrouter.ai/docs/client-sdks/typescript/models/anthropiccachecontroldirective.md
"""

from __future__ import annotations

import os
import re
from collections import deque
from typing import Any

LEAST = 6_000  # characters: they keep nothing below 1,024 tokens, some nothing below 4,096
_RECENT = 8
_MODELS = re.compile(r"(?:^|/|~)(?:anthropic/|claude)", re.IGNORECASE)


def keeps_marked(where: str, model: str) -> bool:
    """Whether the server takes marks for this model. Anthropic's own OpenAI-compatible address does not."""
    return "openrouter.ai" in where and bool(_MODELS.search(model))


class SharedBeginnings:
    """What the recent prompts of one model begin with. Used on the event loop only."""

    def __init__(self) -> None:
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._marked: deque[str] = deque(maxlen=_RECENT)

    def content(self, text: str) -> str | list[dict[str, Any]]:
        """Return ``text`` as a message has it: as it is, or in two parts of which the first is marked."""
        beginning = max((known for known in self._marked if text.startswith(known)), key=len, default="")
        for other in self._recent:
            shared = os.path.commonprefix([text, other])  # noqa: RUF071  of characters
            shared = shared[: shared.rfind("\n") + 1]
            if len(shared) >= max(LEAST, 2 * len(beginning)):
                beginning = shared
        self._recent.append(text)
        if len(beginning) < LEAST or len(beginning) == len(text):
            return text
        if beginning not in self._marked:
            self._marked.append(beginning)
        marked = {"type": "text", "text": beginning, "cache_control": {"type": "ephemeral"}}
        return [marked, {"type": "text", "text": text[len(beginning) :]}]
