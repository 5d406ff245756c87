"""One model on a server: what is sent, what comes back, and how servers differ."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.base import Completion
from readagent_core.models.server.quirks import LEAST_WINDOW, MOST_GUESSES
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.server import FakeServer, Reply, error

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)


@pytest.fixture
def ask(model_at):
    def call(server, prompt=PROMPT, **changes):
        model = changes.pop("model", None) or model_at(server, **{"window": 8000, **changes})
        return model.complete(prompt, CancelToken())

    return call


def test_one_user_message_and_no_system_role(ask):
    with FakeServer(["A tea cosy."]) as server:
        reply = ask(server)
        assert reply.text == "A tea cosy."
        assert (reply.finish, reply.tokens_in, reply.tokens_out) == ("stop", 5, 2)
        assert reply.first_word is not None
        sent = server.chats[0].payload
    assert sent["messages"] == [{"role": "user", "content": PROMPT.text}]
    assert sent["temperature"] == 0.0


def test_the_headers_of_a_call_say_what_they_must_and_nothing_of_this_computer(ask):
    with FakeServer(["A tea cosy."], key="MARKER") as server:
        ask(server, api_key=Secret("MARKER"))
        sent = server.chats[0].headers
    assert sent["authorization"] == "Bearer MARKER"
    assert sent["content-type"] == "application/json"
    assert "gzip" in sent["accept-encoding"]
    assert sent["host"] == server.url.split("/")[2]
    assert not [name for name in sent if "stainless" in name]


def test_parts_come_as_they_are_said(model_at):
    with FakeServer([Reply("one two three, four five six, seven eight nine ten", gap=0.01)]) as server:
        model = model_at(server, window=8000)
        *parts, completion = model.stream(PROMPT, CancelToken())
    assert len(parts) > 2
    assert isinstance(completion, Completion)
    assert "".join(parts).strip() == completion.text


@pytest.mark.parametrize(
    "refused",
    [
        {"max_tokens"},
        {"temperature"},
        {"stream"},
        {"stream_options"},
        {"max_tokens", "max_completion_tokens"},
        {"max_tokens", "temperature", "stream", "system"},
    ],
    ids=lambda r: "+".join(sorted(r)),
)
def test_what_a_server_refuses_is_left_out_and_remembered(ask, refused, model_at):
    with FakeServer(refuses=frozenset(refused)) as server:
        model = model_at(server, window=8000)
        assert ask(server, model=model).text == "OK."
        tried = len(server.requests)
        assert ask(server, model=model).text == "OK."
        assert len(server.requests) == tried + 1
        assert not refused & set(server.requests[-1].payload)


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        (Reply("<think>A cosy?\nYes.</think>\n\nA tea cosy."), "A cosy?\nYes."),
        (Reply("\n<Thinking>hm</Thinking>A tea cosy."), "hm"),
        (Reply("A tea cosy.", reasoning="She won it."), "She won it."),
        (Reply("A tea cosy."), ""),
        (Reply("Maybe a hat?\n</think>\n\nA tea cosy."), "Maybe a hat?"),  # the opening tag was part of the prompt
        (
            Reply(
                "<|channel|>analysis<|message|>A hat?<|end|><|start|>assistant<|channel|>final<|message|>A tea cosy."
            ),
            "A hat?",
        ),
        (Reply("A tea cosy.<|im_end|>\n<|im_start|>user\nAnd a hat?"), ""),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
def test_thinking_is_kept_apart(ask, reply, thought, streams):
    with FakeServer([reply], refuses=frozenset() if streams else frozenset({"stream"})) as server:
        found = ask(server)
    assert (found.text, found.reasoning) == ("A tea cosy.", thought)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_where_json_says_and_nowhere_else(ask, end):
    said = [{"choices": [{"delta": {"content": "one\u2028two\x85"}}]}, {"choices": [{"finish_reason": "stop"}]}]
    lines = [": a comment", *(f"data: {json.dumps(event, ensure_ascii=False)}" for event in said), "data: [DONE]"]
    body = "".join(f"{line}{end}{end}" for line in lines)
    with FakeServer([Reply(body=body, headers={"Content-Type": "text/event-stream"})]) as server:
        assert ask(server).text == "one\u2028two"


FAULTS = [
    (Reply(status=401, error=error("Incorrect API key provided: MARKER-KEY")), errors.KeyRefusedError, "Copy the key"),
    (Reply(status=400, error=error("No connected db.", kind="no_db_connection")), errors.KeyRefusedError, "key"),
    (Reply(status=400, error=error("Invalid model name passed in model=m")), errors.UnknownModelError, "Choose one"),
    (Reply(status=402, error=error("pay")), errors.NoCreditError, "Add credit"),
    (Reply(status=429, error=error("slow down")), errors.RateLimitError, "asked us to wait"),
    (Reply(status=400, error=error("x", code="context_length_exceeded")), errors.WindowError, "smaller longest page"),
    (Reply(status=400, error=error("x", code="content_filter")), errors.RefusedError, "Another model"),
    (Reply(status=400, error=error("bad thing MARKER-KEY", code="odd_code")), errors.BadRequestError, "odd_code"),
    (Reply(status=404, body="<html>nginx</html>"), errors.BadRequestError, "/v1"),
    (Reply(status=500, error=error("MARKER-KEY")), errors.ServerFailedError, "error 500"),
    (Reply(status=529, error=error("overloaded")), errors.ServerFailedError, "error 529"),
    (Reply(status=504, error=error("x")), errors.ModelTimeoutError, "more time"),
    (Reply(body="{not json"), errors.ServerFailedError, "cannot be read"),
    (Reply(body='{"error": {"message": "MARKER-KEY", "code": 429}}'), errors.RateLimitError, "wait"),
    (Reply(body="{}"), errors.EmptyReplyError, "empty"),
    (Reply("  \n "), errors.EmptyReplyError, "empty"),
    (Reply("", refusal="I will not"), errors.RefusedError, "declined"),
    (Reply("some", finish="content_filter"), errors.RefusedError, "filter"),
    (Reply("A tea cosy.", finish="network_error"), errors.CutOffError, "ended it with “network_error”"),
    (Reply("A tea cosy, that was", cut=10), errors.CutOffError, "The connection to 127.0.0.1"),
    (Reply("A tea cosy, that was", cut=10, how="reset"), errors.CutOffError, "The connection to 127.0.0.1"),
    (Reply("x", drop=True), errors.UnreachableError, "broke"),
    (Reply("x", delay=1.5), errors.ModelTimeoutError, "more time"),
]


@pytest.mark.parametrize(
    ("reply", "kind", "says"), FAULTS, ids=[f"{i}-{k.__name__}" for i, (_, k, _) in enumerate(FAULTS)]
)
def test_every_fault_has_its_name_and_says_what_to_do(ask, reply, kind, says):
    with FakeServer(lambda _: reply) as server, pytest.raises(errors.ModelError) as caught:
        ask(server, silence=0.5 if reply.delay else 60.0)
    assert type(caught.value) is kind
    assert says in str(caught.value)
    assert "saved" in str(caught.value)
    assert "MARKER-KEY" not in repr(caught.value) + str(caught.value.__cause__)


def test_nobody_there(ask):
    with FakeServer() as server:
        pass
    with pytest.raises(errors.UnreachableError, match="Start the server"):
        ask(server, window=None)


# --- the window -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("traits", "window"),
    [
        ({"kind": "ollama", "window": 131_072}, 4096),
        ({"kind": "ollama", "window": 131_072, "num_ctx": 16_384}, 16_384),
        ({"kind": "ollama", "window": 2048}, 2048),
        ({"kind": "openai"}, None),
        ({"kind": "openai", "lists_models": False}, None),
    ],
    ids=lambda v: "-".join(map(str, v.values())) if isinstance(v, dict) else str(v),
)
def test_the_window_as_each_server_tells_it(traits, window, model_at):
    with FakeServer(**traits) as server:
        assert model_at(server).window == window


def test_a_prompt_that_does_not_fit_is_not_sent(ask):
    with FakeServer() as server:
        with pytest.raises(errors.WindowError, match="at once: 1,000 tokens") as caught:
            ask(server, Prompt("gist", "word " * 2000), window=1000)
        assert caught.value.window == 1000
        assert not server.requests


def test_the_window_in_an_error_is_learnt(ask, model_at):
    said = "This model's maximum context length is 2048 tokens. However, you requested 2500 tokens"
    with FakeServer([Reply(status=400, error=error(said)), "fits now"]) as server:
        model = model_at(server)
        assert ask(server, Prompt("gist", "word " * 800), model=model).text == "fits now"
        assert model.window == 2048
        with pytest.raises(errors.WindowError):
            ask(server, Prompt("gist", "word " * 3000), model=model)
        assert len(server.chats) == 2


NO_FIGURE = Reply(status=400, error=error("Too much.", code="context_length_exceeded"))


def test_a_window_that_no_error_names_is_found_by_halving(ask, model_at):
    """A prompt that never fits is given up; one that fits beside a shorter reply is answered. Tries are bounded."""
    with FakeServer(lambda text: NO_FIGURE if len(text) > 3000 else "fits") as server:
        model = model_at(server)
        with pytest.raises(errors.WindowError, match="can read at once"):
            ask(server, Prompt("gist", "word " * 3000), model=model)
        first = model.window
        assert first is not None
        assert len(server.chats) <= 2
        for words in (1500, 700):
            with pytest.raises(errors.WindowError):
                ask(server, Prompt("gist", "word " * words), model=model)
        assert ask(server, Prompt("gist", "word " * 200), model=model).text == "fits"
        assert len(server.chats) < 10
        assert any("did not say how much it takes in" in notice for notice in model.quirks.notices)
    with FakeServer(lambda text: NO_FIGURE) as server:
        model = model_at(server)
        for _ in range(3):
            with pytest.raises(errors.WindowError):
                ask(server, Prompt("gist", "word " * 50), model=model)
        assert model.window >= LEAST_WINDOW
        assert len(server.chats) <= MOST_GUESSES + 3


def test_calls_side_by_side_halve_the_window_once(ask, model_at):
    with FakeServer(lambda text: NO_FIGURE, latency=0.2) as server:
        model = model_at(server)

        def call(number):
            with pytest.raises(errors.WindowError):
                model.complete(Prompt("gist", f"{number} " + "word " * 20_000), CancelToken())

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(call, range(6)))
        assert model.quirks.guesses == 1
        assert len(server.chats) == 6


def test_a_prompt_cut_in_silence_is_noticed(ask, model_at):
    with FakeServer([Reply("a confident answer", tokens_in=2048)]) as server:
        model = model_at(server)
        with pytest.raises(errors.WindowError, match="cut the rest off without saying so"):
            ask(server, Prompt("answer", "word and word, " * 2000), model=model)
        assert model.window == 2048


@pytest.mark.parametrize("reused", [None, 2900])
def test_a_server_that_counts_only_what_was_not_in_its_cache_is_not_accused(ask, reused, model_at):
    text = "word " * 2400
    few = Reply("fine", tokens_in=140, tokens_reused=reused)
    with FakeServer([Reply("fine", tokens_in=3040), few, few]) as server:
        model = model_at(server)
        found = [ask(server, Prompt("answer", text), model=model) for _ in range(3)]
        assert [reply.text for reply in found] == ["fine"] * 3
        assert [reply.tokens_in for reply in found] == [3040, *[None if reused is None else 3040] * 2]
        assert model.window is None
        assert model.cutting == ""


def test_a_window_below_a_prompt_that_went_through_is_not_believed(ask, model_at):
    said = Reply(status=400, error=error("maximum context length is 2048 tokens"))
    with FakeServer([Reply("fine", tokens_in=3000), said]) as server:
        model = model_at(server)
        assert ask(server, Prompt("answer", "word " * 2400), model=model).text == "fine"
        with pytest.raises(errors.WindowError):
            ask(server, Prompt("answer", "word " * 2400), model=model)
        assert model.window is None


def test_the_numbers_of_a_web_page_are_no_window(ask, model_at):
    page = Reply(status=413, body="<html><h1>413 Request Entity Too Large</h1></html>")
    with FakeServer(lambda _: page) as server:
        model = model_at(server)
        with pytest.raises(errors.WindowError, match="too large to send"):
            ask(server, Prompt("answer", "word " * 2400), model=model)
        assert model.window is None
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    "words",
    [
        "Range of max_tokens should be [1, 512]",
        "max_tokens is too large: 1324. This model supports at most 512 completion tokens.",
        "max_tokens must be less than or equal to 512",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 512]",
        "max_tokens: 1324 > 512, which is the maximum allowed number of output tokens",
    ],
)
def test_a_reply_gets_as_many_tokens_as_the_server_allows(ask, words, model_at):
    def answer(payload):
        return Reply(status=400, error=error(words)) if payload.get("max_tokens", 0) > 512 else Reply("fine")

    with FakeServer(lambda _: answer(server.requests[-1].payload)) as server:
        model = model_at(server, window=8000)
        assert ask(server, Prompt("answer", "word " * 200, reply_words=900), model=model).text == "fine"
        assert ask(server, Prompt("answer", "word " * 200, reply_words=900), model=model).text == "fine"
        assert [chat.payload["max_tokens"] for chat in server.chats][1:] == [512, 512]


@pytest.mark.parametrize(
    ("text", "finish", "kind"),
    [
        ("The lamp was lit.", "odd_reason", "stop"),
        ("The lamp was", "odd_reason", None),
        ("The lamp was", "Model-Length", "length"),
        ("The lamp was", "FinishReason.MAX_TOKENS", "length"),
        ("The lamp was lit.", "END_TURN", "stop"),
        ("The lamp was lit.", "network_error", None),
    ],
)
def test_why_a_reply_ended_in_the_words_of_each_server(ask, text, finish, kind, model_at):
    with FakeServer(lambda _: Reply(text, finish=finish)) as server:
        model = model_at(server, window=8000)
        if kind:
            assert ask(server, model=model).finish == kind
        else:
            with pytest.raises(errors.CutOffError) as caught:
                ask(server, model=model)
            assert caught.value.text == text
        assert any("odd_reason" in notice for notice in model.notices) == (finish == "odd_reason")


def test_fewer_tokens_than_estimated_is_no_cut(ask):
    with FakeServer([Reply("fine", tokens_in=2500)]) as server:
        assert ask(server, Prompt("answer", "word " * 2400), window=None).text == "fine"
