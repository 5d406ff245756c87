"""The sidebar of Ask: the book and how far it may be seen, or the books; the method; and the conversations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages.parts.ask import answer_view
from pages.parts.ask.one_state import NEW, AskOneBook, choose_conversation, set_limit
from pages.parts.ask.several_state import Several, open_several
from pages.parts.ask.state import EVERY_METHOD, AskState, exchange_now
from pages.parts.ask.wording import USUAL, may_search, method_titles
from pages.parts.shared import book as address
from pages.parts.shared import shell
from pages.parts.shared.answer import format_time
from pages.parts.shared.chosen_books import choose_books, choose_from_next_run
from pages.parts.shared.stored_switch import stored_switch
from readagent_core.answering import registry as methods
from readagent_core.answering.costs import zoom_sentence
from readagent_core.errors import NotInLibraryError
from readagent_core.export.conversation import CONVERSATION_FORMATS, export_conversation
from readagent_core.library.records import Conversation
from readagent_core.text_files import slug
from readagent_core.words import count_of, pages_up_to
from readagent_core.workspace import Workspace

LOOK_UPS = tuple(range(7))
DELETED = "ask_deleted"  # in the session: the conversation deleted last, with what it was about
FITS = 26  # characters of a method's title in its field, which cuts a longer one off


def draw(now: AskState) -> None:
    """Draw the sidebar; what is chosen is set in ``now``.

    What is shown at times only has a container of its own: were the buttons below it moved, the browser would draw them
    anew, and lose a press under way.
    """
    with st.sidebar:
        if isinstance(now, Several):
            st.text(f"Asking {now.title}")
            st.caption(
                "By zooming: the gists of all books first, then what the question needs. Every book has its own "
                "spoiler limit."
            )
            choose_books(now.workspace, now.book_ids, label="Choose books", key="ask", kind="tertiary")
        elif isinstance(now, AskOneBook):
            address.picker(now.workspace, now.book)
            with st.container(gap="small"):
                limit_switch(now)
            with st.container(gap="small"):
                _pick_method(now)
        with st.container(gap="small"):
            if isinstance(now, Several) or methods.method(now.method).looks_up:
                _look_ups(now)
        _conversations(now)


def limit_switch(scene: AskOneBook) -> None:
    """The switch of the spoiler limit, the page it is at and why."""
    change = partial(_switch, scene)
    stored_switch("Only what I have read", scene.position.limited, change, key=f"only_read_{scene.book.id}")
    if scene.beside_text:
        st.caption(_used_in_short(scene), width="content")
    else:
        st.caption(_used(scene))
    if not scene.position.limited or scene.position.limit is None:
        return
    label = "Follow what I have read"
    st.button(
        "" if scene.beside_text else label,
        icon=":material/link:",
        type="tertiary",
        key="ask_follow",
        help=label if scene.beside_text else None,
        on_click=lambda: set_limit(scene, on=True),
    )


def _used_in_short(scene: AskOneBook) -> str:
    if scene.limit is None:
        return "whole book"
    return f"to page {scene.limit}" if scene.limit else "no page yet"


def _used(scene: AskOneBook) -> str:
    """What answers use, and why."""
    if not scene.position.limited:
        gists = ", and all its gists are shown" if scene.memory.readable else ""
        return f"Answers use the whole book{gists}."
    follows = scene.position.limit is None
    if scene.limit is None:
        said = "Answers use the whole book."
    elif follows and not scene.limit:
        said = "You have not finished a page yet, so answers use none."  # Ask takes whole pages
    else:
        place = pages_up_to(scene.limit) if scene.limit else "no page"
        said = f"Answers use {place}: {'what you have read' if follows else 'you set this limit'}."
    return " ".join(filter(None, [said, scene.opening_said]))


def _switch(scene: AskOneBook, on: bool) -> None:
    # what was set by hand is there again
    scene.workspace.library.set_limit(scene.book.id, on=on, paragraph=scene.position.limit)
    st.rerun("app")  # beside the text only the panel would be drawn again, with the position of before


def _pick_method(scene: AskOneBook) -> None:
    library, titles, whole = scene.workspace.library, dict(method_titles()), None not in scene.memory.gists
    take_choices(scene)
    stored = scene.method
    possible = [name for name in titles if scene.memory.readable or may_search(name)]
    every = st.session_state.get(EVERY_METHOD, False)
    names = [name for name in possible if every or name in {*USUAL, stored}]
    scene.method = st.selectbox(
        "Method",
        names,
        index=names.index(stored),
        format_func=titles.__getitem__,
        key="ask_method" if whole else f"ask_method_{scene.book.id}_{bool(scene.memory.readable)}",
    )
    title, about = titles[scene.method], methods.method(scene.method).about
    st.caption(shell.as_text(f"{title}. {about}" if len(title) > FITS else about))
    st.toggle("More methods", key=EVERY_METHOD, help="From the papers, as in Compare")
    for fault in methods.method_faults():
        st.caption(shell.as_text(fault))
    if whole and scene.method != stored:
        library.set_preference("ask method", scene.method)
    _offer_zoom(scene)


def take_choices(scene: AskOneBook) -> None:
    """Set the method and the number of look-ups that were chosen last."""
    library = scene.workspace.library
    scene.look_ups = int(library.preference("look ups", scene.look_ups))
    stored = library.preference("ask method", scene.method)
    # without all gists the usual method is a search, whatever was chosen for other books
    if None not in scene.memory.gists and stored in methods.all_methods():
        scene.method = stored


def _look_ups(now: AskState) -> None:
    library = now.workspace.library
    chosen = st.segmented_control(
        "Pages to look up, at most",
        LOOK_UPS,
        default=int(library.preference("look ups", now.look_ups)),
        key="ask_look_ups",
        width="stretch",
        required=True,
    )
    now.look_ups = int(chosen or 0)
    if isinstance(now, Several):
        st.caption("For all books together.")
    if now.look_ups != library.preference("look ups", 3):
        library.set_preference("look ups", now.look_ups)


def _offer_zoom(scene: AskOneBook) -> None:
    """What a question about a long book sends, and a button for zoom where another method sends several times that."""
    memory = scene.memory if scene.limit is None else scene.memory.up_to(scene.limit)
    said = zoom_sentence(scene.workspace.model, memory, scene.method, look_ups=scene.look_ups)
    if not said:
        return
    st.caption(said)
    if scene.method != "zoom":
        st.button(
            "Switch to zooming", icon=":material/zoom_in:", type="tertiary", key="ask_zoom", on_click=_choose_zoom
        )


def _choose_zoom() -> None:
    st.session_state["ask_method"] = "zoom"


def _conversations(now: AskState) -> None:
    """The list of conversations, and below it what can be done with the one that is open."""
    workspace, library = now.workspace, now.workspace.library
    shown = now.conversation_id if now.exchanges else None  # a question that waits begins one of its own
    several = library.conversations_about_several()
    found = library.conversations(now.book.id) if isinstance(now, AskOneBook) else several
    with st.container(gap="small", key="ask_conversations"):
        with st.container(gap="small"):
            _list(now, found, shown)
            _offer_undo(now)  # where Delete was pressed
        if shown is not None:
            with st.popover("This conversation", icon=":material/more_horiz:", type="tertiary", key="ask_more"):
                _one(now, shown)
        st.button("New conversation", icon=":material/add:", type="tertiary", key="ask_new", on_click=_begin,
                  args=(now,))  # fmt: skip
    if isinstance(now, AskOneBook):
        choose_books(now.workspace, now.book_ids, label="Ask several books", key="ask", kind="tertiary")
    if several and isinstance(now, AskOneBook):
        st.button(
            f"{count_of(len(several), 'conversation')} about several books",
            icon=":material/library_books:",
            type="tertiary",
            key="ask_several",
            on_click=open_several,
            args=(workspace, several[0].id),
        )
    if st.button("Act on a web page", icon=":material/ads_click:", type="tertiary", key="ask_act",
                 help="Ask where to click on a web page"):  # fmt: skip
        st.session_state["act_book"] = ""  # to begin with
        st.switch_page("pages/act.py")


def _list(now: AskState, found: Sequence[Conversation], shown: str | None) -> None:
    """The conversations to choose from; nothing where there are none."""
    if not found:
        return
    st.caption("**Conversations**")
    items = [
        {
            "id": c.id,
            "title": c.title,
            "about": " · ".join(
                filter(None, [_about(now.workspace, c), count_of(c.questions, "question"), format_time(c.updated)])
            ),
        }
        for c in found
    ]
    answer_view.show_conversations(
        items,
        lambda act: _open(now, act.text),
        now=shown,
        language=now.book.language if isinstance(now, AskOneBook) else "en",
        key=f"conversations {now.name}",
    )


def _open(now: AskState, conversation_id: str) -> None:
    if isinstance(now, AskOneBook):
        choose_conversation(now.book, conversation_id)
    else:
        open_several(now.workspace, conversation_id)


def _begin(now: AskState) -> None:
    """Begin another conversation with the next question."""
    if isinstance(now, AskOneBook):
        choose_conversation(now.book, NEW)
    elif isinstance(now, Several):
        choose_from_next_run(now.chosen.about, now.chosen.book_ids)


def _about(workspace: Workspace, conversation: Conversation) -> str:
    """What a conversation about several books is about: '2 of 3 books' were asked; '' for one about one book."""
    kind, _, name = conversation.about.partition(" ")
    if not kind or name:
        return name
    chosen = workspace.library.conversation_books(conversation.id)
    exchanges = workspace.library.exchanges(conversation.id)
    asked = sum(book.id in chosen for book in exchanges[-1].facts.books) if exchanges else 0
    return f"{f'{asked} of ' if 0 < asked < len(chosen) else ''}{count_of(len(chosen), 'book')}"


def _one(now: AskState, conversation_id: str) -> None:
    """Rename, save, delete."""
    library = now.workspace.library
    title = library.conversation(conversation_id).title
    with st.form(f"rename {conversation_id}", border=False):
        wanted = st.text_input("Name", value=title, max_chars=120)
        if st.form_submit_button("Rename") and wanted.strip() and wanted != title:
            library.rename_conversation(conversation_id, wanted.strip())
            st.rerun()
    events = {e.id: exchange_now(now.workspace, e)[1] for e in now.exchanges}
    hidden = [e.id for e in now.exchanges if now.why_hidden(e, events[e.id])]
    one = now if isinstance(now, AskOneBook) else None
    beyond = [e.id for e in now.exchanges if one and one.prompts_beyond(e, events[e.id])]
    left_out = f", without {count_of(len(hidden), 'answer')} about pages you have not read" if hidden else ""
    st.caption(f"Save the conversation{left_out}")
    with st.container(horizontal=True, gap="small"):
        for format, mime in CONVERSATION_FORMATS.items():
            st.download_button(
                shell.FORMAT_NAMES[format],
                data=partial(
                    export_conversation,
                    now.workspace,
                    conversation_id,
                    format=format,
                    without=hidden,
                    without_prompts=beyond,
                ),
                file_name=f"{slug(title)}.{format}",
                mime=mime,
                key=f"save {format}",
                on_click="ignore",
            )
    st.button("Delete this conversation", icon=":material/delete:", key="ask_delete",
              on_click=_delete, args=(now, conversation_id))  # fmt: skip


def _delete(now: AskState, conversation_id: str) -> None:
    title = now.workspace.library.conversation(conversation_id).title
    deleted = now.workspace.library.delete_conversation(conversation_id)
    st.session_state[DELETED] = (now.name, conversation_id, title, deleted)
    _begin(now)


def _offer_undo(now: AskState) -> None:
    """Say which conversation about these books was deleted last, with the way to have it back."""
    about, conversation_id, title, deleted = st.session_state.get(DELETED, ("", "", "", {}))
    if about != now.name:
        return

    def undo() -> None:
        del st.session_state[DELETED]
        try:
            now.workspace.library.put_conversation(deleted)
            _open(now, conversation_id)
        except NotInLibraryError as error:
            st.session_state["ask_trouble"] = error

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask_deleted"):
        st.caption(shell.as_text(f"Deleted “{title}”."), width="stretch")
        st.button("Undo", key="ask_undo", type="tertiary", width="content", on_click=undo)
