"""The stack of a connection: its faults and waits, its lines, its window; what people are told."""

from __future__ import annotations

import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from readagent_core import errors, models
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.models.base import ChatModel, ModelWrapper
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import Price
from readagent_core.models.limiter import Call, Limiter
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply, error
from tests.fakes.silent import ANSWER, BODY, RawServer

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)
TOO_MANY = Reply(status=429, error=error("slow down"))


class Patience(CancelToken):
    """A CancelToken of a person who ends every wait at once; it records them."""

    def __init__(self):
        super().__init__()
        self.told: list[tuple[float, str]] = []

    def wait(self, seconds, why):
        self.check()
        self.told.append((seconds, why))
        return True


# --- connect --------------------------------------------------------------------------------------


def test_nothing_set_gives_the_built_in_reader(own_home):
    model = models.connect(Settings(own_home))
    assert not model.is_language_model


def test_one_stack_a_server(settings_for):
    with FakeServer() as server:
        first = models.connect(settings_for(server))
        assert models.connect(settings_for(server)) is first
        other = models.connect(settings_for(server, model="other"))
        assert other is not first
        assert other.limiter is first.limiter
        assert first.is_language_model
        assert (first.name, first.where) == ("fake-model", server.url)


# --- patience -------------------------------------------------------------------------------------

