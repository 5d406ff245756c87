"""Finding servers and trying models: what a person is told of each."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from readagent_core import errors
from readagent_core.cancel import CancelToken
from readagent_core.models.server import probe, trial
from readagent_core.models.server.openai_server import OpenAIServer
from readagent_core.settings import Secret
from tests.fakes.sensible import sensible
from tests.fakes.server import FakeServer, Reply


def tried(server: FakeServer, **changes) -> dict[str, probe.Check]:
    model = OpenAIServer(server.url, "fake-model", **changes)
    checks = {check.name: check for check in probe.try_model(model, CancelToken())}
    model.close()
    return checks


def test_servers_on_this_computer_are_found_at_once():
    presets = tuple(replace(p, address=f"http://127.0.0.1:9/{p.id}") for p in probe.PRESETS)
    with FakeServer(kind="ollama", models=("llama3.1:8b", "nomic-embed-text")) as one, FakeServer(models=()) as two:
        presets = (replace(presets[0], address=one.url), replace(presets[1], address=two.url), *presets[2:])
        found = probe.find_local(presets, seconds=10.0)
    assert [(f.preset.id, f.models) for f in found] == [("ollama", ("llama3.1:8b",)), ("lmstudio", ())]


def test_a_server_that_hangs_is_given_half_a_second():
    presets = tuple(replace(p, address="http://127.0.0.1:9/v1") for p in probe.PRESETS)
    with FakeServer(lists_models=True, latency=0) as server:
        server.traits.list_delay = 5.0
        presets = (replace(presets[0], address=server.url), *presets[1:])
        start = time.monotonic()
        assert probe.find_local(presets) == []
        assert time.monotonic() - start < 4.5


def test_a_server_without_a_list_is_none_the_worse():
    with FakeServer(lists_models=False) as server:
        assert probe.list_models(server.url, Secret()).names == ()
        assert tried(server)["Answers"].state == "good"


def test_a_model_that_can_do_the_job():
    with FakeServer(kind="vllm", window=32_768) as server:
        checks = tried(server)
        assert len(server.chats) == 1 + 3 * probe.TIMES
    assert [(c.state, c.advice) for c in checks.values()] == [("good", "")] * 6
    assert checks["Names a pause point when asked"].figure == "5 of 5"
    assert checks["Takes in at once"].figure == "32,768 tokens"
    assert checks["Streams its answer"].figure.startswith("first word ")


def test_a_model_that_chats_instead():
    with FakeServer(lambda text: "What a lovely story!", refuses=frozenset({"stream"}), kind="ollama") as server:
        checks = tried(server)
    assert [c.state for c in checks.values()] == ["good", "weak", "failed", "failed", "failed", "weak"]
    assert "by rule" in checks["Names a pause point when asked"].advice
    assert "OLLAMA_CONTEXT_LENGTH" in checks["Takes in at once"].advice


def test_a_model_that_misquotes():
    def reply(text):
        said = sensible(text)
        return said.replace("rope", "cord") if "Evidence:" in said else said

    with FakeServer(reply) as server:
        check = tried(server)["Quotes exactly"]
    assert check.state in ("weak", "failed")
    assert "not found" in check.advice


def test_one_fault_in_the_test_counts_as_one():
    with FakeServer(before=lambda n, text: Reply(status=500) if n == 3 else None) as server:
        assert tried(server)["Names a pause point when asked"].figure == "4 of 5"


def test_a_model_that_does_not_answer_is_told():
    with FakeServer(lambda text: Reply(status=401)) as server, pytest.raises(errors.KeyRefusedError):
        tried(server)


def names_a_label(reply):
    return trial.names_a_label(reply, (2, 3, 5))


@pytest.mark.parametrize(
    ("check", "reply", "good"),
    [
        (names_a_label, "Break point: <3>\nBecause", True),
        (names_a_label, "**Break point:** 3", True),
        (names_a_label, "breakpoint ＜３＞", True),
        (names_a_label, "Break point: <4>", False),
        (names_a_label, "I would pause at the river.", False),
        (names_a_label, "", False),
        (trial.names_pages, "I want to look up Page [2, 4] to see", True),
        (trial.names_pages, "Page []", True),
        (trial.names_pages, "Page [99]", False),
        (trial.names_pages, "Pages 2 and 4", False),
        (trial.quotes_exactly, 'A knife [4].\nEvidence:\n[4] "It came to eleven turns."', True),
        (trial.quotes_exactly, "**Evidence:**\n[4] “She coiled what was left over her arm”", True),
        (trial.quotes_exactly, 'Evidence:\n[4] "It came to twelve turns."', False),
        (trial.quotes_exactly, "A knife [4].", False),
        (trial.quotes_exactly, "Evidence: none", False),
    ],
)
def test_a_reply_in_the_asked_form(check, reply, good):
    assert check(reply) is good
