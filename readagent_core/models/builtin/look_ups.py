"""How the built-in reader chooses what to read in full: pages of a memory and parts of a MemWalker tree.

By BM25 of the question over the gists or summaries (paper, section 3.3). Knows nothing of models; works from a prompt's
fields and replies in the form that the prompt asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from readagent_core.models.builtin.answers import BOOK, Said, choose, find_answer, page_of_person
from readagent_core.models.builtin.parts_asked import Part, part_asked
from readagent_core.models.builtin.shortening import number_in
from readagent_core.models.builtin.statistics import (
    Bm25,
    content,
    inverse_frequencies,
    names_in,
    overlap,
    shared_words,
    split_sentences,
)
from readagent_core.prompts import Prompt, render_fragment
from readagent_core.tags import page_tag, passage_tag, split_memory

NEAR = 0.6  # a page is named beside the best one when its score is at least this share of the best score
ENOUGH_IN_PAGE = 0.75  # share of the question's weight in one full page at which no further page is needed
ENOUGH_IN_SENTENCE = 0.4  # share of the question's weight that one sentence of a segment must hold for an answer
_PART = re.compile(r"^(?:Part|部分) (\d+)( \(looked into already\)|（すでに見た）)?[:：]", re.MULTILINE)
_RANGE = re.compile(r"^<Pages (\d+)-(\d+)>$", re.MULTILINE)
_FOUND = re.compile(r"^(?:\(on page (\d+): \"|（(\d+)ページに：「)(.*)(?:\"\)|」）)$", re.MULTILINE)
_BOOK_TAG = re.compile(r"^<Book (\d+)> (.*)$", re.MULTILINE)
_SHELF_PAGE = re.compile(r"^(<Pages? |\(on page |（|(?=\d+\.\d+:))(\d+)\.(\d+)(?:-(\d+))?", re.MULTILINE)
_IN_BOOK = re.compile(r"^(?:\(in book (\d+): |（本(\d+)に：)", re.MULTILINE)
_BRACKETED = re.compile(rf"\[[\d, -]*\d{{{len(str(BOOK))},}}[\d, -]*\]")
_REQUESTED = re.compile(r"(?:FIND|OPEN|GISTS) ")
_PAGE = re.compile(r"<Page \d")
_HIT = re.compile(r"(\d+):(\d+) (.*)")
END_ASKED = "an end of the text is asked for, no word in it"
PERSON_ASKED = "it tells first of the person who is asked for"
INTRODUCED = "the memory says who that is"
_WANTED = 3  # words looked for at once
_OPTION = re.compile(r"^\([A-Z]\) ", re.MULTILINE)


def _ranked(prompt: Prompt) -> list[tuple[float, int, bool, list[str]]]:
    """(score, page, in full?, its terms) of every page that shares a term with the question, best first."""
    entries = split_memory(prompt.fields["memory"])
    bags = [content(text) for _, _, text in entries]
    scores = Bm25(bags).scores(dict.fromkeys(content(prompt.fields["question"])))
    found = [(s, e[0], e[1], b) for s, e, b in zip(scores, entries, bags, strict=True) if s > 0]
    return sorted(found, key=lambda row: (-row[0], row[1]))


def _reason(prompt: Prompt, pages: Sequence[int]) -> str:
    """Which words of the question the pages share."""
    question = prompt.fields["question"]
    text = "\n".join(body for page, _, body in split_memory(prompt.fields["memory"]) if page in pages)
    words = dict.fromkeys(question[start:end] for start, end in shared_words(question, text))
    if prompt.language == "ja":
        return f"質問と同じ言葉：{'、'.join(words)}" if words else "質問と同じ言葉がどの要点にもありません。"
    return f"words shared with the question: {', '.join(words)}" if words else "no gist shares a word with the question"


def _page_asked(prompt: Prompt) -> tuple[int, str] | None:
    """The page of the memory that a question asks for by its form, with the reason; page 0: the memory answers.

    The first or last page for one about the beginning or end, for one about a person the first that tells of them.
    """
    question, options = _split_options(prompt)
    memory = prompt.fields["memory"]
    part, pages = part_asked(question), [page for page, _, _ in split_memory(memory)]
    if options or not pages or max(pages) >= BOOK:
        return None
    if part in (Part.BEGINNING, Part.END):
        return pages[0] if part is Part.BEGINNING else pages[-1], END_ASKED
    page = page_of_person(memory, prompt.language, question)
    return None if page is None else (page, PERSON_ASKED if page else INTRODUCED)


def look_up(prompt: Prompt) -> str:
    """'Page [2, 7]: …': the pages whose gists share most with the question, or none; for an end of the text, that."""
    if asked := _page_asked(prompt):
        page, why = asked
        return f"Page [{page or ''}]: {why}"
    k = number_in(prompt.fields["k"], 1)
    ranked = [row for row in _ranked(prompt) if not row[2]]
    pages = [page for score, page, _, _ in ranked if score >= NEAR * ranked[0][0]][:k]
    named = ", ".join(map(str, pages if prompt.task == "look_up_ranked" else sorted(pages)))
    return f"Page [{named}]: {_reason(prompt, pages)}"


def look_up_next(prompt: Prompt) -> str:
    """'Page 4' for the best page not yet read, or STOP once a page in full holds most of the question."""
    if "problem" in prompt.fields:  # the last page that was named cannot be opened
        return "STOP"
    if asked := _page_asked(prompt):
        page, why = asked
        return f"Page {page}: {why}" if page and not re.search(r"\d", prompt.fields["seen"]) else "STOP"
    ranked = _ranked(prompt)
    question = content(prompt.fields["question"])
    idf = inverse_frequencies([row[3] for row in ranked])
    if any(full and overlap(bag, question, idf) >= ENOUGH_IN_PAGE for _, _, full, bag in ranked):
        return "STOP"
    seen = {int(n) for n in re.findall(r"\d+", prompt.fields["seen"])}
    left = [row for row in ranked if not row[2] and row[1] not in seen]
    if not left or left[0][0] < 0.5 * ranked[0][0]:
        return "STOP"
    return f"Page {left[0][1]}: {_reason(prompt, [left[0][1]])}"


def walk(prompt: Prompt) -> str:
    """'Action: enter part 2' for the best part not yet looked into, or 'go back' once they all were."""
    text = prompt.fields["parts"]
    found = list(_PART.finditer(text))
    ends = [m.start() for m in found[1:]] + [len(text)] * bool(found)
    bags = [content(text[m.end() : end]) for m, end in zip(found, ends, strict=True)]
    scores = Bm25(bags).scores(dict.fromkeys(content(prompt.fields["question"])))
    left = [(-score, int(m.group(1))) for score, m in zip(scores, found, strict=True) if not m.group(2)]
    japanese = prompt.language == "ja"
    if not left and prompt.fields["back"]:
        why = "どの部分ももう見たからです。" if japanese else "every part was looked into."
        return f"Reasoning: {why}\n{_action(prompt, 'walk.go_back')}"
    number = min(left)[1] if left else 1
    why = "質問と同じ言葉がいちばん多い部分です。" if japanese else "this part shares most words with the question."
    return f"Reasoning: {why}\n{_action(prompt, 'walk.enter', number=str(number))}"


def _action(prompt: Prompt, name: str, **values: str) -> str:
    return f"Action: {render_fragment(name, prompt.language, **values)}"


def explore(prompt: Prompt) -> str:
    """Find the question's rarest words first, then open the page or part that shares most; else the answer.

    For a question about an end of the text that is opened, down to its page.
    """
    ranked = _ranked(prompt)
    question = content(prompt.fields["question"])
    idf = inverse_frequencies([row[3] for row in ranked])
    full = {page for page, whole, _ in split_memory(prompt.fields["memory"]) if whole}
    ends = {int(m.group(1)): m.group(2) for m in _RANGE.finditer(prompt.fields["memory"])}
    if asked := _page_asked(prompt):
        page, why = asked
        may_open = page and page not in full and prompt.fields["pages"] != "0" and "problem" not in prompt.fields
        label = f"{page}-{ends[page]}" if page in ends else page
        return f"OPEN [{label}]: {why}" if may_open else f"ANSWER: {_answer(prompt).text}"
    enough = any(row[2] and overlap(row[3], question, idf) >= ENOUGH_IN_PAGE for row in ranked)
    found: dict[int, set[str]] = {}
    for place in _FOUND.finditer(prompt.fields["memory"]):
        page = int(place.group(1) or place.group(2))
        found.setdefault(page, set()).update(set(content(place.group(3))) & set(question))
    unread = {page for page in found if page and not page % BOOK}  # books without pages: nothing of them opens
    other = {page // BOOK for page in found if page not in unread} - {page // BOOK for page in full}  # to be opened
    if (other or not enough) and prompt.fields["pages"] != "0":
        if not found and not full and "problem" not in prompt.fields:
            words = {
                word: sum(not {*content(word)}.isdisjoint(row[3]) for row in ranked) for word in _own_words(prompt)
            }
            named = sorted(words, key=lambda word: (words[word], -len(word)))[:_WANTED]
            if named:
                return "FIND " + ", ".join(f'"{word}"' for word in named)
        best = sorted(found.keys() - unread, key=lambda page: (page // BOOK not in other, -len(found[page]), page))
        if best and "problem" not in prompt.fields:
            return f"OPEN [{best[0]}]: {_reason(prompt, best[:1])}"
        names = {term for name in names_in(prompt.fields["question"]) for term in content(name)}
        told = any(names & words for words in found.values())  # then pages without the name are about others
        left = [row[1] for row in ranked if not row[2] and row[1] not in unread and (not told or names & {*row[3]})]
        if left and "problem" not in prompt.fields:
            label = f"{left[0]}-{ends[left[0]]}" if left[0] in ends else str(left[0])
            return f"OPEN [{label}]: {_reason(prompt, left[:1])}"
    return f"ANSWER: {_answer(prompt).text}"


def _answer(prompt: Prompt) -> Said:
    """The answer to a question whose options, if any, stand below it.

    Lines that were found count as their pages', those of a book without pages as its text.
    """

    def line(found: re.Match[str]) -> str:
        page = int(found.group(1) or found.group(2))
        return f"{page_tag(page, full=not page % BOOK, language=prompt.language)}\n{found.group(3)}"

    plain = _FOUND.sub(line, prompt.fields["memory"])
    question, options = _split_options(prompt)
    asked = replace(prompt, fields={**prompt.fields, "memory": plain, "question": question, "options": options})
    return Said(choose(asked)) if options else find_answer(asked)


def _split_options(prompt: Prompt) -> tuple[str, str]:
    """Return the question of a prompt, and the options below it; '' where it has none."""
    asked = prompt.fields["question"]
    options = _OPTION.search(asked)
    return (asked[: options.start()].strip(), asked[options.start() :]) if options else (asked, "")


def recall(prompt: Prompt) -> str:
    """The answer from the passages shown; where they hold none, the question's rarest words are looked for first.

    Of several books each page is named with its book.
    """
    return _on_shelf(_recall, prompt)


def _recall(prompt: Prompt) -> str:
    shown = "\n\n".join(filter(None, [prompt.fields["passages"], _text_shown(prompt.fields.get("shown", ""))]))
    asked = replace(prompt, fields={**prompt.fields, "memory": shown})
    said = _answer(asked) if shown else None
    may_ask = bool(prompt.fields["asking"]) and "shown" not in prompt.fields
    words = sorted(_own_words(prompt), key=len, reverse=True)[:_WANTED]
    if words and may_ask and (said is None or not said.fits):
        return "\n".join(f'FIND "{word}"' for word in words)
    return f"ANSWER: {(said or _answer(asked)).text}"


def _text_shown(shown: str) -> str:
    """Return the text of the book in what requests show, each part below the tag of its page.

    Without the requests, and without what is said of a search above its hits. A hit is a line like '29:13 The lamp …'.
    """
    lines: list[str] = []
    in_page = False
    for line in shown.splitlines():
        if _REQUESTED.match(line):
            in_page = False
        elif _PAGE.match(line):
            in_page = True
            lines.append(line)
        elif in_page:
            lines.append(line)
        elif hit := _HIT.match(line):
            lines += [passage_tag(hit[1], hit[2]), hit[3]]
    return "\n".join(lines)


def explore_shelf(prompt: Prompt) -> str:
    """``explore`` over several books."""
    return _on_shelf(explore, prompt)


def answer_shelf(prompt: Prompt) -> str:
    """The answer from several books, with the book of every page."""
    return _on_shelf(lambda joined: _answer(joined).text, prompt)


def _on_shelf(reply: Callable[[Prompt], str], prompt: Prompt) -> str:
    """Reply to a prompt over several books as to one over one book, whose page numbers name book and page."""

    def join(found: re.Match[str]) -> str:
        opening, book, first, last = found.groups()
        numbers = [str(int(book) * BOOK + int(page)) for page in (first, last) if page]
        return opening + "-".join(numbers)

    def in_book(found: re.Match[str]) -> str:
        english, japanese = found.groups()
        return f"(on page {english}.0: " if english else f"（{japanese}.0ページに："

    def part(found: re.Match[str]) -> str:
        book, page = divmod(int(found.group()), BOOK)
        return f"{book}.{page}" if page else str(book)

    def join_pages(text: str) -> str:
        # the title as a heading: it is looked for, and no sentence to answer with
        text = _BOOK_TAG.sub(lambda m: f"<Page {int(m[1]) * BOOK}>\n## {m[2]}\n", text)
        return _SHELF_PAGE.sub(join, _IN_BOOK.sub(in_book, text))

    joined = {name: join_pages(text) for name, text in prompt.fields.items() if name in ("memory", "passages", "shown")}
    said = reply(replace(prompt, fields={**prompt.fields, **joined}))
    return _BRACKETED.sub(lambda m: re.sub(r"\d+", part, m.group()), said)


def _own_words(prompt: Prompt) -> list[str]:
    """Return the words of the question that carry meaning, as the question writes them."""
    question, _ = _split_options(prompt)
    if prompt.language == "ja":
        return list(dict.fromkeys(re.findall(r"[一-鿿ァ-ヺー]{2,}", question)))
    return [word for word in dict.fromkeys(re.findall(r"[\w'’]+", question)) if len(word) > 3 and content(word)]


def leaf(prompt: Prompt) -> str:
    """'Action: answer' and the best sentences where one holds enough of the question, else 'Action: go back'."""
    question, options = _split_options(prompt)
    bags = [set(content(s)) for s in split_sentences(prompt.fields["text"], prompt.language)]
    idf = inverse_frequencies(bags)
    wanted = content(question)
    japanese = prompt.language == "ja"
    why = "ここには書かれていません。" if japanese else "it does not say."
    nothing = f"Reasoning: {why}\n{_action(prompt, 'walk.go_back')}"
    if max((overlap(bag, wanted, idf) for bag in bags), default=0.0) < ENOUGH_IN_SENTENCE:
        return nothing
    asked = replace(prompt, fields={**prompt.fields, "question": question, "options": options})
    said = Said(choose(asked)) if options else find_answer(asked)
    if not said.fits:
        return nothing
    reply = said.text if options else f"Answer: {said.text}"
    why = "質問と同じ言葉の文があります。" if japanese else "a sentence here shares the question's words."
    return f"Reasoning: {why}\n{_action(prompt, 'walk.answer')}\n{reply}"
