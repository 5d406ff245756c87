"""The dialog of all notes: the folder they are kept in is chosen, written and told, and a wrong template refused."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.parts.library import notes_folder
from pages.parts.shared import cached
from readagent_core.companion.marks import make_mark
from readagent_core.export.notes_folder import kept
from readagent_core.library.marks import HIGHLIGHT, Spot


def part() -> None:
    from pages.parts.library.notes_folder import draw
    from pages.parts.shared.cached import get_workspace

    draw(get_workspace())


def every_note() -> None:
    from pages.parts.library.notes import show_all_notes
    from pages.parts.shared.cached import get_workspace

    show_all_notes(get_workspace())


def test_without_a_note_the_dialog_says_how_to_make_one():
    at = AppTest.from_function(every_note, default_timeout=60).run()
    assert not at.exception
    assert at.text[0].value.startswith("No notes yet. Open a book and select some words")
    assert not at.get("download_button")


def test_the_folder_is_chosen_written_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(notes_folder.st, "rerun", lambda **options: None)  # of the dialog, which is not drawn here
    at = AppTest.from_function(part, default_timeout=60).run()
    workspace = cached.get_workspace()
    book = workspace.library.books()[0]
    document = workspace.library.document(book.id)
    workspace.library.put_mark(make_mark(document, book.id, HIGHLIGHT, Spot(1, 0), Spot(1, 9)))
    at.text_input[0].input(str(tmp_path / "gone"))
    press(at, "Keep up to date")
    assert any("is not there" in text.value for text in at.text)
    at.text_input[0].input(str(tmp_path))
    at.text_area[0].input("{{ titel }}")
    press(at, "Keep up to date")
    assert any("line 1: " in text.value for text in at.text)
    assert not workspace.settings.saved.notes_folder
    at.text_area[0].input("# {{ title }}, in short")
    press(at, "Keep up to date")
    for job in workspace.jobs.running():
        job.join(60)
    assert not kept(workspace).said
    (path,) = (path for path in tmp_path.glob("*.md"))
    assert ", in short" in path.read_text("utf-8")
    at.run()
    assert any("kept up to date · 1 book · just now" in caption.value for caption in at.caption)
    press(at, "Stop")
    assert not workspace.settings.saved.notes_folder
    at.run()
    at.checkbox[0].check()
    at.text_input[0].input(str(tmp_path / "made"))
    press(at, "Keep up to date")
    assert (tmp_path / "made").is_dir()
    assert path.exists()


def press(at: AppTest, label: str) -> None:
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception
