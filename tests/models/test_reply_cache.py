"""The reply cache: prompts are sent once, replies survive, and damage or failures do not stop the work."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import diskcache
import pytest

from readagent_core import errors, models
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.models.base import Completion
from readagent_core.models.cache.model import Cached, load_reply, store_reply
from readagent_core.models.cache.store import ReplyCache
from readagent_core.models.cost.meter import Metered
from readagent_core.prompts import Prompt
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)


@pytest.fixture
def cache(own_home):
    with closing(ReplyCache(own_home)) as opened:
        yield opened


def text_of(cache, key):
    reply = load_reply(cache, key)
    return reply and reply.text


def test_the_same_prompt_is_asked_once(settings_for):
    with FakeServer(["A tea cosy."]) as server:
        settings = settings_for(server)
        first = models.connect(settings).complete(PROMPT, CancelToken())
        connection.close_all()  # as another process would see it
        second = models.connect(settings).complete(PROMPT, CancelToken())
        *parts, third = models.connect(settings).stream(PROMPT, CancelToken())
    assert (first.cached, second.cached, third.cached) == (False, True, True)
    assert first.text == second.text == third.text == "".join(parts)


def test_a_person_may_ask_anew(settings_for):
    with FakeServer(["first", "second"]) as server:
        model = models.connect(settings_for(server))
        metered = Metered(model)
        metered.complete(PROMPT, CancelToken())
        assert metered.without_cache().complete(PROMPT, CancelToken()).text == "second"
        assert model.complete(PROMPT, CancelToken()).text == "second"
        assert metered.usage.calls == 2


@pytest.mark.parametrize("bad", [Reply("cut at its limit", finish="length"), Reply("", finish="stop")])
def test_only_whole_good_replies_are_kept(settings_for, bad):
    with FakeServer([bad, bad, bad, "good"]) as server:
        model = connection.connect(settings_for(server), time_scale=0.001)
        for _ in range(2):
            try:
                model.complete(PROMPT, CancelToken())
            except errors.EmptyReplyError:
                continue
        assert len(server.chats) > 1


def test_the_folder_is_the_users_own_and_holds_no_prompt(settings_for, own_home):
    with FakeServer() as server:
        models.connect(settings_for(server)).complete(PROMPT, CancelToken())
        connection.close_all()
    assert stat.S_IMODE((own_home / "replies").stat().st_mode) == 0o700
    assert not [p for p in (own_home / "replies").rglob("*") if p.is_file() and b"Mrs. Oake" in p.read_bytes()]


def test_a_thread_that_waits_for_the_same_prompt_can_be_cancelled(settings_for):
    asked, answer = threading.Event(), threading.Event()

    def reply(_):
        asked.set()
        answer.wait(20)
        return "OK."

    with FakeServer(reply) as server, ThreadPoolExecutor(2) as pool:
        model = models.connect(settings_for(server))
        first = pool.submit(model.complete, PROMPT, CancelToken())
        assert asked.wait(10)
        cancel = CancelToken()
        second = pool.submit(model.complete, PROMPT, cancel)
        with pytest.raises(TimeoutError):
            second.result(0.5)
        cancel.cancel()
        with pytest.raises(errors.CancelledError):
            second.result(1)
        answer.set()
        assert first.result(10).text == "OK."
        assert model.complete(PROMPT, CancelToken()).cached
        assert len(server.chats) == 1


def test_rows_of_the_version_before_are_found(own_home):
    row = {
        "version": 1,
        "text": "雪 and snow",
        "model": "m",
        "tokens_in": 7,
        "tokens_out": None,
        "reasoning": "because",
    }
    old = diskcache.Cache(str(own_home / "replies"), eviction_policy="least-recently-stored", cull_limit=0)
    old.set("k", json.dumps(row, ensure_ascii=False), expire=86_400)
    old.close()
    with closing(ReplyCache(own_home)) as cache:
        assert load_reply(cache, "k") == Completion(
            "雪 and snow", model="m", tokens_in=7, tokens_out=None, reasoning="because", cached=True
        )
        assert not cache.notices


def test_keys_are_the_same_as_in_the_version_before(cache):
    inner = FakeModel([])
    inner.where = "http://127.0.0.1:9/v1"
    inner.sampling = {"temperature": 0.0}
    model = Cached(inner, cache)
    assert [
        model.key(Prompt("answer", "What did Mrs. Oake win?")),
        model.key(Prompt("answer", "Half \ud83d", sample=2)),
    ] == [
        "ccee9b539774aae264c9a629ad4ce88993385c0429113d2dcfa654569b7cdcef",
        "4edd1c9e14c0463d54f5641f8cc75ed8896b56f0307de02c4202a7d7927904e8",
    ]


def test_a_planted_pickle_is_refused_and_set_aside(cache, own_home, tmp_path):
    store_reply(cache, "a", Completion("good"))

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    change(own_home, "UPDATE Cache SET mode = 4, value = ?", sqlite3.Binary(pickle.dumps(Trap())))
    assert text_of(cache, "a") is None
    assert not (tmp_path / "sprung").exists()
    (notice,) = cache.notices
    assert "damaged" in notice
    store_reply(cache, "a", Completion("new"))
    assert text_of(cache, "a") == "new"


@pytest.mark.parametrize("planted", ["mode = 3, filename = 'secret.txt', value = NULL", "filename = 'secret.txt'"])
def test_a_planted_file_is_neither_read_nor_deleted(cache, own_home, planted):
    secret = own_home / "replies" / "secret.txt"
    for use in (lambda: text_of(cache, "a"), lambda: store_reply(cache, "a", Completion("new")), cache.clear):
        store_reply(cache, "a", Completion("good"))
        secret.write_text(json.dumps({"version": 1, "text": "from a file"}))
        change(own_home, f"UPDATE Cache SET {planted}")
        assert use() in (None, 1)
        assert [path.name for path in own_home.rglob("secret.txt")] == ["secret.txt"]
        for path in own_home.glob("replies.damaged-*"):
            shutil.rmtree(path)


def change(home, statement, *values):
    database = sqlite3.connect(home / "replies" / "cache.db")
    database.execute(statement, values)
    database.commit()
    database.close()


@pytest.fixture
def damaged(cache, own_home):
    """A cache whose files were overwritten."""
    store_reply(cache, "a", Completion("good"))
    cache.close()
    for path in (own_home / "replies").iterdir():
        path.write_bytes(b"not a database " * 400)
    return cache


def test_threads_that_find_the_same_damage_set_one_cache_aside(damaged, own_home):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store_reply(damaged, str(i), Completion("new")), range(32)))
    assert [text_of(damaged, str(i)) for i in range(32)] == ["new"] * 32
    assert len(list(own_home.glob("replies.damaged-*"))) == len(damaged.notices) == 1


def test_a_folder_that_is_deleted_meanwhile_is_made_again(cache, own_home):
    store_reply(cache, "a", Completion("good"))
    cache.close()
    shutil.rmtree(own_home / "replies")
    assert text_of(cache, "a") is None
    store_reply(cache, "a", Completion("new"))
    assert text_of(cache, "a") == "new"
    assert not cache.notices


def test_a_cache_that_fails_does_not_stop_the_work(own_home, settings_for):
    (own_home / "replies").write_text("a file where the folder should be")
    with FakeServer(["one", "two"]) as server:
        model = models.connect(settings_for(server))
        assert [model.complete(PROMPT, CancelToken()).text for _ in range(2)] == ["one", "two"]
    assert len(model.cache.notices) == 1
    assert (model.cache.state().replies, model.cache.clear()) == (0, 0)


@pytest.mark.parametrize("text", ['{"version": 1}', '{"version": 2, "text": "x"}', "[]", "no JSON", '{"text": '])
def test_a_row_that_is_no_reply_counts_as_none(cache, text):
    cache.put("a", text)
    assert load_reply(cache, "a") is None
    assert not cache.notices


def test_age_size_and_clearing(own_home):
    with closing(ReplyCache(own_home, megabytes=1, days=0.5 / 86_400)) as cache:
        store_reply(cache, "a", Completion("good"))
        state = cache.state()
        assert (state.replies, state.limit) == (1, 2**20)
        assert state.bytes > 0
        time.sleep(0.6)
        assert load_reply(cache, "a") is None
        store_reply(cache, "b", Completion("good"))
        assert cache.clear() >= 1
        assert cache.state().replies == 0


def test_the_size_limit_holds_and_the_oldest_replies_go_first(own_home):
    with closing(ReplyCache(own_home, megabytes=1)) as cache:
        for i in range(60):
            store_reply(cache, str(i), Completion("x" * 50_000))
        assert cache.state().bytes < 1.2 * 2**20
        assert (load_reply(cache, "0"), len(text_of(cache, "59"))) == (None, 50_000)
        files = sum(path.stat().st_size for path in (own_home / "replies").glob("cache.db"))
        assert files < 1.2 * 2**20


def test_many_threads_store_at_once_and_another_process_finds_it(cache, own_home):
    with closing(ReplyCache(own_home)) as other:
        store_reply(cache, "ours", Completion("reply"))
        other.clear()
        assert text_of(cache, "ours") is None
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: store_reply(cache, str(i), Completion(f"reply {i}")), range(400)))
    with closing(ReplyCache(own_home)) as other:
        found = [text_of(other, str(i)) for i in range(400)]
    assert found == [f"reply {i}" for i in range(400)]
    assert not cache.notices


def test_a_lone_surrogate_harms_no_other_reply(cache):
    store_reply(cache, "a", Completion("whole"))
    store_reply(cache, "b", Completion("half \ud83d"))
    assert (text_of(cache, "a"), text_of(cache, "b")) == ("whole", "half \ud83d")
    assert not cache.notices
