"""An experiment runs in parallel, is stopped, killed or refused, and comes to the same table when it goes on."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from readagent_core.cancel import CancelToken
from readagent_core.errors import (
    BudgetError,
    CancelledError,
    DatasetError,
    KeyRefusedError,
    RefusedError,
    ServerFailedError,
    SettingsError,
    WindowError,
)
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import parse, with_defaults
from readagent_core.evaluation.cost_estimate import estimate
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment, read_record, resumed_experiment
from readagent_core.evaluation.model_calls import load_spent
from readagent_core.evaluation.report import headline, summarise
from readagent_core.evaluation.results import JsonLines
from readagent_core.evaluation.score_table import load_scores
from readagent_core.evaluation.starting import check_price, start
from readagent_core.evaluation.tables import score_table, words_table
from readagent_core.methods.base import AskSettings
from readagent_core.models.cost.prices import FREE, Price
from readagent_core.models.embeddings.embed import BuiltInEmbedder
from readagent_core.settings import Settings
from readagent_core.workspace import Workspace
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible

OPTIONS = ["a lamp", "a bell", "a boat", "a dog"]
SENTENCE = "The keeper of light number {n} rang bell {k} in the fog and wrote it down with care that night."


def text(n, paragraphs=24):
    return "\n\n".join(" ".join(SENTENCE.format(n=n, k=k) for k in range(p, p + 3)) for p in range(paragraphs))


@pytest.fixture
def data(tmp_path):
    """Three articles with two questions each."""
    path = tmp_path / "dev.jsonl"
    rows = []
    for n in range(3):
        asked = [
            {"question": f"What rang {q}?", "options": OPTIONS, "gold_label": 1 + (n + q) % 4, "difficult": q}
            for q in range(2)
        ]
        rows.append(json.dumps({"article_id": n, "title": f"Story {n}", "article": text(n), "questions": asked}))
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def answering(prompt):
    return sensible(prompt.text)


def stopping(after):
    """A model, and the token of the run that it cancels at that prompt."""
    cancel, asked = CancelToken(), itertools.count(1)

    def answer(prompt):
        if next(asked) == after:
            cancel.cancel()
        return answering(prompt)

    return {"model": FakeModel(answer), "cancel": cancel}


def experiment(data, *names, **rest):
    arms = tuple(parse(name, AskSettings()) for name in names or ("read-agent-p", "full-text:0"))
    return Experiment(open_dataset(data), arms, **{"connections": 4, **rest})


def run(data, tmp_path, model=None, *, of=None, **rest):
    return running.run(of or experiment(data), model or FakeModel(answering), folder=tmp_path / "evaluations" / "one",
                       **rest)  # fmt: skip


def table(tmp_path):
    folder = tmp_path / "evaluations" / "one"
    found = summarise(read_record(folder), load_scores(folder))
    return score_table(found), words_table(found)


def test_every_question_is_asked_once_of_every_arm(data, tmp_path):
    model, told = FakeModel(answering), []
    tally = run(data, tmp_path, model, on_change=told.append)
    assert (tally.answers, tally.failed, len(tally.readings)) == (12, 0, 3)
    assert (told[-1].done, told[-1].total, told[-1].documents) == (12, 12, 3)
    keys = [(line["case"], line["item"], line["arm"]) for line in JsonLines(tmp_path / "evaluations/one/results.jsonl")]
    assert len(keys) == len(set(keys)) == 12
    read = [p for p in model.prompts if p.task == "gist"]
    assert len(read) == len({p.text for p in read})  # each page is shortened once for all arms


def test_a_second_run_asks_nothing(data, tmp_path):
    run(data, tmp_path)
    before = table(tmp_path)
    again = FakeModel([])
    run(data, tmp_path, again)
    assert again.prompts == []
    assert table(tmp_path) == before


@pytest.mark.parametrize("after", [1, 9, 25])
def test_stopped_and_resumed_gives_the_same_table(data, tmp_path, after):
    run(data, tmp_path / "whole")
    with pytest.raises(CancelledError):
        run(data, tmp_path, **stopping(after))
    results = tmp_path / "evaluations/one/results.jsonl"
    if results.is_file():
        with results.open("ab") as file:
            file.write(b'{"case": 0, "item')  # what a kill leaves
    run(data, tmp_path)
    assert table(tmp_path) == table(tmp_path / "whole")


def test_what_no_question_can_overcome_stops_the_run(data, tmp_path):
    def refusing(prompt):
        return KeyRefusedError("The key was not accepted.") if prompt.task == "look_up" else answering(prompt)

    with pytest.raises(KeyRefusedError):
        run(data, tmp_path, FakeModel(refusing))
    assert run(data, tmp_path).answers == 12


def test_a_failed_question_is_kept_as_failed_and_asked_again(data, tmp_path):
    def failing(prompt):
        return ServerFailedError("The server failed.") if "What rang 1?" in prompt.text else answering(prompt)

    tally = run(data, tmp_path, FakeModel(failing))
    assert (tally.answers, tally.failed) == (12, 6)
    lines = [line for line in JsonLines(tmp_path / "evaluations/one/results.jsonl") if line["error"]]
    assert lines[0]["error"] == "ServerFailedError: The server failed."
    again = FakeModel(answering)
    assert run(data, tmp_path, again).failed == 0
    assert all("What rang 1?" in p.text for p in again.prompts)


def test_a_bug_in_a_method_fails_its_question_and_not_the_night(data, tmp_path, capfd):
    def breaking(prompt):
        if prompt.task == "look_up" and "What rang 1?" in prompt.text:
            raise IndexError("list index out of range")
        return answering(prompt)

    tally = run(data, tmp_path, FakeModel(breaking))
    assert (tally.answers, tally.failed) == (12, 3)
    assert "IndexError" in capfd.readouterr().err
    assert run(data, tmp_path).failed == 0


def test_a_document_that_cannot_be_read_fails_its_own_questions_only(data, tmp_path):
    def failing(prompt):
        gone = "light number 1 " in prompt.text and prompt.task in ("paginate", "gist")
        return ServerFailedError("The server failed.") if gone else answering(prompt)

    tally = run(data, tmp_path, FakeModel(failing))
    assert (tally.answers, tally.failed) == (12, 4)


def test_the_budget_stops_before_it_is_far_overdrawn(data, tmp_path):
    with pytest.raises(BudgetError, match="budget of 2,000 words"):
        run(data, tmp_path, of=experiment(data, most_words=2_000))
    assert run(data, tmp_path, of=experiment(data)).answers == 12


def test_the_budget_holds_over_stops_and_is_raised_by_a_person(data, tmp_path):
    small = experiment(data, most_words=2_000)
    with pytest.raises(BudgetError):
        run(data, tmp_path, of=small)
    words, _ = load_spent(tmp_path / "evaluations" / "one")
    assert words >= 2_000
    again = FakeModel([])  # would fail if it were asked anything
    with pytest.raises(BudgetError, match=f"{words:,} were sent"):
        run(data, tmp_path, again, of=small)


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


def test_a_budget_in_dollars_needs_a_price(data):
    with pytest.raises(SettingsError, match="needs a price"):
        check_price(FakeModel(answering), experiment(data, most_dollars=1.0))
    free = FakeModel(answering)
    free.price = FREE
    check_price(free, experiment(data, most_dollars=1.0))
    check_price(FakeModel(answering), experiment(data))


def test_the_estimate_says_what_it_would_cost(data):
    found = estimate(experiment(data))
    assert found.sentence() == found.sentence(FREE)
    assert found.dollars(None) is None
    price = Price(10.0, 30.0)
    assert found.dollars(price) == pytest.approx(
        found.words * 1.5 * 10 / 1e6 + found.words_back * 1.5 * 30 / 1e6, rel=1e-4
    )
    assert "words sent; about $0." in found.sentence(price)


def test_an_article_that_comes_twice_is_estimated_as_read_once(data):
    lines = data.read_text(encoding="utf-8").splitlines()
    once = estimate(experiment(data))
    data.write_text("\n".join(lines * 2), encoding="utf-8")
    twice = estimate(experiment(data))
    assert (twice.documents, twice.questions) == (once.documents, 2 * once.questions)
    assert once.calls < twice.calls < 2 * once.calls


def test_the_screen_and_the_command_line_mean_the_same_arm():
    base = AskSettings(look_ups=3)
    for name in ("gist-mem", "full-text", "read-agent-p", "memwalker"):
        assert parse(name, base).key == with_defaults(name, base).key
    assert (parse("gist-mem", base).key, parse("gist-mem:3", base).key) == ("gist-mem:0", "gist-mem:3")


def test_a_bad_line_stops_with_its_place_and_keeps_the_rest(data, tmp_path):
    good = data.read_text(encoding="utf-8")
    data.write_text(good + "\n{broken", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"dev.jsonl, line 4"):
        run(data, tmp_path)


def test_runs_are_independent_and_share_one_reading(data, tmp_path):
    model = FakeModel(answering)
    tally = run(data, tmp_path, model, of=experiment(data, "read-agent-p", runs=3))
    assert tally.answers == 18
    assert {p.sample for p in model.prompts if p.task == "choose"} == {1, 2, 3}
    assert {p.sample for p in model.prompts if p.task == "gist"} == {1}
    assert tally.row(parse("read-agent-p", AskSettings())).accuracy.sd == pytest.approx(0.0)


TREE = {"summarise_segment", "summarise_node"}
BUILDERS = ("gist-mem", "memwalker", "recurrence", "semantic-compression")


def reading_words(tally, of):
    return [tally.row(arm).reading_words for arm in of.arms]


def test_another_experiment_over_the_same_documents_pays_for_what_it_finds_made(data, tmp_path):
    of = experiment(data, *BUILDERS)
    first = run(data, tmp_path, of=of)
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


@pytest.mark.parametrize("after", range(3, 40, 6))
def test_what_was_asked_before_a_stop_and_again_after_it_is_paid_once(data, tmp_path, after):
    of = experiment(data, *BUILDERS)
    whole = running.run(of, FakeModel(answering), folder=tmp_path / "whole" / "one")
    with pytest.raises(CancelledError):
        run(data, tmp_path, of=of, **stopping(after))
    resumed = run(data, tmp_path, of=of)
    assert reading_words(resumed, of) == reading_words(whole, of)


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
    assert job.join(60).state == "done"
    workspace.library.close()
    assert {f"What rang {q}?" for q in range(2)} <= set(embedder.texts)
    assert read_record(folder)["embedder"] == embedder.name


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


@pytest.mark.parametrize("change", ["preset", "file", "model"])
def test_another_experiment_under_the_same_name_is_refused(data, tmp_path, change):
    run(data, tmp_path)
    model, of = FakeModel(answering), experiment(data)
    if change == "preset":
        of = experiment(data, preset="book")
    elif change == "file":
        data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    else:
        model.name = "another"
    with pytest.raises(DatasetError, match="begun with other settings"):
        run(data, tmp_path, model, of=of)


def test_another_temperature_is_another_experiment(data, tmp_path):
    def model(temperature):
        found = FakeModel(answering)
        found.sampling = {"temperature": temperature}
        return found

    run(data, tmp_path, model(0.0))
    assert read_record(tmp_path / "evaluations" / "one")["model"]["sampling"] == {"temperature": 0.0}
    run(data, tmp_path, model(0.0))
    with pytest.raises(DatasetError, match=r"the temperature \(0.0 before, the server's own now\)"):
        run(data, tmp_path, model(None))


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
    (folder / "story.txt").write_text(text(7), encoding="utf-8")
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


def test_what_is_to_come_is_told_for_whatever_will_be_asked(data, tmp_path):
    """Another arm after all others are done; arms that were begun with and are not named again; fewer questions."""
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
    fewer = replace(experiment(data), dataset=open_dataset(data, limit=1))
    run(data, tmp_path, of=fewer)
    assert "3 documents and 6 questions" in headline(summarise(read_record(folder), load_scores(folder)))[0]


def test_the_headline_counts_runs_and_questions_that_were_asked(data, tmp_path):
    folder = tmp_path / "evaluations" / "one"
    run(data, tmp_path, of=experiment(data, runs=2))
    run(data, tmp_path, of=replace(experiment(data), dataset=open_dataset(data, limit=1)))
    said = headline(summarise(read_record(folder), load_scores(folder)))[0]
    assert "3 documents and 6 questions" in said
    assert "; 2 runs," in said


def test_the_estimate_is_near_what_is_sent(data, tmp_path):
    expected = estimate(experiment(data))
    tally = run(data, tmp_path)
    sent = sum(tally.row(a).words for a in experiment(data).arms) + tally.row(experiment(data).arms[0]).reading_words
    assert (expected.documents, expected.questions, expected.answers) == (3, 6, 12)
    assert 0.5 < expected.words / sent < 2
    assert "about" in expected.sentence()
    assert "already" in estimate(experiment(data), done=tally).sentence()
