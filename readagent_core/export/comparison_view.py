"""A comparison drawn as HTML elements, once for the screen and the exported file: a row for every method.

Elements are plain values. ``to_html`` writes them escaped; the component of the Compare screen makes nodes of them,
text by ``textContent``. So no text of a book or a model is ever parsed as HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from readagent_core.answering.base import LETTERS, Answer
from readagent_core.answering.registry import Family, Reads, family_of, method
from readagent_core.comparing.comparison import (
    ComparedAnswer,
    ComparedBook,
    Comparison,
    EntryState,
    fewer_words,
    is_right,
    place_of,
)
from readagent_core.comparing.judging import DIFFERENT, PARTLY, SAME
from readagent_core.export.comparison_drawings import KINDS, Element, draw_strip, draw_titles, draw_topics, draw_tree
from readagent_core.export.comparison_words import (
    answer_paragraphs,
    describe_step,
    describe_walk,
    evidence_lines,
    page_labels,
    pages_seen,
    usage_line,
)
from readagent_core.model_names import short_name
from readagent_core.models.builtin.reader import NAME as BUILT_IN
from readagent_core.text_files import EMPHASIS
from readagent_core.words import pages_up_to


def to_html(node: Element | str) -> str:
    """The node as HTML, every text and attribute escaped."""
    if isinstance(node, str):
        return escape(node)
    tag, attributes, *children = node
    written = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{written}>{''.join(map(to_html, children))}</{tag}>"


_PASSAGE = 120  # words of a passage, in examples


def draw_comparison(comparison: Comparison, *, open_details: bool = False) -> list[Element]:
    """The legend and the list of rows. ``open_details``: show evidence and walks without a click, as on paper."""
    part = "what the spoiler limit let in" if comparison.limited else "the whole book"
    about = f"Each strip is {part}, {pages_up_to(len(comparison.pages))}."
    if comparison.gists is not None:
        about = f"Each strip is {pages_up_to(len(comparison.pages))}; {comparison.gists} of them had a gist."
    if comparison.several:
        limited = ", as far as their spoiler limits let in" if comparison.limited else ""
        about = f"Each strip is {len(comparison.books)} books, one after another{limited}."
    rows = [_row(comparison, entry, {"open": ""} if open_details else {}) for entry in comparison.entries]
    seen = {how for entry in comparison.entries if entry.answer for how in entry.answer.seen.values()}
    left_out = [kind for kind, how in (("pt", "part"), ("some", "passage")) if how not in seen]
    drawn = seen or not comparison.ended  # else there is no strip
    return [
        *([_legend(about, left_out=left_out), *draw_titles(comparison.books, comparison.pages)] if drawn else []),
        ["ul", {"class": "rows"}, *rows],
    ]


def _legend(about: str, *, left_out: Sequence[str] = ("pt", "some")) -> Element:
    keys = [
        ["span", {"class": "k"}, ["i", {"class": kind, "aria-hidden": "true"}], text]
        for kind, text in KINDS.items()
        if kind not in left_out
    ]
    return _div("lg small dim", *keys, ["span", {"class": "sp"}], ["span", {"class": "notnarrow"}, about])


def draw_methods(
    names: Sequence[str],
    pages: Sequence[int],
    gists: Mapping[int, int],
    look_ups: int,
    books: Sequence[ComparedBook] = (),
) -> list[Element]:
    """The rows of a comparison before there is one: what each method does and, as an example, what it would see.

    ``pages``: words of each page. ``gists``: of each page that has one, words. ``books``: those that have the pages.
    """
    rows = []
    for name in names:
        seen = example_pages(name, len(pages), look_ups, list(gists))
        row = ["li", {"class": "r", "data-method": name}, _name(name)]
        if method(name).needs_gists and not gists:
            row += [_p("mid small dim", "Sees the gists, once they are made.")]
        elif seen is not None:
            words = sum(pages[n - 1] for n, how in seen.items() if how == "full")
            words += _PASSAGE * list(seen.values()).count("passage")
            words += sum(gists[n] for n, how in seen.items() if how == "gist")
            figure = [
                "dl",
                {"class": "fig num"},
                _div("", ["dt", {}, "Words seen"], ["dd", {}, f"about {round(words, -2 if words > 1000 else -1):,}"]),
            ]
            row += [_div("mid", draw_strip(seen, pages, books)), _div("figs", figure)]
        else:
            row += [_p("mid small dim", "Makes a memory of its own from the text before it answers.")]
        rows.append(row)
    return [
        _legend("An example: which pages are read in full depends on the question."),
        *draw_titles(books, pages),
        ["ul", {"class": "rows"}, *rows],
    ]


def example_pages(name: str, pages: int, look_ups: int, gists: Sequence[int]) -> dict[int, str] | None:
    """What a method could see of a book; None for one that has a memory of its own. ``gists``: pages that have one."""
    known = method(name)
    if known.reads is Reads.ALL:
        return dict.fromkeys(range(1, pages + 1), "full")
    how = "passage" if known.reads is Reads.PASSAGES else "full"
    among = gists if known.needs_gists else range(1, pages + 1)
    places = range(min(look_ups, len(among))) if known.reads is not Reads.NOTHING else ()
    chosen = {among[(2 * n + 1) * len(among) // (2 * look_ups)]: how for n in places}
    if known.needs_gists:
        return dict.fromkeys(gists, "gist") | chosen
    return None if known.reads is Reads.NOTHING else chosen


# --- one row ----------------------------------------------------------------------------------------------


def _div(classes: str, *children: Element | str) -> Element:
    return ["div", {"class": classes}, *children]


def _p(classes: str, *children: Element | str) -> Element:
    return ["p", {"class": classes}, *children]


def _row(comparison: Comparison, entry: ComparedAnswer, opened: dict[str, str]) -> Element:
    classes = "r me" if family_of(entry.method) is Family.READ_AGENT else "r"
    return [
        "li",
        {"class": classes, "data-method": entry.method, "data-state": entry.state},
        _name(entry.method),
        _div("mid", *_middle(comparison, entry, opened)),
        _div("figs", *(_figures(comparison, entry, entry.answer) if entry.answer else [])),
    ]


def _name(name: str) -> Element:
    known = method(name)
    return _div("mname", ["h2", {}, known.title], _p("small dim", known.about))


def _middle(comparison: Comparison, entry: ComparedAnswer, opened: dict[str, str]) -> list[Element]:
    """What the method saw, what it answered and why, from top to bottom."""
    answer, extra = entry.answer, entry.answer.extra if entry.answer else {}
    book_text = {"lang": comparison.language, "dir": "auto"}
    drawn: list[Element] = []
    if answer is not None:
        drawn.append(_p("sr", pages_seen(answer, len(comparison.pages), comparison.books)))
        drawn += [draw_tree(extra["tree"], extra["walk"])] if "tree" in extra else []
        drawn.append(draw_strip(answer.seen, comparison.pages, comparison.books))
        drawn += [draw_topics(extra["topics"], comparison.words)] if extra.get("topics") else []
    if entry.state == EntryState.CANCELLED:
        drawn.append(["p", {"class": "err", "role": "alert"}, ["strong", {}, "Stopped."]])
    elif entry.error:
        told = next(other for other in comparison.entries if other.error == entry.error) is not entry
        why = "For the same reason." if told else entry.error
        drawn.append(["p", {"class": "err", "role": "alert"}, ["strong", {}, "This method did not finish. "], why])
    if paragraphs := answer_paragraphs(comparison, entry):
        for kind, part in paragraphs:
            drawn.append(["p", {"class": kind, **book_text}, *_with_chips(comparison.books, part, answer, opened)])
        drawn[-1] += [] if entry.ended else [["span", {"class": "caret"}]]
    elif not entry.ended:
        doing = "Waiting for its turn" if entry.state == EntryState.WAITING else entry.doing or "Thinking …"
        drawn.append(_p("dim", ["span", {"class": "spin"}], doing))
    if judged := verdict(comparison, entry):
        drawn.append(_p(f"v small {judged[0]}", judged[1]))
    if entry.reason:
        drawn.append(_p("note small dim", entry.reason))
    if entry.verdict:
        drawn.append(_p("note small dim", describe_overlap(entry)))
    if answer is not None:
        notes = ["The answer broke off here.", *answer.notes] if answer.cut_off else answer.notes
        drawn += [_p("note small dim", note) for note in notes]
    if quoted := evidence_lines(comparison, entry):
        look = {"class": "a small", **book_text}
        quotes: list[Element] = [["p", look, *_with_chips(comparison.books, one, answer, opened)] for one in quoted]
        drawn.append(_details(f"{entry.method} evidence", "Evidence", quotes, opened))
    if answer is not None and "tree" in extra:
        steps = [_step(extra["tree"], step, comparison.books) for step in extra["walk"]]
        drawn.append(
            _details(f"{entry.method} walk", describe_walk(answer), [["ol", {"class": "walk small"}, *steps]], opened)
        )
    if extra.get("topics"):
        topics = extra["topics"]
        before, after = sum(t["words"] for t in topics), sum(t["kept"] for t in topics)
        line = f"{len(topics)} topics, shortened one by one from {before:,} words to {after:,}."
        drawn.append(_p("small dim", line))
    return drawn


def _with_chips(
    books: Sequence[ComparedBook],
    pieces: Iterable[tuple[str, Sequence[int]]],
    answer: Answer | None,
    opened: dict[str, str],
) -> list[Element | str]:
    """``pieces`` of a text with a chip for every page it names: of another look where only the page's gist was seen."""
    drawn: list[Element | str] = []
    for words, pages in pieces:  # without the letter of an option, which the verdict names
        drawn += _emphasised(words.rstrip() if pages else words)
        for i, (number, label, full) in enumerate(page_labels(books, pages, answer)):
            book, page = place_of(books, number)
            look = {"class": "cite page" if full else "cite"}
            press = {"type": "button", "data-page": str(page)} | ({"data-book": books[book - 1].id} if book else {})
            drawn += [" "] if i or words else []
            # paper has no buttons, and a page that is in no book cannot be opened
            drawn.append(["span", look, label] if opened or not number else ["button", press | look, label])
    return drawn


