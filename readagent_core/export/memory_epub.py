"""A gist memory as an EPUB: the gists as a book, one chapter for each section."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

from readagent_core.companion.marks import PlacedMarks
from readagent_core.document import Cover
from readagent_core.export.drawn_cover import draw_cover
from readagent_core.export.marked import marks_of, notes_list
from readagent_core.export.memory_parts import (
    LOST,
    FindPicture,
    gist_lines,
    html_figure,
    memory_facts,
    page_figures,
    pause_line,
    world_html,
    xml_text,
)
from readagent_core.memory import GistMemory, Page
from readagent_core.templates import Markup
from readagent_core.words import collapse_whitespace
from readagent_core.world.as_of import Known
from readagent_core.world.telling import title_of

_PAGES_PER_CHAPTER = 25  # where the book has no sections
_COVERS = ("image/jpeg", "image/png", "image/gif", "image/webp")  # not SVG: it may hold scripts
_STYLE = (
    "h1,h2{font-weight:normal} p{margin:.4em 0}"
    " .n{color:#666b73;font-size:.8em;margin:1.6em 0 .2em} .p{font-style:italic;color:#50565e}"
    " img{max-width:100%;height:auto}"
    " .notes{list-style:none;padding:0} .notes li{margin:.8em 0;padding-left:.8em;border-left:3px solid #666b73}"
    " .notes blockquote{margin:0;font-style:italic}"
    " dt{margin-top:1em} dd{margin:.2em 0 0 1.2em} small{color:#666b73} .world a{color:inherit}"
)


def export_epub(
    memory: GistMemory, find_picture: FindPicture, marks: PlacedMarks, known: Known | None, cover: Cover | None
) -> bytes:
    """Return the gists as the bytes of an EPUB. The parameters are those of ``export_memory``."""
    from ebooklib import epub  # takes a moment to load

    document = memory.document
    language = document.language
    style = epub.EpubItem("style", "style.css", "text/css", _STYLE.encode())

    def chapter(name: str, title: str, body: Markup) -> epub.EpubHtml:
        made = epub.EpubHtml(uid=name, title=xml_text(title), file_name=f"{name}.xhtml", lang=language)
        made.content = Markup("<h1>{}</h1>{}").format(xml_text(title), body)
        made.add_item(style)
        return made

    pictures = {figure.picture: find_picture(figure.picture) for figure in memory.document.figures if figure.picture}
    items = {
        name: epub.EpubItem(name, f"pictures/{name}.{found.kind[6:]}", found.kind, found.data)
        for name, found in pictures.items()
        if found
    }

    def page_text(page: Page) -> Markup:
        figures = [figure for figure in page_figures(memory, page) if figure.picture in items]
        drawn = (html_figure(figure, items[figure.picture].file_name) for figure in figures)
        return _page(memory, page, marks) + Markup().join(drawn)

    today = datetime.now(UTC).date().isoformat()
    about = [document.author, "The gists of the book, page by page. The text itself is not in this file."]
    about += [memory_facts(memory), f"Saved with ReadAgent on {today}"]
    lines = Markup().join(Markup("<p>{}</p>").format(xml_text(line)) for line in about if line)
    chapters = [chapter("front", document.title, lines)]
    addresses: dict[int, str] = {}
    for number, (title, pages) in enumerate(_chapters(memory), start=1):
        chapters.append(chapter(f"part{number:04}", title, Markup().join(map(page_text, pages))))
        addresses |= {page.number: f"{chapters[-1].file_name}#p{page.number}" for page in pages}
    if world := world_html(known, addresses):
        chapters.append(chapter("world", title_of(known) if known else "", Markup(xml_text(world))))
    if marks.lost:
        chapters.append(chapter("lost", LOST, Markup(xml_text(notes_list(marks.lost)))))
    book = epub.EpubBook()
    book.set_identifier(f"readagent-{document.id}-{memory.plan.key}")
    book.set_title(f"{xml_text(document.title)}: gists")
    if cover is not None and cover.kind in _COVERS:
        book.set_cover(f"cover.{cover.kind[6:]}", cover.data, create_page=False)
    else:
        title, author = (collapse_whitespace(xml_text(text)) for text in (document.title, document.author))
        share = len(memory.readable) / max(1, len(memory.pages))
        book.set_cover("cover.svg", draw_cover(title, author, len(memory.pages), share), create_page=False)
    book.set_language(language)
    book.set_direction("rtl" if document.right_to_left else "ltr")
    if document.author:
        book.add_author(xml_text(document.author))
    book.add_metadata("DC", "date", today)
    book.add_metadata("DC", "description", f"Gists made by ReadAgent. {xml_text(memory_facts(memory))}")
    for item in (style, *items.values(), *chapters, epub.EpubNcx(), epub.EpubNav()):
        book.add_item(item)
    book.toc = [epub.Link(c.file_name, c.title, c.id) for c in chapters]
    book.spine = [chapters[0], "nav", *chapters[1:]]
    out = BytesIO()
    epub.write_epub(out, book)
    return out.getvalue()


def _chapters(memory: GistMemory) -> list[tuple[str, list[Page]]]:
    """Pages grouped by the section they begin in, in order; by 25 where the book has no sections."""
    chapters: list[tuple[str, list[Page]]] = []
    if not memory.document.sections:
        for at in range(0, len(memory.pages), _PAGES_PER_CHAPTER):
            pages = list(memory.pages[at : at + _PAGES_PER_CHAPTER])
            chapters.append((f"Pages {pages[0].number} to {pages[-1].number}", pages))
        return chapters
    sections = [memory.section_of(page.number) for page in memory.pages]
    for index, (page, section) in enumerate(zip(memory.pages, sections, strict=True)):
        if index == 0 or section is not sections[index - 1]:
            chapters.append((section.title if section else memory.document.title, []))
        chapters[-1][1].append(page)
    return chapters


def _page(memory: GistMemory, page: Page, marks: PlacedMarks) -> Markup:
    text = gist_lines(memory, page)
    notes = Markup(xml_text(notes_list(marks_of(page, marks.placed))))
    why = pause_line(memory, page)
    pause = Markup('<p class="p">‖ {}</p>').format(xml_text(why)) if why else Markup()
    return Markup('<p class="n" id="p{0}">Page {0}</p>{1}{2}{3}').format(page.number, text, notes, pause)
