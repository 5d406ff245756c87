"""How fast a book of 1000 pages opens and turns in the reader, what goes over the wire, what the browser holds.

    python bench/rendering.py [--pages 1000] [--words 350]

Prints a table against the targets: opens in under 1.5 s, a page turns in under 150 ms and 50 KB, under 150 MB.
"Opens" is from the click on Read to the page in view, the app being open (a fresh tab is printed besides).
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from readagent_core.document import Document, Paragraph, Section  # noqa: E402
from readagent_core.library import Library  # noqa: E402
from readagent_core.memory import Gist, GistMemory  # noqa: E402
from readagent_core.memory import Page as MemoryPage  # noqa: E402
from readagent_core.plan import ReadingPlan  # noqa: E402
from tests.browser.conftest import _installed, running_app  # noqa: E402

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
    return GistMemory(document, ReadingPlan(), tuple(made), gists, model="a generator", complete=True)


class Wire:
    """Bytes received over the page's web sockets."""

    def __init__(self, page: Page) -> None:
        self.received = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._add))

    def _add(self, payload: str | bytes) -> None:
        self.received += len(payload)


def turn(page: Page, key: str, number: int) -> float:
    """Milliseconds in the browser from the key to the frame in which that page is the current one."""
    return float(
        page.evaluate(
            """([key, number]) => new Promise((done) => {
              const began = performance.now();
              document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
              const look = () => {
                const host = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
                  .map((e) => [...e.querySelectorAll("*"), e].find((x) => x.shadowRoot)).filter(Boolean)
                  .find((x) => x.shadowRoot.querySelector(".leaf"));
                const now = host?.shadowRoot.querySelector(".leaf.cur")?.dataset.n;
                if (now === String(number)) requestAnimationFrame(() => done(performance.now() - began));
                else requestAnimationFrame(look);
              };
              look();
            })""",
            [key, number],
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--words", type=int, default=350)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        library = Library(home)
        memory = big_book(given.pages, given.words)
        book = library.add(memory.document, source_name="big.txt")
        library.add_memory(book.id, memory)
        library.close()
        browser = playwright.chromium.launch(executable_path=_installed(), args=["--no-sandbox"])
        with running_app(home) as url:
            measure(browser.new_page(viewport={"width": 1440, "height": 900}), url, book.id, memory)
        browser.close()


def measure(page: Page, url: str, book_id: str, memory: GistMemory) -> None:
    wire = Wire(page)
    rows: list[tuple[str, str, str]] = []
    page.goto(url)
    card = page.locator(f'[data-id="{book_id}"] .open')
    card.wait_for()
    page.wait_for_timeout(1500)
    before = wire.received
    began = time.perf_counter()
    card.click()
    page.locator(".leaf.cur").wait_for()
    opened = time.perf_counter() - began
    rows.append(("opens", f"{opened:.2f} s", "1.5 s"))
    page.locator(f"#p{len(memory.pages)}").wait_for(state="attached")
    rows.append(("sent for the whole book", f"{(wire.received - before) / 1e6:.2f} MB", ""))
    page.wait_for_timeout(2500)
    times: list[float] = []
    before = wire.received
    turns = 20
    for number in range(2, 2 + turns):
        times.append(turn(page, "j", number))
        page.wait_for_timeout(1200)  # long enough that the position is sent each time
    far = [turn(page, "End", len(memory.pages)), turn(page, "Home", 1)]
    page.wait_for_timeout(1500)
    per_turn = (wire.received - before) / (turns + 2) / 1000
    rows.append(("turns a page, median", f"{statistics.median(times):.0f} ms", "150 ms"))
    rows.append(("turns a page, slowest of 20", f"{max(times):.0f} ms", "150 ms"))
    rows.append(("to the last page and back", f"{far[0]:.0f} and {far[1]:.0f} ms", "150 ms"))
    rows.append(("over the wire a turn", f"{per_turn:.1f} KB", "50 KB"))
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    rows.append(("memory of the scripts in the browser", f"{heap:.0f} MB", "150 MB"))
    began = time.perf_counter()
    page.goto(f"{url}/read?book={book_id}&page=500")
    page.locator('.leaf.cur[data-n="500"]').wait_for()
    rows.append(("a link in a fresh tab, the app's own start included", f"{time.perf_counter() - began:.2f} s", ""))
    words = memory.document.words
    print(f"{len(memory.pages)} pages, {words:,} words")
    for name, figure, target in rows:
        print(f"{name:<55}{figure:>18}   {('target ' + target) if target else ''}")


if __name__ == "__main__":
    main()
