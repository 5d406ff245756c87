"""Files of models on this computer: heads, the download from a hub that goes on where it was, other programs' files."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError, DownloadError, LocalModelError
from readagent_core.models.local import download, files
from readagent_core.models.local.download import Step, fetched_bytes, install
from readagent_core.models.local.gguf import read_head
from readagent_core.settings import load_settings
from tests.fakes.hub import PART, Hub

HEAD = {
    "general.architecture": "llama", "general.name": "Tiny", "llama.context_length": 4096, "llama.block_count": 4,
    "llama.embedding_length": 64, "llama.attention.head_count": 8, "llama.attention.head_count_kv": 2,
}  # fmt: skip


def gguf(values=HEAD, *, weights: int = 0) -> bytes:
    """The bytes of a file with this head."""

    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    data = b"GGUF" + struct.pack("<IQQ", 3, 0, len(values) + 1)
    for name, value in {**values, "tokenizer.ggml.model": "gpt2"}.items():
        data += text(name)
        data += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    return data + bytes(i % 251 for i in range(1000)) * (weights // 1000)


@pytest.fixture
def hub_for(own_home, tmp_path, monkeypatch):
    """``hub_for(hub)``: the settings and the one offer of a list for this hub."""

    def make(hub, **changes):
        listed = tmp_path / "models.toml"
        listed.write_text(hub.entry())
        monkeypatch.setenv("READAGENT_HUB", hub.url)
        monkeypatch.setenv("READAGENT_MODELS", str(listed))
        settings = load_settings()
        return settings, replace(files.offers(settings)[0], **changes)

    return make


def test_a_head_says_window_and_memory(tmp_path):
    file = tmp_path / "tiny.gguf"
    file.write_bytes(gguf())
    head = read_head(file)
    assert (head.name, head.window, head.dense) == ("Tiny", 4096, True)
    assert head.state == 4 * 2 * (8 + 8) * 2  # layers, heads, key and value, bytes
    file.write_bytes(gguf({**HEAD, "llama.attention.sliding_window": 512}))
    assert not read_head(file).dense


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a GGUF file"),
        (b"PK\x03\x04 a zip", "not a GGUF file"),
        (b"GGUF\x01\0\0\0" + bytes(40), "not a GGUF file"),
        (gguf()[:60], "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 60), "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 50), "not a GGUF file"),
        (gguf({"general.architecture": "clip"}), "no language model"),
    ],
)
def test_a_file_that_is_no_model(tmp_path, content, said):
    file = tmp_path / "x.gguf"
    file.write_bytes(content)
    with pytest.raises(LocalModelError, match=said):
        read_head(file)


def test_a_model_is_fetched_checked_and_found(hub_for):
    with Hub(gguf(weights=3 * PART)) as hub:
        settings, offer = hub_for(hub)
        steps = []
        path = install(settings, offer, CancelToken(), lambda progress: steps.append(progress.step))
        assert path.read_bytes() == hub.content
        assert list(dict.fromkeys(steps)) == [Step.GET, Step.CHECK, Step.DONE]
        assert files.file_of(settings, "tiny") == path
        asked = len(hub.asked)
        install(settings, offer, CancelToken())
        assert len(hub.asked) == asked
    download.remove(settings, offer)
    assert not path.parent.exists()
    with pytest.raises(LocalModelError, match="Install it"):
        files.file_of(settings, "tiny")


def test_a_pause_keeps_what_came(hub_for):
    with Hub(gguf(weights=8 * PART), pause=0.02) as hub:
        settings, offer = hub_for(hub)
        cancel = CancelToken()
        with pytest.raises(CancelledError):
            install(settings, offer, cancel, lambda progress: progress.done > PART and cancel.cancel())
        came = fetched_bytes(offer, settings.home)
        assert PART < came < len(hub.content)
        assert install(settings, offer, CancelToken()).read_bytes() == hub.content
        assert ("GET", "/cdn/file", f"bytes={came}-") in hub.asked


def test_a_connection_that_breaks_is_opened_again(hub_for):
    with Hub(gguf(weights=4 * PART), breaks=(PART, PART + 1)) as hub:
        settings, offer = hub_for(hub)
        assert install(settings, offer, CancelToken()).read_bytes() == hub.content
        assert [asked for method, _, asked in hub.asked if asked] == [f"bytes={PART}-", f"bytes={2 * PART + 1}-"]


def test_a_hub_that_is_away_is_told_and_nothing_is_lost(hub_for, monkeypatch):
    monkeypatch.setattr(download, "TRIES", 2)
    with Hub(gguf(weights=4 * PART), breaks=(2 * PART, 0, 0, 0)) as hub:
        settings, offer = hub_for(hub)
        with pytest.raises(DownloadError, match=r"broke off at 0\.0 GB\. What came is kept"):
            install(settings, offer, CancelToken())
        assert fetched_bytes(offer, settings.home) == 2 * PART
    with pytest.raises(LocalModelError, match="Go on when this computer is online"):
        install(settings, offer, CancelToken())
    assert fetched_bytes(offer, settings.home) == 2 * PART


@pytest.mark.parametrize(
    ("stated", "changes", "said"),
    [
        ({"X-Linked-Size": "17"}, {}, "another file"),
        ({"X-Linked-ETag": f'"{"a" * 64}"'}, {}, "another file"),
        ({"X-Linked-ETag": '"an-etag"'}, {"sha256": ""}, "does not say which file"),
    ],
)
def test_a_hub_with_another_file_is_not_asked_for_it(hub_for, stated, changes, said):
    with Hub(gguf()) as hub:
        hub.stated = stated
        settings, offer = hub_for(hub, **changes)
        with pytest.raises(LocalModelError, match=said):
            install(settings, offer, CancelToken())
        assert [method for method, *_ in hub.asked] == ["HEAD"]


def test_a_wrong_file_is_thrown_away(hub_for):
    content = gguf(weights=PART)
    with Hub(content) as hub:
        settings, offer = hub_for(hub)
        hub.content = content[:-1] + b"?"
        hub.stated = {"X-Linked-ETag": ""}
        with pytest.raises(LocalModelError, match="It was thrown away"):
            install(settings, offer, CancelToken())
        assert not fetched_bytes(offer, settings.home)
        assert not offer.is_installed(settings.home)


def test_a_full_disk_is_told_before_anything_is_fetched(hub_for, monkeypatch):
    with Hub(gguf()) as hub:
        settings, offer = hub_for(hub)
        monkeypatch.setattr(download.shutil, "disk_usage", lambda _: SimpleNamespace(free=100 << 20))
        with pytest.raises(LocalModelError, match=r"Needs 0\.5 GB; 0\.1 GB is free on this disk"):
            install(settings, offer, CancelToken())
        assert not [method for method, *_ in hub.asked if method == "GET"]


def killed(settings, offer, *, at: str) -> None:
    """Install in a process of its own, and kill that once it reports the step ``at``; '' at once."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:

        def stop_there(progress):
            if progress.step == at and progress.done > PART:
                os.write(send, b"there")
                time.sleep(60)

        with suppress(BaseException):
            install(settings, offer, CancelToken(), stop_there)
        os._exit(0)
    os.close(send)
    with open(receive, "rb") as there:
        assert not at or there.read(5)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_download_that_is_killed_goes_on(hub_for):
    """Five kills: before the first byte, twice while it comes, in the check, and before the file has its name."""
    with Hub(gguf(weights=12 * PART), pause=0.02) as hub:
        settings, offer = hub_for(hub)
        for moment in ("", "get", "get", "check", "check"):
            killed(settings, offer, at=moment)
            assert not offer.is_installed(settings.home)
        first = [asked for method, _, asked in hub.asked if method == "GET"]
        assert any(first[1:]), "no download went on from where the one before was"
        assert install(settings, offer, CancelToken()).read_bytes() == hub.content
        assert {path.name for path in offer.path(settings.home).parent.iterdir()} == {"tiny.gguf"}


