"""Where was I, and who is who: opened from the reader, stopped, tried again, and followed to a page."""

from __future__ import annotations

import threading
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from readagent_core.document import Section
from readagent_core.library import Library
from tests.browser.conftest import add_read_book, press_in_more
from tests.fakes.server import FakeServer, Reply
from tests.recordings import make_memory

RECAP = "So far:\nVane rowed out [2]. He drowned [19].\n\nJust before:\nThe lamp was lit [6]."
CAST = "People:\nVane | He rowed out [2].\nMr. Crale | He drowned Vane [3]."
READ = 6  # of 20 pages


def a_book(home: Path) -> str:
    new = uuid4()  # what was made of it before, in another try, is not found
    texts = [f"Evening {n}. Vane lit the lamp of {new}. {'It was seen on the quay. ' * 25}" for n in range(20)]
    memory = make_memory(texts, [f"Gist {n} of Vane." for n in range(20)], title="Lamps", sections=(Section("One", 0),))
    book = add_read_book(home, memory, "lamps.txt")
    library = Library(home)
    library.set_furthest(book, READ)
    library.set_preference("tour", "done")
    library.close()
    return book


def test_a_recap_is_stopped_made_shown_again_and_leads_to_its_pages(
    page: Page, model_app_url: str, model_app_home: Path, fake_server: FakeServer, request: pytest.FixtureRequest
) -> None:
    free, start = threading.Event(), len(fake_server.chats)

    def before(number: int, text: str) -> Reply:
        if number == start:
            free.wait(60)
        return Reply(CAST if "List who is who" in text else RECAP)

    fake_server.before = before
    request.addfinalizer(lambda: setattr(fake_server, "before", None))
    book = a_book(model_app_home)
    page.goto(f"{model_app_url}/read?book={book}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Where was I?").click()
    expect(dialog).to_contain_text("fake-model is writing")
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_contain_text("Stopped.")
    free.set()
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog).to_contain_text("fake-model on this computer")
    expect(dialog).to_contain_text("Made from the gists of pages 1 to 6")
    expect(dialog).to_contain_text("Vane rowed out.")
    expect(dialog).to_contain_text("Left out: 1 claim that named no page you have read.")
    expect(dialog).not_to_contain_text("drowned")
    calls = len(fake_server.chats)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    page.get_by_role("button", name="Where was I?").click()  # it is stored
    expect(dialog).to_contain_text("Vane rowed out.")
    assert len(fake_server.chats) == calls
    dialog.get_by_role("button", name="page 2.").click()
    expect(dialog).to_be_hidden()
    expect(page.locator('p[data-i="1"]')).to_be_in_viewport()

    press_in_more(page, "Who is who")
    expect(dialog).to_contain_text("Vane · named on pages 1 to 6")
    expect(dialog).to_contain_text("Left out, because what you have read does not have the name: Mr. Crale.")
    assert not any("Evening 6." in request.text or "Gist 6 " in request.text for request in fake_server.chats[start:])


def test_without_a_model_and_with_nothing_read_it_says_so(page: Page, app_url: str, app_home: Path) -> None:
    book = a_book(app_home)
    page.goto(f"{app_url}/read?book={book}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Where was I?").click()
    expect(dialog).to_contain_text("Built-in reader: the first sentences of the gists; nothing was understood")
    expect(dialog).to_contain_text("gist of page 6")
    page.keyboard.press("Escape")
    press_in_more(page, "Who is who")
    expect(dialog).to_contain_text("Who is who is told by a language model")
    expect(dialog.get_by_role("button", name="Connect a model")).to_be_visible()
    page.keyboard.press("Escape")
    library = Library(app_home)
    library.set_furthest(book, 0)
    library.close()
    press_in_more(page, "Who is who")
    expect(dialog).to_contain_text("Nothing counts as read yet.")
