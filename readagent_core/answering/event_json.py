"""Events as plain JSON values, as libraries, experiments and exports store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from readagent_core.answering.base import (
    Answer,
    Answered,
    AnswerPart,
    BookInAnswer,
    BooksShown,
    Event,
    Expanded,
    FirstAnswerPart,
    LookedUp,
    ModelCall,
    Noted,
    Searched,
)
from readagent_core.memory import Passage
from readagent_core.usage import Usage

PROMPT = "Asked"  # the kind that has a prompt and its reply
# The kinds as libraries, experiments and exports store them: a class may be renamed, its kind may not.
_CLASSES: dict[str, Any] = {
    "BooksShown": BooksShown,
    PROMPT: ModelCall,
    "LookedUp": LookedUp,
    "Searched": Searched,
    "Expanded": Expanded,
    "Noted": Noted,
    "FirstAnswerPart": FirstAnswerPart,
    "AnswerPart": AnswerPart,
    "Answered": Answered,
}
_KINDS = {event_class: kind for kind, event_class in _CLASSES.items()}


def event_to_dict(event: Event) -> dict[str, Any]:
    """Return an event as plain JSON values with its kind. Texts are shared, not copied: prompts are long."""
    values = _told(event)
    if isinstance(event, Answered):
        books = [_told(book) for book in event.answer.books]
        values["answer"] = {**_told(event.answer), "usage": event.answer.usage.to_dict(), "books": books}
    elif isinstance(event, ModelCall):
        values["usage"] = event.usage.to_dict()
    return {"kind": _KINDS[type(event)], **values}


def _told(value: Event | Answer | BookInAnswer) -> dict[str, Any]:
    """Return the fields of a value; ``passages`` and ``found`` only where there are any.

    Of a passage of whole paragraphs no characters are named.
    """
    told = {name: field for name, field in vars(value).items() if name not in ("passages", "found") or field}
    if "passages" in told:
        told["passages"] = tuple(tuple(p) if p.first or p.stop else tuple(p[:3]) for p in told["passages"])
    return told


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """Return the event that ``event_to_dict`` turned into ``data``."""
    values = {name: value for name, value in data.items() if name != "kind"}
    if data["kind"] == "Answered":
        return Answered(answer_from_dict(values["answer"]))
    if "usage" in values:
        values["usage"] = Usage.from_dict(values["usage"])
    values = _with_passages({name: _frozen(value) for name, value in values.items()})
    event: Event = _CLASSES[data["kind"]](**values)
    return event


def _with_passages(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "passages": tuple(Passage(*p) for p in values["passages"])} if "passages" in values else values


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def answer_from_dict(data: Mapping[str, Any]) -> Answer:
    """Return the answer from plain JSON values."""
    values = dict(data)
    values["usage"] = Usage.from_dict(values["usage"])
    books = (_with_passages(_pages_seen(book)) for book in values.get("books", ()))
    values["books"] = tuple(BookInAnswer(**{**book, "found": tuple(book.get("found", ()))}) for book in books)
    return Answer(**{**_with_passages(_pages_seen(values)), "notes": tuple(values["notes"])})


def _pages_seen(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with pages as numbers, which JSON has as text where they are keys."""
    seen = {int(page): how for page, how in values["seen"].items()}
    return {**values, "seen": seen, "looked_up": tuple(values["looked_up"])}
