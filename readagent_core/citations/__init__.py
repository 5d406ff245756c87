"""Citations: parse an answer and check its quotations against the pages they name."""

from __future__ import annotations

from readagent_core.citations.answer_parsing import Mark, Parsed, Quotation, parse, parse_unfinished
from readagent_core.citations.checking import FROM_MEMORY, FROM_PAGE, NOT_FOUND, Checked, Citation, Piece, check
from readagent_core.citations.quotation_search import Finder, Place

__all__ = [
    "FROM_MEMORY",
    "FROM_PAGE",
    "NOT_FOUND",
    "Checked",
    "Citation",
    "Finder",
    "Mark",
    "Parsed",
    "Piece",
    "Place",
    "Quotation",
    "check",
    "parse",
    "parse_unfinished",
]
