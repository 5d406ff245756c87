"""Selecting words by mouse, touch and keyboard, and what follows: marks, notes, saved answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from readagent_core.dictionaries.shelf import FOLDER, Dictionaries
from readagent_core.library import Library
from readagent_core.library.marks import Mark
from tests.browser.conftest import add_read_book, go_to
from tests.dictionaries.making import make_stardict
from tests.fakes.server import FakeServer, Reply
from tests.recordings import make_memory

SELECT_WORD = """(p, word) => {
  const node = p.firstChild;
  const at = node.data.indexOf(word);
  p.getRootNode().getSelection().setBaseAndExtent(node, at, node, at + word.length);
}"""
PAINTED = "(name) => [...(CSS.highlights.get(name) ?? [])].map(String).filter(Boolean)"
KNOWS_DICTIONARIES = "(book) => globalThis[Symbol.for('readagent.tab')]?.get('marks')?.get(book)?.dictionaries"
TEXTS = [f"Evening {n}. Vane spoke of 雪 and 🏮 twice on {n}. {'It was seen. ' * 30}" for n in range(12)]


@pytest.fixture
def library(app_home: Path, keeper: str) -> Iterator[Library]:
    """The library of the app, without marks in the novella."""
    library = Library(app_home)
    for mark in library.marks(keeper):
        library.remove_mark(mark.id)
    yield library
    library.close()


@pytest.fixture(name="reader")
def open_novella(standing_page: Page, app_url: str, keeper: str, library: Library) -> Page:
    """The novella's first page: loaded, or drawn again from the library on the page that the test before left."""
    page = standing_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if page.url.startswith(app_url):
        go_to(page, "Library")
        expect(page.get_by_role("heading", name="Library")).to_be_visible()
        go_to(page, "Read")
        expect(page.locator(".leaf.cur")).to_be_attached()
    else:
        page.goto(f"{app_url}/read?book={keeper}&page=1")
        expect(page.locator(".leaf.cur")).to_be_attached()
    page.locator(".leaves").focus()
    for _ in range(50):
        page.keyboard.press("Home")  # another test may have left the place inside the page
        page.wait_for_timeout(100)
        if page.locator(".unit > .sec").first.bounding_box()["y"] > page.locator(".room").bounding_box()["y"]:
            break
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
    return page


def paragraph(page: Page, words: str) -> Locator:
    return page.locator(".unit > p").filter(has_text=words).first


def edge(page: Page, words: str, *, end: bool = False) -> tuple[float, float]:
    """A point on the screen in the first letter of ``words``, or in the last one."""
    box = paragraph(page, words).evaluate(
        """(p, [words, end]) => {
          const walker = document.createTreeWalker(p, 4);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const at = node.data.indexOf(words);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, end ? at + words.length - 1 : at);
            range.setEnd(node, end ? at + words.length : at + 1);
            const { left, right, top, height } = range.getBoundingClientRect();
            return [end ? right : left, top + height / 2];
          }
        }""",
        [words, end],
    )
    return box[0], box[1]


def drag(page: Page, first: str, last: str) -> None:
    page.mouse.move(*edge(page, first))
    page.mouse.down()
    page.mouse.move(*edge(page, last, end=True), steps=4)
    page.mouse.up()
    expect(page.locator(".selmenu")).to_be_visible()


def stored(library: Library, book: str, count: int) -> tuple[Mark, ...]:
    """The marks of the book, once there are so many."""
    for _ in range(400):
        marks = library.marks(book)
        if len(marks) == count:
            return marks
        threading.Event().wait(0.05)
    raise AssertionError(f"{len(marks)} marks, not {count}")


