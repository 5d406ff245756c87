"""The comparison's component: rows drawn by ``assets/compare``, all text by ``textContent``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.compare_rows import data_of
from pages.parts.sealed import sealed
from readagent_core.study.comparing import Comparison

FOLDER = Path(__file__).parents[2] / "assets" / "compare"


@cache
def _component() -> Any:
    js = (FOLDER / "compare.js").read_text(encoding="utf-8")
    css = (FOLDER / "compare.css").read_text(encoding="utf-8")
    return st.components.v2.component("compare_rows", html='<div class="root"></div>', css=css, js=js)


def show(comparison: Comparison, *, key: str) -> None:
    """Draw every row as it stands."""
    _component()(key=key, data=sealed(data_of(comparison)))
