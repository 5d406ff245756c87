"""The rows of a comparison: drawn by ``export.comparison_view``, turned into nodes by ``assets/compare/compare.js``."""

from __future__ import annotations

from pages.parts.shared.component import component
from readagent_core.export.comparison_view import draw_comparison
from readagent_core.workspace.comparing import Comparison


def show(comparison: Comparison, *, key: str) -> None:
    """Draw every row as it is now."""
    mount = component("compare_rows", "compare/compare.js", style="compare/compare.css")
    mount(key=key, data={"rows": draw_comparison(comparison)})
