"""Who is who: one line for each person, where several share a surname or one has several names."""

from __future__ import annotations

import pytest

from readagent_core.companion.cast import parse_cast
from readagent_core.companion.place import ReadingPlace, place_of
from tests.recordings import make_memory


def place_with(workspace, text: str, language: str) -> ReadingPlace:
    memory = make_memory([text], ["A gist."], title="A Book", language=language, complete=True)
    book = workspace.library.add(memory.document)
    gisting = workspace.library.gisting(workspace.library.add_memory(book.id, memory).id)
    workspace.library.set_furthest(book.id, 1)
    return place_of(workspace, gisting)


@pytest.mark.parametrize(
    ("language", "text", "reply", "people"),
    [
        (
            "en",
            "There Mr. Harrow met Harrow's wife, Mrs. Harrow, and Anna Harrow.",
            "Mr. Harrow | A man [1].\nHarrow | A man [1].\nMrs. Harrow | His wife [1].\nAnna Harrow | A child [1].",
            [("Mr. Harrow", ("Harrow",)), ("Mrs. Harrow", ()), ("Anna Harrow", ())],
        ),
        (
            "ja",
            "佐伯さんは駅にいた。佐伯は時計を見た。水野遥と水野健一が来た。",
            "佐伯さん｜駅の人 [1]。\n佐伯｜時計を見た [1]。\n水野遥｜来た [1]。\n水野健一｜来た [1]。",
            [("佐伯さん", ("佐伯",)), ("水野遥", ()), ("水野健一", ())],
        ),
    ],
)
def test_two_lines_of_a_reply_about_one_person_are_one(workspace, language, text, reply, people):
    place = place_with(workspace, text, language)
    assert [(p.name, p.also) for p in parse_cast(f"People:\n{reply}", place).people] == people
