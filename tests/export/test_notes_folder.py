"""The folder of notes: what a person writes is never lost, whatever both sides do."""

from __future__ import annotations

import os
import random
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from readagent_core.companion.marks import make_mark
from readagent_core.connecting import connecting
from readagent_core.document import Document, Paragraph
from readagent_core.errors import ReadAgentError, SettingsError
from readagent_core.export import notes_file, notes_template
from readagent_core.export.notes_file import book_id_of, merged
from readagent_core.export.notes_folder import JOB, keep_notes, keep_up_to_date, kept, write_now
from readagent_core.export.notes_template import DEFAULT, render
from readagent_core.library.marks import NOTE, Spot
from readagent_core.settings import TeamSettings

TEXT = Document("", tuple(Paragraph(f"Paragraph {n} of a lamp that is lit and not seen.") for n in range(4)))


def add_book(library, number, title=""):
    paragraphs = (Paragraph(f"Book {number}."), *TEXT.paragraphs)
    return library.add(Document(title or f"Book {number}", paragraphs, author="A. Writer"))


def write_note(library, book_id, note, paragraph=1):
    mark = make_mark(library.document(book_id), book_id, NOTE, Spot(paragraph, 0), Spot(paragraph, 11), note=note)
    library.put_mark(mark)
    return mark


@pytest.fixture
def folder(tmp_path):
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Books").mkdir()
    return vault / "Books"


def files_of(vault):
    return {book_id_of(path.read_text("utf-8", "replace")): path for path in vault.rglob("*.md")}


def test_two_hundred_books_through_fifty_edits_on_both_sides_lose_nothing_of_a_persons_own(workspace, folder):
    library, chance, vault = workspace.library, random.Random(7), folder.parent
    books = [add_book(library, number) for number in range(200)]
    marks = {book.id: write_note(library, book.id, f"first {book.id}") for book in books}
    (folder / "Book 3.md").write_text("a note that was here before", "utf-8")
    assert not keep_notes(workspace, str(folder)).said
    own: dict[str, list[str]] = {book.id: [] for book in books}
    notes = {book.id: f"first {book.id}" for book in books}
    for edit in range(50):
        files = files_of(vault)
        for book in chance.sample(books, 4):
            path, words = files[book.id], f"own words {edit} of {book.id}"
            text = path.read_text("utf-8")
            begin, end = text.index("%% readagent:begin"), text.index("%% readagent:end %%")
            where = chance.choice(["below", "above", "property", "inside", "moved", "renamed", "line ends"])
            if where in ("moved", "renamed"):
                goal = (vault if where == "moved" else path.parent) / f"{edit} {book.id}.md"
                path.rename(goal)
                continue
            if where == "line ends":
                path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
                continue
            if where == "inside":
                at = chance.choice([n.end() for n in re.finditer("\n", text) if begin < n.start() < end])
                changed = f"{text[:at]}{words}\n{text[at:]}"
            elif where == "property":
                changed = text.replace("---\n", f"---\nmine{edit}: {words}\n", 1)
            else:
                changed = f"{text}\n{words}\n" if where == "below" else f"{text[:begin]}{words}\n\n{text[begin:]}"
            path.write_text(changed, "utf-8", newline="")
            own[book.id].append(words)
        for book in chance.sample(books, 4):
            notes[book.id] = f"note {edit} of {book.id}"
            library.put_mark(replace(marks[book.id], note=notes[book.id]))
        if edit % 5 == 4:  # a write starts a process, so several edits come before each
            assert not keep_notes(workspace, str(folder)).said
    for book in books:  # so that every file is written once more
        notes[book.id] += " again"
        library.put_mark(replace(marks[book.id], note=notes[book.id]))
    now = keep_notes(workspace, str(folder))
    assert (len(now.files), now.said) == (200, ())
    assert sum(map(len, own.values())) > 100
    files = files_of(vault)
    for book in books:
        text = files[book.id].read_text("utf-8")
        assert all(text.count(words) == 1 for words in own[book.id])
        assert text.count(notes[book.id]) == 1
    assert (folder / "Book 3.md").read_text("utf-8") == "a note that was here before"
    assert len(list(vault.rglob("*.md"))) == 201
    assert not [path for path in vault.rglob("*") if path.suffix == ".part"]


MINE = "---\ntags: [a]\n---\nAbove\n%% readagent:begin %%\n%% readagent:end %%\nBelow"


