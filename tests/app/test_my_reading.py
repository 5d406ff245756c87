"""The dialogs of a person's own reading, and the question which of two places to read on from."""

from __future__ import annotations

from datetime import date, datetime

from streamlit.testing.v1 import AppTest

from pages.parts.library import my_reading
from pages.parts.read import study
from pages.parts.shared import book as current
from pages.parts.shared import cached
from pages.parts.shared.component import read
from readagent_core.companion.place import save_place
from readagent_core.companion.statistics import Day
from readagent_core.export.drawn_cover import INKS
from readagent_core.export.study import StudyCard
from readagent_core.library.vocabulary import LookedUpWord
from readagent_core.sharing import progress
from readagent_core.sharing.catalogue import file_of
from tests.answering.test_asking import a_book, a_memory, reply
from tests.fakes.model import FakeModel
from tests.sharing.test_progress import koreader


def reading() -> None:
    from pages.parts.library.my_reading import show_my_reading
    from pages.parts.shared.cached import get_workspace

    show_my_reading(get_workspace())


def finishing() -> None:
    from pages.parts.library.my_reading import finish_book
    from pages.parts.shared.cached import get_workspace

    finish_book(get_workspace(), get_workspace().library.books()[0])


def changing() -> None:
    from pages.parts.library.my_reading import change_finished
    from pages.parts.shared.cached import get_workspace

    change_finished(get_workspace(), get_workspace().library.books()[0])


def two_places() -> None:
    from pages.parts.read.two_places import draw
    from pages.parts.shared.cached import get_workspace

    draw(get_workspace(), get_workspace().library.books()[0], None)


def studying() -> None:
    import streamlit as st

    from pages.parts.read import study
    from pages.parts.shared.cached import get_workspace

    book = get_workspace().library.books()[0]
    st.session_state[study.OPENED] = book.id
    study.draw(get_workspace(), book, None)


def press(at: AppTest, label: str) -> None:
    next(button for button in at.button if button.label.startswith(label)).click().run()
    assert not at.exception


def test_a_book_is_finished_and_the_streak_is_off():
    empty = AppTest.from_function(reading, default_timeout=60).run()
    assert not empty.exception
    assert [text.value.split(".")[0] for text in empty.text] == [
        "Nothing yet",
        "No book is finished yet",
        "No words yet",
    ]
    at = AppTest.from_function(finishing, default_timeout=60).run()
    at.text_input[0].input("Well kept")
    press(at, "Save")
    library = cached.get_workspace().library
    book = library.books()[0]
    assert library.finished()[book.id].remark == "Well kept"
    library.log_reading(book.id, 0)  # opened, nothing read yet
    assert not AppTest.from_function(reading, default_timeout=60).run().exception
    library.log_reading(book.id, 500)
    at = AppTest.from_function(reading, default_timeout=60).run()
    week, lab, cover = (one.proto.body for one in at.get("html")[:3])
    assert "Read by day" in week
    assert week.count("<li>") == 7  # nothing was read before
    assert ">Books<" in lab
    assert not at.get("arrow_vega_lite_chart")  # its script is larger than the app
    shown = " ".join(text.value for text in at.text)
    assert "· Well kept" in shown
    assert "under a minute · 500 words" in shown
    titles = [button.label.replace("\\", "") for button in at.button]
    assert titles.count(f"**{book.title}**") == 2  # under Days and under Finished
    assert "small-cover" in cover
    assert all(ink in read("shared/cover.js") for pair in INKS for ink in pair)
    assert "in a row" not in shown
    at.toggle(key="streak").set_value(True).run()
    assert "1 day in a row" in " ".join(text.value for text in at.text)


def test_a_book_that_was_read_to_its_end_is_offered_as_finished():
    library = cached.get_workspace().library
    book = library.books()[0]
    library.log_reading(book.id, 500, now=datetime(2026, 3, 2, 12).timestamp())
    library.set_furthest(book.id, len(library.document(book.id).paragraphs))
    at = AppTest.from_function(reading, default_timeout=60).run()
    assert "Read to its end, 2 March 2026" in {text.value for text in at.text}
    press(at, "Mark as finished")
    assert library.finished()[book.id].day == date(2026, 3, 2)
    assert [b.label for b in at.button if b.label in ("Change", "Mark as finished")] == ["Change"]


