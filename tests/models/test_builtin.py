"""The built-in reader: every task answered in the form asked for, in both languages, from the text alone."""

from __future__ import annotations

import re
from contextlib import nullcontext

import pytest

from readagent_core import prompts
from readagent_core.cancel import CancelToken
from readagent_core.errors import RefusedError
from readagent_core.models.builtin.parts_asked import Part
from readagent_core.models.builtin.reader import ANSWERS, BuiltInReader
from readagent_core.models.builtin.replies import NEAREST, NOT_FOUND, OF_FEW, OF_PART
from readagent_core.models.builtin.shortening import shortened
from readagent_core.models.builtin.statistics import shared_words, split_sentences
from readagent_core.prompts import Prompt, render, render_fragment
from readagent_core.tags import label, page_tag

SEA = "The boat lay in the harbour. The tide lifted the boat, and the oars knocked against the boat's side."
SHOP = "In the bakery Mrs. Oake kneaded dough. Flour hung over the bakery counter, and the dough rose."
JA_PAGE = (
    "駅の時計は三分進んでいる。遥は改札を出て時計を見た。雪は小降りだった。"
    "商店の前に佐伯が立っていた。手袋には四十七番と書かれていた。遥は手袋を拾った。"
)
STORY = (
    "The keeper climbed the tower every evening. The tower stood on a reef. "
    "A brass key hung by the door of the tower. Nobody had come in the winter. The key opened the oil store."
)


def ask(task: str, language: str = "en", **fields: str) -> str:
    return BuiltInReader().complete(made(task, language, **fields), CancelToken()).text


def made(task: str, language: str = "en", **fields: str) -> Prompt:
    """The prompt with these fields; those that the built-in reader does not use may be missing."""
    unused = dict.fromkeys(prompts.template(task, language).get_identifiers(), "")
    return render(task, language, **{**unused, **fields})


def memory(*bodies: str, full: tuple[int, ...] = (), language: str = "en") -> str:
    return "\n\n".join(
        f"{page_tag(n, full=n in full, language=language)}\n{body}" for n, body in enumerate(bodies, start=1)
    )


def passage(*pieces: str) -> str:
    return "\n\n".join(f"{text}\n\n{label(i)}" for i, text in enumerate(pieces, start=1))


def title(**fields: str) -> dict[str, str]:
    """The fields of a prompt that has a title."""
    return {"title": "T", **fields}


def pausing(*pieces: str) -> dict[str, str]:
    return {"where": "a turn", "preceding": "", "passage": passage(*pieces)}


def walking(seen: str, back: str) -> dict[str, str]:
    """A walk among two parts; ``seen``: the numbers of those that were looked into."""
    parts = "Part 1: A ship came into the harbour.\n\nPart 2: The brass key hung by the door."
    for number in seen:
        parts = parts.replace(f"Part {number}:", f"Part {number}{render_fragment('walk.visited', 'en')}:")
    return title(memory="", back=back, parts=parts, question="Where was the key?")


def leaf(question: str) -> dict[str, str]:
    return title(memory="", text=STORY, question=question)


COSY = "Mrs. Oake won a tea cosy at the fair."
FAIR = memory("The boat left.", COSY, "Rain fell.")
JA_MEMORY = memory("駅の時計。", "手袋の番号は四十七番。", language="ja")
TEA = "What tea cosy did Mrs. Oake win?"
JA_PARTS = f"部分 1{render_fragment('walk.visited', 'ja')}：船が港に入った。\n\n部分 2：真鍮の鍵が戸口にあった。"
JA_KEY = {"title": "本", "memory": "", "question": "真鍮の鍵はどこ？"}
THREE = "(A) flew home\n(B) kneaded dough\n(C) bought a zebra"
DID = title(question="What did Mrs. Oake do?", options=THREE)
FOUND = title(memory=f"<Page 3> (full text)\n{STORY}", order=render_fragment("order.rank", "en"))


