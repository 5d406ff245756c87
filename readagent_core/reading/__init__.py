"""Reading: ``Document`` → ``GistMemory``. Pagination, gisting and the reader that runs them together."""

from __future__ import annotations

from readagent_core.reading.estimating import Estimate, estimate
from readagent_core.reading.fitting import fit, thin
from readagent_core.reading.progress import Progress, Store
from readagent_core.reading.reader import AHEAD, read, regist

__all__ = ["AHEAD", "Estimate", "Progress", "Store", "estimate", "fit", "read", "regist", "thin"]
