"""A deterministic replier for every prompt form of ours, from the prompt's text alone.

The templates are read backwards: the text gives the task and its fields again, and the built-in reader answers
them. So a new template that the built-in reader can do needs nothing here.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import cycle, islice
from pathlib import Path
from string import Template

from readagent_core import prompts
from readagent_core.cancel import CancelToken
from readagent_core.errors import RefusedError
from readagent_core.models.builtin.reader import BuiltInReader
from readagent_core.words import count_words

FOLDER = Path(prompts.__file__).parent
READER = BuiltInReader()
OPTIONAL = {  # fields beside the passage, with nothing between that could tell where they end
    "preceding": "(?:[(（](?:Read just before|すぐ前に).*?(?:The passage:|ここからが文章です：)[)）]\n)?",
    "following": "(?:\n\n[(（](?:After the last label|最後の印の後).*?)?",
}


@cache
def pattern(name: str, language: str) -> re.Pattern[str]:
    """The template as a regular expression that finds its values again."""
    out: list[str] = []
    position, seen = 0, set()
    text = prompts.template(name, language).template
    for found in Template.pattern.finditer(text):
        out.append(re.escape(text[position : found.start()]))
        field = found.group("named") or found.group("braced")
        if field is None:
            out.append(re.escape("$"))
        elif field in seen:
            out.append(f"(?P={field})")
        else:
            seen.add(field)
            out.append(f"(?P<{field}>{OPTIONAL.get(field, '.*?')})")
        position = found.end()
    out.append(re.escape(text[position:]))
    return re.compile("".join(out), re.DOTALL)


@cache
def templates() -> tuple[tuple[str, str], ...]:
    """(language, name) of every template, the longest first: the most telling one wins."""
    found = [(path.parent.name, path.stem) for path in FOLDER.glob("*/*.txt")]
    return tuple(sorted(found, key=lambda row: -len(prompts.template(row[1], row[0]).template)))


def understood(text: str) -> prompts.Prompt | None:
    """The prompt that ``text`` was rendered from, its 'again' part included; None where it is none of ours."""
    head, told = text, {}
    for language, name in templates():
        start = prompts.template(name, language).template.split("$")[0]
        at = text.rfind(f"\n\n{start}") if name.endswith((".again", ".anew")) else -1
        again = pattern(name, language).fullmatch(text, at + 2) if at >= 0 else None
        if again:
            head, told = text[:at], again.groupdict()
            break
    for language, name in templates():
        if name.endswith((".again", ".anew")) or not prompts.template(name, language).get_identifiers():
            continue
        whole = pattern(name, language).fullmatch(head)
        if whole:
            name = "gist" if name in ("gist_notes", "gist_tell") else name  # another form of it
            return prompts.Prompt(name, text, {**whole.groupdict(), **told}, language)
    return None


@lru_cache(maxsize=4096)  # the same prompts come in test after test
def sensible(text: str) -> str:
    """The reply to any prompt: the built-in reader's to ours, 'OK.' to any other."""
    prompt = understood(text)
    if prompt is None:
        return "OK."
    if prompt.task == "notes":
        return notes_of(prompt)
    if prompt.task.startswith("rate_"):
        shared = set(prompt.fields["reference"].lower().split()) & set(prompt.fields["answer"].lower().split())
        return "Yes" if shared else "No"
    try:
        reply = READER.complete(prompt, CancelToken()).text
    except RefusedError:
        return "OK."
    reply = _as_told(reply, prompt) if "gist" in prompt.task else reply
    return f"{reply}\n\nNotes:\n{notes_of(prompt)}" if "note_rules" in prompt.fields else reply


def notes_of(prompt: prompts.Prompt) -> str:
    """A note of each of the first names of a page, with the words after it."""
    lines: list[str] = []
    for name in re.finditer(r"(?<=[a-z,] )([A-Z][a-z]{2,})(?=[ ,.])", prompt.fields["page"]):
        words = prompt.fields["page"][name.start() :].split("\n")[0].split()[:5]
        if len(lines) < int(prompt.fields["count"]) and len(words) > 2:
            lines.append(f'person {name.group()} | does | is told of here | "{" ".join(words)}"')
    return "\n".join(lines) or "Nothing new."


def _as_told(gist: str, prompt: prompts.Prompt) -> str:
    """A gist as a language model makes it: with words that its page does not have, and no shorter than it should be."""
    missing = int(prompt.fields["least"]) - count_words(gist)
    own = max(missing, count_words(gist) // 3)
    return " ".join(["In short:", gist, *islice(cycle(_OWN_WORDS), own)])


_OWN_WORDS = (
    "thereby", "summarily", "recounted", "hereafter", "briefly", "notwithstanding", "retold", "wherein", "condensed",
    "likewise", "abridged", "moreover", "paraphrased", "accordingly", "outlined", "whereupon", "sketched", "rendered",
)  # fmt: skip
