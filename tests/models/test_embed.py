"""Embeddings: from the server, batched and kept; from word statistics; from a model on this computer."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from readagent_core import errors, models
from readagent_core.cancel import CancelToken
from readagent_core.models import connection
from readagent_core.models.embeddings.minilm import LocalEmbedder
from readagent_core.settings import Settings
from readagent_core.settings.saved import SavedSettings
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


# --- on this computer -----------------------------------------------------------------------------

NAME = "local:all-MiniLM-L6-v2"


def stand_in(monkeypatch, made, encoded):
    class SentenceTransformer:
        def __init__(self, name, device):
            if name == "nowhere":
                raise OSError("no network")
            made.append(name)

        def encode(self, texts, show_progress_bar):
            encoded.extend(texts)
            return np.array([[len(t), 1.0] for t in texts], dtype=np.float32)

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_rows_are_unit_and_long_texts_are_means_of_pieces(own_home, monkeypatch):
    made, encoded = [], []
    stand_in(monkeypatch, made, encoded)
    embedder = models.connect_embedder(Settings(own_home, saved=SavedSettings(embedding_model=NAME)))
    rows = embedder.embed(["short", "long. " * 400], CancelToken())
    assert embedder.name == NAME
    assert rows.shape == (2, 2)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert made == ["all-MiniLM-L6-v2"]
    assert len(encoded) == 1 + 3
    assert embedder.embed([], CancelToken()).shape[0] == 0


def test_what_is_missing_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(errors.SettingsError, match="requirements-embeddings"):
        LocalEmbedder(NAME).embed(["a"], CancelToken())
    stand_in(monkeypatch, [], [])
    with pytest.raises(errors.SettingsError, match="could not be loaded"):
        LocalEmbedder("local:nowhere").embed(["a"], CancelToken())
