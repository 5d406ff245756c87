"""The Compare screen: its controls, what they start, and what their end leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.compare import controls
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.shell import as_text
from readagent_core.comparing import comparing
from readagent_core.comparing.compared_books import spoiler_limit
from readagent_core.document import Document, Paragraph
from readagent_core.export.comparison_view import draw_comparison
from readagent_core.gisting.job import newest_memory
from readagent_core.gisting.queue import QUEUE_KEY
from readagent_core.library.records import Book
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.workspace import Workspace
from tests.answering.test_library_shelf import add, tale
from tests.fakes.server import FakeServer, Reply, error

App = Callable[..., AppTest]


def opened(app: App) -> tuple[AppTest, Book]:
    """The screen with the whole of the first book, a story of which nothing is read, let in."""
    at = app("pages/compare.py")
    book = get_workspace().library.books()[0]
    get_workspace().library.set_limit(book.id, on=False)
    return at.run(), book


def test_a_question_goes_to_every_method_ticked(app: App) -> None:
    at, book = opened(app)
    at.button(key="compare_go").click().run()
    assert any("**Write a question first.**" in text.value for text in at.markdown)
    assert not at.exception
    at.checkbox(key="compare_full-text").uncheck().run()
    assert at.button(key="compare_go").label == "Ask all 3"
    at.text_input(key=f"compare_question_{book.id}").set_value("Why did Ambrose Vane put out Harrow Light?")
    at.button(key="compare_go").click().run()
    job = get_workspace().jobs.get(comparing.job_key(book.id))
    assert job is not None
    assert job.join(120).state == "done"
    at.run()
    assert not at.exception
    kept = comparing.last_comparison(get_workspace(), book.id)
    assert kept is not None
    assert [e.method for e in kept.entries] == ["read-agent-p", "gist-mem", "bm25"]
    assert len(at.get("download_button")) == 3
    assert "compare_book" not in [box.key for box in at.selectbox]  # the recording may be of another book
    unread = get_workspace().library.add(Document("Unread", (Paragraph("One. Two."),)))
    at = app("pages/compare.py", book=unread.id)
    assert not at.exception
    assert any("has no gists yet" in text.value for text in at.text)
    at.button(key="compare_gists_make").click().run()
    for job in get_workspace().jobs.running():
        job.join(60)
    at.run()
    assert not at.exception
    assert not at.button(key="compare_go").disabled


def compared(app: App) -> tuple[AppTest, Book]:
    """The screen after a comparison about the first book of the library, and that book."""
    at, book = opened(app)
    at.text_input(key=f"compare_question_{book.id}").set_value("Why did Ambrose Vane put out Harrow Light?")
    at.button(key="compare_go").click().run()
    get_workspace().jobs.get(comparing.job_key(book.id)).join(120)
    at.run()
    return at, book


def test_a_comparison_that_ends_while_the_screen_is_drawn_leaves_the_form_ready(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, book = opened(app)
    form_drawn, ask = threading.Event(), comparing.ask

    def ended_meanwhile(*args: object) -> str:  # called after the form was drawn, before the rows are
        if job := get_workspace().jobs.get(comparing.job_key(book.id)):
            form_drawn.set()
            job.join(120)
        return ""

    def ask_then(*args: Any, **how: Any) -> Any:
        form_drawn.wait(120)
        return ask(*args, **how)

    monkeypatch.setattr(controls, "price_line", ended_meanwhile)
    monkeypatch.setattr(comparing, "ask", ask_then)
    at.text_input(key=f"compare_question_{book.id}").set_value("Who keeps the light?")
    at.button(key="compare_go").click().run()
    assert form_drawn.is_set()
    assert not at.button(key="compare_go").disabled


def test_methods_that_failed_are_asked_again(app: App, fake_server: FakeServer) -> None:
    fake_server.before = lambda number, text: Reply(status=401, error=error("no"))
    at, book = compared(app)
    assert "4 of 4 methods did not finish." in {text.value for text in at.text}
    assert "Open Settings" in {link.proto.label for link in at.get("page_link")}
    reasons = str(draw_comparison(comparing.last_comparison(get_workspace(), book.id)))
    assert (reasons.count("did not accept the key"), reasons.count("For the same reason.")) == (1, 3)
    assert not at.get("download_button")  # there is nothing to take away
    fake_server.before = None
    at.button(key="compare_again").click().run()
    get_workspace().jobs.get(comparing.job_key(book.id)).join(120)
    at.run()
    assert not at.exception
    found = comparing.last_comparison(get_workspace(), book.id)
    assert {entry.state for entry in found.entries} == {"done"}
    assert "compare_again" not in {button.key for button in at.button}


def test_gists_that_are_not_all_made_are_said_with_why_and_the_way_on(app: App, fake_server: FakeServer) -> None:
    app("pages/compare.py")
    workspace = get_workspace()
    (book_id,) = add(workspace, tale(9), read=False)
    fake_server.before = lambda number, text: Reply(status=401, error=error("no"))
    at = app("pages/compare.py", book=book_id)
    at.button(key="compare_gists_make").click().run()
    for job in workspace.jobs.running():
        job.join(60)
    at.run()
    (said,) = [text.value for text in at.text if text.value.startswith("Gists: stopped at page 1")]
    assert "did not accept the key" in said
    assert {"compare_gists_go", "compare_gists_settings"} <= {button.key for button in at.button}
    asking = app("pages/ask.py", book=book_id)
    assert any("stopped at page 1" in caption.value for caption in asking.caption)
    assert "ask_gists_go" in {button.key for button in asking.button}
    at = app("pages/compare.py", book=book_id)
    fake_server.before = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workspace, "model", BuiltInReader())
        at.run()
    assert not at.exception
    assert "compare_gists_make" in {button.key for button in at.button}  # by rule, where no model is connected
    at.run()
    at.button(key="compare_gists_go").click().run()
    for job in workspace.jobs.running():
        job.join(60)
    at.run()
    assert not [text.value for text in at.text if text.value.startswith("Gists:")]
    assert not at.button(key="compare_go").disabled


def test_a_known_question_brings_its_options_or_its_known_answer(app: App) -> None:
    at = app("pages/compare.py")
    book = get_workspace().library.books()[0]
    get_workspace().library.set_limit(book.id, on=False)
    at.run()
    at.selectbox(key=f"compare_known_{book.id}").select_index(3).run()
    options = at.text_area(key=f"compare_options_{book.id}").value
    asked = controls.asked_from(at.text_input(key=f"compare_question_{book.id}").value, options)
    assert asked.question.text == "Why did Ambrose Vane put out Harrow Light?"
    assert asked.correct == 1
    assert asked.question.options[1] == "To make a ship that was steering on it towards the reef stop"
    _, memory = newest_memory(get_workspace(), book.id)
    known = controls.known_questions(book, memory)
    free = next(i for i, question in enumerate(known) if not question.get("options"))
    at.selectbox(key=f"compare_known_{book.id}").select_index(free).run()
    assert at.text_area(key=f"compare_options_{book.id}").value == ""
    said = at.text_area(key=f"compare_references_{book.id}").value
    assert said.splitlines() == known[free]["references"]
    assert controls.asked_from(known[free]["question"], "", said).references == tuple(known[free]["references"])
    assert controls.asked_from("Who?", "one\n* two", said).references == ()


def test_a_new_question_starts_without_the_options_of_the_last(app: App) -> None:
    at, book = opened(app)
    get_workspace().library.set_preference(controls.PREFERENCE, ["gist-mem"])

    def options_asked(question: str) -> tuple[str, ...]:
        at.text_input(key=f"compare_question_{book.id}").set_value(question)
        at.button(key="compare_go").click().run()
        get_workspace().jobs.get(comparing.job_key(book.id)).join(120)
        at.run()
        comparison = comparing.last_comparison(get_workspace(), book.id)
        assert comparison.question == question
        return comparison.options

    at.selectbox(key=f"compare_known_{book.id}").select_index(3).run()
    given = at.text_input(key=f"compare_question_{book.id}").value
    assert len(options_asked(given)) == 4
    assert len(options_asked(given)) == 4  # the same question, once more
    assert any("(B) To make a ship that was steering on it towards the reef stop — right\n" in t.value for t in at.text)
    assert options_asked("Who keeps the light?") == ()
    assert at.text_area(key=f"compare_options_{book.id}").value == ""
    assert at.selectbox(key=f"compare_known_{book.id}").value is None
    at.text_area(key=f"compare_options_{book.id}").set_value("one\ntwo").run()
    assert options_asked("Who rows?") == ("one", "two")  # given since
    at = app("pages/compare.py", book=book.id)  # another visit begins with what is shown
    assert at.text_input(key=f"compare_question_{book.id}").value == "Who rows?"
    assert at.text_area(key=f"compare_options_{book.id}").value == "one\ntwo"
    assert options_asked("Who sleeps?") == ()


def test_the_spoiler_limit_hides_a_comparison_that_saw_more_and_questions_about_later_text(app: App) -> None:
    at, book = compared(app)
    assert len(at.get("download_button")) == 3
    get_workspace().library.set_furthest(book.id, 30)
    next(one for one in at.toggle if one.label == "Only what I have read").set_value(True).run()
    assert get_workspace().library.position(book.id).allowed == 30
    page, _ = spoiler_limit(
        get_workspace(), *newest_memory(get_workspace(), book.id), get_workspace().library.position(book.id)
    )
    assert 1 < page < 25
    assert any(f"sees pages 1 to {page} of 25 only" in caption.value for caption in at.caption)
    assert any("hidden: its methods saw pages after" in text.value for text in at.text)
    assert not at.get("download_button")
    offered = [*at.selectbox(key=f"compare_known_{book.id}").options, *(button.label for button in at.button)]
    assert "Why did Ambrose Vane put out Harrow Light?" not in offered
    at.text_input(key=f"compare_question_{book.id}").set_value("Who keeps the light?")
    at.button(key="compare_go").click().run()
    job = get_workspace().jobs.get(comparing.job_key(book.id))
    assert len(job.join(120).value.pages) == page
    at.run()
    assert len(at.get("download_button")) == 3
    at.button(key="compare_let_in").click().run()
    assert get_workspace().library.position(book.id).allowed is None
    assert not at.exception


@pytest.mark.parametrize(
    ("options", "correct", "count"),
    [
        ("", None, 0),
        ("one\n* two\nthree", 1, 3),
        ("(A) one\n* (B) two", 1, 2),
        ("* one\n* two", None, 2),
        ("* one\n* two\nthree", None, 3),
    ],
)
def test_a_star_marks_the_right_option(options: str, correct: int | None, count: int) -> None:
    asked = controls.asked_from("Who?", options)
    assert asked.correct == correct
    assert len(asked.question.options) == count
    assert not any("*" in option for option in asked.question.options)


def test_a_question_that_is_offered_is_asked_with_its_options_and_known_answer(app: App) -> None:
    workspace = get_workspace()
    app()
    at = app("pages/compare.py")
    book = workspace.library.books()[0]
    workspace.library.set_limit(book.id, on=False)
    workspace.library.set_preference(controls.PREFERENCE, ["gist-mem"])
    at.run()
    offered = next(button for button in at.button if str(button.key) == "compare_try_0")
    offered.click().run()
    workspace.jobs.get(comparing.job_key(book.id)).join(120)
    comparison = comparing.last_comparison(workspace, book.id)
    assert comparison is not None
    assert comparison.references or comparison.correct is not None


def test_a_recorded_comparison_is_shown_at_one_click_and_kept_out_of_ones_own(app: App) -> None:
    at = app("pages/compare.py")
    assert any("They tell of pages that you have not read." in text.value for text in at.text)  # as Evaluate says it
    at.button(key="compare_show_recorded").click().run()
    assert not at.exception
    assert get_workspace().library.position(get_workspace().library.books()[0].id).limited
    recorded = at.selectbox(key="compare_recorded_question")
    assert recorded.options[recorded.index] == "Why did Ambrose Vane put out Harrow Light?"
    assert any("not your own comparisons" in text.value for text in at.text)
    assert len(at.get("download_button")) == 3
    library = get_workspace().library
    assert all(comparing.last_comparison(get_workspace(), book.id) is None for book in library.books())
    recorded.select_index(10).run()
    assert any("Known answer" in caption.value for caption in at.caption)
    at.button(key="compare_close").click().run()
    assert any("How much of the book may answers use?" in text.value for text in at.text)


def test_a_limit_before_page_1_says_what_can_be_let_in_and_hides_the_recording(app: App) -> None:
    at = app("pages/compare.py")
    library, book = get_workspace().library, get_workspace().library.books()[0]
    assert library.position(book.id).by_default  # nothing is read, and nobody has chosen
    offered = [button.key for button in at.button]
    assert offered.index("compare_from_1") < offered.index("compare_go")  # what the question waits for is above it
    assert at.button(key="compare_show_recorded").label == "Show them"
    assert not [key for key in offered if "compare_try" in str(key)]
    assert any("They tell of pages that you have not read." in text.value for text in at.text)
    at.text_input(key=f"compare_question_{book.id}").set_value("Who keeps the light?")
    at.button(key="compare_go").click().run()
    assert any("Your question is asked once you have chosen." in text.value for text in at.text)
    assert comparing.last_comparison(get_workspace(), book.id) is None
    at.button(key="compare_from_1").click().run()
    get_workspace().jobs.get(comparing.job_key(book.id)).join(120)
    at.run()
    assert comparing.last_comparison(get_workspace(), book.id).question == "Who keeps the light?"
    assert any("sees page 1 of 25 only" in caption.value for caption in at.caption)
    next(one for one in at.toggle if one.label == "Only what I have read").set_value(False).run()
    assert library.position(book.id).allowed is None
    assert at.button(key="compare_show_recorded").label == "Show a recorded comparison"


def test_several_books_are_chosen_by_the_address_and_compared_as_one(app: App) -> None:
    app("pages/compare.py")
    workspace = get_workspace()
    first, second = add(workspace, tale(1), tale(2))
    (unread,) = add(workspace, tale(3), read=False)
    workspace.library.set_limit(first, on=True, paragraph=3)
    workspace.library.add_shelf("Tales", [first, second, unread])
    at = app("pages/compare.py", shelf="Tales")
    assert not at.exception
    said = [caption.value for caption in at.caption]
    assert "Spoiler limit: every method sees pages 1 to 3 of 12 of Tale 1 only." in said
    takes = "The built-in reader makes them in seconds, free."
    assert as_text(f"Tale 3 is left out: it has no gists yet. {takes}") in said
    at.text_input(key="compare_question_several").set_value("What stands in both?")
    at.button(key="compare_go").click().run()
    job = workspace.jobs.get(comparing.job_key(first, second, unread))
    assert {entry.state for entry in job.join(120).value.entries} == {"done"}
    at.run()
    assert not at.exception
    assert len(at.get("download_button")) == 3
    assert any("2 of 3 books" in caption.value for caption in at.caption)
    workspace.library.set_limit(first, on=True, paragraph=2)
    at.run()
    assert any("hidden: its methods saw pages after" in text.value for text in at.text)
    at.button(key="compare_make_left_out").click().run()
    workspace.jobs.get(QUEUE_KEY).join(60)
    at.run()
    assert not any("Tale 3" in caption.value for caption in at.caption)
    at.button(key=f"compare_alone_{second}").click().run()
    assert not at.exception
    assert at.selectbox(key=f"compare_book_{second}").value == second
