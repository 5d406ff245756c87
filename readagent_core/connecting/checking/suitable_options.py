"""Choose the settings that suit a model by its test: what a person would lose without each. Nothing is saved here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from readagent_core.connecting.checking.check import FAILED, GOOD, WEAK, Check
from readagent_core.gisting.costs import NOVEL_WORDS, SLOW_NOVEL, minutes_at
from readagent_core.settings.saved import ModelOptions

ONE_AT_A_TIME, IN_ONE_CALL = "read-agent-s", "recall-once"
SLOW_READING = 60.0  # tokens a second: pages opened for a second prompt take longer than a person waits


def suitable_options(checks: Collection[Check]) -> ModelOptions:
    """Return the settings that suit a model with these checks, those of a quick or of a whole test."""
    by_id = {check.id: check for check in checks}
    state = {name: check.state for name, check in by_id.items()}
    options, why = ModelOptions(), []
    if state.get("form") == GOOD:
        options = replace(options, json_replies=True)
        why.append("Replies with a form are asked for in JSON: as plain text their form breaks.")
    elif state.get("pause") == FAILED:
        many = state.get("pauses") == GOOD
        options = replace(options, pagination="many" if many else "uniform")
        why.append(
            "Several pauses a prompt: asked for one, it names none."
            if many
            else "Even pages by rule: it does not name pauses, and asking in vain takes calls."
        )
    spoilt = {"length": "a reply missed its length", "quote": "it misquoted a page"}
    seen = [said for name, said in spoilt.items() if state.get(name) == FAILED]
    if state.get("window") == WEAK:
        seen.append("its context window is small")
    if seen:
        options = replace(options, small_pages=True)
        why.append(f"Pages half as long: {' and '.join(seen)}.")
    if state.get("recall") == FAILED:
        options = replace(options, method=IN_ONE_CALL)
        why.append("Answers from one prompt: its requests for more come out wrong.")
    elif not options.json_replies and state.get("page") == GOOD and by_id["pages"].never > 1:
        options = replace(options, method=ONE_AT_A_TIME)
        why.append("Looking up one page at a time: it does not name several at once.")
    if state.get("reason") == WEAK:
        options = replace(options, reason_first=True)
        why.append("Reasons before the letter: it chooses the right option more often so.")
    if state.get("notes", GOOD) != GOOD:
        options = replace(options, notes_apart=True)
        why.append("What a page says of people in a call of its own: with the gist, one of them comes out wrong.")
    if state.get("quote") == FAILED:
        options = replace(options, plain_answers=True)
        why.append("Answers without page marks and quotations: it copies the examples of those.")
    if state.get("reuse") == GOOD:
        options = replace(options, opened_after=True)
        why.append("Opened pages after the gists: it reuses the beginning of a prompt, so answers begin sooner.")
    if speed := by_id.get("speed"):
        options, slow = suitable_for_speed(options, speed.read, speed.written)
        why += slow
    return replace(options, why=tuple(why))


def suitable_for_speed(options: ModelOptions, read: float, written: float) -> tuple[ModelOptions, list[str]]:
    """Return ``options`` with what suits a model of this speed, in tokens a second (0: not known), and why."""
    why = []
    if read and written and not options.pagination and minutes_at(NOVEL_WORDS, read, written) > SLOW_NOVEL:
        options = replace(options, pagination="uniform")
        why.append("Even pages by rule: at its speed a call for each pause is too much.")
    if read and read < SLOW_READING and not options.method:
        options = replace(options, method=IN_ONE_CALL)
        why.append("Answers from one prompt: at its speed pages read again take longer than one waits.")
    return options, why
