"""Pictures of the screens, to be looked at: ``make shots`` puts them into ``shots/`` (not kept in git).

    python bench/screenshots.py [--folder shots] [--only read]

Library empty, full, with errors; the reader at 10, 100 and 1000 pages, narrow, dark, sepia, with hits, under way;
Ask, Compare, Evaluate and Settings in use. Every picture waits for a state of the screen, never for a time.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

from bench.rendering import big_book  # noqa: E402
from readagent_core.gisting.job import PAUSED  # noqa: E402
from readagent_core.incoming.samples import add_samples  # noqa: E402
from readagent_core.library.records import GistingState, StopReason  # noqa: E402
from readagent_core.settings import load_settings  # noqa: E402
from readagent_core.workspace import Workspace  # noqa: E402
from tests.browser.conftest import installed, running_app  # noqa: E402
from tests.fakes.sensible import sensible  # noqa: E402
from tests.fakes.server import FakeServer  # noqa: E402

Act = Callable[[Page], None]
SAMPLES = {"The Keeper of Harrow Light": "keeper", "雪の駅": "yuki"}
SIZES = {10: "Ten", 100: "a Hundred", 1000: "a Thousand"}
LONG_MS = 90_000
CALLS_ANSWERED = 24  # after which the fake model waits, so that the picture shows a reading under way


def books(home: Path) -> dict[str, str]:
    """Add the samples and books of 10, 100 and 1000 pages; the ids by name."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    add_samples(workspace)
    found = {SAMPLES[b.title]: b.id for b in workspace.library.books() if b.title in SAMPLES}
    for pages, words in SIZES.items():
        memory = big_book(pages, 350)
        memory = replace(memory, document=replace(memory.document, title=f"A Book of {words} Pages"))
        book = workspace.library.add(memory.document, source_name=f"{pages}.txt")
        workspace.library.add_memory(book.id, memory)
        found[str(pages)] = book.id
    workspace.library.close()
    return found


def every_state(home: Path) -> str:
    """Make a library with a book in every state a card can have; the id of the one whose reading stopped."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    add_samples(workspace)
    reasons = {"paused": PAUSED, "failed": "The model has not answered for 60 seconds."}
    stopped = ""
    for state, title in (("new", "Not Yet Begun"), ("paused", "Paused Half-Way"), ("failed", "Stopped by an Error")):
        whole = big_book(60, 350, seed=len(title))
        book = workspace.library.add(replace(whole.document, title=title), source_name=f"{state}.txt")
        if state == "new":
            continue
        part = replace(whole, document=replace(whole.document, title=title), complete=False)
        part = replace(part, pages=whole.pages[:24], gists=whole.gists[:24])
        gisting = workspace.library.add_memory(book.id, part)
        reason = StopReason.PAUSED if state == "paused" else StopReason.ERROR
        workspace.library.set_state(gisting.id, GistingState.PAUSED, reason, why=reasons[state])
        stopped = book.id
    workspace.library.close()
    return stopped


def wait_until_drawn(page: Page) -> None:
    """Wait until no run is under way, nothing is stale, the fonts are loaded and nothing moves."""
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    expect(page.locator('[data-stale="true"]')).to_have_count(0)
    page.evaluate("document.fonts.ready.then(() => null)")
    page.wait_for_timeout(200)  # colours fade in
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))")


def take_picture(
    browser: Browser,
    url: str,
    out: Path,
    *,
    width: int = 1440,
    theme: str = "light",
    act: Act | None = None,
    still: bool = True,
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme=theme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page.goto(url)
    page.locator('.leaf.cur, [data-kind="memory"] .m, [data-testid="stMain"] h1').first.wait_for()
    expect(page.locator("html")).to_have_css("color-scheme", theme)
    wait_until_drawn(page)
    if act is not None:
        act(page)
        if still:
            wait_until_drawn(page)
    page.screenshot(path=out)
    page.close()
    print(out, flush=True)


def search(page: Page) -> None:
    page.locator(".find input").fill("basket")
    page.locator("mark.now").wait_for()


def drop_broken(page: Page) -> None:
    broken = {"name": "Dune.epub", "mimeType": "application/epub+zip", "buffer": b"not an archive"}
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=re.compile("Add a book|Choose a file")).click()
        if (files := page.get_by_role("menuitem", name="Choose files")).count():
            files.click()
    chooser.value.set_files([broken])
    page.locator(".note.failed").wait_for()


def open_more(page: Page) -> None:
    page.locator(".moreb").click()
    page.locator(".panel .pagein").wait_for()


def open_export(page: Page) -> None:
    page.locator(".tbar").get_by_role("button", name="Export").click()
    page.get_by_role("dialog").get_by_text("EPUB").wait_for()


def open_aa(page: Page) -> None:
    page.locator(".aa").click()
    page.locator(".panel").get_by_role("button", name="Sepia").wait_for()


def compare(page: Page) -> None:
    if not page.locator(".r[data-state]").count():  # else the picture before has made it
        page.locator(".st-key-compare_ask input").fill("Why did Ambrose Vane put out Harrow Light?")
        page.locator(".st-key-compare_go button").click()
    expect(page.locator('.r[data-state="done"]')).to_have_count(4, timeout=LONG_MS)
    expect(page.locator(".st-key-compare_go button")).to_be_enabled()


def evaluate(page: Page) -> None:
    if not page.locator("[role=tab]").count():
        limit = page.locator(".st-key-evaluate_limit input")
        limit.fill("2")
        limit.press("Enter")
        page.get_by_text("2 questions on 1 document").wait_for()
        page.locator(".st-key-evaluate_start button").click()
    page.locator("[role=tab]").nth(2).wait_for(timeout=LONG_MS)
    expect(page.locator(".st-key-evaluate_stop")).to_have_count(0, timeout=LONG_MS)


def settings(page: Page) -> None:
    page.locator('.st-key-who [data-testid="stRadioOption"]').first.wait_for()


def make_again(page: Page) -> None:
    page.get_by_role("button", name="Make gists again").click()
    page.get_by_role("dialog").get_by_role("button", name="Make gists").click()
    expect(page.locator(".foot")).to_contain_text(re.compile(r"([4-9]|1\d) of about"), timeout=LONG_MS)


class WaitingModel:
    """Answers ``CALLS_ANSWERED`` calls as ``sensible`` does; the next ones wait until ``go`` is set."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = threading.Event()

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        if self.calls > CALLS_ANSWERED:
            self.go.wait(LONG_MS / 1000)
        return sensible(prompt)