@pytest.mark.parametrize(
    ("task", "language", "fields", "wanted"),
    [
        ("paginate", "en", pausing(SEA, SEA, SHOP, SHOP), r"Break point: <2>\nBecause "),
        ("paginate", "en", pausing(SEA, SHOP, SHOP, "## Next\n\n" + SHOP, SHOP), "Break point: <3>"),
        ("paginate", "ja", pausing(JA_PAGE), r"Break point: <1>\n理由："),
        (
            "look_up",
            "en",
            title(k="2", memory=FAIR, question=TEA),
            r"Page \[2\]: words shared with the question",
        ),
        ("look_up", "en", title(k="2", memory=FAIR, question="Who painted zebras?"), r"Page \[\]: no gist shares"),
        (
            "look_up",
            "ja",
            title(
                k="2", memory=memory("駅の時計。", "手袋の番号は四十七番。", language="ja"), question="手袋の番号は？"
            ),
            r"Page \[2\]",
        ),
        ("look_up_next", "en", title(memory=memory(SEA, COSY), question=TEA, seen="none"), "Page 2: "),
        ("look_up_next", "en", title(memory=memory(SEA, COSY, full=(2,)), question=TEA, seen="2"), "STOP$"),
        ("answer", "en", title(memory=memory(SEA), question="Who painted zebras?"), NOT_FOUND["en"]),
        ("answer", "ja", title(memory=memory(JA_PAGE), question="大統領の犬種は？"), NOT_FOUND["ja"]),
        ("answer_pages", "en", {**FOUND, "question": "Where did the brass key hang?"}, r".*\[3\]"),
        ("choose", "en", {**DID, "memory": memory(SEA, f"{SHOP} {COSY}")}, r"Answer: \(B\)"),
        ("choose_text", "en", {**DID, "text": SEA + SHOP, "cut": "", "quote": ""}, r"Answer: \(B\)"),
        ("walk", "en", walking("", ""), ".*Action: enter part 2$"),
        ("walk", "en", walking("2", ", or back"), ".*Action: enter part 1$"),
        ("walk", "en", walking("12", ", or back"), ".*Action: go back$"),
        ("walk", "ja", {**JA_KEY, "back": "戻る", "parts": JA_PARTS}, ".*2$"),
        ("leaf", "en", leaf("Where did the brass key hang?"), ".*Action: answer\nAnswer: A brass key hung by the door"),
        ("leaf", "en", leaf("Who married Mr. Darcy?"), ".*Action: go back$"),
        ("leaf", "en", leaf("What did the key open?\n\n(A) the oil store\n(B) a ship's hold"), r".*Answer: \(A\)"),
        ("leaf", "ja", {**JA_KEY, "text": "真鍮の鍵が戸口にあった。"}, ".*Action: 答える"),
    ],
)
def test_every_task_is_answered_in_the_form_asked_for(task, language, fields, wanted):
    assert re.match(wanted, ask(task, language, **fields), re.DOTALL)


def test_a_gist_is_the_pages_own_sentences_within_the_length():
    page = "\n\n".join([SEA, SHOP, "Nobody spoke.", SEA.replace("boat", "ship")])
    gist = ask("gist", least="16", most="24", instructions="", page=f"## A title\n\n{page}")
    assert 0 < len(gist.split()) <= 20
    assert all(sentence.strip(". ") in page for sentence in re.split(r"\. |\n", gist))
    both = ask("gist", least="40", most="80", instructions="", page=f"{SEA}\n\n{SHOP}")
    assert both == f"{SEA}\n{SHOP}"  # what is of two paragraphs stands apart


def test_a_gist_has_no_words_on_the_books_making_and_keeps_the_lines_of_verse():
    page = (
        "Copyright, 1916, by Samuel Gabriel\n\nMadame Sosostris, famous clairvoyante,\nHad a bad cold, nevertheless\n"
        "Is known to be the wisest woman in Europe.\nHere, said she, is your card."
    )
    said = shortened(page, 20, "en")
    assert said.startswith("Madame Sosostris, famous clairvoyante,\nHad a bad cold, nevertheless\nIs known")
    assert "Copyright" not in said


def test_a_gist_tells_what_happens_in_whole_sentences_of_its_own():
    """Not a caption, a line of a list, talk, a question, a sentence of nobody that is named, nor a very long one."""
    told = "The keeper climbed the tower and lit the great lamp."
    lesser = [
        "Peter Lunt at the Top of the Tower.",
        "Lamps, wicks and oil for the tower",
        "“Keeper, you never lit the tower, and that great lamp stays dark!”",
        "Had the keeper of the tower lit the great lamp at dusk?",
        "He trimmed the tower’s great lamp with scissors before supper.",
        f"Considering whether {'the climbing of towers, ' * 9}was worth the trouble of lamps, the keeper sighed.",
    ]
    for other in lesser:
        assert shortened(f"{other}\n\n{told}", 14, "en") == told


