"""A story with what must not be told too early: an identity that is revealed, a death, and a death that was none.

``SECRETS``: for each page a word that its notes and its gist have, and the text has not.
"""

from __future__ import annotations

from pathlib import Path

from readagent_core.library import Library
from readagent_core.memory import GistMemory
from readagent_core.world.names import EntityKind
from readagent_core.world.notes import Note, NoteKind, PageNotes
from readagent_core.world.storage import save_notes
from tests.browser.conftest import add_read_book
from tests.recordings import make_memory

FILL = "Nobody on the quay said a word more than was needed, and the tide went on turning as it always had. " * 9
PAGES = (
    ("Hester Quill kept the ferry at Marrow. A stranger paid her in silver.", "Hester Quill asked him nothing."),
    ("They said that Captain Sorley was lost with the Plover in March.", "Hester Quill had known Captain Sorley."),
    ("Old Marn mended nets by the stranger’s door.", "Old Marn saw him write at night."),
    ("In the morning Old Marn lay still on the stones.", "Hester Quill closed his eyes. The stranger had gone."),
    ("Hester Quill found a letter. It had the Plover’s seal.", "Constable Dray came about Old Marn."),
    ("The stranger came back. “I am Sorley,” he said.", "Hester Quill struck Captain Sorley, and wept."),
    ("Constable Dray took Captain Sorley across.", "Hester Quill rowed."),
)
# page, paragraph of it, the words it rests on, kind, name, what it says, other name, time
TOLD = (
    (1, 0, "kept the ferry", "is", "Hester Quill", "ferrykeeper, secretone", "", ""),
    (1, 0, "paid her in silver", "does", "the stranger", "gives bullion, secretone", "", ""),
    (1, 1, "asked him nothing", "does", "Hester Quill", "stays incurious, secretoneb", "", ""),
    (2, 0, "was lost with the Plover", "dies", "Captain Sorley", "drowned, they claim, secrettwo", "", "in March"),
    (3, 0, "mended nets", "does", "Old Marn", "repairs netting, secretthree", "", ""),
    (3, 1, "write at night", "does", "the stranger", "scribbles, secretthreeb", "", "ten years ago"),
    (4, 0, "lay still on the stones", "dies", "Old Marn", "is found dead, secretfour", "", ""),
    (5, 0, "found a letter", "does", "Hester Quill", "discovers correspondence, secretfive", "", ""),
    (5, 1, "came about Old Marn", "is", "Constable Dray", "investigates, secretfiveb", "", ""),
    (6, 0, "I am Sorley", "same", "the stranger", "is the captain himself, secretsix", "Captain Sorley", ""),
    (6, 1, "struck Captain Sorley", "does", "Hester Quill", "hits the survivor, secretsixb", "", ""),
    (5, 0, "It had the Plover’s seal", "owns", "Hester Quill", "keeps the seal, secretfivec", "", ""),
    (5, 0, "It had the Plover’s seal", "is", "the Plover", "a wreck with a seal, secretfived", "", ""),
    (
        7,
        0,
        "took Captain Sorley across",
        "related",
        "Constable Dray",
        "half-brother, secretsevenb",
        "Captain Sorley",
        "",
    ),
    (7, 0, "took Captain Sorley across", "does", "Constable Dray", "arrests him, secretseven", "", ""),
)
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven")
SECRETS = {page: f"secret{word}" for page, word in enumerate(NUMBERS, 1)}
FIRST_NAMED = {
    "captain sorley": 2,
    "old marn": 3,
    "constable dray": 5,
}  # keys of names, and the pages that name them first


def story(more: str = "") -> GistMemory:
    texts = [f"{text} {FILL}{more}" for page in PAGES for text in page]
    gists = [f"Gist {n}, with secret{word}." for n, word in enumerate(NUMBERS, 1)]
    return make_memory(texts, gists, per_page=2, title="The Ferry at Marrow")


def notes(memory: GistMemory) -> dict[int, PageNotes]:
    made: dict[int, list[Note]] = {page.number: [] for page in memory.pages}
    for page, at, words, kind, name, says, other, when in TOLD:
        paragraph = memory.pages[page - 1].start + at
        start = memory.document.paragraphs[paragraph].text.index(words)
        place = (page, paragraph, start, start + len(words))
        entity = EntityKind.THING if name == "the Plover" else EntityKind.PERSON
        made[page].append(Note(*place, NoteKind(kind), entity, name, says, other, when, paragraph))
    return {page: PageNotes(tuple(found), model="a model") for page, found in made.items()}


def add_story(home: Path, *, read: int, with_notes: bool = True) -> str:
    """Add the story to the library in ``home`` with ``read`` pages read; the id of the book."""
    memory = story("" if with_notes else "So it was. ")  # another book
    book = add_read_book(home, memory, f"ferry{with_notes}.txt")
    library = Library(home)
    (gisting,) = library.gistings(book)
    for page, found in notes(memory).items() if with_notes else ():
        save_notes(library, gisting.id, page, found)
    read_to(library, book, read)
    library.set_limit(book, on=True)
    library.set_preference("tour", "done")
    library.close()
    return book


def read_to(library: Library, book: str, pages: int) -> None:
    """Have the first ``pages`` pages read, and be on the last of them."""
    library.set_furthest(book, 2 * pages)
    library.set_position(book, max(0, 2 * pages - 2), -1, words=("", ""))
