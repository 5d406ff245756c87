"""The fast JSON is the standard library's, for everything that is written or comes in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagent_core.quick_json import from_json, to_json

TEXT = st.text(st.characters(codec=None, categories=None), max_size=20)  # half characters too
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_goes_out_comes_back_on_one_line_of_utf_8(value):
    line = to_json(value)
    assert b"\n" not in line
    assert json.loads(line.decode()) == value == from_json(line) == from_json(line.decode())


@given(VALUES)
def test_what_the_standard_library_wrote_is_read(value):
    assert from_json(json.dumps(value, indent=1)) == from_json(json.dumps(value).encode()) == value


def test_numbers_beyond_64_bits_are_written_whole_and_read_about():
    assert to_json(-(2**63) - 1) == b"-9223372036854775809"
    assert from_json(b"-9223372036854775809") == -(2.0**63)


def test_the_order_of_keys_stays_and_keys_that_are_no_text_become_text():
    assert to_json({"b": 1, "a": (2, 3)}) == b'{"b":1,"a":[2,3]}'
    assert from_json(to_json({1: "one"})) == {"1": "one"}


def test_a_broken_character_is_marked_and_broken_json_is_an_error():
    assert from_json(b'{"a": "\xff"}') == {"a": "\ufffd"}
    for broken in (b"", b"{", b'{"a": }', b"\xff", "nothing"):
        with pytest.raises(ValueError, match=r"."):
            from_json(broken)
