"""Which replies are kept is known without asking SQLite, and is never wrong for long."""

from __future__ import annotations

import time
from contextlib import closing, suppress

import pytest

from readagent_core.models.base import Completion
from readagent_core.models.known_keys import FRESH, SHORT
from readagent_core.models.reply_cache import ReplyCache


@pytest.fixture
def cache(own_home):
    with closing(ReplyCache(own_home)) as kept:
        yield kept


@pytest.fixture
def another(own_home):
    """As another process has it open at the same time."""
    with closing(ReplyCache(own_home)) as kept:
        yield kept


def found_soon(cache, key):
    """The reply's text as soon as it is found; '' where it is not within some looks."""
    for _ in range(20):
        with suppress(AttributeError):
            return cache.get(key).text
        time.sleep(FRESH / 4)
    return ""


def test_a_reply_that_is_not_kept_asks_sqlite_nothing(cache):
    cache.put("kept", Completion("a reply"))
    cache.flush()
    assert cache.get("missing") is None
    statements = []
    cache._opened()._con.set_trace_callback(statements.append)
    assert [cache.get(f"missing {i}") for i in range(200)] == [None] * 200
    assert len(statements) < 20  # some looks on a slow machine, not one a call
    assert cache.get("kept").text == "a reply"
    assert any("value" in statement for statement in statements)


def test_what_was_kept_before_is_known(cache, own_home):
    for i in range(300):
        cache.put(f"{i:064d}"[::-1], Completion(f"reply {i}"))
    cache.close()
    later = ReplyCache(own_home)
    assert [later.get(f"{i:064d}"[::-1]).text for i in range(300)] == [f"reply {i}" for i in range(300)]
    later.close()


def test_what_another_process_keeps_is_found_soon(cache, another):
    assert another.get("theirs") is None
    cache.put("theirs", Completion("from next door"))
    cache.flush()
    assert found_soon(another, "theirs") == "from next door"


def test_what_another_process_keeps_after_emptying_the_cache_is_found_too(cache, another):
    for i in range(5):
        cache.put(f"old {i}", Completion("gone soon"))
    cache.flush()
    assert another.get("old 3").text == "gone soon"
    cache.clear()
    cache.put("new", Completion("the first again"))
    cache.flush()
    assert found_soon(another, "new") == "the first again"
    assert another.get("old 3") is None


def test_keys_that_begin_alike_are_not_taken_for_each_other(cache):
    one, two = "a" * SHORT + "1", "a" * SHORT + "2"
    cache.put(one, Completion("one"))
    cache.flush()
    assert cache.get(two) is None
    assert cache.get(one).text == "one"


def test_what_a_damaged_cache_held_is_asked_for_again(cache, own_home):
    cache.put("a", Completion("before"))
    cache.close()
    (own_home / "replies" / "cache.db").write_bytes(b"no database" * 1000)
    assert cache.get("a") is None
    cache.put("a", Completion("after"))
    cache.close()
    assert cache.get("a").text == "after"
    assert cache.notices
