"""The response step that ends every method: its prompts, the streamed answer, and the option a reply chooses.

Where a reply names no option the model is asked again, at most twice. After that the option is None, which counts as a
wrong answer (the authors' demo stops with an error). Where the settings allow it, the model may also decline to choose.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from typing import Any

from readagent_core.answering.base import LETTERS, AnswerPart, Event, Expanded
from readagent_core.answering.explore_replies import ANSWER_MARK
from readagent_core.answering.look_up_replies import to_plain_text
from readagent_core.answering.run import Run
from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory
from readagent_core.models.base import Completion
from readagent_core.prompts import Prompt, example_numbers, render, render_fragment
from readagent_core.tags import escape_tags
from readagent_core.words import collapse_whitespace

OPTION_RETRIES = 2
ANSWER_WORDS = 400
_HELD = 60  # characters of a reply after which it is taken for an answer
_MARKED = 12  # characters in which the mark of an answer has ended
PLAIN_WORDS = 120  # of an answer without page marks and quotations
PLAIN = "Asked for a plain answer, without page marks and quotations, as set for this model."
WEIGHED = "The option is the one that the model found likeliest over {} orders of the options."
OPENED_AFTER = "In the prompt the opened pages came after the gists, as set for this model."
_LEAD = (
    r"(?i:answer|choice|choose|pick|option|選択肢|答え|回答|正解|答案|选项|respuesta|antwort|réponse)"
    r"\s*(?i:is|would be|:|は|是|=|-|es|ist|est)*\s*(?i:option\s*)?"
)
_NAMED = re.compile(
    _LEAD + r"(?:[(\[{<「\"']+\s*([A-Za-z])\s*[)\]}>」\"']|([A-Z])(?![\w'’])(\s+\w)?|([a-z])(?=[.)]?\s*$))",
    re.MULTILINE,
)
_STATED = re.compile(r"(?i:answer|答え|回答|正解)\s*:")
_ALONE = re.compile(
    r"^\s*[(\[]?\s*([A-Za-z])\s*(?:[)\].:,、。](?!\s*(?i:is|was)\s+(?i:wrong|incorrect|false|not)\b)|$)"
)
_DECLINED = re.compile(_LEAD + r"[(\[{「\"']?\s*(?i:none|なし)(?![\w'’])")
_PARENS = re.compile(r"[(\[]\s*([A-Z])\s*[)\]]")


def chosen_option(reply: str, options: Sequence[str]) -> int | None:
    """Return the index of the option a reply names, by its letter or its words; None where it names none."""
    text = to_plain_text(reply)
    letters = LETTERS[: len(options)]
    matches = [m for m in _NAMED.finditer(text) if _letter(m) in letters]
    if matches:  # the prompt asks for it at the beginning; a reply that reasons first names it at the end
        matches = [m for m in matches if _STATED.match(m.group())] or matches  # rather than 'Option A says …'
        found = matches[0] if matches[0].start() == 0 else matches[-1]
        letter = _letter(found)
        article = letter in "AI" and found.group(3)  # 'The answer is A brass key': possibly an article
        return (_option_by_words(text, options) if article else None) or letters.index(letter)
    alone = _ALONE.match(text)
    if alone and alone.group(1).upper() in letters:
        return letters.index(alone.group(1).upper())
    named = {letter for letter in _PARENS.findall(text) if letter in letters}
    if len(named) == 1:
        return letters.index(named.pop())
    return _option_by_words(text, options) if not named else None


def _letter(named: re.Match[str]) -> str:
    return str(named.group(1) or named.group(2) or named.group(4)).upper()


def _option_by_words(text: str, options: Sequence[str]) -> int | None:
    """Return the one option whose words the reply repeats; None where there are none or several.

    An option that is part of a longer repeated one does not count.
    """
    reply = collapse_whitespace(text).casefold()
    wanted = [collapse_whitespace(unicodedata.normalize("NFKC", o)).casefold().rstrip(".。") for o in options]
    found = [i for i, o in enumerate(wanted) if o and re.search(rf"(?<!\w){re.escape(o)}(?!\w)", reply)]
    longest = [i for i in found if not any(i != j and wanted[i] in wanted[j] for j in found)]
    return longest[0] if len(longest) == 1 else None


def declines(reply: str) -> bool:
    """Return whether a reply says, in the form asked for, that the text does not settle which option is right."""
    return bool(_DECLINED.search(to_plain_text(reply)))


def memory_prompt(run: Run, memory: str, *, full: Sequence[int] | None = None) -> Prompt:
    """Return the response prompt over a gist memory with pages expanded in place (``memory``: tagged text).

    ``full``: the pages that are expanded, of which quotations are asked for; a gist has none to give. None: not known.
    """
    return _prompt(
        run, "answer", "choose", memory=memory, **citing(run, quote=full is None or bool(full), full=full or ())
    )


def pages_prompt(run: Run, pages: str, *, order: str) -> Prompt:
    """Return the response prompt over retrieved pages (tagged text). ``order``: the template that names their order."""
    named = render_fragment(order, run.language)
    return _prompt(run, "answer_pages", "choose_pages", memory=pages, order=named, **citing(run, quote=True))


def citing(run: Run, *, quote: bool, full: Sequence[object] = (), example: str = "") -> dict[str, str]:
    """Return the fields of a prompt that asks for page marks, and for quotations (``quote``).

    ``full``: the pages in full, which are named again. ``example``: of a page, where it is not one of the run's memory.
    """
    example = example or example_numbers(len(run.memory.pages))
    if not quote:
        return {"example": example, "evidence": render_fragment("evidence.none", run.language)}
    pages = ", ".join(map(str, full))
    named = render_fragment("evidence.full", run.language, pages=pages) if pages else ""
    return {"example": example, "evidence": render_fragment("evidence", run.language, example=example, full=named)}


def text_prompt(run: Run, text: str, *, cut: str = "", quote: bool = False) -> Prompt:
    """Return the response prompt over plain text.

    ``cut``: says in the prompt's language what is missing from the text. ``quote``: also ask for quotations; only
    useful where the text is the book's own, so that they can be found in it.
    """
    request = render_fragment("quote", run.language) if quote else ""
    return _prompt(run, "answer_text", "choose_text", text=text, cut=cut, quote=request)


def choice_form(run: Run) -> dict[str, str]:
    """Return the fields of a prompt that say how an option is named."""
    form = "choose.reason_first" if run.settings.reason_first else "choose.letter_first"
    unsettled = "unsettled.decline" if run.settings.may_decline else "unsettled.choose"
    return {"form": render_fragment(form, run.language), "unsettled": render_fragment(unsettled, run.language)}


def plain_task(run: Run) -> str:
    """Return what a prompt for a plain answer asks, after its texts."""
    question = run.question_with_options
    if not run.question.options:
        return render_fragment("answer.plain", run.language, question=question)
    return render_fragment("choose.plain", run.language, question=question, **choice_form(run))


def _prompt(run: Run, free_form: str, choice: str, **values: str) -> Prompt:
    values |= {"title": run.title, "question": run.question_text}
    task, choices = free_form, letters(run)
    if run.question.options:
        task = choice
        values |= {"options": escape_tags(run.question.lettered())} | choice_form(run)
    prompt = render(task, run.language, reply_words=ANSWER_WORDS, choices=choices, **values)
    if not run.settings.plain:
        return prompt
    texts, end, _ = prompt.text.rpartition("</text>\n\n")  # what comes before is alike, and read once
    return replace(prompt, text=f"{texts}{end}{plain_task(run)}", reply_words=PLAIN_WORDS)


def letters(run: Run) -> tuple[str, ...]:
    """Return what a reply to a question with options may begin with; () where its reasons come first."""
    named = () if run.settings.reason_first else tuple(LETTERS[: len(run.question.options)])
    return (*named, "none") if named and run.settings.may_decline else named


def respond(run: Run, prompt: Prompt, **figures: Any) -> Generator[Event, None, None]:
    """Send ``prompt``, stream the answer and end the run. ``figures``: arguments of ``Run.finish``."""
    if run.settings.plain:
        yield run.note(PLAIN)
    completion = yield from run.stream(prompt)
    yield from conclude(run, prompt, completion, **figures)


def conclude(run: Run, prompt: Prompt, completion: Completion, **figures: Any) -> Generator[Event, None, None]:
    """End the run with the answer in ``completion``, the reply to ``prompt``; ask again if it names no option."""
    text, options = completion.text, run.question.options
    if completion.orders:
        yield run.note(WEIGHED.format(completion.orders))
    declined = bool(options) and run.settings.may_decline and declines(text)
    option = chosen_option(text, options) if options and not declined else None
    reply = text
    for _ in range(OPTION_RETRIES if options and not declined else 0):
        if option is not None:
            break
        letters = ", ".join(LETTERS[: len(options)])
        again = prompt.with_follow_up("choose.again", letters=letters, reply=reply)
        reply = (yield from run.ask(again)).text
        option = chosen_option(reply, options)
        if option is not None:
            yield run.note("The reply named no option; asked again.")
            text = reply
    if declined:
        yield run.note("No option was chosen: by the model's reply, the text does not settle the question.")
    elif options and option is None:
        yield run.note(f"The reply named no option, even after {OPTION_RETRIES} more requests.")
    yield run.finish(text, option=option, cut_off=completion.finish != "stop", **figures)


def respond_from_memory(run: Run, memory: GistMemory, pages: tuple[int, ...]) -> Generator[Event, None, None]:
    """Answer from the gist memory with ``pages`` (most important first) in full (see ``memory_text``).

    Pages opened in one look-up are shown in the order of the book.

    Each time the server says that the prompt is too long, the last of them goes back to its gist.
    """
    if pages and opens_after(run):
        yield run.note(OPENED_AFTER)
    while True:
        shown = pages if run.steps > 1 else sorted(pages)
        prompt = memory_prompt(run, memory_text(run, memory, shown), full=shown)
        try:
            yield from respond(
                run,
                prompt,
                looked_up=pages,
                seen=memory.seen(pages),
                memory_words=count_memory_words(run, memory, pages),
                whole_words=memory.readable_words,
                extra={"opened": "after"} if opens_after(run) else None,
            )
        except WindowError:
            if not pages:
                raise
            yield run.note(f"Page {pages[-1]} stayed a gist: with it the prompt was too long for the model's window.")
            pages = pages[:-1]
            yield expanded_event(run, memory, pages)
        else:
            return


def expanded_event(run: Run, memory: GistMemory, pages: Sequence[int]) -> Expanded:
    """Return the event that ``pages`` of ``memory`` are now in full."""
    words = count_memory_words(run, memory, pages)
    return Expanded(tuple(sorted(pages)), words, memory.entries(pages))


def opens_after(run: Run) -> bool:
    """Return whether pages are shown in full after all the gists, by the setting ``opened=after``, not in place."""
    return run.option("opened", "") == "after"


def memory_text(run: Run, memory: GistMemory, pages: Sequence[int]) -> str:
    """Return the gist memory for a prompt with ``pages`` in full, each in the place of its gist.

    With the setting ``opened=after`` they come after all the gists, in the order of ``pages``: so all prompts of a book
    begin alike, and a server with prefix caching computes little more than the pages.
    """
    if not opens_after(run):
        return memory.text(pages)
    return "\n\n".join([memory.gist_text, *(memory.entry(number, full=True) for number in pages)])


def count_memory_words(run: Run, memory: GistMemory, expanded: Collection[int]) -> int:
    """Return the words of gists and expanded pages in context, without tags and titles (docs/methods.md)."""
    words = memory.words_with(expanded)
    if opens_after(run):
        words += sum(gist.words for n in expanded if (gist := memory.gists[n - 1]))
    return words


def stream_answer(
    run: Run,
    prompt: Prompt,
    parse_requests: Callable[[str], object],
    begun: re.Pattern[str],
    *,
    may_request: bool = True,
) -> Generator[Event, None, Completion]:
    """Send a prompt and return its reply. An answer is passed on while it arrives, a request is not.

    ``parse_requests``: gives what a reply asks for; nothing (false) where it is an answer. ``begun``: matches how a
    request or a marked answer begins. ``may_request`` False: only the mark of an answer is waited for.
    """
    stream, held, answering = run.stream(prompt), "", False
    while True:
        try:
            event = next(stream)
        except StopIteration as end:
            completion: Completion = end.value
            if not answering and not parse_requests(completion.text):
                yield AnswerPart(ANSWER_MARK.sub("", completion.text, count=1))
            return completion
        if not isinstance(event, AnswerPart) or answering:
            yield event
            continue
        held += event.text
        mark = ANSWER_MARK.match(held)
        if mark and len(held) > mark.end():
            answering = True
            yield AnswerPart(held[mark.end() :])
        elif held.lstrip().startswith("<think"):
            continue
        elif len(held) > _HELD and not begun.match(held) if may_request else not _may_be_mark(held):
            answering = True
            yield AnswerPart(held)


def _may_be_mark(held: str) -> bool:
    """Return whether a reply that begins so may have the mark of an answer, or of thoughts, which is not shown."""
    begins = held.lstrip(" \n>#*_-(0123456789.)").upper()
    return len(begins) < _MARKED and any(mark.startswith(begins[: len(mark)]) for mark in ("ANSWER", "<THINK"))