def test_only_what_is_between_the_marks_changes():
    first = merged(MINE, "Ours\n")
    assert re.fullmatch(re.escape(MINE).replace("begin\\ %%", "begin\\ [0-9a-f]{12}\\ %%\nOurs"), first), first
    assert merged(first, "Ours\n") == first
    windows = merged("\ufeff" + first.replace("\n", "\r\n"), "New\nlines")
    assert windows.startswith("\ufeff---\r\ntags")
    assert "\nNew" in windows
    assert not re.search(r"(?<!\r)\n", windows)
    typed = first.replace("Ours", "Ours\n\nMy thought.\n\nAnother.")
    moved = merged(typed, "Ours anew")
    assert moved.endswith("Ours anew\n%% readagent:end %%\n\nOurs\n\nMy thought.\n\nAnother.\n\nBelow")
    assert merged(moved, "Ours again").count("My thought.") == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: re.sub(r"%% readagent:begin \w* ?%%\n", "", text),
        lambda text: text.replace("%% readagent:end %%", ""),
        lambda text: re.sub("%%.*%%", "", text),
        lambda text: f"{text}\n%% readagent:end %%",
        lambda text: f"{text}\n{text}",
        lambda text: "%% readagent:end %%\nmine\n%% readagent:begin %%",
        lambda text: "",
    ],
)
def test_a_file_whose_marks_are_damaged_is_left_alone_and_told(workspace, folder, damage):
    with pytest.raises(ReadAgentError, match="Put them back"):
        merged(damage(merged(MINE, "Ours")), "New")
    book = add_book(workspace.library, 1)
    write_note(workspace.library, book.id, "one")
    ((written, _),) = keep_notes(workspace, str(folder)).files.values()
    (path,) = folder.glob("*.md")
    assert Path(written) == path
    text = path.read_text("utf-8")
    front, body = text[: text.index("%%")], text[text.index("%%") :]
    path.write_text(front + damage(body), "utf-8")
    write_note(workspace.library, book.id, "two", 2)
    now = keep_notes(workspace, str(folder))
    assert now.said[0].startswith("Book 1.md: its two marks are not there once each")
    assert path.read_text("utf-8") == front + damage(body)
    path.write_text(text, "utf-8")
    assert not keep_notes(workspace, str(folder)).said  # tried again, also without another change
    assert "two" in path.read_text("utf-8")


def test_a_file_of_the_persons_is_never_taken_over(workspace, folder):
    library = workspace.library
    books = [add_book(library, number, 'Same: "name"? %% readagent:begin %%') for number in range(2)]
    for book in books:
        write_note(library, book.id, "mine")
    (folder / "Same name readagent begin.md").write_bytes(b"\xff a person's")
    keep_notes(workspace, str(folder))
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"Same name readagent begin{n}.md" for n in (" 2", " 3", "")]
    assert (folder / "Same name readagent begin.md").read_bytes() == b"\xff a person's"
    path = files_of(folder)[books[0].id]
    path.write_text("all mine now", "utf-8")
    write_note(library, books[0].id, "more", 2)
    keep_notes(workspace, str(folder))
    assert path.read_text("utf-8") == "all mine now"
    assert "more" in files_of(folder)[books[0].id].read_text("utf-8")


def test_a_file_that_changes_while_it_is_written_keeps_both_changes(workspace, folder, monkeypatch):
    book = add_book(workspace.library, 1)
    write_note(workspace.library, book.id, "one")
    keep_notes(workspace, str(folder))
    (path,) = folder.glob("*.md")
    path.chmod(0o640)
    draft, times = notes_file.draft_beside, [1, 1, 0]

    def and_edit(*arguments, **options):
        if times and times.pop():
            with path.open("a") as file:
                file.write("typed just now\n")
        return draft(*arguments, **options)

    monkeypatch.setattr(notes_file, "draft_beside", and_edit)
    times.reverse()
    write_note(workspace.library, book.id, "two", 2)
    assert not keep_notes(workspace, str(folder)).said
    text = path.read_text("utf-8")
    assert text.count("typed just now") == 2
    assert "two" in text
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_is_gone_is_told_and_tried_again(workspace, folder):
    book = add_book(workspace.library, 1)
    connecting.change_settings(workspace, {"notes_folder": str(folder)})
    keep_up_to_date(workspace)
    workspace.jobs.get(JOB).join(30)
    folder.rename(folder.with_name("away"))
    write_note(workspace.library, book.id, "one")
    workspace.jobs.get(JOB).join(30)
    assert "is not there" in kept(workspace).said[0]
    assert not folder.exists()
    folder.with_name("away").rename(folder)
    workspace.library.finish(book.id, stars=4, remark="*Good*")
    workspace.jobs.get(JOB).join(30)
    assert not kept(workspace).said
    (path,) = folder.glob("*.md")
    assert "★★★★*\n\n\\*Good\\*\n\n> Paragraph 0" in path.read_text("utf-8")
    path.unlink()
    assert write_now(workspace).files
    assert not path.exists()  # a person deleted it, and nothing has changed
    write_now(workspace, all_books=True)
    assert path.exists()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which nobody can write: Linux's /proc")
