"""Ask about several books as Streamlit runs it: what is hidden, found again and left out."""

from __future__ import annotations

import json
import re

import pytest

from pages.parts.ask.acts import handle
from pages.parts.ask.keeping import remove_answer, store_answer
from pages.parts.ask.payload import ask_state
from pages.parts.ask.several_state import Several
from pages.parts.ask.shelf_views import opened_books
from pages.parts.ask.sidebar import _about
from pages.parts.ask.spots import spots_on_page
from pages.parts.ask.wording import describe_context, look_ups
from pages.parts.shared.answer import pending_pieces
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.chosen_books import Chosen
from pages.parts.shared.component import Act
from readagent_core.answering.asking import ask as ask_books
from readagent_core.answering.base import BooksShown, LookedUp, ModelCall, Question
from readagent_core.answering.library_shelf import LibraryShelf
from readagent_core.answering.replay import answer_of, events_of
from readagent_core.document import Document, Paragraph, Section
from readagent_core.library.records import Exchange
from tests.answering.test_library_shelf import add, tale


@pytest.fixture
def answered(app):
    """The workspace, its two books, and an answer from both by the built-in reader."""
    app("pages/ask.py")
    workspace = get_workspace()
    books = add(workspace, tale(1), tale(2))
    exchange, job = ask_books(workspace, books, Question("Where is secret1x9?"))
    job.join(120)
    return workspace, books, workspace.library.exchange(exchange.id)


def state(workspace, books, exchange):
    shelf = LibraryShelf(workspace, books, workspace.model.name)
    return Several(
        workspace=workspace,
        conversation_id=exchange.conversation_id,
        exchanges=[exchange],
        current=exchange,
        chosen=Chosen("books", books),
        shelf=shelf,
        opened=set(),
    )


def test_an_answer_from_later_pages_is_hidden_by_the_limit_of_one_book(answered):
    workspace, books, exchange = answered
    now = state(workspace, books, exchange)
    events = events_of(exchange)
    assert not now.why_hidden(exchange, events)
    assert len(opened_books(now)) == 2
    assert now.memory_of(exchange, 9) is None  # a citation may name a book that there is not
    workspace.library.set_limit(books[0], on=True, paragraph=3)
    now = state(workspace, books, exchange)
    assert now.why_hidden(exchange, events)
    sent = ask_state(now)
    assert sent["records"][exchange.id]["hidden"].startswith("Hidden: ")
    assert sent["steps"] == sent["captions"] == []  # there is nothing to replay
    assert sent["records"][exchange.id]["pieces"] == []
    assert [book["limit"] for book in sent["shelf"]["books"]] == ["Limited to pages 1 to 3.", ""]
    assert not any(view["open"] for step in sent["views"] for view in step["shelf"]["books"].values())
    now.opened.add(books[0])  # by hand: no page after the limit reaches the browser
    assert len(opened_books(now)[1][1].pages) == 3


def test_read_it_leads_to_the_words_that_the_pressed_claim_quotes(answered):
    workspace, books, _ = answered
    exchange, job = ask_books(workspace, books, Question("Where are secret1x9 and secret2x4?"))
    job.join(120)
    now = state(workspace, books, workspace.library.exchange(exchange.id))
    answer = answer_of(events_of(now.current))
    quoted = [(at, c) for at, c in enumerate(now.check(now.current, answer.text, answer).citations) if c.places]
    assert {c.book for _, c in quoted} == {1, 2}
    for at, citation in quoted:
        book_id = now.numbered(now.current)[citation.book][0]
        handle(now, Act("cite", of=now.current.id, page=citation.page, text=str(at)))
        paragraph, start, end = spots_on_page(now, citation.page, book_id=book_id)[0]
        text = workspace.library.document(book_id).paragraphs[paragraph].text
        assert text[start:end].rstrip(".") == citation.quotation.rstrip(".")


def test_the_memory_goes_to_the_book_that_the_answer_begins_with(answered):
    workspace, books, _ = answered
    for text in ("Where is secret2x4?", "Where are secret2x4 and secret1x9?"):
        exchange, job = ask_books(workspace, books, Question(text))
        job.join(120)
        now = state(workspace, books, workspace.library.exchange(exchange.id))
        answer = answer_of(events_of(now.current))
        first = now.check(now.current, answer.text, answer).citations[0]
        shelf = ask_state(now)["views"][-1]["shelf"]
        assert shelf["go"]["book"] == first.book
        assert [n for n, view in shelf["books"].items() if view["focus"]] == [first.book]


