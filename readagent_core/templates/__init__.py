"""HTML and XML by Jinja2 templates, the files of this folder.

Every value is escaped unless it is ``Markup``, HTML already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup as Markup
from markupsafe import escape as escape

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def fill(name: str, /, **values: Any) -> Markup:
    """Return the template ``name``, .html without another ending, filled in. A missing value raises UndefinedError."""
    return Markup(_ENVIRONMENT.get_template(name if "." in name else f"{name}.html").render(values))
