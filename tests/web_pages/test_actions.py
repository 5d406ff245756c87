"""Replies that name an action, as models write them, and what cannot be done on the page."""

from __future__ import annotations

import pytest

from readagent_core.web_pages.actions import Action, describe_action, find_problem, parse_action
from readagent_core.web_pages.parsing import parse_page

PAGE = parse_page(
    '<html backend_node_id="1"><body backend_node_id="2"><input backend_node_id="5" aria_label="Zip code"/>'
    '<button backend_node_id="8635" type="submit">Search</button><select backend_node_id="9" name="type">'
    '<option backend_node_id="10" value="p">Pickup</option></select></body></html>'
)
REPLIES = [
    ("Reason: it starts the search.\nElement: 8635\nOperation: CLICK\nValue:", ("8635", "CLICK", "")),
    ("**Element:** [8635]\n**Operation:** Click\n**Value:** None", ("8635", "CLICK", "")),
    ('Element: <button id=8635 type="submit">\nOperation: press\nValue: n/a', ("8635", "CLICK", "")),
    ('Element: id="5"\nOperation: TYPE\nValue: "10203"', ("5", "TYPE", "10203")),
    (
        "element: 5 (the zip code field)\naction: type in\ntext: New York, NY: 10203",
        ("5", "TYPE", "New York, NY: 10203"),
    ),
    ("- Element: 9\n- Operation: SELECT\n- Value: Pickup", ("9", "SELECT", "Pickup")),
    (
        '```json\n{"element": 9, "operation": "select", "value": "Pickup", "reason": "r"}\n```',
        ("9", "SELECT", "Pickup"),
    ),
    ("<think>Element: 3</think>Element: 8635\nOperation: click", ("8635", "CLICK", "")),
    ("Element: 2\nNo, better:\nElement: 8635\nOperation: CLICK", ("8635", "CLICK", "")),
    ("click('8635')", ("8635", "CLICK", "")),
    ("type_string('5', '10203', False)", ("5", "TYPE", "10203")),
    ("Element: 8635\nOperation: ENTER\nValue: ", ("8635", "CLICK", "")),
    ('Element: 5\nOperation: TYPE "10203"', ("5", "TYPE", "10203")),
    ("要素： 8635\n操作： クリック\n値： なし", ("8635", "CLICK", "")),
    ("Reason: 検索する\nElement: ８６３５\nOperation: CLICK\nValue: 空", ("8635", "CLICK", "")),
    ("Element: none\nOperation: CLICK", ("", "CLICK", "")),
    ("Element: 8635\nOperation: scroll", ("8635", "", "")),
    ("I cannot see a button.", ("", "", "")),
    ("", ("", "", "")),
    ("{broken", ("", "", "")),
]


@pytest.mark.parametrize(("reply", "expected"), REPLIES, ids=[reply[:30] for reply, _ in REPLIES])
def test_replies(reply, expected):
    found = parse_action(reply)
    assert (found.element, found.operation, found.value) == expected


@pytest.mark.parametrize(("action", "said"), [
    (Action("8635", "CLICK"), ""),
    (Action("9", "SELECT", "pickup"), ""),
    (Action("5", "TYPE", "10203"), ""),
    (Action("", "CLICK"), "no element"),
    (Action("77", "CLICK"), "the id 77"),
    (Action("8635", ""), "no operation"),
    (Action("5", "TYPE"), "needs a value"),
    (Action("9", "SELECT", "Delivery"), "it has Pickup, p"),
])  # fmt: skip
def test_what_cannot_be_done_is_said(action, said):
    problem = find_problem(action, PAGE)
    assert said in problem
    assert bool(problem) == bool(said)


def test_actions_in_words():
    assert describe_action(Action("8635", "CLICK"), PAGE) == "Click the button “Search”."
    assert describe_action(Action("5", "TYPE", "10203"), PAGE) == "Type “10203” into the field “Zip code”."
    assert describe_action(Action("9", "SELECT", "Pickup"), PAGE) == "Select “Pickup” in the list “type”."
    action = Action("9", "SELECT", "Pickup", "why")
    assert Action.from_dict(action.to_dict()) == action
