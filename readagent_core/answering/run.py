"""A run of a method: one question asked of one memory. It yields every model call as an event.

Generators pass their events up with ``yield from`` and return their value. One meter counts the calls of the run and
enforces its budget.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from readagent_core.answering.base import (
    Answer,
    Answered,
    AnswerPart,
    AskSettings,
    Event,
    ModelCall,
    NoteCode,
    Noted,
    Question,
)
from readagent_core.answering.resources import Artifact, Resources, open_artifact
from readagent_core.cancel import CancelToken
from readagent_core.errors import CutOffError, EmptyReplyError, ModelError, RefusedError, WindowError
from readagent_core.memory import GistMemory, compression_rate
from readagent_core.models.base import Completion
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.words import count_words

if TYPE_CHECKING:
    from readagent_core.models.embeddings.embed import Embedder

T = TypeVar("T")
_RECENT = 24  # prompts whose beginnings a server's cache may still have
BROKE_OFF = {  # how a reply may end before its end, and what may help
    "length": "The model had no room for more. Ask for a part of it, or choose a model with more room.",
    "repeats": "It began to repeat itself, so it was ended. Ask again, or choose another model.",
}
_sent: deque[tuple[str, str]] = deque(maxlen=_RECENT)  # (model, prompt) of this process, the newest last


@dataclass
class Run:
    """The state of one question: its inputs, and the steps and notes so far. ``model`` counts the usage of the run.

    ``words_sent``: in prompts about the question, instructions counted.
    """

    name: str
    question: Question
    memory: GistMemory
    model: Metered
    settings: AskSettings
    cancel: CancelToken
    resources: Resources = field(default_factory=Resources)
    notes: list[str] = field(default_factory=list)
    steps: int = 0
    words_sent: int = 0
    _started: float = field(default_factory=time.monotonic)
    _words_repeated: int = 0  # at the beginnings of prompts, as prompts before had them

    @property
    def language(self) -> str:
        return self.memory.document.language

    @property
    def sample(self) -> str:
        """The beginning of the text, which shows its script."""
        return self.memory.document.text(0, min(20, len(self.memory.document.paragraphs)))

    @property
    def words_left(self) -> int | None:
        """How many words may still be sent for the question; None where they are not limited."""
        most = self.settings.question_words
        return None if most is None else most - self.words_sent

    @property
    def embedder(self) -> Embedder:
        """The embedder of the run; the built-in one where it was given none."""
        from readagent_core.models.embeddings.embed import BuiltInEmbedder  # imports numpy

        return self.resources.embedder or BuiltInEmbedder()

    def option(self, name: str, default: T) -> T:
        """Return the method's own setting of this name, whose type ``Method.run`` has checked."""
        return cast("T", self.settings.extra.get(name, default))

    def open_artifact(self, kind: str, *made_from: Any) -> AbstractContextManager[Artifact]:
        """Hold what is stored of ``kind`` and was made from these JSON values (``resources.open_artifact``)."""
        return open_artifact(self.resources, self.cancel, kind, *made_from)

    @contextmanager
    def calls_at_once(self) -> Iterator[ThreadPoolExecutor]:
        """Yield a pool of threads for model calls, and wait at the end of the block for those under way.

        They are finished and may be stored also where another one failed. Ctrl-C ends them.
        """
        pool = ThreadPoolExecutor(max_workers=max(1, self.resources.connections))
        try:
            yield pool
        except KeyboardInterrupt:
            self.cancel.cancel()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    @property
    def title(self) -> str:
        return escape_tags(self.memory.document.title)

    @property
    def question_text(self) -> str:
        """The question for prompts, with text that looks like our tags escaped."""
        return escape_tags(self.question.text.strip())

    @property
    def question_with_options(self) -> str:
        """The question for look-up steps: a multiple-choice question comes with its options."""
        options = escape_tags(self.question.lettered())
        return f"{self.question_text}\n\n{options}" if options else self.question_text

    def note(self, text: str, code: NoteCode = NoteCode.OTHER) -> Noted:
        """Record a fallback or a cut for the answer, and return it as an event."""
        self.notes.append(text)
        return Noted(text, code)

    def ask(self, prompt: Prompt) -> Generator[Event, None, Completion]:
        """Send one prompt and return its whole reply. Of a reply that broke off, return what had arrived."""
        event, completion = self._call(prompt)
        yield event
        return completion

    def ask_all(self, prompts: Sequence[Prompt]) -> Generator[Event, None, list[Completion | ModelError]]:
        """Send several prompts at once and return their replies in order; the error for a reply that failed.

        Errors that no other prompt would escape are raised: a broken connection, a refused key, a spent budget,
        a cancellation.
        """
        replies: list[Completion | ModelError] = []
        with self.calls_at_once() as pool:
            waiting = [pool.submit(self._call, prompt) for prompt in prompts]
            for future in waiting:
                try:
                    event, completion = future.result()
                    replies.append(completion)
                    yield event
                except (EmptyReplyError, RefusedError, WindowError, CutOffError) as error:
                    replies.append(error)
        return replies

    def _call(self, prompt: Prompt) -> tuple[ModelCall, Completion]:
        self.cancel.check()
        try:
            completion = self.model.complete(prompt, self.cancel)
        except CutOffError as error:
            if not error.text.strip():
                raise
            completion = Completion(error.text, finish="length")
        return self._model_call(prompt, completion), completion

    def stream(self, prompt: Prompt) -> Generator[Event, None, Completion]:
        """Send one prompt and yield its reply as it arrives. Of a reply that broke off, return what had arrived, and
        note why.
        """
        parts: list[str] = []
        why = ""
        completion: Completion | None = None
        try:
            for part in self.model.stream(prompt, self.cancel):
                if isinstance(part, Completion):
                    completion = part
                else:
                    parts.append(part)
                    yield AnswerPart(part)
        except CutOffError as error:
            completion, why = Completion(error.text or "".join(parts), finish="length"), str(error)
            if not completion.text.strip():
                raise
        completion = completion or Completion("".join(parts), finish="length")
        yield self._model_call(prompt, completion)
        if why := why or BROKE_OFF.get(completion.finish, ""):
            yield self.note(why, NoteCode.BROKE_OFF)
        return completion

    def _model_call(self, prompt: Prompt, completion: Completion) -> ModelCall:
        self.words_sent += prompt.words if "question" in prompt.fields else 0
        usage = self.model.usage_of(prompt, completion)
        if usage.calls:
            new = new_words(self.model.name, prompt)
            self._words_repeated += prompt.words - new
            usage = replace(usage, words_new=new)
        return ModelCall(prompt.task, prompt.text, completion.text, usage)

    def finish(
        self,
        text: str,
        *,
        memory_words: int,
        whole_words: int | None = None,
        extra: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Answered:
        """Return the last event of the run. ``whole_words``: words of the text asked about; default: the document's.

        ``fields``: other fields of the Answer.
        """
        whole = self.memory.document.words if whole_words is None else whole_words
        answer = Answer(
            text=text.strip(),
            method=self.name,
            memory_words=memory_words,
            compression_rate=compression_rate(memory_words, whole),
            notes=tuple(self.notes),
            steps=self.steps,
            usage=replace(self.model.usage, words_new=self.model.usage.words_in - self._words_repeated),
            extra={"seconds": round(time.monotonic() - self._started, 3), **(extra or {})},
            **fields,
        )
        return Answered(answer)


def new_words(model: str, prompt: Prompt) -> int:
    """Return the words of a prompt after the longest beginning that a recent prompt to the same model had."""
    shared = max((shared_beginning(text, prompt.text) for name, text in tuple(_sent) if name == model), default=0)
    _sent.append((model, prompt.text))
    return count_words(prompt.text[shared:])


def shared_beginning(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
