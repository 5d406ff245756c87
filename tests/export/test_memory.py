"""Exports: nothing a book or a model wrote becomes mark-up, and JSON comes back as it went."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from io import BytesIO

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.document import Cover, Document, Figure, Paragraph, Picture, Section, Span, SpanKind
from readagent_core.errors import DocumentError, SettingsError
from readagent_core.export.memory import MEMORY_FORMATS, export_memory, join_paragraphs, memory_file_name
from readagent_core.export.memory_parts import memory_facts
from readagent_core.incoming.opening import import_gisting
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import GistingPlan
from readagent_core.text_files import escape_markdown, slug
from tests import recordings

HOSTILE = '<script>alert(1)</script> <img src="http://x/y.png" onerror=z> ![p](http://x/p.png) $$x$$ # & "q" \u202e\x07'


def make_memory(*, texts=("One two three.", "Four five.", "Six."), gist="One to six.", title="Fog", complete=True):
    document = Document(
        title=title,
        author="A. Writer",
        paragraphs=tuple(Paragraph(t) for t in texts),
        sections=(Section("The First", 0), Section("The Second", len(texts) - 1)),
    )
    last = len(texts)
    pages = (
        Page(1, 0, last - 1, sum(p.words for p in document.paragraphs[:-1]), reason="the fog lifts"),
        Page(2, last - 1, last, document.paragraphs[-1].words, fallback=True, ends="end"),
    )
    gists = (Gist(gist), Gist(texts[-1], whole=True) if complete else None)
    return GistMemory(document, GistingPlan(), pages, gists, model="a model", complete=complete)


def test_pictures_are_in_html_and_epub_and_their_descriptions_are_text():
    memory = make_memory()
    picture = Picture("0" * 32, "image/png", b"\x89PNG of fog")
    figures = (
        Figure(1, alt='Fog "at sea" <b>', picture=picture.id, width=40, height=30),
        Figure(1, after=True, alt="Lost", picture="1" * 32),
    )
    memory = replace(memory, document=replace(memory.document, figures=figures))

    def find_picture(name: str) -> Picture | None:
        return picture if name == picture.id else None

    page = BeautifulSoup(export_memory(memory, "html", find_picture), "lxml")
    (image,) = page.find_all("img")
    assert image["alt"] == 'Fog "at sea" <b>'
    assert image["src"].startswith("data:image/png;base64,")
    assert "[figure: Lost]" in page.get_text()
    exported = export_memory(memory, "epub", find_picture)
    with zipfile.ZipFile(BytesIO(exported)) as archive:
        assert archive.read(f"EPUB/pictures/{picture.id}.png") == picture.data
    (chapter,) = [text for text in unpacked(exported).values() if "<img" in text]
    assert f'src="pictures/{picture.id}.png"' in chapter
    again, _ = import_gisting(export_memory(memory, "json", find_picture))
    assert again.figures == figures
    data = json.loads(export_memory(memory, "json"))
    for figure in ([9, False], [0, False, "", None, "../../x"], [0, False, 7], [0, False, "", -1], [0, []]):
        data["document"]["figures"] = [figure]
        with pytest.raises(DocumentError, match="damaged"):
            import_gisting(json.dumps(data).encode())


def test_markdown_says_what_the_screen_says():
    text = export_memory(make_memory(), "md").decode()
    assert text.startswith("# Fog\n\nby A. Writer\n")
    assert "2 pages · 6 words kept in 4" in text
    assert "## The First" in text
    assert "**Page 1**\n\nOne to six.\n\n*‖ Paused here: the fog lifts*" in text
    assert "by rule" not in text  # the last page ends with the text, there was no pause
    assert "not all gists are made yet" in export_memory(make_memory(complete=False), "md").decode()
    read = export_memory(make_memory().up_to(1), "md").decode()
    assert "only what was read, page 1" in read  # its gists are all made
    assert "not all gists are made" not in read
    memory = make_memory()
    scanned = replace(
        memory.document,
        paragraphs=(replace(memory.document.paragraphs[0], confidence=0.99), *memory.document.paragraphs[1:]),
    )
    assert "50 % of the words recognised in pictures" in export_memory(replace(memory, document=scanned), "md").decode()
    copied = export_memory(make_memory(gist="## The First\n\nOne to six. [figure: A lamp]\n\n### Later"), "md").decode()
    assert "**Page 1**\n\nOne to six.\n\nLater\n" in copied  # no signs, and the chapter's title once
    one = recordings.make_memory(["The lamp was out."], ["Lamp out."])
    assert memory_facts(one).startswith("1 page · 4 words kept in 2 (50.0 % fewer)")
    assert memory_facts(replace(one, model="reader")).endswith(" · gists made with reader")


def test_html_is_one_file_that_loads_nothing():
    page = export_memory(make_memory(), "html").decode()
    soup = BeautifulSoup(page, "lxml")
    assert not soup.find_all(["script", "img", "link", "iframe"])
    assert "default-src 'none'" in page
    assert [a.get("id") for a in soup.find_all("article")] == ["p1", "p2"]
    assert soup.find("details").get_text().startswith("The page in full")
    assert "--sea" in page
    assert "prefers-color-scheme: dark" in page
    assert "no gist yet" in export_memory(make_memory(complete=False), "html").decode()


def unpacked(epub: bytes) -> dict[str, str]:
    """The texts of an EPUB by name."""
    with zipfile.ZipFile(BytesIO(epub)) as archive:
        assert archive.testzip() is None
        return {n: archive.read(n).decode() for n in archive.namelist() if n.endswith(("xhtml", "opf", "ncx"))}


def test_a_hostile_book_is_only_letters():
    memory = make_memory(texts=(HOSTILE, HOSTILE), gist=HOSTILE, title=HOSTILE)
    page = export_memory(memory, "html").decode()
    assert "alert(1)" in page
    assert not BeautifulSoup(page, "lxml").find_all(["script", "img"])
    for part in unpacked(export_memory(memory, "epub")).values():
        assert not BeautifulSoup(part, "xml").find_all(["script", "img"])
    text = export_memory(make_memory(texts=(HOSTILE, HOSTILE), gist=f"# {HOSTILE}", title=HOSTILE), "md").decode()
    assert not re.search(r"(?<!\\)(<\w|`)", text)
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "\n# " not in text[1:]
    assert escape_markdown("1. one\n- two\n+ x") == "1\\. one\n\\- two\n\\+ x"


def test_epub_has_a_chapter_a_section_or_is_cut_by_pages():
    memory = make_memory()
    exported = export_memory(memory, "epub", cover=Cover(b"a boat", "image/jpeg"))
    with zipfile.ZipFile(BytesIO(exported)) as archive:
        assert archive.read("EPUB/cover.jpeg") == b"a boat"
    found = unpacked(exported)
    parts = [text for name, text in found.items() if "part" in name]
    assert len(parts) == 2
    assert "The Second" in parts[1]
    package = next(text for name, text in found.items() if name.endswith("opf"))
    assert "<dc:title>Fog: gists</dc:title>" in package
    front = next(text for name, text in found.items() if "front" in name)
    assert "The gists of the book, page by page." in front
    assert f"<p>{memory.document.author}</p>" in front
    assert '<item href="cover.jpeg" id="cover-img" media-type="image/jpeg" properties="cover-image"/>' in package
    bare = GistMemory(Document("Fog", memory.document.paragraphs), memory.plan, memory.pages, memory.gists)
    exported = export_memory(bare, "epub")
    with zipfile.ZipFile(BytesIO(exported)) as archive:
        assert ">Fog</text>" in archive.read("EPUB/cover.svg").decode()
    found = unpacked(exported)
    assert "Pages 1 to 2" in next(text for name, text in found.items() if "part" in name)


def test_the_lines_of_a_gist_stay_lines():
    memory = make_memory(gist="Who came?\nNobody.")
    assert "<p>Who came?</p>" in unpacked(export_memory(memory, "epub"))["EPUB/part0001.xhtml"]
    assert "Who came?  \nNobody" in export_memory(memory, "md").decode()


def test_json_gives_the_whole_paragraphs_back():
    long = " ".join(f"Sentence number {i} stands here." for i in range(60))
    paragraphs = (Paragraph("Zwölf 雪 \ud83c\udf28."), Paragraph(long), Paragraph("End."))
    document = Document("Long", paragraphs, (Section("S", 2),))
    limited = document.limited(100)
    plan = GistingPlan(max_words=100, min_words=50)
    memory = replace(recordings.make_memory(limited.paragraphs), document=limited, plan=plan)
    found, again = import_gisting(export_memory(memory, "json"))
    assert found == document
    assert again == memory
    assert join_paragraphs(limited).sections[0].start == 2


def damaged(change):
    data = json.loads(export_memory(make_memory(), "json"))
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b'{"format": "other"}',
        b"[" * 100_000,
        damaged(lambda d: d.update(version=99)),
        damaged(lambda d: d.pop("memory")),
        damaged(lambda d: d["memory"].update(pages=[])),
        damaged(lambda d: d["memory"]["pages"][1].update(end=99)),
        damaged(lambda d: d["memory"]["pages"][0].update(start=1)),
        damaged(lambda d: d["memory"]["gists"][0].update(text=5)),
        damaged(lambda d: d["document"]["paragraphs"].append(["more", "", False])),
        damaged(lambda d: d["document"].update(paragraphs=7)),
        damaged(lambda d: d["document"].update(title=["no", "words"])),
        damaged(lambda d: d["memory"]["pages"][0].update(reason=5)),
        damaged(lambda d: d["memory"].update(plan={"max_words": "many"})),
        damaged(lambda d: d["memory"]["usage"].update(calls="many")),
        damaged(lambda d: d["memory"]["usage"].update(seconds=float("nan"))),
        damaged(lambda d: d["memory"]["pages"][0].update(words=10**400)),
        damaged(lambda d: d["memory"]["pages"][0].update(words=None)),
        damaged(lambda d: d["memory"]["pages"][0].update(end=1.0)),
        damaged(lambda d: d["memory"]["gists"][0].update(fallback=[])),
    ],
)
def test_what_is_no_memory_is_refused_in_words(data):
    with pytest.raises(DocumentError) as told:
        import_gisting(data)
    assert len(str(told.value)) > 30


def test_unknown_formats_and_file_names():
    with pytest.raises(SettingsError, match="md, html, json, epub"):
        export_memory(make_memory(), "docx")
    assert memory_file_name(make_memory(title="../../etc/Passwd: a  <tale>"), "md") == "etc-passwd-a-tale-gists.md"
    assert memory_file_name(make_memory(title="雪の駅"), "epub") == "雪の駅-gists.epub"
    assert memory_file_name(make_memory(title="///"), "md") == "book-gists.md"


@pytest.mark.parametrize("format", MEMORY_FORMATS)
def test_a_model_that_is_a_file_leaves_without_its_folders(format):
    content = export_memory(replace(make_memory(), model="/home/anna/models/small.gguf"), format)
    files = [content]
    if format in ("epub", "skill"):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            files = [archive.read(name) for name in archive.namelist()]
    assert any(b"small" in file for file in files)
    assert not any(b"anna" in file for file in files)


@given(st.lists(st.text(max_size=60), min_size=2, max_size=6), st.text(max_size=80), st.text(max_size=20))
@settings(max_examples=40, derandomize=True)
def test_every_text_survives_json_and_breaks_no_format(texts, gist, title):
    memory = make_memory(texts=tuple(texts), gist=gist, title=title)
    assert import_gisting(export_memory(memory, "json"))[1] == memory
    for format in MEMORY_FORMATS:
        assert export_memory(memory, format)


def test_titles_of_sections_are_headings_in_the_text_of_a_page():
    memory = make_memory(texts=("# no title", "Four five.", "Six."))
    page = BeautifulSoup(export_memory(memory, "html"), "html.parser").select_one(".text")
    assert [(part.name, part.text) for part in page.find_all(["h3", "p"])][:2] == [
        ("h3", "The First"),
        ("p", "# no title"),
    ]
    with zipfile.ZipFile(BytesIO(export_memory(memory, "skill"))) as archive:
        text = archive.read("book-fog/references/pages/0001.md").decode()
    assert "\n## The First\n\n\\# no title\n" in text


def test_a_skill_has_an_index_and_every_page():
    memory = make_memory(title="Le “Phare”: a *tale*")
    with zipfile.ZipFile(BytesIO(export_memory(memory, "skill", book_gist="A lamp goes out."))) as archive:
        names = archive.namelist()
        files = {name.partition("/")[2]: archive.read(name).decode() for name in names}
    assert {name.partition("/")[0] for name in names} == {"book-le-phare-a-tale"}
    head = files["SKILL.md"].split("---")[1]
    assert "name: book-le-phare-a-tale\n" in head
    assert len(re.search(r'description: "(.*)"', head)[1]) <= 1024
    assert files["references/index.md"].startswith("# Index\n\nA lamp goes out.")
    pages = [name for name in files if name.startswith("references/pages/")]
    assert len(pages) == len(memory.readable) == len(re.findall(r"^- \d+: ", files["references/index.md"], re.M))
    for number in memory.readable:
        assert memory.page_text(number).split()[0] in files[f"references/pages/{number:04d}.md"]
        assert f"## Page {number}" in files["references/gists-0001.md"]
    assert memory_file_name(make_memory(title="雪の駅"), "skill") == "book.zip"


def test_notes_links_ruby_and_formulas_are_in_exports():
    math = "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"
    spans = (
        Span(1, 1, SpanKind.NOTE, "1", 1),
        Span(2, 4, SpanKind.LINK, "https://example.org/a_(b)"),
        Span(5, 6, SpanKind.RUBY, "<b>"),
        Span(7, 8, SpanKind.FORMULA, math),
    )
    texts = [Paragraph("A to 字 ½ cup.", spans=spans), Paragraph("Of oil.", note=True)]
    memory = recordings.make_memory(texts, per_page=2)
    page = export_memory(memory, "html").decode()
    assert '<p>A<sup><a href="#t1">1</a></sup> <a href="https://example.org/a_(b)"' in page
    assert "<ruby>字<rt>&lt;b&gt;</rt></ruby>" in page
    assert math in page
    assert '<p id="t1">Of oil.</p>' in page
    with zipfile.ZipFile(BytesIO(export_memory(memory, "skill"))) as archive:
        text = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("pages/0001.md"))
    assert "A[^1] [to](https://example.org/a_%28b%29) 字 ½ cup." in text
    assert "[^1]: Of oil." in text


def test_a_long_title_is_cut_between_words_in_a_file_s_name():
    name = memory_file_name(
        make_memory(title="Who was the keeper before Vane, and why did Vane vanish from the light?"), "md"
    )
    assert name == "who-was-the-keeper-before-vane-and-why-did-vane-vanish-from-gists.md"
    title = "In the March return Ambrose Vane’s accounts came out a shilling short"
    assert slug(title) == "in-the-march-return-ambrose-vanes-accounts-came"


def test_words_in_italics_are_in_italics_in_every_format_to_read():
    memory = make_memory(
        texts=("In the *Second Wife*, 2*3.", "Four five.", "Six."), gist="In the *Second <Wife>*, 2*3."
    )
    memory = replace(memory, document=replace(memory.document, format="markdown"))
    assert "In the *Second \\<Wife>*, 2\\*3." in export_memory(memory, "md").decode()
    with zipfile.ZipFile(BytesIO(export_memory(memory, "skill"))) as archive:
        read = {name.rpartition("/")[2]: archive.read(name).decode() for name in archive.namelist()}
    assert "- 1: In the Second \\<Wife>, 2\\*3." in read["index.md"]
    assert "In the *Second \\<Wife>*, 2\\*3." in read["gists-0001.md"]
    assert "In the *Second Wife*, 2\\*3." in read["0001.md"]
    page = export_memory(memory, "html").decode()
    assert "In the <em>Second &lt;Wife&gt;</em>, 2*3." in page
    assert "In the <em>Second Wife</em>, 2*3." in page
    with zipfile.ZipFile(BytesIO(export_memory(memory, "epub"))) as archive:
        assert "<em>Second &lt;Wife&gt;</em>" in archive.read("EPUB/part0001.xhtml").decode()
    assert (
        "the *Second"
        in export_memory(replace(memory, document=replace(memory.document, format="epub")), "html").decode()
    )
