"""Reading: makes a ``GistMemory`` of a ``Document`` by pagination and gisting."""

from __future__ import annotations

from readagent_core.reading.call_estimate import Estimate, estimate
from readagent_core.reading.memory_budget import fit, shorten_old_gists
from readagent_core.reading.progress import Progress, Store
from readagent_core.reading.reader import CALLS_AHEAD, read, regenerate_gist

__all__ = [
    "CALLS_AHEAD",
    "Estimate",
    "Progress",
    "Store",
    "estimate",
    "fit",
    "read",
    "regenerate_gist",
    "shorten_old_gists",
]
