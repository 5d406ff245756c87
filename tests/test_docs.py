"""The pages under docs/ say what the code does: modules and constants exist, and the examples of datasets open."""

from __future__ import annotations

import importlib
import re
from fractions import Fraction
from pathlib import Path

import pytest

from readagent_core.evaluation.datasets import KINDS, open_dataset
from readagent_core.plan import PRESETS

DOCS = Path(__file__).resolve().parent.parent / "docs"
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


def test_every_file_that_is_named_exists():
    for path in re.findall(r"`(readagent_core/[\w./]+)`", METHODS + FORMATS):
        assert (DOCS.parent / path).exists(), path


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
        assert all(item.references or item.question.options[item.gold] == "the keeper" for item in case.items)


def test_every_kind_of_dataset_has_an_example():
    assert {kind for kind in KINDS if any(path.startswith(kind) for path, _ in EXAMPLES)} == set(KINDS)
