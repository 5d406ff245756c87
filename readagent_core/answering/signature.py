"""Who made an answer or a gist: a model, a recording or the built-in reader, as one line to show above it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from readagent_core.library.records import Exchange, Gisting
from readagent_core.memory import GistMemory
from readagent_core.model_names import short_name
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin import reader as builtin
from readagent_core.models.builtin.parts_asked import part_asked

MODEL, RECORDING, BUILT_IN = "model", "recording", "builtin"
BUILT_IN_LINE = "Built-in reader: sentences that share your words; nothing was understood"
BUILT_IN_PART = "Built-in reader: sentences of the text; nothing was understood"  # not found by the question's words
BUILT_IN_GISTS = "Built-in reader: gists are sentences of the text; nothing was understood"
_LOCAL = re.compile(r"//(?:(?:\w+\.)?localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?=[:/]|$)")


@dataclass(frozen=True)
class Signature:
    """``kind``: 'model', 'recording' or 'builtin'. ``where``: the model's server. ``date``: of a recording, else ''.

    ``line``: all of it in words.
    """

    kind: str
    name: str
    where: str
    date: str
    line: str


def signature_of(made: Exchange | Gisting | GistMemory | ChatModel) -> Signature:
    """The signature of an answer (an exchange), of gists (a gisting or memory) or of a model."""
    if isinstance(made, Exchange):
        by_words = made.options or part_asked(made.question) is None
        line = BUILT_IN_LINE if by_words else BUILT_IN_PART
        return sign(made.facts.model, made.facts.where, made.facts.recorded, built_in=line)
    if isinstance(made, Gisting):
        return sign(made.model, made.where, made.recorded, built_in=BUILT_IN_GISTS)
    if isinstance(made, GistMemory):
        return sign(made.model, "", made.recorded or "", built_in=BUILT_IN_GISTS)
    return sign(made.name, made.where, "", built_in=BUILT_IN_LINE)


def sign(name: str, where: str, date: str, *, built_in: str = BUILT_IN_LINE) -> Signature:
    """Return the signature of what the model ``name`` made. ``date``: of a recording, else empty."""
    name = short_name(name)
    if date:
        return Signature(RECORDING, name, "", date, f"A recording of {date}, made with {name}")
    if name == builtin.NAME:
        return Signature(BUILT_IN, name, "", "", built_in)
    local = bool(_LOCAL.search(where))
    place = "on this computer" if local else f"at {where.split('//')[-1].split('/')[0]}" if where else ""
    return Signature(MODEL, name, where, "", " ".join(filter(None, [name or "A language model", place])))
