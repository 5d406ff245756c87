"""Gists are made through everything that can stop them: a wait, the budget, a refused key; and a server that cuts."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

from playwright.sync_api import Page, expect

from readagent_core.library import Library
from tests.browser.conftest import StartApp, go_to
from tests.connecting.test_fault_table import book
from tests.fakes.sensible import sensible, understood
from tests.fakes.server import FakeServer, Reply, error

WAIT = Reply(status=429, error=error("slow down"), headers={"Retry-After": "120"})
NO_KEY = Reply(status=401, error=error("no"))


class Moods:
    """What the server is like just now. It asks for a pause at its third call, and then no more."""

    def __init__(self) -> None:
        self.refusing = threading.Event()
        self._lock = threading.Lock()
        self._calls = 0

    def __call__(self, text: str) -> Reply:
        with self._lock:
            self._calls += 1
            if self._calls == 3:
                return WAIT
        if self.refusing.is_set():
            return NO_KEY
        return Reply(sensible(text))


def test_making_gists_goes_on_after_each_of_them_and_nothing_is_asked_twice(
    page: Page, start_app: StartApp, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    library = Library(home)
    shelved = library.add(book(60), source_name="a small book.txt")
    library.close()
    moods = Moods()
    with FakeServer(moods) as server:
        kept = {"base_url": server.url, "model": "fake-model", "connections": 2, "budget_book": 0.5}
        kept["prices"] = {"fake-model": [90.0, 90.0]}  # the whole reading is some eighty cents
        (home / "settings.json").write_text(json.dumps(kept), encoding="utf-8")
        with start_app(home) as url:
            page.goto(f"{url}/read?book={shelved.id}")
            line = page.locator(".foot .gistsfact")
            page.get_by_role("button", name="Make gists").click()
            expect(line).to_contain_text("Waiting to try again")
            expect(line).to_contain_text("continues by itself in 2 min")
            expect(line).to_contain_text(re.compile(r"\d+ of about \d+ pages? (is|are) saved"))
            page.get_by_role("button", name="Try now").click()

            expect(line).to_contain_text("Stopped at your limit, $0.50")
            expect(line).to_contain_text(re.compile(r"\d gists? saved · \$0\.\d\d is spent"))
            expect(page.get_by_role("button", name="Resume", exact=True)).to_have_count(0)  # more must be allowed first
            expect(page.locator(".gtext").first).to_be_attached()
            pages, sent = page.locator(".gtext").count(), len(server.chats)
            moods.refusing.set()
            page.get_by_role("button", name="Raise to $1.00").click()

            expect(line).to_contain_text("did not accept the key")
            page.locator(".foot").get_by_role("button", name="Details").click()
            expect(page.locator(".details")).to_contain_text(
                "Copy the key once more from where you got it, and enter it in Settings."
            )
            assert page.locator(".gtext").count() >= pages > 0
            assert sent < len(server.chats) <= sent + 2
            expect(line).to_contain_text(re.compile(r"Stopped at page \d+"))
            expect(line).to_contain_text(re.compile(r"\d gists? saved"))
            page.keyboard.press("Escape")
            page.locator(".leaves").focus()
            page.keyboard.press("End")
            last = page.locator('p[data-i="59"]')
            expect(last).to_be_in_viewport()  # the book is readable to its end
            page.locator(".foot").get_by_role("button", name="Details").click()
            page.get_by_role("button", name="Open Settings").click()
            expect(page.locator(".st-key-settings")).to_contain_text("In use now: fake-model")
            wide = page.viewport_size
            for width, height in ((390, 844), (720, 450)):  # the mark is in the bar there too, and all is one column
                page.set_viewport_size({"width": width, "height": height})
                expect(page.get_by_role("link", name="Not working: fake-model")).to_be_in_viewport()
                expect(page.locator(".st-key-error_alert_now")).to_be_in_viewport()
                boxes = [page.locator(f".st-key-{key}").bounding_box() for key in ("error_alert_now", "test_card")]
                assert boxes[0]
                assert boxes[1]
                assert boxes[0]["x"] == boxes[1]["x"]
            page.set_viewport_size(wide)
            go_to(page, "Read")
            moods.refusing.clear()
            page.locator(".leaves").hover()
            page.mouse.wheel(0, 9000)
            expect(last).to_be_in_viewport()
            page.get_by_role("button", name="Resume", exact=True).click()
            expect(line).to_contain_text("Ready")
            expect(last).to_be_in_viewport()
            asked = [text for text in server.answered if understood(text).task in ("paginate", "gist")]
            # A reply that the app ends early, as soon as all it needs is there, may be missing in the server's list.
            assert len(asked) == len(set(asked)) >= page.locator(".gtext").count() > 0

            go_to(page, "Settings")
            expect(page.locator(".st-key-settings")).to_contain_text("The server asked for fewer calls at once")
