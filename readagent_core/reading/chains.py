"""Speculative pagination: the paper's chain of pages, found sooner by asking ahead, and exactly the same.

A page depends only on where it starts (and, with ``preceding``, on the page before): that is a ``State``. So
every reply is a fact that can be found in any order: chains start at several places at once, and the one true
chain from the beginning jumps along whatever it lands on. Calls that might prove needless are bounded by a
share of the calls the sequential algorithm must make whatever the model replies.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from readagent_core.memory import Gist, Page
from readagent_core.models.base import ChatModel, Watch
from readagent_core.reading.pagination import Asked, ask_page
from readagent_core.reading.paginator import Call, Spend
from readagent_core.reading.windows import Windows

State = tuple[int, int]  # where the page before starts (-1: not shown), where the page starts
_LEAST_GAP = 8  # pages between chains; below that, most calls of a new chain would be spent on getting in step


@dataclass
class _Stretch:
    """The true chain of one stretch: it stands at ``state`` and ends at paragraph ``border``."""

    state: State
    border: int


@dataclass
class _Walker:
    """A chain started ahead, at paragraph ``start``, now at ``state``."""

    start: int
    state: State
    alive: bool = True


class Chains:
    """The 'pause' paginator. ``most``: calls under way at once. ``ahead``: most calls per sequential call."""

    def __init__(
        self, windows: Windows, *, kept: Sequence[Page], notes: Mapping[str, Any], most: int, ahead: float
    ) -> None:
        self._windows = windows
        self._most = most
        self._share = max(0.0, ahead - 1) if most > 1 else 0.0
        self._known: dict[State, Page] = {}
        self._visited: set[State] = set()
        self._asking: set[State] = set()
        self._open: set[State] = set()  # asked, and no true chain has come past yet
        self._walkers: list[_Walker] = []
        self._true = sum(page.ends == "pause" for page in kept)
        self._asked = self._true
        self._retries = 0
        self._cached_fewest: list[int] | None = None
        for key, value in notes.items():
            if key.startswith("pause "):
                before, start = map(int, key.split()[1:])
                self._known[before, start] = windows.page(start, **value)
                self._open.add((before, start))
                self._asked += 1
        position = kept[-1].end if kept else 0
        before = kept[-1].start if kept and windows.plan.preceding and position not in windows.borders else -1
        starts = [position, *(b for b in windows.borders if position < b < windows.total)]
        self._stretches = [
            _Stretch((before if start == position else -1, start), windows.border_after(start))
            for start in starts
            if start < windows.total
        ]
        self._fresh: list[Page] = []
        self._first = not kept
        self._advance()

    def fresh(self) -> list[Page]:
        """Pages that became certain since last asked; not numbered, not always in order."""
        found, self._fresh = self._fresh, []
        return found

    def spend(self) -> Spend:
        """What was asked so far."""
        frontiers = sum(s.state in self._asking for s in self._stretches)
        return Spend(self._asked, self._asked - self._true - frontiers, self._retries)

    def calls(self, room: int, model: ChatModel, watch: Watch) -> list[Call]:
        """At most ``room`` calls worth making now, those that are certain to count first."""
        chosen: list[State] = []
        room = min(room, self._most - len(self._asking))
        for state in (s.state for s in self._stretches):
            if room > len(chosen) and state not in self._asking:
                chosen.append(self._ask(state))
        if not self._first and self._share:
            chosen += self._ahead(room - len(chosen))
        return [Call(f"pause {before} {start}", self._work(before, start, model, watch)) for before, start in chosen]

    def absorb(self, key: str, asked: Asked) -> dict[str, Any] | None:
        """Take a reply in. What is not certain yet comes back as a note to keep, so that a crash loses nothing."""
        before, start = map(int, key.split()[1:])
        state, page = (before, start), asked.page
        self._asking.discard(state)
        self._known[state] = page
        self._retries += asked.retries
        self._first = False
        next_page = bool(self._stretches) and self._stretches[0].state == state
        for walker in self._walkers:
            if walker.alive and walker.state == state:
                self._walk(walker)
        self._advance()
        if next_page:
            return None  # it is numbered and kept as a page at once
        return {"end": page.end, "reason": page.reason, "fallback": page.fallback, "ends": page.ends}

    def gist_for(self, page: Page) -> Gist | None:
        return None

    def _work(self, before: int, start: int, model: ChatModel, watch: Watch) -> Callable[[], Asked]:
        window = self._windows.window(start)
        shown = before if before >= 0 else None
        return lambda: ask_page(self._windows, window, model, watch=watch, before=shown)

    def _ask(self, state: State) -> State:
        self._asking.add(state)
        self._open.add(state)
        self._asked += 1
        return state

    def _page(self, state: State) -> Page | None:
        """The page from here, where it is known or need not be asked."""
        page = self._known.get(state)
        if page is None:
            window = self._windows.window(state[1])
            if not window.labels:
                page = self._known[state] = self._windows.page(window.start, window.end, ends=window.ends)
        return page

    def _after(self, page: Page) -> State:
        shown = self._windows.plan.preceding and not self._windows.is_border(page.end)
        return (page.start if shown else -1, page.end)

    def _advance(self) -> None:
        """Follow every true chain as far as it is known."""
        before = sum(s.state[1] for s in self._stretches)
        for stretch in self._stretches:
            while stretch.state[1] < stretch.border and (page := self._page(stretch.state)) is not None:
                self._fresh.append(page)
                self._true += page.ends == "pause"
                self._visited.add(stretch.state)
                stretch.state = self._after(page)
        if sum(s.state[1] for s in self._stretches) != before or not self._walkers:
            self._stretches = [s for s in self._stretches if s.state[1] < s.border]
            self._open = {state for state in self._open if self._beyond(state)}
            self._walkers = [w for w in self._walkers if self._matters(w)]

    def _matters(self, walker: _Walker) -> bool:
        """Whether a walker still says something about text that no true chain has reached."""
        return any(s.state[1] < walker.state[1] and walker.start < s.border for s in self._stretches)

    def _walk(self, walker: _Walker) -> None:
        """Move a walker along what is known; it ends where another chain went, or at a border."""
        while (page := self._page(walker.state)) is not None:
            self._visited.add(walker.state)
            walker.state = self._after(page)
            if walker.state in self._visited or self._windows.is_border(walker.state[1]):
                walker.alive = False
                return

    # --- asking ahead -----------------------------------------------------------------------------

    def _ahead(self, room: int) -> list[State]:
        """States to ask ahead: walkers go on, nearest first, then new ones start in the widest gaps."""
        chosen: list[State] = []
        if room <= 0:
            return chosen
        allowed = self._allowed()
        budget = int(allowed) - self.spend().ahead
        frontiers = {s.state for s in self._stretches}
        for walker in sorted((w for w in self._walkers if w.alive), key=lambda w: w.start):
            if min(room, budget) <= len(chosen):
                return chosen
            if walker.state not in self._asking and walker.state not in frontiers:
                chosen.append(self._ask(walker.state))
        while min(room, budget) > len(chosen) and (started := self._start_walker(allowed)) is not None:
            chosen.append(self._ask(started))
        return chosen

    def _allowed(self) -> float:
        """Needless calls that keep the bound even if every reply from here on were the worst."""
        fewest = self._fewest
        return self._share * (self._true + sum(fewest[s.state[1]] for s in self._stretches))

    @property
    def _fewest(self) -> list[int]:
        if self._cached_fewest is None:
            self._cached_fewest = self._windows.fewest_calls()
        return self._cached_fewest

    def _start_walker(self, allowed: float) -> State | None:
        """A new chain in the middle of the widest gap that is near enough to be confirmed within the bound."""
        windows = self._windows
        page_words = max(1, (windows.plan.min_words + windows.plan.max_words) // 2)
        wasted = self._asked - self._true - len(self._open)
        horizon = int(max(0.0, allowed - wasted) * 0.9) * page_words
        widest, middle = 0, -1
        for stretch in self._stretches:
            at = stretch.state[1]
            if windows.words(at, stretch.border) < _LEAST_GAP * page_words:
                continue
            last = bisect_left(windows.before, windows.before[at] + horizon)
            for start, end in self._gaps(stretch, min(last, stretch.border)):
                if windows.words(start, end) > widest:
                    widest = windows.words(start, end)
                    middle = self._place(start, end)
        if widest < _LEAST_GAP * page_words or middle < 0:
            return None
        before = -1
        if windows.plan.preceding and not windows.is_border(middle):  # a likely page before; in step from the next on
            before = bisect_left(windows.before, windows.before[middle] - page_words)
        state = (before, middle)
        if state in self._known or state in self._asking or state in self._visited:
            return None
        if not windows.window(middle).labels:
            return None
        self._visited.add(state)
        self._walkers.append(_Walker(middle, state))
        return state

    def _beyond(self, state: State) -> bool:
        return any(s.state[1] <= state[1] < s.border for s in self._stretches)

    def _gaps(self, stretch: _Stretch, last: int) -> Iterable[tuple[int, int]]:
        """The runs of paragraphs, from the true chain to ``last``, that no chain has walked yet."""
        position = stretch.state[1]
        for walker in sorted(self._walkers, key=lambda w: w.start):
            if not stretch.state[1] < walker.start < stretch.border:
                continue
            if walker.start > position:
                yield position, min(walker.start, last)
            position = max(position, walker.state[1])
        if position < last:
            yield position, last

    def _place(self, start: int, end: int) -> int:
        """The paragraph to start from in the middle of a gap: a section start where one is near."""
        windows = self._windows
        middle = (windows.before[start] + windows.before[end]) // 2
        quarter = (windows.before[end] - windows.before[start]) // 4
        near = [
            (section.level, abs(windows.before[section.start] - middle), section.start)
            for section in windows.document.sections
            if start < section.start < end and abs(windows.before[section.start] - middle) <= quarter
        ]
        if near:
            return min(near)[2]
        return min(max(start + 1, bisect_left(windows.before, middle)), end - 1)
