"""A recap of what a person has read of a book: what happened so far, and what came just before the place they reached.

It is made from the gists of the pages read, with the last words read in full. Everything comes from a memory that ends
at the place, so that no later text can enter a prompt. What was made is stored by reading, pages and model, so that it
costs nothing to see it again. ``cast`` makes the list of people in the same way.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from readagent_core import prompts
from readagent_core.answering.asking import AskProgress
from readagent_core.answering.base import Answer, Answered, AnswerPart, AskSettings, Event, Question, answer_from_dict
from readagent_core.answering.resources import workspace_resources
from readagent_core.answering.run import Run
from readagent_core.answering.signature import Signature, sign
from readagent_core.answering.word_budget import retry_within_window
from readagent_core.citations import parse
from readagent_core.companion.place import ReadingPlace, made_from, place_of
from readagent_core.errors import NotInLibraryError
from readagent_core.jobs import Job
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import about_money
from readagent_core.models.cost.tokens import tokens_of_words
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, count_of, count_words, sentences
from readagent_core.workspace import Workspace

RECAP, WHO_IS_WHO = "recap", "who_is_who"  # the templates, and the kinds of artifact
REPLY_WORDS = {RECAP: 300, WHO_IS_WHO: 600}
MOST_PEOPLE = 12
NOTHING_READ = "Nothing counts as read yet. Read a page, or press “You” below the text to set how far you have read."
NO_GISTS = "None of the pages that you have read has a gist yet. Make gists, then ask again."
_QUOTES = '“”„«»「」『』"'
_EMPHASIS = re.compile(r"\*{1,2}([^*\n]+)\*{1,2}")
_PAGES_BY_RULE = 6  # whose gists the built-in reader takes a sentence of
_BEFORE = re.compile(r"^[\s>#*_【\[]*(?:just before|直前)[\s】\]*_]*[:：]?[*_]*[ \t]*", re.IGNORECASE | re.MULTILINE)
_SO_FAR = re.compile(r"^[\s>#*_【\[]*(?:so far|ここまで)[\s】\]*_]*[:：]?[*_]*[ \t]*", re.IGNORECASE | re.MULTILINE)

BUILT_IN = {
    RECAP: "Built-in reader: the first sentences of the gists; nothing was understood",
    WHO_IS_WHO: "Built-in reader: names, guessed from capital letters; nothing was understood",
}


@dataclass(frozen=True)
class Made:
    """A finished recap or list of people. ``model`` and ``where``: who made it; ``made``: when, in seconds.

    ``task``: ``RECAP`` or ``WHO_IS_WHO``. ``paragraphs``: how many of the whole document were read then. The first of
    the answer's notes says what it was made from.
    """

    task: str
    answer: Answer
    model: str
    where: str
    made: float
    paragraphs: int

    @property
    def signature(self) -> Signature:
        return sign(self.model, self.where, "", built_in=BUILT_IN[self.task])


# --- making it ------------------------------------------------------------------------------------------


def recap(workspace: Workspace, book_id: str, *, gisting_id: int, use_cache: bool = True) -> Job:
    """Start to make a recap; the job publishes ``AskProgress`` and ends with ``Made``, which is stored.

    ``use_cache`` False: ask the model even what it was asked before. Raises NotInLibraryError where nothing is read, or
    no page of it has a gist.
    """
    return start(workspace, book_id, RECAP, gisting_id=gisting_id, use_cache=use_cache)


def start(workspace: Workspace, book_id: str, task: str, *, gisting_id: int, use_cache: bool = True) -> Job:
    """The job of ``recap`` for a template ``task``. The built-in reader makes recaps only."""
    library = workspace.library
    gisting = library.gisting(gisting_id)
    if gisting.book_id != book_id:
        raise NotInLibraryError("These gists belong to another book.")
    place = place_of(workspace, gisting)
    if not place.paragraphs:
        raise NotInLibraryError(NOTHING_READ)
    if not place.covered:
        raise NotInLibraryError(NO_GISTS)
    model = workspace.model if use_cache else workspace.model.without_cache()
    resources = workspace_resources(workspace, gisting.document_id)

    def work(job: Job) -> Made:
        progress = AskProgress()
        answer: Answer | None = None
        memory = place.memory.up_to(place.covered)
        run = Run(task, Question(""), memory, Metered(model), AskSettings(look_ups=0), job, resources)
        for event in _events(run, place):
            if isinstance(event, AnswerPart):
                progress = replace(progress, text=progress.text + event.text)
            else:
                progress = replace(progress, events=(*progress.events, event))
            if isinstance(event, Answered):
                answer = event.answer
            job.publish(value=progress)
            job.check()
        assert answer is not None  # the last event of every run
        made = Made(task, answer, model.name, model.where, time.time(), place.paragraphs)
        library.artifacts(gisting.document_id).save(task, _key(place, task, model), _to_dict(made))
        return made

    return workspace.jobs.start(job_key(place, task), work)


def job_key(place: ReadingPlace, task: str) -> str:
    """The key of the job for this place, by which a screen finds it again."""
    return f"{task} {place.gisting.id} {place.paragraphs}"


def _events(run: Run, place: ReadingPlace) -> Iterator[Event]:
    seen = dict.fromkeys(range(1, place.covered + 1), "gist") | dict.fromkeys(place.recent_pages, "full")
    recent_words = count_words(place.recent)
    yield run.note(made_from(place))
    if not run.model.is_language_model:
        yield run.finish(recap_by_rule(place), memory_words=run.memory.gist_words + recent_words, seen=seen)
        return

    def prompt(run: Run, memory: str) -> Prompt:
        return make_prompt(run.name, place, memory)

    def work(memory: GistMemory, limit: int | None) -> Generator[Event, None, None]:
        asked = prompt(run, memory.text())
        completion = yield from (run.ask(asked) if run.merged_pages else run.stream(asked))
        text = run.restore_page_numbers(remove_thinking(completion.text))
        yield run.finish(
            text, memory_words=memory.gist_words + recent_words, seen=seen, cut_off=completion.finish == "length"
        )

    yield from retry_within_window(run, work, prompt)


def make_prompt(task: str, place: ReadingPlace, memory: str) -> Prompt:
    """The prompt of ``task`` over the text of the gists of the pages read."""
    values = {"title": escape_tags(place.memory.document.title), "memory": memory, "recent": place.recent}
    if task == WHO_IS_WHO:
        values["count"] = str(MOST_PEOPLE)
    return prompts.render(task, place.language, reply_words=REPLY_WORDS[task], **values)


def cost_sentence(model: ChatModel, place: ReadingPlace, task: str) -> str:
    """What it would cost, estimated: '1 call, 2,310 words sent; about $0.01.'; '' where it costs nothing."""
    if not model.is_language_model or (model.price is not None and not model.price.cost(10**6, 10**6)):
        return ""
    sent = make_prompt(task, place, place.memory.up_to(place.covered).gist_text).words
    price = model.price.cost(tokens_of_words(sent), tokens_of_words(REPLY_WORDS[task])) if model.price else None
    cost = "the price is not known" if price is None else about_money(price)
    return f"1 call, {count_of(sent, 'word')} sent; {cost}."


# --- what is stored -------------------------------------------------------------------------------------


def _key(place: ReadingPlace, task: str, model: ChatModel) -> str:
    version = prompts.template_hash(task, place.language)
    gists = place.memory.up_to(place.covered).gist_text
    parts = [place.gisting.id, model.name, model.where, version, place.whole, gists]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def load_made(workspace: Workspace, place: ReadingPlace, task: str) -> Made | None:
    """What the chosen model made before for as many whole pages; None where there is none, or it saw more text."""
    artifacts = workspace.library.artifacts(place.gisting.document_id)
    data = artifacts.load(task, _key(place, task, workspace.model))
    made = Made(**{**data, "answer": answer_from_dict(data["answer"])}) if data else None
    return made if made and made.paragraphs <= place.paragraphs else None


def _to_dict(made: Made) -> dict[str, Any]:
    return {**vars(made), "answer": {**vars(made.answer), "usage": made.answer.usage.to_dict()}}


# --- what a reply says ----------------------------------------------------------------------------------


def parts_of(text: str) -> tuple[str, str]:
    """'So far' and 'just before' of a reply, without their headings; ('', '') of an empty one.

    Without the second heading, the last of several paragraphs is what came just before.
    """
    text = _SO_FAR.sub("", text.strip(), count=1).strip()
    found = _BEFORE.search(text)
    if found:
        return text[: found.start()].strip(), text[found.end() :].strip()
    head, gap, tail = text.rpartition("\n\n")
    return (head.strip(), tail.strip()) if gap else (text, "")


def keep_inside(text: str, pages: Iterable[int]) -> tuple[str, int]:
    """``text`` without the claims that name none of ``pages``, and how many claims that were.

    A claim reaches from one page mark to the next. Of a mark that names pages of both kinds, the others are deleted.
    """
    known = set(pages)
    parsed = parse(text)
    out: list[str] = []
    position = removed = 0
    for mark in parsed.marks:
        words = parsed.body[position : mark.start]
        inside = [n for n in mark.pages if n in known]
        if inside:
            out.append(f"{words}[{', '.join(map(str, inside))}]")
            position = mark.end
        else:
            removed += 1
            out.append(_closing(words))
            position = mark.end + len(_closing(parsed.body[mark.end :]))
    return "".join([*out, parsed.body[position:]]).strip(), removed


def _closing(text: str) -> str:
    """The full stop and white space that end the claim before ``text``."""
    return text[: len(text) - len(text.lstrip(".,;:!?。、！？ \n"))]


# --- without a model ------------------------------------------------------------------------------------


def recap_by_rule(place: ReadingPlace) -> str:
    """The first sentence of the last gists, and the last sentences of the text, each with its page."""
    memory = place.memory
    japanese = prompts.template_language(place.language) == "ja"
    space = "" if japanese else " "
    lines: list[str] = []
    for number in range(max(1, place.covered - _PAGES_BY_RULE + 1), place.covered + 1):
        gist = memory.gists[number - 1]
        found = sentences_of(gist.text, place.language) if gist else []
        if found:
            lines.append(f"{found[0]}{space}[{number}]")
    ending = [s for p in memory.document.paragraphs[-3:] for s in sentences_of(p.text, place.language)][-2:]
    heads = ("ここまで：", "直前：") if japanese else ("So far:", "Just before:")
    before = space.join(f"{quote_sentence(s, place.language)}{space}[{place.page}]" for s in ending)
    return f"{heads[0]}\n{space.join(lines)}\n\n{heads[1]}\n{before}"


def quote_sentence(sentence: str, language: str) -> str:
    """A sentence of the book in quotation marks; as it is where it has some of its own."""
    if sentence.count('"') % 2 or sentence.count("“") != sentence.count("”"):  # it begins or ends within speech
        sentence = "".join(c for c in sentence if c not in _QUOTES)
    if any(mark in sentence for mark in _QUOTES):
        return sentence
    return f"「{sentence}」" if prompts.template_language(language) == "ja" else f"“{sentence}”"


def sentences_of(text: str, language: str) -> list[str]:
    """The sentences of ``text`` on one line each, without headings, ornaments and marks of *emphasis*."""
    text = _EMPHASIS.sub(r"\1", text)
    found = (collapse_whitespace(s) for s in sentences(text, language) if not s.lstrip().startswith("#"))
    return [s for s in found if any(c.isalnum() for c in s)]
