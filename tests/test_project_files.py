"""The files that a project of this kind has agree with one another."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import readagent_core

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_changes_tell_of_this_version() -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert readagent_core.__version__ in versions[:2]
    assert versions[0] in ("Unreleased", readagent_core.__version__)


def test_ci_runs_everything_on_the_oldest_python() -> None:
    text = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert "run: make test" in text
    assert f'"{PROJECT["requires-python"].removeprefix(">=")}"' in text


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "CHANGELOG.md"])
def test_what_they_name_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    files = re.findall(r"`((?:readagent_core|pages|tests|assets)/[\w./]+)`", text)
    assert links
    assert [path for path in [*links, *files] if not (ROOT / path).exists()] == []
