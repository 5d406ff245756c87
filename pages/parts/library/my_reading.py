"""The dialogs of the library about a person's own reading: days, finished books, words that were looked up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from html import escape

import streamlit as st

from pages.parts.shared import book as current
from pages.parts.shared import covers, shell
from pages.parts.shared.gisting_status import span
from readagent_core.companion.statistics import DAYS, WORDS_A_PAGE, Day, Statistics, statistics_of
from readagent_core.errors import ReadAgentError
from readagent_core.export.reading import reading_csv, words_csv
from readagent_core.library.reading_log import Finished
from readagent_core.library.records import Book
from readagent_core.library.vocabulary import LookedUpWord
from readagent_core.text_files import without_emphasis
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

SHOWN = 200  # words; the file has all
TAB = "my_reading_tab"  # that led to a book, in the session
REMOVED = "removed_words"  # while the dialog is open, in the session
_SCALES = (10, 20, 30, 40, 60, 120, 240, 360, 480, 720, 1440)  # minutes at the top of the chart
MOST_BOOKS = 12  # of those read lately


@st.dialog("My reading", width="large")
def show_my_reading(workspace: Workspace) -> None:
    """Show what was read by day, the finished books and the words. It stays on this computer."""
    days, done, words = st.tabs(["Days", "Finished", "Words"], default=st.session_state.get(TAB))
    statistics = statistics_of(workspace.library)
    with days:
        _days(workspace, statistics)
    with done:
        _finished(workspace, statistics)
    with words:
        _words(workspace)


def _days(workspace: Workspace, statistics: Statistics) -> None:
    if not statistics.days:
        draw_nothing(
            "calendar_month",
            "Nothing yet. Open a book and read: here are then the time and pages of each day, on this computer only.",
        )
        return
    today, earlier = statistics.days[-1], any(day.seconds for day in statistics.days[:-1])
    with st.container(horizontal=True):
        st.metric("Today", _time(today.seconds), border=True)
        if earlier:
            st.metric(f"In {DAYS} days", _time(statistics.seconds), border=True)
        st.metric("Pages of 250 words", f"{statistics.words / WORDS_A_PAGE:,.0f}", border=True)
        if statistics.pace:
            st.metric("Words a minute", f"{statistics.pace:,.0f}", border=True)
    week = not any(day.seconds for day in statistics.days[:-7])
    st.html(_bars(statistics.days[-7:] if week else statistics.days))
    _books(workspace, statistics.days[0].day)
    if statistics.left:
        st.caption("At this pace the books you are in take:")
        for book, seconds in statistics.left[:8]:
            st.text(f"{span(seconds)}  {book.title}")
    counted = workspace.library.preference("reading_streak", False)
    wanted = st.toggle("Count days in a row", counted, key="streak")
    if wanted != counted:
        workspace.library.set_preference("reading_streak", wanted)
    if wanted:
        st.text(f"{count_of(statistics.streak, 'day')} in a row")
    st.download_button(
        "Export as CSV", reading_csv(workspace.library), file_name="my-reading.csv", mime="text/csv", on_click="ignore"
    )


def _time(seconds: float) -> str:
    return span(seconds) if seconds >= 60 else "under a minute"


def _books(workspace: Workspace, first: date) -> None:
    """A line for each book that was read since, with how long and how much, the one read longest first."""
    seconds: dict[str, float] = defaultdict(float)
    words: dict[str, int] = defaultdict(int)
    for one in workspace.library.reading_log():
        if one.day >= first:
            seconds[one.book_id] += one.seconds
            words[one.book_id] += one.words
    books = {book.id: book for book in workspace.library.books()}
    longest = sorted(books.keys() & seconds.keys(), key=lambda key: -seconds[key])
    told = [key for key in longest if seconds[key] >= 60 or words[key]][:MOST_BOOKS]
    if told:
        st.html('<p class="lab">Books</p>')
    for key in told:
        count = count_of(words[key], "word") if words[key] else ""
        _book_row(workspace, books[key], " · ".join(filter(None, (_time(seconds[key]), count))), tab="Days")


def _bars(days: Sequence[Day]) -> str:
    """A bar for each day, as high as it was long; a chart of Streamlit takes seconds to be fetched."""
    most = max(one.seconds for one in days)
    if len(days) == 7:
        columns = "".join(
            f"<li><span>{_time(one.seconds) if one.seconds else ''}</span>"
            f'<i style="height:{90 * one.seconds / (most or 1):.0f}px"></i>'
            f"<span>{'Today' if one is days[-1] else format(one.day, '%a')}</span></li>"
            for one in days
        )
        return f'<ul class="week" aria-label="Read by day">{columns}</ul>'
    top = next((60 * step for step in _SCALES if 60 * step >= most), most)
    scale = "".join(f"<b>{span(share)}</b>" for share in (top, top / 2))
    bars = "".join(
        f'<i style="height:{100 * one.seconds / top:.0f}%" title="{one.day:%d %b}: {span(one.seconds)}"></i>'
        for one in days
    )
    ends = f"<span>{days[0].day:%d %b}</span><span>{days[-1].day:%d %b}</span>"
    told = "; ".join(f"{one.day:%d %b}: {span(one.seconds)}" for one in days if one.seconds)
    return (
        '<p class="lab">Time read each day</p><div class="days">'
        f'<div role="img" aria-label="Read by day. {told}">{scale}{bars}</div><p>{ends}</p></div>'
    )


def _finished(workspace: Workspace, statistics: Statistics) -> None:
    if not statistics.finished and not statistics.to_end:
        draw_nothing(
            "done_all",
            "No book is finished yet. One that you have read to its end appears here, and one that you mark as "
            "finished in its menu in the library, with its day, your stars and a line of your own.",
        )
    for book, day in statistics.to_end:
        mark = partial(workspace.library.finish, book.id, day=day)
        _book_row(
            workspace, book, f"Read to its end, {_date(day)}", tab="Finished", act="Mark as finished", on_click=mark
        )
    for book, one in statistics.finished:
        stars = f"{'★' * one.stars}{'☆' * (5 - one.stars)}" if one.stars else ""
        about = " · ".join(filter(None, (_date(one.day), stars, book.author, one.remark)))
        if _book_row(workspace, book, about, tab="Finished", act="Change"):
            st.session_state["finishing"] = book.id  # its own dialog, in place of this one
            st.rerun()


def _book_row(
    workspace: Workspace, book: Book, about: str, *, tab: str, act: str = "", on_click: Callable[[], None] | None = None
) -> bool:
    """A line for a book in a ``tab``, its title a way to it; whether ``act`` was pressed."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"book_row_{tab}_{book.id}"):
        st.html(covers.small(workspace.library, book), width="content")
        with st.container(gap=None):
            if st.button(f"**{shell.as_text(book.title)}**", key=f"book_open_{tab}_{book.id}", type="tertiary"):
                _read(book, tab)
            st.text(about)
        return bool(act) and st.button(act, key=f"finished_change_{book.id}", width="content", on_click=on_click)


