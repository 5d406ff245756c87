"""Answers, records and whole folders of experiments as tests need them, written as a run writes them."""

from __future__ import annotations

from dataclasses import replace

from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.results import JsonLines, Result
from readagent_core.methods.base import AskSettings

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
