"""Where a reader may pause: the window from a paragraph on, and the labels offered in it (docs/methods.md).

A window depends only on the paragraph it starts from (and, with ``preceding``, on the page before). That is
what lets chains of pages started at different places agree for ever once they meet. Knows nothing of models.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.document import Document
from readagent_core.memory import Page
from readagent_core.plan import ReadingPlan
from readagent_core.tags import disarm, label


@dataclass(frozen=True)
class Window:
    """Paragraphs ``start`` to ``end``; ``labels``: the offered pause points, each the paragraph after it.

    The label that stands before paragraph i is written <i>. No labels: the text from ``start`` to ``end`` is
    one page without asking, for the reason in ``ends`` ('end', 'section' or 'only').
    """

    start: int
    end: int
    labels: tuple[int, ...] = ()
    ends: str = "pause"


class Windows:
    """The windows of one document under one plan. ``document`` must be limited to the plan's ``max_words``."""

    def __init__(self, document: Document, plan: ReadingPlan) -> None:
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
        return self.before[end] - self.before[start]

    def is_border(self, paragraph: int) -> bool:
        """Whether every reading has a pause point before ``paragraph``."""
        return paragraph in self._borders

    def border_after(self, start: int) -> int:
        """The end of the stretch that ``start`` stands in: the next section start that is not crossed, or the end."""
        return self.borders[bisect_right(self.borders, start)]

    def page(self, start: int, end: int, *, reason: str = "", fallback: bool = False, ends: str = "pause") -> Page:
        """A page not yet numbered."""
        return Page(0, start, end, self.words(start, end), reason, fallback, ends)

    def window(self, start: int) -> Window:
        """The window from paragraph ``start``. What is left of a stretch, if it fits a page, is one."""
        border = self.border_after(start)
        if self.words(start, border) <= self.plan.max_words:
            return Window(start, border, (), "end" if border == self.total else "section")
        # the last paragraph whose end is within max_words; at least one, however long it is
        end = max(start + 1, bisect_right(self.before, self.before[start] + self.plan.max_words) - 1)
        first = bisect_right(self.before, self.before[start] + self.plan.min_words - 1)
        labels = tuple(range(min(max(first, start + 1), end), end + 1))
        return Window(start, end, labels) if len(labels) > 1 else Window(start, end, (), "only")

    def passage(self, window: Window) -> str:
        """The window as the model sees it, a label at every place offered."""
        offered = set(window.labels)
        pieces: list[str] = []
        run = window.start
        for index in range(window.start + 1, window.end + 1):
            if index in offered:
                pieces += [disarm(self.document.text(run, index)), label(index)]
                run = index
        return "\n\n".join(pieces)

    def fewest_calls(self) -> list[int]:
        """For each paragraph, the fewest windows that must be asked to page the text from there to its border.

        Whatever a model replies, a chain from there takes at least as many: the ground of the bound on calls ahead.
        """
        fewest = [0] * (self.total + 1)
        for start in range(self.total - 1, -1, -1):
            window = self.window(start)
            if window.labels:
                fewest[start] = 1 + min(self._rest(fewest, end) for end in window.labels)
            elif window.ends == "only":
                fewest[start] = self._rest(fewest, window.end)
        return fewest

    def _rest(self, fewest: Sequence[int], end: int) -> int:
        return 0 if end in self._borders else fewest[end]
