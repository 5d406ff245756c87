"""What an experiment will send and cost, and the budgets that stop it."""

from __future__ import annotations

import json

import pytest

from readagent_core.errors import BudgetError, SettingsError
from readagent_core.evaluation import running
from readagent_core.evaluation.cost_estimate import estimate, readings_made
from readagent_core.evaluation.experiment import resumed_experiment
from readagent_core.evaluation.model_calls import load_spent
from readagent_core.evaluation.score_table import load_scores
from readagent_core.evaluation.starting import check_price
from readagent_core.gisting.job import start_gisting
from readagent_core.incoming.opening import open_file
from readagent_core.models.cost.prices import FREE, Price
from tests.evaluation.made import BUILDERS, answering, article, experiment, reading_words, run, write_articles
from tests.fakes.model import FakeModel
from tests.fakes.server import FakeServer


@pytest.fixture
def data(tmp_path):
    """Three articles with two questions each."""
    return write_articles(tmp_path / "dev.jsonl", range(3))


def test_the_budget_holds_over_stops_and_is_raised_by_a_person(data, tmp_path):
    small = experiment(data, most_words=2_000)
    with pytest.raises(BudgetError, match="budget of 2,000 words"):
        run(data, tmp_path, of=small)
    words, _ = load_spent(tmp_path / "evaluations" / "one")
    assert words >= 2_000
    with pytest.raises(BudgetError, match=f"{words:,} were sent"):
        run(data, tmp_path, FakeModel([]), of=small)
    assert run(data, tmp_path).answers == 12


def test_a_budget_in_dollars_stops_the_run(data, tmp_path):
    model = FakeModel(answering)
    model.price = Price(1_000.0, 1_000.0)  # a dollar for a thousand tokens
    with pytest.raises(BudgetError, match=r"budget of \$4.00 is used up \(\$\d"):
        run(data, tmp_path, model, of=experiment(data, most_dollars=4.0))
    _, dollars = load_spent(tmp_path / "evaluations" / "one")
    assert 4.0 <= dollars < 4.0 + 4 * 2.0  # at most what four calls under way cost besides
    told = []
    run(data, tmp_path, model, of=experiment(data), on_change=told.append)
    assert told[-1].dollars > dollars


def test_a_budget_in_dollars_needs_a_price():
    with pytest.raises(SettingsError, match="needs a price"):
        check_price(FakeModel(answering), 1.0)
    free = FakeModel(answering)
    free.price = FREE
    check_price(free, 1.0)
    check_price(FakeModel(answering), None)


def test_the_estimate_is_near_what_is_sent_and_says_what_it_would_cost(data, tmp_path):
    found = estimate(experiment(data))
    assert found.sentence() == f"{found.sentence(FREE).removesuffix('free.')}price not known."
    assert found.dollars(None) is None
    price = Price(10.0, 30.0)
    dollars = found.words * 1.5 * 10 / 1e6 + found.words_back * 1.5 * 30 / 1e6
    assert found.dollars(price) == pytest.approx(dollars, rel=1e-4)
    assert "words sent; about $0." in found.sentence(price)
    tally = run(data, tmp_path)
    sent = sum(tally.row(a).words for a in experiment(data).arms) + tally.row(experiment(data).arms[0]).reading_words
    assert (found.documents, found.questions, found.answers) == (3, 6, 12)
    assert 0.5 < found.words / sent < 2
    assert "all answers are in" in estimate(experiment(data), done=tally).sentence()


def test_an_article_that_comes_twice_is_estimated_as_read_once(data):
    lines = data.read_text(encoding="utf-8").splitlines()
    once = estimate(experiment(data))
    data.write_text("\n".join(lines * 2), encoding="utf-8")
    twice = estimate(experiment(data))
    assert (twice.documents, twice.questions) == (once.documents, 2 * once.questions)
    assert once.calls < twice.calls < 2 * once.calls


def test_documents_after_the_first_dozen_are_taken_to_be_like_them(tmp_path):
    few, dozen, more = (
        estimate(experiment(write_articles(tmp_path / f"{count}.jsonl", range(count)))).calls for count in (3, 12, 24)
    )
    assert (dozen, more) == (4 * few, 8 * few)


def test_another_experiment_over_the_same_documents_pays_for_what_it_finds_made(data, tmp_path):
    of, model = experiment(data, *BUILDERS), FakeModel(answering)
    first = run(data, tmp_path, model, of=of)
    assert 0.5 < estimate(of).words / sum(prompt.words for prompt in model.prompts) < 2
    again = running.run(of, FakeModel(answering), folder=tmp_path / "evaluations" / "two")
    assert reading_words(again, of) == reading_words(first, of)
    assert all(reading_words(first, of))


def test_two_ways_of_one_method_are_each_charged_for_what_they_share(data, tmp_path):
    alone = experiment(data, "memwalker:3")
    both = experiment(data, "memwalker:3", "memwalker:5")
    (cost,) = reading_words(running.run(alone, FakeModel(answering), folder=tmp_path / "alone" / "one"), alone)
    model = FakeModel(answering)
    tally = running.run(both, model, folder=tmp_path / "both" / "one")
    assert reading_words(tally, both) == [cost, cost]
    assert sum(p.words for p in model.prompts if p.task.startswith("tree_")) == cost  # it was built once


def test_what_is_to_come_is_told_for_whatever_will_be_asked(data, tmp_path):
    """Another arm after all others are done; arms that were begun with and are not named again."""
    folder = tmp_path / "evaluations" / "one"
    run(data, tmp_path)
    one = resumed_experiment(folder, experiment(data, "gist-mem"))
    found = estimate(one, done=load_scores(folder))
    assert (len(one.arms), found.answers) == (3, 6)
    model = FakeModel(answering)
    run(data, tmp_path, model, of=experiment(data, "gist-mem"))
    assert 0.5 < found.calls / len(model.prompts) < 4
    assert estimate(resumed_experiment(folder, experiment(data, "gist-mem")), done=load_scores(folder)).answers == 0
    assert estimate(experiment(data, "gist-mem", runs=2), done=load_scores(folder)).answers == 6


@pytest.mark.parametrize("notes", [False, True])
def test_gists_that_exist_are_not_charged(notes, tmp_path, own_home, open_workspace):
    """A book that was read in the app: its calls are not sent again, and those of known answers are not either.

    Gists that were made together with notes came from other prompts, so the experiment makes its own.
    """
    path = tmp_path / "story.md"
    path.write_text(article(1), encoding="utf-8")
    asked = {"question": "What rang?", "references": ["a bell"], "file": path.name}
    (tmp_path / "questions.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    of = experiment(tmp_path / "questions.jsonl", "read-agent-p", rate=False)
    with FakeServer() as server:
        workspace = open_workspace(server.url, notes=notes)
        new = estimate(of, made=readings_made(workspace))
        book = open_file(workspace, path.read_bytes(), path.name)
        start_gisting(workspace, book.id, of.plan_for(of.arms[0], "article")).join(120)
        read = estimate(of, made=readings_made(workspace))
        before = len(server.chats)
        folder = own_home / "evaluations" / "one"
        running.run(of, workspace.model, folder=folder)
        assert read.calls == (new.calls if notes else 2) < 12
        if not notes:
            assert len(server.chats) - before == 2
        again = estimate(of, done=load_scores(folder), made=readings_made(workspace))
        assert (again.calls, again.answers) == (0, 0)
