"""What a component is sent. Knows nothing of components."""

from __future__ import annotations

from typing import Any


def sealed(data: Any) -> list[Any]:
    """``data`` in a list of one, as every component's script takes it.

    Streamlit looks for data frames among the values of a mapping, and loads pandas to know one: half a second of the
    first visit. In a list it looks for none.
    """
    return [data]
