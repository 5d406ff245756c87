"""The library in a browser: adding files and folders, cards, shelves, search, removing with undo."""

from __future__ import annotations

import re
import sqlite3
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from readagent_core.library import Library
from readagent_core.library.schema import FILE as LIBRARY_FILE
from tests.browser.conftest import go_to

STORY = "The Ferry at Low Water\n\n" + "\n\n".join(
    f"On day {n} the ferry came late, and the ferryman said that the river had told him so. Nobody asked how." * 3
    for n in range(1, 60)
)
KEEPER = "The Keeper of Harrow Light"
CATALOGUED = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>A Tide Table</dc:title></metadata></package>"""


def card(page: Page, title: str) -> Locator:
    return page.locator(".bk").filter(has=page.get_by_role("link", name=title))


def act_on(page: Page, title: str, what: str) -> None:
    """Choose ``what`` from the menu of a book's card."""
    book = card(page, title)
    book.hover()
    book.get_by_role("button", name=f"More about {title}").click()
    page.get_by_role("menuitem", name=what, exact=True).click()


def drop(page: Page, name: str, data: bytes, kind: str = "text/plain") -> None:
    """Drop a file on the page, not on any zone of it."""
    dragged = page.evaluate_handle(
        """([bytes, name, type]) => {
          const dragged = new DataTransfer();
          dragged.items.add(new File([new Uint8Array(bytes)], name, { type }));
          return dragged;
        }""",
        [list(data), name, kind],
    )
    for event in ("dragenter", "dragover", "drop"):
        page.locator("body").dispatch_event(event, {"dataTransfer": dragged})


@pytest.fixture
def library_url(app_home: Path, app_url: str, keeper: str) -> str:
    """The app of ``app_url``, whose novella has been opened, so that the library is no first visit."""
    library = Library(app_home)
    library.touch(keeper)
    library.set_preference("tour", "done")
    library.close()
    return app_url


@pytest.fixture
def page(standing_page: Page, library_url: str) -> Page:
    """The library, on the page that the test before left."""
    if not standing_page.url.startswith(library_url):
        standing_page.goto(library_url)
    expect(card(standing_page, KEEPER)).to_be_visible()
    return standing_page


def note_about(page: Page, name: str) -> Locator:
    hide = page.get_by_role("button", name=f"Hide the note about {name}")
    return page.locator(".note").filter(has=hide)


def hide_note(page: Page, name: str) -> None:
    note = note_about(page, name)
    note.get_by_role("button", name="Hide the note").click()
    expect(note).to_have_count(0)


