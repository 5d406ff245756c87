"""Finding servers and their models."""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import replace

import pytest

from readagent_core.errors import UnreachableError
from readagent_core.models.server import probe
from readagent_core.settings import Secret
from tests.fakes.server import FakeServer


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
        assert probe.list_models(server.url, Secret()) == probe.Listing(instead="nothing")


def test_a_server_that_takes_no_connection_is_not_told_as_slow():
    with socket.socket() as full, contextlib.ExitStack() as callers:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # its queue is full
            caller = callers.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        with pytest.raises(UnreachableError):
            probe.list_models(f"http://127.0.0.1:{full.getsockname()[1]}/v1", Secret(), seconds=1.0)
