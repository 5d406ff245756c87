"""Turn what a person typed into the question a method is given: find its options, make a follow-up self-contained.

Under a spoiler limit only exchanges asked under the same limit or a stricter one are used, so that nothing from a
later page comes in by way of an old answer.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator, Sequence
from itertools import accumulate

from readagent_core import citations, prompts
from readagent_core.answering.base import LETTERS, Event, ModelCall, Noted, Question
from readagent_core.answering.replay import answer_text, events_of
from readagent_core.cancel import CancelToken
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.library.records import Exchange, ExchangeState
from readagent_core.memory import GistMemory
from readagent_core.models.base import ChatModel
from readagent_core.models.cost.meter import Metered
from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import Prompt
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, count_words, first_words

STANDALONE = "standalone"  # the name of the prompt
HISTORY_LENGTH = 4  # exchanges
ANSWER_WORDS = 120
_LETTERED = re.compile(r"^\s*(?:[(（\[]\s*([A-Za-zＡ-Ｚ])\s*[)）\]]|([A-Za-zＡ-Ｚ])\s*[.):：、．）])\s*(\S.*)$")
_NUMBERED = re.compile(r"^\s*(?:[(（]\s*(\d{1,2})\s*[)）]|(\d{1,2})\s*[.)、．）])\s*(\S.*)$")
_BULLET = re.compile(r"^\s*[-*•・]\s+(\S.*)$")
_FULL_WIDTH = {0xFF21 + i: ord("A") + i for i in range(26)}
_MARK = re.compile("[?？]")
_QUOTED = re.compile("\\A“.+”(?=\n)", re.DOTALL)
QUOTED = "the words that you quote are there"  # the reason of a look-up without a reply
_LEAD = re.compile(  # 'Next question:' and the like at the start of a rewritten question
    r"^\s*(?:[*_#>\s]*(?:next |rewritten |standalone )?question|質問|次の質問)[*_]*\s*[:：]\s*", re.IGNORECASE
)


# --- what was typed -------------------------------------------------------------------------------------


def parse_question(text: str, options: str = "") -> Question:
    """``text`` as a question. Its options: the lines of ``options``, else lines like '(A) …' at the end of ``text``."""
    if options.strip():
        return Question(text.strip(), tuple(parse_options(options)))
    lines = text.strip().splitlines()
    for first in range(1, len(lines)):
        found = _options_in_order(lines[first:])
        if found:
            return Question("\n".join(lines[:first]).strip(), tuple(found))
    return Question(text.strip())


def parse_options(text: str) -> list[str]:
    """Options one a line, without the letters, numbers or bullets they may begin with."""
    lines = [line for line in text.splitlines() if line.strip()]
    for pattern in (_LETTERED, _NUMBERED, _BULLET):
        found = [pattern.match(line) for line in lines]
        if lines and all(found):
            return [match.group(match.re.groups).strip() for match in found if match][: len(LETTERS)]
    return [line.strip() for line in lines][: len(LETTERS)]


def _options_in_order(lines: list[str]) -> list[str]:
    """The options when every line is one, lettered A, B, C … (or numbered from 1); else none."""
    lines = [line for line in lines if line.strip()]
    for pattern, marks in ((_LETTERED, LETTERS), (_NUMBERED, [str(n) for n in range(1, 27)])):
        found = [pattern.match(line) for line in lines]
        if len(lines) >= 2 and all(found):
            labels = [(m.group(1) or m.group(2)).upper().translate(_FULL_WIDTH) for m in found if m]
            if labels == list(marks[: len(labels)]):
                return [m.group(3).strip() for m in found if m]
    return []


def quotation_of(question: str) -> str:
    """Return the words in quotation marks on the first lines of a question, as Read puts a selection; '' for none."""
    found = _QUOTED.match(question)
    return found.group() if found else ""


def pages_quoted(question: str, memory: GistMemory) -> tuple[int, ...]:
    """Return the pages on which the words stand that the question quotes: one, or several that follow each other.

    Empty where the words are nowhere or in several places, and where one of the pages has no gist.
    """
    words = letters_of(quotation_of(question))
    pages = [letters_of(memory.page_text(page.number)) for page in memory.pages]
    ends = list(accumulate(map(len, pages)))
    text, found, at = "".join(pages), set[tuple[int, ...]](), -1
    while words and (at := text.find(words, at + 1)) >= 0:
        first, last = bisect_right(ends, at), bisect_right(ends, at + len(words) - 1)
        found.add(tuple(page.number for page in memory.pages[first : last + 1]))
    only = found.pop() if len(found) == 1 else ()
    return only if set(only) <= set(memory.readable) else ()


def letters_of(text: str) -> str:
    """Return the letters and digits alone, small ones: without emphasis, marks and breaks of lines."""
    return "".join(c for c in text.casefold() if c.isalnum())


# --- follow-up questions --------------------------------------------------------------------------------


def visible_history(exchanges: Sequence[Exchange], *, gisting_id: int, up_to: int | None) -> list[tuple[str, str]]:
    """The last questions and answers that a follow-up may be understood from, oldest first."""
    found: list[tuple[str, str]] = []
    for exchange in reversed(exchanges):
        if len(found) == HISTORY_LENGTH:
            break
        if up_to is not None:
            within = exchange.gisting_id == gisting_id and exchange.up_to is not None and exchange.up_to <= up_to
            if not within:
                continue
        ended = exchange.state in (ExchangeState.DONE, ExchangeState.CUT_OFF)
        if ended and (answer := answer_text(events_of(exchange))):
            found.append((exchange.facts.standalone or exchange.question, citations.parse(answer).body))
    return found[::-1]


def understand(
    question: str,
    history: Sequence[tuple[str, str]],
    model: ChatModel,
    cancel: CancelToken,
    *,
    title: str,
    language: str,
) -> Generator[Event, None, str]:
    """Return ``question`` rewritten by the model so that it can be understood without the conversation before it.

    Unchanged without a conversation or a language model; where it fails, with a note.
    """
    if not history or not model.is_language_model:
        return question
    prompt = _standalone_prompt(question, history, title=title, language=language)
    meter = Metered(model)  # counts this call alone; the budget is that of ``model``
    try:
        reply = meter.complete(prompt, cancel).text
    except (EmptyReplyError, RefusedError, CutOffError):
        reply = ""
    yield ModelCall(prompt.task, prompt.text, reply, meter.usage)
    text = parse_standalone(reply, question)
    if not text:
        yield Noted("The question was asked exactly as written, without what was said before it.")
    quotation = quotation_of(question)
    if text and letters_of(quotation) not in letters_of(text):
        return f"{quotation}\n{text}"
    return text or question


def _standalone_prompt(question: str, history: Sequence[tuple[str, str]], *, title: str, language: str) -> Prompt:
    """The prompt that asks for ``question`` rewritten so that it can be understood without the conversation."""
    marks = ("質問：", "答え：") if prompts.template_language(language) == "ja" else ("Question: ", "Answer: ")
    talk = "\n\n".join(
        f"{marks[0]}{q}\n{marks[1]}{first_words(collapse_whitespace(a), ANSWER_WORDS)}" for q, a in history
    )
    values = {"title": escape_tags(title), "history": escape_tags(talk), "question": escape_tags(question)}
    return prompts.render(STANDALONE, language, reply_words=count_words(question) * 2 + 60, **values)


def parse_standalone(reply: str, question: str) -> str:
    """The rewritten question in ``reply``; '' where there is none, or it is none, or one of an unlikely length."""
    lines = [_LEAD.sub("", line).strip() for line in remove_thinking(reply).splitlines()]
    text = next((line for line in lines if line), "").strip("*_ ").strip('"“”「」 ')
    words, asked = count_words(text), count_words(question)
    answered = _MARK.search(question) and not _MARK.search(text)  # weak models answer in place of asking
    return text if words and not answered and asked / 2 <= words <= asked * 3 + 30 else ""
