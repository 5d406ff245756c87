"""Work under way is looked at again and again; that takes no click away from the person who makes it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from playwright.sync_api import Page, expect

from readagent_core.library import Library
from tests.browser.conftest import go_to
from tests.browser.test_ask import BOX, ask, open_ask
from tests.browser.test_ask import replies as replies
from tests.browser.test_ask import story as story
from tests.fakes.server import Reply

LIBRARY = '[data-kind="library"], [data-kind="first"]'
# Just before a link is pressed with Enter, and just after a click on it was sent, the work is looked at, where a look
# that reaches the server may take the click's place. `before` and `tried`: looks before and after a click; `sent`: what
# was sent in the moment after it.
MEET = """(() => {
  const due = new Map();
  const met = (window.met = { before: 0, tried: 0, sent: 0 });
  for (const [name, clear] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval"]]) {
    const [wait, stop] = [window[name], window[clear]];
    window[name] = (does, ms, ...rest) => {
      const id = wait((...given) => (name === "setTimeout" && due.delete(id), does(...given)), ms, ...rest);
      if ((ms >= 140 && ms <= 1100) || (ms > 4000 && ms < 4500)) due.set(id, does); // a beat, or one waited for
      return id;
    };
    window[clear] = (id) => (due.delete(id), stop(id));
  }
  const look = () => [...due.values()].map((does) => does()).length;
  let leaving = false, after = false;
  const link = (event) => event.target.closest?.("a[href]");
  const pressed = (event) => {
    if (event.key === "Enter" && link(event)) met.before += look();
    link(event)?.addEventListener("click", () => (leaving = true), { once: true }); // a delayed one ends before it
  };
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, pressed, true);
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    send.call(this, data);
    if (after) met.sent += 1;
    if (!leaving) return;
    leaving = false;
    after = true;
    met.tried += look();
    setTimeout(() => (after = false), 60);
  };
})()"""


def test_a_change_of_screen_is_not_lost_while_an_answer_is_under_way(
    new_page: Page, model_app_url: str, story: str, replies
):
    page = new_page
    replies(look_up="Page [15]", answer=Reply(" ".join(f"He rowed out to ship {n}." for n in range(240)), gap=0.5))
    page.add_init_script(MEET)
    open_ask(page, model_app_url, story)
    exchange = ask(page, "How did he come to the ship?")
    expect(exchange.locator(".ans")).to_contain_text("He rowed out")
    for turn in range(60):  # a look waits to be made at most of the clicks, not at each
        if turn > 2 and page.evaluate("met.tried && met.before"):
            break
        library = page.get_by_test_id("stTopNavLink").filter(has_text="Library")
        library.click() if turn % 2 else library.press("Enter")
        expect(page.locator(BOX)).to_have_count(0)
        expect(page.locator(LIBRARY)).to_be_visible()
        go_to(page, "Ask")
        expect(exchange.locator("button.stop")).to_be_visible()
    exchange.locator("button.stop").click()
    expect(exchange.locator(".note")).to_contain_text("Stopped.")
    met = page.evaluate("met")
    assert min(met["before"], met["tried"]) > 0, "nothing looked at the work"
    assert met["sent"] == 0


def test_neither_a_change_of_screen_nor_the_place_is_lost_after_a_page_was_turned(
    page: Page, app_url: str, app_home: Path, keeper: str
):
    current = page.locator(".leaf.cur")
    page.goto(f"{app_url}/read?book={keeper}&page=3")
    expect(current).to_have_attribute("data-n", "3")
    # the screen is changed just after a page was turned
    for turned in (4, 5):
        page.keyboard.press("j")
        expect(current).to_have_attribute("data-n", str(turned))
        to_library_and_back(page)
        expect(current).to_have_attribute("data-n", str(turned))
    # the report of a place is lost
    with closing(Library(app_home)) as library:
        before = library.position(keeper).paragraph
        page.keyboard.press("j")
        after = stored_beyond(page, library, keeper, before)
        library.set_position(keeper, before)  # as if the report had not come
        to_library_and_back(page)
        expect(current).to_have_attribute("data-n", "6")
        page.keyboard.press("j")
        stored_beyond(page, library, keeper, after)  # from there on it is reported again


def stored_beyond(page: Page, library: Library, book: str, before: int) -> int:
    """The paragraph that is stored as soon as it is beyond another one."""
    for _ in range(100):
        if (now := library.position(book).paragraph) > before:
            return now
        page.wait_for_timeout(100)
    raise AssertionError(f"no place beyond {before} was stored")


def to_library_and_back(page: Page) -> None:
    go_to(page, "Library")
    expect(page.locator(LIBRARY)).to_be_visible()
    go_to(page, "Read")
