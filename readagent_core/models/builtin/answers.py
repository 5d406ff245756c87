"""How the built-in reader answers: the sentences that share most with the question, each with its page.

It copies sentences and never makes one up. Where the text shares too little with the question it replies that nothing
was found. Knows nothing of models; works from a prompt's fields and replies in the form that the prompt asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, chain, pairwise

from readagent_core.models.builtin.introductions import SPEECH, introduces, mentions, person_asked
from readagent_core.models.builtin.statistics import (
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
LONG = 40  # words; of a longer sentence a part is quoted
LEAST_PART = 8  # words of a part
NEAR = 0.75  # a further sentence joins when it shares at least this much of what the best one shares
# Both limits are measured on the samples' questions and on those of tests/data/unanswerable.json, which have no answer.
LEAST = 0.12  # share of the question's weight that one sentence with its neighbours must hold
KNOWN = 0.3  # share of the question's weight that the whole text must hold
KNOWN_JA = 0.5  # of a Japanese question, whose terms are counted without kana
TOGETHER = 2  # words of the question, besides names, that a sentence that fits has with its neighbours


class Part(StrEnum):
    """What part of the text a question asks for by no word that would be found there."""

    WHOLE = "whole"
    BEGINNING = "beginning"
    END = "end"


NOT_FOUND = {"en": "Not found in what it saw.", "ja": "見た範囲には見つかりませんでした。"}
NOT_IN_BOOK = {"en": "Not found in this book.", "ja": "この本には見つかりませんでした。"}  # where all of it was seen
OF_PART = {  # with which an answer about it begins; the reader does not know how many pages the book has
    "en": {
        Part.WHOLE: "A sentence each from the beginning, the middle and the end:",
        Part.BEGINNING: "The first sentences that were looked at:",
        Part.END: "The last sentences that were looked at:",
    },
    "ja": {
        Part.WHOLE: "はじめ、中ほど、終わりから一文ずつ：",
        Part.BEGINNING: "見た範囲の最初の文：",
        Part.END: "見た範囲の最後の文：",
    },
}
OF_FEW = {  # where the text has no sentence for each of the three
    "en": {2: "A sentence each from the beginning and the end:", 1: "One sentence of what was looked at:"},
    "ja": {2: "はじめと終わりから一文ずつ：", 1: "見た範囲から一文："},
}
NEAREST = "Found no sentence that fits the question. The nearest:"
OWN_WORDS = (
    *NOT_FOUND.values(),
    *NOT_IN_BOOK.values(),  # of stored answers too
    *(opening for openings in OF_PART.values() for opening in openings.values()),
    *(opening for openings in OF_FEW.values() for opening in openings.values()),
    NEAREST,
)  # with which an answer begins: no sentence of the book
_NAME = re.compile(r"(?<=[\w.,;:] )[A-Z][\w'’]+")
_NUMBER = re.compile(
    r"\d+|(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)"
)
_ASKS = re.compile(r"[?？]\W*$")
_GOES_ON = re.compile(r"(?:He|She)\b")
_OPTION = re.compile(r"^\(([A-Z])\)\s*(.*)$", re.MULTILINE)
_BOOK = r"(?:it|(?:the|this) (?:whole )?(?:book|story|novel|text|tale|play|narrative))"
_ENDS = rf"(?: (?:in|of) {_BOOK})?\W*$"
_PARTS = {
    Part.WHOLE: re.compile(
        r"^\W*what (?:has )?happened so far\W*$|何について|ここまでに何が|あらすじ|\bsummar(?:y|ise|ize)\b",
        re.IGNORECASE,
    ),
    Part.END: re.compile(
        rf"^\W*(?:how (?:does|did|will) {_BOOK} (?:all |finally )?(?:end|finish|close|conclude|come to an end|turn out)"
        r"|what happens (?:at|in|towards) the (?:very )?end|what happens last"
        r"|what(?:'s|’s| is| are| was| were) the (?:end|ending|conclusion|(?:very )?last (?:sentences?|words?|lines?)))"
        rf"{_ENDS}|結末|どう終わ|最後はどう",
        re.IGNORECASE,
    ),
    Part.BEGINNING: re.compile(
        rf"^\W*(?:how (?:does|did) {_BOOK} (?:all )?(?:begin|start|open|commence)"
        r"|what happens (?:at|in) the (?:very )?(?:beginning|start|opening)|what happens first"
        r"|what(?:'s|’s| is| are| was| were) the (?:beginning|start|opening|(?:very )?first "
        r"(?:sentences?|words?|lines?)))"
        rf"{_ENDS}|冒頭|どう始ま|最初はどう",
        re.IGNORECASE,
    ),
}
_THE_END = re.compile(r"^\W*(?:(?:the )?end|finis|fin|ende|完|終わり|終|了)\W*$", re.IGNORECASE)
_KANJI = re.compile(r"[一-龥々]")
_LONE = re.compile(r"(?<![一-龥々])[一-龥々](?![一-龥々])")
_ASKING = re.compile(r"何[一-龥]{0,2}|誰|幾[一-龥]?")  # 'what', 'which year', 'who', 'how many'
_KANA = re.compile(r"[\u3040-\u309f]")
_CLAUSE = re.compile(r";\s+")
_QUOTE_MARKS = re.compile(r"[\"“”„«»「」『』]")
_PAIRS = (("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"), ('"', '"'))
_UNPAIRED = re.compile(r"(?P<pair>\*+[^\s*](?:[^*]*[^\s*])?\*+|\s\*+\s)|\*+")


@dataclass(frozen=True)
class _Sentence:
    """``page`` is 0 where the text has no pages. ``near``: terms of the sentence and its neighbours."""

    text: str
    page: int
    full: bool
    bag: frozenset[str]
    near: frozenset[str]


@dataclass(frozen=True)
class Said:
    """A reply in words. ``fits``: it answers; else nothing was found, or nothing that fits the question."""

    text: str
    fits: bool = True


def _asked(question: str) -> list[str]:
    """The terms of a question; in Japanese also the words of one character, which pairs of characters do not hold."""
    return [*content(question), *_LONE.findall(question)]


def _sentences(text: str, language: str) -> list[_Sentence]:
    entries = split_memory(text) or [(0, False, text)]
    found: list[_Sentence] = []
    for page, full, body in entries:
        pieces = [part for piece in split_sentences(body, language) for part in _parts(piece, language)]
        bags = [frozenset(content(piece)).union(_KANJI.findall(piece)) for piece in pieces]
        for i, piece in enumerate(pieces):
            found.append(_Sentence(piece, page, full, bags[i], frozenset().union(*bags[max(0, i - 1) : i + 2])))
    return found


def _parts(sentence: str, language: str) -> list[str]:
    """A sentence; of a long one, as a speech between quotation marks is, the sentences and clauses in it."""
    if count_words(sentence) <= LONG:
        return [sentence]
    ends = [found.end() for found in _CLAUSE.finditer(sentence)]
    at = 0
    for inner in split_sentences(_QUOTE_MARKS.sub(" ", sentence), language):  # marks hide the ends of what is said
        words = f"(?:{_QUOTE_MARKS.pattern}|\\s)+".join(map(re.escape, inner.split())) + f"(?:{_QUOTE_MARKS.pattern})*"
        if found := re.compile(words).search(sentence, at):
            at = found.end()
            ends.append(at)
    parts: list[str] = []
    start = 0
    for end in sorted({*ends, len(sentence)}):
        if count_words(sentence[start:end]) >= LEAST_PART:
            parts.append(sentence[start:end].strip())
            start = end
    return [*parts[:-1], f"{parts[-1]} {sentence[start:].strip()}".strip()]


def _scored(found: list[_Sentence], question: str) -> list[tuple[float, _Sentence]]:
    """Every sentence with the share of the question's weight it holds; its neighbours count for less."""
    idf = inverse_frequencies([s.bag for s in found])
    wanted = _asked(question)
    return [(overlap(s.bag, wanted, idf) + 0.4 * overlap(s.near - s.bag, wanted, idf), s) for s in found]