def test_words_selected_by_mouse_are_highlighted_changed_removed_and_copied(
    reader: Page, library: Library, keeper: str
) -> None:
    page = reader
    drag(page, "Why the", "First one sank")  # from one paragraph into the next
    menu, room = page.locator(".selmenu").bounding_box(), page.locator(".room").bounding_box()
    top = edge(page, "Why the")[1]
    assert menu["y"] + menu["height"] < top
    assert menu["y"] >= room["y"]
    page.keyboard.press("c")
    expect(page.locator(".toast:not([hidden])")).to_contain_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    words = "“Why the Second Wife, Mr. Reeve?” I said at last.\n\n“First one sank”"
    assert copied == f"{words} (The Keeper of Harrow Light, p. 1)"

    drag(page, "hy the", "First one san")  # a part of a word selects the word
    page.get_by_role("button", name="Leaf highlight").click()
    expect(page.locator(".selmenu")).to_be_hidden()
    (mark,) = stored(library, keeper, 1)
    assert (mark.kind, mark.colour) == ("highlight", "leaf")
    assert mark.exact.startswith("Why the *Second Wife*, Mr. Reeve?”")
    assert mark.exact.endswith("“First one sank")
    assert len(page.evaluate(PAINTED, "mark-leaf")) == 2  # a range for each paragraph
    page.get_by_role("button", name="Undo").click()
    stored(library, keeper, 0)
    assert page.evaluate(PAINTED, "mark-leaf") == []

    drag(page, "First one sank", "First one sank")
    page.keyboard.press("1")
    page.mouse.click(*edge(page, "one sank"))
    card = page.get_by_role("dialog", name="Highlight")
    card.get_by_role("button", name="Lilac").click()
    stored(library, keeper, 1)

    paragraph(page, "That is why I am here").scroll_into_view_if_needed()
    expect(paragraph(page, "What the Board knew")).to_be_in_viewport()
    expect(page.locator('.leaf[data-n="2"]')).to_be_in_viewport()  # its gist, in the margin
    words = "That is why I am here.”\n\n* * *\n\nWhat the Board knew"
    drag(page, "That is why", "What the Board knew")  # across a page break, without the gist between them
    page.keyboard.press("3")
    (sky,) = (mark for mark in stored(library, keeper, 2) if mark.colour == "sky")
    assert sky.exact == words.replace("\n\n", "\n")
    assert page.evaluate(PAINTED, "mark-sky") == words.split("\n\n")
    page.keyboard.press("Home")
    page.reload()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
    page.wait_for_function("CSS.highlights.get('mark-lilac')?.size === 1")
    page.wait_for_function("CSS.highlights.get('mark-sky')?.size")
    assert page.evaluate(PAINTED, "mark-lilac") == ["First one sank"]
    assert page.evaluate(PAINTED, "mark-sky") == words.split("\n\n")
    page.locator(".find input").fill("sank")  # a search draws the paragraph again
    page.keyboard.press("Enter")
    expect(page.locator("mark.now")).to_have_text("sank")
    assert page.evaluate(PAINTED, "mark-lilac") == ["First one sank"]
    page.keyboard.press("Escape")
    page.mouse.click(*edge(page, "one sank"))
    card.get_by_role("button", name="Remove").click()
    stored(library, keeper, 1)
    page.get_by_role("button", name="Undo").click()
    assert {mark.colour for mark in stored(library, keeper, 2)} == {"lilac", "sky"}

    notes = page.get_by_role("dialog", name="Notes of all books")
    for _ in range(2):  # a note leads to its words again, too
        page.keyboard.press("End")
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "25")
        go_to(page, "Library")
        page.get_by_role("button", name="Notes", exact=True).click()
        notes.get_by_role("button", name="First one sank").click()
        expect(paragraph(page, "First one sank")).to_be_in_viewport()
    page.get_by_role("button", name="Back to Notes").click()
    expect(notes.locator(".it")).to_have_count(2)
    assert "?" not in page.url
    notes.locator(".it", has_text="First one sank").hover()
    notes.get_by_role("button", name="Remove").click()
    expect(notes).to_contain_text("Removed “First one sank”.")
    stored(library, keeper, 1)
    notes.get_by_role("button", name="Undo").click()
    expect(notes.locator(".it")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(notes).to_have_count(0)
    assert "?" not in page.url
    go_to(page, "Read")


def test_words_are_selected_by_keyboard_and_notes_are_found_again(reader: Page, library: Library, keeper: str) -> None:
    page = reader
    page.keyboard.press("Home")
    page.keyboard.press("v")
    expect(page.locator(".selmenu")).to_be_visible()
    page.keyboard.press("ArrowDown")  # the next sentence too
    page.keyboard.press("Shift+ArrowRight")  # without its first word
    page.keyboard.press("n")
    page.keyboard.type("4 an ace note")  # letters that are keys of the menu too
    page.keyboard.press("Escape")  # however the card is closed, what was typed is kept
    (note,) = stored(library, keeper, 1)
    assert (note.kind, note.note) == ("note", "4 an ace note")
    assert note.exact == "came to Harrow to count things. That is what I was paid for, and at two pounds a week " \
        "I did not expect to be paid for anything else."  # fmt: skip
    expect(page.get_by_role("button", name="Note 1")).to_be_visible()
    page.keyboard.press("v")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Rose highlight")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    stored(library, keeper, 2)

    page.keyboard.press("End")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "25")
    page.keyboard.press("b")
    stored(library, keeper, 3)
    (bookmark,) = [mark for mark in library.marks(keeper) if mark.kind == "bookmark"]
    assert not bookmark.suffix[:1].isalnum(), bookmark  # a whole word ends it
    expect(page.get_by_role("button", name="Remove the bookmark")).to_be_visible()
    expect(page.get_by_role("button", name="Bookmark", exact=True)).to_be_visible()
    expect(page.locator(".marktick")).not_to_have_count(0)
    panel = page.get_by_role("complementary", name="Notes")
    page.keyboard.press("i")
    expect(panel).to_be_visible()
    page.keyboard.press("i")  # a key again, not a letter in its field
    expect(panel).to_be_hidden()
    page.keyboard.press("i")
    expect(panel.locator(".it")).to_have_count(3)
    panel.get_by_role("button", name="Sky").click()
    expect(panel.locator(".it")).to_have_count(1)
    panel.get_by_role("button", name="Sky").click()
    panel.get_by_role("searchbox").fill("ace")
    expect(panel.locator(".it")).to_have_count(1)
    panel.get_by_role("button", name="Go to p. 1").click()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "1")
    page.get_by_role("button", name="Back to").click()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "25")

    panel.get_by_role("button", name="Export or import notes").click()
    dialog = page.get_by_role("dialog", name="Export notes")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="JSON").click()
    expect(dialog).to_contain_text("Saved in your downloads: ")
    file = download.value.path()
    library.remove_mark(note.id)
    dialog.locator("input[type=file]").set_input_files(
        {"name": "notes.json", "mimeType": "application/json", "buffer": Path(file).read_bytes()}
    )
    expect(dialog).to_contain_text("1 mark added")
    stored(library, keeper, 3)
    dialog.get_by_role("button", name="Undo").click()
    stored(library, keeper, 2)
    expect(dialog).not_to_contain_text("1 mark added")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.locator(".leaves").focus()
    page.keyboard.press("v")
    page.keyboard.press("n")
    page.keyboard.type("typed as the window was left")
    page.reload()
    made = stored(library, keeper, 3)
    assert "typed as the window was left" in [mark.note for mark in made]


