"""Mind2Web's files in an experiment: the layouts, the measures counted by hand, and the papers' figures beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readagent_core.answering.base import Answer, AskSettings, Question
from readagent_core.errors import DatasetError, SettingsError
from readagent_core.evaluation.answering import judge, operation_f1
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.datasets.base import Item, WebStep
from readagent_core.evaluation.experiment import Experiment, read_record
from readagent_core.evaluation.formats import FORMATS, render_pieces
from readagent_core.evaluation.html import score_plot, score_points
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.report import results_in_words, summarise
from readagent_core.evaluation.results import JsonLines
from readagent_core.evaluation.running import run
from readagent_core.evaluation.score_table import load_scores
from readagent_core.evaluation.tables import score_table
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.web_pages.actions import Action
from tests.fakes.model import FakeModel
from tests.web_pages.pages import knowing, shop

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "mind2web"
needs_samples = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared test data are not here")


def action(target, op="CLICK", value="", **changes):
    found = [{"backend_node_id": target, "tag": "button", "attributes": "{}"}] if target else []
    return {"action_uid": f"u-{target}-{op}", "cleaned_html": shop(), "operation": {"op": op, "value": value},
            "pos_candidates": found, "neg_candidates": [], **changes}  # fmt: skip


def web_task(*actions, name="t1"):
    return {"annotation_id": name, "website": "lamps", "confirmed_task": "Fetch a lamp\n", "actions": list(actions),
            "action_reprs": [f"[button]  Step {n} -> CLICK" for n in range(len(actions))]}  # fmt: skip


def write(path, *rows):
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return path


def evaluate(path, tmp_path, model, *arms):
    chosen = tuple(parse(arm, AskSettings(look_ups=1)) for arm in arms or ("read-agent-p:5",))
    folder = tmp_path / "evaluations" / "one"
    run(Experiment(open_dataset(path), chosen, connections=2), model, folder=folder)
    return summarise(read_record(folder), load_scores(folder)), folder


def test_the_published_layout_and_single_steps_are_the_same(tmp_path):
    second = action("501", "TYPE", "10203", operation=json.dumps({"op": "TYPE", "value": "10203"}),
                    pos_candidates=[json.dumps({"backend_node_id": 501})])  # fmt: skip
    published = list(open_dataset(write(tmp_path / "test_task_0.json", web_task(action("504"), second))).cases())
    assert [case.title for case in published] == ["lamps, step 1", "lamps, step 2"]
    item = published[1].items[0]
    assert item.web_step == WebStep("Fetch a lamp", ("[button]  Step 0 -> CLICK",), ("501",), "TYPE", "10203")
    assert item.id == "t1:u-501-TYPE"
    flat = {"confirmed_task": "Fetch a lamp", "previous_actions": ["[button]  Step 0 -> CLICK"], "website": "lamps",
            "annotation_id": "t1", **second}  # fmt: skip
    for name, text in (("one.json", json.dumps(flat)), ("lines.jsonl", json.dumps(flat) + "\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        dataset = open_dataset(tmp_path / name)
        assert dataset.kind == "mind2web"
        (case,) = dataset.cases()
        assert (case.title, case.items[0].web_step) == ("lamps, step 2", item.web_step)
        assert case.document.id == published[1].document.id


def test_what_is_wrong_with_a_file_is_named(tmp_path):
    with pytest.raises(DatasetError, match="action 1: the field 'cleaned_html' is missing"):
        list(open_dataset(write(tmp_path / "a.json", web_task(action("1", cleaned_html="")))).cases())
    with pytest.raises(DatasetError, match="'operation' must be an object"):
        list(open_dataset(write(tmp_path / "b.json", web_task(action("1", operation="CLICK")))).cases())
    (case,) = open_dataset(write(tmp_path / "c.json", web_task(action("1", cleaned_html="<script>x</script>")))).cases()
    with pytest.raises(DatasetError, match="nothing to see"):
        _ = case.document


# what was chosen, what is right (None: lost), and the measures as counted by hand
BY_HAND = [
    (("8", "CLICK", ""), ("8", "CLICK", ""), (True, 1.0, True)),
    (("9", "CLICK", ""), ("8", "CLICK", ""), (False, 1.0, False)),
    (("8", "TYPE", "Boston"), ("8", "TYPE", "Boston"), (True, 1.0, True)),
    (("8", "TYPE", "New York"), ("8", "TYPE", "New York City"), (True, 6 / 7, False)),  # 3 of 3 and 3 of 4
    (("8", "SELECT", "Boston"), ("8", "TYPE", "Boston"), (True, 0.5, False)),  # 1 of 2 and 1 of 2
    (("8", "CLICK", ""), ("8", "SELECT", "May 4"), (True, 0.0, False)),
    (("8", "TYPE", "a a b"), ("8", "TYPE", "a b b"), (True, 1.0, True)),  # each word once
    (("7", "CLICK", ""), (None, "CLICK", ""), (False, 0.0, False)),
    (None, ("8", "CLICK", ""), (False, 0.0, False)),
    (("8", "CLICK", ""), ("8", "TYPE", "CLICK"), (True, 2 / 3, False)),  # 1 of 1 and 1 of 2
]


@pytest.mark.parametrize(("chosen", "right", "expected"), BY_HAND)
def test_the_measures_by_hand(chosen, right, expected):
    target, operation, value = right
    step = WebStep("t", (), (target,) if target else (), operation, value)
    found = Action(*chosen) if chosen else None
    answer = Answer("", "read-agent-p", extra={"action": found.to_dict() if found else None})
    judged = judge(Item("1", Question("t"), web_step=step), answer)
    assert (judged["element"], judged["operation_f1"], judged["step"]) == (
        expected[0], pytest.approx(expected[1]), expected[2],
    )  # fmt: skip
    assert operation_f1(found, step) == pytest.approx(expected[1])


def test_a_table_with_the_papers_figures_beside_ours(tmp_path):
    path = write(tmp_path / "test_website_0.json", web_task(action("504"), action("501", "TYPE", "1")),
                 web_task(action("504"), name="t2"), web_task(action(""), name="t3"))  # fmt: skip
    model = knowing("504")
    summary, folder = evaluate(path, tmp_path, model, "read-agent-p:5", "full-text")
    row = summary.rows[0]
    assert (row.element_accuracy.hits, row.element_accuracy.total) == (2, 4)
    assert row.operation_f1.value == pytest.approx((1 + 0 + 1 + 0) / 4)
    assert (row.step_success.hits, row.task_success.hits, row.task_success.total) == (2, 1, 3)
    assert row.compression_rate > 0
    assert row.look_ups == 1
    assert row.words_each > 0
    assert row.reading_words > 0
    header, rows = score_table(summary)
    cells = dict(zip(header, rows[0], strict=True))
    assert cells["Element accuracy (95 %)"].startswith("50.00 %")
    assert cells["Published score"] == "element 37.40 %, F1 75.1, step 31.1 %, task 3.4 %"
    assert "Step success" in summary.differences[row.arm]
    points = score_points(summary)
    assert (points[0].y, [point.y for point in points if point.hollow]) == (50.0, [31.1, 18.2])
    assert "Right steps" in score_plot(summary)
    said = results_in_words(summary)
    assert "2 of 4 steps right" in said[0]
    assert not any("not judged" in sentence for sentence in said)
    gists = [prompt for prompt in model.prompts if prompt.task == "gist_snippet"]
    assert len(gists) == len({prompt.text for prompt in gists}), "steps on one page share its gists"
    wrong = [line for line in JsonLines(folder / "results.jsonl") if line["replay"] is not None]
    assert len(wrong) == 4
    assert any('Right: TYPE "1" on the element 501.' in line["notes"] for line in wrong)
    for format in FORMATS:
        text = b"".join(render_pieces(summary, format, Questions.of(folder, summary.record))).decode()
        assert ("element_accuracy" in text) or ("Element accuracy" in text) or format.startswith("answers")


def test_an_interrupted_experiment_asks_nothing_twice(tmp_path):
    path = write(tmp_path / "steps.json", web_task(action("504")))
    before, _ = evaluate(path, tmp_path, knowing("504"))
    after, _ = evaluate(path, tmp_path, FakeModel([]))
    assert after.rows == before.rows


def test_methods_that_cannot_act_are_refused_at_once(tmp_path):
    path = write(tmp_path / "steps.json", web_task(action("504")))
    with pytest.raises(SettingsError, match="cannot act on web pages"):
        evaluate(path, tmp_path, FakeModel([]), "memwalker")


@needs_samples
def test_the_shared_samples_with_a_model_that_knows_the_answer(tmp_path):
    model = knowing("8635")
    summary, _ = evaluate(SHARED / "step-thumbtack.json", tmp_path, model, "read-agent-p:1", "gist-mem", "full-text")
    for row in summary.rows:
        assert (row.element_accuracy.hits, row.element_accuracy.total, row.step_success.hits) == (1, 1, 1)
    assert summary.published, "the papers' figures are shown beside"


@needs_samples
def test_the_shared_samples_by_word_statistics(tmp_path):
    summary, _ = evaluate(SHARED / "step-thumbtack.json", tmp_path, BuiltInReader())
    assert summary.rows[0].element_accuracy.total == 1
    assert not summary.record["model"]["is_language_model"]
