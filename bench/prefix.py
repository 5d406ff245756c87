"""How much of a prompt begins like a prompt sent before: what a server with prefix caching need not compute again.

    python -m bench.prefix [READING.json QUESTIONS.json]

Title, memory and what is said of them come first, then the task, and the question last. So a look-up shares all but the
question with the look-up of the question before. An answer shares the memory up to the first page that was opened,
because pages are expanded in place; with ``opened=after`` they come after all the gists, which are then shared. Figures
are for the bundled samples with the recorded readings, or for an exported reading and a list of {"question"}; the
built-in reader answers. The last column is the share of the words after the instructions: of texts, names and question.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from readagent_core import loaders
from readagent_core.answering import registry as methods
from readagent_core.answering.base import AskSettings, ModelCall, Question
from readagent_core.cancel import CancelToken
from readagent_core.incoming.opening import import_gisting
from readagent_core.incoming.samples import FOLDER, NAMES, read_recording, recorded_memory
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.words import count_words

Shares = tuple[float, float]  # of all words of a prompt, and of those after the instructions, in %
AFTER = {"opened": "after"}
_GIVEN = re.compile(
    r"<text>\n(.*?)\n</text>|^(?:Names and|Where words) [^:\n]*: ([^\n]*)$|\nQuestion:\n(.*)", re.S | re.M
)
RUNS = (
    ("recall", AskSettings()),
    ("read-agent-p", AskSettings(3)),
    ("read-agent-p", AskSettings(3, extra=AFTER)),
    ("read-agent-s", AskSettings(6)),
    ("read-agent-s", AskSettings(6, extra=AFTER)),
    ("read-agent-search", AskSettings(3)),
    ("read-agent-search", AskSettings(3, extra=AFTER)),
    ("zoom", AskSettings(3)),
    ("zoom", AskSettings(3, extra=AFTER)),
    ("gist-mem", AskSettings(0)),
)


def calls_of(memory: GistMemory, question: str, method: str, settings: AskSettings) -> Iterator[tuple[str, str]]:
    """Yield (kind, prompt) of every call of one question."""
    turn = 0
    for event in methods.method(method).run(Question(question), memory, BuiltInReader(), settings, CancelToken()):
        if isinstance(event, ModelCall):
            turn += 1
            kind = "look-up" if turn == 1 else "look-up 2 and later"
            yield "answer" if event.task == "answer" else kind, event.prompt


def shared(first: str, second: str) -> float:
    """Return how much of ``second`` is the beginning of ``first`` too, in per cent."""
    same = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
    return 100 * same / len(second)


def given_words(text: str) -> int:
    """Return the words of a prompt's texts, names and question, without its instructions."""
    return sum(count_words(next(filter(None, part.groups()))) for part in _GIVEN.finditer(text))


def stood_before(first: str, second: str) -> float:
    """Return how many of the words of ``second`` after the instructions stood in the beginning of ``first``, in %."""
    same = round(len(second) * shared(first, second) / 100)
    begun = second[:same] + ("\n</text>" if second[:same].count("<text>") > second[:same].count("</text>") else "")
    return 100 * given_words(begun) / max(1, given_words(second))


def measure(
    memory: GistMemory, questions: Sequence[str], method: str, settings: AskSettings
) -> dict[str, list[Shares]]:
    """Return the shares by kind of call."""
    sent: list[str] = []
    found: dict[str, list[Shares]] = {}
    for question in questions:
        for kind, prompt in calls_of(memory, question, method, settings):
            if sent:
                nearest = max(sent, key=lambda old: shared(old, prompt))
                found.setdefault(kind, []).append((shared(nearest, prompt), stood_before(nearest, prompt)))
            sent.append(prompt)
    return found


def texts(arguments: Sequence[str]) -> Iterator[tuple[str, GistMemory, list[str]]]:
    """Yield (name, memory, questions) of the files named, or of the samples."""
    if arguments:
        gisting, questions = map(Path, arguments)
        asked = [row["question"] for row in json.loads(questions.read_text(encoding="utf-8"))]
        yield gisting.stem.split(".")[0], import_gisting(gisting.read_bytes())[1], asked
        return
    for name in NAMES:
        recording = read_recording(name)
        document = loaders.load((FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
        yield name, recorded_memory(document, recording), [ask["question"] for ask in recording["asks"]]


def main(arguments: Sequence[str]) -> None:
    head = f"{'text':26} {'method':17} {'pages':9} {'prompt':20} {'prompts':>7}"
    print(f"{head} {'shared, mean':>13} {'least':>7} {'of given':>11}")
    for name, memory, questions in texts(arguments):
        for method, settings in RUNS:
            pages = settings.extra.get("opened", "in place") if settings.look_ups else ""
            for kind, shares in measure(memory, questions, method, settings).items():
                all_words, given = zip(*shares, strict=True)
                print(
                    f"{name:26} {method:17} {pages:9} {kind:20} {len(shares):7} {sum(all_words) / len(shares):11.1f} % "
                    f"{min(all_words):5.1f} % {min(given):9.1f} %",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
