"""First paint, layout shift and change of theme of every screen, beside a bare Streamlit page in the same run.

    python bench/first_paint.py [--rounds 3] [--only library] [--explain]

Every visit is a new browser context with an empty cache. Prints medians: the largest contentful paint (LCP, or the
moment the screen is shown where that is later: Chromium does not report all text that was hidden), how much later it is
than that of a page of one line of Streamlit, how long the page's main thread worked (CPU time, which other programs do
not lengthen), the sum of all layout shifts (never less than the cumulative layout shift,
CLS, which is the largest sum within five seconds), and the change from light to dark.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

from readagent_core.incoming.samples import add_samples  # noqa: E402
from readagent_core.settings import load_settings  # noqa: E402
from readagent_core.workspace import Workspace  # noqa: E402
from tests.browser.conftest import installed, running_app  # noqa: E402

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
SCREENS = {
    "library": "/",
    "read": "/read?book={book}&page=2",
    "ask": "/ask?book={book}",
    "compare": "/compare?book={book}",
    "evaluate": "/evaluate",
    "settings": "/settings",
}
MOST_SHIFT = 0.1
MOST_LATER = 800.0  # milliseconds after the bare page
MOST_THEME = 500.0
QUIET_MS = 1500  # without a shift or a larger paint: the screen has settled
OBSERVE = """
window.paints = { lcp: 0, what: "", shown: 0, shifts: [], last: 0 };
new MutationObserver(() => { window.paints.shown = window.paints.last = performance.now(); })
  .observe(document, { subtree: true, attributeFilter: ["data-arriving"] });
const name = (node) => {
  const at = [];
  for (let e = node; e && e.nodeType === 1 && at.length < 4; e = e.parentElement)
    at.unshift(e.tagName.toLowerCase() + (e.dataset.testid ? `[${e.dataset.testid}]` : "")
      + ([...e.classList].find((c) => c.startsWith("st-key")) ?? ""));
  return at.join(" > ");
};
const watch = (type, note) => new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) { window.paints.last = performance.now(); note(entry); }
}).observe({ type, buffered: true });
watch("largest-contentful-paint", (e) => {
  window.paints.lcp = e.startTime;
  window.paints.what = e.element ? `${name(e.element)}: ${e.element.textContent.slice(0, 50)}` : e.url;
});
watch("layout-shift", (e) => window.paints.shifts.push({ at: e.startTime, value: e.value, what: e.sources.map((s) =>
  [name(s.node), [s.previousRect, s.currentRect].map((r) => [r.x, r.y, r.width, r.height].map(Math.round))]) }));
"""
THEME = """(dark) => new Promise((done) => {
  const began = performance.now();
  const colour = () => getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  const look = () => (colour() === dark ? requestAnimationFrame(() => done(performance.now() - began))
    : performance.now() - began > 5000 ? done(5000) : requestAnimationFrame(look));
  look();
})"""
DARK = "rgb(23, 25, 27)"


def settle(page: Page) -> dict[str, Any]:
    """What the page painted and moved until it was quiet."""
    page.locator('[data-testid="stMainBlockContainer"]').wait_for(state="attached")
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    expect(page.locator(":root[data-arriving]")).to_have_count(0)
    page.wait_for_function(f"window.paints.last && performance.now() - window.paints.last > {QUIET_MS}")
    found: dict[str, Any] = page.evaluate("window.paints")
    return found


def visit(browser: Browser, address: str, size: str) -> tuple[dict[str, Any], float]:
    """The paints of a first visit, and the milliseconds of a change to the dark theme."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=size == "phone")
    context.add_init_script(OBSERVE)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    found = settle(page)
    found["work"] = next(
        1000 * metric["value"]
        for metric in session.send("Performance.getMetrics")["metrics"]
        if metric["name"] == "TaskDuration"
    )
    page.evaluate(f"void (window.timed = ({THEME})({DARK!r}))")
    page.emulate_media(color_scheme="dark")
    theme = float(page.evaluate("window.timed"))
    context.close()
    return found, theme


def prepare(home: Path, *, empty: bool = False) -> str:
    """The id of the novella in a new library with the three samples; ``empty``: all of them removed."""
    workspace = Workspace(load_settings({"READAGENT_HOME": str(home)}))
    samples = add_samples(workspace)
    keeper = next(b for b in workspace.library.books() if b.title == "The Keeper of Harrow Light")
    for book in samples if empty else []:
        workspace.library.remove(book.id)
    workspace.library.close()
    return keeper.id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="screens whose name has this in it")
    parser.add_argument("--size", choices=SIZES, help="one size alone")
    parser.add_argument("--explain", action="store_true", help="what was painted and what moved, of every visit")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home, none = Path(folder) / "home", Path(folder) / "none"
        book = prepare(home)
        prepare(none, empty=True)
        script = Path(folder) / "bare.py"
        script.write_text('import streamlit as st\n\nst.write("One line.")\n', encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=installed(), args=["--no-sandbox", "--disable-gpu"])
        with (
            running_app(home) as url,
            running_app(none) as empty_url,
            running_app(Path(folder) / "bare", script=script) as bare_url,
        ):
            places = {"bare": bare_url, "first visit": empty_url}
            places |= {name: url + path.format(book=book) for name, path in SCREENS.items()}
            chosen = {name: place for name, place in places.items() if name == "bare" or given.only in name}
            for size in SIZES if given.size is None else [given.size]:
                table(browser, chosen, size, rounds=given.rounds, explain=given.explain)
        browser.close()


def table(browser: Browser, places: dict[str, str], size: str, *, rounds: int, explain: bool) -> None:
    """Print the medians of ``rounds`` visits; the places are taken in turn, so that all meet the same machine."""
    seen: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in places}
    for _ in range(rounds):
        for name, address in places.items():
            found, theme = visit(browser, address, size)
            shifted = sum(shift["value"] for shift in found["shifts"])
            seen[name].append((max(found["lcp"], found["shown"]), found["work"], shifted, theme))
            if explain:
                print(f"{name}: {found['lcp']:.0f} ms {found['what']}")
                for shift in found["shifts"]:
                    print(f"  {shift['at']:.0f} ms {shift['value']:.3f}", *shift["what"], sep="\n      ")
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in seen.items()}
    width, height = SIZES[size]
    print(f"\n{width} x {height}, medians of {rounds}      LCP ms    later  work ms    shift    theme ms")
    for name, (lcp, work, shift, theme) in medians.items():
        later = lcp - medians["bare"][0]
        missed = name != "bare" and (shift >= MOST_SHIFT or later > MOST_LATER or theme > MOST_THEME)
        timed = "" if name == "bare" else f"{theme:9.0f}"
        print(
            f"{name:<28}{lcp:10.0f}{later:9.0f}{work:9.0f}{shift:9.3f}{timed}{'   missed' if missed else ''}",
            flush=True,
        )


if __name__ == "__main__":
    main()
