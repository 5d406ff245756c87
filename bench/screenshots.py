"""Pictures of the screens, to be looked at: ``make shots`` puts them into ``shots/`` (not kept in git).

    python bench/screenshots.py [--folder shots] [--only read]

Library empty and full; the reader at 8, 25 and 1000 pages, narrow, dark, sepia, with hits, under way; errors.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from bench.rendering import big_book  # noqa: E402
from readagent_core.settings import load_settings  # noqa: E402
from readagent_core.study import Study  # noqa: E402
from tests.browser.conftest import _installed, running_app  # noqa: E402
from tests.fakes.server import FakeServer  # noqa: E402

Act = Callable[[Page], None]


def books(home: Path) -> dict[str, str]:
    """The samples and a book of 1000 pages, without the tour's card; ids by name."""
    study = Study(load_settings({"READAGENT_HOME": str(home)}))
    study.add_samples()
    memory = big_book(1000, 350)
    study.library.add_memory(study.library.add(memory.document, source_name="big.txt").id, memory)
    study.library.set_preference("tour", "done")
    names = {"The Keeper of Harrow Light": "keeper", "雪の駅": "yuki", "A Book of a Thousand Pages": "big"}
    found = {names[b.title]: b.id for b in study.library.books() if b.title in names}
    study.library.close()
    return found


def shoot(
    browser: Browser, url: str, out: Path, *, width: int = 1440, theme: str = "light", act: Act | None = None
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
    page.goto(url)
    page.locator('.leaf.cur, [data-testid="stMain"] h1').first.wait_for()
    page.wait_for_timeout(1500)
    if act is not None:
        act(page)
        page.wait_for_timeout(1500)
    page.screenshot(path=out)
    page.close()
    print(out)


def search(page: Page) -> None:
    page.locator(".find input").fill("basket")
    page.locator("mark.now").wait_for()


def drop_broken(page: Page) -> None:
    broken = {"name": "Dune.epub", "mimeType": "application/epub+zip", "buffer": b"not an archive"}
    page.locator('input[type="file"]').set_input_files(files=[broken])
    page.locator('[class*="st-key-error_"]').wait_for()


def sepia(page: Page) -> None:
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Sepia").click()


def read_afresh(page: Page) -> None:
    page.get_by_role("button", name="Read afresh").click()
    page.locator(".job").get_by_text("Reading: 9 of").wait_for()
    page.keyboard.press("End")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "shots")
    parser.add_argument("--only", default="", help="pictures whose name has this in it")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_installed(), args=["--no-sandbox"])
        home = Path(folder) / "home"
        ids = books(home)
        keeper = f"/read?book={ids['keeper']}&page=15"

        def shot(name: str, base: str, path: str, **how: object) -> None:
            if given.only in name:
                shoot(browser, base + path, given.folder / f"{name}.png", **how)  # type: ignore[arg-type]

        with running_app(home) as url:
            for theme in ("light", "dark"):
                shot(f"library-{theme}", url, "/", theme=theme)
                shot(f"read-25-{theme}", url, keeper, theme=theme, act=search)
                shot(f"read-narrow-{theme}", url, keeper, theme=theme, width=400)
            shot("library-narrow", url, "/", width=400)
            shot("library-error", url, "/", act=drop_broken)
            shot("read-8-japanese", url, f"/read?book={ids['yuki']}&page=2")
            shot("read-1000", url, f"/read?book={ids['big']}&page=500")
            shot("read-sepia", url, keeper, act=sepia)
        with FakeServer(latency=0.5) as server:
            under_way = {"READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"}
            with running_app(Path(folder) / "model", **under_way) as url:
                shot("read-under-way-dark", url, "/read", theme="dark", act=read_afresh)
        empty = Path(folder) / "empty"
        study = Study(load_settings({"READAGENT_HOME": str(empty)}))
        for book in study.add_samples():
            study.library.remove(book.id)
        study.library.close()
        with running_app(empty) as url:
            shot("library-empty", url, "/")
        browser.close()


if __name__ == "__main__":
    main()
