"""Test whether a model can do this job: what holds, what does not.

Failing a part is no ban: the check says what will work less well. Nothing is saved here.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any

from readagent_core.cancel import CancelToken
from readagent_core.connecting.checking.tasks import (
    TASKS,
    PromptTask,
    chosen,
    notes_and_shortens,
    notes_prompts,
    options_of,
    prompts_of,
    question_prompts,
    refuses,
)
from readagent_core.connecting.checking.text import QUESTIONS, UNANSWERED, story
from readagent_core.errors import (
    CutOffError,
    EmptyReplyError,
    RateLimitError,
    RefusedError,
    ServerFailedError,
    WindowError,
)
from readagent_core.gisting.costs import NOVEL_WORDS, SLOW_NOVEL, minutes_at
from readagent_core.models.base import Completion
from readagent_core.models.server import windows
from readagent_core.models.server.openai_server import LEAST_MEASURED, OpenAIServer
from readagent_core.prompts import Prompt
from readagent_core.words import count_words

WAITS = 4  # of one question, for a server that says 'too many'
WAIT_SECONDS = 5.0  # where it does not say how long
LONGEST_WAIT = 70.0  # free accounts count their calls by the minute
_SMALL_WINDOW = 6_000
_LONG_WORDS = 1_500  # of a prompt: servers keep beginnings of 1,024 tokens and more
_SLOW_SECONDS = 0.5  # to the first word; with less, two times cannot be told apart
_GREETING = Prompt("try", "Reply with the words: one two three four five six.", reply_words=20)


class CheckState(StrEnum):
    """What a check says of a model. ``UNKNOWN``: it found nothing out, and counts for nothing."""

    GOOD = "good"
    WEAK = "weak"
    FAILED = "failed"
    UNKNOWN = "unknown"


GOOD, WEAK, FAILED, UNKNOWN = CheckState


@dataclass(frozen=True)
class Check:
    """One thing tested. ``id``: its name in JSON. ``figure``: '5 of 5', '0.8 s', 'not known'.

    ``at_once``, ``again``, ``never``: prompts whose reply could be used at once, after asking again, or not at all.
    ``advice``: in plain words what will work less well, '' when nothing will. ``read``, ``written``: of the check of
    speed, tokens a second.
    """

    id: str
    name: str
    state: CheckState
    figure: str = ""
    advice: str = ""
    at_once: int = 0
    again: int = 0
    never: int = 0
    read: float = 0.0
    written: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class TestedPart:
    """A part of the job. ``tasks``: the prompts it needs, and how many of each are sent."""

    id: str
    name: str
    tasks: Mapping[str, int]
    advice: str


*_ASKED, _NOTES, _REFUSE = (
    TestedPart(**row) for row in json.loads(Path(__file__).with_name("parts.json").read_text(encoding="utf-8"))
)
PARTS = tuple(_ASKED)  # the notes and the refusal have prompts of their own
STEPS = 4 + len(PARTS) + 5  # checks of a test, those that depend on others included
QUICK = ("pause", "length", "pages", "recall", "option", "quote")  # parts of the quick form, one prompt of each
QUICK_STEPS = 4 + len(QUICK)


def check_model(server: OpenAIServer, cancel: CancelToken, *, quick: bool = False) -> Iterator[Check]:
    """Test the model; yield a Check as each is known. Raises ModelError where the server does not answer (any more).

    ``quick``: a dozen prompts, a minute on a slow computer, in place of about forty.
    """
    server.asks_json = False
    start = time.perf_counter()
    first = _ask(server, _GREETING, cancel)
    yield Check("answers", "Answers", GOOD, f"{time.perf_counter() - start:.1f} s")
    yield _streams(server, first)
    speed = Speed()
    ask = cache(partial(_text, server, cancel, speed))  # some prompts belong to two parts
    done: list[Check] = []
    for part in [part for part in PARTS if part.id in QUICK] if quick else PARTS:
        tasks = dict(list(part.tasks.items())[:1]) if quick else part.tasks
        prompts = [prompt for task, most in tasks.items() for prompt in prompts_of(task, 1 if quick else most)]
        done.append(_count(part, prompts, lambda prompt: TASKS[prompt.task], ask))
        yield done[-1]
    yield _speed(speed)
    if not quick:
        yield _count(_NOTES, notes_prompts(), lambda _: PromptTask(notes_and_shortens), ask)
        unanswered = [p for p in question_prompts(UNANSWERED, every_method=False) if p.task in ("answer", "choose")]
        yield _count(_REFUSE, unanswered, lambda _: PromptTask(refuses), ask)
        yield _compare_reasoning(ask)
        if any(check.state != GOOD for check in done if check.id in ("pause", "pages", "option")):
            yield _count_enforced(server, cancel)
        yield _reuses_beginnings(server, cancel)
    yield _window(server)


def _ask(server: OpenAIServer, prompt: Prompt, cancel: CancelToken) -> Completion:
    """The reply. Waits where the server asks for it, as a reading would: that says nothing about the model."""
    for _ in range(WAITS):
        try:
            return server.complete(prompt, cancel)
        except RateLimitError as error:
            seconds = WAIT_SECONDS if error.retry_after is None else error.retry_after
            if seconds > LONGEST_WAIT:
                raise
            cancel.wait(seconds, f"Waiting {max(1, round(seconds))} s: the server asked for it")
    return server.complete(prompt, cancel)


@dataclass
class Speed:
    """What the replies of a test took: tokens of prompts that were read anew, tokens written, and their seconds."""

    read: int = 0
    reading: float = 0.0
    written: int = 0
    writing: float = 0.0

    def take(self, reply: Completion) -> None:
        new = (reply.tokens_in or 0) - reply.tokens_reused
        if reply.first_word and new >= LEAST_MEASURED:
            self.read += new
            self.reading += reply.first_word
        if reply.first_word and reply.tokens_out and reply.seconds > reply.first_word:
            self.written += reply.tokens_out
            self.writing += reply.seconds - reply.first_word


def _speed(speed: Speed) -> Check:
    """How fast it reads and writes; not known where the server reports no tokens."""
    name = "Speed"
    if not speed.reading or not speed.writing:
        return Check("speed", name, UNKNOWN, "not known")
    read, written = speed.read / speed.reading, speed.written / speed.writing
    minutes = minutes_at(NOVEL_WORDS, read, written)
    figure = f"{read:,.0f} tokens a second read, {written:,.0f} written"
    if minutes <= SLOW_NOVEL:
        return Check("speed", name, GOOD, figure, read=read, written=written)
    advice = f"The gists of a novel of {NOVEL_WORDS:,} words take about {minutes / 60:,.0f} hours: make them overnight."
    return Check("speed", name, WEAK, figure, advice, read=read, written=written)


def _text(server: OpenAIServer, cancel: CancelToken, speed: Speed, prompt: Prompt) -> str:
    """The text of the reply; '' for a fault that counts as a reply of no use. Raises any other ModelError."""
    try:
        reply = _ask(server, prompt, cancel)
        speed.take(reply)
        return reply.text
    except (EmptyReplyError, RefusedError, CutOffError, ServerFailedError, WindowError):
        return ""


def _streams(server: OpenAIServer, reply: Completion) -> Check:
    if server.quirks.stream and reply.first_word is not None:
        return Check("streams", "Streams its answer", GOOD, f"first word {reply.first_word:.1f} s")
    return Check("streams", "Streams its answer", WEAK, "no", "Answers appear all at once, after a wait.")


def _count(
    part: TestedPart, prompts: list[Prompt], task_of: Callable[[Prompt], PromptTask], ask: Callable[[Prompt], str]
) -> Check:
    """Send ``prompts``, each once more where its task can be asked again, and count the replies that can be used."""
    at_once = again = 0
    for prompt in prompts:
        task = task_of(prompt)
        reply = ask(prompt)
        if task.fits(prompt, reply):
            at_once += 1
        elif task.again and task.fits(prompt, ask(task.again(prompt, reply))):
            again += 1
    never = len(prompts) - at_once - again
    state = GOOD if at_once == len(prompts) else WEAK if never * 2 <= len(prompts) else FAILED
    figure = f"{at_once} of {len(prompts)}"
    advice = "" if state == GOOD else f"{again} more when asked again. {part.advice}" if again else part.advice
    return Check(part.id, part.name, state, figure, advice, at_once, again, never)


def _compare_reasoning(ask: Callable[[Prompt], str]) -> Check:
    """Ask the same questions with the letter first and with reasons first. WEAK: right more often with reasons."""
    right = {}
    for reason_first in (False, True):
        asked = (
            (known, prompt)
            for known in QUESTIONS
            for prompt in question_prompts(known, every_method=False, reason_first=reason_first)
            if options_of(prompt)
        )
        right[reason_first] = sum(chosen(p, ask(p)) == known.right for known, p in asked)
    name, of = "Chooses the right option", len(QUESTIONS)
    if right[True] > right[False]:
        figure = f"{right[False]} of {of}, with reasons first {right[True]}"
        return Check("reason", name, WEAK, figure, "It should give its reasons before it names a letter.")
    if right[False] * 2 >= of:
        return Check("reason", name, GOOD, f"{right[False]} of {of}")
    return Check("reason", name, FAILED, f"{right[False]} of {of}", "It misreads short texts: take a larger model.")


def _count_enforced(server: OpenAIServer, cancel: CancelToken) -> Check:
    """Send the prompts whose replies have a form again, with a JSON schema."""
    advice = "The server does not enforce the form of a reply."
    part = TestedPart("form", "Keeps a form that the server enforces", {}, advice)
    prompts = [prompt for task in ("paginate", "look_up") for prompt in prompts_of(task, 2)]
    again = TASKS["choose"].again
    prompts += [again(prompt, "Hm.") for prompt in prompts_of("choose", 1) if again]

    def ask(prompt: Prompt) -> str:
        server.quirks.replied_in_json = False
        return _text(server, cancel, Speed(), prompt)

    def enforced(prompt: Prompt, reply: str) -> bool:
        return server.quirks.replied_in_json and TASKS[prompt.task].fits(prompt, reply)

    server.asks_json = True
    try:
        found = _count(part, prompts, lambda _: PromptTask(enforced), ask)
        return found if found.state == GOOD else replace(found, state=WEAK)  # it says nothing of the model
    finally:
        server.asks_json = False


def _reuses_beginnings(server: OpenAIServer, cancel: CancelToken) -> Check:
    """Send two long prompts that begin alike. They are seen to be reused by the server's own count, or by the time."""
    name = "Reuses the start of a prompt"
    text = "\n\n".join(paragraph.text for paragraph in story().document.paragraphs)
    text = "\n\n".join([text] * math.ceil(_LONG_WORDS / count_words(text)))
    try:
        first, second = (
            _ask(server, Prompt("try", f"{text}\n\nReply with the word: {word}.", reply_words=10), cancel)
            for word in ("one", "two")
        )
    except WindowError:
        return Check("reuse", name, UNKNOWN, "not seen")
    if second.tokens_reused and second.tokens_in:
        return Check("reuse", name, GOOD, f"{min(1, second.tokens_reused / second.tokens_in):.0%} of it")
    times = [reply.seconds if reply.first_word is None else reply.first_word for reply in (first, second)]
    if times[0] > _SLOW_SECONDS and times[1] < times[0] / 2:
        return Check("reuse", name, GOOD, f"first word {times[0]:.1f} s, then {times[1]:.1f} s")
    return Check("reuse", name, UNKNOWN, "not seen")


def _window(server: OpenAIServer) -> Check:
    name = "Context window"
    window = server.window or windows.known(server.name)
    if window is None:
        advice = "The server does not report its context window; set it under “Limits and prices” if prompts fail."
        return Check("window", name, UNKNOWN, "not known", advice)
    if window < _SMALL_WINDOW:
        advice = (
            "That is little: answers about long books see fewer pages. Allow more in the server "
            "(Ollama: OLLAMA_CONTEXT_LENGTH=16384)."
        )
        return Check("window", name, WEAK, f"{window:,} tokens", advice)
    return Check("window", name, GOOD, f"{window:,} tokens")
