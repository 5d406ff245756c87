"""Marks as JSON of the W3C Web Annotation Data Model (https://www.w3.org/TR/annotation-model/), written and read.

Each mark is an annotation on the book's text, selected by a TextQuoteSelector. Its colour is the ``styleClass`` of its
target, its note a TextualBody. What the model has no term for is in the member ``readagent``, which other programs
ignore. Annotations of other programs are read as well.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from readagent_core.answering.signature import BUILT_IN, MODEL, RECORDING
from readagent_core.citations.placing import CONTEXT
from readagent_core.document import Document
from readagent_core.errors import DamagedDocumentError, WrongFormatError
from readagent_core.library.marks import ANSWER, BOOKMARK, COLOURS, HIGHLIGHT, NOTE, Mark, Spot
from readagent_core.library.records import Book

MOST_MARKS = 10_000  # in a file
LONGEST = 100_000  # characters of the words of a mark, of its note and of an answer
_MOTIVATIONS = {HIGHLIGHT: "highlighting", NOTE: "commenting", BOOKMARK: "bookmarking", ANSWER: "describing"}
_KINDS = {motivation: kind for kind, motivation in _MOTIVATIONS.items()}
_ID = "urn:readagent:mark:"
_CONTEXT_URL = "http://www.w3.org/ns/anno.jsonld"


def to_json(book: Book, document: Document, marks: Iterable[Mark]) -> str:
    """Return stored marks as one AnnotationCollection with one page. ``document``: the book's newest text."""
    items = [_annotation(mark, document) for mark in marks]
    name = f"urn:readagent:marks:{document.id}"
    collection = {
        "@context": _CONTEXT_URL,
        "id": name,
        "type": "AnnotationCollection",
        "label": book.title,
        "generator": {"type": "Software", "name": "ReadAgent"},
        "total": len(items),
        "first": {"id": f"{name}:1", "type": "AnnotationPage", "startIndex": 0, "items": items},
    }
    return json.dumps(collection, ensure_ascii=False, indent=1)


def _annotation(mark: Mark, document: Document) -> dict[str, Any]:
    bodies = [{"type": "TextualBody", "value": mark.note, "format": "text/plain", "purpose": "commenting"}]
    if mark.answer:
        text = mark.answer["text"]
        bodies.append({"type": "TextualBody", "value": text, "format": "text/plain", "purpose": "describing"})
    selector = {"type": "TextQuoteSelector", "exact": mark.exact, "prefix": mark.prefix, "suffix": mark.suffix}
    target = {"type": "SpecificResource", "source": f"urn:readagent:text:{document.id}", "selector": selector}
    if mark.colour:
        target["styleClass"] = mark.colour
    places = {"start": [mark.start.paragraph, mark.start.offset], "end": [mark.end.paragraph, mark.end.offset]}
    return {
        "id": f"{_ID}{mark.id}",
        "type": "Annotation",
        "motivation": _MOTIVATIONS[mark.kind],
        "created": mark.created,
        "modified": mark.changed,
        "body": [body for body in bodies if body["value"]],
        "target": target,
        "readagent": {"section": mark.section, **places, "answer": mark.answer},
    }


@dataclass(frozen=True)
class MarksOfFile:
    """The marks of a file, of no book yet. ``damaged``: numbers of the annotations, from 1, that cannot be read."""

    marks: tuple[Mark, ...]
    damaged: tuple[int, ...] = ()


def from_json(text: str | bytes) -> MarksOfFile:
    """Return the marks of a file of annotations; see ``companion.marks.import_marks``.

    Raises WrongFormatError for anything but annotations, DamagedDocumentError where none of them can be read.
    """
    try:
        data: Any = json.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError):
        raise WrongFormatError("This file is not JSON. Choose one with notes that were exported as JSON.") from None
    items = _items(data)
    if items is None:
        raise WrongFormatError("This JSON has no annotations. Choose one with notes that were exported as JSON.")
    if len(items) > MOST_MARKS:
        raise DamagedDocumentError(f"This file has {len(items):,} notes; up to {MOST_MARKS:,} can be imported at once.")
    marks: list[Mark] = []
    damaged: list[int] = []
    for number, item in enumerate(items, start=1):
        try:
            marks.append(_mark(item))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
            damaged.append(number)
    if damaged and not marks:
        raise DamagedDocumentError("Every note of this file is damaged; nothing was imported. Export the notes again.")
    return MarksOfFile(tuple(marks), tuple(damaged))


