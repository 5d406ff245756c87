"""How the built-in reader answers: the sentences that share most with the question, each with its page.

It copies sentences and never makes one up. Where the text shares too little with the question it replies that nothing
was found. Knows nothing of models; works from a prompt's fields and replies in the form that the prompt asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

from readagent_core.models.builtin.introductions import SPEECH, introduces, mentions, person_asked
from readagent_core.models.builtin.parts_asked import Part, part_asked
from readagent_core.models.builtin.replies import NEAREST, NOT_FOUND, OF_FEW, OF_PART, reply
from readagent_core.models.builtin.sentences import KANJI, Sentence, sentences_of
from readagent_core.models.builtin.statistics import (
    asked_terms,
    central_sentences,
    content,
    inverse_frequencies,
    names_in,
    overlap,
    split_sentences,
)
from readagent_core.prompts import Prompt
from readagent_core.tags import split_memory
from readagent_core.words import count_words, is_unspaced

SENTENCES = 3  # an answer is short
END_WORDS = 40  # of an end of the text that is shown, at least
FIRST = 2  # sentences that tell first of a person whom none introduces
BOOK = 100_000  # pages of a book of several, when a book and its page are one number
OF_BOOK = 0.5  # the best sentence of each of several books joins when it shares at least this much of that
NEAR = 0.75  # a further sentence joins when it shares at least this much of what the best one shares
# Both limits are measured on the samples' questions and on those of tests/data/unanswerable.json, which have no answer.
LEAST = 0.12  # share of the question's weight that one sentence with its neighbours must hold
KNOWN = 0.3  # share of the question's weight that the whole text must hold
KNOWN_JA = 0.5  # of a Japanese question, whose terms are counted without kana
TOGETHER = 2  # words of the question, besides names, that a sentence that fits has with its neighbours

_NAME = re.compile(r"(?<=[\w.,;:] )[A-Z][\w'’]+")
_NUMBER = re.compile(
    r"\d+|(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)"
)
_ASKS = re.compile(r"[?？]\W*$")
_GOES_ON = re.compile(r"(?:He|She)\b")
_TELLS = re.compile(r"[^\W\d]{3}|[^\x00-\x7f]{2}")  # a word; a time alone, as '2.10 a.m.', has none
_OPTION = re.compile(r"^\(([A-Z])\)\s*(.*)$", re.MULTILINE)
_THE_END = re.compile(r"^\W*(?:(?:the )?end|finis|fin|ende|完|終わり|終|了)\W*$", re.IGNORECASE)
_ASKING = re.compile(r"何[一-龥]{0,2}|誰|幾[一-龥]?")  # 'what', 'which year', 'who', 'how many'
_KANA = re.compile(r"[\u3040-\u309f]")


@dataclass(frozen=True)
class Said:
    """A reply in words. ``fits``: it answers; else nothing was found, or nothing that fits the question."""

    text: str
    fits: bool = True


def _scored(found: list[Sentence], question: str) -> list[tuple[float, Sentence]]:
    """Every sentence with the share of the question's weight it holds; its neighbours count for less."""
    idf = inverse_frequencies([s.bag for s in found])
    wanted = asked_terms(question)
    return [(overlap(s.bag, wanted, idf) + 0.4 * overlap(s.near - s.bag, wanted, idf), s) for s in found]


def _knows(found: list[Sentence], question: str) -> bool:
    """Whether the text has every name of the question and enough of its other words."""
    known = frozenset[str]().union(*(s.bag for s in found))
    if any(known.isdisjoint(content(name)) for name in names_in(question)):
        return False
    # of Japanese, pairs with kana are mostly grammar: they decide only where there is nothing else
    wanted = [term for term in asked_terms(_ASKING.sub(" ", question)) if not _KANA.search(term)]
    least = KNOWN_JA if any(map(KANJI.search, wanted)) else KNOWN
    return overlap(known, wanted or asked_terms(question), inverse_frequencies([s.bag for s in found])) >= least


def _fits(chosen: list[Sentence], question: str) -> bool:
    """Whether one that is shown, with its neighbours, has more of the question than its names and one loose word.

    And its numbers: 'ten minutes' are no 'forty-seven minutes'. Not known of Japanese, where it is not known what a
    word is.
    """
    names = {term for name in _NAME.findall(question) for term in content(name)}
    words = {*content(question)} - names or names
    numbers = set(filter(_NUMBER.fullmatch, words))
    least = min(TOGETHER, len(words))
    return is_unspaced(question) or any(numbers <= s.near and len(words & s.near) >= least for s in chosen)


