"""The built-in reader: answers the same prompts as a language model, by plain text statistics.

It works from ``Prompt.fields`` and replies in the form that the prompt asks for, so its replies go through
the same parsers. Lexical cohesion finds pause points, sentence centrality makes gists, BM25 looks pages up, best
sentences answer. It is a default for when no model is connected, not a pretence: what it cannot do it refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from readagent_core.cancel import CancelToken
from readagent_core.errors import RefusedError
from readagent_core.models.base import ChatModel, Completion
from readagent_core.models.builtin.answers import answer, choose
from readagent_core.models.builtin.look_ups import (
    answer_shelf,
    explore,
    explore_shelf,
    leaf,
    look_up,
    look_up_next,
    recall,
    walk,
)
from readagent_core.models.builtin.pause_points import divide, divide_and_shorten, paginate
from readagent_core.models.builtin.shortening import carry, gist, summary
from readagent_core.models.builtin.web_pages import act, gist_snippet, look_up_snippets
from readagent_core.prompts import Prompt

NAME = "built-in reader"

ANSWERS: Mapping[str, Callable[[Prompt], str]] = {
    "paginate": paginate,
    "paginate_many": divide,
    "paginate_gist": divide_and_shorten,
    "gist": gist,
    "look_up": look_up,
    "look_up_ranked": look_up,
    "look_up_next": look_up_next,
    "explore": explore,
    "explore_shelf": explore_shelf,
    "recall": recall,
    "search_agent": recall,
    "answer_shelf": answer_shelf,
    "answer": answer,
    "answer_text": answer,
    "choose": choose,
    "choose_text": choose,
    "answer_pages": answer,
    "choose_pages": choose,
    "tree_segment": summary,
    "tree_parent": summary,
    "carry": carry,
    "compress": summary,
    "walk": walk,
    "leaf": leaf,
    "gist_snippet": gist_snippet,
    "look_up_snippets": look_up_snippets,
    "act": act,
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
