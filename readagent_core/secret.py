"""A key as the program carries it: its text is never part of a repr, a log or an error."""

from __future__ import annotations


class Secret:
    """A key. Only ``reveal()`` gives its text."""

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def masked(self) -> str:
        """'••••1234', or '' where there is none."""
        return f"••••{self._text[-4:]}" if len(self._text) > 8 else "••••" if self._text else ""

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Secret({self.masked()!r})"

    __str__ = __repr__
