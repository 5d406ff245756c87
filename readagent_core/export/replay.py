"""A replay as one HTML file for a class: it plays by itself with captions and needs no network.

It has the gists, the pages that were opened, the answer with what its claims rest on, and the prompts where they are
wanted; not the book. ``assets/replay_file.js`` shows one step after another; where no script runs, all steps are shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from readagent_core.answering import replay
from readagent_core.answering.base import LETTERS, ModelCall
from readagent_core.answering.captions import captions, seconds_of
from readagent_core.answering.limits import prompts_beyond
from readagent_core.answering.parts import parts_seen
from readagent_core.answering.rebuilding import has_prompts, rebuild_exchange
from readagent_core.answering.registry import sends_gists
from readagent_core.answering.replay import Step
from readagent_core.answering.signature import BUILT_IN, signature_of
from readagent_core.citations import NOT_FOUND
from readagent_core.citations.checking import answer_paragraphs
from readagent_core.errors import SettingsError
from readagent_core.export.citation_labels import citation_label, copied_label, page_passages, quote_citation
from readagent_core.memory import GistMemory, Passage
from readagent_core.resources import ASSETS
from readagent_core.templates import Markup, fill
from readagent_core.text_files import answer_html, html_page
from readagent_core.workspace import Workspace

_TITLE = re.compile(r"^#{1,6} ")  # of a section, as models see it
_BEGIN, _END = "\ue000", "\ue001"  # round what is quoted
QUOTED = '<mark class="quoted">'
LEFT_OUT = Markup('<span class="dim">…</span>')
SHORT_GISTS = " The gists are not shown here: a few words of each were sent."
BEGINNING = "The question, before anything was sent. Dimmed below: the gists, all that is remembered of the book."
LIMITED = "The question, before anything was sent. Dimmed below: the gists up to page {page}; later ones are left out."
LIMITED_GISTS = " This file shows those up to page {page}."
REBUILT = "Prompts: rebuilt from template and gists."
NO_PROMPTS = "Prompts and replies are left out: they hold pages after page {page}."


@dataclass(frozen=True)
class Row:
    """A page in the memory: its gist, or where it is ``full`` its text in paragraphs. ``marked``: it was asked for.

    ``pages``: the first and the last, which differ where they were sent by one gist.
    """

    pages: tuple[int, int]
    texts: Sequence[Markup]
    full: bool
    marked: bool


@dataclass(frozen=True)
class Scene:
    """One step as the file shows it, for ``seconds`` while it plays by itself. ``kind``: of the step.

    ``rests``: what the answer rests on.
    """

    kind: str
    title: str
    caption: str
    seconds: float
    rows: Sequence[Row]
    calls: Sequence[ModelCall]
    answer: bool
    rests: Sequence[Row] = ()


def export_replay(
    workspace: Workspace,
    exchange_id: str,
    *,
    prompts: bool = False,
    up_to: int | None = None,
    prompts_of_all: bool = False,
) -> bytes:
    """Return the file, UTF-8, with no gist of a page after ``up_to``, nor a prompt that holds one.

    ``prompts_of_all``: the prompts stay whatever they hold.
    Raises NotInLibraryError, and SettingsError for a question about several books.
    """
    exchange = workspace.library.exchange(exchange_id)
    if exchange.facts.books:
        raise SettingsError("A replay can be saved of a question about one book.")
    memory = workspace.library.memory(exchange.gisting_id)
    if exchange.up_to is not None:
        memory = memory.up_to(exchange.up_to)
    shown = memory if up_to is None else memory.up_to(up_to)
    events = replay.events_of(exchange)
    rebuilt = [] if has_prompts(events) else rebuild_exchange(workspace.library, exchange, memory)
    steps = replay.steps(rebuilt or events)
    limited = up_to is not None and up_to < len(memory.pages)
    kept_back = prompts and not prompts_of_all and prompts_beyond(exchange, events, memory, up_to)
    answer, text = replay.answer_of(events), replay.answer_text(events)
    checked = replay.checked_answer(text, answer, memory) if answer else None
    signature = signature_of(exchange)
    copied = signature.kind == BUILT_IN  # its sentences are the page's own, as the app says by 'page 1'
    seen = answer.seen if answer else {}
    paragraphs = [
        [
            (
                piece.text,
                [
                    (
                        copied_label(c, seen.get(c.page, "")) if copied else citation_label(c),
                        quote_citation(c, memory.document) if c.places else "",
                        c.page if 0 < c.page <= len(shown.pages) and c.state != NOT_FOUND else 0,
                    )
                    for c in piece.citations
                ],
            )
            for piece in pieces
        ]
        for pieces in (answer_paragraphs(checked, copied=copied) if checked else ())
    ]
    cited = {page for pieces in paragraphs for _, cites in pieces for _, _, page in cites if page}
    parts = {(part.first, part.last): part.gist for part in parts_seen(events, memory)}
    quoted = page_passages(checked, memory)
    scenes = []
    for step, caption in zip(steps, captions(steps, exchange, memory), strict=True):
        last, gists = step.kind == replay.ANSWER, True
        if step.kind in (replay.MEMORY, replay.ANSWER):
            gists = replay.sends_whole_gists(step, exchange.method, memory)
        rows = _rows(step, shown, quoted, parts if gists else None)
        rests = (
            [_quoted_part(row) for row in rows if not cited.isdisjoint(range(row.pages[0], row.pages[1] + 1))]
            if last
            else []
        )
        if step.kind == replay.QUESTION:  # the question is the heading
            caption = LIMITED.format(page=up_to) if limited else BEGINNING
        elif step.kind == replay.GISTS and limited:
            caption += LIMITED_GISTS.format(page=up_to)
        elif step.kind == replay.MEMORY and not gists and sends_gists(exchange.method):
            caption += SHORT_GISTS
        calls = step.calls if prompts and not kept_back else ()
        scenes.append(Scene(step.kind, step.title, caption, seconds_of(caption), rows, calls, last, rests))
    body = fill(
        "replay",
        title=memory.document.title,
        exchange=exchange,
        letters=LETTERS,
        option=answer.option if answer else None,
        signer=signature.line,
        scenes=scenes,
        paragraphs=paragraphs,
        copied=copied,
        about_prompts=NO_PROMPTS.format(page=up_to) if kept_back else REBUILT if rebuilt and prompts else "",
    )
    script = (ASSETS / "replay_file.js").read_text(encoding="utf-8")
    title = f"{exchange.question} – {memory.document.title}"
    return html_page(title, body, language=memory.document.language, script=script).encode("utf-8", "replace")


def _quoted_part(row: Row) -> Row:
    """Return a page with the paragraphs alone of which words are quoted, '…' for those left out between them.

    As it is where none are quoted.
    """
    texts: list[Markup] = []
    for text in row.texts:
        if QUOTED in text:
            texts.append(text)
        elif texts and texts[-1] != LEFT_OUT:
            texts.append(LEFT_OUT)
    if texts and texts[-1] == LEFT_OUT:
        texts.pop()
    return replace(row, texts=texts or row.texts)


def _rows(
    step: Step,
    memory: GistMemory,
    quoted: Mapping[int, Sequence[tuple[int, int]]],
    parts: Mapping[tuple[int, int], str] | None,
) -> list[Row]:
    """The memory at a step: of a page opened in part the gist, then its passages.

    ``quoted``: the places of each page that the answer rests on, shown with it. ``parts``: the gists of parts; None:
    without any gist.
    """
    rows = []
    opening = step.kind in (replay.QUESTION, replay.UNDERSTOOD, replay.GISTS)  # these show all that is remembered
    closed = {} if opening else {n: part for part in step.closed for n in range(part[0], part[1] + 1)}
    for page in memory.pages:
        number, gist, asked = page.number, memory.gists[page.number - 1], page.number in step.marked
        spans = quoted.get(number, ()) if step.kind in (replay.MEMORY, replay.ANSWER) else ()
        if number in step.expanded:
            rows.append(
                Row((number, number), _paragraphs(memory, Passage(number, page.start, page.end), spans), True, asked)
            )
            continue
        part = closed.get(number)
        if parts is None:
            pass
        elif part is not None:
            if number == part[0] and part[1] <= len(memory.pages):  # else its gist tells of pages after the limit
                rows.append(Row(part, [_marked(parts.get(part, ""))], False, asked))
        elif gist is not None:
            rows.append(Row((number, number), [_marked(gist.text)], False, asked))
        texts: list[Markup] = []
        end = page.start
        for passage in step.passages:
            if passage.page == number:
                texts += [LEFT_OUT] * (passage.start > end) + _paragraphs(memory, passage, spans)
                end = passage.end
        if texts:
            rows.append(Row((number, number), texts + [LEFT_OUT] * (end < page.end), True, asked))
    return rows


def _paragraphs(memory: GistMemory, passage: Passage, spans: Sequence[tuple[int, int]]) -> list[Markup]:
    """Return a passage as HTML, with what is quoted of it marked. ``spans``: as characters of the page."""
    document, last = memory.document, passage.end - 1
    whole = document.text(passage.start, passage.end)
    first = document.text_offset(passage.start) + passage.first if passage.first else 0
    stop = len(whole)
    if passage.stop:
        stop += document.text_offset(last) + passage.stop - len(document.shown(last))
    text = whole[first:stop]
    before = len(document.text(memory.page(passage.page).start, passage.end)) - len(whole) + first
    for start, end in sorted(spans, reverse=True):
        start, end = max(0, start - before), min(len(text), end - before)
        if start < end:
            text = f"{text[:start]}{_BEGIN}{text[start:end]}{_END}{text[end:]}"
    text = "… " * (first > 0) + text + " …" * (stop < len(whole))
    return [_marked(part) for part in text.split("\n\n")]


def _marked(text: str) -> Markup:
    """Return a text as HTML, with its *emphasis* and what is quoted of it."""
    words = _TITLE.sub("", text)
    html = answer_html(words)
    html = html if words == text else f"<strong>{html}</strong>"
    return Markup(html.replace(_BEGIN, QUOTED).replace(_END, "</mark>"))
