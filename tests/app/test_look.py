"""The look of the text: a phone's sizes and layout are its own, letters and colours are shared."""

from __future__ import annotations

from pathlib import Path

from pages.parts.read.look import change_look, change_view, look_in, view_in
from readagent_core.library import Library

PHONE = " phone"


def test_a_phone_has_sizes_of_its_own(tmp_path: Path) -> None:
    library = Library(tmp_path)
    change_look(library, "b1", "", {"size": 20, "flow": "spread"})
    assert look_in(library, "b1", PHONE)["size"] == 20  # until it is changed there
    change_look(library, "b1", PHONE, {"size": 16, "flow": "pages"})
    change_look(library, "b1", PHONE, {"theme": "dark", "vertical": "on"})
    computer, phone = look_in(library, "b1", ""), look_in(library, "b1", PHONE)
    assert (computer["size"], computer["flow"], computer["theme"]) == (20, "spread", "dark")
    assert (phone["size"], phone["flow"], phone["theme"]) == (16, "pages", "dark")
    assert (computer["vertical"], phone["vertical"], look_in(library, "b2", "")["vertical"]) == ("on", "on", "book")
    change_look(library, "b1", "", {"size": 22})
    assert look_in(library, "b1", PHONE)["size"] == 16
    library.close()


def test_gists_alone_are_of_the_book_they_were_chosen_in(tmp_path: Path) -> None:
    library = Library(tmp_path)
    change_view(library, "b1", "", "chapters")
    assert [view_in(library, book, "") for book in ("b1", "b2")] == ["chapters", "both"]
    change_view(library, "b1", "", "text")
    assert [view_in(library, book, "") for book in ("b1", "b2")] == ["text", "text"]
    assert view_in(library, "b1", PHONE) == "both"
    library.close()
