"""Forms of plain text and Markdown: chapters without blank lines, damaged encodings, chats, verse, furigana, links."""

from __future__ import annotations

import pytest

from readagent_core.document import SpanKind
from readagent_core.loaders import load
from tests.loaders.test_beside_text import spans
from tests.loaders.test_markup_faults import notices, titles
from tests.loaders.test_text import PROSE

CHINESE = "他点亮了灯，然后在日志里写下了时间，海上的雾气慢慢散开。"
KOREAN = "그는 등불을 켜고 일지에 시간을 적었다. 바다의 안개가 천천히 걷혔다."


def texts(document) -> list[str]:
    return [p.text for p in document.paragraphs]


def opened(text: str, name: str = "a-book.txt"):
    return load(text.encode(), name)


@pytest.mark.parametrize(
    ("heads", "body"),
    [
        (["第1章 灯塔", "第2章 海雾", "第3章 归来"], CHINESE),
        (["第 1 章", "第 2 章", "第 3 章"], CHINESE),
        (["【第一章】灯塔", "【第二章】海雾", "【第三章】归来"], CHINESE),
        (["第一百二十章：灯塔", "第一百二十一章：海雾", "番外一"], CHINESE),
        (["序言", "第一章 灯塔", "后记"], CHINESE),
        (["正文 第一章 灯塔", "正文 第二章 海雾", "尾声"], CHINESE),
        (["제1장 등대", "제2장 안개", "에필로그"], KOREAN),
        (["1화 등대", "2화 안개", "3화"], KOREAN),
        (["Chapter 1: The Lamp", "Chapter 2: The Fog", "Chapter 3: The Boat"], PROSE),
        (["CHAPTER ONE", "CHAPTER TWO", "CHAPTER THREE"], PROSE),
    ],
)
def test_chapters_without_a_blank_line_are_sections_from_the_first_line_on(heads, body):
    document = opened("\n".join(f"{head}\n{body}\n{body}\n{body}" for head in heads))
    assert [title.strip("【】") for title in titles(document)] == [head.strip("【】") for head in heads]
    assert [s.start for s in document.sections] == [0, 3, 6]
    assert document.title == "a book"
    assert set(texts(document)) == {body.strip()}


def test_volumes_are_above_chapters():
    parts = ["卷一 北岸", "第一章 灯塔", "第二章 海雾", "卷二 南岸", "第三章 归来"]
    document = opened("\n".join(part if part[0] == "卷" else f"{part}\n{CHINESE}\n{CHINESE}" for part in parts))
    assert [(s.title, s.level) for s in document.sections] == [(p, 1 if p[0] == "卷" else 2) for p in parts]


def test_a_sentence_that_begins_like_a_heading_is_none():
    lines = [f"第一章里他说，{CHINESE}", CHINESE, f"第二回合开始了。{CHINESE}", CHINESE]
    assert titles(opened("\n".join(lines))) == []
    wrapped = (
        "He had read as far as the end of\nChapter 3 when the lamp went out, and\nhe did not read on that night.\n"
    )
    assert titles(opened(wrapped * 3 + "\n" + wrapped * 3)) == []


def test_acts_are_above_scenes():
    scenes = "".join(
        f"ACT {act}\n\nSCENE {scene}. A room.\n\nANN. {PROSE}\n\nBEN. {PROSE}\n\n" if scene == "I"
        else f"SCENE {scene}. A street.\n\nANN. {PROSE}\n\n"
        for act in ("I", "II") for scene in ("I", "II")
    )  # fmt: skip
    levels = [(s.title.split()[0], s.level) for s in opened(scenes).sections]
    assert levels == [("ACT", 1), ("SCENE", 2), ("SCENE", 2)] * 2


def test_the_steps_of_a_recipe_are_no_sections():
    steps = "\n\n".join(["1. Heat the oven", "2. Mix flour and milk", "3. Bake the bread"])
    document = opened(
        f"Bread\n\nFor two people, on a cold day.\n\n{steps}\n\nEat it warm, with butter, as we always did.\n"
    )
    assert titles(document) == []
    assert "3. Bake the bread" in texts(document)


