"""Names are joined by rule only where one is a part of the other, and the people of one family stay apart."""

from __future__ import annotations

import pytest

from readagent_core.world.identity import LinkBy, NameAt, join_names
from readagent_core.world.names import EntityKind, name_key


def joined(*names: str) -> list[set[str]]:
    """The names that are joined where they become known in this order."""
    known = [NameAt(name_key(name), name, EntityKind.PERSON, i) for i, name in enumerate(names)]
    links = join_names(known, (), ())
    assert all(link.by == LinkBy.RULE for link in links)
    return [{link.name, link.other} for link in links]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Tilda Vane", "Tilda"), [{"Tilda", "Tilda Vane"}]),
        (("Ambrose Vane", "Vane", "Tilda", "Tilda Vane"), [{"Ambrose Vane", "Vane"}, {"Tilda", "Tilda Vane"}]),
        (("Mr. Reeve", "Reeve"), [{"Mr. Reeve", "Reeve"}]),
        (("Mr. Royall", "Mrs. Royall"), []),
        (("Mr. Royall", "Charity Royall"), []),
        (("Orma Fry", "Ben Fry", "Fry"), []),
        (("A. Vane", "Ambrose Vane"), []),
        (("the keeper", "keeper of accounts"), []),
        (("佐伯良平", "佐伯"), [{"佐伯", "佐伯良平"}]),
        (("水野遥", "遥"), [{"遥", "水野遥"}]),
        (("水野遥", "水野くん"), []),
        (("祖母", "母"), []),
    ],
)
def test_by_rule(names, expected):
    assert joined(*names) == expected


def test_spellings_of_one_name():
    assert len({name_key(name) for name in ("the Keeper", "The keeper", "“Keeper”", "keeper.")}) == 1
    assert name_key("お父さん") == name_key("父")
    assert name_key("佐伯さん") == name_key("佐伯")
    assert name_key("Mr Vane") != name_key("Mrs Vane")
