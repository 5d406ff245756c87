"""Experiments on a cluster give the tables of one process; books of a corpus are not read again to be asked about."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from readagent_core.evaluation.experiment import resumed_experiment
from tests.cli.running import run_here, run_json
from tests.evaluation.made import experiment, run, write_articles
from tests.fakes.server import FakeServer


@pytest.fixture
def questions(shelf):
    """Three books, and two questions about each, those about the first in two places."""
    folder = shelf(3)
    rows = [
        {"file": f"book 00{book}.md", "question": f"Which bell rang in {n}?", "options": ["bell 1", "bell 7", "a dog"],
         "answer": n % 3}
        for n, book in enumerate((0, 1, 1, 2, 2, 0))
    ]  # fmt: skip
    path = folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_the_progress_counts_the_answers_of_methods_left_out(tmp_path):
    from readagent_core.corpus.asking import _Collector

    data, folder, reported = write_articles(tmp_path / "dev.jsonl", [1, 2]), tmp_path / "evaluations" / "one", []
    run(data, tmp_path, of=experiment(data, "full-text", "bm25"))
    _Collector(resumed_experiment(folder, experiment(data, "full-text"), leave_out=True), folder, reported.append)
    assert (reported[-1].done, reported[-1].total) == (8, 8)


METHODS = ("--method", "read-agent-p:2", "--method", "memwalker")


def test_a_cluster_gives_the_table_of_one_process(questions, tmp_path, server, monkeypatch):
    import dask
    from distributed import LocalCluster

    alone = run_json("evaluate", questions, *METHODS, "--name", "alone", server=server)
    monkeypatch.setenv("READAGENT_BASE_URL", server.url)
    monkeypatch.setenv("READAGENT_MODEL", "fake-model")
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),  # see docs/corpus.md
        LocalCluster(n_workers=1, threads_per_worker=3, processes=False, host="127.0.0.1", protocol="tcp",
                     dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0") as cluster,
    ):  # fmt: skip
        arguments = ("evaluate", questions, *METHODS, "--name", "cluster", "--scheduler", cluster.scheduler_address)
        there = run_json(*arguments, server=server)
        assert there["rows"] == alone["rows"]
        assert (there["answers"], there["wanted"], there["failed"]) == (12, 12, 0)
        calls = len(server.chats)
        results = tmp_path / "home" / "evaluations" / "cluster" / "results.jsonl"
        lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
        results.write_text("".join(lines[:-3]), encoding="utf-8")  # as if it had been stopped
        assert run_json(*arguments, server=server)["rows"] == alone["rows"]
        assert len(results.read_text(encoding="utf-8").splitlines()) == 12
        assert len(server.chats) == calls, "replies are in the cache"

        drawn = ("evaluate", questions, "--method", "gist-mem", "--limit", "3", "--seed", "1")
        asked = []
        for more in (("--name", "here"), ("--name", "there", *arguments[-2:])):
            run_json(*drawn, *more, server=server)
            lines = (results.parents[1] / more[1] / "results.jsonl").read_text(encoding="utf-8").splitlines()
            asked.append(sorted((line["case"], line["item"], line["question"]) for line in map(json.loads, lines)))
        assert asked[0] == asked[1]  # with the numbers that they have in the file
        assert [number for number, *_ in asked[0]] != [0, 1, 2]


def test_books_of_a_corpus_are_asked_without_reading_them_again(questions, tmp_path):
    out, arguments = tmp_path / "out", ("--method", "gist-mem", "--connections", "3")
    with FakeServer() as server:
        run_here("corpus", "read", questions.parent, "--out", out, "--max-words", "400", server=server)
        before = len(server.chats)
        found = run_json("corpus", "ask", out, questions, *arguments, server=server)
        assert (found["answers"], found["failed"]) == (6, 0)
        assert len(server.chats) - before == 6
    rows = pq.read_table(out / "tables" / "questions.parquet").to_pylist()
    assert [row["file"] for row in rows].count("book 001.md") == 2
    assert {row["method"] for row in rows} == {"gist-mem"}
    assert all(row["answer"] for row in rows)
    assert run_here("corpus", "ask", tmp_path / "none", questions, code=1)[1].count("holds no") == 1


@pytest.mark.parametrize("workers", [0, 1])
def test_a_cluster_of_ours_does_not_look_at_what_threads_do(workers):
    from readagent_core.corpus.cluster import open_cluster

    with open_cluster("", workers=workers, connections=2) as client:
        client.wait_for_workers(1, timeout=60)
        looks = client.run(lambda dask_worker: "profile" in dask_worker.periodic_callbacks)
    assert list(looks.values()) == [False]  # such looks lock up Python 3.11.8 now and then
