"""An experiment question by question, in the dataset's order: what was asked, each answer, and its replay.

Holds where each answer begins in results.jsonl, and the first words of each question; an answer is read when it is
shown. So thousands of questions take little memory, also while the experiment runs. Answers that come after the
first look are not included. The screen and every report file go through the questions this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from readagent_core.answering.base import LETTERS
from readagent_core.citations.answer_parsing import split_evidence, without_option
from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import arm_titles, recorded_arms
from readagent_core.evaluation.results import JsonLines, Result
from readagent_core.text_files import without_emphasis
from readagent_core.words import collapse_whitespace, count_of

_EXCERPT = 160  # characters
_QUOTED = re.compile(r'"([^"\n]+)"')
_RATING_WORDS = {"exact": "agrees", "partial": "agrees in part", "wrong": "does not agree"}


class AnswerPlace(NamedTuple):
    """Where an answer is. ``place``: byte offset in results.jsonl. ``right``: None for one that was not judged."""

    place: int
    arm: str
    run: int
    right: bool | None


@dataclass(frozen=True)
class QuestionEntry:
    """One question by its index in the dataset, with the places of its answers, arm by arm and run by run."""

    case: int
    item: int
    excerpt: str
    answers: tuple[AnswerPlace, ...]

    @property
    def wrong(self) -> bool:
        """Whether at least one answer is not right."""
        return any(answer.right is False for answer in self.answers)

    @property
    def differ(self) -> bool:
        """Whether some answers are right and others not."""
        return self.wrong and any(answer.right for answer in self.answers)

    @property
    def counts(self) -> str:
        """'3 of 8 right', or '8 answers, not judged'."""
        judged = [answer.right for answer in self.answers if answer.right is not None]
        if judged:
            return f"{sum(judged)} of {len(judged)} right"
        return f"{count_of(len(self.answers), 'answer')}, not judged"


class Questions:
    """The questions of an experiment's folder that have an answer. ``titles``: of the arms, in the report's order.

    The first access raises DatasetError for a damaged line; a last line that is still being written is left out.
    """

    def __init__(self, folder: Path, titles: Mapping[str, str]) -> None:
        self.folder, self.titles = folder, dict(titles)
        self._results = JsonLines(folder / "results.jsonl", repair=False)
        self._replays = JsonLines(folder / "replays.jsonl", repair=False)
        self._asked_about: set[str] = set()

    @classmethod
    def of(cls, folder: Path, record: Mapping[str, Any]) -> Questions:
        """Return the questions of the experiment with this record."""
        return cls(folder, arm_titles(recorded_arms(record)))

    @cached_property
    def entries(self) -> list[QuestionEntry]:
        """All questions in the dataset's order; read at the first access."""
        excerpts: dict[tuple[int, int], str] = {}
        found: dict[tuple[int, int], dict[tuple[str, int], AnswerPlace]] = {}
        names = {key: key for key in self.titles}  # one string for each arm, not one for each answer
        for place, line in self._results.with_offsets():
            result = Result.from_dict(line)
            self._asked_about.add(result.title)
            question = (result.case, result.item)
            excerpts.setdefault(question, collapse_whitespace(result.question[: 2 * _EXCERPT])[:_EXCERPT])
            arm = names.setdefault(result.arm, result.arm)
            found.setdefault(question, {})[(arm, result.run)] = AnswerPlace(place, arm, result.run, is_right(result))
        order = {arm: at for at, arm in enumerate(names)}
        return [
            QuestionEntry(
                *question, excerpts[question], tuple(sorted(places.values(), key=lambda p: (order[p.arm], p.run)))
            )
            for question, places in sorted(found.items())
        ]

    @property
    def asked_about(self) -> set[str]:
        """The titles of the documents."""
        return self._asked_about if self.entries else set()

    @cached_property
    def arms(self) -> list[str]:
        """Keys of the arms that have answered, in the report's order."""
        seen = dict.fromkeys(place.arm for entry in self.entries for place in entry.answers)
        return [arm for arm in dict.fromkeys((*self.titles, *seen)) if arm in seen]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[tuple[QuestionEntry, list[Result]]]:
        """Yield every question with its answers, one question at a time."""
        return ((entry, self.read_answers(entry)) for entry in self.entries)

    def read_answers(self, entry: QuestionEntry) -> list[Result]:
        """Return the answers to one question, arm by arm and run by run; never empty."""
        return [Result.from_dict(self._results.read_at(answer.place)) for answer in entry.answers]

    def answered_by(self, result: Result) -> str:
        """Return 'Full text', or 'Full text, run 2'."""
        title = self.titles.get(result.arm, result.arm)
        return f"{title}, run {result.run}" if result.run > 1 else title

    def page_words(self, result: Result) -> list[int]:
        """Return the words of each page of the reading that was asked; none where it is not stored."""
        lines = JsonLines(self.folder / "documents.jsonl", repair=False)
        read = (line for line in lines if (line["document"], line["plan"]) == (result.document, result.plan))
        return next((list(map(int, line["page_words"])) for line in read if "page_words" in line), [])

    def read_replay(self, result: Result) -> list[dict[str, Any]]:
        """Return the stored events of an answer that was not right; none where they are missing."""
        if result.replay is None:
            return []
        try:
            line = self._replays.read_at(result.replay)
        except (DatasetError, OSError):
            return []
        return list(line.get("events", [])) if line.get("key") == list(result.key) else []


