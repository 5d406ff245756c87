"""Plain text statistics: what the built-in reader knows of language, and all of it.

Content terms, lexical cohesion across a gap (Hearst's TextTiling), sentence centrality, and BM25 through bm25s.
Works on any script that ``words.terms`` splits. Knows nothing of prompts, pages or models.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from readagent_core.words import collapse_whitespace, count_words, is_unspaced, sentences, terms

_HIRAGANA = re.compile(r"[\u3040-\u309fー]+\Z")
_LONE_KANJI = re.compile(r"(?<![一-龥々])[一-龥々](?![一-龥々])")
_POSSESSIVE = re.compile(r"(?<=\w\w)['’]s\Z")
_SUFFIX = re.compile(r"(?:ies|ing|ed|es|s|ly)\Z")
_KANA = re.compile(r"[\u3040-\u309f]")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_GOES_ON = re.compile(r"['’]s\b")  # after the full stop of a name, as in "T.'s"
_HEADING = re.compile(r"#{1,6} ")
_NAME = re.compile(r"(?<=[\w,;:] )(?:[A-Z][a-z'’]+\.? ?)*[A-Z][a-z]{2,}")
_DATES = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August"
    r"|(?:Septem|Octo|Novem|Decem)ber"
)
LONG = 25  # words; a longer sentence loses against shorter ones
_LESSER = (
    re.compile(r"^\W*[\"“‘'«「『—]|[\"”’」』][^\"“”」』]{0,3}$|\byou\b"),  # talk
    re.compile(r"[?!？！]\W*$"),
    re.compile(r"^\W*(?:it|this|that|these|those|there|such|alas)\b", re.IGNORECASE),
    re.compile(r"^(?=.*\b(?:[Hh]e|[Ss]he|[Tt]hey|[Hh]er|[Hh]is|[Tt]heir|[Hh]im|[Tt]hem)\b)(?!.*\w\W* [A-Z][a-z])"),
    re.compile(r"[\w,;:–—-][*_]*$|^[a-z]|^\W*(?:\w+\W+){1,3}$|@"),  # part of a sentence, a date, an address
    re.compile(r"^(?!.*\b[a-z]{4,})(?=.*[A-Z])"),  # a heading, names
)
_STOP_WORDS = """
a about above after again all also am an and any are as at be because been before being below between both but by
can cannot could did do does doing done down during each even ever few first for from further get had has have
having he her here hers herself him himself his how i if in into is it its itself just like made many may me might
more most much must my myself never no nor not now of off on once one only or other our out over own said same say
says shall she should so some still such than that the their them themselves then there these they this those
though through to too two under until up upon us very was we well were what when where which while who whom whose
why will with without would yes you your yours don't didn't it's i'm that's tell describe explain according text
passage story book page happen happens happened mr mrs ms mx dr messrs mme mlle
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def stem(term: str) -> str:
    """A term without its commonest English endings; short ones and other scripts stay as they are."""
    if len(term) < 5 or not term.isascii():
        return term
    cut = _SUFFIX.sub("", term)
    return cut if len(cut) >= 4 else term


def content(text: str) -> list[str]:
    """The terms of ``text`` that carry meaning: no stop words, no pairs of mere kana; stemmed."""
    words = (_POSSESSIVE.sub("", term) for term in terms(text))
    return [stem(word) for word in words if word.replace("’", "'") not in STOP_WORDS and not _HIRAGANA.match(word)]


def asked_terms(question: str) -> list[str]:
    """The terms of a question; in Japanese also the words of one character, which pairs of characters do not hold."""
    return [*content(question), *_LONE_KANJI.findall(question)]


def names_in(text: str) -> list[str]:
    """The last word of every name in ``text``: words with a capital within a sentence, but for months and days."""
    found = (name.group().split()[-1] for name in _NAME.finditer(text))
    return [name for name in found if not _DATES.fullmatch(name)]


def full_names(text: str) -> list[str]:
    """The names in ``text`` as they stand there, with their first names: 'Mr. Royall'."""
    found = (name.group().strip() for name in _NAME.finditer(text))
    return [name for name in found if not _DATES.search(name)]


