"""A book is read before, during and without any model; what a person has read counts, what they jump past does not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from readagent_core.document import Document, Paragraph, Section
from readagent_core.library import Library
from readagent_core.loaders.base import DEFAULT
from readagent_core.loaders.text import markdown
from tests.browser.conftest import SIZE
from tests.recordings import make_memory

IN_SHEET = """(nodes) => nodes.filter((node) => {
  const sheet = node.closest('.sheet').getBoundingClientRect();
  return [...node.getClientRects()].some((r) => r.width && r.left >= sheet.left && r.right <= sheet.right);
}).map((node) => node.dataset.i)"""
TOP = "(node) => node.getBoundingClientRect().top"
AT_SECOND = """(second) => {
  globalThis.opened ??= Date.now();
  const now = opened + 1000 * second;
  Date.now = () => now;
}"""
ROOM_TO_SEARCH = "bar => [bar.querySelector('.find input').clientWidth, bar.scrollWidth - bar.clientWidth]"
DRAWN = """async () => {
  for (let frame = 0; frame < 3; frame++) await new Promise((done) => requestAnimationFrame(done));
}"""
EMPHASIS = "The _Evening Star_ put into Falmouth; her_log_was wet, and 2 _ 3 is no sum."


def long_text(chapters: int = 6, *, name: str) -> Document:
    """Chapters of ten paragraphs of some 70 words, each paragraph with its number; the first has emphasised words."""
    lines = "The ferry was late, and nobody on the quay at {} asked why. " * 5
    texts = [f"Paragraph {n} of {name}. " + lines.format(*range(5 * n, 5 * n + 5)) for n in range(10 * chapters)]
    paragraphs = (Paragraph(f"{EMPHASIS} {texts[0]}"), *map(Paragraph, texts[1:]))
    sections = tuple(Section(f"Chapter {n + 1}", 10 * n) for n in range(chapters))
    return Document(name, paragraphs, sections)


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


def wait_for(page: Page, home: Path, book: str, expected: Callable[[int], bool]) -> None:
    for _ in range(100):
        if expected(furthest(home, book)):
            return
        page.wait_for_timeout(100)
    raise AssertionError(furthest(home, book))


@pytest.fixture
def book(app_home: Path) -> str:
    """A book of its own, not begun."""
    return add(app_home, long_text(name=f"{uuid4()}"))


def open_book(page: Page, url: str, book: str, place: str = "") -> None:
    page.goto(f"{url}/read?book={book}{place}")
    expect(page.locator('p[data-i="0"]')).to_be_attached()
    expect(page.locator(".foot .fact").first).to_contain_text("in the book")


def test_the_rows_of_a_table_stand_below_each_other_in_columns(page: Page, app_url: str, app_home: Path) -> None:
    table = b"| Number | Square |\n|---|---|\n| 1 | 1 |\n| 12 | 144 |"
    text = b"# Sums\n\n%b\n\nNothing `1*2*3` else.\n\n```\nif a:\n  b\n```" % table
    page.goto(f"{app_url}/read?book={add(app_home, markdown.load(text, 'sums.md', limits=DEFAULT))}")
    rows = page.locator("p.tablerow")
    expect(rows).to_have_count(3)
    tops = [row.bounding_box()["y"] for row in rows.all()]
    assert all(above + 20 < below for above, below in pairwise(tops))
    columns = rows.evaluate_all(
        """rows => rows.map(({ firstChild: words }) => {
          const range = document.createRange();
          range.setStart(words, words.data.indexOf("\\t") + 1);
          range.setEnd(words, words.data.indexOf("\\t") + 2);
          return Math.round(range.getBoundingClientRect().left);
        })"""
    )
    assert len(set(columns)) == 1
    code = page.locator(".unit code")
    expect(code.last).to_be_visible()  # a text that is still hidden has no inner text
    assert code.all_inner_texts() == ["1*2*3", "if a:\n  b"]  # without its signs, as it is indented


def test_a_book_opens_whole_before_any_gists_and_offers_them(page: Page, app_url: str, book: str) -> None:
    open_book(page, app_url, book, "&paragraph=37")
    first, last = page.locator('p[data-i="0"]'), page.locator('p[data-i="59"]')
    expect(page.locator('p[data-i="37"]')).to_be_in_viewport()
    page.get_by_role("button", name="Back to the beginning").click()
    expect(first).to_be_in_viewport()

    # Words between underscores of a plain text are in italics.
    expect(first.locator("em")).to_have_count(1)
    text = str(first.text_content())
    assert text.startswith(EMPHASIS)
    assert first.inner_text() == text.strip().replace("_Evening Star_", "Evening Star")

    # There are no gists yet.
    expect(page.locator(".foot")).to_contain_text("None yet. Connect a model, or use the built-in reader")
    expect(page.locator(".promise")).to_contain_text("The text will not move.")
    expect(page.locator(".views")).to_be_hidden()
    expect(page.locator(".outline li")).to_have_count(6)
    expect(page.locator(".mopen")).to_have_count(7)  # the chapters, and the legend's

    # After jumps one goes back to where one was.
    page.locator(".outline button").nth(2).click()
    page.keyboard.press("End")
    expect(last).to_be_in_viewport()  # the last word
    chip = page.locator(".backchip")
    expect(chip).to_contain_text("Back to 33 %")
    chip.get_by_role("button").first.click()
    expect(page.locator('p[data-i="20"]')).to_be_in_viewport()
    expect(chip).to_contain_text("Back to the beginning")
    page.go_back()
    expect(first).to_be_in_viewport()
    expect(chip).to_be_hidden()
    page.go_forward()
    expect(chip).to_contain_text("Back to the beginning")
    page.go_back()
    expect(first).to_be_in_viewport()

    # Gists are made, and nothing moves.
    page.keyboard.press("j")  # a screenful
    expect(first).not_to_be_in_viewport()
    page.keyboard.press("]")
    expect(page.locator(".outline .on")).to_contain_text("Chapter 2")
    top = page.locator('p[data-i="10"]').evaluate(TOP)
    page.get_by_role("button", name="Make gists").click()
    expect(page.locator(".foot")).to_contain_text("Ready")
    expect(page.locator("#p1 .gtext")).to_be_attached()
    assert abs(page.locator('p[data-i="10"]').evaluate(TOP) - top) <= 1  # nothing moved under the person's eyes
    expect(page.locator(".views")).to_be_visible()
    expect(page.locator(".promise")).to_be_hidden()
    shades = ".mapbox rect:is(.m1, .m2, .m3, .m4)"
    expect(page.locator(shades).nth(3)).to_be_attached()
    assert len(set(page.locator(shades).evaluate_all("(cells) => cells.map((cell) => cell.className.baseVal)"))) > 1

    # Gists that were made with these options are shown again.
    page.get_by_role("button", name="Make gists again").click()
    page.get_by_role("dialog").get_by_role("button", name="Make gists").click()
    said = page.get_by_test_id("stToast")
    expect(said).to_contain_text("Gists were made with these options already")
    assert said.bounding_box()["y"] > page.viewport_size["height"] / 2  # over no button at the top


def test_no_jump_counts_as_reading(page: Page, app_url: str, app_home: Path) -> None:
    texts = [f"Evening {n}. {'A lamp was lit on the quay. ' * 25}" for n in range(40)]
    memory = make_memory(texts, title="Jumps", sections=tuple(Section(f"Part {n}", 10 * n) for n in range(4)))
    library = Library(app_home)
    number = library.add(memory.document, source_name="jumps.txt").id
    library.add_memory(number, memory)
    library.set_furthest(number, 7)
    library.close()
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
    for n in range(30):
        jumps[dice.choice(list(jumps))]()
        page.locator(".leaves").focus()
        page.evaluate(AT_SECOND, 60 * n)  # however long one stays
    page.wait_for_timeout(1500)  # until the position was sent
    assert furthest(app_home, number) == 7
    expect(page.locator(".furthest")).to_have_attribute("aria-valuetext", "17 % read")

    # The words searched for can be read, however wide the window is and whatever else is in the toolbar.
    for view in ("both", "gists"):
        page.locator(".find input").fill("")
        expect(page.locator(".tbar.found")).to_have_count(0)
        page.locator(f".tbar .seg-{view}").click()
        page.locator(".find input").fill("lamp")
        expect(page.locator(".tbar.found")).to_be_visible()
        page.get_by_role("button", name="Close the list of hits").click()
        for width in (1600, 1440, 1280, 1200, 1100, 834, 600, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(DRAWN)
            room, over = page.locator(".tbar").evaluate(ROOM_TO_SEARCH)
            assert (room >= 50, over) == (True, 0), (view, width, room)
        page.set_viewport_size(SIZE)


def test_reading_three_screens_counts_and_can_be_set_by_hand(
    page: Page, app_url: str, app_home: Path, book: str, new_page: Page
) -> None:
    open_book(page, app_url, book)
    page.evaluate(AT_SECOND, 0)
    page.keyboard.press("j")  # turned at once: not read
    page.evaluate(DRAWN)
    page.keyboard.press("k")
    page.evaluate(DRAWN)
    for screen in range(3):
        page.evaluate(AT_SECOND, 25 * (screen + 1))
        page.keyboard.press("j")
        page.evaluate(DRAWN)
    line = page.locator(".foot .line").first
    expect(line).to_contain_text(re.compile(r"^(1\d|2\d) % · \d min left in chapter · 1\d min left in the book"))
    page.set_viewport_size({"width": 390, "height": 844})
    shown = re.compile(r"^\d\d % · 1\d min left$")  # on a phone: of the book, as the percentage is
    expect(line).to_have_text(shown, use_inner_text=True)
    page.set_viewport_size(SIZE)
    wait_for(page, app_home, book, lambda paragraph: paragraph >= 6)
    read = furthest(app_home, book)
    page.keyboard.press("End")
    expect(line).to_have_text(re.compile(r"^\d+ % read, at the end$"))  # a jump to it counts as nothing read
    finish = page.locator(".bookend").get_by_role("button", name="Mark as finished")
    library = Library(app_home)
    finish.click()
    expect(line).to_have_text("100 % · finished")
    wait_for(page, app_home, book, lambda paragraph: paragraph == 60 and book in library.finished())
    page.locator(".bookend").get_by_role("button", name="Not finished").click()
    wait_for(page, app_home, book, lambda paragraph: paragraph == read and book not in library.finished())
    library.close()
    expect(line).to_have_text(re.compile(r"^\d+ % read, at the end$"))
    expect(finish).to_be_visible()
    page.locator(".foot .fact").first.click()
    assert page.get_by_role("menu").bounding_box()["height"] > 80  # all of it is seen
    page.get_by_role("menuitem", name="I have read all of it").click()
    expect(line).to_contain_text("100 % · read to the end")
    page.locator(".foot").get_by_role("button", name="Undo").click()
    wait_for(page, app_home, book, lambda paragraph: paragraph == read)
    page.locator(".furthest").focus()
    page.keyboard.press("ArrowDown")
    wait_for(page, app_home, book, lambda paragraph: paragraph == read + 1)

    new_page.goto(f"{app_url}/read?book={book}")  # in another tab
    expect(new_page.locator(".foot .line").first).to_have_text(re.compile(r"^\d+ % read, at the end$"), timeout=20_000)
    page.locator(".foot .fact").first.click()
    page.get_by_role("menuitem", name="Begin again").click()
    wait_for(page, app_home, book, lambda paragraph: paragraph == 0)
    new_page.keyboard.press("Home")  # it moves, and has read nothing
    for _ in range(100):
        library = Library(app_home)
        position = library.position(book)
        library.close()
        if not position.paragraph:
            break
        page.wait_for_timeout(100)
    assert (position.paragraph, position.furthest) == (0, 0)


def test_pages_of_the_screen_turn_through_the_whole_book(page: Page, app_url: str, app_home: Path) -> None:
    open_book(page, app_url, add(app_home, long_text(3, name=f"{uuid4()}")))
    on, back = (page.get_by_role("button", name=name) for name in ("Turn to the next page", "Turn to the page before"))
    first = page.locator('p[data-i="0"]')
    for flow in ("Pages", "Two pages"):
        page.locator(".aa").click()
        page.locator(".panel").get_by_role("button", name=flow, exact=True).click()
        page.keyboard.press("Escape")
        page.locator(".leaves").focus()
        page.keyboard.press("End")
        expect(page.locator(".backchip")).to_be_visible()
        back.click()  # beside the way back to where one was
        for _ in range(60):
            if back.is_disabled():
                break
            page.keyboard.press("ArrowLeft")
        on.click()
        expect(first).not_to_be_in_viewport()
        back.click()
        expect(first).to_be_in_viewport()
        seen = set[str]()
        for _ in range(60):
            sheet = page.locator(".unit.on > p").evaluate_all(IN_SHEET)
            seen |= set(sheet)
            if on.is_disabled():
                break
            page.keyboard.press("ArrowRight")
        assert seen == {str(n) for n in range(30)}  # every paragraph was on the screen
        assert sheet[-1] == "29"
        expect(page.locator(".bookend")).to_be_in_viewport(ratio=1)  # with the last words, never alone on a screen
        box = page.locator(".leaves").bounding_box()
        page.mouse.click(box["x"] + 12, box["y"] + box["height"] / 2)  # the left edge turns back
        expect(on).to_be_enabled()
        sheet_before = page.locator(".unit.on > p").evaluate_all(IN_SHEET)
        assert sheet_before[0] < sheet[0]
        words = page.locator(f'.unit.on > p[data-i="{sheet_before[-1]}"]').bounding_box()
        page.mouse.dblclick(words["x"] + words["width"] - 40, words["y"] + 12)  # chooses a word, and turns nothing
        assert page.locator(".unit.on > p").evaluate_all(IN_SHEET) == sheet_before
        page.keyboard.press("Escape")
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Scroll", exact=True).click()


def test_gists_that_come_beside_a_page_of_the_screen_move_nothing(page: Page, app_url: str, app_home: Path) -> None:
    open_book(page, app_url, add(app_home, long_text(3, name=f"{uuid4()}")))
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Pages", exact=True).click()
    page.keyboard.press("Escape")
    text, gist = page.locator('p[data-i="0"]'), page.locator(".side .gtext").first
    before = text.bounding_box()
    page.get_by_role("button", name="Make gists").click()
    expect(gist).to_be_visible()
    assert text.bounding_box() == before
    assert gist.bounding_box()["x"] > before["x"] + before["width"]
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
    expect(page.locator(".bookend")).to_be_in_viewport(ratio=1)
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Horizontal").click()
    expect(first).to_have_css("writing-mode", "horizontal-tb")
