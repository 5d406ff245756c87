"""A book and a server for the tests of the command line."""

from __future__ import annotations

import pytest

from tests.fakes.server import FakeServer

SENTENCE = "The keeper of the light rang bell number {k} in the fog and wrote it down with care that night."


@pytest.fixture
def book(tmp_path):
    """About 1,400 words in two chapters."""
    path = tmp_path / "fog.md"
    chapters = []
    for chapter in range(2):
        paragraphs = [" ".join(SENTENCE.format(k=chapter * 100 + p * 3 + i) for i in range(3)) for p in range(12)]
        chapters.append(f"## Chapter {chapter + 1}\n\n" + "\n\n".join(paragraphs))
    path.write_text("# Fog\n\n" + "\n\n".join(chapters), encoding="utf-8")
    return path


@pytest.fixture
def server():
    with FakeServer() as running:
        yield running
