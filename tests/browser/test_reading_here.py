"""Gists are made in the browser: they appear without a jump, pause and go on, are changed; a hostile book."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from readagent_core.document import Paragraph, Section
from readagent_core.export.memory import export_memory
from readagent_core.library import Library
from readagent_core.memory import Gist
from tests.browser.conftest import add_read_book, go_to
from tests.browser.test_reading_first import add, long_text, open_book
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply
from tests.recordings import make_memory

HOSTILE = [
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>",
    "![picture](http://127.0.0.1:9/loaded.png) [link](javascript:window.pwned=3) :material/lock: :red[x]",
    "$\\href{javascript:window.pwned=4}{x}$ $$\\includegraphics{http://127.0.0.1:9/l.png}$$ `code` **bold** # head",
    "\u202eright to left override\u202c and \u2066isolates\u2069 and a zero\u200bwidth",
    "x" * 10_000,
    "</div></section><style>*{display:none}</style><iframe srcdoc='<script>parent.pwned=5</script>'></iframe>",
]


class Gate:
    """Lets the fake server answer only as long as it is open; it shuts itself after ``let_through`` replies."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self._lock = threading.Lock()
        self._left: int | None = None

    def let_through(self, replies: int | None) -> None:
        """Shut after so many more replies; None opens it for good."""
        with self._lock:
            self._left = replies
            self.open.set()

    def __call__(self, prompt: str) -> str:
        with self._lock:
            if self._left is not None:
                self._left -= 1
                if self._left < 0:
                    self.open.clear()
        self.open.wait(60)
        return sensible(prompt)


@pytest.fixture
def gate(fake_server: FakeServer) -> Iterator[Gate]:
    gate = Gate()
    fake_server.before = lambda number, text: Reply(gate(text))
    yield gate
    fake_server.before = None
    gate.open.set()


def top_of(leaf: Locator) -> float:
    """The place of an element that stands still: on a busy machine a scroll goes on after it has come into view.

    A gist that comes just now is drawn anew, and the old one is nowhere.
    """
    before = None
    for _ in range(50):
        box = leaf.bounding_box()
        if box and before and box["y"] == before["y"]:
            return float(box["y"])
        before = box
        leaf.page.wait_for_timeout(100)
    raise AssertionError("the page is nowhere on the screen, or never still")


def test_gists_appear_without_a_jump_are_paused_and_resumed_and_the_last_one_moves_nothing(
    page: Page, new_page: Page, model_app_url: str, model_app_home: Path, gate: Gate
) -> None:
    book = add(model_app_home, replace(long_text(19, name=f"{uuid4()}"), sections=()))  # its pages are made in order
    gate.let_through(32)  # of some eighty
    open_book(page, model_app_url, book)
    expect(page.locator(".foot")).to_contain_text("free with fake-model. You can read meanwhile.")
    page.get_by_role("button", name="Make gists").click()
    foot = page.locator(".foot .gistsfact")
    expect(foot).to_contain_text(re.compile(r"\d+ of (about )?\d+"))
    expect(page.locator("#p3 .gtext")).to_be_attached()
    page.locator(".leaves").focus()
    page.keyboard.press("j")
    expect(page.locator('p[aria-live="polite"]')).to_have_text(re.compile(r"^Gists: \d+ of (about )?\d+ pages$"))
    text = page.locator('p[data-i="8"]')
    expect(text).to_be_in_viewport()
    top, made = top_of(text), page.locator(".gtext").count()
    gate.let_through(6)
    expect(page.locator(".gtext").nth(made)).to_be_attached()
    assert abs(top_of(text) - top) <= 1  # nothing moved under the person's eyes

    # A search finds more as gists arrive, and the person stays at their hit.
    page.keyboard.press("/")
    page.keyboard.type("paragraph")
    page.keyboard.press("Enter")
    found = page.locator(".find .count")
    expect(found).to_have_text(re.compile(r"^\d+ of \d+$"))
    for _ in range(2):  # two hits on, on the same page
        before = found.inner_text()
        page.keyboard.press("Enter")
        expect(found).not_to_have_text(before)
    at, chips = found.inner_text(), page.locator(".hitspanel .chips")
    before = chips.inner_text()
    gate.let_through(6)
    expect(chips).not_to_have_text(before)  # more gists, more hits
    expect(found).to_have_text(at)  # and the person stays at this one
    page.locator(".find input").fill("")
    page.keyboard.press("Enter")
    expect(found).to_have_text("")

    # The reading is paused and resumed; another tab notices by itself.
    line = foot.locator(".line")
    page.get_by_role("button", name="Pause", exact=True).hover()
    page.mouse.down()
    said = line.inner_text()
    gate.let_through(6)
    expect(line).not_to_have_text(said)  # a slow finger: the line is drawn again under it
    page.mouse.up()
    expect(foot).to_contain_text("Paused at")
    new_page.goto(page.url)
    elsewhere = new_page.locator(".foot .gistsfact")
    expect(elsewhere).to_contain_text("Paused at")
    made = page.locator(".gtext").count()
    page.get_by_role("button", name="Resume").click()
    expect(elsewhere).to_have_attribute("data-state", "running")

    # The last gist leaves the person where they are.
    here = page.locator(".leaf.cur")
    page.locator(".pagein").fill("4")
    page.locator(".pagein").press("Enter")
    page.locator(".leaves").focus()
    expect(here).to_have_attribute("data-n", "4")
    gate.let_through(None)
    for _ in range(150):  # to and fro, never still for long enough that the place would be sent
        for key, number in (("j", "5"), ("k", "4")):
            page.keyboard.press(key)
            expect(here).to_have_attribute("data-n", number)
        if "Ready" in foot.inner_text():
            break
        page.wait_for_timeout(100)
    expect(foot).to_contain_text("Ready")
    top = top_of(page.locator("#p4"))
    page.wait_for_timeout(1500)  # longer than it takes until the place is sent
    expect(here).to_have_attribute("data-n", "4")
    assert abs(top_of(page.locator("#p4")) - top) <= 1
    expect(page.locator(".gtext").nth(made)).to_be_attached()
    expect(elsewhere).to_contain_text("Ready")