def test_a_japanese_gist_is_counted_in_characters():
    gist = ask("gist", "ja", least="20", most="30", instructions="", page=JA_PAGE)
    assert 5 < len(gist) <= 25


def test_stops_again_after_a_wrong_page():
    fields = title(memory=memory(SEA, COSY, full=(2,)), question=TEA, seen="none")
    again = made("look_up_next", **fields).with_follow_up("look_up_next.again", page="9", problem="none")
    assert BuiltInReader().complete(again, CancelToken()).text == "STOP"


def test_answers_with_pages_and_exact_quotations():
    text = memory("The boat left.", f"{SHOP} “I won,” said Mrs. Oake, “a tea cosy with a silver bell.”", full=(2,))
    reply = ask("answer", title="T", memory=text, question="What with a silver bell did Mrs. Oake win?")
    assert "[2]" in reply
    assert "\nEvidence:\n" in reply
    quote = re.search(r'^\[2\] "(.+)"$', reply, re.MULTILINE)
    assert quote
    assert quote.group(1) in text


def test_a_sentence_of_a_longer_speech_has_no_half_of_a_pair_of_quotation_marks():
    """And its evidence is all of it, also where another sentence of the page is quoted."""
    told = "The man took the money and the oil, put out the light so that nobody on the whole of the long shore of the "
    told += "island should ever see him go, and drowned."
    text = memory(f"She said: “{told} Why the light? Go and count.” The man put out the light.", full=(1,))
    said, _, evidence = ask("answer", title="T", memory=text, question="Why put out the light?").partition(
        "\nEvidence:\n"
    )
    assert said.count("“") == said.count("”")
    assert told in evidence
    assert len(evidence.splitlines()) == said.count("[1]")


def test_a_name_that_the_text_never_has_is_not_found():
    """The other words of the question are in the text, but they are about somebody else."""
    fields = {"title": "T", "memory": memory(f"{SEA} {SHOP}", full=(1,))}
    assert "kneaded dough" in ask("answer", question="Where did Mrs. Oake knead the dough?", **fields)
    assert ask("answer", question="Where did Captain Ahab knead the dough in the bakery?", **fields) == NOT_FOUND["en"]


def test_one_loose_word_is_no_answer_and_its_sentences_are_shown_as_the_nearest():
    """A name and one other word lead nowhere; two words beside a name, or the only one, may."""
    fields = {"title": "T", "memory": memory(f"{SEA} {SHOP}", STORY, full=(1, 2))}
    for question in (
        *("How much did Mrs. Oake pay for the dough?", "Who painted the boat?", "Where was Mrs. Oake born?"),
        "Why did the tide lift the boat for forty-seven minutes?",  # nobody tells of these
    ):
        said = ask("answer", question=question, **fields)
        assert said.startswith(f"{NEAREST}\n\n")
        assert "[1]" in said
    for question in ("Where hung the key?", "Where did Mrs. Oake knead dough?", "Who is Mrs. Oake?"):
        assert not ask("answer", question=question, **fields).startswith(NEAREST)


def test_the_nearest_sentences_have_a_word_of_the_question_of_their_own():
    asked = "Mrs. Oake: Would you take the chair, then? Cllr Lunt: Happy to. The rest was about the boat."
    fields = {"title": "T", "memory": memory(f"{SEA} {SHOP}", asked, full=(1, 2))}
    said = ask("answer", question="Who painted the chair blue in the spring, Mrs. Oake?", **fields)
    assert said.startswith(f"{NEAREST}\n\n")
    assert "take the chair" in said
    assert "Happy to" not in said


def test_what_fits_is_a_sentence_that_is_shown_not_another_of_the_text():
    """A gist with the question's words is not shown where a page stands in full: it answers nothing."""
    gist = "In the March return the accounts were out by a farthing."
    full = "“Ambrose Vane put it up on the steelyard,” said Mrs. Oake, “and Ambrose Vane stared.”"
    fields = {"title": "T", "memory": memory(gist, full, full=(2,))}
    question = "In the March return Ambrose Vane's accounts came out a farthing over. What did he do?"
    assert ask("answer", question=question, **fields).startswith(f"{NEAREST}\n\n")


