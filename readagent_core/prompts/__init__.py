"""Prompt templates: text files, one folder a language, rendered into a ``Prompt``.

A template is a ``string.Template``; a missing or unused variable raises ValueError. The form of the replies is
described in docs/methods.md, what each prompt asks in docs/prompts.md; the wording is our own. What is the same for
every question (the gist memory) comes first, then what is the same for every question of a task, then the question, so
that servers that cache prompt prefixes can reuse them. Texts are between <text> and </text>, which no value contains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from string import Template

from readagent_core.short_repr import short_repr
from readagent_core.tags import escape_text_marks
from readagent_core.words import CHARACTERS_PER_WORD, count_words, first_words

LANGUAGES = ("en", "ja")


@short_repr
@dataclass(frozen=True)
class Prompt:
    """One message to a model.

    ``task``: the template's name. ``fields``: the variables it was rendered with. ``reply_words``: the expected length
    of a reply; a much longer one is ended. ``sample``: number of the repeated run that asks; the reply cache treats
    each number as a prompt of its own. ``choices``: the labels, pages or letters that the reply may name; a server that
    takes a grammar is bound to them.
    """

    task: str
    text: str
    fields: Mapping[str, str] = field(default_factory=dict, compare=False)
    language: str = "en"
    reply_words: int = 300
    sample: int = 1
    choices: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def words(self) -> int:
        return count_words(self.text)

    def with_follow_up(self, name: str, *, reply: str = "", **values: str) -> Prompt:
        """Return this prompt followed by template ``name``, which says what was wrong with the last ``reply``.

        A template that shows the reply gets no more of it than the expected length of a reply.
        """
        if "reply" in template(name, self.language).get_identifiers():
            values["reply"] = first_words(reply.strip(), self.reply_words) or "..."
        extra = _fill(name, self.language, values)
        return replace(self, text=f"{self.text}\n\n{extra}", fields={**self.fields, **values})


def example_numbers(highest: int, count: int = 1) -> str:
    """Return ``count`` numbers above ``highest`` for the example of a reply form, so that a copied one is recognised.

    ``highest``: the highest number that the prompt offers.
    """
    return ", ".join(str(highest + step) for step in (3, 8)[:count])


def length_range(target: float) -> tuple[int, int]:
    """Return the shortest and the longest length, a fifth under and over ``target``: a range can be obeyed."""
    return max(1, round(target * 0.8)), max(2, round(target * 1.2))


def format_length(words: int, language: str) -> str:
    """Return a length as prompts state it: in words, or in characters where the template is Japanese."""
    return str(words * CHARACTERS_PER_WORD["cjk"] if template_language(language) == "ja" else words)


def format_range(words: float, language: str) -> dict[str, str]:
    """Return the range of lengths round ``words`` as the fields of a prompt."""
    least, most = length_range(words)
    return {"least": format_length(least, language), "most": format_length(most, language)}


def template_language(code: str) -> str:
    """Return the language of the templates for a document in language ``code``: English where it has none."""
    base = code.split("-")[0].lower()
    return base if base in LANGUAGES else "en"


@cache
def template(name: str, language: str) -> Template:
    """Return a template; 'a_package:name' is prompts/en/name.txt of another package, which may have ja/ too.

    Raises FileNotFoundError for an unknown name.
    """
    package, _, name = name.rpartition(":")
    folder = files(package).joinpath("prompts") if package else files(__package__)
    file = folder.joinpath(language, f"{name}.txt")
    file = folder.joinpath("en", f"{name}.txt") if package and not file.is_file() else file
    return Template(file.read_text(encoding="utf-8").rstrip("\n"))


@cache
def template_hash(name: str, language: str = "en") -> str:
    """Return a short hash of the template for a document in ``language``, for run records and stored artifacts."""
    return hashlib.sha256(template(name, template_language(language)).template.encode()).hexdigest()[:12]


def _fill(name: str, language: str, values: Mapping[str, str]) -> str:
    wanted = set(template(name, language).get_identifiers())
    if wanted != set(values):
        raise ValueError(
            f"template {language}/{name}: missing {sorted(wanted - set(values))}, unused {sorted(set(values) - wanted)}"
        )
    return template(name, language).substitute({key: escape_text_marks(value) for key, value in values.items()})


def render(
    task: str, language: str, *, reply_words: int = 300, choices: Iterable[object] = (), **values: str
) -> Prompt:
    """Return the prompt of ``task`` in the document's language. Raises ValueError for missing or unused values."""
    chosen = template_language(language)
    offered = tuple(map(str, choices))
    return Prompt(task, _fill(task, chosen, values), dict(values), chosen, reply_words, choices=offered)


def render_fragment(name: str, language: str, **values: str) -> str:
    """Return the text of a template for use inside another prompt, in the document's language."""
    return _fill(name, template_language(language), values)
