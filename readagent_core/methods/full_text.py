"""Full text: the whole book in one prompt; where it does not fit it is cut, and the prompt says so (§4, baselines).

``AskSettings.keep``: 'left' keeps the first words, 'right' the last, 'ends' both, the middle being cut out.
"""

from __future__ import annotations

from collections.abc import Iterator

from readagent_core.errors import SettingsError, WindowError
from readagent_core.memory import GistMemory
from readagent_core.methods.answering import ANSWER_WORDS, respond, text_prompt
from readagent_core.methods.base import AskSettings, Event, Question
from readagent_core.methods.budget import context_words
from readagent_core.methods.run import Run
from readagent_core.models.base import ChatModel, Watch
from readagent_core.prompts import wording
from readagent_core.words import count_words, first_words, last_words

GAP = "\n\n[...]\n\n"
LEAST_WORDS = 100  # a text cut shorter than that is no text any more


class FullText:
    name = "full-text"
    title = "Full text"
    about = "Puts the whole text into one prompt; what does not fit is cut off."
    needs_gists = False

    def run(
        self, question: Question, memory: GistMemory, model: ChatModel, settings: AskSettings, watch: Watch
    ) -> Iterator[Event]:
        if settings.keep not in ("left", "right", "ends"):
            raise SettingsError(f"Full text can keep 'left', 'right' or 'ends', not {settings.keep!r}.")
        run = Run(self.name, question, memory, model, settings, watch)
        text, words = memory.whole_text, memory.whole_words
        around = text_prompt(
            run, "", cut=wording("cut.left", run.language, kept=str(words), words=str(words)), quote=True
        ).words
        limit = context_words(settings, model, sample=text, around=around, reply_words=ANSWER_WORDS)
        while True:
            kept, cut = (text, "") if limit is None or words <= limit else keep(run, text, words, limit)
            if cut:
                yield run.note(f"The text was cut to fit: {said(settings.keep, limit or 0, words)} were shown.")
            shown = words if not cut else min(words, limit or 0)
            try:
                yield from respond(
                    run,
                    text_prompt(run, kept, cut=cut, quote=True),
                    seen=pages_seen(memory, settings.keep, shown / words if words else 0.0),
                    memory_words=memory.document.words if not cut else min(count_words(kept), memory.document.words),
                )
            except WindowError:
                if shown <= LEAST_WORDS:
                    raise
                limit = shown // 2
                yield run.note("The server said that the prompt is too long for the model's window.")
            else:
                return


def keep(run: Run, text: str, words: int, limit: int) -> tuple[str, str]:
    """``text`` of ``words`` words cut to ``limit``, and what the prompt says of it."""
    values = {"kept": f"{limit:,}", "words": f"{words:,}"}
    if run.settings.keep == "left":
        return first_words(text, limit), wording("cut.left", run.language, **values)
    if run.settings.keep == "right":
        return last_words(text, limit), wording("cut.right", run.language, **values)
    half = limit // 2
    kept = first_words(text, half) + GAP + last_words(text, half)
    return kept, wording("cut.ends", run.language, half=f"{half:,}", words=f"{words:,}")


def said(which: str, limit: int, words: int) -> str:
    """What was kept, for people."""
    if which == "ends":
        return f"its first and last {limit // 2:,} of {words:,} words"
    return f"its {'first' if which == 'left' else 'last'} {limit:,} of {words:,} words"


def pages_seen(memory: GistMemory, which: str, share: float) -> dict[int, str]:
    """The pages of which anything stood in the prompt, when ``share`` of the text was kept."""
    whole = sum(page.words for page in memory.pages)
    left = whole * (share if which == "left" else share / 2 if which == "ends" else 0.0)
    right = whole - whole * (share if which == "right" else share / 2 if which == "ends" else 0.0)
    seen: dict[int, str] = {}
    position = 0
    for page in memory.pages:
        if position < left or position + page.words > right or share >= 1:
            seen[page.number] = "full"
        position += page.words
    return seen


METHOD = FullText()