def test_an_end_of_the_text_is_not_looked_up_by_the_word_for_it():
    loose = "Mrs. Oake walked the pier from end to end, and they started to begin."
    fields = {"title": "T", "memory": memory(SHOP, loose, f"{COSY} {SEA} I counted. THE END")}
    for question in (
        "How does it end?", "How does the story end?", "What happens at the end?", "What is the ending of the book?",
        "How does this novel conclude?",
    ):  # fmt: skip
        assert "[1]" not in (said := ask("answer", question=question, **fields))
        assert said.startswith(f"{OF_PART['en'][Part.END]}\n\n{COSY} [3]")
        assert "THE END" not in said
        assert ask("look_up", k="2", question=question, **fields).startswith("Page [3]:")
    for question in ("How does the book begin?", "What happens in the beginning?", "What is the first sentence?"):
        assert ask("answer", question=question, **fields).startswith(OF_PART["en"][Part.BEGINNING])
        assert ask("look_up", k="2", question=question, **fields).startswith("Page [1]:")
    assert "[2]" in ask("answer", question="How did Mrs. Oake end up on the pier?", **fields)
    assert ask("look_up", k="1", question="How does the pier end?", **fields).startswith("Page [2]:")


def test_of_the_whole_as_many_sentences_are_told_as_are_said():
    question = "What happened so far?"
    one, two = f"{SEA} {SHOP} {STORY}", "The boat lay dry. The tide came in."
    for text, opening, count in (
        (one, OF_PART["en"][Part.WHOLE], 3),
        (two, OF_FEW["en"][2], 2),
        ("The tide came in.", OF_FEW["en"][1], 1),
    ):
        said = ask("answer", question=question, title="T", memory=memory(text))
        assert said.startswith(f"{opening}\n\n")
        assert said.count("[1]") == count


def test_a_sentence_that_asks_is_quoted_with_the_one_after_it():
    text = "All in favour of the repair? Four of us. Against? Bea. Carried, four to one."
    said = ask("answer", question="Who is against?", title="T", memory=memory(text, full=(1,)))
    assert said.startswith("Against? [1] Bea. [1]\n")


def test_a_sentence_alone_is_quoted_with_the_one_that_goes_on_with_he_or_she():
    text = memory("Vane lit the lamp. Once a farthing was over. He stuck it to the page. It rained.", full=(1,))
    said = ask("answer", title="T", memory=text, question="What was done with the farthing that was over?")
    assert said.startswith("Once a farthing was over. [1] He stuck it to the page. [1]\n")


def test_sentences_of_a_full_page_come_before_those_of_a_gist():
    text = memory("Mrs. Oake won a tea cosy at the fair.", "“I won a tea cosy,” said Mrs. Oake.", full=(2,))
    said = ask("answer", title="T", memory=text, question="Where did Mrs. Oake win a tea cosy?")
    assert "[2]" in said
    assert "[1]" not in said


def test_no_page_without_the_name_is_opened_where_another_book_has_it():
    book = "<Book 1> Fog\n\n<Page 1.1> (gist)\nThe keeper went to work at the lamp."
    found = '<Book 2> Whale\n\n(in book 2: "The baker, Charity Royall, went to work at the library.")'
    for memory, opens in (
        (f"{book}\n\n{found}", False),
        (f"{book}\n\n{found.replace('Charity Royall', 'a girl')}", True),
    ):
        said = ask("explore_shelf", memory=memory, question="Where does Charity work?", pages="2")
        assert said.startswith("OPEN [1.1]") == opens


def test_the_title_of_a_book_is_no_sentence_of_it():
    text = "<Book 1> The Council of the Harbour\n\n<Page 1.1> (gist)\nThe council of the harbour voted for the light."
    said = ask("answer_shelf", memory=text, question="What did the council of the harbour vote for?")
    assert said == "The council of the harbour voted for the light. [1.1]"


def test_recall_from_several_books_names_the_book_of_every_sentence():
    passages = "<Page 1.2>\nThe mayor praised the fleet.\n\n<Page 2.7> (paragraph 1)\nThe council voted for the light."
    said = ask("recall", passages=passages, asking="", question="What did the council vote for?")
    assert "The council voted for the light. [2.7]" in said


