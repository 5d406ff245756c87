"""Speculative pagination: finds exactly the pages of the paper's sequential algorithm, but sooner, by asking ahead.

A page depends only on where it starts (and, with ``preceding``, on where the page before starts): that is a ``State``.
So every reply is a fact that can be found in any order. Chains of pages are started at several places at once, and the
confirmed chain from the beginning follows any page that is known already. Calls that may turn out to be needless are
bounded by a share of the calls that the sequential algorithm makes at least.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.memory import Page
from readagent_core.models.base import ChatModel
from readagent_core.reading.paginator import Call, CallCounts, Paginator
from readagent_core.reading.pause_points import ask_page
from readagent_core.reading.pause_windows import Windows

State = tuple[int, int]  # start of the page before (-1: not shown in the prompt), start of the page
_MIN_GAP = 8  # pages between chains; in a smaller gap a new chain mostly ends before it shares a page start


@dataclass
class _Chain:
    """The confirmed chain from one border to the next: it has reached ``state`` and ends at paragraph ``border``."""

    state: State
    border: int


@dataclass
class _Walker:
    """A speculative chain that was started at paragraph ``start`` and has reached ``state``."""

    start: int
    state: State
    alive: bool = True


class SpeculativePaginator(Paginator):
    """The 'pause' paginator.

    ``connections``: most calls at once. ``ahead``: most calls for each call that the sequential algorithm makes.
    """

    def __init__(
        self, windows: Windows, *, saved: Sequence[Page], notes: Mapping[str, Any], connections: int, ahead: float
    ) -> None:
        super().__init__(windows)
        self._connections = connections
        self._share = max(0.0, ahead - 1) if connections > 1 else 0.0
        self._known: dict[State, Page] = {}
        self._visited: set[State] = set()
        self._running: set[State] = set()
        self._open: set[State] = set()  # asked, and not yet passed by a confirmed chain
        self._walkers: list[_Walker] = []
        self._confirmed = sum(page.ends == "pause" for page in saved)
        self._asked = self._confirmed
        for key, value in notes.items():
            if key.startswith("pause "):
                before, start = map(int, key.split()[1:])
                self._known[before, start] = windows.page(start, **value)
                self._open.add((before, start))
                self._asked += 1
        position = saved[-1].end if saved else 0
        before = saved[-1].start if saved and windows.plan.preceding and position not in windows.borders else -1
        starts = [position, *(b for b in windows.borders if position < b < windows.total)]
        self._chains = [
            _Chain((before if start == position else -1, start), windows.border_after(start))
            for start in starts
            if start < windows.total
        ]
        self._first = not saved
        self._advance()

    def call_counts(self) -> CallCounts:
        needed = sum(chain.state in self._running for chain in self._chains)
        return CallCounts(self._asked, self._asked - self._confirmed - needed)

    def next_calls(self, room: int, model: ChatModel, cancel: CancelToken) -> list[Call]:
        """Return at most ``room`` calls to make now: first those of the confirmed chains, which are never needless."""
        chosen: list[State] = []
        room = min(room, self._connections - len(self._running))
        for state in (chain.state for chain in self._chains):
            if room > len(chosen) and state not in self._running:
                chosen.append(self._ask(state))
        if not self._first and self._share:
            chosen += self._ask_ahead(room - len(chosen))
        calls: list[Call] = []
        for before, start in chosen:
            window, shown = self._windows.window(start), before if before >= 0 else None
            ask = partial(ask_page, self._windows, window, model, cancel=cancel, before=shown)
            calls.append(Call(f"pause {before} {start}", ask))
        return calls

    def accept_reply(self, key: str, page: Page) -> dict[str, Any] | None:
        """Accept a reply. Returns it as a note to save unless it is the next page, which is saved at once."""
        before, start = map(int, key.split()[1:])
        state = (before, start)
        self._running.discard(state)
        self._known[state] = page
        self._first = False
        next_page = bool(self._chains) and self._chains[0].state == state
        for walker in self._walkers:
            if walker.alive and walker.state == state:
                self._walk(walker)
        self._advance()
        if next_page:
            return None
        return {"end": page.end, "reason": page.reason, "fallback": page.fallback, "ends": page.ends}

    def _ask(self, state: State) -> State:
        self._running.add(state)
        self._open.add(state)
        self._asked += 1
        return state

    def _page(self, state: State) -> Page | None:
        """Return the page at ``state`` if it is known or needs no call; else None."""
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
        """Move every confirmed chain along the known pages."""
        before = sum(chain.state[1] for chain in self._chains)
        for chain in self._chains:
            while chain.state[1] < chain.border and (page := self._page(chain.state)) is not None:
                self._new_pages.append(page)
                self._confirmed += page.ends == "pause"
                self._visited.add(chain.state)
                chain.state = self._after(page)
        if sum(chain.state[1] for chain in self._chains) != before or not self._walkers:
            self._chains = [chain for chain in self._chains if chain.state[1] < chain.border]
            self._open = {s for s in self._open if any(c.state[1] <= s[1] < c.border for c in self._chains)}
            self._walkers = [walker for walker in self._walkers if self._is_useful(walker)]

    def _is_useful(self, walker: _Walker) -> bool:
        """Return whether the walker has pages in text that no confirmed chain has reached."""
        return any(chain.state[1] < walker.state[1] and walker.start < chain.border for chain in self._chains)

    def _walk(self, walker: _Walker) -> None:
        """Move a walker along the known pages; it ends at a state that another chain has visited, or at a border."""
        while (page := self._page(walker.state)) is not None:
            self._visited.add(walker.state)
            walker.state = self._after(page)
            if walker.state in self._visited or self._windows.is_border(walker.state[1]):
                walker.alive = False
                return

    # --- asking ahead -----------------------------------------------------------------------------

    def _ask_ahead(self, room: int) -> list[State]:
        """Return states to ask ahead: the next ones of the walkers in order, then new walkers in the widest gaps."""
        chosen: list[State] = []
        if room <= 0:
            return chosen
        allowed = self._allowed_ahead()
        budget = int(allowed) - self.call_counts().ahead
        needed = {chain.state for chain in self._chains}
        for walker in sorted((w for w in self._walkers if w.alive), key=lambda w: w.start):
            if min(room, budget) <= len(chosen):
                return chosen
            if walker.state not in self._running and walker.state not in needed:
                chosen.append(self._ask(walker.state))
        while min(room, budget) > len(chosen) and (started := self._start_walker(allowed)) is not None:
            chosen.append(self._ask(started))
        return chosen

    def _allowed_ahead(self) -> float:
        """Return how many calls may be made ahead so that the bound holds even if all of them are needless."""
        return self._share * (self._confirmed + sum(self._fewest_calls[chain.state[1]] for chain in self._chains))

    @cached_property
    def _fewest_calls(self) -> list[int]:
        return self._windows.fewest_calls()

    def _start_walker(self, allowed: float) -> State | None:
        """Start a walker in the middle of the widest gap and return its state; None where no gap is wide enough.

        Only gaps near enough for the walker's pages to be confirmed within the bound count.
        """
        windows = self._windows
        page_words = max(1, (windows.plan.min_words + windows.plan.max_words) // 2)
        wasted = self._asked - self._confirmed - len(self._open)
        horizon = int(max(0.0, allowed - wasted) * 0.9) * page_words
        widest, middle = 0, -1
        for chain in self._chains:
            at = chain.state[1]
            if windows.words(at, chain.border) < _MIN_GAP * page_words:
                continue
            last = bisect_left(windows.before, windows.before[at] + horizon)
            for start, end in self._gaps(chain, min(last, chain.border)):
                if windows.words(start, end) > widest:
                    widest = windows.words(start, end)
                    middle = self._middle(start, end)
        if widest < _MIN_GAP * page_words or middle < 0:
            return None
        before = -1
        if windows.plan.preceding and not windows.is_border(middle):  # guessed; the next pages have true states
            before = bisect_left(windows.before, windows.before[middle] - page_words)
        state = (before, middle)
        if state in self._known or state in self._running or state in self._visited:
            return None
        if not windows.window(middle).labels:
            return None
        self._visited.add(state)
        self._walkers.append(_Walker(middle, state))
        return state

    def _gaps(self, chain: _Chain, last: int) -> Iterable[tuple[int, int]]:
        """Yield the runs of paragraphs from the chain to ``last`` that no walker has covered."""
        position = chain.state[1]
        for walker in sorted(self._walkers, key=lambda w: w.start):
            if not chain.state[1] < walker.start < chain.border:
                continue
            if walker.start > position:
                yield position, min(walker.start, last)
            position = max(position, walker.state[1])
        if position < last:
            yield position, last

    def _middle(self, start: int, end: int) -> int:
        """Return the paragraph in the middle of a gap to start a walker at: a section start where one is near."""
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
