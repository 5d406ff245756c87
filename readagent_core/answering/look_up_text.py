"""What a look-up of a replay did and why, in words: for the screen, captions and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from readagent_core.answering.base import FOUND_BY_SEARCH
from readagent_core.answering.replay import GISTS, Step
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.models.builtin import reader as builtin
from readagent_core.models.builtin.answers import page_of_person
from readagent_core.models.builtin.parts_asked import Part, part_asked
from readagent_core.models.builtin.statistics import shared_words
from readagent_core.words import pages_up_to, quoted

FROM_GISTS = "From the gists, before looking it up"
_NAMED = 6  # most pages that a search names


def look_up_title(step: Step, *, built_in: bool = False, up_to: int | None = None) -> str:
    """What a look-up did: 'Went back to page 5', 'Opened pages 12 to 31', 'Looked for “key”: on page 31'.

    ``up_to``: the last page that was let in, where not all were; later ones may have what was not found.
    """
    if step.searched:
        named = ", ".join(f"“{words}”" for words in step.searched)
        within = pages_up_to(up_to) if up_to else "the text"
        found = pages_named(sorted(step.marked)) if len(step.marked) <= _NAMED else f"{len(step.marked)} pages"
        return f"Looked for {named}: {f'on {found}' if step.marked else f'nowhere in {within}'}"
    pages = [n for n in step.marked if not any(first <= n <= last for first, last in step.ranges)]
    if step.how:
        what = f"passages of {pages_named(sorted(pages))}" if step.chosen else pages_named(pages)
        return f"{step.how[0].upper()}{step.how[1:]}: {what}"
    done = [f"Opened {ranges_named(step.ranges)}"] if step.ranges else []
    pages = [n for n in pages if n not in step.in_part]
    if step.in_part:
        done.append(f"Opened passages of {pages_named(sorted(step.in_part))}")
    if pages or not (step.ranges or step.in_part):
        done.append(f"{'Opened' if built_in else 'Went back to'} {pages_named(pages)}")
    return ", ".join([done[0], *(text[0].lower() + text[1:] for text in done[1:])])


def look_up_line(step: Step, exchange: Exchange, memory: GistMemory) -> str:
    """What a look-up did and why, for files; a model's words in quotation marks, as on the screen."""
    built_in = exchange.facts.model == builtin.NAME
    if step.kind == GISTS:
        return quoted_after(FROM_GISTS, step.said)
    title = look_up_title(step, built_in=built_in, up_to=exchange.up_to)
    words = look_up_words(step, exchange, memory)
    return f"{title}. {words}" if built_in and words else quoted_after(title, words)


def quoted_after(title: str, said: str) -> str:
    """``title`` with what a model said: 'Went back to page 5: “I want to look up Page [5].”'"""
    return f"{title}: {quoted(said)}" if said.strip() else title


def look_up_title_of_several(step: Step, titles: Mapping[int, str], *, built_in: bool = False) -> str:
    """What a look-up did in each book: 'Fog: went back to page 5. Ice: opened pages 1 to 9'."""
    said = []
    for number, one in step.books.items():
        title = titles.get(number, f"book {number}")
        if one.searched:
            said.append(f"{title}, {pages_named(sorted(one.marked)[:_NAMED])}" if one.marked else title)
        elif one.marked or one.parts:
            what = look_up_title(one, built_in=built_in)
            said.append(f"{title}: {what[0].lower()}{what[1:]}")
    if step.searched:
        named = ", ".join(f"“{words}”" for words in step.searched)
        return f"Looked for {named}: " + (f"in {'; '.join(said)}" if said else "nowhere in the texts")
    return ". ".join(said) or "Opened no page"


def pages_named(numbers: Sequence[int]) -> str:
    """'no page', 'page 5', 'pages 5, 14 and 20'."""
    return ranges_named([(n, n) for n in numbers])


def ranges_named(ranges: Sequence[tuple[int, int]]) -> str:
    """'page 5', 'pages 12 to 31', 'pages 5, 12 to 31 and 40'."""
    if not ranges:
        return "no page"
    *some, last = [str(a) if a == b else f"{a} to {b}" for a, b in ranges]
    named = f"{', '.join(some)} and {last}" if some else last
    return f"page {named}" if named.isdecimal() else f"pages {named}"


def look_up_words(step: Step, exchange: Exchange, memory: GistMemory) -> str:
    """What a model said of its look-up; of the built-in reader, which words the question shares with what it compared.

    These are the passages or pages that a search found, else the gists. What was chosen otherwise has ``step.how``.
    """
    if exchange.facts.model != builtin.NAME or exchange.facts.recorded:
        return step.said.strip()
    if step.searched or step.how not in ("", FOUND_BY_SEARCH):
        return ""
    part = None if exchange.options else part_asked(exchange.question)
    seen = memory if exchange.up_to is None else memory.up_to(exchange.up_to)
    if part in (Part.BEGINNING, Part.END):
        numbers = seen.readable or [page.number for page in seen.pages]
        if step.marked == tuple(numbers[-1:] if part is Part.END else numbers[:1]):
            return f"It is the {'last' if part is Part.END else 'first'} page that may be seen."
    if step.chosen:
        what, compared = "passage", [memory.document.text(one.start, one.end) for one in step.chosen]
    elif step.how:
        what, compared = "page", [memory.page_text(page) for page in step.marked]
    else:
        what, compared = "gist", [gist.text for page in step.marked if (gist := memory.gists[page - 1]) is not None]
    places = shared_words(exchange.question, "\n".join(compared))
    words = list(dict.fromkeys(f"“{exchange.question[start:end]}”" for start, end in places))
    if words:
        one, several = ("Its", "Their") if what == "gist" else ("The", "The")
        subject = f"{one} {what} shares" if len(compared) == 1 else f"{several} {what}s share"
        return f"{subject} with the question: {', '.join(words)}."
    if what != "gist":
        return ""
    known = "\n\n".join(gist.text for gist in seen.gists if gist is not None)
    told = page_of_person(known, memory.document.language, exchange.question)
    if told == 0 and not (step.marked or exchange.options):
        return "The gists say who that is."
    return "" if step.marked or step.expanded or part else "No gist shares enough words with the question."
