"""The gist memory of a web page: its snippets, each with a gist, and its text as models see it (Appendix E).

The snippets' HTML is the text of a ``GistMemory``, a paragraph and a page each, so that retrieval and runs work on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from readagent_core.answering.resources import ArtifactStore
from readagent_core.cancel import CancelToken
from readagent_core.document import Document, Paragraph
from readagent_core.errors import CutOffError, EmptyReplyError, RefusedError
from readagent_core.gisting.gisting import clean_reply, find_problem
from readagent_core.gisting.pool import run_all
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.models.base import ChatModel
from readagent_core.models.builtin.web_pages import gist_snippet
from readagent_core.plan import GIST_SHARE, GistingPlan
from readagent_core.prompts import Prompt, format_range, render, template_hash
from readagent_core.short_repr import short_repr
from readagent_core.tags import escape_tags
from readagent_core.web_pages.page import WebPage
from readagent_core.web_pages.snippets import Snippet, cut_page

KIND = "snippet gists"  # in the artifact store
LEAST_WORDS, MOST_WORDS = 12, 60  # of a gist
UNTITLED = "untitled"


@short_repr
@dataclass(frozen=True)
class PageMemory:
    """A page cut at ``depth`` into ``snippets``. ``memory``: their HTML as pages, with the gists made so far."""

    page: WebPage
    depth: int
    snippets: tuple[Snippet, ...]
    memory: GistMemory

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Each snippet as its gist: '{"index": 3, "content": "…"}'."""
        return tuple(_entry(number, content=escape_tags(text)) for number, text in enumerate(self.gists, start=1))

    @property
    def gists(self) -> tuple[str, ...]:
        """The gist of each snippet, '' where it is not made."""
        return tuple(gist.text if gist else "" for gist in self.memory.gists)

    def text(self, opened: Collection[int] = (), *, without: Collection[int] = ()) -> str:
        """Return the memory as the model sees it, with the HTML of the ``opened`` snippets in place.

        ``without``: snippets whose gists are left out.
        """
        shown = [snippet.number for snippet in self.snippets if snippet.number not in without]
        return "\n".join(self.opened_entry(n) if n in opened else self.entries[n - 1] for n in shown)

    def opened_entry(self, number: int) -> str:
        """Return a snippet as its HTML, below its index."""
        return f"{_entry(number, opened=True)}\n{self.html(number)}"

    def html(self, number: int) -> str:
        """Return the HTML of a snippet for prompts."""
        return escape_tags(self.memory.page_text(number))

    def snippet_of(self, element_id: str) -> int:
        """Return the number of the snippet that has the element. Raises KeyError for an unknown element."""
        at = self.page.places[element_id]
        return next(snippet.number for snippet in self.snippets if snippet.start <= at < snippet.end)


def _entry(index: int, **values: str | bool) -> str:
    return json.dumps({"index": index, **values}, ensure_ascii=False)


def cut_memory(page: WebPage, *, title: str = "") -> PageMemory:
    """Return the memory of a page without gists: its snippets. ``title``: where the page itself has none."""
    depth, snippets = cut_page(page)
    texts = tuple(Paragraph(page.markup(s.start, s.end)) for s in snippets)
    document = Document(page.title or title or UNTITLED, texts, language=page.language, format="html")
    pages = tuple(Page(s.number, s.number - 1, s.number, t.words) for s, t in zip(snippets, texts, strict=True))
    plan = GistingPlan(pagination="uniform")
    return PageMemory(page, depth, snippets, GistMemory(document, plan, pages, (None,) * len(pages)))


def load_gists(cut: PageMemory, model: ChatModel, store: ArtifactStore | None) -> PageMemory:
    """Return the page with those gists that ``model`` has made before, from ``store``; None holds none."""
    stored = dict(store.load(KIND, _key(cut, model)) or {}) if store is not None else {}
    gists = (stored.get(_name(paragraph)) for paragraph in cut.memory.document.paragraphs)
    return _with_gists(cut, [None if text is None else Gist(text) for text in gists], model)


def read_page(
    cut: PageMemory,
    model: ChatModel,
    *,
    cancel: CancelToken,
    connections: int = 8,
    store: ArtifactStore | None = None,
    on_gist: Callable[[PageMemory], None] | None = None,
) -> PageMemory:
    """Return the page with a gist of every snippet. ``store``: holds gists, each saved when it is made.

    ``on_gist`` is called with the memory so far after every gist. Raises ModelError or CancelledError.
    """
    document = cut.memory.document
    gists = list(load_gists(cut, model, store).memory.gists)
    stored = {_name(document.paragraphs[at]): gist.text for at, gist in enumerate(gists) if gist is not None}

    def add(at: int, gist: Gist) -> None:
        gists[at] = gist
        if store is not None and not gist.fallback:
            stored[_name(document.paragraphs[at])] = gist.text
            store.save(KIND, _key(cut, model), stored)
        if on_gist:
            on_gist(_with_gists(cut, gists, model))

    missing = {
        at: partial(make_gist, document.title, document.language, paragraph, model, cancel)
        for at, paragraph in enumerate(document.paragraphs)
        if gists[at] is None
    }
    if missing:
        run_all(missing, connections=connections, cancel=cancel, each=add)
    return _with_gists(cut, gists, model)


def _key(cut: PageMemory, model: ChatModel) -> str:
    return f"{model.name} {template_hash('gist_snippet', cut.memory.document.language)}"


def _name(snippet: Paragraph) -> str:
    return hashlib.sha256(snippet.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _with_gists(cut: PageMemory, gists: Sequence[Gist | None], model: ChatModel) -> PageMemory:
    memory = replace(cut.memory, gists=tuple(gists), model=model.name, complete=all(gists))
    return replace(cut, memory=memory)


def gist_prompt(title: str, language: str, snippet: Paragraph) -> Prompt:
    """Return the gisting prompt of a snippet."""
    target = min(MOST_WORDS, max(LEAST_WORDS, round(snippet.words * GIST_SHARE)))
    fields = {"title": escape_tags(title), "snippet": escape_tags(snippet.text), **format_range(target, language)}
    return render("gist_snippet", language, reply_words=max(150, target * 3), **fields)


def make_gist(title: str, language: str, snippet: Paragraph, model: ChatModel, cancel: CancelToken) -> Gist:
    """Return the gist of a snippet; where no usable reply comes, its first words and elements, marked as a fallback."""
    prompt = gist_prompt(title, language, snippet)
    try:
        text = clean_reply(model.complete(prompt, cancel).text)
        if not find_problem(text, max(snippet.words, 2 * MOST_WORDS)):
            return Gist(text)
    except (CutOffError, EmptyReplyError, RefusedError):
        pass  # the fallback is recorded in the gist
    return Gist(gist_snippet(prompt), fallback=True)
