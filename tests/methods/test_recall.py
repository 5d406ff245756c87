"""Recall: requests served together, within the words allowed, never past the limit; parts of pages cited as such."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from pages.parts.ask.book_views import memory_step
from readagent_core.answering import look_up_text, replay
from readagent_core.answering.base import Answered, AskSettings, Expanded, LookedUp, Question, Searched
from readagent_core.answering.event_json import event_from_dict, event_to_dict
from readagent_core.answering.passages import BookPassages
from readagent_core.answering.recall import QUESTION_WORDS
from readagent_core.answering.recall_replies import parse_recall
from readagent_core.answering.recall_view import names_of, shorten_alike, telling_words
from readagent_core.answering.registry import method
from readagent_core.answering.replay import checked_answer
from readagent_core.answering.resources import Resources
from readagent_core.answering.shelf import AskedShelf
from readagent_core.cancel import CancelToken
from readagent_core.citations import FROM_MEMORY, FROM_PAGE
from readagent_core.document import Document, Paragraph
from readagent_core.export.citation_labels import citation_label
from readagent_core.memory import Gist, GistMemory, Page, Passage
from readagent_core.models.builtin.parts_asked import Part
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.models.builtin.replies import OF_PART
from readagent_core.plan import GistingPlan
from readagent_core.words import count_words
from tests.fakes.model import FakeModel
from tests.methods.books import answer, run

FILLER = "The road went on between the hedges and nobody spoke of it again that day or the next one."


def novel(pages: int = 30, paragraphs: int = 10) -> GistMemory:
    """Pages of even paragraphs; each page tells of its own coin in its third, and of Ada in its seventh."""
    made = [
        Paragraph(
            f"Then coin number{n} was laid on the table before them. {FILLER}" if p == 2
            else f"“Ada’s lamp burns {n} nights,” they said. {FILLER}" if p == 6 else f"{FILLER} {FILLER}"
        )
        for n in range(1, pages + 1)
        for p in range(paragraphs)
    ]  # fmt: skip
    return GistMemory(
        Document("The Road", tuple(made)),
        GistingPlan(max_words=600, min_words=1),
        tuple(Page(n, (n - 1) * paragraphs, n * paragraphs, 300) for n in range(1, pages + 1)),
        tuple(Gist(f"Gist {n} tells of the road and of the day that came {n} days after it, at length.") for n in
              range(1, pages + 1)),
        complete=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "requests"),
    [
        ('FIND "coin"\nFIND "old penny" in pages 20-30\nOPEN 58:4-9, 60\nGISTS 3-7 to see',
         ['FIND "coin"', 'FIND "old penny" in pages 20-30', "OPEN 58:4-9", "OPEN 60", "GISTS 3-7"]),
        ("1. FIND “the lamp” because 7 people\n2. GISTS 10", ['FIND "the lamp"', "GISTS 10-10"]),
        ("**OPEN** [5:2]", ["OPEN 5:2-2"]),
        ("FIND coin, since it is old", ['FIND "coin"']),
        ('FIND "言葉" 20-30ページ', ['FIND "言葉" in pages 20-30']),
        ('GISTS "lamp" in pages 2-9\nGISTS "coin"', ['GISTS "lamp" in pages 2-9', 'GISTS "coin"']),
        ('FIND ALL "lamp" in pages 2-9\nOPEN 58.4-9', ['FIND ALL "lamp" in pages 2-9', "OPEN 58:4-9"]),
        ("OPEN 4-6", ["OPEN 4-6"]),
        ("OPEN P:A-B\nGISTS P-Q", []),  # the form of the prompt, copied
        ("ANSWER: They FIND it [3].", []),
        ("The answer is 7.", []),
        ("OPEN 99999999999999", []),
    ],
)  # fmt: skip
def test_requests_of_any_form(reply, requests):
    assert [str(request) for request in parse_recall(reply)] == requests


def test_names_are_listed_whole_with_their_pages():
    text = [f"There Miss Ada Vane met Ada and Tom{' of Stell' * (n < 3)}; then Miss Ada Vane left." for n in range(6)]
    paragraphs = tuple(Paragraph(words) for words in text)
    pages = tuple(Page(n + 1, n, n + 1, 12) for n in range(6))
    memory = GistMemory(Document("T", paragraphs), GistingPlan(max_words=50, min_words=1), pages, (Gist("G"),) * 6)
    assert names_of(memory) == "Miss Ada Vane 1-6; Tom 1-6"
    assert names_of(memory.up_to(4)) == "Miss Ada Vane 1-4; Tom 1-4"


def test_pages_of_several_books_are_named_with_their_book():
    asked = 'OPEN 2.58:4-9, book 3 page 7\nGISTS 2.3-7\nFIND "coin" in pages 1.2-1.4'
    named = ["OPEN 2.58:4-9", "OPEN 3.7", "GISTS 2.3-2.7", 'FIND "coin" in pages 1.2-1.4']
    assert [str(request) for request in parse_recall(asked, several=True)] == named


def test_the_first_prompt_has_a_view_that_no_question_changes_and_the_passages_for_this_one():
    model = FakeModel(lambda _: "ANSWER: It was laid there [7].")
    events = run("recall", model, question="Where was coin number7 laid by a troll?", about=novel())
    run("recall", model, question="Whose lamp burns 12 nights?", about=novel())
    first, second = (prompt.text for prompt in model.prompts)
    begins_alike = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    whole, asked = (count_words(second[second.index("<text>") : end]) for end in (len(second), second.index("Names")))
    rules = count_words(second[second.index("Answer if") : second.index("Passages that")])
    assert begins_alike > first.index("Passages that")
    assert asked >= 0.4 * (whole - rules)  # these gists have 16 words; bench.prefix measures a real book
    assert "coin number7 was laid" in first
    assert "12:1-10 " in first  # with its paragraphs, so that a part can be opened at once
    assert "as they are spelled in it: number7 7; troll nowhere" in first
    found = next(event for event in events if isinstance(event, LookedUp))
    assert 7 in {passage.page for passage in found.passages}
    assert answer(events).seen[7] == "passage"
    assert count_words(first) < 2500


def test_all_requests_of_one_reply_are_served_together_after_the_whole_prompt_before():
    asks = 'FIND "Ada"\nFIND "number29"\nFIND "unicorn"\nOPEN 3:7\nGISTS 20-22\nOPEN 99'
    model = FakeModel([asks, "ANSWER: Ada’s lamp burns [3]."])
    events = run("recall", model, question="Why?", about=novel())
    before, after = (prompt.text for prompt in model.prompts)
    assert after.startswith(before)
    shown = after[len(before) :]
    assert "it: 30, on pages 1-30 (as: ada); showing 8 of 30" in shown
    assert "“Ada’s lamp burns 29 nights,”" not in before
    assert "coin number29 was laid" in shown  # one hit is shown with what is round it
    assert "Gist of page 21: Gist 21 tells" in shown
    assert "(paragraphs" in shown
    assert "Nowhere" in shown
    assert "no page or paragraph 99" in shown
    searched = {event.words: event.pages for event in events if isinstance(event, Searched)}
    assert searched == {("Ada",): tuple(range(1, 31)), ("number29",): (29,), ("unicorn",): ()}
    assert answer(events).seen[3] == answer(events).seen[29] == "passage"
    assert answer(events).steps == 1


def test_the_sentences_of_gists_are_found_by_their_words_up_to_the_limit():
    model = FakeModel(['GISTS "12 days"\nGISTS "came" in pages 2-4\nGISTS "unicorn"', "ANSWER: Yes [3]."])
    run("recall", model, question="Why?", about=novel().up_to(20))
    shown = model.prompts[1].text[len(model.prompts[0].text) :]
    assert "Gist sentences that have it: 1, on pages 12; showing 1:\n12: Gist 12 tells of the road" in shown
    assert "Gist sentences that have it: 3, on pages 2-4; showing 3:" in shown
    assert "In no gist." in shown


def test_replies_are_bounded_by_their_number_and_by_the_words_of_the_question():
    def ask_on(prompt):
        return "ANSWER: Yes [1]." if "No requests" in prompt.text else "OPEN 1-9\nGISTS 1-30"

    model = FakeModel(ask_on)
    events = run("recall", model, about=novel(paragraphs=40))
    texts = [prompt.text for prompt in model.prompts]
    assert len(texts) == 3
    assert all(count_words(b) - count_words(a) < 1800 for a, b in itertools.pairwise(texts))
    assert "cut here" in texts[1]
    assert answer(events).text == "Yes [1]."
    assert sum(map(count_words, texts)) <= QUESTION_WORDS
    few = FakeModel(ask_on)
    events = run("recall", few, about=novel(paragraphs=40), question_words=3000)
    assert sum(count_words(prompt.text) for prompt in few.prompts) <= 3000
    assert answer(events).text == "Yes [1]."


def test_requests_are_served_in_order_within_the_room_and_nothing_is_shown_twice():
    about = novel(paragraphs=60)
    asks = 'FIND "number29"\nFIND "number29 was"\nFIND "unicorn"\nFIND "number5 burns"\nOPEN 3\nGISTS 2'
    model = FakeModel([asks, "ANSWER: Yes [3]."])
    run("recall", model, about=about)
    before, after = (prompt.text for prompt in model.prompts)
    shown = after[len(before) :]
    assert shown.count("coin number29 was laid") == 1
    assert "(standing above already: 29:2-5)" in shown
    assert 900 < count_words(shown) < 1300
    assert "(cut here" in shown  # page 3, asked for first of what is long, had what the others left
    assert "Gist of page 2:" in shown
    one_line = FakeModel(['FIND "Ada"\nOPEN 30:7-7', "ANSWER: Yes [3]."])  # a line of it stands above, not all
    events = run("recall", one_line, about=about)
    assert one_line.prompts[1].text.count("burns 30 nights") == 2
    look_up = [event for event in events if isinstance(event, LookedUp)][-1]
    shown = [about.document.paragraphs[p.start].text[: p.stop] for p in look_up.passages if p.stop]
    assert shown[0] == "“Ada’s lamp burns 1 nights,” they said."


def test_several_books_are_asked_the_same_way_each_to_its_limit():
    books = AskedShelf([novel(30), novel(30).up_to(5)])
    model = FakeModel(['FIND "number12"\nOPEN 2.12\nOPEN 1.12:3\nGISTS 2.4-9', "ANSWER: It lay there [1.12]."])
    events = list(method("recall").run(Question("Why?"), books, model, AskSettings(), CancelToken()))
    first, after = (prompt.text for prompt in model.prompts)
    assert "2.5:1-10 " in first
    assert "2.6:" not in first
    shown = after[len(first) :]
    assert "<Page 1.12> (paragraphs" in shown
    assert "coin number12 was laid" in shown
    assert "2.12" not in shown.replace("OPEN 2.12", "").replace("paragraph 2.12", "")
    assert "Gist of page 2.5:" in shown
    assert "Gist of page 2.6:" not in shown
    one, two = answer(events).books
    assert (one.number, one.seen[12], two.number) == (1, "passage", 2)
    assert max(two.seen) == 5
    assert [p for p in one.passages if p.page == 12]
    looked = [event for event in events if isinstance(event, LookedUp) and event.refused]
    assert looked[0].refused == ("There is no page or paragraph 2.12 that you may see.",)
    for event in events:
        assert event_from_dict(json.loads(json.dumps(event_to_dict(event)))) == event


def test_a_window_that_turns_out_smaller_is_met_with_less():
    small = FakeModel(lambda _: "ANSWER: Yes [1].")
    small.window = 1500
    run("recall", small, question="Where was coin number7 laid?", about=novel())
    large = FakeModel(lambda _: "ANSWER: Yes [1].")
    run("recall", large, question="Where was coin number7 laid?", about=novel())
    assert count_words(small.prompts[-1].text) < count_words(large.prompts[-1].text)


def test_words_that_no_prompt_before_had_are_counted_beside_those_sent():
    model = FakeModel(['FIND "number29"', "ANSWER: Laid there [29]."] * 2)
    made = [answer(run("recall", model, question=f"coin {n}?", about=novel())).usage for n in (1, 2)]
    first, _, third, _ = (prompt.words for prompt in model.prompts)
    assert made[0].words_in == sum(prompt.words for prompt in model.prompts[:2])
    assert made[0].words_new < made[0].words_in - first + 10
    assert made[1].words_new < made[1].words_in - first - third / 2


def test_nothing_past_the_limit_is_found_opened_or_shown():
    model = FakeModel(['FIND "Ada"\nFIND "number12"\nOPEN 12\nGISTS 8-15', "ANSWER: No [2]."])
    events = run("recall", model, question="What of the coin?", about=novel().up_to(9))
    told = "".join(prompt.text for prompt in model.prompts)
    assert "coin number12 was" not in told
    assert "burns 12" not in told
    assert "Gist 12" not in told
    assert "that have it: 9, on" in told
    assert max(answer(events).seen) == 9


def test_a_quotation_counts_only_where_its_part_of_the_page_was_shown():
    about = novel()
    said = 'The coin lay there [7].\n\nEvidence:\n[7] "{}"'
    model = FakeModel([said.format("coin number7 was laid on the table")])
    made = answer(
        run("recall", model, question="What of coin number7?", about=about, extra={"passages": 130, "view": 900})
    )
    assert checked_answer(made.text, made, about).count(FROM_PAGE) == 1
    unseen = said.format("Ada’s lamp burns 7 nights")
    assert checked_answer(unseen, made, about).count(FROM_MEMORY) == 1


@pytest.mark.parametrize("name", ["read-agent-p", "read-agent-s", "recall", "search-agent", "zoom"])
def test_the_built_in_reader_opens_the_end_that_is_asked_for(name):
    """The last page that may be seen, whatever pages have the word 'end'; notes below the text are not its end."""
    about = novel(21)
    paragraphs = list(about.document.paragraphs)
    paragraphs[30] = Paragraph(f"In the end it came to an end. {FILLER}")
    paragraphs[199] = replace(paragraphs[199], note=True)
    about = replace(about, document=replace(about.document, paragraphs=tuple(paragraphs))).up_to(20)
    made = answer(run(name, BuiltInReader(), question="How does it end?", about=about))
    assert [page for page, how in made.seen.items() if how in ("full", "passage")] == [20]
    assert made.text.startswith(OF_PART["en"][Part.END])
    made = answer(run(name, BuiltInReader(), question="How does it begin?", about=about))
    assert [page for page, how in made.seen.items() if how in ("full", "passage")] == [1]


def test_the_built_in_reader_tells_what_happened_so_far_from_beginning_to_end():
    """Not from the page that has the question's words."""
    about = novel(9)
    paragraphs = list(about.document.paragraphs)
    paragraphs[3] = Paragraph(f"Ada asked what had happened so far. {FILLER}")
    about = replace(about, document=replace(about.document, paragraphs=tuple(paragraphs)))
    made = answer(run("recall", BuiltInReader(), question="What happened so far?", about=about))
    assert made.text.startswith(OF_PART["en"][Part.WHOLE])
    assert [page for page, how in made.seen.items() if how == "passage"][-1] == 9
    assert len(set(re.findall(r"\[(\d+)\]", made.text.split("Evidence")[0]))) == 3


