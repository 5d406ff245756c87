"""Nothing that the browser gets tells of pages ahead before a person asks for it: of a story at 0 and 30 %."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.message import Message

from pages.parts.ask import answer_view
from pages.parts.ask.one_state import opening_exchange
from pages.parts.ask.wording import prompts_hold
from pages.parts.compare.controls import known_questions
from pages.parts.read import ask_panel, veil
from pages.parts.read.passages import passage_data
from pages.parts.shared import component
from pages.parts.shared.cached import get_workspace
from readagent_core.answering import replay, suggesting
from readagent_core.answering.base import Answer, Answered, ModelCall
from readagent_core.answering.limits import last_page_named, page_allowed, prompts_beyond
from readagent_core.answering.rebuilding import rebuild_exchange
from readagent_core.document import Document, Paragraph, Section
from readagent_core.library.records import Exchange
from readagent_core.stories import is_story
from tests.app.test_protocol import Sent, sent  # noqa: F401
from tests.world_story import FILL, FIRST_NAMED, SECRETS, add_story, read_to

PARTS = 6  # words that are looked for together
RECORDED_FIRST = 2  # the page of the recorded question that Ask opens the story with, which gives nothing away


def strings(value: Any) -> Iterator[str]:
    """Every string in a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(key)
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def runs(text: str) -> set[str]:
    """Every run of ``PARTS`` words in a text."""
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[i : i + PARTS]) for i in range(len(words) - PARTS + 1)}


def story(app, share: float):
    """The bundled story, read this far: the workspace, the book and its text."""
    app()
    workspace = get_workspace()
    book = next(b for b in workspace.library.books() if b.title.startswith("The Keeper"))
    document = workspace.library.document(book.id)
    workspace.library.set_furthest(book.id, round(share * len(document.paragraphs)))
    return workspace, book, document


@pytest.fixture
def at_30_percent(app):
    return story(app, 0.3)


def told_of_later_pages(workspace, book, document) -> tuple[set[str], int]:
    """Runs of words that only gists of later pages and answers about them have; and the last page that was read."""
    gisting = workspace.library.gistings(book.id)[0]
    memory = workspace.library.memory(gisting.id)
    allowed = page_allowed(memory, document, workspace.library.position(book.id).on_screen)
    limit = max(allowed, RECORDED_FIRST)
    later = [gist.text for gist in memory.gists[limit:]] + [page.reason for page in memory.pages[limit:]]
    for conversation in workspace.library.conversations(book.id):
        for exchange in workspace.library.exchanges(conversation.id):
            events = replay.events_of(exchange)
            if last_page_named(events, otherwise=0) > limit:
                later += [exchange.question, replay.answer_text(events), *exchange.options]
    later += [
        q["question"] for q in known_questions(book, memory) if q not in known_questions(book, memory.up_to(limit))
    ]
    read = [*(gist.text for gist in memory.gists[:limit]), *(page.reason for page in memory.pages[:limit])]
    known = runs(document.text()).union(*map(runs, read))
    return set().union(*map(runs, later)) - known, limit


def drawn(message: Message) -> Iterator[str]:
    """Every string in an element as it is sent, tables too."""
    for _, value in message.ListFields():
        for one in value if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]:
            if isinstance(one, Message):
                yield from drawn(one)
            elif isinstance(one, str | bytes):
                yield one if isinstance(one, str) else one.decode("utf-8", "ignore")


def all_strings(at, messages) -> list[str]:
    elements = [
        e.proto for block in at._tree.children.values() for e in block if isinstance(getattr(e, "proto", 0), Message)
    ]
    return [*strings(messages), *(text for element in elements for text in drawn(element))]


def with_world(at, sent: Sent) -> None:  # noqa: F811
    for _ in range(50):
        at.run()
        if "reader_world notes" in sent:
            return
        time.sleep(0.05)
    raise AssertionError("the world was not sent")


def told(at, messages, secrets) -> list[str]:
    return sorted({run for text in all_strings(at, messages) for run in runs(text) & secrets})


