"""How the built-in reader walks a MemWalker tree: to the part whose summary shares most with the question.

Knows nothing of models; works from a prompt's fields and replies in the form the prompt asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace

from readagent_core.models.builtin.answers import answer_text, choose_text
from readagent_core.models.builtin.statistics import bm25, content, inverse_frequencies, overlap, split_sentences
from readagent_core.prompts import Prompt

ENOUGH = 0.4  # share of the question's weight that one sentence of a segment must hold for it to answer
_PART = re.compile(r"^(?:Part|部分) (\d+)( \(looked into already\)|（すでに見た）)?[:：]", re.MULTILINE)
_OPTION = re.compile(r"^\([A-Z]\) ", re.MULTILINE)


def walk(prompt: Prompt) -> str:
    """'Action: 2' for the best part not yet looked into, or -1 once they all were."""
    text = prompt.fields["parts"]
    found = list(_PART.finditer(text))
    ends = [m.start() for m in found[1:]] + [len(text)] * bool(found)
    bags = [content(text[m.end() : end]) for m, end in zip(found, ends, strict=True)]
    scores = bm25(content(prompt.fields["question"]), bags)
    left = [(-score, int(m.group(1))) for score, m in zip(scores, found, strict=True) if not m.group(2)]
    japanese = prompt.language == "ja"
    if not left and prompt.fields["back"]:
        return f"Reasoning: {'どの部分ももう見たからです。' if japanese else 'every part was looked into.'}\nAction: -1"
    number = min(left)[1] if left else 1
    why = "質問と同じ言葉がいちばん多い部分です。" if japanese else "this part shares most words with the question."
    return f"Reasoning: {why}\nAction: {number}"


def leaf(prompt: Prompt) -> str:
    """'Action: -2' and the best sentences where one holds enough of the question, else 'Action: -1'."""
    options = _OPTION.search(prompt.fields["question"])
    question = prompt.fields["question"][: options.start()].strip() if options else prompt.fields["question"]
    bags = [set(content(s)) for s in split_sentences(prompt.fields["text"], prompt.language)]
    idf = inverse_frequencies(bags)
    wanted = content(question)
    japanese = prompt.language == "ja"
    if max((overlap(bag, wanted, idf) for bag in bags), default=0.0) < ENOUGH:
        return f"Reasoning: {'ここには書かれていません。' if japanese else 'it does not say.'}\nAction: -1"
    asked = replace(prompt, fields={**prompt.fields, "question": question})
    if options:
        lettered = prompt.fields["question"][options.start() :]
        said = choose_text(replace(asked, fields={**asked.fields, "options": lettered}))
    else:
        said = f"Answer: {answer_text(asked)}"
    why = "質問と同じ言葉の文があります。" if japanese else "a sentence here shares the question's words."
    return f"Reasoning: {why}\nAction: -2\n{said}"
