"""What Ask and the recap show of an answer: its text in pieces with the chips of its citations, times, waits."""

from __future__ import annotations

import math
import re
import time
from typing import Any

from readagent_core.citations import Checked, Citation, parse_unfinished
from readagent_core.export.conversation import citation_label
from readagent_core.jobs import Snapshot

_CLOSING = re.compile(r"^[\s]*[.,;:!?。、！？」』”’)\]]+")


def pieces_of(checked: Checked) -> list[dict[str, Any]]:
    """The answer's text with a chip for every citation; a full stop after a mark goes before the chip."""
    found: list[dict[str, Any]] = []
    number = 0
    for piece in checked.pieces:
        text = piece.text
        if found and found[-1]["cites"] and (closing := _CLOSING.match(text)):
            found[-1]["text"] = found[-1]["text"].rstrip() + closing.group().strip()
            text = text[closing.end() :]
        cites = [chip_of(citation, number + i) for i, citation in enumerate(piece.citations)]
        number += len(cites)
        if text.strip() or cites:
            found.append({"text": text if found else text.lstrip(), "cites": cites})
    return found


def pending_pieces(text: str) -> list[dict[str, Any]]:
    """The text of an answer still being written: its marks name pages, and nothing is checked yet."""
    parsed = parse_unfinished(text)
    found: list[dict[str, Any]] = []
    at = 0
    for mark in parsed.marks:
        cites = [{"page": n, "state": "pending", "label": f"page {n}", "why": "", "at": -1} for n in mark.pages]
        found.append({"text": parsed.body[at : mark.start], "cites": cites})
        at = mark.end
    if parsed.body[at:] or not found:
        found.append({"text": parsed.body[at:], "cites": []})
    return [piece for piece in found if piece["text"].strip() or piece["cites"]]


def chip_of(citation: Citation, number: int) -> dict[str, Any]:
    return {
        "page": citation.page,
        "state": citation.state,
        "label": citation_label(citation),
        "why": citation.why,
        "at": number,
    }


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
