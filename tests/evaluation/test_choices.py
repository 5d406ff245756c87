"""What an experiment is asked to do: questions drawn at random, methods left out, and methods that need no reading."""

from __future__ import annotations

import json

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import CancelledError
from readagent_core.evaluation.cost_estimate import estimate
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment, read_record, resumed_experiment
from readagent_core.evaluation.report import headline, reading_facts, summarise
from readagent_core.evaluation.results import JsonLines
from readagent_core.evaluation.score_table import load_scores
from readagent_core.evaluation.starting import load_summary
from tests.evaluation.made import answering, experiment, run, write_articles
from tests.fakes.model import FakeModel


@pytest.fixture
def data(tmp_path):
    """Six articles with two questions each."""
    return write_articles(tmp_path / "dev.jsonl", range(6))


def drawn(data, **options):
    return [(case.number, item.number) for case in open_dataset(data, **options).cases() for item in case.items]


def test_a_seed_draws_questions_and_a_higher_limit_draws_further_ones(data):
    few = drawn(data, limit=4, seed=1)
    assert len(few) == 4
    assert few == drawn(data, limit=4, seed=1)
    assert few != drawn(data, limit=4)  # not the first in the file
    assert few != drawn(data, limit=4, seed=2)
    assert set(few) < set(drawn(data, limit=9, seed=1))
    assert sorted(drawn(data, seed=1)) == drawn(data)
    assert len({case for case, _ in drawn(data, documents=2, seed=1)}) == 2


def test_more_questions_of_the_same_draw_ask_only_those_that_are_new(data, tmp_path):
    def of(limit):
        return Experiment(open_dataset(data, limit=limit, seed=3), experiment(data, "full-text").arms)

    run(data, tmp_path, of=of(3))
    model = FakeModel(answering)
    table = run(data, tmp_path, model, of=of(5))
    assert (table.answers, len(model.prompts)) == (5, 2)
    lines = JsonLines(tmp_path / "evaluations/one/results.jsonl")
    asked = {(line["case"], line["item"]): (line["title"], line["question"]) for line in lines}
    assert asked == {
        (case, item): (f"Story {case}", f"What rang {item}?") for case, item in drawn(data, limit=5, seed=3)
    }


def test_methods_without_gists_read_nothing(data, tmp_path):
    of = experiment(data, "full-text", "bm25")
    model = FakeModel(answering)
    table = run(data, tmp_path, model, of=of)
    assert (table.answers, table.failed) == (24, 0)
    assert {prompt.task for prompt in model.prompts} == {"choose_text", "choose_pages"}
    assert estimate(of).calls == len(model.prompts)
    found = summarise(read_record(tmp_path / "evaluations" / "one"), table)
    assert headline(found)[0].startswith("6 documents and 12 questions")
    assert "no model read" in reading_facts(found)[-1]
    again = FakeModel(answering)  # a method with gists has other pages: search is asked again, full text is not
    both = run(data, tmp_path, again, of=experiment(data, "gist-mem", "full-text", "bm25"))
    assert both.answers == 36
    tasks = [prompt.task for prompt in again.prompts]
    assert (tasks.count("choose_text"), tasks.count("choose_pages")) == (0, 12)
    assert "gist" in tasks


def test_a_method_can_be_left_out_of_a_resumed_experiment(data, tmp_path):
    folder, cancel, sent = tmp_path / "evaluations" / "one", CancelToken(), []

    def answer(prompt):
        sent.append(prompt)
        if len(sent) == 8:
            cancel.cancel()
        return answering(prompt)

    with pytest.raises(CancelledError):
        run(data, tmp_path, FakeModel(answer), of=experiment(data, "full-text", "bm25", connections=1), cancel=cancel)
    before = load_scores(folder).scores
    only = resumed_experiment(folder, experiment(data, "full-text"), leave_out=True)
    table = run(data, tmp_path, of=only)
    assert len(table.scores[only.arms[1].key]) == 12
    left = only.left_out[0]
    assert len(table.scores[left]) == len(before[left]) < 12
    assert "Not finished" not in " ".join(headline(load_summary(folder)))
    everything = run(data, tmp_path, of=experiment(data, "full-text"))  # without leaving out, both are finished
    assert everything.answers == 24
    assert json.loads((folder / "record.json").read_text())["experiment"]["left_out"] == []
