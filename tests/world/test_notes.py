"""Notes are kept only where their page bears them out, and come with gists or apart, page by page."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.gisting import noting
from readagent_core.gisting.job import start_gisting
from readagent_core.memory import Gist, Page
from readagent_core.plan import GistingPlan
from readagent_core.settings import load_settings
from readagent_core.words import count_words
from readagent_core.workspace import Workspace
from readagent_core.world.identity import Edit, EditKind, Link, LinkBy
from readagent_core.world.notes import NoteReader, split_reply, telling_sentences
from readagent_core.world.storage import add_edit, load_notes, load_world, save_links, save_notes
from tests.fakes.model import FakeModel
from tests.recordings import make_memory

TEXT = """Mara Finch came to the mill at noon. “I am the miller,” said the old man, and shut the door behind her.

She had not known him. It was Joss Pike who told her, ten years ago, that the mill was sold.

The old man laughed. “I am Abel Finch,” he said."""
BOOK = Document("The Mill", tuple(map(Paragraph, (*TEXT.split("\n\n"), "Later, Colonel Reed was found dead."))))
PAGE = Page(1, 0, 3, 55)


def read(*lines: str):
    return NoteReader(BOOK).read(PAGE, "\n".join(lines))


@pytest.mark.parametrize(
    "line",
    [
        'person Mara Finch | moves | comes to the mill | "came to the mill"',
        "- **person Mara Finch** | MOVES | “comes to the mill.” | “came to the mill at noon”",
        "person | Mara Finch | moves | comes to the mill | came to the mill",
        '| person: Mara Finch | moves | comes to the mill | "came to the mill" |',
    ],
)
def test_forms_of_a_line(line):
    (note,) = read(line).notes
    assert (note.name, note.kind, note.says) == ("Mara Finch", "moves", "comes to the mill")
    assert BOOK.paragraphs[0].text[note.start : note.end].startswith("came to the mill")


@pytest.mark.parametrize(
    "line",
    [
        'person Mara Finch | moves | comes to the mill | "walked to the mill"',  # words that the page has not
        'person Mara Finch | moves | "came to the mill"',  # nothing said
        'person Colonel Reed | does | comes to the mill | "came to the mill"',  # named by a later page only
        'person Mara Finch | knows | looks for Colonel Reed | "She had not known him"',  # known from elsewhere
        'person Mara Finch | knows | looks for Elizabeth | "She had not known him"',  # of no page at all
        'person she | knows | does not know him | "She had not known him"',
        'person the old man | same | is the miller | "I am the miller"',  # no other name
        f'person Mara Finch | does | {"walks on and " * 6} | "came to the mill"',  # too long
        'hello | there | you | "came to the mill"',
    ],
)
def test_what_the_page_does_not_bear_out_is_dropped_and_counted(line):
    made = read(line)
    assert (made.notes, made.dropped, made.failed) == ((), 1, True)


def test_a_note_counts_from_the_paragraph_by_which_all_it_says_was_told():
    made = read(
        'person Mara Finch | knows | learns from Joss Pike that the mill was sold | "came to the mill"',
        'person the old man | same | is Abel Finch | "I am the miller" | to Abel Finch',
        'person Joss Pike | does | tells that the mill was sold | "Joss Pike who told her" | when ten years ago',
    )
    assert [(note.paragraph, note.known_from) for note in made.notes] == [(0, 1), (0, 2), (1, 1)]
    assert (made.notes[1].other, made.notes[2].when) == ("Abel Finch", "ten years ago")


def test_a_word_that_only_an_earlier_page_has_may_be_told_later_on_this_one():
    paragraphs = ("The ledger lay open.", "Mara gave him coppers.", "She held the ledger, too.")
    book = Document("The Mill", tuple(map(Paragraph, paragraphs)))
    reply = 'person Mara | does | gives coppers; holds the ledger | "gave him coppers"'
    assert NoteReader(book).read(Page(2, 1, 3, 9), reply).notes[0].known_from == 2


def test_a_reply_is_split_into_gist_and_notes():
    assert split_reply("A gist.\n\n**Notes:**\nperson A | is") == ("A gist.", "\nperson A | is")
    assert split_reply("A gist that notes: nothing.") == ("A gist that notes: nothing.", "")


def test_a_reply_about_several_pages_gives_each_its_notes():
    """Two lines may rest on words of which one has the other's; a page may call 'he' whom the page before names."""
    texts = ["Abel Finch owned the mill by the weir.", "Then he sold the mill by night."]
    book = Document("The mill", tuple(map(Paragraph, texts)))
    lines = (
        'thing the mill | is | by the weir | "the mill by"',
        'person Abel Finch | owns | a mill by the weir | "owned the mill by the weir"',
        'person Abel Finch | does | sells the mill by night | "sold the mill by night"',
        'person Joss Pike | does | buys the mill | "sold the mill by night"',
    )
    first, second = NoteReader(book).read_pages([Page(1, 0, 1, 8), Page(2, 1, 2, 7)], "\n".join(lines))
    assert [note.says for note in first.notes] == ["by the weir", "a mill by the weir"]
    assert [note.says for note in second.notes] == ["sells the mill by night"]
    assert (first.dropped, second.dropped, second.failed) == (1, 0, False)
    assert {note.known_from for note in first.notes} == {1}  # the model had seen page 2


