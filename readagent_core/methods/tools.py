"""What a run may be given besides its settings: an embedder, and a shelf where it keeps what it made of the book.

Settings are plain values that are written down with every answer; tools are not, so they ride along only for the
run itself: ``method.run(question, memory, model, equip(settings, tools), watch)``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from readagent_core.methods.base import AskSettings

if TYPE_CHECKING:
    from readagent_core.models.embed import Embedder


class Shelf(Protocol):
    """``kind``: what is kept ('tree'); ``key``: what it was made with. ``Library.shelf`` is one."""

    def load(self, kind: str, key: str) -> Any | None: ...
    def save(self, kind: str, key: str, value: Any) -> None: ...


@dataclass(frozen=True)
class Tools:
    """``embedder`` None: the built-in one. ``connections``: model calls made side by side."""

    embedder: Embedder | None = None
    shelf: Shelf | None = None
    connections: int = 8


@dataclass(frozen=True)
class Equipped(AskSettings):
    tools: Tools = Tools()


def equip(settings: AskSettings, tools: Tools) -> AskSettings:
    """``settings`` with ``tools`` for one run."""
    values = {f.name: getattr(settings, f.name) for f in fields(AskSettings)}
    return Equipped(**values, tools=tools)


def tools_of(settings: AskSettings) -> Tools:
    """The tools a run was given; none by default."""
    return settings.tools if isinstance(settings, Equipped) else Tools()


def embedder_of(settings: AskSettings) -> Embedder:
    """The embedder a run was given, else the built-in one."""
    from readagent_core.models.embed import BuiltInEmbedder  # brings in what speaks to servers

    return tools_of(settings).embedder or BuiltInEmbedder()


def key_of(*parts: Any) -> str:
    """A shelf key: the same exactly when everything the thing was made with is."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:24]