def _date(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def draw_nothing(icon: str, text: str, *, settings: str = "") -> None:
    """Draw what a place without content will have, and how; ``settings``: a link to what that needs."""
    with st.container(
        horizontal_alignment="center",
        vertical_alignment="center",
        height=260,
        border=False,
        gap="small",
        key=f"nothing_{icon}",
    ):
        st.markdown(f":material/{icon}:", width="content")
        st.text(text, width="content")
        if settings and st.button(settings, width="content"):
            st.session_state["settings_tab"] = "Dictionaries"
            st.switch_page("pages/settings.py")


def _words(workspace: Workspace) -> None:
    removed: list[LookedUpWord] = st.session_state.setdefault(REMOVED, [])
    words = sorted([*workspace.library.words(), *removed], key=lambda word: -word.looked_up)
    if not words:
        draw_nothing(
            "dictionary",
            "No words yet. Press a word twice while you read: a dictionary tells its meaning, and it is kept here with "
            "its sentence.",
            settings="Get a dictionary in Settings",
        )
        return
    library = workspace.library
    books = {book.id: book for book in library.books()}
    texts = {book_id: library.document(book_id) for book_id in dict.fromkeys(word.book_id for word in words[:SHOWN])}
    for number, word in enumerate(words[:SHOWN]):
        if word in removed:
            with st.container(horizontal=True, vertical_alignment="center", key=f"word_removed_{number}"):
                st.text(f"Removed {word.word}.", width="stretch")
                restore = partial(_restore_word, workspace, word)
                st.button("Undo", key=f"undo_word_{number}", type="tertiary", width="content", on_click=restore)
            continue
        book, section = books[word.book_id], texts[word.book_id].section_of(word.paragraph)
        place = ", ".join(filter(None, (book.title, section.title if section else "")))
        with st.container(horizontal=True, vertical_alignment="top", key=f"word_{number}"):
            with st.container(gap=None):
                st.html(_word(word, book))
                if st.button(shell.as_text(place), key=f"word_open_{number}", type="tertiary", help="Read there"):
                    _read(book, "Words", str(word.paragraph))
            remove = partial(_remove_word, workspace, word)
            st.button("Remove", key=f"remove_word_{number}", type="tertiary", width="content", on_click=remove)
    if len(words) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(words)}; the file has all.")
    st.download_button(
        "Export as CSV",
        words_csv(workspace.library),
        file_name="words.csv",
        mime="text/csv",
        on_click="ignore",
        key="words_csv",
    )


