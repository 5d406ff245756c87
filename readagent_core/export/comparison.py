"""A comparison as a file: one HTML page with its drawings, Markdown, or CSV."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from readagent_core.answering.base import LETTERS
from readagent_core.answering.registry import method
from readagent_core.comparing.comparison import ComparedAnswer, Comparison, fewer_words, is_right, place_of
from readagent_core.errors import SettingsError
from readagent_core.export.comparison_view import (
    describe_overlap,
    draw_comparison,
    known_answer,
    to_html,
    verdict,
)
from readagent_core.export.comparison_words import COPIED, Pieces, answer_paragraphs, evidence_lines, page_labels
from readagent_core.resources import ASSETS
from readagent_core.templates import Markup, fill
from readagent_core.text_files import (
    EMPHASIS,
    answer_markdown,
    csv_line,
    escape_markdown,
    html_page,
    markdown_line,
    slug,
)
from readagent_core.words import count_of

COMPARISON_FORMATS = {"html": "text/html", "md": "text/markdown", "csv": "text/csv"}
COLUMNS = (
    "method", "method id", "state", "answer", "evidence", "option", "right", "rouge-1", "rouge-l",
    "verdict of the model", "pages in full", "words seen", "fewer words in %", "look-ups", "seconds", "calls",
    "words sent", "words back", "tokens in", "tokens out", "notes",
)  # fmt: skip


def export_comparison(comparison: Comparison, format: str) -> bytes:
    """The bytes of a file. ``format``: a key of COMPARISON_FORMATS, else SettingsError."""
    if format not in COMPARISON_FORMATS:
        raise SettingsError(f"Unknown format {format!r}. Choose one of: {', '.join(COMPARISON_FORMATS)}.")
    write = {"html": _html, "md": _markdown, "csv": _csv}[format]
    return write(comparison).encode("utf-8", "replace")


def comparison_file_name(comparison: Comparison, format: str) -> str:
    """A name for the file, from the book's title."""
    return f"{slug(comparison.title)}-compared.{format}"


def comparison_row(comparison: Comparison, entry: ComparedAnswer) -> dict[str, Any]:
    """One method's figures, by column; '' where one is not known."""
    answer = entry.answer
    right = is_right(comparison, entry)

    def plain(paragraphs: Iterable[Pieces]) -> str:
        return "\n".join(EMPHASIS.sub(r"\2", _written(comparison, entry, pieces)) for pieces in paragraphs)

    values: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    values |= {
        "method": method(entry.method).title,
        "method id": entry.method,
        "state": entry.state,
        "answer": plain(pieces for _, pieces in answer_paragraphs(comparison, entry)) or entry.error,
        "evidence": plain(evidence_lines(comparison, entry)),
        "right": "" if right is None else "yes" if right else "no",
        "verdict of the model": entry.verdict,
        "seconds": "" if comparison.recorded else f"{entry.seconds:.1f}",
    }
    if entry.rouge:
        values |= {"rouge-1": f"{100 * entry.rouge['rouge1']:.1f}", "rouge-l": f"{100 * entry.rouge['rougeL']:.1f}"}
    if answer is not None:
        values |= {
            "option": "" if answer.option is None else LETTERS[answer.option],
            "pages in full": " ".join(
                _page_name(comparison, n) for n, how in sorted(answer.seen.items()) if how == "full"
            ),
            "words seen": answer.memory_words,
            "fewer words in %": f"{fewer_words(comparison, answer):.1f}",
            "look-ups": len(answer.looked_up),
            "calls": answer.usage.calls,
            "words sent": answer.usage.words_in,
            "words back": answer.usage.words_out,
            "tokens in": answer.usage.tokens_in,
            "tokens out": answer.usage.tokens_out,
            "notes": " ".join(answer.notes),
        }
    return values


def _page_name(comparison: Comparison, number: int) -> str:
    """'7', and of several books '2.7'."""
    book, page = place_of(comparison.books, number)
    return f"{book}.{page}" if book else str(page)


def _books(comparison: Comparison) -> list[str]:
    """A line for each of several books, with the number that pages are named by; nothing for one."""
    return [
        f"Book {number}: {book.title}" + (f" (spoiler limit: page {book.pages})" if book.paragraphs is not None else "")
        for number, book in enumerate(comparison.books if comparison.several else (), start=1)
    ]


