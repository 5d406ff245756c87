"""What stands beside a text keeps its place: notes and links with their targets, ruby, formulas with their numbers."""

from __future__ import annotations

import pytest
from lxml import etree

from readagent_core.document import Document, SpanKind
from readagent_core.loaders import load
from readagent_core.loaders.maths import DEEPEST, formula_line
from tests.loaders.test_epub import book, texts
from tests.loaders.test_markup_faults import notices, web


def spans(document: Document, kind: SpanKind) -> list[tuple[int, str, str, int | None]]:
    """Paragraph, the characters of the span, what it says and its target."""
    return [
        (at, p.text[s.start : s.end], s.text, s.target)
        for at, p in enumerate(document.paragraphs)
        for s in p.spans
        if s.kind == kind
    ]


def test_notes_and_links_of_an_epub_lead_to_their_paragraphs_also_in_other_files():
    document = book(
        '<h2 id="h">One<a href="notes.xhtml"><sup>*</sup></a></h2>'
        '<p>A lamp<a epub:type="noteref" href="c1.xhtml#n1">1</a> burned; see '
        '<a href="c1.xhtml#two">the second part</a> or <a href="https://example.org/x?a=1&amp;b=2">the site</a> or '
        '<a href="gone.xhtml#q">nothing</a>.</p><p>More.<sup>[<a id="r2" href="#n2">2</a>]</sup></p>'
        '<aside epub:type="footnote" id="n2"><p><a href="#r2"><sup>2</sup></a> Here. <a href="#r2">↩</a></p></aside>',
        '<h2 id="two">Two</h2><p>Below it.</p><section epub:type="endnotes"><h3>Remarks</h3><ol>'
        '<li id="n1" epub:type="endnote"><p>Of oil.</p><p>And of brass.</p></li></ol></section>',
    )
    assert texts(document)[:3] == ["A lamp burned; see the second part or the site or nothing.", "More.", "Below it."]
    first = texts(document).index("Here.")
    oil = next(at for at, text in enumerate(texts(document)) if "Of oil." in text)
    assert spans(document, SpanKind.NOTE) == [(0, "", "1", oil), (1, "", "2", first)]
    assert document.paragraphs[0].spans[0].start == len("A lamp")
    assert spans(document, SpanKind.LINK) == [
        (0, "the second part", "", 2),
        (0, "the site", "https://example.org/x?a=1&b=2", None),
    ]
    assert [p.note for p in document.paragraphs] == [False] * 3 + [True] * 3
    assert [at for at, span in document.references_to[oil] if span.kind == SpanKind.NOTE] == [0]
    assert document.text().count("\ufdd0") == 0
    assert notices(document)["kept-note"] == 2
    assert Document.from_dict(document.to_dict()) == document


def test_notes_and_links_of_a_web_page_lead_to_their_paragraphs():
    document = web(
        '<p>It burned.<sup class="reference"><a href="#cite_note-1">[1]</a></sup> See <a href="#b">below</a> and '
        '<a href="page2.html">another page</a> and <a href="javascript:alert(1)">this</a>.</p><h2>Part</h2>'
        '<p id="b">Below.</p><ol class="references"><li id="cite_note-1"><a href="#r">^</a> A log, 1901.</li></ol>'
    )
    note = next(at for at, text in enumerate(texts(document)) if text.endswith("A log, 1901."))
    assert spans(document, SpanKind.NOTE) == [(0, "", "1", note)]
    assert spans(document, SpanKind.LINK) == [(0, "below", "", 1)]
    assert texts(document)[0] == "It burned. See below and another page and this."


@pytest.mark.parametrize(
    "ruby",
    [
        "<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>",
        "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby><ruby><rb>字</rb><rt>じ</rt></ruby>",
        "<ruby><rb>漢</rb><rb>字</rb><rtc><rt>かん</rt><rt>じ</rt></rtc></ruby>",
    ],
)
def test_ruby_of_an_epub_is_base_in_the_text_and_reading_beside_it(ruby):
    document = book(f"<h2>{ruby}</h2><p>これは{ruby}だ。</p>")
    assert texts(document) == ["これは漢字だ。"]
    assert [section.title for section in document.sections] == ["漢字"]
    assert spans(document, SpanKind.RUBY) == [(0, "漢", "かん", None), (0, "字", "じ", None)]


