"""What is known at a page never depends on what later pages tell."""

from __future__ import annotations

from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.world.as_of import Order, World
from readagent_core.world.identity import Edit, EditKind, Link, LinkBy
from readagent_core.world.names import EntityKind, has_name
from readagent_core.world.notes import Note, NoteKind, PageNotes

TEXTS = (
    "A stranger came to the inn at dusk and asked for Anna Brook.",
    "Anna Brook lit the lamp. The stranger said that the mill burnt twenty years ago.",
    "Anna wept. Then the stranger took off his hat: he was Tom Brook, her brother.",
    "Tom Brook stayed.",
)
P = EntityKind.PERSON


def memory_of(*texts: str) -> GistMemory:
    """A memory with a page for each paragraph."""
    document = Document(title="The Inn", paragraphs=tuple(Paragraph(text) for text in texts))
    pages = tuple(Page(i + 1, i, i + 1, p.words) for i, p in enumerate(document.paragraphs))
    gists = tuple(Gist(p.text, whole=True) for p in document.paragraphs)
    return GistMemory(document, GistingPlan(), pages, gists, "m", True)


def note(page: int, words: str, kind: NoteKind, name: str, says: str, other: str = "", when: str = "") -> Note:
    start = TEXTS[page - 1].index(words)
    return Note(page, page - 1, start, start + len(words), kind, P, name, says, other, when, page - 1)


NOTES = {
    1: (note(1, "came to the inn", NoteKind.MOVES, "the stranger", "comes to the inn"),),
    2: (
        note(2, "lit the lamp", NoteKind.DOES, "Anna Brook", "lights the lamp"),
        note(2, "the mill burnt", NoteKind.DOES, "the stranger", "saw the mill burn", "", "twenty years ago"),
    ),
    3: (
        note(3, "Anna wept", NoteKind.FEELS, "Anna", "weeps"),
        note(3, "he was Tom Brook", NoteKind.SAME, "the stranger", "is Tom Brook", "Tom Brook"),
        note(3, "her brother", NoteKind.RELATED, "Tom Brook", "is her brother", "Anna"),
    ),
    4: (note(4, "Tom Brook stayed", NoteKind.DOES, "Tom Brook", "stays"),),
}


def world(pages: int = 4, edits: tuple[Edit, ...] = ()) -> World:
    made = {page: PageNotes(notes) for page, notes in NOTES.items() if page <= pages}
    return World(memory_of(*TEXTS[:pages]), made, edits=edits)


def test_what_is_known_at_a_page_is_the_same_whatever_follows():
    whole = world()
    for page in range(1, 5):
        known, shorter = whole.as_of(page), world(page).as_of(page)
        assert (known.entities, known.ids, known.failed) == (shorter.entities, shorter.ids, shorter.failed)
        assert known.timeline(Order.TIME) == shorter.timeline(Order.TIME)
        assert whole.mentions(known, 0, page) == world(page).mentions(shorter, 0, page)
        assert {mention.paragraph for mention, _ in whole.mentions(known, page - 1, page)} == {page - 1}


def test_a_link_holds_from_the_page_that_reveals_it_on():
    before, after = world().as_of(2), world().as_of(3)
    assert [e.name for e in before.people] == ["the stranger", "Anna Brook"]
    stranger = after.entity("the stranger")
    assert stranger == after.entity("Tom Brook") == after.entity(before.people[0].id)
    assert (stranger.name, [other.name for other in stranger.also]) == ("Tom Brook", ["the stranger"])
    assert [line.kind for line in stranger.lines] == ["moves", "does", "same", "related"]
    assert after.entity("Anna") == after.entity("Anna Brook")
    assert [(line.entity, line.other_entity) for line in after.relations] == [("stranger", "anna brook")]


def test_a_description_with_an_indefinite_article_is_somebody_new_on_every_page():
    texts = ("A young man sat there. The young man left.", "Rain fell.", "A young man drove. The young man sang.")

    def said(page: int, name: str, words: str) -> Note:
        start = texts[page - 1].index(words)
        return Note(page, page - 1, start, start + len(words), NoteKind.DOES, P, name, words, "", "", page - 1)

    made = {
        1: PageNotes((said(1, "a young man", "sat there"), said(1, "the young man", "left"))),
        2: PageNotes(),
        3: PageNotes((said(3, "The young man", "sang"), said(3, "A young man", "drove"))),
    }
    known = World(memory_of(*texts), made).as_of(3)
    told = {person.name: [line.says for line in person.lines] for person in known.met_once}
    assert told == {"a young man": ["sat there", "left"], "A young man (p. 3)": ["drove", "sang"]}
    assert known.people == ()


