"""What stands around an answer: replay, options, suggestions, figures, the page reached, and the file to take away."""

from __future__ import annotations

import json

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.citations import check
from readagent_core.document import Document, Paragraph
from readagent_core.errors import NotInLibraryError, SettingsError
from readagent_core.library.records import Position
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.methods.base import (
    Answer,
    Answered,
    AnswerPart,
    AskSettings,
    Expanded,
    LookedUp,
    ModelCall,
    Question,
    event_to_dict,
)
from readagent_core.plan import ReadingPlan
from readagent_core.settings import load_settings
from readagent_core.study import Study, conversing, costing, replay, suggesting
from readagent_core.study.limit import page_reached
from readagent_core.study.questions import option_lines, question_from
from readagent_core.usage import Usage
from tests.fakes.model import FakeModel
from tests.recordings import recording
from tests.study.test_asking import a_book, a_memory, asked, reply

# --- replay -----------------------------------------------------------------------------------------

GISTS = {1: "gist", 2: "gist", 3: "gist"}


def look(page: int) -> list:
    return [
        ModelCall("look_up_next", f"p{page}", f"Page {page}"),
        LookedUp((page,), f"Page {page}"),
        Expanded((page,), 50),
    ]


def test_every_look_up_of_s_is_a_step_with_its_own_prompt():
    answer = Answer("So.", "read-agent-s", looked_up=(2, 3), seen={1: "gist", 2: "full", 3: "full"})
    events = [
        ModelCall("standalone", "f", "Why did Vane row?"),
        *look(2),
        *look(3),
        ModelCall("look_up_next", "p", "STOP"),
        LookedUp((), "STOP"),
        AnswerPart("So."),
        ModelCall("answer", "a", "So."),
        Answered(answer),
    ]
    steps = replay.steps(events)
    assert [s.title for s in steps] == [
        "Question", "Follow-up", "Gists", "Look-up 1", "Look-up 2", "Look-up 3", "Memory as sent", "Answer",
    ]  # fmt: skip
    assert [s.expanded for s in steps] == [(), (), (), (), (2,), (3,), (2, 3), (2, 3)]
    assert [[c.prompt for c in s.calls] for s in steps] == [[], ["f"], [], ["p2"], ["p3"], ["p"], [], ["a"]]


def test_a_method_without_gists_has_no_gists_step():
    answer = Answer("So.", "full-text", seen={1: "full", 2: "full"})
    titles = [s.title for s in replay.steps([ModelCall("answer_text", "a", "So."), Answered(answer)])]
    assert titles == ["Question", "Memory as sent", "Answer"]


def test_a_broken_off_exchange_replays_as_far_as_it_came():
    steps = replay.steps([*look(2), AnswerPart("He")])
    assert [s.title for s in steps] == ["Question", "Gists", "Look-up", "Memory as sent", "Answer"]
    assert replay.steps([])[-1].title == "Gists"
    assert replay.written([AnswerPart("He "), AnswerPart("rowed")]) == "He rowed"


def test_events_come_back_from_the_library_with_parts_joined(own_home):
    study = Study(load_settings(), model=FakeModel(reply))
    book, reading = a_book(study, a_memory())
    exchange, _ = asked(study, book, reading)
    events = replay.events_of(exchange)
    assert sum(isinstance(e, AnswerPart) for e in events) == 1
    assert replay.written(events).startswith("So it was [2].")
    study.library.close()


# --- what was typed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which?\n(A) a cat\n(B) a dog", Question("Which?", ("a cat", "a dog"))),
        ("Which?\n\nA. a cat\nB. a dog\n", Question("Which?", ("a cat", "a dog"))),
        ("Which?\n1) a cat\n2) a dog\n3) it", Question("Which?", ("a cat", "a dog", "it"))),
        ("どれですか。\n（Ａ）猫\n（Ｂ）犬", Question("どれですか。", ("猫", "犬"))),
        ("Which?\nB. a cat\nA. a dog", Question("Which?\nB. a cat\nA. a dog")),
        ("Why?\nA. Vane rowed out.", Question("Why?\nA. Vane rowed out.")),
        ("Why?", Question("Why?")),
    ],
)
def test_pasted_options_are_told_from_their_letters(text, expected):
    assert question_from(text) == expected


@pytest.mark.parametrize("text", ["a cat\na dog", "(A) a cat\n(B) a dog", "- a cat\n- a dog", "1. a cat\n\n2. a dog"])
def test_options_one_a_line(text):
    assert option_lines(text) == ["a cat", "a dog"]


