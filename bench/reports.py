"""How long the report files of a large experiment take to write, and how much memory that needs.

2,086 questions (QuALITY's dev set) x 8 methods, two answers of five not right, each with a replay of two prompts of
10 to 40 KB. Every file is written by a process of its own; 'figures' only adds up the results.

    python -m bench.reports [--questions 2086] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from readagent_core.answering.registry import all_methods
from readagent_core.evaluation.arms import Arm
from readagent_core.evaluation.experiment import write_record
from readagent_core.evaluation.formats import FORMATS, save_report
from readagent_core.evaluation.questions import Questions
from readagent_core.evaluation.results import JsonLines, Result
from readagent_core.evaluation.starting import load_summary

METHODS = (
    "full-text", "gist-mem", "read-agent-p", "read-agent-s", "bm25", "recurrence", "semantic-compression", "memwalker"
)  # fmt: skip
QUESTIONS_A_DOCUMENT = 18
SENTENCE = "The keeper of the light rang “bell” number {} in the fog,\nand wrote it down with care that night; "


def write_folder(folder: Path, questions: int, *, seed: int = 7) -> None:
    """Write an experiment's folder as a run leaves it."""
    dice = random.Random(seed)
    arms = [Arm(name) for name in METHODS if name in all_methods()]
    text = "".join(SENTENCE.format(n) for n in range(500))
    results, replays = JsonLines(folder / "results.jsonl"), JsonLines(folder / "replays.jsonl")
    for number in range(questions):
        case, item = divmod(number, QUESTIONS_A_DOCUMENT)
        for arm in arms:
            right = dice.random() < 0.6
            place = None
            answer = f"Answer: (B)\n{text[: dice.randrange(100, 600)]}\n\nEvidence:\n[3] “it rang”"
            if not right:
                events = []
                for task, reply in (("choose_pages", "I want to look up Page [2, 3]."), ("answer_options", answer)):
                    prompt = text[: dice.randrange(10_000, 40_000)]
                    events.append({"kind": "Asked", "task": task, "prompt": prompt, "reply": reply, "usage": {}})
                events.insert(1, {"kind": "LookedUp", "pages": [2, 3], "reply": "", "reason": "", "refused": []})
                place = replays.append({"key": [case, item, arm.key, 1], "events": events})
            options = tuple(f"{letter} bell that rang {dice.randrange(900)} times" for letter in "abcd")
            result = Result(
                case, item, arm.key, 1, f"q{number}", f"d{case}", "plan", f"Story {case}",
                f"Which bell rang in the fog of night {number}, and who heard it?", options, 1, answer=answer,
                option=1 if right else 2, correct=right, hard=number % 2 == 0, looked_up=(2, 3), memory_words=1400,
                document_words=5100, compression_rate=72.5, words=1600, replay=place,
            )  # fmt: skip
            results.append(result.to_dict())
    write_record(folder, _record(arms))


def _record(arms: list[Arm]) -> dict[str, object]:
    data = {"path": "/none/quality.jsonl", "kind": "quality", "split": "", "limit": None, "documents": None}
    experiment = {"dataset": data, "arms": [arm.to_dict() for arm in arms], "runs": 1, "preset": "", "plan": {}}
    model = {"name": "a generator", "where": "", "is_language_model": True, "reported": []}
    return {
        "version": 1, "started": "2026-01-01T00:00:00", "model": model, "preset": "article",
        "experiment": {**experiment, "rate": True, "connections": 8, "most_words": None},
    }  # fmt: skip


def peak() -> float:
    """Return the peak megabytes of this program alone; getrusage would include its parent's peak."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def one(folder: Path, format: str) -> None:
    """Write one file, or none for 'figures', and print seconds and peak memory as JSON."""
    start, cpu = time.perf_counter(), time.process_time()
    found = load_summary(folder)
    added = time.perf_counter()
    target = folder / f"report.{format}"
    if format != "figures":
        save_report(found, target, format, Questions.of(folder, found.record))
    seconds, cpu = time.perf_counter() - added, time.process_time() - cpu
    size = target.stat().st_size / 1e6 if format != "figures" else 0.0
    print(json.dumps({"adding": added - start, "writing": seconds, "cpu": cpu, "peak": peak(), "size": size}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2086)
    parser.add_argument("--keep", type=Path, help="where the experiment and its reports stay")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        one(Path(chosen.one[0]), chosen.one[1])
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "record.json").is_file():
            write_folder(folder, chosen.questions)
        for name in ("results.jsonl", "replays.jsonl"):
            print(f"{name:<16}{(folder / name).stat().st_size / 1e6:8.1f} MB")
        print(f"{'file':<16}{'MB':>8}{'adding up, s':>14}{'writing, s':>12}{'CPU, s':>8}{'peak, MB':>10}")
        for format in ("figures", *FORMATS):
            command = [sys.executable, "-m", "bench.reports", "--one", str(folder), format]
            measured = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"{format:<16}{measured['size']:8.1f}{measured['adding']:14.2f}{measured['writing']:12.2f}"
                f"{measured['cpu']:8.2f}{measured['peak']:10.0f}"
            )


if __name__ == "__main__":
    main()
