"""The addresses of drawn web pages answer for those of the library only, with a policy that allows nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from pages.parts.act import drawn_page
from pages.parts.act.board import Shown, board, cost_line
from pages.parts.library.cards import without_tried
from pages.parts.library.imports import add_imports, start_import
from pages.parts.shared import book as current
from pages.parts.shared.cached import get_workspace
from readagent_core.errors import NotInLibraryError
from readagent_core.web_pages.acting import WebTask
from readagent_core.web_pages.steps import BookPages, start_step, stored_steps
from readagent_core.workspace import Workspace
from tests.library.test_original_pages import opened
from tests.web_pages.pages import knowing, shop

App = Callable[..., AppTest]
PAGE = shop("<p>Lamps, oil and wicks for the keepers of the coast, by post and at the door.</p>").encode()


@pytest.fixture
def pages(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> BookPages:
    found = BookPages(workspace)
    monkeypatch.setattr(drawn_page, "workspace_of_request", lambda request: workspace)
    monkeypatch.setattr(drawn_page, "get_pages", lambda _: found)
    return found


@pytest.fixture
def client(pages: BookPages) -> TestClient:
    routes = drawn_page.drawn_page_routes("/base")
    return TestClient(Starlette(routes=routes), base_url="http://localhost/base/webpage/")


def test_a_page_and_its_snippets(client: TestClient, workspace: Workspace, pages: BookPages) -> None:
    book = opened(workspace, PAGE, "shop.html")
    version = pages.open(book.id).version
    drawn = client.get(f"{book.id}/{version}?opened=2,x,3&chosen=504&theme=dark")
    assert drawn.headers["content-type"] == "text/html; charset=utf-8"
    policy = drawn.headers["content-security-policy"]
    assert {"default-src 'none'", "form-action 'none'", "sandbox"} <= {part.strip() for part in policy.split(";")}
    assert "script-src" not in policy
    assert drawn.headers["x-content-type-options"] == "nosniff"
    assert ".s2, .s3 {" in drawn.text
    assert "#e504 {" in drawn.text
    text = client.get(f"{book.id}/{version}/1.txt")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "<html id=" in text.text


def test_what_is_refused(client: TestClient, workspace: Workspace, pages: BookPages) -> None:
    book = opened(workspace, PAGE, "shop.html")
    version = pages.open(book.id).version
    text = opened(workspace, b"Some words of a text.", "a.txt")
    refused = [
        "000000000000/1-1",
        f"{book.id}/1-1",
        f"{text.id}/1-1",
        "..%2f..%2flibrary/1-1",
        f"{book.id}/{version}/0.txt",
        f"{book.id}/{version}/99.txt",
    ]
    assert [client.get(address).status_code for address in refused] == [404] * len(refused)
    workspace.library.remove(book.id)
    assert client.get(f"{book.id}/{version}").status_code == 404


def test_a_book_that_was_no_web_page_cannot_be_acted_on(app: App) -> None:
    app("pages/library.py")
    book = get_workspace().library.books()[0]
    at = app("pages/act.py", book=book.id)
    assert at.text_input[0].label == "Web address"
    assert not [button for button in at.button if button.key and button.key.startswith("act_page_")]
    page = opened(get_workspace(), PAGE, "shop.html")
    at.run()
    at.button(key=f"act_page_{page.id}").click().run()
    assert at.text_area[0].label == "Task"
    assert at.query_params["book"] == page.id


def test_a_file_opens_at_once_where_there_was_no_page(app: App) -> None:
    app("pages/library.py")
    story = get_workspace().library.books()[0]
    at = app("pages/act.py")
    at.get("file_uploader")[0].set_value(("shop.html", PAGE, "text/html")).run()
    assert at.text_area[0].label == "Task"
    assert not at.exception
    assert app("pages/ask.py").session_state["current_book"] == story.id  # also of a session that begins later
    at.button(key="act_other").click().run()
    assert at.text_input[0].label == "Web address"


def test_a_file_that_is_no_page_is_refused_in_a_sentence_of_ours(app: App) -> None:
    at = app("pages/act.py")
    at.get("file_uploader")[0].set_value(("shop.png", b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png")).run()
    assert not at.exception
    assert "This is a picture" in "\n".join(one.value for one in at.text)


def test_a_file_that_is_no_web_page_is_not_added_and_an_empty_address_is_no_alarm(app: App) -> None:
    at = app("pages/act.py")
    before = get_workspace().library.books()
    at.get("file_uploader")[0].set_value(("notes.txt", b"Some words of a text.", "text/plain")).run()
    assert any("This is no web page, so nothing was added." in one.value for one in at.text)
    assert get_workspace().library.books() == before
    at.button(key="act_open").click().run()
    assert any("Write or paste the address" in one.value and ":orange[" in one.value for one in at.markdown)
    assert any("does not understand a task" in one.value for one in at.caption)  # before one tries


def test_a_page_that_was_only_tried_is_no_book_of_the_library_until_it_is_read_or_added(app: App) -> None:
    at = app("pages/act.py")
    at.get("file_uploader")[0].set_value(("shop.html", PAGE, "text/html")).run()
    workspace = get_workspace()
    (page,) = current.only_tried(workspace)
    cards = workspace.library.cards()
    assert page not in {card.book.id for card in without_tried(workspace, cards)}
    one = start_import(workspace, "shop.html", PAGE)
    add_imports(workspace, [one])
    one.job.join(60)
    assert without_tried(workspace, cards) == cards
    assert current.only_tried(workspace) == set()
    assert app("pages/act.py", book=page).text_area[0].label == "Task"


def test_what_was_done_for_one_task_does_not_stand_under_another(app: App) -> None:
    at = app("pages/act.py")
    at.get("file_uploader")[0].set_value(("shop.html", PAGE, "text/html")).run()
    at.text_area[0].set_value("Search lamps").run()
    at.text_area[1].set_value("Click “Lamps”.").run()
    at.text_area[0].set_value("Buy oil").run()
    assert at.text_area[1].value == ""
    at.button(key="act_put_back").click().run()  # the task was only said in other words
    assert (at.text_area[0].value, at.text_area[1].value) == ("Buy oil", "Click “Lamps”.")
    assert "act_put_back" not in [button.key for button in at.button]


def test_a_step_is_stored_with_the_book(workspace: Workspace, pages: BookPages) -> None:
    book = opened(workspace, PAGE, "shop.html")
    drawn = pages.open(book.id)
    job = start_step(workspace, pages, book.id, WebTask("Search & go", ("a -> CLICK",)))
    job.join(120)
    assert job.snapshot.failure is None
    (step,) = stored_steps(workspace.library.artifacts(book.document_id), drawn.version)
    assert (step.task, step.model) == (WebTask("Search & go", ("a -> CLICK",)), workspace.model.name)
    assert step.events == job.snapshot.value.events
    shown = board(book.id, drawn, Shown(step.task.task, step.gists, step.events, step.model, step.made))
    assert [row["title"] for row in shown["steps"]] == ["Task", "Gists", "Look-up", "Page as sent", "Action"]
    assert shown["action"]["element"] == "504"
    assert shown["action"]["text"] == "Most alike in words: click the button “Search & go”."
    assert shown["steps"][2]["opened"] == [shown["action"]["snippet"]]
    assert all(row["gist"] and row["anchor"] for row in shown["snippets"])
    assert any("[504]" in gist for gist in step.gists)  # for the model
    assert not any("[504]" in row["gist"] for row in shown["snippets"])
    assert "nothing was understood" in shown["signature"]["rest"]
    assert cost_line(drawn.memory, workspace.model) == ""
    said = cost_line(drawn.memory, knowing("504"))
    assert f"{len(drawn.memory.snippets)} calls" in said


def test_a_saved_page_that_is_removed_at_this_moment_is_no_crash(
    workspace: Workspace, pages: BookPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = opened(workspace, PAGE, "shop.html")
    removed = workspace.home / "removed"
    monkeypatch.setattr(workspace.library, "original_path", lambda _: removed)
    with pytest.raises(NotInLibraryError, match="Open the file again"):
        pages.open(book.id)
    monkeypatch.setattr(workspace.library, "original_version", lambda _: (removed, "1-1"))
    with pytest.raises(NotInLibraryError, match="Open the file again"):
        pages.open(book.id)
