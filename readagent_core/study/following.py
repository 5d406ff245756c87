"""Questions that follow up on earlier ones: what of the conversation may be seen, and the question made self-contained.

Under a spoiler limit only exchanges that were asked under the same limit or a stricter one are seen, so nothing
from a later page can come in by way of an old answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from readagent_core import prompts
from readagent_core.cancel import CancelToken
from readagent_core.citations import parse
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.library.records import Exchange
from readagent_core.methods.base import Event, ModelCall, Noted
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.server.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, count_words, first_words

TASK = "standalone"
REMEMBERED = 4  # exchanges
ANSWER_WORDS = 120
_LEAD = re.compile(
    r"^\s*(?:[*_#>\s]*(?:next |rewritten |standalone )?question|質問|次の質問)[*_]*\s*[:：]\s*", re.IGNORECASE
)


def answer_text(events: Iterable[dict[str, Any]]) -> str:
    """The answer in an exchange's events: the whole one, or as much of it as had come."""
    parts: list[str] = []
    for event in events:
        if event["kind"] == "Answered":
            return str(event["answer"]["text"])
        if event["kind"] == "AnswerPart":
            parts.append(event["text"])
    return "".join(parts)


def seen_history(exchanges: Sequence[Exchange], *, reading_id: int, up_to: int | None) -> list[tuple[str, str]]:
    """The last questions and answers that a follow-up may be understood from, oldest first."""
    found: list[tuple[str, str]] = []
    for exchange in reversed(exchanges):
        if len(found) == REMEMBERED:
            break
        if up_to is not None:
            within = exchange.reading_id == reading_id and exchange.up_to is not None and exchange.up_to <= up_to
            if not within:
                continue
        answer = answer_text(exchange.events)
        if exchange.state in ("done", "cut off") and answer:
            found.append((exchange.extra.get(TASK) or exchange.question, parse(answer).body))
    return found[::-1]


def standalone_prompt(question: str, history: Sequence[tuple[str, str]], *, title: str, language: str) -> Prompt:
    """The prompt that makes ``question`` self-contained."""
    marks = ("質問：", "答え：") if prompts.template_language(language) == "ja" else ("Question: ", "Answer: ")
    talk = "\n\n".join(
        f"{marks[0]}{q}\n{marks[1]}{first_words(collapse_whitespace(a), ANSWER_WORDS)}" for q, a in history
    )
    values = {"title": escape_tags(title), "history": escape_tags(talk), "question": escape_tags(question)}
    return prompts.render(TASK, language, reply_words=count_words(question) * 2 + 60, **values)


def standalone(reply: str, question: str) -> str:
    """The question as the reply has it; '' when the reply cannot be one."""
    lines = [_LEAD.sub("", line).strip() for line in remove_thinking(reply).splitlines()]
    text = next((line for line in lines if line), "").strip("*_ ").strip('"“”「」 ')
    words, asked = count_words(text), count_words(question)
    return text if words and asked / 2 <= words <= asked * 3 + 30 else ""


def make_standalone(prompt: Prompt, question: str, model: ChatModel, cancel: CancelToken) -> tuple[str, list[Event]]:
    """``question`` self-contained, and what happened. Where the model will not, it stays as it is, with a note."""
    meter = Metered(model)  # of this call alone; a budget is that of the model it is given
    try:
        reply = meter.complete(prompt, cancel).text
    except (EmptyReplyError, RefusedError, CutOffError):
        reply = ""
    text = standalone(reply, question)
    events: list[Event] = [ModelCall(prompt.task, prompt.text, reply, meter.usage)]
    if not text:
        events.append(Noted("The question could not be made self-contained, so it was asked as it stands."))
    return text or question, events
