"""A gist memory as a file: Markdown, HTML, EPUB, a skill for agents, or JSON, which ``open_file`` opens again."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from readagent_core.answering.signature import MODEL, signature_of
from readagent_core.companion.marks import NO_MARKS, PlacedMarks
from readagent_core.document import Cover, Document, Figure, Paragraph, Picture, move_figures
from readagent_core.errors import SettingsError
from readagent_core.export.drawn_cover import draw_cover
from readagent_core.export.marked import Beside, beside, marked_paragraphs, marks_of, notes_list, spans_in
from readagent_core.export.skill import export_skill, skill_name
from readagent_core.incoming.opening import READING_FORMAT, READING_VERSION
from readagent_core.memory import GistMemory, Page
from readagent_core.model_names import short_name
from readagent_core.templates import Markup, fill
from readagent_core.text_files import emphasised_markdown, escape_markdown, html_page, markdown_line, slug
from readagent_core.words import collapse_whitespace, count_of, pages_up_to
from readagent_core.world.as_of import Known, Order
from readagent_core.world.telling import (
    headed,
    known_to_dict,
    note_of,
    page_runs,
    said,
    title_of,
    told_once,
    world_markdown,
)

MEMORY_FORMATS = {
    "md": "text/markdown",
    "html": "text/html",
    "json": "application/json",
    "epub": "application/epub+zip",
    "skill": "application/zip",
}
_MAP_HEIGHT = 44  # pixels of the longest page's cell in the map of the HTML page
_PAGES_PER_CHAPTER = 25  # of an EPUB, where the book has no sections
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")  # inside a paragraph
_LOST = "Marks whose words are not in this text"
_EPUB_COVERS = ("image/jpeg", "image/png", "image/gif", "image/webp")  # not SVG: it may hold scripts
_EPUB_STYLE = (
    "h1,h2{font-weight:normal} p{margin:.4em 0}"
    " .n{color:#666b73;font-size:.8em;margin:1.6em 0 .2em} .p{font-style:italic;color:#50565e}"
    " img{max-width:100%;height:auto}"
    " .notes{list-style:none;padding:0} .notes li{margin:.8em 0;padding-left:.8em;border-left:3px solid #666b73}"
    " .notes blockquote{margin:0;font-style:italic}"
    " dt{margin-top:1em} dd{margin:.2em 0 0 1.2em} small{color:#666b73} .world a{color:inherit}"
)
FindPicture = Callable[[str], Picture | None]


def export_memory(
    memory: GistMemory,
    format: str,
    find_picture: FindPicture = lambda picture_id: None,
    *,
    marks: PlacedMarks = NO_MARKS,
    book_gist: str = "",
    known: Known | None = None,
    cover: Cover | None = None,
) -> bytes:
    """The memory as the bytes of a file. ``format``: a key of MEMORY_FORMATS, else SettingsError.

    ``find_picture``: returns the pictures of the text's figures. ``marks``: placed in the memory's document. HTML and
    EPUB show both. ``book_gist``: of the whole book, for a skill's index. ``known``: of the book's world, as of the
    last page of the memory; every format but a skill has it. ``cover``: of the book, for an EPUB; else one is drawn.
    """
    if format not in MEMORY_FORMATS:
        raise SettingsError(f"Unknown export format {format!r}. Choose one of: {', '.join(MEMORY_FORMATS)}.")
    memory = replace(memory, model=short_name(memory.model))
    if format == "html":
        return _html(memory, find_picture, marks, known)
    if format == "epub":
        return _epub(memory, find_picture, marks, known, cover)
    if format == "skill":
        return export_skill(memory, book_gist)
    return (_json if format == "json" else _markdown)(memory, known)


def memory_file_name(memory: GistMemory, format: str) -> str:
    """A name for the exported file, from the book's title."""
    return f"{skill_name(memory)}.zip" if format == "skill" else f"{slug(memory.document.title)}-gists.{format}"


def memory_facts(memory: GistMemory) -> str:
    """One line: pages, words before and after, who read it. Says so when the gisting is not complete."""
    words = sum(page.words for page in memory.pages)
    parts = [
        count_of(len(memory.pages), "page"),
        f"{words:,} words kept in {memory.gist_words:,} ({memory.compression_rate:.1f} % fewer)",
    ]
    if memory.model:
        made = signature_of(memory)
        parts.append(f"gists made with {made.line}" if made.kind == MODEL else made.line)
    if not memory.complete:
        # a memory that the spoiler limit cut has no text after its pages
        limited = memory.pages and memory.pages[-1].end == len(memory.document.paragraphs) and None not in memory.gists
        read = f"only what was read, {pages_up_to(len(memory.pages))}"
        parts.append(read if limited else "not all gists are made yet")
    if recognised := memory.document.recognised_words:
        share = 100 * recognised / max(1, memory.document.words)
        parts.append(f"{share:.0f} % of the words recognised in pictures of pages, so some may be wrong")
    return " · ".join(parts)


