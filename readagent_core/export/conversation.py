"""A conversation as Markdown, HTML or JSON: questions, look-ups, answers and their citations."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from readagent_core import citations
from readagent_core.answering import replay
from readagent_core.answering.base import LETTERS, Event
from readagent_core.answering.costs import answer_cost, cost_line
from readagent_core.answering.event_json import PROMPT
from readagent_core.answering.library_shelf import checked_answer_of_several
from readagent_core.answering.look_up_text import FROM_GISTS, look_up_line, look_up_title_of_several, quoted_after
from readagent_core.answering.registry import all_methods
from readagent_core.answering.signature import signature_of
from readagent_core.citations import Checked, Citation
from readagent_core.citations.checking import Piece, answer_paragraphs
from readagent_core.document import Document
from readagent_core.errors import SettingsError
from readagent_core.export.citation_labels import RECOGNISED, citation_label, copied_label, quote_citation
from readagent_core.library.records import Book, Conversation, Exchange
from readagent_core.memory import GistMemory
from readagent_core.model_names import short_name
from readagent_core.models.builtin import reader as builtin
from readagent_core.templates import Markup, fill
from readagent_core.text_files import answer_html, answer_markdown, block_quote, html_page, markdown_line
from readagent_core.words import collapse_whitespace, quoted
from readagent_core.workspace import Workspace

CONVERSATION_FORMATS = {"md": "text/markdown", "html": "text/html", "json": "application/json"}
_LIST_ITEM = re.compile(r"(\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?)(.*)")


def export_conversation(
    workspace: Workspace,
    conversation_id: str,
    *,
    format: str,
    without: Collection[str] = (),
    without_prompts: Collection[str] = (),
) -> bytes:
    """The conversation, UTF-8, without the exchanges of these ids, and without the prompts of others.

    Raises SettingsError for another format, NotInLibraryError where there is none.
    """
    if format not in CONVERSATION_FORMATS:
        raise SettingsError(f"A conversation can be saved as {', '.join(CONVERSATION_FORMATS)}, not as {format!r}.")
    library = workspace.library
    conversation = library.conversation(conversation_id)
    book = library.book(conversation.book_id)
    exchanges = [one for one in library.exchanges(conversation_id) if one.id not in without]
    if format == "json":
        data = {"version": 1, "book": book.title, "conversation": conversation.title, "created": conversation.created}
        data["exchanges"] = [_to_json(one, prompts=one.id not in without_prompts) for one in exchanges]
        return json.dumps(data, ensure_ascii=False, indent=1).encode()
    if conversation.about:
        texts = [_texts_of_several(workspace, exchange) for exchange in exchanges]
        books = [library.book(book_id) for book_id in library.conversation_books(conversation_id)]
    else:
        texts = [_texts_of(exchange, library.memory(exchange.gisting_id)) for exchange in exchanges]
        books = [book]
    head = _head(books, conversation, exchanges)
    page = _markdown(head, texts) if format == "md" else _html(head, book.language, texts)
    return page.encode("utf-8", "replace")


def answer_as_text(
    exchange: Exchange,
    events: Sequence[Event],
    checked: Checked,
    *,
    about: str,
    document: Document | None = None,
    titles: Mapping[int, str] | None = None,
) -> str:
    """An answer to paste elsewhere: question and book, the answer with its pages, and what else it quotes.

    ``about``: the book. ``document``: its text; None for ``titles`` of several books, by number.
    """
    one = _Texts(exchange, events, checked, [], 0, {0: document} if document else {}, titles)
    chosen = [option for option, is_chosen in one.options if is_chosen]
    said = [text for _, text in one.blocks]
    return "\n\n".join([f"{exchange.question} — {about}", *chosen, *said, *(f"{p}: {w}" for p, w in one.quotes)])


def _to_json(exchange: Exchange, *, prompts: bool) -> dict[str, Any]:
    answer = replay.answer_of(replay.events_of(exchange))
    return {
        "question": exchange.question,
        "answered_by": signature_of(exchange).line,
        "options": list(exchange.options),
        "method": exchange.method,
        "settings": exchange.settings,
        "up_to": exchange.up_to,
        "asked": exchange.asked,
        "state": exchange.state,
        "error": exchange.error,
        "answer": answer.text if answer else None,
        "looked_up": list(answer.looked_up) if answer else [],
        "in_part": answer.pages_in_part if answer else [],
        "events": [event for event in exchange.events if prompts or event["kind"] != PROMPT],
        "extra": exchange.facts.to_dict() | {"model": short_name(exchange.facts.model)},
    }


@dataclass(frozen=True)
class _Texts:
    """One exchange as the texts of a file. ``words``: of the text, where the exchange does not say. ``documents``: by
    number of the book, 0 for the only one; ``titles``: of several, None for one.
    """

    exchange: Exchange
    events: Sequence[Event]
    checked: Checked
    look_ups: list[str]
    words: int
    documents: Mapping[int, Document]
    titles: Mapping[int, str] | None = None

    @property
    def options(self) -> list[tuple[str, bool]]:
        """The options, each with whether it was chosen."""
        answer = replay.answer_of(self.events)
        chosen = answer.option if answer else None
        return [(f"({LETTERS[i]}) {option}", i == chosen) for i, option in enumerate(self.exchange.options)]

    @property
    def built_in(self) -> bool:
        """Whether its sentences are copied, so that each is a paragraph with its page, as on the screen."""
        return self.exchange.facts.model == builtin.NAME

    @property
    def signer(self) -> str:
        """Who answered, and how."""
        known = all_methods().get(self.exchange.method)
        return " · ".join([signature_of(self.exchange).line, *([known.title] if known else [])])

    @property
    def paragraphs(self) -> list[list[Piece]]:
        return answer_paragraphs(self.checked, copied=self.built_in)

    @property
    def quotes(self) -> list[tuple[str, str]]:
        """Each place that is quoted, with its words; not where the answer itself has them."""
        pieces = [piece for paragraph in self.paragraphs for piece in paragraph]
        told = collapse_whitespace(" ".join(piece.text for piece in pieces))
        cited = [c for piece in pieces for c in piece.citations if c.places]
        cited = [c for c in cited if collapse_whitespace(c.quotation) not in told]
        return list(dict.fromkeys((_place_of_quotation(c, self.titles), self.quote(c)) for c in cited))

    @property
    def footer(self) -> list[str]:
        """Notes, cost and time."""
        exchange = self.exchange
        words, seconds = exchange.facts.words or self.words, exchange.facts.seconds
        cost = answer_cost(self.events, whole=int(words), seconds=float(seconds))
        dated = exchange.asked and not signature_of(exchange).date  # a recording has its own date
        asked = time.strftime("%Y-%m-%d %H:%M", time.localtime(exchange.asked)) if dated else ""
        language = self.documents[0].language if 0 in self.documents else "en"
        read = cost_line(cost, language, built_in=self.built_in) if cost else ""
        lines = [*replay.notes(self.events), exchange.error, read, asked]
        return [line for line in lines if line]

    @property
    def blocks(self) -> list[tuple[bool, str]]:
        """The answer's paragraphs with their citations, each with whether it is a sentence of the book."""
        return self._blocks(lambda piece: piece.text + "".join(f" [{self.label(c)}]" for c in piece.citations)) or [
            (False, "(no answer)")
        ]

    @property
    def html_blocks(self) -> list[tuple[bool, Markup]]:
        """The same for HTML."""
        blocks = self._blocks(
            lambda piece: Markup(answer_html(piece.text)) + Markup().join(map(self._html_citation, piece.citations))
        )
        return [(copied, Markup(text)) for copied, text in blocks]

    @property
    def html_quotes(self) -> list[tuple[str, Markup]]:
        """The places that are quoted, for HTML."""
        return [(place, Markup(answer_html(words))) for place, words in self.quotes]

    def _blocks(self, write: Callable[[Piece], str]) -> list[tuple[bool, str]]:
        return [
            (self.built_in and bool(pieces[0].citations), "".join(map(write, pieces))) for pieces in self.paragraphs
        ]

    def _html_citation(self, citation: Citation) -> Markup:
        bare = quoted(citation.quotation) if citation.quotation else ""
        words = self.quote(citation) if citation.places else bare
        return Markup(' <small title="{}">[{}]</small>').format(words, self.label(citation))

    def label(self, citation: Citation) -> str:
        if self.built_in and self.titles is None:
            answer = replay.answer_of(self.events)
            label = copied_label(citation, (answer.seen if answer else {}).get(citation.page, ""))
            return label + RECOGNISED * citation.recognised
        return citation_label(citation, self.titles)

    def quote(self, citation: Citation) -> str:
        return quote_citation(citation, self.documents.get(citation.book))


