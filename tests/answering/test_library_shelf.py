"""Books of the library asked together: spoiler limits, books that were not read, what is stored, what is made again."""

from __future__ import annotations

import sqlite3

import pytest

from readagent_core.answering.asking import ask as ask_books
from readagent_core.answering.base import Question
from readagent_core.answering.captions import captions_of_several
from readagent_core.answering.library_shelf import LibraryShelf, checked_answer_of_several
from readagent_core.answering.replay import answer_of, events_of, steps
from readagent_core.cancel import CancelToken
from readagent_core.companion.kept_answers import make_answer_mark
from readagent_core.document import Document, Paragraph
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.library import Library, schema
from readagent_core.library.marks import Spot
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer
from tests.recordings import NAMES, make_memory, recording

PAGES = 12


def tale(number, *, gist_words=60):
    """Page p of book n has 'secretNxP' in text and gist; nothing else names it."""
    return make_memory(
        [f"Here stands secret{number}x{p}. " + "More was said of it. " * 20 for p in range(1, PAGES + 1)],
        [f"Of secret{number}x{p}. " + "gist " * gist_words for p in range(1, PAGES + 1)],
        title=f"Tale {number}",
    )


def add(workspace, *memories, read=True):
    books = []
    for memory in memories:
        books.append(workspace.library.add(memory.document).id)
        if read:
            workspace.library.add_memory(books[-1], memory)
    return books


def asked(workspace, books, text="Who?", **how):
    exchange, job = ask_books(workspace, books, Question(text), **how)
    job.join(120)
    assert job.snapshot.failure is None, job.snapshot.failure
    return workspace.library.exchange(exchange.id)


def answers(prompt):
    return "told " * int(prompt.fields["least"]) if prompt.task == "gist" else "ANSWER: So it was [1.2] [2.1]."


def test_no_page_after_the_limit_of_any_book_reaches_the_server(open_workspace):
    """Every prompt is read at the server. The books that are not limited are open to their ends, read or not."""
    replies = iter(
        ['FIND "secret1x9", "secret2x9", "secret4x9"', "OPEN [1.9, 2.9, 2.3]", "OPEN [1, 1.1-12]", 'FIND "secret1x3"']
    )

    def reply(prompt):
        if "Reply in one of these three ways" in prompt:
            return next(replies, "ANSWER: It says so [2.9].")
        return "Something was told here of nothing much at all." * 3

    with FakeServer(reply) as server:
        workspace = open_workspace(server.url)
        first, second = add(workspace, tale(1, gist_words=300), tale(2, gist_words=300))
        (unread, limited) = add(workspace, tale(3), tale(4), read=False)
        workspace.library.set_limit(first, on=True, paragraph=4)
        workspace.library.set_limit(limited, on=True, paragraph=4)
        exchange = asked(workspace, [first, second, unread, limited], "What of secret1x9, secret3x9 and secret4x9?")
        prompts = "\n".join(request.text for request in server.requests)
    memory_shown = prompts.replace("What of secret1x9, secret3x9 and secret4x9?", "").replace('FIND "secret1x9"', "")
    for page in range(5, PAGES + 1):
        assert f"Here stands secret1x{page}." not in memory_shown
        assert f"Of secret1x{page}." not in memory_shown
        assert f"Here stands secret4x{page}." not in memory_shown
    assert "Here stands secret2x9." in memory_shown
    assert '(in book 3: "Here stands secret3x9.' in memory_shown  # found by its words, and said to be unread
    assert {book for book, gisting, _ in exchange.facts.books if not gisting} == {unread, limited}
    books = answer_of(events_of(exchange)).books
    assert [(b.number, b.up_to, b.how) for b in books if b.number < 4] == [
        (1, 4, "gists"),
        (2, None, "gists"),
        (3, None, "words"),
    ]
    assert max(books[0].seen) == 4
    assert any("2 books without gists" in e.get("text", "") for e in exchange.events if e["kind"] == "Noted")


