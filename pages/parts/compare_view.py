"""The comparison's component: rows from ``export.comparison_view``, which ``assets/compare`` turns into nodes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.sealed import sealed
from readagent_core.export.comparison_view import draw_comparison
from readagent_core.workspace.comparing import Comparison

FOLDER = Path(__file__).parents[2] / "assets" / "compare"


@cache
def _component() -> Any:
    js = (FOLDER / "compare.js").read_text(encoding="utf-8")
    css = (FOLDER / "compare.css").read_text(encoding="utf-8")
    return st.components.v2.component("compare_rows", html='<div class="root"></div>', css=css, js=js)


def show(comparison: Comparison, *, key: str) -> None:
    """Draw every row as it is now."""
    _component()(key=key, data=sealed(draw_comparison(comparison)))
