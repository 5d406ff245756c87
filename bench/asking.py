"""How soon something is seen after a question, besides the model's own time, in a book of 1000 pages.

python -m bench.asking             engine only
python -m bench.asking --long 200  memory of this process while so many questions are asked in one conversation
python -m bench.asking --browser   and in Chromium (needs the dev requirements): from the key press, or the click, to
                                   the frame after the one in which it was drawn, by the page's own clock
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.server import serving
from readagent_core.answering.asking import AskProgress, ask
from readagent_core.answering.base import Question
from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.settings import load_settings
from readagent_core.workspace import Workspace
from tests.fakes.model import FakeModel

PAGES = 1000
OPENED = (2, 500, 999)
MODEL_SECONDS = (0.0, 0.3)  # a model that answers at once, and a quick one
# `seen(input, selector, count)`: milliseconds from the next `input` until so many elements have been drawn
CLOCK = """window.seen = (input, selector, count) => {
  const roots = [document];
  for (const root of roots)
    for (const node of root.querySelectorAll("*")) if (node.shadowRoot) roots.push(node.shadowRoot);
  const there = () => roots.reduce((sum, root) => sum + root.querySelectorAll(selector).length, 0) >= count;
  let began = null;
  addEventListener(input, (event) => (began ??= event.timeStamp), { capture: true, once: true });
  window.drawn = new Promise((done) => {
    const look = () => {
      if (began === null || !there()) return;
      watching.disconnect();
      requestAnimationFrame(() => requestAnimationFrame((now) => done(now - began)));
    };
    const watching = new MutationObserver(look);
    for (const root of roots) watching.observe(root, { childList: true, subtree: true, attributes: true });
  });
}"""


def made_up(pages: int = PAGES, *, seed: int = 3) -> GistMemory:
    """A memory of ``pages`` pages of 350 words with gists of 50."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(3000)]
    paragraphs = tuple(Paragraph(" ".join(chance.choices(words, k=70)) + ".") for _ in range(5 * pages))
    made = tuple(Page(n + 1, 5 * n, 5 * n + 5, 350) for n in range(pages))
    gists = tuple(Gist(" ".join(chance.choices(words, k=50)) + ".") for _ in range(pages))
    return GistMemory(Document("A Long Book", paragraphs), GistingPlan(), made, gists, "bench", complete=True)


def reply(prompt: object) -> str:
    return f"I want to look up Page {list(OPENED)} to see." if getattr(prompt, "task", "") == "look_up" else "So [2]."


def engine(rounds: int = 7) -> dict[str, float]:
    """Median seconds, the model answering at once."""
    memory = made_up()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(load_settings({"READAGENT_HOME": folder}, secrets=Path("none")), model=FakeModel(reply))
        book = workspace.library.add(memory.document)
        gisting = workspace.library.add_memory(book.id, memory)
        asked, first, whole, expand = [], [], [], []
        for _ in range(rounds):
            began = time.perf_counter()
            _, job = ask(workspace, book.id, Question("Why?"), gisting_id=gisting.id)
            asked.append(time.perf_counter() - began)
            while not isinstance(job.snapshot.value, AskProgress):
                time.sleep(0.0005)
            first.append(time.perf_counter() - began)
            job.join()
            whole.append(time.perf_counter() - began)
            began = time.perf_counter()
            memory.text(OPENED)
            expand.append(time.perf_counter() - began)
        workspace.library.close()
    return {
        "the question is kept and its job runs": statistics.median(asked),
        "first event": statistics.median(first),
        "whole answer, two calls": statistics.median(whole),
        f"3 of {PAGES} pages expanded into the prompt's text": statistics.median(expand),
    }


