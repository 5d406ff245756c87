"""An exchange as steps that can be replayed: question, gists, each look-up, memory as sent, answer.

Made from the saved events alone, so that an old answer replays exactly as it ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from readagent_core.citations import Checked, check
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.methods.base import (
    Answer,
    Answered,
    AnswerPart,
    Event,
    Expanded,
    LookedUp,
    ModelCall,
    Noted,
    Searched,
    event_from_dict,
)
from readagent_core.models.builtin import reader as builtin
from readagent_core.models.builtin.statistics import shared_words

QUESTION, UNDERSTOOD, GISTS, LOOK_UP, MEMORY, ANSWER = "question", "understood", "gists", "look-up", "memory", "answer"
_TITLES = {
    QUESTION: "Question",
    UNDERSTOOD: "Follow-up",
    GISTS: "Gists",
    LOOK_UP: "Look-up",
    MEMORY: "Memory as sent",
    ANSWER: "Answer",
}


@dataclass(frozen=True)
class Step:
    """One step of a replay. ``kind``: one of the constants above.

    ``marked``: pages just asked for. ``expanded``: pages shown in full by then. ``calls``: every prompt of this step
    with its reply, word for word. ``said``: the model's words for the look-up; ``refused``: what it named that was
    not opened.
    """

    kind: str
    title: str
    marked: tuple[int, ...] = ()
    expanded: tuple[int, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    said: str = ""
    refused: tuple[str, ...] = ()


def events_of(exchange: Exchange) -> list[Event]:
    """The saved events as values, the parts of the answer joined into one."""
    events: list[Event] = []
    for event in (event_from_dict(data) for data in exchange.events):
        if isinstance(event, AnswerPart) and events and isinstance(events[-1], AnswerPart):
            events[-1] = AnswerPart(events[-1].text + event.text)
        else:
            events.append(event)
    return events


def answer_of(events: Sequence[Event]) -> Answer | None:
    """The answer; None where it was never finished."""
    return next((event.answer for event in reversed(events) if isinstance(event, Answered)), None)


def answer_text(events: Sequence[Event]) -> str:
    """The answer's text, or as much of it as was received."""
    answer = answer_of(events)
    return answer.text if answer else "".join(event.text for event in events if isinstance(event, AnswerPart))


def checked_answer(text: str, answer: Answer, memory: GistMemory) -> Checked:
    """``text`` of an answer in pieces with its citations, checked against the pages that were in its prompt."""
    full = [n for n, how in answer.seen.items() if how == "full"]
    return check(text, memory, full=full, shown=answer.seen.keys() or None)


def look_up_words(step: Step, exchange: Exchange, memory: GistMemory) -> str:
    """What a model said of its look-up; of the built-in reader, which words the pages share with the question."""
    if exchange.extra.get("model") != builtin.NAME or exchange.extra.get("recorded"):
        return step.said.strip()
    gists = "\n".join(gist.text for page in step.marked if (gist := memory.gists[page - 1]) is not None)
    places = shared_words(exchange.question, gists)
    words = list(dict.fromkeys(f"“{exchange.question[start:end]}”" for start, end in places))
    if not words:
        return "" if step.marked else "No gist shares enough words with the question."
    subject = "Its gist shares" if len(step.marked) == 1 else "Their gists share"
    return f"{subject} with the question: {', '.join(words)}."


def notes(events: Sequence[Event]) -> list[str]:
    """Every note once, in the order they came."""
    return list(dict.fromkeys(event.text for event in events if isinstance(event, Noted)))


def steps(events: Sequence[Event]) -> list[Step]:
    """The steps of a replay; fewer where the exchange did not reach its end."""
    found = [Step(QUESTION, _TITLES[QUESTION])]
    calls: list[ModelCall] = []
    expanded: tuple[int, ...] = ()
    for event in events:
        if isinstance(event, ModelCall) and event.task == "standalone":
            found.append(Step(UNDERSTOOD, _TITLES[UNDERSTOOD], calls=(event,)))
        elif isinstance(event, ModelCall):
            calls.append(event)
        elif isinstance(event, LookedUp):
            step = Step(
                LOOK_UP, _TITLES[LOOK_UP], event.named_pages, expanded, tuple(calls), event.reply, event.refused
            )
            found.append(step)
            calls.clear()
        elif isinstance(event, Searched):
            found.append(Step(LOOK_UP, "Search", event.pages, expanded, tuple(calls), event.reply))
            calls.clear()
        elif isinstance(event, Expanded):
            expanded = event.pages
    answer = answer_of(events)
    if answer is not None:
        expanded = tuple(sorted(n for n, how in answer.seen.items() if how == "full")) or answer.looked_up
    shown = answer is not None or expanded or any(isinstance(e, AnswerPart) for e in events)
    if answer is None or any(how == "gist" for how in answer.seen.values()):
        first_look = next((i for i, step in enumerate(found) if step.kind == LOOK_UP), len(found))
        found.insert(first_look, Step(GISTS, _TITLES[GISTS]))
    if shown:
        found.append(Step(MEMORY, _TITLES[MEMORY], expanded=expanded))
    if answer is not None or any(isinstance(e, AnswerPart) for e in events):
        found.append(Step(ANSWER, _TITLES[ANSWER], expanded=expanded, calls=tuple(calls)))
    looks = [i for i, step in enumerate(found) if step.kind == LOOK_UP]
    if len(looks) > 1:
        for turn, i in enumerate(looks, start=1):
            found[i] = replace(found[i], title=f"{found[i].title} {turn}")
    return found