def test_the_sentences_shown_have_every_name_that_is_new_and_leave_out_what_tells_least():
    dull = "It went on and on and on and on and on and on and on. "
    texts = [
        f"It went on. {dull}{dull}Old Marn met Joss Pike at Cold Weir.",
        f"{dull}It went on. A boy brought word from Stell. {dull}",
    ]
    book = Document("The weir", tuple(map(Paragraph, texts)))
    pages = [Page(n + 1, n, n + 1, p.words) for n, p in enumerate(book.paragraphs)]
    shown = [telling_sentences(book, page, 0.6) for page in pages]
    assert "Old Marn met Joss Pike at Cold Weir." in shown[0]
    assert "A boy brought word from Stell." in shown[1]
    assert all(count_words(text) < 0.7 * page.words for text, page in zip(shown, pages, strict=True))


# --- the job ---------------------------------------------------------------------------------------------


def long_book() -> Document:
    day = "Mara Finch went on to the mill, and nobody was there, and she waited until it was dark and went home again. "
    return Document("Days", tuple(Paragraph(f"On day {n} it rained. {day * 75}") for n in range(1, 9)))


def replies(prompt):
    page = prompt.fields.get("page", "")
    note = f'person Mara Finch | moves | goes to the mill | "{" ".join(page.split()[:4])}"'
    if prompt.task == "gist":
        gist = " ".join(page.split()[:3] + page.split()[-250:])
        return f"{gist}\n\nNotes:\n{note}" if "note_rules" in prompt.fields and "On day 3 " not in page else gist
    if prompt.task == "notes":
        return "\n".join(f'person Mara Finch | does | waits on day {n} | "On day {n} it rained"' for n in range(1, 9))
    return "none"


@pytest.fixture
def workspace(own_home):
    opened = Workspace(load_settings(), model=FakeModel(replies))
    yield opened
    opened.library.close()


PLAN = GistingPlan(max_words=2000, min_words=1000, pagination="uniform")


def test_notes_come_with_the_gists_and_a_page_that_failed_can_be_made_again(workspace):
    book = workspace.library.add(long_book())
    job = start_gisting(workspace, book.id, PLAN)
    assert job.join(20).state == "done"
    made = load_notes(workspace.library, job.subject)
    assert [n for n, notes in made.items() if notes.failed] == [3]
    assert load_world(workspace.library, job.subject).as_of(8).failed == (3,)
    assert {p.task for p in workspace.model.prompts} == {"gist"}  # one call for both; nobody to compare
    again = noting.start_notes(workspace, job.subject, [3])
    assert again.join(20).value == noting.NotesProgress(1, 1)
    known = load_world(workspace.library, job.subject).as_of(8)
    assert (known.failed, [len(e.lines) for e in known.people]) == ((), [8])
    assert load_world(workspace.library, job.subject) is load_world(workspace.library, job.subject)


def test_the_world_is_loaded_anew_after_any_change_of_what_is_stored(workspace):
    library = workspace.library
    book = library.add(long_book())
    job = start_gisting(workspace, book.id, PLAN)
    job.join(20)
    first = add_edit(library, book.id, Edit(EditKind.NOT_A_NAME, "Mara Finch"))
    assert load_world(library, job.subject).edits == (first,)
    library.remove_name_edit(book.id, first.id)
    second = add_edit(library, book.id, Edit(EditKind.NOT_A_NAME, "Joss Pike"))  # may get the id of the first
    assert load_world(library, job.subject).edits == (second,)
    worlds = []
    for page in (3, 4):  # as many characters
        save_links(library, job.subject, 8, (Link("Mara", "Mara Finch", page, page, by=LinkBy.MODEL),))
        worlds.append(load_world(library, job.subject))
    assert worlds[0] is not worlds[1]
    library.store(job.subject).save_gist(1, Gist("Another gist."))
    assert load_world(library, job.subject).memory.gists[0].text == "Another gist."


def test_pages_that_are_compared_again_are_compared_without_the_links_found_before(workspace):
    book = workspace.library.add(BOOK)
    gisting = workspace.library.add_memory(book.id, make_memory([p.text for p in BOOK.paragraphs], ["Gist."] * 4))
    lines = 'person Mara Finch | moves | comes | "came to the mill"\nperson Colonel Reed | dies | dies | "found dead"'
    for number, page in ((1, Page(1, 0, 1, 20)), (4, Page(4, 3, 4, 6))):
        save_notes(workspace.library, gisting.id, number, NoteReader(BOOK).read(page, lines).on_page(number))
    model = FakeModel(lambda prompt: "1 = 2 | page 4" if "2:" in prompt.text else "none")
    for _ in range(2):
        noting.link_names(workspace.library, gisting.id, model, noting.CancelToken(), changed=[4])
        assert [link.other for link in load_world(workspace.library, gisting.id).links] == ["Colonel Reed"]


def test_a_gisting_without_notes_gets_them_afterwards_where_it_was_stopped(workspace):
    library = workspace.library
    book = library.add(long_book())
    gisting = library.open_gisting(book.id, PLAN, "fake-model")
    noting_read = noting.make_notes
    from readagent_core.gisting import read

    read(library.document(book.id), workspace.model, PLAN, store=library.store(gisting.id))
    assert noting.pages_without_notes(library, gisting.id) == list(range(1, 9))
    assert noting.notes_price(workspace, gisting.id).startswith("About 3 calls, ")
    useless = FakeModel(lambda prompt: "Nothing of that form.")
    tried = noting_read(library, gisting.id, useless, noting.CancelToken(), pages=[1, 2])
    assert tried == noting.NotesProgress(2, 2, failed=2)
    noting_read(library, gisting.id, workspace.model, noting.CancelToken(), pages=[1, 2])
    library.close()
    assert noting.start_notes(workspace, gisting.id).join(20).value == noting.NotesProgress(6, 6)
    assert sum(p.task == "notes" for p in workspace.model.prompts) == 3
