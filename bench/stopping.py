"""How soon Stop ends work under way at a server that has fallen silent, and that what was done is saved.

Ten random moments each in reading, asking, comparing and evaluating. The server answers every call after a fixed time,
falls silent at the moment, calls under way included, and a third of a second later the work is cancelled.

    python -m bench.stopping [--times 10] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.gisting import book
from readagent_core.answering import asking
from readagent_core.answering.base import AskSettings, Question
from readagent_core.comparing import comparing
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.starting import start as start_experiment
from readagent_core.gisting.job import newest_memory, start_gisting
from readagent_core.jobs import Job
from readagent_core.models import connection
from readagent_core.plan import GistingPlan
from readagent_core.settings import Secret, Settings
from readagent_core.workspace import Workspace
from tests.fakes.server import FakeServer, Reply

LATENCY = 0.1  # seconds
METHODS = ("read-agent-p", "read-agent-s", "memwalker", "full-text")
QUESTION = Question("What is told of the last chapter?")


class Silence:
    """Answers calls until ``begin`` is called; all others wait until ``end``."""

    def __init__(self) -> None:
        self._speaking = threading.Event()
        self._over = threading.Event()
        self._speaking.set()

    def __call__(self, number: int, text: str) -> Reply | None:
        time.sleep(LATENCY)
        if not self._speaking.is_set():
            self._over.wait(60)
        return None

    def begin(self) -> None:
        self._speaking.clear()

    def end(self) -> None:
        self._speaking.set()
        self._over.set()


def stopped_within(job: Job, silence: Silence, moment: float) -> float:
    """Seconds from Stop to the end of ``job``, at a server that fell silent after ``moment`` seconds."""
    time.sleep(moment)
    silence.begin()
    time.sleep(0.3)
    assert job.running, "the work had ended before it was stopped"
    cancelled = time.monotonic()
    job.cancel()
    job.join(30)
    return time.monotonic() - cancelled


def gisting(workspace: Workspace, silence: Silence, moment: float, number: int) -> tuple[float, str]:
    shelved = workspace.library.add(book(40_000, seed=number))
    job = start_gisting(workspace, shelved.id, GistingPlan.from_preset("article"))
    seconds = stopped_within(job, silence, moment)
    found = newest_memory(workspace, shelved.id)
    saved = len(found[1].pages) if found else 0
    seen = job.snapshot.value.pages if job.snapshot.value else 0
    return seconds, "" if saved >= seen else f"{seen} pages, {saved} saved"


def asking_(workspace: Workspace, silence: Silence, moment: float, number: int) -> tuple[float, str]:
    shelved = workspace.library.books()[0]
    method = METHODS[number % 3]  # full text makes one call only
    exchange, job = asking.ask(workspace, shelved.id, QUESTION, method=method, use_cache=False)
    seconds = stopped_within(job, silence, moment % (1.8 * LATENCY))
    stored = workspace.library.exchange(exchange.id)
    return seconds, "" if stored.state == "cancelled" else f"the question is stored as {stored.state}"


def comparing_(workspace: Workspace, silence: Silence, moment: float, number: int) -> tuple[float, str]:
    shelved = workspace.library.books()[0]
    question = Question(f"{QUESTION.text} ({number})")
    job = comparing.compare(workspace, [shelved.id], question, METHODS, settings=AskSettings())
    seconds = stopped_within(job, silence, moment % (3 * LATENCY))
    return seconds, "" if job.snapshot.value is not None else "the comparison was lost"


def evaluating(workspace: Workspace, silence: Silence, moment: float, number: int) -> tuple[float, str]:
    folder = workspace.home / "data"
    folder.mkdir(exist_ok=True)
    document = book(1_200, seed=number)
    path = folder / f"{number}.json"
    asked = [{"question": f"What happens in chapter {i}?", "references": ["Nothing."]} for i in range(40)]
    path.write_text(json.dumps({"title": "A book", "text": document.text(), "questions": asked}), encoding="utf-8")
    dataset = open_dataset(path)
    experiment = Experiment(dataset, (Arm("read-agent-p"), Arm("gist-mem")), connections=8)
    job, results = start_experiment(workspace, experiment, name=str(number))
    seconds = stopped_within(job, silence, 0.6 + moment)
    answered = job.snapshot.value.done
    file = results / "results.jsonl"
    saved = len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0
    return seconds, "" if saved >= answered else f"{answered} answers, {saved} saved"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    moments = random.Random(chosen.seed)
    kinds: dict[str, Callable[[Workspace, Silence, float, int], tuple[float, str]]] = {
        "reading": gisting,
        "asking": asking_,
        "comparing": comparing_,
        "evaluating": evaluating,
    }
    print(f"{'':12}{'stops':>6}{'within 1 s':>12}{'slowest':>10}  lost")
    for name, kind in kinds.items():
        taken: list[float] = []
        lost: list[str] = []
        for number in range(chosen.times):
            silence = Silence()
            with tempfile.TemporaryDirectory() as home, FakeServer(before=silence) as server:
                settings = Settings(Path(home), server.url, Secret(), "fake-model")
                workspace = Workspace(settings)
                if name in ("asking", "comparing"):
                    shelved = workspace.library.add(book(4_000))
                    start_gisting(workspace, shelved.id, GistingPlan.from_preset("article")).join(120)
                seconds, what = kind(workspace, silence, moments.uniform(0.2, 2.0), number)
                taken.append(seconds)
                lost += [what] if what else []
                silence.end()
                workspace.library.close()
                connection.close_all()
        soon = sum(seconds <= 1.0 for seconds in taken)
        print(f"{name:12}{len(taken):>6}{soon:>12}{max(taken):>8.2f} s  {'; '.join(lost) or 'nothing'}")


if __name__ == "__main__":
    main()
