"""Makes the levels of a book in its own process, for the test that kills it; every call is written to a log.

python -m tests.answering.make_levels_until_held HOME LOG CALLS
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from pathlib import Path

from readagent_core.answering.base import AskSettings, Question
from readagent_core.answering.levels import Levels, make_levels
from readagent_core.answering.resources import Resources
from readagent_core.answering.run import Run
from readagent_core.cancel import CancelToken
from readagent_core.library import Library
from readagent_core.models.base import Completion
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.methods.test_zoom import long_memory

CONNECTIONS = 3


class Logged(FakeModel):
    """Writes its calls to the file ``log``, and ends none after the first ``calls``."""

    log = -1
    calls = sys.maxsize

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        name = hashlib.sha256(prompt.text.encode()).hexdigest()[:16]
        if self.log >= 0:
            os.write(self.log, f"+{name}\n".encode())
        with self._lock:
            self.calls -= 1
            held = self.calls < 0
        if held:
            threading.Event().wait(60)
        return super().complete(prompt, cancel)


def open_log(path: Path | str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def levels_in(home: Path, log: int = -1, *, calls: int = sys.maxsize) -> Levels:
    """All levels of a long book in the library of ``home``, up to one part; ``log``: where calls are written."""
    model = Logged(lambda prompt: f"Of {prompt.fields['page'][:30]} " + "told " * int(prompt.fields["least"]))
    model.log, model.calls = log, calls
    library = Library(home)
    memory = long_memory(300)
    library.add(memory.document)
    resources = Resources(artifacts=library.artifacts(memory.document.id), connections=CONNECTIONS)
    run = Run("zoom", Question("Who?"), memory, Metered(model), AskSettings(), CancelToken(), resources)
    made = make_levels(run, 0)
    library.close()
    return made


if __name__ == "__main__":
    levels_in(Path(sys.argv[1]), open_log(sys.argv[2]), calls=int(sys.argv[3]))
