"""Words are counted and split in any script and no text is lost; the language of a text is detected."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagent_core import words
from readagent_core.languages import certain_language, detect_language, shows_language
from readagent_core.words import quoted

TEXT = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcXYZ.,!?\"' \n'’“”0159"),
        st.sampled_from("雪守駅の時計は、。「」！ไทยລາວကខ"),
        st.characters(),
    ),
    max_size=400,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("  \n ", 0),
        ("One two  three.\nFour", 4),
        ("雪守駅の時計は、三分進んでいる。", 8),  # 16 characters, two a word
        ("駅", 1),
        ("2026 年の雪", 3),  # one spaced word and four characters
        ("Der Zug fährt – pünktlich.", 5),
        ("สวัสดีครับ", 3),  # 10 characters, four a word, rounded up
        ("안녕하세요 여러분", 2),  # Korean spaces its words
    ],
)
def test_count(text, expected):
    assert words.count_words(text) == expected


ODD_SPACES = "\x1c\x85\xa0\u2003\u2028"


@given(st.text(st.characters(max_codepoint=0x24F) | st.sampled_from(f"{ODD_SPACES}“”’—…\ud800😀"), max_size=40))
def test_spaced_scripts_count_what_is_between_white_space(text):
    assert words.count_words(text) == len(text.split())


@given(st.text(st.sampled_from(f"ab. {ODD_SPACES}“é—雪駅。สวัส안😀\ud800"), max_size=40))
def test_non_ascii_keeps_order(text):
    assert words.non_ascii(text) == "".join(c for c in text if ord(c) > 127)


@pytest.mark.parametrize(
    ("text", "expected"), [("“Schnee”, sagte er.", False), ("雪が降る snow。", True), ("a snow 雪", False), ("", False)]
)
def test_is_unspaced(text, expected):
    assert words.is_unspaced(text) == expected
    assert not words.is_right_to_left(text)


def test_right_to_left():
    assert words.is_right_to_left("مرحبا بالعالم abc")
    assert not words.is_right_to_left("hello مر")
    assert not words.is_right_to_left("hello مرحب")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Vane left. He was late.", ["Mr. Vane left. ", "He was late."]),
        ('"Is it lit?" she said. "No."', ['"Is it lit?" she said. ', '"No."']),
        ("J. R. Smith came at 3.30 p.m. today. Then went.", ["J. R. Smith came at 3.30 p.m. today. ", "Then went."]),
        ("雪が降った。駅は静かだ。", ["雪が降った。", "駅は静かだ。"]),
        ("「いいですか。」と言った。", ["「いいですか。」", "と言った。"]),
    ],
)
def test_sentences(text, expected):
    assert words.sentences(text) == expected


@settings(max_examples=300)
@given(TEXT, st.integers(0, 30))
def test_splitting_loses_nothing_and_pieces_and_clips_are_within_the_limit(text, limit):
    assert "".join(words.sentences(text)) == text
    pieces = words.split_long(text, limit + 1)
    assert "".join(pieces) == text
    assert all(words.count_words(piece) <= limit + 1 for piece in pieces)
    assert words.count_words(words.first_words(text, limit)) <= limit
    assert words.count_words(words.last_words(text, limit)) <= limit


def test_clips_do_not_end_inside_a_word_and_terms_pair_up_unspaced_characters():
    assert words.first_words("alpha beta gamma delta", 2) == "alpha beta"
    assert words.last_words("alpha beta gamma delta", 2) == "gamma delta"
    assert words.terms("It's 雪守駅") == ["it's", "雪守", "守駅"]


def test_sentences_do_not_mix_between_threads():
    texts = [" ".join(f"Mr. Vane number {n} rang bell {k}. It was {k} p.m. then." for k in range(30)) for n in range(8)]
    alone = [words.sentences(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            words._segmented.cache_clear()
            assert list(pool.map(words.sentences, texts)) == alone


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [([], [(0, 0)]), ([3], [(0, 1)]), ([2, 2, 2], [(0, 2), (2, 3)]), ([1, 9, 1], [(0, 1), (1, 2), (2, 3)])],
)
def test_items_are_grouped_up_to_a_limit_of_words(sizes, runs):
    assert words.group_by_words(sizes, 4) == runs


SENTENCES = {
    "en": "It was the best of times, it was the worst of times, and the season of light was on its way to us.",
    "de": "Es war einmal ein Müller, der war arm, aber er hatte eine schöne Tochter, und die war auch klug.",
    "fr": "Longtemps, je me suis couché de bonne heure, et les yeux se fermaient si vite que je n'avais pas le temps.",
    "es": "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un hidalgo.",
    "it": "Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, che la diritta via era smarrita.",
    "nl": "Het was een mooie dag en de man ging met zijn hond naar het bos, maar er was niet veel te zien.",
    "sv": "Det var en gång en flicka som bodde i en liten by, och hon hade inte någon bror att leka med.",
    "ru": "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему и не как все.",
    "ja": "メロスは激怒した。必ず、かの邪智暴虐の王を除かなければならぬと決意した。",
    "zh": "道可道，非常道；名可名，非常名。这个人们说来会。",
    "zh-Hant": "道可道，非常道；這個人們說來會對為過發後裡麼東車。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق",
    "he": "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια",
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((text, True) for text in SENTENCES.values()),
        *((text, False) for text in ("", "12 34", "ooo OOO o0o", "Die Lampe", "c: 444 e: k@x.net", "A B C D O U W Z")),
    ],
)
def test_a_language_is_shown_by_several_of_its_words(text, shown):
    assert shows_language(text, detect_language(text)) is shown


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *((text, name) for name, text in SENTENCES.items()),
        ("Nakon što su ga vidjeli, bio je u gradu i nije im htio reći kako je došao ili tko je s njim bio.", "hr"),
        (
            "إشعار عدم التمییز من مكتب الصحة والخدمات الإنسانیة، یتوافق مع قوانین الحقوق المدنیة ولا یمیز بین الناس",
            "ar",
        ),
        ("Read it https://news.example.com/?qs=e.com.o.de.a.com.e.o " * 9 + "here and now", "en"),
        *((text, "en") for text in ("", "12 34", "Xyzzy plugh", "* * *")),
    ],
)
def test_detect_language(text, language):
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("She counted the steps as her father had done, and at the top of the light she found it broken.", "English"),
        ("Der Turm war alt und sie ging nicht gern auf die Treppe, die er ihr mit dem Licht zeigte.", "German"),
        ("La maison est dans la rue et elle ne sort pas avec les enfants du village au matin.", "French"),
        ("雪が降る。駅は静かだ。", "East Asian"),
        ("Лампа горела всю ночь.", "Cyrillic"),
        ("1234 !!", ""),
        ("Ok.", ""),
    ],
)
def test_the_name_of_a_language_is_given_only_where_it_is_certain(text, language):
    assert certain_language(text) == language


def test_a_length_is_in_the_units_of_the_script() -> None:
    assert words.length_of(10_309, "en") == "10,309 words"
    assert words.length_of(1, "") == "1 word"
    assert words.length_of(words.count_words("雪の駅で" * 100), "ja") == "400 characters"
    assert words.length_of(words.count_words("ภาษาไทย " * 8), "th-TH") == "56 characters"


@pytest.mark.parametrize(
    ("told", "marked"),
    [
        ("No one came.", "“No one came.”"),
        ("“No one came.”", "“No one came.”"),
        ("“Where?” he said. “Here.”", "“‘Where?’ he said. ‘Here.’”"),
    ],
)
def test_words_with_quotation_marks_of_their_own_get_no_double_ones(told: str, marked: str):
    assert quoted(told) == marked