def three_pages(home: Path, title: str) -> str:
    """The id of a new book of three pages of two paragraphs; paragraph n is on page n + 40 of its source."""
    day = f"day {uuid4()}"
    text = "On {} {} the ferry was late again, and nobody on the quay asked why. "
    paragraphs = [Paragraph(text.format(day, n) * 5, f"p. {n + 40}") for n in range(6)]
    gists = ["Late, 0.", "Late, 1.", Gist("Late, 2.", marks=("A number the page does not have: 7",))]
    memory = make_memory(paragraphs, gists, title=title, per_page=2, reason="a day ends")
    first, *others = memory.pages
    return add_read_book(home, replace(memory, pages=(replace(first, fallback=True), *others)), f"{title}.txt")


def test_a_page_of_the_source_is_gone_to_and_gists_are_edited_and_made_again(
    page: Page, app_url: str, app_home: Path
) -> None:
    page.goto(f"{app_url}/read?book={three_pages(app_home, 'Gists to Change')}&page=1")
    here, field = page.locator(".leaf.cur"), page.locator(".pagein")
    expect(here).to_have_attribute("data-n", "1")
    expect(page.locator('.pmark[data-n="3"] .facts')).to_contain_text("p. 44")
    field.fill("p. 45")
    field.press("Enter")
    expect(here).to_have_attribute("data-n", "3")
    field.fill("p. 99")
    field.press("Enter")
    expect(page.locator(".goto span.num")).to_have_text("no page p. 99")
    expect(field).to_have_value("3")  # it stays
    expect(here).to_have_attribute("data-n", "3")

    expect(page.locator('.pmark[data-n="2"] .why')).to_contain_text("Paused here by rule")
    expect(page.locator('.mapbox rect[fill^="url(#hatch"]')).to_have_count(1)  # and page 1 is hatched, the others not
    expect(page.locator("#p3 .tags")).to_have_text("A number the page does not have: 7")
    edit, gist = page.get_by_role("button", name="Edit the gist of page 2"), page.locator("#p2 .gtext")
    field.fill("2")
    field.press("Enter")
    expect(here).to_have_attribute("data-n", "2")
    edit.click()
    page.locator(".edit textarea").fill("The ferry was late; I say so.")
    page.keyboard.press("Escape")
    expect(gist).to_have_text("Late, 1.")  # a text that was not saved is dropped
    edit.click()
    page.locator(".edit textarea").fill("The ferry was late; I say so.")
    page.get_by_role("button", name="Save").click()
    expect(gist).to_have_text("The ferry was late; I say so.")
    expect(page.locator("#p2 .tags")).to_contain_text("Edited by you")
    expect(page.locator(".mapbox .medit")).to_have_count(1)

    # Making gists again from a page asks first, and leaves the pages before it.
    again = page.get_by_role("button", name="Make again from here")
    sure = page.get_by_role("button", name="Delete the gists of pages 2–3 and make them again?")
    edit.click()
    again.click()
    expect(sure).to_be_visible()
    page.keyboard.press("Escape")
    expect(gist).to_have_text("The ferry was late; I say so.")  # asked, and nothing was done
    edit.click()
    page.get_by_role("button", name="Make the gist again").click()
    expect(gist).to_contain_text("nobody on the quay")
    expect(page.locator("#p2 .tags")).to_have_count(0)
    expect(page.locator("#p3 .gtext")).to_have_text("Late, 2.")
    edit.click()
    again.click()
    sure.click()
    expect(page.locator(".leaf")).to_have_count(2)  # the built-in reader makes one page of the two
    expect(gist).to_contain_text("nobody on the quay")
    expect(page.locator(".foot")).to_contain_text("Ready")
    expect(page.locator("#p1 .gtext")).to_have_text("Late, 0.")


