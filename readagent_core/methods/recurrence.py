"""Recurrence: one summary is updated with each part of the text, and the answer comes from that summary alone.

The baseline of the MemWalker paper (Chen et al., 2023, §4.3, after Xu et al., 2022): parts of 2,500 tokens, a
summary of 500. The summary does not depend on the question, so it is made once and stored.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from readagent_core.answering.base import Event
from readagent_core.answering.registry import Method, Reads
from readagent_core.answering.resources import Artifact
from readagent_core.answering.response import respond, text_prompt
from readagent_core.answering.run import Run
from readagent_core.answering.word_budget import tokens_to_words
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.prompts import format_length, render, render_fragment, template_hash
from readagent_core.tags import escape_tags
from readagent_core.words import count_words, first_words, group_by_words

SEGMENT_TOKENS = 2500
SUMMARY_TOKENS = 500
KIND = "running summary"  # in the artifact store


def summarise_and_answer(run: Run) -> Iterator[Event]:
    """Update the summary part by part and answer from it."""
    summary, parts = yield from build_summary(run)
    yield from respond(
        run,
        text_prompt(run, summary, cut=render_fragment("carry.what", run.language)),
        seen=dict.fromkeys((page.number for page in run.memory.pages), "gist"),
        memory_words=count_words(summary),
        extra={"parts": parts},
    )


def build_summary(run: Run) -> Generator[Event, None, tuple[str, int]]:
    """Return the summary after the last part, and the number of parts; resumes from the stored summary."""
    segment_tokens = max(100, run.option("segment_tokens", SEGMENT_TOKENS))
    summary_tokens = max(20, run.option("summary_tokens", SUMMARY_TOKENS))
    words = tokens_to_words(summary_tokens, run.sample)
    part_words = tokens_to_words(segment_tokens, run.sample)
    document = run.memory.document.limited(part_words)
    bounds = group_by_words([paragraph.words for paragraph in document.paragraphs], part_words)
    parts = [escape_tags(document.text(start, end)) for start, end in bounds]
    version = template_hash("carry", run.language)
    made_from = (run.model.name, run.memory.document.id, segment_tokens, summary_tokens, version)
    with run.open_artifact(KIND, *made_from) as artifact:
        return (yield from _update_summary(run, parts, words, artifact)), len(parts)


def _update_summary(run: Run, parts: list[str], words: int, artifact: Artifact) -> Generator[Event, None, str]:
    """Return the summary after the last part, at most about ``words`` words; stores it after every part."""
    stored = artifact.stored or {"parts": 0, "summary": "", "cut": 0}
    summary, lost, cut = str(stored["summary"]), 0, int(stored["cut"])
    for number in range(int(stored["parts"]), len(parts)):
        prompt = render(
            "carry",
            run.language,
            reply_words=2 * words + 50,
            title=run.title,
            target=format_length(max(1, words), run.language),
            memory=summary or render_fragment("carry.none", run.language),
            text=parts[number],
        )
        try:
            written = (yield from run.ask(prompt)).text.strip()
        except (EmptyReplyError, RefusedError, CutOffError):
            written = ""
        if not written:
            lost += 1
        elif count_words(written) > words * 1.2:  # longer than requested: the baseline's memory has a fixed size
            cut += 1
            summary = first_words(written, words)
        else:
            summary = written
        artifact.save({"parts": number + 1, "summary": summary, "cut": cut})
    if lost:
        yield run.note(f"{lost} of {len(parts)} parts are not in the summary: no usable reply came.")
    if cut:
        yield run.note(f"The summary was cut to {words} words {cut} of {len(parts)} times.")
    return summary


METHOD = Method(
    name="recurrence",
    title="Running summary",
    about="Reads straight through with one short summary carried along, and answers from that alone.",
    answer=summarise_and_answer,
    reads=Reads.NOTHING,
    looks_up=False,
    options={"segment_tokens": int, "summary_tokens": int},
)
