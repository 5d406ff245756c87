"""Plans: the papers' presets, a key for each reading, and errors for values that cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from readagent_core.errors import SettingsError
from readagent_core.plan import ReadingPlan


@pytest.mark.parametrize(
    ("preset", "max_words", "min_words"),
    [("article", 600, 280), ("meeting", 600, 280), ("book", 3000, 500), ("script", 1000, 600)],
)
def test_presets_are_the_papers(preset, max_words, min_words):
    plan = ReadingPlan.from_preset(preset)
    assert (plan.max_words, plan.min_words) == (max_words, min_words)


def test_keys():
    plan = ReadingPlan()
    assert plan.key == ReadingPlan.from_preset("meeting").key, "the same numbers are the same reading"
    assert plan.key != replace(plan, max_words=700).key
    assert plan.key != replace(plan, instructions="Keep all numbers.").key
    assert plan.key != replace(plan, preset="book").key, "a book also asks for chapter starts"
    assert ReadingPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.parametrize(
    "wrong", [{"max_words": 10}, {"min_words": 0}, {"gist_share": 1.0}, {"gist_share": 0}, {"pagination": "magic"}]
)
def test_what_cannot_be_read_is_refused(wrong):
    with pytest.raises(SettingsError):
        ReadingPlan(**wrong)


def test_unknown_preset_names_those_there_are():
    with pytest.raises(SettingsError, match="article, meeting, book, script"):
        ReadingPlan.from_preset("poem")
