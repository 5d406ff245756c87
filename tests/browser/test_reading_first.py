"""A book is read before, during and without any model; what a person has read counts, what they jump past does not."""

from __future__ import annotations

import datetime
import random
import re
import threading
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from readagent_core.document import Document, Paragraph, Section
from readagent_core.library import Library
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply, error
from tests.recordings import make_memory

IN_SHEET = """(nodes) => nodes.filter((node) => {
  const sheet = node.closest('.sheet').getBoundingClientRect();
  return [...node.getClientRects()].some((r) => r.width && r.left >= sheet.left && r.right <= sheet.right);
}).map((node) => node.dataset.i)"""
TOP = "(node) => node.getBoundingClientRect().top"


def long_text(chapters: int = 6, *, name: str = "Long", vertical: bool = False, language: str = "en") -> Document:
    """Chapters of ten paragraphs of some 70 words, each paragraph with its number."""
    lines = "The ferry was late, and nobody on the quay at {} asked why. " * 5
    paragraphs = tuple(Paragraph(f"Paragraph {n} of {name}. " + lines.format(*[n] * 5)) for n in range(10 * chapters))
    sections = tuple(Section(f"Chapter {n + 1}", 10 * n) for n in range(chapters))
    return Document(name, paragraphs, sections, language=language, vertical=vertical)


def add(home: Path, document: Document) -> str:
    library = Library(home)
    book = library.add(document, source_name=f"{document.title}.txt")
    library.set_preference("look", {})
    library.close()
    return book.id


def furthest(home: Path, book: str) -> int:
    library = Library(home)
    try:
        return library.position(book).furthest
    finally:
        library.close()


def wait_for(page: Page, home: Path, book: str, expected: int) -> None:
    for _ in range(100):
        if furthest(home, book) == expected:
            return
        page.wait_for_timeout(100)
    assert furthest(home, book) == expected


@pytest.fixture
def book(app_home: Path, request: pytest.FixtureRequest) -> str:
    """A book of its own, not begun."""
    book = add(app_home, long_text(name=request.node.name))
    library = Library(app_home)
    library.set_position(book, 0)
    library.close()
    return book


def open_book(page: Page, url: str, book: str, place: str = "") -> None:
    page.goto(f"{url}/read?book={book}{place}")
    expect(page.locator('p[data-i="0"]')).to_be_attached()
    expect(page.locator(".foot .fact").first).to_contain_text("in the book")


def test_words_between_underscores_of_a_plain_text_are_in_italics(page: Page, app_url: str, app_home: Path) -> None:
    text = "The _Evening Star_ put into Falmouth; her_log_was wet, and 2 _ 3 is no sum."
    book = add(app_home, Document("Emphasis", (Paragraph(text), Paragraph("So it ended.")), format="text"))
    open_book(page, app_url, book)
    line = page.locator('p[data-i="0"]')
    expect(line.locator("em")).to_have_count(1)
    assert line.inner_text() == text.replace("_Evening Star_", "Evening Star")
    assert line.text_content() == text


def test_a_book_opens_whole_before_any_gists_and_offers_them(page: Page, app_url: str, book: str) -> None:
    open_book(page, app_url, book)
    expect(page.locator('p[data-i="0"]')).to_be_in_viewport()
    expect(page.locator(".foot")).to_contain_text("None yet. Connect a model, or use the built-in reader")
    expect(page.locator(".promise")).to_contain_text("The text will not move.")
    expect(page.locator(".views")).to_be_hidden()
    expect(page.locator(".outline li")).to_have_count(6)
    expect(page.locator(".mopen")).to_have_count(7)  # the chapters, and the legend's
    page.keyboard.press("End")
    expect(page.locator('p[data-i="59"]')).to_be_in_viewport()  # the last word
    page.keyboard.press("Home")
    page.keyboard.press("j")  # a screenful
    expect(page.locator('p[data-i="0"]')).not_to_be_in_viewport()
    page.keyboard.press("]")
    expect(page.locator(".outline .on")).to_contain_text("Chapter 2")
    top = page.locator('p[data-i="10"]').evaluate(TOP)
    page.get_by_role("button", name="Make gists").click()
    expect(page.locator(".foot")).to_contain_text("Ready")
    expect(page.locator("#p1 .gtext")).to_be_attached()
    assert abs(page.locator('p[data-i="10"]').evaluate(TOP) - top) <= 1  # nothing moved under the person's eyes
    expect(page.locator(".views")).to_be_visible()
    expect(page.locator(".promise")).to_be_hidden()


