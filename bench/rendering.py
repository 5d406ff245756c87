"""How fast a book of 600,000 words opens and turns in the reader, what goes over the wire, what the browser holds.

    python bench/rendering.py [--pages 1000] [--words 600]
    python bench/rendering.py --marks 500     opens the book in turn without and with so many marks, and compares

The book is opened twice: without gists, right after its text was added to the library, and with a gist of each page.
"Opens" is from the change of screen to the text in view, the app being open.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright  # noqa: E402

from readagent_core.companion.marks import make_mark  # noqa: E402
from readagent_core.document import Document, Paragraph, Section  # noqa: E402
from readagent_core.library import Library  # noqa: E402
from readagent_core.library.marks import COLOURS, HIGHLIGHT, Spot  # noqa: E402
from readagent_core.memory import Gist, GistMemory  # noqa: E402
from readagent_core.memory import Page as MemoryPage  # noqa: E402
from readagent_core.plan import GistingPlan  # noqa: E402
from tests.browser.conftest import installed, running_app  # noqa: E402

TEXT = "the ferry came late and nobody knew how long a river runs before it meets the sea and slows down there"
WORDS = TEXT.split()


def big_book(pages: int, words: int, *, seed: int = 7) -> GistMemory:
    """A made-up reading: ``pages`` pages of about ``words`` words in five paragraphs, a gist of a sixth each."""
    dice = random.Random(seed)

    def run(count: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(count)).capitalize() + "."

    paragraphs = [Paragraph(run(words // 5 + dice.randrange(-15, 15))) for _ in range(pages * 5)]
    sections = tuple(Section(f"Chapter {i + 1}", i * 125) for i in range(pages // 25))
    document = Document("A Book of a Thousand Pages", tuple(paragraphs), sections, author="A. Generator")
    made = [
        MemoryPage(n + 1, n * 5, n * 5 + 5, sum(p.words for p in paragraphs[n * 5 : n * 5 + 5]), run(12))
        for n in range(pages)
    ]
    gists = tuple(Gist(run(words // 6)) for _ in range(pages))
    return GistMemory(document, GistingPlan(), tuple(made), gists, model="a generator", complete=True)


class Wire:
    """Bytes received over the page's web sockets."""

    def __init__(self, page: Page) -> None:
        self.received = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._add))

    def _add(self, payload: str | bytes) -> None:
        self.received += len(payload)


PAINTED = "[...CSS.highlights].reduce((sum, [name, ranges]) => sum + (name.startsWith('mark-') ? ranges.size : 0), 0)"
FIND = """
  const inside = (e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])];
  const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const box = deep(document).find((e) => e.classList.contains("leaves"));
  const part = (wanted) => box.getRootNode().querySelector(wanted);
"""
AFTER = (  # milliseconds from a key, or from a click on an element, to the second frame drawn after it
    "([key, wanted]) => new Promise((done) => {"
    + FIND
    + """
      const began = performance.now();
      if (key) document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      else part(wanted).click();
      box.getBoundingClientRect();
      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
    })"""
)


def after_key(page: Page, key: str) -> float:
    return float(page.evaluate(AFTER, [key, ""]))


