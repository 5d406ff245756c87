"""Words and calls a question, over texts of 5,000 to 1,500,000 words asked through a window of 8,000 tokens.

The texts are made up, by a seed. Each has facts at places spread over it, one a question, whose names occur nowhere
else. The built-in reader makes the pages and answers; gists are as long as asked for. The window is enforced: a longer
prompt is refused, as a server refuses it. 'Once' are the words sent for gists of parts, or to fit the memory into the
window, for all questions together.

    python -m bench.zoom
    python -m bench.zoom --words 5000 50000 --methods zoom full-text:keep=ends --questions 12
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.passkey import Windowed
from readagent_core.answering.base import Answered, AskSettings, Question
from readagent_core.answering.registry import method
from readagent_core.answering.resources import Resources
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph, Section
from readagent_core.errors import ReadAgentError
from readagent_core.evaluation.arms import parse
from readagent_core.gisting import read
from readagent_core.memory import GistMemory
from readagent_core.models.base import Completion
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.words import count_words

LENGTHS = (5_000, 50_000, 343_910, 1_500_000)
METHODS = ("zoom", "read-agent-p", "read-agent-s", "bm25-dos", "full-text:keep=ends")
MOST_WORDS = 12_000  # a question, on average, for zoom
PEOPLE = "Anna Bruno Clara Dmitri Edith Farid Greta Hugo Irene Jonas Katrin Leo Mina Nils Oskar Petra"
PLACES = "harbour mill orchard chapel market bridge cellar tower quarry station meadow attic"
THINGS = "lamp letter ladder barrel saddle ledger kettle anchor violin parcel lantern basket ribbon clock"
VERBS = "carried mended hid painted sold weighed borrowed counted cleaned dropped measured wrapped"
MOODS = "old broken heavy narrow polished crooked silent borrowed bright dusty hollow plain"
SYLLABLES = "qua zel vor mik tash ny lo bren du phi ros kel"


@dataclass(frozen=True)
class Fact:
    """A sentence in the text, the question about it, and the word that the answer must have."""

    sentence: str
    question: Question
    key: str


class Counting(Windowed):
    """The built-in reader in a window, with gists as long as asked for: every nth sentence of the text.

    ``asked`` and ``calls``: words sent and calls for questions. ``once``: words sent for anything else.
    """

    asked = calls = once = 0

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        completion = super().complete(prompt, cancel)
        if prompt.task == "gist":
            sentences = prompt.fields["page"].split(". ")
            words = int(prompt.fields["least"]) + int(prompt.fields["most"])
            every = max(2, round(2 * count_words(prompt.fields["page"]) / words))
            completion = Completion(". ".join(sentences[::every]), model=self.name)
        if "question" in prompt.fields:
            self.asked += prompt.words
            self.calls += 1
        else:
            self.once += prompt.words
        return completion


class Store:
    """What methods made of one document, in memory."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], object] = {}

    def load(self, kind: str, key: str) -> object | None:
        return self.values.get((kind, key))

    def save(self, kind: str, key: str, value: object) -> None:
        self.values[kind, key] = value


def made_up(words: int, questions: int, seed: int) -> tuple[Document, list[Fact]]:
    """Return a text of about ``words`` words in chapters of about 4,000, and the facts that are spread over it."""
    chance = random.Random(f"{seed} {words}")

    def name() -> str:
        return "".join(chance.sample(SYLLABLES.split(), 3)).capitalize()

    facts = []
    for _ in range(questions):
        town, thing, keeper = name(), chance.choice(THINGS.split()), name()
        asked = Question(f"Who guards the {thing} of {town}?")
        facts.append(Fact(f"The {thing} of {town} is guarded by {keeper}.", asked, keeper))
    places = [words * (number + chance.random()) / questions for number in range(questions)]
    paragraphs: list[Paragraph] = []
    sections: list[Section] = []
    made = next_chapter = told = 0
    while made < words:
        if made >= next_chapter:
            people, where = chance.sample(PEOPLE.split(), 3), chance.sample(PLACES.split(), 4)
            sections.append(Section(f"Chapter {len(sections) + 1}", len(paragraphs)))
            next_chapter += chance.randint(3000, 5000)
        sentences = [sentence(chance, people, where) for _ in range(chance.randint(2, 6))]
        if told < questions and made >= places[told]:
            sentences.insert(1, facts[told].sentence)
            told += 1
        paragraphs.append(Paragraph(" ".join(sentences)))
        made += paragraphs[-1].words
    assert told == questions or words < 100 * questions
    return Document(f"A made-up text of {words:,} words", tuple(paragraphs), tuple(sections)), facts[:told]


def sentence(chance: random.Random, people: Sequence[str], places: Sequence[str]) -> str:
    """Return a sentence about these people and places."""
    first, second = chance.choice(VERBS.split()), chance.choice(VERBS.split())
    what = f"the {chance.choice(MOODS.split())} {chance.choice(THINGS.split())} near the {chance.choice(places)}"
    return f"{chance.choice(people)} {first} {what}, and {chance.choice(people)} {second} nothing that day."


def ask_all(name: str, facts: Sequence[Fact], memory: GistMemory, window: int) -> tuple[Counting, int, str]:
    """Ask every question. Returns the model with its counts, the answers that are right, and the first error."""
    arm, model, store = parse(name, AskSettings()), Counting(window), Store()
    right, problem = 0, ""
    for fact in facts:
        try:
            events = method(arm.method).run(
                fact.question, memory, model, arm.settings, CancelToken(), Resources(artifacts=store)
            )
            right += any(isinstance(event, Answered) and fact.key in event.answer.text for event in events)
        except ReadAgentError as error:
            problem = problem or str(error)
    return model, right, problem


def table(lengths: Sequence[int], names: Sequence[str], *, questions: int, window: int, seed: int = 1) -> str:
    """Return the table: one row a method and length. Raises AssertionError where zoom sends too many words."""
    rows = []
    for words in lengths:
        document, facts = made_up(words, questions, seed)
        began = time.monotonic()
        memory = read(document, Counting(window), GistingPlan.from_preset("book"), ahead=1)
        print(f"{words:,} words read in {time.monotonic() - began:.0f} s: {len(memory.pages)} pages, "
              f"{memory.gist_words:,} words of gists", flush=True)  # fmt: skip
        for name in names:
            model, right, problem = ask_all(name, facts, memory, window)
            each = model.asked / len(facts)
            rows.append(f"| {words:,} | {name} | {each:,.0f} | {model.calls / len(facts):.1f} | {model.once:,} | "
                        f"{model.longest:,} | {right}/{len(facts)} |")  # fmt: skip
            print(rows[-1], problem, flush=True)
            assert name != "zoom" or each <= MOST_WORDS, f"zoom sent {each:,.0f} words a question"
            assert model.longest <= window
    head = "| words of the text | method | words a question | calls | words once | longest prompt, tokens | right |"
    return "\n".join([head, "|--:|---|" + "--:|" * 5, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description="Words a question, over the length of the text.")
    parser.add_argument("--words", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--window", type=int, default=8_000)
    chosen = parser.parse_args()
    print("\n" + table(chosen.words, chosen.methods, questions=chosen.questions, window=chosen.window))
    print(f"\nmost memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
