"""Follows every reference of two EPUBs with notes and returns from it.

    python bench/references.py [NAME …]

A note is opened in its card and closed, then gone to and returned from; a link in the book is followed and returned
from; of a link out of the book the card is opened. Prints what did not work, and how many did.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from bench.places import DATA, DESKTOP, SETTLED, opened  # noqa: E402
from readagent_core.library import Library  # noqa: E402
from readagent_core.loaders.child_process import load_in_child_process  # noqa: E402
from tests.browser.conftest import installed, running_app  # noqa: E402

BOOKS = ("wasteland-notes", "japanese-internallinks")
SCROLL = """(node) => {
  node.closest('.leaves').dispatchEvent(new WheelEvent('wheel')); // a person's scrolling ends what holds the last place
  node.scrollIntoView({ block: 'center' });
}"""
IN_VIEW = """(p) => {
  const view = p.closest('.leaves').getBoundingClientRect();
  return [...p.getClientRects()].some((b) => b.bottom > view.top && b.top < view.bottom);
}"""


def follow(page: Page, number: int) -> str:
    """Follow one reference and return; what went wrong, or ''."""
    reference = page.locator(".unit .ref").nth(number)
    reference.evaluate(SCROLL)
    page.evaluate(SETTLED)
    kind = str(reference.get_attribute("class"))
    to, here = reference.get_attribute("data-to"), reference.locator("xpath=ancestor::p")
    card = page.locator(".notecard")
    reference.press("Enter")
    if "note" in kind or "out" in kind:
        if not card.is_visible() or not str(card.locator("p").first.text_content()).strip():
            return "no card"
        page.keyboard.press("Escape")
        if card.is_visible():
            return "the card does not close"
        if "out" in kind:
            return ""
        reference.press("Enter")
        card.get_by_role("button", name="Go to the note").click()
    page.evaluate(SETTLED)
    if not page.locator(f'.unit > p[data-i="{to}"]').evaluate(IN_VIEW):
        return f"paragraph {to} is not in view"
    page.keyboard.press("Backspace")
    page.evaluate(SETTLED)
    return "" if here.evaluate(IN_VIEW) else "not back"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        library = Library(home)
        books = []
        for name in sys.argv[1:] or BOOKS:
            path = next(path for path in sorted(DATA.rglob("*.epub")) if name in path.name)
            document = load_in_child_process(path.read_bytes(), path.name)
            books.append((name, library.add(document, source_name=path.name).id))
        library.set_preference("look", {"flow": "scroll", "vertical": "off"})
        library.close()
        browser = playwright.chromium.launch(executable_path=installed(), args=["--no-sandbox"])
        with running_app(home) as url:
            for name, book in books:
                page = opened(browser, url, book, DESKTOP)
                count = page.locator(".unit .ref").count()
                found = [(n, wrong) for n in range(count) if (wrong := follow(page, n))]
                for n, wrong in found:
                    print(f"  {name}, reference {n}: {wrong}")
                print(f"{name}: {count - len(found)} of {count} references", flush=True)
                page.close()


if __name__ == "__main__":
    main()