def _facts(comparison: Comparison) -> str:
    """One line: the book, or how many, who answered, when."""
    day = datetime.fromtimestamp(comparison.asked, UTC).date().isoformat()
    words = f"{comparison.words:,} words"
    if comparison.limited and not comparison.several:
        words += f" (spoiler limit: page {len(comparison.pages)})"
    if comparison.gists is not None:
        words += f" ({count_of(comparison.gists, 'page')} of {len(comparison.pages)} had a gist)"
    line = comparison.signature.line
    about = count_of(len(comparison.books), "book") if comparison.several else comparison.title
    return " · ".join([f"{about}, {words}", line, *([] if day in line else [day])])  # a recording's has it


def _csv(comparison: Comparison) -> str:
    lines = [csv_line(["book", "question", *COLUMNS])]
    for entry in comparison.entries:
        values = comparison_row(comparison, entry)
        lines.append(csv_line([comparison.title, comparison.question, *(values[name] for name in COLUMNS)]))
    return "\ufeff" + "".join(lines)  # the mark tells spreadsheets that it is UTF-8


def _markdown(comparison: Comparison) -> str:
    lines = [
        f"# {markdown_line(comparison.question)}",
        "",
        escape_markdown(_facts(comparison)),
        "",
    ]
    listed = [markdown_line(line) for line in _books(comparison)]
    for i, option in enumerate(comparison.options):
        mark = " (right)" if i == comparison.correct else ""
        listed.append(f"({LETTERS[i]}) {markdown_line(option)}{mark}")
    lines += [*(f"- {line}" for line in listed), ""] if listed else []
    if known := known_answer(comparison):
        lines += [escape_markdown(known), ""]
    lines.append("| Method | Words seen | Fewer words | Look-ups | Pages in full | Seconds | Right |")
    lines.append("|---|--:|--:|--:|---|--:|---|")
    for entry in comparison.entries:
        values = comparison_row(comparison, entry)
        rate = f"{values['fewer words in %']} %" if entry.answer else ""
        full = values["pages in full"].split()
        pages = ", ".join(full) if len(full) <= 12 else f"{len(full)} pages"
        seen = f"{values['words seen']:,}" if entry.answer else ""
        cells = [values["method"], seen, rate, values["look-ups"], pages, values["seconds"]]
        lines.append("| " + " | ".join(map(str, [*cells, values["right"]])) + " |")
    for entry in comparison.entries:
        lines += ["", f"## {method(entry.method).title}", *_answer_lines(comparison, entry)]
        lines += ["", f"*{escape_markdown(describe_overlap(entry))}*"] if entry.rouge else []
        if entry.verdict and (judged := verdict(comparison, entry)):
            lines += ["", f"*{escape_markdown(' '.join(filter(None, [f'{judged[1]}.', entry.reason])))}*"]
        lines += [f"\n*{escape_markdown(note)}*" for note in (entry.answer.notes if entry.answer else ())]
    return "\n".join(lines) + "\n"


def _answer_lines(comparison: Comparison, entry: ComparedAnswer) -> list[str]:
    def written(pieces: Pieces) -> str:
        return answer_markdown(_written(comparison, entry, pieces))  # as on the screen

    lines: list[str] = []
    for kind, pieces in answer_paragraphs(comparison, entry):
        lines += ["", f"{'> ' if kind == COPIED else ''}{written(pieces)}"]
    evidence = [f"- {written(pieces)}" for pieces in evidence_lines(comparison, entry)]
    lines += ["", "Evidence:", "", *evidence] if evidence else []
    return [*lines, "", escape_markdown(entry.error)] if entry.error else lines


def _written(comparison: Comparison, entry: ComparedAnswer, pieces: Pieces) -> str:
    """The text of an answer with the pages it names, as the screen names them."""
    text = ""
    for words, pages in pieces:
        labels = [label for _, label, _ in page_labels(comparison.books, pages, entry.answer)]
        text += " ".join([words.rstrip() if pages else words, *(f"[{label}]" for label in labels)])
    return text.strip()


def _html(comparison: Comparison) -> str:
    body = fill(
        "comparison",
        style=Markup((ASSETS / "compare" / "compare.css").read_text(encoding="utf-8")),
        comparison=comparison,
        facts=[_facts(comparison), *_books(comparison), known_answer(comparison)],
        options=[f"({letter}) {option}" for letter, option in zip(LETTERS, comparison.options, strict=False)],
        drawn=Markup("".join(map(to_html, draw_comparison(comparison, open_details=True)))),
    )
    return html_page(f"{comparison.question} – {comparison.title}", body)