def _texts_of(exchange: Exchange, memory: GistMemory) -> _Texts:
    events = replay.events_of(exchange)
    looks = [step for step in replay.steps(events) if step.looks]
    answer, text = replay.answer_of(events), replay.answer_text(events)
    checked = replay.checked_answer(text, answer, memory) if answer else citations.check(text, memory, full=())
    lines = [look_up_line(step, exchange, memory) for step in looks]
    return _Texts(exchange, events, checked, lines, memory.document.words, {0: memory.document})


def _texts_of_several(workspace: Workspace, exchange: Exchange) -> _Texts:
    events = replay.events_of(exchange)
    answer, text = replay.answer_of(events), replay.answer_text(events)
    titles = {book.number: book.title for book in answer.books} if answer else {}
    built_in = exchange.facts.model == builtin.NAME
    lines = []
    for step in replay.steps(events):
        if step.looks:
            gists = step.kind == replay.GISTS
            title = FROM_GISTS if gists else look_up_title_of_several(step, titles, built_in=built_in)
            lines.append(quoted_after(title, "" if built_in else step.said))
    checked = Checked((Piece(text),)) if answer is None else checked_answer_of_several(workspace, text, answer)
    cited = {citation.book for citation in checked.citations if citation.quotation}
    gistings = {book.number: book.reading_id for book in answer.books if book.number in cited} if answer else {}
    documents = {n: workspace.library.memory(gisting).document for n, gisting in gistings.items() if gisting}
    return _Texts(exchange, events, checked, lines, 0, documents, titles)


