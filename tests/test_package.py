"""The versions that are pinned are those that the package asks for; test_container.py installs it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent


def test_the_pinned_versions_are_those_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {Requirement(text).name.lower(): Requirement(text) for text in project["dependencies"]}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    pinned = {
        found[1].lower(): found[2] for line in lines if (found := re.match(r"([\w.-]+)(?:\[\w+\])?==(\S+)", line))
    }
    assert set(pinned) == set(wanted)
    assert [name for name, version in pinned.items() if version not in wanted[name].specifier] == []
