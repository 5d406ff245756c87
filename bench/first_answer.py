"""From dropping an EPUB to the first answer, before there are gists: what each step takes, in a browser.

    python -m bench.first_answer FILE.epub [--rounds 3] [--delay 1.0]

By the built-in reader, then by a server that begins to answer after ``--delay`` seconds: how much later than
the key press plus that delay the first words are drawn. Steps are wall times; beside them the CPU seconds of the app
and its child processes, which do not depend on what else the machine does, and what a bare run of the screen takes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from readagent_core.loaders.child_process import load_in_child_process  # noqa: E402
from tests.browser.conftest import installed, running_app, settled  # noqa: E402
from tests.fakes.server import FakeServer, Reply  # noqa: E402

QUESTION = "What is said of the door?"
PREPARED = 4.0  # seconds after the first screen: the app has loaded the others


def cpu_seconds() -> float:
    """Of the children of this process that are no browser, with those that have ended."""
    own = [p for p in psutil.Process().children() if "streamlit" in " ".join(p.cmdline())]
    times = [p.cpu_times() for p in own]
    return sum(t.user + t.system + t.children_user + t.children_system for t in times)


SEEN = """([selectors, text]) => {
  const all = (root) => [...root.querySelectorAll(selectors)].concat(
    [...root.querySelectorAll("*")].flatMap((element) => (element.shadowRoot ? all(element.shadowRoot) : [])));
  const quiet = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";
  return selectors ? all(document).some((element) => element.textContent.includes(text)) : quiet;
}"""  # a locator of Playwright looks every half a second only


def wait(page: Page, selectors: str = "", text: str = "") -> None:
    """Wait for the frame that has an element with this text in it; without selectors, for the end of the run."""
    page.wait_for_function(SEEN, arg=[selectors, text], polling="raf", timeout=60_000)


def run(browser: Browser, url: str, book: Path, title: str, *, delay: float) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.goto(url)
    drop = page.locator(".st-key-unseen_drop input[type=file]")
    drop.wait_for(state="attached", timeout=60_000)
    settled(page)
    time.sleep(PREPARED)
    began = last = time.monotonic()
    worked = cpu_seconds()

    def step(name: str) -> float:
        nonlocal last, worked
        now, cpu = time.monotonic(), cpu_seconds()
        took, last, used, worked = now - last, now, cpu - worked, cpu
        print(f"  {name:<28} {took:5.2f} s, {used:5.2f} s CPU", flush=True)
        return took

    drop.set_input_files(book)
    wait(page, "a.open", title)
    step("dropped: its card")
    page.locator("a.open").filter(has_text=title).first.click()
    wait(page, 'p[data-i="0"]')
    step("opened: its text")
    wait(page)
    page.keyboard.press("a")
    wait(page, ".st-key-ask_panel textarea")
    wait(page)
    bare = step("the panel (a bare run)")
    field = page.locator(".st-key-ask_panel").get_by_test_id("stChatInputTextArea")
    field.fill(QUESTION)
    field.press("Enter")
    wait(page, ".sentence, .ans p, .missing")
    if page.locator(".waits .btn.first").is_visible():
        step("a choice: the whole book")
        page.locator(".waits .btn.first").click()
    wait(page, ".sentence, .ans p, .missing:not(.waits)")
    took = step("asked: the first words")
    print(f"  in all {last - began:.2f} s; the answer {took / bare:.1f} bare runs", end="")
    print(f"; {took - delay:.2f} s beside the server's {delay:.1f} s" if delay else "", flush=True)
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("book", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delay", type=float, default=1.0)
    options = parser.parse_args()

    def answer(_prompt: str) -> Reply:
        return Reply("The door was open [1]. " * 12, delay=options.delay, gap=0.03)

    title = load_in_child_process(options.book.read_bytes(), options.book.name).title
    with sync_playwright() as playwright, FakeServer(answer) as server:
        browser = playwright.chromium.launch(executable_path=installed(), args=["--no-sandbox"])
        for kind in ("built-in reader", "server"):
            for _ in range(options.rounds):
                with tempfile.TemporaryDirectory() as folder:
                    settings = {"READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"}
                    with running_app(Path(folder) / "home", **(settings if kind == "server" else {})) as url:
                        print(kind)
                        run(browser, url, options.book, title, delay=options.delay if kind == "server" else 0)


if __name__ == "__main__":
    main()
