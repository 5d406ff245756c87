"""Questions about a passage in the reader: what the card at the words shows of an explanation or a translation.

A definition comes from the person's dictionaries where they have the word, else from the model; without one it is a
list of the places where the words occur.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from pages.parts.shared.book import LANGUAGES
from pages.parts.shared.memory_view import utf16_offset
from readagent_core.answering.signature import BUILT_IN, signature_of
from readagent_core.companion.looking_up import has_dictionaries, look_up
from readagent_core.companion.passage import (
    AROUND,
    DEFINE,
    TASKS,
    TRANSLATE,
    Passage,
    PassageReply,
    ask_about,
    other_places,
)
from readagent_core.document import Document
from readagent_core.errors import NotInLibraryError, ReadAgentError
from readagent_core.jobs import Job, JobState, Snapshot
from readagent_core.library.marks import Spot
from readagent_core.library.records import Book
from readagent_core.models.cost.prices import money
from readagent_core.text_files import EMPHASIS_SIGNS
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

MOST_PLACES = 8
NO_DICTIONARY = "No dictionary is on this computer yet. One tells at once what a word means, without a network."
NOT_FOUND = "Your dictionaries do not have this; a model could explain it."
WORDS_HERE = "Until then: where else it stands"
COMMON = 1500  # characters: a word that occurs once in fewer is common, and a list of its places tells nothing
INTO = "translate_into"  # the preference: the English name of a language


def passage_data(
    workspace: Workspace, book: Book, document: Document, asked: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """``PassageData`` of protocol.d.ts for what the person asked last; None before the first question."""
    if not asked:
        return None
    now: dict[str, Any] = st.session_state.setdefault(f"passage_{book.id}", {})
    fresh = asked["at"] != now.get("at")
    now["at"] = asked["at"]
    if fresh and asked["task"] == "cancel":
        _cancel(workspace, now)
    elif fresh and asked["task"] in TASKS:
        _cancel(workspace, now)
        before = None if now.get("record", {}).get("entries") else now.get("asked")  # entries were no model's
        now |= {"asked": dict(asked), "record": _begin(workspace, book, document, asked, before=before)}
    if "asked" not in now:
        return None
    job = workspace.jobs.get(_job_key(now["asked"]))
    if job is not None:
        now["record"] |= _progress(job, now=time.time())
    return {**now["record"], "at": now["at"]}


def _job_key(asked: Mapping[str, Any]) -> str:
    return f"passage {asked['id']}"


def _cancel(workspace: Workspace, now: Mapping[str, Any]) -> None:
    job: Job | None = workspace.jobs.get(_job_key(now["asked"])) if "asked" in now else None
    if job is not None and job.running:
        job.cancel()
        job.join(2)


def _begin(
    workspace: Workspace,
    book: Book,
    document: Document,
    asked: Mapping[str, Any],
    *,
    before: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Start to answer; the record that the browser shows at first."""
    position = workspace.library.position(book.id)
    record: dict[str, Any] = {"id": asked["id"], "state": "running", "signer": None, "places": [], "more": 0}
    record |= dict.fromkeys(("text", "cost", "error", "waiting", "language"), "") | {"languages": None, "entries": []}
    try:
        start, end = spot_of(document, asked["start"]), spot_of(document, asked["end"])
        allowed = position.allowed
        if allowed is None and position.on_screen.allowed is not None:
            allowed = end.paragraph + 1  # before the reading begins, nothing after the words is shown
        passage = Passage(document, start, end, allowed)
        if asked["task"] == DEFINE and not asked.get("model"):
            if entries := look_up(workspace, book.id, passage):
                return record | {"state": "done", "entries": [asdict(entry) for entry in entries]}
            if not workspace.model.is_language_model:
                first, last = asked.get("seen") or (0, -1)
                why = NOT_FOUND if has_dictionaries(workspace) else NO_DICTIONARY
                return record | _places(passage, why, on_screen=range(int(first), int(last) + 1))
        if asked["task"] == TRANSLATE:
            record |= {"language": _into(workspace, str(asked["language"])), "languages": sorted(LANGUAGES.values())}
        same = before is not None and all(before.get(k) == asked.get(k) for k in ("task", "start", "end", "language"))
        signature = signature_of(workspace.model)
        record["signer"] = {"kind": signature.kind, "line": signature.line}
        ask_about(workspace, _job_key(asked), asked["task"], passage, into=record["language"] or "English", again=same)
    except ReadAgentError as error:
        record |= {"state": "failed", "error": str(error)}
    return record


