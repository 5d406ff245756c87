"""The cache of replies: what is asked once, what is kept, and what harms it not."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from readagent_core import errors, models
from readagent_core.models import connection
from readagent_core.models.base import Completion, Watch
from readagent_core.models.meter import Metered
from readagent_core.models.reply_cache import ReplyCache
from readagent_core.prompts import Prompt
from tests.fakes.server import FakeServer, Reply

PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)


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
    another.close()
    cache.close()
    cache.put("late", Completion("kept all the same"))
    cache.close()
    another = ReplyCache(own_home)
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
