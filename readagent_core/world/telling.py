"""What is known of a book's world at a place, as plain values, Markdown or rows: for files, agents and the terminal.

``Known`` ends at its place, so nothing here can tell what comes later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from readagent_core.document import Document
from readagent_core.text_files import markdown_line
from readagent_core.world.as_of import Entity, Known, Line, Order
from readagent_core.world.names import EntityKind
from readagent_core.world.notes import NoteKind

HEADINGS = {
    EntityKind.PERSON: "People",
    EntityKind.PLACE: "Places",
    EntityKind.GROUP: "Groups",
    EntityKind.THING: "Things",
}
MET_ONCE = "Met once, without a name"
# no part of a name; as in name_card.js
_TITLES = frozenset(["a", "an", "the", "mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "st"])
BY_RULE = (
    "Names found by rule. Where they stand is certain; who they are, and that two names are one person, needs a model."
)


def known_to_dict(known: Known, document: Document) -> dict[str, Any]:
    """Return all that is known as plain JSON values."""
    return {
        "as_of_page": known.page,
        **{
            name.lower(): [entity_to_dict(e, document) for e in _of_kind(known, kind)]
            for kind, name in HEADINGS.items()
        },
        "met_once": [entity_to_dict(e, document) for e in known.met_once],
        "relations": [line_to_dict(line, document) for line in known.relations],
        "happened": [line_to_dict(line, document) for line in known.timeline()],
        "happened_by_time": [line_to_dict(line, document) for line in known.timeline(Order.TIME)],
        "pages_without_notes": [*known.without_notes, *known.failed],
    }


def entity_to_dict(entity: Entity, document: Document) -> dict[str, Any]:
    """Return a card as plain JSON values."""
    return {
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "also": [{"name": other.name, "page": other.page} for other in entity.also],
        "pages": [list(pair) for pair in entity.pages],
        "lines": [line_to_dict(line, document) for line in entity.lines],
        "found_by_rule": entity.by_rule,
    }


def line_to_dict(line: Line, document: Document) -> dict[str, Any]:
    """Return a line of a card with the words of the book that it rests on."""
    return {
        "page": line.page,
        "kind": line.kind,
        "name": line.name,
        "says": said(line),
        "other": line.other,
        "when": line.when,
        "words": document.paragraphs[line.paragraph].text[line.start : line.end],
    }


def said(line: Line) -> str:
    """Return what a line says; of a link between two names, that they are one."""
    return line.says or (f"is the same as {line.other}" if line.kind == NoteKind.SAME else "")


def told_once(entity: Entity) -> Iterator[Line]:
    """Yield the lines of a card without those that tell again what one before has told, and without those that join its
    name to another form of it, which stands among the other names; as ``toldOnce`` of name_card.js.
    """
    own, told = {*_words(entity.name)}, set[str]()
    for line in entity.lines:
        if line.kind == NoteKind.SAME:
            if line.other == entity.name or own.isdisjoint(_words(line.other)):
                yield line
        elif (words := " ".join(_words(line.says))) not in told or not words:
            told.add(words)
            yield line


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _TITLES]


def page_runs(entity: Entity) -> str:
    """Return the pages that name an entity: 'pages 3 to 12'; '' where its name stands nowhere as it is written."""
    pages = [page for page, _ in entity.pages]
    if not pages:
        return ""
    return f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]} to {pages[-1]}"


def headed(known: Known) -> Iterator[tuple[str, Sequence[Entity]]]:
    """Yield each kind that has entities with its heading. Names by rule may be of anybody or anything."""
    for kind, heading in HEADINGS.items():
        if entities := _of_kind(known, kind):
            yield "Names" if kind == EntityKind.PERSON and note_of(known) else heading, entities
    if known.met_once:
        yield MET_ONCE, known.met_once


def _of_kind(known: Known, kind: EntityKind) -> tuple[Entity, ...]:
    """Return those of a kind; of persons those who are of the cast."""
    return known.people if kind == EntityKind.PERSON else known.of_kind(kind)


def title_of(known: Known) -> str:
    return f"{'Who is named' if note_of(known) else 'Who is who'}, as of page {known.page}"


def note_of(known: Known) -> str:
    """Return who found the names, where no model did."""
    return BY_RULE if known.entities and all(entity.by_rule for entity in known.entities) else ""


def world_markdown(known: Known) -> str:
    """Return the cast and what happened as Markdown, headings of level 2; '' where nobody is known."""
    lines: list[str] = []
    for heading, entities in headed(known):
        lines += [f"### {heading}", ""]
        for entity in entities:
            also = f", also {markdown_line(', '.join(o.name for o in entity.also))}" if entity.also else ""
            lines.append(f"- **{markdown_line(entity.name)}**{also} ({page_runs(entity) or 'no page'})")
            lines += [f"  - {markdown_line(said(line))} [{line.page}]" for line in told_once(entity)]
        lines.append("")
    if events := known.timeline(Order.TIME):
        lines += ["### What happened, in the order of time", ""]
        lines += [f"- {markdown_line(f'{e.name} {said(e)}')}{_when(e)} [{e.page}]" for e in events] + [""]
    note = [note_of(known), ""] if note_of(known) else []
    return "\n".join([f"## {title_of(known)}", "", *note, *lines]) if lines else ""


def _when(line: Line) -> str:
    return f" ({markdown_line(line.when)})" if line.when else ""
