"""Episode pagination: one window, one prompt, one pause point (docs/methods.md, 'Episode pagination').

Replies of many forms are read, but only a label that was offered counts. After three unusable replies the last label
is taken, and the page is marked as a fallback.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from readagent_core.cancel import CancelToken
from readagent_core.citations.answer_parsing import quoted_runs
from readagent_core.citations.quotation_search import normalise_words
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError, ReplyError
from readagent_core.gisting.pause_windows import Window, Windows
from readagent_core.memory import Page
from readagent_core.models.base import ChatModel
from readagent_core.models.thinking import remove_markup
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt, render, render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace, first_words, last_words

TRIES = 3
_FOLLOWING_WORDS = 25
_LEAST_QUOTED = 12  # characters by which a label is recognised
_REASON_WORDS = 120  # a longer reason is cut
_NAMED = re.compile(
    r"(?:break\s*[-_ ]?\s*point|pause\s*[-_ ]?\s*point|区切り|印|label)"
    r"\W{0,12}?(?:(?:is|は|at|label|page|no\.?|number)\W{0,12}?){0,3}(\d+)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[<‹＜〈\[(]\s*(?:label\s*)?(\d+)\s*(?:\|[^>›＞〉\])]*)?[>›＞〉\])]", re.IGNORECASE)
_BARE = re.compile(r"^\W*(\d+)\W*$")
BECAUSE = re.compile(r"^\W*(?:because|reason|理由|因为)\W*", re.IGNORECASE)  # before the reason in a reply
_NARROW = str.maketrans("０１２３４５６７８９＜＞：", "0123456789<>:")


@dataclass(frozen=True)
class PausePoint:
    """A pause point that a reply names. ``at``: the paragraph after it. ``reason``: the model's words."""

    at: int
    reason: str = ""


def parse_pause_point(reply: str, offered: Collection[int]) -> PausePoint:
    """Return the pause point that a reply names. Raises ReplyError where it names none of the ``offered`` ones."""
    text = remove_markup(reply).translate(_NARROW).replace("*", "").replace("`", "")
    for pattern in (_NAMED, _BRACKETED):
        for found in pattern.finditer(text):
            if _number(found.group(1)) in offered:
                return PausePoint(_number(found.group(1)), _reason(text, found.start(), found.end()))
    for line in text.splitlines():
        bare = _BARE.match(line)
        if bare and _number(bare.group(1)) in offered:
            return PausePoint(_number(bare.group(1)), _reason(text.replace(line, "", 1), 0, 0))
    raise ReplyError("The reply names no label that was offered.")


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 12 else -1


def _reason(text: str, start: int, end: int) -> str:
    """Return the reply's words after the label; where there are none, those before it."""
    after = collapse_whitespace(text[end:].lstrip(" \t>›＞〉])}.,:;\"'」』’”-–—"))
    before = collapse_whitespace(text[:start].rstrip(" \t<‹[({\"'「『"))
    if not any(c.isalnum() for c in after):
        after = "" if _NAMED.search(before) else before
    return first_words(BECAUSE.sub("", after).rstrip("\"'`}"), _REASON_WORDS)


def where_to_pause(plan: GistingPlan, language: str) -> str:
    """Return the sentence of the pagination prompts that says where a page may end."""
    return render_fragment("where.chapters" if plan.asks_chapters else "where", language)


def pause_prompt(windows: Windows, window: Window, *, before: int | None = None) -> Prompt:
    """Return the pagination prompt of a window. ``before``: start of the preceding page, for plans that show it."""
    document, plan = windows.document, windows.plan
    language = document.language
    preceding = ""
    if plan.preceding and before is not None and before < window.start:
        # section titles are not counted as words of a page, so its text may be longer
        shown = last_words(escape_tags(document.text(before, window.start)), plan.max_words)
        preceding = render_fragment("preceding", language, text=shown) + "\n"
    return render(
        "paginate",
        language,
        reply_words=_REASON_WORDS * 2,
        choices=window.labels,
        where=where_to_pause(plan, language),
        example="N",
        preceding=preceding,
        passage=windows.passage(window),
        following=following_text(windows, window.end),
    )


def shared_prompt(windows: Windows, window: Window) -> Prompt:
    """Return the pagination prompt that begins as ``gisting.gisting.shared_gist_prompt`` does."""
    language = windows.document.language
    return render(
        "paginate_shared",
        language,
        reply_words=20,
        choices=window.labels,
        where=where_to_pause(windows.plan, language),
        example="N",
        **shown_passage(windows, window),
    )


def shown_passage(windows: Windows, window: Window) -> dict[str, str]:
    """Return the fields of what both prompts of a page begin with: the rules, and the window's passage."""
    return {
        "rules": render_fragment("gist.rules", windows.document.language),
        "passage": windows.passage(window),
        "following": following_text(windows, window.end),
    }


def following_text(windows: Windows, end: int) -> str:
    """Return the line that shows the first words after a passage that ends at paragraph ``end``; '' at a border.

    Without them the last label cannot be judged.
    """
    if windows.is_border(end):
        return ""
    words = first_words(escape_tags(windows.document.text(end, end + 1)), _FOLLOWING_WORDS)
    return render_fragment("following", windows.document.language, text=collapse_whitespace(words))


def ask_page(
    windows: Windows, window: Window, model: ChatModel, *, cancel: CancelToken, before: int | None = None
) -> Page:
    """Ask for the pause point of ``window``; return the page before it, without a number. Raises ModelError."""
    shared = model.shares_text and not windows.plan.preceding
    prompt = shared_prompt(windows, window) if shared else pause_prompt(windows, window, before=before)
    labels = ", ".join(f"<{n}>" for n in window.labels)
    current = prompt
    for _ in range(TRIES):
        pause: PausePoint | None = None
        reply = ""
        try:
            reply = model.complete(current, cancel).text
            pause = match_quotation(parse_pause_point(reply, window.labels), reply, windows, window)
        except CutOffError as error:
            reply = error.text
            pause = _parse_cut_off(error, window)
        except (EmptyReplyError, RefusedError, ReplyError):
            pass
        if pause is not None:
            return windows.page(window.start, pause.at, reason=pause.reason)
        current = prompt.with_follow_up("paginate.again", labels=labels, reply=reply)
    return windows.page(window.start, window.labels[-1], fallback=True)


def match_quotation(pause: PausePoint, reply: str, windows: Windows, window: Window) -> PausePoint:
    """Return ``pause`` at the label whose following text ``reply`` quotes, where that is one other label.

    Models name a label beside the one they mean; the words that they quote as its reason are right more often.
    """
    quoted = next(map(normalise_words, quoted_runs(reply)), "")
    if len(quoted) < _LEAST_QUOTED:
        return pause
    document = windows.document
    texts = {at: (document.text(at, at + 1), document.paragraphs[at].text) for at in window.labels}
    begin = [at for at, both in texts.items() if any(normalise_words(text).startswith(quoted) for text in both)]
    return replace(pause, at=begin[0]) if len(begin) == 1 else pause


def _parse_cut_off(error: CutOffError, window: Window) -> PausePoint | None:
    """Return the pause point of a reply that broke off after its label; None where it has none."""
    head = error.text.rpartition("\n")[0]  # the last line may end inside a number
    try:
        return parse_pause_point(head, window.labels)
    except ReplyError:
        return None