@pytest.mark.parametrize(
    ("encoding", "text"), [("gb18030", CHINESE), ("cp932", "彼は灯りをともし、日誌に時刻を書いた。霧が晴れた。")]
)
def test_one_bad_byte_costs_one_character(encoding, text):
    data = bytearray("\n\n".join([text] * 200).encode(encoding))
    at = len(text.encode(encoding)) * 40
    data[at : at + 1] = b"\xff"
    document = load(bytes(data), "a.txt")
    assert sum(paragraph == text for paragraph in texts(document)) >= 197
    assert notices(document).get("undecodable", 0) <= 6


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [CHINESE, PROSE])
def test_utf_16_without_a_mark_is_read(encoding, text):
    assert texts(load("\n\n".join([text] * 3).encode(encoding), "a.txt")) == [text.strip()] * 3


def test_zeros_and_double_returns_are_no_text():
    assert texts(load(f"{PROSE}\n\n{PROSE}".encode() + b"\x00" * 400, "a.txt")) == [PROSE.strip()] * 2
    assert texts(load(b"\x00".join([b"", f"{PROSE}\n\n{PROSE}".encode(), b""]), "a.txt")) == [PROSE.strip()] * 2
    lines = "The lamp was lit at nine.\r\r\nIt burned until the morning came.\r\r\n\r\r\nThen it went out.\r\r\n"
    assert texts(opened(lines)) == texts(opened(lines.replace("\r\r\n", "\n")))


@pytest.mark.parametrize(
    "form",
    [
        "[12/03/21, 10:{n}:32] {who}: {said}",
        "12.03.2021, 10:{n} - {who}: {said}",
        "10:{n} {who}: {said}",
        "<{who}> {said}",
        "{who} 2021-03-12 10:{n}:32\n{said}",
    ],
)
def test_a_message_of_a_chat_is_a_paragraph(form):
    said = [
        "is the lamp lit?",
        "yes, since nine",
        "good\nand the boat?",
        "in the harbour",
        "then all is well",
        "good night",
    ]
    messages = [form.format(n=10 + n, who=("ann", "Ben")[n % 2], said=text) for n, text in enumerate(said)]
    assert texts(opened("\n".join(messages))) == messages


def test_many_lines_without_blank_lines_are_not_one_paragraph():
    lines = [f"Line {n} of the log says that all was quiet at the tower" + "." * (n % 3 == 0) for n in range(742)]
    document = opened("\n".join(lines))
    assert len(document.paragraphs) > 20
    assert max(p.words for p in document.paragraphs) < 600
    assert "\n".join(texts(document)) == "\n".join(lines)


def test_a_poem_of_even_lines_keeps_its_lines():
    line = "The lamp that burned above the northern bay"
    others = ["Was lit again at nine and burned till day", "And those who sailed beneath it through the night",
              "Had nothing but the beam to set them right"]  # fmt: skip
    stanza = "\n".join([line, *others])
    assert texts(opened("\n\n".join([stanza] * 6))) == [stanza] * 6


def test_furigana_are_readings_beside_their_base():
    rule = f"{'-' * 55}\n"
    head = f"題\n作者\n\n{rule}【テキスト中に現れる記号について】\n《》：ルビ\n{rule}\n"
    body = "　吾輩《わがはい》は｜灯台守《とうだいもり》の猫《ねこ》である。※［＃「木＋示」、U+67F0］《き》もある。\n\n"
    end = "　次の段落だ。\n\n底本：「本」\n"
    document = opened(head + body + end)
    assert texts(document)[0] == "吾輩は灯台守の猫である。柰もある。"
    assert [(base, gisting) for _, base, gisting, _ in spans(document, SpanKind.RUBY)] == [
        ("吾輩", "わがはい"),
        ("灯台守", "とうだいもり"),
        ("猫", "ねこ"),
        ("柰", "き"),
    ]


MARKDOWN = """---
title: The Log
author:
  - Ann Keeper
  - Ben Boat
---

[![Build](https://img.shields.io/b.svg)](https://ci.example.org) ![ok](https://img.shields.io/c.svg)

## One lamp

A lamp[^1] burned; see [the boat](#the-boat), [the **site**](https://example.org/a_(b)) or [the log][log].
It cost $\\frac{1}{2}$ of $5 and `[x](y)` is code. <!-- a remark
that is long --> ![A red boat](boat.png)

## The boat

In the harbour.[^b] See <https://example.org/c>, [`code`][log] and [nothing];
`<!--` \\[is\\] `-->` code.^[Said at `ten`.]

[^1]: Of oil,
    and of brass.

    With a second paragraph.
[^b]: At *nine*.
[log]: https://example.org/log "The log"
"""


