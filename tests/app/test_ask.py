"""The Ask screen as Streamlit runs it: what it says, and that every choice reaches the question."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from pages.parts.ask import live, payload
from pages.parts.ask.acts import handle, let_in_up_to
from pages.parts.ask.book_views import views
from pages.parts.ask.one_state import KEPT, AskOneBook, limit_of, page_before_here, scene
from pages.parts.ask.sidebar import FITS, USUAL
from pages.parts.ask.state import GONE
from pages.parts.ask.state import ask as ask_in
from pages.parts.shared import polling
from pages.parts.shared.cached import get_workspace
from pages.parts.shared.component import Act
from readagent_core.answering import suggesting
from readagent_core.answering.asking import ask
from readagent_core.answering.base import Question
from readagent_core.answering.library_shelf import LibraryShelf
from readagent_core.answering.registry import all_methods
from readagent_core.answering.replay import answer_of, events_of
from readagent_core.document import Document, Paragraph
from readagent_core.gisting.job import newest_memory, start_gisting
from readagent_core.library.records import Position
from readagent_core.plan import GistingPlan
from tests.app.test_protocol import sent  # noqa: F401
from tests.fakes.sensible import understood
from tests.fakes.server import Reply
from tests.methods.test_zoom import long_memory


def the_keeper(workspace):
    return next(b for b in workspace.library.books() if b.title.startswith("The Keeper"))


def newest(workspace, book):
    conversation = workspace.library.conversations(book.id)[0]
    return workspace.library.exchanges(conversation.id)[-1]


def put(at, text):
    """Ask ``text`` on the screen of the novella; its exchange when it has ended."""
    workspace = get_workspace()
    at.chat_input(key="ask_input").set_value(text).run()
    assert not at.exception
    exchange = newest(workspace, the_keeper(workspace))
    workspace.jobs.get(f"ask {exchange.id}").join(120)
    return workspace.library.exchange(exchange.id)


@pytest.fixture
def opened(app):
    """The screen on the novella with its recording, all of it open, the workspace, and the book."""
    app()
    get_workspace().library.set_limit(the_keeper(get_workspace()).id, on=False)
    at = app("pages/ask.py")
    assert not at.exception
    return at, get_workspace(), the_keeper(get_workspace())


def test_the_field_of_the_method_cuts_no_title_of_ours():
    assert [method.title for method in all_methods().values() if len(method.title) > FITS] == []


def test_an_answer_that_ends_while_it_is_drawn_is_looked_at_again(app, fake_server, monkeypatch):
    app()
    workspace, book = get_workspace(), the_keeper(get_workspace())
    workspace.library.set_limit(book.id, on=False)
    held, looks = threading.Event(), []
    fake_server.before = lambda number, text: held.wait(60) and None
    exchange, job = ask(workspace, book.id, Question("Who rows the boat?"))
    draw, look = payload.ask_state, polling.rerun_after

    def ends_then(now):
        drawn = draw(now)
        held.set()
        job.join(60)
        return drawn

    def look_again(seconds, *, key):
        looks.append((key, seconds))
        return look(seconds, key=key)

    monkeypatch.setattr(payload, "ask_state", ends_then)
    monkeypatch.setattr(polling, "rerun_after", look_again)
    at = app("pages/ask.py", book=book.id, exchange=exchange.id)
    assert not at.exception
    assert ("ask", live.POLL_SECONDS) in looks


def test_a_question_is_asked_as_chosen(opened):
    at, _, _ = opened
    assert at.sidebar.selectbox[0].label == "Book"
    assert at.chat_input[0].placeholder == "Ask about The Keeper of Harrow Light"
    assert {all_methods()[name].title for name in USUAL} == {*at.sidebar.selectbox(key="ask_method").options}
    at.sidebar.toggle(key="ask_every_method").set_value(True).run()
    at.sidebar.selectbox(key="ask_method").set_value("read-agent-s").run()
    at.segmented_control(key="ask_look_ups").set_value(1).run()
    at.text_area(key="ask_options_0").set_value("(A) to steal\n(B) to stop a ship").run()
    exchange = put(at, "Why did Ambrose Vane put out Harrow Light?")
    assert (exchange.method, exchange.settings["look_ups"]) == ("read-agent-s", 1)
    assert exchange.options == ("to steal", "to stop a ship")
    assert exchange.state == "done"
    assert at.query_params["exchange"] == exchange.id or at.query_params["exchange"] == [exchange.id]


def captions(at):
    return " ".join(c.value for c in [*at.sidebar.caption, *at.caption])


def test_only_what_was_read(app, opened):
    at, workspace, book = opened
    workspace.library.set_furthest(book.id, 40)
    at.sidebar.toggle[0].set_value(True).run()
    said = captions(at)
    exchange = put(at, "What happened?")
    assert 1 < exchange.up_to < 25
    assert f"Answers use pages 1 to {exchange.up_to}: what you have read." in said
    assert f"Answers see pages 1 to {exchange.up_to} only." in said
    again = app("pages/ask.py", book=book.id)
    assert again.sidebar.toggle[0].value is True  # it is remembered for the book
    workspace.library.set_limit(book.id, on=True, paragraph=20)
    again.run()
    assert "you set this limit." in captions(again)
    again.button(key="ask_follow").click().run()
    assert workspace.library.position(book.id).limit is None
    assert f"Answers use pages 1 to {exchange.up_to}: what you have read." in captions(again)


def test_where_nothing_is_let_in_a_question_is_kept_until_another_conversation_is_chosen(opened):
    at, workspace, book = opened
    before = len(workspace.library.conversations(book.id))
    at.sidebar.toggle[0].set_value(True).run()
    said = captions(at)
    assert "You have not finished a page yet. You choose with the question" in said
    assert "You have not finished a page yet, so answers use none." in said
    shown = "The recording's first answer still shows pages 1 and 2."
    assert shown in said
    now = scene(workspace, book)
    seen, _ = views(now, events_of(now.current), [None], "")
    assert seen["memory"]["limit"] == {"page": 0, "shown": 2, "read": 0, "last": 25}
    assert seen["memory"]["curtain"]["title"] == "Pages 3 to 25 are kept out."
    assert shown in seen["memory"]["curtain"]["text"]
    at.chat_input(key="ask_input").set_value("Who lit the lamp?").run()
    assert at.session_state[f"{KEPT} {book.id}"] == ("Who lit the lamp?", "", False)
    assert page_before_here(now) == 0
    now.position = replace(now.position, paragraph=now.shown_memory.pages[11].start)  # looking at page 12
    assert page_before_here(now) == 11
    at.button(key="ask_new").click().run()
    assert f"{KEPT} {book.id}" not in at.session_state
    assert len(workspace.library.conversations(book.id)) == before
    assert not at.exception


@pytest.mark.parametrize(("limit", "hidden"), [(None, False), (0, True), (40, True), (10_000, False)])
def test_an_answer_is_hidden_only_if_it_saw_later_pages(opened, limit, hidden):
    """The recorded answers saw the gist of every page; the limit at the last page hides none of them."""
    _, workspace, book = opened
    gisting, memory = newest_memory(workspace, book.id)
    exchange = workspace.library.exchanges(workspace.library.conversations(book.id)[0].id)[0]
    exchange = replace(
        exchange, facts=replace(exchange.facts, recorded="")
    )  # of a recording only the pages it names count
    position = Position(limited=limit is not None, limit=limit)
    now = AskOneBook(workspace=workspace, conversation_id=None, exchanges=[exchange], current=exchange, book=book,
                gisting=gisting, memory=memory, shown=gisting, shown_memory=memory, position=position)  # fmt: skip
    now.limit = now.shown_limit = limit_of(now, gisting, memory)
    places = {0: "your limit lets in no page yet", 40: f"your limit is page {now.limit}"}
    why = f"Hidden: this answer saw pages up to page 25, and {places.get(limit)}."
    why += " It is shown with “Only what I have read” off."
    assert now.why_hidden(exchange, events_of(exchange)) == ((why, limit > 0) if hidden else None)
    recorded = now.exchanges[0] = replace(exchange, facts=replace(exchange.facts, recorded="2026-11-21"))
    assert now.prompts_beyond(recorded, events_of(recorded)) == hidden  # though not all such answers are hidden
    asked_within = replace(exchange, up_to=2, events=(), state="running")
    assert now.why_hidden(asked_within, []) is None  # nothing has come of it yet


def test_an_exchange_opens_by_its_address_and_a_strange_address_does_no_harm(app, opened):
    """A recorded one, and one whose answer came while nobody had the screen open, as when a tab was closed."""
    _, workspace, book = opened
    conversation = workspace.library.conversations(book.id)[0]
    first = workspace.library.exchanges(conversation.id)[0]
    exchange, job = ask(workspace, book.id, Question("Who is Nora?"))
    job.join(120)
    known = [{"book": book.id, "exchange": found.id, "step": "1"} for found in (first, exchange)]
    for address in (*known, {"exchange": "gone"}, {"book": "gone"}, {"step": "99999"}, {"step": "x"}):
        assert not app("pages/ask.py", **address).exception, address


def test_a_book_is_asked_before_it_has_gists_and_then_again_beside_the_old_answer(app):
    app()
    workspace = get_workspace()
    paragraphs = tuple(
        Paragraph(f"The lamp of part {n} was lit by keeper{n}. " + "Words of a book. " * 40) for n in range(30)
    )
    book = workspace.library.add(Document("New", paragraphs))
    at = app("pages/ask.py", book=book.id)
    assert "With gists an answer remembers the whole book" in captions(at)
    assert "in the order of the book" in captions(at)
    assert "A few seconds\\, free" in captions(at)
    at.chat_input(key="ask_input").set_value("Who lit the lamp of part 17?").run()
    first = newest(workspace, book)
    workspace.jobs.get(f"ask {first.id}").join(120)
    assert first.method == "passages-dos"
    at.run().button(key="ask_make").click().run()
    workspace.jobs.get(f"read {workspace.library.gistings(book.id)[0].id}").join(120)
    now = scene(workspace, book)
    at.run().button(key="ask_whole_memory").click().run()
    second = newest(workspace, book)
    workspace.jobs.get(f"ask {second.id}").join(120)
    now = scene(workspace, book)
    (shown,) = payload.finished_records(now)  # the old answer is no longer by itself
    assert (shown["id"], shown["beside"]["record"]["id"]) == (second.id, first.id)
    assert (shown["beside"]["then"], shown["beside"]["now"]) == ("By search", "With gists")
    assert [name for name, _, _ in shown["beside"]["rows"]] == ["Method", "Opened", "Read", "Found in the book"]
    assert not at.exception


def test_a_limit_lets_in_the_same_text_when_the_gists_are_made(app):
    """The first page of the gists is longer than the page by rule that was let in."""
    app()
    workspace = get_workspace()
    book = workspace.library.add(Document("Long", tuple(Paragraph(f"Part {n}. " + "Words. " * 98) for n in range(40))))
    let_in_up_to(scene(workspace, book), 1)
    before = scene(workspace, book)
    plan = GistingPlan.from_preset("book", min_words=2_000, max_words=3_000)
    start_gisting(workspace, book.id, plan).join(120)
    gisting = workspace.library.gistings(book.id)[0]
    assert workspace.library.memory(gisting.id).page(1).words > before.memory.page(1).words
    at = app("pages/ask.py", book=book.id)
    now = scene(workspace, book)
    assert now.limit == 1
    assert now.memory.page_text(1) == before.memory.page_text(1)
    assert "goes past your limit" in captions(at)
    (shelf_book,) = LibraryShelf(workspace, [book.id], "").books
    assert (shelf_book.pages, shelf_book.text_words) == (0, before.memory.page(1).words)
    at.chat_input(key="ask_input").set_value("What is part 0?").run()
    asked = newest(workspace, book)
    assert (asked.gisting_id, asked.up_to) == (now.gisting.id, 1)
    assert not at.exception


def test_another_method_answers_beside_the_old_answer_and_a_third_loses_none(opened, monkeypatch):
    _, workspace, book = opened
    monkeypatch.setattr("streamlit.rerun", lambda *scope: None)
    ask_in(scene(workspace, book), "Who is Dunstan Reeve?")
    asked = [newest(workspace, book).id]
    for method in ("zoom", "gist-mem"):
        workspace.jobs.get(f"ask {asked[-1]}").join(120)
        handle(scene(workspace, book), Act("method", of=asked[-1], text=method))
        asked.append(newest(workspace, book).id)
    workspace.jobs.get(f"ask {asked[-1]}").join(120)
    first, shown = payload.finished_records(scene(workspace, book))
    beside = shown["beside"]
    assert [first["id"], beside["record"]["id"], shown["id"]] == asked
    assert (beside["then"], beside["now"]) == ("ReadAgent, zooming", "Gists only")
    assert [name for name, _, _ in beside["rows"]] == ["Opened", "Read", "Found in the book"]
    assert payload.left_out(scene(workspace, book)) == 0


def test_a_question_to_gists_made_since_the_last_one_is_the_one_that_is_shown(app):
    app()
    workspace = get_workspace()
    paragraphs = tuple(Paragraph(f"Keeper{n} lit lamp {n}. " + "Words of a book. " * 40) for n in range(30))
    book = workspace.library.add(Document("New", paragraphs))
    at = app("pages/ask.py", book=book.id)
    at.chat_input(key="ask_input").set_value("Who lit lamp 17?").run()
    first = newest(workspace, book)
    workspace.jobs.get(f"ask {first.id}").join(120)
    at.run().button(key="ask_make").click().run()
    workspace.jobs.get(f"read {workspace.library.gistings(book.id)[0].id}").join(120)
    at.run().chat_input(key="ask_input").set_value("Who lit lamp 3?").run()
    second = newest(workspace, book)
    assert (second.question, second.conversation_id) == ("Who lit lamp 3?", first.conversation_id)
    assert second.id in (at.query_params["exchange"], *at.query_params["exchange"])
    workspace.jobs.get(f"ask {second.id}").join(120)


def test_a_question_of_one_click_opens_no_page_and_a_follow_up_says_how_it_was_understood(app, fake_server):
    def said(number, text):
        prompt = understood(text)
        replies = {"standalone": "Why is the lighthouse dark?", "look_up": "I want to look up Page [] to ... nothing."}
        return Reply(replies.get(prompt.task if prompt else "", "It is about a lighthouse [1]."))

    fake_server.before = said
    app()
    workspace = get_workspace()
    book = the_keeper(workspace)
    workspace.library.set_limit(book.id, on=False)
    now = scene(workspace, book)
    now.conversation_id = None
    for text, whole in (("What is this about?", True), ("And why is it dark?", False)):
        ask_in(now, text, whole=whole)
        workspace.jobs.get(f"ask {now.just_asked.id}").join(120)
    first, second = payload.finished_records(scene(workspace, book))
    for drawn in (first, second):
        assert (drawn["from"], drawn["before"]) == ("from the gists alone", "")
        assert "no page looked up" in drawn["cost"]
    assert (first["looks"], len(second["looks"])) == ([], 1)  # the model was not even asked what to open
    assert (first["understood"], second["understood"]) == ("", "Why is the lighthouse dark?")


def test_a_conversation_is_renamed_deleted_and_had_back(opened):
    at, workspace, book = opened
    at.sidebar.text_input[0].set_value("The night *it* went out")
    next(b for b in at.sidebar.button if b.label == "Rename").click()
    at.run()
    assert workspace.library.conversations(book.id)[0].title == "The night *it* went out"
    before = workspace.library.conversations(book.id)
    at.sidebar.button(key="ask_delete").click().run()
    assert workspace.library.conversations(book.id) == []
    at.sidebar.button(key="ask_undo").click().run()
    assert workspace.library.conversations(book.id) == before
    assert "ask_undo" not in [button.key for button in at.sidebar.button]
    assert not at.exception


def test_a_late_run_with_the_old_address_does_not_undo_a_new_conversation(opened):
    at, workspace, book = opened
    asked = put(at, "Who is Tilda?").id
    at.query_params["exchange"] = asked
    at.run()
    assert len(workspace.library.conversations(book.id)) == 2  # the recording's, and one that this question began
    at.sidebar.button(key="ask_new").click().run()
    at.query_params["exchange"] = asked  # a poll for the answer, sent before the click
    at.run()
    exchange = put(at, "Who is Nora?")
    found = workspace.library.conversations(book.id)
    assert (len(found), found[0].title) == (3, "Who is Nora?")  # it is named after its first question
    assert [e.id for e in workspace.library.exchanges(exchange.conversation_id)] == [exchange.id]


def test_zoom_is_offered_for_a_long_book_and_chosen_by_a_click(app, fake_server):
    app()
    library, memory = get_workspace().library, long_memory(300)
    book = library.add(memory.document)
    library.add_memory(book.id, memory)
    at = app("pages/ask.py", book=book.id)
    assert at.sidebar.selectbox(key="ask_method").value == "recall"  # of a long book
    at.sidebar.selectbox(key="ask_method").select("read-agent-p").run()
    assert "Zooming into what it needs sends about 12,000 words" in captions(at)
    at.sidebar.button(key="ask_zoom").click().run()
    assert at.sidebar.selectbox(key="ask_method").value == "zoom"
    assert "Showing every gist would send about 62,000 words" in captions(at)
    assert library.preference("ask method", "") == "zoom"
    assert not at.exception
    assert "ask_zoom" not in {button.key for button in app("pages/ask.py", book=the_keeper(get_workspace()).id).button}


def test_questions_are_suggested_only_when_asked_for(app, fake_server):
    """A call of a connected model costs something: it is made on a click, once, and kept."""
    app()
    get_workspace().library.set_limit(the_keeper(get_workspace()).id, on=False)
    at = app("pages/ask.py")
    assert not fake_server.chats
    fake_server.before = lambda number, text: Reply("Who put out the light?\nWhy did Tilda wait?")
    workspace = get_workspace()
    gisting = newest_memory(workspace, the_keeper(workspace).id)[0]
    at.button(key="ask_suggest").click().run()
    suggesting.suggesting_job(workspace, gisting.id, up_to=None).join(120)
    at.run()
    assert not at.exception
    assert len(fake_server.chats) == 1
    assert suggesting.saved_suggestions(workspace, gisting.id, up_to=None) == [
        "Who put out the light?",
        "Why did Tilda wait?",
    ]
    assert "ask_suggest" not in {button.key for button in at.button}


def test_what_if_other_pages_are_open_is_answered_beside_the_old_answer(opened):
    _, workspace, book = opened
    now = scene(workspace, book)
    before = now.current
    ask_in(now, before.question, like=before, beside=True, pages="4,5")
    exchange = newest(workspace, book)
    workspace.jobs.get(f"ask {exchange.id}").join(120)
    exchange = workspace.library.exchange(exchange.id)
    assert answer_of(events_of(exchange)).looked_up == (4, 5)
    assert [e["task"] for e in exchange.events if e["kind"] == "Asked"] == ["choose"]  # no look-up was asked for
    shown = payload.finished_records(scene(workspace, book))[-1]
    assert (shown["beside"]["then"], shown["beside"]["now"]) == ("As it was", "What if")
    readers, chosen, opened_pages = shown["beside"]["rows"][:3]
    picked = [
        next(option for option in side["options"] if option["chosen"]) for side in (shown["beside"]["record"], shown)
    ]
    assert chosen == ["Chosen", *(f"{option['letter']}: {option['text']}" for option in picked)]
    assert opened_pages == ["Opened", "page 2", "pages 4 and 5"]
    assert (
        readers == ["Answered by", *shown["beside"]["by"]] == ["Answered by", "large language model", "built-in reader"]
    )
    assert shown["beside"]["note"]
    assert shown["looks"][-1]["said"] == "You opened pages 4 and 5 and closed page 2."
    ask_in(scene(workspace, book), before.question, like=exchange, beside=True, pages="4,5,6")
    exchange = newest(workspace, book)
    workspace.jobs.get(f"ask {exchange.id}").join(120)
    shown = payload.finished_records(scene(workspace, book))[-1]
    assert shown["looks"][-1]["said"] == "You opened page 6; pages 4 and 5 were open before."
    assert (shown["beside"]["by"], shown["beside"]["note"]) == (["", ""], "")  # the same reader


def test_a_link_to_an_answer_that_is_gone_says_so_and_shows_no_other(app, opened, sent):  # noqa: F811
    _, workspace, book = opened
    books = ",".join(other.id for other in workspace.library.books()[:2])
    for address in ({"book": book.id}, {}, {"books": books}):
        sent.clear()
        at = app("pages/ask.py", exchange="gone", **address)
        assert not at.exception
        assert [data["title"] for data in sent["answer_view conversation"]] == [GONE]
        assert [data["records"] for data in sent["answer_view conversation"]] == [[]]


def test_a_method_that_searches_the_text_speaks_of_no_gists(opened):
    _, workspace, book = opened
    exchange, job = ask(workspace, book.id, Question("Who was the keeper before Vane?"), method="bm25")
    job.join(120)
    exchange = workspace.library.exchange(exchange.id)
    now = scene(workspace, book)
    assert now.current.id == exchange.id
    state = payload.ask_state(now)
    record = state["records"][exchange.id]
    assert record["looks"][0]["title"].startswith("Found by search: pages ")
    assert record["looks"][0]["said"].startswith("The pages share with the question: “")
    last = state["views"][-1]["memory"]
    assert last["unsent"]
    assert last["note"].endswith("The gists, in grey, were not sent")
    assert all("gists, with" not in said for said, *_ in state["captions"])


def test_a_short_view_of_the_gists_is_told_from_gists_that_were_sent(opened):
    _, workspace, book = opened
    for method, short in (("recall", True), ("read-agent-p", False)):
        ask(workspace, book.id, Question("Who was the keeper before Vane?"), method=method)[1].join(120)
        last = payload.ask_state(scene(workspace, book))["views"][-1]["memory"]
        assert (last["unsent"], last["note"].startswith("A short view of 25 gists, ")) == (short, short)