def test_an_answer_is_kept_beside_its_page(reader: Page, library: Library, keeper: str) -> None:
    page = reader
    go_to(page, "Ask")
    page.get_by_role("button", name="Keep", exact=True).first.click()
    expect(page.locator(".keptline")).to_be_visible()
    (mark,) = stored(library, keeper, 1)
    assert mark.kind == "answer"
    go_to(page, "Read")
    expect(page.locator(".leaf.cur")).to_be_attached()
    page.keyboard.press("i")
    panel = page.get_by_role("complementary", name="Notes")
    expect(panel).to_contain_text(mark.answer["question"])
    panel.get_by_role("button", name="Go to page").first.click()
    expect(page.get_by_role("button", name="Answer kept here")).to_be_visible()
    go_to(page, "Ask")
    page.get_by_role("button", name="Do not keep this answer").click()
    stored(library, keeper, 0)
    expect(page.get_by_role("button", name="Keep", exact=True).first).to_be_visible()


def test_words_are_selected_by_touch_and_the_menu_is_a_sheet(
    chromium: Browser, app_url: str, keeper: str, library: Library
) -> None:
    size = {"width": 390, "height": 844}
    context = chromium.new_context(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce")
    page = context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.goto(f"{app_url}/read?book={keeper}&page=1")
    text = paragraph(page, "I came to Harrow")
    expect(text).to_be_visible()
    page.keyboard.press("Home")
    expect(text).to_be_in_viewport()
    text.evaluate(SELECT_WORD, ",")
    expect(page.get_by_role("button", name="Copy with page")).to_be_visible()
    expect(page.get_by_role("button", name="Define")).to_be_hidden()  # a mark alone is no word
    text.evaluate(SELECT_WORD, "Harrow")  # as a long press does, which the browser without a window has not
    sheet = page.locator(".selmenu")
    expect(sheet).to_be_visible()
    expect(sheet.locator("q")).to_have_text("Harrow")
    for button in sheet.get_by_role("button").all():
        assert button.bounding_box()["height"] >= 48
    below = sheet.bounding_box()["y"]
    assert edge(page, "Harrow")[1] < below  # the words stay in sight
    page.get_by_role("button", name="Define").tap()
    card = page.get_by_role("dialog", name="In this book")
    expect(card).to_contain_text("No dictionary is on this computer yet.")
    expect(card.get_by_role("button", name="Add a dictionary")).to_be_visible()
    assert page.evaluate(PAINTED, "chosen") == ["Harrow"]
    place = card.get_by_role("listitem").first
    expect(place).to_contain_text("Harrow")
    place.get_by_role("button").tap()
    expect(card).to_be_hidden()
    assert page.evaluate(PAINTED, "chosen") == []
    expect(text).not_to_be_in_viewport()
    page.get_by_role("button", name="Back to").tap()
    expect(text).to_be_in_viewport()
    text.evaluate(SELECT_WORD, "Harrow")
    page.get_by_role("button", name="Define").tap()
    card.get_by_role("button", name="Add a dictionary").tap()
    page.get_by_role("button", name="Back to the book").tap()
    expect(page.locator(".find")).to_be_visible()
    context.close()
    assert not thrown


def test_a_passage_is_explained_within_the_limit_stopped_asked_again_and_carried_to_ask(
    page: Page, model_app_url: str, model_app_home: Path, fake_server: FakeServer, request: pytest.FixtureRequest
) -> None:
    free, start = threading.Event(), len(fake_server.chats)
    texts = [f"{text} {uuid4()}" for text in TEXTS]  # what was said of it before, in another try, is not found
    memory = make_memory(texts, [f"Gist {n} of Vane." for n in range(12)], title="Lamps")
    book = add_read_book(model_app_home, memory, "lamps.txt")
    library = Library(model_app_home)
    library.set_furthest(book, 3)
    library.set_limit(book, on=True)

    def before(number: int, text: str) -> Reply:
        if number == start:
            free.wait(60)
        return Reply("Vane is the keeper.")

    fake_server.before = before
    request.addfinalizer(lambda: setattr(fake_server, "before", None))
    page.goto(f"{model_app_url}/read?book={book}&page=2")
    expect(paragraph(page, "Evening 1.")).to_be_visible()
    drag(page, "and 🏮 twice on 1.", "and 🏮 twice on 1.")
    page.keyboard.press("e")
    card = page.get_by_role("dialog", name="Explanation")
    expect(card).to_contain_text("fake-model on this computer")
    card.get_by_role("button", name="Stop").click()
    expect(card).to_contain_text("Stopped.")
    free.set()
    card.get_by_role("button", name="Try again").click()
    expect(card).to_contain_text("Vane is the keeper.")
    expect(card).to_contain_text(re.compile(r"\d+ words sent"))
    assert all("Evening 2." in chat.text and "Evening 3." not in chat.text for chat in fake_server.chats[start:])
    card.get_by_role("button", name="Save as note").click()
    (mark,) = stored(library, book, 1)
    assert mark.exact == "and 🏮 twice on 1."  # though the browser counts the lamp as two
    assert mark.note == "Vane is the keeper. (fake-model on this computer)"
    drag(page, "Evening 1.", "Evening 1.")
    page.keyboard.press("a")
    expect(page.get_by_placeholder("Ask about the book")).to_have_value("“Evening 1.”\n")
    library.close()


def test_a_word_pressed_twice_is_looked_up_and_kept(page: Page, model_app_url: str, model_app_home: Path) -> None:
    make_stardict(model_app_home / FOLDER, [("lamp", b"a thing that gives light")], title="Small")
    Dictionaries(model_app_home).update()
    texts = [f"{text} Lamps burned." for text in TEXTS]
    book = add_read_book(model_app_home, make_memory(texts, ["Gist."] * len(texts), title="Words"), "words.txt")
    page.goto(f"{model_app_url}/read?book={book}&page=1")
    expect(paragraph(page, "Evening 0.")).to_be_visible()
    page.wait_for_function(KNOWS_DICTIONARIES, arg=book)
    page.mouse.dblclick(*edge(page, "Lamps burned."))
    card = page.get_by_role("dialog", name="Definition")
    assert "Asking the model" not in card.inner_text()
    expect(card).to_contain_text("a thing that gives light")
    library = Library(model_app_home)
    assert [(one.word, one.form) for one in library.words(book)] == [("lamp", "Lamps")]
    library.close()
    card.get_by_role("button", name="Highlight, note and more").click()
    expect(page.get_by_role("toolbar", name="Selected words")).to_be_visible()