def test_whose_mother_she_is_depends_on_the_page():
    def said(page: int, name: str, words: str) -> Note:
        start = texts[page - 1].index(words)
        return Note(page, page - 1, start, start + len(words), NoteKind.DOES, P, name, words, "", "", page - 1)

    texts = ("Ann waited. Her mother sang.", "Bess waited. Her mother slept.")
    made = {
        1: PageNotes((said(1, "Ann", "waited"), said(1, "her mother", "sang"))),
        2: PageNotes((said(2, "Her mother", "slept"),)),
    }
    world = World(memory_of(*texts), made)
    known = world.as_of(2)
    assert {p.name: [line.says for line in p.lines] for p in known.met_once} == {
        "her mother": ["sang"],
        "Her mother (p. 2)": ["slept"],
    }
    assert [p.name for p in known.people] == ["Ann"]
    joined = World(memory_of(*texts), made, links=[Link("her mother", "Her mother (p. 2)", 2, 1, by=LinkBy.MODEL)])
    assert {p.name for p in joined.as_of(2).people} == {"Ann", "her mother"}  # of her two pages tell
    assert [p.name for p in joined.as_of(1).met_once] == ["her mother"]


def test_the_timeline_puts_what_is_told_late_at_its_time():
    known = world().as_of(4)
    assert [line.says for line in known.timeline()][:3] == ["comes to the inn", "lights the lamp", "saw the mill burn"]
    assert [line.says for line in known.timeline(Order.TIME)][:2] == ["saw the mill burn", "comes to the inn"]


def test_a_split_by_hand_wins_and_a_join_by_hand_has_its_place():
    split = world(edits=(Edit(EditKind.SPLIT, "Tom Brook", "the stranger"),)).as_of(4)
    assert split.entity("the stranger") != split.entity("Tom Brook")
    joined = world(edits=(Edit(EditKind.JOIN, "the stranger", "Anna Brook", 1),))
    assert joined.as_of(1).entity("the stranger") != joined.as_of(1).entity("Anna Brook")
    assert joined.as_of(2).entity("the stranger") == joined.as_of(2).entity("Anna Brook")
    assert world(edits=(Edit(EditKind.NOT_A_NAME, "the stranger"),)).as_of(2).entity("the stranger") is None


def test_without_notes_names_are_found_by_rule_with_no_claims():
    known = World(memory_of(*TEXTS), {}).as_of(4)
    assert [(e.name, e.by_rule, e.lines) for e in known.people] == [("Anna Brook", True, ()), ("Tom Brook", True, ())]
    assert known.without_notes == (1, 2, 3, 4)


def test_old_mrs_skeff_has_a_name():
    named = ("old Mrs. Skeff", "the young Honorius", "farmer Grey", "Lord X", "水野遥")
    assert all(map(has_name, named))
    assert not any(
        map(has_name, ("the man from Hepburn", "Charity's father", "one of those Mountain fellows", "若い助手"))
    )


def test_an_old_woman_long_after_another_and_a_second_mrs_grey_are_others():
    walk = "They walked on over the wet hill. " * 1_000
    texts = (
        "The old woman sat. Mrs. Grey sang.",
        "Mrs. Grey died.",
        walk,
        "The old woman stood. Ann Lee is Mrs. Grey.",
    )

    def said(page: int, name: str, words: str, kind: NoteKind = NoteKind.DOES, other: str = "") -> Note:
        start = texts[page - 1].index(words)
        return Note(page, page - 1, start, start + len(words), kind, P, name, words, other, "", page - 1)

    made = {
        1: PageNotes((said(1, "the old woman", "sat"), said(1, "Mrs. Grey", "sang"))),
        2: PageNotes((said(2, "Mrs. Grey", "died"),)),
        4: PageNotes(
            (said(4, "The old woman", "stood"), said(4, "Ann Lee", "is Mrs. Grey", NoteKind.SAME, "Mrs. Grey"))
        ),
    }
    known = World(memory_of(*texts), made).as_of(4)
    assert [line.says for line in known.entity("Mrs. Grey").lines] == ["sang", "died"]
    ann = known.entity("Ann Lee")
    assert [other.name for other in ann.also] == ["Mrs. Grey (p. 4)"]
    assert [page for page, _ in ann.pages] == [4]
    assert [[line.page for line in one.lines] for one in known.met_once] == [[1], [4]]
