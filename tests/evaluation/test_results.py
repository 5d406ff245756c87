"""What is kept survives a kill, and what is added up agrees with sums done by hand."""

from __future__ import annotations

import csv
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.errors import DatasetError, DiskFullError, SettingsError
from readagent_core.evaluation.arms import Arm, parse
from readagent_core.evaluation.plots import Point, histogram, scatter
from readagent_core.evaluation.published import Setting, published, tables
from readagent_core.evaluation.report import summary
from readagent_core.evaluation.report_files import markdown_table, write
from readagent_core.evaluation.report_tables import published_table, score_table, walk_table
from readagent_core.evaluation.results import Cost, Lines, Reading, read_results
from readagent_core.evaluation.tally import Tally
from readagent_core.methods import method
from readagent_core.methods.base import AskSettings
from readagent_core.usage import Usage
from tests.evaluation.made import FULL, P3, WALK, chosen, free, record

# --- arms -----------------------------------------------------------------------------------------


def test_arms_are_written_short_and_come_back():
    base = AskSettings(look_ups=3)
    assert parse("read-agent-p", base).settings.look_ups == 3
    assert parse("read-agent-p:5", base).key == "read-agent-p:5"
    arm = parse("full-text:keep=ends:context_words=6000:plan.pagination=uniform:depth=2", base)
    assert (arm.settings.keep, arm.settings.context_words) == ("ends", 6000)
    assert (arm.plan, arm.settings.extra) == ({"pagination": "uniform"}, {"depth": 2})
    assert Arm.from_dict(json.loads(json.dumps(arm.to_dict()))) == arm
    assert parse("gist-mem", base).key != parse("gist-mem:4", base).key


@pytest.mark.parametrize(
    "text", ["read-agent-p:many", "read-agent-p:-1", "full-text:keep=some", "gist-mem:context_words=x"]
)
def test_bad_arms_are_told(text):
    with pytest.raises(SettingsError, match="not understood"):
        parse(text, AskSettings())
    with pytest.raises(SettingsError, match="no method 'nothing'"):
        parse("nothing", AskSettings())


# --- lines ----------------------------------------------------------------------------------------


def test_results_come_back_as_they_went(tmp_path):
    lines = Lines(tmp_path / "results.jsonl")
    kept = chosen(P3, 1, True, answer="雪\n\u2028", usage=Usage(calls=2, cost=0.5), extra={"stray": True}, hard=True)
    lines.append(kept.to_dict())
    lines.close()
    assert list(read_results(lines)) == [kept]


def test_a_line_broken_by_a_kill_is_cut_off(tmp_path):
    path = tmp_path / "results.jsonl"
    for broken in (b'{"a": 1}\n{"a": 2}\n{"a": 3', b'{"a": 1}\n{"a": 2}\n' + b"x" * 200_000):
        path.write_bytes(broken)
        assert len(list(Lines(path, mend=False))) == 2
        assert path.stat().st_size == len(broken)
        lines = Lines(path)
        lines.append({"a": 4})
        lines.close()
        assert [line["a"] for line in lines] == [1, 2, 4]
    path.write_bytes(b"nothing whole")
    assert list(Lines(path)) == []
    assert path.stat().st_size == 0


def test_a_line_damaged_in_the_middle_is_named(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"a": 1}\nnonsense\n{"a": 2}\n')
    with pytest.raises(DatasetError, match=r"results.jsonl, line 2: damaged"):
        list(Lines(path))


def test_many_threads_write_whole_lines(tmp_path):
    lines = Lines(tmp_path / "results.jsonl")
    with ThreadPoolExecutor(8) as pool:
        places = list(pool.map(lambda n: lines.append({"n": n, "text": "x" * (n % 500)}), range(400)))
    lines.close()
    assert [lines.at(place)["n"] for place in places] == list(range(400))


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    lines = Lines(tmp_path / "none" / "results.jsonl")
    lines.append({"a": 1})
    with pytest.raises(DiskFullError, match="cannot be written"):
        lines.close()
    with pytest.raises(DiskFullError):
        lines.append({"a": 2})


