"""What the conversation is drawn of an exchange: words, states and places, without a browser."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from pages.parts.ask.beside import opened_pages
from pages.parts.ask.book_views import note_without_gists
from pages.parts.ask.payload import waiting_for
from pages.parts.ask.pieces import around, citations_summary, sentence_pieces, shown_sentence
from pages.parts.ask.record import (
    exchange_record,
    hide,
    page_names,
    record_at_step,
    sources_of_book,
)
from pages.parts.ask.wording import describe_context, look_ups, method_in_words, says_not_in_text, status_line
from pages.parts.shared.answer import chip_of, format_time, pending_pieces, pieces_of
from readagent_core.answering import look_up_text, replay
from readagent_core.answering.base import (
    FIRST_ANSWER,
    FOUND_BY_SEARCH,
    Answer,
    Answered,
    AnswerPart,
    BooksShown,
    Expanded,
    LookedUp,
    ModelCall,
    NoteCode,
    Noted,
)
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.preparing import job_key
from readagent_core.answering.signature import BUILT_IN_PART
from readagent_core.citations import Citation, check
from readagent_core.document import Document, Paragraph, Section
from readagent_core.export.citation_labels import page_passages, short_place
from readagent_core.gisting import cut_rest_by_rule
from readagent_core.gisting.job import default_plan
from readagent_core.library.records import Exchange, ExchangeFacts
from readagent_core.memory import GistMemory, Passage
from readagent_core.models.builtin import reader as builtin
from readagent_core.usage import Usage
from tests.recordings import recording

KEEPER = recording("the-keeper-of-harrow-light")
SEEN = {n: "full" if n == 14 else "gist" for n in KEEPER.memory.readable}
TEXT = next(ask["answer"] for ask in KEEPER.asks if ask["id"] == "hl-16")
ANSWER = Answer(TEXT, "read-agent-p", looked_up=(14,), seen=SEEN, memory_words=2198, steps=1)
EVENTS = [
    ModelCall("look_up", "prompt", "I want to look up Page [14] to see.", Usage(calls=1, words_in=1900, words_out=9)),
    LookedUp((14,), "I want to look up Page [14] to see.", "see", ("page 99: there is no such page",)),
    Expanded((14,), 2198),
    AnswerPart(TEXT),
    ModelCall("answer", "prompt", TEXT, Usage(calls=1, words_in=2300, words_out=120)),
    Answered(ANSWER),
]


def record(events=EVENTS, *, state="done", text=TEXT, model=builtin.NAME, **changes):
    kept = tuple(event_to_dict(e) for e in events)
    exchange = replace(
        Exchange("x1", "c1", 1, "Why?", events=kept, asked=time.time(), facts=ExchangeFacts(seconds=3.2, words=10309)),
        **changes,
    )
    answer = replay.answer_of(events)
    checked = replay.checked_answer(text, answer, KEEPER.memory) if answer else None
    sources = sources_of_book(exchange, events, checked, KEEPER.memory)
    methods = [("gist-mem", "Gists")]
    return exchange_record(exchange, events, sources=sources, state=state, text=text, methods=methods, model=model)


def test_a_sentence_of_a_text_without_numbers_of_pages_leads_to_its_page():
    first, second = "I ought to say that I had never met Ambrose Vane.", "He had stuck it to the page with sealing wax."
    text = f'Light. {first} {second}\n\nEvidence:\n"{first}"\n"{second}"'
    seen = dict.fromkeys(KEEPER.memory.readable, "full")
    checked = check(text, KEEPER.memory, full=seen)
    pieces = sentence_pieces(checked, replace(ANSWER, text=text, seen=seen), "Who was Vane?")
    assert [(piece["text"], [cite["page"] for cite in piece["cites"]]) for piece in pieces] == [
        ("Light.", []),
        (first, [2]),
        (second, [2]),
    ]
    assert [checked.citations[piece["cites"][0]["at"]].quotation for piece in pieces[1:]] == [first, second]


def test_what_was_sent_is_said_where_it_was_not_the_gists():
    found = replace(ANSWER, method="bm25", seen={14: "full", 15: "full"}, memory_words=742)
    assert note_without_gists(found) == "Sent: 2 pages in full, 742 words. The gists, in grey, were not sent"
    assert note_without_gists(found, gists=False) == "Sent: 2 pages in full, 742 words"
    summary = replace(ANSWER, method="recurrence", seen=dict.fromkeys(SEEN, "gist"), memory_words=374)
    assert note_without_gists(summary).startswith("Sent: 374 words")
    assert note_without_gists(ANSWER) == ""
    whole = replace(ANSWER, method="full-text", looked_up=(), seen=dict.fromkeys(range(1, 26), "full"))
    assert opened_pages(whole, gisted=True) == "25 pages"


def test_a_page_that_was_not_opened_is_named_with_its_book():
    exchange = Exchange("x1", "c1", 0, "Why?")
    events = [LookedUp((), "OPEN [2.7]", "see", ("page 2.7: no more pages can be opened in full",), book=2)]
    events.insert(0, BooksShown(((1, "a", "Ice", "gists"), (2, "b", "Fog", "gists")), 2))
    (look,) = look_ups(exchange, events, titles={1: "Ice", 2: "Fog"})
    assert look["more"] == ["Did not open page 7 of Fog: no more pages can be opened in full"]


def test_a_finished_answer():
    drawn = record()
    assert drawn["cost"] == "Read 2,198 of 10,309 words – 78.7 % fewer; 1 page looked up; 3.2 s"
    assert drawn["looks"] == [
        {
            "title": "Went back to page 14",
            "said": "“see”",
            "more": ["Did not open page 99: there is no such page"],
        }
    ]
    assert {c["label"] for piece in drawn["pieces"] for c in piece["cites"]} == {
        "from page 14",
        "page 14, not quoted",
    }
    assert drawn["legend"] == "1 claim quoted from the book, 2 without a quotation."
    assert "Evidence" not in "".join(piece["text"] for piece in drawn["pieces"])
    assert drawn["details"][1].startswith("Sent 4,200 words in 2 calls")
    assert record(facts=ExchangeFacts(model=builtin.NAME))["details"] == [
        "Method: ReadAgent, all at once."
    ]  # nothing was sent
    assert drawn["acts"] == ["again", "method", "copy", "replay"]


def test_the_pieces_of_an_answer_and_the_places_it_quotes():
    drawn = pieces_of(replay.checked_answer("He rowed [14]. Then he slept [15], and woke.", ANSWER, KEEPER.memory))
    assert [piece["text"] for piece in drawn] == ["He rowed.", " Then he slept,", " and woke."]
    assert [[c["page"] for c in piece["cites"]] for piece in drawn] == [[14], [15], []]
    ((start, end),) = page_passages(replay.checked_answer(TEXT, ANSWER, KEEPER.memory), KEEPER.memory)[14]
    assert KEEPER.memory.page_text(14)[start:end].startswith("if they count it right")
    pieces = pending_pieces("He rowed [14]. Then [1")  # while it is written, marks are not judged
    assert [c["state"] for piece in pieces for c in piece["cites"]] == ["pending"]
    assert pieces[-1]["text"] == ". Then"


def test_an_answer_says_what_it_is_from():
    assert method_in_words("recall") == "from the gists, with passages found by search"
    assert method_in_words("recall", gists=False) == "from passages found by search"  # of a book that has none
    assert method_in_words("full-text", gists=False) == method_in_words("full-text")


def test_what_is_being_done_and_what_was_looked_up():
    assert status_line([], "", seconds=1.0) == "Going through the gists, 1.0 s"
    assert status_line(EVENTS[:3], "", seconds=1.0) == "Reading the pages again, 1.0 s"
    assert status_line(EVENTS[:3], "He", seconds=1.0) == "Writing, 1.0 s"
    assert status_line(EVENTS[:1], "", seconds=1.0, gists=False) == "Reading the text, 1 call done, 1.0 s"
    assert status_line([], "", seconds=1.0, waiting="Waiting 12 s: it is busy") == "Waiting 12 s: it is busy"
    titles = [record([LookedUp(pages, "STOP")])["looks"][0]["title"] for pages in ((), (3,), (3, 9, 4))]
    assert titles == ["Went back to no page", "Went back to page 3", "Went back to pages 3, 9 and 4"]


def test_an_answer_from_the_gists_alone_stands_above_the_look_up_and_in_the_replay():
    first = ModelCall(FIRST_ANSWER, "…", "She lives at the inn.")
    found = LookedUp((), "", FOUND_BY_SEARCH, passages=(Passage(14, 0, 2),))
    assert status_line([first], "", seconds=1.0) == "Answering from the gists first, 1.0 s"
    assert status_line([first, found], "", seconds=1.0) == "Reading the pages again, 1.0 s"
    looks = record([first, found])["looks"]
    assert [(look["title"], look["said"]) for look in looks] == [
        (look_up_text.FROM_GISTS, "“She lives at the inn.”"),
        ("Found by search: passages of page 14", ""),
    ]
    said = [step.said for step in replay.steps([first, found]) if step.kind == replay.GISTS]
    assert said == [looks[0]["said"].strip("“”")]


def test_who_waits_for_the_model_to_read_the_gists_is_told_so(workspace):
    go_on = threading.Event()
    question = workspace.jobs.start("ask", lambda job: (job.waiting(60, "One call at a time"), go_on.wait(20)))
    reading = workspace.jobs.start(job_key("b"), lambda job: (job.waiting(60, "9 of 90 tokens"), go_on.wait(20)))
    try:
        for job in (question, reading):
            while not job.snapshot.waiting:
                job.wait_for_news(job.snapshot, 1)
        now = time.time() + 120
        assert waiting_for(workspace, ("b",), question, now) == (
            "The model reads the gists first, once for this book. 9 of 90 tokens"
        )
        assert waiting_for(workspace, ("c",), question, now) == "One call at a time"
    finally:
        go_on.set()


@pytest.mark.parametrize("state", ["cut off", "cancelled", "failed", "interrupted"])
def test_every_end_is_drawn_and_keeps_what_had_come(state):
    drawn = record(EVENTS[:4], state=state, error="It cannot be reached." if state == "failed" else "")
    assert drawn["trouble"]["text"]
    assert drawn["pieces"]
    assert state != "failed" or drawn["trouble"] == {"kind": "alert", "text": "It cannot be reached."}


def test_a_page_without_a_gist_is_named_by_its_place():
    paragraphs = tuple(Paragraph("Words of a book. " * 20) for _ in range(4))
    sections = tuple(Section(title, start) for start, title in enumerate(("I", "12.", "Fog"), start=1))
    plan = replace(default_plan(200), max_words=60, min_words=20)
    memory = cut_rest_by_rule(GistMemory(Document("Book", paragraphs, sections), plan, (), ()))
    assert list(dict.fromkeys(page_names(memory).values())) == ["the beginning", "chapter I", "chapter 12.", "Fog"]


def test_a_chip_names_a_long_place_in_short_and_says_all_of_it_when_pointed_at():
    heading = "CHAPTER XLI. THE CLOUDS GROW DARKER."
    chip = chip_of(Citation(15, state="page", why="…"), 0, names={15: heading})
    assert (chip["label"], chip["why"].startswith(heading)) == ("from chapter XLI", True)
    assert short_place("Chapter I’ve never told") == "Chapter I’ve never told"
    assert short_place("In which the clouds grow darker still") == "In which the clouds grow …"


def test_an_answer_that_broke_off_says_why_once():
    drawn = record([*EVENTS[:4], Noted("No room.", NoteCode.BROKE_OFF)], state="cut off")
    assert drawn["trouble"]["text"] == "The answer broke off here. No room."
    assert drawn["notes"] == []
    stored_before = record(EVENTS[:4], state="cut off")
    assert stored_before["trouble"]["text"] == "The answer broke off here. No cause was kept with it."


def test_what_was_stopped_or_needs_another_key_says_so():
    assert record([], state="cancelled", text="")["trouble"]["text"] == "Stopped before anything was written."
    refused = record([], state="failed", text="", error="It was refused.", remedy="settings")
    assert "settings" in refused["acts"]
    assert "settings" not in record([], state="failed", text="", error="It cannot be reached, say Settings.")["acts"]


def test_notes_are_drawn_once_and_the_limit_is_said():
    events = [
        Noted("Answered from the 14 pages read so far.", NoteCode.READ_SO_FAR),
        Noted("Cut to fit."),
        Noted("Cut to fit."),
        *EVENTS,
    ]
    drawn = record(events, up_to=15)
    assert drawn["before"] == "Answered from the 14 pages read so far. Pages 1 to 15 only."
    assert drawn["notes"] == ["Cut to fit."]
    ending = record(events, up_to=15, question="How does it end?")
    assert ending["before"].endswith("Pages 1 to 15 only. The end of the book is kept back.")
    by_rule = {"facts": ExchangeFacts(model=builtin.NAME), "up_to": 15}
    opened = record([LookedUp((15,), "Page [15]", "…"), *EVENTS[2:]], question="How does it end?", **by_rule)
    assert "share your words" not in opened["signature"]["line"]
    assert opened["looks"][0]["said"] == "It is the last page that may be seen."
    nowhere = record([LookedUp((), "", "…"), *EVENTS[2:]], question="What is it about?", **by_rule)
    assert nowhere["looks"][0]["said"] == ""  # nothing was looked up by words
    from_gists = replace(ANSWER, text="He rowed [14].", looked_up=(), seen=dict.fromkeys(SEEN, "gist"))
    alone = record([LookedUp((), "", "…"), Answered(from_gists)], question="What is it about?", **by_rule)
    assert (alone["from"], alone["looks"]) == ("from the gists alone", [])
    some = replace(from_gists, seen={**from_gists.seen, 2: "passage"})  # found by words, and read in part
    assert "pages read again" in record([Answered(some)], text=some.text)["from"]
    shortened = replace(from_gists, method="recurrence")  # from its own summary, not from the gists
    assert "gists" not in record([Answered(shortened)], text=from_gists.text, method="recurrence")["from"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The text does not say.", True),
        ("No answer was found.", True),
        ("The book never mentions his age [3].", True),
        ("書かれていません。トミは膝に三毛猫をのせています [3]。", True),
        ("His age is not stated in these pages.", True),
        ("He did not say a word to Nora [3].", False),
        ("Vane put it out [15].", False),
    ],
)
def test_an_answer_that_it_is_not_there(text, expected):
    assert says_not_in_text(replace(ANSWER, text=text)) is expected


def test_what_it_looked_at_and_what_not_to_rely_on():
    assert describe_context(ANSWER) == "Looked at: page 14 in full and the gists of 24 pages."
    assert describe_context(replace(ANSWER, seen={1: "gist"})) == "Looked at: the gists of 1 page."
    summary = replace(ANSWER, method="recurrence", seen={1: "gist"}, memory_words=374)
    assert describe_context(summary) == "Looked at: 374 words that the method made of the text."
    drawn = record([Answered(replace(ANSWER, text="The text does not say."))], text="The text does not say.", up_to=15)
    assert drawn["notFound"] == {
        "title": "Not found in what it saw.",
        "looked": "Looked at: page 14 in full and the gists of 24 pages.",
        "kept_out": "Pages 16 to 25 were kept out by your limit.",
        "let_in": "Let in the whole book and ask again",
        "words": "A search of the text itself found nothing nearer.",
        "whole": "Read pages 1 to 15 in full",
        "pieces": [],
    }
    seen = replace(ANSWER, text="The text does not say.", seen=dict.fromkeys(range(1, 16), "full"))
    limited = record([Answered(seen)], text=seen.text, up_to=15)["notFound"]
    assert limited["title"] == "Not found in pages 1 to 15."
    assert record([Answered(seen)], text=seen.text)["notFound"]["title"] == "Not found in what it saw."
    # the built-in reader goes by words, and the text has none of them: nothing that it is asked can find more
    assert not {"more", "whole"} & set(drawn["acts"])
    assert "let-in" in drawn["acts"]
    for text, legend in (
        (
            "So [14]. And [3]. And [99].",  # page 14 was read
            "1 claim from gists only, 1 without a quotation, 1 found nowhere: do not rely on that one.",
        ),
        ("So.", "The answer names no pages, so nothing in it could be checked."),
    ):
        assert citations_summary(replay.checked_answer(text, ANSWER, KEEPER.memory), ANSWER) == legend


def test_where_nothing_is_found_the_text_itself_was_searched_as_far_as_the_limit():
    said = "The text does not say."
    question = "Had the emperor stuck a farthing to the page with sealing wax?"
    drawn = record([Answered(replace(ANSWER, text=said))], text=said, question=question)["notFound"]
    assert drawn["words"] == "“emperor” is nowhere in the book. Nearest in the text itself:"
    (first, *_) = drawn["pieces"]
    assert first["text"] == "He had stuck it to the page with sealing wax."
    (cite,) = first["cites"]
    assert (cite["page"], cite["label"]) == (2, "page 2")
    ((paragraph, start, end),) = cite["spots"]
    assert KEEPER.memory.document.paragraphs[paragraph].text[start:end] == first["text"]
    kept_out = record([Answered(replace(ANSWER, text=said))], text=said, question=question, up_to=1)["notFound"]
    assert "wax" not in "".join(piece["text"] for piece in kept_out["pieces"])
    assert "“wax”" in kept_out["words"]
    assert "nowhere in page 1." in kept_out["words"]


def test_an_earlier_step_shows_only_what_was_known_then_and_a_hidden_answer_nothing():
    drawn = record()
    steps = replay.steps(EVENTS)
    assert [s.title for s in steps] == ["Question", "Gists", "Look-up", "Memory as sent", "Answer"]
    assert record_at_step(drawn, steps[0], 0)["looks"] == []
    at_look_up = record_at_step(drawn, steps[2], 1)
    assert (len(at_look_up["looks"]), at_look_up["pieces"], at_look_up["cost"]) == (1, [], "")
    assert record_at_step(drawn, steps[4], 1) == drawn
    hidden = hide(drawn, "Hidden.", may_ask=True)
    assert (hidden["pieces"], hidden["looks"], hidden["cost"], hidden["legend"]) == ([], [], "", "")
    assert (hidden["hidden"], hidden["acts"]) == ("Hidden.", ["within"])


@pytest.mark.parametrize(
    ("state", "events", "extra", "line"),
    [
        ("done", EVENTS, {"model": "gpt-5-mini", "where": "https://api.openai.com/v1"}, "gpt-5-mini at api.openai.com"),
        ("running", [], {"model": "gpt-5-mini"}, "gpt-5-mini is going through the gists"),
        ("running", EVENTS[:3], {"model": "gpt-5-mini"}, "gpt-5-mini is looking up page 14"),
        ("failed", [], {"model": builtin.NAME}, BUILT_IN_PART),
    ],
)
def test_every_answer_is_signed(state, events, extra, line):
    assert record(events, state=state, text="", facts=ExchangeFacts.from_dict(extra))["signature"]["line"] == line


def test_who_would_answer_again_is_named():
    assert record(facts=ExchangeFacts(model=builtin.NAME))["again"] == "Ask again"
    of_a_file = ExchangeFacts(model="/models/small.gguf")
    assert record(facts=of_a_file, model="/models/small.gguf")["again"] == "Ask again"
    assert record(facts=ExchangeFacts(model="gpt-5-mini"))["again"] == "Ask the built-in reader"
    recorded = {"model": "a large model", "recorded": "2026-11-21"}
    assert record(facts=ExchangeFacts.from_dict(recorded), model="a large model")["again"] == "Ask a large model"


def test_times_for_people():
    now = time.mktime((2026, 11, 21, 14, 0, 0, 0, 0, -1))
    moments = (now - 3600, now - 86400, now - 20 * 86400, 0)
    assert [format_time(moment, now=now) for moment in moments] == ["13:00", "yesterday", "1 November", ""]


def test_of_a_sentence_like_a_page_the_part_round_the_words_is_shown():
    filler = "and then there was a great deal more of it than anybody had thought, " * 6
    text = f"It began {filler}until the keeper lit the lamp, {filler}and so it ended."
    shown = shown_sentence(text, "Did the keeper light a lamp?", {"page": 3}, book=True)
    assert 20 < len(shown["text"].split()) < 60
    assert shown["text"].startswith("… ")
    assert shown["text"].endswith(" …")
    assert "the keeper lit the lamp" in shown["text"]
    assert {shown["text"][start:end] for start, end in shown["shared"]} >= {"keeper", "lamp"}
    assert all(part in text for part in shown["text"].strip("… ").split("…"))
    short = "The keeper lit the lamp."
    assert shown_sentence(short, "Who lit it?", {"page": 3}, book=True)["text"] == short
    unspaced = "灯台の火が消えた夜のことを誰も知らない、" * 12
    assert len(around(unspaced, [3])) < 90
    assert around(text, []).startswith("It began")