@pytest.mark.parametrize("share", [0, 0.3])
@pytest.mark.parametrize("screen", ["read", "read with Ask", "ask", "library", "compare", "evaluate"])
def test_before_a_press_no_screen_tells_of_later_pages(app, sent: Sent, screen, share):  # noqa: F811
    workspace, book, document = story(app, share)
    secrets, limit = told_of_later_pages(workspace, book, document)
    assert 1 < limit < 15
    assert len(secrets) > 1000
    page, *beside = screen.split(" with ")

    def opened():
        sent.clear()
        at = app(f"pages/{page}.py", book=book.id)
        if beside:
            at.session_state[ask_panel.OPEN] = book.id
            at.run()
        assert not at.exception
        return told(at, dict(sent), secrets)

    assert opened() == []
    assert screen != "ask" or any("shown; the recording read" in text for text in strings(dict(sent)))  # more than this
    workspace.library.set_limit(book.id, on=False)  # what was hidden is what would be sent
    assert screen in ("library", "evaluate") or opened()


def test_no_recorded_question_stands_beside_a_text_that_was_not_begun(app, sent: Sent):  # noqa: F811
    workspace, book, _ = story(app, 0)
    opening, _ = opening_exchange(workspace.library.exchanges(workspace.library.conversations(book.id)[0].id))

    def is_shown():
        sent.clear()
        at = app("pages/read.py", book=book.id)
        at.session_state[ask_panel.OPEN] = book.id
        at.run()
        return any(opening.question in text for text in all_strings(at, dict(sent)))

    assert not is_shown()
    workspace.library.set_limit(book.id, on=False)
    assert is_shown()


def test_prompts_that_hold_later_pages_wait_for_a_press(app, at_30_percent, sent: Sent, monkeypatch):  # noqa: F811
    workspace, book, document = at_30_percent
    secrets, _ = told_of_later_pages(workspace, book, document)
    recorded = workspace.library.exchanges(workspace.library.conversations(book.id)[0].id)
    opening, _ = opening_exchange(recorded)
    events = rebuild_exchange(workspace.library, opening, workspace.library.memory(opening.gisting_id))
    shown = replay.steps(events)
    at_step = next(n for n, step in enumerate(shown) if step.calls)
    for step in (at_step, len(shown) - 1):
        monkeypatch.setattr(answer_view, "show_replay", lambda *a, at=step, **k: component.Act("prompt", at, "", ""))
        sent.clear()
        at = app("pages/ask.py", book=book.id)
        assert not at.exception
        assert told(at, dict(sent), secrets) == []
        said = [text.value for text in at.text if "all 25 pages" in text.value]
        assert said == ["What was sent holds the gists of all 25 pages, also of those that you have not read."]
        at.button(key="ask_show_beyond").click().run()
        assert told(at, dict(sent), secrets)
        captions = [caption.value for caption in at.caption if "words" in caption.value]
        assert not any("(0 new)" in said or "0.0 s" in said or "would be sent" in said for said in captions)
        assert "Rebuilt from the template and the gists" in " ".join(c.value for c in at.caption)
    workspace.library.set_limit(book.id, on=False)
    at = app("pages/ask.py", book=book.id)
    assert "ask_show_beyond" not in [button.key for button in at.button]
    assert told(at, {}, secrets)


def test_one_prompt_is_known_by_what_it_showed_and_of_several_the_limit_then(at_30_percent):
    workspace, book, _ = at_30_percent
    gisting = workspace.library.gistings(book.id)[0]
    memory = workspace.library.memory(gisting.id)
    exchange = Exchange("e", "c", gisting.id, "Who?", method="bm25")
    call, seen = ModelCall("answer", "prompt", "reply"), Answered(Answer("reply", "bm25", seen={2: "full", 7: "full"}))
    assert not prompts_beyond(exchange, [call, seen], memory, None)
    assert [prompts_beyond(exchange, [call, seen], memory, last) for last in (6, 7)] == [True, False]
    assert prompts_beyond(exchange, [call, call, seen], memory, 7)  # the first may have held any page
    within = replace(exchange, method="read-agent-p", up_to=8)
    assert [prompts_beyond(within, [call, call, seen], memory, last) for last in (7, 8)] == [True, False]
    assert "the gists of pages 1 to 8," in prompts_hold(within, 8, 25)
    assert "the text of all 25 pages" in prompts_hold(exchange, 25, 25)


