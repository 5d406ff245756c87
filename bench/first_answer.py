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
from playwright.sync_api import Browser, expect, sync_playwright  # noqa: E402

from readagent_core.loaders.child_process import load_in_child_process  # noqa: E402
from tests.browser.conftest import _installed, running_app, settled  # noqa: E402
from tests.fakes.server import FakeServer, Reply  # noqa: E402

QUESTION = "What is said of the door?"


def cpu_seconds() -> float:
    """Of the children of this process that are no browser, with those that have ended."""
    own = [p for p in psutil.Process().children() if "streamlit" in " ".join(p.cmdline())]
    times = [p.cpu_times() for p in own]
    return sum(t.user + t.system + t.children_user + t.children_system for t in times)


def run(browser: Browser, url: str, book: Path, title: str, *, delay: float) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.goto(url)
    drop = page.locator(".st-key-unseen_drop input[type=file]")
    drop.wait_for(state="attached", timeout=60_000)
    settled(page)
    began = last = time.monotonic()
    worked = cpu_seconds()

    def step(name: str) -> float:
        nonlocal last, worked
        now, cpu = time.monotonic(), cpu_seconds()
        took, last, used, worked = now - last, now, cpu - worked, cpu
        print(f"  {name:<28} {took:5.2f} s, {used:5.2f} s CPU", flush=True)
        return took

    drop.set_input_files(book)
    new = page.locator("a.open").filter(has_text=title).first
    new.wait_for(timeout=60_000)
    step("dropped: its card")
    new.click()
    page.locator('p[data-i="0"]').wait_for(state="attached", timeout=60_000)
    settled(page)
    step("opened: its text")
    page.keyboard.press("a")
    field = page.locator(".st-key-ask_panel").get_by_test_id("stChatInputTextArea")
    field.wait_for()
    settled(page)
    bare = step("the panel (a bare run)")
    field.fill(QUESTION)
    field.press("Enter")
    whole = page.get_by_role("button", name="The whole book")
    words = page.locator(".st-key-ask_panel :is(.sentence, .ans p, .missing)").first
    expect(whole.or_(words).first).to_be_visible(timeout=60_000)
    if whole.is_visible():
        settled(page)
        step("a choice: the whole book")
        whole.click()
    words.wait_for(timeout=60_000)
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
        browser = playwright.chromium.launch(executable_path=_installed(), args=["--no-sandbox"])
        for kind in ("built-in reader", "server"):
            for _ in range(options.rounds):
                with tempfile.TemporaryDirectory() as folder:
                    settings = {"READAGENT_BASE_URL": server.url, "READAGENT_MODEL": "fake-model"}
                    with running_app(Path(folder) / "home", **(settings if kind == "server" else {})) as url:
                        print(kind)
                        run(browser, url, options.book, title, delay=options.delay if kind == "server" else 0)


if __name__ == "__main__":
    main()
