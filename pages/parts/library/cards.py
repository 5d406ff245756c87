"""The books as the library's screen gets them: a ``Book`` of assets/library/store.js each. No widgets."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pages.parts.library.imports import imports_of
from pages.parts.shared import book as current
from pages.parts.shared.gisting_status import pages_expected, span
from pages.parts.shared.memory_view import EMPHASIS_MARKS
from readagent_core.gisting.progress import GistingProgress
from readagent_core.jobs import Job, Snapshot
from readagent_core.library.records import Card, GistingState, StopReason
from readagent_core.library.search import TextHit
from readagent_core.model_names import short_name
from readagent_core.text_files import EMPHASIS_SIGNS
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

KINDS = {"html": "web page", "pdf": "PDF", "epub": "EPUB", "docx": "Word", "markdown": "text", "text": "text"}
_FIRST_SENTENCE = re.compile(r".+?[.。!?](?=\s|$)", re.DOTALL)
_OF_PICTURES = 60  # words a picture, which describe it; an EPUB file of fewer is a book of pictures
_SECONDS_TO_JUDGE = 10.0  # from then on a speed says how long the rest takes


def running_gists(workspace: Workspace) -> dict[int, Job]:
    """The jobs that make gists now, by the id of their reading."""
    jobs = workspace.jobs.running()
    return {job.subject: job for job in jobs if isinstance(job.subject, int) and job.key == f"read {job.subject}"}


def book_record(card: Card, gists: Mapping[str, Any] | None, *, original: bool = False) -> dict[str, Any]:
    """One book, without the fields that say nothing. ``original``: its file is stored."""
    book, position = card.book, card.position
    record = {
        "author": book.author,
        "kind": "" if book.author else KINDS.get(book.format, book.format.upper()),
        "series": [card.series, card.place_in_series] if card.series else None,
        "lang": book.language,
        "read": position.words_read,
        "at": round(position.share, 3),
        "section": position.section,
        "finished": bool(card.finished),
        "opened": book.opened,
        "cover": book.has_cover or (original and book.format == "pdf"),
        "pictures": card.pictures if book.format == "epub" and card.pictures * _OF_PICTURES > book.words else 0,
        "sample": book.sample,
        "tags": card.tags,
        "shelves": card.shelves,
        "gists": gists,
        "web_page": original and book.format == "html",
    }
    required = {"id": book.id, "title": book.title, "words": book.words, "added": book.added}
    return required | {name: value for name, value in record.items() if value}


def without_tried(workspace: Workspace, books: tuple[Card, ...]) -> tuple[Card, ...]:
    """The books without web pages that were only tried in Act, which lists them; one that is added here is a book."""
    tried, added = current.only_tried(workspace), {one.job.snapshot.value for one in imports_of(workspace)}
    if tried & added:
        workspace.library.set_preference(current.TRIED, sorted(tried - added))
    return tuple(card for card in books if card.book.id not in tried - added)


def gists_of(workspace: Workspace, card: Card, running: Mapping[int, Job]) -> dict[str, Any] | None:
    """The ``Gists`` of a book; ``running``: the jobs that make gists."""
    if card.gisting_id is None:
        return None
    if card.gisting_id in running:
        return running_record(running[card.gisting_id].snapshot)
    # interrupted by a crash, or made by another process
    busy = card.state == GistingState.RUNNING and workspace.library.gisting_lock(card.gisting_id).is_held()
    return gists_record(card, model=workspace.model.name, busy=busy)


def gists_record(card: Card, *, model: str, busy: bool = False) -> dict[str, Any] | None:
    """The ``Gists`` of a book of which no job of this process makes gists; None without any.

    ``model``: the name of the one in use. ``busy``: another process makes gists.
    """
    if not card.pages and not busy and card.reason == StopReason.NONE:
        return None
    other = {"model": short_name(card.model)} if card.model != model or card.recorded else {}
    if card.state == GistingState.DONE:
        return {"state": "ready", "share": 1, "pages": card.pages, "made": card.gists} | other
    share = card.words_covered / card.book.words if card.book.words else 0
    found = {
        "state": "making" if busy else "stopped" if card.state == GistingState.FAILED else "paused",
        "share": round(min(1.0, share), 3),
        "pages": pages_expected(card.gists, card.words_covered, card.book.words) or card.pages,
        "made": card.gists,
    }
    if not busy and card.reason not in (StopReason.NONE, StopReason.PAUSED):
        found["state"] = "stopped"
        found["why"] = " ".join([_first_sentence(card.why), *([_saved(card.gists)] if card.gists else [])])
    return found | other


def running_record(snapshot: Snapshot, *, now: float | None = None) -> dict[str, Any]:
    """The ``Gists`` of a book whose gists a job of this process makes."""
    progress = snapshot.value if isinstance(snapshot.value, GistingProgress) else None
    if progress is None:
        return {"state": "making", "share": 0, "pages": 0, "made": 0, "rest": "finding the first pauses"}
    memory = progress.memory
    made, words, total = len(memory.readable), sum(p.words for p in memory.pages), memory.document.words
    pages = pages_expected(len(memory.pages), words, total)
    record = {"state": "making", "share": round(memory.readable_words / max(1, total), 3), "pages": pages, "made": made}
    seconds = (now or time.time()) - snapshot.started
    fresh = made - progress.gists_loaded
    if snapshot.waiting:
        record["rest"] = "waiting for the model"
    elif fresh > 0 and seconds > _SECONDS_TO_JUDGE:
        record["rest"] = f"{span((pages - made) * seconds / fresh)} left"
    return record


def _first_sentence(text: str) -> str:
    found = _FIRST_SENTENCE.match(text)
    return found.group() if found else f"{text.rstrip('.')}."


def _saved(gists: int) -> str:
    return f"{count_of(gists, 'gist')} saved."


def hit_record(hit: TextHit, card: Card) -> tuple[str, int, list[tuple[str, bool]], int, bool]:
    """A place in the text of a book, the last whether the spoiler limit keeps it back: as in the book's own search."""
    limit = card.position.on_screen.allowed
    ahead = limit is not None and hit.paragraph >= limit
    return hit.book_id, hit.paragraph, without_marks(hit.parts, card.book.format), hit.count, ahead


def without_marks(parts: Sequence[tuple[str, bool]], book_format: str) -> list[tuple[str, bool]]:
    """The parts of a hit without the signs round emphasised words, where the format of the book has such."""
    if book_format not in EMPHASIS_SIGNS:
        return list(parts)
    marked = "".join(f"\x02{words}\x03" if found else words for words, found in parts)
    pieces = re.split("[\x02\x03]", EMPHASIS_MARKS.sub("", marked))
    return [(words, number % 2 == 1) for number, words in enumerate(pieces) if words]
