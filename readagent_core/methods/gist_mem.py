"""GistMem: answers from the gist memory alone, without look-up (ICML paper, §3.3 and Table 1)."""

from __future__ import annotations

from readagent_core.answering.registry import Method
from readagent_core.answering.response import respond_from_memory
from readagent_core.answering.word_budget import retry_within_window

METHOD = Method(
    name="gist-mem",
    title="Gists only",
    about="Answers from the gists alone; no page is read again.",
    answer=lambda run: retry_within_window(run, lambda fit, _: respond_from_memory(run, fit, ())),
    needs_gists=True,
    looks_up=False,
    options={"opened": str},
)
