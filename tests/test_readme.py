"""The README tells the truth: what it names is there, and its library example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from readagent_core.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("http")]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_tree_names_what_there_is():
    tree = README.split("## The tree")[1].split("```")[1]
    engine = tree.split("readagent_core/")[1].split("docs/")[0]
    named = {name.strip("/") for line in re.findall(r"^  (\S.*?)  ", engine, re.MULTILINE) for name in line.split()}
    there = {path.stem for path in (ROOT / "readagent_core").iterdir()}
    packages = {path.name for path in (ROOT / "readagent_core").iterdir() if (path / "__init__.py").is_file()}
    assert packages | {"prompts"} <= named <= there


@pytest.mark.parametrize("command", re.findall(r"^readagent (\w+)", README, re.MULTILINE))
def test_commands_exist(command):
    names = {c.name or c.callback.__name__.rstrip("_") for c in app.registered_commands}
    assert command in names


@pytest.mark.parametrize("module", re.findall(r"python -m bench\.(\w+)", README))
def test_benches_exist(module):
    assert (ROOT / "bench" / f"{module}.py").is_file()


def test_the_library_example_runs(tmp_path, monkeypatch, capsys):
    code = README.split("```python")[1].split("```")[0].replace("book.epub", "book.md")
    days = "\n\n".join(f"On day {i} the keeper lit the lamp and wrote the log. Then she slept." for i in range(120))
    (tmp_path / "book.md").write_text(f"# The Lamp\n\n{days}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "lamp" in capsys.readouterr().out
