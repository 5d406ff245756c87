"""Whether a book opens again at the exact place: random places of six books, left and opened again.

    python bench/places.py [--places 10] [--seed 1] [--only pages]

Each place is left for good (the tab is closed) and opened again as it was, then in a window of another width, with
letters of another size, and in another mode. Each time the first word that was in view must be in view; in pages, as
long as nothing was changed, also the same words must be the first and the last on the screen. Prints what is not so.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from readagent_core.incoming.samples import add_samples  # noqa: E402
from readagent_core.library import Library  # noqa: E402
from readagent_core.settings import load_settings  # noqa: E402
from readagent_core.workspace import Workspace  # noqa: E402
from tests.browser.conftest import installed, running_app  # noqa: E402

DATA = next((p / "shared/data/documents" for p in ROOT.parents if (p / "shared/data/documents").is_dir()), ROOT)
DESKTOP, PHONE = (1440, 900), (390, 844)
INSIDE = """() => {
  const inside = (e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])];
  const deep = (root) => [...root.querySelectorAll('*')].flatMap(inside);
  const found = () => deep(document).find((e) => e.classList.contains('leaves'));
  globalThis.readerText = globalThis.readerText?.isConnected ? readerText : found();
  return readerText;
}"""
# a character where words have no spaces between them: a run of them may begin on the screen before
VIEW = f"""() => {{
  const WORD = /[\\p{{sc=Han}}\\p{{sc=Hiragana}}\\p{{sc=Katakana}}]|[\\p{{L}}\\p{{N}}]+/gu;
  const leaves = ({INSIDE})();
  const paged = leaves.closest('.paged');
  const view = (paged ? leaves.querySelector('.sheet') : leaves).getBoundingClientRect();
  const within = (box) => box.height && box.top >= view.top - 1 && box.bottom <= view.bottom + 1
    && box.left >= view.left - 1 && box.right <= view.right + 1;
  const found = [];
  for (const p of leaves.querySelectorAll('p[data-i]')) {{
    if (!p.checkVisibility()) continue;
    const meets = (b) => b.bottom > view.top && b.top < view.bottom && b.right > view.left && b.left < view.right;
    if (![...p.getClientRects()].some(meets)) continue;
    const walker = document.createTreeWalker(p, 4);
    for (let at = 0; walker.nextNode(); at += walker.currentNode.data.length)
      for (const word of walker.currentNode.data.matchAll(WORD)) {{
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + 1);
        if ([...range.getClientRects()].some(within)) found.push([Number(p.dataset.i), at + word.index, word[0]]);
      }}
  }}
  return found;
}}"""
SETTLED = f"""async () => {{
  const leaves = ({INSIDE})();
  for (let still = 0, last = ''; still < 25;) {{
    await new Promise((done) => requestAnimationFrame(done));
    const col = leaves.querySelector('.col');
    const now = [leaves.scrollTop, leaves.scrollHeight, leaves.clientWidth, col.style.cssText].join();
    still = now === last ? still + 1 : 0;
    last = now;
  }}
}}"""


@dataclass(frozen=True)
class Case:
    """A book in one mode. ``turn``: how the places are found: by scrolling, or by turning pages."""

    name: str
    book: str
    flow: str
    size: tuple[int, int] = DESKTOP
    vertical: bool = False


CASES = (
    Case("scroll, verse", "wasteland", "scroll"),
    Case("pages, figures", "illustrated", "pages"),
    Case("two pages, long", "time-machine", "spread"),
    Case("vertical, ruby", "hashire", "pages", vertical=True),
    Case("phone, scroll", "Keeper", "scroll", PHONE),
    Case("scroll, ruby and figures", "childrens", "scroll"),
)


def add_books(home: Path) -> dict[str, str]:
    """The id of each book by its name."""
    from readagent_core.loaders.child_process import load_in_child_process

    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    add_samples(workspace)
    found = {"Keeper": next(b.id for b in workspace.library.books() if "Keeper" in b.title)}
    for case in CASES:
        if case.book not in found:
            path = next(path for path in sorted(DATA.rglob("*")) if case.book in path.name)
            document = load_in_child_process(path.read_bytes(), path.name)
            found[case.book] = workspace.library.add(document, source_name=path.name).id
    workspace.library.close()
    return found


def set_look(home: Path, book: str, *, vertical: str, **look: Any) -> None:
    library = Library(home)
    library.set_preference("look", look)
    library.set_preference(f"vertical {book}", vertical)
    library.close()


def opened(browser: Browser, url: str, book: str, size: tuple[int, int]) -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page.goto(f"{url}/read?book={book}")
    page.locator('p[data-i="0"]').wait_for(state="attached", timeout=60_000)
    page.locator(".foot .fact").first.wait_for(state="attached")  # on a phone the bars are gone in pages
    page.wait_for_timeout(600)
    page.evaluate(SETTLED)
    return page


def wander(page: Page, case: Case, chance: random.Random) -> None:
    """Go to a random place of the book as a person would: by a jump and some turns."""
    if case.flow == "scroll" and not case.vertical:
        page.evaluate(
            f"(share) => {{ const l = ({INSIDE})(); l.scrollTop = share * l.scrollHeight; }}", chance.random()
        )
        page.locator(".leaves").hover()
        for _ in range(3):
            page.mouse.wheel(0, chance.randint(-300, 500))
            page.wait_for_timeout(80)
    else:
        for _ in range(chance.randint(0, 6)):
            page.keyboard.press("]")
        for _ in range(chance.randint(1, 9)):
            page.keyboard.press("j")
    page.evaluate(SETTLED)
    page.wait_for_timeout(1500)  # until it is stored


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--places", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    good = tried = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        books = add_books(home)
        browser = playwright.chromium.launch(executable_path=installed(), args=["--no-sandbox"])
        with running_app(home) as url:
            for case in CASES:
                if options.only not in case.name:
                    continue
                began = time.monotonic()
                usual = {"flow": case.flow, "vertical": "on" if case.vertical else "book"}
                other = {**usual, "flow": "pages" if case.flow == "scroll" else "scroll", "vertical": "off"}
                wide = (case.size[0] - 130, case.size[1] + 60)
                changes = {
                    "reload": (usual, case.size),
                    "width": (usual, wide),
                    "letters": ({**usual, "size": 23}, case.size),
                    "mode": (other, case.size),
                }
                for number in range(options.places):
                    set_look(home, books[case.book], **usual)
                    page = opened(browser, url, books[case.book], case.size)
                    wander(page, case, chance)
                    left = page.evaluate(VIEW)
                    page.close()
                    if not left:
                        continue
                    tried += 1
                    wrong = []
                    for change, (look, size) in changes.items():
                        set_look(home, books[case.book], **look)
                        page = opened(browser, url, books[case.book], size)
                        now = page.evaluate(VIEW)
                        page.close()
                        if left[0] not in now:
                            wrong.append(f"{change}: {left[0]} not in view, {now[:1]} to {now[-1:]}")
                        elif change == "reload" and case.flow != "scroll" and (left[0], left[-1]) != (now[0], now[-1]):
                            wrong.append(f"another screen: {left[0]} to {left[-1]}, now {now[0]} to {now[-1]}")
                    good += not wrong
                    for line in wrong:
                        print(f"  {case.name}, place {number}: {line}")
                print(f"{case.name}: {time.monotonic() - began:.0f} s", flush=True)
    print(f"{good} of {tried} places")


if __name__ == "__main__":
    main()
