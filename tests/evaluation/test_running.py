"""An experiment runs in parallel, is stopped, killed or refused, and comes to the same table when it goes on."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from readagent_core.answering.base import AskSettings
from readagent_core.cancel import CancelToken
from readagent_core.errors import (
    CancelledError,
    DatasetError,
    KeyRefusedError,
    LimitError,
    RefusedError,
    ServerFailedError,
    SettingsError,
    WindowError,
)
from readagent_core.evaluation.arms import parse, with_defaults
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment, read_record
from readagent_core.evaluation.report import headline, summarise
from readagent_core.evaluation.results import JsonLines
from readagent_core.evaluation.score_table import load_scores
from readagent_core.evaluation.starting import start
from readagent_core.evaluation.tables import score_table, words_table
from readagent_core.jobs import Jobs
from readagent_core.models.embeddings.embed import BuiltInEmbedder
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from tests.evaluation.made import BUILDERS, answering, article, experiment, reading_words, run, write_articles
from tests.fakes.model import FakeModel


@pytest.fixture
def data(tmp_path):
    """Three articles with two questions each."""
    return write_articles(tmp_path / "dev.jsonl", range(3))


def stopping(after):
    """A model, and the token of the run that it cancels at that prompt."""
    cancel, asked = CancelToken(), itertools.count(1)

    def answer(prompt):
        if next(asked) == after:
            cancel.cancel()
        return answering(prompt)

    return {"model": FakeModel(answer), "cancel": cancel}


def table(tmp_path):
    folder = tmp_path / "evaluations" / "one"
    found = summarise(read_record(folder), load_scores(folder))
    return score_table(found), words_table(found)


def test_every_question_is_asked_once_of_every_arm(data, tmp_path):
    model, told = FakeModel(answering), []
    tally = run(data, tmp_path, model, on_change=told.append)
    assert (tally.answers, tally.failed, len(tally.gistings)) == (12, 0, 3)
    assert (told[-1].done, told[-1].total, told[-1].documents) == (12, 12, 3)
    keys = [(line["case"], line["item"], line["arm"]) for line in JsonLines(tmp_path / "evaluations/one/results.jsonl")]
    assert len(keys) == len(set(keys)) == 12
    read = [p for p in model.prompts if p.task == "gist"]
    assert len(read) == len({p.text for p in read})  # each page is shortened once for all arms
    before = table(tmp_path)
    run(data, tmp_path, FakeModel([]))  # a second run asks nothing
    assert table(tmp_path) == before


def test_stopped_and_resumed_gives_the_same_table(data, tmp_path):
    """What was asked before a stop and again after it is paid once."""
    of = experiment(data, "read-agent-p", *BUILDERS)
    model = FakeModel(answering)
    whole = run(data, tmp_path / "whole", model, of=of)
    results = tmp_path / "evaluations/one/results.jsonl"
    for after in (1, len(model.prompts) // 3, len(model.prompts) // 2):
        with pytest.raises(CancelledError):
            run(data, tmp_path, of=of, **stopping(after))
        if results.is_file():
            with results.open("ab") as file:
                file.write(b'{"case": 0, "item')  # what a kill leaves
    assert results.is_file()
    resumed = run(data, tmp_path, of=of)
    assert reading_words(resumed, of) == reading_words(whole, of)
    assert table(tmp_path) == table(tmp_path / "whole")


def test_what_no_question_can_overcome_stops_the_run(data, tmp_path):
    def refusing(prompt):
        return KeyRefusedError("The key was not accepted.") if prompt.task == "look_up" else answering(prompt)

    with pytest.raises(KeyRefusedError):
        run(data, tmp_path, FakeModel(refusing))
    assert run(data, tmp_path).answers == 12


@pytest.mark.parametrize(
    ("about", "tasks", "error", "failed"),
    [
        ("What rang 1?", ("look_up", "choose", "choose_text"), ServerFailedError("The server failed."), 6),
        ("What rang 1?", ("look_up",), IndexError("a bug in a method"), 3),
        ("light number 1 ", ("paginate", "gist"), ServerFailedError("The server failed."), 4),  # it cannot be read
    ],
)
def test_a_failure_fails_its_own_questions_only_and_they_are_asked_again(
    data, tmp_path, capfd, about, tasks, error, failed
):
    model = FakeModel(lambda p: error if about in p.text and p.task in tasks else answering(p))
    tally = run(data, tmp_path, model)
    assert (tally.answers, tally.failed) == (12, failed)
    told = {line["error"] for line in JsonLines(tmp_path / "evaluations/one/results.jsonl")} - {""}
    assert isinstance(error, IndexError) or told == {"ServerFailedError: The server failed."}
    assert ("IndexError" in capfd.readouterr().err) == isinstance(error, IndexError)
    again = FakeModel(answering)
    assert run(data, tmp_path, again).failed == 0
    assert all(about in p.text for p in again.prompts)


def test_the_screen_and_the_command_line_mean_the_same_arm():
    base = AskSettings(look_ups=3)
    for name in ("gist-mem", "full-text", "read-agent-p", "memwalker"):
        assert parse(name, base).key == with_defaults(name, base).key
    assert (parse("gist-mem", base).key, parse("gist-mem:3", base).key) == ("gist-mem:0", "gist-mem:3")


def test_runs_are_independent_and_share_one_reading(data, tmp_path):
    model = FakeModel(answering)
    tally = run(data, tmp_path, model, of=experiment(data, "read-agent-p", runs=3))
    assert tally.answers == 18
    assert {p.sample for p in model.prompts if p.task == "choose"} == {1, 2, 3}
    assert {p.sample for p in model.prompts if p.task == "gist"} == {1}
    assert tally.row(parse("read-agent-p", AskSettings())).accuracy.sd == pytest.approx(0.0)


def test_questions_at_once_embed_the_pages_of_their_document_once(data, tmp_path, monkeypatch):
    embedded, embed = [], BuiltInEmbedder.embed

    def counting(self, texts, cancel):
        if len(texts) > 1:
            embedded.append(texts)
        return embed(self, texts, cancel)

    monkeypatch.setattr(BuiltInEmbedder, "embed", counting)
    run(data, tmp_path, of=experiment(data, "neural:1", "neural:2"))
    assert len(embedded) == 3


class OtherEmbedder(BuiltInEmbedder):
    name = "another embedding model"

    def __init__(self):
        super().__init__()
        self.texts = []

    def embed(self, texts, cancel):
        self.texts += texts
        return super().embed(texts, cancel)


def test_neural_methods_use_the_embedding_model_of_the_settings(data, tmp_path, monkeypatch):
    embedder = OtherEmbedder()
    monkeypatch.setattr("readagent_core.models.connect_embedder", lambda settings: embedder)
    workspace = Workspace(Settings(tmp_path), model=FakeModel(answering))
    job, folder = start(workspace, experiment(data, "neural:1"))
    assert job.join(120).state == "done"
    workspace.library.close()
    assert {f"What rang {q}?" for q in range(2)} <= set(embedder.texts)
    assert read_record(folder)["embedder"] == embedder.name


def test_an_experiment_that_a_limit_refuses_can_be_started_later(data, tmp_path):
    workspace = Workspace(Settings(tmp_path), model=FakeModel(answering))
    workspace.jobs = Jobs(most=0)
    with pytest.raises(LimitError):
        start(workspace, experiment(data))
    workspace.jobs = Jobs()
    assert start(workspace, experiment(data))[0].join(120).state == "done"
    workspace.library.close()


def test_another_embedding_model_is_another_experiment_for_neural_methods_alone(data, tmp_path):
    run(data, tmp_path, embedder=OtherEmbedder())
    run(data, tmp_path, of=experiment(data, "neural:1"))  # the first methods embed nothing
    with pytest.raises(DatasetError, match=r"the embedding model \(built-in word vectors before, another"):
        run(data, tmp_path, of=experiment(data, "neural:1"), embedder=OtherEmbedder())


def test_more_arms_can_be_added_and_others_keep_their_rows(data, tmp_path):
    run(data, tmp_path)
    model = FakeModel(answering)
    tally = run(data, tmp_path, model, of=experiment(data, "gist-mem:0"))
    assert tally.answers == 18
    assert set(model.tasks()) == {"choose"}  # the documents are read already
    assert len(read_record(tmp_path / "evaluations/one")["experiment"]["arms"]) == 3


def test_another_experiment_under_the_same_name_is_refused(data, tmp_path):
    model = FakeModel(answering)
    model.sampling = {"temperature": 0.0}
    for _ in range(2):
        run(data, tmp_path, model)
    assert read_record(tmp_path / "evaluations" / "one")["model"]["sampling"] == {"temperature": 0.0}
    for sampling, told in (
        ({"temperature": None}, r"the temperature \(0.0 before, the server's own now\)"),
        ({"temperature": 0.0, "json_replies": True}, r"the json_replies \(False before, True now\)"),
    ):
        other = FakeModel([])
        other.sampling = sampling
        with pytest.raises(DatasetError, match=told):
            run(data, tmp_path, other)
    with pytest.raises(DatasetError, match="begun with other settings"):
        run(data, tmp_path, model, of=experiment(data, preset="book"))
    model.name = "another"
    with pytest.raises(DatasetError, match="begun with other settings"):
        run(data, tmp_path, model)
    model.name = FakeModel.name
    run(data, tmp_path, model)  # none of them changed it
    data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="begun with other settings"):
        run(data, tmp_path, model)


def test_the_report_says_that_replies_were_asked_for_in_json(data, tmp_path):
    model = FakeModel(answering)
    for sampling in ({"temperature": 0.0}, {"temperature": 0.0, "json_replies": True}):
        model.sampling = sampling
        folder = tmp_path / str(len(sampling))
        run(data, folder, model)
        said = " ".join(
            headline(summarise(read_record(folder / "evaluations/one"), load_scores(folder / "evaluations/one")))
        )
        assert ("asked for in JSON" in said) == (len(sampling) > 1)


def test_the_record_names_everything_and_runs_again(data, tmp_path):
    run(data, tmp_path)
    record = read_record(tmp_path / "evaluations" / "one")
    assert record["finished"]
    assert record["model"] == {
        "name": "fake-model",
        "where": "",
        "is_language_model": True,
        "sampling": {},
        "reported": ["fake-model"],
    }
    assert {"readagent_core", "python", "openai", "rouge-score"} <= set(record["versions"])
    assert {"en/choose", "ja/choose"} <= set(record["prompts"])
    again = Experiment.from_dict(record["experiment"])
    assert again.to_dict() == experiment(data).to_dict()
    run(data, tmp_path / "again", of=again)
    assert table(tmp_path / "again") == table(tmp_path)


@pytest.mark.parametrize("change", [{"arms": 7}, {"unknown": 1}, {"dataset": {}}])
def test_a_record_that_describes_no_experiment_is_told(change, data):
    with pytest.raises(SettingsError, match="does not describe an experiment"):
        Experiment.from_dict({**experiment(data).to_dict(), **change})


def test_wrong_answers_can_be_replayed_word_for_word(data, tmp_path):
    model = FakeModel(answering)
    run(data, tmp_path, model)
    folder = tmp_path / "evaluations" / "one"
    lines = list(JsonLines(folder / "results.jsonl"))
    wrong = [line for line in lines if not line["correct"]]
    assert wrong
    assert all(line["replay"] is None for line in lines if line["correct"])
    events = JsonLines(folder / "replays.jsonl").read_at(wrong[0]["replay"])["events"]
    asked = [e for e in events if e["kind"] == "Asked"]
    assert asked[-1]["prompt"] in {p.text for p in model.prompts}


def free_form(folder, *rows):
    """A story and the file of questions about it."""
    (folder / "story.txt").write_text(article(7), encoding="utf-8")
    path = folder / "story.questions.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_free_form_answers_are_scored_and_rated(tmp_path):
    path = free_form(tmp_path, {"question": "What rang?", "references": ["A bell rang.", "The bell"]})

    def rating(prompt):
        if prompt.task.startswith("rate"):
            return "NO" if prompt.task == "rate_strict" else "Yes, partially"
        return 'A bell rang [1].\nEvidence:\n[1] "rang"' if prompt.task == "answer" else answering(prompt)

    tally = run(path, tmp_path, FakeModel(rating), of=experiment(path, "gist-mem:0"))
    row = tally.row(parse("gist-mem:0", AskSettings()))
    assert (row.rating_1.hits, row.rating_2.hits, row.answer_words) == (0, 1, 3)
    assert row.rouge["rougeL"].value == pytest.approx(100)


@pytest.mark.parametrize(
    ("error", "failed"), [(RefusedError("no"), 0), (WindowError("too long"), 0), (ServerFailedError("gone"), 1)]
)
def test_a_rater_that_fails_does_not_stop_the_night(tmp_path, error, failed):
    """What would fail again leaves the answer without a rating; what may pass is asked again when it goes on."""
    path = free_form(tmp_path, *({"question": f"What rang {n}?", "references": ["A bell rang."]} for n in range(3)))

    def rating(prompt):
        if prompt.task.startswith("rate") and "What rang 1?" in prompt.text:
            raise error
        return "YES" if prompt.task.startswith("rate") else answering(prompt)

    of = experiment(path, "gist-mem:0")
    tally = run(path, tmp_path, FakeModel(rating), of=of)
    assert (tally.answers, tally.failed) == (3, failed)
    said = " ".join(headline(summarise(read_record(tmp_path / "evaluations/one"), tally)))
    assert ("1 answer without a rating" in said) == (not failed)
    again = run(path, tmp_path, FakeModel(lambda p: "YES" if p.task.startswith("rate") else answering(p)), of=of)
    assert (again.answers, again.failed) == (3, 0)


def test_experiments_that_make_no_sense_are_told(data):
    with pytest.raises(SettingsError, match="at least one method"):
        Experiment(open_dataset(data), ())
    with pytest.raises(SettingsError, match="named twice"):
        experiment(data, "read-agent-p", "read-agent-p")
    with pytest.raises(SettingsError, match="at least one run"):
        experiment(data, runs=0)
    with pytest.raises(SettingsError, match="Unknown preset 'leaflet'"):
        experiment(data, preset="leaflet")


def test_the_headline_counts_runs_and_questions_that_were_asked(data, tmp_path):
    folder = tmp_path / "evaluations" / "one"
    run(data, tmp_path, of=experiment(data, runs=2))
    run(data, tmp_path, of=replace(experiment(data), dataset=open_dataset(data, limit=1)))
    said = headline(summarise(read_record(folder), load_scores(folder)))[0]
    assert "3 documents and 6 questions" in said
    assert "; 2 runs," in said