@contextmanager
def chosen_theme(home: Path, theme: str) -> Iterator[None]:
    """Set the theme of every screen of this home, as the reader's Aa panel stores it, until the block ends."""
    library = Workspace(load_settings({"READAGENT_HOME": str(home)})).library
    library.set_preference("look", {"theme": theme})
    try:
        yield
    finally:
        library.set_preference("look", {})
        library.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "shots")
    parser.add_argument("--only", default="", help="pictures whose name has this in it")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    expect.set_options(timeout=30_000)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=["--no-sandbox"])
        home = Path(folder) / "home"
        ids = books(home)
        book = f"book={ids['keeper']}"
        keeper = f"/read?{book}&page=15"

        def shot(name: str, base: str, path: str, **how: object) -> None:
            if given.only in name:
                take_picture(browser, base + path, given.folder / f"{name}.png", **how)  # type: ignore[arg-type]

        with running_app(home) as url:
            for theme in ("light", "dark"):
                shot(f"library-{theme}", url, "/", theme=theme)
                shot(f"read-25-{theme}", url, keeper, theme=theme, act=search)
                shot(f"read-narrow-{theme}", url, keeper, theme=theme, width=400)
                shot(f"ask-{theme}", url, f"/ask?{book}", theme=theme)
                shot(f"settings-{theme}", url, "/settings", theme=theme, act=settings)
                shot(f"compare-{theme}", url, f"/compare?{book}", theme=theme, act=compare)
                shot(f"evaluate-{theme}", url, "/evaluate", theme=theme, act=evaluate)
            shot("library-narrow", url, "/", width=400)
            shot("library-error", url, "/", act=drop_broken)
            shot("read-narrow-more", url, keeper, width=400, act=open_more)
            shot("read-export", url, keeper, act=open_export)
            shot("read-8-japanese", url, f"/read?book={ids['yuki']}&page=2")
            for pages in SIZES:
                shot(f"read-{pages}", url, f"/read?book={ids[str(pages)]}&page={pages // 2}")
            with chosen_theme(home, "sepia"):
                shot("library-sepia", url, "/", act=drop_broken)
                shot("read-sepia", url, keeper, act=open_aa)
                shot("ask-sepia", url, f"/ask?{book}")
                shot("settings-sepia", url, "/settings", act=settings)
        model = WaitingModel()
        with FakeServer(model, latency=0.05) as server:
            under_way = {"READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"}
            with running_app(Path(folder) / "model", **under_way) as url:
                shot("read-under-way-dark", url, "/read", theme="dark", act=make_again, still=False)
                model.go.set()
        several = Path(folder) / "several"
        stopped = every_state(several)
        with running_app(several) as url:
            shot("library-states", url, "/")
            shot("read-error", url, f"/read?book={stopped}&page=24")
        empty = Path(folder) / "empty"
        workspace = Workspace(load_settings({"READAGENT_HOME": str(empty)}))
        for sample in add_samples(workspace):
            workspace.library.remove(sample.id)
        workspace.library.close()
        with running_app(empty) as url:
            for theme in ("light", "dark"):
                shot(f"library-empty-{theme}", url, "/", theme=theme)
        browser.close()


if __name__ == "__main__":
    main()
