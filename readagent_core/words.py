"""Count and split words, sentences and paragraphs in any script.

Words are separated by white space. Scripts that do not separate words are counted by characters: two characters a word
for Chinese and Japanese (punctuation included), four for Thai, Lao, Khmer and Burmese, whose words are longer and have
combining marks. A run of more than ``LONGEST_WORD`` characters without a space is no word: it counts one word for every
eight characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

import pysbd

CJK = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
SOUTH_EAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
CHARACTERS_PER_WORD = {"cjk": 2, "south_east": 4}
_UNSPACED = {"ja": "cjk", "zh": "cjk", "th": "south_east", "lo": "south_east", "km": "south_east", "my": "south_east"}
LONGEST_WORD = 100  # characters; nearly all addresses (URLs) are shorter
_PER_UNBROKEN = 8  # characters a word in a longer run
_PIECE = 400  # characters of such a run in one paragraph
_CJK_RUN = re.compile(f"[{CJK}]+")
_SOUTH_EAST_RUN = re.compile(f"[{SOUTH_EAST}]+")
_UNSPACED_RUN = re.compile(f"[{CJK}{SOUTH_EAST}]+")
_RUN = re.compile(f"[{CJK}{SOUTH_EAST}]+|[^{CJK}{SOUTH_EAST}]+")
_UNBROKEN = re.compile(f"[^\\s{CJK}{SOUTH_EAST}]{{{_PIECE}}}(?=\\S)")
_ASCII = bytes(range(128))
_LETTERS = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)
_SPACE = re.compile(r"\s+")
_CJK_SENTENCE = re.compile(r".+?(?:[。！？!?…]+[」』）”’\"]*|\n+|$)", re.DOTALL)
_PLAIN_SENTENCE = re.compile(r".+?(?:[.!?…؟۔।]+[\"'”’»)\]]*(?=\s)|\n+|$)", re.DOTALL)
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# accents of Latin, Greek and Cyrillic letters; vowel signs and the stretching stroke of Arabic; points of Hebrew
SIGNS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
_SIGN = re.compile(f"[{SIGNS}]")
# letters that Unicode does not decompose, as people write them without their keys
_PLAIN_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n"}
    | {"ی": "ي", "ى": "ي", "ک": "ك"}  # as Persian and Arabic keyboards have them
    | {"ƀ": "b", "ɖ": "d", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ɔ": "o", "ɛ": "e", "ə": "e", "ʻ": "", "ʼ": ""}
)
# pysbd grows slower than linearly with length; longer runs go through the plain rule.
_PYSBD_LIMIT = 20_000


def non_ascii(text: str) -> str:
    """Return the characters of ``text`` that are not ASCII, in order. Some rules look at these alone."""
    if text.isascii():
        return ""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def count_words(text: str) -> int:
    """Return the number of words in ``text``; see the module's docstring for unspaced scripts and long runs."""
    spaced, unspaced = _spaced_words(text)
    if len(text) > LONGEST_WORD and max(map(len, spaced), default=0) > LONGEST_WORD:
        unspaced += sum(-(-len(word) // _PER_UNBROKEN) - 1 for word in spaced if len(word) > LONGEST_WORD)
    return len(spaced) + unspaced


def _count_for_splitting(text: str) -> int:
    """Return the number of words where a long run counts as one.

    ``split_long`` has always counted in this way. Saved readings refer to the pieces that it makes of a stored text, so
    this must not change; ``split_unbroken`` splits long runs when a file is imported.
    """
    spaced, unspaced = _spaced_words(text)
    return len(spaced) + unspaced


def _spaced_words(text: str) -> tuple[list[str], int]:
    """Return the words of ``text`` between spaces, and the number of words in scripts without spaces."""
    if not _UNSPACED_RUN.search(non_ascii(text)):
        return text.split(), 0
    # rounded up, so that the parts of a text never count less than the whole
    unspaced = sum(
        -(-sum(map(len, pattern.findall(text))) // CHARACTERS_PER_WORD[name])
        for name, pattern in (("cjk", _CJK_RUN), ("south_east", _SOUTH_EAST_RUN))
    )
    return _UNSPACED_RUN.sub(" ", text).split(), unspaced


def split_unbroken(text: str) -> list[str]:
    """Return ``text`` cut every 400 characters inside runs without a space; joined without a separator it is ``text``.

    Scripts that do not separate words are not cut.
    """
    if len(text) <= _PIECE:
        return [text]
    cuts = [0, *(found.end() for found in _UNBROKEN.finditer(text)), len(text)]
    return [text[a:b] for a, b in pairwise(cuts)]


def count_of(number: int, noun: str) -> str:
    """Return '1 document', '2,086 questions'."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def pages_up_to(number: int) -> str:
    """Return 'page 1', 'pages 1 to 12'."""
    return "page 1" if number == 1 else f"pages 1 to {number}"


def quoted(words: str) -> str:
    """``words`` in quotation marks: their own double marks become single ones; none are added to a quotation."""
    words = words.strip()
    inner = words[1:-1]
    if words.startswith("“") and words.endswith("”") and not re.search("[“”]", inner):
        return words
    return f"“{words.replace('“', '‘').replace('”', '’')}”"


def length_of(words: int, language: str) -> str:
    """Return the length of a text for people: '10,309 words', or '5,200 characters' where words are not separated.

    ``words``: as ``count_words`` counts. ``language``: a tag such as 'en' or 'zh-Hant'.
    """
    script = _UNSPACED.get(language.split("-")[0].lower())
    return count_of(words * CHARACTERS_PER_WORD[script], "character") if script else count_of(words, "word")


def is_unspaced(text: str) -> bool:
    """Return whether most of ``text`` is in a script that does not separate words by spaces."""
    unspaced = sum(len(run) for run in _UNSPACED_RUN.findall(non_ascii(text)))
    return unspaced > 0 and unspaced * 2 > len(_SPACE.sub("", text))


def is_right_to_left(text: str) -> bool:
    """Return whether most letters of ``text`` are written from right to left (Arabic, Hebrew and others)."""
    right_to_left = len(_RIGHT_TO_LEFT.findall(non_ascii(text)))
    return right_to_left > 0 and 0 < sum(c.isalpha() for c in text) < right_to_left * 2


def terms(text: str) -> list[str]:
    """Return lower-case search terms: words, and overlapping character pairs for unspaced scripts."""
    words: list[str] = _LETTERS.findall(text.lower())
    if not _UNSPACED_RUN.search(non_ascii(text)):
        return words
    found: list[str] = []
    for run in (run for word in words for run in _RUN.findall(word)):
        if len(run) == 1 or not _UNSPACED_RUN.match(run):
            found.append(run)
        else:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
    return found


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Return ``word`` for searching: letter case, accents, vowel signs and the width of letters do not matter.

    By Unicode's compatibility decomposition and case folding ('Straße' is 'strasse'); letters that have no
    decomposition are written as their plain ones ('Łódź' is 'lodz', 'Søren' is 'soren').
    """
    return _SIGN.sub("", unicodedata.normalize("NFKD", word.casefold())).casefold().translate(_PLAIN_LETTERS)


def sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of ``text`` in order; joined without a separator they are ``text``."""
    if not text:
        return []
    if is_unspaced(text):
        return _CJK_SENTENCE.findall(text)
    if len(text) > _PYSBD_LIMIT:
        return _PLAIN_SENTENCE.findall(text)
    return list(_segmented(text, language.split("-")[0].lower()))


@lru_cache(maxsize=2048)  # the built-in reader splits the same paragraph for its gist, look-ups and every question
def _segmented(text: str, language: str) -> tuple[str, ...]:
    try:
        segmenter = pysbd.Segmenter(language=language, clean=False)  # its own for each text: it holds state
    except ValueError:  # a language that pysbd does not know
        return tuple(_PLAIN_SENTENCE.findall(text))
    # segment() searches each sentence by a regular expression, which takes as long as the segmentation itself
    return tuple(_cut_at_sentences(text, segmenter.processor(text).process()))


def _cut_at_sentences(text: str, found: list[str]) -> list[str]:
    """Return ``text`` cut where the sentences of ``found`` begin; those that do not occur in it are ignored."""
    starts: list[int] = []
    position = 0
    for sentence in found:
        core = sentence.strip()
        at = text.find(core, position)
        if core and at >= 0:
            starts.append(at)
            position = at + len(core)
    if not starts:
        return [text]
    starts[0] = 0
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def split_long(text: str, limit: int, language: str = "en") -> list[str]:
    """Return ``text`` in pieces of at most ``limit`` words, cut at sentence ends, else between words.

    Joined without a separator the pieces are ``text``. A single word longer than the limit (text without spaces) is cut
    between characters.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1 word")
    if _count_for_splitting(text) <= limit:
        return [text]
    parts = list(_parts_within(text, limit, language))
    return ["".join(parts[a:b]) for a, b in group_by_words([_count_for_splitting(part) for part in parts], limit)]


def group_by_words(sizes: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """Return runs of items, as (start, end), of at most ``limit`` words each; a longer item is a run of its own.

    ``sizes``: the words of each item.
    """
    starts, words = [0], 0
    for index, size in enumerate(sizes):
        if words and words + size > limit:
            starts.append(index)
            words = 0
        words += size
    return list(pairwise([*starts, len(sizes)]))


def _parts_within(text: str, limit: int, language: str) -> Iterator[str]:
    for sentence in sentences(text, language):
        if _count_for_splitting(sentence) <= limit:
            yield sentence
            continue
        for word in re.findall(r"\s*\S+\s*$|\s*\S+", sentence) or [sentence]:
            if _count_for_splitting(word) <= limit:
                yield word
            else:
                while word:
                    cut = max(1, _fitting(word, limit, _count_for_splitting))
                    yield word[:cut]
                    word = word[cut:]


def first_words(text: str, limit: int) -> str:
    """Return the first ``limit`` words of ``text``, cut at a space, or at a character in unspaced scripts."""
    return _clip(text, limit, from_end=False)


def spread(places: Sequence[int], most: int) -> list[int]:
    """Return at most ``most`` of the places, the first, the last and those spread evenly between them."""
    if len(places) <= most or most < 2:
        return list(places[:most])
    return [places[round(n * (len(places) - 1) / (most - 1))] for n in range(most)]


def last_words(text: str, limit: int) -> str:
    """Return the last ``limit`` words of ``text``, cut at a space, or at a character in unspaced scripts."""
    return _clip(text, limit, from_end=True)


def _clip(text: str, limit: int, *, from_end: bool) -> str:
    if limit <= 0:
        return ""
    if count_words(text) <= limit:
        return text
    size = _fitting(text, limit, from_end=from_end)
    cut = len(text) - size if from_end else size
    clip = text[cut:] if from_end else text[:cut]
    if size and not is_unspaced(clip) and not any(map(str.isspace, text[cut - 1 : cut + 1])):  # inside a word
        clip = clip.split(None, 1)[-1] if from_end else clip.rsplit(None, 1)[0]
    return clip.strip()


def _fitting(text: str, limit: int, count: Callable[[str], int] = count_words, *, from_end: bool = False) -> int:
    """Return the most characters, counted from one end of ``text``, that have at most ``limit`` words."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[-middle:] if from_end else text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def collapse_whitespace(text: str) -> str:
    """Return ``text`` with every run of white space replaced by one space, and none at its ends."""
    return _SPACE.sub(" ", text).strip()


_COPIED = 0.8  # of a gist's words that stand, in the same order, in little more of the page than it has itself
_MORE, _HEADING_WORDS = 1.5, 12
_LEAST_RUNS = 20


def copies_beginning(text: str, page: str, *, least: int) -> bool:
    """Whether ``text``, of ``least`` words or more, is what ``page`` begins with, with few words changed or left out.
    Never so where words have no spaces.
    """
    said = terms(text)[:-1]  # the last one may not be whole
    if len(said) < least or is_unspaced(page[:2000]):
        return False
    beginning = terms(page)[: round(_MORE * len(said)) + _HEADING_WORDS]
    blocks = SequenceMatcher(None, said, beginning, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= _COPIED * len(said)


def runs_of_three(text: str) -> list[tuple[str, str, str]]:
    """Return each three words in a row of ``text``."""
    said = terms(text)
    return list(zip(said, said[1:], said[2:], strict=False))


def repeated_share(text: str) -> float:
    """Return the share of the runs of three words in ``text`` that were said before in it; 0 for a short text."""
    runs = runs_of_three(text)
    return 1 - len(set(runs)) / len(runs) if len(runs) >= _LEAST_RUNS else 0.0


def is_beginning(text: str, page: str) -> bool:
    """Whether the words of ``text`` are the first ones of ``page``. Never so where words have no spaces."""
    said = terms(text)
    return not is_unspaced(page[:2000]) and said == terms(page[: 2 * len(text) + 200])[: len(said)]
