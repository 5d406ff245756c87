"""Names are joined by rule only where one is a part of the other, and the people of one family stay apart."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.world.identity import LinkBy, NameAt, join_names
from readagent_core.world.names import EntityKind, find_names, name_key, split_persons


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
        (("水野遥", "遥", "遥の母"), [{"水野遥", "遥"}]),
        (("宝玉", "宝玉的母亲"), []),
    ],
)
def test_by_rule(names, expected):
    assert joined(*names) == expected


def test_spellings_of_one_name():
    assert len({name_key(name) for name in ("the Keeper", "The keeper", "“Keeper”", "keeper.")}) == 1
    assert name_key("お父さん") == name_key("父")
    assert name_key("佐伯さん") == name_key("佐伯")
    assert name_key("Mr Vane") != name_key("Mrs Vane")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ("Charity Royall", "Charity", "Mr. Royall", "Royall", "Mrs. Royall"),
            [{"Charity", "Charity Royall"}, {"Royall", "Mr. Royall"}],
        ),
        (("Mr. Royall", "lawyer Royall"), [{"lawyer Royall", "Mr. Royall"}]),
        (("Mr. Ezra", "Mister Ezra"), [{"Mr. Ezra", "Mister Ezra"}]),
        (("Dr. Dimsdale", "Mr. Dimsdale", "Tom Dimsdale"), []),
        (("Tom Fry", "Mrs. Tom Fry"), []),
        (("John Grey", "John", "John Gilray"), [{"John", "John Grey"}]),
        (("Kate", "Mr. Harston", "Harston", "Kate Harston"), [{"Harston", "Mr. Harston"}, {"Kate", "Kate Harston"}]),
        (("Ambrose Vane", "Vane", "Miss Vane"), [{"Vane", "Ambrose Vane"}]),
    ],
)
def test_a_group_takes_no_name_that_one_of_it_cannot_have(names, expected):
    assert joined(*names) == expected


def test_persons_who_are_named_together_are_two():
    assert split_persons("John and Mary Grey") == ("John", "Mary Grey")
    assert split_persons("Mr. and Mrs. Tom Fry") == ("Mr. Tom Fry", "Mrs. Tom Fry")
    for one in ("Fossick and Daughters", "the cook and the maid", "Ferdinand", "the old man"):
        assert split_persons(one) == (one,)


def test_names_by_rule_are_no_common_words():
    text = "He saw her and he ran to the boat, for he knew the way. “He is the man,” said The Bonner. "
    text = text * 4 + "They met lawyer Royall and Charity. With Charity came lawyer Royall and the Frys. "
    paragraphs = (Paragraph(text + "A Fry, Ben Fry. Ben Fry ate."), Paragraph("So the Frys and the Frys came."))
    found = {name.name: name.kind for name in find_names(Document("T", paragraphs))}
    assert not {"He", "The", "Royall"} & set(found)
    assert {"lawyer Royall", "Charity", "Ben Fry"} <= set(found)
    assert found["Frys"] == EntityKind.GROUP
    told = "He came to Corran. Once in Corran he saw Mill Bridge, and Mill Bridge was as Joe Ash told; Joe Ash knew it."
    kinds = {name.name: name.kind for name in find_names(Document("T", (Paragraph(told),)))}
    assert kinds == {"Corran": EntityKind.PLACE, "Mill Bridge": EntityKind.PLACE, "Joe Ash": EntityKind.PERSON}


def test_a_full_word_with_a_full_stop_ends_a_name_and_a_word_that_stands_small_too_is_none() -> None:
    told = "He saw the Doctor. Tom Fry saw Joe. So Ann Lee met Dr. Moon and Mrs. St. John, J. T. Maston and Prof. Grey."
    felt = (
        "He loved Nature and met the Editor, that editor, an editor, his editor; so Nature won, the Editor and Tom Fry."
    )
    found = {name.name for name in find_names(Document("T", (Paragraph(f"{told} {felt}"),) * 2))}
    assert found == {"Tom Fry", "Joe", "Ann Lee", "Dr. Moon", "Mrs. St. John", "J. T. Maston", "Prof. Grey"}


def test_what_has_an_indefinite_article_or_is_an_ordinal_names_nobody_alone() -> None:
    told = "He wore a Mexican hat and swore on the Bible, on the Fourth, to Joe, a Quaker, in Fifth Avenue. "
    document = Document("T", (Paragraph(f"{told}The Mexican laughed at the Quaker. So Joe came."), Paragraph(told)))
    assert {name.name for name in find_names(document)} == {"Joe", "Fifth Avenue"}


def test_what_stands_before_a_name_in_the_whole_book_tells_a_place_from_a_person() -> None:
    told = (
        "So North Dormer slept. He knew North Dormer and Hepburn, and wrote to Ann Lee of Miss Hatchard.",
        "They lived in North Dormer, in Hepburn, and came to Hepburn from North Dormer with Ann Lee.",
        "He sat round Miss Hatchard at the Hatchard table; of the Hatchard Memorial and in the Hatchard chair.",
        "He read “The Recluse of Eagle Range” and the Recluse of Eagle Range, then the rules of Creston Almshouse.",
        "Ann Lee, in Ann Lee, met Carrick Fry and the Frys at Carrick Fry’s; with the Frys came Ben Fry.",
        "So he saw Ann Lee and heard Ann Lee and Ann Lee.",
    )
    kinds = {name.name: name.kind.value for name in find_names(Document("T", tuple(map(Paragraph, told))))}
    places = {name for name, kind in kinds.items() if kind == "place"}
    assert places == {"North Dormer", "Hepburn", "Hatchard Memorial", "Creston Almshouse"}
    assert {name for name, kind in kinds.items() if kind == "person"} >= {
        *("Miss Hatchard", "Hatchard", "Recluse of Eagle Range", "Ann Lee", "Carrick Fry"),
    }


def test_a_name_of_one_known_already_is_that_name_and_a_first_name_no_place() -> None:
    told = (
        "They saw Annabel Balch, who was writing to Miss Skeff about some trouble with the new house of Eudora Skeff.",
        "It was Annabel Balch of Springfield, in Annabel Balch’s Rochester. He believed in Eudora, and saw",
        "the Knights of Rye.",
        "They lived in Springfield, and knew Eudora and the Knights of Rye.",
    )
    kinds = {name.name: name.kind.value for name in find_names(Document("T", tuple(map(Paragraph, told))))}
    assert {name for name in kinds if "Balch" in name} == {"Annabel Balch"}
    assert (kinds["Springfield"], kinds["Eudora"], kinds["Knights of Rye"]) == ("place", "person", "person")


def test_a_sentence_that_begins_with_an_article_names_without_it() -> None:
    told = "They met the Journalist. The Journalist spoke."
    assert [name.name for name in find_names(Document("T", (Paragraph(told),)))] == ["Journalist"]


def test_an_imprint_names_nobody_in_the_story() -> None:
    imprint = Paragraph("Copyright, 1916, by Sam'l Gabriel Sons & Company New York")
    names = find_names(Document("T", (imprint, imprint, Paragraph("So said Mary Jones to Mary Jones."))))
    assert [name.name for name in names] == ["Mary Jones"]


def test_a_name_ends_with_its_verse() -> None:
    verses = "Summer surprised us, coming over the Starnbergersee\nWith a shower of rain; we stopped in the colonnade."
    wrapped = "They met old Mary\nJones, who came alone\nand so did the boy with Mary\nJones."
    names = find_names(Document("T", (Paragraph(verses), Paragraph(verses), Paragraph(wrapped))))
    assert {name.name for name in names} == {"Starnbergersee", "Mary Jones"}


def test_a_title_of_capitals_alone_names_nobody() -> None:
    title = "Etymology (Supplied by a Late Consumptive Usher to a Grammar School, by Mary Jones)"
    story = "She was called Mary Jones, and lived beside the harbour with Tom Fry."
    names = find_names(Document("T", (Paragraph(title), Paragraph("“Mr. Bingley!” cried Lizzy."), Paragraph(story))))
    assert [(name.name, name.paragraph) for name in names] == [("Mr. Bingley", 1), ("Mary Jones", 2), ("Tom Fry", 2)]
