"""What the screens say of a gisting: its progress, why it stopped, which pages were looked up. No widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from readagent_core.gisting.costs import BookBudget
from readagent_core.gisting.job import ELSEWHERE, job_key
from readagent_core.gisting.progress import GistingProgress
from readagent_core.jobs import JobState, Snapshot
from readagent_core.library.records import Gisting, GistingState, StopReason
from readagent_core.memory import GistMemory
from readagent_core.model_names import short_name
from readagent_core.models.builtin.reader import NAME
from readagent_core.models.cost.prices import money
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

LOOKS: dict[str, Sequence[Any]] = {
    "size": range(12, 37),
    "margin": range(8, 65),
    "warmth": range(11),
    "measure": range(40, 91),
    "face": ("serif", "sans", "source-serif", "source-sans", "caladea", "lato"),
    "theme": ("system", "light", "sepia", "dark"),
    "lines": range(130, 201),  # per cent of the size
    "justify": ("off", "on"),
    "names": ("on", "off"),
    "flow": ("scroll", "pages", "spread"),
    "vertical": ("book", "on", "off"),  # 'book': as the book is set
}
BEFORE: dict[str, dict[Any, int]] = {  # what earlier versions stored
    "size": {1: 15, 2: 17, 3: 18, 4: 20, 5: 23},  # px
    "measure": {"narrow": 48, "middle": 60, "wide": 74},
    "lines": {"tight": 145, "normal": 165, "airy": 195},
}
LOCAL_FACE = "local:"  # before the name of a typeface of the reader's own computer
LOOK: dict[str, Any] = {
    "size": 18,
    "margin": 20,
    "warmth": 0,
    "measure": 60,
    "face": "serif",
    "theme": "system",
    "lines": 165,
    "justify": "off",
    "names": "on",
}
LOOK |= {"flow": "scroll", "vertical": "book"}
LONGEST_FACE = 60  # characters of a name
OPEN_SETTINGS = ["settings", "Open Settings"]  # for an error that is corrected there
SECONDS_TO_JUDGE = 1.5  # a speed measured for less time, or a wait as short, is not shown


def pick_gisting(gistings: Iterable[Gisting], wanted: int | None, running: Iterable[str]) -> Gisting | None:
    """The reading to show: the wanted one, else one that runs, else the newest that has pages, else the newest."""
    every = list(gistings)
    keys = set(running)
    for chosen in (
        [r for r in every if r.id == wanted],
        [r for r in every if job_key(r) in keys],
        [r for r in every if r.pages],
    ):
        if chosen:
            return chosen[0]
    return every[0] if every else None


def gisting_name(gisting: Gisting) -> str:
    """A reading in a few words, for a list of them."""
    who = f"Recording of {gisting.recorded}" if gisting.recorded else short_name(gisting.model)
    sizes = f"{who} · {gisting.plan.min_words}–{gisting.plan.max_words} words"
    return f"{sizes} · {count_of(gisting.pages, 'page')}" if gisting.state == GistingState.DONE else sizes


def saved_line(saved: int, total: int) -> str:
    """How much of a gisting is saved: '3 of about 25 pages are saved'."""
    return f"{saved:,} of about {count_of(total, 'page')} {'is' if saved == 1 else 'are'} saved"


def pages_expected(read: int, words_read: float, words_total: float) -> int:
    """The estimated number of pages of the whole book, from the pages so far; 0 without any."""
    if not read or not words_read:
        return 0
    return max(read, round(read * words_total / words_read))


def span(seconds: float) -> str:
    """A length of time for people: '8 s', '3 min', '1 h', '1 h 20 min'."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes or not hours else [])])


def memory_now(workspace: Workspace, gisting: Gisting, snapshot: Snapshot | None) -> GistMemory:
    """The memory so far: the newest of a running job, else what is stored.

    ``snapshot``: of the reading's job, taken once for all that is drawn, because the job may end meanwhile.
    """
    if snapshot is not None and snapshot.state == JobState.RUNNING and isinstance(snapshot.value, GistingProgress):
        return snapshot.value.memory
    return workspace.library.memory(gisting.id)