# --- suggestions ------------------------------------------------------------------------------------


def test_people_are_found_and_places_are_not():
    memory = recording("the-keeper-of-harrow-light").memory
    names = suggesting.people(memory)
    assert "Mr. Crale" in names
    assert not {"Harrow", "Gannet", "Monday"} & set(names)


def test_peoples_are_no_person():
    lines = (
        "Weena was afraid of the dark. The Morlocks came. Morlocks had gone by.",
        "Weena said yes. The Chinese said no.",
    )
    gists = tuple(Gist(f"{line} Chinese was the lamp; a Morlocks told the Morlocks so.") for line in lines)
    document = Document("Fog", tuple(Paragraph(line) for line in lines))
    pages = tuple(Page(n + 1, n, n + 1, p.words, "") for n, p in enumerate(document.paragraphs))
    memory = GistMemory(document, ReadingPlan(), pages, gists, "a model", complete=True)
    assert suggesting.people(memory) == ["Weena"]


def test_the_built_in_reader_suggests_without_a_model():
    memory = recording("the-keeper-of-harrow-light").memory
    always = suggesting.always(memory, finished=True)
    assert [s.whole for s in always] == [True, True, True]
    assert always[0].text == "What is this about?"
    model = FakeModel([])
    model.is_language_model = False
    assert all(q.startswith("Who is") for q in suggesting.suggest(memory, model, CancelToken()))
    assert suggesting.always(recording("yuki-no-eki").memory, finished=True)[0].text == "これは何についての文章ですか。"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Who took the money?\nWhy?\nWhere was Vane?\nAnd then?", ["Who took the money?", "Why?", "Where was Vane?"]),
        ('1. Who took it?\n2) "Why did he?"\n- Where?', ["Who took it?", "Why did he?", "Where?"]),
        ("Here are three questions:\nWho took it?", ["Who took it?"]),
        ("1．だれですか。\n・なぜですか", ["だれですか。", "なぜですか"]),
        ("Who? " + "word " * 40 + "?", []),
        ("", []),
    ],
)
def test_questions_in_a_reply(said, found):
    assert suggesting.questions_in(said) == found


def test_suggestions_are_kept_and_know_their_limit(own_home):
    study = Study(load_settings(), model=FakeModel(lambda p: "Who was it?" if p.task == "suggest" else ""))
    _, reading = a_book(study, a_memory())
    memory = study.library.memory(reading.id)
    assert suggesting.kept(study, reading.id, up_to=3) is None
    suggesting.start(study, reading.id, memory.up_to(3), up_to=3).join(5)
    assert suggesting.kept(study, reading.id, up_to=3) == ["Who was it?"]
    assert suggesting.kept(study, reading.id, up_to=None) is None
    assert "gistword4" not in study.model.prompts[0].text
    study.library.close()


# --- figures ----------------------------------------------------------------------------------------


def test_the_cost_line_is_the_paper_s_rate():
    answer = Answer(
        "So.", "read-agent-p", looked_up=(15, 21), seen={15: "full", 21: "full", 1: "gist"}, memory_words=1945
    )
    calls = Usage(calls=1, words_in=2000, words_out=50, tokens_in=2600, tokens_out=60, cost=0.002)
    cost = costing.cost_of([ModelCall("look_up", "", "", calls), Answered(answer)], whole=10352, seconds=3.2)
    assert cost is not None
    assert costing.line(cost) == "Read 1,945 of 10,352 words – 81.2 % fewer; 2 pages looked up; 3.2 s"
    told = costing.details(cost)
    assert told[0].startswith("Sent 2,000 words in 1 call")
    assert "The full text in one prompt: 10,352 words, about 13,458 tokens" in told[-1]
    assert costing.details(cost, is_language_model=False) == []
    assert costing.cost_of([], whole=1, seconds=0) is None


def test_what_the_cache_saved_is_told_in_words_and_money():
    kept = Usage(cached_calls=2, saved_words_in=900, cost=0.0, saved_cost=0.25)
    cost = costing.cost_of([ModelCall("look_up", "", "", kept), Answered(Answer("So.", "p"))], whole=100, seconds=1)
    assert "900 words were answered from the cache and not sent again. That saved $0.25." in costing.details(cost)
    assert costing.of_reading(kept) == "The cache saved 900 words and $0.25."
    unknown = Usage(calls=1, words_in=40, cached_calls=2, saved_words_in=900)
    assert costing.of_reading(unknown) == "Reading sent 40 words in 1 call. The cache saved 900 words."
    assert costing.of_reading(Usage()) == ""


