"""`readagent evaluate` as a person runs it: its table, its reports, and what a killed run leaves."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

from tests.cli.running import run_here, run_json, start, wait_until
from tests.fakes.server import FakeServer, Reply


def questions(book):
    rows = [
        {"question": f"Which bell rang {n}?", "options": ["bell number 1", "bell number 7", "a dog"], "answer": n % 3}
        for n in range(4)
    ]
    path = book.with_name("fog.questions.json")
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_evaluate_gives_a_table_json_and_reports(book, tmp_path, server):
    data = questions(book)
    arguments = ("evaluate", data, "--method", "gist-mem", "--method", "full-text")
    expected = run_json(*arguments, "--estimate", server=server)
    assert expected["estimate"]["answers"] == 8
    assert server.chats == []
    assert not Path(expected["folder"]).exists()
    names = ("report.html", "report.csv", "report.json", "answers.csv")
    reports = [part for name in names for part in ("--report", tmp_path / name)]
    found = run_json(*arguments, *reports, server=server)
    assert (found["answers"], found["wanted"], found["failed"]) == (8, 8, 0)
    assert [row["method"] for row in found["rows"]] == ["gist-mem", "full-text"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("Which bell rang 3?") >= 1
    assert (tmp_path / "report.csv").read_text(encoding="utf-8").startswith("arm,answers")
    asked = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["questions"]
    assert [(q["question"], len(q["answers"])) for q in asked] == [(f"Which bell rang {n}?", 2) for n in range(4)]
    rows = (tmp_path / "answers.csv").read_text(encoding="utf-8-sig")
    assert rows.startswith("number,id")
    assert rows.count("gist-mem:0,") == rows.count("full-text:0,") == 4
    before = len(server.chats)
    assert run_json(*arguments, "--show", server=server)["rows"] == found["rows"]
    out, told = run_here("evaluate", "--record", Path(found["folder"]) / "record.json", server=server)
    assert "Accuracy" in out
    assert "\nScores\n" in out  # each table below its title
    assert "of 4 right, with" in out
    assert "4 questions are few" in out
    assert "all answers are in" in told
    assert len(server.chats) == before


def test_a_record_runs_where_its_data_lies_now_and_says_what_is_otherwise(book, tmp_path, server):
    data = questions(book)
    there = run_json("evaluate", data, "--method", "gist-mem", server=server)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for file in (data, book):
        file.rename(moved / file.name)
    arguments = ("--record", Path(there["folder"]) / "record.json", "--name", "again")
    assert "no such file" in run_here("evaluate", *arguments, code=1, server=server)[1]
    again = run_json("evaluate", moved / data.name, *arguments, server=server)
    assert again["rows"] == there["rows"]
    out, told = run_here("evaluate", moved / data.name, *arguments[:2], "--name", "builtin")
    assert "Not as in the record: the model (fake-model before, built-in reader now)." in told
    assert "built-in reader" in out


def test_an_experiment_runs_once_at_a_time_and_resumes_to_the_same_table_after_a_kill(book):
    """Two processes at once would make every call twice and overwrite each other's records."""
    arguments = ("evaluate", questions(book), "--method", "gist-mem", "--method", "read-agent-p", "--connections", "2")
    release = threading.Event()

    def chosen():
        return any("(A)" in text for text in held.answered)

    def hold(*_):
        return Reply(status=500) if chosen() and not release.is_set() and release.wait(60) else None

    with FakeServer(before=hold) as held:
        first = start(*arguments, "--json", server=held)
        wait_until(chosen, first)
        assert "running already" in run_here(*arguments, code=1, server=held)[1]
        assert run_json(*arguments, "--show", server=held)["wanted"] == 8
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=30)
        release.set()
        resumed = run_json(*arguments, server=held)
        whole = run_json(*arguments, "--name", "another", server=held)
    assert resumed["answers"] == 8
    assert resumed["rows"] == whole["rows"]
    assert all(row["reading_words"] > 0 for row in whole["rows"])
