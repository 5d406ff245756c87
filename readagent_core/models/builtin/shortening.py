"""How the built-in reader shortens: the most central sentences in their order, none repeated, within a length.

Knows nothing of models; works from a prompt's fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from readagent_core.models.builtin.statistics import central_sentences, content, split_sentences
from readagent_core.prompts import Prompt, render_fragment
from readagent_core.words import collapse_whitespace, count_words, first_words

_IMPRINT = re.compile(
    r"^\W*(?:copyright\b|©|\(c\) ?\d{4}|(?:re)?(?:printed|published) (?:by|in)\b|ISBN\b|all rights reserved)"
    r"|^\W*transcriber[’']s note|\bproject gutenberg\b",
    re.IGNORECASE,
)  # what a book says of its making
_ENDED = re.compile(r"[.!?…:。！？][\"'”’)\]」』»*_]*$")
_LEAST = 0.4  # of the best sentence's score
WORDS = 60  # of a gist where the prompt names no length


def gist(prompt: Prompt) -> str:
    """The most central sentences of the page, within the length that the prompt asks for."""
    fields = prompt.fields
    wanted = content(fields.get("purpose", "") + " " + fields["instructions"])
    return shortened(fields["page"], _middle(fields), prompt.language, wanted=wanted)


def summary(prompt: Prompt) -> str:
    """The most central sentences of a text, or of the summaries below a node."""
    return shortened(prompt.fields["text"], _middle(prompt.fields), prompt.language)


def _middle(fields: Mapping[str, str]) -> int:
    """The middle of the range of lengths that a prompt asks for."""
    return (number_in(fields["least"], WORDS) + number_in(fields["most"], WORDS)) // 2


def carry(prompt: Prompt) -> str:
    """The summary so far and the next part, shortened together."""
    before = prompt.fields["memory"]
    if before == render_fragment("carry.none", prompt.language):
        before = ""
    return shortened(f"{before}\n\n{prompt.fields['text']}", number_in(prompt.fields["target"], WORDS), prompt.language)


def number_in(text: str, default: int) -> int:
    """The number that the digits of ``text`` make, at least 1; ``default`` where it has none."""
    return max(1, int(re.sub(r"\D", "", text)[:9] or default))


def shortened(text: str, limit: int, language: str, *, wanted: Sequence[str] = ()) -> str:
    """``text`` in at most ``limit`` words (characters, for Japanese). ``wanted``: terms that count more.

    Sentences of another paragraph begin a line: they do not follow on those before them."""
    characters = language == "ja"
    measure: Callable[[str], int] = len if characters else count_words
    paragraphs = [_whole(split_sentences(paragraph, language), limit, measure) for paragraph in text.split("\n\n")]
    paragraphs = [[piece for piece in found if not _IMPRINT.search(piece)] for found in paragraphs]
    pieces = [sentence for found in paragraphs for sentence in found]
    of = [number for number, found in enumerate(paragraphs) for _ in found]  # the paragraph of each sentence
    if not pieces:  # nothing but words on the book's making, or no sentence at all
        return collapse_whitespace(text)[:200]
    scores = central_sentences(pieces)
    if wanted:
        scores = [s * (1 + len(set(wanted) & set(content(p)))) for s, p in zip(scores, pieces, strict=True)]
    chosen: dict[int, str] = {}
    seen: set[str] = set()
    room = limit
    for index in sorted(range(len(pieces)), key=lambda i: -scores[i]):
        if 2 * room < limit and scores[index] < _LEAST * max(scores):  # what is left says little: better a short gist
            break
        bag = set(content(pieces[index]))
        if measure(pieces[index]) > room or (bag and len(bag & seen) > 0.6 * len(bag)):
            continue
        chosen[index] = pieces[index]
        seen |= bag
        room -= measure(pieces[index])
        if room < 4:
            break
    if not chosen:
        best = pieces[max(range(len(pieces)), key=scores.__getitem__)]
        return best[: limit - 1] + "…" if characters else first_words(best, limit) + " …"
    lines = groupby(sorted(chosen), key=of.__getitem__)
    verse = ["\n" in paragraph for paragraph in text.split("\n\n")]
    between = "" if characters else " "
    return "\n".join(("\n" if verse[n] else between).join(map(chosen.__getitem__, line)) for n, line in lines)


def _whole(pieces: Sequence[str], limit: int, measure: Callable[[str], int]) -> list[str]:
    """Join the lines of verse that make a sentence; one that is longer than ``limit`` stays in its lines."""
    joined: list[list[str]] = []
    for piece in pieces:
        if joined and not _ENDED.search(joined[-1][-1]):
            joined[-1].append(piece)
        else:
            joined.append([piece])
    whole = [["\n".join(lines)] if measure(" ".join(lines)) <= limit else lines for lines in joined]
    return [piece for pieces in whole for piece in pieces]