def test_a_passage_of_an_unread_book_is_what_has_the_words_of_the_question(open_workspace):
    workspace = open_workspace()
    long = "It had rained since the morning, and nobody came. " * 8  # before what is asked about
    texts = (
        "Where was that then? What did they say there?",
        "Ezra kept the ledgers.",
        f"{long}Then Phoebe sold the mare.",
    )
    book = workspace.library.add(Document("Firm", tuple(map(Paragraph, texts)))).id
    shelf = LibraryShelf(workspace, [book], workspace.model.name)
    shelf.make_searchable(CancelToken())
    assert [found.line for found in shelf.passages("Where was Ezra then, and what did they say there?")] == [texts[1]]
    assert shelf.passages("Where was that then?") == []
    (sold,) = shelf.passages("Who sold the mare?")
    assert sold.line.endswith("Then Phoebe sold the mare.")
    assert len(sold.line) < len(long)


def test_of_a_person_the_passages_that_introduce_them_are_given(open_workspace):
    """Not the shortest paragraphs with the name, which rank first."""
    workspace = open_workspace()
    texts = (
        "That night Ezra Pike, the only son of the owner, walked home across the wet fields to the old mill.",
        *(f"Ezra Pike spoke {number} times." for number in range(5)),
    )
    book = workspace.library.add(Document("Firm", tuple(map(Paragraph, texts)))).id
    shelf = LibraryShelf(workspace, [book], workspace.model.name)
    shelf.make_searchable(CancelToken())
    assert shelf.passages("What did Ezra Pike say?")[0].line != texts[0]
    assert shelf.passages("Who is Ezra Pike?")[0].line == texts[0]


def test_a_book_that_shares_far_fewer_words_adds_no_sentence_to_an_answer(open_workspace):
    workspace = open_workspace()  # the built-in reader
    (read,) = add(workspace, recording(NAMES[0]).memory)
    told = "A girl came out of lawyer Royall's house, at the end of the one street of North Dormer."
    book = workspace.library.add(Document("Summer", (Paragraph(told), Paragraph("It was the afternoon.")))).id
    exchange = asked(workspace, [read, book], "Whose house did the girl come out of in North Dormer?")
    answer = answer_of(events_of(exchange))
    checked = checked_answer_of_several(workspace, answer.text, answer)
    assert "Royall's house" in answer.text
    assert {citation.book for citation in checked.citations} == {2}


def test_three_samples_answer_with_citations_of_at_least_two(open_workspace):
    workspace = open_workspace()  # the built-in reader
    books = add(workspace, *(recording(name).memory for name in NAMES))
    exchange = asked(workspace, books, "Who rang the fog bell?")
    answer = answer_of(events_of(exchange))
    checked = checked_answer_of_several(workspace, answer.text, answer)
    assert len({c.book for c in checked.citations if c.state != "not found"}) >= 2
    for citation in checked.citations:
        name = NAMES[citation.book - 1]
        assert citation.page in recording(name).memory.readable


def test_a_conversation_about_several_is_stored_and_survives_its_first_book(open_workspace):
    workspace = open_workspace(model=FakeModel(answers))
    books = add(workspace, tale(1), tale(2))
    exchange = asked(workspace, books, about="shelf Sea")
    library = workspace.library
    (conversation,) = library.conversations_about_several()
    assert (conversation.about, conversation.questions) == ("shelf Sea", 1)
    assert library.conversation_books(conversation.id) == books
    assert library.conversations(books[0]) == []  # those about this book alone
    assert [book for book, *_ in exchange.facts.books] == books
    assert exchange.gisting_id == 0
    follow_up = asked(workspace, books, "And then?", conversation_id=conversation.id)
    assert follow_up.conversation_id == conversation.id
    assert "standalone" in workspace.model.tasks()
    library.set_limit(books[0], on=True, paragraph=3)  # the first answer may hold what is kept out now
    workspace.model.prompts.clear()
    asked(workspace, books, "And he?", conversation_id=conversation.id)
    prompts = [p for p in workspace.model.prompts if p.task == "standalone"]
    assert prompts == []
    library.remove(books[0])
    library.delete_removed()
    assert library.conversation(conversation.id).book_id == books[1]
    library.remove(books[1])
    library.delete_removed()
    assert library.conversations_about_several() == []


def test_an_answer_is_kept_beside_the_words_it_quotes_whichever_book_they_are_in(open_workspace):
    answer = 'ANSWER: So it was [1.2]. There it stood [2.3].\n\nEvidence:\n[2.3] "Here stands secret2x3."'
    replies = iter(["OPEN [1.2, 2.3]", answer])
    workspace = open_workspace(model=FakeModel(lambda prompt: next(replies, answer)))
    books = add(workspace, tale(1, gist_words=10), tale(2, gist_words=10))
    mark = make_answer_mark(workspace, asked(workspace, books).id)
    assert (mark.book_id, mark.exact, mark.start) == (books[1], "Here stands secret2x3", Spot(2, 0))


