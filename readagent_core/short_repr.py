"""Short ``repr``s for values that hold texts: a book must not fill a notebook, a log or a debugger."""

from __future__ import annotations

from dataclasses import fields
from reprlib import Repr
from typing import Any, TypeVar

T = TypeVar("T")
_LONGEST, _FIRST = 80, 3  # characters of a text, items of a collection
_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST
_short.maxtuple = _short.maxlist = _short.maxdict = _short.maxset = _short.maxfrozenset = _FIRST
_short.maxlevel = 4


def short_repr(dataclass: type[T]) -> type[T]:
    """Give a dataclass a ``repr`` with the beginnings of its fields. Raises TypeError for any other class."""
    fields(dataclass)  # type: ignore[arg-type]

    def __repr__(self: Any) -> str:
        shown = (f"{f.name}={_short.repr(getattr(self, f.name))}" for f in fields(self) if f.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    dataclass.__repr__ = __repr__  # type: ignore[method-assign]
    return dataclass
