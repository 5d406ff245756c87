"""The formats that are opened: the endings of their files, the loader of each, and what it is called in sentences.

Other packages add formats by the entry points ``readagent.loaders``; the name of each is an ending without its dot.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

_TABLE = (  # the format, the endings, the module of its loader, what a file of it is
    ("text", ".txt .text", "text.plain", "plain text"),
    ("markdown", ".md .markdown", "text.markdown", "Markdown"),
    ("html", ".html .htm .xhtml", "html.loader", "a web page"),
    ("epub", ".epub", "epub.loader", "an EPUB"),
    ("pdf", ".pdf", "pdf.loader", "a PDF"),
    ("docx", ".docx", "docx.loader", "a Word document"),
    ("fb2", ".fb2 .fbz", "converted.fiction_book", "an FB2 book"),
    ("mobi", ".mobi .azw .azw3 .prc .pdb", "converted.kindle", "a Kindle book"),
    ("doc", ".doc", "converted.old_word", "an old Word document (.doc)"),
    ("odt", ".odt", "converted.open_document", "an OpenDocument text"),
    ("rtf", ".rtf", "converted.rich_text", "a rich text (RTF) file"),
    ("pptx", ".pptx", "converted.presentation", "a PowerPoint presentation"),
    ("mhtml", ".mhtml .mht", "converted.saved_page", "a saved web page (MHTML)"),
    ("webarchive", ".webarchive", "converted.saved_page", "a web archive of Safari"),
    ("eml", ".eml", "converted.saved_page", "an e-mail"),
    ("mbox", ".mbox", "converted.saved_page", "a mailbox of e-mails"),
    ("srt", ".srt", "converted.transcript", "subtitles (SRT)"),
    ("vtt", ".vtt", "converted.transcript", "subtitles (WebVTT)"),
    ("ipynb", ".ipynb", "converted.notebook", "a Jupyter notebook"),
    ("cbz", ".cbz", "pdf.loader", "a comic or a book of pictures (CBZ)"),
    ("docbook", ".dbk", "converted.by_pandoc", "a DocBook text"),
    ("opml", ".opml", "converted.by_pandoc", "a list of feeds or an outline (OPML)"),
    ("latex", ".tex .latex", "converted.by_pandoc", "a LaTeX text"),
    ("org", ".org", "converted.by_pandoc", "an Org text"),
    ("rst", ".rst", "converted.by_pandoc", "a reStructuredText"),
    ("asciidoc", ".adoc .asciidoc", "converted.by_pandoc", "an AsciiDoc text"),
    ("mediawiki", ".mediawiki", "converted.by_pandoc", "a MediaWiki text"),
    ("typst", ".typ", "converted.by_pandoc", "a Typst text"),
)
MARKUP = frozenset({"latex", "org", "rst", "asciidoc", "mediawiki", "typst"})  # texts that only their name tells apart
PACKED = ".fb2.zip"  # the only zip archive that is taken for a book by its name
FORMATS = {ending: format for format, endings, _, _ in _TABLE for ending in endings.split()}
LOADERS = {format: f"readagent_core.loaders.{module}" for format, _, module, _ in _TABLE}
NAMES = {format: name for format, _, _, name in _TABLE}
GROUP = "readagent.loaders"
FROM_PACKAGES: dict[str, EntryPoint] = {  # by format, which is named after the ending
    entry.name.lower(): entry for entry in entry_points(group=GROUP) if f".{entry.name.lower()}" not in FORMATS
}
FORMATS |= {f".{format}": format for format in FROM_PACKAGES}
NAMES |= {
    format: f"a .{format} file, which the package {entry.dist.name if entry.dist else entry.value} opens"
    for format, entry in FROM_PACKAGES.items()
}
