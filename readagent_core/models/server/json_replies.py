"""Replies whose form the server enforces: a JSON schema for the prompts that ask for labels, pages or a letter.

A reply in JSON is written again in the form that the prompt asks for, so that parsers, screens and stored replies know
one form. Servers differ: some refuse a schema, some ignore it (llama.cpp with some models), some want no other kind of
``response_format`` (LM Studio). So any other reply is left as it is, and read like one that was asked for without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from readagent_core.models.thinking import remove_markup
from readagent_core.prompts import Prompt
from readagent_core.quick_json import from_json

_INTEGER, _STRING = {"type": "integer"}, {"type": "string"}


@dataclass(frozen=True)
class Form:
    """``properties``: of the JSON object, in the order in which they are written: reasons come first.

    ``to_text``: returns the object in the prompt's form; raises KeyError, TypeError or ValueError for another object.
    """

    properties: Mapping[str, Any]
    to_text: Callable[[Mapping[str, Any]], str]

    @property
    def response_format(self) -> dict[str, Any]:
        """The parameter of the chat call."""
        schema = {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.properties),
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}


_PAUSE = Form(
    {"reason": _STRING, "break_point": _INTEGER},
    lambda reply: f"Break point: <{int(reply['break_point'])}>\nBecause {reply['reason']}",
)
_PAGES = Form(
    {"reason": _STRING, "pages": {"type": "array", "items": _INTEGER}},
    lambda reply: f"I want to look up Page {[int(page) for page in reply['pages']]} because {reply['reason']}",
)
_NEXT_PAGE = Form(
    {"reason": _STRING, "stop": {"type": "boolean"}, "page": _INTEGER},
    lambda reply: (
        f"STOP {reply['reason']}"
        if reply["stop"]
        else f"I want to look up Page {int(reply['page'])} because {reply['reason']}"
    ),
)
_FORMS = {"paginate": _PAUSE, "look_up": _PAGES, "look_up_ranked": _PAGES, "look_up_next": _NEXT_PAGE}


def form_of(prompt: Prompt) -> Form | None:
    """Return the form of the replies to ``prompt``; None where they are free text, as answers and gists are."""
    if prompt.task.startswith("choose") and "letters" in prompt.fields:  # asked again for the letter alone
        letters = prompt.fields["letters"].split(", ")
        return Form({"answer": {"type": "string", "enum": letters}}, lambda reply: f"Answer: ({reply['answer']})")
    return _FORMS.get(prompt.task)


def to_text(prompt: Prompt, reply: str) -> str:
    """Return a JSON reply in the form that ``prompt`` asks for, any other reply as it is."""
    form = form_of(prompt)
    if form is None:
        return reply
    try:
        return form.to_text(from_json(remove_markup(reply).strip()))
    except (ValueError, KeyError, TypeError, RecursionError):
        return reply