def test_who_somebody_is_is_answered_by_the_sentences_that_introduce_them():
    """Not by those that have the name most often; a gist among them is cited as one."""
    pages = (
        "Josiah Crale met me on the quay: harbour-master, postmaster, printer and agent.",
        "In the morning Ambrose Vane, the principal keeper, was gone. “Mr. Crale reads the log,” said Lunt.",
        "“It is Mr. Crale’s basket,” said Tilda Vane, who was eleven. Mr. Crale was asked about Vane.",
    )
    fields = {"title": "T", "memory": memory(*pages, full=(2, 3))}
    assert ask("answer", question="Who is Mr. Crale?", **fields) == f"{pages[0]} [1]"
    said, _, _ = ask("answer", question="Who was Ambrose Vane?", **fields).partition("\n")
    assert said == "In the morning Ambrose Vane, the principal keeper, was gone. [2]"
    assert ask("answer", question="Who is Captain Ahab?", **fields) == NOT_FOUND["en"]
    more = memory(*pages, "Vane’s granddaughter Tilda, eleven, answered exactly what you asked.")
    said = ask("answer", question="Who is Tilda Vane?", title="T", memory=more)  # not the keeper, of the same name
    assert said == "Vane’s granddaughter Tilda, eleven, answered exactly what you asked. [4]"
    said, _, _ = ask("answer", question="Who is Tilda Vane?", **fields).partition("\n")  # beside what somebody says
    assert said == "“It is Mr. Crale’s basket,” said Tilda Vane, who was eleven. [3]"
    own = memory(
        "The train flung her against Orrin, a stone’s throw from home.", "He said: “My name is Hale—Orrin Hale.”"
    )
    said, _, _ = ask("answer", question="Who is Orrin Hale?", title="T", memory=own).partition("\n")
    assert said == "He said: “My name is Hale—Orrin Hale.” [2]"


def test_who_somebody_is_and_more_is_answered_by_who_that_is_first():
    pages = (
        "“I know,” said Tilda Vane. “What do you want?” said Lunt.",
        "Vane’s granddaughter Tilda, eleven, answered what you asked.",
        "Tilda wanted a boat of paper. Lunt wanted tea.",
    )
    fields = {"title": "T", "memory": memory(*pages, full=(1,))}
    said = ask("answer", question="Who is Tilda and what does she want?", **fields)
    assert said == f"{pages[1]} [2] Tilda wanted a boat of paper. [3]"
    assert ask("answer", question="Who is Tilda, and where did she study law?", **fields) == f"{pages[1]} [2]"


def test_a_person_whom_nobody_introduces_is_told_of_by_the_first_sentences_with_the_name():
    """Not by one who speaks to them; the page of the first is looked up."""
    pages = (
        "“One thing more, Mr. Reeve. Your waybills.” The tide ran.",
        "In the dark Dunstan Reeve rowed me from Stell. He carried the mail. “Reeve’s shed,” he said.",
    )
    fields = {"title": "T", "memory": memory(*pages), "question": "Who is Mr. Reeve?"}
    assert ask("look_up", k="2", **fields).startswith("Page [2]:")
    said = ask("answer", **fields)
    assert said == "In the dark Dunstan Reeve rowed me from Stell. [2] He carried the mail. [2]"


def test_a_time_alone_is_followed_by_what_was_then():
    text = "The log was kept. 2.10 a.m. Light put out. Nobody came."
    said = ask("answer", question="What does the log say of 2.10 a.m.?", title="T", memory=memory(text))
    assert "2.10 a.m. [1] Light put out. [1]" in said


def test_a_part_of_a_sentence_is_shown_as_one():
    """With dots where words are left out, and without the half of a pair of emphasis."""
    long = "and the keeper wrote of the storm in his own hand; " * 4
    text = f"The box was shut; {long}he said, *Leave that line to me alone, it is not yours.*"
    said = ask("answer", question="Who wrote of the storm?", title="T", memory=memory(text)).split(" [1]")
    assert said[0].endswith(" his own hand …")
    assert said[1].startswith(" … and the keeper") or said[0].startswith("… and the keeper")
    found = ask("answer", question="Who said leave that line?", title="T", memory=memory("He said, *Leave that line."))
    assert found.startswith("He said, Leave that line.")


def test_what_was_looked_for_is_no_text_of_the_book():
    asked = made("recall", question="Are there farthings?", passages=memory("The lamp was lit.", full=(1,)), asking="")
    asked = asked.with_follow_up("recall.shown", shown='FIND "farthings"\nThese words stand nowhere.')
    assert "FIND" not in BuiltInReader().complete(asked, CancelToken()).text


