"""How the built-in reader reads web pages: words and elements of a snippet, and the element that shares most words.

It knows nothing of what a page means. Works from a prompt's fields and replies in the form that the prompt asks for.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from readagent_core.models.builtin.shortening import number_in
from readagent_core.models.builtin.statistics import Bm25, content, inverse_frequencies, overlap, shared_words
from readagent_core.prompts import Prompt
from readagent_core.words import count_words, first_words

_TAG = re.compile(r"<(?P<end>/)?(?P<tag>[a-z][a-z0-9-]*)(?: id=(?P<id>[\w-]+))?(?P<rest>[^<>]*)>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_NAMED = re.compile(r"([^;\[\]]{1,80}) \[([\w-]+)\]")  # an element in a gist of this reader
_USED = ("a", "button", "input", "select", "textarea")
_LABELS = ("aria-label", "placeholder", "alt", "title", "value", "name")
_STEM, _ENDING = 6, 3  # letters: two words that begin alike differ in an ending only
_VALUE = re.compile(r"[\"“「]([^\"”」]{1,80})[\"”」]|\b(\d[\d/:.-]*)\b")
# what a task says to do, at its beginning or after another thing to do, and with what kind of element
_COMMAND = re.compile(
    r"(?:^|\b(?:then|and)\s+|[,;.]\s*)"
    r"(?:press|click|tap|open|choose|select|type|enter|visit|go to|look at)\b(?:\s+on\b)?",
    re.IGNORECASE,
)
_KINDS = {
    "button": ("button", "submit"),
    "link": ("a",),
    "field": ("input", "textarea"),
    "box": ("input", "textarea"),
    "menu": ("select",),
}
_KIND = re.compile(rf"\b(?P<kind>{'|'.join(_KINDS)})\b", re.IGNORECASE)
_OF_ITS_KIND = 3  # times the score, for an element of the kind that the task names
_DIRECTED = re.compile(r"\b(\w+)[ -]?(in|out|on|off|up|down)\b", re.IGNORECASE)  # 'log in' is not 'log out'


@dataclass
class _Element:
    id: str
    tag: str
    type: str
    label: str
    options: list[str]


def _parse(text: str) -> tuple[list[str | _Element], list[_Element]]:
    """Return the texts and usable elements of the HTML that prompts show, in order, and the elements alone."""
    shown: list[str | _Element] = []
    elements: list[_Element] = []
    opened: list[_Element] = []
    position = 0
    for found in [*_TAG.finditer(text), None]:
        words = html.unescape(text[position : found.start() if found else len(text)]).strip()
        if words and opened:
            into = opened[-1]
            if into.tag == "select":
                into.options.append(words)
            else:
                into.label = f"{into.label} {words}".strip()
        elif words:
            shown.append(" ".join(words.split()))
        if found is None:
            break
        position = found.end()
        if found["end"]:
            if opened and opened[-1].tag == found["tag"]:
                opened.pop()
        elif found["tag"] in _USED and found["id"]:
            given = dict(_ATTRIBUTE.findall(found["rest"]))
            label = next((html.unescape(given[name]) for name in _LABELS if given.get(name)), "")
            element = _Element(found["id"], found["tag"], given.get("type", ""), label, [])
            shown.append(element)
            elements.append(element)
            if found["tag"] != "input":
                opened.append(element)
    return shown, elements


def gist_snippet(prompt: Prompt) -> str:
    """The first words of a snippet, and its elements by their words with their ids, within the length asked for."""
    most = number_in(prompt.fields["most"], 60) // (2 if prompt.language == "ja" else 1)
    taken: list[str] = []
    words = 0
    for part in _parse(prompt.fields["snippet"])[0]:
        said = first_words(part, 12).rstrip(",;. ") if isinstance(part, str) else first_words(part.label, 6)
        said = said if isinstance(part, str) else f"{said} [{part.id}]".strip()
        if not said or said in taken:
            continue
        words += count_words(said)
        if taken and words > most:
            break
        taken.append(said)
    return "; ".join(taken) or "(nothing to read)"


def _entries(memory: str) -> list[tuple[int, str]]:
    """(index, gist or HTML) of every snippet in a memory."""
    found: list[tuple[int, str]] = []
    for line in memory.split("\n"):
        try:
            entry = json.loads(line) if line.startswith('{"index": ') else None
        except ValueError:
            entry = None
        if isinstance(entry, dict):
            found.append((int(entry["index"]), str(entry.get("content", ""))))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
    return found


def look_up_snippets(prompt: Prompt) -> str:
    """'[2, 7]': the snippets whose gists share most with the task; where none shares a word, the first."""
    entries = _entries(prompt.fields["memory"])
    scores = Bm25([content(text) for _, text in entries]).scores(dict.fromkeys(content(prompt.fields["question"])))
    shared = sorted((-score, number) for score, (number, _) in zip(scores, entries, strict=True) if score > 0)
    ranked = shared or [(0.0, number) for number, _ in entries]
    named = ", ".join(str(number) for _, number in ranked[: number_in(prompt.fields["k"], 1)])
    japanese = prompt.language == "ja"
    if shared:
        said = "言葉が同じだから" if japanese else "they share words with the task"
    else:  # a gist names few of the elements
        said = "同じ言葉の要旨がないため" if japanese else "no gist shares a word with the task"
    return f"[{named}]: {said}"


def act(prompt: Prompt) -> str:
    """The element whose words share most with the task and were not used before, with the operation of its kind."""
    memory, task = prompt.fields["memory"], prompt.fields["question"]
    elements = _parse(memory)[1]
    known = {element.id for element in elements}
    if not elements or memory.startswith('{"index": '):
        gists = " ; ".join(text for _, text in _entries(memory) if "<" not in text)
        elements += [_Element(name, "", "", label.strip(), []) for label, name in _NAMED.findall(gists)
                     if name not in known]  # fmt: skip
    asked = content(_KIND.sub(" ", _COMMAND.sub(" ", task))) or content(task)
    bags = [_shared_bag(" ".join([element.label, *element.options]), task, asked) for element in elements]
    idf = inverse_frequencies(bags)
    done = set(_as_asked(prompt.fields["previous"], asked))
    wanted = [term for term in asked if term not in done] or asked
    kinds = {kind for found in _KIND.finditer(task) for kind in _KINDS[found["kind"].lower()]}
    scored = [
        (overlap(bag, wanted, idf) / (1 + 0.02 * len(bag)) * (_OF_ITS_KIND if {one.tag, one.type} & kinds else 1), -i)
        for i, (bag, one) in enumerate(zip(bags, elements, strict=True))
    ]
    score, at = max(scored, default=(0.0, 0))
    if not score:
        return "Reason: Word statistics alone; no element shares a further word with the task.\nElement: none"
    chosen = elements[-at]
    shared = ", ".join(task[start:end] for start, end in shared_words(task, " ".join([chosen.label, *bags[-at]])))
    operation, value = _operation(chosen, task, prompt.fields["previous"])
    why = f"Word statistics alone; shared with the task: {shared}."
    return f"Reason: {why}\nElement: {chosen.id}\nOperation: {operation}\nValue: {value}".rstrip()


def _shared_bag(text: str, task: str, asked: Sequence[str]) -> list[str]:
    """The terms of an element as the task has them, without those that point another way: 'log' of 'Log out'."""
    told = {(word.lower(), way.lower()) for word, way in _DIRECTED.findall(task)}
    words = {word for word, _ in told}
    other = {
        word.lower()
        for word, way in _DIRECTED.findall(text)
        if word.lower() in words and (word.lower(), way.lower()) not in told
    }
    return [term for term in _as_asked(text, asked) if term not in other]


def _as_asked(text: str, asked: Sequence[str]) -> list[str]:
    """The terms of ``text``, each as the task has it: 'photography' is 'photographer' there."""
    return [next((term for term in asked if _begin_alike(term, own)), own) for own in content(text)]


def _begin_alike(one: str, other: str) -> bool:
    same = max(_STEM, len(one) - _ENDING, len(other) - _ENDING)
    return one == other or (len(one) >= same and one[:same] == other[:same])


def _operation(element: _Element, task: str, previous: str) -> tuple[str, str]:
    """The operation of an element's kind, and a value of the task: quoted words, a number, or an option it names."""
    if element.tag == "select":
        named = [option for option in element.options if option.lower() in task.lower()]
        return ("SELECT", max(named, key=len)) if named else ("CLICK", "")
    if element.tag == "textarea" or (element.tag == "input" and element.type in ("", "text", "search", "email", "tel")):
        values = [quoted or number for quoted, number in _VALUE.findall(task)]
        fresh = next((value for value in values if value not in previous), "")
        return ("TYPE", fresh) if fresh else ("CLICK", "")
    return "CLICK", ""