def test_words_of_pages_that_were_not_let_in_are_not_said_to_be_nowhere_in_the_text():
    model = FakeModel(['FIND "pianola"', "ANSWER: The text does not say."])
    events = run("recall", model, question="Who played the pianola?", about=novel().up_to(6))
    (step,) = [step for step in replay.steps(events) if step.searched]
    assert look_up_text.look_up_title(step, up_to=6) == "Looked for “pianola”: nowhere in pages 1 to 6"
    assert look_up_text.look_up_title(step) == "Looked for “pianola”: nowhere in the text"


def test_what_was_opened_in_part_is_said_in_replay_citation_and_memory_view():
    about = novel()
    said = (
        'The coin lay there [7]. The lamp burned [9].\n\nEvidence:\n[7] "coin number7 was laid"\n[9] "burns 9 nights"'
    )
    model = FakeModel(["OPEN 3:5-6\nOPEN 9", f"ANSWER: {said}"])
    events = run("recall", model, question="What of coin number7?", about=about)
    looks = [step for step in replay.steps(events) if step.kind == replay.LOOK_UP]
    assert look_up_text.look_up_title(looks[0]).startswith("Found by search: passages of page")
    assert look_up_text.look_up_title(looks[1]) == "Opened passages of page 3, went back to page 9"
    assert looks[1].said == ""  # a command, not the model's reason
    checked = checked_answer(answer(events).text, answer(events), about)
    assert [citation_label(citation) for citation in checked.citations] == ["from page 7, part", "from page 9"]
    step = replay.steps(events)[-1]
    view = memory_step(about, step, None, checked, {})
    assert view["inPart"][3][-1][1] == 6
    assert 9 in view["expanded"]
    assert 7 in view["passages"]
    gists = checked_answer("Hester kept it [4].", answer(events), about)  # of a page that was not opened
    view = memory_step(about, step, None, gists, {})
    assert (view["focus"], view["wanted"]) == (4, True)