def _items(data: Any) -> list[Any] | None:
    """Return the annotations in a collection, a page, a list or an object of one; None where there are none."""
    if isinstance(data, dict):
        if isinstance(data.get("first"), dict):
            data = data["first"]
        data = data.get("items", [data] if data.get("type") == "Annotation" else None)
    return data if isinstance(data, list) else None


def _mark(item: Any) -> Mark:
    """Return one annotation as a mark. Raises KeyError, TypeError, ValueError or AttributeError if it is none."""
    own = item.get("readagent") or {}
    target = _one(item.get("target"))
    target = target if isinstance(target, dict) else {}  # an address alone: a note on the whole book
    quote = next((s for s in _selectors(target.get("selector")) if "TextQuoteSelector" in _all(s.get("type"))), {})
    answer = _answer(own["answer"]) if own.get("answer") else None
    bodies = [{"value": b} if isinstance(b, str) else b for b in _all(item.get("body") or item.get("bodyValue"))]
    notes = [
        _text(b["value"])
        for b in bodies
        if b.get("value") is not None and not (answer and b.get("purpose") == "describing")
    ]
    kind = _KINDS.get(str(_one(item.get("motivation"))), NOTE if notes else HIGHLIGHT)
    if kind == ANSWER and answer is None:  # another program's description
        kind = NOTE
    colour = str(_one(target.get("styleClass")))
    created = _date(item.get("created"))
    return Mark(
        id=_id(item),
        book_id="",
        kind=kind,
        colour=colour if colour in COLOURS else "",
        exact=_text(quote.get("exact") or ""),
        prefix=_text(quote.get("prefix") or "")[-CONTEXT:],
        suffix=_text(quote.get("suffix") or "")[:CONTEXT],
        start=_spot(own.get("start", [0, 0])),
        end=_spot(own.get("end", [0, 0])),
        note=_text("\n\n".join(notes)),
        section=_text(own.get("section", "")),
        created=created,
        changed=_date(item.get("modified")) or created,
        answer=answer,
    )


def _selectors(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the selectors of a target, those first that refine others ('refinedBy')."""
    for selector in _all(value):
        if isinstance(selector, dict) and depth < 8:
            yield from _selectors(selector.get("refinedBy"), depth + 1)
            yield selector


def _all(value: Any) -> list[Any]:
    """Return what a member has: in JSON-LD a list, one value alone, or nothing."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _one(value: Any) -> Any:
    return next(iter(_all(value)), None)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError("not a text, or too long")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError("not a number of a paragraph, page or character")
    return value


def _spot(value: Any) -> Spot:
    paragraph, offset = value
    return Spot(_number(paragraph), _number(offset))


def _date(value: Any) -> str:
    """Return a date as marks have it; '' where there is none that can be read: a date is no reason to lose a note."""
    try:
        date = datetime.fromisoformat(value)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (TypeError, ValueError, OverflowError):
        return ""


def _id(item: Mapping[str, Any]) -> str:
    """Return the id of our own annotations; for others one that is the same at every import."""
    name = item.get("id")
    name = name if isinstance(name, str) and name else json.dumps(item, sort_keys=True)
    own = name.removeprefix(_ID)
    return own if own != name and len(own) <= 64 else str(uuid.uuid5(uuid.NAMESPACE_URL, repr(name)))


def _answer(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a mark with the members of ``companion.kept_answers.make_answer_mark`` alone."""
    citations: list[dict[str, Any]] = [
        {
            "page": _number(cited["page"]),
            **{name: _text(cited[name]) for name in ("state", "claim", "quotation", "exact", "prefix", "suffix")},
            "paragraph": None if cited["paragraph"] is None else _number(cited["paragraph"]),
            "offset": None if cited["offset"] is None else _number(cited["offset"]),
        }
        for cited in value["citations"]
    ]
    pieces = [{"text": _text(p["text"]), "citations": [_number(n) for n in p["citations"]]} for p in value["pieces"]]
    if any(number >= len(citations) for piece in value["pieces"] for number in piece["citations"]):
        raise ValueError("a citation that is not there")
    texts = {name: _text(value[name]) for name in ("exchange_id", "question", "signature", "text")}
    signed_by = value.get("signed_by")  # a file of an earlier version has none
    return {
        **texts,
        "signed_by": signed_by if signed_by in (BUILT_IN, RECORDING) else MODEL,
        "pieces": pieces,
        "citations": citations,
    }