# --- the page reached ---------------------------------------------------------------------------------


def test_the_page_reached_is_told_in_any_reading():
    whole = Document("T", tuple(Paragraph(f"{n} " + "word " * 30) for n in range(10)))
    limited = whole.limited(10)  # every paragraph in several pieces
    assert len(limited.paragraphs) > 20
    per = len(limited.paragraphs) // 10
    pages = tuple(Page(n + 1, n * per * 2, (n + 1) * per * 2, 60) for n in range(5))
    memory = GistMemory(limited, ReadingPlan(max_words=10, min_words=1), pages, (Gist("g"),) * 5)
    assert [page_reached(memory, whole, Position(p, p)) for p in range(10)] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert page_reached(memory, whole, Position(2, 9)) == 5  # going back does not close what was read
    assert page_reached(memory, whole, Position(99, 99)) == 5
    part = GistMemory(limited, memory.plan, pages[:2], (Gist("g"),) * 2)
    assert page_reached(part, whole, Position(9, 9)) == 2


# --- taking a conversation away -----------------------------------------------------------------------


@pytest.fixture
def talk(own_home):
    study = Study(load_settings(), model=FakeModel(reply))
    book, reading = a_book(study, a_memory())
    first, _ = asked(study, book, reading, "Who is <script>alert(1)</script> & *Vane*?")
    asked(
        study, book, reading, question=Question("Which?", ("a <cat>", "a dog")), conversation_id=first.conversation_id
    )
    yield study, first.conversation_id
    study.library.close()


def test_as_markdown(talk):
    study, conversation_id = talk
    text = conversing.export_conversation(study, conversation_id, format="md").decode()
    assert "So it was  [from page 2]" in text or "So it was [from page 2]" in text
    assert "> I want to look up Page [2, 5] to see." in text
    assert "- Page 2: “pageword2 stands here”" in text
    assert "words" in text


def test_as_a_page_with_every_text_escaped(talk):
    study, conversation_id = talk
    text = conversing.export_conversation(study, conversation_id, format="html").decode()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "a &lt;cat&gt;" in text
    assert "default-src" in text


def test_as_json_with_every_event(talk):
    study, conversation_id = talk
    data = json.loads(conversing.export_conversation(study, conversation_id, format="json"))
    assert [e["state"] for e in data["exchanges"]] == ["done", "done"]
    assert data["exchanges"][0]["events"][-1]["kind"] == "Answered"
    assert data["exchanges"][0]["looked_up"] == [2, 5]


def test_other_formats_and_conversations_are_refused(talk):
    study, conversation_id = talk
    with pytest.raises(SettingsError, match="md, html, json"):
        conversing.export_conversation(study, conversation_id, format="docx")
    with pytest.raises(NotInLibraryError):
        conversing.export_conversation(study, "gone", format="md")


def test_settings_of_an_ask_come_back(own_home):
    study = Study(load_settings(), model=FakeModel(reply))
    book, reading = a_book(study, a_memory())
    exchange, _ = asked(study, book, reading, settings=AskSettings(look_ups=5))
    assert exchange.settings["look_ups"] == 5
    assert json.dumps([event_to_dict(e) for e in replay.events_of(exchange)])
    study.library.close()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("The ferry was late that evening.", "“The ferry was late that evening.”"),
        ("The ferry was late that evening", "“The ferry was late that evening”"),  # only the full stop is missing
        ("The ferry was late", "“The ferry was late” …"),
        ("was late that evening.", "… “was late that evening.”"),
        ("was late", "… “was late” …"),
        ("late that evening. Nobody asked", "… “late that evening. Nobody asked” …"),
        ("It was the river", "“It was the river” …"),  # speech that goes on after a comma
        ("the ferryman said", "… “the ferryman said”"),
        ("was late ... and he went home", "… “was late ... and he went home”"),
        ("… was late …", "“… was late …”"),  # the model said so itself
    ],
)
def test_a_quotation_cut_out_of_its_sentence_shows_that_outside_its_marks(words, shown):
    paragraphs = ("The ferry was late that evening. Nobody asked how.", "“It was the river,” the ferryman said.",
                  "So much he told us, and he went home.")  # fmt: skip
    document = Document("T", tuple(Paragraph(text) for text in paragraphs))
    memory = GistMemory(document, ReadingPlan(), (Page(1, 0, 3, 25),), (Gist("Late."),))
    (citation,) = check(f'It was so [1].\n\nEvidence:\n[1] "{words}"', memory, full=[1]).citations
    assert citation.places
    assert conversing.quoted(citation, document) == shown