def test_a_connected_embedding_model_finds_what_no_word_of_the_question_names():
    class Nearest:
        """Puts the texts with 'number23' beside every question."""

        name = "fake"

        def embed(self, texts, cancel):
            return np.array([[1.0, 0.0] if "number23" in text or "kept" in text else [0.0, 1.0] for text in texts])

    asked, resources = Question("Which token was kept?"), Resources(embedder=Nearest())
    model = FakeModel(lambda _: "ANSWER: That one [23].")
    list(method("recall").run(asked, novel(), model, AskSettings(), CancelToken(), resources))
    assert "coin number23 was laid" in model.prompts[0].text
    list(method("recall").run(asked, novel(), model, AskSettings(), CancelToken()))
    assert "coin number23 was laid" not in model.prompts[1].text


def test_events_with_passages_are_stored_and_older_ones_open_without():
    for event in run("recall", FakeModel(["ANSWER: Yes [7]."]), question="coin number7", about=novel()):
        assert event_from_dict(json.loads(json.dumps(event_to_dict(event)))) == event
    old = event_from_dict({"kind": "LookedUp", "pages": [3], "reply": "", "reason": "", "refused": []})
    assert isinstance(old, LookedUp)
    assert old.passages == ()
    assert "passages" not in event_to_dict(Expanded((3,), 10))
    assert isinstance(event_from_dict(event_to_dict(Expanded((3,), 10, passages=(Passage(3, 1, 2),)))), Expanded)


