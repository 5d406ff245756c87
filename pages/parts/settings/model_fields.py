"""Address, key and model of one server in Settings, and what can be done with them.

A key goes from its field into memory and is never sent to the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

import streamlit as st

from pages.parts.settings import model_limits
from pages.parts.shared import shell
from readagent_core.connecting import connecting, key_places
from readagent_core.connecting.connecting import Candidate
from readagent_core.errors import KeyRefusedError, ModelError, ReadAgentError, SettingsError
from readagent_core.models.cost.prices import Price
from readagent_core.models.server import network, probe
from readagent_core.models.server.faults import host
from readagent_core.models.server.probe import Listing
from readagent_core.settings import KEYRING, Secret
from readagent_core.workspace import Workspace

PLACES = {
    key_places.MEMORY: "Only until the app stops",
    KEYRING: "In the system's keyring",
    key_places.FILE: "In a file only you can read",
}
ABOUT = {
    key_places.MEMORY: "It is not written to disk; you will enter it again next time.",
    KEYRING: "Your system encrypts it, with its other passwords.",
    key_places.FILE: "The file is not encrypted.",
}

SAID = "model_said_times"  # in the session: how often a press was answered under the buttons with what is wrong
FORGOTTEN = "unlisted_before"  # in the session: why the server that is asked again did not list its models

NOT_LISTED = "The server’s list of models does not have “{}”. Check the name, or press Test to see whether it answers."
KEY_MISSING = "Key missing: this server answers only with one."
ASKS_FOR_KEY = ":material/key: This server asks for a key; its models are listed with it."
UNLISTED = {  # by what came in place of a list
    "": ":material/info: This server has no model loaded. Load one there, or type the name of one that it can load.",
    "nothing": ":material/info: This server does not list its models. Type the name of one, as the server knows it.",
    "web page": ":orange[:material/warning:] A web page answers at this address, most likely no model server. "
    "Check the address (most end in /v1), or type the name of a model and press Test.",
}

ON_SERVER = {key_places.MEMORY: "Only until the server restarts", key_places.FILE: "In your folder on this server"}
ABOUT_ON_SERVER = "The file is not encrypted: whoever runs this server can read it, and nobody else."


def forget_found_servers() -> None:
    """Forget the servers found on this computer, so that the next run looks for them."""
    st.session_state.pop("found_servers", None)


def choose_model(
    workspace: Workspace, names: Sequence[str], *, scope: str, where: str, same: bool, container: Any = st
) -> str:
    """Draw the select box of models and return the one chosen; a name that is not listed may be typed.

    ``where``: the server's address: each has a choice of its own. ``same``: it is the one in use.
    """
    known: dict[str, str] = st.session_state.setdefault("models_chosen", {})
    where = whole_address(workspace, where)
    now = workspace.settings.model if same else ""
    key = f"{scope}_model_{hash((where, *names))}"
    if key not in st.session_state:  # a list that does not come takes no name away
        st.session_state[key] = known.get(where) or now or next(iter(names), None)
    added = filter(None, (st.session_state[key], now))  # typed, or in use, whether the server lists it or not
    options = list(dict.fromkeys([*names, *added]))
    chosen = container.selectbox(
        "Model", options, index=None, accept_new_options=True, placeholder="Choose, or type its name", key=key
    )
    known[where] = str(chosen or "")
    return known[where]


def draw_fields(
    workspace: Workspace,
    *,
    scope: str,
    address: str,
    model: str | None = None,
    names: Sequence[str] = (),
    key_page: str = "",
    key_needed: bool = True,
) -> Candidate | None:
    """Draw the fields of address and key, the model's if it is not chosen yet, and the buttons; return what is chosen.

    ``names``: the models that the server listed where one of them is chosen. ``key_page``: where the server's owner
    gives out keys.
    """
    left, right = st.columns(2)
    if workspace.settings.team:
        where = address
        left.text(f"Address\n{address}")
    else:
        where = left.text_input(
            "Address", value=address, placeholder="http://localhost:1234/v1", key=f"{scope}_address"
        )
    same = connecting.is_in_use(workspace, where)
    stored = workspace.settings.api_key if same and not workspace.settings.server else Secret()
    key_needed |= same and bool(workspace.settings.key_trouble)  # a key was entered, but the keyring does not give it
    key_needed |= isinstance(why_unlisted(workspace, where, stored), KeyRefusedError)  # so it asks for one
    unknown = "Paste it here" if key_needed else "Only if this server asks for one"
    hint = f"{stored.masked()} is in use" if stored else unknown
    forget_key_of_another(workspace, where, scope=scope)
    typed = right.text_input("Key", type="password", placeholder=hint, autocomplete="off", key=key_field(scope))
    if not typed and (left_server := st.session_state.get(f"{scope}_key_left")):
        right.caption(f":material/info: The key typed for {shell.as_text(host(left_server))} was removed.")
    key = Secret(typed.strip()) if typed.strip() else stored
    place, listing = key_places.MEMORY, Listing(tuple(names))
    with st.container():  # whatever is drawn in it, the buttons below stay the same ones
        if key or key_needed:
            place = choose_key_place(workspace, scope=scope, same=same, key_page=key_page)
        if model is None:
            listing = list_models(workspace, where, key, needs_key=key_needed, scope=scope)
    row = st.container(
        horizontal=True, vertical_alignment="bottom", key="model_row"
    )  # the list of models opens below the buttons
    if model is None:
        model = choose_model(workspace, listing.names, scope=scope, where=where, same=same, container=row)
    with st.container(key="model_said"):  # whatever is drawn in it, the limits below stay open
        if stored:
            kept_key(workspace, where=where)
        keyless = bool(where.strip()) and key_needed and not key
        typed_now = Candidate(where, model, key)
        draw_buttons(workspace, typed_now, place=place, listing=listing, scope=scope, row=row, keyless=keyless)
    model_limits.limits(workspace, model=model, where=where, listed=listing.prices.get(model))
    return connecting.candidate(workspace, address=where, model=model, key=key)


def key_field(scope: str) -> str:
    """The widget key of the field of the API key."""
    return f"{scope}_key_{st.session_state.get('keys_taken', 0)}"


def forget_key_of_another(workspace: Workspace, where: str, *, scope: str) -> None:
    """Empty the field of the API key where it was typed for another server than that of ``where``."""
    try:
        server = "/".join(connecting.address_for(workspace, where).lower().split("/")[:3])
    except SettingsError:
        return
    before = st.session_state.get(f"{scope}_key_for", server)
    st.session_state[f"{scope}_key_for"] = server
    if before == server:
        return
    typed = st.session_state.get(key_field(scope))
    st.session_state[f"{scope}_key_left"] = before if typed else ""
    if typed:
        empty_key_field()


def empty_key_field() -> None:
    """Give the field of the API key a new widget key."""
    st.session_state["keys_taken"] = st.session_state.get("keys_taken", 0) + 1


def kept_key(workspace: Workspace, *, where: str) -> None:
    """Say where the key of the server in use is kept, and draw the button that removes it."""
    settings = workspace.settings
    place = settings.origin.get("api_key", "")
    named = (ON_SERVER if settings.team else PLACES).get(place, "set outside of the app")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/key: A key is kept for this server: {named[0].lower()}{named[1:]}.", width="content")
        if place not in (*PLACES, *ON_SERVER):
            return
        with st.popover("Remove", type="tertiary"):
            st.caption("To use it again, enter it again: the app keeps no copy.")
            if st.button("Remove the key", type="primary", key="remove_key"):
                model, place = settings.model, key_places.MEMORY
                shell.guarded(
                    lambda: use_model(workspace, where=where, model=model, key=Secret(), place=place, price=None)
                )


def choose_key_place(workspace: Workspace, *, scope: str, same: bool, key_page: str) -> str:
    """Draw the choice of where the key is stored and return it. ``same``: the address in use, so its place is shown."""
    offered = key_places.places(workspace.settings)
    now = workspace.settings.origin.get("api_key", "") if same else ""
    place = st.radio(
        "Where to store the key",
        offered,
        index=offered.index(now) if now in offered else 0,
        format_func=lambda name: ON_SERVER.get(name, "") if workspace.settings.team else PLACES[name],
        horizontal=True,
        key=f"{scope}_keep",
    )
    about = ABOUT_ON_SERVER if workspace.settings.team and place == key_places.FILE else ABOUT[place]
    made = f" Get a key at {key_page}." if key_page else ""
    st.caption(f":material/lock: {about} The key is never shown again, logged or exported.{made}")
    return place


def list_models(workspace: Workspace, where: str, key: Secret, *, needs_key: bool, scope: str) -> Listing:
    """The server's models, requested once for each address and key; none while either is missing.

    An error is shown. The server is asked again only at a click, because a server that does not answer takes seconds.
    """
    if not where.strip():
        return Listing()
    if needs_key and not key:
        st.caption(ASKS_FOR_KEY)
        return Listing()
    address = whole_address(workspace, where)
    cache, at = _listed(), (address, hash(key))
    if at not in cache:
        try:
            connecting.address_for(workspace, where)
            with st.spinner(f"Asking {host(address)} for its models…"):
                cache[at] = probe.list_models(address, key)
        except ReadAgentError as error:
            cache[at] = error
        failed = cache[at]
        why, before = failed if isinstance(failed, ModelError) else None, st.session_state.pop(FORGOTTEN, None)
        connecting.note_listing(workspace, address, key, why, before=before)
        if not key and isinstance(failed, KeyRefusedError):
            st.rerun()  # the field then says that a key is needed
    found = cache[at]
    if isinstance(found, Listing):
        if not found.names:
            st.caption(UNLISTED[found.instead])
        return found

    def forget() -> None:
        st.session_state[FORGOTTEN] = cache.pop(at, None)

    with st.container(border=True, key="error_alert_list"):
        st.text(shell.words_of(found))
        if not why_not_asked(workspace, where, key):  # else trying again does not help
            st.button("Try again", key=f"{scope}_list_again", on_click=forget)
    return Listing()


def why_not_asked(workspace: Workspace, where: str, key: Secret) -> str:
    """What is wrong with an address or a key with which no server can be asked; '' where one can."""
    try:
        network.check(connecting.address_for(workspace, where), key)
    except ReadAgentError as error:
        return shell.words_of(error)
    return ""


def whole_address(workspace: Workspace, where: str) -> str:
    """The whole address for what was typed, where that is one; else what was typed."""
    with suppress(SettingsError):
        return connecting.address_for(workspace, where)
    return where


def why_unlisted(workspace: Workspace, where: str, key: Secret) -> ReadAgentError | None:
    """Why the server did not list its models for this key, as the form says; None where it did, or was not asked."""
    found = _listed().get((whole_address(workspace, where), hash(key)))
    return found if isinstance(found, ReadAgentError) else None


def _listed() -> dict[tuple[str, int], Listing | ReadAgentError]:
    """What servers listed in this session, or why they did not, by address and key."""
    known: dict[tuple[str, int], Listing | ReadAgentError] = st.session_state.setdefault("listed_models", {})
    return known


def draw_buttons(
    workspace: Workspace, typed: Candidate, *, place: str, listing: Listing, scope: str, row: Any, keyless: bool
) -> None:
    """Draw in ``row`` the buttons that use or test the model and do what is clicked; say below what hinders it.

    ``keyless``: the server answers only with a key, and none is given: its model is not used.
    """
    where, model, key = typed.address, typed.model, typed.key
    with row:
        in_use = bool(model) and workspace.settings.model == model and connecting.is_in_use(workspace, where)
        new_key = in_use and bool(workspace.model.trouble and key) and key != workspace.settings.api_key
        kind: Literal["primary", "secondary"] = "secondary" if in_use and not new_key else "primary"
        use = st.button("Use this model", type=kind, key=f"{scope}_use")
        test = st.button("Test", key=f"{scope}_test")
        if scope.startswith("local"):
            st.button("Look for servers again", key="look_again", on_click=forget_found_servers)
    wrong = why_not_asked(workspace, where, key) if use or test else ""
    missing = (use or test) and (wrong or not model.strip())
    if missing or (use and keyless):  # else what was pressed stays where it is
        count_answer()
    if wrong:
        st.caption(f":orange[:material/info:] {shell.as_text(wrong)}")
    elif missing and not keyless:
        st.caption(":orange[:material/info:] Choose a model first, or type its name.")
    elif keyless and (missing or use or (model and not (in_use and workspace.model.trouble))):
        st.caption(f":orange[:material/key:] {KEY_MISSING}")
    elif model and listing.names and model not in listing.names:
        st.caption(f":orange[:material/info:] {NOT_LISTED.format(shell.as_text(model))}")
    if new_key and not use:
        st.caption(":orange[:material/key:] Press *Use this model* to use this key from now on.")
    elif in_use and workspace.model.trouble:
        st.caption(f":red[:material/power_off: In use, but not working: {shell.as_text(trouble_of(workspace))}.]")
    elif in_use:
        st.caption(":green[:material/check:] In use")
    if use and not missing and not keyless:
        price = listing.prices.get(model)
        shell.guarded(lambda: use_model(workspace, where=where, model=model, key=key, place=place, price=price))
    elif test and not missing:
        shell.guarded(lambda: connecting.start_model_test(workspace, address=where, model=model, key=key, quick=True))


def lacks_key(workspace: Workspace) -> bool:
    """Whether the model in use does not work because its server was given no key."""
    return isinstance(workspace.model.trouble, KeyRefusedError) and not workspace.settings.api_key


def trouble_of(workspace: Workspace) -> str:
    """Why the model in use does not work, in a few words."""
    return "its key is missing" if lacks_key(workspace) else shell.title_of(workspace.model.trouble)[0].lower()


def use_model(workspace: Workspace, *, where: str, model: str, key: Secret, place: str, price: Price | None) -> None:
    """Use the model and empty the field of the API key."""
    error = why_unlisted(workspace, where, key)
    failed = error if isinstance(error, ModelError) else None
    connecting.use_model(workspace, address=where, model=model, key=key, place=place, price=price, failed=failed)
    st.session_state.pop("left_model", None)
    empty_key_field()
    if workspace.model.trouble:
        count_answer()


def count_answer() -> None:
    """Have what is said under the buttons brought into view."""
    st.session_state[SAID] = st.session_state.get(SAID, 0) + 1
