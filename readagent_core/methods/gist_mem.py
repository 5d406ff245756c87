"""GistMem: answers from the gist memory alone, without look-up (ICML paper, §3.3 and Table 1)."""

from __future__ import annotations

from readagent_core.answering.fitting_view import answer_within_window
from readagent_core.answering.registry import Method, Reads
from readagent_core.answering.response import respond_from_memory

METHOD = Method(
    name="gist-mem",
    title="Gists only",
    about="Answers from the gists alone; no page is read again.",
    answer=lambda run: answer_within_window(run, lambda fit, _: respond_from_memory(run, fit, ())),
    needs_gists=True,
    reads=Reads.NOTHING,
    looks_up=False,
    options={"opened": str},
)
