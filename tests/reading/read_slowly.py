"""A reading in its own process, for the tests that kill it: every call is written to a log as it begins and ends.

python -m tests.reading.read_slowly HOME LOG SEED CONNECTIONS PAGINATION
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

from readagent_core.library import Library
from readagent_core.models.base import Completion
from readagent_core.plan import ReadingPlan
from readagent_core.reading import read
from tests.fakes.model import FakeModel
from tests.reading.helpers import many_replier, random_document, replier

SECONDS_A_CALL = 0.01


def plan_of(pagination):
    return ReadingPlan(max_words=100, min_words=40, pagination=pagination, cross_sections=pagination != "pause")


def document_of(seed):
    return random_document(seed, paragraphs=500, most=40, sections=range(0, 500, 70))


def model_of(pagination):
    return FakeModel(replier() if pagination == "pause" else many_replier())


class Logged(FakeModel):
    log = -1

    def complete(self, prompt, cancel) -> Completion:
        name = hashlib.sha256(prompt.text.encode()).hexdigest()[:16]
        os.write(self.log, f"+{name}\n".encode())
        time.sleep(SECONDS_A_CALL)
        completion = super().complete(prompt, cancel)
        os.write(self.log, f"-{name}\n".encode())
        return completion


def main(home, log, seed, connections, pagination):
    model = Logged(model_of(pagination)._answer)
    model.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    library = Library(Path(home))
    document = document_of(int(seed))
    reading = library.open_reading(library.add(document).id, plan_of(pagination), model.name)
    read(document, model, plan_of(pagination), store=library.store(reading.id), connections=int(connections))
    library.set_state(reading.id, "done")
    library.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