def test_a_link_opens_at_a_paragraph(page: Page, app_url: str, book: str) -> None:
    open_book(page, app_url, book, "&paragraph=37")
    expect(page.locator('p[data-i="37"]')).to_be_in_viewport()
    page.get_by_role("button", name="Back to 0 %").click()
    expect(page.locator('p[data-i="0"]')).to_be_in_viewport()


def test_a_model_that_dies_leaves_the_book_readable_and_the_gists_go_on_later(
    page: Page, model_app_url: str, model_app_home: Path, fake_server: FakeServer, request: pytest.FixtureRequest
) -> None:
    dead = threading.Event()

    def before(number: int, text: str) -> Reply:
        return Reply(status=401, error=error("no")) if dead.is_set() else Reply(sensible(text), delay=1.0)

    fake_server.before = before
    request.addfinalizer(lambda: setattr(fake_server, "before", None))
    number = add(model_app_home, long_text(name=f"{uuid4()}"))
    open_book(page, model_app_url, number)
    expect(page.locator(".foot")).to_contain_text("free with fake-model. You can read meanwhile.")
    page.get_by_role("button", name="Make gists").click()
    expect(page.locator(".gtext").first).to_be_attached()
    dead.set()
    expect(page.locator(".foot")).to_contain_text(re.compile(r"Stopped at page \d+ · .*did not accept the key"))
    expect(page.locator(".foot")).to_contain_text(re.compile(r"\d gists? saved"))
    made = page.locator(".gtext").count()
    page.keyboard.press("End")
    expect(page.locator('p[data-i="59"]')).to_be_in_viewport()
    fake_server.before = None
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".foot")).to_contain_text("Ready", timeout=40_000)
    expect(page.locator('p[data-i="59"]')).to_be_in_viewport()
    assert page.locator(".gtext").count() > made


def test_no_jump_counts_as_reading(page: Page, app_url: str, app_home: Path) -> None:
    texts = [f"Evening {n}. {'A lamp was lit on the quay. ' * 25}" for n in range(40)]
    memory = make_memory(texts, title="Jumps", sections=tuple(Section(f"Part {n}", 10 * n) for n in range(4)))
    library = Library(app_home)
    number = library.add(memory.document, source_name="jumps.txt").id
    library.add_memory(number, memory)
    library.set_furthest(number, 7)
    library.close()
    page.clock.set_fixed_time(datetime.datetime.now())
    open_book(page, app_url, number)
    box = page.locator(".mapbox").bounding_box()
    dice = random.Random(4)
    jumps = {
        "End": lambda: page.keyboard.press("End"),
        "Home": lambda: page.keyboard.press("Home"),
        "search": lambda: page.locator(".find input").fill(f"Evening {dice.randrange(40)}"),
        "map": lambda: page.mouse.click(box["x"] + 30, box["y"] + 20 + dice.random() * (box["height"] - 40)),
        "outline": lambda: page.locator(".outline button").nth(dice.randrange(4)).click(),
        "chapter": lambda: page.keyboard.press(dice.choice("[]")),
        "back": lambda: page.keyboard.press("Backspace"),
    }
    for n in range(100):
        jumps[dice.choice(list(jumps))]()
        page.locator(".leaves").focus()
        page.clock.set_fixed_time(datetime.datetime.now() + datetime.timedelta(minutes=n))  # however long one stays
    page.wait_for_timeout(1500)  # until the position was sent
    assert furthest(app_home, number) == 7
    expect(page.locator(".furthest")).to_have_attribute("aria-valuetext", "17 % read")


