"""Models: a prompt goes in, a completion comes out, whoever answers. ``connect`` is the way in.

What speaks to servers is imported on first use: it takes half a second or more, which a book opened from disk need
not, and the built-in reader never.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from readagent_core.model_names import MODEL_FILE
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.settings import Settings

if TYPE_CHECKING:
    from readagent_core.models.embeddings.embed import Embedder


def connect(settings: Settings) -> ChatModel:
    """The model in force; the built-in reader where none is connected. See ``connection.connect``."""
    if not settings.connected:
        return BuiltInReader()
    from readagent_core.models import connection

    return connection.connect(settings)


def connect_embedder(settings: Settings) -> Embedder:
    """The embedder named in the settings: a GGUF file on this computer, or a model of the connected server; else the
    built-in one. Raises LocalModelError for a file that is not there.
    """
    from readagent_core.models.embeddings.embed import BuiltInEmbedder

    name = (settings.server or settings).saved.embedding_model  # whoever pays names the model
    if name.lower().endswith(MODEL_FILE) and settings.team is None:
        from readagent_core.models import connection
        from readagent_core.models.embeddings.local import LocalEmbedder

        return LocalEmbedder(connection.embedding_engine(settings, name), connection.open_cache(settings))
    if not name or not settings.connected:
        return BuiltInEmbedder()
    from readagent_core.models import connection
    from readagent_core.models.embeddings.server import ServerEmbedder

    return ServerEmbedder(connection.connect(settings), name)
