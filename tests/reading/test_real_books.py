"""Real books get the same pages as by the sequential algorithm; skipped without the shared data."""

from __future__ import annotations

from pathlib import Path

import pytest

from readagent_core.loaders import load
from readagent_core.memory import check_coverage
from readagent_core.plan import ReadingPlan
from readagent_core.reading import read
from tests.reading.helpers import sensible_model, sequential

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = sorted(
    path
    for folder in ("documents/text", "narrativeqa", "quality", "passkey")
    for path in (DATA / folder).rglob("*.txt")
    if path.stat().st_size < 400_000
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_same_pages_as_one_after_another(path):
    document = load(path.read_bytes(), path.name)
    for plan in (ReadingPlan(), ReadingPlan.from_preset("book", cross_sections=False)):
        expected = sequential(document, plan, alone := sensible_model())
        memory = read(document, model := sensible_model(), plan, connections=12)
        assert [(p.start, p.end, p.reason) for p in memory.pages] == [(p.start, p.end, p.reason) for p in expected]
        check_coverage(memory.document, memory.pages)
        asked = sum(p.task == "paginate" for p in model.prompts)
        assert asked <= 1.5 * max(1, len(alone.prompts))
