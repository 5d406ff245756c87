"""The book's world in the reader: cards of names, the world at a glance, where one was; and what the browser got."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, WebSocket, expect

from readagent_core.library import Library
from readagent_core.models.builtin.reader import BuiltInReader
from tests.browser.conftest import settled
from tests.world_story import SECRETS, add_story, read_to


class Received:
    """What the page got from the server since ``frames`` was emptied."""

    def __init__(self, page: Page) -> None:
        self.frames: list[bytes] = []
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.frames.append(frame if isinstance(frame, bytes) else b""))

    def has(self, word: str) -> bool:
        return any(word.encode() in frame for frame in self.frames)


def open_at(page: Page, url: str, home: Path, book: str, pages: int) -> None:
    library = Library(home)
    read_to(library, book, pages)
    library.close()
    page.goto(f"{url}/read?book={book}&paragraph={2 * pages - 2}")  # the page before may still store its own place
    expect(page.locator(f'p[data-i="{2 * pages - 2}"]')).to_be_in_viewport(timeout=60_000)
    settled(page)
    # a key pressed before the names have come opens nothing
    page.wait_for_function("() => [...CSS.highlights].some(([name, one]) => /name/.test(name) && one.size)")


def test_a_card_and_the_world_tell_what_was_read_and_the_browser_gets_no_more(
    new_page: Page, app_url: str, app_home: Path
) -> None:
    page, got = new_page, Received(new_page)
    book = add_story(app_home, read=3)
    open_at(page, app_url, app_home, book, 3)
    card, world = page.locator(".namecard"), page.locator(".worldpage")

    page.keyboard.press("x")  # the first name in view
    expect(card.get_by_role("heading")).to_have_text("Old Marn")
    expect(card).to_contain_text("What you know so far, as of page 3")
    expect(card).to_contain_text("Repairs netting, secretthree.")
    page.keyboard.press("x")
    expect(card.get_by_role("heading")).to_have_text("the stranger")
    expect(card).to_contain_text("Gives bullion, secretone.")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # to the words on page 1
    expect(card).to_be_hidden()
    expect(page.locator('p[data-i="0"]')).to_be_in_viewport()
    page.keyboard.press("Backspace")
    expect(page.locator('p[data-i="4"]')).to_be_in_viewport()

    page.keyboard.press("w")
    expect(world.get_by_role("button", name="People 4")).to_be_visible()
    expect(world).to_contain_text("drowned, they claim, secrettwo")
    slider = world.get_by_role("slider")
    expect(slider).to_have_text("As of page 3")
    slider.press("ArrowLeft")
    expect(slider).to_have_text("As of page 2")
    expect(world).not_to_contain_text("secretthree")
    expect(world.get_by_role("button", name="People 2")).to_be_visible()
    world.get_by_role("button", name="1 met once, without a name").click()
    expect(world).to_contain_text("Each may be one of those above")
    world.get_by_role("button", name="the stranger", exact=True).click()
    expect(world).to_contain_text("Gives bullion, secretone.")
    world.get_by_role("button", name="Close the card").click()
    slider.press("End")
    expect(slider).to_have_text("As of page 3")
    page.keyboard.press("Escape")
    expect(world).to_be_hidden()

    for pages in range(3, 7):
        got.frames.clear()
        open_at(page, app_url, app_home, book, pages)
        page.get_by_role("button", name="Where was I?").click()
        expect(world).to_contain_text("Just before")
        settled(page)
        assert got.has(SECRETS[pages])
        leaks = [word for later, word in SECRETS.items() if later > pages and got.has(word)]
        assert not leaks, (pages, leaks)
        page.keyboard.press("Escape")

    page.keyboard.press("w")  # page 6 tells that two are one
    world.locator("button.nme", has_text="Captain Sorley").click()
    expect(world).to_contain_text("one person, from page 6")
    expect(world).to_contain_text("also the stranger")
    world.get_by_role("button", name="Lift the limit").click()
    expect(world).to_contain_text("Show page 7 too?")
    world.get_by_role("button", name="Show them").click()
    expect(world.get_by_role("slider")).to_have_text("As of page 7")
    assert got.has(SECRETS[7])
    page.goto(f"{app_url}/read?book={book}&paragraph=0")  # whatever the world shows, it ends where the person is
    page.get_by_role("button", name="Where was I?").click()
    expect(world).to_contain_text("You are on page 1 of 7")
    expect(world.get_by_role("slider")).to_have_text("As of page 7")
    expect(world.locator(".worldside")).not_to_contain_text(SECRETS[7])


def test_on_a_phone_the_gist_of_a_page_does_not_lie_on_what_checks_its_chapter(
    new_page: Page, app_url: str, app_home: Path
) -> None:
    page = new_page
    book = add_story(app_home, read=7)
    library = Library(app_home)
    (gisting,) = library.gistings(book)
    made = [{"question": "Who rowed?", "answer": "Hester Quill", "page": 7}]
    library.artifacts(gisting.document_id).save("study", f"{gisting.id} 1-7 {BuiltInReader().name}", made)
    library.close()
    page.set_viewport_size({"width": 390, "height": 844})
    open_at(page, app_url, app_home, book, 7)
    page.get_by_role("button", name="Check yourself").click(timeout=10_000)
    questions = page.get_by_role("dialog", name="Check yourself")
    expect(questions).to_contain_text("Who rowed?")
    page.keyboard.press("Space")
    expect(questions).to_contain_text("Hester Quill")


def test_without_notes_a_name_has_its_pages_and_can_be_no_name(page: Page, app_url: str, app_home: Path) -> None:
    book = add_story(app_home, read=4, with_notes=False)
    open_at(page, app_url, app_home, book, 4)
    card = page.locator(".namecard")
    page.keyboard.press("x")
    expect(card).to_contain_text("Found by rule; what the pages tell needs a model.")
    name = card.get_by_role("heading").text_content()
    card.get_by_role("button", name="More").click()
    card.get_by_role("button", name="Not a name").click()
    expect(page.get_by_text(f"{name} has no card now")).to_be_visible()
    settled(page)
    page.keyboard.press("x")
    expect(card.get_by_role("heading")).not_to_have_text(str(name))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").click()
    settled(page)
    page.keyboard.press("x")
    expect(card.get_by_role("heading")).to_have_text(str(name))

    page.keyboard.press("Escape")
    page.keyboard.press("w")
    world = page.locator(".worldpage")
    expect(world.locator(".worldside")).to_contain_text("Picked sentences")  # no column without content beside it
    expect(world.get_by_text("What happened")).to_have_count(0)
    world.locator("button.nme", has_text="Quill").click()
    expect(world.locator(".pcard")).to_contain_text("Named 4 times, on pages 1, 2, 4.")
    first, last = world.locator(".pcard .namedat").all()  # the first mention is shown, too
    expect(first).to_contain_text("Hester Quill kept the ferry at Marrow.")
    expect(last).to_contain_text("Hester Quill closed his eyes.")
    first.click()
    expect(world).to_be_hidden()
    expect(page.locator('p[data-i="0"]')).to_be_in_viewport()


def test_without_notes_a_recap_is_short_and_the_limit_lifted_holds_for_a_card(
    page: Page, app_url: str, app_home: Path
) -> None:
    book = add_story(app_home, read=0, with_notes=False)
    page.goto(f"{app_url}/read?book={book}&paragraph=12")  # jumped to: nothing is read
    world, card = page.locator(".worldpage"), page.locator(".namecard")
    page.get_by_role("button", name="World").click()
    world.get_by_role("button", name="I have read up to page 6").click()
    expect(world.get_by_role("slider")).to_have_text("As of page 6")
    page.goto("about:blank")
    library = Library(app_home)
    library.set_furthest(book, 0)
    library.close()
    page.goto(f"{app_url}/read?book={book}&paragraph=12")
    page.get_by_role("button", name="World").click()
    settled(page)
    world.get_by_role("button", name="Show the whole book").click()
    expect(world.get_by_role("slider")).to_have_text("As of page 7")
    page.goto(f"{app_url}/read?book={book}&paragraph=0")
    page.get_by_role("button", name="Where was I?").click()
    expect(world).to_contain_text("Picked sentences")
    assert len(world.locator(".hl").inner_text().split()) <= 130
    page.keyboard.press("Escape")
    page.wait_for_function("() => [...CSS.highlights].some(([name, one]) => /name/.test(name) && one.size)")
    page.keyboard.press("x")
    expect(card).to_contain_text("Named in the book")  # which tells nothing of it
    expect(card).not_to_contain_text("as of page")
    expect(card).not_to_contain_text("waits until")
