"""How near an experiment comes to the best its connections allow, and how its memory grows.

400 questions on 20 documents, four methods, a model that answers every call in half a second, 32 calls at once. The
ideal is calls × seconds ÷ connections; what is lost is our own work between calls. ``--server`` puts real HTTP
between: the server in another process, the whole client (retries, cache) in this one.

    python -m bench.evaluation [--questions 400] [--connections 32] [--seconds 0.5] [--server]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.server import serving
from readagent_core.answering.base import AskSettings
from readagent_core.cancel import CancelToken
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.models.base import ChatModel, Completion, ModelWrapper
from readagent_core.prompts import Prompt

METHODS = ("read-agent-p", "gist-mem", "bm25", "full-text")
QUESTIONS_A_DOCUMENT = 20


class Slow(ChatModel):
    """Answers every prompt after ``seconds``, without any work."""

    name = "slow model"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        time.sleep(self.seconds)
        return Completion(reply(prompt.text), model=self.name)

    def stream(self, prompt: Prompt, cancel: CancelToken) -> Iterator[str | Completion]:
        completion = self.complete(prompt, cancel)
        yield completion.text
        yield completion


class Counting(ModelWrapper):
    """Counts calls, in ``calls``."""

    def __init__(self, model: ChatModel, calls: Counter[str]) -> None:
        super().__init__(model)
        self.calls = calls
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        with self._lock:
            self.calls["made"] += 1
        return self.model.complete(prompt, cancel)


def reply(text: str) -> str:
    """Return a usable reply to any prompt of these methods, which its first words identify; next to no work."""
    if "Break point:" in text[:1200]:
        labels = re.findall(r"^<(\d+)>$", text, re.MULTILINE)
        return f"Break point: <{labels[len(labels) // 2]}>\nBecause a scene ends."
    if text.startswith("Shorten"):
        return " ".join(text.split()[-60:])
    if "I want to look up Page [" in text:
        return "I want to look up Page [1, 3] to be sure."
    return "Answer: (B). It rang [1]."


def write_data(folder: Path, questions: int) -> Path:
    """Write documents of about 4,000 words, QuALITY's length, with 20 questions each; return the file."""
    path = folder / "bench.jsonl"
    sentence = (
        "In story {n} the keeper of the light rang bell {k} in the fog – “as ever” – and wrote it down that night."
    )
    options = ["a lamp", "a bell", "a boat", "a dog"]
    with path.open("w", encoding="utf-8") as file:
        for n in range(-(-questions // QUESTIONS_A_DOCUMENT)):
            paragraphs = [" ".join(sentence.format(n=n, k=3 * p + i) for i in range(3)) for p in range(64)]
            asked = [
                {"question": f"What rang {q}?", "options": options, "gold_label": 1 + q % 4}
                for q in range(QUESTIONS_A_DOCUMENT)
            ]
            row = {"article_id": n, "title": f"Story {n}", "article": "\n\n".join(paragraphs), "questions": asked}
            file.write(json.dumps(row) + "\n")
    return path


def resident() -> float:
    """Return the megabytes of this process in memory now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(
    model: ChatModel, data: Path, folder: Path, *, questions: int, connections: int, seconds_a_call: float
) -> None:
    arms = tuple(parse(name, AskSettings()) for name in METHODS)
    experiment = Experiment(open_dataset(data, limit=questions), arms, connections=connections)
    calls: Counter[str] = Counter()
    counting = model.wrap_inner(lambda asked: Counting(asked, calls))
    memory: list[tuple[float, float]] = []

    def note_memory(progress: running.ExperimentProgress) -> None:
        share = progress.done / max(1, progress.total)
        if share >= 0.1 * (len(memory) + 1):
            memory.append((share, resident()))

    start, cpu = time.perf_counter(), time.process_time()
    table = running.run(experiment, counting, folder=folder, on_change=note_memory)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    made = calls["made"]
    ideal = made * seconds_a_call / connections
    print(f"answers              {table.answers:,} ({table.failed} failed), {len(table.gistings)} documents read")
    print(f"model calls          {made:,}, {made / seconds:.0f} a second")
    print(f"seconds              {seconds:.2f}, ideal {ideal:.2f}")
    print(f"own CPU              {cpu:.2f} s, {1000 * cpu / made:.2f} ms a call")
    print(f"of ideal throughput  {100 * ideal / seconds:.1f} %")
    print("memory, MB           " + "  ".join(f"{100 * s:.0f} %: {mb:.0f}" for s, mb in memory))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=0.5, help="that the model takes for every call")
    parser.add_argument("--server", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = write_data(folder, chosen.questions)
        run = folder / "evaluations" / "bench"
        sizes = {
            "questions": chosen.questions,
            "connections": chosen.connections,
            "seconds_a_call": chosen.seconds,
        }
        if not chosen.server:
            measure(Slow(chosen.seconds), data, run, **sizes)
            return
        with serving(reply, latency=chosen.seconds) as url:
            from readagent_core.models import connect
            from readagent_core.settings import Settings

            settings = Settings(folder, base_url=url, model="fake-model")
            measure(connect(settings), data, run, **sizes)


if __name__ == "__main__":
    main()
