"""The built-in reader: every task answered in the form asked for, in both languages, from the text alone."""

from __future__ import annotations

import re
import time
from contextlib import nullcontext

import pytest

from readagent_core import prompts
from readagent_core.cancel import CancelToken
from readagent_core.errors import RefusedError
from readagent_core.models.builtin.reader import ANSWERS, BuiltInReader
from readagent_core.prompts import Prompt, render, render_fragment
from readagent_core.tags import label, page_tag
from tests.fakes.sensible import sensible, templates, understood

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
    return BuiltInReader().complete(render(task, language, **fields), CancelToken()).text


def memory(*bodies: str, full: tuple[int, ...] = (), language: str = "en") -> str:
    return "\n\n".join(
        f"{page_tag(n, full=n in full, language=language)}\n{body}" for n, body in enumerate(bodies, start=1)
    )


def passage(*pieces: str) -> str:
    return "\n\n".join(f"{text}\n\n{label(i)}" for i, text in enumerate(pieces, start=1))


def test_pauses_where_the_words_change():
    reply = ask("paginate", where="a turn", preceding="", passage=passage(SEA, SEA, SHOP, SHOP))
    assert reply.startswith("Break point: <2>\nBecause ")


def test_pauses_before_a_heading():
    text = passage(SEA, SHOP, SHOP, "## Next\n\n" + SHOP, SHOP)
    assert ask("paginate", where="a turn", preceding="", passage=text).startswith("Break point: <3>")


def test_one_label_is_taken_and_the_reason_said_in_the_books_language():
    reply = ask("paginate", "ja", where="場面", preceding="", passage=passage(JA_PAGE))
    assert reply.startswith("Break point: <1>\n理由：")


def test_a_gist_is_the_pages_own_sentences_within_the_length():
    page = "\n\n".join([SEA, SHOP, "Nobody spoke.", SEA.replace("boat", "ship")])
    gist = ask("gist", target="20", instructions="", page=f"## A title\n\n{page}")
    assert 0 < len(gist.split()) <= 20
    assert all(sentence.strip(". ") in page for sentence in gist.split(". "))


def test_a_japanese_gist_is_counted_in_characters():
    gist = ask("gist", "ja", target="25", instructions="", page=JA_PAGE)
    assert 5 < len(gist) <= 25


def test_looks_up_the_pages_that_share_the_questions_words():
    text = memory("The boat left.", "Mrs. Oake won a tea cosy at the fair.", "Rain fell.")
    reply = ask("look_up", title="T", k="2", memory=text, question="What did Mrs. Oake win?")
    assert reply.startswith("I want to look up Page [2] to ")
    assert "Page []" in ask("look_up", title="T", k="2", memory=text, question="Who painted zebras?")


def test_looks_up_in_japanese():
    text = memory("駅の時計。", "手袋の番号は四十七番。", language="ja")
    assert ask("look_up", "ja", title="雪", k="2", memory=text, question="手袋の番号は？").startswith("Page [2]")


def test_stops_when_a_full_page_holds_the_question():
    text = memory("The boat left.", "Mrs. Oake won a tea cosy at the fair.", full=(2,))
    fields = {"title": "T", "memory": text, "question": "What tea cosy did Mrs. Oake win?"}
    assert ask("look_up_next", **fields, seen="2") == "STOP"
    again = render("look_up_next", "en", **fields, seen="none").with_follow_up(
        "look_up_next.again", page="9", problem="none"
    )
    assert BuiltInReader().complete(again, CancelToken()).text == "STOP"
    assert ask("look_up_next", **{**fields, "memory": text.replace(" (full text)", "")}, seen="none").startswith(
        "I want to look up Page 2 "
    )


def test_answers_with_pages_and_exact_quotations():
    text = memory("The boat left.", f"{SHOP} “I won,” said Mrs. Oake, “a tea cosy with a silver bell.”", full=(2,))
    reply = ask("answer", title="T", memory=text, question="What with a silver bell did Mrs. Oake win?")
    assert "[2]" in reply
    assert "\nEvidence:\n" in reply
    quote = re.search(r'^\[2\] "(.+)"$', reply, re.MULTILINE)
    assert quote
    assert quote.group(1) in text


def test_says_when_the_text_does_not_say():
    assert ask("answer", title="T", memory=memory(SEA), question="Who painted zebras?") == "The text does not say."
    assert "書かれていません" in ask("answer", "ja", title="T", memory=memory(JA_PAGE), question="大統領の犬種は？")


@pytest.mark.parametrize("task", ["choose", "choose_text"])
def test_chooses_by_the_best_passage(task):
    own = {"memory": memory(SEA, f"{SHOP} Mrs. Oake won a tea cosy.")} if task == "choose" else {"text": SEA + SHOP}
    fields = {"title": "T", "question": "What did Mrs. Oake do?", **own} | (
        {} if task == "choose" else {"cut": "", "quote": ""}
    )
    reply = ask(task, options="(A) flew home\n(B) kneaded dough\n(C) bought a zebra", **fields)
    assert reply.startswith("Answer: (B)")


