"""Whatever a template is given is shown as text, unless the code says that it is HTML already."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from readagent_core.templates import Markup, fill

FOLDER = Path(__file__).resolve().parent.parent / "readagent_core" / "templates"


def test_a_value_is_escaped_unless_it_is_html_already() -> None:
    hostile = '<img src=x onerror="alert(1)">'
    told = fill("table", columns=[(hostile, "")], rows=[[hostile], [Markup("<b>bold</b>")]])
    assert "<img" not in told
    assert told.count("&lt;img src=x onerror=&#34;") == 2
    assert "<td><b>bold</b></td>" in told
    with pytest.raises(jinja2.UndefinedError):
        fill("table", columns=[])


def test_no_template_turns_the_escaping_off() -> None:
    templates = list(FOLDER.glob("*.html"))
    assert templates
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert "safe" not in text, path.name
        assert "autoescape" not in text, path.name
