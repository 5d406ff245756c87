"""The whole stack: patience, cache, meter, money; what people are told and how many calls are made."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from readagent_core import errors, models
from readagent_core.models import connection
from readagent_core.models.base import Completion, Watch
from readagent_core.models.meter import Metered
from readagent_core.models.patience import Limiter, Patient
from readagent_core.models.prices import FREE, OPENAI, Price, money, price_of, quote
from readagent_core.models.reply_cache import ReplyCache
from readagent_core.models.spending import Ledger
from readagent_core.prompts import Prompt
from readagent_core.settings import Settings
from readagent_core.usage import Usage
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply, error

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)
TOO_MANY = Reply(status=429, error=error("slow down"))


class Patience(Watch):
    """A Watch that does not really wait but writes down what it was told."""

    def __init__(self):
        super().__init__()
        self.told: list[tuple[float, str]] = []

    def wait(self, seconds, why):
        self.check()
        self.told.append((seconds, why))


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


def test_connecting_to_a_server_that_is_away_fails_only_when_asked(own_home):
    model = connection.connect(Settings(own_home, "http://127.0.0.1:9/v1", model="m"), pace=0.001)
    with pytest.raises(errors.UnreachableError):
        model.complete(PROMPT, Watch())


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
    watch = Patience()
    with FakeServer([fault, "A tea cosy."]) as server:
        model = connection.connect(settings_for(server, timeout=0.8 if name == "timeout" else 60.0))
        if most == 1:
            with pytest.raises(errors.ModelError):
                model.complete(PROMPT, watch)
            assert not watch.told
        else:
            reply = model.complete(PROMPT, watch)
            assert (reply.text, reply.tries) == ("A tea cosy.", 1 if name == "too long" else 2)
            if name != "too long":  # asked again at once, with less room for the reply
                assert watch.told
                assert "Waiting" in watch.told[0][1]
        assert len(server.chats) == min(most, 2)


@pytest.mark.parametrize("name", [n for n in FAULTS if n != "timeout"])
def test_a_fault_without_end_is_believed_in_the_end(settings_for, name):
    fault, most = FAULTS[name]
    with FakeServer(lambda _: fault) as server:
        model = connection.connect(settings_for(server), pace=0.001)
        model.limiter.too_many = lambda wait: None  # the pause itself is tested below
        with pytest.raises(errors.ModelError):
            model.complete(PROMPT, Patience())
        assert len(server.chats) == most


def test_the_wait_a_server_asks_for_is_kept(settings_for):
    watch = Patience()
    asked = Reply(status=429, error=error("x"), headers={"Retry-After": "12"})
    with FakeServer([asked, "OK."]) as server:
        model = connection.connect(settings_for(server))
        model.limiter.too_many = lambda wait: None
        model.complete(PROMPT, watch)
    seconds, why = watch.told[0]
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


def test_stopping_while_waiting(settings_for):
    watch = Watch()
    with FakeServer([Reply(status=429, error=error("x"), headers={"Retry-After": "60"})]) as server:
        threading.Timer(0.2, watch.cancel).start()
        start = time.monotonic()
        with pytest.raises(errors.CancelledError):
            connection.connect(settings_for(server)).complete(PROMPT, watch)
    assert time.monotonic() - start < 5


def test_lines_are_halved_on_too_many_and_come_back_slowly():
    limiter = Limiter(32)
    assert limiter.told == ""
    with ExitStack() as under_way:
        for _ in range(7):
            under_way.enter_context(limiter.line(Watch()))
        limiter.too_many(0.0)  # the eighth
        limiter.too_many(0.0)  # the same burst
        assert limiter.allowed == 4
    assert limiter.told == "The server asked for fewer calls at once: 4 now, slowly more again"
    for _ in range(4):
        limiter.went_well()
    assert limiter.allowed == 5
    for _ in range(1000):
        limiter.went_well()
    assert (limiter.allowed, limiter.told) == (32, "")


def test_two_readings_share_what_a_server_allows(settings_for):
    """One is refused; both are slowed, since it is one server; a person is told."""
    with FakeServer(before=lambda n, text: TOO_MANY if n < 4 else None, latency=0.02) as server:
        first = connection.connect(settings_for(server), pace=0.001)
        other = connection.connect(settings_for(server, temperature=0.5), pace=0.001)
        assert other is not first
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: first.complete(Prompt("answer", f"question {i}"), Watch()), range(4)))
        assert other.limiter.allowed < 8
        assert any("fewer calls at once" in notice for notice in other.notices)


def test_no_more_calls_at_once_than_allowed(settings_for):
    with FakeServer(lambda _: Reply("OK.", delay=0.03)) as server:
        model = models.connect(settings_for(server, at_once=3))
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda i: model.complete(Prompt("answer", f"question {i}"), Watch()), range(12)))
        assert server.most_at_once <= 3


def test_a_window_is_set_for_one_model(settings_for):
    with FakeServer(models=("fake-model", "other")) as server:
        kept = {"windows": {"other": 9000}}
        assert models.connect(settings_for(server, **kept)).server.window is None
        assert models.connect(settings_for(server, model="other", **kept)).server.window == 9000
        assert models.connect(settings_for(server, window=5000, **kept)).server.window == 5000


# --- the cache ------------------------------------------------------------------------------------


def test_the_same_prompt_is_asked_once(settings_for):
    with FakeServer(["A tea cosy."]) as server:
        settings = settings_for(server)
        first = models.connect(settings).complete(PROMPT, Watch())
        connection.close_all()  # as another process would see it
        second = models.connect(settings).complete(PROMPT, Watch())
        *parts, third = models.connect(settings).stream(PROMPT, Watch())
    assert (first.cached, second.cached, third.cached) == (False, True, True)
    assert first.text == second.text == third.text == "".join(parts)


def test_what_else_decides_a_reply_is_part_of_the_key(settings_for):
    with FakeServer() as server:
        cold, warm = (models.connect(settings_for(server, temperature=t)) for t in (0.0, 0.7))
        assert cold.key(PROMPT) != warm.key(PROMPT)
        assert cold.key(PROMPT) != cold.key(Prompt("answer", "Another?"))


def test_eight_threads_that_ask_the_same_ask_once(settings_for):
    with FakeServer(lambda _: Reply("OK.", delay=0.1)) as server:
        model = models.connect(settings_for(server))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: model.complete(PROMPT, Watch()), range(8)))
        assert len(server.chats) == 1


def test_a_person_may_ask_anew(settings_for):
    with FakeServer(["first", "second"]) as server:
        model = models.connect(settings_for(server))
        metered = Metered(model)
        metered.complete(PROMPT, Watch())
        assert models.anew(metered).complete(PROMPT, Watch()).text == "second"
        assert model.complete(PROMPT, Watch()).text == "second"
        assert metered.usage.calls == 2


@pytest.mark.parametrize("bad", [Reply("cut at its limit", finish="length"), Reply("", finish="stop")])
def test_only_whole_good_replies_are_kept(settings_for, bad):
    with FakeServer([bad, bad, bad, "good"]) as server:
        model = connection.connect(settings_for(server), pace=0.001)
        for _ in range(2):
            try:
                model.complete(PROMPT, Watch())
            except errors.EmptyReplyError:
                continue
        assert len(server.chats) > 1


def test_the_folder_is_the_users_own_and_holds_no_prompt(settings_for, own_home):
    with FakeServer() as server:
        models.connect(settings_for(server)).complete(PROMPT, Watch())
        connection.close_all()
    assert stat.S_IMODE((own_home / "replies").stat().st_mode) == 0o700
    assert not [p for p in (own_home / "replies").rglob("*") if p.is_file() and b"Mrs. Oake" in p.read_bytes()]


def test_a_planted_pickle_is_refused_and_set_aside(own_home, tmp_path):
    cache = ReplyCache(own_home)
    cache.put("a", Completion("good"))
    cache.close()

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    db = sqlite3.connect(own_home / "replies" / "cache.db")
    db.execute("UPDATE Cache SET mode = 4, value = ?", (sqlite3.Binary(pickle.dumps(Trap())),))
    db.commit()
    db.close()
    assert cache.get("a") is None
    assert not (tmp_path / "sprung").exists()
    assert "set aside" in cache.notices[0]
    cache.put("a", Completion("new"))
    assert cache.get("a").text == "new"
    cache.close()


def test_a_damaged_cache_is_set_aside_and_made_anew(own_home):
    cache = ReplyCache(own_home)
    cache.put("a", Completion("good"))
    cache.close()
    for path in (own_home / "replies").iterdir():
        path.write_bytes(b"not a database " * 400)
    assert cache.get("a") is None
    cache.put("a", Completion("new"))
    assert cache.get("a").text == "new"
    assert len(cache.notices) == 1
    assert list(own_home.glob("replies.damaged-*"))
    cache.close()


def test_rows_that_are_not_ours_count_as_none(own_home):
    cache = ReplyCache(own_home)
    cache._do(lambda c: c.set("a", '{"version": 1}'))
    assert cache.get("a") is None
    assert not cache.notices
    cache.close()


def test_age_size_and_clearing(own_home):
    cache = ReplyCache(own_home, megabytes=1, days=0.5 / 86_400)
    cache.put("a", Completion("good"))
    state = cache.state()
    assert (state.replies, state.limit) == (1, 2**20)
    assert state.oldest is not None
    time.sleep(0.6)
    assert cache.get("a") is None
    cache.put("b", Completion("good"))
    assert cache.clear() >= 1
    assert cache.state().replies == 0
    cache.close()


def test_the_size_limit_holds(own_home):
    cache = ReplyCache(own_home, megabytes=1)
    for i in range(60):
        cache.put(str(i), Completion("x" * 50_000))
    assert cache.state().bytes < 1.2 * 2**20
    cache.close()


def test_replies_are_there_at_once_and_written_together(own_home):
    cache, writes = ReplyCache(own_home), []
    plain = cache._write_rows
    cache._write_rows = lambda opened: (writes.append(len(cache._in_hand)), plain(opened))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: (cache.put(str(i), Completion(f"reply {i}")), cache.get(str(i)).text), range(400)))
    cache.flush()
    assert sum(writes) == 400
    assert len(writes) < 200
    another = ReplyCache(own_home)  # as another process sees it
    assert [another.get(str(i)).text for i in range(400)] == [f"reply {i}" for i in range(400)]
    cache.close()
    cache.put("late", Completion("kept all the same"))
    cache.close()
    assert another.get("late").text == "kept all the same"
    another.close()


def test_half_a_character_harms_no_other_reply(own_home):
    cache = ReplyCache(own_home)
    cache.put("a", Completion("whole"))
    cache.put("b", Completion("half \ud83d"))
    cache.close()
    assert (cache.get("a").text, cache.get("b").text) == ("whole", "half \ud83d")
    assert not cache.notices
    cache.close()


# --- the meter and money --------------------------------------------------------------------------


def test_the_meter_counts_words_tokens_and_what_was_saved(settings_for):
    with FakeServer(["A tea cosy."]) as server:
        metered = Metered(models.connect(settings_for(server)))
        metered.complete(PROMPT, Watch())
        mark = metered.usage
        metered.complete(PROMPT, Watch())
    assert mark.calls == 1
    assert (mark.words_in, mark.words_out, mark.tokens_in, mark.cost) == (5, 3, 5, 0.0)
    assert metered.usage_since(mark) == Usage(cached_calls=1, saved_words_in=5, cost=0.0, saved_cost=0.0)


@pytest.mark.parametrize("price", [[1000.0, 2000.0], None])
def test_what_the_cache_saved_in_money(settings_for, monkeypatch, price):
    monkeypatch.setattr("readagent_core.models.prices.is_local", lambda where: False)
    with FakeServer(["A tea cosy."]) as server:
        model = models.connect(settings_for(server, **({"prices": {"fake-model": price}} if price else {})))
        metered = Metered(model)
        metered.complete(PROMPT, Watch())
        mark = metered.usage
        metered.complete(PROMPT, Watch())
    saved = metered.usage_since(mark)
    if price is None:
        assert (mark.cost, mark.saved_cost, saved.cost, saved.saved_cost) == (None, None, None, None)
    else:
        assert (mark.saved_cost, saved.cost) == (None, 0.0)
        assert saved.saved_cost == mark.cost > 0
    assert Usage.from_dict(metered.usage.to_dict()) == metered.usage
    assert (metered.usage + Usage()).saved_cost == saved.saved_cost


def test_tokens_are_estimated_where_none_are_reported(settings_for):
    with FakeServer(["A tea cosy."], reports_usage=False) as server:
        metered = Metered(models.connect(settings_for(server)))
        metered.complete(PROMPT, Watch())
    assert metered.usage.tokens_estimated == 1
    assert metered.usage.tokens_in > 0


def test_a_stream_nobody_listens_to_the_end_is_counted():
    metered = Metered(FakeModel(["one\ntwo\nthree"]))
    stream = metered.stream(PROMPT, Watch())
    next(stream)
    stream.close()
    assert metered.usage.calls == 1


def test_what_broke_off_was_sent_all_the_same():
    metered = Metered(FakeModel([errors.CutOffError("x", "two words")]))
    with pytest.raises(errors.CutOffError):
        metered.complete(PROMPT, Watch())
    assert (metered.usage.words_in, metered.usage.words_out) == (5, 2)


def test_a_budget_stops_before_a_call_is_sent():
    fake = FakeModel(lambda prompt: "word " * 100)
    metered = Metered(fake, prices=Price(1.0, 1000.0), budget=0.3)
    for _ in range(3):
        metered.complete(PROMPT, Watch())
    with pytest.raises(errors.BudgetError, match=r"\$0\.30.*kept"):
        metered.complete(PROMPT, Watch())
    assert len(fake.prompts) == 3
    assert metered.usage.cost < 0.5


def test_the_months_limit_outlives_the_run(settings_for, own_home, monkeypatch):
    monkeypatch.setattr("readagent_core.models.prices.is_local", lambda where: False)
    with FakeServer() as server:
        settings = settings_for(server, prices={"fake-model": [1000.0, 1000.0]}, budget_month=0.005)
        model = models.connect(settings)
        model.complete(PROMPT, Watch())
        assert Ledger(own_home).month() >= 0.005
        connection.close_all()
        with pytest.raises(errors.BudgetError, match="This month"):
            models.connect(settings).complete(Prompt("answer", "Another?"), Watch())
        assert models.connect(settings).complete(PROMPT, Watch()).cached
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("model", "where", "price"),
    [
        ("gpt-4o-mini-2024-07-18", "https://api.openai.com/v1", Price(0.15, 0.60, OPENAI)),
        ("openai/gpt-4.1", "https://openrouter.ai/api/v1", Price(2.0, 8.0, OPENAI)),
        ("anything", "http://localhost:11434/v1", FREE),
        ("anything", "http://192.168.0.7:8000/v1", FREE),
        ("anything", "https://example.org/v1", None),
    ],
)
def test_prices(model, where, price):
    assert price_of(model, where) == price
    assert price_of(model, where, {model: [1, 2]}) == Price(1.0, 2.0)


def test_an_estimate_says_what_is_not_known():
    known = quote(50, 30_000, 5_000, price=Price(1.0, 2.0), seconds_a_call=2.0, at_once=8)
    assert (known.tokens_in, known.dollars, known.minutes) == (45_000, pytest.approx(0.06), pytest.approx(50 / 60))
    assert quote(50, 30_000, 5_000, price=None).dollars is None
    assert [money(x) for x in (None, 0, 0.004, 1234.5)] == ["price not known", "nothing", "under $0.01", "$1,234.50"]


def test_patience_alone_takes_any_model():
    patient = Patient(FakeModel([errors.EmptyReplyError("x"), "here"]), pace=0.001)
    assert patient.complete(PROMPT, Watch()).text == "here"