def _read(book: Book, tab: str, paragraph: str = "") -> None:
    st.session_state[TAB] = tab
    current.read_from(current.MY_READING, book.id, paragraph)


def _remove_word(workspace: Workspace, word: LookedUpWord) -> None:
    workspace.library.remove_word(word.book_id, word.word)
    st.session_state[REMOVED].append(word)


def _restore_word(workspace: Workspace, word: LookedUpWord) -> None:
    workspace.library.put_word(word)
    st.session_state[REMOVED].remove(word)


def _word(word: LookedUpWord, book: Book) -> str:
    """A word as HTML: as the dictionary has it, the first line of its meaning, and its sentence with it marked."""
    meaning = next((line.strip() for line in word.meaning.splitlines() if line.strip()), "")
    before, met, after = escape(without_emphasis(word.sentence, book.format)).partition(escape(word.form))
    return (
        f'<div class="looked-up"><p><b>{escape(word.word)}</b> {escape(meaning)}</p>'
        f"<p>“{before}{f'<mark>{met}</mark>' if met else ''}{after}”</p></div>"
    )


def finish_book(workspace: Workspace, book: Book, *, at_end: Callable[[], None] = lambda: None) -> None:
    """Open the dialog that says when a book was finished, with stars and a line of one's own; ``at_end``: call then."""
    known = workspace.library.finished().get(book.id)
    title = "When you finished it" if known else "Mark as finished"
    st.dialog(title, on_dismiss=at_end)(_when_finished)(workspace, book, known, at_end)


def change_finished(workspace: Workspace, book: Book) -> None:
    """Open the dialog of ``finish_book`` from the list of finished books, to which it leads back."""
    finish_book(workspace, book, at_end=_come_back)


def _come_back() -> None:
    st.session_state.update({TAB: "Finished", current.AGAIN: current.MY_READING})


def _when_finished(workspace: Workspace, book: Book, known: Finished | None, at_end: Callable[[], None]) -> None:
    st.text(book.title)
    day = st.date_input("Finished on", known.day if known else "today")
    given = st.feedback("stars", default=known.stars - 1 if known and known.stars else None, key="finish_stars")
    remark = st.text_input("In a line", known.remark if known else "", max_chars=500)
    with st.container(horizontal=True):
        if st.button("Save", type="primary", key="finish_book"):
            try:
                workspace.library.finish(book.id, day=day, stars=0 if given is None else given + 1, remark=remark)
            except ReadAgentError as error:
                shell.error_box(error)
            else:
                at_end()
                st.rerun()
        if known and st.button("Not finished", key="unfinish_book"):
            workspace.library.unfinish(book.id)
            at_end()
            st.rerun()
