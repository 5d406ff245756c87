"""Models: a prompt goes in, a completion comes out, whoever answers. ``connect`` is the way in.

What speaks to servers is imported on first use: it takes half a second or more, which a book opened from disk need
not, and the built-in reader never.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from readagent_core.models.base import ChatModel
from readagent_core.models.builtin import BuiltInReader
from readagent_core.settings import Settings

if TYPE_CHECKING:
    from readagent_core.models.embed import Embedder


def connect(settings: Settings) -> ChatModel:
    """The model in force; the built-in reader where none is connected. See ``connection.connect``."""
    if not settings.connected:
        return BuiltInReader()
    from readagent_core.models import connection

    return connection.connect(settings)


def connect_embedder(settings: Settings) -> Embedder:
    """The embedder in force; the built-in one where none is set. See ``embed.connect_embedder``."""
    from readagent_core.models import embed

    return embed.connect_embedder(settings)


def anew(model: ChatModel) -> ChatModel:
    """``model`` asking again even what is kept already, for a person who wants another reply."""
    again = getattr(model, "anew", None)
    found: ChatModel = again() if again else model
    return found
