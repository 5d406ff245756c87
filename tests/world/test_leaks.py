"""A story with a revealed identity, a death and a false death: nothing that a door gives tells what later pages tell.

``SECRETS`` is the author's list: words that a page may tell, and no earlier one.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import asdict

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.export.memory import MEMORY_FORMATS, export_memory
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.world.as_of import Order, World
from readagent_core.world.identity import Link, LinkBy
from readagent_core.world.notes import NoteReader
from readagent_core.world.recap import cast_in_short, previously

# text of a page, and its notes as a model writes them; some are what a model must not write
STORY = (
    (
        "A hooded man crossed the causeway at low water and asked for Ilse Varn. Ilse Varn kept the salt house.",
        'person the hooded man | moves | crosses the causeway | "crossed the causeway at low water"',
        'person Ilse Varn | is | keeper of the salt house | "kept the salt house"',
        'person the hooded man | same | is Lord Aldous | "asked for Ilse Varn" | to Lord Aldous',  # not told yet
    ),
    (
        "Ilse gave him bread. Her brother Joren mended the boat and would not look at him.",
        'person Ilse | does | gives the guest bread | "gave him bread"',
        'person Joren | related | is her brother | "Her brother Joren" | to Ilse',
        'person Joren | does | mends the boat Pelican before he drowns | "mended the boat"',  # 'Pelican' is told later
    ),
    (
        "In the storm the Pelican went down, and they said that Joren was drowned.",
        'person Joren | dies | is said to have drowned | "they said that Joren was drowned"',
        'thing Pelican | is | a boat, sunk in the storm | "the Pelican went down"',
    ),
    (
        "The hooded man paid for masses. It was thirty years ago, he said, that he lost a brother to the sea.",
        'person the hooded man | does | pays for masses | "paid for masses"',
        'person the hooded man | does | lost a brother | "lost a brother to the sea" | when thirty years ago',
    ),
    (
        "Old Petra saw a light on the Skerry and told nobody.",
        'person Old Petra | does | sees a light on the Skerry | "saw a light on the Skerry"',
        'place Skerry | is | where a light is seen | "a light on the Skerry"',
    ),
    (
        "At dawn Old Petra was found dead on the stairs of the salt house.",
        'person Old Petra | dies | is found dead on the stairs | "found dead on the stairs"',
    ),
    (
        "Ilse found his hood, and in it the seal of Lord Aldous. The hooded man was Lord Aldous himself.",
        'person the hooded man | same | is Lord Aldous | "The hooded man was Lord Aldous" | to Lord Aldous',
        'person Ilse | does | finds the seal in the hood | "found his hood"',
    ),
    (
        "Joren came up the beach alive: he had lain on the Skerry since the wreck.",
        'person Joren | is | alive after all | "came up the beach alive"',
        'person Joren | does | lay on the Skerry since the wreck | "had lain on the Skerry"',
    ),
    (
        "It was Aldous who had pushed Petra, for she had seen the signal.",
        'person Aldous | does | pushed Petra down | "Aldous who had pushed Petra"',
        'person Petra | knows | had seen the signal | "she had seen the signal"',
    ),
    (
        "Aldous fled over the causeway, and the tide took him.",
        'person Aldous | moves | flees over the causeway | "fled over the causeway"',
        'person Aldous | dies | is taken by the tide | "the tide took him"',
    ),
    (
        "Ilse and Joren built a new boat and named it Petra's Light.",
        'person Ilse | does | builds a new boat with Joren | "built a new boat"',
    ),
    (
        "They kept the salt house until the sea took that too.",
        'place the salt house | is | lost to the sea in the end | "until the sea took that too"',
    ),
)
SECRETS = {
    2: ("Joren", "bread", "brother"),
    3: ("Pelican", "drowned", "sunk in"),
    4: ("masses", "thirty years"),
    5: ("Petra", "Skerry"),
    6: ("dead", "stairs"),
    7: ("Aldous", "seal"),
    8: ("alive", "wreck"),
    9: ("pushed", "signal"),
    10: ("flees", "tide took", "taken by"),
    11: ("new boat",),
    12: ("lost to the sea in the end",),
}
LAST = len(STORY)


def memory() -> GistMemory:
    document = Document("The Salt House", tuple(Paragraph(text) for text, *_ in STORY))
    pages = tuple(Page(i + 1, i, i + 1, p.words) for i, p in enumerate(document.paragraphs))
    gists = tuple(Gist(text, whole=True) for text, *_ in STORY)
    return GistMemory(document, GistingPlan(), pages, gists, "m", True)


def world(pages: int = LAST, *, noted: bool = True) -> World:
    book = memory()
    reader = NoteReader(book.document)
    notes = {p.number: reader.read(p, "\n".join(STORY[p.number - 1][1:])).on_page(p.number) for p in book.pages[:pages]}
    # compared after eight pages: the pair counts from the page that it names, or from the last of them
    links = [Link("the hooded man", "Lord Aldous", 7, 6, by=LinkBy.MODEL)] if pages >= 8 else []
    return World(book if pages == LAST else book.up_to(pages), notes if noted else {}, links=links)


def of_exports(world: World, page: int) -> str:
    """Every string of the exports of the pages up to one; the gists are the book's own text."""
    part, known = world.memory.up_to(page), world.as_of(page)
    out: list[str] = []
    for format in set(MEMORY_FORMATS) - {"skill"}:
        data = export_memory(part, format, known=known)
        if format == "epub":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                out += [archive.read(name).decode() for name in archive.namelist() if name.endswith("html")]
        else:
            out.append(json.dumps(json.loads(data), ensure_ascii=False) if format == "json" else data.decode())
    return "\n".join(out)


def of_cards(world: World, page: int) -> str:
    known = world.as_of(page)
    timelines = [known.timeline(order) for order in Order]
    shown = ([asdict(entity) for entity in known.entities], timelines, known.relations, previously(world, page))
    return repr((known, shown)) + cast_in_short(world, page)


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("page", range(1, LAST + 1))
def test_nothing_tells_what_later_pages_tell(page, noted):
    shown = of_cards(world(noted=noted), page) + of_exports(world(noted=noted), page)
    early = {number: [s for s in secrets if s in shown] for number, secrets in SECRETS.items() if number > page}
    assert not any(early.values()), early
    if noted:  # the test can fail: the page itself tells its secrets
        told = of_cards(world(), page)
        assert all(re.search(re.escape(secret), told) for secret in SECRETS.get(page, ())[:1])


def test_what_is_known_does_not_depend_on_what_follows():
    for page in range(1, LAST + 1):
        for noted in (True, False):
            assert of_cards(world(noted=noted), page) == of_cards(world(page, noted=noted), page)


def test_notes_that_know_more_than_their_page_are_dropped():
    dropped = {page: notes.dropped for page, notes in world().notes.items() if notes.dropped}
    assert dropped == {1: 1, 2: 1}


def test_an_identity_a_death_and_a_false_death():
    book = world()
    before, after = book.as_of(6), book.as_of(7)
    assert before.entity("Lord Aldous") is None
    assert after.entity("the hooded man") == after.entity("Lord Aldous")
    assert book.as_of(9).entity("Aldous") == book.as_of(9).entity("the hooded man")
    joren = [line.kind for line in book.as_of(8).entity("Joren").lines]
    assert joren == ["related", "dies", "is", "does"]
    assert [line.kind for line in book.as_of(9).entity("Petra").lines] == ["does", "dies", "knows"]
    by_time = [line.says for line in book.as_of(4).timeline(Order.TIME)]
    assert by_time[0] == "lost a brother"
