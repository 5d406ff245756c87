"""Explain, define or translate words that a person selected: one short question to the model, about the passage and the
text around it. Text past the spoiler limit is never sent. Without a language model a definition is the list of the
places where the words occur in the book (``other_places``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from readagent_core import prompts
from readagent_core.document import Document
from readagent_core.errors import MissingError, SettingsError
from readagent_core.jobs import Job
from readagent_core.library.marks import Spot
from readagent_core.models.base import Completion
from readagent_core.models.cost.meter import Metered
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.usage import Usage
from readagent_core.words import is_unspaced
from readagent_core.workspace import Workspace

EXPLAIN, DEFINE, TRANSLATE = TASKS = ("explain", "define", "translate")  # the templates
MOST_CHARACTERS = 6_000  # of a passage
BEFORE, AFTER = 1_500, 700  # characters around it
REPLY_WORDS = 150
PROMPT_WORDS = 900  # of a usual question about a passage
AROUND = 50  # characters on each side of a place where the words occur


@dataclass(frozen=True)
class Passage:
    """The words of ``document`` between two spots. ``allowed``: as many paragraphs may be seen; None: all of them."""

    document: Document
    start: Spot
    end: Spot
    allowed: int | None = None

    @property
    def words(self) -> str:
        return "\n\n".join(self._parts(self.start, self.end))

    @property
    def before(self) -> str:
        """The text before the passage, at most ``BEFORE`` characters, without paragraphs that may not be seen."""
        text = "\n\n".join(self._parts(Spot(max(0, self.start.paragraph - 30), 0), self.start, self.allowed))
        return text if len(text) <= BEFORE else "… " + text[-BEFORE:].split(" ", 1)[-1]

    @property
    def after(self) -> str:
        """The text after the passage, at most ``AFTER`` characters, without paragraphs that may not be seen."""
        last = min(len(self.document.paragraphs) - 1, self.end.paragraph + 30)
        end = Spot(last, len(self.document.paragraphs[last].text))
        text = "\n\n".join(self._parts(self.end, end, self.allowed))
        return text if len(text) <= AFTER else text[:AFTER].rsplit(" ", 1)[0] + " …"

    def _parts(self, start: Spot, end: Spot, allowed: int | None = None) -> Iterator[str]:
        """The text between two spots, a string for each paragraph before number ``allowed``."""
        stop = min(end.paragraph + 1, len(self.document.paragraphs) if allowed is None else allowed)
        for index in range(start.paragraph, stop):
            text = self.document.paragraphs[index].text
            first = start.offset if index == start.paragraph else 0
            last = end.offset if index == end.paragraph else len(text)
            if part := text[first:last].strip():
                yield part


@dataclass(frozen=True)
class PassageReply:
    """The reply about a passage so far, and at the end what it cost. ``model`` and ``where``: who wrote it."""

    text: str
    model: str
    where: str
    usage: Usage = field(default_factory=Usage)


def make_prompt(task: str, passage: Passage, *, into: str = "English") -> Prompt:
    """The prompt of ``task``. ``into``: the English name of the language to translate into."""
    values = {
        "title": escape_tags(passage.document.title),
        "before": escape_tags(passage.before) or "-",
        "passage": escape_tags(passage.words),
        "after": escape_tags(passage.after) or "-",
    }
    if task == TRANSLATE:
        values["into"] = into
    reply_words = REPLY_WORDS if task != TRANSLATE else 100 + len(passage.words) // 3
    return prompts.render(task, passage.document.language, reply_words=reply_words, **values)


def ask_about(workspace: Workspace, key: str, task: str, passage: Passage, *, into: str, again: bool = False) -> Job:
    """Start to ask; the job of this key publishes ``PassageReply`` and ends with it.

    ``again``: do not take a stored reply. Raises SettingsError for an empty or a very long passage, and where no
    language model is connected.
    """
    model = workspace.model.without_cache() if again else workspace.model
    words = passage.words
    if not words:
        raise MissingError("Select some words first.")
    if len(words) > MOST_CHARACTERS:
        raise SettingsError(f"This is too long. Select at most {MOST_CHARACTERS:,} characters.")
    if not model.is_language_model:
        raise SettingsError("This needs a language model. Connect one in Settings.")
    prompt = make_prompt(task, passage, into=into)

    def work(job: Job) -> PassageReply:
        metered, text = Metered(model), ""
        for part in metered.stream(prompt, job):
            job.check()
            text = part.text if isinstance(part, Completion) else text + part
            job.publish(value=PassageReply(remove_thinking(text).strip(), model.name, model.where))
        return PassageReply(remove_thinking(text).strip(), model.name, model.where, metered.usage)

    return workspace.jobs.start(key, work)


@dataclass(frozen=True)
class PassagePlace:
    """A place where words occur: ``start`` and ``end`` are offsets in the paragraph."""

    paragraph: int
    start: int
    end: int


def other_places(passage: Passage, *, most: int, on_screen: range = range(0)) -> tuple[list[PassagePlace], int]:
    """Where else the words of a passage occur in what may be seen: the first ``most`` places, and how many more.

    ``on_screen``: paragraphs that the person has before them, which may be seen whatever the limit.
    Case does not matter; words are compared whole where the script has spaces.
    """
    words = passage.words.split()
    if not words or len(passage.words) > MOST_CHARACTERS:
        return [], 0
    edge = "" if is_unspaced(passage.words) else r"\b"
    left, right = (edge if words[0][0].isalnum() else ""), (edge if words[-1][-1].isalnum() else "")
    pattern = re.compile(left + r"\s+".join(map(re.escape, words)) + right, re.IGNORECASE)

    def found() -> Iterator[PassagePlace]:
        for index, paragraph in enumerate(passage.document.paragraphs):
            if passage.allowed is not None and index >= passage.allowed and index not in on_screen:
                continue
            for match in pattern.finditer(paragraph.text):
                there = Spot(index, match.start())
                if not passage.start <= there < passage.end:
                    yield PassagePlace(index, *match.span())

    places = found()
    first = list(islice(places, most))
    return first, sum(1 for _ in places)
