"""A reading in its own process, for the test that kills it: every call is written to a log as it begins and ends.

python -m tests.gisting.read_until_held HOME LOG CONNECTIONS PAGINATION CALLS
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from pathlib import Path

from readagent_core.gisting import read
from readagent_core.library import Library
from readagent_core.models.base import Completion
from readagent_core.plan import GistingPlan
from tests.fakes.model import FakeModel
from tests.gisting.helpers import many_replier, random_document, replier


def plan_of(pagination):
    return GistingPlan(max_words=100, min_words=40, pagination=pagination, cross_sections=pagination != "pause")


def make_book():
    return random_document(21, paragraphs=300, most=40, sections=range(0, 300, 70))


def model_of(pagination):
    return FakeModel(replier() if pagination == "pause" else many_replier())


class Logged(FakeModel):
    """Writes its calls to the file ``log``, and ends none after the first ``calls``."""

    log = -1
    calls = sys.maxsize

    def complete(self, prompt, cancel) -> Completion:
        name = hashlib.sha256(prompt.text.encode()).hexdigest()[:16]
        with self._lock:
            self.calls -= 1
            held = self.calls < 0
        os.write(self.log, f"+{name}\n".encode())
        if held:
            threading.Event().wait(60)
        completion = super().complete(prompt, cancel)
        os.write(self.log, f"-{name}\n".encode())
        return completion


def main(home, log, connections, pagination, calls=sys.maxsize):
    model = Logged(model_of(pagination)._answer)
    model.log, model.calls = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), int(calls)
    library = Library(Path(home))
    document = make_book()
    gisting = library.open_gisting(library.add(document).id, plan_of(pagination), model.name)
    memory = read(document, model, plan_of(pagination), store=library.store(gisting.id), connections=int(connections))
    library.close()
    os.close(model.log)
    return memory


if __name__ == "__main__":
    main(*sys.argv[1:])
