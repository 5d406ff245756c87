"""Tables of contents are found in every format; no line that occurs nowhere else is left out."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from readagent_core.document import Paragraph, Section
from readagent_core.loaders import load
from readagent_core.loaders.contents import remove_contents

TITLES = ["The Lamp", "A Letter from the Mainland", "Fog", "What the Bell Said"]
PROSE = "The keeper wrote in the log that nobody had come to the door, and then he slept. " * 8


def page(listed: str, titles: list[str] = TITLES) -> bytes:
    body = "".join(f"<h2>{title}</h2><p>{PROSE}</p><p>{PROSE}</p>" for title in titles)
    return f"<html><head><title>Fog</title></head><body><h2>Contents</h2>{listed}{body}</body></html>".encode()


def test_a_list_of_the_chapters_is_left_out_with_a_notice():
    for listed in (
        "".join(f"<p>{t}</p>" for t in TITLES),
        "<ul>" + "".join(f"<li><a href='#c'>{t}</a></li>" for t in TITLES) + "</ul>",
        "<table>" + "".join(f"<tr><td>{n}.</td><td>{t}</td><td>{n}7</td></tr>" for n, t in enumerate(TITLES, 1))
        + "</table>",
    ):  # fmt: skip
        document = load(page(listed), "fog.html")
        assert [s.title for s in document.sections] == TITLES, listed
        assert [s.start for s in document.sections] == [0, 2, 4, 6]
        assert {p.text for p in document.paragraphs} == {PROSE.strip()}
        assert [(w.code, w.count) for w in document.warnings] == [("contents", 4)]


def test_a_line_that_stands_nowhere_else_stays():
    document = load(page("<p>" + "<br>".join([*TITLES, "With a map of the sound"]) + "</p>"), "fog.html")
    assert document.paragraphs[0].text == "With a map of the sound"
    assert [s.title for s in document.sections] == TITLES


def test_the_names_of_speakers_and_of_people_are_no_contents():
    speech = "".join(f"<h3>{name}</h3><p>{PROSE}</p>" for name in ("Anna", "Bruno", "Carl") * 3)
    people = "<p>Anna</p><p>Bruno</p><p>Carl</p>"
    data = f"<html><body><h1>A Play</h1>{people}{speech}</body></html>".encode()
    assert [p.text for p in load(data, "play.html").paragraphs[:3]] == ["Anna", "Bruno", "Carl"]


def test_a_word_in_a_dialogue_is_no_contents():
    data = f"<html><body><h2>Yes</h2><p>Yes</p><p>No</p><p>{PROSE}</p><h2>No</h2><p>{PROSE}</p></body></html>".encode()
    assert [p.text for p in load(data, "x.html").paragraphs[:2]] == ["Yes", "No"]


def test_the_list_of_contents_names_the_sections_and_is_left_out():
    chapters = "\n\n".join(f"CHAPTER {n}. {t}.\n\n{PROSE}" for n, t in enumerate(TITLES, 1))
    listed = "\n".join(f"CHAPTER {n}. {t}." for n, t in enumerate(TITLES, 1))
    text = f"Fog\n\nby A. Keeper\n\nCONTENTS\n\nETYMOLOGY.\n\nA NOTE ON BELLS\n\n{listed}\n\nETYMOLOGY.\n\n{PROSE}\n\n"
    document = load(f"{text}A NOTE ON BELLS\n\n{PROSE}\n\n{chapters}".encode(), "fog.txt")
    assert [s.title for s in document.sections] == ["ETYMOLOGY.", "A NOTE ON BELLS"] + [
        f"CHAPTER {n}. {t}." for n, t in enumerate(TITLES, 1)
    ]
    assert "A NOTE ON BELLS" not in [p.text for p in document.paragraphs]
    assert "CONTENTS" not in [p.text for p in document.paragraphs]


def test_a_wrapped_line_that_begins_like_a_chapter_is_no_heading():
    torn = "BOOK I. (Folio), CHAPTER II. (Right Whale).--In one respect this is the\nmost venerable of the leviathans, "
    text = "\n\n".join(
        f"CHAPTER {n}. {t}.\n\n{torn}being the one first regularly hunted by man, so that it\nis known."
        for n, t in enumerate(TITLES, 1)
    )
    document = load(text.encode(), "fog.txt")
    assert len(document.sections) == 4
    assert all("one respect this is the most venerable" in p.text for p in document.paragraphs)


def test_a_list_of_two_below_its_heading_is_left_out_and_without_one_it_stays():
    two = TITLES[:2]
    body = "".join(f"<h2>{title}</h2><p>{PROSE}</p>" for title in two)
    listed = "".join(f"<p>{title}</p>" for title in two)
    headed = load(f"<html><body><h2>Contents</h2>{listed}{body}</body></html>".encode(), "fog.html")
    assert {p.text for p in headed.paragraphs} == {PROSE.strip()}
    assert [s.title for s in headed.sections] == two
    plain = load(f"<html><body><h1>Fog</h1>{listed}{body}</body></html>".encode(), "fog.html")
    assert [p.text for p in plain.paragraphs[:2]] == two


words = st.sampled_from(["Fog", "Lamp", "Bell", "Fog 3", "Contents", "Sea", "Letter\nFog", "Lamp\nBell\nFog", PROSE])


@given(st.lists(words, min_size=1, max_size=14), st.lists(st.tuples(words, st.integers(0, 13)), max_size=8))
def test_every_word_is_still_there(texts, titles):
    paragraphs = [Paragraph(text) for text in texts]
    sections = sorted((Section(t.split("\n")[0], min(at, len(texts) - 1)) for t, at in titles), key=lambda s: s.start)
    kept, left, entries = remove_contents(paragraphs, sections)
    said = {line for p in kept for line in p.text.split("\n")} | {s.title for s in left} | {"Contents"}
    lines = {line for text in texts for line in text.split("\n")}
    assert {line.removesuffix(" 3") for line in lines} <= {line.removesuffix(" 3") for line in said}
    assert [s.start for s in left] == sorted(s.start for s in left)
    assert all(0 <= s.start < len(kept) for s in left)
    assert entries or (kept, left) == (paragraphs, sections)


def test_the_work_grows_with_the_length_only():
    def operations(count: int) -> int:
        names = [f"The Story of {n}" for n in range(count)]
        paragraphs = [Paragraph(name) for name in names] + [Paragraph(PROSE)] * count
        sections = [Section(name, count + n) for n, name in enumerate(names)]
        done = 0

        def trace(frame, event, _):
            nonlocal done
            frame.f_trace_opcodes = True
            done += event == "opcode"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            assert remove_contents(paragraphs, sections)[2] == count
        finally:
            sys.settrace(before)
        return done

    assert operations(800) < 9 * operations(100)