def _knows(found: list[_Sentence], question: str) -> bool:
    """Whether the text has every name of the question and enough of its other words."""
    known = frozenset[str]().union(*(s.bag for s in found))
    if any(known.isdisjoint(content(name)) for name in names_in(question)):
        return False
    # of Japanese, pairs with kana are mostly grammar: they decide only where there is nothing else
    wanted = [term for term in _asked(_ASKING.sub(" ", question)) if not _KANA.search(term)]
    least = KNOWN_JA if any(map(_KANJI.search, wanted)) else KNOWN
    return overlap(known, wanted or _asked(question), inverse_frequencies([s.bag for s in found])) >= least


def _fits(chosen: list[_Sentence], question: str) -> bool:
    """Whether one that is shown, with its neighbours, has more of the question than its names and one loose word.

    And its numbers: 'ten minutes' are no 'forty-seven minutes'. Not known of Japanese, where it is not known what a
    word is.
    """
    names = {term for name in _NAME.findall(question) for term in content(name)}
    words = {*content(question)} - names or names
    numbers = set(filter(_NUMBER.fullmatch, words))
    least = min(TOGETHER, len(words))
    return is_unspaced(question) or any(numbers <= s.near and len(words & s.near) >= least for s in chosen)


def is_not_found(reply: str) -> bool:
    """Whether a reply of this reader says that nothing was found."""
    return reply in (*NOT_FOUND.values(), *NOT_IN_BOOK.values())


