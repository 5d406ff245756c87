"""Gisting: a page is made shorter, independently of every other (docs/methods.md, 'Gisting').

A short page is its own gist. A reply that is empty, a refusal, or not shorter than the page is asked for once
more; then the page's own first sentences stand in, and say so. Knows nothing of pagination.
"""

from __future__ import annotations

import re

from readagent_core.document import Document
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.memory import Gist, Page
from readagent_core.models.base import ChatModel, Watch
from readagent_core.models.server.thinking import remove_thinking
from readagent_core.plan import ReadingPlan
from readagent_core.prompts import Prompt, language_of, render
from readagent_core.reading.audit import audit
from readagent_core.tags import disarm
from readagent_core.words import CHARACTERS_PER_WORD, count_words, first_words, is_unspaced, sentences

WHOLE_WORDS = 40  # a page this short is its own gist
_LEAST_TARGET = 8
PROBLEMS = {
    "en": {
        "empty": "it was empty",
        "refusal": "it was a remark about the passage, not the passage made shorter",
        "long": "it was not shorter than the passage",
        "cut off": "it broke off before its end",
    },
    "ja": {
        "empty": "何も書かれていませんでした",
        "refusal": "文章を短くしたものではなく、断りの言葉でした",
        "long": "元の文章より短くなっていませんでした",
        "cut off": "途中で切れていました",
    },
}
_PREAMBLE = re.compile(
    r"^\W*(?:sure[,!.]?\s*)?(?:here(?:'s| is| are)|the following is|below is)?[^\n:]{0,40}"
    r"\b(?:shortened|condensed|abridged|shorter)\b(?:\s+(?:version|passage|text))?[^\n:]{0,40}:\s*\n?|"
    r"^\W*(?:短くした文章|要約|短縮版)[^\n：:]{0,20}[：:]\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|unable|not able)|sorry,|i (?:can(?:no|')t|cannot|won't|will not) "
    r"(?:help|assist|comply|do that|fulfill|fulfil|shorten|summari[sz]e|provide|create|continue)|as an ai\b|"
    r"i apologi[sz]e|申し訳|すみませんが|お手伝いできません|対応できません)",
    re.IGNORECASE,
)
_REFUSAL_WORDS = 80  # a longer text that begins so is a gist of someone's apology


def target_words(words: int, share: float) -> int:
    """How long a gist of ``words`` words should be."""
    return max(_LEAST_TARGET, round(words * share))


def clean(reply: str) -> str:
    """A gist as it stands in the reply: without thoughts, a heading line about itself, fences or outer quotes."""
    text = remove_thinking(reply).strip()
    text = re.sub(r"^```\w*\n?|\n?```$", "", text).strip()
    text = _PREAMBLE.sub("", text, count=1).strip()
    for opening, closing in (('"', '"'), ("“", "”"), ("「", "」")):
        inside = text[1:-1]
        if len(text) > 2 and text[0] == opening and text[-1] == closing and opening not in inside:
            text = inside.strip() if closing not in inside else text
    return text


def problem(text: str, page_words: int) -> str:
    """Why ``text`` cannot be the gist of a page of ``page_words`` words: a key of PROBLEMS, or ''."""
    if not any(c.isalnum() for c in text):
        return "empty"
    words = count_words(text)
    if words <= _REFUSAL_WORDS and _REFUSAL.match(text):
        return "refusal"
    return "long" if words >= page_words else ""


def _length(words: int, text: str, language: str) -> str:
    """A length as the template counts it: words, or characters where words are not spaced."""
    if language_of(language) == "ja" and is_unspaced(text[:2000]):
        return str(words * CHARACTERS_PER_WORD["cjk"])
    return str(words)


def instructions_text(plan: ReadingPlan, language: str, *, extra: str = "") -> str:
    """What the plan (and a person, for one page) adds to the gisting prompt, ready to stand behind a sentence."""
    added = [part.strip() for part in (plan.instructions, extra) if part.strip()]
    if plan.purpose.strip():
        added.append(render("gist.purpose", language, purpose=plan.purpose.strip().rstrip(".。")).text)
    between = "" if language_of(language) == "ja" else " "
    return "".join(between + part for part in added)


def gist_prompt(text: str, plan: ReadingPlan, *, language: str, target: int, instruction: str = "") -> Prompt:
    """The gisting prompt of a page's text. ``instruction``: what a person adds for this one page."""
    return render(
        "gist",
        language,
        reply_words=max(200, target * 4),
        instructions=instructions_text(plan, language, extra=instruction),
        target=_length(target, text, language),
        page=disarm(text),
    )


def first_sentences(text: str, target: int, language: str) -> str:
    """The first sentences of ``text`` that come to about ``target`` words; always shorter than the text."""
    kept, words = "", 0
    for sentence in sentences(text, language):
        n = count_words(sentence)
        if kept and words + n > target:
            break
        kept, words = kept + sentence, words + n
    most = max(1, min(target * 2, count_words(text) - 1))
    return (kept if words <= most else first_words(kept, most)).strip()


def shorten(
    text: str, plan: ReadingPlan, model: ChatModel, *, language: str, target: int, watch: Watch, instruction: str = ""
) -> Gist:
    """``text`` made shorter by the model, at most asked twice; else its first sentences, marked fallback."""
    words = count_words(text)
    prompt = gist_prompt(text, plan, language=language, target=target, instruction=instruction)
    asked = prompt
    for _ in range(2):
        try:
            reply = clean(model.complete(asked, watch).text)
            wrong = problem(reply, words)
        except CutOffError:
            wrong = "cut off"
        except EmptyReplyError:
            wrong = "empty"
        except RefusedError:
            wrong = "refusal"
        if not wrong:
            return Gist(reply)
        asked = prompt.again(
            "gist.again",
            problem=PROBLEMS[language_of(language)][wrong],
            words=_length(target, text, language),
        )
    return Gist(first_sentences(text, target, language), fallback=True)


def gist_page(
    document: Document, page: Page, plan: ReadingPlan, *, model: ChatModel, watch: Watch, instruction: str = ""
) -> Gist:
    """The gist of one page, audited. A short page without an instruction costs no call."""
    plain = "\n\n".join(p.text for p in document.paragraphs[page.start : page.end])
    if page.words <= WHOLE_WORDS and not instruction:
        return Gist(plain, whole=True)
    text = document.text(page.start, page.end)
    target = target_words(page.words, plan.gist_share)
    gist = shorten(text, plan, model, language=document.language, target=target, watch=watch, instruction=instruction)
    return audit(gist, text, page_words=page.words)