def test_a_search_with_many_hits_begins_here_and_all_of_them_are_gone_to(
    page: Page, app_url: str, app_home: Path
) -> None:
    """1,165 hits, 40 a page (5 on the last one); they are marked where the person is."""
    counts = [*[40] * 29, 5]
    texts = [f"{'A lamp was lit. ' * count}That was evening {n} on {uuid4()}." for n, count in enumerate(counts)]
    book = add_read_book(app_home, make_memory(texts, [f"A lamp, {n}." for n in range(30)], title="Lamps"))
    page.goto(f"{app_url}/read?book={book}&page=20")
    here, count = page.locator(".leaf.cur"), page.locator(".count")
    expect(here).to_have_attribute("data-n", "20")
    page.locator(".find input").fill("lamp")
    expect(count).to_have_text("761 of 1,165")  # the first on page 20
    expect(page.locator("mark.now")).to_be_in_viewport()
    expect(here).to_have_attribute("data-n", "20")
    page.locator(".pagein").fill("3")
    page.locator(".pagein").press("Enter")
    expect(here).to_have_attribute("data-n", "3")
    expect(page.locator('p[data-i="2"] mark')).to_have_count(40)
    expect(count).to_have_text("761 of 1,165")
    page.locator(".find input").press("Enter")  # on from where the search is, which is far away now
    expect(count).to_have_text("762 of 1,165")
    expect(page.locator("mark.now")).to_be_in_viewport()
    page.locator(".pagein").fill("30")
    page.locator(".pagein").press("Enter")
    expect(here).to_have_attribute("data-n", "30")
    field = page.locator(".find input")
    field.fill("lamp was")
    expect(count).to_have_text(re.compile(r"^1,\d{3} of 1,165$"))  # as it was typed, not "was" by itself
    field.fill("lamp")
    field.press("Enter")  # at once: the count is the same
    expect(count).to_have_text("1,161 of 1,165")
    for _ in range(4):
        field.press("Enter")
    expect(count).to_have_text("1,165 of 1,165")
    field.press("Enter")  # after the last comes the first
    expect(count).to_have_text("1 of 1,165")
    expect(page.locator("mark.now")).to_be_in_viewport()
    field.press("Shift+Enter")
    expect(count).to_have_text("1,165 of 1,165")
    expect(page.locator("mark.now")).to_be_in_viewport()


def test_a_hostile_book_shows_as_its_letters_and_loads_nothing(
    page: Page, app_url: str, app_home: Path, asked_for: list[str]
) -> None:
    gists = [Gist(HOSTILE[n], marks=(HOSTILE[n + 1],)) for n in range(3)]
    title, sections = f"{HOSTILE[0]} {HOSTILE[1]}", (Section(HOSTILE[5], 0), Section(HOSTILE[2], 3))
    memory = make_memory(
        HOSTILE, gists, title=title, per_page=2, sections=sections, author=HOSTILE[0], format="markdown"
    )
    memory = replace(memory, pages=tuple(replace(p, reason=HOSTILE[p.number - 1]) for p in memory.pages))
    book = add_read_book(app_home, memory, "hostile.md")
    page.goto(f"{app_url}/read?book={book}&page=1")
    expect(page.locator(".leaf.cur")).to_be_visible()
    for index, text in enumerate(HOSTILE):
        piece = page.locator(f'p[data-i="{index}"]')
        assert piece.evaluate("e => e.textContent") == text
    for n in range(3):
        assert page.locator(f"#p{n + 1} .gtext").evaluate("e => e.textContent") == HOSTILE[n]
    for n in range(2):
        assert HOSTILE[n] in page.locator(f'.pmark[data-n="{n + 2}"] .why').evaluate("e => e.textContent")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    go_to(page, "Library")
    card = page.locator(f'[data-id="{book}"]')
    expect(card.locator("h3")).to_have_text(title)
    card.hover()
    card.locator(".dots").click()
    page.get_by_role("menuitem", name="Import report").click()
    expect(page.get_by_role("dialog", name="Import report")).to_contain_text(HOSTILE[0])
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    go_to(page, "Ask")
    for n in range(3):
        assert page.locator(".m .g").nth(n).evaluate("e => e.textContent") == HOSTILE[n]
    asking = page.locator('[data-testid="stChatInput"] textarea')
    asking.fill(f"{HOSTILE[0]}?")
    asking.press("Enter")
    expect(page.locator("p").get_by_text(f"{HOSTILE[0]}?", exact=True)).to_be_visible()
    expect(page.locator(".sentences").last).to_contain_text("window.pwned")
    go_to(page, "Compare")
    page.locator(".st-key-compare_ask input").fill(f"Who is {HOSTILE[1]}?")
    page.locator(".st-key-compare_go button").click()
    expect(page.locator(".r")).not_to_have_count(0)  # as many as another test left chosen
    expect(page.locator('.r:not([data-state="done"])')).to_have_count(0)
    expect(page.locator(".r .a").first).to_contain_text("window.pwned")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.set_content(export_memory(memory, "html").decode())
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator("article")).to_have_count(3)
    assert page.evaluate("window.pwned") is None
    assert not [url for url in asked_for if "loaded.png" in url or ":9/" in url or url.startswith("javascript:")]
    library = Library(app_home)
    library.remove(book)
    library.close()