def test_a_file_is_dropped_named_put_on_a_shelf_and_removed_with_undo(page: Page) -> None:
    drop(page, "ferry.txt", STORY.encode())
    note = note_about(page, "ferry.txt")
    expect(note).to_contain_text(re.compile(r"Added The Ferry at Low Water: .*words"))
    expect(page.get_by_role("dialog")).to_have_count(0)  # nothing is put in front of everything
    note.get_by_role("button", name="Import report of The Ferry at Low Water").click()
    expect(page.get_by_role("dialog", name="Import report")).to_contain_text("59 paragraphs")
    page.keyboard.press("Escape")
    hide_note(page, "ferry.txt")
    expect(card(page, "The Ferry at Low Water")).to_contain_text(re.compile(r"Not started, \d+ min"))
    expect(card(page, "The Ferry at Low Water")).to_contain_text("No gists yet")
    act_on(page, "The Ferry at Low Water", "Title, author and tags")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("The Ferry at High Water")
    dialog.get_by_label("Author").fill("N. Byrne")
    dialog.get_by_role("button", name="Save").click()
    ferry = card(page, "The Ferry at High Water")
    expect(ferry).to_contain_text("N. Byrne")
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="+ New shelf").click()
    page.get_by_role("textbox", name="Name of the new shelf").fill("Rivers")
    page.keyboard.press("Enter")
    shelf = page.get_by_role("button", name=re.compile("^Rivers, "))
    shelf.click()
    expect(page.locator(".nothing").get_by_role("status")).to_have_text(
        "No books on this shelf yet. Select some and press Shelf."
    )
    page.get_by_role("searchbox").fill("ferry")
    page.get_by_role("button", name="Look in all books").click()
    expect(ferry).to_be_visible()
    page.get_by_role("searchbox").fill("")
    shelf.click()
    page.get_by_role("button", name="Select books").click()
    selected = page.get_by_role("toolbar", name="Selected books")
    expect(selected).to_contain_text("Select books")
    expect(ferry).to_be_visible()
    shown = page.locator(".bk").count()
    middles = {
        round(box["y"] + box["height"] / 2) for box in map(Locator.bounding_box, selected.locator(".btn:visible").all())
    }
    assert len(middles) == 1, middles
    box, title = ferry.get_by_role("checkbox").bounding_box(), ferry.locator("svg.cover text").last.bounding_box()
    assert box["y"] > title["y"] + title["height"]  # no letter of the cover is hidden
    selected.get_by_role("button", name=f"Select all {shown}").click()
    expect(selected.get_by_role("status")).to_have_text(f"{shown} books selected")
    expect(selected.get_by_role("button", name="Select all")).to_have_count(0)
    page.set_viewport_size({"width": 720, "height": 450})  # 200 %
    expect(page.get_by_role("button", name="+ New shelf")).to_be_in_viewport(ratio=1)
    heading = page.get_by_role("heading", name="Library").bounding_box()
    field = page.get_by_role("searchbox").bounding_box()
    assert field["y"] < heading["y"] + heading["height"], "they share a row, so that books are in sight"
    page.set_viewport_size({"width": 1440, "height": 900})
    selected.get_by_role("button", name="Series").click()
    expect(dialog.get_by_label("Name of the series")).to_be_focused()
    page.keyboard.type("Crossings")
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".toast:not([hidden])")).to_contain_text(f"Saved the series Crossings, {shown} books.")
    expect(selected).to_be_hidden()
    expect(ferry).to_contain_text("of Crossings")
    page.locator(".toast:not([hidden])").get_by_role("button", name="Undo").click()
    expect(ferry).not_to_contain_text("of Crossings")
    act_on(page, "The Ferry at High Water", "Put on a shelf")
    page.get_by_role("menuitemradio", name="Rivers").click()
    expect(shelf).to_have_attribute("aria-label", "Rivers, 1 book")
    page.locator(".toast:not([hidden])").get_by_role("button", name="Undo").click()
    expect(shelf).to_have_attribute("aria-label", "Rivers, 0 books")

    act_on(page, "The Ferry at High Water", "Make gists")
    expect(dialog).to_contain_text("The built-in reader costs nothing.")
    dialog.get_by_role("button", name="Make gists").click()
    expect(ferry).to_contain_text("Gists ready")  # without a click
    act_on(page, "The Ferry at High Water", "Remove")
    expect(page.locator(".toast:not([hidden])")).to_contain_text("Removed The Ferry at High Water.")
    expect(ferry).to_have_count(0)
    page.locator(".toast:not([hidden])").get_by_role("button", name="Undo").click()
    expect(ferry).to_contain_text("Gists ready")


def test_titles_and_texts_are_searched(page: Page) -> None:
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("COUNCIL")
    expect(card(page, "Harrow Sound Parish Council")).to_be_visible()
    expect(card(page, KEEPER)).to_have_count(0)
    search.fill('"always count the oil"')
    expect(page.locator(".nothing")).to_contain_text("No title or author has")
    search.fill("xyzzyx")
    expect(page.locator(".hits")).to_contain_text("No text has “xyzzyx”. Try fewer words")
    search.fill('"always count the oil"')
    hit = page.locator(".hitbook").filter(has_text=KEEPER).get_by_role("link")
    expect(hit.locator("mark").first).to_have_text("always count the oil")
    hit.click()
    expect(page).to_have_url(re.compile(r"/read\?.*paragraph=\d+"))
    go_to(page, "Library")
    expect(search).to_have_value('"always count the oil"')  # the screen is as it was left
    expect(hit).to_be_visible()
    search.fill("lighthouse")
    every = re.compile(r"^All \d+ passages$")
    page.locator(".hitbook").filter(has_text=KEEPER).first.get_by_role("link", name=every).click()
    expect(page.locator(".find input")).to_have_value("lighthouse")  # the search in the book has them all
    expect(page.locator(".leaves")).to_be_visible()
    go_to(page, "Library")
    expect(page.locator(".hitbook").first).to_be_visible()  # both screens have a field with this word
    search.press("Escape")
    expect(card(page, KEEPER)).to_be_visible()
    page.get_by_role("button", name="Sorted by: Last opened").click()
    page.get_by_role("menuitemradio", name="Longest").click()
    shorter = card(page, KEEPER).locator("xpath=following-sibling::*")  # other tests may have longer books here
    expect(shorter.filter(has_text="Harrow Sound Parish Council")).to_have_count(1)


