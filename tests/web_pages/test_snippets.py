"""Every element and text of a page is in exactly one snippet, and snippets have sizes that can be read."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.web_pages.page import Element
from readagent_core.web_pages.parsing import parse_page
from readagent_core.web_pages.snippets import LEAST, MOST, cut_page

TAGS = st.sampled_from("div section ul li p span a button table td form select option br main article".split())  # noqa: SIM905
TEXTS = st.text("abc <&;\"'\n é雪", max_size=30)
TREES = st.recursive(
    TEXTS.map(lambda text: text.replace("<", "&lt;")),
    lambda inner: st.tuples(TAGS, st.integers(1, 12), st.lists(inner, max_size=5)).map(
        lambda node: f"<{node[0]} title='{'x' * 40}'>{''.join(node[2])}</{node[0]}>" * node[1]
    ),
    max_leaves=25,
)


@settings(max_examples=60, derandomize=True)
@given(TREES, st.integers(0, 9))
def test_every_piece_is_in_exactly_one_snippet(markup, around):
    page = parse_page("<div>" * around + f"<p>start</p>{markup}")
    _, snippets = cut_page(page)
    assert [s.number for s in snippets] == list(range(1, len(snippets) + 1))
    assert snippets[0].start == 0
    assert snippets[-1].end == len(page.pieces)
    assert all(before.end == after.start and after.start < after.end for before, after in pairwise(snippets))
    ids = [piece.id for s in snippets for piece in page.pieces[s.start : s.end] if isinstance(piece, Element)]
    assert sorted(ids) == sorted(page.places)
    for snippet in snippets:  # and the model sees each of them there
        shown = page.markup(snippet.start, snippet.end)
        for piece in page.pieces[snippet.start : snippet.end]:
            assert not isinstance(piece, Element) or piece.start_tag in shown


def rows(count: int, words: int) -> str:
    return "".join(f"<li><a href='/{i}'>Item {i}</a> {'word ' * words}</li>" for i in range(count))


def test_snippets_are_neither_tiny_nor_huge():
    page = parse_page(f"<body><main><section><ul>{rows(400, 8)}</ul></section><p>{'word ' * 9000}</p></main>")
    _, snippets = cut_page(page)
    sizes = [len(page.markup(s.start, s.end)) for s in snippets]
    assert min(sizes) > 0.7 * LEAST
    assert max(sizes) < MOST + LEAST + 1000
    assert len(snippets) > 8


def test_the_depth_with_the_best_sizes_is_chosen():
    def page(depth: int, count: int) -> str:
        blocks = "".join(f"<div><ul>{rows(50, 4)}</ul></div>" for _ in range(count))
        return "<html><body>" + "<div>" * (depth - 2) + blocks

    assert cut_page(parse_page(page(7, 3)))[0] == 7
    assert cut_page(parse_page(page(5, 3)))[0] == 5
