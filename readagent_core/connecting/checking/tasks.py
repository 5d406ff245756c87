"""The prompts that gisting and every method send about the test's text, and whether a reply to one can be used.

The prompts are recorded while the built-in reader reads and answers, and replies are read by the parsers of the engine,
so a model is tested on exactly what it will be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from readagent_core.answering.base import LETTERS, AskSettings, Question
from readagent_core.answering.explore_replies import parse_request
from readagent_core.answering.look_up_replies import parse_look_up, to_plain_text
from readagent_core.answering.recall_replies import Find, pages_named, parse_recall
from readagent_core.answering.registry import all_methods, method
from readagent_core.answering.response import chosen_option, declines
from readagent_core.cancel import CancelToken
from readagent_core.citations.answer_parsing import parse
from readagent_core.citations.quotation_search import Finder
from readagent_core.connecting.checking.text import PLAN, QUESTIONS, UNANSWERED, Known, story
from readagent_core.document import Document, Paragraph
from readagent_core.errors import ReplyError
from readagent_core.gisting import read
from readagent_core.gisting.gist_prompts import gist_lengths, gist_prompt
from readagent_core.gisting.gisting import PROBLEMS, clean_reply, find_problem
from readagent_core.gisting.pause_points import parse_pause_point
from readagent_core.gisting.span_pagination import parse_pause_points
from readagent_core.memory import Page
from readagent_core.methods.memwalker import BACK, COMMIT, parse_action
from readagent_core.models.base import Completion
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.prompts import Prompt, example_numbers, template
from readagent_core.words import count_words
from readagent_core.world.notes import NoteReader, most_notes, split_reply

MEMORY = story()
_SMALL = {"segment_tokens": 300, "siblings": 3, "chunk_words": 200, "block_words": 40}  # so that a tree has levels
_LABEL = re.compile(r"<(\d+)(?: \||>)")
_DENIES = re.compile(r"\b(?:no|not|never|nothing|none|nowhere|unknown|without|unclear)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True)
class PromptTask:
    """A kind of prompt.

    ``fits``: whether a reply to it can be used. ``again``: the prompt after one that cannot, which may show that reply.
    """

    fits: Callable[[Prompt, str], bool]
    again: Callable[[Prompt, str], Prompt] | None = None


class _Recorder(BuiltInReader):
    """The built-in reader with the prompts that it was asked, each once."""

    def __init__(self) -> None:
        self.prompts: dict[str, Prompt] = {}

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        self.prompts.setdefault(prompt.text, prompt)
        return super().complete(prompt, cancel)


@cache
def gisting_prompts() -> tuple[Prompt, ...]:
    """Return the prompts of every way to read the text."""
    recorder = _Recorder()
    for pagination in ("pause", "many", "one-pass"):
        read(MEMORY.document, recorder, replace(PLAN, pagination=pagination), connections=1)
    return tuple(recorder.prompts.values())


@cache
def question_prompts(known: Known, *, every_method: bool, reason_first: bool = False) -> tuple[Prompt, ...]:
    """Return the prompts of a question, with options and without; of ReadAgent-P alone, or of every method."""
    recorder = _Recorder()
    settings = AskSettings(extra=_SMALL, reason_first=reason_first, may_decline=known is UNANSWERED)
    for found in all_methods().values() if every_method else [method("read-agent-p")]:
        for options in ((), known.options):
            for by_importance in (False, True) if every_method and not options else (False,):
                asked = replace(settings, by_importance=by_importance)
                list(found.run(Question(known.text, options), MEMORY, recorder, asked, CancelToken()))
    return tuple(recorder.prompts.values())


def options_of(prompt: Prompt) -> list[str]:
    """Return the options that a prompt offers; [] where it has none."""
    return re.findall(r"^\([A-Z]\) (.+)$", prompt.fields.get("options", ""), re.MULTILINE)


def chosen(prompt: Prompt, reply: str) -> int | None:
    """Return the option that a reply names."""
    return chosen_option(reply, options_of(prompt))


def refuses(prompt: Prompt, reply: str) -> bool:
    """Return whether a reply says that the text does not tell."""
    if options_of(prompt):
        return declines(reply)
    return not parse(reply).marks and bool(_DENIES.search(reply))


def quotes_exactly(prompt: Prompt, reply: str) -> bool:
    """Return whether a reply quotes, and only words that the text has."""
    finder = Finder(MEMORY)
    quotations = parse(reply).quotations
    return bool(quotations) and all(
        any(finder.find_in_page(extent, page) for extent in quotation.extents for page in MEMORY.readable)
        for quotation in quotations
    )


def _labels(prompt: Prompt) -> list[int]:
    return [int(number) for number in _LABEL.findall(prompt.fields["passage"])]


def _names_label(prompt: Prompt, reply: str) -> bool:
    try:
        return parse_pause_point(reply, _labels(prompt)).at > 0
    except ReplyError:
        return False


def _names_labels(prompt: Prompt, reply: str) -> bool:
    try:
        points = parse_pause_points(reply, _labels(prompt))
    except ReplyError:
        return False
    return prompt.task == "paginate_many" or set(points.gists) == set(points.reasons)


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def _has_length(prompt: Prompt, reply: str) -> bool:
    fields, text = prompt.fields, clean_reply(reply)
    most = _number(fields["target"]) * 1.2 if "target" in fields else _number(fields["most"])
    least = _number(fields.get("least", "1"))
    return least <= count_words(text) <= most and not find_problem(text, 10**6)


def notes_prompts() -> list[Prompt]:
    """Return gisting prompts that ask for the notes of a page too."""
    pages = MEMORY.pages[:2]
    return [
        gist_prompt(
            MEMORY.page_text(page.number),
            PLAN,
            language=MEMORY.document.language,
            lengths=gist_lengths(page.words, PLAN.gist_share),
            notes=most_notes(page.words),
        )
        for page in pages
    ]


def notes_and_shortens(prompt: Prompt, reply: str) -> bool:
    """Return whether a reply has a gist of the length asked for, and notes most of which the page bears out."""
    gist, said = split_reply(reply)
    paragraphs = tuple(map(Paragraph, prompt.fields["page"].split("\n\n")))
    notes = NoteReader(Document("", paragraphs)).read(Page(1, 0, len(paragraphs), 0), said)
    return _has_length(prompt, gist) and len(notes.notes) > notes.dropped


def _names_pages(prompt: Prompt, reply: str) -> bool:
    named = parse_look_up(reply, MEMORY.readable, limit=5, exists=len(MEMORY.pages))
    return bool(named.pages) or (prompt.task == "look_up_next" and named.stop)


def _requests(prompt: Prompt, reply: str) -> bool:
    request = parse_request(reply)
    if request is None:
        return to_plain_text(reply).upper().startswith("ANSWER")
    return bool(request.words) or all(label.split("-")[0] in map(str, MEMORY.readable) for label in request.labels)


def _recalls(prompt: Prompt, reply: str) -> bool:
    requests = parse_recall(reply)
    pages = [n for request in requests if not isinstance(request, Find) for n in pages_named(request)]
    return all(MEMORY.number_of(n) for n in pages) if requests else to_plain_text(reply).upper().startswith("ANSWER")


def _names_part(prompt: Prompt, reply: str) -> bool:
    action = parse_action(reply)
    return action is not None and (action == BACK or f"{action}" in re.findall(r"\d+", prompt.fields["parts"]))


def _answers_or_goes_back(prompt: Prompt, reply: str) -> bool:
    return parse_action(reply) in (BACK, COMMIT) or "answer:" in to_plain_text(reply).lower()


def _follow_up(name: str, values_of: Callable[[Prompt], Mapping[str, str]]) -> Callable[[Prompt, str], Prompt]:
    """Return a function that gives the prompt after an unusable reply, by the template ``name``."""

    def again(prompt: Prompt, reply: str) -> Prompt:
        values = {**values_of(prompt), "reply": reply}
        wanted = template(name, prompt.language).get_identifiers()
        return prompt.with_follow_up(name, **{field: values[field] for field in wanted})

    return again


def _all_labels(prompt: Prompt) -> Mapping[str, str]:
    labels = [f"<{number}>" for number in _labels(prompt)]
    return {"labels": ", ".join(labels), "first": labels[0], "last": labels[-1]}


def _length(prompt: Prompt) -> Mapping[str, str]:
    return {**prompt.fields, "problem": PROBLEMS["en"]["length"].format("another number of")}


_SPAN = PromptTask(_names_labels, _follow_up("paginate_many.again", _all_labels))
_OPTION = PromptTask(
    lambda prompt, reply: chosen(prompt, reply) is not None,
    _follow_up("choose.again", lambda prompt: {"letters": ", ".join(LETTERS[: len(options_of(prompt))])}),
)
_QUOTE, _LENGTH = PromptTask(quotes_exactly), PromptTask(_has_length)
_LOOK_UP = PromptTask(
    _names_pages, _follow_up("look_up.again", lambda _: {"example": example_numbers(len(MEMORY.pages)), "k": "3"})
)
TASKS: Mapping[str, PromptTask] = {
    "paginate": PromptTask(_names_label, _follow_up("paginate.again", _all_labels)),
    "paginate_many": _SPAN,
    "paginate_gist": _SPAN,
    "gist": PromptTask(_has_length, _follow_up("gist.again", _length)),
    "tree_segment": _LENGTH,
    "tree_parent": _LENGTH,
    "carry": _LENGTH,
    "compress": _LENGTH,
    "look_up": _LOOK_UP,
    "look_up_ranked": _LOOK_UP,
    "look_up_next": PromptTask(_names_pages),
    "explore": PromptTask(_requests),
    "recall": PromptTask(_recalls),
    "search_agent": PromptTask(_recalls),
    "walk": PromptTask(_names_part),
    "leaf": PromptTask(_answers_or_goes_back),
    "choose": _OPTION,
    "choose_pages": _OPTION,
    "choose_text": _OPTION,
    "answer": _QUOTE,
    "answer_pages": _QUOTE,
    "answer_text": _QUOTE,
}


def prompts_of(task: str, most: int) -> Sequence[Prompt]:
    """Return up to ``most`` prompts of a task; of answers only those that ask for quotations."""
    found = [prompt for known in QUESTIONS for prompt in question_prompts(known, every_method=False)]
    found += [*gisting_prompts(), *question_prompts(QUESTIONS[0], every_method=True)]
    asks = [p for p in dict.fromkeys(found) if p.task == task]
    if TASKS[task] is _QUOTE:
        asks = [p for p in asks if '"Evidence:"' in p.text]
    return asks[:most]
