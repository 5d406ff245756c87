"""The notes about many files at once, and a removal that was undone elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import StartApp
from tests.browser.test_library import act_on, card, drop


def test_many_files_share_a_note_and_one_book_is_opened_from_its_note(
    page: Page, start_app: StartApp, tmp_path: Path
) -> None:
    files = [
        {
            "name": f"house-{n}.txt",
            "mimeType": "text/plain",
            "buffer": f"House {n}\n\nDear aunt, it rains in {n}.".encode(),
        }
        for n in range(6)
    ]
    with start_app(tmp_path / "home") as url:
        page.goto(url)
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose a file").click()
        chooser.value.set_files(files)
        notes = page.locator(".note")
        added = page.locator(".notes > .note")
        expect(added).to_have_text([re.compile(r"^Added 6 books\. Details")])
        expect(added.locator(".note").nth(3)).to_be_hidden()
        added.get_by_text("Details").click()  # a line for each
        expect(added.locator(".note").nth(3)).to_contain_text("Added house 3: ")
        expect(added.locator(".note").nth(3)).to_be_visible()
        notes.get_by_role("button", name="Hide the note about the added books").click()
        expect(notes).to_have_count(0)
        act_on(page, "House 3", "Remove")
        page.get_by_role("button", name="1 removed book").click()
        page.get_by_role("dialog").get_by_role("button", name="Restore").click()
        expect(card(page, "House 3")).to_have_count(1)
        expect(page.locator(".toast:not([hidden])")).to_be_hidden()  # there is nothing to undo
        page.get_by_role("button", name="Add a book").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("menuitem", name="Choose files").click()
        chooser.value.set_files(
            {**files[0], "name": "last-house.txt", "buffer": b"Last House\n\nDear aunt, it is dry."}
        )
        notes.get_by_role("button", name="Read last house").click()
        expect(page.locator(".leaves")).to_contain_text("it is dry")

        drop(page, "elsewhere.txt", b"Elsewhere\n\nDear aunt, it snows.")  # on a book: it is opened in its place
        expect(page.locator(".leaves")).to_contain_text("it snows")
        drop(page, "broken-0.epub", b"no archive")  # what cannot be opened is told in the library
        expect(notes).to_contain_text(["broken-0.epub"])
        notes.get_by_role("button", name="Back to the book").click()
        expect(page.locator(".leaves")).to_contain_text("it snows")
        page.get_by_role("link", name="Library").first.click()
        expect(notes).to_contain_text(["broken-0.epub"])
        for n in range(1, 3):
            drop(page, f"broken-{n}.epub", b"no archive")
        folded = notes.filter(has_text="3 files were not opened")
        expect(folded.locator(".note")).to_have_count(3)
        expect(folded.locator(".note").first).to_be_visible()
        page.get_by_role("searchbox").fill("dear")  # they leave the room to what is found
        expect(folded.locator(".note").first).to_be_hidden()
        page.get_by_role("searchbox").fill("")
        expect(folded.locator(".note").first).to_be_visible()
        page.reload()  # the notes stay until a person hides them; after the first look they are one line
        expect(folded).to_be_visible()
        expect(folded.locator(".note").first).to_be_hidden()
        folded.get_by_text("Why").click()
        expect(folded.locator(".note").first).to_contain_text("Download or copy the file again")
        expect(folded.locator(".note")).to_contain_text([f"broken-{n}.epub" for n in range(3)])
        outer, inner = folded.bounding_box(), folded.locator(".note").first.bounding_box()
        assert outer
        assert inner
        assert outer["x"] + outer["width"] - inner["x"] - inner["width"] < 16  # no column is kept free beside them
        folded.get_by_role("button", name="Hide the note about the files that were not opened").click()
        expect(folded).to_have_count(0)
        page.get_by_role("button", name="Add a book").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("menuitem", name="Choose files").click()
        broken = {**files[0], "name": "broken.epub", "buffer": b"no archive"}
        chooser.value.set_files([broken, {**files[0], "name": "a-barn.txt", "buffer": b"A Barn\n\nIt is dry."}])
        expect(page.locator(".notes > .note")).to_contain_text(["Added a barn", "broken.epub"])
        page.set_viewport_size({"width": 390, "height": 844})
        page.reload()
        expect(page.locator(".notes > .failed")).to_have_text(re.compile("^broken.epub was not opened. Why"))
        height = page.locator(".notes > .failed").bounding_box()["height"]
        assert height < 80, height


def test_files_dropped_one_by_one_outlive_the_screen_of_the_first_visit(
    page: Page, start_app: StartApp, tmp_path: Path
) -> None:
    with start_app(tmp_path / "home") as url:
        page.goto(url)
        page.get_by_role("button", name="Choose a file").wait_for()
        for n in range(4):  # the first book ends that screen while the others are on their way
            drop(page, f"house-{n}.txt", f"House {n}\n\nDear aunt, it rains in {n}.".encode())
        for n in range(4):
            expect(card(page, f"house {n}")).to_have_count(1)
