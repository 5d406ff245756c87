"""Rows of datasets as people download them, and what is read of a file of them."""

from __future__ import annotations

import json

from readagent_core.evaluation.datasets import open_dataset

OPTIONS = ["a lamp", "a bell", "a boat", "a dog"]
STORY = "The keeper lit the lamp.\n\nThe bell rang twice in the fog.\n\nNobody came."
MEETING = {
    "topic_list": [],
    "general_query_list": [{"query": "Summarize the meeting.", "answer": "They chose blue."}],
    "specific_query_list": [
        {"query": "Which colour?", "answer": "Blue.", "relevant_text_span": [["1", "2"]]},
    ],
    "meeting_transcripts": [
        {"speaker": "Ada", "content": "Welcome ."},
        {"speaker": "Ben", "content": "Blue ,  please ."},
        {"speaker": "Ada", "content": "Blue it is ."},
    ],
}


def write(folder, name, rows):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) if isinstance(row, dict) else row for row in rows]
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return path


def cases(path, **options):
    return list(open_dataset(path, **options).cases())


def released(**changes):
    """A row as QuALITY 1.0.1 has it."""
    asked = {
        "question": "What rang?",
        "question_unique_id": "7_A_1",
        "options": OPTIONS,
        "writer_label": 2,
        "gold_label": 2,
        "validation": [{"untimed_annotator_id": "1", "untimed_answer": 2}],
        "speed_validation": [{"speed_annotator_id": "2", "speed_answer": 1}],
        "difficult": 1,
    }
    asked.update(changes)
    return {"article_id": "7", "set_unique_id": "7_A", "title": "Fog", "article": STORY, "questions": [asked]}


def scrolls(name, text, output):
    return {"id": name, "pid": f"{name}_0", "input": text, "output": output}
