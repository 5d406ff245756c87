"""One question to several methods about several books: what they are given, what their answers name, what is hidden."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from readagent_core.answering.base import AskSettings, Question
from readagent_core.answering.registry import all_methods
from readagent_core.comparing import compared_books, comparing
from readagent_core.comparing.comparison import Comparison, is_past_limit, place_of
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.workspace import Workspace
from tests.answering.test_library_shelf import PAGES, add, tale
from tests.fakes.model import FakeModel
from tests.fakes.sensible import understood
from tests.fakes.server import FakeServer

SECRET = re.compile(r"secret(\d)x(\d+)")


def compared(
    workspace: Workspace, books: list[str], *names: str, question: str = "Who?", words: int | None = None
) -> Comparison:
    settings = AskSettings(look_ups=2, context_words=words)
    job = comparing.compare(workspace, books, Question(question), names or tuple(all_methods()), settings=settings)
    found = job.join(120).value
    assert isinstance(found, Comparison)
    return found


def test_every_method_is_asked_about_all_books_and_no_prompt_has_a_page_behind_a_limit(
    open_workspace: Callable[..., Workspace],
) -> None:
    """Every prompt is read at the server, also after a comparison without the limit."""

    def reply(text: str) -> str:
        prompt = understood(text)
        if prompt and prompt.task in ("explore_shelf", "answer_shelf"):
            return "OPEN [1.9, 2.9]" if "full text" not in prompt.fields["memory"] else "ANSWER: So it was [2.9]."
        return "I want to look up Page [4, 13]. So it was, and not elsewhere [99]."

    with FakeServer(reply) as server:
        workspace = open_workspace(server.url)
        first, second = add(workspace, tale(1), tale(2))
        (unread,) = add(workspace, tale(3), read=False)
        whole = compared(workspace, [first, second])
        assert any("stands secret1x9." in request.text for request in server.chats)
        workspace.library.set_limit(first, on=True, paragraph=4)
        before = len(server.chats)
        text = compared_books.text_to_compare(workspace, [first, second, unread])
        found = compared(workspace, [first, second, unread])
        prompts = [request.text for request in server.chats[before:]]
    assert {entry.state for entry in found.entries} == {"done"}, [entry.error for entry in found.entries]
    seen = {(int(book), int(page)) for prompt in prompts for book, page in SECRET.findall(prompt)}
    assert {page for book, page in seen if book == 1} <= set(range(1, 5))
    assert {book for book, _ in seen} == {1, 2}
    assert (text.left_out, text.all_pages) == ({unread: "Tale 3"}, (PAGES, PAGES))
    assert text.without_gists == {unread}
    assert [(book.title, book.pages, book.paragraphs) for book in found.books] == [
        ("Tale 1", 4, 4),
        ("Tale 2", 12, None),
    ]
    assert len(found.pages) == 16
    said = {entry.method: entry.text for entry in found.entries}
    assert said["zoom"] == "So it was [2.9]."
    assert said["bm25"] == said["gist-mem"] == "I want to look up Page [1.4, 2.9]. So it was, and not elsewhere [0.99]."
    zoomed = next(entry.answer for entry in found.entries if entry.method == "zoom")
    assert zoomed is not None
    assert place_of(found.books, zoomed.looked_up[-1]) == (2, 9)
    assert comparing.last_comparison(workspace, first, second, unread) == found
    assert comparing.last_comparison(workspace, first) is None
    assert is_past_limit(whole, text.limits)
    assert not is_past_limit(found, text.limits)
    workspace.library.set_limit(first, on=True, paragraph=0)  # its pages are let in no longer
    assert is_past_limit(found, compared_books.text_to_compare(workspace, [first, second]).limits)


def test_a_page_is_never_shown_without_the_title_of_its_book(open_workspace: Callable[..., Workspace]) -> None:
    model = FakeModel(lambda prompt: "Nothing is said of it.")
    workspace = open_workspace(model=model)
    books = add(workspace, tale(1), tale(2))
    compared(workspace, books, "bm25", "gist-mem", question="Where is secret2x7?")
    searched = next(prompt.text for prompt in model.prompts if "stands secret2x7" in prompt.text)
    assert "## Tale 2\n\nHere stands secret2x7." in searched
    gists = next(prompt.text for prompt in model.prompts if "Of secret1x1." in prompt.text)
    assert gists.index("## Tale 1") < gists.index("Of secret1x1.") < gists.index("## Tale 2\n\nOf secret2x1.")


def test_notes_name_the_book_of_a_page(open_workspace: Callable[..., Workspace]) -> None:
    workspace = open_workspace(model=FakeModel(lambda prompt: 'The letter says "page 19" [19].'))
    books = add(workspace, tale(1), tale(2))
    (entry,) = compared(workspace, books, "bm25", question="secret2x7 or secret2x8", words=150).entries
    assert entry.text == 'The letter says "page 19" [2.7].'
    assert entry.answer is not None
    assert any("page 2.8: " in note for note in entry.answer.notes), entry.answer.notes


def test_books_that_cannot_be_compared(
    open_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace(model=FakeModel(lambda prompt: "So."))
    unread = add(workspace, tale(1), tale(2), read=False)
    with pytest.raises(NotInLibraryError, match="gists"):
        compared(workspace, unread)
    (read,) = add(workspace, tale(3))
    alone = compared(workspace, [*unread, read], "bm25")
    assert [book.title for book in alone.books] == ["Tale 3"]
    monkeypatch.setattr(compared_books, "MOST_WORDS", 1000)
    with pytest.raises(SettingsError, match="choose fewer books"):
        compared(workspace, [read, *add(workspace, tale(4))], "bm25")
