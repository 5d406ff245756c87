"""Prompt templates as text files, one folder a language, rendered into a ``Prompt``.

A template is a ``string.Template``; a variable that is missing or left unused raises. What the replies must
look like is in docs/methods.md; the wording is ours. The gist memory stands ahead of the question, so that servers
which cache prefixes reuse it from question to question. Knows nothing of models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from string import Template

from readagent_core.words import count_words

LANGUAGES = ("en", "ja")


@dataclass(frozen=True)
class Prompt:
    """One message to a model. ``task``: the template's name. ``fields``: what it was rendered from.

    ``reply_words``: how long a sensible reply may be; beyond it a model is running on without end.
    ``sample``: which of several independent replies is meant; the cache keeps them apart (repeated runs).
    """

    task: str
    text: str
    fields: Mapping[str, str] = field(default_factory=dict, compare=False)
    language: str = "en"
    reply_words: int = 300
    sample: int = 1

    @cached_property
    def words(self) -> int:
        return count_words(self.text)

    def again(self, name: str, **values: str) -> Prompt:
        """This prompt followed by template ``name``, which says what was wrong with the last reply."""
        extra = _fill(name, self.language, values)
        return replace(self, text=f"{self.text}\n\n{extra}", fields={**self.fields, **values})


def language_of(code: str) -> str:
    """The template language for a document's: its own where there are templates, else English."""
    base = code.split("-")[0].lower()
    return base if base in LANGUAGES else "en"


@cache
def template(name: str, language: str) -> Template:
    """The template file itself. Raises FileNotFoundError for an unknown name."""
    return Template(files(__package__).joinpath(language, f"{name}.txt").read_text(encoding="utf-8").rstrip("\n"))


@cache
def version(name: str, language: str = "en") -> str:
    """Short hash of a template, for run records."""
    return hashlib.sha256(template(name, language).template.encode()).hexdigest()[:12]


@cache
def _identifiers(name: str, language: str) -> frozenset[str]:
    return frozenset(template(name, language).get_identifiers())


def _fill(name: str, language: str, values: Mapping[str, str]) -> str:
    wanted = _identifiers(name, language)
    if wanted != set(values):
        raise ValueError(
            f"template {language}/{name}: missing {sorted(wanted - set(values))}, unused {sorted(set(values) - wanted)}"
        )
    return template(name, language).substitute(values)


def render(task: str, language: str, *, reply_words: int = 300, **values: str) -> Prompt:
    """The prompt of ``task`` in the document's language. Raises ValueError for missing or unused values."""
    chosen = language_of(language)
    return Prompt(task, _fill(task, chosen, values), dict(values), chosen, reply_words)


def wording(name: str, language: str, **values: str) -> str:
    """A piece of wording for use inside a prompt ('none', what was cut), in the document's language."""
    return _fill(name, language_of(language), values)
