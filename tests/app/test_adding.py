"""A link or a text is pasted into the library's field; links are turned off in Settings."""

from __future__ import annotations

import time
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.library import adding, catalogue
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act
from readagent_core.incoming.catalogues import Catalogue
from readagent_core.incoming.links import fetch_again, open_link
from readagent_core.incoming.opds import parse_page
from readagent_core.incoming.opening import open_file
from readagent_core.settings import load_settings, save_settings
from tests.app.conftest import open_tab
from tests.fakes.web import WebServer, reply
from tests.incoming.test_catalogues import BOOK, SHELF

TEXT = "The lamp\n\nIt was lit at dusk and it burned until the morning.\n\nNobody saw who put it out."


def field() -> AppTest:
    """The field, and below it the title of the book that it returns, with the button that fetches it again."""

    def screen() -> None:
        import streamlit as st

        from pages.parts.library import adding
        from pages.parts.shared.cached import get_workspace

        workspace = get_workspace()
        book = adding.draw(workspace)
        if book is not None:
            st.session_state["book"] = book.id
        if "book" in st.session_state:
            shown = workspace.library.book(st.session_state["book"])
            st.title(shown.title)
            adding.draw_fetch_again(workspace, shown)

    return AppTest.from_function(screen, default_timeout=30).run()


def add(at: AppTest, text: str) -> AppTest:
    """Paste ``text`` and wait until it was added or refused."""
    at.text_area[0].set_value(text)
    at.button[0].click().run()
    for _ in range(200):
        job = at.session_state["adding"]
        if job is None or not job.running:
            return at.run()
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def press(at: AppTest, label: str) -> None:
    next(button for button in at.button if button.label == label).click().run()


def fetch(at: AppTest) -> str:
    """Press 'Fetch again' and return what the screen said of it at the end."""
    press(at, "Fetch again")
    for job in get_workspace().jobs.running():
        job.join(20)
    return texts(at.run())


def silent():
    time.sleep(20)
    yield b""


def texts(at: AppTest) -> str:
    assert not at.exception
    return "\n".join(str(element.value) for element in [*at.title, *at.markdown, *at.text, *at.caption])


def test_a_pasted_text_becomes_a_book_and_the_field_is_empty_again():
    at = add(field(), TEXT)
    assert at.title[0].value == "The lamp"
    assert at.text_area[0].value == ""
    assert "Fetch again" not in [button.label for button in at.button]


@pytest.mark.parametrize(
    ("pasted", "why"),
    [
        ("  ", "There is no text to add"),
        ("http://localhost/secret", "not a public web address"),
        ("http://169.254.169.254/latest/meta-data/", "not a public web address"),
        ("file:///etc/passwd", "http:// or https://"),
        ("http://example.org:8501/", "“:8501”"),
    ],
)
def test_what_cannot_be_added_says_why_and_stays_in_the_field(pasted, why):
    at = add(field(), pasted)
    assert why in texts(at)
    assert at.text_area[0].value == pasted
    assert not at.title


def test_an_article_is_fetched_and_fetched_again(monkeypatch):
    with WebServer({"/post": reply(TEXT.encode(), "text/plain")}) as server:
        monkeypatch.setattr(adding, "open_link", partial(open_link, rules=server.rules()))
        monkeypatch.setattr(adding, "fetch_again", partial(fetch_again, rules=server.rules()))
        at = add(field(), f" {server.at('/post')}\n")
        assert at.title[0].value == "The lamp"
        assert "the same as before" in fetch(at)
        server.pages["/post"] = reply(TEXT.replace("dusk", "noon").encode(), "text/plain")
        assert "version 2" in fetch(at)
        server.pages["/post"] = reply(status="404 Not Found")
        assert "has no page at this address" in fetch(at)
        server.pages["/post"] = silent
        press(at, "Fetch again")
        assert "Fetching from 127.0.0.1" in texts(at)
        press(at, "Cancel")
        assert "Cancelled. The book is as it was." in texts(at.run())
        assert get_workspace().library.books()[0].version == 2


def test_a_fetch_is_cancelled(monkeypatch):
    with WebServer({"/": silent}) as server:
        monkeypatch.setattr(adding, "open_link", partial(open_link, rules=server.rules()))
        at = field()
        at.text_area[0].set_value(server.at("/"))
        at.button[0].click().run()
        assert "Fetching from 127.0.0.1" in texts(at)
        press(at, "Cancel")
        assert "Cancelled" in texts(at.run())


def test_where_links_are_off_the_field_says_so_and_takes_texts_alone(own_home):
    load_settings()
    save_settings(own_home, {"links": "off"})
    at = field()
    assert at.text_area[0].label == "Paste text"
    assert "turned off in Settings" in texts(at)
    assert "nothing was fetched" in texts(add(at, "https://example.org/"))
    assert add(at, TEXT).title[0].value == "The lamp"


def test_the_switch_in_settings_is_saved_unless_the_environment_decides(app, monkeypatch):
    at = open_tab(app("pages/settings.py"), "Storage")
    at.toggle(key="links_on").set_value(False).run()
    assert not load_settings().links
    at.toggle(key="links_on").set_value(True).run()
    assert load_settings().links
    monkeypatch.setenv("READAGENT_LINKS", "off")
    at.run()
    assert at.toggle(key="links_on").disabled
    assert "READAGENT_LINKS in the environment decides" in texts(at)


def test_a_book_of_a_catalogue_that_was_here_already_is_shown_as_here(app, monkeypatch: pytest.MonkeyPatch) -> None:
    app("pages/catalogue.py")
    workspace = get_workspace()
    own = open_file(workspace, BOOK, "own.txt")
    with WebServer({"/l.txt": reply(BOOK, "text/plain")}) as server:
        page = parse_page(SHELF, server.at("/opds"))
        now = catalogue.Browsing(Catalogue("A shelf", server.at("/opds"), home=True), [("A shelf", page)])
        monkeypatch.setattr(catalogue, "browsing", lambda: now)
        catalogue.act_on(workspace, Act("add", page=1))
        for job in workspace.jobs.running():
            job.join(30)
    shown = catalogue.data(workspace)["entries"][1]
    assert (shown["state"], shown["book"]) == ("here", own.id)
