"""The meter and the money: words, tokens, prices and budgets."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from readagent_core import errors, models
from readagent_core.answering.costs import AnswerCost, cost_details
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.models.cost.meter import Metered
from readagent_core.models.cost.prices import FREE, Price, about_money, listed_prices, money, money_after, price_of
from readagent_core.models.cost.spending import SpendingLog
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.prompts import Prompt
from readagent_core.usage import Usage
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer, Reply

OPENAI_DAY = listed_prices()["gpt-4o"].as_of
PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)


@pytest.mark.parametrize("price", [[1000.0, 2000.0], None])
def test_the_meter_counts_words_tokens_and_what_the_cache_saved(settings_for, monkeypatch, price):
    monkeypatch.setattr("readagent_core.models.cost.prices.is_local", lambda where: False)
    with FakeServer(["A tea cosy."]) as server:
        model = models.connect(settings_for(server, **({"prices": {"fake-model": price}} if price else {})))
        metered = Metered(model)
        metered.complete(PROMPT, CancelToken())
        mark = metered.usage
        metered.complete(PROMPT, CancelToken())
    saved = metered.usage - mark
    assert (mark.calls, mark.words_in, mark.words_out, mark.tokens_in) == (1, 5, 3, 5)
    assert (saved.calls, saved.cached_calls, saved.saved_words_in, saved.words_in) == (0, 1, 5, 0)
    if price is None:
        assert (mark.cost, mark.saved_cost, saved.cost, saved.saved_cost) == (None, None, None, None)
    else:
        assert (mark.saved_cost, saved.cost) == (None, 0.0)
        assert saved.saved_cost == mark.cost > 0
    assert Usage.from_dict(metered.usage.to_dict()) == metered.usage
    assert (metered.usage + Usage()).saved_cost == saved.saved_cost


@pytest.mark.parametrize(
    ("row", "cost"),
    [([1000.0, 0.0, "2026-11-01", 100.0], 0.4 + 0.06), ([1000.0, 0.0], 1.0), ([1000.0, 0.0, "2026-11-01", None], 1.0)],
)
def test_tokens_from_the_servers_cache_are_counted_shown_and_priced(settings_for, monkeypatch, row, cost):
    monkeypatch.setattr("readagent_core.models.cost.prices.is_local", lambda where: False)
    with FakeServer([Reply("A tea cosy.", tokens_in=1000, tokens_reused=600)]) as server:
        metered = Metered(models.connect(settings_for(server, prices={"fake-model": row})))
        list(metered.stream(PROMPT, CancelToken()))
    used = metered.usage
    assert (used.tokens_in, used.tokens_reused) == (1000, 600)
    assert used.cost == pytest.approx(cost)
    details = cost_details(AnswerCost(1, 1, 0, 0.0, used, full_tokens=1, full_cost=None))
    assert "(1,000 tokens in, 600 of them from the server's cache" in details[0]


def test_tokens_are_estimated_where_none_are_reported(settings_for):
    with FakeServer(["A tea cosy."], reports_usage=False) as server:
        metered = Metered(models.connect(settings_for(server)))
        metered.complete(PROMPT, CancelToken())
    assert metered.usage.tokens_estimated == 1
    assert metered.usage.tokens_in > 0


def test_a_stream_nobody_listens_to_the_end_is_counted():
    metered = Metered(FakeModel(["one\ntwo\nthree"]))
    stream = metered.stream(PROMPT, CancelToken())
    next(stream)
    stream.close()
    assert metered.usage.calls == 1


def test_what_broke_off_was_sent_all_the_same():
    metered = Metered(FakeModel([errors.CutOffError("x", "two words")]))
    with pytest.raises(errors.CutOffError):
        metered.complete(PROMPT, CancelToken())
    assert (metered.usage.words_in, metered.usage.words_out) == (5, 2)


@pytest.fixture
def priced(settings_for, monkeypatch):
    """The settings of a model at 1,000 dollars a million tokens: 0.001 dollars a token."""
    monkeypatch.setattr("readagent_core.models.cost.prices.is_local", lambda where: False)
    return lambda server, **kept: settings_for(server, prices={"fake-model": [1000.0, 1000.0]}, **kept)


def test_every_try_that_broke_off_is_entered_in_the_month(priced, own_home):
    with FakeServer([Reply("A tea cosy, that is", cut=9), "A tea cosy."]) as server:
        model = connection.connect(priced(server), time_scale=0.001)
        assert model.complete(PROMPT, CancelToken()).tries == 2
    broken = estimate_tokens(PROMPT.text) + estimate_tokens("A tea cos")
    whole = len(PROMPT.text) // 4 + len("A tea cosy.") // 4  # as the server reports it
    assert SpendingLog(own_home).month() == pytest.approx((broken + whole) * 0.001)


def test_what_came_of_a_stream_that_was_closed_is_entered_in_the_month(priced, own_home):
    with FakeServer([Reply("A tea cosy, that is all. " * 20, gap=0.05)]) as server:
        stream = models.connect(priced(server)).stream(PROMPT, CancelToken())
        first = next(stream)
        stream.close()
    tokens = estimate_tokens(PROMPT.text) + estimate_tokens(first)
    assert SpendingLog(own_home).month() == pytest.approx(tokens * 0.001)


def test_a_budget_stops_before_a_call_is_sent():
    fake = FakeModel(lambda prompt: "word " * 100)
    fake.price = Price(1.0, 1000.0)
    metered = Metered(fake, budget=0.3)
    for _ in range(3):
        metered.complete(PROMPT, CancelToken())
    with pytest.raises(errors.BudgetError, match=r"\$0\.30.*saved"):
        metered.complete(PROMPT, CancelToken())
    assert len(fake.prompts) == 3
    assert metered.usage.cost < 0.5


def test_the_months_limit_outlives_the_run(priced, own_home):
    with FakeServer() as server:
        settings = priced(server, budget_month=0.005)
        model = models.connect(settings)
        model.complete(PROMPT, CancelToken())
        assert SpendingLog(own_home).month() >= 0.005
        connection.close_all()
        with pytest.raises(errors.BudgetError, match="This month"):
            models.connect(settings).complete(Prompt("answer", "Another?"), CancelToken())
        assert models.connect(settings).complete(PROMPT, CancelToken()).cached
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("model", "where", "price"),
    [
        ("gpt-4o-mini-2024-07-18", "https://api.openai.com/v1", Price(0.15, 0.60, OPENAI_DAY)),
        (
            "gpt-4o-mini",
            "http://localhost:4000/v1",
            Price(0.15, 0.60, OPENAI_DAY),
        ),  # a program here passes the calls on
        ("openai/gpt-4.1", "https://openrouter.ai/api/v1", Price(2.0, 8.0, OPENAI_DAY)),
        ("anything", "http://localhost:11434/v1", FREE),
        ("anything", "http://192.168.0.7:8000/v1", FREE),
        ("anything", "https://example.org/v1", None),
    ],
)
def test_prices(model, where, price):
    assert price_of(model, where) == price
    assert price_of(model, where, {model: [1, 2]}) == Price(1.0, 2.0)  # set by hand
    assert price_of(model, where, {model: [1.5, 6.0, "2026-11-20"]}) == Price(1.5, 6.0, "2026-11-20")  # listed


def test_words_cost_what_their_tokens_do():
    assert Price(1.0, 2.0).cost_of_words(30_000, 5_000) == pytest.approx(0.06)
    assert [money(x) for x in (None, 0, 0.004, 1234.5)] == ["price not known", "nothing", "under $0.01", "$1,234.50"]
    assert [about_money(x) for x in (None, 0.004, 0.42)] == ["price not known", "under $0.01", "about $0.42"]
    assert [money_after(x) for x in (None, 0.0, 0.00001)] == [", price not known", "", ", under $0.01"]


def test_money_is_written_in_one_place() -> None:
    """Two formats of one amount, '$0.0000' and 'under $0.01', look like two amounts."""
    root = Path(__file__).parents[2]
    for folder in ("readagent_core", "pages"):
        for path in (root / folder).rglob("*.py"):
            if path.name != "prices.py":
                assert not re.search(r"\$\{[^}\n]*:[^}\n]*f\}", path.read_text(encoding="utf-8")), path


def test_spending_is_counted_by_threads_and_processes_together(own_home):
    own_home.mkdir(mode=0o700)
    program = (
        "import sys; from pathlib import Path; from readagent_core.models.cost.spending import SpendingLog\n"
        "log = SpendingLog(Path(sys.argv[1]))\n"
        "for _ in range(50): log.add('m', 0.01)\n"
    )
    log = SpendingLog(own_home)
    with subprocess.Popen([sys.executable, "-c", program, str(own_home)]) as other, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: log.add("m", 0.01), range(200)))
        assert other.wait(60) == 0
    assert log.month() == pytest.approx(2.5)
    assert log.by_model() == {"m": pytest.approx(2.5)}
    log.close()
    assert log.month() == pytest.approx(2.5)  # opened again
    log.close()


def test_a_spending_log_that_cannot_be_read_says_so_and_may_be_replaced(own_home):
    own_home.mkdir(mode=0o700)
    with closing(SpendingLog(own_home)) as log:
        log.path.write_text("this is no database " * 100)
        with pytest.raises(errors.LibraryError, match="remove"):
            log.month()
        log.path.unlink()
        log.add("m", 0.01)
        assert log.month() == pytest.approx(0.01)