def test_the_conversation_is_found_again_and_a_book_is_asked_alone_when_it_is_opened(app, answered):
    _workspace, books, _exchange = answered
    at = app("pages/ask.py")
    assert at.sidebar.button(key="ask_several").label == "1 conversation about several books"
    at.sidebar.button(key="ask_several").click().run()
    assert not at.exception
    assert at.chat_input[0].placeholder == "Ask these 2 books"
    assert "Asking 2 books" in [text.value for text in at.sidebar.text]
    at.sidebar.button(key=f"ask_alone_{books[1]}").click().run()
    assert not at.exception
    assert at.chat_input[0].placeholder == "Ask about Tale 2"
    assert at.query_params["book"] == books[1]
    at.sidebar.pills[0].set_value(books[::-1]).run()  # others are chosen without leaving the screen
    at.sidebar.button(key="ask_these_go").click().run()
    assert not at.exception
    assert at.chat_input[0].placeholder == "Ask these 2 books"
    at.query_params.clear()
    at.query_params["book"] = books[0]
    at.run()
    assert not at.exception
    assert at.chat_input[0].placeholder == "Ask about Tale 1"


def test_page_marks_name_their_book_while_the_answer_comes():
    pieces = pending_pieces("It was so [1.2], and there [2.3-4]. Then [1", {1: "Fog", 2: "Ice"})
    assert [cite["label"] for piece in pieces for cite in piece["cites"]] == ["Fog, p. 2", "Ice, p. 3", "Ice, p. 4"]
    assert "".join(piece["text"] for piece in pieces).replace(" ", "") == "Itwasso,andthere.Then"


def test_a_sentence_of_the_built_in_reader_names_its_book_once(answered):
    workspace, books, exchange = answered
    now = state(workspace, books, exchange)
    labels = [cite["label"] for piece in ask_state(now)["records"][exchange.id]["pieces"] for cite in piece["cites"]]
    assert labels
    assert all(re.fullmatch(r"Tale \d, (gist of )?page \d+", label) for label in labels), labels


def test_an_answer_says_what_it_is_from(answered):
    workspace, books, exchange = answered
    opened = ask_state(state(workspace, books, exchange))["records"][exchange.id]
    assert opened["from"] == "from the gists, with pages read again and passages found by search"
    nowhere, job = ask_books(workspace, books, Question("Who is Zorblax Quintilius?"))
    job.join(120)
    nowhere = workspace.library.exchange(nowhere.id)
    record = ask_state(state(workspace, books, nowhere))["records"][nowhere.id]
    assert record["from"] == "from the gists alone"
    assert "more" not in record["acts"]  # what it was allowed to look up was not needed


def test_options_go_with_a_question_about_several_books(app, answered):
    workspace, books, _exchange = answered
    at = app("pages/ask.py", books=",".join(books))
    at.text_area(key="ask_options_0").set_value("(A) in the first\n(B) in the second").run()
    at.chat_input(key="ask_input").set_value("Where is secret1x9?").run()
    assert not at.exception
    newest = workspace.library.conversations_about_several()[0]
    (exchange,) = workspace.library.exchanges(newest.id)
    workspace.jobs.get(f"ask {exchange.id}").join(120)
    assert exchange.options == ("in the first", "in the second")
    assert workspace.library.exchange(exchange.id).state == "done"
    at.run()
    assert not at.exception


def test_an_answer_from_several_books_is_kept_in_the_first_that_it_quotes(app):
    app("pages/ask.py")
    workspace = get_workspace()
    books = add(workspace, tale(1), tale(2))
    exchange, job = ask_books(workspace, books, Question("Where are secret1x9 and secret2x4?"))
    job.join(120)
    exchange = workspace.library.exchange(exchange.id)
    assert exchange.gisting_id == 0  # of no book alone
    now = state(workspace, books, exchange)
    assert ask_state(now)["kept"] == []
    store_answer(workspace, exchange)
    (mark,) = [mark for book in books for mark in workspace.library.marks(book)]
    cited = next(book for book in answer_of(events_of(exchange)).books if book.id == mark.book_id)
    assert ask_state(now)["kept"] == [exchange.id]
    assert mark.answer["citations"]  # only of the book it is in: a page of another would lead astray
    assert {c["page"] for c in mark.answer["citations"]} <= set(cited.seen)
    assert f"(Tale {3 - cited.number}, p. " in mark.answer["text"]
    remove_answer(workspace, exchange, now.book_ids)
    assert ask_state(now)["kept"] == []


