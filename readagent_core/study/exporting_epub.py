"""The gist memory as an EPUB: the book in a tenth of its words, a chapter a section, for any e-reader.

Control characters that XML forbids are left out; everything else is escaped.
"""

from __future__ import annotations

import re
from html import escape
from io import BytesIO

from ebooklib import epub as ebooklib_epub

from readagent_core.memory import GistMemory, Page
from readagent_core.study.exporting import facts, gist_text, pause

_PAGES_A_CHAPTER = 25  # where a book has no sections
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_STYLE = (
    "h1,h2{font-weight:normal} .n{color:#666b73;font-size:.8em;margin:1.6em 0 .2em} .p{font-style:italic;color:#50565e}"
)


def epub(memory: GistMemory) -> bytes:
    """The bytes of an EPUB 3 file with a table of contents."""
    document = memory.document
    book = ebooklib_epub.EpubBook()
    book.set_identifier(f"readagent-{document.id}-{memory.plan.key}")
    book.set_title(_clean(document.title))
    book.set_language(document.language)
    book.set_direction("rtl" if document.right_to_left else "ltr")
    if document.author:
        book.add_author(_clean(document.author))
    book.add_metadata("DC", "description", f"Gists made by ReadAgent. {_clean(facts(memory))}")
    style = ebooklib_epub.EpubItem("style", "style.css", "text/css", _STYLE.encode())
    book.add_item(style)
    front = _chapter("front", document.title, f"<p>{_safe(facts(memory))}</p>", document.language)
    chapters = [front]
    for number, (title, pages) in enumerate(_parts(memory), start=1):
        body = "".join(_page(memory, page) for page in pages)
        chapters.append(_chapter(f"part{number:04}", title, body, document.language))
    for chapter in chapters:
        chapter.add_item(style)
        book.add_item(chapter)
    book.toc = [ebooklib_epub.Link(c.file_name, c.title, c.id) for c in chapters]
    book.add_item(ebooklib_epub.EpubNcx())
    book.add_item(ebooklib_epub.EpubNav())
    book.spine = ["nav", *chapters]
    out = BytesIO()
    ebooklib_epub.write_epub(out, book)
    return out.getvalue()


def _parts(memory: GistMemory) -> list[tuple[str, list[Page]]]:
    """Pages grouped by the section they begin in, in order; by 25 where the book has no sections."""
    parts: list[tuple[str, list[Page]]] = []
    if not memory.document.sections:
        for at in range(0, len(memory.pages), _PAGES_A_CHAPTER):
            pages = list(memory.pages[at : at + _PAGES_A_CHAPTER])
            parts.append((f"Pages {pages[0].number} to {pages[-1].number}", pages))
        return parts
    held = object()
    for page in memory.pages:
        section = memory.section_of(page.number)
        if not parts or section is not held:
            parts.append((section.title if section else memory.document.title, []))
            held = section
        parts[-1][1].append(page)
    return parts


def _chapter(name: str, title: str, body: str, language: str) -> ebooklib_epub.EpubHtml:
    chapter = ebooklib_epub.EpubHtml(uid=name, title=_clean(title), file_name=f"{name}.xhtml", lang=language)
    chapter.content = f"<h1>{_safe(title)}</h1>{body}"
    return chapter


def _page(memory: GistMemory, page: Page) -> str:
    text = gist_text(memory, page.number) or "(no gist yet)"
    body = "".join(f"<p>{_safe(piece)}</p>" for piece in text.split("\n\n") if piece.strip())
    why = pause(page) if page.number < len(memory.pages) else ""
    return f'<p class="n">Page {page.number}</p>{body}' + (f'<p class="p">‖ {_safe(why)}</p>' if why else "")


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)


def _safe(text: str) -> str:
    return escape(_clean(text), quote=True)