def after_click(page: Page, wanted: str) -> float:
    return float(page.evaluate(AFTER, ["", wanted]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--words", type=int, default=600)
    parser.add_argument("--marks", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        library = Library(home)
        memory = big_book(given.pages, given.words)
        bare = replace(memory.document, paragraphs=memory.document.paragraphs[:-1], title="Without gists")
        book = library.add(memory.document, source_name="big.txt")
        library.add_memory(book.id, memory)
        without = library.add(bare, source_name="bare.txt")
        library.close()
        browser = playwright.chromium.launch(executable_path=installed(), args=["--no-sandbox"])
        with running_app(home) as url:
            size = ViewportSize(width=1440, height=900)
            print(f"{len(memory.pages)} pages, {memory.document.words:,} words")
            if given.marks:
                compare_marks(browser, url, home, book.id, given.marks)
                return
            measure(browser.new_page(viewport=size), url, without.id, "without gists")
            measure(browser.new_page(viewport=size), url, book.id, "with gists")
        browser.close()


def open_book(page: Page, url: str, book_id: str) -> float:
    """Seconds from the change of screen to the text in view."""
    page.goto(f"{url}/ask?book={book_id}")  # so that it is the book of the session
    page.get_by_test_id("stTopNavLink").filter(has_text="Read").wait_for()
    page.wait_for_timeout(2500)
    began = time.perf_counter()
    page.get_by_test_id("stTopNavLink").filter(has_text="Read").click()
    page.locator('p[data-i="0"]').wait_for()
    return time.perf_counter() - began


def compare_marks(browser: Browser, url: str, home: Path, book_id: str, count: int, *, times: int = 6) -> None:
    """Print how long opening takes without marks and with ``count`` of them, and how many are painted."""
    library = Library(home)
    document = library.document(book_id)
    made = []
    for n in range(count):
        start = Spot(n * len(document.paragraphs) // count, 10)
        end = Spot(start.paragraph, 90)
        made.append(make_mark(document, book_id, HIGHLIGHT, start, end, colour=COLOURS[1 + n % 4]))
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * times + 1):
        with_marks = turn % 2 == 0
        if with_marks:
            library.put_mark(*made)
        page = browser.new_page(viewport=ViewportSize(width=1440, height=900))
        took = open_book(page, url, book_id)
        if with_marks:
            page.wait_for_function(f"{PAINTED} === {count}", timeout=20_000)
        page.close()
        for mark in library.marks(book_id) if with_marks else ():
            library.remove_mark(mark.id)
        if turn:  # the first one loads the app
            seconds[with_marks].append(took)
    library.close()
    before, after = (statistics.median(seconds[with_marks]) for with_marks in (False, True))
    print(
        f"  opens in {before:.2f} s without marks, in {after:.2f} s with {count}: {after / before - 1:+.0%} (of 10 %)"
    )


def measure(page: Page, url: str, book_id: str, name: str) -> None:
    wire = Wire(page)
    rows: list[tuple[str, str, str]] = []
    before = wire.received
    rows.append(("opens", f"{open_book(page, url, book_id):.2f} s", "1.5 s"))
    page.wait_for_timeout(4000)
    rows.append(("sent for the whole book", f"{(wire.received - before) / 1e6:.2f} MB", ""))
    before = wire.received
    page.get_by_test_id("stTopNavLink").filter(has_text="Settings").click()
    page.wait_for_timeout(1500)
    page.get_by_test_id("stTopNavLink").filter(has_text="Read").click()
    page.locator('p[data-i="0"]').wait_for()
    page.wait_for_timeout(2500)
    rows.append(("sent when it is opened again", f"{(wire.received - before) / 1e6:.2f} MB", ""))
    turns = []
    before = wire.received
    for _ in range(20):
        turns.append(after_key(page, "j"))
        page.wait_for_timeout(900)  # long enough that the position is sent each time
    rows.append(("turns a page, median", f"{statistics.median(turns):.0f} ms", "40 ms"))
    rows.append(("turns a page, slowest of 20", f"{max(turns):.0f} ms", ""))
    rows.append(("over the wire a turn", f"{(wire.received - before) / 20 / 1000:.1f} KB", "50 KB"))
    rows.append(("to the end and back", f"{after_key(page, 'End'):.0f} and {after_key(page, 'Home'):.0f} ms", "150 ms"))
    page.wait_for_timeout(1500)
    if name == "with gists":
        modes = [after_click(page, f".seg-{view}") for view in ("text", "gists", "both")]
        rows.append(("changes the view: text, gists, both", " ".join(f"{ms:.0f}" for ms in modes) + " ms", "300 ms"))
    page.locator(".aa").click()
    flows = [after_click(page, f".panel .choice:first-child button:nth-child({n})") for n in (2, 3)]
    page.wait_for_timeout(500)
    page.keyboard.press("Escape")
    turns = []
    for _ in range(10):
        turns.append(after_key(page, "j"))
        page.wait_for_timeout(100)
    page.locator(".aa").click()
    flows.append(after_click(page, ".panel .choice:first-child button:nth-child(1)"))
    rows.append(("changes to pages, spread, scroll", " ".join(f"{ms:.0f}" for ms in flows) + " ms", "300 ms"))
    rows.append(("turns a spread, median", f"{statistics.median(turns):.0f} ms", "40 ms"))
    page.keyboard.press("Escape")
    began = time.perf_counter()
    page.locator(".find input").fill("river")
    page.locator("mark.now").wait_for()
    rows.append(("searches", f"{time.perf_counter() - began:.2f} s", ""))
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    rows.append(("memory of the scripts in the browser", f"{heap:.0f} MB", "150 MB"))
    print(name)
    for label, figure, target in rows:
        print(f"  {label:<50}{figure:>20}   {('target ' + target) if target else ''}")
    page.close()


if __name__ == "__main__":
    main()
