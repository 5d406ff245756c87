"""Replies bound by a grammar: to the labels, pages or letters that a prompt offers. llama.cpp alone takes one.

A bound choice comes first, so that a weak model cannot talk itself past it; what follows it has a limited length. The
form is the prompt's own, so that a reply is read like any other.
https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from __future__ import annotations

from readagent_core.prompts import Prompt

_PAUSE = r"""root ::= "Break point: <" choice ">" """  # the reason would be a copy of the form
_PAGES = r"""root ::= "I want to look up Page [" (choice (", " choice){0,%d})? "] because " [^\n]{1,120}"""
_NEXT = r"""root ::= ("STOP " | "I want to look up Page " choice " because ") [^\n]{1,120}"""
_LETTER = r"""root ::= "Answer: " choice ("\n" | " ") [^\x00]{1,700}"""
_RECALLED = r"""root ::= "ANSWER: Answer: " choice ("\n" | " ") [^\x00]{1,700}"""
_ASKED = """ | ("FIND " | "OPEN " | "GISTS ") [^\\x00]{1,400}"""
_LETTER_ALONE = r"""root ::= "Answer: " choice"""


def grammar_of(prompt: Prompt) -> str:
    """Return the grammar of the reply to ``prompt``; '' where it is free text."""
    if not prompt.choices:
        return ""
    choices = [f'"{choice}"' for choice in prompt.choices]
    if prompt.task.startswith(("choose", "recall", "search_agent")):
        choices = [f'"({choice})"' if len(choice) == 1 else f'"{choice}"' for choice in prompt.choices]
        chosen = _LETTER_ALONE if "letters" in prompt.fields else _LETTER
        recalled = _RECALLED + (_ASKED if prompt.fields.get("asking") else "")
        root = chosen if prompt.task.startswith("choose") or prompt.task.endswith("_plain") else recalled
    elif prompt.task.startswith("paginate"):
        root = _PAUSE
    elif prompt.task == "look_up_next":
        root = _NEXT
    else:
        root = _PAGES % max(0, int(prompt.fields.get("k", "1")) - 1)
    return f"{root.strip()}\nchoice ::= {' | '.join(choices)}"
