"""A gist memory as a file: Markdown, HTML, EPUB, a skill for agents, or JSON, which ``open_file`` opens again."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from readagent_core.companion.marks import NO_MARKS, PlacedMarks
from readagent_core.document import Cover, Document, Figure, Paragraph, move_figures
from readagent_core.errors import SettingsError
from readagent_core.export.marked import beside, marked_paragraphs, marks_of, notes_list, spans_in
from readagent_core.export.memory_epub import export_epub
from readagent_core.export.memory_parts import (
    LOST,
    FindPicture,
    gist_lines,
    html_figure,
    memory_facts,
    page_figures,
    pause_line,
    world_html,
)
from readagent_core.export.skill import export_skill, skill_name
from readagent_core.incoming.opening import READING_FORMAT, READING_VERSION
from readagent_core.memory import GistMemory, Page
from readagent_core.model_names import short_name
from readagent_core.templates import Markup, fill
from readagent_core.text_files import emphasised_markdown, escape_markdown, html_page, markdown_line, slug
from readagent_core.world.as_of import Known
from readagent_core.world.telling import (
    known_to_dict,
    title_of,
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
_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")  # inside a paragraph


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
        return export_epub(memory, find_picture, marks, known, cover)
    if format == "skill":
        return export_skill(memory, book_gist)
    return (_json if format == "json" else _markdown)(memory, known)


def memory_file_name(memory: GistMemory, format: str) -> str:
    """A name for the exported file, from the book's title."""
    return f"{skill_name(memory)}.zip" if format == "skill" else f"{slug(memory.document.title)}-gists.{format}"


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
        if pause := pause_line(memory, page):
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
        lost_title=LOST,
        world=world_html(
            known, {page.number: f"#p{page.number}" for page in memory.pages}, title_of(known) if known else ""
        ),
    )
    direction = "rtl" if document.right_to_left else "ltr"
    whole = html_page(document.title, body, language=document.language, direction=direction)
    return whole.encode("utf-8", "replace")


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
        "gist": gist_lines(memory, page),
        "notes": ["by rule: the page's own first sentences"] * by_rule + ["changed by hand"] * by_hand,
        "marks": notes_list(marks_of(page, placed.placed)),
        "text": text,
        "pause": pause_line(memory, page),
    }


def _html_figures(figures: Sequence[Figure], find_picture: FindPicture) -> Callable[[str], Markup]:
    """Return the function that gives the picture for a part of the text that names the next of ``figures``, else ''."""
    waiting = list(figures)

    def picture_for(piece: str) -> Markup:
        figure = waiting.pop(0) if waiting and waiting[0].text == piece else None
        picture = find_picture(figure.picture) if figure else None
        if not figure or not picture:
            return Markup()
        return html_figure(figure, f"data:{picture.kind};base64,{b64encode(picture.data).decode()}")

    return picture_for


def _map_cells(memory: GistMemory) -> Iterator[tuple[Page, int, int]]:
    """Yield each page with the height and the shade of its cell."""
    longest = max((p.words for p in memory.pages), default=1) or 1
    for page in memory.pages:  # the longer its gist for its length, the stronger its shade
        gist = memory.gists[page.number - 1]
        share = gist.words / page.words if gist is not None and page.words else 0
        height = max(6, round(_MAP_HEIGHT * page.words / longest))
        yield page, height, 1 + sum(share > limit for limit in (0.12, 0.18, 0.26))
