"""The tab of Settings about a person's other devices: the switch, address, code and password, and who is signed in."""

from __future__ import annotations

import time

import streamlit as st

from pages.parts.shared import shell
from pages.parts.shared.home_gate import COOKIE, access
from pages.parts.shared.sharing import Sharing, code_address, is_other_device, sharing_now
from readagent_core.errors import ReadAgentError
from readagent_core.words import count_of
from readagent_core.workspace import Workspace

_MEANS = (
    ("wifi", "Only your home network is answered. Nothing is opened to the internet."),
    ("group", "Whoever has the password uses this library as you do: reads, marks, asks."),
    ("key", "What goes over the air is not encrypted. Switch it on only in a network you trust."),
    ("bedtime", "It works while this computer is awake and the app runs."),
)


_STEPS = (
    ("Switch it on", "An address and a password are made for your network."),
    ("Point the phone’s camera at the code", "The code appears here; it brings the address and the password."),
    ("Read on where you were", "The library, your place, notes and answers are the same on both."),
)


def draw(workspace: Workspace) -> None:
    if is_other_device():
        _draw_on_device()
        return
    sharing = sharing_now()
    if sharing is None:
        st.caption("Start ReadAgent with `readagent app` or `make run` to read on other devices.")
        return
    left, right = st.columns([2, 1], gap="large")
    with left:
        st.subheader("On my phone", anchor=False)
        st.caption("Read in any browser at home. Books, gists and your place stay on this computer.")
        st.session_state["share_on"] = bool(sharing.addresses)  # off where it could not be switched on
        st.toggle("Answer my home network", key="share_on", on_change=_switch, args=(sharing,))
        if sharing.trouble:
            shell.error_box(sharing.trouble)
        if sharing.addresses:
            _draw_address(sharing)
            _draw_devices()
            _draw_apps(sharing)
        else:
            steps = "".join(f"<li><b>{head}</b><span>{text}</span></li>" for head, text in _STEPS)
            st.html(f'<ol class="steps">{steps}</ol>')
            st.caption("Other reading apps get the library as an OPDS catalogue, and KOReader its place.")
    with right, st.container(border=True, key="share_means"):
        st.markdown("**What that means**")
        for icon, words in _MEANS:
            st.markdown(f":material/{icon}: &nbsp; {words}")


def _switch(sharing: Sharing) -> None:
    on = st.session_state["share_on"]
    try:
        sharing.start() if on else sharing.stop()
        access().keep(on=on)
    except ReadAgentError as error:
        sharing.trouble = error


def _draw_address(sharing: Sharing) -> None:
    import segno

    with st.container(border=True, key="share_address"):
        code, words = st.columns([2, 3], vertical_alignment="center")
        drawn = segno.make(code_address(sharing), error="m").png_data_uri(scale=8, border=2)
        code.html(f'<div class="qr"><img src="{drawn}" alt="QR code with the address and the password"></div>')
        with words:
            st.markdown("**Point the phone’s camera at the code**")
            st.caption("It brings the address and fills in the password. The phone must be in the same network.")
            st.markdown("**Or type the address**")
            st.code(f"http://{sharing.addresses[0]}", language=None)
            st.markdown("**and the password**")
            st.code(access().password, language=None)
            count = len(access().devices)
            signs_out = f"Signs out {count_of(count, 'device')}." if count else "Nobody is signed in."
            st.button("New password", key="share_new", help=signs_out, on_click=access().new_password)
    if len(sharing.addresses) > 1:
        st.caption(f"In other networks of this computer: {', '.join(sharing.addresses[1:])}")


def _draw_devices() -> None:
    st.markdown("**Who is connected**")
    devices = sorted(access().devices, key=lambda device: -device.seen)
    if not devices:
        st.caption("Nobody has signed in yet.")
    for device in devices:
        with st.container(horizontal=True, vertical_alignment="center", key=f"device_{device.id}"):
            seen = (
                "now" if time.time() - device.seen < 120 else time.strftime("%d %B, %H:%M", time.localtime(device.seen))
            )
            st.text(f"{device.name} · {seen}", width="stretch")
            st.button("Sign out", key=f"out_{device.id}", on_click=access().sign_out, args=(device.id,))


def _draw_apps(sharing: Sharing) -> None:
    st.markdown("**In other reading apps**")
    root = f"http://{sharing.addresses[0]}"
    st.text("Your library as a catalogue, for any app that reads OPDS; any user, the same password")
    st.code(f"{root}/opds", language=None)
    st.text("Your place, in KOReader: Progress sync › Custom sync server; user “reader”, the same password")
    st.code(f"{root}/sync", language=None)


def _draw_on_device() -> None:
    """A device sees neither password nor switch: those are on the computer itself."""
    st.subheader("This device", anchor=False)
    st.caption("The password and the other devices are shown on the computer where ReadAgent runs.")
    known = access().device(st.context.cookies.get(COOKIE, ""))
    if known and st.button("Sign out this device", key="sign_out_device"):
        access().sign_out(known.id)
        st.html("<script>location.reload()</script>", unsafe_allow_javascript=True)
