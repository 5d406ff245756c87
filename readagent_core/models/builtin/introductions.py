"""Sentences that introduce a person: they name what someone is, not only what is done. By form alone, in English."""

from __future__ import annotations

import re

_ASKED = re.compile(
    r"^\W*Who (?:is|was) ((?:[A-Z][\w'’.-]*\s?)+)"
    r"(?:,?\s*\band ((?:who|what|where|when|why|how|which|whose|is|was|does|did|has|had)\b.*))?\W*$"
)
_TITLE = re.compile(r"^(?:Mr|Mrs|Ms|Miss|Dr)\b\.? ")
SPEECH = ("“", '"', "‘", "«")
_SPOKEN = re.compile(r"“[^”]*”?|\"[^\"]*\"?|«[^»]*»?")
_OWN_NAME = re.compile(r"\b[Mm]y name(?: is|['’]s) [^.,!?”\"]*")  # what a person says of himself
_NOUN = r"(?:[\w-]+ ){0,3}[a-z][\w-]+\b(?!['’])"
_ROLE = (
    r"(?!(?:with|to|from|for|at|by|in|on|of|and|but|or|as|than|that|how|if|when|where|while|because|against|like|near"
    r"|past|towards?) )[a-z][\w-]+"
)
_FORMS = (
    r"NAME,? (?:is|was|had been|has been|became) (?:an?|the|my|his|her|their|our|one of|\w+['’]s) ",
    rf"NAME, (?:an?|the|my|his|her|their|our|\w+['’]s) {_NOUN}",  # Peter Lunt, the assistant keeper
    r"NAME, who ",
    r"\b(?:called|named|name(?: is| was|['’]s)) (?:\w+[ —])?NAME\b",
    rf"\b(?:an?|the|my|his|her) {_NOUN}, (?:[A-Z][\w.]+ ){{0,2}}NAME,",  # the keeper, Ambrose Vane,
    rf"(?:\b(?:my|his|her)|['’]s) {_ROLE} (?:[A-Z]\w+ )?NAME\b(?!['’])",  # Vane’s granddaughter Tilda
    rf"NAME\b[^.!?:]*: {_NOUN}, {_NOUN}, ",  # Josiah Crale met me: harbour-master, postmaster, printer
)


def person_asked(question: str) -> tuple[str, str]:
    """The name in 'Who is Mr. Crale and what does he want?' without its title, 'Crale', and what else is asked.

    Both '' of any other question.
    """
    found = _ASKED.match(question.strip())
    return (_TITLE.sub("", found[1]).strip(" ."), found[2] or "") if found else ("", "")


def mentions(sentence: str, name: str) -> bool:
    """Whether a sentence that nobody speaks has the name, outside of what is said in it; not a thing of theirs."""
    told = _SPOKEN.sub("", sentence)
    return not sentence.startswith(SPEECH) and bool(re.search(rf"(?<![Tt]he )\b{re.escape(name)}\b(?!['’]s)", told))


def introduces(sentence: str, name: str) -> bool:
    """Whether a sentence, outside of what is said in it, has the name, or its first or last word, in a form that says
    who that is: '“Yes,” said Filby, an argumentative person with red hair.' And where one says: 'My name is Filby.'

    Not where a word of the name belongs to another one: 'Ambrose Vane', where Tilda Vane is asked for.
    """
    told = f"{_SPOKEN.sub('', sentence)} {' '.join(_OWN_NAME.findall(sentence))}"
    if told.startswith("‘"):  # its end cannot be told from an apostrophe
        return False
    first, last = name.split()[0], name.split()[-1]
    if first != last and name not in told:
        if re.search(rf"\b[A-Z][\w.]+ {re.escape(last)}\b", told):
            last = first
        if re.search(rf"\b{re.escape(first)} [A-Z]", told):
            first = last
    named = f"(?:{'|'.join(map(re.escape, dict.fromkeys((name, first, last))))})"
    return any(re.search(form.replace("NAME", named), told) for form in _FORMS)
