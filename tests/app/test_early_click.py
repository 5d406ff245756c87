"""A click before the run that draws the screen has ended: what the browser is sent can be put into its tree."""

from __future__ import annotations

from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.browser.conftest import running_app

# The server sends what is drawn five times a second, so the click comes while the second half is not sent yet.
APP = """
import streamlit.runtime.runtime as runtime
import pages.parts
from streamlit.starlette import App
runtime.MESSAGE_FLUSH_INTERVAL_SECS = 0.2
app = App("screen.py")
"""
SCREEN = """
import time
import streamlit as st

def inner():
    st.text("inner")

def outer():
    st.text("first")
    time.sleep(0.3)
    st.container().text("second")
    st.fragment(inner)()

st.fragment(outer)()
st.text("below")
"""


def put(tree: list, message: ForwardMsg) -> None:
    """Put what was drawn into ``tree``, lists of lists, by the rule of Streamlit's frontend."""
    *above, last = message.metadata.delta_path
    for index in above:
        tree = tree[index]
    assert last <= len(tree), f"Bad delta path index {last} (should be between [0, {len(tree)}])"
    tree[last:last] = [[]] if last == len(tree) else []


def test_a_click_while_the_screen_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    (tmp_path / "screen.py").write_text(SCREEN, encoding="utf-8")
    with running_app(tmp_path / "home", script=tmp_path / "app.py") as url:
        address = f"{url.replace('http', 'ws')}/_stcore/stream"
        with connect(address, origin=Origin(url), subprotocols=[Subprotocol("streamlit")]) as socket:
            click, tree, clicked = BackMsg(), [[], [], [], []], False
            click.rerun_script.page_name = ""
            socket.send(click.SerializeToString())
            while True:
                message = ForwardMsg.FromString(socket.recv(timeout=30))
                kind = message.WhichOneof("type")
                if kind in ("delta", "ref_hash"):
                    put(tree, message)
                if kind == "delta" and message.delta.new_element.text.body == "first" and not clicked:
                    click.rerun_script.fragment_id = message.delta.fragment_id
                    socket.send(click.SerializeToString())
                    clicked = True
                if message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                    break
    assert tree[0] == [[[], [[]], [[]]], []]  # the fragment with its three parts, then what is below it
