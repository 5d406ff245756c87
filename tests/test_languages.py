"""A language is detected from the text where the file does not name it."""

from __future__ import annotations

import pytest

from readagent_core.languages import certain_language, detect_language

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


@pytest.mark.parametrize("language", SENTENCES)
def test_detect_language(language):
    assert detect_language(SENTENCES[language]) == language


@pytest.mark.parametrize("text", ["", "12 34", "Xyzzy plugh", "* * *"])
def test_english_where_there_is_no_evidence(text):
    assert detect_language(text) == "en"


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