def test_the_line_to_ask_says_who_answers_and_whether_it_is_free(app):
    app()
    books = add(get_workspace(), tale(1), tale(2))
    at = app("pages/ask.py", books=",".join(books))
    assert not at.exception
    assert "Built-in reader: free." in [caption.value.replace("\\", "") for caption in at.caption]


def test_a_book_that_its_limit_hides_is_told_of_in_the_memory_alone(app, answered):
    workspace, books, exchange = answered
    workspace.library.set_limit(books[1], on=True, paragraph=0)
    at = app("pages/ask.py", books=",".join(books))
    assert "Asking 1 of 2 books" in [text.value for text in at.sidebar.text]
    assert at.chat_input[0].placeholder == "Ask 1 of 2 books"
    assert "ask_let_in" not in [button.key for button in at.button]
    shelf = ask_state(state(workspace, books, exchange))["shelf"]
    assert [(book["title"], book["at"]) for book in shelf["keptOut"]] == [("Tale 2", 1)]  # in its place
    assert not at.exception


def test_a_book_that_was_let_in_can_be_limited_again_until_it_is_read(answered):
    workspace, books, exchange = answered
    workspace.library.set_limit(books[1], on=True)
    workspace.library.set_limit(books[1], on=False)

    def let_in():
        return [book["letIn"] for book in ask_state(state(workspace, books, exchange))["shelf"]["books"]]

    assert let_in() == [False, True]  # also in a later session; the other never had a limit
    workspace.library.set_furthest(books[1], len(workspace.library.document(books[1]).paragraphs))
    assert let_in() == [False, False]


def test_a_book_without_gists_is_counted_named_by_its_title_and_its_claim_by_its_chapter(app):
    app("pages/ask.py")
    workspace = get_workspace()
    books = add(workspace, tale(1), tale(2))
    words = "Nobody on the pier had ever seen the harpooner smile."
    filler = Paragraph("The sea was grey and the wind was in the west. " * 9)
    whole = Document("Whale", (*[filler] * 9, Paragraph(words), *[filler] * 9), sections=(Section("The Pier", 5),))
    books.append(workspace.library.add(whole).id)
    exchange, job = ask_books(workspace, books, Question("Who had seen the harpooner smile?"))
    job.join(120)
    exchange = workspace.library.exchange(exchange.id)
    now = state(workspace, books, exchange)
    sent = ask_state(now)
    record = sent["records"][exchange.id]
    assert record["from"] == "from the gists, with passages found by search"
    ((piece, chip),) = [(p, c) for p in record["pieces"] if p["text"] == words for c in p["cites"]]
    assert (piece["book"], chip["label"], chip["why"]) == (True, "Whale, The Pier", "Copied word for word.")
    ((found,),) = [book["found"] for book in sent["shelf"]["books"] if book["title"] == "Whale"]
    assert (found["place"], found["text"]) == ("The Pier", words)
    assert found["quoted"] == [[0, len(words) - 1]]  # is marked, and found again in the book
    assert found["spot"] == [9, 0, len(words) - 1]
    assert sent["views"][-1]["shelf"]["go"] == {"book": 3, "nonce": 0, "line": 0}
    assert exchange.facts.words == sum(workspace.library.document(book).words for book in books)
    assert f"of {exchange.facts.words:,} words" in record["cost"].replace("*", "")
    assert describe_context(answer_of(events_of(exchange))).endswith("the words of Whale.")
    told = json.dumps([record["looks"], record["notes"], record["pieces"], sent["shelf"]["books"]])
    assert not re.search(r"in book \d|book \d:|Opened nothing", told)


def test_a_question_waits_until_the_books_are_let_in(app):
    app()
    library = get_workspace().library
    books = add(get_workspace(), tale(1), tale(2))
    for book in books:
        library.set_limit(book, on=True, paragraph=0)
    at = app("pages/ask.py", books=",".join(books))
    assert at.button(key="ask_let_in").label == "Let them in"
    at.chat_input(key="ask_input").set_value("Who is Zorblax Quintilius?").run()
    assert (at.button(key="ask_let_in").label, library.conversations_about_several()) == ("Let them in and ask", [])
    at.button(key="ask_let_in").click().run()
    (exchange,) = library.exchanges(library.conversations_about_several()[0].id)
    get_workspace().jobs.get(f"ask {exchange.id}").join(120)
    assert exchange.question == "Who is Zorblax Quintilius?"
    assert [library.position(book).allowed for book in books] == [None, None]
    assert not at.exception