def snapshot_of(workspace: Workspace, gisting: Gisting) -> Snapshot | None:
    """The snapshot of the reading's job; None without a job."""
    job = workspace.jobs.get(job_key(gisting))
    return job.snapshot if job is not None else None


def gists_line(
    state: str, line: str, rest: Iterable[str] = (), *, actions: Sequence[Sequence[str]] = (), **more: Any
) -> dict[str, Any]:
    """A ``GistsLine`` of protocol.d.ts: what the foot of the reader says of the gists."""
    usual = {"running": False, "percent": None, "total": 0, "more": "", "by": ""}
    found = usual | {"state": state, "line": line, "rest": " · ".join(rest), "actions": [list(a) for a in actions]}
    return found | more


def job_line(
    snapshot: Snapshot | None,
    gisting: Gisting,
    memory: GistMemory,
    *,
    now: float,
    budget: BookBudget | None = None,
    slowed: str = "",
    other_model: str | None = None,
) -> dict[str, Any] | None:
    """The line of gists that are being made or have stopped; None when they are complete.

    ``budget``: the one that stopped them. ``slowed``: a sentence that the server gets fewer calls at once.
    ``other_model``: the one in use, where another began these gists: it would make its own; '' for the built-in reader.
    """
    if snapshot is not None and snapshot.state == JobState.RUNNING:
        return _running(snapshot, memory, now=now, slowed=slowed)
    if memory.complete or gisting.recorded:
        return None
    if budget is not None:
        return _over_budget(budget, gisting, memory)
    return _paused(snapshot, gisting, memory, other_model)


def ready_line(gisting: Gisting, memory: GistMemory) -> dict[str, Any]:
    """The line of gists that are complete, or recorded."""
    pages = count_of(len(memory.pages), "page")
    by_rule = gisting.model == NAME  # which the line names already
    made = pages if by_rule else f"{pages}; made with {short_name(gisting.model)}"
    rest = [made]
    if memory.fallback_gists:
        rest.append(f"{count_of(memory.fallback_gists, 'gist')} made of first sentences, no usable reply came")
    if gisting.recorded:
        return gists_line("recording", "A recording", [f"made on {gisting.recorded}", made], percent=100)
    picked = "Their sentences were picked from the text by rule: no model read it." if by_rule else ""
    return gists_line("ready", "Ready", rest, percent=100, more=picked)


def may_hurry(snapshot: Snapshot, *, now: float) -> bool:
    """Whether a job waits so long that a button to end the wait is worth showing."""
    return bool(snapshot.waiting) and snapshot.waiting_until - now > SECONDS_TO_JUDGE


def _running(snapshot: Snapshot, memory: GistMemory, *, now: float, slowed: str) -> dict[str, Any]:
    words = sum(p.words for p in memory.pages)
    words_total = memory.document.words
    gists = len(memory.readable)
    paging = words < words_total
    total = pages_expected(len(memory.pages), words, words_total) if paging else len(memory.pages)
    state, hurry, more = "running", False, [slowed] if slowed else []
    line = "Finding where to pause first"
    if total:
        line = f"{gists} of {'about ' if paging else ''}{count_of(total, 'page')}"
    progress = snapshot.value if isinstance(snapshot.value, GistingProgress) else None
    if progress and progress.elsewhere:
        rest = [ELSEWHERE]
    elif snapshot.waiting and snapshot.waiting_until <= now:  # nobody knows how long
        state, line = "waiting", snapshot.waiting
        rest = [saved_line(gists, total)] if total else []
    elif snapshot.waiting:
        state, line = "waiting", "Waiting to try again"
        hurry = may_hurry(snapshot, now=now)
        reason = snapshot.waiting.partition(": ")[2].partition(" (try ")[0] or snapshot.waiting.rstrip(".")
        rest = [reason, f"continues by itself in {span(max(0.0, snapshot.waiting_until - now))}"]
        if total:
            rest.append(saved_line(gists, total))
    else:
        rest, figures = _pace(progress, gists, total, seconds=now - snapshot.started) if progress else ([], [])
        more += figures
    done = words + sum(memory.page(n).words for n in memory.readable)
    return gists_line(
        state,
        line,
        rest,
        actions=[*([["hurry", "Try now"]] if hurry else []), ["pause", "Pause"]],
        running=True,
        paging=paging,
        percent=min(100.0, round(50 * done / words_total, 1)) if words_total else 0,
        total=total,
        more=" · ".join(more),
    )


