"""Reading: makes a ``GistMemory`` of a ``Document`` by pagination and gisting."""

from __future__ import annotations

from readagent_core.gisting.call_estimate import estimate
from readagent_core.gisting.gisting import regenerate_gist
from readagent_core.gisting.paginator import cut_by_rule, cut_rest_by_rule
from readagent_core.gisting.progress import GistingProgress
from readagent_core.gisting.reader import CALLS_AHEAD, read

__all__ = [
    "CALLS_AHEAD",
    "GistingProgress",
    "cut_by_rule",
    "cut_rest_by_rule",
    "estimate",
    "read",
    "regenerate_gist",
]
