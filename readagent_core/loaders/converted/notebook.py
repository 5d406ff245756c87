"""Opens Jupyter notebooks (.ipynb) as Markdown: the texts, the code and the results that are text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from readagent_core.document import Document, Notice
from readagent_core.errors import DamagedDocumentError
from readagent_core.loaders.base import Limits, check_size
from readagent_core.loaders.text import markdown
from readagent_core.words import count_of


def load(data: bytes, name: str, *, limits: Limits) -> Document:
    """Returns the document in the notebook ``data``. Raises DocumentError."""
    check_size(data, limits.text, "This notebook")
    try:
        notebook = json.loads(data)
        cells = notebook.get("cells") or [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
        language = str(notebook.get("metadata", {}).get("language_info", {}).get("name") or "")
        parts, pictures = list[str](), 0
        for cell in cells:
            text = _joined(cell.get("source", cell.get("input")))
            if cell["cell_type"] == "code":
                parts.append(_code(text, language))
                parts += [_code(result, "") for output in cell.get("outputs", ()) if (result := _result(output))]
                pictures += sum(_is_picture(output) for output in cell.get("outputs", ()))
            else:
                level = cell.get("level") if cell["cell_type"] == "heading" else 0
                parts.append(f"{'#' * int(level)} {text}" if level else text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DamagedDocumentError("This notebook is damaged and cannot be read. Download or copy it again.") from None
    document = markdown.load("\n\n".join(parts).encode("utf-8-sig", "replace"), name, limits=limits)
    if not pictures:
        return document
    told = f"Not shown: {count_of(pictures, 'picture')} among the results."
    return replace(document, warnings=(*document.warnings, Notice("pictures-left-out", told, pictures)))


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _code(text: str, language: str) -> str:
    fence = "```" if "```" not in text else "~~~~"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}" if text.strip() else ""


def _result(output: Any) -> str:
    if output.get("traceback"):
        return "\n".join(map(str, output["traceback"]))
    data = output.get("data", output)
    return _joined(output.get("text") or data.get("text/plain")) if not _is_picture(output) else ""


def _is_picture(output: Any) -> bool:
    return any(str(kind).startswith("image/") for kind in output.get("data", ()))
