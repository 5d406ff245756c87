"""Make a gist memory fit a budget of words: merge neighbouring pages and shorten gists again (Appendix I).

``fit`` does both, for books whose memory is longer than a model's window: pages that do not start a new chapter
or section are merged with the page before, up to a size that grows until the memory fits; then gists that are still
too long are shortened again. ``shorten_old_gists`` only shortens, the oldest pages most (iterative gisting). A gist's
``level`` counts how often it was shortened again.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from readagent_core.cancel import CancelToken
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.gisting.audit import take_off_quotation_marks
from readagent_core.gisting.gist_prompts import Lengths
from readagent_core.gisting.gisting import shorten_text
from readagent_core.gisting.pool import run_all
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import ChatModel
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import render
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words

TAG_WORDS = 2  # '<Page 7>'
_GOOD_WORDS = 25  # a shorter gist says little: pages are merged rather than shortened below this
_MIN_WORDS = 6  # of a gist
_OPENING_WORDS = 60  # of the page, in the prompt that asks whether a section starts
_SHOWN_WORDS = 300  # of each gist, in the same prompt
_PASSES = 3  # of shortening by the model; after them gists are cut
_YES = re.compile(r"^\W*(?:yes\b|はい)", re.IGNORECASE)
_NO = re.compile(r"^\W*(?:no\b(?!\W*t\s*sure)|いいえ)", re.IGNORECASE)
_CACHED = 8
_fitted: dict[tuple[object, ...], GistMemory] = {}  # the last results, for the next question
_lock = threading.Lock()


def parse_verdict(reply: str) -> str:
    """Return whether a new chapter or section starts: 'yes', 'no', or 'not sure' for an unclear reply."""
    text = remove_thinking(reply)
    return "yes" if _YES.match(text) else "no" if _NO.match(text) else "not sure"


def fit(
    memory: GistMemory,
    model: ChatModel,
    budget_words: int,
    cancel: CancelToken,
    *,
    page_words: int | None = None,
    connections: int = 8,
) -> GistMemory:
    """Return ``memory`` made to fit: its text has at most ``budget_words`` words, tags included.

    ``page_words``: most words of a merged page, exceeded only where nothing else helps (default: half the budget), so
    that a page can still be expanded in the prompt. Pages without a gist are not counted. Raises ModelError; where
    replies are unusable, gists are cut and marked as fallbacks.
    """
    if count_words(memory.text()) <= budget_words:
        return memory
    most = page_words or max(memory.plan.max_words, budget_words // 2)
    key = (model.name, model.where, memory.document.id, memory.plan.key, memory.pages, memory.gists, budget_words, most)
    with _lock:
        if key in _fitted:
            return _fitted[key]
    merged = _merge(memory, model, budget_words, cancel, most=most, connections=connections)
    result = _shortened(merged, model, budget_words, cancel, connections=connections)
    with _lock:
        _fitted[key] = result
        if len(_fitted) > _CACHED:
            del _fitted[next(iter(_fitted))]
    return result


# --- merging --------------------------------------------------------------------------------------


def _merge(
    memory: GistMemory, model: ChatModel, budget: int, cancel: CancelToken, *, most: int, connections: int
) -> GistMemory:
    """Merge pages until each gist may have enough words to say something."""
    wanted = max(1, budget // (_GOOD_WORDS + TAG_WORDS))
    if len(memory.readable) <= wanted:
        return memory
    missing = next((i for i, gist in enumerate(memory.gists) if gist is None), None)
    read = memory if missing is None else memory.up_to(missing)
    verdicts = _ask_verdicts(read, model, cancel, connections=connections)
    groups = [[page.number] for page in read.pages]
    size = memory.plan.max_words
    joinable, others = {"no"}, ["not sure", "yes"]
    while len(groups) > wanted:
        size = min(size * 2, most)
        groups = _grouped(read, verdicts, joinable, size)
        if size == most:
            if not others:
                break
            joinable.add(others.pop(0))
    most_groups = max(1, budget // (_MIN_WORDS + TAG_WORDS + 2))
    while len(groups) > most_groups:  # not even the shortest gists would fit: pages may exceed ``most`` words
        size *= 2
        groups = _grouped(read, verdicts, joinable, size)
        joinable = {"yes", "no", "not sure"}
    return _merge_groups(read, groups)


def _ask_verdicts(memory: GistMemory, model: ChatModel, cancel: CancelToken, *, connections: int) -> Mapping[int, str]:
    """Return for each page from 2 on whether it starts a new chapter or section. A page with a heading does."""
    verdicts: dict[int, str] = {}
    works: dict[int, Callable[[], str]] = {}
    for page in memory.pages[1:]:
        if memory.document.headings(page.start):
            verdicts[page.number] = "yes"
        else:
            works[page.number] = partial(_ask_verdict, memory, page, model, cancel)
    return verdicts | run_all(works, connections=connections, cancel=cancel)


def _ask_verdict(memory: GistMemory, page: Page, model: ChatModel, cancel: CancelToken) -> str:
    before, after = memory.gists[page.number - 2], memory.gists[page.number - 1]
    prompt = render(
        "merge",
        memory.document.language,
        reply_words=20,
        before=escape_tags(first_words(before.text if before else "", _SHOWN_WORDS)),
        after=escape_tags(first_words(after.text if after else "", _SHOWN_WORDS)),
        opening=escape_tags(first_words(memory.page_text(page.number), _OPENING_WORDS)),
    )

    try:
        return parse_verdict(model.complete(prompt, cancel).text)
    except (CutOffError, EmptyReplyError, RefusedError):
        return "not sure"


def _grouped(memory: GistMemory, verdicts: Mapping[int, str], joinable: set[str], size: int) -> list[list[int]]:
    """Return runs of page numbers to merge: each page joins the run before it if allowed and up to ``size`` words."""
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


def _merge_groups(memory: GistMemory, groups: Sequence[Sequence[int]]) -> GistMemory:
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
        gists.append(parts[0] if len(parts) == 1 else _merge_gists(parts))
    return replace(memory, pages=tuple(pages), gists=tuple(gists))


def _merge_gists(parts: Sequence[Gist]) -> Gist:
    return Gist(
        "\n".join(gist.text for gist in parts),
        fallback=any(gist.fallback for gist in parts),
        edited=any(gist.edited for gist in parts),
        level=max(gist.level for gist in parts),
    )


# --- shortening again -----------------------------------------------------------------------------


def _shortened(
    memory: GistMemory, model: ChatModel, budget: int, cancel: CancelToken, *, connections: int
) -> GistMemory:
    """Shorten all gists in proportion until the memory fits; what the model does not shorten enough is cut."""
    for attempt in range(_PASSES + 1):
        if count_words(memory.text()) <= budget:
            return memory
        targets = _targets(memory, budget)
        if attempt == _PASSES:
            gists = {
                n: replace(g, text=first_words(g.text, targets[n]), whole=False, fallback=True, level=g.level + 1)
                for n, g in enumerate(memory.gists, start=1)
                if g is not None and n in targets
            }
        else:
            works = {n: partial(_shorten_gist, memory, n, target, model, cancel) for n, target in targets.items()}
            gists = run_all(works, connections=connections, cancel=cancel)
        memory = _with_gists(memory, gists)
    return memory


def _with_gists(memory: GistMemory, gists: Mapping[int, Gist]) -> GistMemory:
    return replace(memory, gists=tuple(gists.get(number, gist) for number, gist in enumerate(memory.gists, start=1)))


def _targets(memory: GistMemory, budget: int) -> dict[int, int]:
    """Return the target words of each gist that must be shortened, by page number; together they fit."""
    words = {number: gist.words for number, gist in enumerate(memory.gists, start=1) if gist is not None}
    room = int(budget * 0.92) - TAG_WORDS * len(words)
    share = max(0.0, room / max(1, sum(words.values())))
    return {n: max(2, int(w * share)) for n, w in words.items() if w > max(2, int(w * share))}


def _shorten_gist(memory: GistMemory, number: int, target: int, model: ChatModel, cancel: CancelToken) -> Gist:
    gist = memory.gists[number - 1]
    assert gist is not None
    language = memory.document.language
    lengths = Lengths(max(1, target * 2 // 3), target)
    shorter = shorten_text(gist.text, memory.plan, model, language=language, lengths=lengths, cancel=cancel)
    text, _ = take_off_quotation_marks(shorter.text, memory.page_text(number))
    fallback = gist.fallback or shorter.fallback
    return replace(shorter, text=text, level=gist.level + 1, edited=gist.edited, fallback=fallback, marks=gist.marks)


# --- iterative gisting ----------------------------------------------------------------------------


def shorten_old_gists(
    memory: GistMemory,
    model: ChatModel,
    budget_words: int,
    cancel: CancelToken,
    *,
    connections: int = 8,
    save: Callable[[int, Gist], None] | None = None,
) -> GistMemory:
    """Return ``memory`` within ``budget_words`` words: older gists are shortened again, the oldest ones most often.

    ``save`` gets every gist that changes. Pages are not merged and gists not cut, so a budget of a few words a page
    may be exceeded.
    """
    while count_words(memory.text()) > budget_words:
        targets = _old_targets(memory, budget_words)
        if not targets:
            return memory
        works = {n: partial(_shorten_gist, memory, n, words, model, cancel) for n, words in targets.items()}
        memory = _with_gists(memory, run_all(works, connections=connections, cancel=cancel, each=save))
    return memory


def _old_targets(memory: GistMemory, budget: int) -> dict[int, int]:
    """Return the target words of the gists to shorten next, by page number; each is halved once.

    The next one is always the oldest of the level that has most words, so levels fall from the first page to the
    last. A gist edited by hand is not shortened.
    """
    left = {
        number: gist
        for number, gist in enumerate(memory.gists, start=1)
        if gist is not None and not gist.edited and gist.words > _MIN_WORDS + 2
    }
    total = memory.gist_words + TAG_WORDS * len(memory.readable)
    targets: dict[int, int] = {}
    while left and total > budget:
        words: Counter[int] = Counter()
        for gist in left.values():
            words[gist.level] += gist.words
        level = max(words, key=lambda level: (words[level], -level))
        number = next(number for number, gist in left.items() if gist.level == level)
        gist = left.pop(number)
        targets[number] = max(_MIN_WORDS, gist.words // 2)
        total -= gist.words - targets[number]
    return targets
