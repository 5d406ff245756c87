"""The look of the text as a person chose it. A phone keeps sizes and a layout of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.parts.shared.gisting_status import look_of
from readagent_core.library import Library

BOTH = "both"  # the text with its gists
OF_DEVICE = frozenset({"size", "lines", "measure", "margin", "flow"})


def device() -> str:
    """What the names of a phone's preferences end with; "" for a computer or a tablet."""
    return " phone" if "Mobi" in st.context.headers.get("User-Agent", "") else ""


def look_in(library: Library, book_id: str, device: str) -> dict[str, Any]:
    """The look of a book. The direction is the book's alone; a phone begins with the look of the computer."""
    stored = library.preference("look", {}) | library.preference(f"look{device}", {})
    return look_of(stored | {"vertical": library.preference(f"vertical {book_id}", "book")})


def view_in(library: Library, book_id: str, device: str) -> str:
    """How a book is shown. Gists or chapters alone are of the book that they were chosen in: no other begins so."""
    view = str(library.preference(f"view{device}", BOTH))
    of = library.preference(f"view of{device}", book_id)
    return view if view in (BOTH, "text") or of == book_id else BOTH


def change_view(library: Library, book_id: str, device: str, view: str) -> None:
    library.set_preference(f"view{device}", view)
    library.set_preference(f"view of{device}", book_id)


def change_look(library: Library, book_id: str, device: str, changed: Mapping[str, Any]) -> None:
    """Store what was changed: what a phone has of its own for phones alone."""
    look = look_of(library.preference("look", {}) | library.preference(f"look{device}", {}) | dict(changed))
    if "vertical" in changed:
        library.set_preference(f"vertical {book_id}", look["vertical"])
    shared = {name: value for name, value in look.items() if not (device and name in OF_DEVICE)} | {"vertical": "book"}
    library.set_preference("look", library.preference("look", {}) | shared)
    if device:
        library.set_preference(f"look{device}", {name: look[name] for name in OF_DEVICE})
