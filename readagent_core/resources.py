"""Finds the files that belong to the program but are no code of the engine: screens, styles, sample texts.

In a checkout they are at its top level; an installed package carries them in its folder ``_app``.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
APP = _PACKAGE / "_app" if (_PACKAGE / "_app").is_dir() else _PACKAGE.parent  # the folder that holds app.py
ASSETS = APP / "assets"