def _pace(progress: GistingProgress, gists: int, total: int, *, seconds: float) -> tuple[list[str], list[str]]:
    """The time left and the cost of this run in ``seconds``; then its speed, the cache and calls made in advance."""
    found: list[str] = []
    figures: list[str] = []
    made = gists - progress.gists_loaded  # by this run; the others were stored before
    if made > 0 and seconds > SECONDS_TO_JUDGE:
        speed = made / seconds
        found.append(f"about {span((total - gists) / speed)} left")
        figures.append(f"{speed:.1f} pages a second" if speed >= 0.1 else f"{speed * 60:.1f} pages a minute")
    if progress.usage.cost:
        found.append(f"{money(progress.usage.cost)} so far")
    if progress.usage.saved_cost:
        figures.append(f"{money(progress.usage.saved_cost)} saved by the cache")
    counts = progress.call_counts
    if counts.ahead:
        figures.append(f"{counts.ahead} of {counts.asked} pauses looked for ahead of their turn, to save time")
    return found, figures


def _paused(snapshot: Snapshot | None, gisting: Gisting, memory: GistMemory, other_model: str | None) -> dict[str, Any]:
    failed_now = snapshot is not None and snapshot.state == JobState.FAILED
    why = (snapshot.error if snapshot is not None and failed_now else gisting.why).strip()
    stopped = failed_now or gisting.reason not in (StopReason.NONE, StopReason.PAUSED)
    covered = _covered(memory)
    gists = len(memory.readable)
    actions = [["go", "Resume" if other_model is None else f"Make gists with {short_name(other_model)}"]]
    if other_model == "":
        actions = [["settings", "Connect a model"], ["go", "Make gists with the built-in reader"]]
    if gisting.reason == StopReason.SETTINGS:
        actions.append(OPEN_SETTINGS)
    if not stopped:
        about = f" of about {covered['total']:,}" if covered["total"] else ""
        return gists_line("paused", f"Paused at {gists:,}{about}", actions=actions, **covered)
    reason = _first_sentence(why)
    line = f"Stopped at page {len(memory.pages) + 1 if gists == len(memory.pages) else gists + 1:,}"
    rest = [reason.removesuffix("."), *([f"{count_of(gists, 'gist')} saved"] if gists else [])]
    return gists_line("failed", line, rest, actions=actions, more=why[len(reason) :].strip(), **covered)


def _first_sentence(text: str) -> str:
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


def _over_budget(budget: BookBudget, gisting: Gisting, memory: GistMemory) -> dict[str, Any]:
    gists = len(memory.readable)
    rest = [f"{count_of(gists, 'gist')} saved", f"{money(budget.spent)} is spent"]
    if budget.rest:
        rest.append(f"the rest would cost about {money(budget.rest)}")
    changed = gisting.limit not in (None, budget.limit)  # another was set in Settings since
    actions = [["go", "Resume"]] if changed else [["raise", f"Raise to {money(budget.raised)}"]]
    return gists_line(
        "waiting", f"Stopped at your limit, {money(budget.limit)}", rest, actions=actions, **_covered(memory)
    )


def _covered(memory: GistMemory) -> dict[str, Any]:
    """How much of the text has pages, and the number of pages expected."""
    words, all_words = sum(p.words for p in memory.pages), memory.document.words
    return {
        "percent": round(100 * words / all_words, 1) if all_words else 0,
        "total": pages_expected(len(memory.pages), words, all_words),
    }


def look_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The stored look, with the default for every missing or unknown part."""
    look = {name: stored[name] if stored.get(name) in known else LOOK[name] for name, known in LOOKS.items()}
    face = str(stored.get("face"))
    if face.startswith(LOCAL_FACE) and 0 < len(face) - len(LOCAL_FACE) <= LONGEST_FACE:
        look["face"] = face
    return look | {name: of[stored[name]] for name, of in BEFORE.items() if stored.get(name) in list(of)}
