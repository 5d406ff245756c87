"""Windows of text and the pause points offered in them (docs/methods.md, 'Episode pagination').

A window depends only on the paragraph it starts at. So two chains of pages that were started at different paragraphs
are the same from the first page start they share.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.document import Document
from readagent_core.memory import Page, PageEnd
from readagent_core.plan import GistingPlan
from readagent_core.tags import escape_tags, label


@dataclass(frozen=True)
class Window:
    """Paragraphs ``start`` to ``end`` (exclusive), with the pause points offered.

    ``labels``: for each pause point the paragraph after it; the label before paragraph i is written <i>. Without
    labels the window is one page and no model is asked.
    """

    start: int
    end: int
    labels: tuple[int, ...] = ()
    ends: PageEnd = PageEnd.PAUSE


class Windows:
    """The windows of a document. No paragraph of ``document`` may be longer than the plan's ``max_words``."""

    def __init__(self, document: Document, plan: GistingPlan) -> None:
        self.document = document
        self.plan = plan
        total = 0
        self.before = [0]  # words before each paragraph
        for paragraph in document.paragraphs:
            total += paragraph.words
            self.before.append(total)
        self.total = len(document.paragraphs)
        borders = {0, self.total}
        if not plan.cross_sections:
            borders |= {s.start for s in document.sections if s.start < self.total}
        self.borders = sorted(borders)
        self._borders = frozenset(borders)

    def words(self, start: int, end: int) -> int:
        """Return the words of paragraphs ``start`` to ``end`` (exclusive)."""
        return self.before[end] - self.before[start]

    def is_border(self, paragraph: int) -> bool:
        """Return whether a page must end before ``paragraph``: at a section start that is not crossed, or the end."""
        return paragraph in self._borders

    def border_after(self, start: int) -> int:
        """Return the first border after paragraph ``start``."""
        return self.borders[bisect_right(self.borders, start)]

    def page(
        self, start: int, end: int, *, reason: str = "", fallback: bool = False, ends: PageEnd = PageEnd.PAUSE
    ) -> Page:
        """Return a page without a number."""
        return Page(0, start, end, self.words(start, end), reason, fallback, ends)

    def window(self, start: int) -> Window:
        """Return the window from paragraph ``start``. Text up to the next border that fits into a page is one page."""
        border = self.border_after(start)
        if self.words(start, border) <= self.plan.max_words:
            return Window(start, border, (), PageEnd.END if border == self.total else PageEnd.SECTION)
        # the last paragraph whose end is within max_words; at least one, however long it is
        end = max(start + 1, bisect_right(self.before, self.before[start] + self.plan.max_words) - 1)
        first = bisect_right(self.before, self.before[start] + self.plan.min_words - 1)
        labels = tuple(range(min(max(first, start + 1), end), end + 1))
        return Window(start, end, labels) if len(labels) > 1 else Window(start, end, (), PageEnd.ONLY)

    def passage(self, window: Window) -> str:
        """Return the text of a window with its labels, as prompts show it."""
        offered = set(window.labels)
        pieces: list[str] = []
        run = window.start
        for index in range(window.start + 1, window.end + 1):
            if index in offered:
                pieces += [escape_tags(self.document.text(run, index)), label(index)]
                run = index
        return "\n\n".join(pieces)

    def fewest_calls(self) -> list[int]:
        """Return for each paragraph the fewest windows that must be asked to paginate from there to its border.

        A chain from there makes at least as many calls, whatever the model replies. The bound on calls made ahead
        is based on this.
        """
        fewest = [0] * (self.total + 1)
        for start in range(self.total - 1, -1, -1):
            window = self.window(start)
            if window.labels:
                fewest[start] = 1 + min(self._rest(fewest, end) for end in window.labels)
            elif window.ends == PageEnd.ONLY:
                fewest[start] = self._rest(fewest, window.end)
        return fewest

    def _rest(self, fewest: Sequence[int], end: int) -> int:
        return 0 if end in self._borders else fewest[end]
