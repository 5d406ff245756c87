"""Tell stories from papers, minutes and manuals by the form of a text, to begin a story without spoilers.

A story has talk: quotation marks round sentences, or lines that begin with a dash. A play has acts or scenes, a long
poem is verse, whatever notes follow it. What is looked things up in has an apparatus: numbered headings, headings like
'References' or 'Agenda', list items, speakers named at the line's start, works and cases cited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from readagent_core.document import Document

SAMPLE = 1500  # most paragraphs that are looked at
FEWEST_WORDS = 400
TALK, FEWEST_TALKS = 0.06, 3  # share of paragraphs with talk of a story, and how many there are at least
LITTLE_TALK, LONG = 0.015, 20_000  # of a long text without apparatus, in words
APPARATUS = 0.25  # share of headings and paragraphs with an apparatus from which on a text is no story
CITED = 0.1  # share of paragraphs that cite a work or a case, from which on a text is no story
VERSE, LONGEST_LINE = 0.3, 80  # share of the words in verse of a poem, and its lines in characters
_TALK = re.compile(r"[“\"«„「『‘][^”\"»“」』’]{2,400}[.,!?…—。！？][”\"»“’]|^\s*[「『][^」』]+[」』]|^\s*[—–―-]\s?\w")
_NUMBERED = re.compile(r"^\s*(?:§|\d{1,2}(?:\.\d{1,2})+\.?\s|\d{1,2}[.)]\s+[A-Z][a-z]+(?:\s\w+)*$|[A-Z]\.\d)")
_HEADED = re.compile(
    r"^\W*(?:abstract|introduction|related work|method(?:s|ology)?|results|discussion|conclusions?|references|"
    r"bibliography|literature|appendix\b.*|agenda|apologies.*|minutes\b.*|attendance|present|installation|usage|"
    r"troubleshooting|index|glossary|summary|overview|requirements|参考文献|要旨|はじめに|議題|概要|索引)\W*$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•‣▪]|\d{1,3}[.)]|\[\d{1,3}\]|\([a-z0-9]\))\s")
_SPEAKER = re.compile(r"^(?:[A-Z][\w.'’-]*\s?){1,4}(?:\([^)]*\)\s?)?:\s|^[A-Z][A-Z .'’-]{2,30}[:.]\s")
_CITED = re.compile(
    r"\[\d{1,3}(?:[,–-] ?\d{1,3})*\]|[\w.]{2,},? \(?(?:1[89]|20)\d\d[a-z]?\)|§ ?\d|\w \bv\. [A-Z]|\bet al\."
)
_PLAYED = re.compile(
    r"^\W*(?:(?:act|scene|acte|scène|akt|szene|aufzug|auftritt)\s+[\w.]{1,12}\b|第.{1,3}[幕場]|.{1,3}幕目)", re.I
)


def is_story(document: Document) -> bool:
    """Return whether a text tells a story, whose end nobody wants to be told before."""
    paragraphs = [p.text for p in document.paragraphs[:: max(1, len(document.paragraphs) // SAMPLE)] if p.text.strip()]
    if document.words < FEWEST_WORDS or not paragraphs:
        return False
    titles = [section.title for section in document.sections]
    if sum(bool(_PLAYED.match(title)) for title in titles) >= 2 or _share_of_verse(paragraphs) >= VERSE:
        return True
    numbered = sum(bool(_NUMBERED.match(title)) for title in titles)
    headed = sum(bool(_HEADED.match(title)) for title in titles)
    listed = sum(bool(_ITEM.match(text) or _SPEAKER.match(text)) for text in paragraphs)
    cited = sum(bool(_CITED.search(text)) for text in paragraphs)
    if (
        headed >= 2
        or numbered > len(titles) / 4
        or listed > APPARATUS * len(paragraphs)
        or cited > CITED * len(paragraphs)
    ):
        return False
    talks = sum(bool(_TALK.search(text)) for text in paragraphs)
    talk = talks / len(paragraphs)
    return (talk >= TALK and talks >= FEWEST_TALKS) or (talk >= LITTLE_TALK and document.words >= LONG)


def _share_of_verse(paragraphs: Sequence[str]) -> float:
    """Return the share of the words that stand in verse: short lines, most with a capital at their start."""
    verse = 0
    for text in paragraphs:
        lines = text.strip().split("\n")
        begun = sum(line.lstrip(" \"'“‘(—―-")[:1].isupper() for line in lines)
        if len(lines) >= 3 and max(map(len, lines)) <= LONGEST_LINE and 2 * begun > len(lines):
            verse += len(text.split())
    return verse / max(1, sum(len(text.split()) for text in paragraphs))
