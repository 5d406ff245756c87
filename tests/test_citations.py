"""Citations lead to the right words or to none."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.citations import FROM_MEMORY, FROM_PAGE, NOT_FOUND, check, parse, parse_unfinished
from readagent_core.citations.answer_parsing import split_evidence
from readagent_core.citations.checking import Checked, Citation, Piece, answer_paragraphs, mark_pages
from readagent_core.citations.quotation_search import Finder
from readagent_core.document import Document, Paragraph, Section
from readagent_core.export.citation_labels import citation_label
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from tests.recordings import NAMES, recording


def memory_of(*pages: list[str], gists: tuple[str, ...] = (), language: str = "en", sections=()) -> GistMemory:
    paragraphs = [Paragraph(text) for page in pages for text in page]
    made, start = [], 0
    for number, page in enumerate(pages, start=1):
        made.append(Page(number, start, start + len(page), 10))
        start += len(page)
    gist_list = tuple(Gist(gists[i] if i < len(gists) else f"gist {i + 1}") for i in range(len(pages)))
    document = Document("T", tuple(paragraphs), sections=sections, language=language)
    return GistMemory(document, GistingPlan(), tuple(made), gist_list, complete=True)


KEEPER = memory_of(
    ["She waited.", "“So long as I burn,” he said—softly—“I’m killing her.”  They *trust* the light."],
    ["He fired the gun twice, to warn them.", "They didn’t turn. The officer stayed calm; the ﬁre was out."],
    ["Nora counted the oil: 870 minutes, twenty-nine pints."],
    gists=("Vane tells Tilda he is killing the ship.", "The gun is fired twice.", "Nora counts the oil exactly."),
)


def words_at(memory: GistMemory, places) -> list[str]:
    return [memory.document.paragraphs[p.paragraph].text[p.start : p.end] for p in places]


def test_words_of_recognised_text_are_marked_as_such():
    document = replace(
        KEEPER.document, paragraphs=tuple(replace(p, confidence=0.99) for p in KEEPER.document.paragraphs)
    )
    answer = 'He warned them [2].\n\nEvidence:\n[2] "fired the gun twice"'
    for memory, marked in ((KEEPER, False), (replace(KEEPER, document=document), True)):
        (citation,) = check(answer, memory, full=[2]).citations
        assert (citation.state, citation.recognised, "may be wrong" in citation.why) == (FROM_PAGE, marked, marked)
        assert citation_label(citation) == "from page 2" + (", recognised text" if marked else "")


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
    ("A [2].\n\n```\nEvidence:\n[2] x y\n```", "A [2].", [(2,)], [((2,), "x y")]),
    ("A [2].\n证据：\n［2］“x y”", "A [2].", [(2,)], [((2,), "x y")]),
    ("A [2].\nEvidence:\n[2] \"x\"\n\nEvidence:\n[2] \"x\"", "A [2].", [(2,)], [((2,), "x"), ((2,), "x")]),
    ("The evidence:\nno more.\nEvidence:\n[2] \"x\"", "The evidence:\nno more.", [], [((2,), "x")]),
    ("A [2].\nEvidence:\n- \"x y\" [2]", "A [2].", [(2,)], [((), "x y")]),
    ("A [2].\nEvidence:\n\"x y\" (page 2)", "A [2].", [(2,)], [((), "x y")]),
    ("A [2].\nEvidence:\n> [2] „x y“", "A [2].", [(2,)], [((2,), "x y")]),
    ("A [2].\nEvidence:\n[9] \"words of the page\"", "A [2].", [(2,)], [((9,), "words of the page")]),
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
@settings(max_examples=300, derandomize=True)
def test_any_reply_is_an_answer(text):
    parsed = parse(text)
    checked = check(text, KEEPER, full={1})
    assert "".join(p.text for p in checked.pieces).strip() or not parsed.body or parsed.marks
    assert parse_unfinished(text).body in parsed.body


@pytest.mark.parametrize("tail", [" [", " [1", " [Page", "\nEvid", "\n**Evidence", "\n\n根"])
def test_half_a_mark_is_not_shown_while_it_streams(tail):
    assert parse_unfinished("He rowed out." + tail).body == "He rowed out."


# --- found, exactly ---------------------------------------------------------------------------------

JAPANESE = memory_of(["「直すと、\n間に合わない人がいますから」と佐伯は言った。"], language="ja")
FOUND = [
    (KEEPER, 1, "So long as I burn, I'm killing her.", []),  # other words of the text between them
    (KEEPER, 1, '"So long as I burn," he said - softly - "I\'m killing her."',
     ["So long as I burn,” he said—softly—“I’m killing her"]),
    (KEEPER, 1, "they trust the light", ["They *trust* the light"]),
    (KEEPER, 1, "So long as I burn ... I'm killing her", ["So long as I burn", "I’m killing her"]),
    (KEEPER, 1, "So long […] killing her.", ["So long", "killing her"]),
    (KEEPER, 2, "the fire was out", ["the ﬁre was out"]),
    (KEEPER, 2, "officer stayed calm, the fire", ["officer stayed calm; the ﬁre"]),
    (KEEPER, 2, "to warn them. They didn't turn.", ["to warn them", "They didn’t turn"]),  # a place in each paragraph
    (KEEPER, 3, "twenty‑nine pints", ["twenty-nine pints"]),
    (KEEPER, 3, "ounted the oil", []),
    (KEEPER, 3, "the", []),
    (KEEPER, 3, "870", ["870"]),
    (KEEPER, 1, "killing her … So long as I burn", []),  # the wrong way round
    (JAPANESE, 1, "直すと、間に合わない人がいますから", ["直すと、\n間に合わない人がいますから"]),
    (JAPANESE, 1, "直すと、間に合わない客がいますから", []),
    (memory_of(["Cafe\u0301 noir at the quay"]), 1, "café noir", ["Cafe\u0301 noir"]),  # letter and accent apart
    (memory_of(["One.", "Two."], sections=(Section("The Second Wife", 1),)), 1, "the second wife", [""]),  # a heading
]  # fmt: skip


@pytest.mark.parametrize(("memory", "page", "quotation", "places"), FOUND)
def test_finding(memory, page, quotation, places):
    assert words_at(memory, Finder(memory).find_in_page([quotation], page)) == places


@pytest.mark.parametrize("name", NAMES)
def test_every_quotation_of_the_recorded_answers_is_found_where_it_says(name):
    held = recording(name)
    for ask in held.asks:
        parsed = parse(ask["answer"])
        checked = check(ask["answer"], held.memory, full=ask["looked_up"])
        assert all(c.state != NOT_FOUND for c in checked.citations), (ask["id"], checked.citations)
        found = {c.quotation for c in checked.citations if c.state == FROM_PAGE}
        assert {q.text for q in parsed.quotations} <= found, ask["id"]


@pytest.mark.parametrize("name", NAMES)
def test_quotes_of_the_samples_are_found_and_altered_ones_never(name):
    """With one word changed, or from a sentence of another page, nothing is highlighted."""
    chance = random.Random(7)
    held = recording(name)
    finder = Finder(held.memory)
    quotes = [quote for question in held.questions for quote in question.get("evidence", ())]
    assert quotes
    for quote in quotes:
        pages = [n for n in held.memory.readable if finder.find_in_page([quote], n)]
        assert pages, quote
        altered = [(chance.choice([n for n in held.memory.readable if n not in pages]), quote)]
        words = quote.split()
        for _ in range(3 if len(words) > 1 else 0):  # Japanese has no spaces
            at = chance.randrange(len(words))
            other = [*words[:at], chance.choice(["herring", "thirty", "not", "Thursday"]), *words[at + 1 :]]
            altered.append((pages[0], " ".join(other)))
        for page, text in altered:
            checked = check(f'So it was [{page}].\n\nEvidence:\n[{page}] "{text}"', held.memory, full=[page])
            assert not [c for c in checked.citations if c.places or c.state == FROM_PAGE], text


# --- the three states -------------------------------------------------------------------------------


THREE = (
    "He put it out for the ship [1]. He fired the gun twice first [2]. He feared it for years [3].\n\n"
    'Evidence:\n[1] "They trust the light"\n[3] "he had feared it"'
)


@pytest.mark.parametrize(
    ("answer", "how", "expected"),
    [
        (THREE, {"full": {1, 3}}, [(1, FROM_PAGE), (2, FROM_MEMORY), (3, NOT_FOUND)]),
        ("So [9].", {"full": {1}}, [(9, NOT_FOUND)]),  # a page the model was not shown
        ("So [3].", {"full": {1}, "shown": {1, 2}}, [(3, NOT_FOUND)]),
        ("“He fired the gun twice, to warn them,” said Tilda [2].", {"full": {2}}, [(2, FROM_PAGE)]),  # in the claim
        ("She waited [1].", {"full": {1}}, [(1, FROM_MEMORY)]),  # too few words to be taken for a quotation
        ("“He fired the gun nine times at them,” said Tilda [2].", {"full": {2}}, [(2, NOT_FOUND)]),
        ("Crale printed forged regatta notices [3].", {"full": set()}, [(3, NOT_FOUND)]),  # nothing of it in the gist
        ('So [1].\nEvidence:\n[1] "So long as I burn" and "I am saving everyone"', {"full": {1}}, [(1, NOT_FOUND)]),
        ('He trusted it.\nEvidence:\n"They trust the light"', {"full": {1, 2}}, [(1, FROM_PAGE)]),  # without a mark
    ],
)
def test_the_states_of_marks(answer, how, expected):
    checked = check(answer, KEEPER, **how)
    assert [(c.page, c.state) for c in checked.citations] == expected
    assert len(checked.loose) == (0 if "[" in answer else 1)  # a quotation without a mark is listed separately
    assert checked.count(FROM_PAGE) == sum(state == FROM_PAGE for _, state in expected)


def test_what_an_answer_without_numbers_of_pages_quotes_is_given_its_page():
    memory = memory_of(["The lamp went out at dawn. Nobody in the harbour saw who did it."], ["The boat came back."])
    evidence = '\n\nEvidence:\n- "The lamp went out at dawn."'
    marked = '\n\nEvidence:\n- [1] "The lamp went out at dawn."'
    for copied, said in ((True, "The lamp went out at dawn. [1]"), (False, "The lamp went out at dawn.")):
        assert mark_pages(f"The lamp went out at dawn.{evidence}", memory, {1}, copied=copied) == said + marked


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
    quoted = [c.quotation for c in check(answer, KEEPER, full={2}).citations]
    assert quoted == ["They didn't turn", "He fired the gun twice"]


def test_a_claim_is_not_given_the_quotation_of_another():
    answer = 'He fired the gun [2]. Nobody heard [2].\n\nEvidence:\n[2] "He fired the gun twice"'
    fired, heard = check(answer, KEEPER, full={2}).citations
    assert (fired.state, fired.quotation) == (FROM_PAGE, "He fired the gun twice")
    assert (heard.state, heard.places) == (FROM_MEMORY, ())
    # short words alone make none of them a claim's own
    answer = answer.replace("Nobody heard", "The sea was not rough, and he saw the moon")
    assert check(answer, KEEPER, full={2}).citations[1].bare


@pytest.mark.parametrize("heading", ["Evidence:", "**Evidence**", "Supporting quotes:", "根拠：", "引用："])
def test_the_evidence_is_shown_apart_from_the_answer_under_any_heading(heading):
    answer, evidence = "They didn't turn [2].", '[2] "They didn\'t turn"'
    assert split_evidence(f"{answer}\n\n{heading}\n{evidence}") == (answer, evidence)
    assert split_evidence(answer) == (answer, "")


@pytest.mark.parametrize(
    ("page", "quoted"),
    [
        ("The keeper[1] left, and the lamp² burned.", "The keeper left, and the lamp burned"),
        ("He said so.³ Then he left[note 4] again.", "He said so. Then he left again"),
        ("The keeper left.", "the keeper[12] left"),
        ("كِتَابٌ جَدِيدٌ في البيت", "كتاب جديد في البيت"),
        ("כתב עִבְרִית יפה", "כתב עברית יפה"),
        ("Её ёлка стояла", "Ее елка стояла"),
        ("The keeper[^1] left, the lamp[ii] burned.", "The keeper left, the lamp burned"),
        ("The keeper{1} left[n. 2], the lamp(3) burned[citation needed].", "The keeper left, the lamp burned"),
        ("灯台守①は去り、灯（注2）は※3消えた", "灯台守は去り、灯は消えた"),
        ("أحمد إلى مدرسة كبيرة", "احمد الى مدرسه كبيره"),
        ("une œuvre entière, Æsop told it", "une oeuvre entière, Aesop told it"),
        ("The light- house of the well-\nknown keeper", "the lighthouse of the well-known keeper"),
        ("The lighthouse keeper left.", "The light-\nhouse keeper left."),
    ],
)
def test_note_marks_and_vowel_signs_do_not_make_a_quotation_wrong(page, quoted):
    assert Finder(memory_of([page])).find_in_page([quoted], 1)
    assert not Finder(memory_of(["It has 10⁶ parts."])).find_in_page(["It has 10 parts"], 1)


WRITTEN = """(page seven)|[7a]|（第七页）|(S. 7 ff.)|[^7]|[^7^]|【7†L12】|【7:0†source】|[citation:7]|[cite: 7]|[P7]
[#7]|[[7]]|[7](#page-7)|[Ref 7]|[source: 7]|(page 7, paragraph 2)|[7, paragraph 3]|[Page 7, ¶2]|(Seite 7)|(vgl. S. 7)
（第7页）|(7페이지)|(voir p. 7)|(стр. 7)
(pág. 7)|（第7页第2段）|[^p7]|〖7〗|[page=7]|[#page-7]|[@p7]|[chunk 7]|[No. 7]|[7.]|\\[7\\]|{7}|{{7}}|<cite>7</cite>
<sup>7</sup>|(as on page 7)|(page 7, first paragraph)|(page 7, 2nd paragraph)|(page 7 – line 3)
(hal. 7)|(σ. 7)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("written", WRITTEN)
def test_a_citation_of_any_form_is_one_mark(written):
    parsed = parse(f"He left {written}.")
    assert [mark.pages for mark in parsed.marks] == [(7,)]
    assert parsed.body[parsed.marks[0].end :] == "."


def test_footnotes_of_markdown_are_evidence():
    parsed = parse('He left [^7], she came [^9].\n\n[^7]: "He left at dawn"\n[^9]: "She came"')
    assert parsed.body == "He left [^7], she came [^9]."
    assert [(q.pages, q.text) for q in parsed.quotations] == [((7,), "He left at dawn"), ((9,), "She came")]


def test_numbers_in_brackets_that_are_no_pages_stay():
    assert parse("In (1843) he had (7) lamps, see [b] and [7:2].").marks == ()


def test_a_sentence_with_quotation_marks_inside_stays_whole_with_its_page():
    said = "“I open the letters,” I said. “No,” said Mr. Ax."
    loose = (
        Citation(1, FROM_PAGE, quotation="I open the letters,"),
        Citation(2, FROM_PAGE, quotation="No,"),
    )
    paragraphs = answer_paragraphs(Checked((Piece(said),), loose), copied=True)
    assert [(p.text, p.citations[0].page) for (p,) in paragraphs] == [
        ("“I open the letters,” I said.", 1),
        ("“No,” said Mr. Ax.", 2),
    ]