# --- an answer in words -----------------------------------------------------------------------------------


def is_right(result: Result) -> bool | None:
    """Return whether it is right (a free-form answer: rated exact); None for one that no rater has judged."""
    if result.correct is None and not result.rating and not result.error:
        return None
    return result.right


def verdict(result: Result) -> str:
    """Return 'right', 'not right', 'named no option' or 'no answer'; 'agrees in part' or 'not judged' if free-form."""
    if result.error:
        return "no answer"
    if result.rating:
        return _RATING_WORDS[result.rating]
    if result.options and result.option is None:
        return "named no option"
    return {True: "right", False: "not right", None: "not judged"}[is_right(result)]


def verdict_sign(result: Result) -> tuple[str, str]:
    """Return a sign for the verdict, and its kind: 'good', 'bad' or 'none'."""
    return {True: ("✓", "good"), False: ("✗", "bad"), None: ("–", "none")}[is_right(result)]


def chosen_option(result: Result) -> str:
    """Return '(B) a bell'; '' where no option was named."""
    return "" if result.option is None else lettered_option(result, result.option)


def shown_answer(result: Result) -> tuple[str, str]:
    """Return what was answered and its evidence, without signs of emphasis, and without the option, shown apart."""
    text, evidence = split_evidence(result.answer)
    text = text if result.option is None else without_option(text)
    return without_emphasis(text, "markdown"), _QUOTED.sub(r"“\1”", without_emphasis(evidence, "markdown"))


def lettered_option(result: Result, option: int) -> str:
    """Return '(B) a bell'."""
    return f"({LETTERS[option]}) {result.options[option]}"


def known_answers(result: Result) -> list[str]:
    """Return the right option, or the references of a free-form question."""
    return (
        [lettered_option(result, result.gold)]
        if result.gold is not None and result.options
        else list(result.references)
    )


def describe_event(event: Mapping[str, Any], result: Result) -> str:
    """Return a stored event in words: 'Looked up pages 3, 7', 'Looked for “lamp”: page 3', a note; '' for others, and
    for a look-up that ``describe_figures`` has in the same words.
    """
    if event["kind"] == "LookedUp":
        said = _looked_up(event["pages"]) + "".join(f"; not opened: {text}" for text in event.get("refused", ()))
        return "" if said == _looked_up(result.looked_up) else said
    if event["kind"] == "Searched":
        words = ", ".join(f"“{word}”" for word in event["words"])
        return f"Looked for {words}: {_name_pages(event['pages']) or 'found nowhere'}"
    return str(event["text"]) if event["kind"] == "Noted" else ""


def _looked_up(pages: Sequence[int]) -> str:
    return f"Looked up {_name_pages(pages)}" if pages else "No page looked up"


def _name_pages(pages: Sequence[int]) -> str:
    """Return 'pages 3, 7'; '' for none."""
    return f"page{'s' * (len(pages) > 1)} {', '.join(map(str, pages))}" if pages else ""


def describe_figures(result: Result) -> str:
    """Return one line of figures: pages looked up, words in context, ROUGE-L."""
    found = [_looked_up(result.looked_up), f"{result.memory_words:,} of {result.document_words:,} words in context"]
    if result.rouge:
        found.append(f"ROUGE-L {100 * result.rouge['rougeL']:.1f}")
    return " · ".join(found)