def test_reading_three_screens_counts_and_can_be_set_by_hand(
    page: Page, app_url: str, app_home: Path, book: str
) -> None:
    now = datetime.datetime.now()
    page.clock.set_fixed_time(now)
    open_book(page, app_url, book)
    page.keyboard.press("j")  # turned at once: not read
    page.keyboard.press("k")
    for screen in range(3):
        page.clock.set_fixed_time(now + datetime.timedelta(seconds=25 * (screen + 1)))
        page.keyboard.press("j")
        page.wait_for_timeout(100)
    line = page.locator(".foot .line").first
    expect(line).to_contain_text(re.compile(r"^(1\d|2\d) % · \d min left in chapter · 1\d min in the book"))
    page.wait_for_timeout(1200)
    read = furthest(app_home, book)
    assert read >= 6
    page.keyboard.press("End")
    expect(line).to_contain_text(re.compile(r"^\d+ % read, you are at 9\d %"))
    page.locator(".foot .fact").first.click()
    assert page.get_by_role("menu").bounding_box()["height"] > 80  # all of it is seen
    page.get_by_role("menuitem", name="I have read all of it").click()
    expect(line).to_contain_text("100 % · read to the end")
    page.locator(".foot").get_by_role("button", name="Undo").click()
    wait_for(page, app_home, book, read)
    page.locator(".furthest").focus()
    page.keyboard.press("ArrowDown")
    wait_for(page, app_home, book, read + 1)


def test_after_jumps_one_goes_back_to_where_one_was(page: Page, app_url: str, book: str) -> None:
    open_book(page, app_url, book)
    page.locator(".outline button").nth(2).click()
    page.keyboard.press("End")
    chip = page.locator(".backchip")
    expect(chip).to_contain_text("Back to 33 %")
    chip.get_by_role("button").first.click()
    expect(page.locator('p[data-i="20"]')).to_be_in_viewport()
    expect(chip).to_contain_text("Back to 0 %")
    page.keyboard.press("Alt+ArrowLeft")
    expect(page.locator('p[data-i="0"]')).to_be_in_viewport()
    expect(chip).to_be_hidden()


@pytest.mark.parametrize("flow", ["Pages", "Two pages"])
def test_pages_of_the_screen_turn_through_the_whole_book(page: Page, app_url: str, book: str, flow: str) -> None:
    open_book(page, app_url, book)
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name=flow, exact=True).click()
    page.keyboard.press("Escape")
    page.locator(".leaves").focus()
    on, back = (page.get_by_role("button", name=name) for name in ("Turn to the next page", "Turn to the page before"))
    expect(back).to_be_disabled()
    on.click()
    expect(page.locator('p[data-i="0"]')).not_to_be_in_viewport()
    back.click()
    last = page.locator('p[data-i="59"]')
    seen = set[str]()
    for _ in range(60):
        seen |= set(page.locator(".unit.on > p").evaluate_all(IN_SHEET))
        if "59" in seen:
            break
        page.keyboard.press("ArrowRight")
    assert seen == {str(n) for n in range(60)}  # every paragraph was on the screen
    expect(last).to_be_in_viewport()
    expect(on).to_be_disabled()
    box = page.locator(".leaves").bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + box["height"] / 2)  # the left edge turns back
    expect(last).not_to_be_in_viewport()
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Scroll", exact=True).click()


def test_a_book_set_from_top_to_bottom_is_shown_so(page: Page, app_url: str, app_home: Path) -> None:
    texts = tuple(Paragraph(f"第{n}段。雪守駅の時計は、三分進んでいる。" * 12) for n in range(20))
    number = add(app_home, Document("縦書き", texts, language="ja", vertical=True))
    page.goto(f"{app_url}/read?book={number}")
    first = page.locator('p[data-i="0"]')
    expect(first).to_have_css("writing-mode", "vertical-rl")
    expect(first).to_be_in_viewport()
    for _ in range(30):
        page.keyboard.press("ArrowLeft")  # leads on
    expect(page.locator('p[data-i="19"]')).to_be_in_viewport()
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Horizontal").click()
    expect(first).to_have_css("writing-mode", "horizontal-tb")
