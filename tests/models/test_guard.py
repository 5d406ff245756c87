"""Replies that need not go on are ended, and what a reply may name is bound where the server takes a grammar."""

from __future__ import annotations

import json
import math
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.gisting.gisting import gist_page
from readagent_core.memory import Page, PageEnd
from readagent_core.models.limiter import Limiter
from readagent_core.models.server import openai_server
from readagent_core.models.server.grammars import grammar_of
from readagent_core.models.server.guard import repetition
from readagent_core.models.server.openai_server import PREPARE
from readagent_core.models.server.replies import Reply as Arrived
from readagent_core.models.server.shared_beginnings import keeps_marked
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt
from readagent_core.words import copies_beginning
from tests.fakes.server import FakeServer, Reply
from tests.recordings import recording

PAGE = "The keeper climbed the stairs with the lamp in one hand and a letter in the other, and did not look back once."
CHORUS = "Row, row, row the boat gently down the stream,\nmerrily, merrily, for life is but a dream."
REFRAIN = f"The keeper went out early.\n{CHORUS}\nThe gulls came in from the north with the rain.\n{CHORUS}"
# as a model of 1.5B wrote it
CIRCLE = (
    "The narrator comes to Harrow to count things. He is paid for this by counting things. He is paid for counting "
    "things by counting things. He is paid for counting things. He is paid for counting things by countin things. He "
    "is paid for counting things by counting. He is paid for counting things by counting. He is paid by things for "
    "counting things. He is paid for counting things by counting. He was paid for counting things by counting. He is "
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The lamp was lit. " + "And then the sea rose again, cold and grey. " * 3, "The lamp was lit. "),
        ("A, namely:" + " x y z" * 12, "A, namely: x y z"),
        ("灯がともった。" + "海がまた荒れた。船は来なかった。風が吹いた。雪が降った。" * 3, "灯がともった。"),
        ("She said that he was there at noon. No.\nShe said that he was there at noon. Yes.\nOh. "
         "She said that he was there at noon.", "She said that he was there at noon."),
        (CIRCLE, CIRCLE[: CIRCLE.index(" He is paid for counting things. ")]),
    ],
)  # fmt: skip
def test_a_reply_that_repeats_itself_is_known(text, kept):
    start = repetition(text)
    assert start is not None
    assert text[:start].startswith(kept)
    assert len(text[:start]) < len(kept) + 60


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Answer: (B)",
        "No, no, no, he said.",
        PAGE * 2,
        "| - | - | - |\n" * 2 + "-" * 80,
        "1\n2\n3\n4\n" * 2,
        REFRAIN,
        "\n".join(
            f"<{n}> Because the words before and after it have least in common, and are new: {n}." for n in range(9)
        ),
    ],
)
def test_a_reply_that_does_not_is_left_alone(text):
    assert repetition(text) is None


@given(st.text(alphabet="ab. \n", max_size=400))
def test_what_is_kept_is_a_beginning(text):
    start = repetition(text)
    assert start is None or 0 <= start < len(text)


def test_a_copy_of_the_page_is_known_after_some_words():
    page = f"{PAGE} The light burned until six. {'Nobody came that day. ' * 40}"
    said = "The keeper climbed stairs with the lamp in one hand and a letter in the other, and did not look back. The"
    assert copies_beginning(said.lower(), page, least=20)
    assert copies_beginning(said, f"## The seventh night\n\n{page}", least=20)
    assert not copies_beginning(said, page, least=40)
    assert not copies_beginning(said, f"{'Nobody came that day. ' * 40}{page}", least=20)


def test_a_model_that_copies_pages_is_asked_to_tell_the_next_ones(model_at):
    document = Document("Two", (Paragraph(f"{PAGE} {'Nobody came that day, and the sea was flat. ' * 12}"),))
    page = Page(1, 0, 1, document.words, PageEnd.SECTION)
    told = "A keeper goes up with lamp and letter, never turning; afterwards calm days pass without any visitor."
    with FakeServer(
        lambda text: Reply(told if "Tell in your own words" in text else document.paragraphs[0].text)
    ) as server:
        model = model_at(server, window=8000)
        plan = GistingPlan()
        first = gist_page(document, page, plan, model=model, cancel=CancelToken())
        second = gist_page(document, page, plan, model=model, cancel=CancelToken())
        assert (first.text, first.fallback, second.text) == (told, False, told)
        assert len(server.chats) == 3
        assert model.copies_pages
        assert "own words" in model.notices[0]