def test_a_folder_is_imported_undone_and_restored(page: Page, app_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "Harbour Books"
    table = folder / "A Tide Table" / "table.txt"
    table.parent.mkdir(parents=True)
    for n in range(2):
        (folder / f"tide-{n}.txt").write_text(f"High water {n} came at noon on {tmp_path}.", encoding="utf-8")
    (folder / "broken.epub").write_bytes(b"no archive")
    table.write_text(f"High water at noon on {tmp_path}.", encoding="utf-8")
    (table.parent / "metadata.opf").write_text(CATALOGUED, encoding="utf-8")
    dragged = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 300, "y": 300, "data": dragged})
    note = note_about(page, "Harbour Books")
    expect(note).to_contain_text("This is a folder")
    note.get_by_role("button", name="Import a folder").click()
    dialog = page.get_by_role("dialog", name="Import a folder")
    held = sqlite3.connect(app_home / LIBRARY_FILE, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")  # the import waits here until the test lets go
    dialog.locator('input[type="file"]').set_input_files(folder)
    note = page.locator(".note").filter(has_text="Harbour Books")
    expect(note).to_contain_text("Importing Harbour Books")
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="Add a book").click()
    page.get_by_role("menuitem", name="Import a folder").click()
    expect(dialog).to_contain_text("is being imported")
    held.execute("ROLLBACK")
    held.close()
    library = Library(app_home)
    for _ in range(100):
        if any(book.title == "A Tide Table" for book in library.books()):
            break
        page.wait_for_timeout(100)
    library.close()
    page.wait_for_timeout(1500)  # longer than until the app looks at the import again
    expect(dialog).to_contain_text("is being imported")  # the progress of the import has not closed it
    page.keyboard.press("Escape")
    expect(note).to_contain_text("3 books imported, 1 file not imported.")
    expect(card(page, "tide 1")).to_be_visible()
    note.get_by_role("button", name="Undo").click()
    expect(note).to_contain_text("3 books removed again.")
    expect(card(page, "tide 1")).to_have_count(0)
    note.get_by_role("button", name="Restore").click()
    expect(card(page, "tide 1")).to_be_visible()
    note.get_by_role("button", name="Report").click()
    expect(page.get_by_role("dialog", name="Import report")).to_contain_text("broken.epub: This file")
    page.keyboard.press("Escape")
    hide_note(page, "Harbour Books")


def locked_pdf(password: str) -> bytes:
    plain, locked = BytesIO(), BytesIO()
    canvas = Canvas(plain)
    canvas.setTitle("The Locked Diary")
    for line in range(12):
        canvas.drawString(72, 760 - 20 * line, f"On evening {line} the keeper wrote that nobody had come to the door.")
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(BytesIO(plain.getvalue())))
    writer.encrypt(password, algorithm="AES-256")
    writer.write(locked)
    return locked.getvalue()


def test_a_locked_pdf_asks_for_its_password_and_opens_only_with_that(page: Page) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a book").click()
        page.get_by_role("menuitem", name="Choose files").click()
    chooser.value.set_files([{"name": "diary.pdf", "mimeType": "application/pdf", "buffer": locked_pdf("heron-19")}])
    note = note_about(page, "diary.pdf")
    note.get_by_role("button", name="Enter the password").click()
    dialog = page.get_by_role("dialog", name="This file needs a password")
    expect(dialog.locator('input[type="password"]')).to_be_focused()
    for password in ("stork-19", "heron-19"):
        dialog.locator('input[type="password"]').fill(password)
        dialog.get_by_role("button", name="Open").click()
        if password == "stork-19":  # said where it is typed
            expect(dialog).to_contain_text("That password does not open this PDF")
    expect(dialog).to_have_count(0)
    expect(note).to_contain_text("The Locked Diary")
    expect(card(page, "The Locked Diary")).to_contain_text("No gists yet")
    hide_note(page, "diary.pdf")


def test_on_a_phone_nothing_is_cut_off_and_undo_can_be_reached(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    last = page.locator(".bk").last
    title = last.get_by_role("link").inner_text()
    last.get_by_role("button", name=f"More about {title}").click()
    page.get_by_role("menuitem", name="Remove").click()
    undo = page.locator(".toast:not([hidden])").get_by_role("button", name="Undo")
    expect(undo).to_be_in_viewport(ratio=1)
    undo.click()
    expect(card(page, title)).to_have_count(1)
    assert page.locator(".part, .continuing:not([hidden])").first.bounding_box()["y"] < 250  # the books begin
    page.get_by_role("button", name="Sort, filter, notes, select").click()
    page.get_by_role("menuitem", name="Sorted by").click()
    expect(page.get_by_role("menuitemradio", name="Title")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Sort, filter, notes, select").click()
    page.get_by_role("menuitem", name="Select", exact=True).click()
    last.get_by_role("checkbox").click()
    for act in page.locator(".selbar button").all():
        expect(act).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Clear the selection").click()
    page.set_viewport_size({"width": 390, "height": 500})
    page.get_by_role(
        "button", name="paste a link or text"
    ).click()  # at the foot; what became of it is said at the head
    page.get_by_role("textbox", name="Paste a link or text").fill(
        "A Small Tale\n\nThe lamp went out, and nobody lit it."
    )
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.locator(".notes .note").filter(has_text="A Small Tale")).to_be_in_viewport(ratio=1)