def _until(sentences: list[Sentence], words: int) -> list[Sentence]:
    """The first of ``sentences``, as many as have ``words`` words together."""
    lengths = accumulate((count_words(sentence.text) for sentence in sentences), initial=0)
    return [sentence for sentence, before in zip(sentences, lengths, strict=False) if before < words]


def _overview(text: str, language: str, part: Part, *, quote: bool) -> str:
    """For a question about the whole: a telling sentence each of beginning, middle and end; for one about an end of
    the text, the sentences there. Said to be that.
    """
    entries = [
        [Sentence(piece, page, full, frozenset(), frozenset()) for piece in split_sentences(body, language)
         if not _THE_END.search(piece)]
        for page, full, body in split_memory(text) or [(0, False, text)]
    ]  # fmt: skip
    if part is Part.WHOLE and len(entries) < SENTENCES:  # their thirds
        pieces = list(chain(*entries))
        ends = [len(pieces) * n // SENTENCES for n in range(SENTENCES + 1)]
        entries = [pieces[start:end] for start, end in pairwise(ends)]
    entries = [entry for entry in entries if entry] or [[]]
    last = len(entries) - 1
    if part is Part.BEGINNING:
        chosen = _until(entries[0], END_WORDS)
    elif part is Part.END:
        chosen = _until(entries[last][::-1], END_WORDS)[::-1]
    else:
        told = [entries[i] for i in dict.fromkeys((0, len(entries) // 2, last)) if entries[i]]
        chosen = [entry[_most_central(entry)] for entry in told]
    own = "ja" if language == "ja" else "en"
    opening = OF_PART[own][part] if part is not Part.WHOLE else OF_FEW[own].get(len(chosen), OF_PART[own][part])
    return reply(chosen, language, opening=f"{opening}\n\n", quote=quote)


def _most_central(sentences: list[Sentence]) -> int:
    scores = central_sentences([sentence.text for sentence in sentences])
    return max(range(len(sentences)), key=lambda i: (scores[i], i))


def answer(prompt: Prompt) -> str:
    """What ``find_answer`` says."""
    return find_answer(prompt).text


def find_answer(prompt: Prompt) -> Said:
    """The sentences closest to the question, in the order of their pages; those of full pages first."""
    text, quote, question = _source(prompt), bool(prompt.fields.get("quote")), prompt.fields["question"]
    if part := part_asked(question):
        return Said(_overview(text, prompt.language, part, quote=quote))
    found = sentences_of(text, prompt.language)
    if told := _told_of_person(found, question):
        return Said(reply(told, prompt.language, quote=quote))
    every = _scored(found, question)
    scored = [row for row in every if row[0] >= LEAST]
    nothing = Said(NOT_FOUND["ja" if prompt.language == "ja" else "en"], fits=False)
    if not scored or not _knows(found, question):
        return nothing
    # a gist is another's words, perhaps a model's: it is used only where no page in full of its book has a sentence
    in_full = {s.page // BOOK for _, s in scored if s.full}
    used = [row for row in scored if row[1].full or row[1].page // BOOK not in in_full]
    scored = sorted(used, key=lambda row: -row[0])
    near = [s for score, s in scored[: SENTENCES * 2] if score >= NEAR * scored[0][0]]
    best = {s.page // BOOK: s for score, s in reversed(scored) if score >= OF_BOOK * scored[0][0]}  # of each book
    if told := _of_the_thing_asked(every, near, question):
        near = told
        best |= {s.page // BOOK: s for s in told}
    unique = _of_each_book([*near, *best.values()])[:SENTENCES]
    fits = _fits(unique, question)
    chosen = sorted(unique, key=lambda s: s.page)
    if fits:
        return Said(reply(_with_replies(chosen, found), prompt.language, quote=quote))
    chosen = [s for s in chosen if not s.bag.isdisjoint(asked_terms(question))]  # not for its neighbours' words
    opening = f"{NEAREST}\n\n"
    return Said(reply(chosen, prompt.language, opening=opening, quote=quote), fits=False) if chosen else nothing


def _of_the_thing_asked(every: list[tuple[float, Sentence]], near: list[Sentence], question: str) -> list[Sentence]:
    """Sentences with a word of the question besides names: of ``near``; else the best on a page in full with a name.

    The words of two names outweigh the one that is asked about. None where the first of ``near`` have such a word.
    """
    names = {term for name in _NAME.findall(question) for term in content(name)}
    words = {*content(question)} - names
    if not names or is_unspaced(question) or any(words & s.bag for s in near[:SENTENCES]):
        return []
    if told := [s for s in near if words & s.bag]:
        return told
    named = {s.page for _, s in every if s.full and names & s.bag}
    there = [row for row in every if row[1].page in named and words & row[1].bag]
    return [max(there, key=lambda row: row[0])[1]] if there else []


def _of_person(found: list[Sentence], question: str) -> tuple[list[Sentence], bool]:
    """For 'Who is Mr. Crale …?': the sentences that say who that is, and True; else the first that tell of the person.

    Each of these with the next, where that goes on with 'He' or 'She'. None for any other question."""
    name, _ = person_asked(question)
    told = [s for s in found if name and introduces(s.text, name)]
    told = [s for s in told if not s.text.startswith(SPEECH)] or told
    if told:
        return [s for s in told if name in s.text] or told, True
    first = [s for s in found if name and mentions(s.text, name)][:FIRST]
    after = {id(s): t for s, t in pairwise(found) if s.page == t.page and _GOES_ON.match(t.text)}
    return list(dict.fromkeys(t for s in first for t in (s, after.get(id(s))) if t)), False


def _told_of_person(found: list[Sentence], question: str) -> list[Sentence]:
    """The answer to a question who somebody is: that, then what fits the rest of the question and names the person."""
    name, rest = person_asked(question)
    if not name or not _knows(found, name):
        return []
    told, wanted = _of_each_book(_of_person(found, question)[0]), {*content(rest)} - {*content(name)}
    more = [s for s in found if wanted and name in s.text and len(wanted & s.bag) >= min(TOGETHER, len(wanted))]
    return _of_each_book([*told[: SENTENCES - bool(more)], *more])[:SENTENCES] if told else []


def page_of_person(memory: str, language: str, question: str) -> int | None:
    """The page that tells first of the person a question asks for; 0 where the memory says who that is already.

    None where no person is asked for, something else too, or none that it tells of."""
    if person_asked(question)[1]:
        return None
    told, introduced = _of_person(sentences_of(memory, language), question)
    return (0 if introduced else told[0].page) if told else None


def _with_replies(chosen: list[Sentence], found: list[Sentence]) -> list[Sentence]:
    """``chosen`` with the sentence after each that asks, which may be its answer: 'Against?', 'Bea.'; or that is no
    more than a time.

    After one alone also the next that goes on with 'He' or 'She': it may tell what was done.
    """
    after = {
        id(s): t
        for s, t in pairwise(found)
        if s.page == t.page
        and (_ASKS.search(s.text) or not _TELLS.search(s.text) or (len(chosen) == 1 and _GOES_ON.match(t.text)))
    }
    return list(dict.fromkeys(t for s in chosen for t in (s, after.get(id(s))) if t))


def _of_each_book(found: list[Sentence]) -> list[Sentence]:
    """The sentences without repetitions, of several books the first of each before the others."""
    unique = list({s.text: s for s in found}.values())
    first: dict[int, Sentence] = {}
    for sentence in unique:
        first.setdefault(sentence.page // BOOK, sentence)
    return [*first.values(), *(s for s in unique if s not in first.values())]


def choose(prompt: Prompt) -> str:
    """The option whose own words are closest to the words of the question."""
    options = _OPTION.findall(prompt.fields["options"])
    scored = _scored(sentences_of(_source(prompt), prompt.language), prompt.fields["question"])
    idf = inverse_frequencies([s.bag for _, s in scored])
    asked = set(content(prompt.fields["question"]))
    best: tuple[float, str, Sentence | None] = (-1.0, "A", None)
    for letter, option in options:
        own = [t for t in content(option) if t not in asked] or content(option)
        for relevance, sentence in scored:
            score = (overlap(sentence.bag, own, idf) + 0.5 * overlap(sentence.near, own, idf)) * (0.2 + relevance)
            if score > best[0]:
                best = (score, letter, sentence)
    score, letter, found = best
    if found is None or score <= 0:
        why = "同じ言葉が見つからないため、推測です。" if prompt.language == "ja" else "A guess: no words are shared."
        return f"Answer: ({letter})\n{why}"
    return reply([found], prompt.language, opening=f"Answer: ({letter})\n", quote=bool(prompt.fields.get("quote")))


def _source(prompt: Prompt) -> str:
    """The text that the prompt asks about: a whole text or a part of it, else a memory with pages."""
    return prompt.fields["text"] if "text" in prompt.fields else prompt.fields["memory"]