def _emphasised(text: str) -> list[Element | str]:
    """``text`` with its *emphasis* as elements."""
    pieces = EMPHASIS.split(text)  # before, the marks, what is emphasised, after, …
    return [["em", {}, piece] if i % 3 == 2 else piece for i, piece in enumerate(pieces) if i % 3 != 1 and piece]


def _details(key: str, summary: str, content: list[Element], opened: dict[str, str]) -> Element:
    """``key``: by which the screen remembers that a person opened it."""
    return ["details", {"data-key": key, **opened}, ["summary", {"class": "small"}, summary], *content]


def _figures(comparison: Comparison, entry: ComparedAnswer, answer: Answer) -> list[Element]:
    share = min(100.0, 100 * answer.memory_words / comparison.words) if comparison.words else 0.0
    bar = _div("bar", ["b", {"style": f"width:{share:.1f}%"}])
    figures: list[tuple[str, str, list[Element]]] = [
        ("Words seen", f"{answer.memory_words:,}", [bar]),
        ("Fewer words", f"{min(fewer_words(comparison, answer), 99.9):.1f} %", []),
        ("Pages looked up", f"{len(answer.looked_up):,}", []),
    ]
    if not comparison.recorded and answer.usage.calls:  # all from the cache: it took no time
        figures.append(("Seconds", f"{entry.seconds:.1f}", []))
    sent = usage_line(answer) if comparison.model != BUILT_IN else ""  # nothing is sent to the built-in reader
    listed = [["div", {}, ["dt", {}, name], ["dd", {}, value, *more]] for name, value, more in figures]
    return [["dl", {"class": "fig num"}, *listed], *([_p("small dim num sent", sent)] if sent else [])]