def _head(books: Sequence[Book], conversation: Conversation, exchanges: Sequence[Exchange]) -> list[str]:
    """Return the lines at the head of a file, the first its heading: the name of the conversation, or the titles of the
    books where its name is but the beginning of a question in it.
    """
    begun = conversation.title.removesuffix(" …")
    if any(collapse_whitespace(one.question).startswith(begun) for one in exchanges):
        authors = ", ".join(dict.fromkeys(one.author for one in books if one.author))
        by = [f"by {authors}"] if authors else []
        return ["; ".join(one.title for one in books), *by, "Questions and answers"]
    named = [f"{one.title} by {one.author}" if one.author else one.title for one in books]
    return [conversation.title, f"Questions about {'; '.join(named)}"]


def _markdown(head: Sequence[str], exchanges: Sequence[_Texts]) -> str:
    name, *about = map(markdown_line, head)
    parts = [f"# {name}", *about]
    for one in exchanges:
        parts += [f"## {markdown_line(one.exchange.question)}", f"*{markdown_line(one.signer)}*"]
        if standalone := one.exchange.facts.standalone:
            parts.append(f"Understood as: {markdown_line(standalone)}")
        options = [(markdown_line(option), chosen) for option, chosen in one.options]
        if options:
            parts.append(
                "\n".join(f"- **{option}** (chosen)" if chosen else f"- {option}" for option, chosen in options)
            )
        parts += map(markdown_line, one.look_ups)
        parts += [block_quote(answer_markdown(text)) if copied else _listed(text) for copied, text in one.blocks]
        parts += [block_quote(answer_markdown(f"{place}: {words}")) for place, words in one.quotes]
        parts.append("  \n".join(f"*{markdown_line(line)}*" for line in one.footer))
    return "\n\n".join(filter(None, parts)) + "\n"


def _listed(text: str) -> str:
    """Return a paragraph of an answer in Markdown, in which lists stay lists."""
    lines = [_LIST_ITEM.match(line) for line in text.splitlines()]
    return "\n".join(f"{found[1]}{answer_markdown(found[2])}" for found in lines if found)


def _html(head: Sequence[str], language: str, exchanges: Sequence[_Texts]) -> str:
    name, *about = head
    return html_page(name, fill("conversation", name=name, about=about, exchanges=exchanges), language=language)


def _place_of_quotation(citation: Citation, titles: Mapping[int, str] | None) -> str:
    """'Page 7', 'Fog, page 7'."""
    page = f"age {citation.page}{RECOGNISED if citation.recognised else ''}"
    return f"P{page}" if titles is None else f"{titles[citation.book]}, p{page}"
