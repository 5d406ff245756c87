"""What the screens say of a reading: its progress, why it stopped, which pages were looked up. No widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from readagent_core.document import Document
from readagent_core.jobs import Snapshot
from readagent_core.library.records import Exchange, Reading
from readagent_core.memory import GistMemory
from readagent_core.models.cost.prices import money
from readagent_core.reading.progress import Progress
from readagent_core.words import count_of
from readagent_core.workspace import Workspace
from readagent_core.workspace.costs import BUDGET_USED, BookBudget
from readagent_core.workspace.reading import ELSEWHERE, job_key

LOOK = {"size": 3, "measure": "middle", "face": "serif", "theme": "system"}
LOOKS: dict[str, Sequence[Any]] = {
    "size": range(1, 6),
    "measure": ("narrow", "middle", "wide"),
    "face": ("serif", "sans"),
    "theme": ("system", "light", "sepia", "dark"),
}
OPEN_SETTINGS = ["settings", "Open Settings"]  # for an error that is corrected there
SECONDS_TO_JUDGE = 1.5  # a speed measured for less time, or a wait as short, is not shown


def pick_reading(readings: Iterable[Reading], wanted: int | None, running: Iterable[str]) -> Reading | None:
    """The reading to show: the wanted one, else one that runs, else the newest that has pages."""
    every = list(readings)
    keys = set(running)
    for chosen in (
        [r for r in every if r.id == wanted],
        [r for r in every if job_key(r) in keys],
        [r for r in every if r.pages],
    ):
        if chosen:
            return chosen[0]
    return None


def reading_name(reading: Reading) -> str:
    """A reading in a few words, for a list of them."""
    who = f"Recording of {reading.recorded}" if reading.recorded else reading.model
    sizes = f"{who} · {reading.plan.min_words}–{reading.plan.max_words} words"
    return f"{sizes} · {count_of(reading.pages, 'page')}" if reading.state == "done" else sizes


def recording_line(reading: Reading) -> str:
    """What a recording is, in a sentence."""
    made = "Its pages and gists were stored; nothing is read now."
    return f"A recording: {reading.model} read this on {reading.recorded}. {made}"


def saved_line(saved: int, total: int) -> str:
    """How much of a reading is saved: '3 of about 25 pages are saved'."""
    return f"{saved:,} of about {count_of(total, 'page')} {'is' if saved == 1 else 'are'} saved"


def pages_expected(read: int, words_read: float, words_total: float) -> int:
    """The estimated number of pages of the whole book, from the pages so far; 0 without any."""
    if not read or not words_read:
        return 0
    return max(read, round(read * words_total / words_read))


def span(seconds: float) -> str:
    """A length of time for people: '8 s', '3 min', '1 h 20 min'."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def memory_now(workspace: Workspace, reading: Reading, snapshot: Snapshot | None) -> GistMemory:
    """The memory so far: the newest of a running job, else what is stored.

    ``snapshot``: of the reading's job, taken once for all that is drawn, because the job may end meanwhile.
    """
    if snapshot is not None and snapshot.state == "running" and isinstance(snapshot.value, Progress):
        return snapshot.value.memory
    return workspace.library.memory(reading.id)


def snapshot_of(workspace: Workspace, reading: Reading) -> Snapshot | None:
    """The snapshot of the reading's job; None without a job."""
    job = workspace.jobs.get(job_key(reading))
    return job.snapshot if job is not None else None


def job_line(
    snapshot: Snapshot | None,
    reading: Reading,
    memory: GistMemory,
    *,
    now: float,
    budget: BookBudget | None = None,
    slowed: str = "",
) -> dict[str, Any] | None:
    """The ``Job`` (memory_view/types.js) of a reading that runs or is paused; None when it is complete.

    ``budget``: the one that paused it. ``slowed``: a sentence that the server gets fewer calls at once.
    """
    if snapshot is not None and snapshot.state == "running":
        return _running(snapshot, memory, now=now, slowed=slowed)
    if memory.complete or reading.recorded:
        return None
    if budget is not None:
        return _over_budget(budget, reading, memory)
    return _paused(snapshot, reading, memory)


def may_hurry(snapshot: Snapshot, *, now: float) -> bool:
    """Whether a job waits so long that a button to end the wait is worth showing."""
    return bool(snapshot.waiting) and snapshot.waiting_until - now > SECONDS_TO_JUDGE


def _running(snapshot: Snapshot, memory: GistMemory, *, now: float, slowed: str) -> dict[str, Any]:
    words = sum(p.words for p in memory.pages)
    words_total = memory.document.words
    gists = len(memory.readable)
    paging = words < words_total
    total = pages_expected(len(memory.pages), words, words_total) if paging else len(memory.pages)
    state, hurry = "running", False
    if not total:
        line = "Reading: finding where to pause first"
    else:
        line = f"Reading: {gists} of {'about ' if paging else ''}{count_of(total, 'page')}"
    if snapshot.waiting == ELSEWHERE:
        rest = [ELSEWHERE]
    elif snapshot.waiting:
        state, line = "waiting", "Paused: the model asked us to wait"
        hurry = may_hurry(snapshot, now=now)
        rest = [snapshot.waiting, f"continues by itself in {span(max(0.0, snapshot.waiting_until - now))}"]
        if total:
            rest.append(saved_line(gists, total))
    else:
        progress = snapshot.value if isinstance(snapshot.value, Progress) else None
        rest = _pace(progress, gists, total, seconds=now - snapshot.started) if progress else []
        if slowed:
            rest.append(slowed)
    done = words + sum(memory.page(n).words for n in memory.readable)
    return {
        "running": True,
        "paging": paging,
        "state": state,
        "line": line,
        "rest": " · ".join(rest),
        "percent": min(100.0, round(50 * done / words_total, 1)) if words_total else 0,
        "total": total,
        "actions": [*([["hurry", "Go on now"]] if hurry else []), ["pause", "Pause"]],
    }


