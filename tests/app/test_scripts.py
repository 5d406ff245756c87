"""Every module of assets is part of what a page loads, and a bundle has no import left. See tests/browser too."""

from __future__ import annotations

import re

import pytest

from pages.parts.shared.scripts import bundle, imports
from readagent_core.resources import ASSETS


def entries() -> list[str]:
    """The scripts that pages declares as components, and the first page's."""
    pages = ASSETS.parent / "pages"
    text = "".join(path.read_text(encoding="utf-8") for path in pages.rglob("*.py"))
    return sorted(set(re.findall(r'"([\w/]+\.js)"', text)))


@pytest.mark.parametrize("entry", entries())
def test_a_bundle_imports_nothing_and_exports_one_thing(entry: str) -> None:
    left = re.findall(r"^(?:import|export)\b.*", bundle(entry), re.MULTILINE)
    assert [re.sub(r"\d+", "N", line) for line in left] == ["export default module_N.default;"]


def test_every_module_belongs_to_an_entry() -> None:
    reached, waiting = set(), [(ASSETS / entry).resolve() for entry in entries()]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += imports(path)
    assert reached == set(ASSETS.rglob("*.js"))
