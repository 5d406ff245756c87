"""How much of a prompt begins like a prompt sent before: what a server with prefix caching need not compute again.

    python -m bench.prefix

Title, memory and what is said of them come first, then the task, and the question last. So a look-up shares all but the
question with the look-up of the question before. An answer shares the memory up to the first page that was opened,
because pages are expanded in place; the last column says what it would share if the opened pages were put after all the
gists instead. Figures are for the bundled samples with the recorded readings, the built-in reader answering.
"""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core import loaders, methods
from readagent_core.cancel import CancelToken
from readagent_core.memory import GistMemory
from readagent_core.methods.base import AskSettings, LookedUp, ModelCall, Question
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.workspace.samples import FOLDER, NAMES, read_recording, recorded_memory

RUNS = (("read-agent-p", 3), ("read-agent-s", 6), ("gist-mem", 0))


def calls_of(
    memory: GistMemory, question: str, method: str, look_ups: int
) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield (kind, prompt, pages opened by then) of every call of one question."""
    opened: tuple[int, ...] = ()
    pending: list[tuple[str, str]] = []
    turn = 0
    run = methods.method(method).run(Question(question), memory, BuiltInReader(), AskSettings(look_ups), CancelToken())
    for event in run:
        if isinstance(event, ModelCall):
            turn += event.task != "answer"
            kind = "answer" if event.task == "answer" else "look-up" if turn == 1 else "look-up 2 and later"
            pending.append((kind, event.prompt))
            yield kind, event.prompt, opened
        elif isinstance(event, LookedUp):
            opened += event.pages


def shared(first: str, second: str) -> float:
    """Return how much of ``second`` is the beginning of ``first`` too, in per cent."""
    same = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    return 100 * same / len(second)


def measure(name: str, method: str, look_ups: int) -> dict[str, list[tuple[float, float]]]:
    """Return per kind of call (share, share with the opened pages after the gists) over the questions of a sample."""
    recording = read_recording(name)
    memory = recorded_memory(loaders.load((FOLDER / f"{name}.md").read_bytes(), f"{name}.md"), recording)
    sent: list[str] = []
    found: dict[str, list[tuple[float, float]]] = {}
    for ask in recording["asks"]:
        for kind, prompt, opened in calls_of(memory, ask["question"], method, look_ups):
            if sent:
                share = apart = max(shared(old, prompt) for old in sent)
                if kind == "answer" and opened:
                    gists = sum(len(memory.entry(number, full=False)) + 2 for number in opened)
                    start = prompt.index(memory.text(opened))
                    apart = 100 * (start + len(memory.text())) / (len(prompt) + gists)
                found.setdefault(kind, []).append((share, apart))
            sent.append(prompt)
    return found


def main() -> None:
    print(
        f"{'text':28} {'method':14} {'prompt':20} {'prompts':>7} {'shared, mean':>13} {'least':>7} {'pages after':>12}"
    )
    for name in NAMES:
        for method, look_ups in RUNS:
            for kind, rows in measure(name, method, look_ups).items():
                mean, apart = (sum(column) / len(rows) for column in zip(*rows, strict=True))
                least = min(share for share, _ in rows)
                print(f"{name:28} {method:14} {kind:20} {len(rows):7} {mean:11.1f} % {least:5.1f} % {apart:10.1f} %")


if __name__ == "__main__":
    main()