def not_found_in(language: str, *, all_seen: bool) -> str:
    """What is said in place of such a reply, which does not know how much of the text it saw."""
    return (NOT_IN_BOOK if all_seen else NOT_FOUND)["ja" if language == "ja" else "en"]


def _reply(chosen: list[_Sentence], language: str, *, opening: str = "", quote: bool = False) -> str:
    """The chosen sentences with their pages, and an 'Evidence:' block for those from full pages.

    ``quote``: the text has no page numbers, and its sentences are quoted without.
    """
    said = " ".join(f"{_shown(s.text)} [{s.page}]" if s.page else _shown(s.text) for s in chosen)
    lines = [f"{opening}{said}".strip()]
    said_of = [(f"[{s.page}] ", _quotation(s.text)) for s in chosen if s.full]
    if quote:
        said_of += [("", _quotation(s.text)) for s in chosen if not s.page]
    if said_of:
        japanese = language == "ja"
        lines += ["", "根拠：" if japanese else "Evidence:"]
        lines += [f"{mark}「{words}」" if japanese else f'{mark}"{words}"' for mark, words in said_of]
    return "\n".join(lines)


def _shown(sentence: str) -> str:
    """A sentence as it is said: with '…' where it is a part of one, and without marks that have no pair."""
    sentence = _UNPAIRED.sub(lambda found: found["pair"] or "", _paired(sentence)).strip()
    begun = f"… {sentence}" if sentence[:1].islower() else sentence
    return f"{begun[:-1]} …" if begun.endswith((";", ",")) else begun


def _paired(sentence: str) -> str:
    """``sentence`` without a quotation mark at its ends that has no pair, as one of a longer speech has none."""
    for opening, closing in _PAIRS:
        opened, closed = sentence.count(opening), sentence.count(closing)
        lone = opened % 2 if opening == closing else opened - closed
        if lone > 0 and sentence.startswith(opening):
            sentence = sentence.removeprefix(opening)
        elif lone and sentence.endswith(closing):
            sentence = sentence.removesuffix(closing)
    return sentence


def _quotation(sentence: str) -> str:
    """A stretch of the sentence that holds no quotation mark, so that it can be quoted."""
    return max(_QUOTE_MARKS.split(sentence), key=len).strip()


