"""The README and the pages under docs/ say what the code does: what they name exists, and their examples run."""

from __future__ import annotations

import importlib
import re
from fractions import Fraction
from pathlib import Path

import pytest

from readagent_core.cli.app import app
from readagent_core.evaluation.datasets import KINDS, open_dataset
from readagent_core.plan import PRESETS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
METHODS = (DOCS / "methods.md").read_text(encoding="utf-8")
FORMATS = (DOCS / "formats.md").read_text(encoding="utf-8")
CONSTANTS = re.findall(r"^\| `(readagent_core\.[\w.]+)` \| ([\d./]+) \|", METHODS, re.MULTILINE)
EXAMPLES = re.findall(r"^```(?:jsonl|json|csv|text) (\S+)\n(.*?)^```", FORMATS, re.MULTILINE | re.DOTALL)


def find(dotted: str) -> object:
    """The module, or the attribute of a module, of this name."""
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        module, _, name = dotted.rpartition(".")
        return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("dotted", sorted(set(re.findall(r"`(readagent_core\.[\w.]+)`", METHODS + FORMATS))))
def test_every_module_and_name_exists(dotted):
    find(dotted)


@pytest.mark.parametrize(("dotted", "value"), CONSTANTS)
def test_every_constant_has_the_value_of_the_code(dotted, value):
    numbers = [float(Fraction(part)) for part in value.split("/")]
    said = numbers[0] / numbers[1] if len(numbers) == 2 else numbers[0]
    assert find(dotted) == pytest.approx(said)


def test_the_presets_are_those_of_the_code():
    assert len(CONSTANTS) > 20  # the table is found
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|", METHODS, re.MULTILINE)
    assert {name: (int(most), int(least)) for name, most, least in rows} == PRESETS


@pytest.mark.parametrize("folder", sorted({path.split("/")[0] for path, _ in EXAMPLES}))
def test_every_example_of_a_dataset_opens(folder, tmp_path):
    paths = []
    for path, text in EXAMPLES:
        if path.split("/")[0] == folder:
            paths.append(tmp_path / path)
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            paths[-1].write_text(text, encoding="utf-8")
    whole_folder = folder.startswith("narrativeqa")
    dataset = open_dataset(tmp_path / folder if whole_folder else paths[0])
    assert dataset.kind == next(kind for kind in KINDS if folder.startswith(kind))
    cases = list(dataset.cases())
    assert cases
    for case in cases:
        assert "lamp" in case.document.text()
        assert case.items
        assert all(
            item.references or item.web_step or item.question.options[item.gold] == "the keeper" for item in case.items
        )


def test_links_files_commands_benches_and_kinds_of_datasets_that_are_named_exist():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("http")]
    benches = [f"bench/{module}.py" for module in re.findall(r"python -m bench\.(\w+)", README)]
    files = re.findall(r"`(readagent_core/[\w./]+)`", METHODS + FORMATS)
    assert links
    assert benches
    assert [path for path in links + benches + files if not (ROOT / path).exists()] == []
    commands = re.findall(r"^readagent ([\w-]+)", README, re.MULTILINE)
    assert commands
    known = {c.name or c.callback.__name__.rstrip("_") for c in app.registered_commands}
    assert set(commands) <= known | {group.name for group in app.registered_groups}
    assert {kind for kind in KINDS if any(path.startswith(kind) for path, _ in EXAMPLES)} == set(KINDS)


def test_the_tree_names_what_there_is():
    tree = README.split("## The tree")[1].split("```")[1]
    engine = tree.split("readagent_core/")[1].split("docs/")[0]
    named = {name.strip("/") for line in re.findall(r"^  (\S.*?)  ", engine, re.MULTILINE) for name in line.split()}
    there = {path.stem for path in (ROOT / "readagent_core").iterdir()}
    packages = {path.name for path in (ROOT / "readagent_core").iterdir() if (path / "__init__.py").is_file()}
    assert packages | {"prompts"} <= named <= there


def test_the_library_example_runs(tmp_path, monkeypatch, capsys):
    code = README.split("```python")[1].split("```")[0].replace("book.epub", "book.md")
    days = "\n\n".join(f"On day {i} the keeper lit the lamp and wrote the log. Then she slept." for i in range(120))
    (tmp_path / "book.md").write_text(f"# The Lamp\n\n{days}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "lamp" in capsys.readouterr().out