@pytest.mark.parametrize("screen", ["read", "read with Ask", "ask", "library", "compare"])
def test_at_every_page_no_string_tells_what_a_later_page_tells(app, sent: Sent, screen):  # noqa: F811
    """Suggestions, titles, labels, tooltips, questions, the strips of a series: all but the book's own text."""
    app()
    library = get_workspace().library
    book = add_story(library.home, read=1)
    after = add_story(library.home, read=0, with_notes=False)
    library.put_in_order("The Ferry", [book, after])
    (gisting,) = library.gistings(book)
    made = [{"question": f"What, with {word}?", "answer": "silver", "page": n} for n, word in SECRETS.items()]
    library.artifacts(gisting.document_id).save("study", f"{gisting.id} 1-7 {get_workspace().model.name}", made)
    for n, word in SECRETS.items():
        suggesting.save_suggestions(library, gisting.id, [f"Who is {word}?"], up_to=n if n < len(SECRETS) else None)
    page, *beside = screen.split(" with ")
    for n in range(1, len(SECRETS)):
        read_to(library, book, n)
        for shown in (book, after):
            sent.clear()
            at = app(f"pages/{page}.py", book=shown)
            if beside:
                at.session_state[ask_panel.OPEN] = shown
                at.run()
            if page == "read":  # what is known comes once a job has loaded it
                at.session_state[f"away_{shown}"] = 9
                with_world(at, sent)
            assert not at.exception
            said = [text.lower() for text in all_strings(at, dict(sent)) if FILL.lower()[:60] not in text.lower()]
            early = {word for later, word in SECRETS.items() if later > n and any(word in text for text in said)}
            early |= {name for name, later in FIRST_NAMED.items() if later > n and any(name in text for text in said)}
            assert not early, (n, shown == book, early)
        if page in ("read", "ask"):
            sent.clear()
            assert any(
                SECRETS[n] in text.lower() for text in all_strings(app(f"pages/{page}.py", book=book), dict(sent))
            )


def test_a_gist_unrolls_as_its_page_is_finished_and_by_a_press_and_that_is_remembered(app, at_30_percent, sent: Sent):  # noqa: F811
    workspace, book, document = at_30_percent
    gisting = workspace.library.gistings(book.id)[0]
    memory = workspace.library.memory(gisting.id)

    def shown() -> set[int]:
        sent.clear()
        assert not app("pages/read.py", book=book.id).exception
        pages = [page for batch in json.loads(json.dumps(sent["memory_pages"])) for page in batch["pages"]]
        assert all(("gist" in page) != ("veiled" in page) for page in pages)
        return {page["number"] for page in pages if "gist" in page}

    limit = veil.veil_of(workspace, gisting, memory, document).page
    assert shown() == set(range(1, limit + 1))
    veil.act(workspace, gisting, "unveil", 20)
    assert shown() == {*range(1, limit + 1), 20}
    workspace.library.set_furthest(book.id, memory.page(limit + 2).end)
    assert shown() == {*range(1, limit + 3), 20}
    veil.act(workspace, gisting, "unveil_all", 0)
    assert shown() == set(range(1, len(memory.pages) + 1))
    veil.act(workspace, gisting, "veil", 0)
    assert shown() == set(range(1, limit + 3))


def test_the_first_gist_shows_what_a_gist_is_and_the_foot_says_so(app):
    app()
    workspace = get_workspace()
    book = workspace.library.book(add_story(workspace.home, read=0))
    document = workspace.library.document(book.id)
    gisting = workspace.library.gistings(book.id)[0]
    memory = workspace.library.memory(gisting.id)
    for pages, said in (((), "Page 1 is shown"), ((4,), "2 are shown")):
        for page in pages:
            veil.act(workspace, gisting, "unveil", page)
        known = veil.veil_of(workspace, gisting, memory, document)
        assert (known.page, known.shown) == (0, {1, *pages})
        line: dict[str, Any] = {"state": "recording", "rest": "", "more": "", "actions": []}
        veil.say(line, known, workspace, gisting, document)
        assert line["rest"] == f"{said}, more as you read."
    line = {"state": "running", "rest": "", "more": "", "actions": []}
    veil.say(line, known, workspace, replace(gisting, gists=0), document)
    assert line["rest"] == ""  # nothing is veiled before it is made
    assert line["actions"] == []


