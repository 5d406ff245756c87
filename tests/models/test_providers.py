"""Each provider of the presets, played by the fake server: how it lists, wants its key, tells its window and price.

Where a provider is told by its host name, the fake stands under a path with that name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.connecting.checking.check import check_model
from readagent_core.models.cost.prices import listed_price, price_of
from readagent_core.models.server import probe
from readagent_core.prompts import Prompt
from readagent_core.settings import Secret
from tests.fakes.capable import capable
from tests.fakes.server import FakeServer, Reply

KEY = "sk-of-the-provider"
PROMPT = Prompt("answer", "What did Mrs. Oake win?", reply_words=50)
PRESETS = {preset.id: preset for preset in probe.PRESETS}


@dataclass(frozen=True)
class Plays:
    """``window``: what is known before a reply, ``after``: after one; None where it is the same."""

    traits: dict[str, Any]
    window: int | None
    after: int | None = None
    model: str = "fake-model"
    listed: tuple[str, ...] = ("fake-model",)
    price: tuple[float, float] | None = None
    refuses: frozenset[str] = field(default_factory=frozenset)


NO_MAX = frozenset({"max_tokens", "temperature"})  # as OpenAI's thinking models
PROVIDERS = {
    "openai": Plays({"kind": "openai", "models": ("gpt-5", "tts-1")}, 272_000, None, "gpt-5", ("gpt-5",), None, NO_MAX),
    "ollama": Plays({"kind": "ollama", "window": 131_072, "loaded": False, "loaded_window": 32_768}, 4096, 32_768),
    "lmstudio": Plays({"kind": "lmstudio", "loaded": False, "loaded_window": 8192}, 131_072, 8192),
    "llama.cpp": Plays({"kind": "llama.cpp", "window": 16_384}, 16_384),
    "vllm": Plays({"kind": "vllm", "window": 32_768}, 32_768),
    "openrouter": Plays(
        {"kind": "openrouter", "base": "/api/v1", "window": 200_000, "price": ("0.0000015", "0.000006")},
        200_000,
        price=(1.5, 6.0),
    ),
    "gemini": Plays(
        {
            "kind": "gemini",
            "base": "/generativelanguage.googleapis.com/v1beta/openai",
            "window": 65_536,
            "models": ("gemini-x", "gemini-embedding-2"),
        },
        65_536,
        None,
        "gemini-x",
        ("gemini-x",),
    ),
    "anthropic": Plays({"kind": "anthropic", "base": "/api.anthropic.com/v1", "window": 1_000_000}, 1_000_000),
}


def test_every_preset_is_played_at_its_own_path():
    assert set(PROVIDERS) == set(PRESETS)
    for name, plays in PROVIDERS.items():
        path = urlsplit(PRESETS[name].address).path
        assert plays.traits.get("base", "/v1").endswith(path)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_from_its_list_to_its_reply(name, model_at):
    plays = PROVIDERS[name]
    key = "" if PRESETS[name].local else KEY
    with FakeServer(key=key, refuses=plays.refuses, **plays.traits) as server:
        if key:
            with pytest.raises(errors.KeyRefusedError, match="Copy the key"):
                probe.list_models(server.url, Secret("sk-wrong"))
        listing = probe.list_models(server.url, Secret(key))
        assert listing.names == plays.listed
        priced = listing.prices.get(plays.model)
        assert (priced and (priced.read, priced.written)) == plays.price
        # OpenAI is told by its address alone; everyone else is asked
        where = PRESETS["openai"].address if name == "openai" else server.url
        model = model_at(where, plays.model, api_key=Secret(key))
        assert model.window == plays.window
        model = model_at(server, plays.model, api_key=Secret(key))
        assert model.complete(PROMPT, CancelToken()).text
        if name != "openai":
            assert model.window == (plays.after or plays.window)
        asked = len(server.requests)
        assert model.complete(PROMPT, CancelToken()).text
        assert model.window
        assert len(server.requests) == asked + 1 or name == "openai"  # a window is not asked for again and again
        assert server.chats[-1].headers["authorization"] == f"Bearer {key or 'none'}"


def test_lm_studio_through_its_newer_address(model_at):
    with FakeServer(kind="lmstudio", native="v1", loaded=False, loaded_window=8192) as server:
        model = model_at(server)
        assert model.window == 131_072
        model.complete(PROMPT, CancelToken())
        assert model.window == 8192


def test_a_long_first_prompt_has_ollama_load_the_model_before_it_is_called_too_long(model_at):
    long = Prompt("answer", "word " * 8000)
    with FakeServer(kind="ollama", window=131_072, loaded=False, loaded_window=32_768) as server:
        model = model_at(server)
        assert model.complete(long, CancelToken()).text
    with FakeServer(kind="ollama", window=131_072, loaded=False) as server:  # it loads with its default of 4096
        model = model_at(server)
        for _ in range(2):
            with pytest.raises(errors.WindowError, match="4,096"):
                model.complete(long, CancelToken())
        assert not server.chats
        assert sum(request.path == "/api/generate" for request in server.requests) == 1


@pytest.mark.parametrize("window", [None, 100_000])
@pytest.mark.parametrize("shown", ["", "so much thought"])
def test_thinking_that_takes_all_the_room_gets_more(window, shown, model_at):
    """OpenAI and Gemini count it and show nothing: an empty reply that ended for its length."""
    with FakeServer([Reply("", reasoning=shown, finish="length"), "A tea cosy.", "A tea cosy."]) as server:
        model = model_at(server, window=window)
        assert model.complete(PROMPT, CancelToken()).text == "A tea cosy."
        assert model.complete(PROMPT, CancelToken()).text == "A tea cosy."
        rooms = [chat.payload["max_tokens"] for chat in server.chats]
        assert rooms[0] < rooms[1] == rooms[2]


def test_a_model_that_only_thinks_is_given_up_and_told(model_at):
    with FakeServer(lambda text: Reply("", finish="length")) as server:
        model = model_at(server, window=100_000)
        with pytest.raises(errors.EmptyReplyError, match="for its thinking"):
            model.complete(PROMPT, CancelToken())
        assert len(server.chats) == 2


def test_a_server_here_that_wants_a_key_is_found_and_says_so():
    with FakeServer(kind="lmstudio", key=KEY) as server:
        (found,) = probe.find_local((probe.Preset("lmstudio", "LM Studio", server.url, "maybe", True),), seconds=10.0)
    assert found.locked
    assert found.models == ()


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("claude-opus-4-20250514", (15.0, 75.0)),
        ("claude-opus-4-5-20251101", (5.0, 25.0)),
        ("anthropic/claude-sonnet-4.5", (3.0, 15.0)),
        ("models/gemini-2.5-flash-preview-09-2025", (0.30, 2.50)),
        ("gpt-5.4", (2.50, 15.0)),
        # of a known family, but another model, whose price is not known
        ("gpt-5-pro", None),
        ("gpt-7", None),
        ("o3-deep-research", None),
        ("claude-opus-9", None),
        ("gemini-2.5-flash-image", None),
        ("openai/gpt-4.1:nitro", None),
    ],
)
def test_a_price_is_that_of_the_very_model(model, price):
    found = price_of(model, "https://example.org/v1")
    assert (found and (found.read, found.written)) == price
    assert found is None or found.as_of


@pytest.mark.parametrize(
    "row", [None, {}, [], {"prompt": "-1", "completion": "-1"}, {"prompt": "x", "completion": "1"}, {"prompt": "1"}]
)
def test_a_listed_price_that_is_none(row):
    assert listed_price(row) is None


def test_a_server_that_asks_for_a_pause_is_waited_for_in_the_test(model_at):
    told: list[str] = []

    class Patience(CancelToken):
        def wait(self, seconds: float, why: str) -> None:
            told.append(why)

    slow_down = Reply(status=429, headers={"Retry-After": "12"})
    with FakeServer(capable, before=lambda n, text: slow_down if n in (0, 3, 4) else None) as server:
        model = model_at(server, window=8000)
        checks = list(check_model(model, Patience()))
    assert {check.state for check in checks if check.id != "reuse"} == {"good"}
    assert told == ["Waiting 12 s: the server asked for it"] * 3
