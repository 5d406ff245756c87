"""The library in a browser: the first visit, cards, adding files, shelves, search, selecting, removing with undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from readagent_core.document import Document, Paragraph
from readagent_core.export.memory import export_memory
from readagent_core.library import Library
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from readagent_core.workspace.reading import PAUSED
from readagent_core.workspace.samples import add_samples
from tests.browser.conftest import StartApp, go_to
from tests.recordings import make_memory

STORY = "The Ferry at Low Water\n\n" + "\n\n".join(
    f"On day {n} the ferry came late, and the ferryman said that the river had told him so. Nobody asked how." * 3
    for n in range(1, 60)
)
KEEPER = "The Keeper of Harrow Light"
MANY = 300


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


def make_home(home: Path, fill: Callable[[Workspace], None]) -> None:
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    add_samples(workspace)
    workspace.library.set_preference("tour", "done")
    fill(workspace)
    workspace.library.close()


def test_a_first_visit_says_what_this_is_and_opens_the_sample_story(
    page: Page, start_app: StartApp, tmp_path: Path
) -> None:
    make_home(tmp_path / "home", lambda workspace: None)
    with start_app(tmp_path / "home") as url:
        page.goto(f"{url}/settings")  # the first thing a fresh server is asked for is a link to a screen
        expect(page.locator('[data-testid="stTopNavLink"]')).to_have_count(6)
        page.goto(url)
        expect(page.get_by_role("heading", level=1)).to_contain_text("remembers every page of a book in short")
        expect(page.get_by_role("img", name=re.compile("cut into 25 pages.* opens page 14"))).to_be_visible()
        expect(page.locator(".model")).to_contain_text("work without a model")
        page.get_by_role("link", name="Open the sample story").click()
        expect(page).to_have_url(re.compile("/read"))
        expect(page.locator("#p1")).to_be_visible()
        go_to(page, "Library")
        expect(card(page, KEEPER)).to_contain_text("Sample")
        for title in (KEEPER, "Harrow Sound Parish Council", "雪の駅"):
            full = card(page, title).get_by_role("link").inner_text()
            act_on(page, full, "Remove")
            expect(card(page, title)).to_have_count(0)
        expect(page.locator(".nothing")).to_contain_text("No books yet. Drop a PDF")
        page.get_by_role("button", name="3 removed books").click()
        page.get_by_role("dialog").get_by_role("button", name="Restore").first.click()
        expect(page.locator(".bk")).to_have_count(1)


def test_a_file_is_dropped_named_put_on_a_shelf_and_removed_with_undo(page: Page, library_url: str) -> None:
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    drop(page, "ferry.txt", STORY.encode())
    note = page.locator(".note")
    expect(note).to_contain_text(re.compile(r"Added The Ferry at Low Water: .*words"))
    expect(page.get_by_role("dialog")).to_have_count(0)  # nothing is put in front of everything
    note.get_by_role("button", name="Import report of The Ferry at Low Water").click()
    expect(page.get_by_role("dialog", name="Import report")).to_contain_text("59 paragraphs")
    page.keyboard.press("Escape")
    note.get_by_role("button", name="Hide the note about ferry.txt").click()
    expect(note).to_have_count(0)
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
    expect(page.locator(".nothing")).to_have_text("No books on this shelf yet. Select some and press Shelf.")
    page.get_by_role("button", name=re.compile("^All, ")).click()
    act_on(page, "The Ferry at High Water", "Put on a shelf")
    page.get_by_role("menuitemradio", name="Rivers").click()
    expect(shelf).to_have_attribute("aria-label", "Rivers, 1 book")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(shelf).to_have_attribute("aria-label", "Rivers, 0 books")

    act_on(page, "The Ferry at High Water", "Make gists")
    expect(dialog).to_contain_text("The built-in reader costs nothing.")
    dialog.get_by_role("button", name="Make gists").click()
    expect(ferry).to_contain_text("Gists ready")  # without a click
    act_on(page, "The Ferry at High Water", "Remove")
    expect(page.locator(".toast")).to_contain_text("Removed The Ferry at High Water.")
    expect(ferry).to_have_count(0)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(ferry).to_contain_text("Gists ready")


def test_titles_and_texts_are_searched(page: Page, library_url: str) -> None:
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("COUNCIL")
    expect(card(page, "Harrow Sound Parish Council")).to_be_visible()
    expect(card(page, KEEPER)).to_have_count(0)
    search.fill('"always count the oil"')
    expect(page.locator(".nothing")).to_contain_text("No title or author has")
    hit = page.locator(".hitbook").filter(has_text=KEEPER).get_by_role("link")
    expect(hit.locator("mark").first).to_have_text("always count the oil")
    hit.click()
    expect(page).to_have_url(re.compile(r"/read\?.*paragraph=\d+"))
    go_to(page, "Library")
    expect(search).to_have_value('"always count the oil"')  # the screen is as it was left
    expect(hit).to_be_visible()
    search.press("Escape")
    expect(card(page, KEEPER)).to_be_visible()
    page.get_by_role("button", name="Sorted by: Last opened").click()
    page.get_by_role("menuitemradio", name="Longest").click()
    expect(page.locator(".bk").first).to_contain_text(KEEPER)


def test_what_cannot_be_opened_says_why_in_its_place(page: Page, library_url: str) -> None:
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    drop(page, "broken.epub", b"this is no archive", "application/epub+zip")
    note = page.locator(".note.failed").filter(has_text="broken.epub")
    expect(note).to_contain_text("The file is not what its name says")
    drop(page, "photo.jpg", b"\xff\xd8\xff\xe0" + bytes(400), "image/jpeg")
    expect(page.locator(".note.failed")).to_have_count(2)
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)
    note.get_by_role("button", name="Hide the note about broken.epub").click()
    expect(page.locator(".note.failed")).to_have_count(1)


def test_a_folder_is_imported_undone_and_restored(page: Page, library_url: str, app_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "Harbour Books"
    folder.mkdir()
    for n in range(8):  # each is opened by a process of its own, so that the import takes a while
        (folder / f"tide-{n}.html").write_text(f"<p>High water {n} came at noon.", encoding="utf-8")
    (folder / "broken.epub").write_bytes(b"no archive")
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    dragged = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 300, "y": 300, "data": dragged})
    note = page.locator(".note").filter(has_text="Harbour Books")
    expect(note).to_contain_text("This is a folder")
    note.get_by_role("button", name="Import a folder").click()
    dialog = page.get_by_role("dialog", name="Import a folder")
    dialog.get_by_role("textbox").fill(str(folder))
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(note).to_contain_text("Importing Harbour Books")

    page.get_by_role("button", name="Add a book").click()
    page.get_by_role("menuitem", name="Import a folder").click()
    library = Library(app_home)
    for _ in range(300):
        if sum(book.title.startswith("tide") for book in library.books()) == 8:
            break
        page.wait_for_timeout(200)
    library.close()
    page.wait_for_timeout(1500)
    expect(dialog).to_contain_text("is being imported")  # the progress of the import has not closed it
    page.keyboard.press("Escape")
    expect(note).to_contain_text("8 books imported, 1 file not imported.")
    expect(card(page, "tide 7")).to_be_visible()
    note.get_by_role("button", name="Undo").click()
    expect(note).to_contain_text("8 books removed again.")
    expect(card(page, "tide 7")).to_have_count(0)
    note.get_by_role("button", name="Restore").click()
    expect(card(page, "tide 7")).to_be_visible()
    note.get_by_role("button", name="Report").click()
    expect(page.get_by_role("dialog", name="Import report")).to_contain_text("broken.epub: This file")
    page.keyboard.press("Escape")
    note.get_by_role("button", name="Hide the note about Harbour Books").click()
    expect(note).to_have_count(0)


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


def test_a_locked_pdf_asks_for_its_password_and_opens_only_with_that(page: Page, library_url: str) -> None:
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a book").click()
        page.get_by_role("menuitem", name="Choose files").click()
    chooser.value.set_files([{"name": "diary.pdf", "mimeType": "application/pdf", "buffer": locked_pdf("heron-19")}])
    note = page.locator(".note").filter(has_text="diary.pdf")
    for password in ("stork-19", "heron-19"):
        note.get_by_role("button", name="Enter the password").click()
        dialog = page.get_by_role("dialog", name="This file needs a password")
        dialog.locator('input[type="password"]').fill(password)
        dialog.get_by_role("button", name="Open").click()
        expect(dialog).to_have_count(0)
        if password == "stork-19":
            expect(note).to_contain_text("That password does not open this PDF")
    expect(page.locator(".note.done")).to_contain_text("The Locked Diary")
    expect(card(page, "The Locked Diary")).to_contain_text("No gists yet")


def test_an_exported_reading_is_dropped_in_and_is_a_book_with_gists(page: Page, library_url: str) -> None:
    texts = [f"On day {n} there was fog, and no ship was seen from the tower. " * 9 for n in range(3)]
    memory = make_memory(texts, [f"Fog, {n}." for n in range(3)], title="Fog over the Sound")
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    drop(page, "x.json", b'{"no": "reading"}', "application/json")
    expect(page.locator(".note.failed")).to_contain_text("no exported gist memory")
    drop(page, "fog-gists.json", export_memory(memory, "json"), "application/json")
    expect(card(page, "Fog over the Sound")).to_contain_text("Gists ready")


def fill_with_many(workspace: Workspace) -> None:
    library = workspace.library
    for n in range(MANY):
        library.add(Document(f"Book {n:03}", (Paragraph(f"The text of book {n}. " * 40),), author="A. Writer"))
    by_title = {book.title: book for book in library.books()}
    begun = by_title["Book 007"]
    library.set_furthest(begun.id, 1)
    library.touch(by_title["Book 008"].id)
    for title, state, why, model in (
        ("Stopped Half-Way", "failed", "The server failed. It may be busy.", "a model"),
        ("Paused Half-Way", "paused", PAUSED, workspace.model.name),
    ):
        whole = make_memory([f"{title}: the gulls came back. " * 20] * 8, title=title, complete=False)
        whole = replace(whole, model=model)
        book = library.add(whole.document)
        reading = library.add_memory(book.id, replace(whole, pages=whole.pages[:4], gists=whole.gists[:4]))
        library.set_state(reading.id, state, why=why)


def test_many_books_are_drawn_where_they_are_seen_and_selected_by_keys(
    page: Page, start_app: StartApp, tmp_path: Path
) -> None:
    make_home(tmp_path / "home", fill_with_many)
    with start_app(tmp_path / "home") as url:
        page.goto(url)
        expect(card(page, "Book 008")).to_be_visible()
        expect(card(page, "Book 008")).to_contain_text("Not started")
        assert page.locator(".bk").count() < 80
        stopped = card(page, "Stopped Half-Way")
        page.get_by_role("searchbox").fill("half-way")
        expect(stopped).to_contain_text("Gists stopped at 50 %")
        expect(stopped.locator(".why")).to_have_text(
            "The server failed. 4 gists saved. Made with a model, which is not in use now. Connect a model"
        )
        page.get_by_role("button", name="Resume: gists of Paused Half-Way").click()
        expect(card(page, "Paused Half-Way").last).to_contain_text("Gists ready")
        page.get_by_role("searchbox").fill("")
        page.get_by_role("button", name="Sorted by: Last opened").click()
        page.get_by_role("menuitemradio", name="Title").click()
        page.get_by_role("link", name="Book 000").focus()
        page.keyboard.press("End")
        expect(page.locator(".bk").last.get_by_role("link")).to_be_focused()
        expect(page.locator(".bk").last).to_be_in_viewport()
        page.keyboard.press("Home")
        expect(page.get_by_role("link", name="Book 000")).to_be_focused()
        page.keyboard.press(" ")
        for _ in range(3):
            page.keyboard.press("Shift+ArrowRight")
        bar = page.get_by_role("toolbar", name="Selected books")
        expect(bar).to_contain_text("4 books selected")
        expect(bar.get_by_role("button", name="Ask this book")).to_be_hidden()
        bar.get_by_role("button", name="Tag").click()
        page.get_by_role("textbox", name="New tag").fill("first four")
        page.keyboard.press("Enter")
        expect(bar).to_be_hidden()
        expect(card(page, "Book 003")).to_contain_text("first four")
        page.get_by_role("button", name="All tags").click()
        page.get_by_role("menuitemradio", name="first four").click()
        expect(page.locator(".bk")).to_have_count(4)
        page.get_by_role("button", name="Tag: first four").click()
        page.get_by_role("menuitemradio", name="All tags").click()
        page.get_by_role("link", name="Book 005").press(" ")
        expect(bar.get_by_role("button", name="Ask this book")).to_be_visible()
        page.keyboard.press("Escape")
        expect(bar).to_be_hidden()


def test_on_a_phone_nothing_is_cut_off_and_undo_can_be_reached(page: Page, library_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(library_url)
    expect(card(page, KEEPER)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    last = page.locator(".bk").last
    title = last.get_by_role("link").inner_text()
    last.get_by_role("button", name=f"More about {title}").click()
    page.get_by_role("menuitem", name="Remove").click()
    undo = page.locator(".toast").get_by_role("button", name="Undo")
    expect(undo).to_be_in_viewport(ratio=1)
    undo.click()
    expect(card(page, title)).to_have_count(1)
