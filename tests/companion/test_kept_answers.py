"""Answers that are kept as marks: on the words they quote, or on a page."""

from __future__ import annotations

import pytest

from readagent_core.answering.base import Question
from readagent_core.companion.kept_answers import kept_blocks, make_answer_mark
from readagent_core.companion.marks import placed_marks
from readagent_core.document import Document, Paragraph
from readagent_core.errors import LibraryError
from readagent_core.library.marks import ANSWER, Spot
from tests.answering.test_asking import a_book, a_memory, asked, reply
from tests.fakes.model import FakeModel


def test_an_answer_is_put_on_the_words_it_quotes(open_workspace):
    workspace = open_workspace(model=FakeModel(reply))
    book, gisting = a_book(workspace, a_memory())
    exchange, _ = asked(workspace, book, gisting, "Who is it?")
    mark = make_answer_mark(workspace, exchange.id)
    workspace.library.put_mark(mark)
    assert (mark.kind, mark.exact, mark.start) == (ANSWER, "pageword2 stands here", Spot(1, 0))
    assert mark.answer["text"].startswith("So it was")
    assert (mark.answer["question"], mark.answer["signature"]) == ("Who is it?", "fake-model")
    cited = mark.answer["citations"][0]
    assert (cited["page"], cited["state"], cited["paragraph"]) == (2, "page", 1)
    assert [piece["citations"] for piece in mark.answer["pieces"] if piece["citations"]] == [[0]]
    texts = ["A preface.", *(p.text for p in workspace.library.document(book.id).paragraphs)]
    (placed,) = placed_marks(workspace.library, book.id, Document("T", tuple(map(Paragraph, texts)))).placed
    assert placed.start == Spot(2, 0)
    assert [c["paragraph"] for c in placed.answer["citations"]] == [2]


def test_a_kept_answer_has_the_option_that_was_chosen(open_workspace):
    workspace = open_workspace(model=FakeModel(lambda prompt: "Page [2]" if prompt.task == "look_up" else "(B)"))
    book, gisting = a_book(workspace, a_memory())
    exchange, _ = asked(workspace, book, gisting, question=Question("Why?", ("For oil.", "For light.")))
    mark = make_answer_mark(workspace, exchange.id)
    assert mark.answer["text"].startswith("(B) For light.\n\n")
    assert kept_blocks(mark.answer)[0] == (False, "(B) For light.")


def test_an_answer_without_quotations_is_put_on_a_page_and_one_that_never_came_nowhere(open_workspace):
    answers = iter(["It was so [5].", "Nothing of it.", "It was so [99]."])
    model = FakeModel(lambda prompt: next(answers) if prompt.task not in ("look_up", "standalone") else "Page [4]")
    workspace = open_workspace(model=model)
    book, gisting = a_book(workspace, a_memory())
    for paragraph in (4, 3, 3):  # the cited page, then the one looked up, also where the cited one does not exist
        exchange, _ = asked(workspace, book, gisting, question=Question("Why?"))
        mark = make_answer_mark(workspace, exchange.id)
        assert (mark.exact, mark.start, mark.end) == ("", Spot(paragraph, 0), Spot(paragraph, 0))
    talk = workspace.library.conversation(exchange.conversation_id)
    asking = workspace.library.start_exchange(talk.id, gisting.id, "And?")
    with pytest.raises(LibraryError, match="not answered"):
        make_answer_mark(workspace, asking.id)