FAULTS = {
    "429": (TOO_MANY, 8),
    "429 with Retry-After": (Reply(status=429, error=error("x"), headers={"Retry-After": "0.4"}), 8),
    "500": (Reply(status=500, error=error("x")), 5),
    "529": (Reply(status=529, error=error("x")), 5),
    "reset": (Reply(drop=True), 4),
    "cut": (Reply("A tea", cut=3), 4),
    "empty": (Reply(""), 3),
    "refusal": (Reply("", refusal="no"), 2),
    "timeout": (Reply(delay=2.0), 3),
    "wrong key": (Reply(status=401, error=error("x")), 1),
    "no model": (Reply(status=404, error=error("model not found")), 1),
    "no credit": (Reply(status=402, error=error("x")), 1),
    "too long": (Reply(status=400, error=error("x", code="context_length_exceeded")), 2),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_once_is_overcome_and_told(settings_for, name):
    fault, most = FAULTS[name]
    cancel = Patience()
    with FakeServer([fault, "A tea cosy."]) as server:
        model = connection.connect(settings_for(server, timeout=0.8 if name == "timeout" else 60.0))
        if most == 1:
            with pytest.raises(errors.ModelError):
                model.complete(PROMPT, cancel)
            assert not cancel.told
        else:
            reply = model.complete(PROMPT, cancel)
            assert (reply.text, reply.tries) == ("A tea cosy.", 1 if name == "too long" else 2)
            if name != "too long":  # asked again at once, with less room for the reply
                assert cancel.told
                assert "Waiting" in cancel.told[0][1]
        assert len(server.chats) == min(most, 2)


@pytest.mark.parametrize("name", [n for n in FAULTS if n != "timeout"])
def test_a_fault_without_end_is_believed_in_the_end(settings_for, name):
    fault, most = FAULTS[name]
    with FakeServer(lambda _: fault) as server:
        model = connection.connect(settings_for(server), time_scale=0.001)
        model.limiter.too_many = lambda wait: None  # the pause itself is tested below
        with pytest.raises(errors.ModelError):
            model.complete(PROMPT, Patience())
        assert len(server.chats) == most


def test_a_model_that_could_not_be_asked_is_known_until_a_call_is_answered(settings_for):
    replies = [Reply(status=401, error=error("wrong key")), Reply(status=400, error=error("too odd"))]
    with FakeServer(replies=lambda _: replies.pop(0) if replies else "Yes.") as server:
        model = models.connect(settings_for(server))
        told = []
        for _ in range(3):
            with suppress(errors.ModelError):
                model.complete(PROMPT, CancelToken())
            told.append(type(models.connect(settings_for(server, budget_book=3.0)).trouble))
    assert told == [errors.KeyRefusedError, errors.KeyRefusedError, type(None)]  # the second says nothing of the key


def test_the_wait_a_server_asks_for_is_kept(settings_for):
    cancel = Patience()
    asked = Reply(status=429, error=error("x"), headers={"Retry-After": "12"})
    with FakeServer([asked, "OK."]) as server:
        model = connection.connect(settings_for(server))
        model.limiter.too_many = lambda wait: None
        model.complete(PROMPT, cancel)
    seconds, why = cancel.told[0]
    assert 12 <= seconds < 13
    assert why.startswith("Waiting 12 s: the server asked for it")


def test_a_wait_of_an_hour_is_not_waited(settings_for):
    with FakeServer([Reply(status=429, error=error("x"), headers={"Retry-After": "3600"})]) as server:
        with pytest.raises(errors.RateLimitError) as caught:
            connection.connect(settings_for(server)).complete(PROMPT, Patience())
        assert caught.value.retry_after == 3600
        assert len(server.chats) == 1


def test_a_stream_that_breaks_before_its_first_word_is_asked_again(settings_for):
    with FakeServer([Reply(drop=True), "A tea cosy."]) as server:
        *parts, last = connection.connect(settings_for(server)).stream(PROMPT, Patience())
    assert "".join(parts) == "A tea cosy."
    assert last.tries == 2


def test_a_stream_that_breaks_after_words_were_shown_is_final(settings_for):
    with FakeServer([Reply("A tea cosy, that is", cut=9), "never asked"]) as server:
        stream = connection.connect(settings_for(server)).stream(PROMPT, Patience())
        with pytest.raises(errors.CutOffError) as caught:
            list(stream)
        assert len(server.chats) == 1
    assert caught.value.text == "A tea cos"


def test_lines_are_halved_on_too_many_and_come_back_slowly():
    limiter = Limiter(32)
    assert limiter.notice == ""
    with ExitStack() as under_way:
        for _ in range(7):
            under_way.enter_context(limiter.slot(CancelToken()))
        limiter.too_many(0.0)  # the eighth
        limiter.too_many(0.0)  # the same burst
        assert limiter.allowed == 4
    assert limiter.notice == "The server asked for fewer calls at once: 4 now, slowly more again"
    for _ in range(4):
        limiter.went_well()
    assert limiter.allowed == 5
    for _ in range(1000):
        limiter.went_well()
    assert (limiter.allowed, limiter.notice) == (32, "")


def test_two_readings_share_what_a_server_allows(settings_for):
    """One is refused; both are slowed, since it is one server; a person is told."""
    with FakeServer(before=lambda n, text: TOO_MANY if n < 4 else None, latency=0.02) as server:
        first = connection.connect(settings_for(server), time_scale=0.001)
        other = connection.connect(settings_for(server, temperature=0.5), time_scale=0.001)
        assert other is not first
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: first.complete(Prompt("answer", f"question {i}"), CancelToken()), range(4)))
        assert other.limiter.allowed < 8
        assert any("fewer calls at once" in notice for notice in other.notices)


class Told(CancelToken):
    """A CancelToken that records what is waited for."""

    def __init__(self):
        super().__init__()
        self.told: list[str] = []

    def waiting(self, seconds, why):
        self.told += [why] if why else []


def test_a_model_that_is_being_loaded_is_waited_for_and_can_be_stopped(settings_for):
    loading = Reply(status=503, error={"message": "Loading model", "code": 503, "type": "unavailable_error"})
    cancel = Told()
    with FakeServer([*[loading] * 20, "A tea cosy."]) as server:
        reply = connection.connect(settings_for(server), time_scale=0.001).complete(PROMPT, cancel)
        assert reply.text == "A tea cosy."
        assert set(cancel.told) == {"The server is loading the model"}
    with FakeServer(lambda _: loading) as server, ThreadPoolExecutor(1) as pool:
        cancel = Told()
        asked = pool.submit(connection.connect(settings_for(server)).complete, PROMPT, cancel)
        while not cancel.told:
            time.sleep(0.01)
        cancel.cancel()
        with pytest.raises(errors.CancelledError):
            asked.result(5)


