"""The methods that can answer a question, by name: every file of ``methods/`` that ends with ``METHOD = …``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from readagent_core.answering.run import Method
from readagent_core.errors import SettingsError

FOLDER = "readagent_core.methods"
ORDER = (  # in lists and tables; a method not named here follows, sorted by name
    "read-agent-p",
    "read-agent-s",
    "read-agent-search",
    "zoom",
    "gist-mem",
    "bm25",
    "bm25-dos",
    "neural",
    "neural-dos",
    "gist-neural",
    "memwalker",
    "semantic-compression",
    "recurrence",
    "full-text",
)


@cache
def all_methods() -> dict[str, Method]:
    """Return every method by name, sorted by ``ORDER``. A new file in this folder needs no entry anywhere."""
    found: dict[str, Method] = {}
    for module in pkgutil.iter_modules(importlib.import_module(FOLDER).__path__):
        method = getattr(importlib.import_module(f"{FOLDER}.{module.name}"), "METHOD", None)
        if method is not None:
            found[method.name] = method
    ranks = {name: rank for rank, name in enumerate(ORDER)}
    return {name: found[name] for name in sorted(found, key=lambda name: (ranks.get(name, len(ranks)), name))}


def method(name: str) -> Method:
    """Return the method of this name. Raises SettingsError for an unknown one."""
    try:
        return all_methods()[name]
    except KeyError:
        raise SettingsError(f"There is no method {name!r}. Choose one of: {', '.join(all_methods())}.") from None
