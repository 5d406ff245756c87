"""The tools a method runs with in this study: the embedder, the book's shelf, and how many calls go side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from readagent_core.methods.support.resources import Resources
from readagent_core.models import connect_embedder

if TYPE_CHECKING:
    from readagent_core.study import Study

CONNECTIONS = 8


def tools(study: Study, document_id: str) -> Resources:
    """``document_id``: of the text the question is about, which keeps what methods make of it."""
    connections = int(study.settings.saved.get("connections", CONNECTIONS))
    return Resources(
        embedder=connect_embedder(study.settings), artifacts=study.library.shelf(document_id), connections=connections
    )