def test_a_free_place_is_waited_for_and_said_where_other_work_has_it():
    limiter, mine, other = Limiter(1), Told(), Told()
    with ThreadPoolExecutor(2) as pool:
        with limiter.slot(other):
            waits = pool.submit(lambda: limiter.slot(mine).__enter__())
            while not mine.told:
                time.sleep(0.01)
            assert mine.told == ["Waiting: the model answers one call at a time"]
            assert not waits.done()
        waits.result(5)


@pytest.mark.parametrize(("slots", "allowed"), [(1, 1), (2, 2), (3, 3), (32, 32)])
def test_a_server_here_gets_as_many_calls_as_it_answers_side_by_side(slots, allowed):
    """Calls beyond the slots of a server wait there in silence; one without a number is tried with one, two, four…"""
    limiter, now = Limiter(finds_slots=True), time.monotonic()
    assert limiter.allowed == 1
    for _ in range(12):  # as many as are allowed begin together; a slot takes a second for each
        calls: list[Call] = []
        for number in range(int(limiter.allowed)):
            turn = number // slots
            calls.append(Call(CancelToken(), tuple(calls), now, now + turn + 1))
        for number, call in enumerate(calls):
            limiter.went_well(call, number // slots + 0.9)
    assert limiter.allowed == allowed
    assert limiter.notice == ""


def test_a_server_here_with_one_silent_queue_is_not_asked_for_more(settings_for):
    one = threading.Lock()

    def answer(text):
        with one:
            time.sleep(0.2)
        return "OK."

    with FakeServer(answer, kind="another") as server:
        model = connection.connect(settings_for(server))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: model.complete(Prompt("answer", f"question {i}"), CancelToken()), range(8)))
        assert server.most_at_once <= 4


def test_llama_cpp_says_how_many_slots_it_has_and_a_person_decides(settings_for):
    with FakeServer(kind="llama.cpp", window=4096, slots=3) as server:
        model = connection.connect(settings_for(server))
        assert model.limiter.allowed == 1
        model.complete(PROMPT, CancelToken())
        assert model.limiter.allowed == 3
        assert connection.connect(settings_for(server, at_once=5)).limiter.allowed == 5


class At:
    url = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("other", ["Llama3.2", "llama3.2:latest", "library/llama3.2", "llama3.2@sha256:0a8c"])
def test_what_is_known_of_a_model_holds_for_it_under_each_of_its_names(other, settings_for):
    settings = settings_for(At, model="llama3.2", windows={"llama3.2:latest": 9000}, prices={"llama3.2": [1, 2]})
    connection.connect(settings).server.quirks.learn_window(2048)
    connection.close_all()
    again = settings_for(At, model=other, windows={"llama3.2:latest": 9000}, prices={"llama3.2": [1, 2]})
    assert connection.learnt_limits(again) == [("Context window", "2,048 tokens", "the server said so")]
    model = connection.connect(again)
    assert (model.window, model.price.written) == (2048, 2)


def test_a_learnt_window_is_kept_until_it_is_reset_or_the_file_changes(settings_for):
    said = Reply(status=400, error=error("This model's maximum context length is 2048 tokens"))
    long = Prompt("gist", "word " * 1000, reply_words=50)
    with FakeServer([said, "fits", "fits", "fits"], kind="ollama", num_ctx=8192, file="Monday") as server:
        settings = settings_for(server)
        connection.connect(settings).complete(long, CancelToken())
        assert connection.learnt_limits(settings) == [("Context window", "2,048 tokens", "the server said so")]
        connection.close_all()
        assert connection.learnt_limits(settings) == [("Context window", "2,048 tokens", "the server said so")]
        server.traits.file = "Tuesday"
        connection.connect(settings).complete(Prompt("gist", "word " * 900, reply_words=50), CancelToken())
        assert connection.learnt_limits(settings) == []
        connection.connect(settings).server.quirks.learn_window(1024)
        connection.relearn(server.url, "fake-model", settings.home)
        assert connection.learnt_limits(settings) == []
        connection.close_all()
        assert connection.learnt_limits(settings) == []


