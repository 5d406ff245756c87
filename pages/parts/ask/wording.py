"""What the Ask screen says of methods, of an answer on its way and of what an answer was made from, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pages.parts.ask.in_text import InText
from readagent_core.answering import look_up_text, replay
from readagent_core.answering.ask import LONG_BOOK, ONE_BOOK, SEARCH, SEVERAL_BOOKS, WHOLE
from readagent_core.answering.base import Answer, Event, ModelCall
from readagent_core.answering.costs import is_from_gists_alone, shows_found_words
from readagent_core.answering.look_up_text import pages_named, ranges_named
from readagent_core.answering.registry import Family, Reads, all_methods, family_of, sends_gists
from readagent_core.answering.signature import BUILT_IN, Signature, signature_of
from readagent_core.library.records import Exchange
from readagent_core.memory import GistMemory
from readagent_core.models.builtin.replies import NOT_FOUND, is_not_found
from readagent_core.words import count_of, pages_up_to, quoted

# of one book among several, as a model names it
_PLACE = re.compile(r"^(?:page (\d+)\.(\d+(?:-\d+)?)|(?:page|book) (\d+))(?=:)")
_NOT_SAID = re.compile(
    r"\b(?:text|passage|book|story|it|pages?|gists?|memory)\b[^.]{0,40}\b(?:does not|doesn't|do not|don't|never) "
    r"(?:say|tell|state|mention|give|name|hold|contain)|\bno answer was found"
    r"|\bnot (?:stated|said|mentioned|given|in the text)\b"
    r"|書かれていません|書かれていない|記述(?:は|が)ありません|述べられていません",
    re.IGNORECASE,
)


_GROUPS = {
    Family.READ_AGENT: "ReadAgent: gists, then pages read again",
    Family.GISTS: "Gists in other ways",
    Family.SEARCH: "Search in the text, no gists",
    Family.FULL_TEXT: "Whole text",
    Family.SUMMARIES: "Summaries of its own",
}
USUAL = (ONE_BOOK, LONG_BOOK, SEVERAL_BOOKS, SEARCH, WHOLE)  # methods that are listed before others are asked for
_NAMED = 6  # most pages that are named
_TITLES = 3  # most titles that an answer names
GISTS_ALONE = "from the gists alone"
_FROM = {  # of methods of a family that read so much of the text word by word: what an answer is from, for any reader
    (Family.READ_AGENT, Reads.PAGES): "from the gists, with pages read again",
    (Family.GISTS, Reads.NOTHING): GISTS_ALONE,
    (Family.GISTS, Reads.PAGES): "from the gists, with pages found by search",
    (Family.GISTS, Reads.PASSAGES): "from the gists, with passages found by search",
    (Family.SEARCH, Reads.PAGES): "from pages found by search",
    (Family.SEARCH, Reads.PASSAGES): "from passages found by search",
    (Family.FULL_TEXT, Reads.ALL): "from the whole text",
    (Family.SUMMARIES, Reads.NOTHING): "from summaries of the text",
}


def method_in_words(name: str, *, gists: bool = True) -> str:
    """What the answers of a method are from, in words that need no knowledge of methods; else its title.

    ``gists``: the book had some. Without any every method that knows gists searches.
    """
    known = all_methods().get(name)
    family = Family.SEARCH if sends_gists(name) and not gists else family_of(name)
    return _FROM.get((family, known.reads), known.title) if known else name


def from_in_words(answer: Answer, events: Sequence[Event], *, gists: bool = True) -> str:
    """What an answer is from: of several books what was shown of them, else what its method reads.

    ``gists``: as for ``method_in_words``.
    """
    if is_from_gists_alone(answer, events):
        return GISTS_ALONE
    if not answer.books or not sends_gists(answer.method):
        return method_in_words(answer.method, gists=gists)
    more = ["pages read again"] * any(book.looked_up for book in answer.books)
    more += ["passages found by search"] * shows_found_words(answer, events)
    told = " and ".join(more)
    if not any(book.how in ("gists", "book") for book in answer.books):
        return f"from {told or 'the titles alone'}"
    return f"from the gists, with {told}"


def method_abouts() -> list[tuple[str, str, str, str]]:
    """Name, title, a sentence about and the group of every method, ReadAgent first."""
    known = all_methods()
    return [(name, title, known[name].about, _GROUPS[family_of(name)]) for name, title in method_titles()]


def method_titles() -> list[tuple[str, str]]:
    """The name and title of every method, group by group, ReadAgent first."""
    groups = list(_GROUPS)
    found = sorted(all_methods().values(), key=lambda m: (groups.index(family_of(m.name)), m.title))
    return [(m.name, m.title) for m in found]


def may_search(method: str) -> bool:
    """Whether a method answers from pages that have no gists; False for a method of another version."""
    known = all_methods().get(method)
    return known is not None and (known.searches or not known.needs_gists)


def signer_line(signature: Signature, events: Sequence[Event], text: str, *, gists: bool = True) -> str:
    """The signature while the answer is being made: 'gpt-5-mini is writing'. ``gists``: the method uses them."""
    if signature.kind == BUILT_IN:
        return signature.line
    looked = [step for step in replay.steps(events) if step.kind == replay.LOOK_UP and step.marked]
    if text:
        doing = "is writing"
    elif looked and not (looked[-1].parts or looked[-1].searched):
        doing = f"is looking up {pages_named(looked[-1].marked)}"
    else:
        doing = "is going through the gists" if gists else "is reading the text"
    return f"{signature.name or 'The model'} {doing}"


def status_line(events: Sequence[Event], text: str, *, seconds: float, waiting: str = "", gists: bool = True) -> str:
    """What is being done now: 'Writing, 2.1 s'. ``waiting``: see ``waiting_line``. ``gists``: the method uses them."""
    if waiting:
        return waiting
    steps = replay.steps(events)
    kinds, looked = [step.kind for step in steps], [step.kind for step in steps if step.looks]
    if text:
        doing = "Writing"
    elif looked == [replay.GISTS]:
        doing = "Answering from the gists first"
    elif replay.MEMORY in kinds or replay.LOOK_UP in kinds:
        doing = "Reading the pages again"
    elif not gists:  # some methods read the whole book first
        calls = sum(isinstance(event, ModelCall) for event in events)
        doing = f"Reading the text, {count_of(calls, 'call')} done" if calls else "Reading the text"
    else:
        doing = "Going through the gists"
    return f"{doing}, {seconds:.1f} s"


def look_ups(
    exchange: Exchange,
    events: Sequence[Event],
    memory: GistMemory | None = None,
    titles: Mapping[int, str] | None = None,
) -> list[dict[str, Any]]:
    """Each look-up: what was opened, why, and ``more``: what was named but not opened, and what was closed again.

    What a model said is in quotation marks. ``memory``: of one book, or the ``titles`` of several by number.
    """
    found: list[dict[str, Any]] = []
    built_in = signature_of(exchange).kind == BUILT_IN
    searched = memory is not None and None in memory.gists  # in pages that a person knows by no number
    for step in replay.steps(events):
        if not step.looks:
            continue
        if step.kind == replay.GISTS:
            found.append({"title": look_up_text.FROM_GISTS, "said": quoted(step.said), "more": []})
            continue
        if searched and step.how:
            title = f"{step.how[0].upper()}{step.how[1:]}: {passages_in(len(step.marked))}"
        elif titles is not None:
            title = look_up_text.look_up_title_of_several(step, titles, built_in=built_in)
        else:
            title = look_up_text.look_up_title(step, built_in=built_in, up_to=exchange.up_to)
        said = look_up_text.look_up_words(step, exchange, memory) if memory else "" if built_in else step.said.strip()
        refused = [_with_title(why, titles or {}) for why in step.refused]
        again = [known for why in refused if (known := _open_before(why))]
        opened = any(one.marked or one.parts for one in (step, *step.books.values()))
        if again and len(again) == len(refused) and not opened:
            title, refused = f"Looked again at {', '.join(again)}", []
        more = [_not_opened(why) for why in refused]
        if step.folded:
            more.append(f"Closed again, to make room: {ranges_named(step.folded)}")
        found.append({"title": title, "said": said if built_in or not said else quoted(said), "more": more})
    return found


def passages_in(places: int) -> str:
    """'passages in 18 places', of pages that a person knows by no number."""
    return f"passages in {count_of(places, 'place')}"


def _open_before(refused: str) -> str:
    """'page 7 of Fog', of one that was named though it is open; '' of what was refused for another reason."""
    what, _, why = refused.partition("; name ")[0].rpartition(": it is ")
    return what if why.endswith("already") else ""


def _not_opened(refused: str) -> str:
    """What was not opened, for a person: 'Page 7 of Fog was open before', 'Did not open page 99: there is no …'."""
    if what := _open_before(refused):
        return f"{what[0].upper()}{what[1:]} was open before"
    return f"Did not open {refused.partition('; name ')[0]}"  # what follows is for a model


def _with_title(refused: str, titles: Mapping[int, str]) -> str:
    """'page 2.7: it is …' with the title of book 2: 'page 7 of Fog: it is …'; 'book 2: it has …': 'Fog: it has …'."""

    def named(found: re.Match[str]) -> str:
        title = titles.get(int(found[1] or found[3]))
        return found[0] if title is None else f"page {found[2]} of {title}" if found[2] else title

    return _PLACE.sub(named, refused)


def describe_context(answer: Answer) -> str:
    """What an answer was made from: 'Looked at: page 3 in full, the gists of 24 pages.'"""
    if answer.books:
        opened = [f"; {b.title}: {pages_named(b.looked_up)} in full" for b in answer.books if b.looked_up]
        gists = sum(book.how in ("gists", "book") for book in answer.books)
        found = sum(bool(book.found) for book in answer.books)
        words = [book.title for book in answer.books if book.how == "words"]
        looked = [f"the gists of {count_of(gists, 'book')}"] if gists else []
        looked += [f"passages found in {count_of(found, 'book')}"] if found else []
        looked += [f"the words of {titles_named(words, _TITLES)}"] if words else []
        return f"Looked at: {_listed(looked)}{''.join(opened)}." if looked else ""
    full = sorted(n for n, how in answer.seen.items() if how == "full")
    some = sorted(n for n, how in answer.seen.items() if how == "passage")
    gists = sum(how == "gist" for how in answer.seen.values())
    in_parts = sum(how == "part" for how in answer.seen.values())
    parts = []
    if (gists or in_parts) and not sends_gists(answer.method):
        return f"Looked at: {answer.memory_words:,} words that the method made of the text."
    if full:
        parts.append(f"{pages_told(full)} in full")
    if some:
        parts.append(f"passages of {pages_told(some)}")
    if gists:
        parts.append(f"the gists of {gists} {'page' if gists == 1 else 'pages'}")
    if in_parts:
        parts.append(f"{count_of(in_parts, 'page')} in the gists of longer parts")
    return f"Looked at: {_listed(parts)}." if parts else ""


def _listed(parts: Sequence[str]) -> str:
    """'fog', 'fog and ice', 'fog, ice and snow'"""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def pages_told(pages: Sequence[int]) -> str:
    """'no page', 'pages 5, 14 and 20'; of many how many they are."""
    return pages_named(pages) if len(pages) <= _NAMED else count_of(len(pages), "page")


def titles_named(titles: Sequence[str], most: int) -> str:
    """'Fog, Ice and 3 more', of ``most`` titles that are named."""
    return ", ".join(titles[:most]) + (f" and {len(titles) - most:,} more" if len(titles) > most else "")


def _kept_out(kept_out: Sequence[str], limited: Sequence[str]) -> str:
    """Return 'Not asked: Fog. Asked up to its limit: Ice.'; '' where every book was asked whole."""
    said = [f"Not asked: {titles_named(kept_out, _TITLES)}."] if kept_out else []
    if limited:
        limit = "its limit" if len(limited) == 1 else "their limits"
        said.append(f"Asked up to {limit}: {titles_named(limited, _TITLES)}.")
    return " ".join(said)


def not_found(
    answer: Answer,
    in_text: InText,
    *,
    up_to: int | None,
    pages: int,
    kept_out: Sequence[str] = (),
    limited: Sequence[str] = (),
) -> dict[str, Any]:
    """What is shown when no answer was found: which text was searched, and which pages the limit kept out.

    And where the words of the question are ``in_text``. ``kept_out``, ``limited``: of several books, the titles of
    those of which the limits let in nothing, or a part.
    """
    later = ""
    if up_to is not None and up_to < pages:
        rest = later_pages(up_to, pages)
        later = f"{rest[0].upper()}{rest[1:]} {'was' if up_to + 1 == pages else 'were'} kept out by your limit."
    if answer.books:
        let_in = f"Let {'it' if len([*kept_out, *limited]) == 1 else 'them'} in and ask again"
        words = _nowhere(in_text, "what you let in" if kept_out or limited else "the books")
        return {"title": NOT_FOUND["en"], "looked": describe_context(answer), "kept_out": _kept_out(kept_out, limited),
                "let_in": let_in, "whole": "", "words": words, "pieces": []}  # fmt: skip
    within = pages_up_to(up_to) if up_to is not None and later else "the book"
    all_seen = answer.saw_all(up_to if up_to is not None and later else pages)
    words = _nowhere(in_text, within)
    nearest = "Nearest in the text itself:" if in_text.pieces else ""
    if not (words or nearest):
        nearest = "A search of the text itself found nothing nearer."
    return {
        "title": f"Not found in {within}." if all_seen else NOT_FOUND["en"],
        "looked": describe_context(answer),
        "kept_out": later,
        "let_in": "Let in the whole book and ask again",
        "whole": f"Read {within} in full" if later else "Answer from the whole text",
        "words": " ".join(filter(None, [words, nearest])),
        "pieces": list(in_text.pieces),
    }


def _nowhere(in_text: InText, within: str) -> str:
    """'“Fog” and “ice” are nowhere in the book.', '' of no word."""
    named = _listed([f"“{word}”" for word in in_text.nowhere])
    return named and f"{named} {'are' if len(in_text.nowhere) > 1 else 'is'} nowhere in {within}."


def prompts_hold(exchange: Exchange, last: int, pages: int) -> str:
    """What is said before prompts are shown that hold pages beyond the limit, up to ``last`` of so many pages."""
    what = "gists" if sends_gists(exchange.method) else "text"
    of = f"all {pages} pages" if last >= pages > 1 else pages_up_to(last)
    return f"What was sent holds the {what} of {of}, also of those that you have not read."


def later_pages(limit: int, last: int) -> str:
    """'page 25', 'pages 16 to 25': those after the limit."""
    return f"page {last}" if limit + 1 == last else f"pages {limit + 1} to {last}"


def says_not_in_text(answer: Answer) -> bool:
    """Whether the answer is that the text does not say."""
    return is_not_found(answer.text) or (len(answer.text) < 600 and bool(_NOT_SAID.search(answer.text)))
