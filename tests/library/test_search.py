"""Search finds the exact places in any script, in pages and in gists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.document import Document, Paragraph, Span, SpanKind
from readagent_core.library import Library
from readagent_core.library.search import _places, phrases_of, split_terms
from readagent_core.memory import Gist, Page
from readagent_core.plan import GistingPlan
from tests.recordings import make_memory

TEXTS = (
    "Ada lit the lamp. The café was closed, and the LAMP burned on; don't ask.",
    "雪の駅で、彼女は待っていた。駅は静かで、外は大雪。",
    "Straße und Äpfel. Лампа горела. كِتَاب مفتوح. हिन्दी में लिखा।",
    "word " * 30 + "lamplight at the very end.",
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    library = Library(tmp_path_factory.mktemp("home"))
    book = library.add(Document("T", tuple(Paragraph(t) for t in TEXTS)))
    gisting = library.open_gisting(book.id, GistingPlan(max_words=20, min_words=5), "m")
    document = library.memory(gisting.id).document
    store = library.store(gisting.id)
    for i, paragraph in enumerate(document.paragraphs):
        store.save_page(Page(i + 1, i, i + 1, paragraph.words))
        store.save_gist(i + 1, Gist(f"Gist {i + 1}: Ada and the lamp" if i == 0 else f"Gist {i + 1}"))
    yield library, gisting, document
    library.close()


def found(opened, query, field="text"):
    library, gisting, document = opened
    memory = library.memory(gisting.id)
    places = []
    for hit in library.search(gisting.id, query):
        if hit.field == field:
            assert hit.page == hit.paragraph + 1 or field == "gist"
            whole = document.paragraphs[hit.paragraph].text if field == "text" else memory.gists[hit.page - 1].text
            places.append(whole[hit.start : hit.end])
    return places


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("lamp", ["lamp", "LAMP", "lamp"]),  # the last in lamplight: words may go on
        ("LAMP", ["lamp", "LAMP", "lamp"]),
        ("cafe", ["café"]),
        ("café", ["café"]),
        ("don't", ["don't"]),
        ('"the lamp"', ["the lamp", "the LAMP"]),
        ("ada lamp", ["Ada", "lamp", "LAMP"]),
        ("雪の駅", ["雪の駅"]),
        ("駅", ["駅", "駅"]),
        ("雪", ["雪", "雪"]),
        ("大雪", ["大雪"]),
        ("strasse", ["Straße"]),
        ("straße", ["Straße"]),
        ("apfel", ["Äpfel"]),
        ("лампа", ["Лампа"]),
        ("كتاب", ["كِتَاب"]),
        ("کتاب", ["كِتَاب"]),
        ("nowhere", []),
        ("", []),
        ("  ... !? ", []),
        ('"', []),
        ("ada AND NOT (lamp", []),
        ("very end", ["very", "end"]),
    ],
)
def test_places_are_exact(opened, query, places):
    assert found(opened, query) == places


def test_places_come_in_the_order_of_pages_and_the_gist_of_a_page_last(opened):
    library, gisting, _ = opened
    hits = [(hit.page, hit.field) for hit in library.search(gisting.id, "lamp")]
    assert hits == [(1, "text"), (1, "text"), (1, "gist"), (5, "text")]


def test_gists_are_found_and_a_changed_gist_is_found_anew(opened):
    library, gisting, _ = opened
    assert found(opened, "Ada", "gist") == ["Ada"]
    library.store(gisting.id).save_gist(2, Gist("A ferry came.", edited=True))
    assert found(opened, "ferry", "gist") == ["ferry"]
    library.store(gisting.id).save_gist(2, Gist("Gist 2", edited=True))
    assert found(opened, "ferry", "gist") == []


def test_every_occurrence_of_a_frequent_word_is_found(tmp_path):
    library = Library(tmp_path)
    memory = make_memory(["the lamp and " * 100] * 27, [None] * 27)
    gisting = library.add_memory(library.add(memory.document).id, memory)
    assert len(library.search(gisting.id, "lamp")) == 2700
    library.close()


@given(st.text(max_size=60) | st.text("".join(TEXTS) + '"', max_size=6))
def test_terms_have_their_places_and_whatever_is_found_begins_with_a_word_of_the_query(opened, query):
    for term in split_terms(query):
        assert term.text
        assert query[term.start : term.end]
    first_terms = tuple(term.text for word in query.replace('"', " ").split() for term in split_terms(word))
    for field in ("text", "gist"):
        for place in found(opened, query, field):
            assert split_terms(place)[0].text.startswith(first_terms)


@given(st.integers(0, len(TEXTS) - 1), st.data())
def test_every_word_of_a_text_is_found_in_it(opened, number, data):
    word = data.draw(st.sampled_from(TEXTS[number].split()))
    assert found(opened, word), word


def test_ruby_is_found_by_its_base_and_by_its_reading(tmp_path):
    library = Library(tmp_path)
    ruby = (Span(0, 3, SpanKind.RUBY, "とうきょう"),)
    library.add(Document("T", (Paragraph("東京駅に着く。"), Paragraph("雪。"))))
    list(library.index_texts())  # by a version that did not keep ruby
    library.add(Document("T", (Paragraph("東京駅に着く。", spans=ruby), Paragraph("雪。"))))
    for query in ("東京", "とうきょう"):
        list(library.index_texts())
        (hit,) = library.search_all(query, limit=5)
        assert hit.paragraph == 0
        assert next(text for text, is_found in hit.parts if is_found).startswith("東京")
    library.add(Document("U", (Paragraph("東京駅はとうきょうにある。", spans=ruby),)))
    list(library.index_texts())
    found = [[text for text, is_found in hit.parts if is_found] for hit in library.search_all("とうきょう", limit=5)]
    assert ["東京駅", "とうきょう"] in found
    library.close()


def test_words_next_to_each_other_come_first_and_are_marked_together(library):
    far = "She had no time for it, said the " + "very " * 60 + "old machine, and a machine it was, of another time."
    for title, texts in {"Exact": [far, "I saw the time machine."], "Apart": [far]}.items():
        library.add(Document(title, tuple(map(Paragraph, texts))))
    list(library.index_texts())
    hits = library.search_all("time machine", limit=5)
    titles = {book.id: book.title for book in library.books()}
    assert [(titles[hit.book_id], hit.paragraph) for hit in hits] == [("Exact", 1), ("Exact", 0), ("Apart", 0)]
    for hit in hits:
        assert {text.lower() for text, is_found in hit.parts if is_found} == {"time", "machine"}


@pytest.mark.parametrize(
    ("text", "query"),
    [("Łódź", "lodz"), ("Lodz", "łódź"), ("Søren", "soren"), ("Æther", "aether"), ("œuvre", "oeuvre"),
     ("Ｗａｒ", "war"), ("ﬁre", "fire"), ("Ёлка", "елка"), ("hy\u00adphen", "hyphen"), ("İstanbul", "istanbul"), 
     ("Đorđe", "dorde"), ("שָׁלוֹם", "שלום"), ("e\u0301te\u0301", "été")],
)  # fmt: skip
def test_letters_are_found_as_people_type_them(text, query):
    whole = f"the {text} of it"
    assert [whole[start:end] for start, end in _places(whole, phrases_of(query))] == [text]


def test_a_word_without_spaces_is_found_inside_a_longer_run():
    assert phrases_of("灯台") == [["灯台"]]
    whole = "あの灯台守が"
    assert [whole[start:end] for start, end in _places(whole, phrases_of("灯台"))] == ["灯台"]
