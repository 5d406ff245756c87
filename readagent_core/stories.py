"""Tell stories from papers, minutes and manuals by the form of a text, to begin a story without spoilers.

A story has talk: quotation marks round sentences, or lines that begin with a dash. What is looked things up in has an
apparatus: numbered headings, headings like 'References' or 'Agenda', list items, speakers named at the line's start.
"""

from __future__ import annotations

import re

from readagent_core.document import Document

SAMPLE = 1500  # most paragraphs that are looked at
FEWEST_WORDS = 400
TALK = 0.06  # share of paragraphs with talk of a story
LITTLE_TALK, LONG = 0.015, 20_000  # of a long text without apparatus, in words
APPARATUS = 0.25  # share of headings and paragraphs with an apparatus from which on a text is no story
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


def is_story(document: Document) -> bool:
    """Return whether a text tells a story, whose end nobody wants to be told before."""
    paragraphs = [p.text for p in document.paragraphs[:: max(1, len(document.paragraphs) // SAMPLE)] if p.text.strip()]
    if document.words < FEWEST_WORDS or not paragraphs:
        return False
    titles = [section.title for section in document.sections]
    numbered = sum(bool(_NUMBERED.match(title)) for title in titles)
    headed = sum(bool(_HEADED.match(title)) for title in titles)
    listed = sum(bool(_ITEM.match(text) or _SPEAKER.match(text)) for text in paragraphs)
    if headed >= 2 or numbered > len(titles) / 4 or listed / len(paragraphs) > APPARATUS:
        return False
    talk = sum(bool(_TALK.search(text)) for text in paragraphs) / len(paragraphs)
    return talk >= TALK or (talk >= LITTLE_TALK and document.words >= LONG)