def _pace(progress: Progress, gists: int, total: int, *, seconds: float) -> list[str]:
    """The speed of this run in ``seconds``, the time left, what it cost, and the calls made in advance."""
    found: list[str] = []
    made = gists - progress.gists_loaded  # by this run; the others were stored before
    if made > 0 and seconds > SECONDS_TO_JUDGE:
        speed = made / seconds
        found.append(f"{speed:.1f} pages a second" if speed >= 0.1 else f"{speed * 60:.1f} pages a minute")
        found.append(f"about {span((total - gists) / speed)} left")
    if progress.usage.cost:
        found.append(f"${progress.usage.cost:.2f} so far")
    if progress.usage.saved_cost:
        found.append(f"{money(progress.usage.saved_cost)} saved by the cache")
    counts = progress.call_counts
    if counts.ahead:
        found.append(f"{counts.ahead} of {counts.asked} calls for pauses were made in advance")
    return found


def _paused(snapshot: Snapshot | None, reading: Reading, memory: GistMemory) -> dict[str, Any]:
    failed_now = snapshot is not None and snapshot.state == "failed"
    failed = failed_now or reading.state == "failed"
    why = (snapshot.error if snapshot is not None and failed_now else reading.why).strip()
    saved = f"{count_of(len(memory.pages), 'page')} and {count_of(len(memory.readable), 'gist')} are saved."
    found = _idle(memory, state="failed" if failed else "paused", rest=why or saved)
    found["line"] = f"{'Stopped' if failed else 'Paused'} at {found['percent']:.0f} %"
    found["actions"] = [["go", "Try again" if failed else "Go on"]]
    if " in Settings" in why:
        found["actions"].append(OPEN_SETTINGS)
    return found


def _over_budget(budget: BookBudget, reading: Reading, memory: GistMemory) -> dict[str, Any]:
    found = _idle(memory, state="waiting", rest=f"{money(budget.spent)} of {money(budget.limit)} is spent; ")
    about = f" of about {found['total']}" if found["total"] else ""
    found["rest"] += f"{len(memory.readable)}{about} pages are read and saved"
    if budget.rest:
        found["rest"] += f" · the rest would cost about {money(budget.rest)}"
    found["line"] = f"Paused: {BUDGET_USED[0].lower()}{BUDGET_USED[1:]}"
    changed = not reading.why.startswith(budget.amounts)  # another limit was set in Settings since
    found["actions"] = [["go", "Go on"] if changed else ["raise", f"Raise to {money(budget.raised)}"]]
    return found


def _idle(memory: GistMemory, *, state: str, rest: str) -> dict[str, Any]:
    """What the lines of all readings that do not run have in common."""
    words = sum(p.words for p in memory.pages)
    return {
        "running": False,
        "paging": False,
        "state": state,
        "rest": rest,
        "percent": round(100 * words / memory.document.words, 1) if memory.document.words else 0,
        "total": pages_expected(len(memory.pages), words, memory.document.words),
    }


def looked_up(exchanges: Iterable[Exchange], reading_id: int) -> dict[int, int]:
    """For each page of this reading, the number of answers that looked it up."""
    counts: Counter[int] = Counter()
    for exchange in exchanges:
        if exchange.reading_id == reading_id:
            counts.update(_opened(exchange))
    return dict(sorted(counts.items()))


def looked_up_last(exchanges: Iterable[Exchange], reading_id: int) -> list[int]:
    """The pages that the newest answer from this reading looked up, which the map shows."""
    mine = [e for e in exchanges if e.reading_id == reading_id and _opened(e)]
    return sorted(_opened(max(mine, key=lambda e: e.asked))) if mine else []


def _opened(exchange: Exchange) -> set[int]:
    return {page for event in exchange.events if event["kind"] == "Expanded" for page in event["pages"]}


def whole_paragraph(limited: Document, whole: Document, index: int) -> int:
    """The paragraph of ``whole`` that has paragraph ``index`` of its limited form, or a piece of it."""
    if len(limited.paragraphs) == len(whole.paragraphs):
        return index
    for place, first in enumerate(_firsts(limited, whole)):
        if first > index:
            return place - 1
    return len(whole.paragraphs) - 1


def limited_paragraph(limited: Document, whole: Document, index: int) -> int:
    """The first piece of paragraph ``index`` of ``whole`` in its limited form."""
    if len(limited.paragraphs) == len(whole.paragraphs):
        return index
    return _firsts(limited, whole)[min(index, len(whole.paragraphs) - 1)]


def _firsts(limited: Document, whole: Document) -> list[int]:
    firsts: list[int] = []
    at = 0
    for paragraph in whole.paragraphs:
        firsts.append(at)
        length = 0
        while at < len(limited.paragraphs) and (length < len(paragraph.text) or length == 0):
            length += len(limited.paragraphs[at].text)
            at += 1
    return firsts


def look_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The stored look, with the default for every missing or unknown part."""
    return {name: stored[name] if stored.get(name) in known else LOOK[name] for name, known in LOOKS.items()}