def test_no_gist_of_a_strong_model_is_taken_for_a_copy():
    for name in ("the-keeper-of-harrow-light", "harrow-council-minutes"):
        memory = recording(name).memory
        for page, gist in zip(memory.pages, memory.gists, strict=True):
            text, least = memory.page_text(page.number), max(60, round(page.words * 0.18)) // 2
            ends = range(60, len(gist.text) + 1, 60)
            assert not any(copies_beginning(gist.text[:end], text, least=least) for end in ends)


def test_an_endless_reply_is_ended_on_the_wire(model_at):
    endless = "The lamp was lit at six. " + "The sea rose, the wind turned, and nobody came. " * 500
    with FakeServer(lambda _: Reply(endless)) as server:
        model = model_at(server, window=8000)
        completion = model.complete(Prompt("answer", "Who lit it?", reply_words=400), CancelToken())
        assert completion.text.startswith("The lamp was lit at six. The sea rose")
        assert len(completion.text) < 200
        assert completion.finish == "repeats"
    with FakeServer(lambda _: Reply(" ".join(f"word{n}" for n in range(3000)))) as server:
        long = model_at(server, window=8000).complete(Prompt("choose", "A or B?", reply_words=100), CancelToken())
        assert len(long.text.split()) < 400


def test_a_grammar_holds_what_is_offered():
    pause = Prompt("paginate", "", choices=("4", "5"))
    assert grammar_of(pause).endswith('choice ::= "4" | "5"')
    assert 'choice ::= "(A)" | "(B)" | "none"' in grammar_of(Prompt("choose", "", choices=("A", "B", "none")))
    assert grammar_of(Prompt("recall", "", choices=("A", "B"))).startswith('root ::= "ANSWER: Answer: " choice')
    asks = grammar_of(Prompt("recall", "", {"asking": "Ask in one reply."}, choices=("A", "B")))
    assert '"ANSWER: Answer: " choice' in asks
    assert '| ("FIND " | "OPEN " | "GISTS ")' in asks  # a letter, or a request
    assert "{0,2}" in grammar_of(Prompt("look_up", "", {"k": "3"}, choices=("1", "2")))
    assert grammar_of(Prompt("answer", "")) == ""


OPTIONS = "Question:\nWhat did she eat?\n\n(A) A mouse\n(B) A plum\n(C) A fish"


