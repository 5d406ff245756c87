"""The passkey task: with a small window, ReadAgent and semantic compression find the key that cutting loses."""

from __future__ import annotations

import pytest

from bench.passkey import Windowed, found, passkey_document, table
from readagent_core.gisting import read
from readagent_core.memory import GistMemory
from readagent_core.models.cost.tokens import estimate_tokens
from readagent_core.plan import GistingPlan

KEY = 71_432


@pytest.fixture(scope="module")
def memory() -> GistMemory:
    document = passkey_document(12_000, 0.55, KEY)
    assert estimate_tokens(document.text()) == pytest.approx(12_000, rel=0.05)
    return read(document, Windowed(4096), GistingPlan())


@pytest.mark.parametrize(
    "name", ["semantic-compression", "read-agent-p", "read-agent-s", "read-agent-search", "zoom", "bm25", "memwalker"]
)
def test_found_through_a_window_a_third_as_long(name: str, memory: GistMemory) -> None:
    model = Windowed(4096)
    assert found(name, KEY, memory, model)
    assert model.longest <= 4096


@pytest.mark.parametrize("keep", ["left", "right", "ends"])
def test_lost_where_the_text_is_cut(keep: str, memory: GistMemory) -> None:
    assert not found(f"full-text:keep={keep}", KEY, memory, Windowed(4096))


def test_one_command_prints_the_table() -> None:
    printed = table([1_000], ["full-text", "semantic-compression"], count=1, window=4096)
    assert "| full-text | 1/1 |" in printed
    assert "| semantic-compression | 1/1 |" in printed
