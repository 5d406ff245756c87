"""A comparison as a file to take away: one HTML page with its maps, Markdown, or CSV.

Everything a book or a model wrote is escaped for the format it goes into; in CSV no cell is a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Any

from readagent_core.errors import SettingsError
from readagent_core.methods import method
from readagent_core.methods.base import LETTERS, Answer
from readagent_core.study.comparing import Comparison, Entry, right
from readagent_core.study.comparing_told import (
    judged_by,
    parted,
    sent,
    shared_words,
    spoken,
    topics_words,
    tree,
    verdict,
)
from readagent_core.study.exporting import plain
from readagent_core.study.exporting_html import ASSETS, page
from readagent_core.words import collapse_whitespace

MIME = {"html": "text/html", "md": "text/markdown", "csv": "text/csv"}
COLUMNS = (
    "method", "state", "answer", "option", "right", "rouge-1", "rouge-l", "pages in full", "words seen",
    "compression rate", "look-ups", "seconds", "calls", "words sent", "words back", "tokens in", "tokens out", "notes",
)  # fmt: skip
_FORMULA = re.compile(r"^[=+\-@\t\r]")


def export(comparison: Comparison, format: str) -> bytes:
    """The bytes of a file. ``format``: 'html', 'md' or 'csv'; else SettingsError."""
    try:
        write = _WRITERS[format]
    except KeyError:
        raise SettingsError(f"Unknown format {format!r}. Choose one of: {', '.join(_WRITERS)}.") from None
    return write(comparison).encode("utf-8", "replace")


def file_name(comparison: Comparison, format: str) -> str:
    """A name for the file, from the book's title; safe on every system."""
    stem = re.sub(r"[^\w]+", "-", comparison.title, flags=re.UNICODE).strip("-_").lower()[:60] or "book"
    return f"{stem}-compared.{format}"


def facts(comparison: Comparison) -> str:
    """One line: the book, who answered, when."""
    day = datetime.fromtimestamp(comparison.asked, UTC).date().isoformat()
    return f"{comparison.title}, {comparison.words:,} words · answered by {comparison.model} · {day}"


def record(comparison: Comparison, entry: Entry) -> dict[str, Any]:
    """One method's row, by column; what is not known is ''."""
    answer = entry.answer
    was_right = right(comparison, entry)
    values: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    values |= {
        "method": entry.method,
        "state": entry.state,
        "answer": entry.text or entry.error,
        "right": "" if was_right is None else "yes" if was_right else "no",
        "seconds": f"{entry.seconds:.2f}",
    }
    if entry.rouge:
        values |= {"rouge-1": f"{100 * entry.rouge['rouge1']:.1f}", "rouge-l": f"{100 * entry.rouge['rougeL']:.1f}"}
    if answer is not None:
        values |= {
            "option": "" if answer.option is None else LETTERS[answer.option],
            "pages in full": " ".join(str(n) for n, how in sorted(answer.seen.items()) if how == "full"),
            "words seen": answer.memory_words,
            "compression rate": f"{answer.compression_rate:.2f}",
            "look-ups": len(answer.looked_up),
            "calls": answer.usage.calls,
            "words sent": answer.usage.words_in,
            "words back": answer.usage.words_out,
            "tokens in": answer.usage.tokens_in,
            "tokens out": answer.usage.tokens_out,
            "notes": " ".join(answer.notes),
        }
    return values


def _csv(comparison: Comparison) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["book", "question", *COLUMNS])
    for entry in comparison.entries:
        values = record(comparison, entry)
        cells = [comparison.title, comparison.question, *(str(values[name]) for name in COLUMNS)]
        writer.writerow([f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells])
    return "\ufeff" + out.getvalue()  # so that spreadsheets take it for UTF-8


def _markdown(comparison: Comparison) -> str:
    lines = [f"# {plain(collapse_whitespace(comparison.question))}", "", plain(facts(comparison)), ""]
    for i, option in enumerate(comparison.options):
        star = " (right)" if i == comparison.correct else ""
        lines.append(f"- ({LETTERS[i]}) {plain(collapse_whitespace(option))}{star}")
    if judged := judged_by(comparison):
        lines += ["", plain(judged)]
    lines += ["", "| Method | Words seen | CR | Look-ups | Pages in full | Seconds | Right |"]
    lines.append("|---|--:|--:|--:|---|--:|---|")
    for entry in comparison.entries:
        values = record(comparison, entry)
        rate = f"{entry.answer.compression_rate:.1f} %" if entry.answer else ""
        pages = _few(values["pages in full"].split())
        cells = [method(entry.method).title, values["words seen"], rate, values["look-ups"], pages, values["seconds"]]
        lines.append("| " + " | ".join(map(str, [*cells, values["right"]])) + " |")
    for entry in comparison.entries:
        lines += ["", f"## {method(entry.method).title}", "", plain(entry.text or entry.error)]
        lines += ["", f"*{plain(shared_words(entry))}*"] if entry.rouge else []
        lines += [f"\n*{plain(note)}*" for note in (entry.answer.notes if entry.answer else ())]
    return "\n".join(lines) + "\n"


def _few(pages: list[str]) -> str:
    return ", ".join(pages) if len(pages) <= 12 else f"{len(pages)} pages"


