"""Plain text and Markdown: layouts, encodings, headings, title and author, what is left out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core.loaders import load
from readagent_core.loaders.decode import decode
from tests.loaders.making import NAMES, SAMPLES, sample

PROSE = (
    "It was a bright cold day in April, and the clocks were striking thirteen when Winston came home at last, his chin "
    "nuzzled into his breast in an effort to escape the vile wind of that whole long season by the well-known sea."
)


def texts(data: bytes | str, name: str = "book.txt") -> list[str]:
    data = data.encode() if isinstance(data, str) else data
    return [p.text for p in load(data, name).paragraphs]


def wrapped(text: str, width: int = 60, indent: str = "") -> str:
    lines, held = [], indent
    for word in text.split():
        if len(held) + 1 + len(word) > width:
            lines.append(held)
            held = word
        else:
            held = f"{held} {word}" if held.strip() else f"{held}{word}"
    return "\n".join([*lines, held])


@pytest.mark.parametrize("name", NAMES)
def test_recorded_pages_join_to_the_samples_paragraphs(name):
    recording = json.loads((SAMPLES / f"{name}.reading.json").read_text())
    recorded = [text for page in recording["pages"] for text in page["text"].split("\n\n")]
    own = [p.text for p in sample(name).paragraphs]
    assert own[-len(recorded) :] == recorded
    before = own[: -len(recorded)]  # the minutes open with who was there, which the recording left out
    assert all(text.startswith("*") for text in before)


def test_markdown_title_author_and_sections():
    document = load(
        b"# The Title\n\n*by A. Writer*\n\nBefore.\n\n## One\n\nText.\n\n### Deep\n\nMore.\n\n* * *\n", "x.md"
    )
    assert (document.title, document.author) == ("The Title", "A. Writer")
    assert [(s.title, s.start, s.level) for s in document.sections] == [("One", 1, 1), ("Deep", 2, 2)]
    assert [p.text for p in document.paragraphs] == ["Before.", "Text.", "More.", "* * *"]


def test_markdown_front_matter_and_underlined_headings():
    document = load(
        b"---\ntitle: T\nauthor: 'W'\nlang: de\n---\n\nEins\n====\n\nText.\n\nZwei\n----\n\nMehr.\n", "x.md"
    )
    assert (document.title, document.author, document.language) == ("T", "W", "de")
    assert [s.title for s in document.sections] == ["Eins", "Zwei"]


def test_markdown_code_and_lists_keep_their_lines():
    document = load(b"a\n\n```\n# no heading\n\nx = 1\n```\n\n- one\n- two\n", "x.md")
    assert [p.text for p in document.paragraphs] == ["a", "```\n# no heading\n\nx = 1\n```", "- one\n- two"]
    assert not document.sections


def test_hard_wrapped_lines_become_paragraphs():
    assert texts("\n\n".join([wrapped(PROSE)] * 3)) == [PROSE] * 3


def test_wrapped_lines_are_joined_although_a_few_lines_are_glued_together():
    glued = (
        "The bell stopped.       " + "He went down to the door and looked for the boat, " * 2 + "and there was none."
    )
    read = texts("\n\n".join([wrapped(PROSE)] * 14 + [f"{glued}\n{wrapped(PROSE)}"] * 2))
    assert read[:14] == [PROSE] * 14
    assert not any("\n" in text for text in read)


def test_indents_begin_paragraphs_where_there_are_no_blank_lines():
    assert texts("\n".join([wrapped(PROSE, indent="    ")] * 4)) == [PROSE] * 4
    hanging = wrapped(PROSE, indent="    ").replace("\n", "\n    ", 1)  # its second line is indented too
    assert texts("\n".join([wrapped(PROSE, indent="    ")] * 4 + [hanging])) == [PROSE] * 5


def test_a_scene_that_lost_its_blank_line_begins_where_the_line_is_indented_as_paragraphs_are():
    def indented(text):
        return wrapped(text, indent="   ").replace("\n", "\n ")

    verse = "   The lamp is out,\n     the keeper gone;\n   the sea is loud,\n     the night is long."
    glued = f"{indented(PROSE)}\n{indented(PROSE)}"
    text = "\n\n".join([indented(PROSE)] * 3 + [verse, glued, indented(PROSE)])
    lines = [line.strip() for line in verse.splitlines()]
    assert texts(text) == [PROSE] * 3 + ["\n".join(lines)] + [PROSE] * 3
    assert texts(text.replace(f".\n   {PROSE[:20]}", f",\n   {PROSE[:20]}"))[4].count(PROSE[:20]) == 2  # mid-sentence


def test_one_paragraph_a_line():
    lines = [PROSE, "A second one, shorter.", PROSE + " And more.", "«Last.»"]
    assert texts("\n".join(lines)) == lines


def test_verse_keeps_its_lines_among_wrapped_prose():
    verse = "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye,"
    assert texts(f"{wrapped(PROSE)}\n\n{verse}\n\n{wrapped(PROSE)}") == [PROSE, verse, PROSE]


def test_lists_and_tables_keep_their_lines():
    items = "- the first of them\n- the second of them"
    table = "Name      Age     Town\nAnna       31     Ulm\nBert       40     Kiel"
    assert texts("\n\n".join([wrapped(PROSE), items, table])) == [PROSE, items, table]


def test_speakers_of_a_transcript_begin_paragraphs():
    talk = [f"{who}: {PROSE}" for who in ("CHAIR", "CLERK", "CHAIR", "CLERK", "CHAIR", "CLERK")]
    assert texts("\n".join(wrapped(t) for t in talk)) == talk


def test_a_speakers_name_above_the_speech_stays_a_line():
    pieces = texts("\n\n".join([wrapped(PROSE), f"HAMLET\n{wrapped(PROSE)}", wrapped(PROSE)]))
    assert pieces[1] == f"HAMLET\n{PROSE}"


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        (("CHAPTER I. Down the Hole", "CHAPTER II. The Pool"), ["CHAPTER I. Down the Hole", "CHAPTER II. The Pool"]),
        (("Chapter One", "Chapter Two"), ["Chapter One", "Chapter Two"]),
        (("I", "II", "III"), ["I", "II", "III"]),
        (("1.", "2."), ["1.", "2."]),
        (("第一章　雪", "第二章　月"), ["第一章 雪", "第二章 月"]),
        (("Prologue", "Letter 1", "Epilogue"), ["Prologue", "Letter 1", "Epilogue"]),
        (("ACT I", "SCENE II. A room"), ["ACT I", "SCENE II. A room"]),
    ],
)
def test_chapter_like_lines_are_sections(lines, titles):
    document = load("\n\n".join(f"{line}\n\n{PROSE}" for line in lines).encode(), "x.txt")
    assert [s.title for s in document.sections] == titles
    assert [p.text for p in document.paragraphs] == [PROSE] * len(lines)


@pytest.mark.parametrize(
    ("lines", "levels"),
    [(("ETYMOLOGY", "Chapter 1", "Chapter 2"), [1, 1, 1]), (("PART I", "Chapter 1", "Epilogue"), [1, 2, 1])],
)
def test_a_heading_without_a_number_holds_no_chapters(lines, levels):
    document = load("\n\n".join(f"{line}\n\n{PROSE}" for line in lines).encode(), "x.txt")
    assert [s.level for s in document.sections] == levels


@pytest.mark.parametrize(
    "line", ["Chapter 5 of the book is about whales.", "Part of me left.", "I", "Act now, he said"]
)
def test_sentences_are_no_headings(line):
    assert not load(f"{PROSE}\n\n{line}\n\n{PROSE}".encode(), "x.txt").sections


def test_a_table_of_contents_is_no_row_of_empty_chapters():
    contents = "\n\n".join(f"CHAPTER {n}. Title {n}" for n in range(1, 6))
    body = "\n\n".join(f"CHAPTER {n}. Title {n}\n\n{PROSE}" for n in range(1, 6))
    document = load(f"CONTENTS\n\n{contents}\n\n{body}".encode(), "x.txt")
    assert [s.title for s in document.sections] == [f"CHAPTER {n}. Title {n}" for n in range(1, 6)]
    assert [p.text for p in document.paragraphs].count(PROSE) == 5
    assert [(w.code, w.count) for w in document.warnings] == [("contents", 5)]  # left out, with a notice


@pytest.mark.parametrize(
    ("named", "text", "language"),
    [
        ("ja_JP", "必ず、かの邪智暴虐の王を除かなければならぬと決意した。" * 3, "ja-JP"),
        ("en_GB", PROSE, "en-GB"),
        ("English", PROSE, "en"),
        ("ja_JP", PROSE, "en"),  # the text is in another for certain
    ],
)
def test_a_language_is_a_tag_that_the_text_does_not_contradict_or_is_detected(named, text, language):
    document = load(f"---\ntitle: X\nlanguage: {named}\n---\n\n{text}".encode(), "x.md")
    assert document.language == language


def test_gutenberg_is_left_out_with_a_notice():
    text = (
        "The Project Gutenberg EBook of X, by Y\n\nTitle: The Book\n\nAuthor: A. Y.\n\nLanguage: English\n\n"
        "*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n\nProduced by Someone\n\n\n"
        f"{PROSE}\n\nEnd of the Project Gutenberg EBook of X\n\n*** END OF THIS PROJECT GUTENBERG EBOOK ***\nLicence"
    )
    document = load(text.encode(), "x.txt")
    assert [p.text for p in document.paragraphs] == [PROSE]
    assert (document.title, document.author, document.language) == ("The Book", "A. Y.", "en")
    notice = document.warnings[0]
    assert notice.code == "gutenberg"
    assert notice.count > 20
    joined = f"{text}\n\n{text.replace(PROSE, PROSE.upper())}"
    document = load(joined.encode(), "several.txt")
    assert [p.text for p in document.paragraphs] == [PROSE, PROSE.upper()]
    assert document.title == "The Book"
    behind = load(f"{text}\n\n{'Another tale, put behind the licence. ' * 2000}".encode(), "x.txt")
    assert behind.words > 10_000


JAPANESE = "メロスは激怒した。必ず、かの邪智暴虐の王を除かなければならぬと決意した。メロスには政治がわからぬ。" * 4
CASES = {
    "shift_jis": JAPANESE,
    "euc_jp": JAPANESE,
    "iso2022_jp": JAPANESE,
    "utf-16": JAPANESE,
    "utf-16-le": "A plain English text without its mark, long enough to be told. " * 5,
    "utf-8-sig": "Grüße aus Köln",
    "latin-1": "Der Müller fährt über die Brücke nach Österreich und grüßt die schöne Müllerin. Für Mädchen. " * 5,
    "cp1252": "“Well,” said she — “I’m here.” The café is near the château and the naïve waiter. " * 6,
    "cp1251": "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. " * 4,
    "big5": "老漁夫清晨走到海邊，海面平靜，水上籠罩著霧。村裡沒有人知道他為什麼每天都來這裡。" * 6,
    "cp949": "늙은 어부는 아침 일찍 바닷가로 나갔다. 바다는 고요했고 물 위에는 안개가 끼어 있었다. " * 6,
    "cp1253": "Ο γέρος ψαράς πήγε νωρίς το πρωί στην ακτή και η θάλασσα ήταν ήρεμη. " * 6,
    "cp1255": "הדייג הזקן יצא אל החוף בשעת בוקר מוקדמת. הים היה שקט ומעל המים עמד ערפל. " * 6,
    "gb18030": "道可道，非常道；名可名，非常名。无名天地之始，有名万物之母。故常无欲，以观其妙。" * 6,
}


@pytest.mark.parametrize("encoding", CASES)
def test_encodings(encoding):
    text = CASES[encoding].strip()
    document = load(text.encode(encoding), "x.txt")
    assert document.paragraphs[0].text == text


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "cp1251", "gb18030", "big5", "cp949", "cp1253", "cp1255"])
def test_one_wrong_byte_is_one_wrong_character(encoding):
    text = CASES[encoding].strip()
    document = load(f"{text}\n\n".encode(encoding) + b"\xff\n\n" + f"{text}\n".encode(encoding) * 2, "x.txt")
    assert document.paragraphs[0].text == text
    assert document.text().count("\ufffd") < 2


@pytest.mark.parametrize(
    ("encodings", "text"),
    [
        ("cp850 mac_roman", "Der Kaufmann kündigt den Vertrag zum nächsten möglichen Termin."),
        ("cp850", "Ingredientes: tres huevos, azúcar, limón y un poco de canela."),
        ("cp1250 iso8859_2 cp852", "Köszönöm a levelét. Jövő héten válaszolok, addig is türelmét kérem."),
        ("cp1250 iso8859_2", "Poštovani gospodine, hvala Vam na pismu. Odgovor šaljem sljedeći tjedan."),
        ("cp850 mac_roman", "Bästa herr Åström! Tack för brevet. Jag svarar nästa vecka."),
        ("cp1257", "Šešios žąsys su šešiais žąsyčiais ėjo per kiemą."),
        ("koi8_r cp866 iso8859_5", "Ночь над морем. Старая лодка лежала на берегу."),
        ("cp874", "เรียนคุณสมชาย ขอบคุณสำหรับจดหมาย"),
        ("cp949", "존경하는 선생님, 편지 잘 받았습니다."),
        ("mac_roman", "“Dear Mr. O’Brien — I’ll answer next week.”"),
        ("cp437", "╔════════╗\n║ README ║\n╚════════╝\nUnpack the files to drive C and run SETUP."),
    ],
)
def test_short_texts_in_old_encodings(encodings, text):
    for encoding in encodings.split():
        assert decode(text.encode(encoding))[0] == text
        declared = f"Character set encoding: {encoding}\n{text}"
        assert decode(declared.encode(encoding)) == (declared, [])


def test_an_encoding_that_fits_nearly_as_well_is_told():
    long, short = (
        load(text.encode("mac_roman"), "x.txt") for text in (f"Grüße, schöne Wörter. {PROSE}" * 9, "Öl, daß")
    )
    told = [next(w.message for w in document.warnings if w.code == "encoding") for document in (long, short)]
    assert ["nearly as well" in message for message in told] == [False, True]


def test_what_cannot_be_decoded_is_counted():
    document = load("Grüße und Küsse, schöne Wörter. ".encode() * 20 + b"\xff\xfe \xff", "x.txt")
    notice = next(w for w in document.warnings if w.code == "undecodable")
    assert notice.count == 3
    assert document.paragraphs[0].text.count("\ufffd") == 3


def test_readings_of_a_novel_from_the_web_stand_beside_their_bases():
    document = load(
        "　彼は｜黒き刃《ダークブレード》を抜いた。漁師《りょうし》は『《剣聖》の物語』を読む。".encode(), "x.txt"
    )
    assert document.text() == "彼は黒き刃を抜いた。漁師は『《剣聖》の物語』を読む。"
    assert [span.text for p in document.paragraphs for span in p.spans] == ["ダークブレード", "りょうし"]


def test_aozora_furigana_is_read_once():
    text = (
        "走れメロス\n太宰治\n\n-------------------------------------------------------\n"
        "【テキスト中に現れる記号について】\n\n《》：ルビ\n-------------------------------------------------------\n\n"
        "　メロスは邪智暴虐《じゃちぼうぎゃく》の王を疲労｜困憊《こんぱい》させた。\n［＃地から１字上げ］終り。\n\n"
        "底本：「太宰治全集3」\n青空文庫\n"
    )
    document = load(text.encode("shift_jis"), "1567.txt")
    assert [p.text for p in document.paragraphs] == ["メロスは邪智暴虐の王を疲労困憊させた。", "終り。"]
    assert (document.title, document.author, document.language) == ("走れメロス", "太宰治", "ja")


@settings(max_examples=60, derandomize=True)
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=80), max_size=12
    )
)
def test_no_word_of_a_text_is_lost(lines):
    text = "\n\n".join(["First line of it, so that there is one.", *lines])
    document = load(text.encode(), "x.txt")
    kept = letters_of(document.title + document.author + document.text())
    for word in text.split():
        assert letters_of(word) in kept


def letters_of(text: str) -> str:
    return "".join(c for c in text if c.isalnum())
