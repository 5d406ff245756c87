"""One question under way: every model call as an event, and what it all came to.

Generators hand their events up with ``yield from`` and return their value. One meter counts the run and holds its
budget; what each call came to is told with it. Knows no method.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from readagent_core.errors import CutOffError, EmptyReplyError, ModelError, RefusedError, WindowError
from readagent_core.memory import GistMemory, compression_rate
from readagent_core.methods.base import Answer, Answered, AnswerPart, Asked, AskSettings, Event, Noted, Question
from readagent_core.methods.tools import tools_of
from readagent_core.models.base import ChatModel, Completion, Watch
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt, language_of
from readagent_core.tags import disarm
from readagent_core.usage import Usage
from readagent_core.words import CHARACTERS_PER_WORD

_CITED = re.compile(r"\[(\d{1,6}(?:\s*,\s*\d{1,6})*)\]")


class Run:
    """What a method carries through one question; ``usage`` and ``notes`` grow as it goes."""

    def __init__(
        self, name: str, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> None:
        self.name = name
        self.question = question
        self.memory = memory
        self.model = Metered(model)  # counts the whole run, and holds its budget
        self.settings = settings
        self.watch = watch
        self.notes: list[str] = []
        self.steps = 0
        self.joined: Mapping[int, tuple[int, ...]] = {}  # pages of a memory made to fit -> the reading's own
        self._began = time.monotonic()
        self.model.learn_window(watch)  # what fits is counted from here on, and Stop ends this wait too

    @property
    def usage(self) -> Usage:
        """Of the whole run so far."""
        return self.model.usage

    @property
    def language(self) -> str:
        return self.memory.document.language

    def length(self, words: int) -> str:
        """A length as prompts ask for it: words, or characters where the template counts those (Japanese)."""
        unit = CHARACTERS_PER_WORD["cjk"] if language_of(self.language) == "ja" else 1
        return str(max(1, words * unit))

    @property
    def title(self) -> str:
        return disarm(self.memory.document.title)

    @property
    def asked(self) -> str:
        """The question as it stands in prompts: its own look-alikes of our marks disarmed."""
        return disarm(self.question.text.strip())

    @property
    def asked_fully(self) -> str:
        """The question as look-up steps see it: a multiple-choice one with its options."""
        return f"{self.asked}\n\n{disarm(self.question.lettered())}" if self.question.options else self.asked

    def own_pages(self, pages: Iterable[int]) -> tuple[int, ...]:
        """``pages`` of the memory in the prompt by the numbers they have in the reading."""
        if not self.joined:
            return tuple(pages)
        return tuple(own for number in pages for own in self.joined.get(number, (number,)))

    def own_words(self, text: str) -> str:
        """``text`` of the model with every page it cites, like [7], by the numbers of the reading."""
        if not self.joined:
            return text
        return _CITED.sub(lambda m: f"[{', '.join(map(str, self.own_pages(map(int, m.group(1).split(',')))))}]", text)

    def note(self, text: str) -> Noted:
        """A fallback or a cut, kept for the answer and told at once."""
        self.notes.append(text)
        return Noted(text)

    def ask(self, prompt: Prompt) -> Generator[Event, None, Completion]:
        """One prompt and its whole reply. A reply that broke off is kept as far as it came."""
        event, completion = self._call(prompt)
        yield event
        return completion

    def ask_all(self, prompts: Sequence[Prompt]) -> Generator[Event, None, list[Completion | ModelError]]:
        """Every prompt's reply, several asked side by side; a prompt whose reply failed gives the error.

        Only what may end a run ends it: a broken connection, a refused key, a spent budget, a stop.
        """
        replies: list[Completion | ModelError] = []
        pool = ThreadPoolExecutor(max_workers=max(1, tools_of(self.settings).connections))
        try:
            waiting = [pool.submit(self._call, prompt) for prompt in prompts]
            for future in waiting:
                try:
                    event, completion = future.result()
                    replies.append(completion)
                    yield event
                except (EmptyReplyError, RefusedError, WindowError, CutOffError) as error:
                    replies.append(error)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return replies

    def _call(self, prompt: Prompt) -> tuple[Asked, Completion]:
        self.watch.check()
        try:
            completion = self.model.complete(prompt, self.watch)
        except CutOffError as error:
            if not error.text.strip():
                raise
            completion = Completion(error.text, finish="length")
        return self._asked(prompt, completion), completion

    def stream(self, prompt: Prompt) -> Generator[Event, None, Completion]:
        """One prompt whose reply is shown as it comes. A reply that broke off is kept as far as it came."""
        parts: list[str] = []
        completion: Completion | None = None
        try:
            for part in self.model.stream(prompt, self.watch):
                if isinstance(part, Completion):
                    completion = part
                else:
                    parts.append(part)
                    yield AnswerPart(part)
        except CutOffError as error:
            completion = Completion(error.text or "".join(parts), finish="length")
            if not completion.text.strip():
                raise
        completion = completion or Completion("".join(parts), finish="length")
        yield self._asked(prompt, completion)
        return completion

    def _asked(self, prompt: Prompt, completion: Completion) -> Asked:
        return Asked(prompt.task, prompt.text, completion.text, self.model.usage_of(prompt, completion))

    def answered(
        self,
        text: str,
        *,
        option: int | None = None,
        cut_off: bool = False,
        looked_up: tuple[int, ...] = (),
        seen: Mapping[int, str] | None = None,
        memory_words: int = 0,
        whole_words: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Answered:
        """The run's last event. ``whole_words``: words of the text answered about, by default the document's."""
        whole = self.memory.document.words if whole_words is None else whole_words
        answer = Answer(
            text=text.strip(),
            method=self.name,
            option=option,
            looked_up=looked_up,
            seen=dict(seen or {}),
            memory_words=memory_words,
            compression_rate=compression_rate(memory_words, whole),
            cut_off=cut_off,
            notes=tuple(self.notes),
            steps=self.steps,
            usage=self.usage,
            extra={"seconds": round(time.monotonic() - self._began, 3), **(extra or {})},
        )
        return Answered(answer)