def test_books_without_gists_alone_are_searched(app):
    app("pages/ask.py")
    workspace = get_workspace()
    filler = Paragraph("The sea was grey and the wind was in the west. " * 9)
    told = {"Whale": "Nobody on the pier had ever seen the harpooner smile.", "Shark": "The baker was at home."}
    books = [
        workspace.library.add(Document(title, (*[filler] * 9, Paragraph(words)), sections=(Section("The Pier", 5),))).id
        for title, words in told.items()
    ]
    exchange, job = ask_books(workspace, books, Question("Who had seen the harpooner smile?"))
    job.join(120)
    record = ask_state(state(workspace, books, workspace.library.exchange(exchange.id)))["records"][exchange.id]
    assert record["from"] == "from passages found by search"
    assert record["notes"] == ["2 books without gists: only words were looked for there."]
    assert [(p["text"], c["label"]) for p in record["pieces"] for c in p["cites"]] == [
        (told["Whale"], "Whale, The Pier")
    ]


def test_what_a_model_named_in_vain_is_said_by_the_title():
    refused = LookedUp((), "OPEN [2]", "", ("book 2: it has no gists yet; only words can be found in it",), book=1)
    titles = {1: "Fog", 2: "Whale"}
    shown = ((1, "a", "Fog", "gists"), (2, "b", "Whale", "words"))
    events = [BooksShown(shown, 2), ModelCall("explore_shelf", "", "OPEN [2]"), refused]
    (look,) = look_ups(Exchange("e", "c", 0, "Who?"), events, titles=titles)
    assert look["title"] == "Opened no page"
    assert look["more"] == ["Did not open Whale: it has no gists yet; only words can be found in it"]
    known = LookedUp((), "OPEN [1]", "", ("book 1: it is open already; name its pages or ranges",), book=1)
    (look,) = look_ups(Exchange("e", "c", 0, "Who?"), [*events[:2], known], titles=titles)
    assert (look["title"], look["more"]) == ("Looked again at Fog", [])


def test_a_story_that_nobody_has_begun_is_kept_out_until_it_is_let_in(app):
    app()
    library = get_workspace().library
    books = {book.title.split(":")[0]: book.id for book in library.books()}
    story, minutes = books["The Keeper of Harrow Light"], books["Harrow Sound Parish Council"]
    at = app("pages/ask.py", books=f"{story},{minutes}")
    at.chat_input(key="ask_input").set_value("Who is Zorblax Quintilius?").run()
    (exchange,) = library.exchanges(library.conversations_about_several()[0].id)
    get_workspace().jobs.get(f"ask {exchange.id}").join(120)
    assert [book for book, _, _ in exchange.facts.books] == [minutes]
    at.run()
    (conversation,) = library.conversations_about_several()
    assert _about(get_workspace(), conversation) == "1 of 2 books"
    assert at.chat_input(key="ask_input").placeholder == "Ask 1 of 2 books"  # the other can still be let in
    (exchange,) = library.exchanges(conversation.id)
    library.set_limit(story, on=True, paragraph=0)
    record = ask_state(state(get_workspace(), [story, minutes], exchange))["records"][exchange.id]
    assert record["notFound"]["kept_out"].startswith("Not asked: The Keeper of Harrow Light")
    assert record["notFound"]["words"] == "“Zorblax” and “Quintilius” are nowhere in what you let in."
    assert "let-in" in record["acts"]
    library.set_limit(story, on=False)  # as the press in the memory does
    sent = ask_state(state(get_workspace(), [story, minutes], exchange))
    assert sent["shelf"]["others"].startswith("Not asked yet: The Keeper of Harrow Light")
    later = sent["records"][exchange.id]
    assert later["notes"] == [sent["shelf"]["others"]]  # where the answer is read
    assert later["notFound"] == record["notFound"]  # what the answer saw stays as it was
    assert "let-in" not in later["acts"]
    at.run()
    assert at.chat_input(key="ask_input").placeholder == "Ask these 2 books"
