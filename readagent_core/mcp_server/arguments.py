"""The arguments of tools, checked in one place: what clients send in place of a value is understood, the rest refused.

Clients send null, '' or 'none' for an optional argument, one value or '3, 5' where a list is meant, numbers as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator

_MOST_NUMBER = 10**9
_SHORT, _QUESTION, _WHOLE_TEXT = 1_000, 20_000, 32 << 20  # characters
_ITEMS = 100
_NOTHING = ("", "null", "none", "undefined")
_BETWEEN = re.compile(r"[\s,;\[\]]+|\bp(?:p|ages?)?\b\.?", re.IGNORECASE)  # what stands between the pages of a list


def _number(value: Any, least: int) -> int:
    """Return a whole number within bounds. The message of an error never has the value, which may be of any length."""
    try:
        if isinstance(value, bool) or (isinstance(value, str) and len(value) > 20):
            raise ValueError
        number = int(value)
        if isinstance(value, float) and number != value:
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        raise ValueError("a whole number is meant") from None
    if number < least:
        raise ValueError(f"a whole number of at least {least} is meant")
    return min(number, _MOST_NUMBER)


def _text(value: Any, longest: int) -> str:
    if value in (None, [], {}):
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError("a text is meant")
    text = value if isinstance(value, str) else f"{value:.15g}"
    if len(text) > longest:
        raise ValueError(f"this text has {len(text):,} characters, and at most {longest:,} are taken")
    return text.encode("utf-8", "replace").decode()


def _list(value: Any, each: Callable[[Any], Any]) -> list[Any]:
    items = [] if _is_nothing(value) else value if isinstance(value, list | tuple) else [value]
    if len(items) > _ITEMS:
        raise ValueError(f"this list has {len(items):,} items, and at most {_ITEMS} are taken")
    return [each(item) for item in items]


def _is_nothing(value: Any) -> bool:
    return value in (None, [], {}) or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def _pages(value: Any) -> Any:
    short = isinstance(value, str) and len(value) <= _SHORT and not _is_nothing(value)
    return [item for item in _BETWEEN.split(value) if item] if short else value


def _or(default: int | None, least: int) -> BeforeValidator:
    return BeforeValidator(lambda value: default if _is_nothing(value) else _number(value, least))


Start = Annotated[int, _or(0, 0)]
Few = Annotated[int, _or(10, 1)]
Most = Annotated[int, _or(20, 1)]
LookUps = Annotated[int, _or(3, 0)]
Words = Annotated[int | None, _or(None, 1)]
PageNumber = Annotated[int | None, _or(None, 1)]
Text = Annotated[str, BeforeValidator(lambda value: _text(value, _SHORT))]
LongText = Annotated[str, BeforeValidator(lambda value: _text(value, _QUESTION))]
WholeText = Annotated[str, BeforeValidator(lambda value: _text(value, _WHOLE_TEXT))]
Texts = Annotated[list[str], BeforeValidator(lambda value: _list(value, lambda item: _text(item, _SHORT)))]
Numbers = Annotated[list[int], BeforeValidator(lambda value: _list(_pages(value), lambda item: _number(item, 0)))]
