"""Ask several books by zoom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from readagent_core.answering.base import AskSettings, Event, Question
from readagent_core.answering.explore import explore_within
from readagent_core.answering.run import Run
from readagent_core.answering.shelf import Shelf
from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.plan import ReadingPlan

ZOOM = "zoom"
WORDS = 4000  # of gists in a view


def ask_shelf(
    question: Question, shelf: Shelf, model: ChatModel, settings: AskSettings, cancel: CancelToken
) -> Iterator[Event]:
    """Yield the events of a question about several books. Raises ModelError or CancelledError.

    The prompts are in the language of most of the books.
    """
    ((language, _),) = Counter(book.language for book in shelf.books).most_common(1)
    no_pages = GistMemory(Document("", (), language=language), ReadingPlan(), (), ())
    run = Run(ZOOM, question, no_pages, Metered(model), settings, cancel)
    yield from explore_within(run, int(settings.extra.get("words", WORDS)), shelf)