def _into(workspace: Workspace, language: str) -> str:
    """The language to translate into: one that was chosen, by name; else the last choice; else the browser's."""
    if language in LANGUAGES.values():
        workspace.library.set_preference(INTO, language)
        return language
    own = LANGUAGES.get(language.split("-")[0].lower(), "English")
    return str(workspace.library.preference(INTO, own))


def _places(passage: Passage, why: str, *, on_screen: range) -> dict[str, Any]:
    """What is shown instead of a definition, and ``why``: where else the words occur; of a common word how often."""
    found, more = other_places(passage, most=MOST_PLACES, on_screen=on_screen)
    times = 1 + len(found) + more
    seen = passage.document.paragraphs[: passage.allowed]
    where = "so far" if len(seen) < len(passage.document.paragraphs) else "in this book"
    written = (passage.document.paragraphs[place.paragraph].text[place.start] for place in found)
    if (
        times > MOST_PLACES
        and sum(len(one.text) for one in seen) < COMMON * times
        and not all(map(str.isupper, written))
    ):
        found, more = [], times
        why += f" It stands {times:,} times {where}, too often for a list of the places to help."
    elif found:
        why += f" {WORDS_HERE} {where}."
    places = []
    for place in found:
        text = passage.document.paragraphs[place.paragraph].text
        section = passage.document.section_of(place.paragraph)
        first, last = max(0, place.start - AROUND), min(len(text), place.end + AROUND)
        before, after = text[first : place.start], text[place.end : last]
        if sign := EMPHASIS_SIGNS.get(passage.document.format):
            before, after = before.replace(sign, ""), after.replace(sign, "")
        places.append(
            {
                "paragraph": place.paragraph,
                "at": utf16_offset(text, place.start),
                "before": before if not first else "… " + before.split(" ", 1)[-1],
                "words": text[place.start : place.end],
                "after": after if last == len(text) else after.rsplit(" ", 1)[0] + " …",
                "section": section.title if section else "",
            }
        )
    return {"state": "done", "places": places, "more": more, "signer": {"kind": BUILT_IN, "line": why}}


def _progress(job: Job, *, now: float) -> dict[str, Any]:
    """What the job has brought so far."""
    snapshot: Snapshot = job.snapshot
    reply = snapshot.value if isinstance(snapshot.value, PassageReply) else None
    left = snapshot.waiting_until - now
    waiting = f"{snapshot.waiting} · continues in {left:.0f} s" if left > 0 else snapshot.waiting
    found: dict[str, Any] = {
        "state": snapshot.state,
        "text": reply.text if reply else "",
        "waiting": waiting if snapshot.waiting else "",
        "error": "Stopped." if snapshot.state == JobState.CANCELLED else snapshot.error,
    }
    if snapshot.state == JobState.DONE and reply:
        usage = reply.usage
        sent = f"{count_of(usage.words_in, 'word')} sent" if usage.calls else "Nothing was sent: the reply was stored"
        found["cost"] = f"{sent} · {money(usage.cost)}" if usage.calls and usage.cost else sent
        found["error"] = "" if reply.text else "The reply was empty."
    return found


def spot_of(document: Document, place: Sequence[int]) -> Spot:
    """A place of the browser, in UTF-16 code units, as a spot. Raises NotInLibraryError outside of the text."""
    paragraph, units = int(place[0]), int(place[1])
    if not 0 <= paragraph < len(document.paragraphs):
        raise NotInLibraryError("This place is not in the text any more. Open the book again.")
    text = document.paragraphs[paragraph].text
    if text.isascii():
        return Spot(paragraph, min(units, len(text)))
    return Spot(paragraph, len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace")))