def test_links_and_notes_of_markdown_lead_to_their_places():
    document = opened(MARKDOWN, "log.md")
    assert (document.title, document.author) == ("The Log", "Ann Keeper, Ben Boat")
    assert texts(document) == [
        "A lamp burned; see the boat, the site or the log.\nIt cost ½ of $5 and `[x](y)` is code. [A red boat]",
        "In the harbour. See https://example.org/c, `code` and [nothing];\n`<!--` [is] `-->` code.",
        "Of oil, and of brass.",
        "With a second paragraph.",
        "At *nine*.",
        "Said at `ten`.",
    ]
    assert spans(document, SpanKind.NOTE) == [(0, "", "1", 2), (1, "", "b", 4), (1, "", "3", 5)]
    assert spans(document, SpanKind.LINK) == [
        (0, "the boat", "", 1),
        (0, "the site", "https://example.org/a_(b)", None),
        (0, "the log", "https://example.org/log", None),
        (1, "https://example.org/c", "https://example.org/c", None),
        (1, "`code`", "https://example.org/log", None),
    ]
    assert spans(document, SpanKind.FORMULA)[0][1] == "½"
    assert notices(document)["badges"] == 2


def test_a_formula_between_two_dollar_signs_is_drawn_in_the_middle_of_a_line_of_its_own():
    document = opened("So $x^2$ and\n\n$$\\sum x$$\n\n\\[x_1\\]\n", "sums.md")
    drawn = [span.text for paragraph in document.paragraphs for span in paragraph.spans]
    assert ['display="block"' in formula for formula in drawn] == [False, True, True]


def test_quotations_lists_and_tags_of_markdown_are_read_as_a_browser_shows_them():
    source = (
        "> The lamp is\n> out.\n>\n> She said so.\n\n1. Take oil.\n   Pour it.\n   - slowly\n2. Light it.\n\n"
        "It was 10<sup>6</sup> feet,<br>or so; press <Enter>, AT&amp;T, 3 \\* 4 = \\(12\\) is \\( x_1 \\).\n\n"
        "<div align='center'><img src='https://shields.io/b.svg'><p>Kept <b>whole</b>.</p></div>\n\n"
        "Two lines of a paragraph\nabove a rule.\n---\nThe end[^z].\n\n[^a]: Of nothing.\n[^z]: At last.\n"
    )
    document = opened(source, "x.md")
    assert texts(document) == [
        "The lamp is\nout.",
        "She said so.",
        "1. Take oil. Pour it.\n  - slowly\n2. Light it.",
        "It was 10⁶ feet,\nor so; press <Enter>, AT&T, 3 * 4 = (12) is x₁.",
        "Kept whole.",
        "Two lines of a paragraph\nabove a rule.",
        "* * *",
        "The end.",
        "Of nothing.",
        "At last.",
    ]
    assert not titles(document)[:-1]
    assert notices(document)["badges"] == 1


def test_a_title_loses_its_badges_and_a_first_chapter_is_no_title():
    title = "# The Lamp [![Build](https://x.org/b.svg)](https://x.org) ![v](https://img.shields.io/v)"
    assert opened(f"{title}\n\nWords.\n\n## Use\n\nMore.", "readme.md").title == "The Lamp"
    chapter = opened(f"# Chapter 1\n\n{PROSE}\n", "a-book.md")
    assert (chapter.title, titles(chapter)) == ("a book", ["Chapter 1"])


def test_a_title_loses_its_tags():
    assert load(b"# <center>The *Lamps*</center>\n\nLit.\n\n## One\n\nOut.\n", "x.md").title == "The Lamps"


def test_underlined_lines_are_headings():
    text = "The Keeper's Rules\n==================\n\n1. The Lamp\n-----------\n\nLight the lamp at dusk.\n\n"
    text += "----------\n2. The Log\n----------\nWrite the hour in the log.\n\nName  Hour\n----------\nInes  nine\n"
    document = load(text.encode(), "rules.txt")
    assert document.title == "The Keeper's Rules"
    assert [section.title for section in document.sections][-2:] == ["1. The Lamp", "2. The Log"]
    assert not any("--" in p.text for p in document.paragraphs[:2])
    before = text.replace("1. The Lamp", "For all who keep it, by day and by night.\n\n1. The Lamp")
    assert load(before.encode(), "rules.txt").title == "The Keeper's Rules"


def test_the_colours_of_a_terminal_are_left_out():
    assert load(b"The lamp is \x1b[1;32mlit\x1b[0m and bright.\n", "log.txt").paragraphs[0].text == (
        "The lamp is lit and bright."
    )