def test_a_change_of_a_finished_book_leads_back_to_the_list():
    library = cached.get_workspace().library
    library.finish(library.books()[0].id, day=date(2026, 3, 2))
    at = AppTest.from_function(changing, default_timeout=60).run()
    press(at, "Not finished")
    assert not library.finished()
    assert (at.session_state[current.AGAIN], at.session_state[my_reading.TAB]) == (current.MY_READING, "Finished")


def test_a_word_has_its_meaning_and_leads_to_its_place():
    library = cached.get_workspace().library
    book = library.books()[0]
    title = library.document(book.id).sections[0].title
    at = library.document(book.id).sections[0].start
    library.put_word(LookedUpWord(book.id, "lamp", "Lamps", "Lamps <burned>.", at, 0, "a thing\nthat", "Small"))
    screen = AppTest.from_function(reading, default_timeout=60).run()
    assert not screen.exception
    (shown,) = (one.proto.body for one in screen.get("html") if "looked-up" in one.proto.body)
    assert "<b>lamp</b> a thing</p><p>“<mark>Lamps</mark> &lt;burned&gt;.”" in shown
    assert any(title in button.label.replace("\\", "") for button in screen.button)
    (word,) = library.words()
    press(screen, "Remove")
    assert library.words() == []
    assert "Removed lamp." in {text.value for text in screen.text}
    press(screen, "Undo")
    assert library.words() == [word]


def test_a_card_is_left_out_of_the_deck_and_stays_out():
    library = cached.get_workspace().library
    book = library.books()[0]
    for word in ("lamp", "First one sank"):
        library.put_word(LookedUpWord(book.id, word, word, "A sentence.", 0, 0, "a thing", "Small"))
    at = AppTest.from_function(studying, default_timeout=60).run()
    assert any("2 cards" in button.label for button in at.get("download_button"))
    next(box for box in at.checkbox if box.label == "First one sank").uncheck().run()
    assert not at.exception
    again = AppTest.from_function(studying, default_timeout=60).run()
    assert {box.label: box.value for box in again.checkbox} == {"lamp": True, "First one sank": False}
    for shown in (at, again):
        assert any("1 card" in button.label for button in shown.get("download_button"))


def test_study_opens_where_there_are_cards_and_offers_to_save_them(monkeypatch):
    people = [StudyCard("Nora", "She rows.", 1)]
    monkeypatch.setattr(study, "cards_of", lambda *_: {study.WORDS: [], study.QUESTIONS: [], study.PEOPLE: people})
    at = AppTest.from_function(studying, default_timeout=60).run()
    assert at.get("tab_container")[0].proto.tab_container.default_tab_index == 2
    assert any("1 card" in button.label for button in at.get("download_button"))


def test_where_there_are_no_cards_study_says_what_makes_them_and_leads_there():
    at = AppTest.from_function(studying, default_timeout=60).run()
    assert not at.exception
    assert not at.get("tab_container")  # no empty tabs
    assert [text.value.split(". ")[0] for text in at.text] == [study.WORDS, study.QUESTIONS, study.PEOPLE]
    assert [button.label for button in at.button] == [study.CONNECT]  # the built-in reader makes neither


def test_study_leads_from_gists_to_notes(open_workspace):
    workspace = open_workspace(model=FakeModel(reply))
    _, gisting = a_book(workspace, a_memory())
    assert study.way_to(workspace, None, study.PEOPLE) == study.GISTS
    assert study.way_to(workspace, gisting, study.PEOPLE) == study.NOTES
    assert study.way_to(workspace, gisting, study.QUESTIONS) == ""  # Check yourself stands in the text


def test_the_days_of_a_month_have_a_scale():
    days = [Day(date(2026, 3, 1 + n), 100, 60.0 * n) for n in range(30)]
    drawn = my_reading._bars([*days, Day(date(2026, 3, 31), 100, 37 * 60.0)])
    assert "<b>40 min</b><b>20 min</b>" in drawn


def test_two_places_are_asked_about_and_one_is_chosen():
    at = AppTest.from_function(two_places, default_timeout=60).run()
    assert not at.button
    library = cached.get_workspace().library
    book = library.books()[0]
    document = library.document(book.id)
    save_place(library, document, book.id, 3, 0)
    progress.put(library, koreader(file_of(library, book)[0], "/body/p[9].0", 0.8, "Kobo Clara"))
    at.run()
    assert any("80 % of the book in Kobo Clara" in text.value for text in at.text)
    press(at, "Go to 80 %")
    assert not at.button
    assert library.position(book.id).paragraph > 3