def _pause(memory: GistMemory, page: Page) -> str:
    """Why the reader paused after this page; '' after the last, and where there is nothing to say."""
    if page.number == len(memory.pages):
        return ""
    if page.fallback:
        return "Paused here by rule: the model named no place it was offered, so the last one was taken"
    return f"Paused here: {page.reason.strip()}" if page.reason.strip() else ""


# --- Markdown -------------------------------------------------------------------------------------------


def _markdown(memory: GistMemory, known: Known | None) -> bytes:
    document = memory.document
    lines = [f"# {markdown_line(document.title)}", ""]
    if document.author:
        lines += [f"by {markdown_line(document.author)}", ""]
    lines += [escape_markdown(memory_facts(memory)), ""]
    for page in memory.pages:
        for index in range(page.start, page.end):
            for section in document.headings(index):
                lines += [f"{'#' * min(section.level + 1, 5)} {markdown_line(section.title)}", ""]
        gist = emphasised_markdown(memory.shown_gist(page.number), document.format) or "(no gist yet)"
        lines += [f"**Page {page.number}**", "", _LINE_END.sub("  \n", gist), ""]
        if pause := _pause(memory, page):
            lines += [f"*‖ {markdown_line(pause)}*", ""]
    if known is not None and (told := world_markdown(known)):
        lines += [told]
    return "\n".join(lines).encode("utf-8", "replace")


# --- JSON -----------------------------------------------------------------------------------------------


def _json(memory: GistMemory, known: Known | None) -> bytes:
    data: dict[str, Any] = {
        "format": READING_FORMAT,
        "version": READING_VERSION,
        "document": join_paragraphs(memory.document).to_dict(),
        "memory": memory.to_dict(),
    }
    if known is not None:
        data["world"] = known_to_dict(known, memory.document)
    return json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def join_paragraphs(document: Document) -> Document:
    """``document`` with paragraphs that were split for a reading joined again; same ``id``."""
    if not any(p.continues for p in document.paragraphs):
        return document
    paragraphs: list[Paragraph] = []
    moved: list[int] = []
    for paragraph in document.paragraphs:
        if paragraph.continues and paragraphs:
            paragraphs[-1] = paragraphs[-1].joined(paragraph)
        else:
            paragraphs.append(paragraph)
        moved.append(len(paragraphs) - 1)
    sections = tuple(replace(s, start=moved[s.start]) for s in document.sections)
    figures = move_figures(document.figures, moved, moved)
    whole = tuple(p.with_targets(moved.__getitem__) for p in paragraphs)
    return replace(document, paragraphs=whole, sections=sections, figures=figures)


# --- HTML: gist beside text, the pauses, the map of the book ----------------------------------------------


def _html(memory: GistMemory, find_picture: FindPicture, marks: PlacedMarks, known: Known | None) -> bytes:
    document = memory.document
    cells = list(_map_cells(memory))
    body = fill(
        "memory",
        document=document,
        facts=memory_facts(memory),
        cells=cells,
        shaded=len({shade for _, _, shade in cells}) > 1,
        pages=(_html_page(memory, page, find_picture, marks) for page in memory.pages),
        lost=notes_list(marks.lost),
        lost_title=_LOST,
        world=_world(
            known, {page.number: f"#p{page.number}" for page in memory.pages}, title_of(known) if known else ""
        ),
    )
    direction = "rtl" if document.right_to_left else "ltr"
    whole = html_page(document.title, body, language=document.language, direction=direction)
    return whole.encode("utf-8", "replace")


def _world(known: Known | None, addresses: Mapping[int, str], title: str = "") -> Markup:
    """Return the cast and what happened as HTML, below ``title``; '' where nobody is known.

    ``addresses``: of the gist of each page.
    """
    if known is None or not known.entities:
        return Markup()
    return fill(
        "world",
        title=title,
        note=note_of(known),
        kinds=list(headed(known)),
        happened=known.timeline(Order.TIME),
        addresses=addresses,
        said=said,
        page_runs=page_runs,
        told_once=told_once,
    )


def _html_page(memory: GistMemory, page: Page, find_picture: FindPicture, placed: PlacedMarks) -> dict[str, Any]:
    """Return what the template shows of a page."""
    document, gist = memory.document, memory.gists[page.number - 1]
    by_rule, by_hand = gist is not None and gist.fallback, gist is not None and gist.edited
    pictures = _html_figures(page_figures(memory, page), find_picture)
    marks_here, around = spans_in(memory, page, placed.placed), beside(memory, page)
    text = marked_paragraphs(memory.page_text(page.number), marks_here, instead=pictures, around=around)
    return {
        "page": page,
        "headings": [section.title for index in range(page.start, page.end) for section in document.headings(index)],
        "words": f"{gist.words:,} of {page.words:,} words" if gist else f"{page.words:,} words, no gist yet",
        "gist": _gist_lines(memory, page),
        "notes": ["by rule: the page's own first sentences"] * by_rule + ["changed by hand"] * by_hand,
        "marks": notes_list(marks_of(page, placed.placed)),
        "text": text,
        "pause": _pause(memory, page),
    }


def _gist_lines(memory: GistMemory, page: Page) -> Markup:
    """Return the gist of a page as HTML, each of its lines a paragraph."""
    lines = _xml(memory.shown_gist(page.number) or "(no gist yet)").replace("\n", "\n\n")
    return marked_paragraphs(lines, around=Beside(format=memory.document.format))


