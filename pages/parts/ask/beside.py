"""Two answers to one question beside each other: their records as one, and a table of what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages.parts.ask.wording import pages_told, passages_in
from readagent_core.answering import replay
from readagent_core.answering.base import Answer, Event
from readagent_core.answering.look_up_text import pages_named
from readagent_core.words import count_of, length_of


def opened_pages(answer: Answer, *, gisted: bool) -> str:
    """The pages that were opened, whole or in part; how many places where a person knows the pages by no number."""
    whole = (page for page, how in answer.seen.items() if how == "full")
    pages = sorted({*answer.looked_up, *whole, *(passage.page for passage in answer.passages)})
    return pages_told(pages) if gisted else passages_in(len(pages))


def show_beside(
    record: dict[str, Any],
    old: dict[str, Any],
    *,
    events: Sequence[Event],
    old_events: Sequence[Event],
    settings: Mapping[str, Any],
    completed: bool,
    gisted: tuple[bool, bool] = (True, True),
) -> dict[str, Any]:
    """``record`` with the ``old`` answer to the same question beside it, and a table of what differs.

    ``completed``: gists that the old answer lacked have been made since. ``gisted``: every page of the old and of the
    new memory has a gist.
    """
    now, before = replay.answer_of(events), replay.answer_of(old_events)
    what_if = "pages" in settings.get("extra", {})
    if what_if:
        names = ["As it was", "What if"]
    elif completed:
        names = ["By search", "With gists"]
    else:
        names = [old["method"], record["method"]]
    rows = []
    if now and before:
        rows = [
            ["Opened", *(opened_pages(answer, gisted=has) for answer, has in zip((before, now), gisted, strict=True))],
            ["Read", *(length_of(answer.memory_words, record["language"]) for answer in (before, now))],
            ["Found in the book", found_claims(old), found_claims(record)],
        ]
        if record["options"]:
            rows.insert(0, ["Chosen", _chosen(old), _chosen(record)])
        if before.method != now.method and old["method"] not in names:
            rows.insert(0, ["Method", old["method"], record["method"]])
    looks, by, note = record["looks"], ["", ""], ""
    if what_if and now and before and looks:
        looks = [*looks[:-1], {**looks[-1], "said": _what_was_opened(before, now)}]
    if record["signature"]["by"] != old["signature"]["by"]:
        by = [old["signature"]["by"], record["signature"]["by"]]
        note = "Two readers answered: what differs may come from the reader, not from the pages."
        rows.insert(0, ["Answered by", *by])
    beside = {"then": names[0], "now": names[1], "by": by, "note": note, "record": old, "rows": rows}
    return {**record, "looks": looks, "beside": beside}


def _what_was_opened(before: Answer, now: Answer) -> str:
    """'You opened pages 4 and 13, and page 15 was open before.' of an answer to other pages."""
    was, here = set(before.looked_up), set(now.looked_up)
    done = [f"opened {pages_named(sorted(here - was))}"] if here - was else []
    done += [f"closed {pages_named(sorted(was - here))}"] if was - here else []
    said = f"You {' and '.join(done)}" if done else "You changed nothing"
    kept = sorted(was & here)
    return f"{said}; {pages_named(kept)} {'was' if len(kept) == 1 else 'were'} open before." if kept else f"{said}."


def _chosen(record: Mapping[str, Any]) -> str:
    """'D: To signal to the coastguard', the option that an answer's record has; 'none'."""
    return next((f"{o['letter']}: {o['text']}" for o in record["options"] if o["chosen"]), "none")


def found_claims(record: Mapping[str, Any]) -> str:
    """'2 of 3 claims': those of an answer's record whose words are in the book; a gist's sentences are not."""
    claims = [(cite["state"], piece.get("book")) for piece in record["pieces"] for cite in piece["cites"]]
    found = sum(state == "page" or (state == "copied" and bool(book)) for state, book in claims)
    return f"{found} of {count_of(len(claims), 'claim')}"