def test_a_replay_is_found_by_its_place(tmp_path):
    lines = Lines(tmp_path / "replays.jsonl")
    places = [lines.append({"events": [n]}) for n in range(2)]
    lines.close()
    places.append(lines.append({"events": [2]}))  # opened again
    lines.close()
    assert [lines.at(place)["events"] for place in places] == [[0], [1], [2]]


# --- adding up ------------------------------------------------------------------------------------


def test_a_row_by_hand():
    tally = Tally()
    for item, correct in enumerate([True, True, True, False]):
        tally.add(chosen(P3, item, correct, hard=item >= 2, compression_rate=60.0 + 10 * item))
    tally.add_cost(Cost("doc", "plan", 500, 0))
    tally.add_cost(Cost("doc", "plan", 0, 300))
    row = tally.row(P3)
    assert (row.accuracy.hits, row.accuracy.total) == (3, 4)
    assert row.accuracy.low < 0.75 < row.accuracy.high
    assert (row.hard.hits, row.hard.total) == (1, 2)
    assert (row.compression_rate, row.look_ups, row.words) == (75.0, 2.0, 400)
    assert (row.reading_words, row.text_words) == (800, 1600)
    assert row.of_full_text == pytest.approx(1200 / 1600)
    assert tally.chance() == 25.0
    assert tally.row(FULL) is None


def test_full_text_pays_for_no_reading():
    tally = Tally()
    tally.add(chosen(FULL, 0, True, looked_up=()))
    tally.add_cost(Cost("doc", "plan", 500, 300))
    assert tally.row(FULL).reading_words == 0


def test_failures_count_as_wrong_and_the_last_result_counts():
    tally = Tally()
    tally.add(chosen(P3, 0, False, error="ServerFailedError: gone", option=None))
    assert (tally.failed, tally.row(P3).accuracy.hits) == (1, 0)
    tally.add(chosen(P3, 0, True))
    assert (tally.failed, tally.answers, tally.row(P3).accuracy.hits) == (0, 1, 1)


def test_runs_give_a_spread_but_no_narrower_interval():
    one, three = Tally(), Tally()
    for item in range(20):
        one.add(chosen(P3, item, item < 15))
        for run, right in ((1, 14), (2, 15), (3, 16)):
            three.add(chosen(P3, item, item < right, run=run))
    single, spread = one.row(P3), three.row(P3)
    assert single.accuracy_sd is None
    assert spread.accuracy_sd == pytest.approx(5.0)  # 70, 75, 80 %
    assert (spread.accuracy.low, spread.accuracy.high) == (single.accuracy.low, single.accuracy.high)


def test_free_form_rows():
    tally = Tally()
    for item, (value, rating) in enumerate([(0.2, "exact"), (0.4, "partial"), (0.6, "wrong"), (0.8, "exact")]):
        tally.add(free(P3, item, value, rating))
    row = tally.row(P3)
    assert row.accuracy is None
    assert row.rouge["rougeL"].value == pytest.approx(50)
    assert row.rouge["rouge2"].value == pytest.approx(25)
    assert (row.rating_1.hits, row.rating_2.hits, row.rating_1.total) == (2, 3, 4)


def test_walks_that_strayed():
    tally = Tally()
    for item, (stray, right) in enumerate([(True, True), (True, False), (False, True)]):
        tally.add(chosen(P3, item, right, extra={"stray": stray, "share_read": 0.25}))
    row = tally.row(P3)
    assert (row.strays.hits, row.strays.total) == (2, 3)
    assert (row.recoveries.hits, row.recoveries.total) == (1, 2)
    assert row.read_share == 0.25


def test_differences_are_paired():
    tally = Tally()
    for item in range(10):
        tally.add(chosen(FULL, item, item < 4))
        tally.add(chosen(P3, item, item < 8))
    tally.add(chosen(P3, 99, True))  # no pair
    found = tally.difference(FULL, P3)
    assert (found.n, found.only_first, found.only_second, found.test) == (10, 0, 4, "McNemar, exact")
    assert found.p == pytest.approx(0.125)
    assert tally.difference(FULL, Arm("gist-mem")) is None


