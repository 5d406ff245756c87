"""The recorded experiment of the novella: it fits its text, and every comparison is made of its answers."""

from __future__ import annotations

import json

import pytest

from bench.record_experiment import record_experiment
from readagent_core.comparing.comparison import is_right
from readagent_core.document import Document, Paragraph
from readagent_core.errors import DatasetError
from readagent_core.evaluation import recorded
from readagent_core.evaluation.formats import render_report
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.recorded import pages_seen, recorded_comparisons, recorded_experiment
from readagent_core.evaluation.report import dataset_title, headline, results_in_words
from readagent_core.evaluation.starting import load_summary
from readagent_core.export.comparison_words import usage_line
from readagent_core.incoming.samples import FOLDER, add_samples
from readagent_core.library.records import Book

KEEPER = "the-keeper-of-harrow-light"


@pytest.fixture
def keeper(workspace):
    (book,) = [book for book in add_samples(workspace) if book.source_name == f"{KEEPER}.md"]
    return book, workspace.library.document(book.id)


def test_it_is_named_by_the_title_of_its_book():
    entry = recorded_experiment()
    assert entry.title == "The Keeper of Harrow Light · a large language model · 5 methods · 2026-11-23 02:19"
    about = "16 questions about The Keeper of Harrow Light, answered by a large language model; begun 2026-11-23 02:19."
    assert headline(load_summary(entry.folder))[1] == about
    before_it_was_read = dataset_title(entry.record, [])
    assert before_it_was_read == "The Keeper of Harrow Light"
    assert dataset_title({**entry.record, "title": "NASA’s Report"}, []) == "NASA’s Report"


def test_every_recorded_answer_is_to_a_question_of_the_sample(keeper):
    entry = recorded_experiment()
    questions = Questions.of(entry.folder, entry.record)
    asked = json.loads((FOLDER / f"{KEEPER}.questions.json").read_text(encoding="utf-8"))
    assert len(questions) == len(asked)
    for (_, answers), known in zip(questions, asked, strict=True):
        assert {answer.question for answer in answers} == {known["question"]}
        assert {answer.arm for answer in answers} == set(questions.titles)
        assert {answer.document for answer in answers} == {keeper[1].id}
        for answer in answers:
            assert answer.gold == known.get("answer")
            assert not answer.error
            assert answer.replay is None or questions.read_replay(answer)
            assert answer.usage.seconds == answer.usage.tokens_in == 0  # they were the server's


def test_the_recording_says_that_it_is_one_and_names_no_place():
    entry = recorded_experiment()
    found = load_summary(entry.folder)
    assert headline(found)[0] == f"A recording of {entry.record['recorded']}, made with a large language model."
    assert results_in_words(found)[0].startswith("ReadAgent, all at once: 10 of 10 right")
    assert "/" not in entry.record["experiment"]["dataset"]["path"]
    text = render_report(found, "html", Questions.of(entry.folder, entry.record)).decode()
    assert "A recording of" in text
    for file in entry.folder.iterdir():
        assert not any(place in file.read_text(encoding="utf-8") for place in ("http:", "/home/", "/work/", "/tmp/"))


def test_a_recorded_question_is_a_comparison_whose_citations_lead_to_the_cited_words(keeper):
    recording = recorded_comparisons(*keeper)
    starts = [*(page.start for page in recording.memory.pages), len(recording.document.paragraphs)]
    assert len(starts) == 26
    number = recording.texts.index("Why did Ambrose Vane put out Harrow Light?")
    found = recording.comparison(number)
    assert [entry.method for entry in found.entries] == [
        "read-agent-p", "read-agent-s", "gist-mem", "bm25", "full-text"
    ]  # fmt: skip
    assert all(is_right(found, entry) for entry in found.entries)
    assert found.signature.kind == "recording"
    sent = [usage_line(entry.answer) for entry in found.entries if entry.answer]  # also what the cache gave
    assert [line.split(" · ")[0] for line in sent] == ["2 calls", "3 calls", "1 call", "1 call", "1 call"]
    assert "0 words sent" not in " ".join(sent)
    assert sum(found.pages) == found.words == recording.document.words
    found_there = []
    for number in range(len(recording.texts)):
        for entry in recording.comparison(number).entries:
            for page, words in quotations(entry.text):
                paragraphs = recording.document.paragraphs[starts[page - 1] : starts[page]]
                found_there.append(any(words in plain(p.text) for p in paragraphs))
    assert len(found_there) > 30
    assert all(found_there)


def quotations(text):
    """(page, its first quoted words) of every line of evidence."""
    for line in text.splitlines():
        if line.startswith("[") and "]" in line and '"' in line:
            yield int(line[1 : line.index("]")]), plain(line.split('"')[1])[:40]


def plain(text):
    return " ".join(text.replace("*", "").split())


def test_a_book_without_a_recording_and_a_changed_text_have_none(keeper):
    book, document = keeper
    other = Book(**{**vars(book), "source_name": "yuki-no-eki.md"})
    assert recorded_comparisons(other, document) is None
    assert recorded_comparisons(Book(**{**vars(book), "sample": False}), document) is None
    with pytest.raises(DatasetError, match="does not fit"):
        recorded_comparisons(book, Document("Other", (Paragraph("Other words."),)))


def test_what_a_method_saw_is_known_of_every_page():
    assert pages_seen("read-agent-p", (2,), 3) == {1: "gist", 2: "full", 3: "gist"}
    assert pages_seen("bm25", (2,), 3) == {2: "full"}
    assert pages_seen("full-text", (), 2) == {1: "full", 2: "full"}


def test_a_recording_is_made_of_experiments_that_belong_together(tmp_path, monkeypatch):
    entry = recorded_experiment()
    monkeypatch.setattr("bench.record_experiment.ASSETS", tmp_path)
    (tmp_path / "samples").mkdir()
    made = record_experiment(KEEPER, [entry.folder], model="a model", read=[1, 2])
    monkeypatch.setattr(recorded, "FOLDER", tmp_path / "samples")
    again = recorded_experiment(KEEPER)
    assert again.record["model"]["name"] == "a model"
    assert load_summary(again.folder).rows[0].reading_words == 3
    record = json.loads((made / "record.json").read_text(encoding="utf-8"))
    (made / "record.json").write_text(json.dumps({**record, "preset": "book"}), encoding="utf-8")
    with pytest.raises(ValueError, match="differ"):
        record_experiment("other", [entry.folder, made], model="m", read=None)
