"""Where a person is stays theirs: searches, other letters and other windows move nothing, and the type is kept."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from readagent_core.library import Library
from tests.browser.conftest import SIZE
from tests.browser.test_read import novella, open_reader
from tests.browser.test_read import page as page

__all__ = ["novella"]  # the fixture "app_url" of these tests


def width_of(part: Locator) -> float:
    """As soon as it stands: while a page is drawn anew it has none."""
    for _ in range(60):
        if box := part.bounding_box():
            return box["width"]
        part.page.wait_for_timeout(50)
    raise AssertionError("it is not to be seen")


FIND = """
  const inside = (e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])];
  const deep = (root) => [...root.querySelectorAll('*')].flatMap(inside);
  const box = deep(document).find((e) => e.classList.contains('leaves'));
"""
STANDINGS = (  # every place at which a paragraph is seen to stand from now on, frame by frame
    "() => {"
    + FIND
    + """
  window.standings = new Set();
  const text = [...box.querySelectorAll('.unit > p')].find((p) => p.getBoundingClientRect().top > 200);
  const look = () => {
    window.standings.add(Math.round(text.getBoundingClientRect().top));
    requestAnimationFrame(look);
  };
  look();
}"""
)


READ = (  # the paragraph at the reading line
    "(line) => {"
    + FIND
    + """
  const at = box.getBoundingClientRect().top + Math.min(line, box.clientHeight / 4);
  const pieces = [...box.querySelectorAll('.unit > p')];
  return pieces.find((p) => p.getBoundingClientRect().bottom > at).textContent;
}"""
)


SETTLED = (  # waits until neither the text nor its place moves any more
    "async () => {"
    + FIND
    + """
  for (let still = 0, last = ''; still < 20; ) {
    await new Promise((done) => requestAnimationFrame(done));
    const now = [box.scrollTop, box.scrollHeight, box.clientWidth].join();
    still = now === last ? still + 1 : 0;
    last = now;
  }
}"""
)


def test_a_search_that_ends_moves_nothing(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=14)
    page.keyboard.press("/")
    page.keyboard.type("Crale")
    page.keyboard.press("Enter")
    expect(page.locator(".find .count")).to_have_text(re.compile(r"^\d+ of \d+$"))
    page.keyboard.press("Enter")
    page.evaluate(SETTLED)
    page.evaluate(STANDINGS)
    page.keyboard.press("Escape")
    expect(page.locator("mark.hit")).to_have_count(0)
    page.evaluate(SETTLED)
    found = page.evaluate("[...window.standings]")
    assert len(found) == 1, found


FIRST_WORD = (  # the first whole word in view, as its paragraph and its place in it
    "() => {"
    + FIND
    + """
  const top = box.getBoundingClientRect().top;
  for (const p of box.querySelectorAll('p[data-i]')) {
    if (p.getBoundingClientRect().bottom < top) continue;
    const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
    for (let at = 0; walker.nextNode(); at += walker.currentNode.data.length)
      for (const word of walker.currentNode.data.matchAll(/\\p{L}+/gu)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + 1);
        if (range.getBoundingClientRect().top >= top - 1) return [Number(p.dataset.i), at + word.index];
      }
  }
}"""
)


def test_a_book_opens_again_at_the_character_at_the_top(
    page: Page, app_url: str, app_home: Path, keeper: str, new_page: Page
) -> None:
    open_reader(page, app_url, at=7)
    page.locator(".leaves").hover()
    page.mouse.wheel(0, 777)
    page.evaluate(SETTLED)
    paragraph, word = page.evaluate(FIRST_WORD)
    library = Library(app_home)
    for _ in range(100):
        position = library.position(keeper)
        if position.paragraph == paragraph and word - 2 <= position.offset <= word:  # a quotation mark comes before it
            break
        page.wait_for_timeout(50)
    assert position.paragraph == paragraph
    assert 0 < word - 2 <= position.offset <= word  # in the middle of a paragraph
    library.close()

    new_page.set_viewport_size({"width": 1180, "height": 700})  # wide: narrower, a gist in view waits until it is not
    new_page.goto(f"{app_url.split('/read')[0]}/read?book={keeper}")
    expect(new_page.locator(".leaf.cur")).to_have_count(1)
    new_page.evaluate(SETTLED)
    at = new_page.evaluate(FIRST_WORD)
    assert at[0] == paragraph
    assert at[1] <= word < at[1] + 90  # on the first line


def test_what_was_looked_up_is_there_again_after_a_reload_with_the_way_back(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=7)
    page.evaluate(SETTLED)
    page.keyboard.press("/")
    page.keyboard.type("Crale")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.locator(".leaves").hover()
    page.mouse.wheel(0, 60)
    page.evaluate(SETTLED)
    back = page.locator(".backchip")
    expect(back).to_contain_text("Back to page 7")
    page.wait_for_timeout(1000)  # until the server has heard of it
    shown = page.evaluate(FIRST_WORD)[0]
    page.reload()
    expect(page.locator(f"p[data-i='{shown}']")).to_be_in_viewport()
    expect(back).to_contain_text("Back to")  # where the person reads
    back.get_by_role("button").last.click()  # stay here
    page.get_by_role("button", name="The Paper Fleet").click()  # a chapter: read from there, with the way back
    expect(back).to_be_visible()
    page.wait_for_timeout(1000)
    page.reload()
    expect(back).to_be_visible()
    back.get_by_role("button").first.click()
    expect(page.locator(f"p[data-i='{shown}']")).to_be_in_viewport()


def test_a_hit_is_as_high_as_it_was_after_a_reload(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=3)
    for view, kind in (("gists", "Gists"), ("both", "Gists"), ("both", "Text")):
        page.locator(f".seg-{view}").click()
        page.locator(".find input").fill("Crale")
        page.locator(".hitspanel .chip").filter(has_text=kind).click()
        page.locator(".hitrow").nth(3).click()
        expect(page.locator("mark.now")).to_be_in_viewport()
        page.keyboard.press("/")
        page.keyboard.press("Escape")
        expect(page.locator("mark.hit")).to_have_count(0)
        page.evaluate(SETTLED)
        shown = page.evaluate("history.state.readagent.paragraph")
        hit = page.locator(".leaf.cur .gtext" if kind == "Gists" else f"p[data-i='{shown}']")
        before = hit.bounding_box()
        assert before
        assert before["y"] > 160  # not at the top of the view, where one reads on
        page.wait_for_timeout(1000)  # until the server has heard of it
        page.reload()
        expect(hit).to_be_in_viewport()
        page.evaluate(SETTLED)
        after = hit.bounding_box()
        assert after
        assert abs(after["y"] - before["y"]) <= 2, (view, kind)


def test_what_is_open_at_gist_speed_is_open_after_a_reload(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=1)
    page.locator(".seg-gists").click()
    page.locator("#p1 .gtext").click()
    close = page.get_by_role("button", name="Close page 1")
    expect(close).to_be_visible()
    page.reload()
    expect(close).to_be_visible()
    close.click()
    page.reload()
    expect(page.locator("#p1 .gtext")).to_be_visible()
    expect(close).to_have_count(0)
    page.locator(".seg-both").click()


def test_pages_are_set_as_before_after_a_look_at_the_gists(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=14)
    page.get_by_role("button", name="Type and theme").click()
    page.locator(".panel").get_by_role("button", name="Pages", exact=True).click()
    page.keyboard.press("Escape")
    text = page.locator(".paged .unit.on > p")
    expect(text.first).to_be_attached()
    page.evaluate(SETTLED)
    boxes = "(all) => all.map((p) => [p.getBoundingClientRect().left, p.getBoundingClientRect().top])"
    before = text.evaluate_all(boxes)
    for view in ("gists", "chapters", "both"):
        page.locator(f".seg-{view}").click()
        page.evaluate(SETTLED)
    assert text.evaluate_all(boxes) == before
    page.get_by_role("button", name="Type and theme").click()
    page.locator(".panel").get_by_role("button", name="Scroll", exact=True).click()
    page.keyboard.press("Escape")


def test_a_hit_in_a_gist_that_is_not_shown_leads_to_its_page(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=3)
    page.locator(".seg-text").click()
    page.locator(".find input").fill("Crale")
    page.locator(".hitspanel .chip").filter(has_text="Gists").click()
    page.locator(".hitrow").nth(3).click()
    page.wait_for_timeout(1000)  # until the place is in the address
    first = page.evaluate("history.state.readagent.paragraph")
    expect(page.locator(f"p[data-i='{first}']")).to_be_in_viewport()
    page.locator(".seg-both").click()
    page.set_viewport_size({"width": 680, "height": 900})  # its gist is a closed line
    page.locator(".find input").press("Enter")
    page.locator(".hitspanel .chip").filter(has_text="Gists").click()
    page.locator(".hitrow").nth(3).click()
    expect(page.locator(".leaf mark.now")).to_be_in_viewport()
    page.set_viewport_size(SIZE)


HEIGHT = (  # of the line that a word is in
    "([index, at]) => {"
    + FIND
    + """
  const walker = document.createTreeWalker(box.querySelector(`p[data-i="${index}"]`), NodeFilter.SHOW_TEXT);
  for (let from = 0; walker.nextNode(); from += walker.currentNode.data.length) {
    if (from + walker.currentNode.data.length <= at) continue;
    const range = document.createRange();
    range.setStart(walker.currentNode, at - from);
    range.setEnd(walker.currentNode, at - from + 1);
    return range.getBoundingClientRect().top;
  }
}"""
)


def test_a_line_is_where_it_was_after_a_look_at_gists_and_chapters(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=11)
    page.locator(".leaves").hover()
    for wheel, keys in ((640, "-+"), (370, "--++"), (420, "--+-++"), (330, ["-", "Enter", "Escape", "+"])):
        page.mouse.wheel(0, wheel)
        page.evaluate(SETTLED)
        word = page.evaluate(FIRST_WORD)
        height = page.evaluate(HEIGHT, word)
        for key in keys:
            page.keyboard.press(key)
            page.evaluate(SETTLED)
        assert abs(page.evaluate(HEIGHT, word) - height) <= 2


def test_letters_of_another_size_and_a_window_of_another_width_leave_the_person_at_their_line(
    page: Page, app_url: str
) -> None:
    open_reader(page, app_url, at=9)
    for line, wheel in ((55, 0), (40, 420)):  # at the top of the page, and in the first lines somewhere in it
        page.locator(".leaves").hover()
        page.mouse.wheel(0, wheel)
        page.evaluate(SETTLED)
        read = page.evaluate(READ, line)
        page.locator(".aa").click()
        for size in ("23", "15", "20"):
            page.locator(".panel").get_by_role("slider", name="Text size").fill(size)
            page.evaluate(SETTLED)
            assert page.evaluate(READ, line) == read
            expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "9")
        page.locator(".panel").get_by_role("slider", name="Text size").fill("18")
        page.locator(".aa").click()

    page.locator(".leaves").hover()
    page.mouse.wheel(0, 280)
    page.evaluate(SETTLED)
    read = page.evaluate(READ, 100)
    for width in (900, 1440, 420, 1200):
        page.set_viewport_size({"width": width, "height": 850})
        page.evaluate(SETTLED)
        assert page.evaluate(READ, 100) == read, f"at {width}"
    page.set_viewport_size(SIZE)


def test_type_is_chosen_and_stays(page: Page, app_url: str) -> None:
    open_reader(page, app_url, at=1)
    text = page.locator('p[data-i="0"]')
    for away in (text, page.locator(".outline").first):
        page.locator(".aa").click()
        away.click(position={"x": 4, "y": 4})
        expect(page.locator(".panel")).to_be_hidden()
    page.get_by_role("button", name="More", exact=True).click()
    text.click(position={"x": 4, "y": 4})
    expect(page.locator(".panel")).to_be_hidden()
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("slider", name="Text size").fill("23")
    expect(text).to_have_css("font-size", "23px")
    page.locator(".panel").get_by_role("button", name="Sans", exact=True).click()
    expect(text).not_to_have_css("font-family", re.compile("Palatino"))
    expect(page.locator("#p1 .gtext")).to_have_css("font-size", "14px")  # the gist is not the book's own words
    page.locator(".panel").get_by_role("button", name="Serif", exact=True).click()
    expect(text).to_have_css("font-family", re.compile("Palatino"))
    middle = width_of(text)
    page.locator(".panel").get_by_role("slider", name="Line length").fill("48")
    assert width_of(text) < middle
    page.locator(".panel").get_by_role("slider", name="Line length").fill("60")
    page.locator(".panel").get_by_role("button", name="Line spacing: more").click()
    expect(page.locator(".panel output").nth(1)).to_have_text("1.70")
    page.locator(".panel").get_by_role("button", name="Caladea").click()
    page.wait_for_function("() => [...document.fonts].some((f) => f.family === 'Caladea' && f.status === 'loaded')")
    page.locator(".panel").get_by_role("button", name="Sepia").click()
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(242, 232, 213)")
    page.reload()
    expect(text).to_have_css("font-size", "23px")
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("slider", name="Text size").fill("18")
    page.locator(".panel").get_by_role("button", name="Dark").click()
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(23, 25, 27)")
    expect(page.locator(".leaf.cur")).to_have_count(1)
    page.locator(".panel").get_by_role("button", name="System").click()
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(250, 249, 246)")


def test_a_second_tab_with_the_same_book_loses_nothing_and_is_followed(
    page: Page, new_page: Page, app_url: str, app_home: Path, keeper: str
) -> None:
    library = Library(app_home)
    for mark in library.marks(keeper):
        library.remove_mark(mark.id)
    for tab, at in ((page, 5), (new_page, 12)):
        open_reader(tab, app_url, at=at)
        tab.keyboard.press("b")
        expect(tab.get_by_role("button", name="Remove the bookmark")).to_be_visible()
    expect(new_page.locator(".notesb")).to_have_text("2")
    choose(new_page, "Text size", "23")
    expect(new_page.locator('p[data-i="0"]')).to_have_css("font-size", "23px")
    wait_for_look(page, library, size=23)
    choose(page, "Line length", "48")  # in the tab that knows nothing of the other size yet
    wait_for_look(page, library, size=23, measure=48)
    assert len(library.marks(keeper)) == 2

    page.evaluate("dispatchEvent(new Event('blur'))")
    new_page.keyboard.press("j")
    expect(new_page.locator(".leaf.cur")).to_have_attribute("data-n", "13")
    page.wait_for_timeout(1100)  # away for over a second
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator(".notesb")).to_have_text("2")
    expect(page.locator('p[data-i="0"]')).to_have_css("font-size", "23px")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "5")
    page.locator(".backchip .btn").first.click()  # on to where the other tab is
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "13")
    page.keyboard.press("k")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "12")
    expect(new_page.locator(".leaf.cur")).to_have_attribute("data-n", "13")
    library.close()


def choose(page: Page, name: str, value: str) -> None:
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("slider", name=name).fill(value)
    page.locator(".aa").click()


def wait_for_look(page: Page, library: Library, **wanted: int) -> None:
    for _ in range(100):
        look = library.preference("look", {})
        if wanted.items() <= look.items():
            return
        page.wait_for_timeout(50)
    raise AssertionError(look)