def long_conversation(questions: int) -> None:
    """Print the memory in MB, the model answering at once, after each tenth of the questions of one conversation."""
    memory = made_up()
    with tempfile.TemporaryDirectory() as folder:
        model = FakeModel(reply)
        workspace = Workspace(load_settings({"READAGENT_HOME": folder}, secrets=Path("none")), model=model)
        book = workspace.library.add(memory.document)
        gisting = workspace.library.add_memory(book.id, memory)
        conversation: str | None = None
        for n in range(1, questions + 1):
            exchange, job = ask(
                workspace, book.id, Question(f"Why {n}?"), gisting_id=gisting.id, conversation_id=conversation
            )
            job.join()
            model.prompts.clear()
            conversation = exchange.conversation_id
            if n % max(1, questions // 10) == 0:
                status = Path("/proc/self/status").read_text(encoding="utf-8")
                used = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
                print(f"{n:5} questions: {used:7.1f} MB", flush=True)
        workspace.library.close()


def answer(text: str) -> str:
    """What the server says to a prompt."""
    return f"I want to look up Page {list(OPENED)} to see." if "Do not answer it yet" in text else "So [2]."


def browser(model_seconds: float, *, questions: int = 5) -> dict[str, float]:
    """Seconds in Chromium, the model's own time taken off: from the key press to the question standing among the
    others and to its look-up; a step of the replay that opens 3 pages.
    """
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.conftest import installed, running_app

    with (
        tempfile.TemporaryDirectory() as folder,
        serving(answer, latency=model_seconds) as at,
        sync_playwright() as p,
    ):
        home = Path(folder) / "home"
        workspace = Workspace(
            load_settings({"READAGENT_HOME": str(home)}, secrets=Path("none")), model=FakeModel(reply)
        )
        book = workspace.library.add(made_up().document)
        workspace.library.add_memory(book.id, made_up())
        workspace.library.close()
        chromium = p.chromium.launch(executable_path=installed(), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        page.add_init_script(CLOCK)

        def timed(does: Callable[[], None], of: str, selector: str, count: int) -> float:
            page.evaluate("([of, selector, count]) => seen(of, selector, count)", [of, selector, count])
            does()
            return float(page.evaluate("drawn")) / 1000

        with running_app(home, READAGENT_BASE_URL=at, READAGENT_MODEL="fake-model") as url:
            began = time.perf_counter()
            page.goto(f"{url}/ask?book={book.id}")
            expect(page.locator('[data-kind="memory"] .m')).to_have_count(PAGES, timeout=60_000)
            shown = time.perf_counter() - began
            first: list[float] = []
            looked: list[float] = []
            for turn in range(2 * questions):
                page.wait_for_timeout(1000)  # all that follows an answer is drawn
                page.locator('[data-testid="stChatInputTextArea"]').fill(f"Who rang bell number {turn + 1}?")
                of, kind = (looked, ".step") if turn % 2 else (first, ".qt")
                seconds = timed(lambda: page.keyboard.press("Enter"), "keydown", kind, turn + 1)
                calls = (2 if turn else 1) if kind == ".step" else 0  # a follow-up is first made self-contained
                of.append(seconds - calls * model_seconds)
                expect(page.locator(".cost")).to_have_count(turn + 1)
            gists = page.locator('[data-kind="replay"] .steps button', has_text="Gists")
            sent = page.locator('[data-kind="replay"] .steps button', has_text="Memory as sent")
            opened: list[float] = []
            for _ in range(5):
                page.wait_for_timeout(1000)
                gists.click()
                expect(page.locator('[data-kind="memory"] .m.open')).to_have_count(0)
                opened.append(timed(sent.click, "click", '[data-kind="memory"] .m.open', 3))
        chromium.close()
    model = f"model {1000 * model_seconds:.0f} ms"
    return {
        f"a book of {PAGES} pages on the screen (first visit)": shown,
        f"{model}: question on the screen": statistics.median(first),
        f"{model}: look-up on the screen, the model's time taken off": statistics.median(looked),
        f"{model}: the slowest of {2 * questions} of these": max(first + looked),
        f"3 of {PAGES} pages opened in place": statistics.median(opened),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--long", type=int, metavar="QUESTIONS")
    chosen = parser.parse_args()
    if chosen.long:
        return long_conversation(chosen.long)
    found = engine()
    if chosen.browser:
        for seconds in MODEL_SECONDS:
            found |= browser(seconds)
    for what, seconds in found.items():
        print(f"{what:70} {1000 * seconds:8.0f} ms")


if __name__ == "__main__":
    main()
