"""Questions to check oneself after a chapter, made from its gists and notes, each with the page that answers it.

A question is kept only where the page that it names has the words of its answer, and was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from readagent_core import prompts
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.jobs import Job
from readagent_core.library import Library
from readagent_core.library.records import Gisting
from readagent_core.memory import GistMemory
from readagent_core.models.cost.meter import Metered
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags, page_tag
from readagent_core.words import terms
from readagent_core.workspace import Workspace
from readagent_core.world.as_of import World
from readagent_core.world.storage import load_world
from readagent_core.world.telling import said

QUESTIONS = 4
KIND = "study"  # of artifact
_REPLY_WORDS = 200
_SHARE = 0.5  # of the words of an answer that its page has at least
_LINE = re.compile(
    r"^(?:\W*\d{1,2}[.)])?\W*(?P<question>[^|｜]{5,300}[?？])\s*[|｜]\s*(?P<answer>[^|｜]{1,300}?)\s*[|｜]\D*(?P<page>\d+)\D*$"
)


@dataclass(frozen=True)
class StudyQuestion:
    """A question, its answer, and the page that has it."""

    question: str
    answer: str
    page: int


def chapter_pages(memory: GistMemory, page: int) -> tuple[int, ...]:
    """Return the numbers of the pages that begin in the section of ``page``; all pages where there are no sections."""
    section = memory.section_of(page)
    return tuple(p.number for p in memory.pages if memory.section_of(p.number) == section)


def study_prompt(world: World, pages: tuple[int, ...]) -> Prompt:
    """Return the prompt that asks for questions about ``pages``: their gists and notes, and no other page's."""
    memory = world.memory
    lines = [line for entity in world.as_of(pages[-1]).entities for line in entity.lines if line.page in pages]
    parts: list[str] = []
    for number in pages:
        gist = memory.gists[number - 1]
        told = [f"- {line.name}: {said(line)}" for line in lines if line.page == number]
        parts.append("\n".join([page_tag(number), escape_tags(gist.text if gist else ""), *map(escape_tags, told)]))
    return prompts.render(
        "study",
        memory.document.language,
        reply_words=_REPLY_WORDS,
        title=escape_tags(memory.document.title),
        memory="\n\n".join(parts),
        count=str(QUESTIONS),
        example=prompts.example_numbers(len(memory.pages)),
    )


def parse_study(memory: GistMemory, pages: tuple[int, ...], reply: str) -> tuple[StudyQuestion, ...]:
    """Return the questions in ``reply`` whose page is one of ``pages`` and has the words of the answer."""
    return tuple(_questions(memory, pages, remove_thinking(reply)))[:QUESTIONS]


def _questions(memory: GistMemory, pages: tuple[int, ...], reply: str) -> Iterator[StudyQuestion]:
    for line in reply.splitlines():
        found = _LINE.match(line)
        page, answer = (int(found.group("page")), found.group("answer")) if found else (0, "")
        if found and page in pages and has_answer(memory, page, answer):
            yield StudyQuestion(found.group("question").strip(), answer, page)


def has_answer(memory: GistMemory, page: int, answer: str) -> bool:
    """Whether a page has half of the words of an answer, short words not counted, and all its numbers."""
    there = set(terms(memory.page_text(page)))
    words = [word for word in terms(answer) if len(word) > 3 or not word.isascii()] or terms(answer)
    numbers = [word for word in terms(answer) if word.isdigit()]
    return bool(words) and set(numbers) <= there and sum(word in there for word in words) >= _SHARE * len(words)


def _key(gisting: Gisting, pages: tuple[int, ...], model: str) -> str:
    return f"{gisting.id} {pages[0]}-{pages[-1]} {model}"


def load_study(
    library: Library, gisting_id: int, pages: tuple[int, ...], model: str
) -> tuple[StudyQuestion, ...] | None:
    """Return the questions about ``pages`` that ``model`` made before; None where there are none."""
    gisting = library.gisting(gisting_id)
    rows = library.artifacts(gisting.document_id).load(KIND, _key(gisting, pages, model))
    return None if rows is None else tuple(StudyQuestion(**row) for row in rows)


def start_study(workspace: Workspace, gisting_id: int, page: int, *, read_to: int) -> Job:
    """Start to make questions about the chapter of ``page``, as far as page ``read_to``; the job ends with them.

    They are stored. Raises SettingsError without a language model, NotInLibraryError where no page was read.
    """
    model, library = workspace.model, workspace.library
    if not model.is_language_model:
        raise SettingsError("Questions are made by a language model. Connect one in Settings.")
    gisting, world = library.gisting(gisting_id), load_world(library, gisting_id)
    chapter = chapter_pages(world.memory, page)
    pages = tuple(n for n in chapter if n <= read_to and world.memory.gists[n - 1] is not None)
    if not pages:
        raise NotInLibraryError("No page of this chapter was read yet.")

    def work(job: Job) -> tuple[StudyQuestion, ...]:
        reply = Metered(model).complete(study_prompt(world, pages), job).text
        made = parse_study(world.memory, pages, reply)
        if made:
            store = library.artifacts(gisting.document_id)
            store.save(KIND, _key(gisting, pages, model.name), [asdict(question) for question in made])
        return made

    return workspace.jobs.start(f"study {gisting_id} {pages[0]}", work, subject=gisting_id)