def likely(text: str, *, plum: float) -> Reply:
    """A model that names (A) whatever stands there, and the plum with a probability of its own."""
    at = next(line[1] for line in text.splitlines() if line.endswith(") A plum"))
    chances = {"A": 0.5, "B": 0.1, "C": 0.1}
    chances[at] += plum
    rows = [{"token": token, "top_logprobs": [{"token": token, "logprob": 0.0}]} for token in ("Answer", ":", " (")]
    rows += [{"token": "A", "top_logprobs": [{"token": k, "logprob": math.log(p)} for k, p in chances.items()]}]
    message = {"role": "assistant", "content": "Answer: (A"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": rows}}
    usage = {"prompt_tokens": 100, "completion_tokens": 4}
    return Reply(body=json.dumps({"choices": [choice], "usage": usage}))


def test_an_option_is_weighed_at_each_letter(model_at):
    prompt = Prompt("choose_text", f"A text.\n\n{OPTIONS}", choices=("A", "B", "C"), reply_words=60)
    with FakeServer(
        lambda _: Reply("Answer: (B) She ate a plum."),
        before=lambda number, text: likely(text, plum=0.2) if number < 3 else None,
        kind="llama.cpp",
        window=4096,
    ) as server:
        completion = model_at(server).complete(prompt, CancelToken())
        asked = [chat.text.rpartition("eat?\n\n")[2] for chat in server.chats]
        assert asked[:3] == [
            "(A) A mouse\n(B) A plum\n(C) A fish",
            "(A) A plum\n(B) A fish\n(C) A mouse",
            "(A) A fish\n(B) A mouse\n(C) A plum",
        ]
        assert asked[3] == asked[0]
        assert server.chats[3].payload["grammar"].endswith('choice ::= "(B)"')
        assert (completion.text, completion.orders) == ("Answer: (B) She ate a plum.", 3)
        assert (completion.tokens_in or 0) > 300  # of all calls that the answer took


@pytest.mark.parametrize(
    "told",
    [
        7,
        {"content": 7},
        {"content": ["A", None, {"token": None, "top_logprobs": 7}]},
        {"content": [{"token": "Answer: (A", "top_logprobs": [7, {"token": "Answer: (A", "logprob": "high"}]}]},
        {"content": [{"token": "Answer: (A", "top_logprobs": [{"token": "Answer: (A", "logprob": 1e308}]}]},
        {"content": [{"token": "Answer: (A", "top_logprobs": [{"token": "Answer: (A", "logprob": -(10**400)}]}]},
    ],
)
def test_probabilities_of_no_sense_break_no_answer(model_at, told):
    prompt = Prompt("choose_text", f"A text.\n\n{OPTIONS}", choices=("A", "B", "C"), reply_words=60)
    message = {"role": "assistant", "content": "Answer: (C) A fish."}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": told}
    with FakeServer(lambda _: Reply(body=json.dumps({"choices": [choice]})), kind="llama.cpp", window=4096) as server:
        assert model_at(server).complete(prompt, CancelToken()).text == "Answer: (C) A fish."


def test_without_probabilities_the_letter_is_asked_for_as_before(model_at):
    prompt = Prompt("choose_text", f"A text.\n\n{OPTIONS}", choices=("A", "B", "C"), reply_words=60)
    for kind in ("llama.cpp", "openai"):
        with FakeServer(lambda _: Reply("Answer: (C) A fish."), kind=kind, window=4096) as server:
            completion = model_at(server, window=None if kind == "llama.cpp" else 4096).complete(prompt, CancelToken())
            assert (completion.text, completion.orders) == ("Answer: (C) A fish.", 0)
            assert ("grammar" in server.chats[-1].payload) == (kind == "llama.cpp")


def test_llama_cpp_is_asked_for_its_progress_and_against_copies_of_the_page(model_at):
    with FakeServer(kind="llama.cpp", window=4096) as server:
        model = model_at(server)
        for task in ("gist", "answer", PREPARE):
            model.complete(Prompt(task, "Shorten this."), CancelToken())
        gist, answer, prepare = (chat.payload for chat in server.chats)
        assert gist["return_progress"]
        assert answer["cache_prompt"]
        assert gist["dry_allowed_length"] > 0
        assert "dry_allowed_length" not in answer  # quotations are copies
        assert model.shares_text
        assert prepare["max_tokens"] == 1
    with FakeServer() as other:
        model_at(other).complete(Prompt("gist", "Shorten this."), CancelToken())
        assert not {"cache_prompt", "dry_multiplier"} & set(other.chats[0].payload)
        assert not model_at(other).shares_text


def test_a_reply_that_is_ended_early_has_its_figures_and_tells_how_much_was_read():
    reply = Arrived()
    reply.take({"choices": [{"delta": {}}], "prompt_progress": {"total": 900, "cache": 100, "processed": 400}})
    assert reply.read == (400, 900)
    timings = {"cache_n": 100, "prompt_n": 800, "predicted_n": 1}
    assert reply.take({"choices": [{"delta": {"content": "One"}}], "timings": timings}) == "One"
    reply.stop("One")
    assert (reply.tokens_in, reply.tokens_reused, reply.tokens_out) == (900, 100, 1)


def test_a_question_goes_before_work_that_nobody_waits_for():
    limiter, order = Limiter(1), []
    held = CancelToken()
    long, question = CancelToken(), CancelToken()
    long.background = True

    def work(name, cancel):
        for _ in range(2 if name == "question" else 1):  # its second call comes when it has read the first reply
            with limiter.slot(cancel):
                order.append(name)
            time.sleep(0.05)

    with limiter.slot(held):
        threads = [threading.Thread(target=work, args=("page", long)) for _ in range(3)]
        threads.append(threading.Thread(target=work, args=("question", question)))
        for thread in threads:
            thread.start()
            time.sleep(0.05)
    for thread in threads:
        thread.join(10)
    assert order == ["question", "question", "page", "page", "page"]
    assert limiter.is_single
    assert not Limiter(8).is_single


def test_what_prompts_share_is_marked_for_servers_that_keep_it(monkeypatch, model_at):
    assert keeps_marked("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5")
    assert not keeps_marked("https://openrouter.ai/api/v1", "openai/gpt-5")
    assert not keeps_marked("https://api.anthropic.com/v1", "claude-sonnet-5")
    memory = "The lamp was lit at six, and nobody came.\n" * 200
    monkeypatch.setattr(openai_server, "keeps_marked", lambda *_: True)
    with FakeServer() as server:
        model = model_at(server)
        for question in ("Who lit it?", "When was it lit?", "Who came?"):
            model.complete(Prompt("answer", f"{memory}{question}"), CancelToken())
        model.complete(Prompt("answer", "Something short."), CancelToken())
        first, second, third, short = (chat.payload["messages"][0]["content"] for chat in server.chats)
    assert isinstance(first, str)
    assert isinstance(short, str)
    assert second[0] == third[0] == {"type": "text", "text": memory, "cache_control": {"type": "ephemeral"}}
    assert (second[1]["text"], third[1]["text"]) == ("When was it lit?", "Who came?")
