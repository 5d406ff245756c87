"""Every format as people download it, small: what is read, and how a bad line is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readagent_core.errors import DatasetError
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.cost_estimate import estimate
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from tests.evaluation.datasets import MEETING, OPTIONS, STORY, cases, released, scrolls, write

ROOT = Path(__file__).resolve().parent.parent.parent

# --- QuALITY --------------------------------------------------------------------------------------


def test_quality_as_released(tmp_path):
    path = tmp_path / "QuALITY.v1.0.1.htmlstripped.dev"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(released()).encode())  # a byte order mark does no harm
    assert open_dataset(path).kind == "quality"
    (case,) = cases(path)
    assert (case.title, case.preset, case.place) == ("Fog", "article", f"{path.name}, line 1")
    assert case.document.title == "Fog"
    assert "bell rang" in case.document.text()
    item = case.items[0]
    assert (item.id, item.gold, item.hard) == ("7_A_1", 1, True)
    assert item.question.options == tuple(OPTIONS)


def test_quality_html_article_loses_its_markup(tmp_path):
    row = {**released(), "article": ["<html><body><p>The keeper lit ", "the <i>lamp</i>.</p></body></html>"]}
    empty = {**released(), "article": "<html><body></body></html>"}
    first, second = cases(write(tmp_path, "train.jsonl", [row, empty]))
    assert first.document.text() == "The keeper lit the lamp."
    with pytest.raises(DatasetError, match=r"train.jsonl, line 2: the text cannot be read"):
        _ = second.document


def test_quality_in_the_older_numbered_layout(tmp_path):
    row = {"article_id": 7, "unique_id": "7_A", "title": "Fog", "article": STORY}
    for number, gold in ((1, 2), (2, 1)):
        row[f"question{number}"] = f"Question {number}?"
        row.update({f"question{number}option{i}": OPTIONS[i - 1] for i in range(1, 5)})
        row[f"question{number}_gold_label"] = gold
    (case,) = cases(write(tmp_path, "old.jsonl", [row]))
    assert [(item.gold, item.hard) for item in case.items] == [(1, None), (0, None)]


def test_quality_as_leval_has_it(tmp_path):
    row = {
        "instructions": ["What rang?\n\n (A) a lamp\n (B) a bell\nof brass\n (C) a boat"],
        "outputs": ["(B) a bell\nof brass"],
        "input": STORY,
        "source": "quality_raw",
    }
    (case,) = cases(write(tmp_path, "leval.jsonl", [row]))
    assert case.items[0].question.text == "What rang?"
    assert case.items[0].question.options == ("a lamp", "a bell of brass", "a boat")
    assert case.items[0].gold == 1


# --- QMSum ----------------------------------------------------------------------------------------


def test_qmsum_as_a_file_a_folder_and_lines(tmp_path):
    one = write(tmp_path / "val", "es2009b.json", [MEETING])
    lines = write(tmp_path, "val.jsonl", [MEETING, MEETING])
    assert len(cases(tmp_path / "val")) == 1
    assert len(cases(lines)) == 2
    (case,) = cases(one)
    assert case.preset == "meeting"
    assert case.document.paragraphs[1].text == "Ben: Blue , please ."
    assert [item.references for item in case.items] == [("They chose blue.",), ("Blue.",)]
    assert [item.id for item in case.items] == ["es2009b-g1", "es2009b-s1"]


# --- SCROLLS --------------------------------------------------------------------------------------


def test_scrolls_joins_references_and_documents(tmp_path):
    rows = [
        scrolls("1", f"What rang?\n\n{STORY}", "A bell."),
        scrolls("1", f"What rang?\n\n{STORY}", "The bell."),
        scrolls("2", f"Who came?\n\n{STORY}", "Nobody."),
        scrolls("3", "Who came?\n\nAnother text.\n\nIt ends.", "No one."),
    ]
    first, second = cases(write(tmp_path / "qasper", "validation.jsonl", rows))
    assert [item.references for item in first.items] == [("A bell.", "The bell."), ("Nobody.",)]
    assert first.document.text() == STORY
    assert second.items[0].question.text == "Who came?"


def test_scrolls_quality_has_options_and_the_answers_words(tmp_path):
    lines = "\n".join(f" ({letter}) {option}" for letter, option in zip("ABCD", OPTIONS, strict=True))
    rows = [scrolls("1", f"What rang?\n\n{lines}\n\n\n{STORY}", "a bell")]
    (case,) = cases(write(tmp_path / "quality", "validation.jsonl", rows))
    assert case.items[0].question.options == tuple(OPTIONS)
    assert case.items[0].gold == 1
    assert case.document.text() == STORY


def test_scrolls_summaries_ask_for_one(tmp_path):
    (case,) = cases(write(tmp_path / "gov_report", "validation.jsonl", [scrolls("1", STORY, "Fog.")]))
    assert case.items[0].question.text.startswith("Summarize")
    assert case.document.text() == STORY


# --- LongBench ------------------------------------------------------------------------------------


def test_longbench_one_and_two(tmp_path):
    first = {
        "input": "What rang?",
        "context": STORY,
        "answers": ["A bell", "The bell"],
        "_id": "x",
        "dataset": "qasper",
    }
    again = {**first, "input": "Who came?", "_id": "y"}
    (case,) = cases(write(tmp_path, "qasper.jsonl", [first, again]))
    assert [item.id for item in case.items] == ["x", "y"]
    assert case.items[0].references == ("A bell", "The bell")
    second = {"_id": "z", "question": "What rang?", "context": STORY, "answer": "B", "difficulty": "hard"}
    second.update({f"choice_{letter}": option for letter, option in zip("ABCD", OPTIONS, strict=True)})
    (case,) = cases(write(tmp_path, "v2.jsonl", [second]))
    assert (case.items[0].gold, case.items[0].hard) == (1, True)
    (listed,) = cases(write(tmp_path, "data.json", [json.dumps([second, {**second, "_id": "w"}], indent=1)]))
    assert [item.gold for item in listed.items] == [1, 1]
    (book,) = cases(write(tmp_path, "narrativeqa.jsonl", [{**first, "dataset": "narrativeqa"}]))
    (fiction,) = cases(write(tmp_path, "data.json", [json.dumps([{**second, "sub_domain": "Literary"}])]))
    assert book.preset == fiction.preset == "book"


# --- NarrativeQA ----------------------------------------------------------------------------------


def narrativeqa(folder, *, story=True):
    write(folder, "documents.csv", ["document_id,set,kind,story_start,story_end,wiki_title",
                                    "abc,valid,gutenberg,Once there,the end,Fog",
                                    "def,test,movie,FADE IN,FADE OUT,Film"])  # fmt: skip
    write(folder, "qaps.csv", ["document_id,set,question,answer1,answer2,question_tokenized",
                               'abc,valid,What rang?,"A bell, of brass",The bell,x',
                               "def,test,Who?,Ada,,x"])  # fmt: skip
    if story:
        text = "Licence words.\n\nOnce  there was fog.\n\nIt was\nthe end\n\nMore licence."
        write(folder / "tmp", "abc.content", [text])
        write(folder / "tmp", "def.content", ["<html><pre>\nTITLE\n\nFADE IN\n\nAda walks.\n\nFADE OUT\n</pre></html>"])


def test_narrativeqa_from_its_csv(tmp_path):
    narrativeqa(tmp_path)
    book, film = cases(tmp_path)
    assert (book.title, book.preset, film.preset) == ("Fog", "book", "script")
    assert book.items[0].references == ("A bell, of brass", "The bell")
    assert film.items[0].references == ("Ada",)
    assert "Licence" not in book.document.text()
    assert book.document.text().startswith("Once")
    assert "Ada walks." in film.document.text()
    assert [case.title for case in cases(tmp_path / "documents.csv", split="test")] == ["Film"]


def test_a_film_script_keeps_no_markup_where_its_head_is_cut_off(tmp_path):
    narrativeqa(tmp_path)
    scene = "<b>INT. TOWER</b>\n\n<b>     ADA</b>\n  The bell &amp; the fog.\n\n" * 30
    page = (
        f"<html><title>Film</title><body>Menu<pre>\n<b>FILM</b>\n\nFADE IN\n\n{scene}FADE OUT\n</pre>More</body></html>"
    )
    write(tmp_path / "tmp", "def.content", [page])
    (film,) = cases(tmp_path, split="test")
    texts = [p.text for p in film.document.paragraphs]
    assert texts[:3] == ["FADE IN", "INT. TOWER", "ADA\nThe bell & the fog."]
    assert texts[-1] == "FADE OUT"


def test_narrativeqa_counts_the_stories_it_leaves_out(tmp_path):
    narrativeqa(tmp_path)
    (tmp_path / "tmp" / "def.content").unlink()
    assert (
        open_dataset(tmp_path, split="valid").count_missing(),
        open_dataset(tmp_path, split="test").count_missing(),
    ) == (0, 1)
    assert open_dataset(tmp_path).count_missing() == 1
    of = Experiment(open_dataset(tmp_path), (Arm("gist-mem"),))
    assert "1 more left out: their text is missing" in estimate(of).sentence()


def test_narrativeqa_says_what_is_missing(tmp_path):
    narrativeqa(tmp_path, story=False)
    with pytest.raises(DatasetError, match=r"documents.csv, line 2: the story abc.content is missing"):
        cases(tmp_path)
    write(tmp_path, "qaps.csv", ["document_id,set,question,answer1,answer2", "abc,valid"])
    with pytest.raises(DatasetError, match=r"qaps.csv, line 2: this line has fewer columns"):
        cases(tmp_path)
    write(tmp_path, "qaps.csv", ["document_id,set,question"])
    with pytest.raises(DatasetError, match=r"qaps.csv, line 1: the column 'answer1'"):
        cases(tmp_path)


# --- one's own ------------------------------------------------------------------------------------


def test_ones_own_questions(tmp_path):
    (tmp_path / "story.md").write_text(f"# Fog\n\n{STORY}", encoding="utf-8")
    rows = [
        {"id": "a", "question": "What rang?", "options": OPTIONS, "answer": 1},
        {"question": "What rang?", "options": OPTIONS, "answer": "B", "hard": True},
        {"question": "What rang?", "options": OPTIONS, "answer": "A bell"},
        {"question": "What rang?", "options": OPTIONS, "gold_label": 2},
        {"question": "Who came?", "references": ["Nobody"]},
    ]
    (case,) = cases(write(tmp_path, "story.questions.json", [json.dumps(rows)]))
    assert [item.gold for item in case.items] == [1, 1, 1, 1, None]
    assert case.items[1].hard is True
    assert "bell rang" in case.document.text()


def test_ones_own_questions_as_json_lines(tmp_path):
    (tmp_path / "story.md").write_text(f"# Fog\n\n{STORY}", encoding="utf-8")
    rows = [
        {"question": "What rang?", "options": OPTIONS, "answer": "B"},
        "",
        {"question": "Who came?", "references": ["Nobody"]},
    ]
    path = write(tmp_path, "story.questions.jsonl", rows)
    (case,) = cases(path)
    assert open_dataset(path).kind == "plain"
    assert [item.gold for item in case.items] == [1, None]
    assert "bell rang" in case.document.text()
    with pytest.raises(DatasetError, match=r"story.questions.jsonl, line 3: nothing to compare"):
        cases(write(tmp_path, "story.questions.jsonl", [*rows[:2], {"question": "Who came?"}]))


def test_ones_own_object_with_text_or_files(tmp_path):
    rows = [{"question": "Who came?", "reference": "Nobody"}]
    (case,) = cases(write(tmp_path, "q.json", [json.dumps({"title": "Fog", "text": STORY, "questions": rows})]))
    assert case.document.title == "Fog"
    (tmp_path / "a.txt").write_text(STORY, encoding="utf-8")
    (tmp_path / "b.txt").write_text(STORY + "\n\nOr did they?", encoding="utf-8")
    rows = [{"file": "a.txt", "question": "Who?", "answer": "x"}, {"file": "b.txt", "question": "Who?", "answer": "y"}]
    assert len(cases(write(tmp_path, "two.json", [json.dumps(rows)]))) == 2


# --- mistakes, limits, the real files -------------------------------------------------------------------


LONG = {"_id": "z", "question": "x", "context": STORY, "answer": "F", **{f"choice_{x}": "a" for x in "ABCD"}}
OWN = {"question": "x", "references": "y"}


@pytest.mark.parametrize(
    ("name", "rows", "complaint"),
    [
        (
            "dev.jsonl",
            [released(), "{not json"],
            r"dev.jsonl, line 2: not JSON \(expecting .* column 2\)",
        ),
        ("dev.jsonl", [released(), "", '{"article": "cut'], r"line 3: not JSON \(unterminated string at column 13\)"),
        ("dev.jsonl", [released(), "[1, 2]"], r"dev.jsonl, line 2: a JSON object was expected, not list"),
        ("dev.jsonl", [released(), b'{"article": "caf\xe9"}'], r"dev.jsonl, line 2: not UTF-8"),
        ("dev.jsonl", [released(), {"article": STORY}], r"the field 'questions' is missing \(there are: article\)"),
        ("dev.jsonl", [{"article": 7, "questions": []}], r"'article' must be a text or a list, not a whole number"),
        ("dev.jsonl", [{"article": " ", "questions": []}], r"line 1: the article is empty"),
        ("dev.jsonl", [released(gold_label=5)], r"line 1, question 1: the right answer 5 is none of the 4 options"),
        ("dev.jsonl", [released(gold_label=0)], r"line 1, question 1: the right answer 0 is none"),
        ("dev.jsonl", [released(gold_label=None)], r"no gold_label. The test split has none"),
        ("dev.jsonl", [released(options=["one"])], r"line 1, question 1: two or more options"),
        ("dev.jsonl", [released(options="one")], r"the field 'options' must be a list, not a text"),
        ("dev.jsonl", [released(question=None)], r"question 1: the field 'question' must be a text, not null"),
        ("val.jsonl", [{**MEETING, "meeting_transcripts": []}], r"val.jsonl, line 1.*nobody says anything"),
        ("val.jsonl", [{**MEETING, "meeting_transcripts": ["hello"]}], "turn 1: an object with speaker and content"),
        ("val.jsonl", [{**MEETING, "general_query_list": [{"query": "x"}]}], "_list 1: the field 'answer' is missing"),
        ("x.jsonl", [scrolls("1", "no break in it", "x")], r"line 1: 'input' must hold a question, an empty line"),
        ("x.jsonl", [scrolls("1", "a\n\nb", None)], r"line 1: there is no output. The test split"),
        ("x.jsonl", [scrolls("1", "a\n\nb", ["x"])], r"line 1: the field 'output' must be a text"),
        ("data.json", [json.dumps([{**LONG, "answer": "B"}, LONG])], r"data.json, question 2: the right answer 'F'"),
        ("bad.jsonl", [{"input": "x", "context": STORY, "answers": [], "_id": "x"}], r"line 1: there is no answer"),
        ("mine.json", ["[]"], "no question in it"),
        ("mine.json", [json.dumps([{"question": "x"}])], "question 1: nothing to compare"),
        ("mine.json", [json.dumps([{"question": "x", "options": OPTIONS}])], "question 1: the right answer None is"),
        ("mine.json", [json.dumps([OWN])], "no text for these questions beside it"),
        ("mine.json", [json.dumps({"questions": [OWN], "document": "../secret.txt"})], "same folder"),
        ("mine.json", [json.dumps({"questions": [OWN], "document": "gone.txt"})], "'gone.txt' is missing"),
        ("mine.json", [json.dumps({"questions": [], "preset": "poem"})], "unknown preset 'poem'"),
        ("mine.json", ["[", ' {"question": "x",', "]"], r"mine.json, line 3: not JSON"),
        ("empty.jsonl", [""], "the file is empty"),
        ("odd.jsonl", [{"a": 1, "b": 2}], r"belong to no known dataset \(a, b\)"),
        ("story.txt", ["x"], "a dataset is a file of JSON lines"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path, name, rows, complaint):
    with pytest.raises(DatasetError, match=complaint):
        cases(write(tmp_path, name, rows))


def test_what_is_no_dataset(tmp_path):
    with pytest.raises(DatasetError, match="no such file"):
        open_dataset(tmp_path / "none.jsonl")
    with pytest.raises(DatasetError, match="Name one of its files"):
        open_dataset(tmp_path)
    with pytest.raises(DatasetError, match="Choose one of: quality"):
        open_dataset(tmp_path, kind="poems")


def test_limits_stop_reading(tmp_path):
    path = write(tmp_path, "dev.jsonl", [released(), released(), "{broken"])
    assert len(cases(path, limit=2)) == len(cases(path, documents=2)) == 2
    assert len(cases(path, limit=1)) == 1


DATA = ROOT.parent / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared test data are not here")
@pytest.mark.parametrize(
    ("name", "kind", "documents", "questions"),
    [
        ("quality/quality-leval-full-questions.jsonl", "quality", 8, 101),
        ("quality/leval-original-rows.jsonl", "quality", 8, 101),
        ("quality/quality-one-question.jsonl", "quality", 6, 6),
        ("quality/quality-original-format-example.jsonl", "quality", 2, 10),
        ("quality/off-course/off-course-questions.json", "plain", 1, 3),
        ("qmsum", "qmsum", 5, 43),
        ("qmsum/ts3010a.json", "qmsum", 1, 3),
        ("narrativeqa/crito", "narrativeqa", 1, 8),
        ("narrativeqa/siddhartha/qa.json", "narrativeqa", 1, 8),
        ("passkey/answers.json", "plain", 4, 4),
        ("infinitebench/standin-longbook-choice-eng.jsonl", "infinitebench", 2, 2),
        ("infinitebench/standin-longbook-qa-eng.jsonl", "infinitebench", 1, 3),
        ("longbench-v2/single-document-rows.jsonl", "longbench", 5, 5),
        ("multi-document", "longbench", 5, 5),
        ("literaryqa/rows.jsonl", "literaryqa", 5, 132),
        ("../samples/the-keeper-of-harrow-light.questions.json", "plain", 1, None),
        ("../samples/yuki-no-eki.questions.json", "plain", 1, None),
    ],
)
def test_the_shared_data(name, kind, documents, questions):
    dataset = open_dataset(DATA / name)
    found = list(dataset.cases())
    assert dataset.kind == kind
    assert len(found) == documents
    assert all(case.document.words > 100 for case in found)
    if questions:
        assert sum(len(case.items) for case in found) == questions
