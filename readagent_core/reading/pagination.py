"""Episode pagination: one window, one prompt, one pause point (docs/methods.md, 'Episode pagination').

The reply is read with tolerance, but only a label that was offered counts. After three useless replies the
last label is taken and the page says so. Knows nothing of the order in which windows are asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, ReplyError
from readagent_core.memory import Page
from readagent_core.models.base import ChatModel, Watch
from readagent_core.models.server.thinking import remove_thinking
from readagent_core.prompts import Prompt, language_of, render, template
from readagent_core.reading.windows import Window, Windows
from readagent_core.tags import disarm
from readagent_core.words import first_words, last_words, squeeze

TRIES = 3
_REASON_WORDS = 120  # a reason longer than that is a model talking to itself
_NAMED = re.compile(
    r"(?:break\s*[-_ ]?\s*point|pause\s*[-_ ]?\s*point|区切り|印|label)"
    r"\W{0,12}?(?:(?:is|は|at|label|no\.?|number)\W{0,12}?){0,3}(\d+)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[<‹＜〈\[(]\s*(?:label\s*)?(\d+)\s*(?:\|[^>›＞〉\])]*)?[>›＞〉\])]", re.IGNORECASE)
_BARE = re.compile(r"^\W*(\d+)\W*$")
_BECAUSE = re.compile(r"^\W*(?:because|reason|理由)\W*", re.IGNORECASE)
_NARROW = str.maketrans("０１２３４５６７８９＜＞：", "0123456789<>:")


@dataclass(frozen=True)
class Pause:
    """A pause point as the model named it: the paragraph after it, and its words for why."""

    at: int
    reason: str = ""


def parse_pause(reply: str, offered: Collection[int]) -> Pause:
    """The pause point a reply names. Raises ReplyError where it names none that was offered."""
    text = remove_thinking(reply).translate(_NARROW).replace("*", "").replace("`", "")
    for pattern in (_NAMED, _BRACKETED):
        for found in pattern.finditer(text):
            if _number(found.group(1)) in offered:
                return Pause(_number(found.group(1)), _reason(text, found.start(), found.end()))
    for line in text.splitlines():
        bare = _BARE.match(line)
        if bare and _number(bare.group(1)) in offered:
            return Pause(_number(bare.group(1)), _reason(text.replace(line, "", 1), 0, 0))
    raise ReplyError("The reply names no label that was offered.")


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 12 else -1


def _reason(text: str, start: int, end: int) -> str:
    """The reply's words besides the label: those after it, or else those before it."""
    after = squeeze(text[end:].lstrip(" \t>›＞〉])}.,:;\"'」』’”-–—"))
    before = squeeze(text[:start].rstrip(" \t<‹[({\"'「『"))
    if not any(c.isalnum() for c in after):
        after = "" if _NAMED.search(before) else before
    return first_words(_BECAUSE.sub("", after).rstrip("\"'`}"), _REASON_WORDS)


def pause_prompt(windows: Windows, window: Window, *, before: int | None = None) -> Prompt:
    """The pagination prompt of a window. ``before``: where the page before starts, to show that page too."""
    document, plan = windows.document, windows.plan
    language = document.language
    preceding = ""
    if plan.preceding and before is not None and before < window.start:
        # a page is at most max_words long, and so is what is shown of it
        shown = last_words(disarm(document.text(before, window.start)), plan.max_words)
        preceding = render("preceding", language, text=shown).text
    where = template("where.chapters" if plan.asks_chapters else "where", language_of(language)).template
    return render(
        "paginate",
        language,
        reply_words=_REASON_WORDS * 2,
        where=where,
        preceding=preceding,
        passage=windows.passage(window),
    )


@dataclass(frozen=True)
class Asked:
    """What asking for one page came to. ``retries``: prompts beyond the first."""

    page: Page
    retries: int = 0


def ask_page(windows: Windows, window: Window, model: ChatModel, *, watch: Watch, before: int | None = None) -> Asked:
    """The page that starts where ``window`` does (not numbered). Raises ModelError where nothing can be asked."""
    prompt = pause_prompt(windows, window, before=before)
    labels = ", ".join(f"<{n}>" for n in window.labels)
    asked = prompt
    for attempt in range(TRIES):
        try:
            pause = parse_pause(model.complete(asked, watch).text, window.labels)
        except (CutOffError, EmptyReplyError, RefusedError, ReplyError) as error:
            if isinstance(error, CutOffError) and (named := _from_cut_off(error, window)):
                pause = named
            else:
                asked = prompt.again("paginate.again", labels=labels)
                continue
        return Asked(windows.page(window.start, pause.at, reason=pause.reason), attempt)
    return Asked(windows.page(window.start, window.labels[-1], fallback=True), TRIES - 1)


def _from_cut_off(error: CutOffError, window: Window) -> Pause | None:
    """The label stands at the head of the reply; a reason that broke off costs nothing."""
    head = error.text.rpartition("\n")[0]  # the last line may have broken off inside the number
    try:
        return parse_pause(head, window.labels)
    except ReplyError:
        return None
