"""Explore a memory step by step: open parts and pages, find words, and answer as soon as the view holds enough.

Each step is one prompt over one view of the memory; its reply opens something in place, looks for words, or answers.
So a question that the first view settles costs one call. When no request is left the answer is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator
from dataclasses import dataclass, replace

from readagent_core.errors import EmptyReplyError, RefusedError, WindowError
from readagent_core.methods.base import AnswerPart, Event, Expanded, LookedUp, Searched
from readagent_core.methods.support.levels import make_levels
from readagent_core.methods.support.look_up_replies import to_plain_text
from readagent_core.methods.support.response import ANSWER_WORDS, choice_form, citing, conclude, memory_prompt, respond
from readagent_core.methods.support.retrieval import rank_by_bm25
from readagent_core.methods.support.run import Run
from readagent_core.methods.support.view import View, find_places, first_view, pages_in_order
from readagent_core.methods.support.word_budget import WINDOW_RETRIES, max_context_words
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt, render, render_fragment

REQUESTS = 4  # most requests to open or find; each is one more prompt
_SEARCHES = 3  # most words looked for in one request
_REQUEST = re.compile(r"^[ \t>#_-]*(OPEN|FIND)\b[ \t]*:?[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^[\s>#*_]*ANSWER[\s*_]*:[\s*_]*", re.MULTILINE)
_LABEL = re.compile(r"\d+(?:\s*-\s*\d+)?")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|'([^'\n]{2,})'")
_HELD = 60  # characters of a reply after which it is taken for an answer
_BEGUN = re.compile(r"[\s>#*_-]*(?:OPEN|FIND|ANSWER)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """A request in a reply. ``labels``: parts and pages to open. ``words``: to look for."""

    labels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    reason: str = ""


def parse_request(reply: str) -> Request | None:
    """Return the request in a reply; None where it is an answer. Nothing here raises."""
    text = to_plain_text(reply)
    answer = _ANSWER.search(text)
    labels: list[str] = []
    words: list[str] = []
    reasons: list[str] = []
    for found in _REQUEST.finditer(text, 0, answer.start() if answer else len(text)):
        rest = found.group(2)
        if found.group(1).upper() == "OPEN":
            bracket = re.search(r"\[([^\]\n]*)\]", rest)
            listed = bracket.group(1) if bracket else re.split(r"\b(?:to|because|since)\b|理由", rest, maxsplit=1)[0]
            labels += [re.sub(r"\s", "", label) for label in _LABEL.findall(listed)]
            reasons.append(rest[bracket.end() :] if bracket else rest[len(listed) :])
        else:
            quoted = list(_QUOTED.finditer(rest))
            words += [next(filter(None, m.groups())).strip() for m in quoted] or [rest.strip()]
            reasons.append(rest[quoted[-1].end() :] if quoted else "")
    if not labels and not any(words):
        return None
    reason = re.sub(r"^\W*(?:to|because|since|for|理由は?)?[\s:：、]*", "", " ".join(reasons).strip(), flags=re.I)
    return Request(tuple(dict.fromkeys(labels)), tuple(dict.fromkeys(filter(None, words)))[:_SEARCHES], reason[:400])


def explore_within(run: Run, most: int | None) -> Generator[Event, None, None]:
    """Explore the run's memory in views of at most ``most`` words of gists (None: as many as fit into the window)."""
    for left in range(WINDOW_RETRIES, -1, -1):
        run.model.learn_window(run.cancel)
        window = run.model.window
        around = _prompt(run, "", frozenset(), 1).words
        sample = run.memory.gist_text
        limit = max_context_words(run.settings, run.model, sample=sample, around=around, reply_words=ANSWER_WORDS)
        words = min((n for n in (most, limit) if n is not None), default=run.memory.gist_words)
        try:
            calls = run.model.usage.calls
            levels = make_levels(run, words)
            if run.model.usage.calls > calls:
                yield run.note(f"Made gists of parts of the book in {run.model.usage.calls - calls} calls.")
            view = first_view(levels, words, rank_by_bm25(run.question.text, run.memory))
            yield from explore(run, view, most=words, limit=limit)
            return
        except WindowError:
            now = run.model.window
            if not left or now is None or now == window:
                raise
            yield run.note(f"The prompt was too long for the model's window; asked again within {now:,} tokens.")


