"""What a person typed: options, and how far they have read."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.library.records import Position
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.methods.base import (
    Question,
)
from readagent_core.plan import ReadingPlan
from readagent_core.workspace.asking import page_reached
from readagent_core.workspace.questions import parse_options, parse_question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which?\n(A) a cat\n(B) a dog", Question("Which?", ("a cat", "a dog"))),
        ("Which?\n\nA. a cat\nB. a dog\n", Question("Which?", ("a cat", "a dog"))),
        ("Which?\n1) a cat\n2) a dog\n3) it", Question("Which?", ("a cat", "a dog", "it"))),
        ("どれですか。\n（Ａ）猫\n（Ｂ）犬", Question("どれですか。", ("猫", "犬"))),
        ("Which?\nB. a cat\nA. a dog", Question("Which?\nB. a cat\nA. a dog")),
        ("Why?\nA. Vane rowed out.", Question("Why?\nA. Vane rowed out.")),
        ("Why?", Question("Why?")),
    ],
)
def test_pasted_options_are_told_from_their_letters(text, expected):
    assert parse_question(text) == expected


@pytest.mark.parametrize("text", ["a cat\na dog", "(A) a cat\n(B) a dog", "- a cat\n- a dog", "1. a cat\n\n2. a dog"])
def test_options_one_a_line(text):
    assert parse_options(text) == ["a cat", "a dog"]


def test_the_page_reached_is_told_in_any_reading():
    whole = Document("T", tuple(Paragraph(f"{n} " + "word " * 30) for n in range(10)))
    limited = whole.limited(10)  # every paragraph in several pieces
    assert len(limited.paragraphs) > 20
    per = len(limited.paragraphs) // 10
    pages = tuple(Page(n + 1, n * per * 2, (n + 1) * per * 2, 60) for n in range(5))
    memory = GistMemory(limited, ReadingPlan(max_words=10, min_words=1), pages, (Gist("g"),) * 5)
    assert [page_reached(memory, whole, Position(p, p)) for p in range(10)] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert page_reached(memory, whole, Position(2, 9)) == 5  # going back does not close what was read
    assert page_reached(memory, whole, Position(99, 99)) == 5
    part = GistMemory(limited, memory.plan, pages[:2], (Gist("g"),) * 2)
    assert page_reached(part, whole, Position(9, 9)) == 2