def test_models_of_other_programs_are_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def put(path, content=b""):
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content or gguf())
        return path

    blob = put(".ollama/models/blobs/sha256-77")
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:77"}]
    manifest = json.dumps({"layers": layers}).encode()
    put(".ollama/models/manifests/registry.ollama.ai/library/llama3.1/8b", manifest)
    put(".ollama/models/manifests/registry.ollama.ai/library/broken/1b", b"{")
    put(".ollama/models/manifests/registry.ollama.ai/library/nomic-embed-text/latest", manifest)
    put(".lmstudio/models/someone/gemma-GGUF/gemma-Q4_K_M.gguf")
    put(".lmstudio/models/someone/gemma-GGUF/mmproj-model-f16.gguf")
    put(".local/share/Jan/data/llamacpp/models/jan-nano/model.gguf")
    put(".local/share/nomic.ai/GPT4All/Phi.gguf")
    put(".cache/llama.cpp/large-00002-of-00003.gguf")
    stored = put(".cache/huggingface/hub/models--a--b/blobs/99")
    link = tmp_path / ".cache/huggingface/hub/models--a--b/snapshots/12/b.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(stored)
    found = {model.name: model.file for model in files.find()}
    assert list(found) == [
        "GPT4All: Phi", "Hugging Face: b", "Jan: jan-nano", "LM Studio: gemma-Q4_K_M", "Ollama: llama3.1:8b"
    ]  # fmt: skip
    assert found["Ollama: llama3.1:8b"] == blob
    settings = load_settings()
    assert files.file_of(settings, "Ollama: llama3.1:8b") == blob
    own = put("own.gguf")
    assert files.file_of(settings, str(own)) == own


def test_a_list_of_ones_own_that_is_broken(monkeypatch, tmp_path):
    listed = tmp_path / "models.toml"
    listed.write_text("[a]\nfile = 1")
    monkeypatch.setenv("READAGENT_MODELS", str(listed))
    with pytest.raises(LocalModelError, match="cannot be used"):
        files.offers(load_settings())


def test_every_offer_of_ours_is_pinned():
    for offer in files.offers(load_settings()):
        assert offer.bytes > 10**9
        assert len(offer.sha256) == 64
        assert len(offer.revision) == 40
        assert offer.source.startswith("https://huggingface.co/Qwen/")
        assert offer.licence == "Apache-2.0"
