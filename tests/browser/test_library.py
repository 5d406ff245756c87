"""The library in a browser: cards, opening files, removing with undo, what cannot be opened, and beginning anew."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

from playwright.sync_api import Page, expect
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from readagent_core.export.memory import export_memory
from tests.browser.conftest import StartApp, go_to
from tests.recordings import make_memory

STORY = "The Ferry at Low Water\n\n" + "\n\n".join(
    f"On day {n} the ferry came late, and the ferryman said that the river had told him so. Nobody asked how." * 3
    for n in range(1, 60)
)


ARRIVES = """() => {
  window.arrived = false;
  const look = () => {
    const shape = document.querySelector(".arriving");
    if (shape?.checkVisibility()) window.arrived = true;
    else requestAnimationFrame(look);
  };
  look();
}"""


def card(page: Page, title: str):
    return page.locator('[class*="st-key-card_"]').filter(has_text=title)


def counted(page: Page) -> int:
    """The cards, when all are drawn: one after another they come."""
    expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
    return page.locator('[class*="st-key-card_"]').count()


def test_samples_are_marked_and_open_where_they_were_read(page: Page, app_url: str) -> None:
    page.goto(app_url)
    keeper = card(page, "The Keeper of Harrow Light")
    expect(keeper).to_contain_text("Sample")
    expect(keeper).to_contain_text("English · 10,289 words")
    expect(keeper).to_contain_text("25 pages; the gists are 18 % as long")
    expect(keeper).to_contain_text("Read · a recording")
    keeper.get_by_test_id("stTooltipIcon").hover()
    meant = "A recording: a large language model read this on 2026-11-21."
    expect(page.get_by_test_id("stTooltipContent")).to_contain_text(meant)
    page.mouse.move(0, 0)
    limits = page.get_by_text("At most 200 MB a file; a text file 32 MB, a web page 12 MB.")
    expect(limits).to_be_visible()
    zone = page.get_by_test_id("stFileUploaderDropzone").bounding_box()
    assert 0 < limits.bounding_box()["y"] - zone["y"] - zone["height"] < 12  # nearer to it than to anything else
    expect(keeper.locator("svg.cover")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^\d+ books, .+ on this computer\.$"))).to_be_visible()
    page.evaluate(ARRIVES)
    keeper.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".leaf").first).to_be_attached()
    expect(page.locator(".st-key-which")).to_contain_text(meant)  # in the same words
    assert page.evaluate("window.arrived")  # the shape of the reader stood there before the reader
    expect(page.locator(".arriving")).to_be_hidden()


def test_a_file_is_dropped_reported_renamed_read_and_removed_with_undo(page: Page, app_url: str) -> None:
    page.goto(app_url)
    zone = page.locator('[data-testid="stFileUploaderDropzone"]')
    dragged = page.evaluate_handle(
        """([text, name]) => {
          const dragged = new DataTransfer();
          dragged.items.add(new File([text], name, { type: "text/plain" }));
          return dragged;
        }""",
        [STORY, "ferry.txt"],
    )
    for event in ("dragenter", "dragover", "drop"):
        zone.dispatch_event(event, {"dataTransfer": dragged})
    expect(page.get_by_role("dialog")).to_contain_text("Import report")
    page.keyboard.press("Escape")
    ferry = card(page, "The Ferry at Low Water")
    expect(ferry).to_contain_text("Not read")
    ferry.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Title and author").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("The Ferry at High Water")
    dialog.get_by_label("Author").fill("N. Byrne")
    dialog.get_by_role("button", name="Save").click()
    ferry = card(page, "The Ferry at High Water")
    expect(ferry).to_contain_text("N. Byrne")
    expect(dialog).to_have_count(0)
    ferry.get_by_role("button", name="Start reading").click()
    expect(page.locator(".leaf").first).to_be_attached()
    expect(page.locator(".job")).to_be_hidden()  # it ended by itself
    go_to(page, "Library")
    expect(ferry).to_contain_text(re.compile(r"\d+ pages; the gists are \d+ % as long"))
    expect(ferry).to_contain_text("Opened today")
    ferry.locator('[data-testid="stPopover"] button').click()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".st-key-removed")).to_contain_text("Removed The Ferry at High Water.")
    expect(ferry).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(ferry).to_contain_text(re.compile(r"\d+ pages; the gists are \d+ % as long"))


def test_on_a_phone_the_way_back_stands_where_the_card_stood(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(app_url)
    counted(page)
    last = page.locator('[class*="st-key-card_"]').last  # the header and all books before it are above it
    title = last.get_by_role("heading").inner_text()
    last.locator('[data-testid="stPopover"] button').click()
    page.get_by_role("button", name="Remove").click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_in_viewport(ratio=1)
    assert undo.bounding_box()["y"] > page.get_by_test_id("stHeader").bounding_box()["height"]
    expect(page.locator(".st-key-removed")).to_have_text(re.compile(f"Removed {re.escape(title)}"))
    undo.click()
    expect(card(page, title)).to_be_in_viewport()


def test_search_and_a_file_that_cannot_be_opened(page: Page, app_url: str, tmp_path: Path) -> None:
    page.goto(app_url)
    expect(card(page, "The Keeper of Harrow Light")).to_be_visible()
    cards = page.locator('[class*="st-key-card_"]')
    many = counted(page)
    page.locator(".st-key-sort button").click()
    page.get_by_role("option", name="Longest").click()
    expect(cards.first).to_contain_text("The Keeper of Harrow Light")
    expect(cards).to_have_count(many)  # another order, and none is gone
    page.locator(".st-key-q input").fill("council")
    page.locator(".st-key-q input").press("Enter")
    expect(card(page, "The Keeper of Harrow Light")).to_have_count(0)
    expect(card(page, "Harrow Sound Parish Council")).to_be_visible()
    broken = tmp_path / "broken.epub"
    broken.write_bytes(b"this is no archive")
    page.locator('input[type="file"]').set_input_files(str(broken))
    expect(page.locator('[class*="st-key-error_"]')).to_be_visible()
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)


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


def test_a_locked_pdf_asks_for_its_password_and_opens_only_with_that(page: Page, app_url: str) -> None:
    page.goto(app_url)
    diary = {"name": "diary.pdf", "mimeType": "application/pdf", "buffer": locked_pdf("heron-19")}
    page.locator('input[type="file"]').set_input_files(files=[diary])
    prompt = page.locator(".st-key-password")
    expect(prompt).to_contain_text("This file needs a password")
    prompt.locator('input[type="password"]').fill("stork-19")
    prompt.locator(".stFormSubmitButton button").click()
    expect(prompt).to_contain_text("That password does not open this PDF")
    expect(card(page, "The Locked Diary")).to_have_count(0)
    prompt.locator('input[type="password"]').fill("heron-19")
    prompt.locator(".stFormSubmitButton button").click()
    expect(page.get_by_role("dialog")).to_contain_text("Import report")
    page.keyboard.press("Escape")
    expect(card(page, "The Locked Diary")).to_contain_text("Not read")
    expect(prompt).to_have_count(0)  # it is asked for once


def test_an_exported_reading_is_dropped_in_and_is_a_book_that_was_read(page: Page, app_url: str) -> None:
    texts = [f"On day {n} there was fog, and no ship was seen from the tower. " * 9 for n in range(3)]
    memory = make_memory(texts, [f"Fog, {n}." for n in range(3)], title="Fog over the Sound")
    data = export_memory(memory, "json")
    page.goto(app_url)
    expect(card(page, "The Keeper of Harrow Light")).to_be_visible()
    before = counted(page)
    drop = page.locator('input[type="file"]')
    drop.set_input_files(files=[{"name": "x.json", "mimeType": "application/json", "buffer": b'{"no": "reading"}'}])
    expect(page.locator('[class*="st-key-error_"]')).to_contain_text("no exported gist memory")
    expect(page.locator('[class*="st-key-card_"]')).to_have_count(before)  # nothing was kept of it
    drop.set_input_files(files=[{"name": "fog-gists.json", "mimeType": "application/json", "buffer": data}])
    expect(card(page, "Fog over the Sound")).to_contain_text("3 pages; the gists are")
    expect(page.locator('[class*="st-key-card_"]')).to_have_count(before + 1)
    card(page, "Fog over the Sound").get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#p3 .gtext")).to_have_text("Fog, 2.")


def test_an_empty_library_says_how_to_begin(page: Page, start_app: StartApp, tmp_path: Path) -> None:
    with start_app(tmp_path / "home") as url:
        page.goto(f"{url}/read?page=2")  # the first thing a fresh server is asked for is a link to a screen
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "2")
        expect(page.locator('[data-testid="stTopNavLink"]')).to_have_count(6)
        page.goto(url)
        remove = page.locator('[class*="st-key-remove_"] button')
        for title in ("Harrow Light", "Parish Council", "雪の駅"):
            card(page, title).locator('[data-testid="stPopover"] button').click()
            expect(remove).to_have_count(1)
            remove.click()
            expect(card(page, title)).to_have_count(0)
            expect(remove).to_have_count(0)
        expect(page.locator(".st-key-empty")).to_contain_text("No books yet")
        page.get_by_role("button", name="Open the sample story").click()
        expect(card(page, "The Keeper of Harrow Light")).to_be_visible()
