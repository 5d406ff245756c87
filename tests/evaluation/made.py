"""Answers, records and whole folders of experiments as tests need them, written as a run writes them."""

from __future__ import annotations

import json
from dataclasses import replace

from readagent_core.answering.base import AskSettings
from readagent_core.evaluation import running
from readagent_core.evaluation.arms import Arm, parse
from readagent_core.evaluation.datasets import open_dataset
from readagent_core.evaluation.experiment import Experiment
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.results import JsonLines, Result
from tests.fakes.model import FakeModel
from tests.fakes.sensible import sensible

BUILDERS = ("gist-mem", "memwalker", "recurrence", "semantic-compression")
P3, FULL = Arm("read-agent-p"), Arm("full-text", AskSettings(look_ups=0))
WALK = Arm("memwalker")
OPTIONS = ("a", "b", "c", "d")


def chosen(arm, item, correct, **changes):
    values = {
        "case": 0, "item": item, "arm": arm.key, "run": 1, "id": f"q{item}", "document": "doc", "plan": "plan",
        "title": "<Fog>", "question": "What rang?", "options": OPTIONS, "gold": 0, "option": 0 if correct else 1,
        "correct": correct, "compression_rate": 70.0, "looked_up": (2, 3), "words": 100, "document_words": 400,
    }  # fmt: skip
    return Result(**{**values, **changes})


def free(arm, item, rouge, rating="", **changes):
    figures = {"rouge1": rouge, "rouge2": rouge / 2, "rougeL": rouge}
    return chosen(arm, item, None, options=(), gold=None, option=None, references=("x",), rouge=figures, rating=rating,
                  **changes)  # fmt: skip


def record(kind="quality", arms=(P3, FULL), runs=1, language_model=True):
    return {
        "started": "2026-11-21T10:00:00+0000",
        "model": {"name": "a <model>", "where": "", "is_language_model": language_model, "reported": []},
        "preset": "article",
        "experiment": {
            "dataset": {"path": f"/data/{kind}.jsonl", "kind": kind, "split": ""},
            "arms": [a.to_dict() for a in arms],
            "runs": runs,
            "preset": "",
        },
    }


def asked(prompt="What rang? The bell.", reply="Answer: (B)", task="answer_options"):
    return {"kind": "Asked", "task": task, "prompt": prompt, "reply": reply}


def write_folder(folder, results, *, events=None, arms=(P3, FULL)):
    """The experiment's folder with these results; what is not right gets a replay of ``events``. Its questions."""
    folder.mkdir(parents=True, exist_ok=True)
    answers, replays = JsonLines(folder / "results.jsonl"), JsonLines(folder / "replays.jsonl")
    for result in results:
        if not result.right:
            place = replays.append({"key": list(result.key), "events": events or [asked()]})
            result = replace(result, replay=place)
        answers.append(result.to_dict())
    return Questions.of(folder, record(arms=arms))


def article(n, paragraphs=24):
    sentence = "The keeper of light number {n} rang bell {k} in the fog and wrote it down with care that night."
    return "\n\n".join(" ".join(sentence.format(n=n, k=k) for k in range(p, p + 3)) for p in range(paragraphs))


def write_articles(path, numbers):
    """A dataset of these articles with two questions each; returns its path."""
    rows = []
    for n in numbers:
        asked = [
            {"question": f"What rang {q}?", "options": ["a lamp", "a bell", "a boat", "a dog"],
             "gold_label": 1 + (n + q) % 4, "difficult": q}
            for q in range(2)
        ]  # fmt: skip
        rows.append({"article_id": n, "title": f"Story {n}", "article": article(n), "questions": asked})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def answering(prompt):
    return sensible(prompt.text)


def experiment(data, *names, **rest):
    arms = tuple(parse(name, AskSettings()) for name in names or ("read-agent-p", "full-text:0"))
    return Experiment(open_dataset(data), arms, **{"connections": 4, **rest})


def run(data, tmp_path, model=None, *, of=None, **rest):
    return running.run(of or experiment(data), model or FakeModel(answering), folder=tmp_path / "evaluations" / "one",
                       **rest)  # fmt: skip


def reading_words(tally, of):
    return [tally.row(arm).reading_words for arm in of.arms]
