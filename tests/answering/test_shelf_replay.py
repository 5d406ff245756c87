"""An answer from several books, replayed: what every step had of each book, and the conversation as a file."""

from __future__ import annotations

from readagent_core.answering import look_up_text, replay
from readagent_core.answering.base import AnswerPart, BooksShown, ModelCall
from readagent_core.answering.library_shelf import checked_answer_of_several
from readagent_core.answering.parts import closed_books, parts_seen
from readagent_core.answering.replay import events_of
from readagent_core.export.citation_labels import citation_label
from readagent_core.export.conversation import export_conversation
from tests.answering.test_library_shelf import PAGES, add, asked, tale
from tests.fakes.model import FakeModel


def model(*requests):
    """Gists of parts as asked for, and these replies to the prompts of the question; then an answer."""
    left = iter(requests)

    def reply(prompt):
        if prompt.task == "gist":
            return "told " * int(prompt.fields["least"])
        if prompt.task == "explore_shelf":
            return next(left, 'ANSWER: So it was [1.2], so it was [2].\n\nEvidence:\n[1.2] "Here stands secret1x2."')
        return "So it was [1.2]."

    return FakeModel(reply)


def test_every_step_has_the_view_of_each_book(open_workspace):
    """A search and an opening of one request are two steps; a request for two books is one."""
    workspace = open_workspace(model=model('FIND "secret2x9"\nOPEN [2, 1.2] to see'))
    books = add(workspace, *(tale(n, gist_words=200) for n in range(1, 7)))
    exchange = asked(workspace, books, "Where is secret1x5?")
    events = events_of(exchange)
    steps = replay.steps(events)
    assert [step.title for step in steps] == [
        "Question",
        "Gists",
        "Search",
        "Look-up",
        "Memory as sent",
        "Answer",
    ]
    _, first, search, look, *_, last = steps
    assert set(first.books) == set(range(1, 7))
    assert search.books[2].marked == (9,)
    assert search.calls
    assert not look.calls  # it is of the same request
    assert look.books[1].marked == (2,)
    assert look.books[1].expanded == ()  # as it was before
    assert last.books[1].expanded == (2,)
    assert last.words == replay.answer_of(events).memory_words
    titles = {1: "Fog", 2: "Ice"}
    assert look_up_text.look_up_title_of_several(search, titles) == "Looked for “secret2x9”: in Ice, page 9"
    assert "Fog: went back to page 2" in look_up_text.look_up_title_of_several(look, titles)
    closed = closed_books(events, "en")
    shut = [n for n, one in first.books.items() if one.closed == ((1, PAGES),)]
    assert shut
    assert all(closed[n].gist.startswith("told told") for n in shut)
    opened = next(n for n in first.books if n not in shut)
    parts = parts_seen(events, workspace.library.memory(exchange.facts.books[opened - 1][1]), book=opened)
    gists = [part.gist for part in parts if (part.first, part.last) in last.books[opened].closed]
    assert gists
    assert all(gist.startswith("told") for gist in gists)


def test_books_without_gists_have_no_step_of_them():
    shown = BooksShown(((1, "a", "Fog", "words"), (2, "b", "Ice", "words")), 2)
    events = [shown, ModelCall("explore_shelf", "", "ANSWER: So."), AnswerPart("So.")]
    assert [step.title for step in replay.steps(events)] == ["Question", "Memory as sent", "Answer"]


def test_a_conversation_about_several_books_is_saved_as_a_file(open_workspace):
    workspace = open_workspace(model=model("OPEN [1.2] to see"))
    exchange = asked(workspace, add(workspace, tale(1), tale(2)))
    text = export_conversation(workspace, exchange.conversation_id, format="md").decode()
    assert text.startswith("# Tale 1; Tale 2\n\nQuestions and answers\n")
    assert "\nTale 1: went back to page 2: “see”" in text
    assert "[Tale 1, p. 2]" in text
    assert "[Tale 2]" in text
    assert "> Tale 1, page 2: “Here stands secret1x2.”" in text
    assert "[Tale 1, p. 2]" in export_conversation(workspace, exchange.conversation_id, format="html").decode()


def test_citations_are_labelled_by_a_short_title(open_workspace):
    workspace = open_workspace(model=model())
    exchange = asked(workspace, add(workspace, tale(1), tale(2)))
    answer = replay.answer_of(events_of(exchange))
    page, book = checked_answer_of_several(workspace, answer.text, answer).citations
    long = {1: "Council of the Sound: Transcript of the Meeting of 3 March", 2: "Ice"}
    assert citation_label(page, long) == "Council of the Sound, p. 2, gist"
    assert citation_label(book, long) == "Ice"
    cut = citation_label(page, {1: "The Keepers of the Lamps and of the Boats", 2: "Ice"})  # 41 characters
    assert cut == "The Keepers of the Lamps and of the …, p. 2, gist"