def _html(comparison: Comparison) -> str:
    style = (ASSETS / "compare" / "compare.css").read_text(encoding="utf-8")
    options = "".join(
        f"<li>({LETTERS[i]}) {escape(option)}{' — right' if i == comparison.correct else ''}</li>"
        for i, option in enumerate(comparison.options)
    )
    rows = "".join(_row(comparison, entry) for entry in comparison.entries)
    body = (
        f"<style>{style} .root {{ max-width: 1168px; margin: 0 auto; }}</style>"
        f'<header><h1 lang="{escape(comparison.language)}">{escape(comparison.question)}</h1>'
        f'<p class="facts">{escape(facts(comparison))}</p><p class="facts">{escape(judged_by(comparison))}</p>'
        f"{f'<ul>{options}</ul>' if options else ''}</header>"
        f'<div class="root"><ul class="rows">{rows}</ul></div>'
    )
    return page(comparison.question, body)


def _row(comparison: Comparison, entry: Entry) -> str:
    known = method(entry.method)
    head = f'<div class="mname"><h2>{escape(known.title)}</h2><p class="small dim">{escape(known.about)}</p></div>'
    text, evidence = parted(entry.text)
    spoken_as = f'dir="auto" lang="{escape(comparison.language)}"'
    parts = [_drawings(comparison, entry.answer)] if entry.answer is not None else []
    parts += [f'<p class="a" {spoken_as}>{escape(text)}</p>'] if text else []
    parts += [f'<p class="err">{escape(entry.error)}</p>'] if entry.error else []
    told = verdict(comparison, entry)
    parts += [f'<p class="v small {told["kind"]}">{escape(told["text"])}</p>'] if told else []
    parts += [f'<p class="note small dim">{escape(note)}</p>' for note in (entry.answer.notes if entry.answer else ())]
    parts += [f'<p class="note small" {spoken_as}><em>{escape(evidence)}</em></p>'] if evidence else []
    figures = _figures(entry, entry.answer) if entry.answer is not None else ""
    return f'<li class="r">{head}<div class="mid">{"".join(parts)}</div><div class="figs">{figures}</div></li>'


def _drawings(comparison: Comparison, answer: Answer) -> str:
    """The map of the book; over it MemWalker's tree, under it the topics; and the same in words."""
    kinds = [{"full": "full", "gist": "gi"}.get(answer.seen.get(n + 1, ""), "un") for n in range(len(comparison.pages))]
    full = [n for n, kind in enumerate(kinds, start=1) if kind == "full"]
    cells = "".join(
        f'<i class="{kind}" style="flex-grow:{words}" title="Page {n}">'
        f"{f'<span>{n}</span>' if kind == 'full' and len(full) <= 8 else ''}</i>"
        for n, (kind, words) in enumerate(zip(kinds, comparison.pages, strict=True), start=1)
    )
    dense = " dense" if len(comparison.pages) > 120 else ""
    label = escape(spoken(full, len(comparison.pages)))
    drawn = f'<div class="hm{dense}" role="img" aria-label="{label}">{cells}</div>'
    if "tree" in answer.extra:
        walked = tree(answer)
        steps = "".join(f"<li>{escape(s['did'])} {escape(s['reason'])}</li>" for s in walked["steps"])
        drawn = f'{_tree(walked)}{drawn}<p class="small dim">{escape(walked["said"])}</p>'
        drawn += f'<ol class="walk small">{steps}</ol>'
    if answer.extra.get("topics"):
        topics = answer.extra["topics"]
        whole = max(comparison.words, *(b for t in topics for _, b in t["stretches"]), 1)
        stretches = "".join(
            f'<i class="t{i % 8}" style="left:{100 * a / whole:.3f}%;width:{100 * (b - a) / whole:.3f}%" '
            f'title="Topic {i + 1}"></i>'
            for i, topic in enumerate(topics)
            for a, b in topic["stretches"]
        )
        drawn += f'<div class="topics">{stretches}</div><p class="small dim">{escape(topics_words(topics))}</p>'
    return drawn


def _tree(walked: dict[str, Any]) -> str:
    visits: dict[int, list[str]] = {}
    for number, step in enumerate(walked["walk"], start=1):
        visits.setdefault(step["node"], []).append(str(number))
    levels: list[str] = []
    for level in sorted({node["level"] for node in walked["tree"]}, reverse=True):
        cells = "".join(
            f'<i class="node {("at" if node["children"] else "read") if node["id"] in visits else ""}" '
            f'style="flex-grow:{max(1, node["words"])}" title="{escape(node["summary"])}">'
            f"{' '.join(visits.get(node['id'], [])[:3])}</i>"
            for node in walked["tree"]
            if node["level"] == level
        )
        levels.append(f'<div class="level">{cells}</div>')
    return f'<div class="tree" aria-hidden="true">{"".join(levels)}</div>'


def _figures(entry: Entry, answer: Answer) -> str:
    shown = (
        ("Words seen", f"{answer.memory_words:,}"),
        ("Fewer words (CR)", f"{answer.compression_rate:.1f} %"),
        ("Look-ups", f"{len(answer.looked_up):,}"),
        ("Seconds", f"{entry.seconds:.1f}"),
    )
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in shown)
    return f'<dl class="fig num">{listed}</dl><p class="small dim num sent">{escape(sent(answer))}</p>'


_WRITERS: dict[str, Callable[[Comparison], str]] = {"html": _html, "md": _markdown, "csv": _csv}