def shared_words(text: str, other: str) -> list[tuple[int, int]]:
    """The places in ``text`` of the words, or in unspaced scripts of the runs of characters, that ``other`` has too."""
    if is_unspaced(text):
        return _shared_runs(text, other)
    known = set(content(other))
    return [found.span() for found in _WORD.finditer(text) if not known.isdisjoint(content(found.group()))]


def _shared_runs(text: str, other: str) -> list[tuple[int, int]]:
    known = {term for term in content(other) if not _KANA.search(term)}
    places: list[tuple[int, int]] = []
    for start in range(len(text) - 1):
        if text[start : start + 2] in known:
            first = places.pop()[0] if places and places[-1][1] > start else start
            places.append((first, start + 2))
    return places


def split_sentences(text: str, language: str) -> list[str]:
    """The sentences of ``text`` on one line each, headings left out."""
    found: list[str] = []
    for paragraph in text.split("\n\n"):
        if not _HEADING.match(paragraph):
            pieces: list[str] = []
            for piece in sentences(paragraph, language):
                if pieces and _GOES_ON.match(piece):
                    pieces[-1] += piece
                else:
                    pieces.append(piece)
            found.extend(s for s in map(collapse_whitespace, pieces) if any(c.isalnum() for c in s))
    return found


def inverse_frequencies(bags: Sequence[Iterable[str]]) -> dict[str, float]:
    """BM25's idf of every term: rare ones weigh more, none weighs nothing."""
    counts = Counter(term for bag in bags for term in set(bag))
    return {term: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for term, n in counts.items()}


class Bm25:
    """An index of bags of terms."""

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        import bm25s  # takes a third of a second to import

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets its own logger to DEBUG
        self._count = len(bags)
        self._index = bm25s.BM25()
        self._index.index([list(bag) or [""] for bag in bags] or [[""]], show_progress=False)

    def scores(self, query: Iterable[str]) -> list[float]:
        """The score of every bag for the terms of ``query``; 0 where they share none."""
        known = [term for term in query if term in self._index.vocab_dict]
        return [float(score) for score in self._index.get_scores(known)] if known else [0.0] * self._count


def cohesion(before: Sequence[str], after: Sequence[str]) -> float:
    """The cosine of the counts of the terms on both sides of a gap, 0 (a new subject) to 1."""
    one, other = Counter(before), Counter(after)
    dot = sum(count * other[term] for term, count in one.items())
    return dot / math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values())) if dot else 0.0


def central_sentences(pieces: Sequence[str]) -> list[float]:
    """How well each sentence tells of them all: the weight of its terms for its length, by its form.

    What somebody says or asks, what stands for a name that is not there, what is no whole sentence, and a long one
    count less; the first counts more."""
    bags = [content(piece) for piece in pieces]
    counts = Counter(term for bag in bags for term in bag)
    idf = inverse_frequencies(bags)
    scores: list[float] = []
    for index, (piece, bag) in enumerate(zip(pieces, bags, strict=True)):
        weight = math.fsum((1 + math.log(counts[t])) * (0.3 + idf[t]) for t in set(bag))
        names = len(re.findall(r"(?<=[a-z,;] )[A-Z][a-z]+", piece))
        length = count_words(piece)
        score = (weight + min(names, 3)) / (4 + length) ** 0.7 * min(1.0, LONG / max(1, length))
        score *= 0.5 ** sum(bool(form.search(piece)) for form in _LESSER)
        scores.append(score * (1.25 if index == 0 else 1.0))
    return scores


def overlap(bag: Iterable[str], wanted: Iterable[str], idf: Mapping[str, float]) -> float:
    """The share of the weight of ``wanted`` that is in ``bag``, 0 to 1. A term never seen weighs as the rarest."""
    rarest = max(idf.values(), default=1.0)
    asked = set(wanted)
    total = math.fsum(idf.get(t, rarest) for t in asked)
    return math.fsum(idf.get(t, rarest) for t in asked & set(bag)) / total if total else 0.0
