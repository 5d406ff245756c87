"""Gisting: a page is shortened, independently of all other pages (docs/methods.md, 'Gisting').

A short page is its own gist. The model is asked once more, and only once, if its reply cannot be used (empty, a
refusal, cut off, not shorter than the page), is outside the range of lengths asked for, or has names, numbers or a
language that the page has not. The better usable reply is the gist. Without one it is the page's first sentences,
marked as a fallback.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from readagent_core.cancel import CancelToken
from readagent_core.document import Document
from readagent_core.errors import CutOffError, EmptyReplyError, ModelError, RefusedError
from readagent_core.gisting.audit import audit_gist, find_differences
from readagent_core.gisting.gist_prompts import (
    Lengths,
    format_gist_length,
    gist_lengths,
    gist_prompt,
    shared_gist_prompt,
)
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import ChatModel
from readagent_core.models.thinking import remove_thinking
from readagent_core.plan import GistingPlan
from readagent_core.prompts import Prompt, template_language
from readagent_core.words import copies_beginning, count_words, first_words, is_beginning, sentences
from readagent_core.world.notes import NoteReader, PageNotes, most_notes, split_reply

WHOLE_WORDS = 40  # a page this short is its own gist
_FEW, _LEAST_JUDGED = 0.4, 20  # a gist shorter than this share of at least so many words says next to nothing
_TOLD = 8  # names or numbers listed when the model is asked again
PROBLEMS = {
    "en": {
        "empty": "it was empty",
        "refusal": "it was a remark about the passage, not the passage made shorter",
        "long": "it was not shorter than the passage",
        "cut off": "it broke off before its end",
        "copy": "it was the beginning of the passage, copied",
        "few": "it had only {} words",
        "length": "it had {} words",
        "names": "it had names that the passage does not have ({})",
        "numbers": "it had numbers that the passage does not have ({})",
        "language": "it was not in the language of the passage",
    },
    "ja": {
        "empty": "何も書かれていませんでした",
        "refusal": "文章を短くしたものではなく、断りの言葉でした",
        "long": "元の文章より短くなっていませんでした",
        "cut off": "途中で切れていました",
        "copy": "元の文章の初めを写したものでした",
        "few": "{}字しかありませんでした",
        "length": "{}字ありました",
        "names": "元の文章にない名前がありました（{}）",
        "numbers": "元の文章にない数がありました（{}）",
        "language": "元の文章と違う言語でした",
    },
}
_PREAMBLE = re.compile(
    r"^\W*(?:sure[,!.]?\s*)?(?:here(?:'s| is| are)|the following is|below is)?[^\n:]{0,40}"
    r"\b(?:shortened|condensed|abridged|shorter)\b(?:\s+(?:version|passage|text))?[^\n:]{0,40}:\**\s*\n?|"
    r"^\W*(?:gist|summary):\**\s*|^#+ *(?:gist|summary)\W*\n|"
    r"^\W*(?:okay\W+)?here(?:'s| is)\b[^\n:]{0,40}\bsummary\b[^\n:]{0,40}:\s*\n|"
    r"^\W*(?:短くした文章|要約|短縮版|以下是)[^\n：:]{0,20}[：:]\s*",
    re.IGNORECASE,
)
_REMARK = re.compile(  # after the gist
    r"\n+\W*(?:\(?(?:word count|total words)\b[^\n]*|\(\d+ words\)|"
    r"(?:note|please note)\b\s*:[^\n]*|let me know [^\n]*)\W*\Z",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|unable|not able)|sorry,|i (?:can(?:no|')t|cannot|won't|will not) "
    r"(?:help|assist|comply|do that|fulfill|fulfil|shorten|summari[sz]e|provide|create|continue)|as an ai\b|"
    r"i apologi[sz]e|申し訳|すみませんが|お手伝いできません|対応できません)",
    re.IGNORECASE,
)
_REFUSAL_WORDS = 80  # a longer text that begins like a refusal is the gist of a page that begins so


class NotesTaker:
    """Takes the notes of a page out of the replies that have its gist; asks for ``lines``.

    ``notes``: those of the first usable ones.
    """

    def __init__(self, reader: NoteReader, page: Page, *, share: float = 1.0) -> None:
        self._reader, self._page = reader, page
        self.lines = round(most_notes(page.words) * share)
        self.notes = PageNotes(failed=True)

    def gist_of(self, reply: str) -> tuple[str, bool]:
        """Return the gist in a reply, and whether notes follow it, so that it does not break off."""
        gist, said = split_reply(reply)
        if said.strip() and self.notes.failed:
            self.notes = self._reader.read(self._page, said)
        return gist, bool(said.strip())


def clean_reply(reply: str) -> str:
    """Return the gist in a reply: without <think> blocks, preamble, code fences and outer quotation marks."""
    text = remove_thinking(reply).strip()
    text = re.sub(r"^```\w*\n?|\n?```$", "", text).strip()
    text = _PREAMBLE.sub("", re.sub(r"</?text>", "", text).strip(), count=1).strip()
    text = _REMARK.sub("", text).strip() or text
    for opening, closing in (('"', '"'), ("“", "”"), ("「", "」")):
        inside = text[1:-1]
        if len(text) > 2 and text[0] == opening and text[-1] == closing and opening not in inside:
            text = inside.strip() if closing not in inside else text
    return text


def find_problem(text: str, page_words: int) -> str:
    """Return why ``text`` cannot be the gist of a page of ``page_words`` words: a key of PROBLEMS; '' if it can."""
    if not any(c.isalnum() for c in text):
        return "empty"
    words = count_words(text)
    if words <= _REFUSAL_WORDS and _REFUSAL.match(text):
        return "refusal"
    return "long" if words >= page_words else ""


def first_sentences(text: str, target: int, language: str) -> str:
    """Return the first sentences of ``text``, about ``target`` words; always shorter than the text."""
    taken, words = "", 0
    for sentence in sentences(text, language):
        n = count_words(sentence)
        if taken and words + n > target:
            break
        taken, words = taken + sentence, words + n
    most = max(1, min(target * 2, count_words(text) - 1))
    return (taken if words <= most else first_words(taken, most)).strip()


def shorten_text(
    text: str,
    plan: GistingPlan,
    model: ChatModel,
    *,
    language: str,
    lengths: Lengths,
    cancel: CancelToken,
    instruction: str = "",
    shown: Mapping[str, str] | None = None,
    taker: NotesTaker | None = None,
) -> Gist:
    """Return ``text`` shortened by the model, asked at most twice; else its first sentences, marked as a fallback.

    ``taker``: asks for the notes of the page in the same call, and takes them. A gist made with an ``instruction`` may
    have any length. The built-in reader is asked once: it always replies alike.
    """
    words = count_words(text)

    def asked(tell: bool) -> Prompt:
        if shown:
            return shared_gist_prompt(text, plan, language=language, lengths=lengths, shown=shown, tell=tell)
        notes = taker.lines if taker else 0
        return gist_prompt(
            text, plan, language=language, lengths=lengths, instruction=instruction, notes=notes, tell=tell
        )

    tells = model.copies_pages
    prompt = asked(tells)
    wanted = Lengths(0, words) if instruction else lengths
    current = prompt
    usable: list[tuple[int, int, str]] = []  # problems, words outside the range, text
    for _ in range(2 if model.is_language_model else 1):
        reply, problems = "", {}
        try:
            completion = model.complete(current, cancel)
            said, ended = taker.gist_of(completion.text) if taker else (completion.text, False)
            reply = clean_reply(said)
            problem = find_problem(reply, words)
            if not problem and completion.finish != "stop" and not ended:
                reply, problem = _whole_sentences(reply, text, language, lengths.most)
            if not problem and model.is_language_model and wanted.least >= _LEAST_JUDGED:
                few = count_words(reply) < wanted.least
                problem = "copy" if few and is_beginning(reply, text) else ""
                problem = problem or ("few" if count_words(reply) < wanted.least * _FEW else "")
            problems = {problem: str(count_words(reply))} if problem else find_faults(reply, text, wanted, language)
            if not problem:
                usable.append((len(problems), wanted.distance(count_words(reply)), reply))
        except CutOffError as error:
            reply, problems = clean_reply(error.text), {"cut off": ""}
        except EmptyReplyError:
            problems = {"empty": ""}
        except RefusedError:
            problems = {"refusal": ""}
        except ModelError:  # what stops the reading stops the next page; the reply that is paid is not lost
            if not usable:
                raise
            break
        if not problems or (usable and not model.asks_again):
            break
        if "copy" in problems and not tells:
            tells, current = True, asked(tell=True)
            continue
        told = PROBLEMS[template_language(language)]
        current = prompt.with_follow_up(
            "gist.again" if usable else "gist_anew.again",  # what cannot be used at all would only be copied
            problem="; ".join(told[name].format(detail) for name, detail in problems.items()),
            least=prompt.fields["least"],
            most=prompt.fields["most"],
            reply=reply,
        )
    if not usable:
        return Gist(first_sentences(text, (lengths.least + lengths.most) // 2, language), fallback=True)
    _, outside, best = min(usable, key=lambda found: found[:2])
    if not outside or not model.is_language_model:  # word statistics copy whole sentences
        return Gist(best)
    return Gist(best, marks=(f"{count_words(best)} words, where {wanted.least} to {wanted.most} were asked for",))


def _whole_sentences(reply: str, text: str, language: str, most: int) -> tuple[str, str]:
    """Return a reply that was ended without what follows its last whole sentence, and what makes it useless; ''."""
    if copies_beginning(reply, text, least=most // 3):  # it was ended where it had copied half
        return reply, "copy"
    *whole, _ = sentences(reply, language) or [""]
    return "".join(whole).strip(), "" if whole else "cut off"


def find_faults(reply: str, text: str, lengths: Lengths, language: str) -> dict[str, str]:
    """Return what is wrong with a usable gist of ``text``: keys of PROBLEMS, each with its detail."""
    faults: dict[str, str] = {}
    words = count_words(reply)
    if lengths.distance(words):
        faults["length"] = format_gist_length(words, text, language)
    for what, found in find_differences(reply, text).items():
        faults[what] = ", ".join(found[:_TOLD])
    return faults


def gist_page(
    document: Document,
    page: Page,
    plan: GistingPlan,
    *,
    model: ChatModel,
    cancel: CancelToken,
    instruction: str = "",
    shown: Mapping[str, str] | None = None,
    taker: NotesTaker | None = None,
) -> Gist:
    """Return the audited gist of a page. A short page needs no call, unless there is an ``instruction``.

    ``shown``: see ``shared_gist_prompt``; ``taker``: see ``shorten_text``.
    """
    plain = "\n\n".join(p.text for p in document.paragraphs[page.start : page.end])
    if page.words <= WHOLE_WORDS and not instruction:
        return Gist(plain, whole=True)
    text = document.text(page.start, page.end)
    lengths = gist_lengths(page.words, plan.gist_share)
    gist = shorten_text(
        text,
        plan,
        model,
        language=document.language,
        lengths=lengths,
        cancel=cancel,
        instruction=instruction,
        shown=shown,
        taker=taker,
    )
    audited = audit_gist(gist, text, page_words=page.words)
    return replace(audited, marks=gist.marks + audited.marks)


def regenerate_gist(
    memory: GistMemory, number: int, model: ChatModel, *, instruction: str = "", cancel: CancelToken | None = None
) -> Gist:
    """Return a new gist of page ``number``, made with the reader's ``instruction``. Raises KeyError, ModelError."""
    page = memory.page(number)
    return gist_page(
        memory.document, page, memory.plan, model=model, cancel=cancel or CancelToken(), instruction=instruction
    )
