"""Budgets of words as arms: their keys, what an experiment sends, and the tables, curves and files of its report."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from readagent_core.answering.base import AskSettings
from readagent_core.answering.costs import words_of_question
from readagent_core.errors import SettingsError
from readagent_core.evaluation.arms import Arm, parse, with_words
from readagent_core.evaluation.cost_estimate import estimate, question_cost
from readagent_core.evaluation.curves import draw_curves, equal_words_table, word_curves
from readagent_core.evaluation.formats import render_report
from readagent_core.evaluation.report import Summary, summarise
from readagent_core.evaluation.score_table import ScoreTable, load_scores
from readagent_core.evaluation.tables import report_tables
from readagent_core.prompts import Prompt
from tests.evaluation.made import FULL, P3, answering, chosen, experiment, record, run, write_articles
from tests.fakes.model import FakeModel
from tests.methods.test_zoom import long_memory


def test_an_arm_with_a_budget_of_words() -> None:
    arm = parse("read-agent-p:5:question_words=4000", AskSettings())
    assert (arm.key, arm.title) == ("read-agent-p:5:question_words=4000", "ReadAgent, all at once (4,000 words)")
    assert Arm.from_dict(json.loads(json.dumps(arm.to_dict()))) == arm
    assert Arm.from_dict({"method": "bm25", "settings": {"look_ups": 2}}).words is None  # of an older record
    assert [a.key for a in with_words([P3, arm], [1000, 2000, 1000])] == [
        "read-agent-p:3:question_words=1000",
        "read-agent-p:3:question_words=2000",
        arm.key,
    ]
    with pytest.raises(SettingsError, match="question_words=many"):
        parse("bm25:question_words=many", AskSettings())


def test_zoom_sends_a_view_of_the_gists_however_long_the_text_is() -> None:
    zoom, every = Arm("zoom", AskSettings()), Arm("read-agent-p", AskSettings())
    sent = [question_cost(arm, 500_000, gist_share=0.2, page=400)[1] for arm in (zoom, every)]
    assert sent[0] < 15_000 < 200_000 < sent[1]
    short = question_cost(zoom, 5_000, gist_share=0.2, page=400)[1]
    assert short < sent[0]


def test_recall_is_not_taken_for_a_method_that_sends_every_gist() -> None:
    arms = [Arm(name, AskSettings()) for name in ("recall", "recall-once", "gist-mem", "full-text")]
    recall, once, gists, whole = (question_cost(arm, 100_000, gist_share=0.2, page=400)[1] for arm in arms)
    assert max(recall, once) < 3_000 < 20_000 < gists < whole
    long = long_memory(pages=300)
    assert words_of_question(long, "memwalker", look_ups=3) < long.words / 2


def made(*budgets: int) -> Summary:
    """A summary of P and full text at these words, of which full text is right at the greatest alone."""
    arms, table = with_words([P3, FULL], budgets), ScoreTable()
    for arm in arms:
        for item in range(4):
            right = arm.method == P3.method or arm.words == max(budgets)
            table.add(chosen(arm, item, right, words=(arm.words or 0) - 10 * item))
    return summarise(record(arms=arms), table)


def test_scores_are_compared_at_equal_words() -> None:
    summary = made(1000, 3000)
    curves = word_curves(summary)
    assert list(curves) == ["ReadAgent, all at once", "Full text"]
    assert [(p.budget, p.words, p.value) for p in curves["Full text"]] == [(1000, 985, 0), (3000, 2985, 100)]
    header, rows = equal_words_table(summary)
    assert header == ["Method", "1,000 words", "3,000 words"]
    assert rows[1] == ["Full text", "0.00 % (0.0–49.0), 985 sent", "100.00 % (51.0–100.0), 2,985 sent"]
    assert summary.baseline == "Full text at equal words"
    gaps = {arm: by["Accuracy"].value for arm, by in summary.differences.items()}
    assert gaps == {"read-agent-p:3:question_words=1000": 1.0, "read-agent-p:3:question_words=3000": 0.0}
    assert not any(summary.published.values())


def test_every_file_of_the_report_has_the_curves() -> None:
    summary = made(1000, 3000)
    stored = json.loads(render_report(summary, "json"))["equal_words"]
    assert stored["measure"] == "Accuracy"
    assert [point["budget"] for point in stored["methods"]["Full text"]] == [1000, 3000]
    rows = list(csv.DictReader(io.StringIO(render_report(summary, "csv").decode())))
    assert [row["word_budget"] for row in rows] == ["1000", "3000", "1000", "3000"]
    for narrow in (False, True):
        drawn = draw_curves(summary, narrow=narrow)
        root = ElementTree.fromstring(drawn)
        assert len(root.findall("{*}circle")) == 4
        names = [text for text in root.findall("{*}text") if text.text in word_curves(summary)]
        heights = sorted(float(name.get("y", 0)) for name in names)
        assert heights[1] - heights[0] >= 13  # both end at 100 %: the names stand apart
    assert draw_curves(summary) in render_report(summary, "html").decode()
    assert "At equal words" in render_report(summary, "md").decode()


def test_without_budgets_there_is_nothing_of_it() -> None:
    arms, table = (P3, FULL), ScoreTable()
    for arm in arms:
        table.add(chosen(arm, 0, True))
    summary = summarise(record(arms=arms), table)
    assert "At equal words" not in [title for title, _, _ in report_tables(summary)]
    assert json.loads(render_report(summary, "json"))["equal_words"] == {}
    assert summary.baseline == "Full text"


def with_long_gists(prompt: Prompt) -> str:
    """Gists as long as asked for; every other reply is the sensible one."""
    if prompt.task == "gist":
        return " ".join(prompt.fields["page"].split()[: int(prompt.fields["most"])])
    return answering(prompt)


def test_an_experiment_sends_no_more_than_its_arms_may(tmp_path) -> None:
    data = write_articles(tmp_path / "dev.jsonl", [1])
    arms = (*with_words([P3], [500, 1500]), *with_words([parse("bm25", AskSettings()), FULL], [800]))
    wanted = replace(experiment(data), arms=arms)
    expected = estimate(wanted)
    run(data, tmp_path, FakeModel(with_long_gists), of=wanted)
    table = load_scores(tmp_path / "evaluations" / "one")
    rows = [table.row(arm) for arm in arms]
    assert all(row.failed == 0 and 0 < row.words_each <= row.word_budget for row in rows)
    assert expected.words >= sum(row.words for row in rows) / 2
    fitted = rows[0]
    assert fitted.reading_words > rows[1].reading_words  # its gists were shortened once more, which costs words