def test_where_words_stand_is_told_no_further_than_they_before_the_reading_begins(app):
    workspace, book, document = story(app, 0)
    places = [(i, p.text.index("Vane")) for i, p in enumerate(document.paragraphs) if "Vane" in p.text]
    at, start = places[2]
    asked = {"task": "define", "id": "v", "start": [at, start], "end": [at, start + 4], "at": 1}
    told = passage_data(workspace, book, document, asked)["places"]
    assert told
    assert max(place["paragraph"] for place in told) <= at < places[-1][0]


def test_words_on_the_screen_are_seen_whatever_the_limit(app):
    workspace, book, document = story(app, 0.1)
    limit = workspace.library.position(book.id).allowed or 0
    later = [(i, p.text.index("Vane")) for i, p in enumerate(document.paragraphs) if "Vane" in p.text and i > limit]
    (at, start), (below, _), (hidden, _) = later[5:8]
    asked = {"task": "define", "id": "v", "start": [at, start], "end": [at, start + 4], "at": 1}
    told = passage_data(workspace, book, document, asked)["places"]
    assert all(place["paragraph"] < limit for place in told)
    told = passage_data(workspace, book, document, asked | {"at": 2, "seen": [at, below]})["places"]
    assert below in {place["paragraph"] for place in told}
    assert all(place["paragraph"] < limit or at <= place["paragraph"] <= below < hidden for place in told)


def test_stories_are_told_from_papers_minutes_and_manuals(app):
    app()
    library = get_workspace().library
    kinds = {b.title[:10]: library.position(b.id).limited for b in library.books()}
    assert kinds == {"The Keeper": True, "雪の駅": True, "Harrow Sou": False}
    talk = [Paragraph("She looked up. “You are late,” she said. " + "The rain went on. " * 9) for _ in range(30)]
    assert is_story(Document("Tale", tuple(talk)))
    library = get_workspace().library
    begun = library.position(library.add(Document("Tale", tuple(talk))).id)
    assert (begun.limited, begun.by_default, begun.allowed) == (True, True, None)  # else nothing could be asked
    paper = tuple(Section(title, n * 5) for n, title in enumerate(["Abstract", "1 Method", "2 Results", "References"]))
    assert not is_story(Document("Paper", tuple(talk), sections=paper))
    manual = [Paragraph(f"{n}. Press the “Start,” key and wait until the lamp is green. " * 3) for n in range(60)]
    assert not is_story(Document("Manual", tuple(manual)))
    ruling = [
        Paragraph(f"“The offer was made in jest,” said the court in Hall v. Oates ({1950 + n}). " * 3)
        for n in range(30)
    ]
    assert not is_story(Document("Ruling", tuple(ruling)))


def test_poems_and_plays_begin_veiled_whatever_notes_or_speakers_they_have():
    stanza = "The lamp is low, the tide is long,\nAnd nobody has rung the bell;\nThe keeper counts the oil by song."
    notes = [Paragraph(f"{n}. The bell of the lightship, heard from the quay.") for n in range(30)]
    assert is_story(Document("Poem", (*[Paragraph(stanza)] * 30, *notes)))
    assert not is_story(Document("Notes", (*[Paragraph(stanza)] * 2, *notes * 3)))
    speech = tuple(
        Paragraph(f"KEEPER: I lit it at six, and it burned for {n} hours until the oil was gone.") for n in range(60)
    )
    acts = tuple(Section(title, n * 20) for n, title in enumerate(["ACT I", "ACT II. The quay", "ACT III"]))
    assert is_story(Document("Play", speech, sections=acts))
    assert not is_story(
        Document("Minutes", speech, sections=(Section("Lamps", 0), Section("Act on the minutes of March", 9)))
    )


def test_where_gists_stopped_the_foot_says_why_before_it_tells_of_the_veil(app, at_30_percent):
    workspace, book, document = at_30_percent
    gisting = workspace.library.gistings(book.id)[0]
    over = veil.veil_of(workspace, gisting, workspace.library.memory(gisting.id), document)
    stopped = [(state, "gone", "up to page") for state in ("failed", "paused", "running")]
    for state, first, then in (*stopped, ("ready", "up to page", "gone")):
        line = {"state": state, "rest": "The server is gone", "more": "Start it.", "actions": []}
        veil.say(line, over, workspace, gisting, document)
        assert first in line["rest"], line
        assert then in line["more"], line
