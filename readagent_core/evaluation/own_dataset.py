"""Own questions as a dataset of an experiment, and where their answers are in the book.

The book's text is stored beside the questions as the library has it, so that its pages are those of the library.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from readagent_core.citations.quotation_search import normalise_words
from readagent_core.document import Document
from readagent_core.errors import DatasetError
from readagent_core.evaluation.question_files import problem_of
from readagent_core.gisting.job import default_plan
from readagent_core.library.own_questions import OwnQuestion
from readagent_core.library.records import Book
from readagent_core.memory import GistMemory
from readagent_core.quick_json import to_json
from readagent_core.text_files import slug
from readagent_core.words import is_unspaced
from readagent_core.workspace import Workspace

_MOST_NAMED = 3  # pages


def write_dataset(workspace: Workspace, book: Book, questions: Sequence[OwnQuestion]) -> Path | None:
    """Write the whole questions and the book's text and return the dataset's file; None where no question is whole.

    The same questions about the same text are the same file. Raises DatasetError where it cannot be written.
    """
    rows = [_row(question) for question in questions if question and not problem_of(question)]
    if not rows:
        return None
    preset = default_plan(book.words).preset
    data = to_json({"title": book.title, "preset": preset, "document": "text.document.json", "questions": rows})
    digest = hashlib.sha256(data + book.document_id.encode()).hexdigest()[:12]
    folder = workspace.home / "evaluations" / "data" / digest
    path = folder / f"{slug(book.title)}.questions.json"
    if not path.is_file():
        document = workspace.library.document(book.id)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (folder / "text.document.json").write_bytes(to_json(document.to_dict()))
            path.write_bytes(data)  # last, because it says that both are there
        except OSError as error:
            raise DatasetError(f"The questions cannot be stored ({error.strerror}). Make room and try again.") from None
    return path


def _row(question: OwnQuestion) -> dict[str, object]:
    if not question.wrong:
        return {"question": question.question, "references": question.answer.split("\n")}
    # by hash, so that the right answer is not always the first and every run shows the same order
    options = sorted(
        (question.answer, *question.wrong), key=lambda o: hashlib.sha256(f"{question.question} {o}".encode()).digest()
    )
    return {"question": question.question, "options": options, "answer": options.index(question.answer)}


@dataclass(frozen=True)
class BookText:
    """A book's text for looking answers up in it: each page of its newest gisting; without one, each section.

    ``parts``: number of the page or title of the section, and its words. ``paged``: whether they are pages.
    """

    parts: tuple[tuple[str, str], ...]
    paged: bool

    def find(self, answer: str) -> str:
        """Return where the answer's words are: 'page 5', 'pages 5, 8 and 4 more'; '' where they are not."""
        sought = [words for line in answer.split("\n") if (words := normalise_words(line))]
        found = [name for name, text in self.parts if any(_has_words(text, words) for words in sought)]
        if not found:
            return ""
        if not self.paged:
            return f"in “{found[0]}”" if len(found) == 1 else f"in “{found[0]}” and {len(found) - 1:,} more"
        more = len(found) - _MOST_NAMED
        listed = ", ".join(found[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        return f"page{'s' * (len(found) > 1)} {listed}"

    def doubt(self, page: str) -> str:
        """Return why what a person wrote down as the page cannot be one; '' where it can."""
        numbers, last = [int(digits) for digits in re.findall(r"\d{1,9}", page)], len(self.parts)
        if not page or not self.paged or (numbers and all(1 <= number <= last for number in numbers)):
            return ""
        return f"“{page}” is no page of this book: they are 1 to {last:,}."


def book_text(document: Document, memory: GistMemory | None) -> BookText:
    """Return the text of a book to look answers up in. ``memory``: its newest gisting, whose pages are named."""
    if memory is not None:
        document = memory.document
        parts = [(str(page.number), page.start, page.end) for page in memory.pages]
    else:
        starts = [(document.title, 0), *((section.title, section.start) for section in document.sections)]
        ends = [*(start for _, start in starts[1:]), len(document.paragraphs)]
        parts = [(title or "the text", start, end) for (title, start), end in zip(starts, ends, strict=True)]
    words = [normalise_words(" ".join(p.text for p in document.paragraphs[start:end])) for _, start, end in parts]
    named = tuple((name, text) for (name, _, _), text in zip(parts, words, strict=True))
    return BookText(named, paged=memory is not None)


def _has_words(text: str, words: str) -> bool:
    return words in text if is_unspaced(words) else f" {words} " in f" {text} "
