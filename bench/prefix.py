"""How much of a prompt the next question shares from its first character: what a server with prefix caching reuses.

    python -m bench.prefix

The gist memory stands ahead of the question, so two questions about one book share the memory; the answer's prompt
shares it up to the first page that was opened. Figures are for the bundled samples with the recorded readings.
"""

from __future__ import annotations

from itertools import pairwise

from readagent_core import methods
from readagent_core.cancel import CancelToken
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, ModelCall, Question
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.workspace.samples import FOLDER, NAMES, read_recording, recorded_memory


def prompts_of(memory: GistMemory, question: str, *, look_ups: int) -> dict[str, str]:
    """The prompts of one question by task, the built-in reader answering."""
    run = methods.method("read-agent-p").run(
        Question(question), memory, BuiltInReader(), AskSettings(look_ups), CancelToken()
    )
    return {event.task: event.prompt for event in run if isinstance(event, ModelCall)}


def shared(first: str, second: str) -> float:
    """The part of ``second`` that ``first`` already held from its start, in per cent."""
    same = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    return 100 * same / len(second)


def measure(name: str) -> list[tuple[str, float, float]]:
    """(task, mean, least) of the shared prefix over consecutive questions of a sample."""
    from readagent_core import loaders

    recording = read_recording(name)
    memory = recorded_memory(loaders.load((FOLDER / f"{name}.md").read_bytes(), f"{name}.md"), recording)
    asked = [prompts_of(memory, ask["question"], look_ups=3) for ask in recording["asks"]]
    alone = [prompts_of(memory, ask["question"], look_ups=0) for ask in recording["asks"]]
    rows = []
    for label, runs, task in (
        ("look-up", asked, "look_up"),
        ("answer, pages opened", asked, "answer"),
        ("answer, gists alone", alone, "answer"),
    ):
        found = [shared(a[task], b[task]) for a, b in pairwise(runs) if task in a and task in b]
        rows.append((label, sum(found) / len(found), min(found)))
    return rows


def main() -> None:
    print(f"{'text':30} {'prompt':22} {'shared, mean':>12} {'least':>8}")
    for name in NAMES:
        for label, mean, least in measure(name):
            print(f"{name:30} {label:22} {mean:11.1f} % {least:6.1f} %")


if __name__ == "__main__":
    main()