def part_asked(question: str) -> Part | None:
    """The part of the text that a question asks for; None for one that asks for something in it."""
    named = next((part for part, pattern in _PARTS.items() if pattern.search(question)), None)
    return named or (None if _asked(question) else Part.WHOLE)


def _until(sentences: list[_Sentence], words: int) -> list[_Sentence]:
    """The first of ``sentences``, as many as have ``words`` words together."""
    lengths = accumulate((count_words(sentence.text) for sentence in sentences), initial=0)
    return [sentence for sentence, before in zip(sentences, lengths, strict=False) if before < words]


def _overview(text: str, language: str, part: Part, *, quote: bool) -> str:
    """For a question about the whole: a telling sentence each of beginning, middle and end; for one about an end of
    the text, the sentences there. Said to be that.
    """
    entries = [
        [_Sentence(piece, page, full, frozenset(), frozenset()) for piece in split_sentences(body, language)
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
    return _reply(chosen, language, opening=f"{opening}\n\n", quote=quote)


def _most_central(sentences: list[_Sentence]) -> int:
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
    found = _sentences(text, prompt.language)
    if told := _told_of_person(found, question):
        return Said(_reply(told, prompt.language, quote=quote))
    scored = [row for row in _scored(found, question) if row[0] >= LEAST]
    if not scored or not _knows(found, question):
        return Said(NOT_FOUND["ja" if prompt.language == "ja" else "en"], fits=False)
    # a gist is another's words, perhaps a model's: it is used only where no page in full has a sentence
    scored = sorted([row for row in scored if row[1].full] or scored, key=lambda row: -row[0])
    near = [s for score, s in scored[: SENTENCES * 2] if score >= NEAR * scored[0][0]]
    best = {s.page // BOOK: s for _, s in reversed(scored)}  # of each book
    unique = _of_each_book([*near, *best.values()])[:SENTENCES]
    fits = _fits(unique, question)
    opening = "" if fits else f"{NEAREST}\n\n"
    chosen = _with_replies(sorted(unique, key=lambda s: s.page), found)
    return Said(_reply(chosen, prompt.language, opening=opening, quote=quote), fits)


def _of_person(found: list[_Sentence], question: str) -> tuple[list[_Sentence], bool]:
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


def _told_of_person(found: list[_Sentence], question: str) -> list[_Sentence]:
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
    told, introduced = _of_person(_sentences(memory, language), question)
    return (0 if introduced else told[0].page) if told else None


def _with_replies(chosen: list[_Sentence], found: list[_Sentence]) -> list[_Sentence]:
    """``chosen`` with the sentence after each that asks, which may be its answer: 'Against?', 'Bea.'."""
    after = {id(s): t for s, t in pairwise(found) if s.page == t.page and _ASKS.search(s.text)}
    return list(dict.fromkeys(t for s in chosen for t in (s, after.get(id(s))) if t))


def _of_each_book(found: list[_Sentence]) -> list[_Sentence]:
    """The sentences without repetitions, of several books the first of each before the others."""
    unique = list({s.text: s for s in found}.values())
    first: dict[int, _Sentence] = {}
    for sentence in unique:
        first.setdefault(sentence.page // BOOK, sentence)
    return [*first.values(), *(s for s in unique if s not in first.values())]


def choose(prompt: Prompt) -> str:
    """The option whose own words are closest to the words of the question."""
    options = _OPTION.findall(prompt.fields["options"])
    scored = _scored(_sentences(_source(prompt), prompt.language), prompt.fields["question"])
    idf = inverse_frequencies([s.bag for _, s in scored])
    asked = set(content(prompt.fields["question"]))
    best: tuple[float, str, _Sentence | None] = (-1.0, "A", None)
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
    return _reply([found], prompt.language, opening=f"Answer: ({letter})\n", quote=bool(prompt.fields.get("quote")))


def _source(prompt: Prompt) -> str:
    """The text that the prompt asks about: a whole text or a part of it, else a memory with pages."""
    return prompt.fields["text"] if "text" in prompt.fields else prompt.fields["memory"]