@given(st.permutations(range(8)))
@settings(max_examples=20, derandomize=True, deadline=None)
def test_the_order_of_answers_does_not_matter(order):
    results = [chosen(P3, i, i % 3 == 0, words=i) for i in range(4)] + [chosen(FULL, i, i == 1) for i in range(4)]
    tally, again = Tally(), Tally()
    for result in results:
        tally.add(result)
    for at in order:
        again.add(results[at])
    assert (tally.row(P3), tally.difference(FULL, P3)) == (again.row(P3), again.difference(FULL, P3))


# --- published figures ------------------------------------------------------------------------------


QUALITY, BOOK = Setting("quality", "article"), Setting("narrativeqa", "book")
MEETING = Setting("qmsum", "meeting")


def first(name, setting):
    return published(parse(name, AskSettings()), setting)[0].row


def test_published_figures_as_the_papers_have_them():
    assert (first("read-agent-p:6", QUALITY).score, first("read-agent-p:6", QUALITY).pages) == (86.91, 2.5)
    assert first("full-text:3", QUALITY).score == 85.83  # looks nothing up, whatever the setting says
    assert published(parse("read-agent-p:9", AskSettings()), QUALITY) == ()
    assert first("gist-mem", BOOK).rouge == (23.3, 9.1, 21.8)
    assert first("read-agent-s:6", MEETING).rating_2 == 91.54
    assert (first("memwalker", QUALITY).score, first("memwalker", QUALITY).stray) == (67.4, 15)
    assert first("recurrence", QUALITY).score == 51.3
    assert published(P3, Setting("plain", "article")) == ()


def test_a_published_figure_says_on_which_model_and_where():
    found = published(parse("full-text", AskSettings()), QUALITY)
    said = [(b.table.model, b.table.source, b.table.name, b.row.score) for b in found]
    assert said == [
        ("PaLM 2-L", "Lee et al., ICML 2024", "Table 1", 85.83),
        ("GPT-3.5 Turbo", "Lee et al., ICML 2024", "Table 7", 73.3),
    ]


@pytest.mark.parametrize(
    ("name", "setting", "scores"),
    [
        ("full-text:keep=right:context_words=3000", QUALITY, [70.1, 72.5]),  # MemWalker's, cut to its window
        ("full-text:keep=left:context_words=6000", MEETING, [14.71]),
        ("full-text:keep=left:context_words=5000", MEETING, []),
        ("read-agent-p:5:plan.pagination=uniform", QUALITY, [85.71]),
        ("read-agent-p:5:plan.pagination=many", QUALITY, [86.83, 69.65]),  # still the model's own pauses
        ("gist-mem:0:plan.max_words=1200", QUALITY, [73.97]),
        ("gist-mem:0:plan.max_words=500", QUALITY, []),
        ("gist-neural:1", QUALITY, [82.65]),
        ("gist-mem", Setting("qmsum", "meeting", name="QMSum-test"), [44.96]),
        ("gist-mem", Setting("narrativeqa", "book", split="test"), [55.79]),
        ("gist-mem", Setting("qmsum", "meeting", name="latest"), [40.2]),
        ("semantic-compression", Setting("longbench", "meeting", name="qmsum"), [21.1, 23.4, 21.2, 22.4]),
        ("semantic-compression", Setting("longbench", "article", name="vcsum"), []),
        ("gist-mem", Setting("quality", "article", plan={"max_words": 800}), [76.22]),
    ],
)
def test_a_figure_stands_only_beside_what_it_was_measured_on(name, setting, scores):
    assert [b.row.score for b in published(parse(name, AskSettings()), setting)] == scores


def test_every_published_table_is_sound():
    for table in tables():
        assert all((table.source, table.about, table.model, table.rows))
        assert table.measure in ("accuracy", "ratings", "own")
        for row in table.rows:
            method(row.method)  # raises for a method we have not
            shares = (row.compression_rate, row.score, row.rating_2, row.stray, row.recovery, *(row.rouge or ()))
            assert all(0 <= value <= 100 for value in shares if value is not None)
            assert row.rating_2 is None or row.rating_2 >= row.score  # exact or partial is never fewer than exact
            assert row.rouge is None or row.rouge[0] >= row.rouge[2] >= row.rouge[1]


# --- reports --------------------------------------------------------------------------------------