def test_words_are_found_with_endings_accents_and_without_marks():
    book = BookPassages(novel(2))
    assert len(book.find("coins").paragraphs) == 0  # the book has no plural
    text = Document("T", (Paragraph("Two *old* coins lay in Zoë’s café."), Paragraph("A coinage of her own.")))
    memory = GistMemory(text, GistingPlan(max_words=50, min_words=1), (Page(1, 0, 2, 12),), (Gist("G"),), complete=True)
    book = BookPassages(memory)
    assert book.find("coin").paragraphs == (0,)
    assert book.find("zoe's cafe").paragraphs == (0,)
    assert book.find("old coin").forms == ("old coins",)
    assert book.find("inage").forms == ("coinage",)  # a word that is nowhere: inside others
    apart = book.find("coins two")  # no phrase: all of the words in one paragraph, and it is said
    assert (apart.paragraphs, apart.forms) == ((0,), ())
    assert book.places("Whose old coinage, or whose ducat?") == {"old": (1,), "coinage": (1,), "ducat": ()}


def test_a_gist_that_is_cut_keeps_its_end_and_a_page_is_told_by_its_own_words():
    long = " ".join(f"w{n}" for n in range(60))
    assert shorten_alike([("3:", long)], 9, end=True) == ["3: w0 w1 w2 w3 w4 w5 … w57 w58 w59"]
    pages = ["the ship sank, the ship was lost off the cape", "the house burned and the cape was seen"]
    assert telling_words(["A ship was lost off the cape.", "A house burned near a cape."], pages, 2) == [
        "ship lost",
        "house burned",
    ]


