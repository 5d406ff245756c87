"""Ends a reply that need not go on: it repeats itself, is longer than its task asks for, or copies the page."""

from __future__ import annotations

import re
from collections import Counter

from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.models.server.events import Endless
from readagent_core.prompts import Prompt
from readagent_core.words import copies_beginning, runs_of_three

_CIRCLE, _AGAIN = 40, 0.6  # words at the end, and the share of what they say that was said twice before
_STEP = 60  # characters between two looks
_TIMES = 3
_LEAST_REPEATED = 60  # characters of the repetitions together
_LONGEST_PERIOD = 500
_SENTENCE = re.compile(r"[^.!?。！？\n]{25,}[.!?。！？\n]")
_ENDED = re.compile(r"[.!?。！？)\]]")  # something was said before the repetition
LEAST_ROOM = 160  # tokens, however short the reply should be


class Guard:
    """``room``: tokens that the text of the reply may have. ``copied``: it was ended because it copies the page."""

    def __init__(self, prompt: Prompt, room: int) -> None:
        self._room = max(room, LEAST_ROOM)
        self._looked = 0
        self.copied = False
        self._page, self._copied = "", prompt.reply_words // 2  # words: then its room went into the page's beginning
        if prompt.task.startswith("gist"):
            self._page = re.sub(r"<\d+>", "", prompt.fields.get("page") or prompt.fields.get("passage", ""))

    def kept(self, text: str) -> str | None:
        """Return what to keep of a reply that is ended here; None where it goes on. Raises Endless for one that only
        repeats itself.
        """
        if len(text) - self._looked < _STEP or not text.strip():
            return None
        self._looked = len(text)
        if (start := repetition(text)) is not None:
            if not _ENDED.search(text[:start]):
                raise Endless("it repeats itself from its beginning")
            return text[:start]
        if self._page and copies_beginning(text, self._page, least=self._copied):
            self.copied = True
            return text
        return text if estimate_tokens(text) > self._room else None


def repetition(text: str) -> int | None:
    """Return where ``text`` begins to repeat itself: a span three times in a row at its end, its last sentence for the
    third time among others of which most were said before too, or nearly the same words again and again; None where it
    does not. A refrain is no repetition.
    """
    tail = text[-_TIMES * _LONGEST_PERIOD :]
    for period in range(1, len(tail) // _TIMES + 1):
        span = tail[-period:]
        times = max(_TIMES, -(-_LEAST_REPEATED // period))
        if tail.endswith(span * times) and re.search(r"\w", span):
            start = len(text) - period * times
            while start >= period and text[start - period : start] == span:
                start -= period
            return start + period
    whole = list(_SENTENCE.finditer(text))
    paragraph = text.rfind("\n") + 1
    if _circles(text[paragraph:]):
        inside = (found for found in whole if found.start() >= paragraph)
        return next((found.start() for found in inside if _is_said(found.group(), text[: found.start()])), None)
    said = [found.group().strip().casefold() for found in whole]
    if not said or said.count(said[-1]) < _TIMES:
        return None
    last = range(len(said))[-2 * _TIMES :]
    again = sum(said[i] in said[:i] for i in last)
    return whole[said.index(said[-1])].end() if 2 * again > len(last) else None


def _circles(paragraph: str) -> bool:
    """Whether its last words say what was said twice before in it, in nearly the same words. Lines of a list may."""
    runs = runs_of_three(paragraph[-4 * _LONGEST_PERIOD :])
    times = Counter(runs)
    return len(runs) > _CIRCLE and sum(times[run] >= _TIMES for run in runs[-_CIRCLE:]) >= _AGAIN * _CIRCLE


def _is_said(sentence: str, before: str) -> bool:
    """Whether ``before`` has nearly all of the words of ``sentence``, three in a row."""
    runs, said = runs_of_three(sentence), set(runs_of_three(before))
    return bool(runs) and sum(run in said for run in runs) >= _AGAIN * len(runs)
