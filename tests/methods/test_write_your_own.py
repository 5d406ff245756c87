"""The guide's method works as one file and its prompt, with no other change."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

GUIDE = ROOT / "readagent_core" / "methods" / "README.md"


def block(kind: str) -> str:
    """Return the guide's only code block of this kind."""
    found = re.findall(rf"^```{kind}\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


USE = """
import json
from readagent_core.evaluation.arms import parse
from readagent_core.answering.registry import all_methods, method
from readagent_core.answering.base import AskSettings, Question
from readagent_core.cancel import CancelToken
from tests.fakes.model import FakeModel
from tests.methods.books import memory

model = FakeModel(["Both say so."])
events = list(method("first-and-last").run(Question("Who?"), memory(), model, AskSettings(), CancelToken()))
answer = events[-1].answer
print(json.dumps({
    "listed": "first-and-last" in all_methods(), "arm": parse("first-and-last", AskSettings()).title,
    "answer": answer.text, "looked_up": answer.looked_up, "prompt": model.prompts[0].text,
}))
"""


def test_a_method_dropped_into_the_folder_is_found_and_runs(tmp_path: Path) -> None:
    for name in ("readagent_core", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "golden"))
    core = tmp_path / "readagent_core"
    (core / "methods" / "first_and_last.py").write_text(block("python"), encoding="utf-8")
    (core / "prompts" / "en" / "first_and_last.txt").write_text(block("text"), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", USE], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["listed"] is True
    assert said["arm"] == "First and last page"
    assert said["answer"] == "Both say so."
    assert said["looked_up"] == [1, 6]
    assert "<Page 1> (full text)\nword1" in said["prompt"]