def explore(run: Run, view: View, *, most: int, limit: int | None) -> Generator[Event, None, None]:
    """Open, find and answer. ``most``: words of gists in a view. ``limit``: words of a view (None: no limit)."""
    problem = ""
    yield _expanded(view)
    for left in range(_requests(run), 0, -1):
        prompt = _prompt(run, view.text(), view.full, left)
        if problem:
            prompt = prompt.with_follow_up("explore.again", problem=problem)
        try:
            completion = yield from _stream(run, prompt)
        except (EmptyReplyError, RefusedError):
            yield run.note("A request had no usable reply; the answer was asked for.")
            break
        request = parse_request(completion.text)
        if request is None:
            said = replace(completion, text=_ANSWER.sub("", completion.text, count=1))
            yield from conclude(run, prompt, said, **_figures(run, view))
            return
        run.steps += 1
        problem = yield from _carry_out(run, view, request, completion.text, most=most, limit=limit)
        yield _expanded(view)
    while True:
        try:
            yield from respond(run, memory_prompt(run, view.text(), quote=bool(view.full)), **_figures(run, view))
            return
        except WindowError:
            if not view.full:
                raise
            page = max(view.full, key=lambda number: view.memory.page(number).words)
            view.full.discard(page)
            yield run.note(f"Page {page} became a gist again: with it the prompt was too long for the model's window.")
            yield _expanded(view)


def _requests(run: Run) -> int:
    return max(0, int(run.settings.extra.get("requests", REQUESTS)))


def _figures(run: Run, view: View) -> dict[str, object]:
    return {
        "looked_up": tuple(sorted(view.full)),
        "seen": view.seen(),
        "memory_words": view.words(),
        "whole_words": run.memory.readable_words,
    }


def _expanded(view: View) -> Expanded:
    return Expanded(tuple(sorted(view.full)), view.words(), view.entries())


def _prompt(run: Run, memory: str, full: Collection[int], left: int) -> Prompt:
    question = run.question_with_options
    form = choice_form(run)
    if not run.question.options:
        form = {name: render_fragment(f"{name}.free", run.language) for name in ("form", "unsettled")}
    return render(
        "explore",
        run.language,
        reply_words=ANSWER_WORDS,
        title=run.title,
        memory=memory,
        left=str(left),
        pages=str(run.settings.look_ups - len(full)),
        question=question,
        **form,
        **citing(run, quote=bool(full)),
    )


def _stream(run: Run, prompt: Prompt) -> Generator[Event, None, Completion]:
    """Send a prompt and return its reply. An answer is passed on while it arrives, a request is not."""
    stream, held, answering = run.stream(prompt), "", False
    while True:
        try:
            event = next(stream)
        except StopIteration as end:
            completion: Completion = end.value
            if not answering and parse_request(completion.text) is None:
                yield AnswerPart(_ANSWER.sub("", completion.text, count=1))
            return completion
        if not isinstance(event, AnswerPart) or answering:
            yield event
            continue
        held += event.text
        begun = _ANSWER.match(held)
        if begun and len(held) > begun.end():
            answering = True
            yield AnswerPart(held[begun.end() :])
        elif len(held) > _HELD and not held.lstrip().startswith("<think") and not _BEGUN.match(held):
            answering = True
            yield AnswerPart(held)


def _carry_out(
    run: Run, view: View, request: Request, reply: str, *, most: int, limit: int | None
) -> Generator[Event, None, str]:
    """Open and find what a request names. Return what of it could not be done, for the next prompt."""
    refused: list[str] = []
    if request.words:
        places = [place for words in request.words for place in find_places(view.memory, words)]
        view.add_places(places)
        yield Searched(request.words, pages_in_order(places), reply, request.reason)
        absent = [words for words in request.words if not find_places(view.memory, words, most=1)]
        refused += [f'"{words}" stands nowhere in the text' for words in absent]
    if request.labels:
        pages: list[int] = []
        parts: list[str] = []
        missing: list[str] = []
        for label in request.labels:
            why = _open(run, view, label, limit)
            if why:
                missing.append(f"page {label}: {why}")
            elif "-" in label:
                parts.append(label)
            else:
                pages.append(int(label))
        yield LookedUp(tuple(pages), reply, request.reason, tuple(missing), tuple(parts))
        refused += missing
    view.fold(most + sum(view.memory.page(number).words for number in view.full))
    return "; ".join(refused)


def _open(run: Run, view: View, label: str, limit: int | None) -> str:
    """Open what ``label`` names; return why it cannot be opened, or ''."""
    part = view.named(label)
    if part is None:
        return "there is no such page"
    if part.level:
        if part not in view.shown:
            return "it is open already; name single pages"
        view.open(part)
        return ""
    if part.first in view.full:
        return "it is in full already"
    if len(view.full) >= run.settings.look_ups:
        return "no more pages can be opened in full"
    if limit is not None and view.words() + view.memory.page(part.first).words > limit:
        return "it does not fit into the prompt any more"
    view.open(part)
    return ""
