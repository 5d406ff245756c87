"""The questions in the HTML report: each folded, with every method's answer and the replay of what was not right.

No script: folding is ``details``, the filter is three radio buttons and a style sheet. Written question by question,
so that thousands of answers are never in memory together. Replies always stand in the file; prompts, which hold whole
pages, only as long as the file stays below MOST_BYTES, and where they do not, the file says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from readagent_core.evaluation.questions import (
    Entry,
    Questions,
    chosen,
    figures,
    lettered,
    looked_up,
    sign,
    verdict,
)
from readagent_core.evaluation.results import Result
from readagent_core.export.comparison_view import split_evidence
from readagent_core.words import count_of, count_words

MOST_BYTES = 20_000_000
_MARGIN = 1.1  # the questions to come may be somewhat longer than those before
_ELSEWHERE = "the file replays.jsonl in the experiment's folder, and the Evaluate screen"
_GONE = "The replay of this answer is not there any more."


class Prompt(str):
    """A prompt as it was sent: it may be left out for its size, so it becomes part of the page only when it is in."""

    def html(self) -> str:
        words = count_of(count_words(self), "word")
        return f'<details><summary>Prompt, {words}</summary><pre dir="auto">{escape(str(self))}</pre></details>'


def section(questions: Questions, written: int = 0, *, most: int = MOST_BYTES) -> Iterator[str]:
    """The section, piece by piece; nothing without questions. ``written``: bytes of the file before it."""
    if not len(questions):
        return
    yield f'<section class="questions"><h2>Questions</h2>{_filter(questions.entries)}'
    if written + questions.size() > most:
        yield (
            f'<p class="facts">Replays show every reply. With all prompts this file would be larger than '
            f"{most / 1e6:.0f} MB: from some question on they are left out, and each step says so. "
            f"All of them: {_ELSEWHERE}.</p>"
        )
    room = _Room(most - written, len(questions))
    for number, (entry, results) in enumerate(questions, start=1):
        yield room.fitted(list(_question(questions, entry, results, number)))
    if room.left_out:
        kept, prompts = room.kept, room.kept + room.left_out
        yield (
            f'<p class="facts">{room.left_out:,} of {count_of(prompts, "prompt")} are left out'
            f"{f', {kept:,} stand in the first replays' if kept else ''}. All of them: {_ELSEWHERE}.</p>"
        )
    yield "</section>"


class _Room:
    """Prompts are kept while the whole file, as far as it can be foreseen, stays below ``most`` bytes.

    The questions to come are taken to be a tenth longer than those before. Once full it stays full: the first
    questions have all their prompts, the later ones none.
    """

    def __init__(self, most: int, questions: int) -> None:
        self.most, self.questions = most, questions
        self.kept = self.left_out = 0
        self._done = self._bare = self._written = 0
        self._full = False

    def fitted(self, pieces: Sequence[str]) -> str:
        """The question with its prompts, or without where they have no room."""
        bare = "".join(_LEFT_OUT if isinstance(piece, Prompt) else piece for piece in pieces)
        size = len(bare.encode("utf-8", "replace"))
        self._done += 1
        self._bare += size
        prompts = sum(isinstance(piece, Prompt) for piece in pieces)
        if prompts and not self._full:
            whole = "".join(piece.html() if isinstance(piece, Prompt) else piece for piece in pieces)
            to_come = _MARGIN * self._bare / self._done * (self.questions - self._done)
            longer = len(whole.encode("utf-8", "replace"))
            if self._written + longer + to_come <= self.most:
                self.kept += prompts
                self._written += longer
                return whole
            self._full = True
        self.left_out += prompts
        self._written += size
        return bare


_LEFT_OUT = '<p class="facts">The prompt is left out here.</p>'


def _filter(entries: Sequence[Entry]) -> str:
    """All, not right, methods disagree: radio buttons that the style sheet listens to."""
    wrong, differ = sum(entry.wrong for entry in entries), sum(entry.differ for entry in entries)
    choices = (
        ("all", f"All: {len(entries):,}"),
        ("wrong", f"Not right: {wrong:,}"),
        ("differ", f"Methods disagree: {differ:,}"),
    )
    buttons = "".join(
        f'<label><input type="radio" name="show" value="{value}"{" checked" if value == "all" else ""}> {text}</label>'
        for value, text in choices
    )
    return f"<fieldset><legend>Show</legend>{buttons}</fieldset>"


def _question(questions: Questions, entry: Entry, results: Sequence[Result], number: int) -> Iterator[str]:
    asked = results[0]
    kinds = "q" + (" wrong" if entry.wrong else "") + (" differ" if entry.differ else "")
    hard = "; of the hard subset" if asked.hard else ""
    yield (
        f'<details class="{kinds}"><summary><b>{number}</b> <i>{escape(entry.marks)}</i> '
        f'<span dir="auto">{escape(asked.question)}</span></summary>'
        f'<p class="facts" dir="auto">From {escape(asked.title)}{hard}</p>'
    )
    if asked.options:
        options = (
            f'<li dir="auto"{" class=gold" if at == asked.gold else ""}>{escape(lettered(asked, at))}'
            f"{' <b>← right</b>' if at == asked.gold else ''}</li>"
            for at in range(len(asked.options))
        )
        yield f"<ul>{''.join(options)}</ul>"
    for reference in asked.references:
        yield f'<p class="text" dir="auto">Known answer: {escape(reference)}</p>'
    for result in results:
        yield from _answer(questions, result)
    yield "</details>"


def _answer(questions: Questions, result: Result) -> Iterator[str]:
    mark, kind = sign(result)
    yield (
        f'<div class="a"><p class="who"><b>{escape(questions.who(result))}</b> '
        f'<span class="{kind}"><span aria-hidden="true">{mark}</span> {verdict(result)}</span></p>'
    )
    if result.option is not None:
        yield f'<p dir="auto">{escape(chosen(result))}</p>'
    text, evidence = split_evidence(result.answer)
    yield f'<p class="text" dir="auto">{escape(result.error or text)}</p>'
    if evidence:
        yield f'<p class="facts">Evidence</p><p class="text" dir="auto">{escape(evidence)}</p>'
    yield f'<p class="facts">{figures(result)}</p>'
    for note in result.notes:
        yield f'<p class="facts" dir="auto">Note: {escape(note)}</p>'
    if result.replay is not None:
        events = questions.replay(result)
        yield "<details><summary>Replay</summary>"
        yield from _replay(events)
        yield "</details>"
    yield "</div>"


def _replay(events: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Every step in order: task and reply, its prompt folded; pages looked up; notes."""
    if not events:
        yield f'<p class="facts">{_GONE}</p>'
    step = 0
    for event in events:
        if event["kind"] == "Asked":
            step += 1
            task = str(event["task"]).replace("_", " ")
            yield f'<p class="step"><b>Step {step}:</b> {escape(task)}</p>'
            yield f'<pre dir="auto">{escape(event["reply"])}</pre>'
            yield Prompt(event["prompt"])
        elif event["kind"] == "LookedUp":
            refused = "".join(f"; not opened: {escape(text)}" for text in event.get("refused", ()))
            yield f'<p class="facts">{looked_up(event["pages"])}{refused}</p>'
        elif event["kind"] == "Noted":
            yield f'<p class="facts" dir="auto">{escape(event["text"])}</p>'
