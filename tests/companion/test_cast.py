"""Who is who: one line for each person, where several share a surname or one has several names."""

from __future__ import annotations

import pytest

from readagent_core.companion.cast import _people_in, parse_cast
from readagent_core.companion.place import Place, place_of
from tests.recordings import make_memory

LOWER_CASE = "it was then that the others said it, and then the dog came. "


def place_with(workspace, text: str, language: str) -> Place:
    memory = make_memory([text], ["A gist."], title="A Book", language=language, complete=True)
    book = workspace.library.add(memory.document)
    reading = workspace.library.reading(workspace.library.add_memory(book.id, memory).id)
    workspace.library.set_furthest(book.id, 1)
    return place_of(workspace, reading)


@pytest.mark.parametrize(
    ("text", "people"),
    [
        (
            "The dog met Mr Harrow at dusk. The dog saw Harrow, who ran. Harrow said nothing.",
            [("Mr Harrow", {"Harrow"})],
        ),
        (
            "Then Anna Harrow stood up, and her dog too. Then Peter Harrow came in, and his dog too. "
            "The dog saw Anna Harrow and her hat. The dog saw Peter Harrow and his hat.",
            [("Anna Harrow", set()), ("Peter Harrow", set())],
        ),
        (
            "Then Mr. Harrow took the hat. Then Mrs. Harrow took the dog. The dog saw Mr. Harrow and Mrs. Harrow.",
            [("Mr. Harrow", set()), ("Mrs. Harrow", set())],
        ),
        (
            "Then Ambrose Vane came, with his dog. Then Vane went in with his dog. Then Mr. Vane said no. The dog "
            "saw Ambrose Vane and his hat. Then Tilda came in, and she said no. Then Tilda Vane went out with her dog. "
            "The dog saw Tilda, who said no to her dog.",
            [("Ambrose Vane", {"Vane", "Mr. Vane"}), ("Tilda Vane", {"Tilda"})],
        ),
        (
            "Then Charity Royall came, and she said no. The dog saw Charity, who said no to her dog. Then Mr. Royall "
            "said no. The dog saw Mr. Royall and Charity, who had her hat.",
            [("Charity Royall", {"Charity"}), ("Mr. Royall", set())],
        ),
    ],
)
def test_a_shared_surname_is_one_person_or_two(text, people):
    assert [(name, set(also)) for name, also in _people_in([LOWER_CASE + text])] == people


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
