"""A conversation to take away, as Markdown, HTML or JSON: questions, look-ups, answers, and what they rest on."""

from __future__ import annotations

import json
import re
import time
from html import escape
from typing import TYPE_CHECKING, Any

from readagent_core.citations import FROM_MEMORY, FROM_PAGE, Citation, check
from readagent_core.document import Document
from readagent_core.errors import SettingsError
from readagent_core.library.records import Conversation, Exchange
from readagent_core.memory import GistMemory
from readagent_core.methods.base import LETTERS, Answer
from readagent_core.study import costing, replay
from readagent_core.study.exporting_html import page

if TYPE_CHECKING:
    from readagent_core.study import Study

FORMATS = {"md": "text/markdown", "html": "text/html", "json": "application/json"}
LABELS = {FROM_PAGE: "from page {page}", FROM_MEMORY: "from memory", "not found": "not found"}

_BEGINS = re.compile(r"(?:^|[.!?…:。！？—][\"”’»」』)\]*_]*|[\"“‘«「『(\[])[\s*_]*$")
_ENDS = re.compile(r"[\s*_]*(?:$|[.!?…。！？—\"”»」』)\]]|[’'](?!\w))")


def label(citation: Citation) -> str:
    """A citation in the words people see: 'from page 7', 'from memory', 'not found'."""
    return LABELS[citation.state].format(page=citation.page)


def quoted(citation: Citation, document: Document) -> str:
    """The words a citation rests on, in quotation marks; an ellipsis outside them where their sentence goes on."""
    before = after = ""
    words = citation.quotation.strip()
    if citation.places:
        first, last = citation.places[0], citation.places[-1]
        lead = document.paragraphs[first.paragraph].text[: first.start]
        rest = document.paragraphs[last.paragraph].text[last.end :] if last.end > last.start else ""  # else a heading
        before = "" if words.startswith(("…", "...")) or _BEGINS.search(lead) else "… "
        after = "" if words.endswith(tuple(".!?…。！？")) or _ENDS.match(rest) else " …"
    return f"{before}“{citation.quotation}”{after}"


def export_conversation(study: Study, conversation_id: str, *, format: str) -> bytes:
    """The whole conversation, UTF-8. Raises SettingsError for another format, NotInLibraryError where there is none."""
    if format not in FORMATS:
        raise SettingsError(f"A conversation can be saved as {', '.join(FORMATS)}, not as {format!r}.")
    conversation = study.library.conversation(conversation_id)
    book = study.library.book(conversation.book_id)
    exchanges = study.library.exchanges(conversation_id)
    if format == "json":
        data = {"version": 1, "book": book.title, "conversation": conversation.title, "created": conversation.created}
        data["exchanges"] = [_record(e) for e in exchanges]
        return json.dumps(data, ensure_ascii=False, indent=1).encode()
    told = [_told(study, exchange) for exchange in exchanges]
    if format == "md":
        return _markdown(book.title, conversation, told).encode("utf-8", "replace")
    return _html(book.title, book.language, conversation, told).encode("utf-8", "replace")


def _record(exchange: Exchange) -> dict[str, Any]:
    answer = replay.answer_of(replay.events_of(exchange))
    return {
        "question": exchange.question,
        "options": list(exchange.options),
        "method": exchange.method,
        "settings": exchange.settings,
        "up_to": exchange.up_to,
        "asked": exchange.asked,
        "state": exchange.state,
        "error": exchange.error,
        "answer": answer.text if answer else None,
        "looked_up": list(answer.looked_up) if answer else [],
        "events": list(exchange.events),
        "extra": exchange.extra,
    }