@pytest.mark.parametrize("name", ["search-agent", "passages-dos"])
def test_the_baselines_send_no_gist(name):
    model = FakeModel(lambda _: "ANSWER: Laid there [7].")
    made = run(name, model, question="Where was coin number7 laid?", about=novel())
    assert "gist" not in model.prompts[0].text.lower()
    assert "number7 was laid" in model.prompts[0].text
    assert isinstance(made[-1], Answered)
    assert len(model.prompts) == 1


@pytest.mark.parametrize(("question", "whole"), [("What is this about?", False), ("Who laid a coin?", True)])
def test_a_question_of_all_of_a_text_without_gists_sees_it_from_beginning_to_end(question, whole):
    """The search found nothing for 'What is this about?', or the pages that happen to have its common words."""
    book = novel()
    model = FakeModel(lambda _: "ANSWER: Coins [1].")
    made = method("passages-dos").run(Question(question), book, model, AskSettings(whole=whole), CancelToken())
    (looked,) = [event for event in made if isinstance(event, LookedUp)]
    pages = [passage.page for passage in looked.passages]
    assert (pages[0], pages[-1]) == (1, len(book.pages))
    assert len(set(pages)) > len(book.pages) // 3


@pytest.mark.parametrize("look_ups", [0, 3])
def test_the_baseline_searches_by_words_whatever_may_be_looked_up(look_ups):
    """In experiments methods without look-ups have none allowed."""
    model = FakeModel(lambda _: "ANSWER: It [7].")
    asked = Question("Who laid coin number7?")
    settings = AskSettings(look_ups, extra={"passages": 200})
    events = method("passages-dos").run(asked, novel(), model, settings, CancelToken())
    (looked,) = [event for event in events if isinstance(event, LookedUp)]
    assert 7 in {passage.page for passage in looked.passages}


def test_the_cast_of_the_book_stands_in_the_first_view_where_it_is_known():
    model = FakeModel(lambda _: "ANSWER: Yes [7].")
    known = Resources(cast=lambda memory: "Ada Vane [1-30]: keeps the lamp.")
    list(method("recall").run(Question("Who?"), novel(), model, AskSettings(), CancelToken(), known))
    assert "Names and the pages that have them: Ada Vane [1-30]: keeps the lamp.\n" in model.prompts[0].text


def test_longer_words_that_have_the_word_inside_are_named():
    text = Document(
        "T", (Paragraph("A hound barked at the gate. " * 3), Paragraph("Her greyhound of 1840 lay by it. " * 3))
    )
    memory = GistMemory(text, GistingPlan(max_words=50, min_words=1), (Page(1, 0, 2, 30),), (Gist("G"),), complete=True)
    model = FakeModel(['FIND "hound"\nFIND "18"', "ANSWER: Yes [1]."])
    run("recall", model, question="Why?", about=memory)
    assert "(inside other words: greyhound 1:2)" in model.prompts[1].text
    assert "1840" in model.prompts[1].text
