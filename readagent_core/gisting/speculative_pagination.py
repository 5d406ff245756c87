"""Speculative pagination: finds exactly the pages of the paper's sequential algorithm, but sooner, by asking ahead.

A page depends only on where it starts (and, with ``preceding``, on where the page before starts): that is a ``State``.
So every reply is a fact that can be found in any order. Chains of pages are started at several places at once, and the
confirmed chain from the beginning follows any page that is known already. Calls that may turn out to be needless are
bounded by a share of the calls that the sequential algorithm makes at least.

A model that pauses at chapters makes a chain that was started at one true from its first page. So chains are started at
sections that lie near one another, as long as the model pauses there: the more starts turn out to be true, the less a
call from such a start counts against the bound. Elsewhere chains start far apart, since a chain that was started at any
paragraph needs some pages until it shares a page start with the confirmed one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.gisting.paginator import Call, CallCounts, Paginator
from readagent_core.gisting.pause_points import ask_page
from readagent_core.gisting.pause_windows import Windows
from readagent_core.memory import Page, PageEnd
from readagent_core.models.base import ChatModel

State = tuple[int, int]  # start of the page before (-1: not shown in the prompt), start of the page
_MIN_GAP = 8  # pages between chains; in a smaller gap a new chain mostly ends before it shares a page start
_SECTION_GAP = 0.6  # pages between chains started at sections
_SECTION_HORIZON = 3  # chains at sections may start this much further ahead than others (measured: bench.gisting)
_ASSUMED_FALSE = (
    1.5  # false section starts assumed before any is seen; fewer break the bound (simulated), more are slower
)
_TRUE_STARTS = 2 / 3  # least share of true section starts for which more chains are started at sections


@dataclass
class _Chain:
    """The confirmed chain from one border to the next: it has reached ``state`` and ends at paragraph ``border``."""

    state: State
    border: int


@dataclass
class _Walker:
    """A speculative chain that was started at paragraph ``start``, a section's or not, and has reached ``state``."""

    start: int
    state: State
    at_section: bool
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
        self._from_section: set[State] = set()  # asked by a walker that was started at a section
        self._true_starts: dict[int, bool] = {}  # sections where a walker started: whether a page starts there
        self._walkers: list[_Walker] = []
        self._confirmed = sum(page.ends == PageEnd.PAUSE for page in saved)
        self._asked = self._confirmed
        for key, value in notes.items():
            if key.startswith("pause "):
                before, start = map(int, key.split()[1:])
                self._known[before, start] = windows.page(start, **{**value, "ends": PageEnd(value["ends"])})
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
        if self._share:
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
                self._judge_section_starts(page)
                self._confirmed += page.ends == PageEnd.PAUSE
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

    def _judge_section_starts(self, page: Page) -> None:
        """Note for walkers that were started at a section in ``page`` whether the page starts there too."""
        for walker in self._walkers:
            if walker.at_section and page.start <= walker.start < page.end:
                self._true_starts[walker.start] = walker.start == page.start

    # --- asking ahead -----------------------------------------------------------------------------

    def _ask_ahead(self, room: int) -> list[State]:
        """Return states to ask ahead: the next ones of the walkers in order, then those of new walkers."""
        chosen: list[State] = []
        allowed = self._allowed_ahead()
        needed = {chain.state for chain in self._chains}
        walkers = sorted((w for w in self._walkers if w.alive), key=lambda w: w.start)
        # two walkers may have come to one state
        waiting = list({w.state: w for w in walkers if w.state not in self._running and w.state not in needed}.values())
        while room > len(chosen) and self._expected_waste() + 1 <= allowed:
            walker = waiting.pop(0) if waiting else self._start_walker(allowed)
            if walker is None:
                break
            chosen.append(self._ask(walker.state))
            if walker.at_section:
                self._from_section.add(walker.state)
        return chosen

    def _expected_waste(self) -> float:
        """Return how many of the calls made will not give a page: those wasted so far, and a share of the open ones."""
        wasted = self._asked - self._confirmed - len(self._open)
        needed = {chain.state for chain in self._chains if chain.state in self._running}
        return wasted + sum(self._risk if state in self._from_section else 1 for state in self._open - needed)

    def _allowed_ahead(self) -> float:
        """Return how many calls may be made ahead so that the bound holds even if all of them are needless."""
        return self._share * (self._confirmed + sum(self._fewest_calls[chain.state[1]] for chain in self._chains))

    @cached_property
    def _fewest_calls(self) -> list[int]:
        return self._windows.fewest_calls()

    def _start_walker(self, allowed: float) -> _Walker | None:
        """Start a walker at the next section, else in the middle of the widest gap; None where there is no place."""
        at = self._next_section(allowed)
        at_section = at is not None
        if at is None:
            at = self._widest_gap(allowed)
        if at is None:
            return None
        windows = self._windows
        before = -1
        if windows.plan.preceding and not windows.is_border(at):  # guessed; the next pages have true states
            before = bisect_left(windows.before, windows.before[at] - self._page_words)
        state = (before, at)
        if state in self._known or state in self._running or state in self._visited or not windows.window(at).labels:
            return None
        self._visited.add(state)
        walker = _Walker(at, state, at_section)
        self._walkers.append(walker)
        return walker

    @cached_property
    def _page_words(self) -> int:
        return max(1, (self._windows.plan.min_words + self._windows.plan.max_words) // 2)

    def _next_section(self, allowed: float) -> int | None:
        """Return the first section that no chain has reached or is near to; None where the model crosses sections."""
        if sum(self._true_starts.values()) < _TRUE_STARTS * len(self._true_starts):
            return None
        words = self._windows.words
        horizon = self._horizon(allowed) * _SECTION_HORIZON / self._risk
        for chain in self._chains:
            for start, end in self._gaps(chain, chain.border):
                for at in self._sections[bisect_right(self._sections, start) : bisect_left(self._sections, end)]:
                    if words(chain.state[1], at) > horizon:
                        return None
                    if min(words(start, at), words(at, end)) >= _SECTION_GAP * self._page_words:
                        return at
        return None

    @cached_property
    def _sections(self) -> list[int]:
        return sorted({section.start for section in self._windows.document.sections})

    def _horizon(self, allowed: float) -> float:
        """Return how many words after a confirmed chain the calls that may still be made ahead would reach."""
        wasted = self._asked - self._confirmed - len(self._open)
        return max(0.0, allowed - wasted) * 0.9 * self._page_words

    @property
    def _risk(self) -> float:
        """Return the estimated share of section starts where no page starts: 1 until a confirmed chain reaches one."""
        false = sum(not true for true in self._true_starts.values())
        return (false + _ASSUMED_FALSE) / (len(self._true_starts) + _ASSUMED_FALSE)

    def _widest_gap(self, allowed: float) -> int | None:
        """Return the middle of the widest gap, if it is wide enough.

        Only gaps near enough for the walker's pages to be confirmed within the bound count.
        """
        windows, page_words, horizon = self._windows, self._page_words, self._horizon(allowed)
        widest, middle = 0, None
        for chain in self._chains:
            at = chain.state[1]
            if windows.words(at, chain.border) < _MIN_GAP * page_words:
                continue
            last = bisect_left(windows.before, windows.before[at] + horizon)
            for start, end in self._gaps(chain, min(last, chain.border)):
                if windows.words(start, end) > widest:
                    widest = windows.words(start, end)
                    middle = self._middle(start, end)
        return middle if widest >= _MIN_GAP * page_words else None

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
