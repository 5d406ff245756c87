"""Datasets about whole books (InfiniteBench, LiteraryQA, NovelHopQA) and about several documents on a shelf."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from readagent_core.errors import DatasetError
from readagent_core.evaluation.cost_estimate import estimate
from readagent_core.evaluation.datasets import ShelfCase, open_dataset
from readagent_core.evaluation.score_table import load_scores
from tests.evaluation.datasets import OPTIONS, STORY, cases, released, write
from tests.evaluation.made import answering, experiment, run, write_articles
from tests.fakes.model import FakeModel

OTHER = "The dog slept by the stove.\n\nAll night it rained."
CHOICE = {"id": 0, "context": STORY, "input": "What rang?", "answer": ["a bell"], "options": OPTIONS}
FREE = {"id": 1, "context": STORY, "input": "Who came?", "answer": ['"Nobody"', "No one"], "options": []}
LITERARY = {
    "document_id": "d1",
    "gutenberg_id": "41",
    "split": "test",
    "title": "Fog",
    "summary": "A bell rings.",
    "qas": [{"question": "What rang?", "answers": ["A bell.", "A bell.", "The bell."], "is_question_modified": False}],
    "metadata": {"author": ""},
}
HOP = {"book": "Fog", "context": "The bell rang twice in the fog.", "question": "What rang?", "answer": "A bell"}


def test_infinitebench_choices_and_answers(tmp_path):
    path = write(tmp_path, "longbook.jsonl", [CHOICE, FREE])
    assert open_dataset(path).kind == "infinitebench"
    (case,) = cases(path)
    assert (case.preset, case.document.text()) == ("book", STORY)
    choice, free = case.items
    assert (choice.gold, choice.question.options) == (1, tuple(OPTIONS))
    assert (free.gold, free.references) == (None, ('"Nobody"', "No one"))


@pytest.mark.parametrize(
    ("answer", "options", "gold"),
    [
        (["a bell", "B"], OPTIONS, 1),  # some rows have the letter after the text
        ("C", OPTIONS, 2),
        (["3"], ["1", "2", "4", "3"], 3),  # the words of an option, not its number
        (["A"], ["B", "A"], 1),
    ],
)
def test_infinitebench_right_options(tmp_path, answer, options, gold):
    row = {**CHOICE, "answer": answer, "options": options}
    assert cases(write(tmp_path, "longbook.jsonl", [row]))[0].items[0].gold == gold


def test_literaryqa_takes_texts_from_files_and_rows_and_counts_the_others(tmp_path):
    in_row = {**LITERARY, "gutenberg_id": "7", "title": "Rain", "text": OTHER, "split": "train"}
    path = write(tmp_path, "test.jsonl", [LITERARY, in_row, {**LITERARY, "gutenberg_id": 8}])
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "41-0.txt").write_text(STORY, encoding="utf-8")
    fog, rain = cases(path)
    assert open_dataset(path).kind == "literaryqa"
    assert (fog.title, fog.preset, fog.document.text(), rain.document.text()) == ("Fog", "book", STORY, OTHER)
    assert fog.items[0].references == ("A bell.", "The bell.")
    assert open_dataset(path).count_missing() == 1
    assert [case.title for case in cases(path, split="train")] == ["Rain"]


def test_novelhopqa_asks_of_its_contexts_or_of_whole_books(tmp_path):
    path = write(tmp_path, "hop_1.jsonl", [HOP, {**HOP, "question": "How often?", "answer": "Twice"}])
    (window,) = cases(path)
    assert open_dataset(path).kind == "novelhopqa"
    assert window.document.text() == HOP["context"]
    assert [item.references for item in window.items] == [("A bell",), ("Twice",)]
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "fog.txt").write_text(STORY, encoding="utf-8")
    (whole,) = cases(path)
    assert whole.document.text() == STORY
    more = [HOP, {**HOP, "book": "Rain"}, {**HOP, "book": "Snow"}]
    assert open_dataset(write(tmp_path, "hop_2.jsonl", more)).count_missing() == 2


CHOICES = ("choice_A", "choice_B", "choice_C", "choice_D")


def shelf_folder(folder, *names):
    row = {"_id": "z", "question": "What do both tell of?", "answer": "D", **dict.fromkeys(CHOICES, "night")}
    row["documents"] = [{"file": name, "title": name.removesuffix(".txt").title()} for name in names]
    write(folder, "question.json", [json.dumps(row)])
    return folder


def test_longbench_question_about_several_files(tmp_path):
    folder = shelf_folder(tmp_path / "set" / "z", "fog.txt", "rain.txt")
    write(folder, "fog.txt", [STORY])
    write(folder, "rain.txt", [OTHER])
    for path in (folder, tmp_path / "set"):
        (shelf,) = cases(path)
        assert isinstance(shelf, ShelfCase)
        assert [document.text() for document in shelf.documents] == [STORY, OTHER]
        assert [item.gold for item in shelf.items] == [3]


def test_any_dataset_with_several_documents_on_a_shelf(tmp_path):
    rows = [{**released(), "title": title, "article": text} for title, text in (("Fog", STORY), ("Rain", OTHER))]
    path = write(tmp_path, "dev.jsonl", [*rows, {**released(), "title": "Last"}])
    first, last = cases(path, books=2)
    assert first.title == "Fog, Rain"
    assert [item.question.text for item in first.items] == ['In "Fog": What rang?', 'In "Rain": What rang?']
    assert [item.gold for item in first.items] == [1, 1]
    joined = first.document
    assert [(s.title, s.start) for s in joined.sections] == [("Fog", 0), ("Rain", 3)]
    assert joined.text() == f"## Fog\n\n{STORY}\n\n## Rain\n\n{OTHER}"
    assert [book.title for book in last.books] == ["Last"]
    assert len(cases(path, books=2, documents=1)) == 1
    found = experiment(path)
    shelves = type(found).from_dict({**found.to_dict(), "dataset": {**found.to_dict()["dataset"], "books": 2}})
    assert [len(case.items) for case in shelves.dataset.cases()] == [2, 1]  # as a record of an experiment has it
    assert estimate(shelves).documents == 2


@pytest.mark.parametrize(
    ("name", "row", "complaint"),
    [
        ("a.jsonl", {**CHOICE, "context": " "}, "line 1: the text is empty"),
        ("a.jsonl", {**CHOICE, "answer": ["a cat"]}, "line 1: the right answer 'a cat' is none of the 4 options"),
        ("a.jsonl", {**FREE, "answer": []}, "line 1: there is no answer"),
        ("a.jsonl", {**FREE, "answer": [7]}, "line 1: 'answer' must be a list of texts"),
        ("a.jsonl", LITERARY, r"line 1: the text 41.txt is missing. Put the books into texts/"),
        ("a.jsonl", {**LITERARY, "text": STORY, "qas": [{"question": "x"}]}, "question 1: 'answers' must be a list"),
        ("a.jsonl", {**LITERARY, "text": STORY, "qas": ["x"]}, "question 1: an object with question and answers"),
        ("a.jsonl", {**HOP, "answer": ""}, "line 1: there is no answer"),
        ("a.jsonl", {**HOP, "context": ""}, "line 1: the context is empty"),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path, name, row, complaint):
    with pytest.raises(DatasetError, match=complaint):
        cases(write(tmp_path, name, [row]))


def test_missing_files_of_shelves_and_books_are_named(tmp_path):
    with pytest.raises(DatasetError, match=r"document 1: the document 'fog.txt' is missing"):
        cases(shelf_folder(tmp_path / "z", "fog.txt"))
    with pytest.raises(DatasetError, match=r"z/question.json: there is no document in it"):
        cases(shelf_folder(tmp_path / "z"))
    (tmp_path / "books").mkdir()
    with pytest.raises(DatasetError, match=r"line 1: the book 'Fog' is missing in books/"):
        cases(write(tmp_path, "hop.jsonl", [HOP]))


def test_an_experiment_about_shelves(tmp_path) -> None:
    """Zoom is asked about the books of a shelf, the other methods about one document; each book is read once."""
    data = write_articles(tmp_path / "dev.jsonl", [1, 2, 3])
    one = experiment(data, "zoom", "bm25:2", "gist-mem", "memwalker")
    shelves = replace(one, dataset=replace(one.dataset, books=2))
    model = FakeModel(answering)
    run(data, tmp_path, model, of=shelves)
    table = load_scores(tmp_path / "evaluations" / "one")
    rows = [table.row(arm) for arm in shelves.arms]
    assert [(row.answers, row.failed) for row in rows] == [(6, 0)] * 4
    tasks = Counter(prompt.task for prompt in model.prompts)
    assert tasks["explore_shelf"] >= 4
    assert tasks["explore"] == 0
    assert {gisting.words for gisting in table.gistings.values()} == {1440, 2880}
    assert rows[1].look_ups == 2
    alone = tmp_path / "alone"
    run(data, alone, of=replace(one, arms=one.arms[2:3]))
    by_case = load_scores(alone / "evaluations" / "one")
    assert rows[2].reading_words == by_case.row(one.arms[2]).reading_words  # the same pages and gists
