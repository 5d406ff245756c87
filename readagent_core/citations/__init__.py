"""Citations: parse an answer and check its quotations against the pages they name."""

from __future__ import annotations

from readagent_core.citations.answer_parsing import parse, parse_unfinished, rename_pages
from readagent_core.citations.checking import FROM_MEMORY, FROM_PAGE, NOT_FOUND, Checked, Citation, check

__all__ = [
    "FROM_MEMORY",
    "FROM_PAGE",
    "NOT_FOUND",
    "Checked",
    "Citation",
    "check",
    "parse",
    "parse_unfinished",
    "rename_pages",
]
