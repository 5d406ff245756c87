"""What a person typed: options, and how far they have read; and the questions that are suggested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from readagent_core.answering import suggesting
from readagent_core.answering.base import Answer, Answered, Question
from readagent_core.answering.event_json import event_to_dict
from readagent_core.answering.limits import last_page_seen, page_allowed, page_reached, paragraphs_through
from readagent_core.answering.questions import (
    HISTORY_LENGTH,
    parse_options,
    parse_question,
    parse_standalone,
    visible_history,
)
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph, Section
from readagent_core.gisting import cut_rest_by_rule
from readagent_core.library.records import Exchange, ExchangeState, Position
from tests.answering.test_asking import a_book, a_memory
from tests.fakes.model import FakeModel
from tests.recordings import make_memory, recording

KEEPER = recording("the-keeper-of-harrow-light").memory


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
    assert parse_question(text) == expected


@pytest.mark.parametrize("text", ["a cat\na dog", "(A) a cat\n(B) a dog", "- a cat\n- a dog", "1. a cat\n\n2. a dog"])
def test_options_one_a_line(text):
    assert parse_options(text) == ["a cat", "a dog"]


def pages_of_two():
    """Ten paragraphs, and a memory of five pages of two of them, each in several pieces."""
    whole = Document("T", tuple(Paragraph(f"{n} " + "word " * 30) for n in range(10)))
    limited = whole.limited(10)  # every paragraph in several pieces
    assert len(limited.paragraphs) > 20
    memory = replace(make_memory(limited.paragraphs, per_page=len(limited.paragraphs) // 5), document=limited)
    return whole, memory


def test_the_page_reached_is_found_in_any_reading():
    whole, memory = pages_of_two()
    # a page counts when all of it is read
    assert [page_reached(memory, whole, Position(9, n)) for n in range(11)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert page_reached(memory, whole, Position(2, 99)) == 5
    assert page_reached(memory, whole, Position(2, 4, limited=True)) == 2
    assert page_reached(memory, whole, Position(2, 4, limited=True, limit=9)) == 4  # set by hand
    assert page_reached(memory, whole, Position(2, 4, limited=False, limit=9)) == 2
    part = replace(memory, pages=memory.pages[:2], gists=memory.gists[:2])
    assert page_reached(part, whole, Position(9, 9)) == 2


def test_the_spoiler_limit_is_set_by_pages_and_keeps_nothing_out_at_the_last_one():
    whole, memory = pages_of_two()
    for page in range(5):
        limit = paragraphs_through(memory, whole, page)
        assert limit == 2 * page
        assert page_allowed(memory, whole, Position(limited=True, limit=limit)) == page
    assert page_allowed(memory, whole, Position(limited=True, limit=paragraphs_through(memory, whole, 5))) is None
    assert page_allowed(memory, whole, Position(furthest=3)) is None
    assert page_allowed(memory, whole, Position(furthest=3, limited=True)) == 1
    assert page_allowed(memory, whole, Position(furthest=1, limited=True)) == 0  # not read to its end
    assert page_allowed(memory, whole, Position(limited=True, limit=1)) == 0  # by hand, on pages shorter than these


def test_a_page_within_a_long_paragraph_is_let_in_with_the_whole_of_it_alone():
    whole = Document("T", (Paragraph("A sentence of six short words. " * 20),))
    limited = whole.limited(60)
    memory = replace(make_memory(limited.paragraphs), document=limited)
    assert len(memory.pages) > 1
    assert paragraphs_through(memory, whole, 1) == 0  # less than was asked for, never more


def test_the_last_page_that_an_answer_saw():
    answer = Answer("So.", "read-agent-p", seen={1: "gist", 4: "full"})
    assert last_page_seen([Answered(answer)], otherwise=9) == 4
    assert last_page_seen([], otherwise=9) == 9


def test_under_a_limit_a_follow_up_is_understood_from_what_was_asked_within_it_alone():
    done = Exchange("a", "talk", 1, "", state=ExchangeState.DONE, events=[event_to_dict(Answered(Answer("So.", "x")))])
    asked = [
        replace(done, question=f"Reading {gisting}, to {up_to}?", gisting_id=gisting, up_to=up_to)
        for gisting, up_to in ((1, 5), (2, 5), (1, 6), (1, None), (1, 4))
    ]
    within = [("Reading 1, to 5?", "So."), ("Reading 1, to 4?", "So.")]
    assert visible_history(asked, gisting_id=1, up_to=5) == within
    assert len(visible_history(asked, gisting_id=1, up_to=None)) == min(HISTORY_LENGTH, 5)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Why did Vane row out?", "Why did Vane row out?"),
        ('Question: "Why did Vane row out?"', "Why did Vane row out?"),
        ("**Question:** Why did Vane row out?\n\nBecause he …", "Why did Vane row out?"),
        ("<think>he is Vane</think>\nWhy did Vane row out?", "Why did Vane row out?"),
        ("質問：「なぜですか？」", "なぜですか？"),
        ("", ""),
        ("word " * 60, ""),
        ("Vane rowed out because he had", ""),
    ],
)
def test_replies_to_the_standalone_prompt(said, kept):
    assert parse_standalone(said, "And why did he?") == kept


def test_people_are_found_and_places_and_peoples_are_not():
    names = suggesting.people_named(KEEPER)
    assert "Mr. Crale" in names
    assert not {"Harrow", "Gannet", "Monday"} & set(names)
    lines = (
        "Weena was afraid of the dark. The Morlocks came. Morlocks had gone by.",
        "Weena said yes. The Chinese said no.",
    )
    gists = [f"{line} Chinese was the lamp; a Morlocks told the Morlocks so." for line in lines]
    assert suggesting.people_named(make_memory(lines, gists)) == ["Weena"]


def test_in_japanese_a_person_is_who_is_addressed_as_one():
    lines = ["時計は三分進んでいる。水野は待った。", "時計が鳴った。水野さんは帰った。"]
    assert suggesting.people_in(lines) == ["水野"]


def test_a_role_is_no_name_to_ask_about():
    """Where it has an article, or is small, more often than not; a name that is also a word stays one."""
    gists = ["Editor has cut it. Hope said yes.", "Editor was gone. Hope told Nora. Nora went."] * 2
    lines = ["The Editor has cut it, as an editor does.", "Editor was gone. Hope told Nora, in hope.", "Hope said yes."]
    assert suggesting.people_named(make_memory([*lines, "Hope rowed out."], gists)) == ["Hope"]


def test_questions_about_a_text_without_gists_name_only_what_may_be_read():
    """A person and a section, without its number; of a text that names neither the questions that fit any."""
    told = ("In the fog Ada Vane took the lamp, and presently she lit it.", "Presently Ada Vane was gone, said Hugo.")
    document = Document(
        "T",
        tuple(Paragraph(text) for text in [*told, "Hugo rowed out.", "Hugo sank the boat."]),
        sections=(Section("PREFACE", 0), Section("CHAPTER I. THE LAMP GOES OUT.", 1), Section("2. Who sank it", 2)),
    )
    memory = cut_rest_by_rule(make_memory([p.text for p in document.paragraphs], [None] * 4, complete=False))
    memory = replace(memory, document=document)

    def asked(memory, **of):
        return [s.text for s in suggesting.questions_without_gists(memory, **{"limited": True, "by_model": True, **of})]

    so_far, section = "What happened so far?", "What is “The Lamp Goes Out” about?"
    assert asked(memory.up_to(2)) == [so_far, "Who is Ada Vane?", section]
    assert asked(memory, limited=False)[0] == "What is this about?"
    anything = ["What is this about?", "Who are the people in it?", "What are the main points?"]
    assert asked(memory.up_to(0)) == anything
    assert asked(memory.up_to(0), by_model=False) == anything[:1]


def test_the_built_in_reader_suggests_without_a_model():
    always = suggesting.standard_questions(KEEPER, finished=True)
    assert [s.whole for s in always] == [True, True, True]
    assert always[0].text == "What is this about?"
    model = FakeModel([])
    model.is_language_model = False
    assert all(q.startswith("Who is") for q in suggesting.suggest(KEEPER, model, CancelToken()))
    japanese = suggesting.standard_questions(recording("yuki-no-eki").memory, finished=True)
    assert japanese[0].text == "これは何についての文章ですか。"


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
    assert suggesting.parse_suggestions(said) == found


def test_suggestions_are_saved_for_each_limit(open_workspace):
    workspace = open_workspace(model=FakeModel(lambda p: "Who was it?" if p.task == "suggest" else ""))
    _, gisting = a_book(workspace, a_memory())
    memory = workspace.library.memory(gisting.id)
    assert suggesting.saved_suggestions(workspace, gisting.id, up_to=3) is None
    suggesting.start_suggesting(workspace, gisting.id, memory.up_to(3), up_to=3).join(5)
    assert suggesting.saved_suggestions(workspace, gisting.id, up_to=3) == ["Who was it?"]
    assert suggesting.saved_suggestions(workspace, gisting.id, up_to=None) is None
    assert "gistword4" not in workspace.model.prompts[0].text


def test_several_books_are_compared_by_a_language_model_only():
    names = ["Weena", "Nora", "Hope", "Mr. Crale"]
    assert "common" in suggesting.questions_about_several(names, "en", by_model=True)[0]
    named = suggesting.questions_about_several(names, "en", by_model=False)
    assert named == ["Who is Weena?", "Who is Nora?", "Who is Hope?"]
