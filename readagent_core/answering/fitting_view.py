"""A gist memory too long for one prompt, as methods show it: by one gist for each range of pages.

A page that is looked up is expanded in place; in a range it stands below the gist of the range.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, fields
from functools import cached_property

from readagent_core.answering.base import Event
from readagent_core.answering.levels import make_levels
from readagent_core.answering.response import ANSWER_WORDS, expanded_event, memory_prompt
from readagent_core.answering.retrieval import rank_by_bm25
from readagent_core.answering.run import Run
from readagent_core.answering.view import View, first_view
from readagent_core.answering.word_budget import ask_within_window, max_context_words, share_of_gists
from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory

_TAGS = 0.9  # share of a prompt's room for words of gists; the rest is for their tags


@dataclass(frozen=True)
class ViewedMemory(GistMemory):
    """A memory that prompts show by a view. All its pages can be expanded."""

    view: View | None = None

    @classmethod
    def of(cls, memory: GistMemory, view: View) -> ViewedMemory:
        return cls(**{f.name: getattr(memory, f.name) for f in fields(GistMemory)}, view=view)

    @property
    def _view(self) -> View:
        assert self.view is not None
        return self.view

    @cached_property
    def gist_text(self) -> str:
        return self._view.text()

    def entry(self, number: int, *, full: bool) -> str:
        """Return a page below its tag; '' for the gist of a page that is shown only in that of a range."""
        return super().entry(number, full=full) if full or self.seen(())[number] == "gist" else ""

    def text(self, expanded: Collection[int] = ()) -> str:
        pieces: list[str] = []
        for part in self._view.shown:
            inside = [n for n in sorted(expanded) if n in part]
            if part.first != part.last or not inside:
                pieces.append(self._view.entry(part))
            pieces += [super(ViewedMemory, self).entry(n, full=True) for n in inside]
        return "\n\n".join(pieces)

    def words_with(self, expanded: Collection[int]) -> int:
        closed = (p for p in self._view.shown if p.first != p.last or p.first not in expanded)
        return sum(map(self._view.levels.words, closed)) + sum(self.page(n).words for n in expanded)

    def entries(self, expanded: Collection[int]) -> tuple[tuple[int, int, str], ...]:
        shown: list[tuple[int, int, str]] = []
        for part in self._view.shown:
            inside = [(n, n, "full") for n in sorted(expanded) if n in part]
            if part.first != part.last or not inside:
                shown.append((part.first, part.last, "gist" if part.first == part.last else "part"))
            shown += inside
        return tuple(shown)

    def seen(self, expanded: Collection[int]) -> dict[int, str]:
        return self._view.seen() | dict.fromkeys(sorted(expanded), "full")


def fit_view(run: Run, *, asks: int) -> Generator[Event, None, tuple[GistMemory, int | None]]:
    """Return the run's memory, or a view of it that fits one prompt, and the most words its text may have.

    ``asks``: prompts with the gists before the answer's, where the words of the question are limited. Missing gists of
    ranges are made and stored. Raises WindowError where even the shortest view is too long.
    """
    memory = run.memory
    around = memory_prompt(run, "").words
    limit = max_context_words(run.settings, run.model, sample=memory.gist_text, around=around, reply_words=ANSWER_WORDS)
    share = share_of_gists(run, around, asks=asks)
    fits = min((n for n in (limit, share) if n is not None), default=None)
    if fits is None or memory.gist_text_words <= fits:
        return memory, limit
    calls = run.model.usage.calls
    most = words_of_view(memory, fits, limit, look_ups=run.settings.look_ups)
    view = first_view(make_levels(run, most), most, rank_by_bm25(run.question.text, memory))
    viewed = ViewedMemory.of(memory, view)
    if viewed.gist_text_words > fits:
        raise WindowError(
            f"The gist memory has {memory.gist_text_words:,} words and only {fits:,} fit into one prompt. "
            "Read the book with shorter gists, or connect a model with a larger window.",
            run.model.window,
        )
    made = f" {run.model.usage.calls - calls} calls made gists of ranges." if run.model.usage.calls > calls else ""
    yield run.note(
        f"The gist memory was too long for one prompt: of its {memory.gist_text_words:,} words a view of "
        f"{viewed.gist_text_words:,} is shown, with one gist for ranges of pages.{made}"
    )
    yield expanded_event(run, viewed, ())
    return viewed, limit


def words_of_view(memory: GistMemory, fits: int, limit: int | None, *, look_ups: int) -> int:
    """Return the most words of gists in a view, where ``fits`` words may stand and ``limit`` fit into a prompt."""
    if limit is not None:  # leaves room for looked-up pages, at most half of the prompt
        longest = max(page.words for page in memory.pages)
        fits = min(fits, max(limit // 2, limit - min(look_ups, 2) * longest))
    return int(fits * _TAGS)


def answer_within_window(
    run: Run, work: Callable[[GistMemory, int | None], Generator[Event, None, None]], *, asks: int = 0
) -> Generator[Event, None, None]:
    """Run ``work`` with what ``fit_view`` returns, again each time the server shows a smaller window."""

    def attempt() -> Generator[Event, None, None]:
        memory, limit = yield from fit_view(run, asks=asks)
        yield from work(memory, limit)

    yield from ask_within_window(run, attempt)