def test_a_folder_in_which_nothing_can_be_written_is_told_and_tried_again(workspace, folder):
    book = add_book(workspace.library, 1)
    write_note(workspace.library, book.id, "one")
    link = folder.with_name("link")
    link.symlink_to("/proc/self")
    with pytest.raises(SettingsError, match=r"Nothing can be written in the folder .*link \("):
        keep_notes(workspace, str(link))
    link.unlink()
    link.symlink_to(folder)
    connecting.change_settings(workspace, {"notes_folder": str(link)})
    keep_up_to_date(workspace)
    workspace.jobs.get(JOB).join(30)
    (path,) = folder.glob("*.md")
    path.write_text(path.read_text("utf-8") + "mine\n", "utf-8")
    link.unlink()
    link.symlink_to("/proc/self")
    write_note(workspace.library, book.id, "two", 2)
    workspace.jobs.get(JOB).join(30)
    assert "Nothing can be written" in kept(workspace).said[0]
    assert "two" not in path.read_text("utf-8")
    link.unlink()
    link.symlink_to(folder)
    assert not write_now(workspace).said
    text = path.read_text("utf-8")
    assert ("two" in text, text.endswith("mine\n")) == (True, True)


def test_on_a_server_for_several_people_no_folder_is_written(workspace, folder):
    workspace.settings = replace(workspace.settings, team=TeamSettings(frozenset({"*"})))
    with pytest.raises(SettingsError, match="several people"):
        keep_notes(workspace, str(folder))
    workspace.settings = replace(workspace.settings, saved=replace(workspace.settings.saved, notes_folder=str(folder)))
    keep_up_to_date(workspace)
    assert workspace.jobs.get(JOB) is None


BOOK = {"title": "T", "author": "", "chapters": [], "lost": [], "finished": "", "stars": 0, "remark": ""}


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ ''.__class__ }}", "line 1: .*unsafe"),
        ("\n{{ title.__class__.__mro__[1].__subclasses__() }}", "line 2: .*unsafe"),
        ("{{ lipsum.__globals__['os'].popen('id').read() }}", "unsafe|undefined"),
        ("{{ ('{0.__class__}').format(title) }}", "unsafe"),
        ("{% include '/etc/passwd' %}", "/etc/passwd"),
        ("{{ chapters.append(1) }}", "unsafe|safely"),
        ("one\n{{ titel }}", "line 2: .*titel"),
        ("one\n\n{% if %}", "line 3"),
        ("{% for i in range(99999999) %}{% endfor %}", "[Rr]ange too big"),
        ("{{ 'a' * 10 ** 10 }}", "memory"),
        ("{% for i in range(99999) %}{{ 'a' * 99 }}{% endfor %}", "2,000,000 characters"),
        ("x" * 50_001, "50,000"),
    ],
)
def test_a_template_reaches_nothing_and_ends(template, told):
    began = time.monotonic()
    with pytest.raises(SettingsError, match=told):
        render(template, [BOOK])
    assert time.monotonic() - began < 60


def test_a_template_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(notes_template, "_LIMITS", replace(notes_template._LIMITS, seconds=0.3))
    with pytest.raises(SettingsError, match="seconds"):
        render("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", [BOOK])


def test_a_persons_own_template_writes_every_file(workspace, folder):
    book = add_book(workspace.library, 1)
    write_note(workspace.library, book.id, "a *b*\n\n%%c%%")
    own = "{% for chapter in chapters %}{% for mark in chapter.marks %}- {{ mark.note }}\n{% endfor %}{% endfor %}"
    keep_notes(workspace, str(folder), own)
    (path,) = folder.glob("*.md")
    assert "\n- a \\*b\\*\n\n&#37;&#37;c&#37;&#37;\n%% readagent:end %%\n" in path.read_text("utf-8")
    before = os.stat(path)
    keep_notes(workspace, str(folder), own, all_books=True)
    assert os.stat(path) == before  # not written where nothing has changed
    now = keep_notes(workspace, str(folder), "%% readagent:begin %%")
    assert "own marks" in now.said[0]
    assert render(DEFAULT, [BOOK]) == ["# T\n\nNothing is marked in this book yet.\n"]
