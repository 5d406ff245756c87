"""A method from another installed package is one of ours; one that is broken takes no other down."""

from __future__ import annotations

import re
import sys

import pytest

from readagent_core.answering import registry
from readagent_core.answering.base import AskSettings
from readagent_core.errors import SettingsError
from readagent_core.evaluation.arms import parse
from tests.cli.running import run_here, run_json
from tests.fakes.server import FakeServer
from tests.methods.test_write_your_own import block


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two packages on the path, as pip would install them: one with the guide's method, one with three that are not."""
    site = tmp_path / "site"
    (site / "my_methods" / "prompts" / "en").mkdir(parents=True)
    (site / "my_methods" / "__init__.py").touch()
    code = block("python").replace('render("first_and_last"', 'render("my_methods:first_and_last"')
    (site / "my_methods" / "first_and_last.py").write_text(code, encoding="utf-8")
    (site / "my_methods" / "prompts" / "en" / "first_and_last.txt").write_text(block("text"), encoding="utf-8")
    (site / "broken_methods.py").write_text("import sys\nMETHOD = 7\nsys.path_of_nothing", encoding="utf-8")
    (site / "odd_methods.py").write_text(
        "from readagent_core.methods.zoom import METHOD as TAKEN\nNONE = 7", encoding="utf-8"
    )
    for name, lines in {
        "my-methods": ["first-and-last = my_methods.first_and_last:METHOD"],
        "broken-methods": ["broken = broken_methods:METHOD", "none = odd_methods:NONE", "taken = odd_methods:TAKEN"],
    }.items():
        data = site / f"{name.replace('-', '_')}-1.0.dist-info"
        data.mkdir()
        (data / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        (data / "entry_points.txt").write_text("[readagent.methods]\n" + "\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    registry._load.cache_clear()
    yield
    registry._load.cache_clear()
    for name in [name for name in sys.modules if re.match("(my|broken|odd)_methods", name)]:
        del sys.modules[name]


def test_it_is_found_everywhere_and_answers(installed, tmp_path):
    assert "first-and-last" in registry.all_methods()
    assert parse("first-and-last", AskSettings()).title == "First and last page"
    said, told = run_here("methods")
    assert "first-and-last First and last page: " in " ".join(said.split())
    for name in ("broken", "none", "taken"):
        assert f"The method '{name}' of the package broken-methods cannot be used" in told
    with pytest.raises(SettingsError, match=r"first-and-last.*'broken' of the package broken-methods"):
        registry.method("broken")
    book = tmp_path / "lamp.md"
    book.write_text("# The Lamp\n\nThe keeper lit the lamp.\n\nThen she slept.", encoding="utf-8")
    with FakeServer(lambda text: "She did." if "these two pages" in text else "OK.") as server:
        found = run_json("ask", book, "Who lit it?", "--method", "first-and-last", server=server)
    assert (found["answer"], found["method"]) == ("She did.", "first-and-last")
