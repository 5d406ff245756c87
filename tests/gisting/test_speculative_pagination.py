"""Speculative pagination with a simulated model and time: the same pages, sooner, within the bound on calls."""

import heapq
import random
import zlib

import pytest

from bench.gisting import book
from readagent_core.cancel import CancelToken
from readagent_core.gisting.pause_windows import Windows
from readagent_core.gisting.speculative_pagination import SpeculativePaginator
from readagent_core.plan import GistingPlan
from tests.gisting.helpers import sensible_model


def paginate(words, *, at_chapters, seed, connections=12):
    """Return (calls for each sequential call, how many times sooner) for a model that pauses at a share of chapters."""
    windows = Windows(book(words, seed=seed).limited(3000), GistingPlan.from_preset("book"))
    chapters = {s.start for s in windows.document.sections}

    def page_from(start):
        window = windows.window(start)
        if not window.labels:
            return windows.page(start, window.end, ends=window.ends)
        liked = [
            n for n in window.labels[:-1] if n in chapters and zlib.crc32(b"%d %d" % (seed, n)) % 100 < at_chapters
        ]
        other = max(window.labels, key=lambda n: zlib.crc32(b"other %d %d" % (seed, n)))
        return windows.page(start, liked[0] if liked else other)

    expected, one_by_one = [], 0
    while not expected or expected[-1].end < windows.total:
        expected.append(page_from(expected[-1].end if expected else 0))
        one_by_one += expected[-1].ends == "pause"
    paginator = SpeculativePaginator(windows, saved=[], notes={}, connections=connections, ahead=1.5)
    chance = random.Random(seed)
    pages, running, now, calls = [], [], 0.0, 0
    while sum(p.end - p.start for p in pages) < windows.total:
        for call in paginator.next_calls(connections - len(running), sensible_model(), CancelToken()):
            calls += 1
            heapq.heappush(running, (now + chance.uniform(0.8, 1.2), call.key))
        now, key = heapq.heappop(running)
        paginator.accept_reply(key, page_from(int(key.split()[2])))
        pages += paginator.take_new_pages()
    assert sorted(pages, key=lambda p: p.start) == expected
    return calls / one_by_one, one_by_one / now


@pytest.mark.parametrize("at_chapters", [0, 50, 90, 100])
def test_the_bound_on_calls_holds_wherever_the_model_pauses(at_chapters):
    for seed in range(6):
        assert paginate(51_000, at_chapters=at_chapters, seed=seed)[0] <= 1.5


def test_a_model_that_pauses_at_chapters_reads_a_novel_several_times_sooner():
    results = [paginate(51_000, at_chapters=100, seed=seed) for seed in range(6)]
    assert all(calls <= 1.3 for calls, _ in results)
    assert sum(sooner for _, sooner in results) / len(results) > 3.5
