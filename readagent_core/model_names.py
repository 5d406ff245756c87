"""What a model is called where a person reads its name."""

from __future__ import annotations

import re

MODEL_FILE = ".gguf"


def short_name(model: str) -> str:
    """Return the name of a model, without the folders of one that is a file: they tell of the computer it lies on."""
    return re.split(r"[\\/]", model)[-1][: -len(MODEL_FILE)] if model.lower().endswith(MODEL_FILE) else model
