"""The small texts a model is tried on, with what a usable reply to each must hold. Written for this project.

The prompts are the reading's own templates, so that a model is tried on what it will be asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial

from readagent_core.prompts import Prompt, example_numbers, render, render_fragment
from readagent_core.tags import label, page_tag

Trial = tuple[Prompt, Callable[[str], bool]]

_SCENES = (
    (
        "Ida set the last jar on the shelf and wiped her hands. The plums had taken all day, and the kitchen was hot.",
        "“Forty-one,” said her brother from the door. “You said forty.” “The forty-first is for you,” she said.",
        "They ate it with bread, standing, and did not speak until the jar was empty.",
        "In March the river rose. By the second week it stood in the lower field, and the ferry was tied up.",
        "Ida measured it each morning with a stick of hazel. On the ninth day the stick was gone.",
    ),
    (
        "The clerk counted the ballots twice. Both times there were two hundred and six, and both times he frowned.",
        "“There are two hundred and five voters in Marn,” he said. Nobody in the hall looked at anybody else.",
        "The mayor closed the box. “Then we shall do it again tomorrow,” she said, and so the meeting ended.",
        "It was raining when Tomas reached the mill. The wheel stood still, and a light burned on the upper floor.",
        "He knocked with his left hand, because the right one held the letter.",
    ),
)
_MEMORY = (
    "Ida makes plum jam all day and keeps a jar beyond the number for her brother.",
    "The river floods the lower field; Ida measures it with a hazel stick until it is swept away.",
    "A teacher from the town, Mr. Brandt, asks to buy the ferry; Ida names a price and he laughs.",
    "Ida finds the ferry's rope cut through. She tells nobody and sleeps in the boat house.",
)
_FULL = (
    "Ida walked down before it was light. The ferry lay on the stones with its rope trailing, and the end of the rope "
    "was clean. “A knife,” she said aloud, “and a good one.” She coiled what was left over her arm. It came to eleven "
    "turns. Then she took her blanket to the boat house and lay down behind the door with the hazel stick beside her."
)
_QUESTIONS = (
    "What had the end of the rope been cut with?",
    "How many turns did the rope come to?",
    "Where did Ida lie down with her blanket?",
    "What did Ida say aloud when she saw the end of the rope?",
    "What lay beside Ida in the boat house?",
)
_OFFERED = ((0, (2, 3, 5)), (1, (2, 3, 5)), (0, (3, 5)), (1, (3, 4, 5)), (0, (2, 3, 4, 5)))


def _passage(scenes: tuple[str, ...], offered: tuple[int, ...]) -> str:
    """The paragraphs with a label after each of those ``offered``."""
    shown: list[str] = []
    for number, text in enumerate(scenes, start=1):
        shown.append(text)
        if number in offered:
            shown.append(label(number))
    return "\n\n".join(shown)


def _memory(full: int | None) -> str:
    entries = []
    for number, gist in enumerate(_MEMORY, start=1):
        entries.append(f"{page_tag(number, full=number == full)}\n{_FULL if number == full else gist}")
    return "\n\n".join(entries)


def names_a_label(reply: str, offered: tuple[int, ...]) -> bool:
    """'Break point: <3>' with a label that was offered."""
    found = re.search(r"break ?point\W{0,6}(\d+)", unicodedata.normalize("NFKC", reply), re.IGNORECASE)
    return found is not None and int(found.group(1)) in offered


def names_pages(reply: str) -> bool:
    """'Page [2, 4]', or '[]', of pages that exist."""
    found = re.search(r"\[([\d,\s]*)\]", unicodedata.normalize("NFKC", reply))
    return found is not None and all(1 <= int(n) <= len(_MEMORY) for n in re.findall(r"\d+", found.group(1)))


def quotes_exactly(reply: str) -> bool:
    """An 'Evidence:' part whose every quotation stands in the page, letter by letter."""
    parts = re.split(r"\bevidence\b\W*", reply, maxsplit=1, flags=re.IGNORECASE)
    quotes = [q.strip() for q in re.findall(r"[\"“](.{4,}?)[\"”](?=\s|$|[.,;])", parts[1])] if len(parts) == 2 else []
    page = _level(_FULL)
    return bool(quotes) and all(_level(q).rstrip(".,") in page for q in quotes)


def _level(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[“”\"]", '"', text.replace("’", "'"))).strip()


_WHERE = render_fragment("where", "en")
_PAGE, _PAGES = example_numbers(len(_MEMORY)), example_numbers(len(_MEMORY), 2)
PAUSES: list[Trial] = [
    (
        render(
            "paginate",
            "en",
            where=_WHERE,
            example=example_numbers(max(offered)),
            preceding="",
            passage=_passage(_SCENES[scene], offered),
            following="",
        ),
        partial(names_a_label, offered=offered),
    )
    for scene, offered in _OFFERED
]
LOOK_UPS: list[Trial] = [
    (
        render("look_up", "en", title="The Ferry", k="2", example=_PAGES, memory=_memory(None), question=question),
        names_pages,
    )
    for question in _QUESTIONS
]
QUOTES: list[Trial] = [
    (
        render(
            "answer",
            "en",
            title="The Ferry",
            memory=_memory(4),
            question=question,
            example=_PAGE,
            evidence=render_fragment("evidence", "en", example=_PAGE),
        ),
        quotes_exactly,
    )
    for question in _QUESTIONS
]