def _html_figures(figures: Sequence[Figure], find_picture: FindPicture) -> Callable[[str], Markup]:
    """Return the function that gives the picture for a part of the text that names the next of ``figures``, else ''."""
    waiting = list(figures)

    def picture_for(piece: str) -> Markup:
        figure = waiting.pop(0) if waiting and waiting[0].text == piece else None
        picture = find_picture(figure.picture) if figure else None
        if not figure or not picture:
            return Markup()
        return _html_figure(figure, f"data:{picture.kind};base64,{b64encode(picture.data).decode()}")

    return picture_for


def _html_figure(figure: Figure, address: str) -> Markup:
    image = Markup('<figure><img src="{}" alt="{}" width="{}" height="{}"/></figure>')
    return image.format(address, _xml(figure.alt), figure.width, figure.height)


def page_figures(memory: GistMemory, page: Page) -> list[Figure]:
    """The figures of a page, in the order of its text."""
    places = ((index, after) for index in range(page.start, page.end) for after in (False, True))
    return [figure for index, after in places for figure in memory.document.figures_at(index, after=after)]


def _map_cells(memory: GistMemory) -> Iterator[tuple[Page, int, int]]:
    """Yield each page with the height and the shade of its cell."""
    longest = max((p.words for p in memory.pages), default=1) or 1
    for page in memory.pages:  # the longer its gist for its length, the stronger its shade
        gist = memory.gists[page.number - 1]
        share = gist.words / page.words if gist is not None and page.words else 0
        height = max(6, round(_MAP_HEIGHT * page.words / longest))
        yield page, height, 1 + sum(share > limit for limit in (0.12, 0.18, 0.26))


# --- EPUB: the gists as a book, one chapter for each section --------------------------------------------


def _epub(
    memory: GistMemory, find_picture: FindPicture, marks: PlacedMarks, known: Known | None, cover: Cover | None
) -> bytes:
    from ebooklib import epub  # takes a moment to load

    document = memory.document
    language = document.language
    style = epub.EpubItem("style", "style.css", "text/css", _EPUB_STYLE.encode())

    def chapter(name: str, title: str, body: Markup) -> epub.EpubHtml:
        made = epub.EpubHtml(uid=name, title=_xml(title), file_name=f"{name}.xhtml", lang=language)
        made.content = Markup("<h1>{}</h1>{}").format(_xml(title), body)
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
        drawn = (_html_figure(figure, items[figure.picture].file_name) for figure in figures)
        return _epub_page(memory, page, marks) + Markup().join(drawn)

    today = datetime.now(UTC).date().isoformat()
    about = [document.author, "The gists of the book, page by page. The text itself is not in this file."]
    about += [memory_facts(memory), f"Saved with ReadAgent on {today}"]
    lines = Markup().join(Markup("<p>{}</p>").format(_xml(line)) for line in about if line)
    chapters = [chapter("front", document.title, lines)]
    addresses: dict[int, str] = {}
    for number, (title, pages) in enumerate(_chapters(memory), start=1):
        chapters.append(chapter(f"part{number:04}", title, Markup().join(map(page_text, pages))))
        addresses |= {page.number: f"{chapters[-1].file_name}#p{page.number}" for page in pages}
    if world := _world(known, addresses):
        chapters.append(chapter("world", title_of(known) if known else "", Markup(_xml(world))))
    if marks.lost:
        chapters.append(chapter("lost", _LOST, Markup(_xml(notes_list(marks.lost)))))
    book = epub.EpubBook()
    book.set_identifier(f"readagent-{document.id}-{memory.plan.key}")
    book.set_title(f"{_xml(document.title)}: gists")
    if cover is not None and cover.kind in _EPUB_COVERS:
        book.set_cover(f"cover.{cover.kind[6:]}", cover.data, create_page=False)
    else:
        title, author = (collapse_whitespace(_xml(text)) for text in (document.title, document.author))
        share = len(memory.readable) / max(1, len(memory.pages))
        book.set_cover("cover.svg", draw_cover(title, author, len(memory.pages), share), create_page=False)
    book.set_language(language)
    book.set_direction("rtl" if document.right_to_left else "ltr")
    if document.author:
        book.add_author(_xml(document.author))
    book.add_metadata("DC", "date", today)
    book.add_metadata("DC", "description", f"Gists made by ReadAgent. {_xml(memory_facts(memory))}")
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


def _epub_page(memory: GistMemory, page: Page, marks: PlacedMarks) -> Markup:
    text = _gist_lines(memory, page)
    notes = Markup(_xml(notes_list(marks_of(page, marks.placed))))
    pause = Markup('<p class="p">‖ {}</p>').format(_xml(_pause(memory, page))) if _pause(memory, page) else Markup()
    return Markup('<p class="n" id="p{0}">Page {0}</p>{1}{2}{3}').format(page.number, text, notes, pause)


def _xml(text: str) -> str:
    """``text`` without the control characters that XML forbids."""
    return _NOT_XML.sub("", text)