def test_what_it_cannot_do_it_refuses():
    with pytest.raises(RefusedError, match="Connect one in Settings"):
        BuiltInReader().complete(Prompt("sing", "Sing."), CancelToken())


def test_streams_the_same_reply():
    prompt = render("answer", "en", title="T", memory=memory(SEA, full=(1,)), question="Where lay the boat?")
    *parts, completion = BuiltInReader().stream(prompt, CancelToken())
    assert "".join(parts) == completion.text


@pytest.mark.parametrize("language", prompts.LANGUAGES)
@pytest.mark.parametrize("task", sorted(ANSWERS))
@pytest.mark.parametrize("words", ["", "word", "。", "a\n\nb", "<Page 1>\n", "<1>"])
def test_odd_fields_never_break_it(task, language, words):
    fields = dict.fromkeys(prompts.template(task, language).get_identifiers(), words)
    with nullcontext() if task != "paginate" or words == "<1>" else pytest.raises(RefusedError):
        BuiltInReader().complete(render(task, language, **fields), CancelToken())


def test_a_window_of_3000_words_takes_moments():
    text = passage(*[f"{SEA} {SHOP} {i} {'word' * (i % 7)}" for i in range(80)])
    start = time.perf_counter()
    ask("paginate", where="a turn", preceding="", passage=text)
    assert time.perf_counter() - start < 3.0


@pytest.mark.parametrize(("language", "name"), [t for t in templates() if t[1] in ANSWERS])
def test_templates_are_read_backwards(language, name):
    values = {field: f"value of {field}" for field in prompts.template(name, language).get_identifiers()}
    prompt = render(name, language, **values)
    found = understood(prompt.text)
    assert found is not None
    assert (found.task, found.language, found.fields) == (name, language, values)
    assert sensible(prompt.text)


def test_what_was_wrong_last_time_is_read_backwards_too():
    prompt = render("look_up_next", "en", title="T", memory="m", question="q", seen="none")
    again = prompt.with_follow_up("look_up_next.again", page="9", problem="no such page")
    assert understood(again.text).fields["problem"] == "no such page"


# --- the prompts of the other methods: summaries, walks, leaves, found pages --------------------------


@pytest.mark.parametrize("task", ["tree_segment", "tree_parent", "compress"])
def test_a_summary_is_sentences_of_the_text_within_the_length(task: str) -> None:
    said = ask(task, text=STORY, target="20")
    assert 0 < len(said.split()) <= 20
    assert said.split(". ")[0].rstrip(".") in STORY


def test_what_repeats_is_left_out_and_what_is_said_once_kept() -> None:
    filler = "The grass is green. The sky is blue. The sun is yellow. " * 20
    text = f"{filler}The pass key is 71432. {filler}"
    assert "71432" in ask("compress", text=text, target="40")


def test_a_running_summary_holds_both() -> None:
    said = ask("carry", title="T", target="30", memory="Anna left the harbour.", text=STORY)
    assert "Anna left" in said
    first = ask("carry", title="T", target="30", memory=render_fragment("carry.none", "en"), text=STORY)
    assert "nothing read" not in first


PARTS = "Part 1: A ship came into the harbour.\n\nPart 2: The brass key hung by the door."


def test_it_walks_to_the_part_that_shares_most() -> None:
    fields = {"title": "T", "memory": "", "question": "Where was the key?"}
    assert ask("walk", back="", parts=PARTS, **fields).endswith("Action: 2")
    seen = PARTS.replace("Part 2:", f"Part 2{render_fragment('walk.visited', 'en')}:")
    assert ask("walk", back=", or back", parts=seen, **fields).endswith("Action: 1")
    both = seen.replace("Part 1:", f"Part 1{render_fragment('walk.visited', 'en')}:")
    assert ask("walk", back=", or back", parts=both, **fields).endswith("Action: -1")


def test_a_leaf_answers_or_goes_back() -> None:
    fields = {"title": "T", "memory": "", "text": STORY}
    said = ask("leaf", question="Where did the brass key hang?", **fields)
    assert "Action: -2\nAnswer: A brass key hung by the door" in said
    assert ask("leaf", question="Who married Mr. Darcy?", **fields).endswith("Action: -1")
    chosen = ask("leaf", question="What did the key open?\n\n(A) the oil store\n(B) a ship's hold", **fields)
    assert "Answer: (A)" in chosen


def test_japanese_parts_and_leaves() -> None:
    parts = f"部分 1{render_fragment('walk.visited', 'ja')}：船が港に入った。\n\n部分 2：真鍮の鍵が戸口にあった。"
    assert ask("walk", "ja", title="本", memory="", back="戻る", parts=parts, question="鍵はどこ？").endswith("2")
    said = ask("leaf", "ja", title="本", memory="", text="真鍮の鍵が戸口にあった。", question="真鍮の鍵はどこ？")
    assert "Action: -2" in said


def test_pages_found_are_answered_from() -> None:
    memory = f"<Page 3> (full text)\n{STORY}"
    fields = {"title": "T", "memory": memory, "order": render_fragment("order.rank", "en")}
    assert "[3]" in ask("answer_pages", question="Where did the brass key hang?", **fields)
