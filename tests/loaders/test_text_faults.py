"""Faults that real texts showed at import, each with a small document of our own."""

from __future__ import annotations

import pytest

from readagent_core.loaders import load
from readagent_core.loaders.headings import roman_value
from readagent_core.words import count_words
from tests.loaders.test_epub import outline, texts
from tests.loaders.test_markup_faults import notices, titles, web
from tests.loaders.test_text import PROSE, wrapped


def text(*blocks: str, name: str = "book.txt"):
    return load("\n\n".join(blocks).encode(), name)


def chapters(*lines: str):
    return text(*(piece for line in lines for piece in (line, PROSE)))


def roman(number: int) -> str:
    signs = ((90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
    found = ""
    for value, sign in signs:
        found += sign * (number // value)
        number %= value
    return found


def test_a_hundred_chapters_with_roman_numbers():
    numbers = [roman(n) for n in range(1, 100)]
    assert "LXXXVIII" in numbers
    assert [roman_value(n) for n in numbers] == list(range(1, 100))
    assert titles(chapters(*numbers)) == numbers


@pytest.mark.parametrize(
    "lines",
    [
        ("CHAP. I.", "CHAP. II."),
        ("FIRST ACT", "SECOND ACT", "THIRD ACT"),
        ("Erster Akt", "Zweiter Akt"),
        ("Глава первая", "Глава двадцать вторая", "Эпилог"),
        ("Часть 1", "Глава 1. Берег", "Глава 2. Маяк"),
        ("Rozdział I", "Rozdział II"),
        ("Chương 1: Biển", "Chương 2: Đèn"),
        ("THE LAMP IN THE WINDOW", "A LETTER FROM THE MAINLAND", "FOG"),
        ("I. A Scandal on the Island", "II. The League of Keepers", "III. A Case of Oil"),
    ],
)
def test_chapters_of_many_forms(lines):
    document = chapters(*lines)
    assert titles(document) == list(lines)
    assert texts(document) == [PROSE] * len(lines)


def test_chapters_below_parts_that_have_numbers_only():
    document = chapters("PART ONE", "1", "2", "PART TWO", "1", "2")
    assert [(s.title, s.level) for s in document.sections] == [
        ("PART ONE", 1), ("1", 2), ("2", 2), ("PART TWO", 1), ("1", 2), ("2", 2),
    ]  # fmt: skip


def test_speakers_in_capitals_are_no_chapters():
    speeches = [piece for n in range(6) for piece in (("ANNA", "BRUNO")[n % 2], PROSE)]
    assert titles(text("THE OIL STORE AT NIGHT", PROSE, *speeches)) == []


def test_a_last_line_in_capitals_is_no_chapter():
    names = ("The oil store", "The slip", "The lamp room")
    assert [s.title for s in chapters(*map(str.upper, names)).sections] == [name.upper() for name in names]
    pieces = [piece for name in names for piece in (name.upper(), PROSE)]
    assert [s.title for s in text(*pieces, "THE END").sections] == [name.upper() for name in names]


def test_the_list_of_contents_is_the_key_to_titles_that_look_like_other_lines():
    stories = ["The lamp that would not burn", "Of herring and of men", "What the bell said"]
    listed = "\n".join(f"{title} . . . . {n}7" for n, title in enumerate(stories, start=1))
    document = text("CONTENTS", listed, *(piece for title in stories for piece in (title, PROSE, PROSE)))
    assert titles(document) == stories
    assert texts(document) == [PROSE] * 6
    assert notices(document) == {"contents": 3}


def test_a_printed_list_with_other_numbers_than_the_chapters_is_left_out():
    stories = ["THE LAMP", "OF HERRING AND MEN", "THE BELL", "FOG"]
    listed = "\n".join(f"{roman(n)}.      {title}." for n, title in enumerate(stories, start=1))
    body = [piece for n, title in enumerate(stories, 1) for piece in (f"CHAPTER {roman(n)}.", f"{title}.", PROSE)]
    document = text("CONTENTS", listed, *body)
    assert titles(document) == [f"CHAPTER {roman(n)}. {title}." for n, title in enumerate(stories, start=1)]
    assert set(texts(document)) == {PROSE}


def aozora(*head: str, body: str) -> bytes:
    rule = "-" * 55
    marks = "【テキスト中に現れる記号について】\n\n《》：ルビ"
    return "\n".join([*head, "", rule, marks, rule, "", body, "", "底本：「全集」", "青空文庫"]).encode("shift_jis")


def test_aozoras_marks_of_headings_are_sections():
    lines = (
        "［＃３字下げ］第一部　霧《きり》［＃「第一部　霧」は大見出し］",
        "［＃中見出し］一［＃中見出し終わり］",
        "　夜が来た。",
        "［＃ここから小見出し］",
        "船の",
        "影",
        "［＃ここで小見出し終わり］",
        "　朝が来た。",
        "　龍王岬［＃「龍王岬」は窓中見出し］　海は静かだった。",
    )
    document = load(aozora("灯台守", "青木霧子", body="\n".join(lines)), "1.txt")
    assert outline(document) == [("第一部 霧", 0, 1), ("一", 0, 2), ("船の 影", 1, 3), ("龍王岬", 2, 2)]
    assert texts(document) == ["夜が来た。", "朝が来た。", "海は静かだった。"]


@pytest.mark.parametrize(
    "head",
    [
        ("灯台守", "青木霧子"),
        ("灯台守", "青木霧子", "森次郎訳"),
        ("灯台守", "――霧の夜の話――", "青木霧子", "森次郎編"),
        ("灯台守", "THE KEEPER", "青木霧子", "AOKI Kiriko", "森次郎、林花訳"),
    ],
)
def test_aozoras_author_is_neither_the_translator_nor_a_subtitle(head):
    document = load(aozora(*head, body="　夜が来た。"), "1.txt")
    assert (document.title, document.author) == ("灯台守", "青木霧子")


def test_a_megabyte_without_a_space_is_many_words_and_many_pages():
    document = load(b"a" * (1 << 20), "x.txt")
    assert document.words > 100_000
    assert max(p.words for p in document.paragraphs) <= 50
    assert document.text() == "a" * (1 << 20)
    address = f"https://example.org/{'path/' * 12}"
    assert count_words(f"See {address} there.") == 3


def test_runs_of_spaces_are_squeezed():
    assert texts(text(PROSE, "Stand by for     the Crash    , said he;  it came  at last ....")) == [
        PROSE,
        "Stand by for the Crash, said he; it came at last ....",
    ]
    assert texts(web("<p>a&nbsp; &nbsp;b</p><pre>x  = 1\ny  = 2</pre>")) == ["a b", "x  = 1\ny  = 2"]


def test_a_lost_paragraph_break_splits_where_its_spaces_are():
    first, second = "He kept busy until the lamp was lit.", "Chapman stopped them at the lock."
    glued = f'{first}      {second} "I need a drink.     You    need a drink."'
    read = text(PROSE, glued)
    assert texts(read) == [PROSE, first, f'{second} "I need a drink. You need a drink."']
    assert [(n.code, n.count) for n in read.warnings] == [("lost-breaks", 1)]
    assert "1 paragraph began in mid-line" in read.warnings[0].message


def test_lines_of_prose_with_lost_breaks_are_no_table():
    lines = (
        "The keeper slept.       The boat came in, and there was nobody at\n"
        "the door to meet it.       Then the fog lifted from the whole sound\n"
        "and the bell stopped.       He woke, and went down to the door."
    )
    assert texts(text(wrapped(PROSE), lines, wrapped(PROSE)))[1:-1] == [
        "The keeper slept.",
        "The boat came in, and there was nobody at the door to meet it.",
        "Then the fog lifted from the whole sound and the bell stopped.",
        "He woke, and went down to the door.",
    ]


def test_a_frame_around_a_note_is_removed():
    framed = "+------------------+\n| A note on        |\n| the text of it.  |\n+------------------+"
    assert texts(text(PROSE, framed, PROSE))[1].split() == ["A", "note", "on", "the", "text", "of", "it."]


def test_markdown_tables_are_read_by_rows_and_strong_emphasis_has_no_stars():
    table = "| Day | Oil |\n|---|:---:|\n| Monday | **12** pints |\n| Tuesday | a \\| b |"
    source = (
        f"## The **Log**\n\nHe was **very** tired, ***so*** tired, and *slept*.\n\n{table}\n\n```\na ** b **\n```\n"
    )
    document = text(source, name="log.md")
    assert titles(document) == ["The Log"]
    assert texts(document) == [
        "He was very tired, *so* tired, and *slept*.",
        "Day\tOil",
        "Monday\t12 pints",
        "Tuesday\ta | b",
        "```\na ** b **\n```",
    ]


def test_each_message_of_a_chat_with_tabs_is_a_paragraph():
    lines = [f"10:{n:02}\t{'花子' if n % 2 else '太郎'}\t海は静かです {n}" for n in range(12)]
    assert texts(text("\n".join(lines))) == lines
