"""Replies of a model that explores a memory: requests to open and to find, or an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from readagent_core.answering.look_up_replies import to_plain_text
from readagent_core.tags import join_labels

_SEARCHES = 3  # most words looked for in one request
_REQUEST = re.compile(r"^[ \t>#_-]*(?:\(?\d[.)][ \t]*)?(OPEN|FIND)\b[ \t]*:?[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
ANSWER_MARK = re.compile(r"^[\s>#*_]*(?:\(?\d[.)]\s*)?[*_]*ANSWER[\s*_]*:[\s*_]*", re.MULTILINE)
_LABEL = re.compile(r"\d+(?:\.\d+)?(?:\s*-\s*(?:\d+\.)?\d+)?")
QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|'([^'\n]{2,})'")
BEGUN = re.compile(r"[\s>#*_-]*(?:\(?\d[.)]\s*)?[*_]*(?:OPEN|FIND|ANSWER)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """A request in a reply. ``labels``: parts and pages to open. ``words``: to look for."""

    labels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    reason: str = ""

    @property
    def text(self) -> str:
        """The request as the next prompt repeats it."""
        opened = [f"OPEN [{', '.join(self.labels)}]"] if self.labels else []
        return ", ".join(opened + [f'FIND "{words}"' for words in self.words])


def parse_request(reply: str) -> Request | None:
    """Return the request in a reply; None where it is an answer. Nothing here raises."""
    text = join_labels(to_plain_text(reply))
    answer = ANSWER_MARK.search(text)
    labels: list[str] = []
    words: list[str] = []
    reasons: list[str] = []
    for found in _REQUEST.finditer(text, 0, answer.start() if answer else len(text)):
        rest = found.group(2)
        if found.group(1).upper() == "OPEN":
            bracket = re.search(r"\[([^\]\n]*)\]", rest)
            listed = bracket.group(1) if bracket else re.split(r"\b(?:to|because|since)\b|理由", rest, maxsplit=1)[0]
            labels += [re.sub(r"\s", "", label) for label in _LABEL.findall(listed)]
            reasons.append(rest[bracket.end() :] if bracket else rest[len(listed) :])
        else:
            quoted = list(QUOTED.finditer(rest))
            words += [next(filter(None, m.groups())).strip() for m in quoted] or [rest.strip()]
            reasons.append(rest[quoted[-1].end() :] if quoted else "")
    if not labels and not any(words):
        return None
    reason = re.sub(r"^\W*(?:to|because|since|for|理由は?)?[\s:：、]*", "", " ".join(reasons).strip(), flags=re.I)
    return Request(tuple(dict.fromkeys(labels)), tuple(dict.fromkeys(filter(None, words)))[:_SEARCHES], reason[:400])