def test_what_is_said_of_a_search_is_no_text_and_each_hit_is_of_its_own_page():
    shown = (
        'FIND "farthings"\nParagraphs that have it: 13, on pages 3-4 (as: farthings); showing 2 of 13:\n'
        "(standing above already: 3:1)\n3:26 A box of farthings was under the stair.\n4:2 No farthings were left.\n\n"
        'FIND "stair"\nParagraphs that have it: 1, on pages 5 (as: stair); showing 1 of 1:\n'
        "<Page 5> (paragraph 7)\nThe stair was wet."
    )
    passages = memory("The lamp was lit.", full=(1,))
    asked = made("recall", question="What farthings are under the stair?", passages=passages, asking="")
    said = BuiltInReader().complete(asked.with_follow_up("recall.shown", shown=shown), CancelToken()).text
    answer, _, evidence = said.partition("\n")
    assert answer == "ANSWER: A box of farthings was under the stair. [3]"
    assert "Paragraphs that have it" not in evidence


@pytest.mark.parametrize(
    ("text", "other", "words"),
    [
        ("Who lit two lamps at the quay?", "He had a lamp, and the quay was dark.", ["lamps", "quay"]),
        ("手袋の番号は何番ですか。", "四十七番の手袋。番号が書かれていた。", ["手袋", "番号"]),
        ("Who is it?", "It is he who is there.", []),
    ],
)
def test_the_words_shared_with_the_question(text, other, words):
    assert [text[start:end] for start, end in shared_words(text, other)] == words


def test_what_it_cannot_do_it_refuses():
    with pytest.raises(RefusedError, match="Connect one in Settings"):
        BuiltInReader().complete(Prompt("sing", "Sing."), CancelToken())


def test_streams_the_same_reply():
    prompt = made("answer", title="T", memory=memory(SEA, full=(1,)), question="Where lay the boat?")
    *parts, completion = BuiltInReader().stream(prompt, CancelToken())
    assert "".join(parts) == completion.text


@pytest.mark.parametrize("language", prompts.LANGUAGES)
@pytest.mark.parametrize("task", sorted(ANSWERS))
def test_odd_fields_never_break_it(task, language):
    for words in ("", "word", "。", "a\n\nb", "<Page 1>\n", "<1>"):
        fields = dict.fromkeys(prompts.template(task, language).get_identifiers(), words)
        with nullcontext() if task != "paginate" or words == "<1>" else pytest.raises(RefusedError):
            BuiltInReader().complete(render(task, language, **fields), CancelToken())


@pytest.mark.parametrize("task", ["tree_segment", "tree_parent", "compress"])
def test_a_summary_is_sentences_of_the_text_within_the_length(task: str) -> None:
    said = ask(task, text=STORY, least="16", most="24")
    assert 0 < len(said.split()) <= 20
    assert len(ask(task, text=STORY, least="26", most="34").split()) > 20  # about the middle of the range
    assert said.split(". ")[0].rstrip(".") in STORY


def test_what_repeats_is_left_out_and_what_is_said_once_kept() -> None:
    filler = "The grass is green. The sky is blue. The sun is yellow. " * 20
    text = f"{filler}The pass key is 71432. {filler}"
    assert "71432" in ask("compress", text=text, least="32", most="48")


def test_a_running_summary_holds_both() -> None:
    said = ask("carry", title="T", target="30", memory="Anna left the harbour.", text=STORY)
    assert "Anna left" in said
    first = ask("carry", title="T", target="30", memory=render_fragment("carry.none", "en"), text=STORY)
    assert "nothing read" not in first


def test_the_gist_of_a_snippet_has_no_stray_marks():
    snippet = "<ul id=1>\n<li id=2>Repair,</li>\n<li id=3>.</li>\n<a id=4>Home</a></ul>"
    assert ask("gist_snippet", title="T", snippet=snippet, least="5", most="20") == "Repair; Home [4]"


def test_a_sentence_goes_on_after_the_full_stop_of_a_name() -> None:
    text = "I shall need a little money presently for T.'s schooling, and I mean to find it. She is quick."
    assert split_sentences(text, "en") == [text[:-14], text[-13:]]
