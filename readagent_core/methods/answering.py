"""The response step every method ends with: the prompt, the stream, and which option a reply chose.

An option that cannot be told is asked for again, at most twice, and is then None: a bad reply is a wrong
answer, never a crash (the authors' demo stops there).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any

from readagent_core.errors import WindowError
from readagent_core.memory import GistMemory
from readagent_core.methods.base import LETTERS, AnswerPart, Event, Expanded
from readagent_core.methods.looking import plain
from readagent_core.methods.run import Run
from readagent_core.prompts import Prompt, render, wording
from readagent_core.tags import disarm
from readagent_core.words import squeeze

ASK_AGAIN = 2
ANSWER_WORDS = 400
_LEAD = r"(?i:answer|choice|option|選択肢|答え|回答|正解)\s*(?i:is|:|は|=)*\s*(?i:option\s*)?"
_SAID = re.compile(_LEAD + r"(?:[(\[{「\"']+\s*([A-Za-z])\s*[)\]}」\"']|([A-Z])(?![\w'’])(\s+\w)?)")
_ALONE = re.compile(r"^\s*[(\[]?\s*([A-Za-z])\s*(?:[)\].:,、。]|$)")
_PARENS = re.compile(r"[(\[]\s*([A-Z])\s*[)\]]")


def chosen_option(reply: str, options: Sequence[str]) -> int | None:
    """Index of the option a reply names, by letter or by the option's own words; None where it names none."""
    text = plain(reply)
    letters = LETTERS[: len(options)]
    said = [m for m in _SAID.finditer(text) if (m.group(1) or m.group(2)).upper() in letters]
    if said:  # asked to begin with it; a reply that thinks aloud first says it last
        found = said[0] if said[0].start() == 0 else said[-1]
        letter = (found.group(1) or found.group(2)).upper()
        article = letter in "AI" and found.group(3)  # 'The answer is A brass key': an article, perhaps
        return (_by_words(text, options) if article else None) or letters.index(letter)
    alone = _ALONE.match(text)
    if alone and alone.group(1).upper() in letters:
        return letters.index(alone.group(1).upper())
    named = {letter for letter in _PARENS.findall(text) if letter in letters}
    if len(named) == 1:
        return letters.index(named.pop())
    return _by_words(text, options) if not named else None


def _by_words(text: str, options: Sequence[str]) -> int | None:
    """The one option whose words the reply repeats; an option inside a longer one that is repeated does not count."""
    said = squeeze(text).casefold()
    wanted = [squeeze(unicodedata.normalize("NFKC", o)).casefold().rstrip(".。") for o in options]
    found = [i for i, o in enumerate(wanted) if o and re.search(rf"(?<!\w){re.escape(o)}(?!\w)", said)]
    longest = [i for i in found if not any(i != j and wanted[i] in wanted[j] for j in found)]
    return longest[0] if len(longest) == 1 else None


def memory_prompt(run: Run, memory: str) -> Prompt:
    """The response prompt over a gist memory with pages expanded in place (tagged text)."""
    return _prompt(run, "answer", "choose", memory=memory)


def pages_prompt(run: Run, pages: str, *, order: str) -> Prompt:
    """The response prompt over retrieved pages (tagged text). ``order``: the wording of how they are ordered."""
    return _prompt(run, "answer_pages", "choose_pages", memory=pages, order=wording(order, run.language))


def text_prompt(run: Run, text: str, *, cut: str = "", quote: bool = False) -> Prompt:
    """The response prompt over plain text. ``cut``: what is missing from it, in the prompt's language.

    ``quote``: ask for the words an answer rests on, where the text is the book's own and they can be found in it.
    """
    asked = wording("quote", run.language) if quote else ""
    return _prompt(run, "answer_text", "choose_text", text=text, cut=cut, quote=asked)


def _prompt(run: Run, free_form: str, choice: str, **values: str) -> Prompt:
    values |= {"title": run.title, "question": run.asked}
    if not run.question.options:
        return render(free_form, run.language, reply_words=ANSWER_WORDS, **values)
    options = disarm(run.question.lettered())
    return render(choice, run.language, reply_words=ANSWER_WORDS, options=options, **values)


def respond(run: Run, prompt: Prompt, **figures: Any) -> Generator[Event, None, None]:
    """Ask ``prompt``, streaming, and end the run. ``figures``: what ``Run.answered`` takes."""
    if run.joined:  # page numbers must be put right before anyone sees them
        completion = yield from run.ask(prompt)
        yield AnswerPart(run.own_words(completion.text))
    else:
        completion = yield from run.stream(prompt)
    text, options = completion.text, run.question.options
    option = chosen_option(text, options) if options else None
    for _ in range(ASK_AGAIN if options else 0):
        if option is not None:
            break
        letters = ", ".join(LETTERS[: len(options)])
        again = yield from run.ask(prompt.again("choose.again", letters=letters))
        option = chosen_option(again.text, options)
        if option is not None:
            yield run.note("The reply named no option; asked again.")
            text = again.text
    if options and option is None:
        yield run.note(f"No option could be told from the reply, though asked {ASK_AGAIN} more times.")
    yield run.answered(run.own_words(text), option=option, cut_off=completion.finish == "length", **figures)


def respond_from_memory(
    run: Run, memory: GistMemory, pages: tuple[int, ...], *, extra: Mapping[str, Any] | None = None
) -> Generator[Event, None, None]:
    """Answer from the gist memory with ``pages`` (most important first) expanded in place.

    Where the server says that this is too long, the last of them stays a gist, until it fits.
    """

    while True:
        prompt = memory_prompt(run, memory.text(pages))
        opened = run.own_pages(pages)
        try:
            yield from respond(
                run,
                prompt,
                looked_up=opened,
                seen=dict.fromkeys(run.own_pages(memory.readable), "gist") | dict.fromkeys(opened, "full"),
                memory_words=memory_words(memory, pages),
                whole_words=read_words(memory),
                extra=extra,
            )
        except WindowError:
            if not pages:
                raise
            yield run.note(f"Page {pages[-1]} stayed a gist: with it the prompt was too long for the model's window.")
            pages = pages[:-1]
            yield Expanded(tuple(sorted(run.own_pages(pages))), memory_words(memory, pages))
        else:
            return


def memory_words(memory: GistMemory, expanded: Collection[int], *, only: Collection[int] | None = None) -> int:
    """Words of gists and expanded pages in context: the 'words in context' of docs/methods.md."""
    chosen = None if only is None else set(only)
    shown = memory.readable if chosen is None else [n for n in memory.readable if n in chosen]
    words = 0
    for number in shown:
        gist = memory.gists[number - 1]
        words += memory.page(number).words if number in expanded else gist.words if gist else 0
    return words


def read_words(memory: GistMemory) -> int:
    """Words of the pages a question can be answered from: of the whole document once it is read."""
    return memory.readable_words
