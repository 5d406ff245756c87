"""Citations lead to the right words or to none."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.citations import FROM_MEMORY, FROM_PAGE, NOT_FOUND, check, parse, parse_unfinished
from readagent_core.citations.quotation_search import Finder
from readagent_core.document import Document, Paragraph, Section
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import ReadingPlan
from tests.recordings import NAMES, recording


def memory_of(*pages: list[str], gists: tuple[str, ...] = (), language: str = "en", sections=()) -> GistMemory:
    paragraphs = [Paragraph(text) for page in pages for text in page]
    made, start = [], 0
    for number, page in enumerate(pages, start=1):
        made.append(Page(number, start, start + len(page), 10))
        start += len(page)
    gist_list = tuple(Gist(gists[i] if i < len(gists) else f"gist {i + 1}") for i in range(len(pages)))
    document = Document("T", tuple(paragraphs), sections=sections, language=language)
    return GistMemory(document, ReadingPlan(), tuple(made), gist_list, complete=True)


KEEPER = memory_of(
    ["She waited.", "“So long as I burn,” he said—softly—“I’m killing her.”  They *trust* the light."],
    ["He fired the gun twice, to warn them.", "They didn’t turn. The officer stayed calm; the ﬁre was out."],
    ["Nora counted the oil: 870 minutes, twenty-nine pints."],
    gists=("Vane tells Tilda he is killing the ship.", "The gun is fired twice.", "Nora counts the oil exactly."),
)


def words_at(memory: GistMemory, places) -> list[str]:
    return [memory.document.paragraphs[p.paragraph].text[p.start : p.end] for p in places]


# --- the form of the answer -------------------------------------------------------------------------

FORMS = [
    # (answer, body, pages of the marks, (pages, first reading) of the quotations)
    ("Plain words.", "Plain words.", [], []),
    ("It was put out [2].\n\nEvidence:\n[2] \"the words\"", "It was put out [2].", [(2,)], [((2,), "the words")]),
    ("A [2]. B [3, 1].\nEvidence: [2] “x y”\n[3] 'p q'", "A [2]. B [3, 1].", [(2,), (3, 1)],
     [((2,), "x y"), ((3,), "p q")]),
    ("A [Page 2].\n**Evidence:**\n- **[Page 2]**: \"x y\"", "A [Page 2].", [(2,)], [((2,), "x y")]),
    ("A (page 2).\n## Evidence\n1. Page 2: \"x y\"", "A (page 2).", [(2,)], [((2,), "x y")]),
    ("A [2-3].\nEVIDENCE:\n* p. 2 - x y z", "A [2-3].", [(2, 3)], [((2,), "x y z")]),
    ("A 【2】.\nEvidence (quotes):\n[2]\n\"x\ny\"", "A 【2】.", [(2,)], [((2,), "x\ny")]),
    ("要です ［２］。\n\n根拠：\n［２］「その言葉」", "要です ［２］。", [(2,)], [((2,), "その言葉")]),
    ("要です（2ページ）。\n**根拠**\n2ページ：「その言葉」", "要です（2ページ）。", [(2,)], [((2,), "その言葉")]),
    ("A [6] [7][8].\nEvidence:\n(no cited page stands here in full)", "A [6] [7][8].", [(6,), (7,), (8,)], []),
    ("Answer: (C) Because [1].", "Because [1].", [(1,)], []),
    ("**Answer:** C. Because [1].", "Because [1].", [(1,)], []),
    ("A [1].\nEvidence:\n\"x y\"", "A [1].", [(1,)], [((), "x y")]),
    ("A [1].\nEvidence:\n[1] \"x y\"\n\nSo it was the keeper.", "A [1].\n\nSo it was the keeper.", [(1,)],
     [((1,), "x y")]),
    ("Evidence:\n[1] \"x y\"", "Evidence:\n[1] \"x y\"", [(1,)], [((1,), "x y")]),
    ("The evidence: a rope [1].", "The evidence: a rope [1].", [(1,)], []),
    ("A <Page 2>.", "A <Page 2>.", [(2,)], []),
    ("In (1911) he came.", "In (1911) he came.", [], []),
    ("", "", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "body", "marks", "quotations"), FORMS)
def test_forms(answer, body, marks, quotations):
    parsed = parse(answer)
    assert parsed.body == body
    assert [m.pages for m in parsed.marks] == marks
    assert [(q.pages, q.extents[0][0]) for q in parsed.quotations] == quotations
    for mark in parsed.marks:
        assert re.search(r"[\d０-９]", parsed.body[mark.start : mark.end])


def test_a_claim_begins_after_the_mark_before_it():
    parsed = parse("He fired the gun [2]. They held on [1] [2].\n\nThen he rowed [3].")
    assert [m.claim for m in parsed.marks] == ["He fired the gun", "They held on", "They held on", "Then he rowed"]


@given(st.text(alphabet='[]()（）「」"“”.:：* \nEvidence根拠12Page７ABC、-…', max_size=120))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_any_reply_is_an_answer(text):
    parsed = parse(text)
    checked = check(text, KEEPER, full={1})
    assert "".join(p.text for p in checked.pieces).strip() or not parsed.body or parsed.marks
    assert parse_unfinished(text).body in parsed.body


@pytest.mark.parametrize("tail", [" [", " [1", " [Page", "\nEvid", "\n**Evidence", "\n\n根"])
def test_half_a_mark_is_not_shown_while_it_streams(tail):
    assert parse_unfinished("He rowed out." + tail).body == "He rowed out."


# --- found, exactly ---------------------------------------------------------------------------------

FOUND = [
    (1, "So long as I burn, I'm killing her.", None),  # other words of the text between them
    (1, '"So long as I burn," he said - softly - "I\'m killing her."',
     "So long as I burn,” he said—softly—“I’m killing her"),
    (1, "they trust the light", "They *trust* the light"),
    (1, "So long as I burn ... I'm killing her", "So long as I burn"),
    (1, "So long […] killing her.", "So long"),
    (2, "the fire was out", "the ﬁre was out"),
    (2, "officer stayed calm, the fire", "officer stayed calm; the ﬁre"),
    (2, "to warn them. They didn't turn.", "to warn them"),
    (3, "twenty‑nine pints", "twenty-nine pints"),
    (3, "ounted the oil", None),
    (3, "the", None),
    (3, "870", "870"),
    (1, "killing her … So long as I burn", None),  # the wrong way round
]  # fmt: skip


@pytest.mark.parametrize(("page", "quotation", "first"), FOUND)
def test_finding(page, quotation, first):
    places = Finder(KEEPER).find_in_page([quotation], page)
    assert (words_at(KEEPER, places)[0] if places else None) == first


def test_words_across_paragraphs_have_a_place_in_each():
    places = Finder(KEEPER).find_in_page(["to warn them. They didn't turn."], 2)
    assert words_at(KEEPER, places) == ["to warn them", "They didn’t turn"]


def test_a_quoted_heading_is_found_above_its_paragraph():
    memory = memory_of(["One.", "Two here."], sections=(Section("The Second Wife", 1),))
    (place,) = Finder(memory).find_in_page(["the second wife"], 1)
    assert (place.paragraph, place.start, place.end) == (1, 0, 0)


def test_japanese_without_spaces_or_with_line_breaks():
    memory = memory_of(["「直すと、\n間に合わない人がいますから」と佐伯は言った。"], language="ja")
    places = Finder(memory).find_in_page(["直すと、間に合わない人がいますから"], 1)
    assert words_at(memory, places) == ["直すと、\n間に合わない人がいますから"]
    assert not Finder(memory).find_in_page(["直すと、間に合わない客がいますから"], 1)


def test_decomposed_letters_are_the_same_letters():
    memory = memory_of(["Cafe\u0301 noir at the quay"])
    assert words_at(memory, Finder(memory).find_in_page(["café noir"], 1)) == ["Cafe\u0301 noir"]


@pytest.mark.parametrize("name", NAMES)
def test_every_evidence_quote_of_the_samples_is_found(name):
    held = recording(name)
    finder = Finder(held.memory)
    quotes = [quote for question in held.questions for quote in question.get("evidence", ())]
    lost = [q for q in quotes if not any(finder.find_in_page([q], n) for n in held.memory.readable)]
    assert quotes
    assert not lost


@pytest.mark.parametrize("name", NAMES)
def test_every_quotation_of_the_recorded_answers_is_found_where_it_says(name):
    held = recording(name)
    for ask in held.asks:
        parsed = parse(ask["answer"])
        checked = check(ask["answer"], held.memory, full=ask["looked_up"])
        assert all(c.state != NOT_FOUND for c in checked.citations), (ask["id"], checked.citations)
        found = {c.quotation for c in checked.citations if c.state == FROM_PAGE}
        assert {q.text for q in parsed.quotations} <= found, ask["id"]


def test_a_hundred_altered_quotes_are_never_exact():
    """One word changed, or a sentence of another page: nothing is highlighted."""
    chance = random.Random(7)
    tried = 0
    for name in NAMES[:2]:
        held = recording(name)
        finder = Finder(held.memory)
        quotes = [quote for question in held.questions for quote in question.get("evidence", ())]
        for quote in quotes:
            pages = [n for n in held.memory.readable if finder.find_in_page([quote], n)]
            words = quote.split()
            for _ in range(3):
                at = chance.randrange(len(words))
                other = [*words[:at], chance.choice(["herring", "seven", "not", "Thursday"]), *words[at + 1 :]]
                answer = f'So it was [{pages[0]}].\n\nEvidence:\n[{pages[0]}] "{" ".join(other)}"'
                checked = check(answer, held.memory, full=pages)
                assert not [c for c in checked.citations if c.places or c.state == FROM_PAGE], other
                tried += 1
            wrong = chance.choice([n for n in held.memory.readable if n not in pages])
            answer = f'So it was [{wrong}].\n\nEvidence:\n[{wrong}] "{quote}"'
            checked = check(answer, held.memory, full=[wrong])
            assert not [c for c in checked.citations if c.places or c.state == FROM_PAGE], quote
            tried += 1
    assert tried >= 100


# --- the three states -------------------------------------------------------------------------------


def states(answer, **how):
    return [(c.page, c.state) for c in check(answer, KEEPER, **how).citations]


def test_three_states():
    answer = (
        "He put it out for the ship [1]. He fired the gun twice first [2]. He feared it for years [3].\n\n"
        'Evidence:\n[1] "They trust the light"\n[3] "he had feared it"'
    )
    assert states(answer, full={1, 3}) == [(1, FROM_PAGE), (2, FROM_MEMORY), (3, NOT_FOUND)]


@pytest.mark.parametrize(
    ("answer", "how", "expected"),
    [
        ("So [9].", {"full": {1}}, (9, NOT_FOUND)),  # a page the model was not shown
        ("So [3].", {"full": {1}, "shown": {1, 2}}, (3, NOT_FOUND)),
        ("“He fired the gun twice, to warn them,” said Tilda [2].", {"full": {2}}, (2, FROM_PAGE)),  # in the claim
        ("“He fired the gun nine times at them,” said Tilda [2].", {"full": {2}}, (2, NOT_FOUND)),
        ("Crale printed forged regatta notices [3].", {"full": set()}, (3, NOT_FOUND)),  # nothing of it in the gist
        ('So [1].\nEvidence:\n[1] "So long as I burn" and "I am saving everyone"', {"full": {1}}, (1, NOT_FOUND)),
    ],
)
def test_the_state_of_one_mark(answer, how, expected):
    assert states(answer, **how) == [expected]


def test_read_again_but_not_quoted_says_so():
    (citation,) = check("He fired [2].", KEEPER, full={2}).citations
    assert (citation.state, citation.places) == (FROM_MEMORY, ())
    assert "quotes no words of it" in citation.why


def test_a_claim_in_the_page_s_own_words_is_its_own_quotation():
    answer = 'She waited [1]. He fired the gun twice, to warn them [2].\n\nEvidence:\n[2] "They didn\'t turn"'
    citation = check(answer, KEEPER, full={1, 2}).citations[1]
    assert (citation.state, words_at(KEEPER, citation.places)) == (FROM_PAGE, ["He fired the gun twice, to warn them"])


def test_several_quotations_of_a_page_go_to_their_claims():
    answer = (
        "They held on and did not turn [2]. He had fired the gun [2].\n\n"
        'Evidence:\n[2] "He fired the gun twice"\n[2] "They didn\'t turn"'
    )
    assert [c.quotation for c in check(answer, KEEPER, full={2}).citations] == [
        "They didn't turn",
        "He fired the gun twice",
    ]


def test_a_quotation_without_a_mark_is_listed_separately():
    checked = check('He trusted it.\nEvidence:\n"They trust the light"', KEEPER, full={1, 2})
    assert [(c.page, c.state) for c in checked.loose] == [(1, FROM_PAGE)]
    assert checked.count(FROM_PAGE) == 1
