"""The arena: rows of a benchmark are read, asked at equal words, judged and reported with a page for every answer."""

from __future__ import annotations

import json
import sys

import pytest

from bench import arena
from bench.server import serving

TEXT = "\n\n".join(
    f"On day {n} the keeper of Harrow Sound laid coin number{n} on the table and went out." for n in range(90)
)
ROW = {"id": 0, "context": TEXT, "input": "Which coin was laid on day 42?", "options": ["number41", "number42"]}


def say(prompt: str) -> str:
    if "Shorten the passage" in prompt:
        return "\n".join(f"On day {n} the keeper of Harrow Sound laid coin number{n} down." for n in range(0, 90, 6))
    return "ANSWER: (B) number42 [1]" if "number42 on the table" in prompt else "ANSWER: (A) number41 [1]"


def test_methods_meet_on_rows_of_a_benchmark(tmp_path, monkeypatch, capsys):
    rows = tmp_path / "longbook_choice_eng.jsonl"
    rows.write_text(json.dumps({**ROW, "answer": ["number42", "B"]}) + "\n")
    out = tmp_path / "out"
    with serving(say, latency=0.0) as address:
        monkeypatch.setenv("READAGENT_BASE_URL", address)
        monkeypatch.setenv("READAGENT_MODEL", "fake-model")
        monkeypatch.setenv("READAGENT_HOME", str(tmp_path / "home"))

        def run(*words: str) -> str:
            monkeypatch.setattr(sys, "argv", ["arena", *words])
            arena.main()
            return capsys.readouterr().out

        asked = run("ask", str(out), "--dataset", str(rows), "--words", "2000", "--methods", "recall", "passages-dos")
        assert asked.count(" words") == 2
        again = run("ask", str(out), "--dataset", str(rows), "--words", "2000", "--methods", "recall", "passages-dos")
        assert " words" not in again  # nothing is asked or read twice
    assert "0 of 1 answers have no verdict" in run("judge", str(out))  # an option is judged by itself
    told = run("report", str(out))
    assert told.count("1 of  1") == 4
    assert "recall:question_words=2000 against passages-dos:question_words=2000, 1 questions: +0.00" in told
    assert "p = 1.00" in told
    page = next(out.glob("recall*/000.html")).read_text()
    assert "coin number42 on the table" in page
    assert str(next(out.glob("recall*/000.html")).relative_to(out)) in (out / "replays.html").read_text()
    assert all(arena.words_sent(events) <= 2000 for _, _, _, events in arena.answers(out))


def test_it_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["arena", "ask", str(tmp_path)])
    with pytest.raises(SystemExit):
        arena.main()
    assert "--dataset" in capsys.readouterr().err
