"""A gist memory made to fit a budget: neighbouring pages merged (Appendix I), gists shortened again.

``fit`` does both, for books whose memory is longer than a model's window: pages that do not start a new chapter
or section join the page before, within a size that grows until the memory fits, and what is still too long is
shortened again. ``thin`` only shortens, the oldest pages most (iterative gisting). Each shortening is one level.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import ChatModel, Watch
from readagent_core.models.server.thinking import remove_thinking
from readagent_core.prompts import render
from readagent_core.reading.gisting import shorten
from readagent_core.reading.pool import run_all
from readagent_core.tags import disarm
from readagent_core.words import count_words, first_words

TAG_WORDS = 2  # '<Page 7>'
_GOOD_WORDS = 25  # a gist of fewer words says little: pages are merged rather than shortened below this
_LEAST_WORDS = 6
_OPENING_WORDS = 60
_SHOWN_WORDS = 300  # of each gist, when neighbours are compared
_PASSES = 3
_YES = re.compile(r"^\W*(?:yes\b|はい)", re.IGNORECASE)
_NO = re.compile(r"^\W*(?:no\b(?!\W*t\s*sure)|いいえ)", re.IGNORECASE)
_REMEMBERED = 8
_fitted: OrderedDict[tuple[object, ...], GistMemory] = OrderedDict()  # questions on one book fit it once a process
_lock = threading.Lock()


def parse_verdict(reply: str) -> str:
    """'yes', 'no' or 'not sure': whether a new chapter or section starts; anything unclear is 'not sure'."""
    text = remove_thinking(reply)
    return "yes" if _YES.match(text) else "no" if _NO.match(text) else "not sure"


def fit(
    memory: GistMemory,
    model: ChatModel,
    budget_words: int,
    watch: Watch,
    *,
    page_words: int | None = None,
    connections: int = 8,
) -> GistMemory:
    """``memory`` whose text has at most ``budget_words`` words, tags included; itself where it fits already.

    ``page_words``: no page grows longer than that unless nothing else helps (default: half the budget), so that
    a page can still be read again beside the memory. Pages without a gist are left out of what is counted.
    Raises ModelError; unusable replies are worked round, and gists cut by rule are marked fallback.
    """
    if count_words(memory.text()) <= budget_words:
        return memory
    most = page_words or max(memory.plan.max_words, budget_words // 2)
    key = (model.name, model.where, memory.document.id, memory.plan.key, memory.pages, memory.gists, budget_words, most)
    with _lock:
        if key in _fitted:
            _fitted.move_to_end(key)
            return _fitted[key]
    merged = _merge(memory, model, budget_words, watch, most=most, connections=connections)
    result = _shortened(merged, model, budget_words, watch, connections=connections)
    with _lock:
        _fitted[key] = result
        while len(_fitted) > _REMEMBERED:
            _fitted.popitem(last=False)
    return result


# --- merging --------------------------------------------------------------------------------------


def _merge(
    memory: GistMemory, model: ChatModel, budget: int, watch: Watch, *, most: int, connections: int
) -> GistMemory:
    """The memory with as many pages merged as leaves each gist enough words to say something."""
    wanted = max(1, budget // (_GOOD_WORDS + TAG_WORDS))
    if len(memory.readable) <= wanted:
        return memory
    read = _readable_run(memory)
    verdicts = _ask_verdicts(read, model, watch, connections=connections)
    groups = [[page.number] for page in read.pages]
    size = memory.plan.max_words
    joinable = {"no"}
    while len(groups) > wanted:
        size = min(size * 2, most)
        groups = _grouped(read, verdicts, joinable, size)
        if size < most:
            continue
        if "not sure" not in joinable:
            joinable.add("not sure")
        elif "yes" not in joinable:
            joinable.add("yes")
        else:
            break
    least = max(1, budget // (_LEAST_WORDS + TAG_WORDS + 2))
    while len(groups) > least:  # not even the shortest gists would fit: pages grow beyond what is comfortable
        size *= 2
        groups = _grouped(read, verdicts, joinable, size)
        joinable = {"yes", "no", "not sure"}
    return _joined(read, groups)


def _readable_run(memory: GistMemory) -> GistMemory:
    """The memory up to the first page without a gist: what merging works on."""
    missing = next((i for i, gist in enumerate(memory.gists) if gist is None), None)
    return memory if missing is None else memory.up_to(missing)


def _ask_verdicts(memory: GistMemory, model: ChatModel, watch: Watch, *, connections: int) -> Mapping[int, str]:
    """For each page number from 2 on: whether it starts a new chapter or section. A heading answers by itself."""
    verdicts: dict[int, str] = {}
    works: dict[int, Callable[[], str]] = {}
    for page in memory.pages[1:]:
        if memory.document.headings(page.start):
            verdicts[page.number] = "yes"
        else:
            works[page.number] = _verdict_work(memory, page, model, watch)
    return verdicts | run_all(works, connections=connections, watch=watch)


def _verdict_work(memory: GistMemory, page: Page, model: ChatModel, watch: Watch) -> Callable[[], str]:
    before, after = memory.gists[page.number - 2], memory.gists[page.number - 1]
    prompt = render(
        "merge",
        memory.document.language,
        reply_words=20,
        before=disarm(first_words(before.text if before else "", _SHOWN_WORDS)),
        after=disarm(first_words(after.text if after else "", _SHOWN_WORDS)),
        opening=disarm(first_words(memory.page_text(page.number), _OPENING_WORDS)),
    )

    def ask() -> str:
        try:
            return parse_verdict(model.complete(prompt, watch).text)
        except (CutOffError, EmptyReplyError, RefusedError):
            return "not sure"

    return ask


def _grouped(memory: GistMemory, verdicts: Mapping[int, str], joinable: set[str], size: int) -> list[list[int]]:
    """Runs of page numbers: each page joins the run before where it may and the run stays within ``size``."""
    groups: list[list[int]] = []
    words = 0
    for page in memory.pages:
        if groups and verdicts.get(page.number) in joinable and words + page.words <= size:
            groups[-1].append(page.number)
            words += page.words
        else:
            groups.append([page.number])
            words = page.words
    return groups


def _joined(memory: GistMemory, groups: Sequence[Sequence[int]]) -> GistMemory:
    pages: list[Page] = []
    gists: list[Gist | None] = []
    for number, group in enumerate(groups, start=1):
        first, last = memory.page(group[0]), memory.page(group[-1])
        pages.append(
            replace(
                last,
                number=number,
                start=first.start,
                words=sum(memory.page(n).words for n in group),
                fallback=any(memory.page(n).fallback for n in group),
            )
        )
        parts = [gist for n in group if (gist := memory.gists[n - 1]) is not None]
        gists.append(parts[0] if len(parts) == 1 else _both(parts))
    return replace(memory, pages=tuple(pages), gists=tuple(gists))


def _both(parts: Sequence[Gist]) -> Gist:
    return Gist(
        "\n".join(gist.text for gist in parts),
        fallback=any(gist.fallback for gist in parts),
        edited=any(gist.edited for gist in parts),
        level=max(gist.level for gist in parts),
    )


# --- shortening again -----------------------------------------------------------------------------


def _shortened(memory: GistMemory, model: ChatModel, budget: int, watch: Watch, *, connections: int) -> GistMemory:
    """Every gist cut back in proportion until the memory fits; what the model will not shorten is cut by rule."""
    for attempt in range(_PASSES + 1):
        over = count_words(memory.text()) > budget
        if not over:
            return memory
        targets = _targets(memory, budget)
        if attempt == _PASSES:
            gists = {n: _clipped(memory, n, target) for n, target in targets.items()}
        else:
            works = {n: _shorten_work(memory, n, target, model, watch) for n, target in targets.items()}
            gists = run_all(works, connections=connections, watch=watch)
        memory = replace(memory, gists=tuple(gists.get(p.number, g) for p, g in _both_of(memory)))
    return memory


def _both_of(memory: GistMemory) -> list[tuple[Page, Gist | None]]:
    return list(zip(memory.pages, memory.gists, strict=True))


def _targets(memory: GistMemory, budget: int) -> dict[int, int]:
    """Words for each gist that must become shorter, by page number; together they fit."""
    words = {page.number: gist.words for page, gist in _both_of(memory) if gist is not None}
    room = int(budget * 0.92) - TAG_WORDS * len(words)
    share = max(0.0, room / max(1, sum(words.values())))
    return {n: max(2, int(w * share)) for n, w in words.items() if w > max(2, int(w * share))}


def _shorten_work(memory: GistMemory, number: int, target: int, model: ChatModel, watch: Watch) -> Callable[[], Gist]:
    gist = memory.gists[number - 1]
    assert gist is not None
    language = memory.document.language

    def work() -> Gist:
        shorter = shorten(gist.text, memory.plan, model, language=language, target=target, watch=watch)
        return replace(
            shorter,
            level=gist.level + 1,
            edited=gist.edited,
            fallback=gist.fallback or shorter.fallback,
            marks=gist.marks,
        )

    return work


def _clipped(memory: GistMemory, number: int, target: int) -> Gist:
    gist = memory.gists[number - 1]
    assert gist is not None
    return replace(gist, text=first_words(gist.text, target), whole=False, fallback=True, level=gist.level + 1)


# --- iterative gisting ----------------------------------------------------------------------------


@dataclass
class _Level:
    words: int
    level: int


def thin(
    memory: GistMemory,
    model: ChatModel,
    budget_words: int,
    watch: Watch,
    *,
    connections: int = 8,
    save: Callable[[int, Gist], None] | None = None,
) -> GistMemory:
    """``memory`` within ``budget_words`` by shortening older gists again, the distant past the fuzziest.

    ``save`` gets every gist as it changes. Pages stay as they are, so a budget of a few words a page is the least.
    """
    while count_words(memory.text()) > budget_words:
        chosen = _to_thin(memory, budget_words)
        if not chosen:
            return memory
        works = {n: _shorten_work(memory, n, max(_LEAST_WORDS, words), model, watch) for n, words in chosen.items()}
        done = run_all(works, connections=connections, watch=watch, each=save)
        memory = replace(memory, gists=tuple(done.get(p.number, g) for p, g in _both_of(memory)))
    return memory


def _to_thin(memory: GistMemory, budget: int) -> dict[int, int]:
    """Target words of the gists to shorten next, by page: each once, as if shortening halves them.

    A gist that a person wrote stays as it is.
    """
    state = {p.number: _Level(g.words, g.level) for p, g in _both_of(memory) if g is not None and not g.edited}
    total = memory.gist_words + TAG_WORDS * len(memory.readable)
    chosen: dict[int, int] = {}
    while total > budget:
        number = _fuzziest_next(state, chosen)
        if number is None:
            break
        half = max(_LEAST_WORDS, state[number].words // 2)
        total -= state[number].words - half
        state[number] = _Level(half, state[number].level + 1)
        chosen[number] = half
    return chosen


def _fuzziest_next(state: Mapping[int, _Level], chosen: Mapping[int, int]) -> int | None:
    """The oldest page of the level that holds most words: so levels fall from the past to the present."""
    held: dict[int, int] = {}
    oldest: dict[int, int] = {}
    for number in sorted(state):
        entry = state[number]
        if number in chosen or entry.words <= _LEAST_WORDS + 2:
            continue
        held[entry.level] = held.get(entry.level, 0) + entry.words
        oldest.setdefault(entry.level, number)
    return oldest[max(held, key=lambda level: (held[level], -level))] if held else None
