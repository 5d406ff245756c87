"""What Ask shows of an answer: its text in pieces with the chips of its citations, times, waits."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from typing import Any

from readagent_core.citations import FROM_MEMORY, FROM_PAGE, Checked, Citation, parse_unfinished
from readagent_core.citations.several import parse_unfinished_several
from readagent_core.export.citation_labels import citation_label, short_place, short_title
from readagent_core.jobs import Snapshot

WHY_HERE = {  # of a page without a number
    FROM_PAGE: "These words are in the text here.",
    FROM_MEMORY: "The model was shown this part of the text, but the answer quotes no words of it.",
}
_CLOSING = re.compile(r"^[\s]*[.,;:!?。、！？」』”’)\]]+")


def pieces_of(
    checked: Checked, titles: Mapping[int, str] | None = None, names: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """The answer's text with a chip for every citation; a full stop after a mark goes before the chip.

    ``titles``: of several books, by number; ``names``: of pages that a person knows by no number.
    """
    found: list[dict[str, Any]] = []
    number = 0
    for piece in checked.pieces:
        text = piece.text
        if found and found[-1]["cites"] and (closing := _CLOSING.match(text)):
            found[-1]["text"] = found[-1]["text"].rstrip() + closing.group().strip()
            text = text[closing.end() :]
        cites = [chip_of(citation, number + i, titles, names) for i, citation in enumerate(piece.citations)]
        number += len(cites)
        if text.strip() or cites:
            found.append({"text": text if found else text.lstrip(), "cites": cites})
    return found


def pending_pieces(
    text: str, titles: Mapping[int, str] | None = None, names: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """The text of an answer still being written: its marks name pages, and nothing is checked yet.

    ``titles``: of several books, by number; ``names``: as in ``pieces_of``.
    """
    if titles is not None:
        return [
            {"text": words, "cites": [_pending(_place_name(book, page, titles)) for book, page in places]}
            for words, places in parse_unfinished_several(text)
            if words.strip() or places
        ] or [{"text": "", "cites": []}]
    parsed = parse_unfinished(text)
    found: list[dict[str, Any]] = []
    at = 0
    for mark in parsed.marks:
        cites = [_pending(short_place((names or {}).get(n, f"page {n}"))) for n in mark.pages]
        found.append({"text": parsed.body[at : mark.start], "cites": cites})
        at = mark.end
    if parsed.body[at:] or not found:
        found.append({"text": parsed.body[at:], "cites": []})
    return [piece for piece in found if piece["text"].strip() or piece["cites"]]


def _pending(label: str) -> dict[str, Any]:
    return {"page": 0, "state": "pending", "label": label, "why": "", "at": -1}


def _place_name(book: int, page: int, titles: Mapping[int, str]) -> str:
    title = short_title(titles.get(book, f"book {book}"))
    return f"{title}, p. {page}" if page else title


def chip_of(
    citation: Citation,
    number: int,
    titles: Mapping[int, str] | None = None,
    names: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    name = (names or {}).get(citation.page, "")
    return {
        "page": citation.page,
        "book": citation.book,
        "state": citation.state,
        "inPart": citation.in_part,
        "label": citation_label(citation, titles, name=short_place(name)),
        "why": with_place(name, WHY_HERE.get(citation.state, citation.why) if name else citation.why),
        "at": number,
    }


def with_place(name: str, why: str) -> str:
    """What a chip says when pointed at: first the whole name of a place that its label shortens."""
    return why if name.rstrip(".").casefold() == short_place(name).casefold() else f"{name.rstrip('.')}. {why}"


def waiting_line(snapshot: Snapshot, *, now: float) -> str:
    """Why a job waits and in how many seconds it continues; '' while it works."""
    left = snapshot.waiting_until - now
    return (
        f"{snapshot.waiting} · continues in {math.ceil(left)} s" if snapshot.waiting and left > 0 else snapshot.waiting
    )


def format_time(moment: float, *, now: float | None = None) -> str:
    """A time for people: '14:05', 'yesterday', '3 November'."""
    now = time.time() if now is None else now
    if not moment:
        return ""
    then, today = time.localtime(moment), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    if time.localtime(now - 86400)[:3] == then[:3]:
        return "yesterday"
    return f"{then.tm_mday} {time.strftime('%B' if then[0] == today[0] else '%B %Y', then)}"