def test_no_more_calls_at_once_than_allowed(settings_for):
    with FakeServer(lambda _: Reply("OK.", delay=0.03)) as server:
        model = models.connect(settings_for(server, at_once=3))
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda i: model.complete(Prompt("answer", f"question {i}"), CancelToken()), range(12)))
        assert server.most_at_once <= 3


def test_a_window_is_set_for_one_model(settings_for):
    with FakeServer(models=("fake-model", "other")) as server:
        kept = {"windows": {"other": 9000}}
        assert models.connect(settings_for(server, **kept)).server.window is None
        assert models.connect(settings_for(server, model="other", **kept)).server.window == 9000
        assert models.connect(settings_for(server, window=5000, **kept)).server.window == 5000


def test_a_stack_of_changed_settings_goes_when_nothing_uses_it(settings_for):
    with FakeServer(lambda _: Reply("OK.", delay=0.3)) as server, ThreadPoolExecutor(1) as pool:
        old = models.connect(settings_for(server))
        gone = weakref.ref(old)
        under_way = pool.submit(old.complete, PROMPT, CancelToken())
        del old
        for seconds in range(20, 25):
            models.connect(settings_for(server, timeout=seconds))
        assert under_way.result(10).text == "OK."  # a call under way keeps its stack
        del under_way
        until = time.monotonic() + 10
        while gone() is not None and time.monotonic() < until:
            time.sleep(0.01)
        assert gone() is None
        assert len(connection._STACKS) == 1


def test_the_connections_of_a_stack_close_with_it(settings_for):
    def says():
        yield BODY.replace(b"\r\n\r\n", b"\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)) + ANSWER

    with RawServer(says) as server:
        models.connect(settings_for(server, window=8000)).complete(PROMPT, CancelToken())
        assert not server.left.wait(0.2)
        models.connect(settings_for(server, window=8000, timeout=25))
        assert server.left.wait(5)


def test_wrappers_delegate_all_and_copies_share_what_they_count(settings_for):
    with FakeServer() as server:
        model = models.connect(settings_for(server, prices={"fake-model": [1.0, 2.0]}, budget_book=3.0, window=5000))
        around = ModelWrapper(ModelWrapper(model))
        names = [name for name, value in vars(ChatModel).items() if isinstance(value, property)]
        assert len(names) > 8
        for name in names:
            assert getattr(around, name) == getattr(model, name)
        assert (around.price, around.budget, around.limiter) == (Price(1.0, 2.0), 3.0, model.limiter)
        metered = Metered(around)
        seen: list[Prompt] = []

        class Seen(ModelWrapper):
            def complete(self, prompt, cancel):
                seen.append(prompt)
                return super().complete(prompt, cancel)

        inner = metered.wrap_inner(Seen)
        for _ in range(2):
            inner.complete(PROMPT, CancelToken())
        assert len(seen) == 1, "the second reply comes from the cache"
        inner.without_cache().complete(PROMPT, CancelToken())
        assert len(seen) == 2
        assert metered.usage.calls == 2
        assert Metered(metered).budget is None


def test_a_model_without_a_server_has_every_attribute():
    model = FakeModel(["here"])
    assert model.without_cache() is model
    assert (model.limiter, model.sampling, model.cutting, model.notices) == (None, {}, "", [])
    model.learn_window(CancelToken())
    assert model.wrap_inner(ModelWrapper).complete(PROMPT, CancelToken()).text == "here"
