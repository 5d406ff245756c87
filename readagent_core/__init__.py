"""ReadAgent: long texts read with gist memory. The engine, usable without the app.

    import readagent_core as ra
    model = ra.get_model()
    memory = ra.read(ra.open_document("book.epub"), model)
    print(ra.ask(memory, "Who lit the lamp?", model).text)

``docs/architecture.md`` has the layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from readagent_core.api import ask, ask_events, get_model, open_document, read

__version__ = "0.9.0"
__all__ = ["ask", "ask_events", "get_model", "open_document", "read"]


def __getattr__(name: str) -> Any:
    """Import the front door at its first use, so that importing one module does not load the whole engine."""
    if name in __all__:
        from readagent_core import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
