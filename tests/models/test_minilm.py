"""The optional sentence embeddings: chosen by name, long texts in pieces, told plainly where not installed."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import SettingsError
from readagent_core.models import connect_embedder
from readagent_core.models.embeddings.minilm import LocalEmbedder
from readagent_core.settings import Settings

NAME = "local:all-MiniLM-L6-v2"


def stand_in(monkeypatch: pytest.MonkeyPatch, made: list[str], encoded: list[str]) -> None:
    class SentenceTransformer:
        def __init__(self, name: str, device: str) -> None:
            if name == "nowhere":
                raise OSError("no network")
            made.append(name)

        def encode(self, texts: list[str], show_progress_bar: bool) -> Any:
            encoded.extend(texts)
            return np.array([[len(t), 1.0] for t in texts], dtype=np.float32)

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_a_local_model_is_chosen_by_its_name(tmp_path: Path) -> None:
    embedder = connect_embedder(Settings(tmp_path, saved={"embedding_model": NAME}))
    assert isinstance(embedder, LocalEmbedder)
    assert embedder.name == NAME


def test_rows_are_unit_and_long_texts_are_means_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    encoded: list[str] = []
    stand_in(monkeypatch, made, encoded)
    rows = LocalEmbedder(NAME).embed(["short", "long. " * 400], CancelToken())
    assert rows.shape == (2, 2)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert made == ["all-MiniLM-L6-v2"]
    assert len(encoded) == 1 + 3
    assert LocalEmbedder(NAME).embed([], CancelToken()).shape[0] == 0


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SettingsError, match="requirements-embeddings"):
        LocalEmbedder(NAME).embed(["a"], CancelToken())
    stand_in(monkeypatch, [], [])
    with pytest.raises(SettingsError, match="could not be loaded"):
        LocalEmbedder("local:nowhere").embed(["a"], CancelToken())
