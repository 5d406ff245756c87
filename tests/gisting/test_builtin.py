"""The built-in reader works with every pagination, without a fallback, in English and Japanese."""

from __future__ import annotations

import pytest

from readagent_core.document import Document, Paragraph
from readagent_core.gisting import read
from readagent_core.memory import check_coverage
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.plan import GistingPlan

EN = (
    "Ada climbed the stairs of the light and counted them. The lamp was cold and the glass was broken. "
    "She wrote the hour in the book. The wind came from the west and the sea was high under the rock."
)
JA = "雪が降っていた。駅には誰もいない。彼女は切符を握りしめて、長い夜のことを考えていた。汽車はまだ来ない。"


def text(language):
    base = JA if language == "ja" else EN
    names = ("灯台", "港", "森", "村") if language == "ja" else ("Rowe", "Harrow", "Jonas", "Mill")
    return Document("T", tuple(Paragraph(f"{names[i // 12 % 4]} {i}. {base}") for i in range(60)), language=language)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("pagination", ["pause", "many", "one-pass", "uniform"])
def test_every_way_of_reading(language, pagination):
    document = text(language)
    memory = read(document, BuiltInReader(), GistingPlan(max_words=300, min_words=120, pagination=pagination))
    check_coverage(memory.document, memory.pages)
    assert memory.complete
    assert len(memory.pages) > 5
    assert not any(g.fallback for g in memory.gists)
    if pagination in ("pause", "one-pass", "many"):
        assert sum(p.fallback for p in memory.pages) <= len(memory.pages) // 4
        assert any(p.reason for p in memory.pages)
    assert memory.compression_rate > 60
    check_coverage(memory.document, memory.pages)
