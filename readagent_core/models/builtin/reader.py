"""The built-in reader: answers the same prompts as a language model, by plain text statistics.

It works from ``Prompt.fields`` and replies in the very form that was asked for, so its replies go through the
same parsers. Lexical cohesion finds pause points, sentence centrality makes gists, BM25 looks pages up, best
sentences answer. It is a default for when no model is connected, not a pretence: what it cannot do it refuses.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

from readagent_core.cancel import CancelToken
from readagent_core.errors import RefusedError
from readagent_core.models.base import ChatModel, Completion
from readagent_core.models.builtin.answers import answer, answer_text, choose, choose_text
from readagent_core.models.builtin.dividing import divide, divide_and_shorten, merge
from readagent_core.models.builtin.look_ups import look_up, look_up_next
from readagent_core.models.builtin.shortening import carry, gist, summary
from readagent_core.models.builtin.statistics import cohesion, content
from readagent_core.models.builtin.walking import leaf, walk
from readagent_core.prompts import Prompt
from readagent_core.tags import split_passage

NAME = "built-in reader"
BLOCK = 60  # content terms compared on each side of a gap
_HEADING = re.compile(r"#{1,6} (.+)")
_SCENE = re.compile(r"(?:[*＊·•\-—_~#]\s*){1,7}\Z")


def paginate(prompt: Prompt) -> str:
    """The offered label where the words change most; a heading or a scene break right after one comes first."""
    pieces = split_passage(prompt.fields["passage"])
    if not pieces:
        raise RefusedError("The built-in reader found no label to choose from in this passage.")
    bags = [content(text) for text, _ in pieces]
    japanese = prompt.language == "ja"
    best, best_score, reason = pieces[-1][1], 0.1, ""
    for gap in range(len(pieces) - 1):
        before = [term for bag in bags[: gap + 1] for term in bag][-BLOCK:]
        after: list[str] = []
        for bag in bags[gap + 1 :]:
            after += bag
            if len(after) >= BLOCK:
                break
        following = pieces[gap + 1][0]
        heading = _HEADING.match(following)
        last_line = pieces[gap][0].rsplit("\n", 1)[-1].strip()
        score = 1 - cohesion(before, after[:BLOCK]) + 0.02 * gap / len(pieces)
        if heading:
            score += 1.0
        elif _SCENE.match(following.split("\n", 1)[0].strip()) or (last_line and _SCENE.match(last_line)):
            score += 0.5
        if score > best_score:
            best, best_score = pieces[gap][1], score
            reason = _reason(before, after, heading.group(1) if heading else "", japanese=japanese)
    if not reason:
        reason = "ここがこの部分の終わりだからです。" if japanese else "the passage runs on as one up to here."
    return f"Break point: <{best}>\n{'理由：' if japanese else 'Because '}{reason}"


def _reason(before: list[str], after: list[str], heading: str, *, japanese: bool) -> str:
    if heading:
        return f"ここから「{heading}」が始まります。" if japanese else f'a new section starts here: "{heading}".'
    if japanese:
        return "前と後ろで使われる言葉がいちばん大きく変わるところです。"
    known = set(before)
    new = [t for t in dict.fromkeys(after[:BLOCK]) if t not in known and len(t) > 3][:3]
    told = f", and new ones come in: {', '.join(new)}" if new else ""
    return f"the words before and after it have least in common{told}."


ANSWERS: Mapping[str, Callable[[Prompt], str]] = {
    "paginate": paginate,
    "paginate_many": lambda prompt: divide(prompt, paginate),
    "paginate_gist": lambda prompt: divide_and_shorten(prompt, paginate),
    "merge": merge,
    "gist": gist,
    "look_up": look_up,
    "look_up_ranked": look_up,
    "look_up_next": look_up_next,
    "answer": answer,
    "answer_text": answer_text,
    "choose": choose,
    "choose_text": choose_text,
    "answer_pages": answer,
    "choose_pages": choose,
    "tree_segment": summary,
    "tree_parent": summary,
    "carry": carry,
    "compress": summary,
    "walk": walk,
    "leaf": leaf,
}


class BuiltInReader(ChatModel):
    """Answers by word statistics: needs no server and no key."""

    name = NAME
    window: int | None = None
    is_language_model = False

    def complete(self, prompt: Prompt, cancel: CancelToken) -> Completion:
        """The reply. Raises RefusedError for a task that statistics cannot do."""
        cancel.check()
        start = time.perf_counter()
        if prompt.task not in ANSWERS:
            raise RefusedError(
                "The built-in reader has no way to do this; it needs a language model. Connect one in Settings."
            )
        text = ANSWERS[prompt.task](prompt)
        return Completion(text, model=self.name, seconds=time.perf_counter() - start)
