"""Small books, and the same command line as that of the other commands."""

from __future__ import annotations

import importlib.util

import pytest

if importlib.util.find_spec("distributed") is None:  # not imported here: that takes longer than most tests
    pytest.skip("requirements-corpus.txt is not installed", allow_module_level=True)

from tests.cli.conftest import SENTENCE
from tests.fakes.server import FakeServer


@pytest.fixture
def shelf(tmp_path):
    """``shelf(n)``: a folder of n books of about 700 words, each with its own text."""

    def make(books, paragraphs=12):
        folder = tmp_path / "shelf"
        folder.mkdir()
        for book in range(books):
            rows = [" ".join(SENTENCE.format(k=book * 1000 + p * 3 + i) for i in range(3)) for p in range(paragraphs)]
            (folder / f"book {book:03}.md").write_text(f"# Fog {book}\n\n" + "\n\n".join(rows), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def server():
    with FakeServer() as running:
        yield running
