"""The next action on a web page: parsed from a model's reply, checked against the page, and said in words.

Models do not keep to one form: labelled lines in any order, JSON, Markdown and synonyms of the operations are read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from readagent_core.models.thinking import remove_thinking
from readagent_core.prompts import template_language
from readagent_core.web_pages.page import WebPage
from readagent_core.words import collapse_whitespace

CLICK, TYPE, SELECT = "CLICK", "TYPE", "SELECT"
_OPERATIONS = {
    CLICK: "click press tap push hover check enter submit クリック 押す",
    TYPE: "type fill input write enter_text 入力 書く",
    SELECT: "select choose pick 選択 選ぶ",
}
_BY_WORD = {word: operation for operation, words in _OPERATIONS.items() for word in words.split()}
_LINE = r"^[ \t>#-]*(?:{names})[ \t]*(?:id)?[ \t]*[:：=][ \t]*(.*)$"
_FIELDS = {
    "element": "element|target|id|element_id|要素",
    "operation": "operation|action|op|操作",
    "value": "value|text|値",
    "reason": "reason|why|thought|理由",
}
_PATTERNS = {
    name: re.compile(_LINE.format(names=names), re.IGNORECASE | re.MULTILINE) for name, names in _FIELDS.items()
}
_CALL = re.compile(r"\b(click|type|select)\w*\(\s*['\"\[]?([\w-]+)['\"\]]?\s*(?:,\s*(['\"])(.*?)\3)?", re.IGNORECASE)
_NOTHING = re.compile(r"[\W_]*(?:none|empty|n/?a|nothing|null|なし|空)?[\W_]*", re.IGNORECASE)
# what the model is told of an action that cannot be done, by the language of the prompts
_PROBLEMS: Mapping[str, Mapping[str, str]] = json.loads(
    Path(__file__).with_name("problems.json").read_text(encoding="utf-8")
)
_MOST_OPTIONS = 12  # options listed when the model is asked again


@dataclass(frozen=True)
class Action:
    """An action. ``element``: its id. ``operation``: CLICK, TYPE, SELECT, or '' where the reply names none.

    ``value``: what is typed or selected. ``reason``: the model's words.
    """

    element: str
    operation: str
    value: str = ""
    reason: str = ""

    def to_dict(self) -> dict[str, str]:
        return dict(vars(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Action:
        return cls(**{name: str(data[name]) for name in ("element", "operation", "value", "reason")})


def parse_action(reply: str) -> Action:
    """Return the action that a reply names; what it does not name is ''. Nothing is checked and nothing raised."""
    text = unicodedata.normalize("NFKC", remove_thinking(reply)).replace("*", "").replace("`", "").strip()
    found = _from_json(text) or {
        name: lines[-1] for name, pattern in _PATTERNS.items() if (lines := pattern.findall(text))
    }
    if not found.get("element"):
        call = _CALL.search(text)
        if call:
            found = {**found, "operation": call[1], "element": call[2], "value": call[4] or ""}
    value = _unquoted(found.get("value", ""))
    operation = _operation(found.get("operation", ""))
    if not value and operation in (TYPE, SELECT):  # 'Operation: TYPE "Boston"'
        quoted = re.search(r"[\"“「](.+?)[\"”」]", found.get("operation", ""))
        value = quoted[1] if quoted else ""
    return Action(
        element=_element(found.get("element", "")),
        operation=operation,
        value="" if _NOTHING.fullmatch(value) or operation == CLICK else value,
        reason=collapse_whitespace(found.get("reason", ""))[:400],
    )


def _from_json(text: str) -> dict[str, str]:
    """Return the fields of a JSON object in ``text``; {} where there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        values = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        return {}
    if not isinstance(values, dict):
        return {}
    given = {str(name).lower(): value for name, value in values.items()}
    found: dict[str, str] = {}
    for name, names in _FIELDS.items():
        for other in names.split("|"):
            if isinstance(given.get(other), str | int):
                found.setdefault(name, str(given[other]))
    return found


def _element(text: str) -> str:
    """Return the id in 'id=12', '[12]', '<button id=12>' or '12 (the button)'."""
    named = re.search(r"\bid\s*[=:]\s*[\"']?([\w-]+)", text) or re.search(r"[\[(]([\w-]+)[\])]", text)
    found = named or re.search(r"\b(n?\d[\w-]*)", text) or re.search(r"([\w-]+)", text)
    return "" if found is None or _NOTHING.fullmatch(found[1]) else found[1]


def _operation(text: str) -> str:
    for word in re.findall(r"\w+", text.lower()):
        for known, operation in _BY_WORD.items():
            if word == known or (not known.isascii() and known in word):
                return operation
    return ""


def _unquoted(text: str) -> str:
    text = text.strip()
    for opening, closing in (('"', '"'), ("'", "'"), ("“", "”"), ("「", "」")):
        if len(text) > 1 and text.startswith(opening) and text.endswith(closing):
            return text[1:-1].strip()
    return text


def find_problem(action: Action, page: WebPage) -> str:
    """Return why ``action`` cannot be done on ``page``, in the words of the prompts' language; '' where it can."""
    said = _PROBLEMS[template_language(page.language)]
    if not action.element:
        return said["element"]
    element = page.element(action.element)
    if element is None:
        return said["unknown"].format(action.element)
    if not action.operation:
        return said["operation"]
    if action.operation != CLICK and not action.value:
        return said["value"].format(action.operation)
    options = page.options_of(action.element) if element.tag == "select" else []
    if action.operation == SELECT and options and action.value.casefold() not in map(str.casefold, options):
        return said["option"].format(", ".join(options[:_MOST_OPTIONS]))
    return ""


def describe_action(action: Action, page: WebPage) -> str:
    """Return the action as a sentence for people: 'Click the button “Search”.'"""
    element = page.element(action.element)
    kind = element.kind if element else "element"
    label = page.label_of(action.element) if element else ""
    named = f"the {kind} “{label}”" if label else f"the {kind} with the id {action.element}"
    if action.operation == TYPE:
        return f"Type “{action.value}” into {named}."
    if action.operation == SELECT:
        return f"Select “{action.value}” in {named}."
    return f"Click {named}."