def filled():
    tally = Tally()
    for item in range(8):
        tally.add(chosen(P3, item, item < 6))
        tally.add(chosen(FULL, item, item < 5, looked_up=(), compression_rate=0.0))
    tally.add_reading(Reading("doc", "<Fog>", 400, "plan", (200, 200), (30, 20)))
    return tally


def test_the_table_has_the_papers_shape():
    found = summary(record(), filled())
    header, rows = score_table(found)
    assert header == [
        "Method",
        "CR (# LU)",
        "Accuracy (95 %)",
        "Published: CR (# LU)",
        "Published: score",
        "Published on",
    ]
    assert rows[0][1:3] == ["70.00 % (2.0)", "75.00 % (40.9–92.9)"]
    assert rows[0][3:] == ["69.36 % (2)", "86.59 % ± 0.10", "PaLM 2-L"]
    assert rows[1][3:] == ["0.00 % (0)", "85.83 % ± 0.19", "PaLM 2-L"]
    assert rows[2] == ["Chance", "", "25.00 %", "", "", ""]
    assert found.baseline == FULL.title
    assert found.differences[P3.key].value == pytest.approx(0.125)


def test_every_published_figure_is_listed_with_its_place():
    tally = Tally()
    for item in range(4):
        tally.add(chosen(WALK, item, True, extra={"stray": item == 0, "share_read": 0.25}))
    found = summary(record(arms=(WALK,)), tally)
    assert score_table(found)[1][0][-3:] == ["", "67.40 %", "Stable Beluga 2 (70B)"]
    models = [row[1] for row in published_table(found)[1]]
    assert models == ["Stable Beluga 2 (70B)"] * 2 + ["Llama 2 Chat (13B)", "Llama 2 Chat (70B)"]
    assert walk_table(found)[1][-1] == ["Published on Stable Beluga 2 (70B)", "15.0 %", "70.0 %", ""]


def test_free_form_tables_have_ratings_and_rouge():
    tally = Tally()
    for item in range(4):
        tally.add(free(P3, item, 0.25 * item, "exact" if item else "wrong", answer_words=40))
    header, rows = score_table(summary(record("qmsum"), tally))
    assert header[2:8] == ["LLM-Rating-1", "LLM-Rating-2", "ROUGE-1", "ROUGE-2", "ROUGE-L", "Resp. length"]
    assert rows[0][2].startswith("75.00 %")
    assert rows[0][7] == "40.0"


@pytest.mark.parametrize("format", ["md", "html", "json", "csv"])
def test_every_report_says_the_same(format):
    text = write(summary(record(), filled(), wanted=20), format).decode()
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
    assert "<model>" not in text


def test_the_html_report_holds_the_drawings_and_no_foreign_markup():
    soup = BeautifulSoup(write(summary(record(), filled()), "html").decode(), "lxml")
    assert len(soup.find_all("svg")) == 3
    assert not soup.find_all(["script", "model", "fog", "img"])


def test_the_built_in_reader_is_named_as_what_it_is():
    text = write(summary(record(language_model=False), filled()), "md").decode()
    assert "No language model was connected" in text


def test_unknown_format_and_empty_report():
    with pytest.raises(SettingsError, match="md, html, json, csv"):
        write(summary(record(), filled()), "pdf")
    assert write(summary(record(), Tally()), "html")


def test_markdown_cells_cannot_leave_their_table():
    assert markdown_table(["a", "b"], [["x|y", "1\n2"]])[-1] == "| x\\|y | 1 2 |"


# --- drawings -------------------------------------------------------------------------------------


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
    assert "chance, 25 %" in drawing


@given(st.lists(st.tuples(st.floats(-50, 100), st.floats(0, 100)), max_size=12))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_any_figures_can_be_drawn(values):
    drawing = scatter([Point(x, y, "m") for x, y in values], x_title="x", y_title="y")
    assert "nan" not in drawing
    assert drawing.count("<circle") == len(values)


@given(st.lists(st.integers(0, 400_000), max_size=60), st.lists(st.integers(0, 9_000), max_size=60))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_a_histogram_counts_everything(one, two):
    drawing = histogram([("documents", one), ("gists", two)], x_title="Words")
    assert sum(int(n) for n in re.findall(r"words: (\d+)<", drawing)) == len(one) + len(two)
