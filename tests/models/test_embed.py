"""Embeddings: from the server, batched and kept; from word statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from readagent_core import errors, models
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.settings import Settings
from readagent_core.settings.saved import parse_settings
from tests.fakes.server import FakeServer

TEXTS = ["The lighthouses stood on the rock.", "She kneaded the dough.", "雪の駅の時計", ""]


def test_the_built_in_one_puts_near_what_is_alike(own_home):
    embedder = models.connect_embedder(Settings(own_home))
    rows = embedder.embed(TEXTS, CancelToken())
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0])
    for question, best in (("Who keeps the lighthouse?", 0), ("What dough?", 1), ("時計は？", 2)):
        assert int(np.argmax(rows @ embedder.embed([question], CancelToken())[0])) == best
    assert embedder.embed([], CancelToken()).shape[0] == 0


def test_a_servers_rows_are_batched_kept_and_in_order(settings_for):
    with FakeServer(models=("fake-model", "embedder")) as server:
        settings = settings_for(server, embedding_model="embedder")
        texts = [f"text {'e' * i}" for i in range(150)]
        rows = models.connect_embedder(settings).embed([*texts, texts[0]], CancelToken())
        asked = [r for r in server.requests if r.path.endswith("/embeddings")]
        assert [len(r.payload["input"]) for r in asked] == [64, 64, 22]
        connection.close_all()
        again = models.connect_embedder(settings).embed(texts[::-1], CancelToken())
        assert len([r for r in server.requests if r.path.endswith("/embeddings")]) == 3
    assert np.allclose(rows[:150], again[::-1], atol=1e-5)
    assert np.allclose(rows[0], rows[150])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_a_server_without_embeddings_says_so(settings_for):
    with FakeServer(embeds=False) as server, pytest.raises(errors.ModelError, match="saved"):
        models.connect_embedder(settings_for(server, embedding_model="none")).embed(["x"], CancelToken())


def test_a_model_in_this_process_as_older_versions_had_is_told_about_and_not_used():
    saved = parse_settings({"embedding_model": "local:all-MiniLM-L6-v2"}, Path("settings.json"))
    assert saved.embedding_model == ""
    assert "llama.cpp" in saved.faults[0]