def _step(nodes: list[dict[str, Any]], step: dict[str, Any], books: Sequence[ComparedBook]) -> Element:
    reason = f" {step['reason']}" if step["reason"] else ""
    return ["li", {}, ["span", {"class": "did"}, describe_step(nodes, step, books)], ["span", {"class": "dim"}, reason]]


# --- in words ---------------------------------------------------------------------------------------------


def verdict(comparison: Comparison, entry: ComparedAnswer) -> tuple[str, str] | None:
    """Which option was chosen and whether it is right; of a free answer the model's verdict, or what it shares with the
    known one. Before it 'ok', 'no', or 'none' for what is no judgement. None where there is nothing to judge by.
    """
    if entry.answer is None:
        return None
    if entry.verdict:
        kind, words = _VERDICTS[entry.verdict]
        return kind, f"Verdict of {short_name(comparison.model)}: {words}"
    if not comparison.options:
        return ("none", describe_overlap(entry)) if entry.rouge else None
    option = entry.answer.option
    if option is None:
        return ("no" if comparison.correct is not None else "none"), "Named no option"
    named = f"({LETTERS[option]}) {comparison.options[option]}"
    right = is_right(comparison, entry)
    if right is None:
        return "none", f"Chose {named}"
    return ("ok", f"Right: {named}") if right else ("no", f"Wrong: {named}")


_VERDICTS = {
    SAME: ("ok", "the same as the known answer"),
    PARTLY: ("none", "in part the same as the known answer"),
    DIFFERENT: ("no", "not the same as the known answer"),
}


def describe_overlap(entry: ComparedAnswer) -> str:
    """'Words shared with the known answer: 46 % (ROUGE-1); in the same order: 41 % (ROUGE-L)'"""
    words, order = 100 * entry.rouge["rouge1"], 100 * entry.rouge["rougeL"]
    return f"Words shared with the known answer: {words:.0f} % (ROUGE-1); in the same order: {order:.0f} % (ROUGE-L)"


def known_answer(comparison: Comparison) -> str:
    """The known answer, or that there is none; '' without an answer, or where an option is known to be right."""
    if comparison.references:
        return f"Known answer: {' / '.join(comparison.references)}"
    if (comparison.options and comparison.correct is not None) or not any(entry.text for entry in comparison.entries):
        return ""
    return "No known answer to judge by. Read what each answer rests on."
