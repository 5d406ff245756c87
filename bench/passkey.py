"""The passkey task: find a key in filler text with a small window (Mohtashami & Jaggi, 2023; Fei et al., 2023,
Figure 5).

    python -m bench.passkey                       the built-in reader, 1k to 30k tokens, a window of 4,096
    python -m bench.passkey --lengths 30000 --trials 10 --methods full-text:keep=ends semantic-compression

The window is enforced: a longer prompt is refused, as a server refuses it. Prints one table.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence

from readagent_core.answering.base import Answered, AskSettings, Question
from readagent_core.answering.registry import method
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import ReadAgentError, WindowError
from readagent_core.evaluation.arms import parse
from readagent_core.gisting import read
from readagent_core.memory import GistMemory
from readagent_core.models.base import Completion
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt

TASK = (
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. "
    "I will quiz you about the important information there."
)
FILLER = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
KEY = "The pass key is {key}. Remember it. {key} is the pass key."
QUESTION = Question("What is the pass key? The pass key is")
LENGTHS = (1_000, 4_000, 8_000, 16_000, 30_000)
METHODS = (
    "full-text:keep=left",
    "full-text:keep=right",
    "full-text:keep=ends",
    "semantic-compression",
    "read-agent-p",
    "zoom",
    "bm25",
)


class Windowed(BuiltInReader):
    """The built-in reader with a window of ``window`` tokens: it refuses a longer prompt."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.longest = 0

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        tokens = estimate_tokens(prompt.text)
        if self.window is not None and tokens > self.window:
            raise WindowError(f"The prompt has {tokens:,} tokens, the window {self.window:,}.", self.window)
        self.longest = max(self.longest, tokens)
        return super().complete(prompt, cancel)


def passkey_document(tokens: int, place: float, key: int) -> Document:
    """Return about ``tokens`` tokens of filler with the key at ``place`` (0: the start, 1: the end)."""
    lines = max(1, round(tokens / estimate_tokens(FILLER + " ")))
    before = round(lines * place)
    filler = [FILLER] * before + [KEY.format(key=key)] + [FILLER] * (lines - before)
    grouped = [" ".join(filler[i : i + 4]) for i in range(0, len(filler), 4)]
    return Document("The passkey", (Paragraph(TASK), *map(Paragraph, grouped)))


def trials(tokens: int, count: int, seed: int) -> Iterator[tuple[int, Document]]:
    """Yield ``count`` keys and documents; the keys' positions are spread over the text."""
    chance = random.Random(f"{seed} {tokens}")
    for number in range(count):
        key = chance.randint(10_000, 99_999)
        yield key, passkey_document(tokens, (number + chance.random()) / count, key)


def found(name: str, key: int, memory: GistMemory, model: Windowed) -> bool:
    """Return whether the method's answer has the key; False where there is no answer."""
    arm = parse(name, AskSettings(look_ups=2))
    try:
        for event in method(arm.method).run(QUESTION, memory, model, arm.settings, CancelToken()):
            if isinstance(event, Answered):
                return str(key) in event.answer.text
    except ReadAgentError as error:
        print(f"{name}: {error}", file=sys.stderr)
    return False


def table(lengths: Sequence[int], names: Sequence[str], *, count: int, window: int, seed: int = 1) -> str:
    """Return the table of keys found out of ``count``: one row a method, one column a length."""
    scores: dict[str, list[str]] = {name: [] for name in names}
    longest = 0
    for tokens in lengths:
        hits = dict.fromkeys(names, 0)
        for key, document in trials(tokens, count, seed):
            model = Windowed(window)
            memory = read(document, model, GistingPlan())
            for name in names:
                hits[name] += found(name, key, memory, model)
            longest = max(longest, model.longest)
        for name in names:
            scores[name].append(f"{hits[name]}/{count}")
    head = "| method | " + " | ".join(f"{tokens:,} tokens" for tokens in lengths) + " |"
    rows = [f"| {name} | " + " | ".join(cells) + " |" for name, cells in scores.items()]
    rule = "|---|" + "--:|" * len(lengths)
    return "\n".join([head, rule, *rows, "", f"Window {window:,} tokens; longest prompt sent {longest:,}."])


def main() -> None:
    parser = argparse.ArgumentParser(description="The passkey task through a small window.")
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--window", type=int, default=4096)
    chosen = parser.parse_args()
    began = time.monotonic()
    print(table(chosen.lengths, chosen.methods, count=chosen.trials, window=chosen.window))
    print(f"{time.monotonic() - began:.1f} s, with the built-in reader.")


if __name__ == "__main__":
    main()
