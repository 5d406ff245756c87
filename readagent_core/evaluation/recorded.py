"""The recorded experiments of the bundled samples: true answers of a model, to look at without one.

A recording is a folder ``assets/samples/NAME.experiment`` as any experiment's; bench/record_experiment.py makes it. Its
record has the date under 'recorded'. The same answers, one question at a time, make recorded comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from readagent_core import loaders
from readagent_core.answering.base import Answer, Question
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.rebuilding import rebuild
from readagent_core.answering.registry import method
from readagent_core.comparing.comparison import ComparedAnswer, Comparison, EntryState
from readagent_core.document import Document
from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import recorded_arms
from readagent_core.evaluation.experiment import read_record
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.results import JsonLines, Result
from readagent_core.evaluation.starting import StoredExperiment
from readagent_core.incoming.samples import FOLDER, NAMES, read_recording, recorded_memory
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory, Page
from readagent_core.model_names import short_name
from readagent_core.plan import GistingPlan


def recorded_experiment(name: str = "") -> StoredExperiment | None:
    """Return the recorded experiment of sample ``name``, by default of the first that has one; None without one."""
    for sample in [name] if name else NAMES:
        folder = FOLDER / f"{sample}.experiment"
        record = read_record(folder)
        if record is not None:
            return StoredExperiment(folder, record)
    return None


@dataclass(frozen=True)
class RecordedComparisons:
    """The questions of a book's recorded experiment, each to be shown as a comparison."""

    folder: Path
    record: Mapping[str, Any]
    document: Document
    questions: Questions

    @property
    def texts(self) -> list[str]:
        return [entry.excerpt for entry in self.questions.entries]

    @property
    def memory(self) -> GistMemory:
        """The pages of the recorded reading, which is not the book's own, without gists."""
        return memory_of_pages(self.document, self._page_words)

    @property
    def _page_words(self) -> list[int]:
        lines = JsonLines(self.folder / "documents.jsonl", repair=False)
        return next(list(map(int, line["page_words"])) for line in lines if "page_words" in line)

    def comparison(self, number: int) -> Comparison:
        """Return the answers to question ``number``, from 0, as a comparison."""
        answers = self.questions.read_answers(self.questions.entries[number])
        asked, pages = answers[0], self._page_words
        arms = {arm.key: arm for arm in recorded_arms(self.record)}
        return Comparison(
            title=self.document.title,
            language=self.document.language,
            question=asked.question,
            options=asked.options,
            correct=asked.gold,
            words=self.document.words,
            pages=tuple(pages),
            model=short_name(str(self.record["model"]["name"])),
            asked=datetime.fromisoformat(str(self.record["started"])).timestamp(),
            entries=tuple(_entry(answer, arms[answer.arm].method, len(pages)) for answer in answers),
            references=asked.references if not asked.options else (),
            recorded=str(self.record["recorded"]),
        )


def memory_of_pages(document: Document, page_words: Sequence[int]) -> GistMemory:
    """Return a document in pages of so many words each, without gists."""
    words = list(accumulate((p.words for p in document.paragraphs), initial=0))
    starts = [words.index(before) for before in accumulate(page_words[:-1], initial=0)]
    ends = pairwise([*starts, len(document.paragraphs)])
    pages = tuple(
        Page(number, start, end, count)
        for number, ((start, end), count) in enumerate(zip(ends, page_words, strict=True), start=1)
    )
    return GistMemory(document, GistingPlan.from_preset("article"), pages, (None,) * len(pages))


def recorded_comparisons(book: Book, document: Document) -> RecordedComparisons | None:
    """Return the recorded comparisons of a bundled sample; None for a book without any."""
    found = recorded_experiment(book.source_name.removesuffix(".md")) if book.sample else None
    if found is None:
        return None
    questions = Questions.of(found.folder, found.record)
    first = questions.read_answers(questions.entries[0])[0]
    if first.document != document.id:
        raise DatasetError(f"The recording does not fit the text of {book.title}. Install the samples again.")
    return RecordedComparisons(found.folder, found.record, document, questions)


def _entry(answer: Result, name: str, pages: int) -> ComparedAnswer:
    # a reply that the cache gave when it was recorded is counted as sent: a call for each look-up, and for the answer
    sent = replace(answer.usage, calls=answer.steps + 1, words_in=answer.words, words_out=answer.words_out)
    return ComparedAnswer(
        method=name,
        state=EntryState.DONE,
        text=answer.answer,
        answer=Answer(
            text=answer.answer,
            method=name,
            option=answer.option,
            looked_up=answer.looked_up,
            seen=pages_seen(name, answer.looked_up, pages),
            memory_words=answer.memory_words,
            compression_rate=answer.compression_rate,
            notes=answer.notes,
            steps=answer.steps,
            usage=sent,
        ),
        calls=sent.calls,
        rouge=answer.rouge,
    )


def pages_seen(name: str, looked_up: Sequence[int], pages: int) -> dict[int, str]:
    """Return what a method's last prompt held of each page: those looked up in full, the others as gists or not."""
    if name == "full-text":
        return dict.fromkeys(range(1, pages + 1), "full")
    rest = dict.fromkeys(range(1, pages + 1), "gist") if method(name).needs_gists else {}
    return {**rest, **dict.fromkeys(looked_up, "full")}


def rebuilt_replay(folder: Path, record: Mapping[str, Any], result: Result) -> list[dict[str, Any]]:
    """Return the events of an answer of a recorded experiment with its prompts rebuilt, as they are stored.

    The replies that named pages were not recorded: of them there are the pages. [] where that cannot be done.
    """
    name = folder.name.removesuffix(".experiment")
    if not record.get("recorded") or name not in NAMES:
        return []
    memory = _memory(name)
    arm = next((arm for arm in recorded_arms(record) if arm.key == result.arm), None)
    if arm is None or memory.document.id != result.document:
        return []
    answer = Answer(text=result.answer, method=arm.method, looked_up=result.looked_up)
    question = Question(result.question, result.options)
    return [event_to_dict(event) for event in rebuild(question, memory, answer, arm.settings)]


@lru_cache(maxsize=len(NAMES))
def _memory(name: str) -> GistMemory:
    """The recorded memory of a sample."""
    document = loaders.load((FOLDER / f"{name}.md").read_bytes(), f"{name}.md")
    return recorded_memory(document, read_recording(name))