def test_an_answer_that_rests_on_no_page_is_kept_in_the_first_book_with_gists_where_the_person_is(open_workspace):
    workspace = open_workspace(model=FakeModel(lambda prompt: "ANSWER: The books do not say."))
    books = add(workspace, tale(1, gist_words=10), tale(2, gist_words=10))
    workspace.library.set_position(books[0], 4)
    mark = make_answer_mark(workspace, asked(workspace, books).id)
    assert (mark.book_id, mark.exact, mark.start) == (books[0], "", Spot(4, 0))


def test_the_captions_of_a_replay_say_what_is_seen_of_the_books(open_workspace):
    replies = iter(["OPEN [2.3]", "ANSWER: So it was [2.3]."])
    workspace = open_workspace(model=FakeModel(lambda prompt: next(replies)))
    exchange = asked(workspace, add(workspace, tale(1, gist_words=10), tale(2, gist_words=10)))
    said = captions_of_several(steps(events_of(exchange)), exchange, {1: "Fog", 2: "Ice"})
    assert said[1].startswith("What is remembered of 2 books: 24 gists, ")
    assert said[2] == "Ice: went back to page 3."
    assert said[3].startswith("What the answer is made from: 23 gists, with 1 page open in place, ")


def test_the_gist_of_a_book_is_made_once_and_again_only_after_a_change(open_workspace):
    workspace = open_workspace(model=FakeModel(answers))
    books = add(workspace, *(tale(n, gist_words=400) for n in (1, 2, 3)))
    asked(workspace, books)
    made = workspace.model.tasks().count("gist")
    assert made >= 6
    workspace.model.prompts.clear()
    asked(workspace, books, "What?")
    assert workspace.model.tasks() == ["explore_shelf"]
    (gisting,) = workspace.library.gistings(books[1])
    changed = workspace.library.memory(gisting.id).gists[3]
    workspace.library.store(gisting.id).save_gist(4, type(changed)("Changed. " + changed.text))
    workspace.model.prompts.clear()
    asked(workspace, books, "Why?")
    assert 1 <= workspace.model.tasks().count("gist") <= 3  # the part with page 4 and what is above it


def test_books_that_cannot_be_asked(open_workspace):
    workspace = open_workspace(model=FakeModel(answers))
    with pytest.raises(SettingsError, match="At most 1,000"):
        ask_books(workspace, [f"b{n}" for n in range(1001)], Question("Who?"))
    with pytest.raises(NotInLibraryError):
        ask_books(workspace, ["gone"], Question("Who?"))
    (closed, open_) = add(workspace, tale(2), tale(3))
    workspace.library.set_limit(closed, on=True, paragraph=0)
    shelf = LibraryShelf(workspace, [closed, open_], "fake-model")
    assert [book.title for book in shelf.books] == ["Tale 3"]
    assert shelf.notes == ("1 book left out: the spoiler limit lets nothing in yet.",)


def test_shelves_and_tags_name_their_books(open_workspace):
    library = open_workspace().library
    books = add(open_workspace(), tale(1), tale(2))
    library.add_shelf("Sea", books)
    library.add_tag(books[:1], "fog")
    assert library.books_on_shelf("Sea") == books
    assert library.books_with_tag("fog") == books[:1]
    for missing in (lambda: library.books_on_shelf("No"), lambda: library.books_with_tag("no")):
        with pytest.raises(NotInLibraryError):
            missing()


def test_a_library_from_before_opens_with_its_conversations(own_home, monkeypatch):
    before = next(n for n, script in enumerate(schema.MIGRATIONS) if "asked_book" in script)
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:before])
        library = Library(own_home)
        book = library.add(tale(1).document)
        library.close()
    old = sqlite3.connect(own_home / "library.db")
    old.execute("INSERT INTO conversation VALUES ('talk', ?, 'Who?', 1.0, 2.0)", (book.id,))
    old.commit()
    old.close()
    library = Library(own_home)
    assert [(talk.id, talk.title, talk.about) for talk in library.conversations(book.id)] == [("talk", "Who?", "")]
    assert library.conversations_about_several() == []
    library.close()
