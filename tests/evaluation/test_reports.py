"""Reports say the same in every format, beside what the papers printed; any figures can be drawn."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from itertools import combinations

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.answering.base import AskSettings
from readagent_core.answering.registry import method
from readagent_core.errors import SettingsError
from readagent_core.evaluation.arms import parse
from readagent_core.evaluation.formats import markdown_table, render_report
from readagent_core.evaluation.html import COMPRESSION, COST, WORDS, plot_views, score_plot, score_points, word_plots
from readagent_core.evaluation.plots import NARROW, WIDE, Point, histogram, scatter, text_width
from readagent_core.evaluation.published import Benchmark, find_published, load_tables
from readagent_core.evaluation.report import headline, reading_facts, results_in_words, summarise
from readagent_core.evaluation.results import GistingFigures, PaidCost
from readagent_core.evaluation.score_table import ScoreTable
from readagent_core.evaluation.tables import (
    explain_columns,
    published_table,
    report_tables,
    score_table,
    walk_table,
    words_table,
)
from readagent_core.usage import Usage
from tests.evaluation.made import FULL, P3, WALK, chosen, free, record

# --- published figures --------------------------------------------------------------------------


QUALITY, BOOK = Benchmark("quality", "article"), Benchmark("narrativeqa", "book")
MEETING = Benchmark("qmsum", "meeting")


def test_published_figures_have_all_their_parts():
    asked = {"read-agent-p:6": QUALITY, "gist-mem": BOOK, "read-agent-s:6": MEETING, "memwalker": QUALITY}
    found = {name: find_published(parse(name, AskSettings()), setting)[0].row for name, setting in asked.items()}
    assert found["read-agent-p:6"].pages == 2.5
    assert found["gist-mem"].rouge == (23.3, 9.1, 21.8)
    assert found["read-agent-s:6"].rating_2 == 91.54
    assert (found["memwalker"].score, found["memwalker"].stray) == (67.4, 15)


def test_a_published_figure_says_on_which_model_and_where():
    found = find_published(parse("full-text", AskSettings()), QUALITY)
    said = [(b.table.model, b.table.source, b.table.name, b.row.score) for b in found]
    assert said == [
        ("PaLM 2-L", "Lee et al., ICML 2024", "Table 1", 85.83),
        ("GPT-3.5 Turbo", "Lee et al., ICML 2024", "Table 7", 73.3),
    ]


@pytest.mark.parametrize(
    ("name", "setting", "scores"),
    [
        ("read-agent-p:6", QUALITY, [86.91]),
        ("read-agent-p:9", QUALITY, []),
        ("read-agent-p:3", Benchmark("plain", "article"), []),
        ("full-text:3", QUALITY, [85.83, 73.3]),  # looks nothing up, whatever the setting says
        ("recurrence", QUALITY, [51.3, 56.0]),
        ("full-text:keep=right:context_words=3000", QUALITY, [70.1, 72.5]),  # MemWalker's, cut to its window
        ("full-text:keep=left:context_words=6000", MEETING, [14.71]),
        ("full-text:keep=left:context_words=5000", MEETING, []),
        ("read-agent-p:5:plan.pagination=uniform", QUALITY, [85.71]),
        ("read-agent-p:5:plan.pagination=many", QUALITY, [86.83, 69.65]),  # still the model's own pauses
        ("gist-mem:0:plan.max_words=1200", QUALITY, [73.97]),
        ("gist-mem:0:plan.max_words=500", QUALITY, []),
        ("gist-neural:1", QUALITY, [82.65]),
        ("gist-mem", Benchmark("qmsum", "meeting", name="QMSum-test"), [44.96]),
        ("gist-mem", Benchmark("narrativeqa", "book", split="test"), [55.79]),
        ("gist-mem", Benchmark("qmsum", "meeting", name="latest"), [40.2]),
        ("semantic-compression", Benchmark("longbench", "meeting", name="qmsum"), [21.1, 23.4, 21.2, 22.4]),
        ("semantic-compression", Benchmark("longbench", "article", name="vcsum"), []),
        ("gist-mem", Benchmark("quality", "article", plan={"max_words": 800}), [76.22]),
    ],
)
def test_a_figure_stands_only_beside_what_it_was_measured_on(name, setting, scores):
    assert [b.row.score for b in find_published(parse(name, AskSettings()), setting)] == scores


def test_every_published_table_is_sound():
    for table in load_tables():
        assert all((table.source, table.about, table.model, table.rows))
        assert table.measure in ("accuracy", "ratings", "web", "own")
        for row in table.rows:
            method(row.method)  # raises for a method we have not
            shares = (row.compression_rate, row.score, row.rating_2, row.stray, row.recovery, *(row.rouge or ()))
            assert all(0 <= value <= 100 for value in shares if value is not None)
            assert row.rating_2 is None or row.rating_2 >= row.score  # exact or partial is never fewer than exact
            assert row.rouge is None or row.rouge[0] >= row.rouge[2] >= row.rouge[1]


# --- reports ------------------------------------------------------------------------------------


def filled():
    tally = ScoreTable()
    for item in range(8):
        tally.add(chosen(P3, item, item < 6))
        tally.add(chosen(FULL, item, item < 5, looked_up=(), compression_rate=0.0))
    tally.add_gisting(GistingFigures("doc", "<Fog>", 400, "plan", (200, 200), (30, 20)))
    return tally


def test_the_table_has_the_papers_shape():
    found = summarise(record(), filled())
    header, rows = score_table(found)
    assert header == [
        "Method",
        "Compression rate (look-ups)",
        "Accuracy (95 %)",
        "Published compression rate (look-ups)",
        "Published score",
        "Published on",
    ]
    assert rows[0][1:3] == ["70.00 % (2.0)", "75.00 % (40.9–92.9)"]
    assert rows[0][3:] == ["69.36 % (2)", "86.59 % ± 0.10", "PaLM 2-L"]
    assert rows[1][3:] == ["0.00 % (0)", "85.83 % ± 0.19", "PaLM 2-L"]
    assert rows[2] == ["Chance", "", "25.00 %", "", "", ""]
    assert found.baseline == FULL.title
    assert found.differences[P3.key]["Accuracy"].value == pytest.approx(0.125)


def test_every_column_that_needs_it_is_explained():
    tally = filled()
    tally.add(free(P3, 20, 0.4, "exact"))
    found = summarise(record(), tally)
    named = [name for name, _ in explain_columns(found)]
    page = render_report(found, "html").decode()
    assert all(f"<dt>{name}</dt>" in page for name in named)
    heads = {head for _, (header, _), _ in report_tables(found) for head in header} - {"Method", "Measure", "Score"}
    without = {head for head in heads if not any(head.startswith(name) for name in named)}
    assert without <= {"ROUGE-2", "ROUGE-L", "Model", "Where"}  # ROUGE-1 explains those two
    assert named[:4] == ["Compression rate", "Accuracy", "LLM-Rating-1", "LLM-Rating-2"]
    assert "p" in named
    assert "Published" in named
    assert "Stray ratio" not in named


def test_a_document_read_by_two_plans_is_one_document():
    tally = filled()
    tally.add_gisting(GistingFigures("doc", "<Fog>", 400, "other plan", (400,), (60,)))
    facts = reading_facts(summarise(record(), tally))
    assert facts[0] == "1 document, 400 words."  # no average and no greatest of one
    assert facts[2].startswith("3 pages,")


def test_one_document_has_no_histogram_and_words_never_counted_no_column():
    found = summarise(record(), filled())
    assert [caption for caption, _ in word_plots(found)] == ["Words of pages and of gists"]
    header, rows = words_table(replace(found, rows=tuple(replace(row, words_new_each=None) for row in found.rows)))
    assert "New per question" not in header
    assert {len(row) for row in rows} == {len(header)}


def test_every_published_figure_is_listed_with_its_place():
    tally = ScoreTable()
    for item in range(4):
        tally.add(chosen(WALK, item, True, extra={"stray": item == 0, "share_read": 0.25}))
    found = summarise(record(arms=(WALK,)), tally)
    assert score_table(found)[1][0][-3:] == ["", "67.40 %", "Stable Beluga 2 (70B)"]
    models = [row[1] for row in published_table(found)[1]]
    assert models == ["Stable Beluga 2 (70B)"] * 2 + ["Llama 2 Chat (13B)", "Llama 2 Chat (70B)"]
    assert walk_table(found)[1][-1] == ["Published on Stable Beluga 2 (70B)", "15.0 %", "70.0 %", ""]


def test_free_form_tables_have_ratings_and_rouge():
    tally = ScoreTable()
    for item in range(4):
        tally.add(free(P3, item, 0.25 * item, "exact" if item else "wrong", answer_words=40))
    header, rows = score_table(summarise(record("qmsum"), tally))
    assert header[2:8] == ["LLM-Rating-1", "LLM-Rating-2", "ROUGE-1", "ROUGE-2", "ROUGE-L", "Answer words"]
    assert rows[0][2].startswith("75.00 %")
    found = summarise({**record("qmsum"), "preset": "meeting"}, tally)
    ours, theirs = sorted(score_points(found), key=lambda point: point.hollow)
    assert (ours.y, theirs.y, theirs.hollow) == (75.0, 38.36, True)
    assert "(LLM-Rating-1)" in score_plot(found)
    assert ">ROUGE\N{NON-BREAKING HYPHEN}1</th>" in render_report(found, "html").decode()  # no line ends within it
    assert rows[0][7] == "40.0"


def test_the_csv_has_every_interval_and_spread():
    tally = ScoreTable()
    for item in range(4):
        for run in (1, 2):
            tally.add(chosen(P3, item, run == 1, run=run, hard=item < 2))
    (row,) = csv.DictReader(io.StringIO(render_report(summarise(record(arms=(P3,)), tally), "csv").decode()))
    for name in ("accuracy", "hard"):
        low, high, sd = (float(row[f"{name}_{part}"]) for part in ("low", "high", "sd"))
        assert low < 0.5 < high
        assert sd == pytest.approx(0.7071, abs=0.0001)
    assert row["llm_rating_1_sd"] == ""
    assert "50.00 % ± 70.71" in score_table(summarise(record(arms=(P3,)), tally))[1][0][2]


@pytest.mark.parametrize("format", ["md", "html", "json", "csv"])
def test_every_report_says_the_same(format):
    text = render_report(summarise(record(), filled(), wanted=20), format).decode()
    if format == "csv":
        first, second = csv.DictReader(io.StringIO(text))
        assert (first["arm"], first["accuracy"], second["published_score"]) == ("read-agent-p:3", "0.75", "85.83")
        return
    if format == "json":
        data = json.loads(text)
        assert data["rows"][0]["accuracy"]["hits"] == 6
        assert data["published"]["read-agent-p:3"][0]["model"] == "PaLM 2-L"
        assert (data["answers"], data["wanted"]) == (16, 20)
        return
    assert "75.00 %" in text
    assert "PaLM 2-L" in text
    assert "16 of 20 answers are in" in text
    assert "<model>" not in text.replace("\\<model>", "")


def test_a_report_names_the_built_in_reader_and_holds_no_foreign_markup():
    found = summarise(record(language_model=False), filled())
    assert "No language model was connected" in render_report(found, "md").decode()
    page = render_report(found, "html").decode()
    assert page.startswith("<!doctype html><html")
    soup = BeautifulSoup(page, "lxml")
    assert len(soup.find_all("svg")) == 5  # two views of the scores, each wide and narrow, and one histogram
    assert not soup.find_all(["script", "model", "fog", "img"])
    assert render_report(summarise(record(), ScoreTable()), "html")
    with pytest.raises(SettingsError, match="md, html, json, csv"):
        render_report(found, "pdf")


def test_markdown_cells_cannot_leave_their_table():
    assert markdown_table(["a", "b"], [["x|y", "1\n2"]])[-1] == "| x\\|y | 1 2 |"


# --- drawings -----------------------------------------------------------------------------------


def test_points_lie_inside_and_labels_are_escaped():
    drawing = scatter(
        [Point(0, 20, "<b>"), Point(99.5, 88, "x" * 30, 80, 95), Point(70, 88, "same", hollow=True)],
        x_title="CR", y_title="Accuracy", chance=25,
    )  # fmt: skip
    soup = BeautifulSoup(drawing, "xml")
    assert not soup.find_all("b")
    for circle in soup.find_all("circle"):
        assert 0 < float(circle["cx"]) < float(soup.svg["width"])
        assert 0 < float(circle["cy"]) < float(soup.svg["height"])
    assert "by guessing: 25 %" in drawing


@given(st.lists(st.tuples(st.floats(-50, 100), st.floats(0, 100)), max_size=12))
@settings(max_examples=40, derandomize=True)
def test_any_figures_can_be_drawn(values):
    drawing = scatter([Point(x, y, "m") for x, y in values], x_title="x", y_title="y")
    assert "nan" not in drawing
    assert drawing.count("<circle") == len(values)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100), st.text("ab 雪", max_size=40)), max_size=24),
    st.sampled_from([WIDE, NARROW]),
)
@settings(max_examples=60, derandomize=True)
def test_no_name_is_drawn_over_another(values, width):
    points = [Point(x, y, name) for x, y, name in values]
    soup = BeautifulSoup(scatter(points, x_title="x", y_title="y", width=width, chance=33.3333), "xml")
    boxes = []
    for name in soup.select("text.name"):  # as it is drawn: 14 pixels high, its x at the side of its anchor
        x, y, wide = float(name["x"]), float(name["y"]) - 4.5, text_width(name.text)
        left = x - wide if name["text-anchor"] == "end" else x
        boxes.append((left, y - 7, left + wide, y + 7))
    assert len(boxes) == len(values) + 1  # and that of guessing
    for one, other in combinations(boxes, 2):
        assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] - 0.2 or other[1] >= one[3] - 0.2
    assert all(box[0] >= 0 and box[2] <= width for box in boxes)


def test_the_height_of_a_point_is_its_share_from_none_on():
    drawing = scatter([Point(3, 81.0, "m"), Point(4, 92.0, "n")], x_title="x", y_title="y")
    assert "0" in [text.get_text() for text in BeautifulSoup(drawing, "xml").find_all("text")]


def test_only_intervals_that_say_something_are_drawn():
    wide, close = Point(50, 80, "few", 40, 97), Point(60, 80, "many", 77, 83)
    drawn = [scatter([point], x_title="x", y_title="y") for point in (wide, close)]
    assert [text.count('stroke-width="1.5"') for text in drawn] == [0, 1]


# --- in plain words -----------------------------------------------------------------------------


def test_the_results_are_said_in_plain_sentences():
    tally = ScoreTable()
    for item in range(10):
        tally.add(chosen(P3, item, item < 9, words=100))
        tally.add(chosen(FULL, item, item < 9, words=400))
    said = results_in_words(summarise(record(), tally))
    assert said[0] == "ReadAgent, all at once: 9 of 10 right, with 100 words sent per question."
    assert said[1] == "Full text: 9 of 10 right, for 4.0 times the words."
    assert said[2].startswith("10 questions are few: 9 of 10 right may mean a true rate of anything from 60 to 98 %")
    assert said[3] == "No method differs from Full text by more than chance."


def test_many_questions_are_not_said_to_be_few_and_a_clear_difference_is_named():
    tally = ScoreTable()
    for item in range(60):
        tally.add(chosen(P3, item, item < 50))
        tally.add(chosen(FULL, item, item < 20))
    tally.add_cost(PaidCost("doc", "plan", 3000, 1000))
    said = results_in_words(summarise(record(), tally))
    assert not any("few" in sentence for sentence in said)
    assert said[2] == "What is made of the text beforehand took 4,000 words once; not every method needs it."
    assert said[-1] == "ReadAgent, all at once is better than Full text by more than chance."


def test_answers_that_nobody_judged_are_said_to_be_unjudged():
    tally = ScoreTable()
    for item in range(3):
        tally.add(free(P3, item, 0.4))
    said = results_in_words(summarise(record(arms=(P3,)), tally))
    assert said[0].startswith("ReadAgent, all at once: 40 % overlap in words with the known answers (ROUGE-L), with")
    assert said[1] == "In free words: 3 answers of each method, not judged."
    rated = ScoreTable()
    for item in range(40):
        rated.add(free(P3, item, 0.4, "exact" if item else "wrong"))
    assert "39 of 40 answers agree with the known ones" in results_in_words(summarise(record(arms=(P3,)), rated))[0]


def test_answers_that_were_chosen_are_not_said_to_lack_a_rating():
    tally = ScoreTable()
    for item in range(4):
        tally.add(chosen(P3, item, True))
        tally.add(free(P3, 10 + item, 0.4, "exact" if item else ""))
    assert headline(summarise(record(arms=(P3,)), tally))[-1] == (
        "1 answer without a rating, left out of both LLM-Ratings."
    )


def test_cost_is_a_view_where_every_method_has_a_price():
    tally = ScoreTable()
    for item in range(2):
        tally.add(chosen(P3, item, True, usage=Usage(cost=0.01, saved_cost=0.01)))
        tally.add(chosen(FULL, item, True, usage=Usage(cost=None if item else 0.5)))
    found = summarise(record(), tally)
    assert [row.cost_each for row in found.rows] == [pytest.approx(0.02), None]
    assert plot_views(found) == [COMPRESSION, WORDS]
    priced = replace(found, rows=found.rows[:1])
    assert plot_views(priced) == [COMPRESSION, WORDS, COST]
    assert score_points(priced, COST)[0].x == pytest.approx(0.02)
    assert "per question ($2.00 for 100 questions)." in results_in_words(priced)[0]
    assert "US dollars" in score_plot(priced, COST)


@given(st.lists(st.integers(0, 400_000), max_size=60), st.lists(st.integers(0, 9_000), max_size=60))
@settings(max_examples=40, derandomize=True)
def test_a_histogram_counts_everything(one, two):
    drawing = histogram([("documents", one), ("gists", two)], x_title="Words")
    assert sum(int(n) for n in re.findall(r"words: (\d+)<", drawing)) == len(one) + len(two)