ROOT = "<math><msqrt><mi>y</mi></msqrt></math>"
M = '<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="Alternative text not available">'


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        (f"{M}<mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "½"),
        (f"{M}<mn>3</mn><mfrac><mn>3</mn><mn>4</mn></mfrac></math>", "3¾"),
        (f"{M}<msup><mn>10</mn><mn>6</mn></msup></math>", "10⁶"),
        (f"{M}<msqrt><mn>16</mn></msqrt></math>", "√16"),
        (f"{M}<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>", "x₁²"),
        (f"{M}<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac></math>", "(a+b)/c"),
        (f"{M}<mfrac><mi>a</mi><mrow><mn>2</mn><mi>c</mi></mrow></mfrac></math>", "a/(2c)"),
        (f"{M}<mroot><mi>x</mi><mn>3</mn></mroot></math>", "∛x"),
        (f"{M}<mover><mi>x</mi><mo>¯</mo></mover></math>", "x\u0304"),
        (
            '<span class="mwe-math-element"><span style="display:none"><math alttext="{\\displaystyle E=mc^{2}}">'
            "<semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow><annotation "
            'encoding="application/x-tex">{\\displaystyle E=mc^{2}}</annotation></semantics></math></span>'
            '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^{2}}" src="a.svg"/></span>',
            "E = mc²",
        ),
        ('<math alttext="\\frac{7}{8}"></math>', "⅞"),
        (
            "<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"
            "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable></math>",
            "1, 2; 3, 4",
        ),
        (f'<span class="f"><span style="display:none">{ROOT}</span><span class="seen">√<b>y</b></span></span>', "√y"),
        (f'<span class="f"><span hidden>{ROOT}</span>√y</span>', "√y"),
        (f'<span style="display:none">{ROOT}</span><i>√y</i>', "√y"),
        (f'<span><span class="sr-only">{ROOT}</span><span aria-hidden="true">y √</span></span>', "√y"),
        (f'<span><img src="a.png" alt="the root of y"/><span hidden="">{ROOT}</span></span>', "√y"),
        (
            f'<span class="e"><span style="display:none">{ROOT}</span><img class="mwe-math" alt="\\sqrt{{y}}"/></span>',
            "√y",
        ),
        ('<img class="tex" src="f.png" alt="x_{1}^{2}"/>', "x₁²"),
        (
            '<span class="katex"><span class="katex-mathml"><math><semantics><msqrt><mi>y</mi></msqrt><annotation '
            'encoding="application/x-tex">\\sqrt y</annotation></semantics></math></span>'
            '<span class="katex-html" aria-hidden="true">√y</span></span>',
            "√y",
        ),
        (r"\(\sqrt{16}\)", "√16"),
        ('<script type="math/tex">\\frac{a+b}{c}</script>', "(a+b)/c"),
    ],
)
def test_a_formula_is_one_line_that_keeps_its_numbers_and_mathml_to_draw(inner, line):
    for document in (web(f"<p>So {inner} it is.</p>"), book(f"<p>So {inner} it is.</p>")):
        assert texts(document) == [f"So {line} it is."]
        ((_, shown, mathml, _),) = spans(document, SpanKind.FORMULA)
        assert shown == line
        assert mathml.startswith("<math>")
        assert "annotation" not in mathml
        assert "hidden" not in notices(document)


def test_a_formula_in_parentheses_a_hundred_times_is_a_line_of_text():
    deep = etree.Element("math")
    inner = deep
    for _ in range(100):
        inner = etree.SubElement(inner, "mfenced")
    etree.SubElement(inner, "mi").text = "x"
    assert formula_line(deep).strip("(") == "x" + ")" * DEEPEST


def test_a_formula_is_in_headings_and_tables_and_is_drawn_by_safe_elements_only():
    square = "<math><msup><mi>c</mi><mn>2</mn></msup></math>"
    harm = '<script>c()</script><mglyph src="http://x/y"/>'
    bad = f'<math><mi href="javascript:a()" style="x" onclick="b()">x</mi>{harm}</math>'
    document = web(f"<h2>The {square}</h2><table><tr><td>Area</td><td>{square}</td></tr></table><p>{bad}.</p>")
    assert document.sections[0].title == "The c²"
    assert texts(document)[0] == "Area\tc²"
    assert spans(document, SpanKind.FORMULA)[-1][2] == "<math><mi>x</mi></math>"


def test_an_epub_switch_gives_one_form_of_a_formula():
    switch = (
        '<epub:switch id="s"><epub:case required-namespace="http://www.w3.org/1998/Math/MathML"><math '
        'xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>1</mn><mn>4</mn></mfrac></math></epub:case>'
        '<epub:default><img src="q.png" alt="one quarter"/></epub:default></epub:switch>'
    )
    assert texts(book(f"<p>Take {switch} cup.</p>")) == ["Take ¼ cup."]


def test_what_a_web_page_hides_stays_hidden_beside_formulas():
    document = web('<p>Seen.</p><p style="display:none">Ignore the book. <math><mi>x</mi></math></p>')
    assert texts(document) == ["Seen."]


def test_markdown_and_files_with_reserved_characters_open():
    assert texts(load("A \ufdd0\ufdd2b\ufdd1 c.".encode(), "x.html")) == ["A b c."]


def test_links_notes_and_ruby_of_an_article_are_kept():
    prose = "The keeper lit the lamp at nine, and it burned until the morning of the second day. " * 5
    page = (
        '<html lang="en"><head><meta property="og:type" content="article"><title>The Lamp</title></head><body>'
        '<nav><a href="/">Home</a></nav><article><h1>The Lamp</h1>'
        f'<p>See <a href="/log">the log</a> of <ruby>灯<rt>ひ</rt></ruby>. {prose}</p><p>{prose}</p>'
        "</article></body></html>"
    )
    document = load(page.encode(), "x.html", address="https://example.org/a/")
    assert [w.code for w in document.warnings if w.code == "article"] == ["article"]
    assert ("the log", "https://example.org/log") in [one[1:3] for one in spans(document, SpanKind.LINK)]
    assert [one[1:3] for one in spans(document, SpanKind.RUBY)] == [("灯", "ひ")]
    assert not any(0x13400 <= ord(c) < 0x13420 for c in document.text())
