"""A small window shows all of the reader; jumps have a way back; Enter opens the menu of words selected by keyboard."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, expect

from pages.parts.read.look import change_view
from readagent_core.document import Section
from readagent_core.library import Library
from tests.browser.conftest import add_read_book, settled
from tests.recordings import make_memory

LINES_IN_VIEW = """(text) => {
  const view = text.getBoundingClientRect();
  const tops = new Set();
  for (const p of text.querySelectorAll("p[data-i]")) {
    const all = document.createRange();
    all.selectNodeContents(p);
    for (const { left, top, bottom } of all.getClientRects())
      if (left >= view.left && left < view.right && top >= view.top && bottom <= view.bottom)
        tops.add(Math.round(top / 8));
  }
  return tops.size;
}"""


AWAY_FROM_LINE = """(marks) => marks.map((mark) => {
  const line = document.createRange();
  line.selectNodeContents(mark.nextElementSibling);
  const { left, top, height } = line.getClientRects()[0];
  const box = mark.querySelector(".num").getBoundingClientRect();
  return [left - box.right, top + height / 2 - box.top - box.height / 2];
})"""

UNDER = """(pill) => {
  const over = pill.getBoundingClientRect();
  const all = document.createRange();
  return [...pill.parentNode.querySelectorAll(".unit.on > p, .beside-gists summary")].flatMap((p) => {
    all.selectNode(p);
    return [...all.getClientRects()].filter(
      (line) => line.left < over.right && line.right > over.left && line.top < over.bottom && line.bottom > over.top);
  }).length;
}"""

LATE_TEXT = """globalThis.late = [];
const { dispatchEvent } = EventTarget.prototype;
EventTarget.prototype.dispatchEvent = function (event) {
  const from = event.type === "text" && event.detail?.[0];
  if (!from) return dispatchEvent.call(this, event);
  const words = this.text.splice(from); // all but the first batch
  late.push(() => {
    this.text.push(...words);
    dispatchEvent.call(this, event);
  });
  return true;
};"""


def set_look(home: Path, **look: str) -> None:
    library = Library(home)
    library.set_preference("look", look)
    library.close()


def swipe(finger: CDPSession, start: int, end: int) -> None:
    steps = [{"x": start + (end - start) * i / 8, "y": 420} for i in range(9)]
    for kind, points in [("Start", steps[:1]), *(("Move", [at]) for at in steps[1:]), ("End", [])]:
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})


def test_a_swipe_turns_a_page_back_and_does_not_leave_the_book(
    chromium: Browser, app_url: str, app_home: Path, keeper: str
) -> None:
    set_look(app_home, flow="pages")
    for width, left in ((390, 80), (1024, 480)):
        size = {"width": width, "height": 844}
        context = chromium.new_context(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce")
        page = context.new_page()
        page.goto(app_url)
        page.goto(f"{app_url}/read?book={keeper}&page=1")
        expect(page.locator(".unit.on > p").first).to_be_visible()
        settled(page)
        finger, column = context.new_cdp_session(page), page.locator(".col")

        first = column.evaluate("(col) => col.style.transform")
        swipe(finger, left + 250, left)
        assert column.evaluate("(col) => col.style.transform") != first
        swipe(finger, left, left + 250)
        page.wait_for_timeout(500)  # the browser's own way back takes as long
        assert keeper in page.url
        assert column.evaluate("(col) => col.style.transform") == first
        context.close()


def test_a_low_window_has_twelve_lines_of_text_and_the_bars_come_when_asked_for(
    page: Page, app_url: str, app_home: Path, keeper: str
) -> None:
    set_look(app_home, flow="pages")
    for size in ({"width": 640, "height": 360}, {"width": 720, "height": 450}):  # usual windows at a zoom of 200 %
        page.set_viewport_size(size)
        page.goto(f"{app_url}/read?book={keeper}&page=9")
        expect(page.locator(".bareline")).to_contain_text("left in chapter")
        expect(page.locator(".tbar")).to_be_hidden()  # at once: it would cover the first lines
        assert page.locator(".leaves").evaluate(LINES_IN_VIEW) >= 12
        page.locator(".leaves").click(position={"x": size["width"] / 2, "y": size["height"] / 2})
        expect(page.locator(".tbar")).to_be_visible()
        turn, line = page.locator(".turn.right").bounding_box(), page.locator(".bareline").bounding_box()
        assert turn
        assert line
        assert turn["y"] + turn["height"] <= line["y"] + 1  # the arrow is whole
        page.keyboard.press("End")
        expect(page.locator(".backchip")).to_be_visible()
        way_back = page.locator(".backchip").bounding_box()
        assert way_back["y"] + way_back["height"] <= size["height"] + 1  # so is the way back
        gists = page.locator(".beside-gists summary")
        expect(gists).to_be_in_viewport(ratio=1)
        assert gists.bounding_box()["x"] >= way_back["x"] + way_back["width"]
        gists.click()
        expect(page.locator(".side .gtext").last).to_be_visible()
        page.keyboard.press("Escape")  # closes it, and nothing else
        expect(page.locator(".side .gtext").last).to_be_hidden()
        expect(page.locator(".root.bare")).to_be_visible()
    for width, view in ((1100, "Text"), (1100, "With gists"), (800, "With gists")):
        page.set_viewport_size({"width": width, "height": 800})
        page.get_by_role("button", name=view, exact=True).click()
        page.goto(f"{app_url}/read?book={keeper}&page=4")
        expect(page.locator(".backchip")).to_be_visible()
        assert page.locator(".backchip").evaluate(UNDER) == 0  # no word lies under the way back
    page.set_viewport_size({"width": 720, "height": 450})
    page.get_by_role("button", name="Show the bars").click()
    page.locator(".find input").fill("Crale")
    page.locator(".find input").press("Enter")
    expect(page.locator(".backchip")).to_be_visible()
    expect(page.locator(".unit.on mark.now")).to_be_in_viewport()  # the list of hits left the text less room
    assert page.locator(".backchip").evaluate(UNDER) == 0
    page.locator(".find input").press("Escape")
    page.keyboard.press("f")  # without furniture
    page.keyboard.press("i")
    expect(page.locator(".notespanel")).to_be_visible()
    page.locator(".leaves").click(position={"x": 20, "y": 20})  # nothing
    page.keyboard.press("/")
    expect(page.locator(".find input")).to_be_focused()
    page.keyboard.type("Crale")
    expect(page.locator(".hitspanel")).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Enter")
        bar, hit = page.locator(".tbar").bounding_box(), page.locator(".unit.on mark.now").bounding_box()
        assert bar
        assert hit
        assert hit["y"] > bar["y"] + bar["height"]
    hits, line = page.locator(".hitspanel").bounding_box(), page.locator(".bareline").bounding_box()
    assert hits
    assert line
    assert bar["y"] + bar["height"] <= hits["y"] + 1  # its head is seen
    assert hits["y"] + hits["height"] <= line["y"] + 1
    page.keyboard.press("Escape")
    set_look(app_home, flow="scroll")
    page.goto(f"{app_url}/read?book={keeper}&page=9")
    expect(page.locator(".bareline")).to_contain_text("left in chapter")
    assert page.locator(".leaves").evaluate(LINES_IN_VIEW) >= 12
    expect(page.get_by_role("button", name="Show the bars")).to_have_css("opacity", "1")  # seen without a search
    text = page.locator(".leaves")
    box = text.bounding_box()
    page.mouse.move(360, 200)
    page.mouse.move(360, 10)  # at the upper edge
    expect(page.locator(".tbar")).to_be_visible()
    text.click(position={"x": 360, "y": 200})
    expect(page.locator(".tbar")).to_be_hidden()
    text.click(position={"x": 360, "y": 200})
    expect(page.locator(".tbar")).to_be_visible()
    assert text.bounding_box() == box  # they lie over it
    text.click(position={"x": 360, "y": 200})
    page.keyboard.press("l")
    expect(page.locator(".listen")).to_be_visible()  # what is said of it is seen
    assert text.bounding_box() == box
    page.locator(".listen .shut").click()
    page.keyboard.press("Escape")
    foot, bar = page.locator(".foot").bounding_box(), page.locator("nav.bar").bounding_box()
    assert foot
    assert bar
    assert foot["y"] + foot["height"] <= bar["y"] + 1
    page.keyboard.press("f")
    expect(page.locator(".foot")).to_be_hidden()
    page.set_viewport_size({"width": 1024, "height": 768})
    page.mouse.move(500, 300)
    page.mouse.move(500, 5)
    expect(page.locator(".tbar")).to_be_visible()
    above, lines = page.locator(".tbar").bounding_box(), text.bounding_box()
    assert above
    assert lines
    assert above["y"] + above["height"] <= lines["y"]  # it lies over the margin
    page.set_viewport_size({"width": 720, "height": 450})
    page.keyboard.press("f")
    expect(page.locator(".foot")).to_be_visible()


OVER = """() => {  // what is seen at the edges of the window besides the reader, frame by frame from now on
  window.seen = new Set();
  const look = () => {
    for (const [x, y] of [[innerWidth / 2, 6], [6, innerHeight / 2], [innerWidth / 2, innerHeight - 20]])
      window.seen.add(document.elementFromPoint(x, y).closest("nav, header, [data-testid='stSidebar']")?.tagName ?? "");
    requestAnimationFrame(look);
  };
  look();
}"""


def test_nothing_lies_over_the_text_without_furniture_while_a_place_is_stored(
    page: Page, app_url: str, keeper: str
) -> None:
    page.set_viewport_size({"width": 720, "height": 450})
    page.goto(f"{app_url}/read?book={keeper}&page=9")
    expect(page.locator(".bareline")).to_contain_text("left in chapter")
    settled(page)
    page.evaluate(OVER)
    page.keyboard.press("]")
    page.wait_for_timeout(1500)  # the place is sent, and the script has run
    assert page.evaluate("[...window.seen]") == [""]


def test_the_mark_of_a_page_stands_beside_its_first_line(page: Page, app_url: str, app_home: Path, keeper: str) -> None:
    set_look(app_home, flow="spread")
    page.goto(f"{app_url}/read?book={keeper}&page=12")  # begins at the top of the right column
    expect(page.locator('.unit.on .pmark[data-n="12"]')).to_be_visible()
    away = page.locator(".unit.on .pmark").evaluate_all(AWAY_FROM_LINE)
    set_look(app_home, flow="scroll")
    assert len(away) >= 3
    assert all(0 <= right <= 20 and abs(down) <= 2 for right, down in away), away


def test_a_page_opens_among_the_gists_and_the_line_stays(page: Page, app_url: str, app_home: Path) -> None:
    texts = [f"{'Nobody came. ' * 150}A lantern was lit in house {n}." for n in range(12)]
    streets = tuple(Section(f"Street {n}", 3 * n) for n in range(4))
    memory = make_memory(texts, [f"House {n}. " * 9 for n in range(12)], title="Houses", sections=streets)
    book = add_read_book(app_home, memory)
    page.goto(f"{app_url}/read?book={book}&page=5")
    page.locator(".foot").wait_for()
    library = Library(app_home)
    library.set_limit(book, on=True)
    library.close()
    page.reload()
    expect(page.locator(".leaf.cur.veiled")).to_have_count(1)
    page.keyboard.press("-")
    note = page.locator(".veilnote")
    expect(note).to_contain_text("A gist stands here for each page you have read, and for the first one.")
    page.keyboard.press("-")
    expect(page.locator(".chap:visible")).to_have_count(4)
    expect(page.get_by_text("Opens when you have read it").locator("visible=true")).to_have_count(1)  # said once
    expect(note).to_contain_text("Each line is how the chapter’s gists begin")
    page.keyboard.press("+")
    share = page.get_by_text(re.compile("The gists are .* as long")).text_content()
    note.get_by_role("button", name="Show all gists").click()
    expect(page.locator("#p5 .gtext")).to_have_count(1)
    expect(note).to_be_hidden()
    expect(page.locator(".room")).to_contain_class("v-gists")
    expect(page.locator("#p5")).to_be_in_viewport()
    expect(page.get_by_text(str(share))).to_be_visible()  # of all gists, veiled or not
    page.locator("#p5 .gtext").click()  # the one that is read
    opened, top = page.locator('p[data-i="4"]'), page.locator(".leaves").bounding_box()["y"]
    expect(opened).to_be_in_viewport()
    assert top <= opened.bounding_box()["y"] <= top + 350  # from its first line, not from the one that was read
    page.get_by_role("button", name="Close page 5").click()
    expect(page.locator("#p5")).to_be_in_viewport()
    page.locator(".leaves").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")  # from further down
    expect(page.locator("#p6")).to_be_hidden()
    assert top <= page.locator('p[data-i="5"]').bounding_box()["y"] <= top + 100
    page.keyboard.press("Escape")
    page.locator("#p6 .gtext").click()
    opened = page.locator('p[data-i="5"]')
    expect(opened).to_be_in_viewport()
    expect(page.locator("#p6")).to_be_hidden()
    tops = [page.locator(node).bounding_box()["y"] for node in ("#p5", 'p[data-i="5"]', "#p7")]
    assert tops == sorted(tops)  # the page stands where its gist stood
    page.get_by_role("button", name="Close page 6").click()
    expect(opened).to_be_hidden()
    expect(page.locator("#p6")).to_be_in_viewport()
    page.keyboard.press("+")
    expect(page.locator('p[data-i="4"]')).to_be_in_viewport()
    page.keyboard.press("-")
    field = page.get_by_role("searchbox", name="Search this book")
    for number, others in ((9, 3), (3, 9)):  # words of the text are shown, and what was opened for others closes
        field.fill(f"lit in house {number}")
        expect(page.locator(f'p[data-i="{number}"] mark.now').first).to_be_in_viewport()
        expect(page.locator(f'p[data-i="{others}"]')).to_be_hidden()


def test_the_book_and_one_chapter_alone_shrink_to_gists_and_lines_a_chapter(
    page: Page, app_url: str, app_home: Path, keeper: str
) -> None:
    page.goto(f"{app_url}/read?book={keeper}&page=9")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "9")
    expect(page.locator(".seg-chapters")).to_contain_text("min")
    page.keyboard.press("-")
    expect(page.locator("#p9 .gtext")).to_be_in_viewport()
    page.keyboard.press("-")
    line = page.locator(".chap").filter(has_text="The Log")
    expect(line).to_be_in_viewport()
    expect(page.locator(".chap:visible")).to_have_count(8)
    expect(page.locator(".leaf:visible")).to_have_count(0)
    size = page.viewport_size
    page.set_viewport_size({"width": 1024, "height": 768})
    expect(page.locator(".seg-both")).to_be_visible()  # there is a way back to it
    page.set_viewport_size(size)
    with closing(Library(app_home)) as library:
        for _ in range(100):
            if library.preference("view", "") == "chapters":
                break
            page.wait_for_timeout(100)
    late = "**/*receive_pages*"
    page.route(late, lambda route: (page.wait_for_timeout(500), route.continue_()))  # the pages come after the text
    page.reload()
    expect(page.locator(".chap:visible")).to_have_count(8)
    expect(line).to_be_in_viewport(ratio=1)  # its heading too
    expect(page.locator(".foot .line").first).not_to_contain_text("the end")  # of the lines, not of the text
    page.unroute(late)
    line.click()  # this chapter alone
    expect(page.locator(".leaf:visible")).to_have_count(4)
    expect(page.locator(".chap:visible")).to_have_count(7)
    page.locator(".sec").filter(has_text="The Log").click()
    expect(page.locator(".chap:visible")).to_have_count(8)
    page.keyboard.press("+")
    page.keyboard.press("+")
    expect(page.locator(".room")).to_contain_class("v-both")
    expect(page.locator('p[data-i="0"]')).to_be_attached()
    head = page.locator(".sec").filter(has_text="The Log")
    page.locator(".outline button").filter(has_text="The Log").click()
    expect(head).to_be_in_viewport()
    head.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, 100)  # two fingers on a touchpad: a key concerns the whole book
    page.keyboard.up("Control")
    expect(page.locator("#p7 .gtext")).to_be_in_viewport()
    expect(page.locator(".leaf:visible")).to_have_count(4)  # the text of the other chapters stays
    expect(page.locator(".chap:visible")).to_have_count(0)


def test_a_chapter_whose_text_comes_later_is_a_line_too(new_page: Page, app_url: str, app_home: Path) -> None:
    chapters = tuple(Section(f"Chapter {n + 1}", n) for n in range(40))
    memory = make_memory(["The lamp was lit. " * 200] * 40, title="Lamps", sections=chapters)  # two batches of text
    book = add_read_book(app_home, memory)
    with closing(Library(app_home)) as library:
        change_view(library, book, "", "chapters")
    page = new_page
    page.add_init_script(LATE_TEXT)
    page.goto(f"{app_url}/read?book={book}")
    lines = page.locator(".chap:visible")
    expect(lines.first).to_be_visible()
    page.wait_for_function("late.length")
    before = lines.count()
    assert 0 < before < 40
    page.evaluate("late.forEach((come) => come())")
    expect(lines).to_have_count(40)
    expect(page.locator(".leaf:visible")).to_have_count(0)


def test_the_text_stands_at_the_page_that_was_opened_among_the_chapters(page: Page, app_url: str, keeper: str) -> None:
    page.goto(f"{app_url}/read?book={keeper}&page=1")
    page.locator(".seg-chapters").click()
    page.locator(".chap").filter(has_text="Nine Pints").click()
    expect(page.locator(".chap:visible")).to_have_count(7)  # another chapter is open, higher than its line
    page.keyboard.press("Home")
    at = page.locator(".chap.cur:visible")
    for key, title in (
        ("j", "The Plumb Line"),
        ("j", "The Log"),
        ("k", "The Plumb Line"),
        ("k", "Forty-Seven Minutes"),
    ):
        page.keyboard.press(key)  # from line to line: no page of a chapter that is one
        expect(at).to_contain_text(title)
    for key in ("Enter", "j", "j", "Enter"):
        page.keyboard.press(key)
    opened = page.locator("p.opened").filter(has_text="The harbour-master was waiting")
    expect(opened).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#p3 .gtext")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".chap").first).to_be_in_viewport(ratio=1)
    page.keyboard.press("g")
    expect(page.locator(".room")).to_contain_class("v-both")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "3")
    page.wait_for_timeout(300)  # what the browser leaves out it chooses a frame later
    expect(page.locator("p").filter(has_text="The harbour-master was waiting")).to_be_in_viewport()


def test_the_text_left_for_gists_has_a_way_back(page: Page, app_url: str, keeper: str) -> None:
    page.goto(f"{app_url}/read?book={keeper}&page=3")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "3")
    if (stay := page.get_by_role("button", name="Stay here")).is_visible():
        stay.click()
    chip = page.locator(".backchip")
    for key, view in (("-", "gists"), ("+", "both"), ("-", "gists")):
        page.keyboard.press(key)
        expect(page.locator(".room")).to_contain_class(f"v-{view}")
        expect(chip).to_be_hidden()
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 1600)
    expect(page.locator("#p3 .gtext")).not_to_be_in_viewport()
    expect(page.locator(".leaf.cur")).not_to_have_attribute("data-n", "3")
    page.keyboard.press("+")
    expect(chip).to_contain_text("Back to page 3")
    page.keyboard.press("Backspace")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "3")
    expect(chip).to_be_hidden()


def test_all_hits_of_a_search_have_one_way_back(page: Page, app_url: str, app_home: Path) -> None:
    texts = [f"{'Nobody came. ' * 150}A lantern was lit in house {n}." for n in range(20)]
    book = add_read_book(app_home, make_memory(texts, [f"House {n}." for n in range(20)], title="Lanterns"))
    page.goto(f"{app_url}/read?book={book}&page=5")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "5")
    field, count, chip = page.locator(".find input"), page.locator(".count"), page.locator(".backchip")
    field.fill("lan")  # as when one stops while typing
    expect(count).to_have_text("5 of 20")
    field.fill("lantern")
    expect(page.locator("mark.now")).to_have_text("lantern")
    expect(count).to_have_text("5 of 20")
    for hit in (6, 7, 8):
        field.press("Enter")
        expect(count).to_have_text(f"{hit} of 20")
    chip.get_by_role("button").first.click()
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "5")
    expect(chip).to_contain_text("Back to the beginning")  # where the book was before its page 5 was asked for
    expect(count).to_have_text("20 hits")  # none of them is looked at any more
    expect(page.locator("mark.now")).to_have_count(0)
    field.press("Enter")
    expect(count).to_have_text("5 of 20")  # on from where one is
    for _ in range(5):
        field.press("Enter")
    expect(chip).to_contain_text("Back to page 5")
    page.locator(".leaves").focus()
    for number in (9, 8, 7, 6, 5):
        expect(page.locator(".leaf.cur")).to_have_attribute("data-n", str(number + 1))
        page.keyboard.press("k")
    expect(page.locator(".leaf.cur")).to_have_attribute("data-n", "5")  # who has walked there
    expect(chip).to_contain_text("Back to the beginning")  # is led there no more


def test_enter_opens_the_menu_of_the_selected_words_after_a_panel_was_closed(
    page: Page, app_url: str, keeper: str
) -> None:
    page.goto(f"{app_url}/read?book={keeper}")
    expect(page.locator(".leaf.cur")).to_be_visible()
    page.get_by_role("button", name="Type and theme").click()
    for key in ("Escape", "v", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".selmenu").get_by_role("button").first).to_be_focused()
    expect(page.locator(".panel")).to_be_hidden()
