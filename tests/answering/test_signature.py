"""Who made an answer or a gist, in one line: on screens, in files, on the command line."""

from __future__ import annotations

import pytest

from readagent_core.answering.signature import BUILT_IN_GISTS, BUILT_IN_LINE, sign, signature_of
from readagent_core.library.records import Exchange, ExchangeFacts, Gisting
from readagent_core.models.builtin.reader import NAME, BuiltInReader
from readagent_core.plan import GistingPlan


@pytest.mark.parametrize(
    ("extra", "kind", "line"),
    [
        ({"model": "gpt-5-mini", "where": "https://api.openai.com/v1"}, "model", "gpt-5-mini at api.openai.com"),
        ({"model": "llama3", "where": "http://localhost:11434/v1"}, "model", "llama3 on this computer"),
        ({"model": "llama3", "where": "http://localhost.example.org/v1"}, "model", "llama3 at localhost.example.org"),
        ({"model": NAME}, "builtin", BUILT_IN_LINE),
        ({"model": "a model", "recorded": "2026-11-21"}, "recording", "A recording of 2026-11-21, made with a model"),
        ({}, "model", "A language model"),  # an exchange of an early version
    ],
)
def test_an_answer(extra: dict[str, str], kind: str, line: str) -> None:
    signature = signature_of(Exchange("x", "c", 1, "Who is Vane?", facts=ExchangeFacts.from_dict(extra)))
    assert (signature.kind, signature.line) == (kind, line)


def test_gists_and_a_model() -> None:
    assert signature_of(BuiltInReader()).line == BUILT_IN_LINE
    assert signature_of(Gisting(1, "b", "d", GistingPlan(), NAME)).line == BUILT_IN_GISTS
    recorded = Gisting(1, "b", "d", GistingPlan(), "a model", recorded="2026-11-21")
    assert signature_of(recorded).line == "A recording of 2026-11-21, made with a model"


def test_a_model_that_is_a_file_has_a_short_name_and_is_on_this_computer():
    signed = sign("/home/ada/models/tiny-1.5b.GGUF", "http://readagent.localhost/v1", "")
    assert (signed.name, signed.line) == ("tiny-1.5b", "tiny-1.5b on this computer")
    assert sign("gpt-5", "https://localhost.example.org/v1", "").line == "gpt-5 at localhost.example.org"
