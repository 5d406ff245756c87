"""The documents of a run: each read once a plan, whoever asks, and kept in the library beside the experiments.

What reading cost is paid once it is done, also where it was done before. Knows nothing of questions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from readagent_core import reading
from readagent_core.cancel import CancelToken
from readagent_core.errors import ReadAgentError
from readagent_core.evaluation.answering import STOPPERS
from readagent_core.evaluation.counting import Counted
from readagent_core.evaluation.datasets import Case
from readagent_core.evaluation.results import Cost, Reading
from readagent_core.evaluation.sharing import CostedStore, Ledger, Noted
from readagent_core.evaluation.till import Till
from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.plan import ReadingPlan


class Readings:
    """``connections``: calls at once for one document; documents are read side by side."""

    def __init__(
        self, library: Library, model: ChatModel, till: Till, *, connections: int, pay: Callable[[Cost], None]
    ) -> None:
        self._library, self._model, self._till = library, model, till
        self._connections, self._pay = connections, pay
        self._lock = threading.Lock()
        self.opening = threading.Lock()  # our own work throughout: thirty at once would all be done last, calls waiting
        self._reading: dict[tuple[str, str], threading.Lock] = {}

    def memory(self, case: Case, plan: ReadingPlan, cancel: CancelToken) -> GistMemory | ReadAgentError:
        """The document of ``case`` as read by ``plan``, from the library where it was read before; or why it could not
        be read.

        Raises what stops the whole run.
        """
        with self.opening:
            document = case.document
            book = self._library.add(document)
            opened = self._library.open_reading(book.id, plan, self._model.name, self._model.where).id
        with self._lock:
            lock = self._reading.setdefault((document.id, plan.key), threading.Lock())
        with lock:
            model = Counted(self._model, self._till)
            ledger = Ledger(self._library.shelf(document.id), f"reading {opened}")
            noted = Noted(model, ledger)
            try:
                store = CostedStore(self._library.store(opened), ledger)
                memory = reading.read(  # nothing is asked ahead, so that its cost is the method's own
                    document, noted, plan, store=store, connections=self._connections, cancel=cancel, ahead=1
                )
                self._library.set_state(opened, "done")
            except STOPPERS:
                raise
            except ReadAgentError as error:
                return error
            finally:
                ledger.keep()
                self._pay(Cost(document.id, plan.key, *ledger.total))
            return memory


def figures(memory: GistMemory, plan: ReadingPlan) -> Reading:
    """What a table says of a document's reading."""
    return Reading(
        document=memory.document.id,
        title=memory.document.title,
        words=memory.document.words,
        plan=plan.key,
        page_words=tuple(page.words for page in memory.pages),
        gist_words=tuple(gist.words for gist in memory.gists if gist is not None),
        fallbacks=sum(p.fallback for p in memory.pages) + sum(bool(g and g.fallback) for g in memory.gists),
    )
