"""An experiment question by question, in the dataset's order: what was asked, each answer, and its replay.

Keeps where each answer stands in results.jsonl, and of its text only the question's first words: an answer is read
when it is looked at. So thousands of questions can be walked through in little memory, also while the experiment
runs; what comes in after the first look is not seen. The screen and every report file walk this way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.results import Lines, Result
from readagent_core.methods.base import LETTERS
from readagent_core.words import collapse_whitespace

_FIRST_WORDS = 160  # characters of a question kept for lists
_RATED = {"exact": "agrees", "partial": "agrees in part", "wrong": "does not agree"}


class Spot(NamedTuple):
    """Where an answer stands. ``place``: byte offset in results.jsonl. ``right``: None where nothing judges it."""

    place: int
    arm: str
    run: int
    right: bool | None


@dataclass(frozen=True)
class Entry:
    """One question by its place in the dataset, with the spots of its answers, arm by arm and run by run."""

    case: int
    item: int
    begins: str
    spots: tuple[Spot, ...]

    @property
    def wrong(self) -> bool:
        """Whether at least one answer is not right."""
        return any(spot.right is False for spot in self.spots)

    @property
    def differ(self) -> bool:
        """Whether some answers are right and others not."""
        return self.wrong and any(spot.right for spot in self.spots)

    @property
    def marks(self) -> str:
        """'3 of 8 right'; '8 answers, not judged' where there is nothing to judge by."""
        judged = [spot.right for spot in self.spots if spot.right is not None]
        if judged:
            return f"{sum(judged)} of {len(judged)} right"
        return f"{len(self.spots)} answer{'' if len(self.spots) == 1 else 's'}, not judged"


class Questions:
    """The questions of an experiment's folder that have an answer. ``titles``: of the arms, in the report's order.

    The first look raises DatasetError for a damaged line; a last line that is still being written is left out.
    """

    def __init__(self, folder: Path, titles: Mapping[str, str]) -> None:
        self.folder, self.titles = folder, dict(titles)
        self._results = Lines(folder / "results.jsonl", mend=False)
        self._replays = Lines(folder / "replays.jsonl", mend=False)

    @classmethod
    def of(cls, folder: Path, record: Mapping[str, Any]) -> Questions:
        """Those of the experiment with this record."""
        return cls(folder, titles(record))

    @cached_property
    def entries(self) -> list[Entry]:
        """All questions in the dataset's order; found when they are first asked for."""
        begins: dict[tuple[int, int], str] = {}
        found: dict[tuple[int, int], dict[tuple[str, int], Spot]] = {}
        names = {key: key for key in self.titles}  # one string an arm, not one an answer
        for place, line in self._results.placed():
            result = Result.from_dict(line)
            question = (result.case, result.item)
            begins.setdefault(question, collapse_whitespace(result.question[: 2 * _FIRST_WORDS])[:_FIRST_WORDS])
            arm = names.setdefault(result.arm, result.arm)
            found.setdefault(question, {})[(arm, result.run)] = Spot(place, arm, result.run, judged(result))
        order = {arm: at for at, arm in enumerate(names)}
        return [
            Entry(*question, begins[question], tuple(sorted(spots.values(), key=lambda s: (order[s.arm], s.run))))
            for question, spots in sorted(found.items())
        ]

    @cached_property
    def arms(self) -> list[str]:
        """Keys of the arms that have answered, in the report's order."""
        seen = dict.fromkeys(spot.arm for entry in self.entries for spot in entry.spots)
        return [arm for arm in dict.fromkeys((*self.titles, *seen)) if arm in seen]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[tuple[Entry, list[Result]]]:
        """Every question with its answers, one question at a time."""
        return ((entry, self.answers(entry)) for entry in self.entries)

    def answers(self, entry: Entry) -> list[Result]:
        """The answers to one question, in the order of its spots; never empty."""
        return [Result.from_dict(self._results.at(spot.place)) for spot in entry.spots]

    def who(self, result: Result) -> str:
        """'Full text', 'Full text, run 2'."""
        title = self.titles.get(result.arm, result.arm)
        return f"{title}, run {result.run}" if result.run > 1 else title

    def replay(self, result: Result) -> list[dict[str, Any]]:
        """The kept events of an answer that was not right; none where they are not there (any more, or yet)."""
        if result.replay is None:
            return []
        try:
            kept = self._replays.at(result.replay)
        except (DatasetError, OSError):
            return []
        return list(kept.get("events", [])) if kept.get("key") == list(result.key) else []

    def size(self) -> int:
        """Bytes of results and replays on disk."""
        files = (self._results.path, self._replays.path)
        return sum(path.stat().st_size for path in files if path.is_file())


def titles(record: Mapping[str, Any]) -> dict[str, str]:
    """Arm key → title, in the record's order; arms that differ in their look-ups alone are told apart by them."""
    arms = [Arm.from_dict(a) for a in record["experiment"]["arms"]]
    times = Counter(arm.title for arm in arms)
    return {
        arm.key: arm.title if times[arm.title] == 1 else f"{arm.title}, look-ups: {arm.settings.look_ups}"
        for arm in arms
    }


# --- what is said of an answer ----------------------------------------------------------------------------


def judged(result: Result) -> bool | None:
    """Whether it is right (a free-form answer: rated exact); None for one that no rater has judged."""
    if result.correct is None and not result.rating and not result.error:
        return None
    return result.right


def verdict(result: Result) -> str:
    """'right', 'not right', 'named no option', 'no answer'; for free-form answers 'agrees in part' or 'not judged'."""
    if result.error:
        return "no answer"
    if result.rating:
        return _RATED[result.rating]
    if result.options and result.option is None:
        return "named no option"
    return {True: "right", False: "not right", None: "not judged"}[judged(result)]


def sign(result: Result) -> tuple[str, str]:
    """A sign for the verdict, and its kind: 'good', 'bad' or 'none'."""
    return {True: ("✓", "good"), False: ("✗", "bad"), None: ("–", "none")}[judged(result)]


def chosen(result: Result) -> str:
    """'(B) a bell'; '' where no option was named."""
    return "" if result.option is None else lettered(result, result.option)


def lettered(result: Result, option: int) -> str:
    """'(B) a bell'."""
    return f"({LETTERS[option]}) {result.options[option]}"


def known_answers(result: Result) -> list[str]:
    """The right option, or the references of a free-form question."""
    return [lettered(result, result.gold)] if result.gold is not None and result.options else list(result.references)


def looked_up(pages: Sequence[int]) -> str:
    """'Looked up pages 3, 7'."""
    if not pages:
        return "No page looked up"
    return f"Looked up {'page' if len(pages) == 1 else 'pages'} {', '.join(map(str, pages))}"


def figures(result: Result) -> str:
    """One line of figures: pages looked up, words in context, ROUGE-L."""
    found = [looked_up(result.looked_up), f"{result.memory_words:,} of {result.document_words:,} words in context"]
    if result.rouge:
        found.append(f"ROUGE-L {100 * result.rouge['rougeL']:.1f}")
    return " · ".join(found)
