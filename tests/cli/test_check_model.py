"""``readagent check-model``."""

from __future__ import annotations

import json
import subprocess
import sys

from readagent_core.settings.saved import read_file
from tests.cli.running import run_here, run_json
from tests.fakes.capable import capable
from tests.fakes.server import FakeServer
from tests.fakes.weak import WeakModel


def test_what_holds_and_what_suits_in_words_and_saved_only_when_asked(own_home):
    with FakeServer(WeakModel({"breaks the form": 1.0}), enforces=True) as server:
        out, told = run_here("check-model", server=server)
        assert "This model will struggle: fake-model at http://127.0.0.1" in out
        assert "✗ Quotes exactly: 0 of 5" in out
        assert "Suits it: Replies with a form are asked for in JSON" in out
        assert "Testing: " in told
        assert read_file(own_home) == ({}, "")
        out, told = run_here("check-model", "--save", server=server)
        assert "Saved for fake-model." in told
    assert read_file(own_home)[0]["json_replies"] == ["fake-model"]


def test_the_promised_shape(own_home):
    with FakeServer(capable, kind="vllm", window=32_768) as server:
        found = run_json("check-model", server=server)
    assert set(found) == {"model", "where", "outcome", "checks", "suited", "why", "saved"}
    assert (found["outcome"], found["suited"], found["why"], found["saved"]) == ("good", {}, [], False)
    counts = {"at_once", "again", "never", "read", "written"}
    assert set(found["checks"][0]) == {"id", "name", "state", "figure", "advice"} | counts
    states = {check["id"]: check["state"] for check in found["checks"]}
    assert {name for name, state in states.items() if state != "good"} == {"reuse"}  # told by no reply here
    assert states["reuse"] == "unknown"


def test_without_a_model_or_a_server_it_says_so(own_home, monkeypatch):
    assert "No language model is connected" in run_here("check-model", code=1)[1]
    monkeypatch.setenv("READAGENT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("READAGENT_MODEL", "fake-model")
    out, _ = run_here("check-model", "--json", code=1)
    assert "cannot be reached" in json.loads(out)["error"]["message"]


def test_a_wrong_type_in_the_settings_is_told_and_the_default_used(own_home):
    own_home.mkdir(mode=0o700)
    (own_home / "settings.json").write_text('{"prices": [1], "connections": "x"}')
    path = own_home / "text.txt"
    path.write_text("The lamp was lit by Ida. " * 30)
    child = subprocess.run(
        [sys.executable, "-m", "readagent_core", "read", str(path), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.returncode == 0
    assert json.loads(child.stdout)["complete"] is True
    assert "'prices'" in child.stderr
    assert "'connections'" in child.stderr