def _told(study: Study, exchange: Exchange) -> dict[str, Any]:
    """What a reader of the file wants of one exchange, as text."""
    events = replay.events_of(exchange)
    memory = study.library.memory(exchange.reading_id)
    answer = replay.answer_of(events)
    return {
        "question": exchange.question,
        "understood": exchange.extra.get("standalone", ""),
        "options": [f"({LETTERS[i]}) {option}" for i, option in enumerate(exchange.options)],
        "chosen": answer.option if answer else None,
        "looks": [step.said.strip() for step in replay.steps(events) if step.kind == replay.LOOK_UP],
        "pieces": _pieces(replay.written(events), answer, memory),
        "document": memory.document,
        "notes": [*replay.notes(events), *([exchange.error] if exchange.error else [])],
        "cost": _cost(exchange, memory),
        "when": time.strftime("%Y-%m-%d %H:%M", time.localtime(exchange.asked)) if exchange.asked else "",
    }


def _pieces(text: str, answer: Answer | None, memory: GistMemory) -> list[tuple[str, list[Citation]]]:
    full = [n for n, how in answer.seen.items() if how == "full"] if answer else []
    checked = check(text, memory, full=full, shown=answer.seen.keys() if answer and answer.seen else None)
    pieces = [(piece.text, list(piece.citations)) for piece in checked.pieces]
    return [*pieces, ("", list(checked.loose))] if checked.loose else pieces


def _cost(exchange: Exchange, memory: GistMemory) -> str:
    whole = int(exchange.extra.get("words") or memory.document.words)
    cost = costing.cost_of(replay.events_of(exchange), whole=whole, seconds=float(exchange.extra.get("seconds") or 0))
    return costing.line(cost) if cost else ""


def _markdown(title: str, conversation: Conversation, told: list[dict[str, Any]]) -> str:
    lines = [f"# {conversation.title}", "", f"Questions about *{title}*"]
    for one in told:
        lines += ["", f"## {one['question']}", ""]
        if one["understood"]:
            lines += [f"Understood as: {one['understood']}", ""]
        lines += [f"- {option}{' ←' if i == one['chosen'] else ''}" for i, option in enumerate(one["options"])]
        lines += [""] * bool(one["options"])
        lines += [line for look in one["looks"] for line in (*(f"> {part}" for part in look.splitlines()), "")]
        answer = "".join(text + "".join(f" [{label(c)}]" for c in cited) for text, cited in one["pieces"])
        lines += [answer or "(no answer)", ""]
        quotes = dict.fromkeys(
            (c.page, quoted(c, one["document"])) for _, cited in one["pieces"] for c in cited if c.places
        )
        lines += [f"- Page {number}: {words}" for number, words in quotes]
        lines += [""] * bool(quotes) + [f"*{note}*  " for note in (*one["notes"], one["cost"], one["when"]) if note]
    return "\n".join(lines) + "\n"


def _html(title: str, language: str, conversation: Conversation, told: list[dict[str, Any]]) -> str:
    parts = [f'<header><h1>{escape(conversation.title)}</h1><p class="facts">{escape(title)}</p></header><main>']
    for one in told:
        parts.append(f"<section><h2>{escape(one['question'])}</h2>")
        if one["understood"]:
            parts.append(f'<p class="facts">Understood as: {escape(one["understood"])}</p>')
        if one["options"]:
            marks = ["<li>%s</li>", "<li><strong>%s</strong></li>"]
            parts.append(
                "<ul>" + "".join(marks[i == one["chosen"]] % escape(o) for i, o in enumerate(one["options"])) + "</ul>"
            )
        parts += [f"<blockquote>{escape(look)}</blockquote>" for look in one["looks"]]
        answer = "".join(
            escape(text) + "".join(_chip(c, one["document"]) for c in cited) for text, cited in one["pieces"]
        )
        parts += [f"<p>{block}</p>" for block in answer.split("\n\n") if block.strip()]
        parts += [f'<p class="facts">{escape(line)}</p>' for line in (*one["notes"], one["cost"], one["when"]) if line]
        parts.append("</section>")
    return page(conversation.title, "".join(parts) + "</main>", language=language)


def _chip(citation: Citation, document: Document) -> str:
    words = quoted(citation, document) if citation.quotation else ""
    return f' <small title="{escape(words)}">[{escape(label(citation))}]</small>'
