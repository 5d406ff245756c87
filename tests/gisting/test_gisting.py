"""Every gist is shorter than its page or marked as a fallback, whatever the model replies."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.gisting.audit import audit_gist
from readagent_core.gisting.gist_prompts import Lengths
from readagent_core.gisting.gisting import clean_reply, find_problem, first_sentences, gist_page
from readagent_core.memory import Gist, Page
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.plan import GistingPlan
from readagent_core.words import count_words
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer
from tests.gisting.helpers import REPLIES
from tests.recordings import recording

PLAN = GistingPlan()
TEXT = (
    "Ada climbed the 212 steps of Harrow Light before dusk. The lamp had burned for nine years without a pause. "
    "She counted the steps as her father had done, and at the top she found the glass broken. Nobody had told her. "
    "On the floor lay a letter from Captain Rowe, dated 1871, and beside it a lamp wick, cut clean with a knife."
)


def make_page(*texts: str, language="en"):
    document = Document("T", tuple(Paragraph(t) for t in texts), language=language)
    return document, Page(1, 0, len(texts), document.words)


def gist_of(replies, *texts, plan=PLAN, language="en", **more):
    document, page = make_page(*(texts or (TEXT,)), language=language)
    model = FakeModel(replies)
    return gist_page(document, page, plan, model=model, cancel=CancelToken(), **more), model


def test_a_gist_is_the_models_words():
    gist, model = gist_of(["Ada climbs Harrow Light; the glass is broken."])
    assert (gist.text, gist.fallback, gist.marks) == ("Ada climbs Harrow Light; the glass is broken.", False, ())
    assert (model.prompts[0].fields["least"], model.prompts[0].fields["most"]) == ("8", "12")


def test_a_short_page_is_its_own_gist_unless_there_is_an_instruction():
    gist, model = gist_of([], "Only a few words here.")
    assert (gist.text, gist.whole) == ("Only a few words here.", True)
    assert model.prompts == []
    gist, _ = gist_of(["Few words."], "Only a few words here.", instruction="Shorter.")
    assert gist.text == "Few words."


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "   \n",
        "…",
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request.",
        "As an AI language model, I do not read.",
        "申し訳ありませんが、お手伝いできません。",
        TEXT,
        TEXT + " And more.",
        "<think>This is long and never ends",
        EmptyReplyError("empty"),
        RefusedError("no"),
        CutOffError("cut", "Ada climbed the"),
    ],
)
def test_a_useless_reply_is_asked_for_once_more(bad):
    gist, model = gist_of([bad, "Ada climbs."])
    assert (gist.text, gist.fallback) == ("Ada climbs.", False)
    assert len(model.prompts) == 2
    assert model.prompts[1].text.startswith(model.prompts[0].text)
    gist, model = gist_of([bad, bad])
    assert gist.fallback
    assert gist.text == "Ada climbed the 212 steps of Harrow Light before dusk."
    assert gist.words < count_words(TEXT)


def test_a_gist_about_an_apology_is_a_gist():
    text = "I'm sorry, said Ada, and told the captain everything. " + "He listened until the lamp went out. " * 3
    assert find_problem(text * 3, 1000) == ""
    assert find_problem("Ada cannot help laughing; she says sorry.", 1000) == ""


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Here is the shortened passage:\n\nAda climbs.", "Ada climbs."),
        ("Sure! Here's a shortened version of the passage:\nAda climbs.", "Ada climbs."),
        ("**Shortened version:** Ada climbs.", "** Ada climbs."),
        ("Shortened: Ada climbs.", "Ada climbs."),
        ("**Summary:** Ada climbs.", "Ada climbs."),
        ("短くした文章：\n雪が降る。", "雪が降る。"),
        ('"Ada climbs."', "Ada climbs."),
        ('"Go," said Ada. "Now."', '"Go," said Ada. "Now."'),
        ("```\nAda climbs.\n```", "Ada climbs."),
        ("<think>hm</think>\n\nAda climbs.", "Ada climbs."),
        ("Ada said: the nights are shorter here.", "Ada said: the nights are shorter here."),
        ("「雪が降る。」", "雪が降る。"),
    ],
)
def test_text_around_a_gist_is_removed(reply, text):
    assert clean_reply(reply).lstrip("* ") == text.lstrip("* ")


@pytest.mark.parametrize("reply", [reply for (reply,) in REPLIES["gist"]])
def test_what_small_models_write_around_a_gist_is_removed(reply):
    assert clean_reply(reply) == "She left."


def test_a_gist_that_speaks_of_a_summary_or_a_note_stays():
    for gist in ("In his summary the judge said: she left.", "She left.\nNote the hour: nine.", "(12 words)"):
        assert clean_reply(gist) == gist


def test_purpose_and_instructions_are_in_the_prompt():
    plan = GistingPlan(purpose="Who broke the glass?", instructions="Keep every number.")
    _, model = gist_of(["Ada."], plan=plan, instruction="Mention the letter.")
    for wanted in ("Who broke the glass?", "Keep every number.", "Mention the letter."):
        assert wanted in model.prompts[0].text


def test_japanese_lengths_are_characters():
    text = "雪が降っていた。駅には誰もいない。彼女は切符を握りしめて、長い夜のことを考えていた。" * 6
    said = "雪の降る駅に誰もいない。彼女は切符を握り、長い夜を考える。"
    gist, model = gist_of(["彼女は駅で待つ。", said], text, language="ja")
    assert gist.text == said
    assert "8字ありました" in model.prompts[1].text
    least, most = (int(model.prompts[0].fields[name]) for name in ("least", "most"))
    assert least < len(text) / 6.5 < most


SHORT = "Ada climbs; the glass is broken."  # 8 to 12 words are asked for
RIGHT = "Ada climbs Harrow Light; the glass is broken."
LONG = RIGHT + " Nobody told her, and on the floor lay a letter."
STRANGE = "Ada climbs Harrow Light with Jonas; glass is broken."


@pytest.mark.parametrize(
    ("replies", "text", "told", "mark"),
    [
        ([LONG, RIGHT], RIGHT, "it had 18 words", ""),
        ([SHORT, RIGHT], RIGHT, "it had 6 words", ""),
        ([LONG, SHORT], SHORT, "it had 18 words", "6 words, where 8 to 12 were asked for"),  # the nearer one
        ([STRANGE, RIGHT], RIGHT, "names that the passage does not have (Jonas)", ""),
        ([STRANGE, STRANGE], STRANGE, "Jonas", "names that its page does not have: Jonas"),
        ([RIGHT.replace("Light", "340"), RIGHT], RIGHT, "numbers that the passage does not have (340)", ""),
        ([LONG.replace("Harrow", "340"), RIGHT], RIGHT, "it had 18 words; it had numbers", ""),
        ([STRANGE, CutOffError("cut", "Ada")], STRANGE, "Jonas", "Jonas"),  # the second reply is of no use
    ],
)
def test_a_gist_that_does_not_hold_is_asked_for_once_more(replies, text, told, mark):
    gist, model = gist_of(replies)
    assert (gist.text, gist.fallback) == (text, False)
    assert len(model.prompts) == 2
    assert told in model.prompts[1].text
    assert f"\n\nYour last reply was:\n\n{replies[0]}\n\nIt cannot be used as it is: " in model.prompts[1].text
    assert model.prompts[1].text.endswith("in 8 to 12 words.")
    assert mark in " ".join(gist.marks)
    assert bool(gist.marks) == bool(mark)


@pytest.mark.parametrize(
    ("replies", "text", "told", "marks"),
    [
        ([RIGHT], RIGHT, "", ""),
        ([LONG, RIGHT], RIGHT, "it had 18 words", ""),
        ([LONG, STRANGE + " And more is said."], LONG, "it had 18 words", "18 words, where 8 to 12"),
        ([STRANGE, RIGHT], RIGHT, "names that the passage does not have (Jonas)", ""),
        ([f"{RIGHT[:-1]} at 340.", f"{RIGHT[:-1]} at 350."], f"{RIGHT[:-1]} at 340.", "(340)", "numbers"),
        (["Ada climbs “Harrow Light”; the glass “lay there broken”."], None, "", "without quotation marks"),
        (["I'm sorry, I can't help with that.", RIGHT], RIGHT, "it was a remark about the passage", ""),
    ],
)
def test_gists_are_controlled_through_a_server(replies, text, told, marks):
    document, page = make_page(TEXT)
    with FakeServer(replies) as server:
        model = OpenAIServer(server.url, "fake-model", window=10_000)
        gist = gist_page(document, page, PLAN, model=model, cancel=CancelToken())
    assert gist.text == (text or "Ada climbs “Harrow Light”; the glass lay there broken.")
    assert len(server.chats) == len(replies) == 1 + bool(told)
    assert told in server.chats[-1].text
    if replies[0].startswith("I'm sorry"):  # what cannot be used is not shown: small models copy it
        assert replies[0] not in server.chats[-1].text
    assert marks in " ".join(gist.marks)
    assert bool(gist.marks) == bool(marks)


def test_a_gist_hardly_outside_its_range_is_not_asked_for_again():
    assert [Lengths(51, 77).distance(words) for words in (47, 48, 51, 77, 80, 81)] == [4, 0, 0, 0, 0, 4]


def test_an_instruction_for_one_page_may_ask_for_any_length():
    gist, model = gist_of([LONG], instruction="Tell all of it.")
    assert (gist.text, gist.marks, len(model.prompts)) == (LONG, (), 1)


@pytest.mark.parametrize(
    ("page", "said", "text"),
    [
        (TEXT, "Ada finds “the glass broken” and a letter.", None),
        (TEXT, "Ada finds “Glass, broken!” and a “big” letter.", "Ada finds “Glass, broken!” and a big letter."),
        (TEXT, 'Ada says "I climb"; a wick "cut clean".', 'Ada says I climb; a wick "cut clean".'),
        (TEXT, 'Ada finds "the glass … lamp wick" there.', None),
        ("“No,” she said. “Go.”", "She says “no”, then “Go.”", None),
        ("“No,” she said. “Go.”", "She says “No, go.”", "She says No, go."),
        ("彼は「もう帰る」と言った。", "彼は「もう帰る」「さようなら」と言う。", "彼は「もう帰る」さようならと言う。"),
    ],
)
def test_quotation_marks_stay_only_round_words_of_the_page(page, said, text):
    gist = audit_gist(Gist(said), page, page_words=100)
    assert gist.text == (text or said)
    assert any("without quotation marks" in mark for mark in gist.marks) == bool(text)


@settings(max_examples=60, derandomize=True)
@given(st.text(max_size=400), st.integers(1, 40))
def test_first_sentences_are_shorter_than_their_text(text, target):
    if count_words(text) > 1:
        assert count_words(first_sentences(text, target, "en")) < count_words(text)


@settings(max_examples=60, derandomize=True)
@given(st.text(max_size=300))
def test_no_reply_breaks_gisting(reply):
    gist, _ = gist_of([reply, reply])
    assert gist.words < count_words(TEXT)
    assert gist.text or not gist.fallback


WRITTEN = "He paid twenty-five pounds for two hundred and six sheep in nineteen hundred and one thousand ways."
APRIL = "They can start on the thirteenth of April."
TWELVE = "On Saturday it is high at twenty past twelve."
LAMP = "At three minutes to three the lamp stopped."
STELL = "Stell Marine asks eighteen thousand four hundred pounds."


@pytest.mark.parametrize(
    ("page", "gist", "part"),
    [
        (TEXT, "Ada climbs Harrow Light with Captain Rowe.", None),
        (TEXT, "Ada is told so by Mr. Jackson.", "Jackson"),
        (TEXT, "Ada climbs; the light of Harrow's tower is out.", None),
        (TEXT, "Ada climbs with Jonas to the top.", "Jonas"),
        ("They all left the _Black Eagle_ at noon.", "They leave the Black Eagle.", None),
        ("They all left the _Black Eagle_ at noon.", "They leave the _Brown Hawk_.", "Brown"),
        (TEXT, "It is a Christian light, and on Thursday the French captain speaks English.", None),
        ("The ship left Venus and its captain slept.", "They fear Venusian storms; Martian ones too.", "Martian"),
        (TEXT, "Ada climbs with Vivian and the captain.", "Vivian"),
        (TEXT, "Ada reads what Brokman wrote.", "Brokman"),  # no adjective of "broken"
        (TEXT, "Ada climbs 212 steps; the letter is of 1871.", None),
        (TEXT, "Ada climbs 340 steps.", "340"),
        ("They call me I-vy, said she to the doctor.", "They call her Ivy; so says Dr I-vy.", None),
        (TEXT, "Jonas climbs.", None),  # the first word of a sentence is always capitalised
        (TEXT, "Ada steigt auf den Turm und findet das Glas zerbrochen, und der Brief ist nicht von ihr.", "language"),
        (TEXT, "エイダは塔に登り、割れたガラスを見つける。", "language"),
        (TEXT, "After 9 years the lamp stops.", None),
        (TEXT, TEXT + " And on it goes.", "longer"),
        (WRITTEN, "He paid 25 for 206 sheep.", None),
        (WRITTEN, "He paid 26 for the sheep.", "26"),
        (APRIL, "It starts on 13 April.", None),
        (TWELVE, "High water is at 12.20.", None),
        (LAMP, "The lamp stops at 2.57.", None),
        ("They met at half past eight.", "They met at 8.30.", None),
        ("I declare the meeting closed at eight forty-one.", "It closed at 8.41.", None),
        ("Ours is usually a hundred and fifty pounds.", "The fee is 150.", None),
        ("Five per cent is one thousand and eighty-seven pounds fifty.", "5% is 1,087.50.", None),
        (STELL, "Stell asks 18,400.", None),
        ("In the twentieth year of the light.", "In the 20th year.", None),
        ("A Spanish and a French ship.", "Ships of Spain and France.", None),
        ("A Spanish ship.", "A ship of Sweden.", "Sweden"),
        ("He owed five and thirty thousand pounds to six score men.", "He owed 120 men £35,000.", None),
        ("He made a million and a half in one-and-twenty days.", "He made 1.5 million in 21 days.", None),
        ("He owed five and thirty pounds.", "He owed £45.", "45"),
        (APRIL, "It starts on 14 April.", "14"),
        ("CHAPTER XV. He led L. C. Smith in.", "Chapter 15: he leads Smith in.", None),
        ("CHAPTER XV. He led Smith in.", "Chapter 16: he leads Smith in.", "16"),
        (TWELVE, "High water is at 11.45.", "11.45"),
        (STELL, "Stell asks 18,500.", "18,500"),
        (LAMP, "The lamp stops at 4.10.", "4.10"),
    ],
)
def test_the_audit_marks_what_the_page_does_not_have(page, gist, part):
    marks = audit_gist(Gist(gist), page, page_words=count_words(page)).marks
    assert (marks == ()) if part is None else any(part in mark for mark in marks)


@pytest.mark.parametrize(
    "said", ["The keepers wrote.", "Keeper 0 wrote the weather of day 0 in the log, and then went to bed."]
)
def test_a_gist_that_says_next_to_nothing_is_not_stored_as_good(said):
    text = "\n\n".join(f"Keeper {n} wrote the weather of day {n} in the log, and then went to bed." for n in range(30))
    document = Document("Log", tuple(Paragraph(part) for part in text.split("\n\n")))
    page = Page(1, 0, 30, document.words)
    with FakeServer(lambda _: said) as server:
        model = OpenAIServer(server.url, "fake-model", window=8000)
        gist = gist_page(document, page, GistingPlan(), model=model, cancel=CancelToken())
        model.close()
    assert gist.fallback
    assert gist.text.startswith("Keeper 0 wrote")


def test_a_gist_that_repeats_itself_or_tells_of_something_else_is_marked():
    """Such as a model of 1.5B wrote. No gist of a strong model is marked so."""
    made_up = Gist(
        "The narrator is describing a series of events that occur in a village where a ship is being pursued by "
        "pirates, uses verbal communication to convey the information, and is trying to convince them to keep it."
    )
    assert "it may tell of something else" in audit_gist(made_up, TEXT, page_words=90).marks[-1]
    circle = Gist("Ada climbs to find lamps. She climbs to find lamps by finding. She climbs to find lamps too. " * 2)
    assert audit_gist(circle, TEXT, page_words=90).marks == ("says the same more than once",)
    sung = f"{TEXT} {'Ada climbs to find lamps. She climbs to find lamps by finding. ' * 12}"
    assert audit_gist(circle, sung, page_words=90).marks == ()
    broken = Gist("Nobody knows who began... Ada sat down on the edge of the...")
    assert audit_gist(broken, TEXT, page_words=90).marks[-1] == "breaks off sentences that its page ends"
    for name in ("the-keeper-of-harrow-light", "harrow-council-minutes", "yuki-no-eki"):
        memory = recording(name).memory
        for page, gist in zip(memory.pages, memory.gists, strict=True):
            marks = audit_gist(gist, memory.page_text(page.number), page_words=page.words).marks
            assert not [mark for mark in marks if re.search("something else|more than once|breaks off", mark)]
